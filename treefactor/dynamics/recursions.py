"""Dynamics of a model: inertia matrix, inverse and forward dynamics, for one configuration or many."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import (
    aligned,
    as_output,
    check_choice,
    flatten,
    require_apart,
    require_bindable,
    thread_count,
)
from ..exceptions import NotPositiveDefiniteError
from ..model._states import states
from ..model.model import Model, require_model
from ..tree.tree import LAYOUTS
from ._recursions import OPERATIONS, Bound, bodies_of, quick

__all__ = ["aba", "bias", "bind", "crba", "forward_dynamics", "h_times", "rnea"]

LANES = 8
CRBA, RNEA, BIAS, H_TIMES, ABA, FACTOR, FRAMES, MOTION = range(len(OPERATIONS))
METHODS = {"aba": ABA, "factor": FACTOR}


def crba(model: Model, q, out=None, layout: str = "dense", num_threads: int = 1) -> np.ndarray:
    """Joint-space inertia matrix H(q), armature included.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
        Configurations, laid out as Pinocchio does.
    out : ndarray, optional
        Receives the result.
    layout : {"dense", "packed", "lanes"}
        As of `treefactor.factor`, which takes all of them.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nv, nv), (..., nnz) or (blocks, nnz, 8)
        kg, kg m, kg m^2. Configurations of a batch that are not finite, or whose quaternions are not of unit
        length, give NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        Where q is not a configuration; the last one names the joint.

    Notes
    -----
    Featherstone (2008), table 6.2: composite-rigid-body algorithm, in the axes of the root body; a
    body far from it has an origin of its own.
    """
    if layout == "dense":
        found = quick(model, CRBA, q, None, None, None, out, num_threads)
        if found is not None:
            return found
    check_choice("layout", layout, LAYOUTS)
    return _Call(model, CRBA, out, num_threads, layout).run(q=q)


def rnea(model: Model, q, v, a, fext=None, out=None, num_threads: int = 1) -> np.ndarray:
    """Inverse dynamics: the generalized forces tau that give the acceleration a.

    Parameters
    ----------
    model : Model
    q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
        Leading axes are a batch; an array without them holds for all its configurations.
    fext : array_like, shape (..., njoints, 6), optional
        Force and moment from outside on the body of every joint, at the origin and in the axes of the joint:
        N, N m. As Pinocchio's ``fext``, without the universe.
    out : ndarray, shape (..., nv), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1.
    """
    found = quick(model, RNEA, q, v, a, fext, out, num_threads)
    if found is not None:
        return found
    return _Call(model, RNEA, out, num_threads).run(q=q, v=v, a=a, fext=fext)


def bias(model: Model, q, v, fext=None, out=None, num_threads: int = 1) -> np.ndarray:
    """Generalized forces at zero acceleration: Coriolis, centrifugal, gravity, minus those from outside.

    What Pinocchio calls ``nle``, and MuJoCo ``qfrc_bias``.

    Parameters
    ----------
    model, q, v, fext, out, num_threads
        As of `rnea`.

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1, without accelerations.
    """
    found = quick(model, BIAS, q, v, None, fext, out, num_threads)
    if found is not None:
        return found
    return _Call(model, BIAS, out, num_threads).run(q=q, v=v, fext=fext)


def h_times(model: Model, q, x, out=None, num_threads: int = 1) -> np.ndarray:
    """H(q) x without H.

    Parameters
    ----------
    model, q, out, num_threads
        As of `rnea`.
    x : array_like, shape (..., nv)

    Returns
    -------
    ndarray, shape (..., nv)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 6.1: inverse dynamics without velocities, gravity and external forces.
    """
    found = quick(model, H_TIMES, q, None, x, None, out, num_threads)
    if found is not None:
        return found
    return _Call(model, H_TIMES, out, num_threads).run(q=q, x=x)


def aba(model: Model, q, v, tau, fext=None, out=None, num_threads: int = 1) -> np.ndarray:
    """Forward dynamics by the articulated-body algorithm, O(n): the acceleration that tau gives.

    Parameters
    ----------
    model : Model
        Without joints that follow another one.
    q, v, tau, fext, out, num_threads
        As of `rnea`; tau of shape (..., nv).

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2; NaN for configurations of a batch without a solution.

    Raises
    ------
    NotPositiveDefiniteError
        Where a freedom moves no mass; names the joint. Only for a single configuration.
    ValueError
        Where joints follow each other: use ``forward_dynamics(..., method="factor")``.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 7.1, one freedom after the other.
    """
    found = quick(model, ABA, q, v, tau, fext, out, num_threads)
    if found is not None:
        return found
    if model.coupling is not None:
        raise ValueError(
            f"{model.name or 'the model'} has joints that follow others, of which the articulated-body "
            "algorithm knows nothing: use forward_dynamics(..., method='factor')"
        )
    return _Call(model, ABA, out, num_threads).run(q=q, v=v, tau=tau, fext=fext)


def forward_dynamics(
    model: Model, q, v, tau, fext=None, method: str = "factor", out=None, num_threads: int = 1
) -> np.ndarray:
    """Acceleration that tau gives: by H, its LTDL factor and the bias, or by the articulated bodies.

    Parameters
    ----------
    model, q, v, tau, fext, out, num_threads
        As of `aba`; with "factor" joints may follow others.
    method : {"factor", "aba"}
        "factor" solves ``H a = tau - bias``, and is the only way where joints follow others.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2; NaN for configurations of a batch without a solution.

    Raises
    ------
    NotPositiveDefiniteError, ValueError, ShapeError, NonFiniteError, ConfigurationError
        As of `aba`.

    Notes
    -----
    Featherstone (2008), section 6.1. By the factor, a single state without fext and the same one in a batch
    may differ in their last bits: one H is factorized by rows, a batch in lanes. Strides change no bit, nor
    do they or a batch in any other function of the dynamics.
    """
    check_choice("method", method, tuple(METHODS))
    if method == "aba":
        return aba(model, q, v, tau, fext, out, num_threads)
    found = quick(model, FACTOR, q, v, tau, fext, out, num_threads)
    if found is not None:
        return found
    return _Call(model, FACTOR, out, num_threads).run(q=q, v=v, tau=tau, fext=fext)


def frames(model: Model, q, v, num_threads: int = 1) -> np.ndarray:
    """Where the bodies are and how they move, in the axes of the base; for `treefactor.constraints`.

    Arguments and errors as of `bias`.

    Returns
    -------
    ndarray, shape (..., 27 njoints + 6 m)
        Of every joint 27 numbers: the axes of its body, one after the other; its origin from that of the
        root body; that of the root body; the body's velocity; its acceleration where those of the joints are
        zero (m, rad, s). Then 6 of each of the m freedoms of all joints, followers' too: its unit motion.
        Velocities, accelerations and motions are spatial ones, linear before angular, taken at the origin of
        the root body.

    Notes
    -----
    Featherstone (2008), table 5.1: the outward half of it. All are seen from the root body, so what is
    computed for a point is as exact as the rounded distance of the point from the root body.
    """
    found = quick(model, FRAMES, q, v, None, None, None, num_threads)
    if found is not None:
        return found
    return _Call(model, FRAMES, None, num_threads).run(q=q, v=v)


def motion(model: Model, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of H a = tau - bias in one state: tau - bias, and the packed rows of H.

    Arguments and errors as of `rnea`.
    """
    found = quick(model, MOTION, q, v, tau, None, None, 1)
    if found is None:
        found = _Call(model, MOTION, None, 1).run(q=q, v=v, tau=tau)
    return found[: model.nv], found[model.nv :]


