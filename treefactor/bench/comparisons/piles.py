"""Compare times of steps of a settled pile of spheres with engines', which solve contacts approximately.

Spheres lie between two walls, on the floor and on pegs. MuJoCo makes contacts soft, PyBullet takes a fixed
number of iterations: `Pile.overlap` shows how deep spheres then are in each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ...constraints import Plane, Sphere, Stepper, contacts_between
from ...constraints.contacts import Contacts
from ...kinematics.jacobians import BodyMotions
from ...model.inertia import Inertia
from ...model.joints import Joint
from ...model.model import Model

COUNT, RADIUS, PEG, MU, H, MARGIN = 48, 0.1, 0.15, 0.3, 0.005, 0.1
LAYER, FALL = 8, 2.1  # spheres side by side; height of the lowest ones, m
PEGS = [(x, 0.0, z) for row, z in enumerate((1.0, 1.6)) for x in np.arange(-1.5 + 0.5 * row, 1.6, 1.0)]
WALLS = (
    ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
    ([1.0, 0.0, 0.0], [-1.5, 0.0, 0.0]),
    ([-1.0, 0.0, 0.0], [1.5, 0.0, 0.0]),
    ([0.0, 1.0, 0.0], [0.0, -0.22, 0.0]),
    ([0.0, -1.0, 0.0], [0.0, 0.22, 0.0]),
)  # normals and points
SETTLING, ENGINES_SETTLE = 1000, 200  # steps


class Pile:
    """Spheres at rest, after they fell over the pegs.

    Attributes
    ----------
    stepper : Stepper
    q, v : ndarray
    """

    def __init__(self, steps: int = SETTLING):
        ball = Inertia(1.0, tensor=0.4 * RADIUS**2 * np.eye(3))
        model = Model([Joint(f"ball{i}", "freeflyer", inertia=ball) for i in range(COUNT)])
        others = [*(Plane(-1, *wall) for wall in WALLS), *(Sphere(-1, place, PEG) for place in PEGS)]
        contacts = contacts_between([Sphere(i, radius=RADIUS) for i in range(COUNT)], others, MU)
        self._contacts = Contacts(model, contacts)
        self.stepper = Stepper(model, contacts, h=H, margin=MARGIN)
        layer, place = np.divmod(np.arange(COUNT), LAYER)
        q = np.zeros((COUNT, 7))
        q[:, :3] = np.stack(
            [0.22 * (place % 4) - 0.33, 0.22 * (place // 4) - 0.11, FALL + 0.22 * layer], axis=1
        )
        q[:, :3] += np.random.default_rng(0).uniform(-0.008, 0.008, (COUNT, 3))
        q[:, 6] = 1.0
        run = self.stepper.run(q.ravel(), np.zeros(model.nv), steps, keep_steps=False)
        self.q, self.v = run.q[-1], run.v[-1]

    def overlap(self, q: np.ndarray) -> float:
        """Return how deep spheres are in each other, in pegs or walls, m."""
        return -float(self._contacts.near(BodyMotions(self.stepper.model, q)).gap.min())

    def step(self, count: int) -> np.ndarray:
        """Take steps from rest, one by one; return the last configuration."""
        q, v = self.q, self.v
        for _ in range(count):
            made = self.stepper.step(q, v)
            q, v = made.q, made.v
        return q

    def run(self, count: int) -> np.ndarray:
        """Take the same steps in one run that keeps states only."""
        return self.stepper.run(self.q, self.v, count, keep_steps=False).q[-1]


def mujoco_pile(q: np.ndarray) -> tuple[Callable[[], object], Callable[[], np.ndarray]]:
    """Return a call that takes MuJoCo's next step from q, and one that returns the configuration."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(_mjcf())
    data = mujoco.MjData(model)
    data.qpos[:] = q.reshape(-1, 7)[:, [0, 1, 2, 6, 3, 4, 5]].ravel()
    for _ in range(ENGINES_SETTLE):
        mujoco.mj_step(model, data)
    return partial(mujoco.mj_step, model, data), lambda: data.qpos.reshape(-1, 7)[
        :, [0, 1, 2, 4, 5, 6, 3]
    ].ravel()


def pybullet_pile(q: np.ndarray) -> tuple[Callable[[], object], Callable[[], np.ndarray]]:
    """Return a call that takes PyBullet's next step from q, and one that returns the configuration."""
    import pybullet
    from pybullet_utils.bullet_client import BulletClient

    world = BulletClient(pybullet.DIRECT)
    world.setGravity(0, 0, -9.81)
    world.setTimeStep(H)
    fixed = [(world.createCollisionShape(pybullet.GEOM_PLANE, planeNormal=n), p) for n, p in WALLS]
    fixed += [(world.createCollisionShape(pybullet.GEOM_SPHERE, radius=PEG), p) for p in PEGS]
    shape = world.createCollisionShape(pybullet.GEOM_SPHERE, radius=RADIUS)
    bodies = [world.createMultiBody(0, one, basePosition=p) for one, p in fixed]
    balls = [world.createMultiBody(1.0, shape, -1, x[:3], x[3:]) for x in q.reshape(-1, 7)]
    for body in (*bodies, *balls):
        world.changeDynamics(body, -1, lateralFriction=np.sqrt(MU))  # of two bodies: the product
    for body in balls:
        world.changeDynamics(body, -1, linearDamping=0.0, angularDamping=0.0)
    for _ in range(ENGINES_SETTLE):
        world.stepSimulation()

    def configuration() -> np.ndarray:
        return np.concatenate([np.concatenate(world.getBasePositionAndOrientation(ball)) for ball in balls])

    return world.stepSimulation, configuration


def _mjcf() -> str:
    """Write the scene in MJCF."""
    fixed = [f'<geom type="plane" size="5 5 1" pos="{_text(p)}" zaxis="{_text(n)}"/>' for n, p in WALLS] + [
        f'<geom type="sphere" size="{PEG}" pos="{_text(p)}"/>' for p in PEGS
    ]
    ball = f'<body><freejoint/><geom type="sphere" size="{RADIUS}" mass="1"/></body>'
    return (
        f'<mujoco><option timestep="{H}"/><default><geom friction="{MU} 0 0" condim="3"/></default>'
        f"<worldbody>{''.join(fixed)}{ball * COUNT}</worldbody></mujoco>"
    )


def _text(x) -> str:
    """Write numbers with spaces between them."""
    return " ".join(map(str, x))
