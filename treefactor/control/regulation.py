"""Minimize costs of motions by iterative linear-quadratic regulation, many problems at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import as_count, thread_count
from ..derivatives._first_order import ForwardDynamicsDerivatives
from ..dynamics._rollouts import Recursive
from ..exceptions import InvalidModelError
from ..model.model import Model, require_model
from ..quantities import functions as tf
from ..tolerances import EXPECTED_FALL, LEAST_REGULARIZATION
from ._riccati import BackwardPasses, FeedbackRollouts, first_enough
from .costs import Sizes, terms_of
from .curvature import add_curvature
from .results import ILQRProgress, ILQRResult, ILQRStatus
from .starts import Start, actuation_of, limits_of, positive, start_of

FULL, LENGTHS = np.ones(1), 0.5 ** np.arange(1, 9)  # of steps: the first try, then one for each lane
SHORT, LONG, FACTOR = 0.01, 0.5, 10.0  # steps that change the regularization, and how much
LARGEST = 1e9  # regularization
ENOUGH = 0.1  # least fall of costs, as a part of the expected one
ASCENT = 2.0  # largest rise of costs, where closing gaps raises them, as a part of the expected one
FLAT = 1e-12  # expected fall below which rounding decides
EFFORT = 2**18  # of a problem, for `spread`
BLOCK = 16  # problems whose derivatives by functions of the user, or second ones, are gathered at once
RUNNING = -1  # status of problems that go on


def ilqr(
    model: Model,
    q0,
    v0,
    u,
    cost,
    dt: float,
    *,
    q=None,
    v=None,
    method: str = "single",
    control_limits=None,
    actuated=None,
    second_order: bool = False,
    iterations: int = 100,
    tolerance: float = EXPECTED_FALL,
    regularization: float = LEAST_REGULARIZATION,
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
    q, v : array_like, shapes (..., T + 1, nq) and (..., T + 1, nv), optional
        First states, for the method "multiple"; those at time 0 are replaced by q0 and v0. By default the
        motions that u gives.
    method : {"single", "multiple"}
        "single": every motion is that of its controls, and costs never rise. "multiple": steps need not end
        where the next state is; each full step closes these gaps, shorter ones a part of them, and the
        cost may rise meanwhile. It converges from good guesses of the states where the controls alone lead
        far away: long motions, unstable ones.
    control_limits : pair of array_like, optional
        Lower and upper ones: numbers, or shape (nu,); ``(-model.effort_limit, model.effort_limit)`` are those
        of the robot where every freedom has a force. Each step is the best one within them, found by
        quadratic programming; gains of controls at a limit are 0. Controls u beyond them are clipped.
    actuated : list of str, or array_like, shape (nv, nu), optional
        Joints with forces, in the order of u; or the matrix that maps controls to generalized forces. By
        default every freedom has a force.
    second_order : bool
        Add the second derivatives of the dynamics to those of the costs: near a minimum that keeps a cost
        each iteration squares the error, instead of dividing it, and takes several times as long.
    iterations : int
        Largest number.
    tolerance : float
        A problem has converged when the next full step would change its cost by less, to second order, and
        no gap (m, rad, m/s, rad/s) is larger.
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
        If the model has no such frame or joint, or has loops.
    ConfigurationError
        If a lower limit exceeds the upper one.
    ValueError
        If a weight is negative, a step is not positive, or an option is out of range.

    Notes
    -----
    Contacts, loops, and constraints on states are not considered.

    Steps are those of `rollout` with "semi_implicit_euler". Tassa, Erez and Todorov (2012), "Synthesis and
    stabilization of complex behaviors through online trajectory optimization"; step lengths, regularization
    and end are those of Crocoddyl's SolverDDP, and with "multiple" of its SolverFDDP (Mastalli et al., 2020,
    "Crocoddyl: an efficient and versatile framework for multi-contact optimal control"). Other problems of
    the batch and threads change no bit of an answer.

    Hessians are those of Gauss and Newton. ``second_order`` weights the second derivatives of the
    accelerations with the costates of the motion (Pantoja, 1988, "Differential dynamic programming and
    Newton's method"). Where a Hessian is indefinite with them, the sweep of this problem is repeated without.
    What is left out still: the curvature of residuals, as that of `FrameCost` (a `CustomCost` may have it),
    and of steps of free-flyers, spherical and planar joints.

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
    if model.loops:
        name = model.loops[0].name
        raise InvalidModelError(
            f"loop {name!r}: iterative LQR does not consider joints that close loops", name
        )
    dt, tolerance = positive(dt, "dt"), positive(tolerance, "tolerance")
    regularization = positive(regularization, "regularization")
    iterations = as_count(iterations, "iterations")
    if method not in ("single", "multiple"):
        raise ValueError(f"method must be 'single' or 'multiple', got {method!r}")
    threads = 1 if num_threads == 1 else thread_count(num_threads)
    matrix = actuation_of(model, actuated)
    options = Options(method == "multiple", bool(second_order), regularization, threads)
    start, batch = start_of(model, (q0, v0, u, q, v), matrix, options.multiple)
    limits = limits_of(control_limits, matrix.shape[1])
    if limits is not None:
        np.clip(start.u, *limits, out=start.u)
    sizes = Sizes(model, start.u.shape[1], matrix.shape[1], dt, batch)
    search = _Search(sizes, start, cost, matrix, limits, options)
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
    names = ("q", "v", "u", "cost", "gains", "feedforward", "iterations", "status", "expected", "gap")
    arrays = {name: getattr(search, name) for name in names}
    shaped = {name: x.reshape(batch + x.shape[1:]) for name, x in arrays.items()}
    history = np.array(costs).reshape((len(costs), *batch))
    return ILQRResult(**shaped, costs=history, control_limits=limits, model=model)


@dataclass(frozen=True)
class Options:
    """How to search: with gaps or without, with which derivatives, and the least regularization."""

    multiple: bool
    second_order: bool
    regularization: float
    threads: int


class _Search:
    """Motions of all problems, their costs and regularizations; `improve` is one iteration.

    Parameters
    ----------
    sizes : Sizes
    start : Start
    cost : list
    matrix : ndarray, shape (nv, nu)
        Generalized forces of controls.
    limits : tuple of ndarray, or None
        Lower and upper ones of the controls, (nu,).
    options : Options
    """

    def __init__(self, sizes: Sizes, start: Start, cost, matrix, limits, options: Options):
        model, count, steps, nu = sizes.model, len(start.u), sizes.steps, sizes.controls
        self.sizes, self.model, self.limits = sizes, model, limits
        self.threads, self.least = options.threads, options.regularization
        self.second_order = options.second_order
        self.terms, self.custom = terms_of(cost, sizes)
        rows, columns = np.nonzero(matrix)
        factors = np.ascontiguousarray(matrix[rows, columns])
        actuation = (rows.astype(np.intp), columns.astype(np.intp), factors)
        self.matrix = None if np.array_equal(matrix, np.eye(model.nv)) else matrix
        self.passes = BackwardPasses(
            model.configurations, nu, ForwardDynamicsDerivatives(model), self.terms,
            None if self.matrix is None else actuation, bool(self.custom) or self.second_order,
        )  # fmt: skip
        self.rollouts = FeedbackRollouts(Recursive(model), *actuation, nu, self.terms)
        self.q, self.v, self.u = start.q, start.v, start.u
        if start.q.shape[1] == 1:
            forces = self._forces(start.u)
            q0, v0 = start.q[:, 0], start.v[:, 0]
            self.q, self.v = tf.rollout(model, q0, v0, forces, sizes.dt, num_threads=self.threads)
        self.gaps, self.gap = None, np.zeros(count)
        if options.multiple:
            self.gaps = self._gaps(np.arange(count))
            self.gap = abs(self.gaps).max(axis=(1, 2))
            self.pull = np.zeros_like(self.gaps)
        self.cost = self._values(self.q, self.v, self.u, np.arange(count))
        self.gains = np.zeros((count, steps, nu, 2 * model.nv))
        self.feedforward = np.zeros((count, steps, nu))
        self.iterations = np.zeros(count, np.int64)
        finite = np.isfinite(self.cost + self.gap)
        self.status = np.where(finite, RUNNING, ILQRStatus.NON_FINITE).astype(np.int8)
        self.damping, self.slope = np.full(count, self.least), np.zeros((count, 2))
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
        damping = self.damping[left]
        damping[length > LONG] /= FACTOR
        damping[length <= SHORT] *= FACTOR
        self.damping[left] = np.maximum(damping, self.least)
        converged = (abs(expected) < tolerance) & (self.gap[left] < tolerance)
        self.status[left[converged]] = ILQRStatus.CONVERGED
        self.status[left[~converged & (damping >= LARGEST)]] = ILQRStatus.REGULARIZATION

    def sweep(self, left):
        """Find the gains of some problems; where a pivot is not positive, with more regularization."""
        if not (self.custom or self.second_order):
            self._find_gains(left)
            return
        derivatives = [term.derivatives(self.q, self.v, self.u) for term in self.custom]
        for begin in range(0, len(left), BLOCK):
            rows = left[begin : begin + BLOCK]
            gradient, hessian = self._custom_derivatives(derivatives, rows)
            if self.second_order:
                damping = self.damping[rows]
                self._find_gains(rows, (gradient, self._curved(rows, gradient, hessian)), 0.0)
                self.damping[rows] = damping
                indefinite = np.isnan(self.slope[rows, 0])
                rows, gradient, hessian = rows[indefinite], gradient[indefinite], hessian[indefinite]
            self._find_gains(rows, (gradient, hessian))

    def _find_gains(self, rows, custom=None, largest: float = LARGEST):
        """Sweep over some problems, with derivatives of functions of the user and up to a regularization."""
        motions, gaps = (self.q, self.v, self.u), None if self.gaps is None else (self.gaps, self.pull)
        results = self.gains, self.feedforward, self.slope, self.failed
        arguments = motions, custom, self.limits, gaps, rows, self.damping, results, FACTOR, largest
        work = partial(self.passes.improve, self.sizes.dt, *arguments)
        spread(work, len(rows), self.threads, len(rows) * EFFORT)

    def _custom_derivatives(self, derivatives, rows):
        """Return the gradients and Hessians of functions of the user, of some problems."""
        times, m = self.sizes.steps + 1, self.sizes.controls + 2 * self.model.nv
        gradient, hessian = np.zeros((len(rows), times, m)), np.zeros((len(rows), times, m, m))
        for custom, arrays in zip(self.custom, derivatives, strict=True):
            custom.add_derivatives(arrays, rows, gradient, hessian)
        return gradient, hessian

    def _curved(self, rows, gradient, hessian):
        """Return Hessians of functions of the user with those of the dynamics, of some problems."""
        model, dt, hessian = self.model, self.sizes.dt, hessian.copy()
        q, v, u = self.q[rows], self.v[rows], self.u[rows]
        forces = self._forces(u)
        dynamics = tf.forward_dynamics_derivatives(model, q[:, :-1], v[:, :-1], forces)
        transport = None, None
        if self.passes.entries:
            _, ends = tf.step(model, q[:, :-1], v[:, :-1], forces, dt)  # v[:, 1:] but for gaps
            transport = tf.d_integrate(model, q[:, :-1], dt * ends)
        slopes = [self.terms.derivatives_of(*motion)[0] for motion in zip(q, v, u, rows, strict=True)]
        motion = q[:, :-1], v[:, :-1], forces
        add_curvature(model, dt, motion, dynamics, transport, self.matrix, gradient + slopes, hessian)
        return hessian

    def step(self, left):
        """Return the step lengths, 0 where none lowers the cost enough; keep the motions and their costs.

        Most problems accept the full step: the other lengths are tried for those that do not, side by side.
        """
        accepted = np.zeros(len(left))
        waiting = np.flatnonzero(np.isfinite(self.slope[left, 0]))
        for lengths in (FULL, *((LENGTHS,) if not self.custom else LENGTHS[:, None])):
            if not waiting.size:
                break
            at = left[waiting]
            q, v, u, costs = self._forward(at, lengths)
            pulled = self._pulled(at, lengths, q, v)
            best = first_enough(costs, lengths, self.cost[at], self.slope[at], pulled, ENOUGH, ASCENT, FLAT)
            good = best >= 0
            if len(at) == len(self.q) and len(lengths) == 1 and good.all():
                self.q, self.v, self.u, self.cost = q, v, u, costs
            else:
                chosen = (np.arange(len(at)) * len(lengths) + best)[good]
                for kept, new in ((self.q, q), (self.v, v), (self.u, u), (self.cost, costs)):
                    kept[at[good]] = new[chosen]
            accepted[waiting[good]] = lengths[best[good]]
            waiting = waiting[~good]
        if self.gaps is not None:
            self.gaps[left[accepted == 1.0]] = 0.0
            part = left[(accepted > 0.0) & (accepted < 1.0)]
            self.gaps[part] = self._gaps(part)
            self.gap[left] = abs(self.gaps[left]).max(axis=(1, 2))
        return accepted

    def _pulled(self, at, lengths, q, v):
        """Return what motions with some step lengths change in slopes, (A lengths,); None without gaps."""
        if self.gaps is None:
            return None
        rows = np.repeat(at, len(lengths))
        change = self._differences(self.q[rows, 1:], self.v[rows, 1:], q[:, 1:], v[:, 1:])
        pulled = (self.pull[rows] * change).reshape(len(rows), -1).sum(axis=1)
        return pulled / np.tile(lengths, len(at))

    def _gaps(self, rows):
        """Return the ways (A, T, 2 nv) from the states of problems to where the steps before them end."""
        q, v, forces = self.q[rows], self.v[rows], self._forces(self.u[rows])
        ends = tf.step(self.model, q[:, :-1], v[:, :-1], forces, self.sizes.dt)
        return self._differences(q[:, 1:], v[:, 1:], *ends)

    def _differences(self, q0, v0, q1, v1):
        """Return the ways (..., 2 nv) from states to others."""
        return np.concatenate([tf.difference(self.model, q0, q1), v1 - v0], axis=-1)

    def _forces(self, u):
        """Return the generalized forces of controls."""
        return u if self.matrix is None else np.einsum("...u,vu->...v", u, self.matrix)

    def _forward(self, at, lengths):
        """Return the motions of problems with all step lengths, which vary fastest, and their costs."""
        count = len(at) * len(lengths)
        shapes = (self.q.shape, self.v.shape, self.u.shape, self.cost.shape)
        results = tuple(np.empty((count, *shape[1:])) for shape in shapes)
        arguments = (
            self.sizes.dt, (self.q, self.v, self.u), (self.gains, self.feedforward, self.gaps),
            at, lengths, self.limits, results,
        )  # fmt: skip
        spread(partial(self.rollouts.run, *arguments), count, self.threads, count * EFFORT)
        if self.custom:
            self._add_custom(*results, np.repeat(at, len(lengths)))
        return results

    def _values(self, q, v, u, rows):
        """Return the costs of motions of some problems; NaN where one is not finite."""
        cost = np.zeros(len(q))
        work = partial(self.terms.add_values_of, q, v, u, rows, cost)
        spread(work, len(q), self.threads, len(q) * EFFORT)
        self._add_custom(q, v, u, cost, rows)
        return np.where(np.isfinite(cost), cost, np.nan)

    def _add_custom(self, q, v, u, cost, rows):
        """Add the costs of some problems by functions of the user."""
        with np.errstate(invalid="ignore", over="ignore"):
            for term in self.custom:
                if len(rows) == len(self.q):
                    cost += term.values(q, v, u)
                else:
                    motion = [x.copy() for x in (self.q, self.v, self.u)]
                    for whole, new in zip(motion, (q, v, u), strict=True):
                        whole[rows] = new
                    cost += term.values(*motion)[rows]
