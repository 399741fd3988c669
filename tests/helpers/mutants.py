"""Offer treefactor's dynamics as an engine with one planted defect each, on a robot that shows all of them.

Mirror: imports what the comparison computes with.
"""

import xml.etree.ElementTree as ET
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from helpers.engine_errors import joint, link
from treefactor import kinematics
from treefactor.check import own
from treefactor.exceptions import AdapterError
from treefactor.model.model import Model

DYNAMICS = frozenset({"H", "bias", "inverse dynamics", "q̈", "momentum", "energies", "derivatives"})
FORCES = frozenset({"bias", "gravity", "inverse dynamics", "q̈"})
OF_BASE = (DYNAMICS | {"gravity", "Jacobians", "J̇v"}) - {"derivatives"}  # for another velocity of the base
POSED = (DYNAMICS - {"H"}) | {"gravity", "Jacobians", "J̇v", "placements", "centre of mass"}  # by other angles
QUARTER_TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
URDF = "".join(
    [
        '<robot name="dog">',
        *map(link, ("trunk", "hip", "leg", "slide", "foot")),
        joint("a", "trunk", "hip", axis="0 1 0", inside='<dynamics damping="0.5"/>'),
        joint("b", "hip", "leg", axis="1 0 0"),
        joint("c", "trunk", "slide", "prismatic", axis="0 0.6 0.8"),
        joint("d", "leg", "foot", "fixed"),
        "</robot>",
    ]
)
MJCF = """<mujoco><worldbody><body name="arm"><joint name="j" axis="0 1 0" armature="0.3"/>
<geom type="box" size="0.1 0.2 0.3" pos="0.2 0 0.1"/></body></worldbody></mujoco>"""
PROTOCOL = (
    *("load", "joints", "base", "mass_matrix", "bias", "gravity_forces", "inverse_dynamics", "acceleration"),
    *("frames", "placement", "jacobian", "jacobian_dot_v", "com", "momentum", "kinetic_energy"),
    *("potential_energy", "rnea_derivatives", "factors"),
)


def engine(**functions):
    """Return treefactor as an engine, with other functions and constants."""
    own_functions = {name: getattr(own, name) for name in PROTOCOL}
    constants = {"NAME": "mutant", "READS": ("urdf", "mjcf"), "DTYPE": "float64", "OPTIONS": {}}
    return SimpleNamespace(**{**own_functions, **constants, **functions})


def with_model(change):
    """Return `load` of an engine that changes every joint of what it has read."""

    def load(path, floating, gravity, options=frozenset()):
        body = own.load(path, floating, gravity, options)
        model = body.model
        joints = [change(one) for one in model.joints]
        return replace(
            body, model=Model(joints, model.gravity, model.name, strict=False, frames=model.frames)
        )

    return load


def turned_tensor(one):
    """Return a joint whose body's tensor is in the wrong axes."""
    turned = QUARTER_TURN @ one.inertia.tensor @ QUARTER_TURN.T
    return replace(one, inertia=replace(one.inertia, tensor=turned))


def turned_com(one):
    """Return a joint whose body's centre of mass is in the wrong axes."""
    return replace(one, inertia=replace(one.inertia, com=QUARTER_TURN @ one.inertia.com))


def no_products(one):
    """Return a joint whose body's tensor lacks products of inertia."""
    return replace(one, inertia=replace(one.inertia, tensor=np.diag(np.diag(one.inertia.tensor))))


def no_armature(one):
    """Return a joint without armature."""
    return replace(one, armature=0.0)


def opposite_gravity(path, floating, gravity, options=frozenset()):
    """Load a robot with the opposite gravity."""
    return own.load(path, floating, -gravity, options)


def local_jacobian(body, q, frame):
    """Return the Jacobian in the axes of the link."""
    return kinematics.frame_jacobian(body.model, q, body.model.frame(frame, "body"), "LOCAL")


def angular_first(body, q, frame):
    """Return the Jacobian with the angular rows first."""
    return np.roll(own.jacobian(body, q, frame), 3, axis=0)


def jacobian_at_com(body, q, frame):
    """Return the Jacobian of another point of the link than its origin."""
    J = own.jacobian(body, q, frame)
    return np.concatenate([J[:3] + np.cross(J[3:].T, [0.1, 0.0, 0.0]).T, J[3:]])


def momentum_about_the_origin(body, q, v):
    """Return the angular momentum about the origin of the world."""
    h = own.momentum(body, q, v)
    return np.concatenate([h[:3], h[3:] + np.cross(own.com(body, q), h[:3])])


def spatial_drift(body, q, v, frame):
    """Return the spatial instead of the classical acceleration."""
    place = body.model.frame(frame, "body")
    return kinematics.frame_acceleration(body.model, q, v, None, place, own.WORLD_AXES)


