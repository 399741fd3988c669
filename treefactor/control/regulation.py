"""Minimize costs of motions by iterative linear-quadratic regulation, many problems at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

import numpy as np

from .._util.messages import received, similar
from .._util.threads import spread
from .._util.validation import as_count, as_number, as_real, thread_count
from ..derivatives._first_order import ForwardDynamicsDerivatives
from ..dynamics._rollouts import Recursive
from ..exceptions import ConfigurationError, DtypeError, InvalidModelError, ShapeError
from ..model.model import Model, require_model
from ..quantities import functions as tf
from ._riccati import BackwardPasses, FeedbackRollouts
from .costs import Sizes, terms_of

LENGTHS = 0.5 ** np.arange(1, 9)  # of steps, after 1: one for each lane
SHORT, LONG, FACTOR = 0.01, 0.5, 10.0  # steps that change the regularization, and how much
LARGEST = 1e9  # regularization
ENOUGH = 0.1  # least fall of costs, as a part of the expected one
FLAT = 1e-12  # expected fall below which rounding decides
EFFORT = 2**18  # of a problem, for `spread`
BLOCK = 16  # problems whose derivatives of custom costs are gathered at once


class ILQRStatus(IntEnum):
    """How the search for a motion ended.

    CONVERGED: the expected fall of the cost is below the tolerance. ITERATIONS: the budget was spent.
    REGULARIZATION: no step lowers the cost with the largest regularization. NON_FINITE: the first motion, or
    its cost, is not finite. STOPPED: the callback ended the search.

    Notes
    -----
    Immutable.
    """

    CONVERGED = 0
    ITERATIONS = 1
    REGULARIZATION = 2
    NON_FINITE = 3
    STOPPED = 4


RUNNING = -1


@dataclass(frozen=True, eq=False)
class ILQRProgress:
    """State of a search that a callback gets.

    Attributes
    ----------
    iteration : int
        Iterations so far.
    cost : ndarray, shape (B,)
    active : ndarray of bool, shape (B,)
        Problems that go on.

    Notes
    -----
    Thread-compatible.
    """

    iteration: int
    cost: np.ndarray
    active: np.ndarray


@dataclass(frozen=True, eq=False)
class ILQRResult:
    """Motions of least cost, and the feedback that keeps to them.

    Attributes
    ----------
    q, v, u : ndarray, shapes (..., T + 1, nq), (..., T + 1, nv), (..., T, nu)
    cost : ndarray, shape (...)
    gains : ndarray, shape (..., T, nu, 2 nv)
        K: how controls change with (dq, dv), of the last iteration; dq is ``difference(model, q, actual)``.
    feedforward : ndarray, shape (..., T, nu)
        Change of u that the last iteration proposed: near 0 at a minimum.
    iterations : ndarray of int64, shape (...)
    status : ndarray of int8, shape (...)
        An `ILQRStatus` for every problem.
    expected : ndarray, shape (...)
        Fall of the cost that the last iteration expected.
    costs : ndarray, shape (iterations + 1, ...)
        After each iteration, the first one of the given controls.
    solved : ndarray of bool, shape (...)
    control_limits : tuple of ndarray, shape (nu,), or None
        Lower and upper ones.
    model : Model

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> goal = tf.control.StateCost([1.0], at="final")
    >>> cost = [goal, tf.control.ControlCost(weight=1e-4)]
    >>> tf.control.ilqr(model, [0.0], [0.0], np.zeros((50, 1)), cost, 0.02)
    <ILQRResult of 1 problem: 1 CONVERGED>
    """

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    cost: np.ndarray
    gains: np.ndarray
    feedforward: np.ndarray
    iterations: np.ndarray
    status: np.ndarray
    expected: np.ndarray
    costs: np.ndarray
    control_limits: tuple[np.ndarray, np.ndarray] | None
    model: Model

    @property
    def solved(self) -> np.ndarray:
        """Return whether the expected fall of the cost is below the tolerance."""
        return self.status == ILQRStatus.CONVERGED

    def policy(self, t: int, q, v) -> np.ndarray:
        """Return the controls of states near those of time t: ``u[t] + K[t] (dq, dv)``, within the limits.

        Parameters
        ----------
        t : int
            0 to T - 1.
        q, v : array_like, shapes (..., nq) and (..., nv)
            Leading axes broadcast to those of the problems, or have further axes before them.

        Returns
        -------
        ndarray, shape (..., nu)
        """
        steps = self.u.shape[-2]
        t = as_count(t, "t")
        if t >= steps:
            raise ValueError(f"t must be below {steps}, got {t}")
        v = as_real(v, "v")
        change = [tf.difference(self.model, self.q[..., t, :], q), v - self.v[..., t, :]]
        x = np.concatenate(np.broadcast_arrays(*change), axis=-1)
        u = self.u[..., t, :] + np.matmul(self.gains[..., t, :, :], x[..., None])[..., 0]
        return u if self.control_limits is None else np.clip(u, *self.control_limits)

    def summary(self) -> str:
        """Return one line: how many problems ended in which way."""
        counts = np.bincount(self.status.ravel(), minlength=len(ILQRStatus))
        parts = [f"{counts[one]} {one.name}" for one in ILQRStatus if counts[one]]
        count = self.status.size
        return f"{count} problem{'s' * (count != 1)}: {', '.join(parts) or 'none'}"

    def __repr__(self) -> str:
        return f"<ILQRResult of {self.summary()}>"


def ilqr(
    model: Model,
    q0,
    v0,
    u,
    cost,
    dt: float,
    *,
    control_limits=None,
    actuated=None,
    iterations: int = 100,
    tolerance: float = 1e-9,
    regularization: float = 1e-9,
    callback: Callable[[ILQRProgress], object] | None = None,
    num_threads: int = 1,
) -> ILQRResult:
    """Return motions of least cost, found by iterative linear-quadratic regulation, and their feedback gains.

    Parameters
    ----------
    model : Model
    q0, v0 : array_like, shapes (..., nq) and (..., nv)
        Initial states. Leading axes are problems, which broadcast.
    u : array_like, shape (..., T, nu)
        First controls: forces (N, N m) of the actuated freedoms, constant within a step.
    cost : list of StateCost, ControlCost, FrameCost, FrameVelocityCost, ComCost, LimitCost and CustomCost
        Running costs are multiplied by dt, those at the end are not.
    dt : float
        Length of a step, s.
    control_limits : pair of array_like, optional
        Lower and upper ones: numbers, or shape (nu,). Each step is the best one within them, found by
        quadratic programming; gains of controls at a limit are 0. Controls u beyond them are clipped.
    actuated : list of str, or array_like, shape (nv, nu), optional
        Joints with forces, in the order of u; or the matrix that maps controls to generalized forces. By
        default every freedom has a force.
    iterations : int
        Largest number.
    tolerance : float
        A problem has converged when the next full step would lower its cost by less, to second order.
    regularization : float
        Least one, added to Hessians; each problem has its own, which grows where no step lowers the cost.
    callback : callable, optional
        Called with an `ILQRProgress` after each iteration; a true answer ends the search.
    num_threads : int
        For many problems; -1 uses all cores.

    Returns
    -------
    ILQRResult
        Failure is a status, not an exception.

    Raises
    ------
    ShapeError, DtypeError
    InvalidModelError
        If the model has no such frame or joint.
    ConfigurationError
        If a lower limit exceeds the upper one.
    ValueError
        If a weight is negative, a step is not positive, or an option is out of range.

    Notes
    -----
    Contacts, loops, and constraints on states are not considered.

    Steps are those of `rollout` with "semi_implicit_euler". Tassa, Erez and Todorov (2012), "Synthesis and
    stabilization of complex behaviors through online trajectory optimization"; step lengths, regularization
    and end are those of Crocoddyl's SolverDDP (Mastalli et al., 2020). Hessians are those of Gauss and
    Newton: the second derivatives of the dynamics are left out. Other problems of the batch and threads
    change no bit of an answer.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> model = tf.Model.from_urdf(tf.robots.find("panda").path)
    >>> rest = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.02, 0.02])
    >>> goal = tf.frame_placement(model, rest + 0.2, "panda_hand_tcp")
    >>> hold = tf.generalized_gravity(model, rest)
    >>> cost = [
    ...     tf.control.FrameCost("panda_hand_tcp", goal, weight=1000.0, at="final"),
    ...     tf.control.StateCost(rest, weight_q=0.1, weight_v=0.1),
    ...     tf.control.ControlCost(hold, weight=1e-3),
    ... ]
    >>> result = tf.control.ilqr(model, rest, np.zeros(9), np.tile(hold, (50, 1)), cost, 0.02)
    >>> result
    <ILQRResult of 1 problem: 1 CONVERGED>
    """
    require_model(model)
    dt, tolerance = _positive(dt, "dt"), _positive(tolerance, "tolerance")
    regularization = _positive(regularization, "regularization")
    iterations = as_count(iterations, "iterations")
    threads = 1 if num_threads == 1 else thread_count(num_threads)
    matrix = _actuation(model, actuated)
    start, batch = _start(model, q0, v0, u, matrix)
    limits = _limits(control_limits, matrix.shape[1])
    if limits is not None:
        np.clip(start[2], *limits, out=start[2])
    sizes = Sizes(model, start[2].shape[1], matrix.shape[1], dt, batch)
    search = _Search(sizes, start, cost, matrix, limits, regularization, threads)
    costs = [search.cost.copy()]
    for iteration in range(1, iterations + 1):
        if not (search.status == RUNNING).any():
            break
        search.improve(tolerance)
        costs.append(search.cost.copy())
        if callback is not None:
            active = search.status == RUNNING
            if callback(ILQRProgress(iteration, search.cost.copy(), active)):
                search.status[active] = ILQRStatus.STOPPED
    search.status[search.status == RUNNING] = ILQRStatus.ITERATIONS
    names = ("q", "v", "u", "cost", "gains", "feedforward", "iterations", "status", "expected")
    arrays = {name: getattr(search, name) for name in names}
    shaped = {name: x.reshape(batch + x.shape[1:]) for name, x in arrays.items()}
    history = np.array(costs).reshape((len(costs), *batch))
    return ILQRResult(**shaped, costs=history, control_limits=limits, model=model)


class _Search:
    """Motions of all problems, their costs and regularizations; `improve` is one iteration.

    Parameters
    ----------
    sizes : Sizes
    start : tuple of ndarray
        q (B, nq), v (B, nv) and u (B, T, nu).
    cost : list
    matrix : ndarray, shape (nv, nu)
        Generalized forces of controls.
    limits : tuple of ndarray, or None
        Lower and upper ones of the controls, (nu,).
    regularization : float
        The least one.
    threads : int
    """

    def __init__(self, sizes: Sizes, start, cost, matrix, limits, regularization: float, threads: int):
        model, count, steps, nu = sizes.model, len(start[0]), sizes.steps, sizes.controls
        self.sizes, self.model, self.threads, self.least = sizes, model, threads, regularization
        self.limits = limits
        self.terms, self.custom = terms_of(cost, sizes)
        rows, columns = np.nonzero(matrix)
        factors = np.ascontiguousarray(matrix[rows, columns])
        actuation = (rows.astype(np.intp), columns.astype(np.intp), factors)
        direct = np.array_equal(matrix, np.eye(model.nv))
        self.passes = BackwardPasses(
            model.configurations, nu, ForwardDynamicsDerivatives(model), self.terms,
            None if direct else actuation, bool(self.custom),
        )  # fmt: skip
        self.rollouts = FeedbackRollouts(Recursive(model), *actuation, nu, self.terms)
        self.u = start[2]
        forces = self.u if direct else np.einsum("...u,vu->...v", self.u, matrix)
        self.q, self.v = tf.rollout(model, start[0], start[1], forces, sizes.dt, num_threads=threads)
        self.cost = np.zeros(count)
        motions = (self.q, self.v, self.u, np.arange(count), self.cost)
        spread(partial(self.terms.add_values_of, *motions), count, threads, count * EFFORT)
        self.cost = self._with_custom(*motions)
        self.gains = np.zeros((count, steps, nu, 2 * model.nv))
        self.feedforward = np.zeros((count, steps, nu))
        self.iterations = np.zeros(count, np.int64)
        self.status = np.where(np.isfinite(self.cost), RUNNING, ILQRStatus.NON_FINITE).astype(np.int8)
        self.damping, self.slope = np.full(count, regularization), np.zeros((count, 2))
        self.failed = np.zeros(count, np.int8)
        self.expected = np.full(count, np.nan)

    def improve(self, tolerance: float):
        """Sweep, then take the longest step that lowers the cost enough, in every problem that goes on."""
        left = np.flatnonzero(self.status == RUNNING)
        self.sweep(left)
        length = self.step(left)
        self.iterations[left] += 1
        expected = self.slope[left, 0] - 0.5 * self.slope[left, 1]
        self.expected[left] = expected
        damping = self.damping[left] * np.where(
            length > LONG, 1.0 / FACTOR, np.where(length <= SHORT, FACTOR, 1.0)
        )
        self.damping[left] = np.maximum(damping, self.least)
        converged = expected < tolerance
        self.status[left[converged]] = ILQRStatus.CONVERGED
        self.status[left[~converged & (damping >= LARGEST)]] = ILQRStatus.REGULARIZATION

    def sweep(self, left):
        """Find the gains of some problems; where a pivot is not positive, with more regularization."""
        arguments = (
            (self.q, self.v, self.u), (self.gains, self.feedforward, self.slope, self.failed),
        )  # fmt: skip
        if not self.custom:
            work = partial(self._sweep_part, left, None, *arguments)
            spread(work, len(left), self.threads, len(left) * EFFORT)
            return
        derivatives = [term.derivatives(self.q, self.v, self.u) for term in self.custom]
        for begin in range(0, len(left), BLOCK):
            rows = left[begin : begin + BLOCK]
            work = partial(self._sweep_part, rows, self._custom_derivatives(derivatives, rows), *arguments)
            spread(work, len(rows), self.threads, len(rows) * EFFORT)

    def _sweep_part(self, rows, custom, motions, results, first: int, stop: int):
        """Find the gains of the problems rows[first : stop]."""
        limits, damping = self.limits, self.damping
        self.passes.improve(
            self.sizes.dt, motions, custom, limits, rows, damping, results, FACTOR, LARGEST, first, stop
        )

    def _custom_derivatives(self, derivatives, rows):
        """Return the gradients and Hessians of functions of the user, of some problems."""
        times, m = self.sizes.steps + 1, self.sizes.controls + 2 * self.model.nv
        gradient, hessian = np.zeros((len(rows), times, m)), np.zeros((len(rows), times, m, m))
        for custom, arrays in zip(self.custom, derivatives, strict=True):
            custom.add_derivatives(arrays, rows, gradient, hessian)
        return gradient, hessian

    def step(self, left):
        """Return the step lengths, 0 where none lowers the cost enough; keep the motions and their costs.

        Most problems accept the full step: the other lengths are tried for those that do not, side by side.
        """
        accepted = np.zeros(len(left))
        waiting = np.arange(len(left))
        for lengths in (np.ones(1), *((LENGTHS,) if not self.custom else LENGTHS[:, None])):
            waiting = waiting[(accepted[waiting] == 0.0) & np.isfinite(self.slope[left[waiting], 0])]
            if not waiting.size:
                break
            at = left[waiting]
            q, v, u, costs = self._forward(at, lengths)
            costs = costs.reshape(len(at), -1)
            linear, quadratic = self.slope[at].T
            expected = lengths * linear[:, None] - 0.5 * lengths**2 * quadratic[:, None]
            fall = self.cost[at][:, None] - costs
            enough = (fall > ENOUGH * expected) | (np.isfinite(costs) & (linear < FLAT)[:, None])
            best = enough.argmax(axis=1)
            good = enough.any(axis=1)
            if good.all() and len(at) == len(self.q) and len(lengths) == 1:
                self.q, self.v, self.u = q, v, u
            else:
                chosen = (np.arange(len(at)) * len(lengths) + best)[good]
                for kept, new in ((self.q, q), (self.v, v), (self.u, u)):
                    kept[at[good]] = new[chosen]
            self.cost[at[good]] = costs[good, best[good]]
            accepted[waiting[good]] = lengths[best[good]]
        return accepted

    def _forward(self, at, lengths):
        """Return the motions of problems with all step lengths, which vary fastest, and their costs."""
        count = len(at) * len(lengths)
        shapes = (self.q.shape, self.v.shape, self.u.shape, self.cost.shape)
        results = tuple(np.empty((count, *shape[1:])) for shape in shapes)
        arguments = (
            self.sizes.dt, (self.q, self.v, self.u), (self.gains, self.feedforward),
            np.repeat(at, len(lengths)).astype(np.intp), np.tile(lengths, len(at)), self.limits, results,
        )  # fmt: skip
        spread(partial(self.rollouts.run, *arguments), count, self.threads, count * EFFORT)
        *motions, cost = results
        return *motions, self._with_custom(*motions, np.repeat(at, len(lengths)), cost)

    def _with_custom(self, q, v, u, rows, cost):
        """Return costs of some problems with those by functions of the user; NaN where not finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            for term in self.custom:
                if len(rows) == len(self.q):
                    cost += term.values(q, v, u)
                else:
                    motion = [x.copy() for x in (self.q, self.v, self.u)]
                    for whole, new in zip(motion, (q, v, u), strict=True):
                        whole[rows] = new
                    cost += term.values(*motion)[rows]
        return np.where(np.isfinite(cost), cost, np.nan)


