"""Compute the inertia matrix and forces of a chain of bodies given in the base frame.

papers/textbook/kane_sum.py follows the equations of the Kane-sum paper one by one; this module uses the
recursion of chain_on_scalars.py, which is derived from them and faster (docs/code/measure_chains.py).
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

import numpy as np

from .._util.counting import counting
from .._util.threads import spread
from .._util.validation import as_array, as_output, as_real, flatten, require_finite, thread_count
from ..exceptions import DtypeError, InvalidChainError, NonFiniteError, ShapeError
from ..tree.tree import OperationCount
from . import _chain  # type: ignore[attr-defined]  # compiled
from . import chain_on_scalars as composite

TAILS = {  # shape of each argument for one joint or body
    "axis": (3,),
    "r": (3,),
    "mass": (),
    "c": (3,),
    "inertia": (3, 3),
    "rate": (),
    "force": (3,),
    "moment": (3,),
    "torque": (),
}
LOADS = ("rate", "force", "moment", "torque")  # zero by default


def chain_inertia(
    axis, r, mass, c, inertia, prismatic=None, out=None, count: bool = False, num_threads: int = 1
):
    """Compute the joint-space inertia matrix of a chain of N bodies with one freedom each.

    Parameters
    ----------
    axis : array_like, shape (..., N, 3)
        Unit axes a_k of the joints; base frame, like all vectors and tensors here.
    r : array_like, shape (..., N, 3)
        ``r[k]`` is the vector from O_{k-1} to O_k, points on the axes of the joints, in m; ``r[0]``, from
        the base, is not used.
    mass : array_like, shape (..., N)
        Masses m_k in kg.
    c : array_like, shape (..., N, 3)
        First moments m_k d_k about O_k in kg m, d_k from O_k to the centre of mass.
    inertia : array_like, shape (..., N, 3, 3)
        Inertia tensors I_k about O_k in kg m^2.
    prismatic : array_like of bool, shape (N,), optional
        True for joints that slide along their axis; all are revolute by default.
    out : ndarray of float64, shape (..., N, N), optional
    count : bool
        Also return the number of operations for one chain.
    num_threads : int
        Most threads to use; -1 uses all cores. Threads share the chains of a batch that has at least as many
        chains as threads: B chains use at most 1 + B N^2 / 2^17 threads. Of fewer chains, one after the
        other, threads share the columns of A: at most 1 + N^2 / 2^20 threads, so that such chains of less
        than 1024 bodies are computed on one. The result has the same bits for every number of threads.

    Returns
    -------
    A : ndarray of float64, shape (..., N, N)
        Symmetric. Leading axes are those of the arguments that have any; they must be equal.
    operations : OperationCount
        Only with ``count``: counted by running the recursion on counting scalars.

    Raises
    ------
    ShapeError
        If an array does not match N, or leading axes differ.
    InvalidChainError
        If an axis is not a unit vector, a mass is negative, or an inertia tensor is not symmetric or not
        positive semidefinite; names the joint.
    NonFiniteError
        If a number of a single chain is not finite; in a batch the result of such a chain is NaN.
    DtypeError, ValueError
        If arrays do not hold real numbers, or num_threads is not a whole number, or neither positive nor -1.

    Notes
    -----
    The matrix of the Kane-sum paper, eq. 9. Its recursion, eqs. 12-16 and 20, sums a 3 x 3 matrix for every
    pair of joints; here column k is the momentum of the bodies from k on, which takes 3 N^2 + 36 N - 33
    multiplications and 2.5 N^2 + 45.5 N - 49 additions for N >= 2 revolute joints. The paper's table 1 has
    36 N^2 - 39 N + 9 and 55.5 N^2 - 97.5 N + 30 for the recursion, which takes several times as long.

    Examples
    --------
    A rod of 3 kg and 2 m that rotates about its end:

    >>> import treefactor as tf
    >>> tf.chain_inertia([[0, 0, 1]], [[0, 0, 0]], [3], [[3, 0, 0]], [np.diag([0, 4, 4])])
    array([[4.]])
    """
    if num_threads == 1 and not count:
        A = _chain.inertia_of_one(axis, r, mass, c, inertia, prismatic)
        if A is not None:
            return _deliver(A, out)
    arguments = {"axis": axis, "r": r, "mass": mass, "c": c, "inertia": inertia}
    arrays, batch, slides = validate_chains(arguments, TAILS, prismatic)
    n = len(slides)
    chains = _chain.Chains(*arrays, slides)
    lost = unusable(chains, {}, TAILS, batch)
    A = _receiver(out, (*batch, n, n), arrays).reshape(math.prod(batch), n, n)
    _compute_inertia(chains, A, thread_count(num_threads))
    A[lost] = np.nan
    A = _deliver(A.reshape(*batch, n, n), out)
    return (A, _count(composite.inertia, arguments, slides)) if count else A


def chain_forces(
    axis,
    r,
    mass,
    c,
    inertia,
    rate=None,
    force=None,
    moment=None,
    torque=None,
    prismatic=None,
    out=None,
    count: bool = False,
):
    """Compute the generalized forces b of a chain's dynamics A q̈ = b.

    Parameters
    ----------
    axis, r, mass, c, inertia
        As for `chain_inertia`.
    rate : array_like, shape (..., N), optional
        Joint velocities q̇, in rad/s or m/s; zero by default.
    force, moment : array_like, shape (..., N, 3), optional
        External force on body k in N, and external moment about O_k in N m; zero by default. Gravity g is
        the force m_k g with the moment c_k x g.
    torque : array_like, shape (..., N), optional
        Forces of the joints' drives, in N m or N; zero by default.
    prismatic
        As for `chain_inertia`.
    out : ndarray of float64, shape (..., N), optional
    count : bool
        Also return the number of operations for one chain.

    Returns
    -------
    b : ndarray of float64, shape (..., N)
    operations : OperationCount
        Only with ``count``: counted by running the recursion on counting scalars.

    Raises
    ------
    ShapeError, InvalidChainError, NonFiniteError
        As for `chain_inertia`.

    Notes
    -----
    The Kane-sum paper, eqs. 3-5, 11 and 17-21: b = torque - bias, where bias is inverse dynamics for q̈ = 0.
    Here with 75 N - 15 multiplications and 81 N - 21 additions for revolute joints.
    """
    if not count:
        b = _chain.forces_of_one(axis, r, mass, c, inertia, rate, force, moment, torque, prismatic)
        if b is not None:
            return _deliver(b, out)
    arguments = {"axis": axis, "r": r, "mass": mass, "c": c, "inertia": inertia}
    arguments |= {"rate": rate, "force": force, "moment": moment, "torque": torque}
    arrays, batch, slides = validate_chains(arguments, TAILS, prismatic)
    bodies, loads = arrays[:5], arrays[5:]
    n = len(slides)
    chains = _chain.Chains(*bodies, slides)
    lost = unusable(chains, dict(zip(LOADS, loads, strict=True)), TAILS, batch)
    b = np.empty((math.prod(batch), n))
    chains.forces(*loads, b)
    b[lost] = np.nan
    b = _deliver(b.reshape(*batch, n), out)
    return (b, _count(composite.forces, arguments, slides)) if count else b


def _compute_inertia(chains: _chain.Chains, A: np.ndarray, threads: int) -> None:
    """Fill A (batch, N, N) on threads, which share the chains or, of fewer chains, the columns of each."""
    size, n = A.shape[:2]
    if size >= threads:
        spread(partial(chains.inertia, A), size, threads, A.size)
        return
    workspace = chains.workspace()
    for b in range(size):
        chains.momenta(b, A, workspace)
        spread(partial(chains.columns, b, A, workspace), chains.parts(), threads, n * n // 8)


def validate_chains(
    arguments: dict, tails: dict, prismatic
) -> tuple[list[np.ndarray], tuple[int, ...], np.ndarray]:
    """Return validated contiguous arrays with at most one batch axis, the batch's axes, and sliding joints.

    ``tails`` holds the shapes for one joint or body.
    """
    axis = as_real(arguments["axis"], "axis")
    if axis.ndim < 2 or axis.shape[-1] != 3:
        raise ShapeError(f"axis must have shape (..., N, 3), got {axis.shape}", axis.shape, ("...", "N", 3))
    n = axis.shape[-2]
    arrays, batch = [], ()
    for name, values in arguments.items():
        tail = (n, *tails[name])
        expected = f"({', '.join(map(str, ('...', *tail)))})"
        array = np.zeros(tail) if values is None and name in LOADS else as_real(values, name)
        lead = array.shape[: array.ndim - len(tail)]
        if array.shape[len(lead) :] != tail:
            message = f"{name} must have shape {expected}, got {array.shape}"
            raise ShapeError(message, array.shape, ("...", *tail))
        if lead and batch and lead != batch:
            message = f"{name} has leading axes {lead}, another array {batch}"
            raise ShapeError(message, array.shape, (*batch, *tail))
        batch = batch or lead
        arrays.append(np.ascontiguousarray(flatten(array, len(tail)) if lead else array))
    return arrays, batch, _flags(prismatic, n)


def _flags(prismatic, n: int) -> np.ndarray:
    """Return bytes that are 1 for prismatic joints."""
    flags = np.zeros(n, dtype=bool) if prismatic is None else as_array(prismatic, "prismatic")
    if flags.dtype != bool:
        raise DtypeError(f"prismatic must hold booleans, got dtype {flags.dtype}", flags.dtype)
    if flags.shape != (n,):
        raise ShapeError(f"prismatic must have shape ({n},), got {flags.shape}", flags.shape, (n,))
    return np.ascontiguousarray(flags).view(np.uint8)


def unusable(chains: _chain.Chains, others: dict, tails: dict, batch: tuple[int, ...]) -> np.ndarray:
    """Return which chains of a batch hold non-finite numbers; raise for any other fault."""
    size = math.prod(batch)
    fault, joint = np.zeros(size, dtype=np.intp), np.zeros(size, dtype=np.intp)
    chains.faults(fault, joint)
    wrong = np.flatnonzero(fault > _chain.Fault.NOT_FINITE if batch else fault)
    if wrong.size:
        raise _complaint(int(fault[wrong[0]]), int(joint[wrong[0]]), np.unravel_index(wrong[0], batch))
    lost = fault == _chain.Fault.NOT_FINITE
    for name, array in others.items():
        if not batch:
            require_finite(array, name)
        tail = len(tails[name]) + 1
        lost |= ~np.isfinite(array).all(axis=tuple(range(-tail, 0)))
    return lost


def _complaint(fault: int, joint: int, element) -> Exception:
    """Return the exception for one of `_chain.FAULTS`."""
    element = tuple(map(int, element))
    message = _chain.FAULTS[fault].format(joint) + (f", chain {element} of the batch" if element else "")
    if fault == _chain.Fault.NOT_FINITE:
        return NonFiniteError(message, row=joint)
    return InvalidChainError(message, joint, element)


def _deliver(result: np.ndarray, out) -> np.ndarray:
    """Return the result, copied to out if there is one that is not its memory."""
    if out is None:
        return result
    if not np.shares_memory(as_output(out, result.shape), result):
        np.copyto(out, result)
    return out


def _receiver(out, shape: tuple[int, ...], arrays) -> np.ndarray:
    """Return out if results can be written to it at once, otherwise a new array."""
    if out is None or not as_output(out, shape).flags.carray:
        return np.empty(shape)
    apart = not any(np.may_share_memory(out, array) for array in arrays)
    return out if apart else np.empty(shape)


def _count(recursion, arguments: dict, slides: np.ndarray) -> OperationCount:
    """Return the operations of a recursion on one chain with these joints; numbers do not matter."""
    tally: Counter[str] = Counter()
    arrays = [counting(np.ones((len(slides), *TAILS[name])), tally) for name in arguments]
    recursion(*arrays, slides)
    return OperationCount(**tally)
