"""Control by sampling: roll out many random controls, and plan their average or the best of them."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._util.messages import not_a_model
from .._util.threads import spread
from .._util.validation import (
    Sealed,
    aligned,
    as_count,
    as_number,
    as_real,
    check_choice,
    require_finite,
    thread_count,
)
from ..dynamics._rollouts import Recursive, Simulation
from ..exceptions import CodegenError, DtypeError, InvalidModelError, ShapeError
from ..model._unit_rotations import require_rotations
from ..model.model import Model
from ..tolerances import UNIT_SQUARE
from ._costs import Terms
from ._sampling import SampledRollouts, Splines
from .costs import Sizes, compiled, terms_of
from .samples import SampledMotions, SamplingResult, SamplingStatus
from .splines import Spline
from .starts import actuation_of, limits_of, positive

METHODS = ("mppi", "predictive", "cem")
RISKS = ("mean", "max")
PLACES = ("knots", "steps")
SHARPNESS = 10.0  # of weights with temperature "auto": -log of that of the median sample
FLOOR = 0.1  # least noise of "cem", as a part of the first one
FEW, SOON = 2.0, 10  # effective samples, and successive calls with fewer, before a warning
LANES = 8
EFFORT = 2**11  # of a step of a unit of samples, for `spread`


class SamplingController(Sealed):
    """Model predictive control by sampling: MPPI, predictive sampling, and the cross-entropy method.

    In every call random changes of the plan are rolled out over the horizon. The new plan is their average
    with weights exp(-cost / temperature) ("mppi"), the best of them ("predictive"), or the mean of the best
    ones, whose standard deviations become the next noise ("cem"). The plan of before is the first sample.

    Parameters
    ----------
    model : Model or Kernels
        Kernels of ``compile(model, ["forward_dynamics"])`` compute motions in less time, those of float32 in
        the least. Costs are computed in float64 in any case.
    cost : list of StateCost, ControlCost, FrameCost, FrameVelocityCost, ComCost and LimitCost, or callable
        Terms are evaluated beside the motions; leading axes of their targets are robots, and T is the
        horizon. A function gets the `SampledMotions` of all samples, and returns costs of shape
        (..., samples), or (..., samples, times), which are added up.
    horizon : int
        Steps of the plan.
    dt : float
        Length of a step, s.
    noise : float or array_like, shape (nu,) or (nu, nu)
        Standard deviations of random controls, N or N m; of "cem" the first ones. Or a matrix M for controls
        that belong together, whose covariance is M M^T: ``crba(model, q) * deviations`` gives those of random
        accelerations.
    samples : int
    method : {"mppi", "predictive", "cem"}
    knots : int
        Times that controls are interpolated between: 2 to ``horizon``, 1 also for "zero". Noise is drawn for
        them: fewer give smoother controls.
    spline : {"zero", "linear", "cubic"}
        Constant between knots, linear, or a Catmull-Rom spline.
    temperature : "auto" or float
        The lambda of "mppi", in units of the cost. By default that for which the median sample has exp(-10)
        times the weight of the best one.
    elites : float
        Part of the samples that "cem" averages, at least two.
    control_limits : pair of array_like, optional
        Lower and upper ones: numbers, or shape (nu,); ``(-model.effort_limit, model.effort_limit)`` are those
        of the robot where every freedom has a force. Samples are clipped before they are rolled out and
        averaged.
    actuated : list of str, or array_like, shape (nv, nu), optional
        Joints with forces, in the order of u; or the matrix that maps controls to generalized forces. By
        default every freedom has a force.
    idle : float or array_like, shape (nu,)
        Controls that follow after the plan, and of which the first plan consists: such as hold the robot.
    substeps : int
        Steps of the integration in a step of the plan.
    inertias : array_like, shape (R, njoints, 10), optional
        Parameters of R models, as those of `Model.with_parameters`. Every sample is rolled out with each.
    risk : {"mean", "max"}
        What the cost of a sample is of its costs with all ``inertias``.
    at : {"knots", "steps"}
        Times that a function of costs gets: those after the knots, or all.
    seed : int
        Random numbers depend on the seed, the number of calls since `reset`, and the sample: not on threads,
        other samples or other robots.
    num_threads : int
        For many samples; -1 uses all cores. It changes no bit.

    Attributes
    ----------
    model : Model
    u : ndarray, shape (..., horizon, nu)
        The plan; `reset` sets another one.
    cost : list or callable
        `set_cost` sets another one.
    result : SamplingResult or None
        Of the last call.

    Raises
    ------
    ShapeError, DtypeError
    InvalidModelError
        If the model has loops, or no such frame or joint.
    ConfigurationError
        If a lower limit exceeds the upper one.
    ValueError
        If a weight, a temperature or a step is not positive, or an option is out of range.

    Warns
    -----
    RuntimeWarning
        Once, if fewer than two samples count in ten successive calls of "mppi".

    Notes
    -----
    Thread-compatible.

    Contacts and loops are not considered. Steps are those of `rollout` with "semi_implicit_euler". A batch of
    states keeps a plan for each of its robots, all with the same random numbers. Williams, Aldrich and
    Theodorou (2017), "Model predictive path integral control: from theory to parallel computation"; Howell et
    al. (2022), "Predictive sampling: real-time behaviour synthesis with MuJoCo".

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> cost = tf.control.StateCost([1.0], weight_v=0.1)
    >>> controller = tf.control.SamplingController(model, cost, horizon=40, dt=0.02, samples=256, noise=5.0)
    >>> q, v = np.zeros(1), np.zeros(1)
    >>> for _ in range(60):
    ...     q, v = tf.step(model, q, v, controller.command(q, v), 0.02)
    >>> bool(abs(q[0] - 1.0) < 0.2)
    True
    """

    model: Model
    _arguments: dict[str, Any]
    _now: SimpleNamespace  # what changes: plan, noise, counters, cost
    _method: str
    _worst: bool
    _horizon: int
    _dt: float
    _samples: int
    _substeps: int
    _seed: int
    _threads: int
    _temperature: float | None
    _simulation: Simulation
    _simulations: list[Simulation]
    _nu: int
    _entries: tuple
    _limits: tuple[np.ndarray, np.ndarray]
    _spline: Spline
    _splines: Splines
    _seen: np.ndarray
    _noise: np.ndarray
    _mix: np.ndarray | None
    _idle: np.ndarray
    _elites: int

    def __init__(
        self,
        model: Any,
        cost: Any,
        *,
        horizon: int,
        dt: float,
        noise: Any,
        samples: int = 1024,
        method: str = "mppi",
        knots: int = 8,
        spline: str = "linear",
        temperature: Any = "auto",
        elites: float = 0.1,
        control_limits: Any = None,
        actuated: Any = None,
        idle: Any = 0.0,
        substeps: int = 1,
        inertias: Any = None,
        risk: str = "mean",
        at: str = "knots",
        seed: int = 0,
        num_threads: int = 1,
    ):
        arguments = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        self._keep(_arguments=arguments, _now=SimpleNamespace(batch=()))
        own, simulation = _simulation_of(model)
        if own.loops:
            raise InvalidModelError("SamplingController does not support loops, and the model has some")
        check_choice("method", method, METHODS)
        check_choice("risk", risk, RISKS)
        check_choice("at", at, PLACES)
        seed, part = as_count(seed, "seed"), as_number(elites, "elites")
        if seed >= 2**64:
            raise ValueError(f"seed must be below 2**64, got {seed}")
        if not 0.0 < part <= 1.0:
            raise ValueError(f"elites must be in (0, 1], got {elites}")
        self._keep(
            model=own,
            _method=method,
            _worst=risk == "max",
            _horizon=as_count(horizon, "horizon", 1),
            _dt=positive(dt, "dt"),
            _samples=as_count(samples, "samples", 1),
            _substeps=as_count(substeps, "substeps", 1),
            _seed=seed,
            _threads=thread_count(num_threads),
            _temperature=_temperature(temperature),
            _simulation=simulation,
            _simulations=_simulations_of(own, simulation, inertias),
        )
        matrix = actuation_of(own, actuated)
        nu, (rows, columns) = matrix.shape[1], np.nonzero(matrix)
        points = Spline(spline, as_count(knots, "knots", 1), self._horizon)
        deviations, mix = _noise(noise, nu)
        limits = limits_of(control_limits, nu) or (np.full(nu, -np.inf), np.full(nu, np.inf))
        self._keep(
            _nu=nu,
            _entries=tuple(map(np.ascontiguousarray, (rows, columns, matrix[rows, columns]))),
            _limits=limits,
            _spline=points,
            _splines=points.compiled(*limits, mix),
            _seen=points.ends if at == "knots" else np.arange(1, self._horizon + 1),
            _noise=np.tile(deviations, (points.knots, 1)),
            _mix=mix,
            _idle=_controls(idle, nu, "idle"),
            _elites=min(self._samples, max(2, round(part * self._samples))),
        )
        self.set_cost(cost)
        self.reset()

    @property
    def cost(self):
        """Return the cost as it was given."""
        return self._now.cost

    @property
    def u(self) -> np.ndarray:
        """Return the plan."""
        return self._splines.controls(self._now.knots).reshape(*self._now.batch, self._horizon, self._nu)

    @property
    def result(self) -> SamplingResult | None:
        """Return the result of the last call."""
        return self._now.result

    def set_cost(self, cost: Any) -> None:
        """Replace the cost, for example because a goal has moved; the plan stays.

        Parameters
        ----------
        cost : list or callable
            As that of the class.
        """
        rollouts = {}
        with suppress(ShapeError):  # targets may be those of robots whose number is not known yet
            rollouts[self._now.batch] = self._compiled(cost)
        self._now.cost, self._now.compiled = cost, rollouts

    def reset(self, u: Any = None) -> None:
        """Forget the plan, the noise and the number of calls.

        Parameters
        ----------
        u : array_like, shape (..., horizon, nu), optional
            The plan to start from; knots are fitted to it, within the limits. By default it is ``idle``, for
            as many robots as the next call has.
        """
        u = np.tile(self._idle, (self._horizon, 1)) if u is None else as_real(u, "u")
        if u.ndim < 2 or u.shape[-2:] != (self._horizon, self._nu):
            shape = (self._horizon, self._nu)
            raise ShapeError(
                f"u must have shape {shape} or leading axes before it, got {u.shape}", u.shape, shape
            )
        if not np.isfinite(u).all():
            raise ValueError("u must be finite")
        now = self._now
        now.batch, now.calls, now.is_moving, now.has_warned, now.result = u.shape[:-2], 0, False, False, None
        knots = self._spline.fit @ u.reshape(math.prod(now.batch), *u.shape[-2:])
        now.knots = np.ascontiguousarray(np.clip(knots, *self._limits))
        self._start_noise()

    def plan(self, q, v) -> SamplingResult:
        """Improve the plan for a state.

        Parameters
        ----------
        q, v : array_like, shapes (..., nq) and (..., nv)
            Leading axes are robots.

        Returns
        -------
        SamplingResult
        """
        return self._improve(*self._rows(q, v))

    def command(self, q, v, elapsed: float | None = None) -> np.ndarray:
        """Shift the plan by the time since the last command, improve it, and return its first control.

        Parameters
        ----------
        q, v : array_like, shapes (..., nq) and (..., nv)
            Leading axes are robots.
        elapsed : float, optional
            s; by default dt. The first command after `reset` shifts nothing.

        Returns
        -------
        ndarray, shape (..., nu)
        """
        elapsed = self._dt if elapsed is None else as_number(elapsed, "elapsed")
        if elapsed < 0.0:
            raise ValueError(f"elapsed must not be negative, got {elapsed}")
        rows = self._rows(q, v)
        if self._now.is_moving:
            self._shift(elapsed / self._dt)
        self._now.is_moving = True
        return self._improve(*rows).u[..., 0, :].copy()

    def _rows(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Return states as rows, NaN where q is not a configuration; let plans have their leading axes."""
        sizes, arrays = (self.model.nq, self.model.nv), (as_real(q, "q"), as_real(v, "v"))
        for array, size, name in zip(arrays, sizes, "qv", strict=True):
            if array.shape[-1:] != (size,):
                raise ShapeError(f"{name} must have shape (..., {size}), got {array.shape}", array.shape)
        batch = arrays[0].shape[:-1]
        if arrays[1].shape[:-1] != batch:
            raise ShapeError(
                f"leading axes of q and v differ: {batch}, {arrays[1].shape[:-1]}", arrays[1].shape, batch
            )
        if self._now.batch not in ((), batch):
            raise ShapeError(
                f"the plan is for robots of shape {self._now.batch}, and q for {batch}: call reset()",
                batch,
                self._now.batch,
            )
        count = math.prod(batch)
        rows = [array.reshape(count, size).copy() for array, size in zip(arrays, sizes, strict=True)]
        if not batch and np.isfinite(rows[0]).all():
            require_rotations(self.model, rows[0][0], "q")
        for first, size in self.model.configurations.units:
            length = (rows[0][:, first : first + size] ** 2).sum(axis=1)
            rows[1][~(abs(length - 1.0) <= UNIT_SQUARE)] = np.nan
        if self._now.batch != batch:
            self._now.batch = batch
            self._now.knots = np.repeat(self._now.knots, count, axis=0)
            self._start_noise()
        return rows[0], rows[1]

    def _start_noise(self):
        """Let the noise be the first one, for all robots."""
        self._now.scale = np.repeat(self._noise[None], math.prod(self._now.batch), axis=0)
        self._now.collapsed = np.zeros(len(self._now.scale), int)

    def _shift(self, steps: float):
        """Move the plan, and the noise of "cem", on by some steps."""
        now, (moved, new) = self._now, self._spline.after(steps)
        now.knots = np.clip(moved @ now.knots + new[:, None] * self._idle, *self._limits)
        if self._method == "cem":
            scale = moved @ now.scale + new[:, None] * self._noise
            now.scale = np.maximum(scale, FLOOR * self._noise)

    def _rollouts(self) -> SampledRollouts:
        """Return the compiled rollouts for the robots of the plan."""
        now = self._now
        if now.batch not in now.compiled:
            now.compiled[now.batch] = self._compiled(now.cost)
        return now.compiled[now.batch]

    def _compiled(self, cost) -> SampledRollouts:
        """Return rollouts with a cost."""
        sizes = Sizes(self.model, self._horizon, self._nu, self._dt, self._now.batch)
        terms = compiled([], sizes) if callable(cost) else _terms(cost, sizes)
        return SampledRollouts(self._splines, terms, *self._entries, self._dt, self._substeps)

    def _improve(self, q: np.ndarray, v: np.ndarray) -> SamplingResult:
        """Sample, and average."""
        knots = self._draw(len(q))
        costs = [self._costs(simulation, q, v, knots) for simulation in self._simulations]
        cost = costs[0] if len(costs) == 1 else self._combined(costs)
        weights, status = self._weights(cost)
        best = np.argmin(np.where(np.isfinite(cost), cost, np.inf), axis=1)
        best_knots = np.ascontiguousarray(knots[np.arange(len(q)), best // LANES, :, :, best % LANES])
        self._update(knots, weights, status, best_knots)
        self._now.calls += 1
        squares = (weights**2).sum(axis=1)
        effective = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0)
        self._watch(effective, status)
        motion = self._motion(q, v)
        plans = self._splines.controls(self._now.knots), self._splines.controls(best_knots)
        arrays = (*plans, cost, weights, effective, *motion, status)
        shaped = [x.reshape(self._now.batch + x.shape[1:]) for x in arrays]
        self._now.result = SamplingResult(*shaped)
        return self._now.result

    def _draw(self, count: int) -> np.ndarray:
        """Return the knots of all samples, 8 side by side, in whole units."""
        width = self._simulation.width
        blocks = -(-self._samples // width) * (width // LANES)
        knots = aligned((count, blocks, self._spline.knots, self._nu, LANES))
        work = partial(
            self._splines.draw, self._seed, self._now.calls, self._now.knots, self._now.scale, knots
        )
        spread(work, count * blocks, self._threads, knots.size)
        return knots

    def _costs(self, simulation: Simulation, q, v, knots) -> np.ndarray:
        """Return the costs (B, samples) of all samples with one simulation, NaN if one is not finite."""
        seen = self._seen if callable(self._now.cost) else self._seen[:0]
        cost, *states = self._roll_out(simulation, q, v, knots, self._samples, seen)
        if callable(self._now.cost):
            cost += self._called(states[0], states[1], knots)
        cost[~np.isfinite(cost)] = np.nan
        return cost

    def _roll_out(self, simulation: Simulation, q, v, knots, samples: int, seen: np.ndarray):
        """Return the costs of terms (B, samples), and q and v (B, samples, times, .) at the times seen."""
        cost, places = np.empty((len(q), samples)), np.full(self._horizon + 1, -1)
        places[seen] = np.arange(len(seen))
        kind = np.float32 if simulation.width > LANES else np.float64
        states = [np.empty((*cost.shape, len(seen), n), kind) for n in (self.model.nq, self.model.nv)]
        work = partial(self._rollouts().run, simulation, q, v, knots, cost, places, *states)
        units = len(q) * -(-samples // simulation.width)
        spread(work, units, self._threads, units * self._horizon * self._substeps * EFFORT)
        return cost, *states

    def _called(self, q: np.ndarray, v: np.ndarray, knots: np.ndarray) -> np.ndarray:
        """Return the costs (B, samples) by the function of the user."""
        shape = (*self._now.batch, self._samples)
        rows = self._samples * len(q)

        def controls() -> np.ndarray:
            own = knots.transpose(0, 1, 4, 2, 3).reshape(len(q), -1, *knots.shape[2:4])[:, : self._samples]
            u = self._splines.controls(np.ascontiguousarray(own).reshape(rows, *knots.shape[2:4]))
            return u.reshape(*shape, self._horizon, self._nu)[..., self._seen - 1, :]

        states = [x.reshape(*shape, *x.shape[2:]) for x in (q, v)]
        for x in states:
            x.flags.writeable = False
        with np.errstate(all="ignore"):
            cost = self._now.cost(
                SampledMotions(self.model, states[0], states[1], self._dt * self._seen, controls)
            )
        array, wide = as_real(cost, "the cost of samples"), (*shape, len(self._seen))
        if array.shape not in (shape, wide):
            text = f"cost must return shape {shape} or {wide}, got {array.shape}"
            raise ShapeError(text, array.shape, shape)
        return (array if array.shape == shape else array.sum(axis=-1)).reshape(len(q), self._samples)

    def _combined(self, costs: list[np.ndarray]) -> np.ndarray:
        """Return the costs of samples of their costs with all inertias."""
        return np.max(costs, axis=0) if self._worst else np.mean(costs, axis=0)

    def _weights(self, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights (B, samples) of samples, and the status (B,) of the plans."""
        weights = np.zeros_like(cost)
        status = np.full(len(cost), SamplingStatus.UPDATED, np.int8)
        for k, row in enumerate(cost):
            finite = np.isfinite(row)
            if finite.all():
                weights[k] = self._weights_of(row)
            elif finite.any():
                weights[k, finite] = self._weights_of(row[finite])
            else:
                status[k] = SamplingStatus.NON_FINITE
        return weights, status

    def _weights_of(self, cost: np.ndarray) -> np.ndarray:
        """Return the weights of the finite costs of a robot."""
        if self._method == "mppi":
            return _softmax(cost, self._temperature)
        weights = np.zeros_like(cost)
        if self._method == "predictive":
            weights[cost.argmin()] = 1.0
        else:
            elites = np.argsort(cost, kind="stable")[: self._elites]
            weights[elites] = 1.0 / len(elites)
        return weights

    def _update(self, knots, weights, status, best_knots):
        """Let the plans be averages of the samples, and with "cem" the noise their deviation."""
        now, updated = self._now, (status == SamplingStatus.UPDATED)[:, None, None]
        lanes = aligned((len(weights), knots.shape[1] * LANES))
        lanes[:, : self._samples] = weights
        mean = np.empty_like(now.knots)
        self._splines.average(lanes, knots, mean)
        if self._method == "predictive":
            mean = best_knots
        if self._method == "cem":
            deviations = [self._deviation(*one) for one in zip(knots, weights, mean, strict=True)]
            scale = np.maximum(np.reshape(deviations, mean.shape), FLOOR * self._noise)
            now.scale = np.where(updated, scale, now.scale)
        now.knots = np.where(updated, mean, now.knots)

    def _deviation(self, knots, weights, mean) -> np.ndarray:
        """Return the standard deviations (knots, nu) of the normal numbers of the elites of a robot."""
        elites = np.flatnonzero(weights)
        away = knots[elites // LANES, :, :, elites % LANES] - mean
        if self._mix is not None:
            away = away @ np.linalg.pinv(self._mix).T
        return np.sqrt((weights[elites, None, None] * away**2).sum(axis=0))

    def _watch(self, effective, status):
        """Warn once if hardly any sample counts in many successive calls."""
        few = (effective < FEW) & (status == SamplingStatus.UPDATED)
        self._now.collapsed = np.where(few, self._now.collapsed + 1, 0)
        if self._method == "mppi" and not self._now.has_warned and (self._now.collapsed >= SOON).any():
            self._now.has_warned = True
            warnings.warn(
                f"fewer than {FEW:g} samples count in {SOON} successive calls: take a higher temperature or "
                "less noise",
                RuntimeWarning,
                stacklevel=4,
            )

    def _motion(self, q, v) -> list[np.ndarray]:
        """Return the states (B, horizon + 1, .) of the plans."""
        knots = aligned((len(q), self._simulation.width // LANES, *self._now.knots.shape[1:], LANES))
        knots[...] = self._now.knots[:, None, :, :, None]
        _, *states = self._roll_out(self._simulation, q, v, knots, 1, np.arange(self._horizon + 1))
        return [x[:, 0] for x in states]

    def __reduce__(self):
        state = {name: value for name, value in vars(self._now).items() if name not in ("compiled", "result")}
        return _restored, ({**self._arguments, "cost": self._now.cost}, state)

    def __repr__(self) -> str:
        what = f"{self._method}, {self._samples} samples of {self._horizon} steps"
        return f"<SamplingController of {self.model.name!r}: {what}>"


def _restored(arguments: dict, state: dict) -> SamplingController:
    """Return a pickled controller."""
    controller = SamplingController(**arguments)
    controller._now.__dict__.update(state)
    return controller


def _softmax(values: np.ndarray, temperature: float | None) -> np.ndarray:
    """Return weights exp(-values / temperature) that sum up to 1."""
    above = values - values.min()
    if temperature is None:
        temperature = _median(above) / SHARPNESS
    with np.errstate(over="ignore"):
        weights = np.exp(-above / temperature) if temperature > 0.0 else (above == 0.0).astype(float)
    return weights / weights.sum()


def _median(values: np.ndarray) -> float:
    """Return the median of finite numbers: np.median takes four times as long for some thousands."""
    middle = values.size // 2
    ordered = np.partition(values, (max(middle - 1, 0), middle))
    return ordered[middle] if values.size % 2 else 0.5 * (ordered[middle - 1] + ordered[middle])


def _terms(cost, sizes: Sizes) -> Terms:
    """Return the compiled terms of a list of costs."""
    terms, custom = terms_of(cost, sizes)
    if custom:
        raise DtypeError("a CustomCost belongs to ilqr: pass a function of SampledMotions as cost")
    return terms


def _simulation_of(given) -> tuple[Model, Simulation]:
    """Return the model of a model or of kernels, and its simulation."""
    if isinstance(given, Model):
        return given, Recursive(given)
    from ..codegen import Kernels

    if not isinstance(given, Kernels):
        raise TypeError(not_a_model(given, others=" or treefactor.Kernels"))
    simulation = given._motions().simulation  # raises an error if there is no model
    return given._model, simulation  # type: ignore[return-value]


def _simulations_of(model: Model, simulation: Simulation, inertias) -> list[Simulation]:
    """Return the simulations that every sample is rolled out with."""
    if inertias is None:
        return [simulation]
    if not isinstance(simulation, Recursive):
        raise CodegenError("inertias need a Model: those of Kernels are constants of their program")
    sets, shape = as_real(inertias, "inertias"), (model.njoints, 10)
    if sets.shape[1:] != shape or not sets.shape[0]:
        text = f"inertias must have shape (R, {shape[0]}, 10), got {sets.shape}"
        raise ShapeError(text, sets.shape, ("R", *shape))
    return [Recursive(model.with_parameters(one)) for one in sets]


def _temperature(temperature) -> float | None:
    """Return a positive temperature, None for "auto"."""
    if isinstance(temperature, str):
        check_choice("temperature", temperature, ("auto",))
        return None
    return positive(temperature, "temperature")


def _controls(values, nu: int, name: str) -> np.ndarray:
    """Return finite controls."""
    array = as_real(values, name)
    if array.shape not in ((), (nu,)):
        raise ShapeError(f"{name} must be one number or {nu}, got shape {array.shape}", array.shape, (nu,))
    require_finite(array, name)
    return np.array(np.broadcast_to(array, nu))


def _noise(noise, nu: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return standard deviations, and the matrix that multiplies such numbers, if there is one."""
    array = as_real(noise, "noise")
    if array.shape == (nu, nu):
        require_finite(array, "noise")
        return np.ones(nu), np.array(array, order="C")
    if array.shape not in ((), (nu,)):
        text = f"noise must be one number or have shape ({nu},) or {(nu, nu)}, got {array.shape}"
        raise ShapeError(text, array.shape, (nu,))
    if not ((array >= 0.0) & (array < np.inf)).all() or not array.any():
        raise ValueError(f"noise must not be negative, finite, and not 0 everywhere, got {noise}")
    return np.array(np.broadcast_to(array, nu)), None
