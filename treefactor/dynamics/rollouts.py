"""Step states of a model in time, and roll out trajectories, for one motion or a batch."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._util.bindable import register
from .._util.threads import spread
from .._util.validation import (
    as_array,
    as_count,
    as_number,
    as_output,
    check_choice,
    require_bindable,
    thread_count,
)
from ..exceptions import DtypeError, NonFiniteError, NotPositiveDefiniteError, ShapeError
from ..model._states import states
from ..model.model import Model, require_model
from ..quantities.functions import forward_dynamics, integrate
from ._rollout_calls import BoundMotion, fast_path
from ._rollouts import METHODS, Recursive
from .inertias import with_inertias

EULER = METHODS[0]
LANES = 8


def step(
    model: Model, q, v, tau, h, method: str = EULER, fext=None, out=None, num_threads: int = 1, inertias=None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the state after a time step: forward dynamics, then integration of v and q.

    Parameters
    ----------
    model : Model
    q, v, tau : array_like, shapes (..., nq), (..., nv), (..., nv)
        State, and generalized forces that are constant within the step. Leading axes are a batch; an array
        without them applies to every configuration.
    h : float
        Length of the step, s.
    method : {"semi_implicit_euler", "rk4"}
        See `rollout`.
    fext : array_like, shape (..., njoints, 6), optional
        External force and moment on the body of every joint, at its origin, constant in its axes; N, N m.
    out : tuple of two ndarrays, optional
        Receive q and v; may be q and v themselves.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    q, v : ndarray, shapes (..., nq), (..., nv)
        In a batch, NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> q, v = tf.step(model, [0.0], [0.0], [0.7], 0.01)
    >>> print(q, v)
    [0.0002] [0.02]
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if fext is None:
        found = fast_path(_simulation(model), method, q, v, tau, h, None, out, num_threads, False)
        if found is not None:
            return found
    return _general_path(model, method, q, v, tau, h, None, fext, out, num_threads, False)


def rollout(
    model: Model,
    q0,
    v0,
    tau,
    h,
    steps: int | None = None,
    method: str = EULER,
    fext=None,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute trajectories: the initial state and the states after each of T time steps.

    Parameters
    ----------
    model : Model
    q0, v0 : array_like, shapes (..., nq), (..., nv)
        Initial states. Leading axes are a batch; an array without them applies to every trajectory.
    tau : array_like, shape (..., T, nv), or None
        Generalized forces of every step. With ``steps``: shape (..., nv), the same in all steps, where
        leading axes are always those of motions; or None for no forces.
    h : float
        Length of a step, s.
    steps : int, optional
        Number of steps T; default: that of tau.
    method : {"semi_implicit_euler", "rk4"}
        "semi_implicit_euler": v += h a(q, v, tau), then q is integrated over h v. "rk4": the classical
        Runge-Kutta method of order 4 on the manifold of configurations, see the notes.
    fext : array_like, shape (..., T, njoints, 6), or (..., njoints, 6) with ``steps``; optional
        External force and moment on the body of every joint, at its origin and in its axes; N, N m.
    out : tuple of two ndarrays, optional
        Receive the trajectories of q and v.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    q, v : ndarray, shapes (..., T + 1, nq), (..., T + 1, nv)
        Entry 0 is the initial state, unlike in ``mujoco.rollout``. Rotations in q keep unit length. A motion
        in which a number is not finite or a pivot is not positive is NaN from the next state on; the other
        motions of the batch are not affected.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint and the step. Only for a single trajectory.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Forces are constant within a step. With k = 1 to 4, v_k the velocity and a_k the acceleration of a stage,
    the stages of "rk4" are at q exp(u_k), where exp is `integrate`, with u_1 = 0 and

    - u_2 = h/2 v_1, u_3 = h/2 v_2 + h^2/8 [v_1, v_2], u_4 = h v_3;
    - v_2 = v + h/2 a_1, v_3 = v + h/2 a_2, v_4 = v + h a_3;
    - the step is u = h/6 (v_1 + 2 v_2 + 2 v_3 + v_4) + h^2/12 [v_1, v_4] and
      h/6 (a_1 + 2 a_2 + 2 a_3 + a_4).

    [x, y] is the commutator of velocities in body axes, zero for joints of one freedom: without it the order
    would be 2 for free-flyers, spherical and planar joints. Munthe-Kaas (1999), "High order Runge-Kutta
    methods on manifolds"; Munthe-Kaas and Owren (1999). "semi_implicit_euler" has order 1.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> q, v = tf.rollout(model, [1.0], [0.0], None, 0.01, steps=100, method="rk4")
    >>> q.shape, q[-1].round(4)
    ((101, 1), array([-0.9353]))
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if fext is None:
        found = fast_path(_simulation(model), method, q0, v0, tau, h, steps, out, num_threads, True)
        if found is not None:
            return found
    return _general_path(model, method, q0, v0, tau, h, steps, fext, out, num_threads, True)


def _simulation(model: Model) -> Recursive:
    """Return the simulation of a model without external forces, and keep it."""
    kept = getattr(model, "_state_functions", None)
    if kept is None:
        return Recursive(model)  # raises the error that names what is no Model
    simulation = kept.get(Recursive)
    return kept.setdefault(Recursive, Recursive(model)) if simulation is None else simulation


def _general_path(model: Model, method, q0, v0, tau, h, steps, fext, out, num_threads, whole: bool):
    """Integrate by the recursions arrays of any form."""
    require_model(model)
    simulation = Recursive(model, fext is not None)
    forces = partial(forward_dynamics, model)
    call = GeneralMotion(model, simulation, forces, method, h, num_threads)
    return call.run(q0, v0, tau, fext, steps, out, whole)


class GeneralMotion:
    """Step or rollout with arrays of any form: validates, converts, computes, and reports failures.

    Parameters
    ----------
    model : Model
    simulation : Simulation
    forward_dynamics : callable
        Of q, v, tau and, if there are external forces, fext; raises the error that names a joint.
    method : str
    h : float
    num_threads : int
    """

    def __init__(self, model: Model, simulation, forward_dynamics, method: str, h, num_threads: int):
        check_choice("method", method, METHODS)
        self.model, self.simulation, self.forward_dynamics = model, simulation, forward_dynamics
        self.method, self.h, self.threads = (
            METHODS.index(method),
            as_number(h, "h"),
            thread_count(num_threads),
        )

    def run(self, q0, v0, tau, fext, steps, out, whole: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return q and v, with all states if ``whole``."""
        each = whole and steps is None  # tau and fext have an axis of steps
        count = 1 if not whole else _steps(tau, self.model.nv) if steps is None else as_count(steps, "steps")
        arrays, batch = self._validated(q0, v0, tau, fext, (count,) if each else (), whole)
        inputs = [
            _series(arrays.get(name), each and k > 1, 1 + (name == "fext"))
            for k, name in enumerate(_names(whole))
        ]
        results = self._results(arrays, batch, count, out, whole)
        number = math.prod(batch)
        rows = [array.reshape(number, count + whole, array.shape[-1]) for array in results]
        arguments = (self.method, self.h, count, whole, [*inputs, *rows])
        if not batch:
            if not self.simulation.one(*arguments):
                self._raise_pivot(inputs, rows, whole)
        else:
            work = partial(self.simulation.batch, *arguments)
            spread(work, -(-number // LANES), self.threads, 16 * self.model.tree.nnz * number * max(count, 1))
        if out is None:
            return results
        for given, result in zip(out, results, strict=True):
            if given is not result:
                given[...] = result
        return out

    def _validated(self, q0, v0, tau, fext, axis: tuple[int, ...], whole: bool):
        """Return arrays by name and the leading axes; ``axis`` is that of the steps of tau and fext."""
        model = self.model
        tails = ((model.nq,), (model.nv,), (*axis, model.nv), (*axis, model.njoints, 6))
        given = zip(_names(whole), tails, (q0, v0, tau, fext), strict=True)
        present = {name: (tail, x) for name, tail, x in given if x is not None or name in _names(whole)[:2]}
        if not whole and tau is None:
            raise DtypeError("tau must hold real numbers, got None: pass np.zeros(model.nv)")
        arrays, batch = states(
            {name: x for name, (_, x) in present.items()},
            {name: tail for name, (tail, _) in present.items()},
            None,
            model._elements,
        )
        if not batch:
            states({"q": arrays[_names(whole)[0]]}, {"q": tails[0]}, model)
        return arrays, batch

    def _results(self, arrays, batch, count: int, out, whole: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return C-contiguous arrays that receive q and v: those of out if they fit and nothing can raise."""
        axis = (count + 1,) if whole else ()
        shapes = [(*batch, *axis, size) for size in (self.model.nq, self.model.nv)]
        if out is None:
            return np.empty(shapes[0]), np.empty(shapes[1])
        if not isinstance(out, tuple) or len(out) != 2:
            raise DtypeError(f"out must be a tuple of two arrays (q, v), got {type(out).__name__}")
        for array, shape in zip(out, shapes, strict=True):
            as_output(array, shape)
        if np.shares_memory(*out):
            raise ShapeError("the arrays q and v of out share memory: pass two arrays", out[0].shape)
        others = arrays.values()
        apart = [
            bool(batch) and x.flags.carray and not any(np.may_share_memory(x, y) for y in others) for x in out
        ]
        q, v = (x if good else np.empty(x.shape) for x, good in zip(out, apart, strict=True))
        return q, v

    def _raise_pivot(self, inputs, rows, whole: bool) -> None:
        """Raise the error that names the joint and the step, if a pivot is why a motion is not finite."""
        q, v = (np.concatenate([x[0], y[0]])[whole:] for x, y in zip(inputs[:2], rows, strict=True))
        good = np.isfinite(q).all(1) & np.isfinite(v).all(1)
        t = int(np.argmin(good)) - 1
        if good[t + 1]:
            return
        forces = [np.zeros(self.model.nv)]
        for k, series in enumerate(inputs[2:]):
            if series is not None:
                one = series[0, min(t, series.shape[1] - 1)]
                forces[k:] = [one if k == 0 else one.reshape(-1, 6)]
        try:
            self._evaluate_stages(q[t], v[t], forces)
        except NotPositiveDefiniteError as error:
            message = f"step {t}: {error}" if whole else str(error)
            raise NotPositiveDefiniteError(message, row=error.row, name=error.name) from None
        except NonFiniteError:  # of a stage: the motion diverges
            return

    def _evaluate_stages(self, q, v, forces) -> None:
        """Compute the accelerations of the stages of a step, which raises the error that names a joint."""
        a, h, start = self.forward_dynamics(q, v, *forces), self.h, v
        if METHODS[self.method] == EULER:
            return
        for stage in range(3):
            length = h if stage == 2 else h / 2
            turned = h / 4 * self.simulation.commutator(start, v) if stage == 1 else 0.0
            at, v = integrate(self.model, q, length * (v + turned)), start + length * a
            a = self.forward_dynamics(at, v, *forces)


def _names(whole: bool) -> tuple[str, str, str, str]:
    """Return the names of the arguments in messages."""
    return ("q0", "v0", "tau", "fext") if whole else ("q", "v", "tau", "fext")


def _steps(tau, nv: int) -> int:
    """Return the number of steps of tau."""
    return count_steps(None if tau is None else as_array(tau, "tau").shape, nv)


def count_steps(shape: tuple[int, ...] | None, nv: int) -> int:
    """Return the number of steps of tau from its shape, None if there is no tau; raise ShapeError."""
    if shape is None or len(shape) < 2:
        got = "None" if shape is None else f"shape {shape}"
        raise ShapeError(
            f"tau must have shape (..., T, {nv}), forces of every step, got {got}: "
            "pass steps=T for the same forces in T steps",
            shape or (),
            ("...", "T", nv),
        )
    return shape[-2]


def _series(array: np.ndarray | None, each: bool, tail: int = 1) -> np.ndarray | None:
    """Return an array as (batch, steps, size), with 1 for an axis that it lacks; None if absent.

    ``each`` tells whether it has an axis of steps, ``tail`` is the number of axes of one vector.
    """
    if array is None:
        return None
    axes = array.ndim - tail - each
    steps = array.shape[axes] if each else 1
    shape = math.prod(array.shape[:axes]), steps, math.prod(array.shape[axes + each :])
    return np.ascontiguousarray(array).reshape(shape)


def bound_motion(model: Model, simulation, function, arguments: tuple, out, whole: bool) -> BoundMotion:
    """Return the bound call of a step or a rollout: of q, v, tau, h and perhaps the method.

    ``function`` takes the same and computes the same with validation.
    """
    names = _names(whole)[:3]
    if not 4 <= len(arguments) <= 5:
        what = "rollout" if whole else "step"
        raise ValueError(
            f"{what} takes {', '.join(names)}, h and perhaps method to be bound; got {len(arguments)}"
        )
    *arrays, h, method = arguments if len(arguments) == 5 else (*arguments, EULER)
    h = as_number(h, "h")
    check_choice("method", method, METHODS)
    axis = (_steps(arrays[2], model.nv),) if whole else ()
    shapes = (model.nq,), (model.nv,), (*axis, model.nv)
    for name, array, shape in zip(names, arrays, shapes, strict=True):
        require_bindable(array, shape, name)
    if not isinstance(out, tuple) or len(out) != 2:
        raise ValueError(f"out must be a tuple of two arrays (q, v) to be bound, got {type(out).__name__}")
    for name, array, size in zip(("q", "v"), out, shapes[:2], strict=True):
        require_bindable(array, (axis[0] + 1, *size) if whole else size, f"{name} of out")
    validated = partial(function, *arrays, h, method=method, out=out)
    return BoundMotion(simulation, method, tuple(arrays), h, out, validated, whole)


def _bound(function, model: Model, given: dict, out) -> BoundMotion:
    """Return the bound call of a step or a rollout by the recursions."""
    whole = function is rollout
    for name in ("steps", "fext"):
        if given.pop(name, None) is not None:
            raise ValueError(f"{function.__name__} takes no {name} to be bound: leave it None")
    arguments = tuple(given.values())
    return bound_motion(model, Recursive(model), partial(function, model), arguments, out, whole)


register(_bound, (step, rollout))