def opposite_drift(body, q, v, frame):
    """Return J̇v with the opposite sign."""
    return -own.jacobian_dot_v(body, q, v, frame)


def energy_from_zero(body, q):
    """Return a potential energy that is zero at another place than the world's origin."""
    return own.potential_energy(body, q) + 1.0


def doubled_energy(body, q, v):
    """Return twice the kinetic energy."""
    return 2.0 * own.kinetic_energy(body, q, v)


def one_link_turned(body, q, frame):
    """Return a placement whose rotation is the transpose for one link."""
    pose = own.placement(body, q, frame)
    if frame == "slide":
        pose[:3, :3] = pose[:3, :3].T.copy()
    return pose


def swapped_joints(body):
    """Return the joints with two names swapped."""
    joints = own.joints(body)
    names = {"a": "b", "b": "a"}
    return [replace(one, name=names.get(one.name, one.name)) for one in joints]


def shifted_joints(body):
    """Return the joints with the columns of v off by one behind the base."""
    joints = own.joints(body)
    columns = [joints[0].v, *(one.v for one in (*joints[2:], joints[1]))]
    return [replace(one, v=v) for one, v in zip(joints, columns, strict=True)]


def other_parent(body):
    """Return the joints with one on another parent."""
    return [replace(one, parent=1) if one.name == "c" else one for one in own.joints(body)]


def damped_bias(body, q, v):
    """Return the bias with viscous friction that is in no file."""
    return own.bias(body, q, v) + 0.5 * v


def bias_at_rest(body, q, v):
    """Return the bias without Coriolis and centrifugal forces."""
    return own.gravity_forces(body, q)


def gravity_without_base(body, q):
    """Return the forces of gravity on the joints only."""
    return np.concatenate([np.zeros(6), own.gravity_forces(body, q)[6:]])


def lower_triangle(body, q):
    """Return H without its upper triangle."""
    return np.tril(own.mass_matrix(body, q))


def rounded_matrix(body, q):
    """Return H in single precision."""
    return own.mass_matrix(body, q).astype(np.float32)


def inverse_at_rest(body, q, v, a):
    """Return inverse dynamics that ignore the acceleration."""
    return own.bias(body, q, v)


def free_fall(body, q, v, tau):
    """Return q̈ that ignores the forces."""
    return own.acceleration(body, q, v, np.zeros_like(tau))


def swapped_derivatives(body, q, v, a):
    """Return the derivatives by v and by q."""
    return own.rnea_derivatives(body, q, v, a)[::-1]


def transposed_derivatives(body, q, v, a):
    """Return the transposes of the derivatives."""
    return tuple(D.T for D in own.rnea_derivatives(body, q, v, a))


def upper_factor(body, q):
    """Return the transpose of L."""
    L, D = own.factors(body, q)
    return L.T, D


def inverted_pivots(body, q):
    """Return the inverse of D."""
    L, D = own.factors(body, q)
    return L, 1.0 / D


def in_degrees(body, q, *others):
    """Return H at angles that are taken for degrees."""
    return own.mass_matrix(body, np.concatenate([q[:7], np.rad2deg(q[7:])]), *others)


def at_second(right, wrong):
    """Return a function that is wrong at the second state after every load."""
    firsts = {}  # bodies are kept, so that none has the place of another

    def function(body, q, *others):
        _, first = firsts.setdefault(id(body), (body, np.array(q)))
        return (right if np.array_equal(q, first) else wrong)(body, q, *others)

    return function


def stale(right):
    """Return a function that answers for the state before."""
    last = {}

    def function(body, q, *others):
        before, last["q"] = last.get("q", q), np.array(q)
        return right(body, before if before.shape == q.shape else q, *others)

    return function


def refusing(body, *arguments):
    """Refuse to answer."""
    raise AdapterError("not today")


def nan_com(body, q):
    """Return no centre of mass."""
    return np.full(3, np.nan)


def base_with(**conventions):
    """Return `base` with other conventions declared than those that the engine has."""
    return lambda body: replace(own.base(body), **conventions)


def damping_of_file(path, floating, gravity, options=frozenset()):
    """Load a robot with the damping of its file."""
    body = own.load(path, floating, gravity, options)
    body.damping = np.zeros(body.model.nv)
    for one in ET.parse(path).iterfind("joint[dynamics]"):
        joint = next(k for k, at in enumerate(body.model.joints) if at.name == one.get("name"))
        body.damping[body.model.idx_v[joint]] = float(one.find("dynamics").get("damping"))
    return body


def damped_by_file(body, q, v):
    """Return the bias with the damping of the file."""
    return own.bias(body, q, v) + body.damping * v


