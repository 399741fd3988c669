"""Compare time steps of boxes and robots with MuJoCo and PyBullet, for `treefactor bench contacts`.

An item is a step of one world. The peers have the same bodies, friction and step; MuJoCo's contacts are as
hard as it recommends, with elliptic cones; PyBullet has its defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from time import process_time
from typing import ClassVar

import numpy as np

from ...check.robots import bundled
from ...constraints import Box, Contact, Stepper
from ...model.joints import Inertia, Joint
from ...model.model import Model
from ..timing import Call, Comparison
from .falling import HARD, Fall, H

G = 9.81
STEPS, WORLDS = 100, 32
PEERS = ("mujoco", "pybullet")
FALLING = ("solo12", "talos_reduced", "g1_29dof_rev_1_0")


@dataclass(frozen=True)
class Scene:
    """Equal boxes on the ground.

    Attributes
    ----------
    size : tuple of float
        m.
    mass, mu : float
        kg; coefficient of friction.
    places : tuple
        Centres, m.
    first : tuple of float
        Velocity of the first one: linear before angular.
    pairs : tuple of pairs of int
        Boxes that may touch.
    grounded : tuple of int
        Boxes that may touch the ground.
    rounds : int
        How many times `STEPS` steps are taken from the same state.
    worlds : int
    goal : float
        How many times faster than MuJoCo.

    Notes
    -----
    Immutable.
    """

    size: tuple[float, float, float]
    mass: float
    mu: float
    places: tuple
    pairs: tuple
    grounded: tuple
    first: tuple = (0.0,) * 6
    rounds: int = 1
    worlds: int = 1
    goal: float = 0.5
    control: ClassVar[None] = None  # nothing drives them

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.rounds * STEPS

    def stepper(self) -> tuple[Stepper, np.ndarray, np.ndarray]:
        """Return our stepper and the initial states."""
        x, y, z = np.square(self.size)
        inertia = Inertia(self.mass, tensor=self.mass / 12 * np.diag([y + z, x + z, x + y]))
        joints = [Joint(f"box {k}", "freeflyer", inertia=inertia) for k in range(len(self.places))]
        boxes = [Box(k, self.size) for k in range(len(self.places))]
        contacts = [Contact(boxes[k], mu=self.mu) for k in self.grounded]
        contacts += [Contact(boxes[i], boxes[k], mu=self.mu) for i, k in self.pairs]
        q = np.concatenate([[*place, 0.0, 0.0, 0.0, 1.0] for place in self.places])
        v = np.zeros(6 * len(self.places))
        v[:6] = self.first
        return Stepper(Model(joints), contacts, h=H), q, v

    @property
    def xml(self) -> str:
        """The scene for MuJoCo."""
        half = " ".join(str(0.5 * side) for side in self.size)
        geom = f'<geom type="box" size="{half}" mass="{self.mass}"/>'
        bodies = "".join(f'<body pos="{x} {y} {z}"><freejoint/>{geom}</body>' for x, y, z in self.places)
        return (
            f'<mujoco><option timestep="{H}" cone="elliptic" integrator="implicitfast"/>'
            f'<default><geom {HARD} friction="{self.mu} 0 0"/></default>'
            f'<worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>'
        )

    def place_mujoco(self, data) -> None:
        """Set the initial state of MuJoCo's data."""
        data.qvel[:6] = self.first

    def load_bullet(self, client: int) -> tuple[list[int], Callable[[], None]]:
        """Build the boxes in a client of PyBullet; return these and a function that sets the start."""
        import pybullet as p

        half = [0.5 * side for side in self.size]
        box = p.createCollisionShape(p.GEOM_BOX, halfExtents=half, physicsClientId=client)
        bodies = [
            p.createMultiBody(self.mass, box, basePosition=place, physicsClientId=client)
            for place in self.places
        ]

        def place() -> None:
            for body, at in zip(bodies, self.places, strict=True):
                p.resetBasePositionAndOrientation(body, at, [0, 0, 0, 1], client)
                p.resetBaseVelocity(body, [0, 0, 0], [0, 0, 0], client)
            p.resetBaseVelocity(bodies[0], self.first[:3], self.first[3:], client)

        return bodies, place


