"""The mixed linear complementarity problem of one time step with joints, contacts and limits.

    minimise 1/2 v^T H v - g^T v  subject to  C v = c  and  D v >= d,  or, with impulses gamma and gamma_c,
    H v = g + C^T gamma_c + D^T gamma,  C v = c,  0 <= gamma  _|_  D v - d >= 0

Tasora, Manconi, Silvestri (2.6) and (2.9). v is unique; gamma is not where active rows depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from threading import Lock

import numpy as np

from ._arrays import as_real, as_vector, check_choice, require_finite
from ._kkt import Kkt
from ._pivot import Walk
from .direct import multiply
from .exceptions import DtypeError, NonFiniteError, ShapeError
from .kkt import analyse
from .ltdl import Factor, factor
from .tree import Tree, require_tree

METHODS = ("auto", "simplex")
TARGET, POLISHED = 1e-11, 1e-14  # residual to stop at, relative to the data


class Status(Enum):
    """How `solve` ended: none of these is an exception."""

    SOLVED = 0
    INFEASIBLE = 1
    ITERATION_LIMIT = 2
    INVALID = 3


STATUS = tuple(Status)


class Problem:
    """Minimise 1/2 v^T H v - g^T v subject to C v = c and D v >= d.

    Parameters
    ----------
    H : array_like, shape (n, n), or Factor
        Symmetric positive definite with the pattern of the tree; of an array the lower triangle is read.
    tree : Tree
        Of one mechanism, or of several with a root each.
    g : array_like, shape (n,)
        M v_old + h Q of a time step: momenta, in N s and N m s for v in m/s and rad/s.
    C, c : array_like or SciPy sparse, shape (p, n), and array_like, shape (p,), optional
        Bilateral constraints; rows may depend on each other.
    D, d : array_like or SciPy sparse, shape (m, n), and array_like, shape (m,), optional
        Unilateral constraints, in any order; rows may depend on each other. A d of -inf is never active.

    Raises
    ------
    ShapeError, DtypeError
        Where an argument does not fit.
    NonFiniteError
        Where an argument holds a NaN or an infinity, but for -inf in d.
    NotPositiveDefiniteError
        Where H is not positive definite; names the row and joint.

    Notes
    -----
    Immutable, and may be shared by threads, which take turns in solving it.

    Tasora, Manconi, Silvestri (2.5) and (2.9): with stabilization c = -(K/h) C(q) and d = -(K/h) D(q).

    Examples
    --------
    A point falls on the floor.

    >>> import treefactor as tf
    >>> problem = tf.mlcp.Problem([[2.0]], tf.Tree([-1]), [-6.0], D=[[1.0]], d=[-1.0])
    >>> solution = tf.mlcp.solve(problem)
    >>> solution.v, solution.gamma
    (array([-1.]), array([4.]))
    """

    def __init__(self, H, tree: Tree, g, C=None, c=None, D=None, d=None):
        require_tree(tree)
        self.tree = tree
        self.packed = _packed(H, tree)
        self.g = as_vector(g, tree.n, "g").copy()
        self.C, self.c = _rows(C, c, tree.n, "C", "c")
        self.D, self.d = _rows(D, d, tree.n, "D", "d")
        self.factor = factor(self.packed, tree, layout="packed")
        start = np.concatenate((self.C.indptr, self.D.indptr[1:] + self.C.indptr[-1])).astype(np.intp)
        column = np.concatenate((self.C.indices, self.D.indices)).astype(np.intp)
        entries, right = np.concatenate((self.C.data, self.D.data)), np.concatenate((self.c, self.d))
        self._walk = Walk(Kkt(analyse(tree, start, column)), tree.pattern, start, column, self.c.size)
        self._walk.load(self.packed, self.g, self.factor.solve(self.g), entries, right)
        self._lock = Lock()  # of the workspace
        for kept in (self.packed, self.g, self.c, self.d, self.C.data, self.D.data):
            kept.flags.writeable = False  # the kernel has its own scaled copies

    def __reduce__(self):
        return Problem, (self.H, self.tree, self.g, self.C, self.c, self.D, self.d)

    @property
    def H(self) -> np.ndarray:
        """H as a dense array, shape (n, n)."""
        return self.tree.unpack(self.packed)

    @property
    def n(self) -> int:
        """Freedoms."""
        return self.tree.n

    @property
    def m(self) -> int:
        """Unilateral constraints."""
        return self.d.size


def _packed(H, tree: Tree) -> np.ndarray:
    """Packed rows of H, an own copy."""
    if isinstance(H, Factor):
        if H.tree != tree:
            raise ShapeError("the Factor is of another tree")
        H._require_single("Problem")
        H = H.reconstruct()
    H = as_real(H, "H")
    if H.ndim != 2:
        raise ShapeError(f"H must have shape {(tree.n, tree.n)}, got {H.shape}", H.shape, (tree.n, tree.n))
    packed = tree.pack(H)
    finite = np.isfinite(packed)
    if not finite.all():
        entry = int(np.flatnonzero(~finite)[0])
        row, column = int(tree.rows[entry]), int(tree.columns[entry])
        raise NonFiniteError(f"H is not finite: H[{row}, {column}]", row=row)
    return packed


def _rows(J, b, n: int, matrix: str, vector: str):
    """A constraint's matrix as a csr_array of sorted rows without repeated entries, and its right side."""
    from scipy.sparse import csr_array, issparse

    if (J is None) != (b is None):
        raise ShapeError(f"{matrix} and {vector} come together")
    if J is None:
        return csr_array((0, n)), np.empty(0)
    if not issparse(J):
        J = as_real(J, matrix)
        J = J.reshape(0, n) if J.shape == (0,) else J
    elif J.dtype.kind not in "fiub":
        raise DtypeError(f"{matrix} must hold real numbers, got dtype {J.dtype}", J.dtype)
    if J.ndim != 2 or J.shape[1] != n:
        raise ShapeError(f"{matrix} must have shape (rows, {n}), got {J.shape}", J.shape, ("rows", n))
    rows = csr_array(J, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        row = int(np.searchsorted(rows.indptr, np.flatnonzero(~np.isfinite(rows.data))[0], "right")) - 1
        raise NonFiniteError(f"{matrix} is not finite in row {row}", row=row)
    b = as_real(b, vector)
    if b.shape != (J.shape[0],):
        raise ShapeError(f"{vector} must have shape ({J.shape[0]},), got {b.shape}", b.shape, (J.shape[0],))
    require_finite(np.where(b == -np.inf, 0.0, b) if vector == "d" else b, vector)
    return rows, b.copy()


@dataclass(frozen=True)
class Solution:
    """What `solve` found.

    Attributes
    ----------
    status : Status
        SOLVED; INFEASIBLE, with a certificate; ITERATION_LIMIT, with the best point found; INVALID where
        numbers overflowed.
    v : ndarray, shape (n,)
    gamma, gamma_c : ndarray, shape (m,) and (p,)
        Impulses of D and C. Where active rows depend on each other, those of least norm of the rows scaled
        by 1 / sqrt(D_i H^-1 D_i^T).
    active : ndarray of bool, shape (m,)
        Rows that hold with D_i v = d_i.
    pivots, factorizations : int
        Rows that were switched; factorizations of a whole matrix.
    certificate : tuple of ndarray, shape (m,) and (p,), or None
        y >= 0 and z with D^T y + C^T z = 0 and d^T y + c^T z > 0: no v fulfils the constraints.
    """

    status: Status
    v: np.ndarray
    gamma: np.ndarray
    gamma_c: np.ndarray
    active: np.ndarray
    pivots: int
    factorizations: int
    certificate: tuple[np.ndarray, np.ndarray] | None
    problem: Problem = field(repr=False)

    def residual(self) -> float:
        """Largest violation of any condition, computed anew from the problem's data, in square roots of J.

        Forces are divided by sqrt(H_kk), rows multiplied by 1 / sqrt(D_i H^-1 D_i^T), which puts all of them
        in the same unit: ``max(|H v - g - C^T gamma_c - D^T gamma|, |C v - c|, |min(gamma, D v - d)|)``.
        """
        p = self.problem
        force = multiply(p.packed, p.tree, self.v, layout="packed") - p.g
        force -= p.C.T @ self.gamma_c + p.D.T @ self.gamma
        diagonal = p.packed[p.tree.row_start[1:] - 1]
        scale_c, scale_d = _scale(p.factor, p.C), _scale(p.factor, p.D)
        natural = np.minimum(self.gamma / scale_d, (p.D @ self.v - p.d) * scale_d)
        parts = (force / np.sqrt(diagonal), (p.C @ self.v - p.c) * scale_c, natural)
        return float(max(np.abs(part).max(initial=0.0) for part in parts))

    def complementarity(self) -> float:
        """Largest ``|gamma_i (D v - d)_i|``, computed anew from the problem's data, in J."""
        p = self.problem
        used = self.gamma != 0.0
        return float(np.abs(self.gamma[used] * (p.D @ self.v - p.d)[used]).max(initial=0.0))


def _scale(f: Factor, J) -> np.ndarray:
    """1 / sqrt(J_i H^-1 J_i^T) of every row, 1 for a row of zeros."""
    W = np.abs(f.half_solve(J.toarray().T)) if J.shape[0] else np.empty((1, 0))
    largest = W.max(axis=0, initial=0.0)
    largest[largest == 0.0] = 1.0
    size = largest * np.sqrt(np.square(W / largest).sum(axis=0))  # whose squares do not overflow
    return 1.0 / np.where(size > 0, size, 1.0)


def solve(
    problem: Problem,
    warm_start: Solution | None = None,
    method: str = "auto",
    polish: bool = False,
    max_iter: int = 1000,
) -> Solution:
    """Solve a mixed linear complementarity problem.

    Parameters
    ----------
    problem : Problem
    warm_start : Solution, optional
        Of a problem with as many rows, whose active rows and impulses are the first guess; one that was
        not solved is no guess.
    method : {"auto", "simplex"}
    polish : bool
        Go on to rounding errors.
    max_iter : int
        Linear systems that may be solved.

    Returns
    -------
    Solution
        That there is none is a status, never an exception. gamma is positive or zero, v solves the problem to
        1e-10 of its data, with `polish` to 1e-14 or as far as rounding allows.

    Notes
    -----
    "auto" is the proximal method of multipliers with Newton steps and an exact line search: rows that are on
    have E = delta in K = [H J^T; J -E], delta = 1e-2 .. 1e-6 of the scaled rows, and refinement takes delta
    away at the end, so that rows may depend on each other. The multipliers of an infeasible problem grow
    along its certificate. A cold start turns on the rows that the free motion violates and those with d >= 0,
    which touch already.

    "simplex" is the walk of the paper, one row at a time from none, with the same K and the same end; of rows
    that block at once the first one is switched.

    Tasora, Manconi, Silvestri; Rockafellar (1976); factor: `treefactor.kkt`.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a treefactor.mlcp.Problem, got {type(problem).__name__}")
    check_choice("method", method, METHODS)
    warm = None if warm_start is None else _warm(warm_start, problem)
    walk = problem._walk
    with problem._lock:
        status = STATUS[walk.run(method == "simplex", warm, POLISHED if polish else TARGET, max_iter)]
        v, impulse, change, on = walk.results()
        pivots, factorizations = walk.pivots, walk.factorizations
    p = problem.c.size
    certificate = (change[p:], change[:p]) if status is Status.INFEASIBLE else None
    return Solution(status, v, impulse[p:], impulse[:p], on[p:], pivots, factorizations, certificate, problem)


def _warm(solution: Solution, problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    """Impulses and rows that are on, or ShapeError where the problem has other rows; None of no solution."""
    if not isinstance(solution, Solution):
        raise TypeError(f"warm_start must be a treefactor.mlcp.Solution, got {type(solution).__name__}")
    received = tuple(np.size(x) for x in (solution.gamma_c, solution.gamma, solution.active))
    expected = problem.c.size, problem.m, problem.m
    if received != expected:
        raise ShapeError(
            f"warm_start has {received} gamma_c, gamma and active, the problem {expected}", received, expected
        )
    impulse = np.concatenate((solution.gamma_c, solution.gamma), dtype=np.float64)
    if solution.status is not Status.SOLVED or not np.isfinite(impulse).all():
        return None
    return impulse, np.append(np.ones(expected[0], bool), np.asarray(solution.active, bool))