def bind(function, model: Model, *arguments: np.ndarray, out: np.ndarray) -> Bound:
    """A call without arguments that reads and writes the same arrays each time, for inner loops.

    Parameters
    ----------
    function
        `crba`, `rnea`, `bias`, `h_times`, `aba` or `forward_dynamics` (by the factor).
    model : Model
    *arguments, out : ndarray of float64
        Its arguments after the model, for one configuration; contiguous. They are referred to, not copied.

    Returns
    -------
    callable
        Returns ``out``; raises what the function raises.

    Raises
    ------
    ValueError
        Where the function cannot be bound, or an array is not contiguous float64 of the right shape.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> q, v, tau, a = np.zeros(1), np.zeros(1), np.ones(1), np.empty(1)
    >>> step = tf.bind(tf.forward_dynamics, model, q, v, tau, out=a)
    >>> step()
    array([2.85714286])
    """
    operands = {
        crba: (CRBA, "q"),
        rnea: (RNEA, "q v a"),
        bias: (BIAS, "q v"),
        h_times: (H_TIMES, "q x"),
        aba: (ABA, "q v tau"),
        forward_dynamics: (FACTOR, "q v tau"),
    }
    if function not in operands:
        known = ", ".join(one.__name__ for one in operands)
        raise ValueError(f"function must be one of {known} to be bound, got {function!r}")
    require_model(model)
    op, names = operands[function]
    if len(arguments) != len(names.split()):
        wanted = names.replace(" ", ", ")
        raise ValueError(
            f"{function.__name__} takes {len(names.split())} arrays after the model: {wanted}; "
            f"got {len(arguments)}"
        )
    given = dict(zip(names.split(), arguments, strict=True))
    for name, array in given.items():
        require_bindable(array, (model.nq if name == "q" else model.nv,), name)
    require_bindable(out, (model.nv,) * (2 if op == CRBA else 1), "out")
    require_apart(out, given)
    slowly = partial(function, model, *arguments, out=out)
    x = next((given[name] for name in ("a", "tau", "x") if name in given), None)
    return Bound(model, op, given["q"], given.get("v"), x, out, slowly)