def _stack(count: int, **options) -> Scene:
    """Return cubes on top of each other."""
    places = tuple((0.0, 0.0, 0.1 + 0.2 * k) for k in range(count))
    pairs = tuple((k + 1, k) for k in range(count - 1))
    return Scene((0.2, 0.2, 0.2), 1.0, 0.8, places, pairs, (0,), **options)


SCENES: dict[str, Scene | Fall] = {
    **{f"stack of {count}": _stack(count) for count in (3, 10, 20)},
    "ten dominoes": Scene(
        *((0.02, 0.08, 0.16), 0.1, 0.3),
        places=tuple((0.06 * k, 0.0, 0.08) for k in range(10)),
        pairs=tuple((k + 1, k) for k in range(9)),
        grounded=tuple(range(10)),
        first=(0.16, 0.0, 0.0, 0.0, 2.0, 0.0),
        rounds=4,
    ),
    f"{WORLDS} stacks of 3": _stack(3, worlds=WORLDS, goal=1.0),
    **{f"{name} falls": Fall(name) for name in FALLING},
}


def scenes() -> list[str]:
    """Return the names of the scenes whose robots are installed."""
    return [name for name, scene in SCENES.items() if isinstance(scene, Scene) or scene.robot in bundled()]


def steps(name: str) -> Iterator[Comparison]:
    """Compare the steps of a scene with those of the peers that are installed."""
    scene = SCENES[name]
    theirs: dict[str, tuple[Callable, float]] = {"MuJoCo": (_mujoco, scene.goal)}
    if scene.worlds == 1:
        theirs["PyBullet"] = _bullet, 1.0
    for peer, (prepare, goal) in theirs.items():
        if find_spec(peer.lower()):
            yield Comparison(
                *("contacts of shapes", name, "steps", peer),
                ours=partial(_ours, scene),
                theirs=partial(prepare, scene),
                goal=goal,
                clock=process_time,
            )


def missing() -> list[str]:
    """Return the names of the peers that are not installed."""
    return [peer for peer in PEERS if not find_spec(peer)]


def _ours(scene: Scene | Fall) -> Call:
    """Return the first steps of all worlds."""
    stepper, q, v = scene.stepper()
    if scene.worlds > 1:
        q, v = np.tile(q, (scene.worlds, 1)), np.tile(v, (scene.worlds, 1))
    return Call(
        lambda: copy(stepper).run(q, v, scene.steps, scene.control, keep_steps=False),
        scene.steps * scene.worlds,
    )


def _mujoco(scene: Scene | Fall) -> Call:
    """Return MuJoCo's, of several worlds by its rollout."""
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(scene.xml)
    data = mujoco.MjData(model)
    scene.place_mujoco(data)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, start, kind)
    if scene.worlds > 1:
        starts = np.tile(start, (scene.worlds, 1))
        return Call(
            lambda: rollout.rollout(model, data, starts, nstep=scene.steps), scene.steps * scene.worlds
        )

    def run() -> None:
        mujoco.mj_setState(model, data, start, kind)
        for _ in range(scene.steps):
            mujoco.mj_step(model, data)

    return Call(run, scene.steps)


def _bullet(scene: Scene | Fall) -> Call:
    """Return PyBullet's first steps."""
    import pybullet as p

    client = p.connect(p.DIRECT)
    p.setGravity(0.0, 0.0, -G, client)
    p.setTimeStep(H, client)
    plane = p.createCollisionShape(p.GEOM_PLANE, physicsClientId=client)
    ground = p.createMultiBody(0.0, plane, physicsClientId=client)
    bodies, place = scene.load_bullet(client)
    for body in (ground, *bodies):
        for link in range(-1, p.getNumJoints(body, client)):
            p.changeDynamics(body, link, lateralFriction=np.sqrt(scene.mu), physicsClientId=client)

    def run() -> None:
        place()
        for _ in range(scene.steps):
            p.stepSimulation(client)

    return Call(run, scene.steps)
