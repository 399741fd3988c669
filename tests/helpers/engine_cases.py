"""Cases for the tests of MuJoCo's and Drake's adapters: URDFs with one trap each, Pinocchio's results."""

import numpy as np
import pytest

import treefactor as tf
from helpers.bundled_robots import bundled_robot

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")

from treefactor.adapters import pinocchio_  # noqa: E402

H_TOLERANCE = 1e-13  # relative to the largest entry
FORCE_TOLERANCE = 1e-12  # the same, of the bias
QDD_TOLERANCE = 1e-11  # the same, of accelerations
QDD_PER_CONDITION = 1e-14  # where that is more

REAL = [
    "panda",
    "double_pendulum_continuous",
    "ur5_robot",  # its root link is called "world"
    "solo12",
    "talos_reduced",
    "baxter",
    "g1_29dof_rev_1_0",
    "pybullet_data/a1/a1",
]


def relative(value, reference):
    """Return the largest deviation over the largest entry of the reference."""
    assert value.shape == reference.shape
    return np.abs(value - reference).max() / np.abs(reference).max()


def pinocchio_model(path, floating=False):
    """Return Pinocchio's model of a URDF."""
    return pinocchio_.load(path, floating)


def state(model, seed=0):
    """Return random q, v, tau."""
    rng = np.random.default_rng(seed)
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
    return q, *rng.normal(size=(2, model.nv))


def own_state(adapter, body, model, seed=0):
    """Return a random state in the engine's conventions: q, v, tau."""
    q, v, tau = state(model, seed)
    return *adapter.from_pinocchio(body, model, q, v), adapter.transform(body, model, q).T @ tau


def assert_agrees(adapter, body, model, seed=0):
    """Assert that H, bias and both accelerations of an engine are Pinocchio's."""
    q, v, tau = state(model, seed)
    data = model.createData()
    H = pinocchio_.mass_matrix(model, data, q)
    qdd = np.array(pin.aba(model, data, q, v, tau))

    T, c = adapter.transform(body, model, q), adapter.acceleration_offset(body, model, q, v)
    mine = adapter.from_pinocchio(body, model, q, v)
    np.testing.assert_allclose(T @ mine[1], v, atol=1e-14)

    own = adapter.mass_matrix(body, mine[0])
    np.testing.assert_array_equal(own, own.T)
    assert not own[~adapter.tree(body).mask()].any()
    assert relative(own, T.T @ H @ T) < H_TOLERANCE

    bias = T.T @ (pin.nle(model, data, q, v) + H @ c)
    scale = max(np.abs(bias).max(), np.abs(H).max())  # a balanced wheel has no bias to compare with
    assert np.abs(adapter.bias(body, *mine) - bias).max() < FORCE_TOLERANCE * scale

    allowed = max(QDD_TOLERANCE, QDD_PER_CONDITION * np.linalg.cond(H))
    for accelerate in (adapter.forward_dynamics, adapter.acceleration):
        assert relative(T @ accelerate(body, *mine, T.T @ tau) + c, qdd) < allowed


# ---------------------------------------------------------------------------------------------------- errors


def assert_refused_with_reason(load, engine, path, reason):
    """Assert that an engine's adapter refuses a file, and that the error names engine, file and reason."""
    with pytest.raises(tf.AdapterError, match=reason) as caught:
        load(path)
    assert caught.value.engine == engine
    assert caught.value.file == str(path)
    assert str(path) in str(caught.value)


def assert_wrong_arguments_are_refused(adapter):
    """Assert that arrays of wrong lengths and NaN raise errors."""
    body = adapter.load(bundled_robot("panda"))
    q, v = np.zeros(body.nq), np.zeros(body.nv)
    for call in (
        lambda: adapter.mass_matrix(body, q[:-1]),
        lambda: adapter.bias(body, q, [*v, 0.0]),
        lambda: adapter.acceleration(body, q, v, v[:-1]),
        lambda: adapter.forward_dynamics(body, q, v, np.zeros((1, body.nv))),
        lambda: adapter.load(bundled_robot("panda"), gravity=-9.81),
    ):
        with pytest.raises(tf.ShapeError):
            call()
    with pytest.raises(tf.NonFiniteError, match="q"):
        adapter.mass_matrix(body, q * np.nan)


def assert_unmatched_joints_are_named(adapter):
    """Assert that joints that only one of body and Pinocchio's model has are named."""
    panda, ur5 = bundled_robot("panda"), bundled_robot("ur5_robot")
    body, model = adapter.load(panda), pinocchio_model(ur5)
    with pytest.raises(tf.AdapterError, match=r"shoulder_pan_joint.*panda_joint1"):
        adapter.transform(body, model, pin.neutral(model))
    model = pinocchio_model(panda, floating=True)
    with pytest.raises(tf.AdapterError, match="root_joint"):
        adapter.transform(body, model, pin.neutral(model))