def without_foot(path, floating, gravity, options=frozenset()):
    """Load a robot without the inertia of the link called foot."""
    file = ET.parse(path)
    for foot in file.iterfind("link[@name='foot']"):
        foot.remove(foot.find("inertial"))
    other = path.with_name("footless.urdf")
    file.write(other)
    return own.load(other, floating, gravity, options)


def spoiling(function):
    """Return a function that changes its arguments after it has answered."""

    def spoiled(body, *arguments):
        answer = function(body, *arguments)
        for one in arguments:
            if isinstance(one, np.ndarray):
                one += 1.0
        return answer

    return spoiled


def buffered(function):
    """Return a function that always returns the same buffer."""
    buffers = {}

    def answer(body, *arguments):
        values = np.asarray(function(body, *arguments), dtype=float)
        buffer = buffers.setdefault(values.shape, np.empty(values.shape))
        buffer[...] = values
        return buffer

    return answer


ARRAYS = tuple(name for name in PROTOCOL if name not in ("load", "joints", "base", "frames", "factors"))
MUTANTS = {  # name: functions, quantities that are wrong
    "opposite gravity": ({"load": opposite_gravity}, FORCES | {"energies", "derivatives"}),
    "tensors in the wrong axes": ({"load": with_model(turned_tensor)}, DYNAMICS),
    "centres of mass in the wrong axes": (
        {"load": with_model(turned_com)},
        DYNAMICS | {"gravity", "centre of mass"},
    ),
    "no products of inertia": ({"load": with_model(no_products)}, DYNAMICS),
    "Jacobian in the link's axes": ({"jacobian": local_jacobian}, {"Jacobians"}),
    "angular rows first": ({"jacobian": angular_first}, {"Jacobians"}),
    "Jacobian of another point": ({"jacobian": jacobian_at_com}, {"Jacobians"}),
    "momentum about the origin": ({"momentum": momentum_about_the_origin}, {"momentum"}),
    "spatial J̇v": ({"jacobian_dot_v": spatial_drift}, {"J̇v"}),
    "opposite J̇v": ({"jacobian_dot_v": opposite_drift}, {"J̇v"}),
    "energy with another zero": ({"potential_energy": energy_from_zero}, {"energies"}),
    "no half in the kinetic energy": ({"kinetic_energy": doubled_energy}, {"energies"}),
    "one link turned back": ({"placement": one_link_turned}, {"placements"}),
    "viscous friction": ({"bias": damped_bias}, {"bias", "q̈"}),
    "no Coriolis forces": ({"bias": bias_at_rest}, {"bias", "q̈"}),
    "no gravity on the base": ({"gravity_forces": gravity_without_base}, {"gravity"}),
    "lower triangle only": ({"mass_matrix": lower_triangle}, {"H", "LᵀDL"}),
    "single precision": ({"mass_matrix": rounded_matrix}, {"H", "q̈", "L and D"}),
    "angles in degrees": ({"mass_matrix": in_degrees}, {"H", "q̈", "L and D"}),
    "no acceleration in inverse dynamics": ({"inverse_dynamics": inverse_at_rest}, {"inverse dynamics"}),
    "q̈ without forces": ({"acceleration": free_fall}, {"q̈"}),
    "derivatives swapped": ({"rnea_derivatives": swapped_derivatives}, {"derivatives"}),
    "derivatives transposed": ({"rnea_derivatives": transposed_derivatives}, {"derivatives"}),
    "L transposed": ({"factors": upper_factor}, {"L and D"}),
    "D inverted": ({"factors": inverted_pivots}, {"L and D"}),
    "parent of a joint": ({"joints": other_parent}, {"tree"}),
    "right at the first state only": (
        {"com": at_second(own.com, lambda body, q: np.ones(3))},
        {"centre of mass"},
    ),
    "NaN at the last state": ({"com": at_second(own.com, nan_com)}, {"centre of mass"}),
    "no answer at the last state": ({"com": at_second(own.com, refusing)}, {"centre of mass"}),
    "value of the state before": ({"com": stale(own.com)}, {"centre of mass"}),
    "names of two joints swapped": ({"joints": swapped_joints}, POSED | {"H"}),
    "columns off by one": ({"joints": shifted_joints}, OF_BASE | {"derivatives", "tree"}),
    "base velocity angular first": ({"base": base_with(order="angular-linear")}, OF_BASE | {"derivatives"}),
    "base velocity in the world": ({"base": base_with(linear="world")}, OF_BASE),
    "quaternion w first": ({"base": base_with(pose="p wxyz")}, POSED),
    "velocity of the base's centre of mass": (
        {"base": base_with(point="com", com=np.array([0.1, -0.2, 0.3]))},
        OF_BASE,
    ),
}
