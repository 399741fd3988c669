"""Let robots fall without motors, for `treefactor bench contacts`: the same shapes in all engines.

MuJoCo and PyBullet get them from our model: joints, inertias, convex hulls, and which pairs may touch.
PyBullet knows no armature, which is added to the moments of inertia of its bodies instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.spatial.transform import Rotation

from ...check import robots
from ...constraints import (
    Box,
    Capsule,
    Contact,
    Cylinder,
    Geometry,
    Mesh,
    Sphere,
    Stepper,
    bounding_boxes,
    contacts_of,
)
from ...constraints.contact_points import placement_of
from ...model.configuration import neutral
from ...model.frames import located
from ...model.model import Model

H, STEPS = 0.002, 1000  # s; from falling to lying
HARD = 'solref="0.004 1" solimp="0.99 0.999 0.001"'  # contacts of MuJoCo
ARMATURE, DAMPING = 0.01, 0.5  # of every joint: kg m^2, N m s/rad
GAP, TILT = 0.3, 0.1  # m above the ground; half the angle by which it leans forward, rad
FREE, PLACES = 6, 7  # entries of the base in v and q
KINDS = {"revolute": "hinge", "prismatic": "slide"}
LEAST = 'boundmass="1e-6" boundinertia="1e-9"'  # of links without mass


@dataclass(frozen=True)
class Fall:
    """A robot that falls to the ground; its limbs may touch each other.

    Attributes
    ----------
    robot : str
    mu : float
        Coefficient of friction.
    goal : float
        How many times faster than MuJoCo.
    worlds : int

    Notes
    -----
    Immutable.
    """

    robot: str
    mu: float = 0.6
    goal: float = 0.5
    worlds: int = 1

    @property
    def steps(self) -> int:
        """Number of steps."""
        return STEPS

    @cached_property
    def loaded(self) -> tuple[Model, Geometry]:
        """Model and shapes."""
        model, shapes = Model.from_urdf(robots.find(self.robot).path, floating=True, geometry="collision")
        base, *others = model.joints
        joints = [base, *(replace(joint, armature=ARMATURE) for joint in others)]
        return Model(joints, model.gravity, model.name, strict=False, frames=model.frames), shapes

    @cached_property
    def start(self) -> np.ndarray:
        """Configuration in which it begins to fall."""
        model, shapes = self.loaded
        q = np.clip(neutral(model), model.lower, model.upper)
        q[3:PLACES] = 0.0, np.sin(TILT), 0.0, np.cos(TILT)
        q[2] = GAP - bounding_boxes(model, shapes, q)[:, 0, 2].min()
        return q

    @cached_property
    def pairs(self) -> tuple[list[Contact], list[tuple[int, int]]]:
        """Contacts, and the pairs of bodies that may not touch.

        These are adjacent, or shapes of both overlap in the beginning.
        """
        model, shapes = self.loaded
        contacts, left_out = contacts_of(model, shapes, mu=self.mu, reference=self.start, named=True)
        on = {name: located(model, shape.body)[0] for name, shape in zip(shapes.names, shapes, strict=True)}
        on["other 0"] = -1
        apart = {frozenset((on[one.first], on[one.second])) for one in left_out}
        own = [
            frozenset(located(model, side.body)[0] for side in (contact.sphere, contact.against))
            for contact in contacts
        ]
        kept = [contact for contact, bodies in zip(contacts, own, strict=True) if bodies not in apart]
        return kept, sorted(tuple(sorted(pair)) for pair in apart if len(pair) == 2 and -1 not in pair)

    def stepper(self) -> tuple[Stepper, np.ndarray, np.ndarray]:
        """Return our stepper and the initial state."""
        model = self.loaded[0]
        stepper = Stepper(model, self.pairs[0], h=H, friction="box", correction="split")
        return stepper, self.start, np.zeros(model.nv)

    def control(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the torques of dampers in the joints."""
        return self.damping * v

    @cached_property
    def damping(self) -> np.ndarray:
        """Torques of the dampers over velocities."""
        return -DAMPING * (np.arange(self.loaded[0].nv) >= FREE)

    @cached_property
    def placed(self) -> list[tuple[int, object, np.ndarray, np.ndarray]]:
        """Joint, shape, rotation and origin in the joint, of all shapes."""
        model, shapes = self.loaded
        return [
            (joint, shape, R, p)
            for shape in shapes
            for joint, R, p in [located(model, shape.body, *placement_of(shape))]
        ]

    @property
    def xml(self) -> str:
        """The scene for MuJoCo."""
        model, assets = self.loaded[0], []
        geoms: list[list[str]] = [[] for _ in model.joints]
        for joint, shape, R, p in self.placed:
            if isinstance(shape, Mesh):
                name, corners = f"mesh{len(assets)}", shape.hull.corners
                assets.append(f'<mesh name="{name}" inertia="convex" vertex="{_numbers(corners.ravel())}"/>')
                form = f'type="mesh" mesh="{name}"'
            else:
                kind, size = _primitive(shape)
                form = f'type="{kind}" size="{_numbers(size)}"'
            geoms[joint].append(f"<geom {form} {_at(R, p)}/>")

        def body(k: int) -> str:
            joint, inertia = model.joints[k], model.joints[k].inertia
            tensor = inertia.tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            motion = "<freejoint/>"
            if joint.kind != "freeflyer":
                limits = _numbers([*joint.lower, *joint.upper])
                motion = (
                    f'<joint type="{KINDS[joint.kind]}" axis="{_numbers(joint.axis)}" limited="true" '
                    f'range="{limits}" armature="{ARMATURE}" damping="{DAMPING}"/>'
                )
            mass = f'pos="{_numbers(inertia.com)}" mass="{inertia.mass}" fullinertia="{_numbers(tensor)}"'
            inside = "".join(body(i) for i, other in enumerate(model.joints) if other.parent == k)
            return (
                f'<body name="{k}" {_at(joint.R, joint.p)}>{motion}<inertial {mass}/>'
                f"{''.join(geoms[k])}{inside}</body>"
            )

        exclude = "".join(f'<exclude body1="{i}" body2="{k}"/>' for i, k in self.pairs[1])
        return (
            f'<mujoco><compiler angle="radian" autolimits="true" balanceinertia="true" {LEAST}/>'
            f'<option timestep="{H}" cone="elliptic" integrator="implicitfast"/>'
            f'<default><geom {HARD} friction="{self.mu} 0 0"/></default><asset>{"".join(assets)}</asset>'
            f'<worldbody><geom type="plane" size="5 5 1"/>{body(0)}</worldbody>'
            f"<contact>{exclude}</contact></mujoco>"
        )

    def place_mujoco(self, data) -> None:
        """Set the initial state of MuJoCo's data."""
        q = self.start
        data.qpos[:] = np.r_[q[:3], np.roll(q[3:PLACES], 1), q[PLACES:]]

    def load_bullet(self, client: int):
        """Build the robot in a client of PyBullet; return its bodies and a function that sets the start."""
        import pybullet as p

        model, q, at = self.loaded[0], self.start, {"physicsClientId": client}
        with TemporaryDirectory(prefix="treefactor") as folder:
            shapes = [self._bullet_shape(k, Path(folder), at) for k in range(model.njoints)]
            base, *links = model.joints
            turned = [Rotation.from_matrix(joint.R).as_quat() for joint in links]
            robot = p.createMultiBody(
                baseMass=base.inertia.mass,
                baseCollisionShapeIndex=shapes[0],
                basePosition=q[:3],
                baseOrientation=q[3:PLACES],
                baseInertialFramePosition=base.inertia.com,
                linkMasses=[joint.inertia.mass for joint in links],
                linkCollisionShapeIndices=shapes[1:],
                linkVisualShapeIndices=[-1] * len(links),
                linkPositions=[joint.p for joint in links],
                linkOrientations=turned,
                linkInertialFramePositions=[joint.inertia.com for joint in links],
                linkInertialFrameOrientations=[[0, 0, 0, 1]] * len(links),
                linkParentIndices=[joint.parent for joint in links],
                linkJointTypes=[
                    p.JOINT_REVOLUTE if joint.kind == "revolute" else p.JOINT_PRISMATIC for joint in links
                ],
                linkJointAxis=[joint.axis for joint in links],
                flags=p.URDF_USE_SELF_COLLISION,
                **at,
            )
        for i, k in self.pairs[1]:
            p.setCollisionFilterPair(robot, robot, i - 1, k - 1, 0, **at)
        for k, joint in enumerate(links):
            limits = {"jointLowerLimit": joint.lower[0], "jointUpperLimit": joint.upper[0]}
            moments = np.diag(joint.inertia.tensor) + ARMATURE
            p.changeDynamics(*(robot, k), jointDamping=DAMPING, localInertiaDiagonal=moments, **limits, **at)
            p.setJointMotorControl2(robot, k, p.VELOCITY_CONTROL, force=0.0, **at)
        centre = q[:3] + Rotation.from_quat(q[3:PLACES]).as_matrix() @ base.inertia.com

        def place() -> None:
            p.resetBasePositionAndOrientation(robot, centre, q[3:PLACES], **at)
            p.resetBaseVelocity(robot, [0, 0, 0], [0, 0, 0], **at)
            for k, angle in enumerate(q[PLACES:]):
                p.resetJointState(robot, k, angle, 0.0, **at)

        return [robot], place

    def _bullet_shape(self, body: int, folder: Path, at: dict) -> int:
        """Return PyBullet's number of the shapes on a body, -1 for none."""
        import pybullet as p

        own = [(shape, R, x) for joint, shape, R, x in self.placed if joint == body]
        if not own:
            return -1
        kinds = {Sphere: p.GEOM_SPHERE, Capsule: p.GEOM_CAPSULE, Cylinder: p.GEOM_CYLINDER, Box: p.GEOM_BOX}
        files = []
        for k, (shape, _, _) in enumerate(own):
            files.append(str(folder / f"{body}_{k}.obj"))
            if isinstance(shape, Mesh):
                Path(files[-1]).write_text(_obj(shape.hull))
        return p.createCollisionShapeArray(
            shapeTypes=[kinds.get(type(shape), p.GEOM_MESH) for shape, _, _ in own],
            radii=[getattr(shape, "radius", 0.0) for shape, _, _ in own],
            halfExtents=[shape.size / 2 if isinstance(shape, Box) else [0, 0, 0] for shape, _, _ in own],
            lengths=[getattr(shape, "length", 0.0) for shape, _, _ in own],
            fileNames=files,
            meshScales=[[1, 1, 1]] * len(own),
            collisionFramePositions=[x for _, _, x in own],
            collisionFrameOrientations=[Rotation.from_matrix(R).as_quat() for _, R, _ in own],
            **at,
        )


def _numbers(values) -> str:
    """Return numbers for an attribute."""
    return " ".join(map(repr, map(float, values)))


def _at(R, p) -> str:
    """Return the attributes of a placement."""
    quat = np.roll(Rotation.from_matrix(R).as_quat(), 1)
    return f'pos="{_numbers(p)}" quat="{_numbers(quat)}"'


def _primitive(shape) -> tuple[str, list[float]]:
    """Return MuJoCo's kind and sizes of a shape."""
    if isinstance(shape, Box):
        return "box", (shape.size / 2).tolist()
    if isinstance(shape, Sphere):
        return "sphere", [shape.radius]
    return type(shape).__name__.lower(), [shape.radius, shape.length / 2]


def _obj(hull) -> str:
    """Return the text of a file of the corners and faces of a hull."""
    corners = [f"v {x!r} {y!r} {z!r}" for x, y, z in hull.corners.tolist()]
    loops = np.split(hull.loop, hull.start[1:-1])
    faces = [f"f {a + 1} {b + 1} {c + 1}" for a, *rest in loops for b, c in pairwise(rest)]
    return "\n".join([*corners, *faces, ""])
