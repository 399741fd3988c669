"""Find configurations that bring frames to their targets, many targets at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from types import NoneType

import numpy as np

from .._util.messages import received, similar
from .._util.threads import spread
from .._util.validation import (
    Sealed,
    as_count,
    as_output,
    as_real,
    as_tuple,
    shape_of,
    thread_count,
)
from ..exceptions import ConfigurationError, DtypeError, InvalidModelError, ShapeError
from ..kinematics.plans import request_of
from ..kinematics.requests import keep
from ..model.joints import SIZES
from ..model.model import Model, require_model
from ._searches import COORDINATES, MOVABLE, STILL_RUNNING, Searches, first_improper
from .results import IKResult, Progress
from .tasks import CompiledTasks, ComTask, FrameTask, PostureTask, require_tasks, targets_of

GROUPS = {"continuous": 1, "spherical": 2, "planar": 3, "freeflyer": 4}  # of kernels/configurations/joints.h
SIDE_BY_SIDE = 8  # lanes
EFFORT = 5000  # of a target, for `spread`
SEEDS = 2**64
MOST = 2**62  # of counts


def inverse_kinematics(
    model: Model,
    targets=None,
    frame=None,
    q0=None,
    *,
    tasks=None,
    limits=True,
    joints: Iterable[str] | None = None,
    restarts: int | None = None,
    starts: int = 1,
    stall: int = 6,
    iterations: int = 1000,
    tolerance=1e-4,
    posture=None,
    seed: int = 0,
    callback: Callable[[Progress], object] | None = None,
    num_threads: int = 1,
    out: IKResult | None = None,
) -> IKResult:
    """Return configurations that bring a frame to its targets, or fulfil several tasks.

    Damped least squares with an active set of limits; where an attempt ends in a local minimum, another one
    starts from a random configuration.

    Parameters
    ----------
    model : Model
    targets : array_like, shape (..., 3, 4), (..., 4, 4) or (..., 3)
        Poses of the frame, or positions (m). A (3, 3) array is three positions, not a rotation.
    frame : str, int or Frame
    q0 : array_like, shape (..., nq), optional
        First start of every target; by default the middle of the limits, and the neutral configuration where
        there is no limit. Later starts are random: within the limits, and where one is infinite, within pi of
        q0, moved to lie within the other.
    tasks : list of FrameTask, RelativeFrameTask, ComTask and PostureTask, optional
        Instead of targets and frame.
    limits : bool or pair of array_like, shape (nq,)
        True: those of the model. Joints with a rotation or a free-flyer have none.
    joints : iterable of str, optional
        Joints that may move; all others keep q0.
    restarts : int, optional
        Largest number of new starts; by default as many as fit into ``iterations``.
    starts : int
        Starts of one target that run side by side, 1 to 8: 1 for the throughput of many targets, 8 for the
        latency of one. The first that arrives is the answer, by iterations, then by attempt.
    stall : int
        An attempt ends when its error has not fallen by 30 % in so many iterations.
    iterations : int
        Largest number for one target, in all attempts together. A target that cannot be reached costs all of
        them.
    tolerance : float or (float, float)
        Of distances (m) and angles (rad), which every task must meet.
    posture : array_like, shape (..., nq), optional
        Short for a `PostureTask`.
    seed : int
    callback : callable, optional
        Called with a `Progress` after each iteration of all targets; a true answer ends the search.
    num_threads : int
        For many targets; -1 uses all cores.
    out : IKResult, optional
        Of an earlier call for as many targets, to be overwritten.

    Returns
    -------
    IKResult
        Failure is a status, not an exception.

    Raises
    ------
    ShapeError, DtypeError
    InvalidModelError
        If the model has no such frame or joint.
    ConfigurationError
        If a lower limit exceeds the upper one.
    ValueError
        If a target has no rotation, a cost or tolerance is not positive, or an option is out of range.

    Notes
    -----
    Collisions, contacts and constraints on the state are not considered.

    Sugihara (2011), "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method". The
    answer to a target depends on the target, its start, the options and the seed: other targets of the batch,
    their order and threads change no bit of it.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> model = tf.Model.from_urdf(tf.robots.find("panda").path)
    >>> q = tf.random_configuration(model, rng=0, size=100)
    >>> targets = tf.frame_placement(model, q, "panda_hand_tcp")
    >>> tf.control.inverse_kinematics(model, targets, "panda_hand_tcp")
    <IKResult of 100 targets: 100 SOLVED>
    """
    options = {
        "limits": limits,
        "restarts": restarts,
        "starts": starts,
        "stall": stall,
        "iterations": iterations,
        "tolerance": tolerance,
        "seed": seed,
    }
    if tasks is None and joints is None and posture is None:
        solver = _kept(model, frame, options)
    else:
        solver = InverseKinematics(model, frame, tasks=tasks, joints=joints, posture=posture, **options)
    return solver(targets, q0, callback=callback, num_threads=num_threads, out=out)


def _kept(model: Model, frame, options: dict) -> InverseKinematics:
    """Return the solver that the model keeps for a frame and simple options; compile a new one."""
    require_model(model)
    simple = type(frame) is str and all(type(one) in (bool, int, float, NoneType) for one in options.values())
    key = ("inverse_kinematics", frame, *((type(one), one) for one in options.values())) if simple else None
    solver = model._requests.get(key) if simple else None
    if solver is None:
        solver = InverseKinematics(model, frame, **options)
        if simple:
            keep(model, key, solver)
    return solver


class InverseKinematics(Sealed):
    """Inverse kinematics of one model for repeated calls, such as those of a loop over time.

    Parameters
    ----------
    model, frame, tasks, limits, joints, restarts, starts, stall, iterations, tolerance, posture, seed
        As those of `inverse_kinematics`. Tasks without a target get theirs in each call. With ``restarts=0``
        it is a tracking controller: it follows the solution nearest to q0.

    Raises
    ------
    ShapeError, DtypeError, InvalidModelError, ConfigurationError, ValueError
        As `inverse_kinematics`.

    Notes
    -----
    Immutable.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> model = tf.Model.from_urdf(tf.robots.find("panda").path)
    >>> solver = tf.control.InverseKinematics(model, "panda_hand_tcp", restarts=0)
    >>> q = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0, 0.0, 0.0])
    >>> target = tf.frame_placement(model, q, "panda_hand_tcp")
    >>> for _ in range(10):
    ...     target[2, 3] += 0.01
    ...     q = solver(target, q0=q).q
    >>> bool(solver(target, q0=q).solved)
    True
    """

    model: Model
    tasks: tuple
    lower: np.ndarray
    upper: np.ndarray
    _searches: dict[tuple[bool, ...], Searches]  # by tasks whose targets are positions
    _fast: Searches | None  # for poses of the only task, without a posture
    _options: tuple
    _allowed: list[int]
    _middle: np.ndarray
    _posture: PostureTask | None
    _tasks: list  # without the posture
    _arguments: dict

    def __init__(
        self,
        model: Model,
        frame=None,
        *,
        tasks=None,
        limits=True,
        joints: Iterable[str] | None = None,
        restarts: int | None = None,
        starts: int = 1,
        stall: int = 6,
        iterations: int = 1000,
        tolerance=1e-4,
        posture=None,
        seed: int = 0,
    ):
        require_model(model)
        given = {name: value for name, value in locals().items() if name != "self"}
        if (frame is None) == (tasks is None):
            raise TypeError("pass either targets and their frame, or tasks")
        every = [FrameTask(frame)] if tasks is None else require_tasks(tasks)
        postures = [task for task in every if isinstance(task, PostureTask)]
        if posture is not None:
            postures.append(posture if isinstance(posture, PostureTask) else PostureTask(posture))
        if len(postures) > 1:
            raise ValueError(f"there can be one posture, got {len(postures)}")
        rest = [task for task in every if not isinstance(task, PostureTask)]
        if not rest:
            raise ValueError("tasks must have a FrameTask, RelativeFrameTask or ComTask, got none")
        starts = as_count(starts, "starts", 1)
        if starts > SIDE_BY_SIDE:
            raise ValueError(f"starts must be at most {SIDE_BY_SIDE}, got {starts}")
        budget = as_count(iterations, "iterations", starts)
        attempts = MOST if restarts is None else starts + as_count(restarts, "restarts")
        options = (
            starts,
            as_count(stall, "stall", 1),
            min(budget, MOST),
            min(attempts, MOST),
            as_count(seed, "seed") % SEEDS,
        )
        lower, upper = _limits(model, limits)
        self._keep(
            model=model,
            tasks=tuple(every),
            lower=lower,
            upper=upper,
            _searches={},
            _options=(_tolerance(tolerance), bool(postures), *options),
            _allowed=_joints(model, joints),
            _middle=_middle(model, lower, upper),
            _posture=postures[0] if postures else None,
            _tasks=rest,
            _arguments=given,
        )
        own = self._searches_for(tuple(_is_point(task, task.target) for task in rest))
        self._keep(_fast=own if tasks is None and not postures else None)

    def _searches_for(self, points: tuple[bool, ...]) -> Searches:
        """Return the compiled searches, given which targets are positions."""
        searches = self._searches.get(points)
        if searches is None:
            model = self.model
            compiled = CompiledTasks(model, self._tasks, points, self.lower, self.upper)
            movable, curved = self._movable(compiled)
            searches = Searches(
                request_of(model, compiled.items),
                model.configurations,
                _structs(compiled, movable),
                self.lower,
                self.upper,
                movable,
                curved,
                compiled.size,
                *self._options,
            )
            self._searches[points] = searches
        return searches

    def __reduce__(self):
        return _restored, (self._arguments,)

    def __repr__(self) -> str:
        return f"<InverseKinematics of {self.model.name!r}: {len(self.tasks)} tasks>"

    def __call__(
        self,
        targets=None,
        q0=None,
        *,
        callback: Callable[[Progress], object] | None = None,
        num_threads: int = 1,
        out: IKResult | None = None,
    ) -> IKResult:
        """Search for configurations.

        Parameters
        ----------
        targets : array_like, or list of array_like, optional
            Of the frame; of tasks a list with one entry for each of them but the posture, None for its own.
        q0, callback, num_threads, out
            As those of `inverse_kinematics`.

        Returns
        -------
        IKResult
        """
        if self._fast is not None and num_threads == 1 and callback is None and out is None:
            results = self._fast.fast(targets, self._middle if q0 is None else q0)
            if results is not None:
                return IKResult(*results)
        threads = 1 if num_threads == 1 else thread_count(num_threads)
        values = self._values(targets)
        searches = self._searches_for(
            tuple(_is_point(task, one) for task, one in zip(self._tasks, values, strict=True))
        )
        rows, batch = self._rows(values, q0)
        count = math.prod(batch)
        if out is None:
            arrays = tuple(np.empty(shape, kind) for shape, kind in self._shapes(batch).values())
        else:
            arrays = self._outputs(out, batch, rows)
        flat = tuple(array.reshape(count, *array.shape[len(batch) :]) for array in arrays)
        if callback is not None:
            _run_rounds(searches, rows, flat, callback)
        elif count:
            spread(partial(searches.run, *rows, flat), count, threads, count * EFFORT)
        return IKResult(*arrays) if out is None else out

    def _values(self, targets) -> list:
        """Return the targets of all tasks as they were passed."""
        own = [task.target for task in self._tasks]
        if targets is not None and self._arguments["tasks"] is None:
            own = [targets]
        elif targets is not None:
            given = as_tuple(targets, "targets")
            if len(given) != len(own):
                raise ShapeError(
                    f"targets must be a list of {len(own)}, without one for the posture; got {len(given)}",
                    (len(given),),
                    (len(own),),
                )
            own = [mine if other is None else other for mine, other in zip(own, given, strict=True)]
        for task, target in zip(self._tasks, own, strict=True):
            if target is None:
                what = "the centre of mass" if isinstance(task, ComTask) else f"frame {task.frame!r}"
                raise TypeError(f"the target of {what} is missing: pass it in the task, or in the call")
        return own

    def _rows(self, values: list, q0) -> tuple[tuple, tuple[int, ...]]:
        """Return targets, starts and postures as contiguous rows, and the leading axes."""
        nq = self.model.nq
        parts = [targets_of(task, one) for task, one in zip(self._tasks, values, strict=True)]
        start = self._middle if q0 is None else _configurations(q0, nq, "q0")
        posture = None if self._posture is None else _configurations(self._posture.q, nq, "posture")
        axes = [1 if isinstance(task, ComTask) else 2 for task in self._tasks]
        leading = [part.shape[: part.ndim - tail] for part, tail in zip(parts, axes, strict=True)]
        leading += [array.shape[:-1] for array in (start, posture) if array is not None]
        try:
            batch = np.broadcast_shapes(*leading) if any(leading) else ()
        except ValueError:
            raise ShapeError(
                f"leading axes of targets, q0 and posture do not match: {leading}", leading
            ) from None
        rows = _joined(parts, axes, batch)
        first = 0
        for task, part in zip(self._tasks, parts, strict=True):
            bad = -1 if isinstance(task, ComTask) or not part.size else first_improper(rows, first)
            if bad >= 0:
                where = f"target {bad} of" if len(rows) > 1 else "the target of"
                raise ValueError(
                    f"{where} frame {task.frame!r} has no rotation: columns must be unit vectors at right "
                    "angles, and not those of a reflection"
                )
            first += 3 if isinstance(task, ComTask) else 12
        return (rows, _row(start, batch), None if posture is None else _row(posture, batch)), batch

    def _shapes(self, batch: tuple[int, ...]) -> dict[str, tuple]:
        """Return shapes and types of the arrays of a result."""
        return {
            "q": ((*batch, self.model.nq), np.float64),
            "position_error": (batch, np.float64),
            "angle_error": (batch, np.float64),
            "error": ((*batch, len(self._tasks), 2), np.float64),
            "status": (batch, np.int8),
            "iterations": (batch, np.int64),
            "attempts": (batch, np.int64),
        }

    def _outputs(self, out: IKResult, batch: tuple[int, ...], rows: tuple) -> tuple[np.ndarray, ...]:
        """Return the arrays of a result that is to be overwritten."""
        if not isinstance(out, IKResult):
            raise DtypeError(f"out must be an IKResult, got {received(out)}")
        wanted = self._shapes(batch)
        arrays = tuple(
            as_output(getattr(out, name), shape, kind, f"out.{name}")
            for name, (shape, kind) in wanted.items()
        )
        inputs = {
            name: row for name, row in zip(("targets", "q0", "posture"), rows, strict=True) if row is not None
        }
        for array, name in zip(arrays, wanted, strict=True):
            if not array.flags.c_contiguous:
                raise ShapeError(f"out.{name} must be contiguous", array.shape)
            for argument, values in inputs.items():
                if np.may_share_memory(array, values):
                    raise ValueError(
                        f"out.{name} shares memory with {argument}: pass another result, or a copy"
                    )
        return arrays

    def _movable(self, compiled: CompiledTasks) -> tuple[np.ndarray, np.ndarray]:
        """Return structs of the freedoms that move the tasks, and of the curved joints among them."""
        model, posture = self.model, self._posture
        felt: set[int] = set()
        for support, of_root in compiled.supports:
            felt |= {*support.tolist(), *of_root.tolist()}
        pull = np.zeros(model.nv)
        if posture is not None:
            if posture.cost.shape not in ((), (model.nv,)):
                raise ShapeError(
                    f"cost of the posture must be one number or {model.nv}, got shape {posture.cost.shape}",
                    posture.cost.shape,
                    (model.nv,),
                )
            pull[...] = posture.cost
        leaders = {joint.mimic.leader for joint in model.joints if joint.mimic}
        movable, curved = [], []
        for number in self._allowed:
            joint, q, v = model.joints[number], model.idx_q[number], model.idx_v[number]
            nq, nv = SIZES[joint.kind]
            if not felt & set(range(v, v + nv)):
                continue
            if joint.kind in GROUPS:
                curved.append((GROUPS[joint.kind], q, v, nq, nv))
                movable += [(v + k, -1, 0, -np.inf, np.inf, pull[v + k]) for k in range(nv)]
                continue
            for k in range(nv):
                low, high = self.lower[q + k], self.upper[q + k]
                turns = joint.kind in ("revolute", "universal") and number not in leaders
                turns = turns and low == -np.inf and high == np.inf
                movable.append((v + k, q + k, int(turns), low, high, pull[v + k]))
        if not movable:
            frames = ", ".join(repr(task.frame) for task in self._tasks if not isinstance(task, ComTask))
            raise InvalidModelError(
                f"no joint that may move changes the tasks{' of ' + frames if frames else ''}"
            )
        return np.array(movable, MOVABLE), np.array(curved, COORDINATES)


def _restored(arguments: dict) -> InverseKinematics:
    """Return a pickled solver."""
    return InverseKinematics(**arguments)


def _structs(compiled: CompiledTasks, movable: np.ndarray) -> list[dict]:
    """Return the structs of all tasks, with the movable freedom of every column of their Jacobians."""
    number = {int(v): k for k, v in enumerate(movable["v"])}
    return [
        struct
        | {
            name: np.array([number.get(int(v), -1) for v in support], np.intp)
            for name, support in zip(("column", "root_column"), supports, strict=True)
        }
        for struct, supports in zip(compiled.structs, compiled.supports, strict=True)
    ]


def _limits(model: Model, limits) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper limits of all entries of q, infinite where there are none."""
    if isinstance(limits, bool | np.bool_):
        pair = (
            [model.lower, model.upper] if limits else [np.full(model.nq, -np.inf), np.full(model.nq, np.inf)]
        )
    else:
        try:
            pair = list(limits)
            pair = [
                as_real(values, f"{name} limits")
                for name, values in zip(("lower", "upper"), pair, strict=True)
            ]
        except (TypeError, ValueError):
            raise DtypeError(
                f"limits must be True, False or a pair (lower, upper) of arrays, got {received(limits)}"
            ) from None
    for values, name in zip(pair, ("lower", "upper"), strict=True):
        if values.shape != (model.nq,) or np.isnan(values).any():
            raise ShapeError(
                f"{name} limits must be {model.nq} numbers, got {values}", values.shape, (model.nq,)
            )
    lower, upper = (np.array(values) for values in pair)
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        own = slice(at, at + joint.nq)
        if joint.kind in GROUPS and not joint.mimic:
            lower[own], upper[own] = -np.inf, np.inf
        elif (lower[own] > upper[own]).any():
            raise ConfigurationError(
                f"joint {joint.name!r} has limits {lower[own]} > {upper[own]}", joint.name
            )
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _middle(model: Model, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return the middle of the limits, and the neutral configuration where one is infinite."""
    middle = np.array(model.configurations.rest)
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        for k in range(at, at + joint.nq):
            if np.isfinite(lower[k]) and np.isfinite(upper[k]):
                middle[k] = 0.5 * lower[k] + 0.5 * upper[k]
    middle.flags.writeable = False
    return middle


def _joints(model: Model, joints) -> list[int]:
    """Return the numbers of the joints that may move, in order of v; mimic joints follow their leaders."""
    if joints is None:
        numbers = list(range(model.njoints))
    else:
        if isinstance(joints, str):
            raise DtypeError(f"joints must be a list of names, got {joints!r}: pass [{joints!r}]")
        numbers = []
        for name in joints:
            if name not in model.numbers:
                known = [joint.name for joint in model.joints]
                raise InvalidModelError(f"{name!r} is not a joint of the model{similar(name, known)}", name)
            numbers.append(model.numbers[name])
    leaders = ((n, model.joints[n].mimic) for n in numbers)
    own = {n if mimic is None else mimic.leader for n, mimic in leaders}
    return sorted(own, key=lambda n: model.idx_v[n])


def _tolerance(tolerance) -> tuple[float, float]:
    """Return the tolerances of positions and of angles."""
    values = as_real(tolerance, "tolerance")
    if values.shape not in ((), (2,)):
        raise ShapeError(
            f"tolerance must be one number or (m, rad), got shape {values.shape}", values.shape, (2,)
        )
    if not ((values > 0.0) & (values < np.inf)).all():
        raise ValueError(f"tolerance must be positive, and finite, got {tolerance}")
    position, angle = np.broadcast_to(values, 2).tolist()
    return position, angle


def _configurations(values, nq: int, name: str) -> np.ndarray:
    """Return configurations, whose numbers are not validated."""
    array = as_real(values, name)
    if array.shape[-1:] != (nq,):
        raise ShapeError(f"{name} must have shape (..., {nq}), got {array.shape}", array.shape, ("...", nq))
    return array


def _row(array: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """Return configurations as contiguous rows: one, or one for each target."""
    if array.ndim == 1:
        return np.ascontiguousarray(array).reshape(1, -1)
    size = array.shape[-1]
    return np.ascontiguousarray(np.broadcast_to(array, (*batch, size))).reshape(math.prod(batch), size)


def _joined(parts: list, axes: list[int], batch: tuple[int, ...]) -> np.ndarray:
    """Return the targets of all tasks side by side, one row or one for each target."""
    sizes = [3 if tail == 1 else 12 for tail in axes]
    if all(part.ndim == tail for part, tail in zip(parts, axes, strict=True)):
        flat = [part.reshape(1, size) for part, size in zip(parts, sizes, strict=True)]
        return np.ascontiguousarray(flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1))
    count = math.prod(batch)
    if len(parts) == 1 and parts[0].shape[: -axes[0]] == batch:
        return np.ascontiguousarray(parts[0]).reshape(count, sizes[0])
    rows = np.empty((count, sum(sizes)))
    first = 0
    for part, tail, size in zip(parts, axes, sizes, strict=True):
        wide = np.broadcast_to(part, (*batch, *part.shape[part.ndim - tail :]))
        rows[:, first : first + size] = wide.reshape(count, size)
        first += size
    return rows


def _is_point(task, target) -> bool:
    """Return whether a target of a frame is a position, not a pose."""
    return (
        target is not None and not isinstance(task, ComTask) and shape_of(target)[-2:] not in ((3, 4), (4, 4))
    )


def _run_rounds(searches: Searches, rows: tuple, flat: tuple, callback: Callable[[Progress], object]) -> None:
    """Search one iteration at a time, with a call after each."""
    status, iteration = flat[4], 0
    error = np.full(len(status), np.inf)
    status[...] = STILL_RUNNING

    def stops() -> bool:
        nonlocal iteration
        iteration += 1
        return bool(callback(Progress(iteration, error.copy(), status == STILL_RUNNING)))

    searches.run_rounds(*rows, flat, error, stops)
