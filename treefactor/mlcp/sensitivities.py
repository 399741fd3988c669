"""Differentiate solutions of mixed complementarity problems whose active set is strict."""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed, as_real, as_size
from ..exceptions import ShapeError
from ..linalg.constrained_system import ConstrainedSystem
from ..linalg.solve_multiply import multiply
from ._row_scales import row_scales, row_sizes
from .problem import Solution, Status

STRICT = 1e-7  # share of the momenta that an impulse or a gap must exceed
FEASIBLE = 1e-6  # impulse relative to the momenta; the linear program keeps its constraints to 1e-7
CONSISTENT = 1e-6  # change of dependent rows that counts as consistent, relative to the change


class SensitivityStatus(Enum):
    """Status of the derivatives of a solution; `Sensitivity` describes it.

    Notes
    -----
    Immutable.
    """

    STRICT = 0
    DEPENDENT = 1
    DEGENERATE = 2
    UNSOLVED = 3
    UNSUPPORTED = 4


class Changes(NamedTuple):
    """Changes of v, gamma and gamma_c."""

    v: np.ndarray
    gamma: np.ndarray
    gamma_c: np.ndarray


class Gradients(NamedTuple):
    """Gradients by the data of a problem: vectors, packed rows of H, and dense C and D."""

    g: np.ndarray
    c: np.ndarray
    d: np.ndarray
    upper: np.ndarray
    H: np.ndarray
    C: np.ndarray
    D: np.ndarray


