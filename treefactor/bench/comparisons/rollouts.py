"""Compare times of rollouts with MuJoCo's, without contacts: many motions, many steps, one thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np

from ...model.configuration import neutral
from ...quantities.functions import h_times, integrate, rollout
from ..case import WHOLE_BODY, Case, program_backends
from ..timing import Call, Comparison

COUNT, STEPS, LENGTH = 1024, 50, 0.01  # motions, steps of each, seconds of a step
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


def rollouts(case: Case) -> Iterator[Comparison]:
    """Compare rollouts by the recursions, the interpreter and compiled C with MuJoCo's."""
    if case.body is None or case.body.nv != case.ours.nv:
        return
    motions = cache(partial(Motions, case.ours, case.body))
    for how in ("recursions", *program_backends()):
        what, goal = f"rollout {COUNT} x {STEPS}, {how}", GOALS[how][case.ours.nv >= WHOLE_BODY]
        yield Comparison(
            *("Rollouts", case.name, what, "MuJoCo"),
            ours=lambda how=how: motions().ours(rollout_of(case, how)),
            theirs=lambda: motions().theirs(),
            goal=goal,
            patience=PATIENCE,
        )


def rollout_of(case: Case, how: str) -> Callable:
    """Return our rollout of motions, by the recursions or a program."""
    if how == "recursions":
        return partial(rollout, case.ours)
    return case.kernels(how, "forward_dynamics").rollout
