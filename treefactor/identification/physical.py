"""Fit parameters of bodies that can exist to the triangle of a least-squares problem.

A body can exist (its parameters are physically consistent) if its pseudo-inertia J is positive definite. With
U U^T that of the prior, J = U X X^T U^T, X upper triangular with a positive diagonal. The fit is regularized
towards the prior by the entropic divergence

    D = trace(X X^T) - log det(X X^T) - 4

which has no units, does not depend on the axes, and is infinite for bodies that cannot exist (Lee, Wensing
and Park, "Geometric robot dynamic identification: a convex programming approach", T-RO 36, 2020).
`fit_physical` minimizes the squared residuals and strength times the divergences of all bodies. That is
convex in the parameters, so it takes Newton steps in these, each about the current X, which keeps iterates
positive definite. Gauss-Newton steps in log-Cholesky coordinates of the parameters have the same minimum, and
follow its curved valleys with many more iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._util.validation import as_count, as_real, as_size, require_finite
from ..exceptions import InvalidModelError, ShapeError
from ..model.parameters import from_pseudo_inertia, pseudo_inertia

THINNEST = 1e-2  # least principal second moment in a prior, as a share of the sum of the three
POINT = (
    1e-6  # bodies with less second moment, as a share of a body of typical size, have no size of their own
)
RIDGE = 1e-10  # damping of the linear unknowns, as a share of the norm of their columns
FIRST_STRENGTH = 0.1  # as a share of the mean squared residual of the prior, four for a body
EASED = 0.1  # factor of the strength after a step of more than half its length
ROUNDING = 1e-12  # residual that is rounding, as a share of the largest entry of the target
INSIDE = 0.999999  # share of the way to the boundary that a step may go
BISECTIONS = 40

UPPER = np.triu_indices(4)
SYMMETRIC = np.zeros((10, 4, 4))  # orthonormal basis of changes of J
for _k, (_i, _j) in enumerate(zip(*UPPER, strict=True)):
    SYMMETRIC[_k, _i, _j] = SYMMETRIC[_k, _j, _i] = 1.0 if _i == _j else np.sqrt(0.5)
CHANGES = from_pseudo_inertia(SYMMETRIC).T  # parameters of this basis
UNIT = from_pseudo_inertia(np.eye(4))


class PhysicalFit(NamedTuple):
    """Parameters of bodies that can exist, and how `treefactor.identification.fit_physical` found them.

    Attributes
    ----------
    parameters : ndarray, shape (njoints, 10)
        In Pinocchio's order.
    armature : ndarray, shape (na,)
    linear : ndarray, shape (nl,)
        The other unknowns.
    cost : float
        Squared residual of the triangle, without the regularization.
    divergences : ndarray, shape (njoints,)
        Entropic divergence of every body from its prior; about 2 d^2 where all parameters grow by a share d.
    iterations : int
    converged : bool
        Whether a further step would reduce the objective by less than the tolerance.

    Notes
    -----
    Thread-compatible.
    """

    parameters: np.ndarray
    armature: np.ndarray
    linear: np.ndarray
    cost: float
    divergences: np.ndarray
    iterations: int
    converged: bool


def fit_physical(
    triangle,
    K,
    prior,
    armature=(),
    lower=(),
    strength: float = 10.0,
    floor: float = 1e-3,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> PhysicalFit:
    """Fit physically consistent parameters to a triangle, regularized towards a prior.

    Parameters
    ----------
    triangle : array_like, shape (count + nl + 1, count + nl + 1)
        Upper triangular factor of the rows (base columns, other columns, torque), weighted by one over the
        standard deviation of their noise.
    K : array_like, shape (count, 10 njoints + na)
        Base parameters of all parameters, in the order (parameters of every joint, armature).
    prior : array_like, shape (njoints, 10)
        Parameters of the bodies before the measurement, in Pinocchio's order. Principal second moments about
        the centre of mass below 1 % of their sum are raised to it, those of point masses to that of a body
        of the robot's mean size. Bodies without mass stay as they are.
    armature : array_like, shape (na,), optional
        Armature before the measurement, where the iteration begins; kg m^2 or kg. The fit keeps it from 0 up,
        without regularization.
    lower : array_like, shape (nl,), optional
        Least values of the other unknowns, not regularized: 0 of friction, -inf of an offset.
    strength : float
        Weight of the regularization, positive; where the prior is wrong by a share d, 1 / (2 d^2): 10 for
        about 20 %.
    floor : float
        Mass, and second moments in every direction, stay above this share of those of the prior. Below 1.
    tolerance : float
        Iterations end when a step would reduce the objective by less than this share, or than rounding.
    max_iterations : int

    Returns
    -------
    PhysicalFit

    Raises
    ------
    InvalidModelError
        If a mass of the prior is negative, or no body has a size; names the body's number.
    ShapeError, NonFiniteError, ValueError

    Notes
    -----
    Newton's method with the strength reduced to the given one step by step; armature and the other unknowns
    are solved for within their bounds. 3 to 25 iterations for strengths of 0.1 and more. Each takes one QR of
    count + nl + 20 njoints + na + nl rows and 10 njoints + na + nl columns: 1 ms for 6 bodies, 25 ms for 33.

    Examples
    --------
    >>> import numpy as np
    >>> from treefactor.identification import fit_physical
    >>> prior = [[1.0, 0, 0, 0, 0.2, 0, 0.2, 0, 0, 0.2]]
    >>> masses = np.array([[10.0, 20.0], [0.0, 0.1]])  # mass alone is measured: 2 +- 0.1
    >>> fit = fit_physical(masses, np.eye(10)[:1], prior)
    >>> fit.parameters[0, 0].round(2), fit.converged
    (np.float64(1.98), True)
    """
    prior = _checked_prior(prior)
    strength, share = as_size(strength, "strength"), as_size(floor, "floor")
    if not 0.0 < strength < np.inf or not share < 1.0:
        raise ValueError(f"expected a positive strength and a floor below 1, got {strength:g} and {share:g}")
    bodies = _Bodies(prior, share)
    armature, lower = _vector(armature, "armature"), _vector(lower, "lower")
    problem = _problem(triangle, K, bodies, armature.size, lower)
    start = np.maximum(np.concatenate([armature, np.zeros(lower.size)]), problem.bounds)
    limits = as_size(tolerance, "tolerance"), as_count(max_iterations, "max_iterations", 1)
    X, y, iterations, converged = _minimize(problem, start, strength, *limits)
    divergences = np.zeros(len(prior))
    divergences[bodies.chosen] = _divergences(X)
    rest = problem.residuals(X, y)
    return PhysicalFit(
        bodies.parameters(X),
        y[: armature.size],
        y[armature.size :],
        float(rest @ rest + problem.rest),
        divergences,
        iterations,
        converged,
    )


def _checked_prior(prior) -> np.ndarray:
    """Return the parameters of a prior as an array of shape (njoints, 10), without negative masses."""
    prior = as_real(prior, "prior")
    if prior.ndim != 2 or prior.shape[1] != 10:
        raise ShapeError(f"prior must have shape (njoints, 10), got {prior.shape}", prior.shape)
    require_finite(prior, "prior")
    if (prior[:, 0] < 0.0).any():
        body = int(np.argmax(prior[:, 0] < 0.0))
        raise InvalidModelError(f"prior[{body}] has a negative mass, {prior[body, 0]:.3g}")
    return prior


def _vector(values, name: str) -> np.ndarray:
    """Return values as a vector of any size, with numbers that are finite or -inf."""
    array = as_real(values, name)
    if array.ndim != 1:
        raise ShapeError(f"{name} must be a vector, got shape {array.shape}", array.shape)
    require_finite(np.where(array == -np.inf, 0.0, array), name)
    return array


class _Bodies:
    """Bodies with mass: their parameters as functions of X."""

    def __init__(self, prior: np.ndarray, floor: float):
        self.prior, self.floor = prior, floor
        self.chosen = prior[:, 0] > 0.0
        self.from_unit = _congruence(_prior_factors(prior[self.chosen]))

    def parameters(self, X: np.ndarray) -> np.ndarray:
        """Return the parameters (njoints, 10) of all bodies."""
        parameters = self.prior.copy()
        relative = self.floor * UNIT + (1.0 - self.floor) * _squares(X)
        parameters[self.chosen] = np.einsum("bij,bj->bi", self.from_unit, relative)
        return parameters


def _congruence(U: np.ndarray) -> np.ndarray:
    """Return matrices (..., 10, 10) that map the parameters of J to those of U J U^T."""
    V = U[..., None, :, :]
    return from_pseudo_inertia(V @ pseudo_inertia(np.eye(10)) @ V.swapaxes(-1, -2)).swapaxes(-1, -2)


def _squares(X: np.ndarray) -> np.ndarray:
    """Return the parameters (..., 10) of X X^T."""
    return from_pseudo_inertia(X @ X.swapaxes(-1, -2))


def _prior_factors(prior: np.ndarray) -> np.ndarray:
    """Return upper triangular factors (bodies, 4, 4) of pseudo-inertias, thin bodies made thicker."""
    J = pseudo_inertia(prior)
    mass = prior[:, 0]
    com = prior[:, 1:4] / mass[:, None]
    S = J[:, :3, :3] - mass[:, None, None] * com[:, :, None] * com[:, None, :]
    sizes = np.trace(S, axis1=1, axis2=2)
    typical = sizes.sum() * mass / mass.sum()
    sizes = np.where(sizes > POINT * typical, sizes, typical)
    if not (sizes > 0.0).all():
        raise InvalidModelError("the bodies of prior have no size: give one of them a tensor of inertia")
    moments, axes = np.linalg.eigh(S)
    moments = np.maximum(moments, THINNEST * sizes[:, None])
    S = (axes * moments[:, None, :]) @ axes.swapaxes(1, 2)
    U = np.zeros_like(J)
    U[:, :3, :3] = _upper(S)
    U[:, 3, 3] = np.sqrt(mass)
    U[:, :3, 3] = com * U[:, 3:, 3]
    return U


def _upper(A: np.ndarray) -> np.ndarray:
    """Return upper triangular factors U of matrices U U^T."""
    return np.linalg.cholesky(A[:, ::-1, ::-1])[:, ::-1, ::-1]


class _Problem(NamedTuple):
    """Residuals D pi(X X^T) + L y - target of the data."""

    D: np.ndarray  # (rows, bodies, 10)
    L: np.ndarray  # (rows, linear unknowns)
    target: np.ndarray  # (rows,)
    bounds: np.ndarray  # least values of y
    rest: float  # squared residual that no unknowns change

    def residuals(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the residuals."""
        return np.tensordot(self.D, _squares(X)) + self.L @ y - self.target

    def model(self, X: np.ndarray, y: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
        """Return A and r of the quadratic model |A x + r|^2 of the objective about X and y.

        x has ten numbers a body, for the change of I in X I X^T, then the change of y.
        """
        (rows, bodies, _), weight = self.D.shape, np.sqrt(strength / 2.0)
        data = _times(self.D, _congruence(X) @ CHANGES).reshape(rows, -1)
        pull = np.eye(10 * bodies, 10 * bodies + self.L.shape[1])
        slopes = np.einsum("kij,bij->bk", SYMMETRIC, X.swapaxes(1, 2) @ X - np.eye(4))
        A = np.vstack([np.hstack([data, self.L]), weight * pull])
        return A, np.concatenate([self.residuals(X, y), weight * slopes.ravel()])


def _times(D: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return D (rows, bodies, 10) times matrices A (bodies, 10, 10), body by body."""
    return np.matmul(D.swapaxes(0, 1), A).swapaxes(0, 1)


def _problem(triangle, K, bodies: _Bodies, armatures: int, lower: np.ndarray) -> _Problem:
    """Return the problem of the bodies, with armature and the other unknowns as linear ones."""
    triangle, K, prior = as_real(triangle, "triangle"), as_real(K, "K"), bodies.prior
    if K.ndim != 2 or K.shape[1] != prior.size + armatures:
        wanted = f"(count, {prior.size + armatures}), 10 for a joint of prior and one for an armature"
        raise ShapeError(f"K must have shape {wanted}, got {K.shape}", K.shape)
    count, rows = len(K), len(K) + lower.size
    if triangle.shape != (rows + 1, rows + 1):
        wanted = f"({rows + 1}, {rows + 1}): rows of K, entries of lower, and one"
        raise ShapeError(f"triangle must have shape {wanted}, got {triangle.shape}", triangle.shape)
    require_finite(triangle, "triangle")
    require_finite(K, "K")
    R = triangle[:rows, :rows]
    M = R[:, :count] @ K
    columns = M[:, : prior.size].reshape(rows, -1, 10)
    held = np.tensordot(columns[:, ~bodies.chosen], prior[~bodies.chosen])
    D = _times(columns[:, bodies.chosen], bodies.from_unit)
    least = np.tensordot(D, np.broadcast_to(UNIT, D.shape[1:]))
    return _Problem(
        (1.0 - bodies.floor) * D,
        np.concatenate([M[:, prior.size :], R[:, count:]], axis=1),
        triangle[:rows, rows] - held - bodies.floor * least,
        np.concatenate([np.zeros(armatures), lower]),
        float(triangle[rows, rows]) ** 2,
    )


def _divergences(X: np.ndarray) -> np.ndarray:
    """Return the divergences of X X^T from 1."""
    logs = np.log(np.diagonal(X, axis1=1, axis2=2))
    return (X**2).sum(axis=(1, 2)) - 2.0 * logs.sum(axis=1) - 4.0


def _minimize(problem: _Problem, y: np.ndarray, final: float, tolerance: float, max_iterations: int):
    """Return X, y, the number of iterations, and whether they converged, from X = 1."""
    bodies, rows = problem.D.shape[1], len(problem.D)
    X = np.tile(np.eye(4), (bodies, 1, 1))
    r = problem.residuals(X, y)
    strength = max(final, FIRST_STRENGTH * (r @ r) / max(4 * bodies, 1))
    # the residual of exact data is only rounding
    least = (ROUNDING * np.abs(problem.target).max(initial=0.0)) ** 2
    for iteration in range(max_iterations):
        A, r = problem.model(X, y, strength)
        step, change = _step(A, r, 10 * bodies, problem.bounds - y)
        moved = A @ np.concatenate([step, change])
        predicted = r @ r - np.sum((r + moved) ** 2)
        objective = r[:rows] @ r[:rows] + problem.rest + strength * _divergences(X).sum()
        small = predicted <= tolerance * objective + least
        if small and strength == final:
            return X, y, iteration, True
        changes = np.tensordot(step.reshape(bodies, 10), SYMMETRIC, 1)
        length = _length(r[:rows], moved[:rows], X, changes, strength)
        X, y = X @ _upper(np.eye(4) + length * changes), y + length * change
        if small or length > 0.5:
            strength = max(final, EASED * strength)
    return X, y, max_iterations, False


def _length(r: np.ndarray, moved: np.ndarray, X: np.ndarray, changes: np.ndarray, strength: float) -> float:
    """Return the share of a step, at most 1, that minimizes the convex objective along it."""
    values = np.linalg.eigvalsh(changes).ravel()
    growth = np.einsum("bki,bkj,bij", X, X, changes)

    def slope(t: float) -> float:
        pull = growth - (values / (1.0 + t * values)).sum()
        return 2.0 * (r @ moved + t * (moved @ moved)) + strength * pull

    low, high = 0.0, min(1.0, INSIDE / max(-values.min(initial=0.0), INSIDE))
    if slope(high) <= 0.0:
        return high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
    return low


def _step(A: np.ndarray, r: np.ndarray, steps: int, least: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first `steps` entries and the others, at least so much, of the minimizer of |A x + r|."""
    from scipy.linalg import solve_triangular
    from scipy.optimize import lsq_linear

    n = A.shape[1]
    norms = np.linalg.norm(A[:, steps:], axis=0)
    ridge = np.eye(n, n + 1)[steps:] * np.where(norms > 0.0, RIDGE * norms, 1.0)[:, None]
    T = np.linalg.qr(np.vstack([np.column_stack([A, -r]), ridge]), mode="r")
    B, b = T[steps:n, steps:n], T[steps:n, n]
    y = solve_triangular(B, b)
    if (y < least).any():
        y = lsq_linear(B, b, (least, np.inf), method="bvls").x
    return solve_triangular(T[:steps, :steps], T[:steps, n] - T[:steps, steps:n] @ y), y
