"""Take many steps, from one state or from the states of a batch of worlds in threads."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._util.threads import spread
from .._util.validation import as_count, as_real, as_vector, thread_count
from ..exceptions import ShapeError, StepError, TreefactorError
from ..mlcp.problem import SYSTEMS, TARGET
from ..model._states import states
from ._compiled_steps import CompiledSteps
from .trajectory import Step, Trajectory

STEP = 2**12  # least cost of a step, in the entries of matrices that `spread` counts
STRETCH = 1000  # most compiled steps in a row, after which Python may take an interrupt


def run(stepper, q, v, steps, tau, num_threads, keep_steps: bool) -> Trajectory:
    """Validate the arguments of `Stepper.run`, and take the steps."""
    model, steps, threads = stepper.model, as_count(steps, "steps"), thread_count(num_threads)
    t = stepper.h * np.arange(steps + 1)
    q, v = as_real(q, "q"), as_real(v, "v")
    if q.ndim < 2 and v.ndim < 2:
        q, v = as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v")
        qs, vs = _states((), steps, q), _states((), steps, v)
        made: list[Step] = []
        _take_steps(stepper, qs, vs, t, _controls(tau, (), steps, model.nv)[0], made if keep_steps else None)
        return Trajectory(t, qs, vs, made)
    arrays, batch = states({"q": q, "v": v}, {"q": (model.nq,), "v": (model.nv,)}, None)
    qs, vs = _states(batch, steps, arrays["q"]), _states(batch, steps, arrays["v"])
    worlds = Worlds(stepper, batch, qs, vs, t, _controls(tau, batch, steps, model.nv), keep_steps)
    count = math.prod(batch)
    spread(worlds.take_steps, count, threads, count * steps * max(STEP, model.tree.nnz))
    worlds.require_no_failure()
    return Trajectory(t, qs, vs, worlds.made)


class Worlds:
    """Independent worlds with the contacts of one stepper; each has a copy of it, and so its own warm start.

    Parameters
    ----------
    stepper : Stepper
    batch : tuple of int
        Leading axes.
    q, v : ndarray, shapes (*batch, steps + 1, nq) and (*batch, steps + 1, nv)
        Initial states in row 0; receive the others.
    t : ndarray
    controls : list of Control
    keep_steps : bool
    """

    def __init__(self, stepper, batch, q, v, t, controls, keep_steps: bool):
        self.stepper, self.batch, self.t, self.controls = stepper, batch, t, controls
        count = math.prod(batch)
        self.q, self.v = (x.reshape(count, *x.shape[len(batch) :]) for x in (q, v))
        self.made: list[list[Step]] = [[] for _ in range(count)]
        self.keep_steps, self.failures = keep_steps, dict[int, TreefactorError]()

    def take_steps(self, first: int, stop: int) -> None:
        """Take all steps of the worlds first .. stop - 1; keep their errors."""
        for k in range(first, stop):
            made = self.made[k] if self.keep_steps else None
            try:
                _take_steps(copy.copy(self.stepper), self.q[k], self.v[k], self.t, self.controls[k], made)
            except TreefactorError as error:
                self.failures[k] = error

    def require_no_failure(self) -> None:
        """Raise the error of the first world that failed, with its index."""
        if not self.failures:
            return
        k = min(self.failures)
        error, at = self.failures[k], [int(i) for i in np.unravel_index(k, self.batch)]
        error.args = (f"world {at[0] if len(at) == 1 else tuple(at)}: {error.args[0]}", *error.args[1:])
        raise error


def _take_steps(stepper, q: np.ndarray, v: np.ndarray, t: np.ndarray, control, made) -> None:
    """Fill the rows of q and v after the first one, and the list of steps unless that is None.

    Steps that nobody sees are compiled while the near contacts stay the same.
    """
    k, stop, compiled = 0, len(t) - 1, made is None and control.function is None
    compiled = compiled and not stepper.model.loops and not stepper.drives
    compiled = compiled and stepper._contacts.shapes is None and stepper.correction == "velocity"
    while k < stop:
        before = stepper._last
        try:
            step = stepper.step(q[k], v[k], control(k, t[k], q[k], v[k]), t[k])
        except StepError as error:
            raise StepError(f"{error}, at t = {t[k]:.6g} s", error.solution, float(t[k])) from None
        k += 1
        q[k], v[k] = step.q, step.v
        if made is not None:
            made.append(step)
        if compiled and before is not None and np.array_equal(before.key, stepper._last.key):
            k = advance(stepper, q, v, control.forces, k, min(stop, k + STRETCH))


def advance(stepper, q: np.ndarray, v: np.ndarray, tau: np.ndarray, first: int, stop: int) -> int:
    """Compute states after row `first`, at most to row `stop`, by compiled steps; return the last row.

    They end before a step that has other near contacts or fails.
    """
    last, model, pressed = stepper._last, stepper.model, stepper._pressed.copy()
    gamma, on, problem = last.gamma.copy(), last.active.copy(), last.solution.problem
    workspace, near = problem._workspace(), (last.touch.which, last.touch.start, last.touch.column)
    kernels = model.bodies, model.tree.pattern, stepper._contacts.kernel, stepper._rows, stepper._integrator
    size, implicit = len(problem._rows[1]), stepper._motion is not None
    numbers = stepper.h, stepper.margin, TARGET, SYSTEMS
    steps = CompiledSteps(*kernels, workspace[1], near, size, *numbers, implicit)
    row = steps.advance(q, v, tau, first, stop, gamma, on, pressed)
    problem._symbolic.idle.append(workspace)
    vars(stepper).update(_last=last._replace(gamma=gamma, active=on), _pressed=pressed)
    return row


def _states(batch: tuple[int, ...], steps: int, start: np.ndarray) -> np.ndarray:
    """Make an array for all steps, with the initial values in row 0."""
    trajectory = np.empty((*batch, steps + 1, start.shape[-1]))
    trajectory[..., 0, :] = start
    return trajectory


@dataclass
class Control:
    """Forces of one world: of every step, (steps, nv), or by a function."""

    forces: np.ndarray
    function: Callable | None = None

    def __call__(self, k: int, t: float, q: np.ndarray, v: np.ndarray):
        """Return the forces of step k."""
        return self.forces[k] if self.function is None else self.function(t, q, v)


def _controls(tau, batch: tuple[int, ...], steps: int, nv: int) -> list[Control]:
    """Return the forces of every world."""
    count = math.prod(batch)
    if callable(tau):
        return [Control(np.empty((0, nv)), tau)] * count
    forces = np.zeros(nv) if tau is None else as_real(tau, "tau")
    expected = {(nv,), (steps, nv), (*batch, steps, nv)}
    if forces.shape not in expected:
        shapes = " or ".join(map(str, sorted(expected, key=len)))
        raise ShapeError(f"tau must have shape {shapes}, got {forces.shape}", forces.shape, (nv,))
    each = np.broadcast_to(np.ascontiguousarray(forces), (*batch, steps, nv)).reshape(count, steps, nv)
    return [Control(rows) for rows in each]
