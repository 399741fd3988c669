"""Generate random scenes for time steps: balls and boxes in a bin, arms with limits, closed loops."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

import treefactor as tf
from helpers.mlcp_verify import verify, verify_certificate
from treefactor import constraints, mechanisms
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box, contacts_between
from treefactor.exceptions import StepError
from treefactor.kinematics.jacobians import BodyMotions
from treefactor.mlcp import Status

STEPS = 0.5e-3, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2  # s
ROUNDING = 1e-8  # of energies, relative
PARTS = "balls", "boxes", "arms", "loops"


@dataclass
class Scene:
    """A stepper and its state, and the energy that has entered.

    Attributes
    ----------
    free : bool
        Only free bodies, whose energy is bounded in every single step.
    entered : float
        Work of the forces, of the stabilization and of motions that remove overlaps since the beginning, J.
    largest : float
        Largest kinetic energy so far, J.
    turned, turn : float
        Largest angle of a joint in a step, and in the last one, rad.
    overlap : float
        At the beginning of the last step, m.
    """

    stepper: Stepper
    q: np.ndarray
    v: np.ndarray
    free: bool
    cold: bool = False
    entered: float = 0.0
    largest: float = 0.0
    turned: float = 0.0
    turn: float = 0.0
    overlap: float = 0.0
    stopped: bool = False

    def __post_init__(self):
        self.beginning = self.energy()

    def kinetic(self) -> float:
        """Return J."""
        return self.v @ tf.h_times(self.stepper.model, self.q, self.v) / 2

    def energy(self) -> float:
        """Return the kinetic and potential energy, J."""
        model = self.stepper.model
        at, inertias = BodyMotions(model, self.q), [joint.inertia for joint in model.joints]
        p = at.points(np.arange(model.njoints), np.array([one.com for one in inertias])) + at.origin[:-1]
        return self.kinetic() - np.array([one.mass for one in inertias]) @ (p @ model.gravity)

    def kick(self, rng, size: float) -> None:
        """Return new velocities, which keep loops closed."""
        v = self.v + size * rng.normal(size=self.v.shape)
        if self.stepper.model.loops:
            J = constraints.loop_rows(self.stepper.model, self.q).dense()
            v -= np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
        self.v = v
        self.entered, self.largest, self.beginning = 0.0, 0.0, self.energy()

    def step(self, tau=None) -> None:
        """Take one step and verify its solution and energy, or the certificate that it is infeasible."""
        if self.cold:
            vars(self.stepper)["_last"] = None
        before = self.energy()
        tau = np.zeros(len(self.v)) if tau is None else tau
        try:
            made = self.stepper.step(self.q, self.v, tau)
        except StepError as error:
            if error.solution is None or error.solution.status is not Status.INFEASIBLE:
                raise
            verify_certificate(error.solution.problem, *error.solution.certificate)
            self.stopped = True
            return
        problem, solution = made.solution.problem, made.solution
        verify(problem, solution)
        self.overlap = -min(made.gap.min(initial=0.0), 0.0)
        self.turn = self.stepper.h * np.abs(made.v).max()
        self.turned = max(self.turned, self.turn)
        asked = max(np.maximum(problem.d, 0.0) @ solution.gamma + problem.c @ solution.gamma_c, 0.0)
        entered = asked + self.stepper.h * tau @ solution.v
        self.q, self.v = self.stepper._integrator.advanced(self.q, solution.v, self.stepper.h)
        unmoved = self.energy()
        self.q, self.v = made.q, made.v
        entered += self.energy() - unmoved
        self.entered += entered
        self.largest = max(self.largest, self.kinetic())
        after, size = self.energy(), abs(before) + self.largest
        if self.free:
            assert after - before <= entered + ROUNDING * size
        else:
            swing = (0.05 + 8.0 * self.turned) * self.largest
            assert after - self.beginning <= self.entered + swing + ROUNDING * size


def random_scene(seed: int, parts=None, friction: str | None = None, h: float | None = None) -> Scene:
    """Return balls, boxes, arms and loops with velocities, above a floor and between walls."""
    rng = np.random.default_rng(seed)
    if parts is None:
        parts = [part for part in PARTS if rng.random() < 0.5] or [PARTS[rng.integers(4)]]
    joints: list[tf.Joint] = []
    loops: list[tf.Loop] = []
    spheres, corners, q = [], [], []
    for part in parts:
        made = {"balls": balls, "boxes": boxes, "arms": arm, "loops": loop}[part](rng, len(joints))
        joints += made[0]
        q += made[1]
        spheres += made[2]
        corners += made[3]
        loops += made[4]
    model = tf.Model(joints, gravity=[0, 0, -9.81] if rng.random() < 0.8 else rng.normal(size=3), loops=loops)
    planes = [Plane()]
    for axis in np.eye(3)[:2]:
        planes += [Plane(-1, axis, -1.2 * axis), Plane(-1, -axis, 1.2 * axis)]
    mu = rng.choice([0.0, 0.2, 0.8])
    movable = [sphere for sphere in spheres if joints[sphere.body].kind in ("freeflyer", "translation")]
    contacts = contacts_between(spheres, mu=mu, model=model)
    contacts += [Contact(sphere, plane, mu) for sphere in (*movable, *corners) for plane in planes]
    stepper = Stepper(
        model,
        contacts,
        h=rng.choice(STEPS) if h is None else h,
        friction=rng.choice(["pyramid", "box"]) if friction is None else friction,
        stabilization=rng.choice([0.0, 0.2, 0.5]),
        margin=rng.choice([0.5, np.inf]),
    )
    scene = Scene(
        stepper, np.array(q), np.zeros(model.nv), set(parts) <= {"balls", "boxes"}, rng.random() < 0.3
    )
    scene.kick(rng, rng.choice([0.0, 1.0, 5.0]))
    return scene


def solid(rng, size: float) -> tf.Inertia:
    """Return the inertia of a box about so large, its centre of mass somewhere in it."""
    a, b, c = (size * rng.uniform(0.3, 1.0, 3)) ** 2
    mass = 10.0 ** rng.uniform(-1, 1)
    com = rng.choice([0.0, 0.1]) * size * rng.normal(size=3)
    return tf.Inertia(mass, com, mass / 12.0 * np.diag([b + c, a + c, a + b]))


def balls(rng, first: int):
    """Draw up to five balls that do not touch each other at the beginning."""
    count = int(rng.integers(1, 6))
    kinds = ["freeflyer" if rng.random() < 0.8 else "translation" for _ in range(count)]
    joints = [tf.Joint(f"ball{k}", kind, inertia=solid(rng, 0.2)) for k, kind in enumerate(kinds)]
    q = []
    for k, kind in enumerate(kinds):
        q += [0.4 * (k % 3) - 0.4, 0.4 * (k // 3) - 0.2, 0.1 + 0.3 * rng.random()]
        q += [0.0, 0.0, 0.0, 1.0] if kind == "freeflyer" else []
    return joints, q, [Sphere(first + k, radius=rng.uniform(0.05, 0.1)) for k in range(count)], [], []


def boxes(rng, first: int):
    """Draw one or two turned boxes above the balls."""
    count, joints, q, corners = int(rng.integers(1, 3)), [], [], []
    for k in range(count):
        joints.append(tf.Joint(f"box{k}", "freeflyer", inertia=solid(rng, 0.3)))
        turn = rng.normal(size=4)
        q += [0.8 * k - 0.4, 0.5, 0.7, *turn / np.linalg.norm(turn)]
        corners += box(first + k, [0.3, 0.2, 0.1])
    return joints, q, [], corners, []


def arm(rng, first: int):
    """Draw two to four hanging links with limits, and spheres at their ends that may touch other bodies."""
    count = int(rng.integers(2, 5))
    kinds = [("revolute", "prismatic", "universal")[rng.choice(3, p=[0.7, 0.2, 0.1])] for _ in range(count)]
    joints, spheres = [], []
    for k, kind in enumerate(kinds):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        axis = {"universal": turn[:2]}.get(kind, turn[0])
        at = [-0.8, -0.8, 1.5] if k == 0 else [0.0, 0.0, -0.3]
        limits = (
            {"lower": -rng.uniform(0.1, 1.0), "upper": rng.uniform(0.1, 1.0)} if rng.random() < 0.6 else {}
        )
        parent = first + k - 1 if k else -1
        inertia = solid(rng, 0.3)
        joints.append(tf.Joint(f"arm{k}", kind, parent, p=at, axis=axis, inertia=inertia, **limits))
        spheres.append(Sphere(first + k, [0, 0, -0.3], 0.08))
    return joints, [0.0] * sum(joint.nq for joint in joints), spheres[1:], [], []


def loop(rng, first: int):
    """Return a four-bar or a five-bar, far from all else."""
    mechanism = (mechanisms.four_bar, mechanisms.five_bar)[rng.integers(2)]()
    joints = [
        tf.Joint(
            f"bar{j.name}",
            j.kind,
            j.parent + first if j.parent >= 0 else -1,
            j.R,
            j.p + ([0.0, 5.0, 5.0] if j.parent < 0 else 0.0),
            j.axis,
            inertia=j.inertia,
        )
        for j in mechanism.model.joints
    ]
    shift = [0.0, 5.0, 5.0]
    loops = []
    for one in mechanism.model.loops:
        ends = [(end + first if end >= 0 else -1) for end in (one.first, one.second)]
        points = [p + (shift if end < 0 else 0.0) for end, p in zip(ends, (one.p1, one.p2), strict=True)]
        loops.append(tf.Loop(one.name, one.kind, *ends, one.R1, points[0], one.R2, points[1]))
    return joints, mechanism.closed.tolist(), [], [], loops


class SceneMachine(RuleBasedStateMachine):
    """Kicks, copies, and warm or cold starts of a scene, for machines that make it and take its steps."""

    fastest = 3.0  # kick

    @rule(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.0, 0.1, 1.0]))
    def kicked(self, seed, size):
        self.scene.kick(np.random.default_rng(seed), self.fastest * size)

    @rule(cold=st.booleans())
    def started(self, cold):
        self.scene.cold = cold

    @rule(way=st.sampled_from([copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]))
    def copied(self, way):
        self.scene.stepper = way(self.scene.stepper)