class _Call:
    """An operation on arrays that pass the gate first.

    Parameters
    ----------
    model : Model
    op : int
    out : ndarray or None
    num_threads : int
    layout : str
        Of the result of crba.
    """

    def __init__(self, model: Model, op: int, out, num_threads: int, layout: str = "dense"):
        self.model, self.bodies = model, bodies_of(model)
        self.op, self.out, self.layout = op, out, layout
        self.threads = thread_count(num_threads)

    def run(self, **arguments) -> np.ndarray:
        """Check, compute, report; arguments by name, of which fext may be None."""
        given = {name: x for name, x in arguments.items() if x is not None or name != "fext"}
        tails = {"q": (self.model.nq,), "fext": (self.model.njoints, 6)}
        arrays, batch = states(given, {name: tails.get(name, (self.model.nv,)) for name in given}, self.model)
        found = self._one(arrays) if not batch and self.layout == "dense" else None
        if found is not None:
            return found
        count = math.prod(batch)
        blocks = -(-count // LANES)
        out, result = self._output(batch, blocks, arrays)
        failed = np.empty(blocks * LANES, dtype=np.intp)
        operands = [self._operand(arrays, names) for names in ("q", "v", ("a", "tau", "x"), "fext")]
        work = partial(self.bodies.batch, self.op, count, operands, result, self.layout, failed)
        spread(work, blocks, self.threads, 16 * self.model.tree.nnz * count)
        if not batch and failed[0] >= 0:
            row = int(failed[0])
            name = self.model.tree.names[row] if self.model.tree.names else None
            raise NotPositiveDefiniteError(
                f"freedom {row} ({name}) moves no mass: its pivot is not positive", row=row, name=name
            )
        if out is not None and not np.shares_memory(out, result):
            out[...] = result.reshape(out.shape)
        return result.reshape(self._shape(batch, blocks)) if out is None else out

    def _one(self, arrays: dict[str, np.ndarray]) -> np.ndarray | None:
        """Result of copies by the fast path, so that strides change no bit; None where it has none."""
        q, v, x, fext = (self._operand(arrays, names) for names in ("q", "v", ("a", "tau", "x"), "fext"))
        if fext is not None:
            return None
        rows = (None if a is None else a[0] for a in (q, v, x))
        found = quick(self.model, self.op, *rows, None, None, 1)
        if found is None or self.out is None:
            return found
        out = as_output(self.out, found.shape)
        out[...] = found
        return out

    def _shape(self, batch: tuple[int, ...], blocks: int) -> tuple[int, ...]:
        n, nnz = self.model.nv, self.model.tree.nnz
        if self.op != CRBA:
            return (*batch, self.bodies.numbers(self.op))
        return {"dense": (*batch, n, n), "packed": (*batch, nnz), "lanes": (blocks, nnz, LANES)}[self.layout]

    def _output(self, batch, blocks: int, arrays) -> tuple[np.ndarray | None, np.ndarray]:
        """Out as it was given, and a C-contiguous array with one leading axis that receives the result."""
        shape = self._shape(batch, blocks)
        axes = blocks if self.layout == "lanes" else math.prod(batch)
        flat = (axes, *shape[len(shape) - self._tail() :])
        if self.out is not None:
            out = as_output(self.out, shape)
            if out.flags.carray and not any(np.may_share_memory(out, x) for x in arrays.values()):
                return out, out.reshape(flat)
            return out, np.empty(flat)
        return None, aligned(flat) if self.layout == "lanes" else np.empty(flat)

    def _tail(self) -> int:
        """Axes of the result of one configuration, or block."""
        return 2 if self.op == CRBA and self.layout != "packed" else 1

    def _operand(self, arrays: dict[str, np.ndarray], names) -> np.ndarray | None:
        """The array of that name with one leading axis, rows contiguous."""
        for name in (names,) if isinstance(names, str) else names:
            if name in arrays:
                rows = flatten(np.ascontiguousarray(arrays[name]), 2 if name == "fext" else 1)
                return rows.reshape(len(rows), math.prod(rows.shape[1:]))
        return None
