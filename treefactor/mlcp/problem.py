"""State and solve the mixed linear complementarity problem of one time step with contacts and limits.

    minimise 1/2 v^T H v - g^T v  subject to  C v = c  and  D v >= d,  or, with impulses gamma and gamma_c,
    H v = g + C^T gamma_c + D^T gamma,  C v = c,  0 <= gamma  _|_  D v - d >= 0

With bounds of impulses, as of friction, 0 <= gamma <= upper, and D_i v < d_i is allowed where gamma_i is at
its bound, as if upper_i max(0, d_i - D_i v) were added to 1/2 v^T H v - g^T v.

Tasora, Manconi, Silvestri (2.6) and (2.9). v is unique; gamma is not where active rows depend on each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from sys import maxsize

import numpy as np

from .._util.validation import Sealed, as_count, as_real, check_choice
from ..exceptions import ShapeError
from ..linalg.factorization import Factor, factor
from ..linalg.solve_multiply import multiply
from ..tree.tree import Tree, require_tree
from . import _dual
from ._active_set import ActiveSetSolver
from ._input_copies import copy_warm_start
from ._row_scales import row_scales
from ._stacked_rows import SortedRows, bounds, packed_rows, stacked, vector, without_noise
from .symbolic_kkt import SymbolicKkt, analyse

METHODS = ("auto", "simplex")
LAYOUTS = ("dense", "packed")
TARGET, POLISHED = 1e-11, 1e-14  # residual to stop at, relative to the data
SYSTEMS = 1000  # linear systems that an attempt may solve


class Status(Enum):
    """Status of a solution; `solve` reports it and raises no exception for it.

    Notes
    -----
    Immutable.
    """

    SOLVED = 0
    INFEASIBLE = 1
    ITERATION_LIMIT = 2
    INVALID = 3


STATUS = tuple(Status)


class Problem(Sealed):
    """Minimise 1/2 v^T H v - g^T v subject to C v = c and D v >= d.

    Parameters
    ----------
    H : array_like or SciPy sparse, shape (n, n), or array_like, shape (nnz,), or Factor
        Symmetric positive definite with the pattern of the tree; of a matrix the lower triangle is read,
        with ``layout="packed"`` packed rows.
    tree : Tree
        Tree of one mechanism, or of several mechanisms with a root each.
    g : array_like, shape (n,)
        M v_old + h Q of a time step: momenta, in N s and N m s for v in m/s and rad/s.
    C, c : array_like or SciPy sparse, shape (p, n), and array_like, shape (p,), optional
        Bilateral constraints; rows may depend on each other.
    D, d : array_like or SciPy sparse, shape (m, n), and array_like, shape (m,), optional
        Unilateral constraints, in any order; rows may depend on each other. A row with d = -inf never acts.
    upper : array_like, shape (m,), optional
        Bounds of the impulses, from 0 to inf: 0 <= gamma <= upper, and D_i v < d_i only where gamma_i is at
        its bound. A force of friction in a direction t is two rows, t and -t.
    layout : {"dense", "packed"}
        Layout of an array H.
    terms : array_like, shape (p + m,) or (p + m, n), optional
        Size of the terms whose differences the rows of C, then those of D are, for each row or entry. Entries
        up to 3e-14 of it are their rounding errors and become zero: without it, a row of nothing but rounding
        errors counts as data, if no other row is larger, and asks for velocities and impulses of 1e16.

    Raises
    ------
    ShapeError, DtypeError
        If an argument has the wrong shape or type.
    NonFiniteError
        If an argument holds a NaN or an infinity, except -inf in d and inf in upper.
    ValueError
        If a bound or a term is negative.
    NotPositiveDefiniteError
        If H is not positive definite; names the row and joint.

    Notes
    -----
    Immutable.

    Problems with the same tree and supports share their symbolic analysis and workspaces: make a new problem
    for new numbers.

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

    n: int
    m: int
    tree: Tree
    packed: np.ndarray
    g: np.ndarray
    c: np.ndarray
    d: np.ndarray
    upper: np.ndarray | None
    _rows: tuple
    _right: np.ndarray
    _symbolic: SymbolicKkt
    _free: np.ndarray

    def __init__(
        self, H, tree: Tree, g, C=None, c=None, D=None, d=None, upper=None, layout: str = "dense", terms=None
    ):
        require_tree(tree)
        check_choice("layout", layout, LAYOUTS)
        own, n = self.__dict__, tree.n
        packed, g = packed_rows(H, tree, layout), vector(g, n, "g")
        rows, right, p = stacked(C, c, D, d, n)
        rows = rows if terms is None else without_noise(rows, terms, n)
        m = len(right) - p
        upper = None if upper is None else bounds(upper, m)
        for kept in (packed, g, right, upper):
            if kept is not None:
                kept.setflags(write=False)
        own.update(n=n, m=m, tree=tree, packed=packed, g=g, c=right[:p], d=right[p:], upper=upper)
        known = D.known if isinstance(D, SortedRows) else None
        own.update(_rows=rows, _right=right, _symbolic=analyse(tree, rows[0], rows[1], known))
        own["_free"] = H.solve(g) if isinstance(H, Factor) else self._free_motion()

    def __reduce__(self):
        return Problem, (
            *(self.packed, self.tree, self.g, self.C, self.c, self.D, self.d, self.upper),
            "packed",
        )

    @property
    def H(self) -> np.ndarray:
        """H as a dense array, shape (n, n)."""
        return self.tree.unpack(self.packed)

    @property
    def C(self):
        """Bilateral constraints as a new csr_array, shape (p, n)."""
        return self._matrix(0, len(self.c))

    @property
    def D(self):
        """Unilateral constraints as a new csr_array, shape (m, n)."""
        return self._matrix(len(self.c), len(self.c) + self.m)

    @cached_property
    def factor(self) -> Factor:
        """Factor of H."""
        return factor(self.packed, self.tree, layout="packed")

    def _free_motion(self) -> np.ndarray:
        """Compute H^-1 g."""
        workspace = self._workspace()
        free = workspace[0].refactor(self.packed).solve(self.g)
        self._symbolic.idle.append(workspace)
        return free

    def _workspace(self) -> tuple[Factor, ActiveSetSolver]:
        """Take an idle workspace, or make one; the caller returns it to `idle`."""
        return self._symbolic.workspace(self.tree)

    def _matrix(self, first: int, stop: int):
        """Return rows first .. stop - 1 as a csr_array."""
        from scipy.sparse import csr_array

        start, column, entries = self._rows
        at = slice(start[first], start[stop])
        indptr = start[first : stop + 1] - start[first]
        rows = csr_array((entries[at], column[at], indptr), shape=(stop - first, self.n))
        for part in (rows.data, rows.indices, rows.indptr):
            part.flags.writeable = False
        return rows


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of `solve`.

    Attributes
    ----------
    status : Status
        SOLVED; INFEASIBLE, with a certificate; ITERATION_LIMIT, with the best point found; INVALID where
        numbers overflowed.
    v : ndarray, shape (n,)
    gamma, gamma_c : ndarray, shape (m,) and (p,)
        Impulses of D and C. Where active rows depend on each other, those of least norm of the rows scaled
        by 1 / sqrt(D_i H^-1 D_i^T), or those closest to a warm start's.
    active : ndarray of bool, shape (m,)
        Rows that hold with D_i v = d_i; a row at its bound need not.
    pivots, factorizations : int
        Rows that were switched; factorizations of a whole matrix.
    certificate : tuple of ndarray, shape (m,) and (p,), or None
        y >= 0, 0 of rows with finite bounds, and z with D^T y + C^T z = 0 and d^T y + c^T z > 0: no v fulfils
        the constraints.

    Notes
    -----
    Thread-compatible.
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
        """Compute the largest violation of any condition from the problem's data, in square roots of J.

        Forces are divided by sqrt(H_kk), rows multiplied by 1 / sqrt(D_i H^-1 D_i^T), which puts all of them
        in the same unit: ``max(|H v - g - C^T gamma_c - D^T gamma|, |C v - c|, |min(gamma, D v - d)|)``,
        with bounds ``|max(min(gamma, D v - d), gamma - upper)|``. A row of rounding noise, as `solve` defines
        it, is multiplied like the largest row. Infinite where the status is INVALID.
        """
        if self.status is Status.INVALID:
            return np.inf
        p = self.problem
        force = multiply(p.packed, p.tree, self.v, layout="packed") - p.g
        force -= p.C.T @ self.gamma_c + p.D.T @ self.gamma
        diagonal = p.packed[p.tree.row_start[1:] - 1]
        scale_c, scale_d = np.split(row_scales(p), [len(p.c)])
        natural = np.minimum(self.gamma / scale_d, (p.D @ self.v - p.d) * scale_d)
        if p.upper is not None:
            natural = np.maximum(natural, (self.gamma - p.upper) / scale_d)
        parts = (force / np.sqrt(diagonal), (p.C @ self.v - p.c) * scale_c, natural)
        return float(max(np.abs(part).max(initial=0.0) for part in parts))

    def complementarity(self) -> float:
        """Compute the largest ``|gamma_i (D v - d)_i|`` from the problem's data, in J.

        If D v < d, the distance of gamma from its bound takes the place of gamma.
        """
        p = self.problem
        gap, impulse = p.D @ self.v - p.d, self.gamma
        if p.upper is not None:
            impulse = np.where(gap > 0.0, impulse, np.minimum(impulse, p.upper - impulse))
        used = impulse != 0.0
        return float(np.abs(impulse[used] * gap[used]).max(initial=0.0))


