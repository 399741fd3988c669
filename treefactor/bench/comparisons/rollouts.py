"""Compare times of rollouts with MuJoCo's, without contacts: many motions, many steps, one thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec

import numpy as np

from ...codegen import compile
from ...dynamics.rollouts import rollout
from ...exceptions import TreefactorError
from ...model.configuration import neutral
from ...quantities.functions import h_times, integrate
from ..timing import Call, Comparison
from .programs import compile_c

COUNT, STEPS, LENGTH = 1024, 50, 0.01  # motions, steps of each, seconds of a step
WHOLE_BODY = 18  # freedoms from which the goals are those of legged robots
GOALS = {"recursions": (8.0, 5.0), "interpreter": (15.0, 7.0), "cc": (40.0, 15.0)}  # arms, legged robots
PATIENCE = 2.0


class Motions:
    """Motions that both simulate: from near the neutral configuration, own forces for every step.

    Parameters
    ----------
    model : Model
    body : adapters.mujoco_.Body
        The same robot in MuJoCo.
    """

    def __init__(self, model, body):
        rng, n = np.random.default_rng(0), model.nv
        self.model, self.body = model, body
        self.q = integrate(model, neutral(model), 0.3 * rng.normal(size=(COUNT, n)))
        self.v = 0.1 * rng.normal(size=(COUNT, n))
        changes = rng.normal(size=(STEPS, COUNT, n))  # rad/s^2, m/s^2: forces fit the inertias of the robot
        self.tau = np.stack([h_times(model, self.q, a) for a in changes], axis=1)
        self.out = np.empty((COUNT, STEPS + 1, model.nq)), np.empty((COUNT, STEPS + 1, n))

    def ours(self, function) -> Call:
        """Return a rollout of all motions into preallocated arrays."""
        run = partial(function, self.q, self.v, self.tau, LENGTH, out=self.out)
        return Call(run, COUNT * STEPS)

    def theirs(self) -> Call:
        """Return MuJoCo's rollout of the same motions into preallocated arrays."""
        import mujoco
        from mujoco import rollout as simulated

        from ...adapters import mujoco_

        model, data = self.body.model, mujoco.MjData(self.body.model)
        model.opt.timestep = LENGTH
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        states = np.array([self._state(mujoco_, q, v) for q, v in zip(self.q, self.v, strict=True)])
        forces = np.array(
            [
                tau @ mujoco_.transform(self.body, self.model, q)
                for q, tau in zip(self.q, self.tau, strict=True)
            ]
        )
        run = partial(
            simulated.rollout,
            model,
            data,
            states,
            forces,
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
            state=np.empty((COUNT, STEPS, states.shape[1])),
            nstep=STEPS,
        )
        return Call(run, COUNT * STEPS)

    def _state(self, mujoco_, q, v) -> np.ndarray:
        """Return MuJoCo's state vector: time, positions, velocities."""
        return np.concatenate([[0.0], *mujoco_.from_pinocchio(self.body, self.model, q, v)])


def rollouts(case) -> Iterator[Comparison]:
    """Compare rollouts by the recursions, the interpreter and compiled C with MuJoCo's."""
    motions = motions_of(case)
    if motions is None:
        return
    theirs, model = motions.theirs(), motions.model
    kernels = {
        "interpreter": compile(model, "forward_dynamics"),
        "cc": compile_c(model, ["forward_dynamics"]),
    }
    for how, goals in GOALS.items():
        if how != "recursions" and kernels[how] is None:
            continue
        function = partial(rollout, model) if how == "recursions" else kernels[how].rollout
        goal = goals[model.nv >= WHOLE_BODY]
        what = f"rollout {COUNT} x {STEPS}, {how}"
        ours = motions.ours(function)
        yield Comparison("Rollouts", case.name, what, "MuJoCo", ours, theirs, goal, patience=PATIENCE)


def motions_of(case) -> Motions | None:
    """Return motions that stay finite; None where MuJoCo is missing or cannot load the robot."""
    if not find_spec("mujoco"):
        return None
    from ...adapters import mujoco_

    try:
        body = mujoco_.load(case.path, case.floating)
    except TreefactorError:
        return None
    if body.nv != case.ours.nv:
        return None
    return Motions(case.ours, body)