class Sensitivity(Sealed):
    """Derivatives of a solution by the data of its problem, at fixed row statuses; `sensitivity` makes it.

    Attributes
    ----------
    solution : Solution
    status : SensitivityStatus
        STRICT: all derivatives exist. DEPENDENT: held rows depend on each other, so that impulses are not
        unique; v has derivatives along changes that keep the held rows consistent. DEGENERATE: rows in
        ``weak`` neither act nor are open, so that there are one-sided derivatives only. UNSOLVED: there is
        no solution. Derivatives that do not exist are NaN.
    held, full, weak : ndarray of bool, shape (m,)
        Rows with D_i v = d_i and an impulse between its bounds; rows whose impulse is at its upper bound;
        rows with neither an impulse nor a gap.

    Notes
    -----
    Thread-compatible.
    """

    solution: Solution
    status: SensitivityStatus
    held: np.ndarray
    full: np.ndarray
    weak: np.ndarray

    def __init__(self, solution: Solution, status: SensitivityStatus, held, full, weak):
        self._keep(solution=solution, status=status, held=held, full=full, weak=weak)

    def __reduce__(self):
        return Sensitivity, (self.solution, self.status, self.held, self.full, self.weak)

    def jvp(self, g=None, c=None, d=None, upper=None) -> Changes:
        """Compute the changes of the solution along changes of the data.

        Parameters
        ----------
        g, c, d, upper : array_like, shapes (n,), (p,), (m,), (m,), or with columns (n, k), ...
            Zero by default.

        Returns
        -------
        Changes
            Named tuple of v, gamma and gamma_c, with the same columns; NaN for columns that are not finite.

        Raises
        ------
        ShapeError, DtypeError
        """
        p = self.solution.problem
        sizes = {"g": p.n, "c": len(p.c), "d": p.m, "upper": p.m}
        given = {name: x for name, x in zip(sizes, (g, c, d, upper), strict=True) if x is not None}
        arrays = {name: _columns(x, sizes[name], name) for name, x in given.items()}
        first, tail = next(((name, x.shape[1:]) for name, x in arrays.items()), ("", ()))
        for name, x in arrays.items():
            if x.shape[1:] != tail:
                wanted = (sizes[name], *tail)
                raise ShapeError(
                    f"{name} must have shape {wanted}, with columns as {first} has them, got {x.shape}",
                    x.shape,
                    wanted,
                )
        count = tail[0] if tail else 1
        flat = [
            arrays.get(name, np.zeros((size, *tail))).reshape(size, count).astype(float)
            for name, size in sizes.items()
        ]
        bad = ~np.isfinite(np.concatenate(flat)).all(axis=0)
        changes = self._changes(*(np.where(bad, 0.0, x) for x in flat))
        return Changes(*(np.where(bad, np.nan, x).reshape(len(x), *tail) for x in changes))

    def vjp(self, v=None, gamma=None, gamma_c=None) -> Gradients:
        """Compute the gradient of a function of the solution, from its gradient by v, gamma and gamma_c.

        Parameters
        ----------
        v, gamma, gamma_c : array_like, shapes (n,), (m,), (p,)
            Zero by default.

        Returns
        -------
        Gradients
            By g, c, d and upper; by packed rows of H, of which an entry off the diagonal counts twice; by C
            and D as dense arrays. Where the status is DEPENDENT, only those of v by g, upper and H exist; NaN
            if an argument is not finite.

        Raises
        ------
        ShapeError, DtypeError
        """
        p = self.solution.problem
        sizes = {"v": p.n, "gamma": p.m, "gamma_c": len(p.c)}
        given = zip(sizes, (v, gamma, gamma_c), strict=True)
        w, push, push_c = (
            np.zeros(sizes[name]) if x is None else _columns(x, sizes[name], name, 1) for name, x in given
        )
        return self._gradients(w, push, push_c)

    def _matrix(self, name: str, of: str) -> np.ndarray:
        """Return the derivatives of a part of the solution by a vector of data."""
        problem = self.solution.problem
        size = {"g": problem.n, "c": len(problem.c), "d": problem.m, "upper": problem.m}[of]
        return getattr(self.jvp(**{of: np.eye(size)}), name)

    @property
    def dv_dg(self) -> np.ndarray:
        """Derivative of v by g, shape (n, n)."""
        return self._matrix("v", "g")

    @property
    def dv_dc(self) -> np.ndarray:
        """Derivative of v by c, shape (n, p)."""
        return self._matrix("v", "c")

    @property
    def dv_dd(self) -> np.ndarray:
        """Derivative of v by d, shape (n, m)."""
        return self._matrix("v", "d")

    @property
    def dgamma_dg(self) -> np.ndarray:
        """Derivative of gamma by g, shape (m, n)."""
        return self._matrix("gamma", "g")

    @property
    def dgamma_dc(self) -> np.ndarray:
        """Derivative of gamma by c, shape (m, p)."""
        return self._matrix("gamma", "c")

    @property
    def dgamma_dd(self) -> np.ndarray:
        """Derivative of gamma by d, shape (m, m)."""
        return self._matrix("gamma", "d")

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, ConstrainedSystem]:
        """Return dense C and D, scales of C and of held rows, and the system of those rows."""
        p = self.solution.problem
        C, D = p.C.toarray(), p.D.toarray()
        scale = row_scales(p)[np.append(np.ones(len(p.c), bool), self.held)][:, None]
        return C, D, scale, ConstrainedSystem(p.factor, scale * np.concatenate([C, D[self.held]]))

    @property
    def _exists(self) -> bool:
        """Return whether there are derivatives."""
        return self.status in (SensitivityStatus.STRICT, SensitivityStatus.DEPENDENT)

    def _changes(self, g, c, d, upper) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return changes of v, gamma and gamma_c along columns."""
        p = self.solution.problem
        if not self._exists:
            return tuple(np.full((size, g.shape[1]), np.nan) for size in (p.n, p.m, len(p.c)))
        _, D, scale, system = self._rows
        bottom = scale * np.concatenate([c, d[self.held]])
        v, y = system.solve(g + D[self.full].T @ upper[self.full], bottom)
        gamma = np.where(self.full[:, None], upper, 0.0)
        gamma[self.held], gamma_c = (scale * y)[len(c) :], (scale * y)[: len(c)]
        if self.status is SensitivityStatus.DEPENDENT:
            error = np.abs(system.outside_range(bottom)).max(axis=0, initial=0.0)
            v[:, error > CONSISTENT * np.abs(bottom).max(axis=0, initial=0.0)] = np.nan
            gamma[self.held], gamma_c = np.nan, np.full_like(gamma_c, np.nan)
        return v, gamma, gamma_c

    def _gradients(self, w: np.ndarray, push: np.ndarray, push_c: np.ndarray) -> Gradients:
        """Return gradients by the adjoint system [H Jᵀ; -J 0] [mu; nu] = [w; push]."""
        solution, p = self.solution, self.solution.problem
        k, tree = len(p.c), p.tree
        if not (self._exists and all(np.isfinite(x).all() for x in (w, push, push_c))):
            sizes = ((p.n,), (k,), (p.m,), (p.m,), (tree.nnz,), (k, p.n), (p.m, p.n))
            return Gradients(*(np.full(size, np.nan) for size in sizes))
        _, D, scale, system = self._rows
        acting = np.concatenate([push_c, push[self.held]])
        mu, y = (x[:, 0] for x in system.solve(w[:, None], -(scale * acting[:, None])))
        nu = -(scale[:, 0] * y)
        if self.status is SensitivityStatus.DEPENDENT:
            nu, mu = np.full_like(nu, np.nan), mu if not acting.any() else np.full_like(mu, np.nan)
        by_d = np.zeros(p.m)
        by_d[self.held] = nu[k:]
        upper = np.where(self.full, D @ mu + push, 0.0)
        outer = np.outer(mu, solution.v)
        H = -tree.pack(outer + outer.T)
        H[tree.row_start[1:] - 1] *= 0.5
        acts = np.where(self.held | self.full, solution.gamma, 0.0)
        C = np.outer(solution.gamma_c, mu) - np.outer(nu[:k], solution.v)
        D = np.outer(acts, mu) - np.outer(by_d, solution.v)
        return Gradients(mu, nu[:k], by_d, upper, H, C, D)


def sensitivity(solution: Solution, tolerance: float = STRICT) -> Sensitivity:
    """Differentiate a solution by the data of its problem, where its active set is strict.

    Parameters
    ----------
    solution : Solution
        Of `solve`.
    tolerance : float
        Share of the momenta that the impulse of every row, or its gap, must exceed: of
        max(sqrt(v^T H v), sqrt(g^T H^-1 g)), with rows scaled by 1 / sqrt(D_i H^-1 D_i^T).

    Returns
    -------
    Sensitivity
        Its status says which derivatives exist; those that do not are NaN.

    Raises
    ------
    TypeError, ValueError
        If this is not a solution, or the tolerance is negative or NaN.

    Notes
    -----
    With rows J of C and the held rows of D, and dr the change of their right sides and that of rows at their
    upper bounds in dg::

        [H -J^T; J 0] [dv; dgamma] = [dg; dr]

    If rows neither act nor are open but depend on others, as of four facets of a cone of friction, they count
    as held where impulses of the same force exist that are all positive, found by a linear program. Amos and
    Kolter (2017), "OptNet", for the gradients.

    Examples
    --------
    A point falls on the floor: its velocity does not depend on g, the impulse does.

    >>> import treefactor as tf
    >>> problem = tf.mlcp.Problem([[2.0]], tf.Tree([-1]), [-6.0], D=[[1.0]], d=[-1.0])
    >>> result = tf.mlcp.sensitivity(tf.mlcp.solve(problem))
    >>> result.status.name, result.dv_dg, result.dgamma_dg, result.dv_dd
    ('STRICT', array([[0.]]), array([[-1.]]), array([[1.]]))
    """
    if not isinstance(solution, Solution):
        raise TypeError(f"solution must be a treefactor.mlcp.Solution, got {type(solution).__name__}")
    tolerance, problem = as_size(tolerance, "tolerance"), solution.problem
    none = np.zeros(problem.m, bool)
    if solution.status is not Status.SOLVED:
        return Sensitivity(solution, SensitivityStatus.UNSOLVED, none, none, none)
    scale = row_scales(problem)[len(problem.c) :]
    least = tolerance * _size(solution)
    weak, held, full = _row_statuses(solution, scale, least)
    if weak.any() and _strict_impulses_exist(solution, held | weak, scale, tolerance):
        held, weak = held | weak, none
    if weak.any():
        return Sensitivity(solution, SensitivityStatus.DEGENERATE, held, full, weak)
    strict = Sensitivity(solution, SensitivityStatus.STRICT, held, full, weak)
    if strict._rows[-1].dependent:
        strict._keep(status=SensitivityStatus.DEPENDENT)
    return strict


def _columns(x, size: int, name: str, most: int = 2) -> np.ndarray:
    """Return a validated vector, or columns."""
    x = as_real(x, name)
    if not 1 <= x.ndim <= most or x.shape[0] != size:
        columns = f" or ({size}, columns)" if most > 1 else ""
        raise ShapeError(f"{name} must have shape ({size},){columns}, got {x.shape}", x.shape, (size,))
    return x


def _size(solution: Solution) -> float:
    """Return the size of the momenta, sqrt(J)."""
    p = solution.problem
    energy = solution.v @ multiply(p.packed, p.tree, solution.v, layout="packed"), p.g @ p._free
    return float(np.sqrt(max(*energy, 0.0)))


def negligible(solution: Solution, gap: np.ndarray, tolerance: float = STRICT) -> np.ndarray:
    """Return which velocities across the rows of D are rounding errors beside the momenta."""
    scale = row_scales(solution.problem)[len(solution.problem.c) :]
    return np.abs(gap) * scale <= tolerance * _size(solution)


def _row_statuses(solution: Solution, scale: np.ndarray, least: float):
    """Return which rows are weak, held and full; the others are open."""
    p = solution.problem
    upper = np.full(p.m, np.inf) if p.upper is None else p.upper
    gap, gamma = (p.D @ solution.v - p.d) * scale, solution.gamma / scale
    shut = (np.abs(gap) <= least) & (row_sizes(p)[len(p.c) :] > 0.0)  # other rows never act
    below, above = gamma > least, upper / scale - gamma > least
    held = shut & below & above
    full = (gap < -least) & (upper < np.inf)
    return shut & ~held & (upper > 0.0), held, full


def _strict_impulses_exist(solution: Solution, rows: np.ndarray, scale: np.ndarray, tolerance: float) -> bool:
    """Return whether the forces of rows can be those of impulses that are inside their bounds."""
    from scipy.optimize import linprog

    p = solution.problem
    size, scale, D = _size(solution) or 1.0, scale[rows], p.D.toarray()[rows]
    upper = np.full(len(scale), np.inf) if p.upper is None else p.upper[rows] / scale / size
    J = np.concatenate([p.C.toarray(), scale[:, None] * D])
    force = J.T @ np.concatenate([solution.gamma_c, solution.gamma[rows] / scale]) / size
    unit = np.maximum(np.abs(J).max(axis=0, initial=0.0), 1e-300)
    k, m = len(p.c), len(scale)
    ones, own = np.ones((m, 1)), np.concatenate([np.zeros((m, k)), np.eye(m)], axis=1)
    bounded = upper < np.inf
    program = linprog(
        np.append(np.zeros(k + m), -1.0),
        np.concatenate([np.hstack([-own, ones]), np.hstack([own, ones])[bounded]]),
        np.concatenate([np.zeros(m), upper[bounded]]),
        np.hstack([(J / unit).T, np.zeros((p.n, 1))]),
        force / unit,
        bounds=[(None, None)] * (k + m) + [(0.0, 1.0)],
        method="highs",
    )
    return program.status == 0 and program.x[-1] > max(tolerance, FEASIBLE)
