"""Take many steps, from one state or from the states of a batch of worlds in threads."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._util.threads import spread
from .._util.validation import as_count, as_real, require_finite, thread_count
from ..dynamics.inertias import checked_inertias
from ..exceptions import ShapeError, StepError, TreefactorError
from ..mlcp.problem import SYSTEMS, TARGET
from ..model._states import states
from ._compiled_steps import CompiledSteps
from ._step_records import TOUCHING
from .trajectory import Step, Trajectory

STEP = 2**12  # least cost of a step, in the entries of matrices that `spread` counts
STRETCH = 1000  # most compiled steps in a row, after which Python may take an interrupt


def run(stepper, q, v, steps, tau, num_threads, keep_steps: bool, inertias, mu) -> Trajectory:
    """Validate the arguments of `Stepper.run`, and take the steps."""
    model, steps, threads = stepper.model, as_count(steps, "steps"), thread_count(num_threads)
    t = stepper.h * np.arange(steps + 1)
    inertias = None if inertias is None else checked_inertias(model, inertias)
    arguments, tails = {"q": q, "v": v}, {"q": (model.nq,), "v": (model.nv,)}
    if mu is not None:
        arguments, tails = arguments | {"mu": mu}, tails | {"mu": (len(stepper._contacts.structs),)}
    arrays, batch = states(arguments, tails, None, () if inertias is None else inertias.batch)
    mu = None if mu is None else _friction(arrays["mu"])
    qs, vs = _states(batch, steps, arrays["q"]), _states(batch, steps, arrays["v"])
    controls = _controls(tau, batch, steps, model.nv)
    if not batch:
        made: list[Step] = []
        one = stepper._changed(inertias, mu)
        compiled = None if keep_steps else compiled_steps(one)
        try:
            _take_steps(one, compiled, qs, vs, t, controls[0], made if keep_steps else None)
        finally:
            vars(stepper).update(_last=one._last, _pressed=one._pressed)
        return Trajectory(t, qs, vs, made)
    worlds = Worlds(stepper, batch, qs, vs, t, controls, keep_steps, inertias, mu)
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
    inertias : Inertias or None
        One set, or one for every world.
    mu : ndarray or None, shape (contacts,) or (*batch, contacts)
    """

    def __init__(self, stepper, batch, q, v, t, controls, keep_steps: bool, inertias, mu):
        self.batch, self.t, self.controls = batch, t, controls
        self.inertias = inertias if inertias is not None and inertias.batch else None
        self.mu = mu if mu is not None and mu.ndim > 1 else None
        shared = inertias if self.inertias is None else None, mu if self.mu is None else None
        self.stepper = stepper._changed(*shared)
        count = math.prod(batch)
        self.q, self.v = (x.reshape(count, *x.shape[len(batch) :]) for x in (q, v))
        self.made: list[list[Step]] = [[] for _ in range(count)]
        self.keep_steps, self.failures = keep_steps, dict[int, TreefactorError]()

    def take_steps(self, first: int, stop: int) -> None:
        """Take all steps of the worlds first .. stop - 1; keep their errors."""
        stepper = compiled = None
        for k in range(first, stop):
            made = self.made[k] if self.keep_steps else None
            try:
                if stepper is None or self.inertias is not None or self.mu is not None:
                    stepper = self.world(k)
                    compiled = None if self.keep_steps else compiled_steps(stepper)
                vars(stepper).update(_last=self.stepper._last, _pressed=self.stepper._pressed)
                _take_steps(stepper, compiled, self.q[k], self.v[k], self.t, self.controls[k], made)
            except TreefactorError as error:
                self.failures[k] = error

    def world(self, k: int):
        """Return a stepper for world k, with its inertias and coefficients of friction."""
        at = np.unravel_index(k, self.batch)
        inertias = None if self.inertias is None else self.inertias.part(at)
        return self.stepper._changed(inertias, None if self.mu is None else self.mu[at])

    def require_no_failure(self) -> None:
        """Raise the error of the first world that failed, with its index."""
        if not self.failures:
            return
        k = min(self.failures)
        error, at = self.failures[k], [int(i) for i in np.unravel_index(k, self.batch)]
        error.args = (f"world {at[0] if len(at) == 1 else tuple(at)}: {error.args[0]}", *error.args[1:])
        raise error