# ----------------------------------------------------------------------------------------------------- URDFs


def link(name, mass=1.0, moments=(0.02, 0.03, 0.04), extra=""):
    """Return a link whose inertia has no symmetry; without ``<inertial>`` where mass is None."""
    if mass is None:
        return f'<link name="{name}">{extra}</link>'
    xx, yy, zz = moments
    return (
        f'<link name="{name}"><inertial><origin xyz="0.1 -0.2 0.05" rpy="0.3 0.2 -0.4"/>'
        f'<mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
        f"</inertial>{extra}</link>"
    )


def joint(name, parent, child, kind="revolute", axis="0 0.6 0.8", extra=""):
    """Return a joint placed askew; its limits exclude nearly every position."""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0.3 0.1 -0.2" rpy="0.5 -0.3 0.7"/><axis xyz="{axis}"/>'
        f'<limit lower="-0.01" upper="0.01" effort="1" velocity="1"/>{extra}</joint>'
    )


def urdf(*parts):
    """Return the text of a robot."""
    return f'<robot name="case">{"".join(parts)}</robot>'


MESH = '<geometry><mesh filename="package://nowhere/absent.stl"/></geometry>'
SHAPES = f"<visual>{MESH}</visual><collision>{MESH}</collision>"
DAMPED = '<dynamics damping="0.7" friction="0.4"/>'

TRAPS = {
    "file order is not alphabetical": urdf(
        link("base"), link("z"), link("a"), link("m"),
        joint("zz", "base", "z"), joint("aa", "base", "a"), joint("mm", "z", "m"),
    ),
    "continuous": urdf(link("base"), link("a"), joint("turns", "base", "a", "continuous")),
    "prismatic": urdf(
        link("base"), link("a"), link("b"), joint("p", "base", "a", "prismatic"), joint("r", "a", "b"),
    ),
    "rotated fixed links": urdf(
        link("base"), link("welded", 2.0), link("a"), link("tip", 0.5),
        joint("w", "base", "welded", "fixed"), joint("j", "welded", "a"), joint("t", "a", "tip", "fixed"),
    ),
    "flat link": urdf(link("base"), link("a", 1.0, (0.1, 0.2, 0.3)), joint("j", "base", "a")),
    "root without inertial": urdf(
        link("base", None), link("welded"), link("a"),
        joint("w", "base", "welded", "fixed"), joint("j", "base", "a"),
    ),
    "root called world": urdf(link("world"), link("world_"), joint("j", "world", "world_")),
    "no meshes": urdf(link("base", extra=SHAPES), link("a", extra=SHAPES), joint("j", "base", "a")),
    "damping and friction": urdf(link("base"), link("a"), joint("j", "base", "a", extra=DAMPED)),
    "mimic": urdf(
        link("base"), link("a"), link("b"), joint("j", "base", "a"),
        joint("k", "base", "b", extra='<mimic joint="j" multiplier="2"/>'),
    ),
    "extensions": urdf(
        link("base"), link("a"), joint("j", "base", "a"),
        '<mujoco><compiler balanceinertia="true" meshdir="/nowhere"/></mujoco><gazebo/>',
        '<transmission name="t"/>',
    ),
}  # fmt: skip

BROKEN = {
    "empty": ("", "not well-formed"),
    "no xml": ("no xml <", "not well-formed"),
    "unknown encoding": ('<?xml version="1.0" encoding="klingon"?><robot/>', "not well-formed"),
    "no robot": ("<sdf/>", "sdf"),
    "no link": ("<robot name='r'/>", "0"),
    "two roots": (urdf(link("a"), link("b")), "a, b"),
    "loop": (
        urdf(link("r"), link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")),
        "does not hang|already has joint",
    ),
    "two parents": (
        urdf(
            link("r"), link("a"), link("b"),
            joint("i", "r", "a"), joint("j", "r", "b"), joint("k", "a", "b"),
        ),
        "two parent|loops",
    ),
    "bad number": (
        urdf(link("r"), link("a"), joint("j", "r", "a")).replace("0.3 0.1 -0.2", "0.3 0.1 $(x)"),
        "'j': .* is not a number|Expected 3 values",
    ),
    "unknown parent": (
        urdf(link("r"), link("a"), joint("j", "absent", "a"), joint("k", "r", "a")),
        "'j' joins 'absent'|Could not find link named 'absent'",
    ),
    "two links of one name": (
        urdf(link("r"), link("a"), link("a"), joint("j", "r", "a")),
        "two links are called 'a'",
    ),
    "unknown joint type": (
        urdf(link("r"), link("a"), joint("j", "r", "a", "elastic")),
        "'j' (is elastic|has unrecognized type|has type 'elastic', which is not one of)",
    ),
}  # fmt: skip