def solve(
    problem: Problem,
    warm_start: Solution | None = None,
    method: str = "auto",
    polish: bool = False,
    max_iter: int = SYSTEMS,
) -> Solution:
    """Solve a mixed linear complementarity problem.

    Parameters
    ----------
    problem : Problem
    warm_start : Solution, optional
        Solution of a problem with as many rows; its active rows and impulses are the first guess. A
        solution whose status is not SOLVED is ignored.
    method : {"auto", "simplex"}
    polish : bool
        Iterate until only rounding errors remain.
    max_iter : int
        Linear systems that each attempt may solve.

    Returns
    -------
    Solution
        Its status says whether the problem was solved. gamma is positive or zero, v solves the problem to
        1e-10 of its data, with ``polish`` to 1e-14 or as far as rounding allows; where H is nearly singular,
        to 1e-14 of the momenta H_kk v_k of the free motion.

    Raises
    ------
    ShapeError
        If the warm start is a solution of a problem with other rows.
    TypeError, ValueError
        If an argument is not one of those above, or "simplex" is chosen for a problem with bounds.

    Notes
    -----
    "auto" is the proximal method of multipliers with Newton steps and an exact line search: rows that are on
    have E = delta in K = [H J^T; J -E], delta = 1e-2 .. 1e-6 of the scaled rows, 1e-9 if the residual stops
    falling, and refinement removes the effect of delta at the end, so that rows may depend on each other. The
    multipliers of an infeasible problem grow along its certificate. A cold start turns on the rows that the
    free motion violates and those with d >= 0, which touch already.

    "simplex" is the method of the paper: from no active row, it switches one row at a time, with the same K
    and the same refinement. Perturbations of d by up to 1e-7 of the data keep rows from blocking at the same
    time. It takes no bounds.

    An attempt that fails is followed by a cold start, and this by a dual active-set method in dense arrays,
    which ends after finitely many systems because each of its steps increases the dual objective; its
    impulses need not be those of least norm. SOLVED means that the residual was computed from the data.

    A row whose size sqrt(sum D_ij^2 / H_jj) is at most 1e-12 of the largest row's is rounding noise: it never
    acts where its d, scaled like the largest row, is at most 1e-10 of the data, and otherwise the problem is
    infeasible, or the row is at its bound. Impulses at their bounds are data: 1e-14 of them is rounding.

    Tasora, Manconi, Silvestri; Rockafellar (1976); Charnes (1952); Goldfarb & Idnani (1983); factor:
    ``treefactor.mlcp.symbolic_kkt``.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a treefactor.mlcp.Problem, got {type(problem).__name__}")
    check_choice("method", method, METHODS)
    max_iter = min(as_count(max_iter, "max_iter"), maxsize)
    if method == "simplex" and problem.upper is not None:
        raise ValueError('method "simplex" is for problems without upper bounds')
    warm = None if warm_start is None else _warm(warm_start, problem)
    return solve_from(problem, warm, method == "simplex", polish, max_iter)


def solve_from(
    problem: Problem, warm, simplex: bool = False, polish: bool = False, max_iter: int = SYSTEMS
) -> Solution:
    """Solve from finite impulses and rows that are on, or from None; assumes validated arguments."""
    workspace, p = problem._workspace(), len(problem.c)
    solver, upper = workspace[1], problem.upper
    if upper is not None and p:
        upper = np.concatenate((np.full(p, np.inf), upper))
    solver.load(problem.packed, problem.g, problem._free, problem._rows[2], problem._right, upper, p)
    status, certificate = _run(problem, solver, simplex, warm, polish, max_iter)
    v, impulse, change, on, full = solver.results()
    pivots, factorizations = solver.pivots, solver.factorizations
    problem._symbolic.idle.append(workspace)
    gamma, active = impulse[p:], on[p:]
    if problem.upper is not None:
        gamma = np.where(full[p:], problem.upper, np.minimum(gamma, problem.upper))
    if status is Status.INFEASIBLE:
        change = change if certificate is None else certificate
        certificate = change[p:], change[:p]
    return Solution(status, v, gamma, impulse[:p], active, pivots, factorizations, certificate, problem)


def _run(problem: Problem, solver: ActiveSetSolver, simplex: bool, warm, polish: bool, max_iter: int):
    """Return the status of the first attempt that solves or refutes the problem, and a dual certificate."""
    target, ended = POLISHED if polish else TARGET, (Status.SOLVED, Status.INFEASIBLE)
    attempts = [(simplex, warm)] if warm is None and not simplex else [(simplex, warm), (False, None)]
    for attempt in attempts:
        status = STATUS[solver.run(*attempt, target, max_iter)]
        if status in ended:
            return status, None
    if status is Status.INVALID or not problem.n or max_iter == 0:
        return status, None
    result = _dual.solve(problem, solver, max_iter)
    if result.certificate is not None:
        return Status.INFEASIBLE, result.certificate
    if result.impulse is not None:
        status = STATUS[solver.solve_with_status((result.impulse, result.held), target)]
    return status, None


def _warm(solution: Solution, problem: Problem) -> tuple[np.ndarray, np.ndarray] | None:
    """Validate a warm start; return its impulses and active rows, None if it was not solved."""
    if not isinstance(solution, Solution):
        raise TypeError(f"warm_start must be a treefactor.mlcp.Solution, got {type(solution).__name__}")
    plain = copy_warm_start(solution.gamma_c, solution.gamma, solution.active, len(problem.c), len(problem.d))
    if plain is not None:
        return plain if solution.status is Status.SOLVED else None
    names = "gamma_c", "gamma", "active"
    given = [as_real(getattr(solution, name), f"warm_start.{name}") for name in names]
    received = tuple(x.shape for x in given)
    expected = problem.c.shape, problem.d.shape, problem.d.shape
    if received != expected:
        raise ShapeError(
            f"warm_start has {received} gamma_c, gamma and active, the problem {expected}", received, expected
        )
    impulse = np.concatenate(given[:2])
    if solution.status is not Status.SOLVED or not np.isfinite(impulse).all():
        return None
    on = np.ones(len(impulse), bool)
    on[len(problem.c) :] = given[2]
    return impulse, on