def _take_steps(stepper, compiled: CompiledSteps | None, q, v, t: np.ndarray, control, made) -> None:
    """Fill the rows of q and v after the first one, and the list of steps unless that is None.

    Compiled steps leave those that fail to `Stepper.step`.
    """
    k, stop = 0, len(t) - 1
    while k < stop:
        if compiled is not None:
            last = min(stop, k + STRETCH)
            k = advance(stepper, compiled, q, v, t, control, k, last)
            if k == last:
                continue
        try:
            step = stepper.step(q[k], v[k], control(k, t[k], q[k], v[k]), t[k])
        except StepError as error:
            raise StepError(f"{error}, at t = {t[k]:.6g} s", error.solution, float(t[k])) from None
        k += 1
        q[k], v[k] = step.q, step.v
        if made is not None:
            made.append(step)


def compiled_steps(stepper) -> CompiledSteps | None:
    """Return compiled steps of a stepper; None for models with loops or drives, which have none."""
    model, contacts = stepper.model, stepper._contacts
    if model.loops or stepper.drives:
        return None
    kernels = model.bodies, model.tree, contacts.kernel, contacts.shapes, stepper._rows, stepper._correction
    sizes = stepper.h, stepper.margin, TOUCHING, TARGET, SYSTEMS
    return CompiledSteps(*kernels, stepper._integrator, *sizes, stepper._is_implicit)


def advance(stepper, compiled: CompiledSteps, q, v, t, control: Control, first: int, stop: int) -> int:
    """Compute states after row `first`, at most to row `stop`, by compiled steps; return the last row."""
    compiled.begin(stepper._last, stepper._pressed, stepper._contacts.no_points)
    try:
        return compiled.advance(q, v, t, control, first, stop)
    finally:
        last, pressed = compiled.last_step()
        vars(stepper).update(_last=last, _pressed=pressed)


def _friction(mu: np.ndarray) -> np.ndarray:
    """Return coefficients of friction, or raise NonFiniteError or ValueError."""
    require_finite(mu, "mu")
    if (mu < 0.0).any():
        raise ValueError(f"mu must not be negative, got {mu.min()}")
    return mu


def _states(batch: tuple[int, ...], steps: int, start: np.ndarray) -> np.ndarray:
    """Make an array for all steps, with the initial values in row 0."""
    trajectory = np.empty((*batch, steps + 1, start.shape[-1]))
    trajectory[..., 0, :] = start
    return trajectory


@dataclass
class Control:
    """Forces of one world: of every step, (steps, nv), or by a function, called once for every step."""

    forces: np.ndarray
    function: Callable | None = None
    row: int = -1  # of the step whose forces are the latest
    latest: object = None

    def __call__(self, k: int, t: float, q: np.ndarray, v: np.ndarray):
        """Return the forces of step k."""
        if self.function is None:
            return self.forces[k]
        if k != self.row:
            self.row, self.latest = k, self.function(t, q, v)
        return self.latest


def _controls(tau, batch: tuple[int, ...], steps: int, nv: int) -> list[Control]:
    """Return the forces of every world."""
    count = math.prod(batch)
    if callable(tau):
        return [Control(np.empty((0, nv)), tau) for _ in range(count)]
    forces = np.zeros(nv) if tau is None else as_real(tau, "tau")
    expected = {(nv,), (steps, nv), (*batch, steps, nv)}
    if forces.shape not in expected:
        shapes = " or ".join(map(str, sorted(expected, key=len)))
        raise ShapeError(f"tau must have shape {shapes}, got {forces.shape}", forces.shape, (nv,))
    each = np.broadcast_to(np.ascontiguousarray(forces), (*batch, steps, nv)).reshape(count, steps, nv)
    return [Control(rows) for rows in each]