def _positive(value, name: str) -> float:
    """Return a positive number."""
    number = as_number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive, and finite, got {value}")
    return number


def _limits(limits, nu: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lower and upper limits of controls."""
    if limits is None:
        return None
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise DtypeError(f"control_limits must be a pair (lower, upper), got {received(limits)}")
    pair = []
    for values, name in zip(limits, ("lower", "upper"), strict=True):
        array = as_real(values, f"{name} control_limits")
        if array.shape not in ((), (nu,)) or np.isnan(array).any():
            raise ShapeError(
                f"{name} control_limits must be one number or {nu}, got {array}", array.shape, (nu,)
            )
        pair.append(np.ascontiguousarray(np.broadcast_to(array, nu)))
    if (pair[0] > pair[1]).any():
        k = int(np.argmax(pair[0] > pair[1]))
        raise ConfigurationError(f"control {k} has limits {pair[0][k]:.9g} > {pair[1][k]:.9g}")
    return pair[0], pair[1]


def _actuation(model: Model, actuated) -> np.ndarray:
    """Return the matrix (nv, nu) that maps controls to generalized forces."""
    if actuated is None:
        return np.eye(model.nv)
    if isinstance(actuated, str):
        raise DtypeError(
            f"actuated must be a list of names or a matrix, got {actuated!r}: pass [{actuated!r}]"
        )
    if isinstance(actuated, list | tuple) and all(isinstance(name, str) for name in actuated):
        columns: list[int] = []
        for name in actuated:
            if name not in model.numbers:
                known = [joint.name for joint in model.joints]
                raise InvalidModelError(f"{name!r} is not a joint of the model{similar(name, known)}", name)
            joint, first = model.joints[model.numbers[name]], model.idx_v[model.numbers[name]]
            columns += range(first, first + joint.nv)
        if not columns:
            raise ValueError("actuated must name at least one joint, got none")
        return np.ascontiguousarray(np.eye(model.nv)[:, columns])
    matrix = as_real(actuated, "actuated")
    if matrix.ndim != 2 or matrix.shape[0] != model.nv or not matrix.shape[1]:
        raise ShapeError(
            f"actuated must be a list of names or have shape ({model.nv}, nu), got {matrix.shape}",
            matrix.shape,
        )
    if not np.isfinite(matrix).all():
        raise ValueError("actuated must be finite")
    return matrix.copy()


def _start(model: Model, q0, v0, u, matrix) -> tuple[tuple, tuple[int, ...]]:
    """Return initial states and controls as fresh rows, and the leading axes."""
    nu, arrays = matrix.shape[1], []
    for values, end, name in ((q0, (model.nq,), "q0"), (v0, (model.nv,), "v0"), (u, (None, nu), "u")):
        array = as_real(values, name)
        if array.ndim < len(end) or array.shape[-1] != end[-1]:
            wanted = f"(..., {model.nq if name == 'q0' else end[-1]})" if len(end) == 1 else f"(..., T, {nu})"
            raise ShapeError(f"{name} must have shape {wanted}, got {array.shape}", array.shape)
        arrays.append((array, array.shape[: array.ndim - len(end)], array.shape[array.ndim - len(end) :]))
    if not arrays[2][2][0]:
        raise ShapeError("u must have at least one step, got 0", arrays[2][0].shape)
    leading = [axes for _, axes, _ in arrays]
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError:
        raise ShapeError(f"leading axes of q0, v0 and u do not match: {leading}", *leading[:1]) from None
    count = int(np.prod(batch))
    rows = (
        np.array(np.broadcast_to(array, (*batch, *end)), order="C").reshape((count, *end))
        for array, _, end in arrays
    )
    return tuple(rows), batch
