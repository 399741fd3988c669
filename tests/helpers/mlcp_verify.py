"""Check solutions and certificates of mixed complementarity problems against the problem's data."""

from __future__ import annotations

import numpy as np

from treefactor.mlcp import Status

RESIDUAL, POLISHED = 1e-9, 1e-12  # row-scaled natural residual, relative to the problem's data
BALANCE, GAIN, PUSH = 1e-8, 1e-6, 1e-12  # of a certificate (y, z), relative to its norm


def verify(problem, solution, tolerance: float = RESIDUAL) -> None:
    """Assert that a solution solves, or that a certificate proves that no solution exists."""
    assert solution.v.shape == (problem.n,)
    assert solution.gamma.shape == solution.active.shape == (problem.m,)
    assert solution.gamma_c.shape == problem.c.shape
    assert solution.pivots >= 0 < solution.factorizations or not problem.n
    if solution.status is Status.INFEASIBLE:
        verify_certificate(problem, *solution.certificate)
        return
    assert solution.status is Status.SOLVED, f"{solution.status}, residual {solution.residual():.2e}"
    assert solution.certificate is None
    by_condition = residuals(problem, solution.v, solution.gamma, solution.gamma_c)
    upper = bounds(problem)
    size = magnitude(problem)
    for name, value in by_condition.items():
        assert value <= tolerance * size, f"{name} {value:.2e} of {size:.2e}"
    pushed = largest(solution.gamma / scales(problem.H, problem.D.toarray()))
    held = largest(solution.gamma_c / scales(problem.H, problem.C.toarray()))
    moved = largest(np.abs(problem.H) @ np.abs(solution.v) / np.sqrt(np.diag(problem.H)))
    rounding = 1e-13 * max(size, pushed, held, moved)
    np.testing.assert_allclose(solution.residual(), max(by_condition.values()), rtol=0.5, atol=rounding)
    assert solution.complementarity() <= tolerance * size * max(size, pushed)
    assert solution.active[(solution.gamma > 0) & (solution.gamma < upper)].all()


def verify_certificate(problem, y, z) -> None:
    """Assert that y >= 0, D^T y + C^T z = 0 and d^T y + c^T z > 0: no v fulfils the constraints."""
    assert (y.shape, z.shape) == (problem.d.shape, problem.c.shape)
    norm = np.linalg.norm(np.append(y, z))
    assert np.isfinite(norm)
    assert norm > 0
    assert y.min(initial=0.0) >= -PUSH * norm
    assert not y[(problem.d == -np.inf) | (bounds(problem) < np.inf)].any()
    assert np.linalg.norm(problem.D.T @ y + problem.C.T @ z) <= BALANCE * norm
    finite = problem.d > -np.inf
    assert problem.d[finite] @ y[finite] + problem.c @ z >= GAIN * norm


def residuals(problem, v, gamma, gamma_c) -> dict[str, float]:
    """Return violations of every condition by dense algebra, forces and rows in square roots of J."""
    H, C, D = problem.H, problem.C.toarray(), problem.D.toarray()
    force = (H @ v - problem.g - C.T @ gamma_c - D.T @ gamma) / np.sqrt(np.diag(H))
    scale, scale_c = scales(H, D), scales(H, C)
    apart, pushed = (D @ v - problem.d) * scale, gamma / scale
    return {
        "dynamics": largest(force),
        "bilateral": largest((C @ v - problem.c) * scale_c),
        "penetration": largest(np.minimum(apart, 0.0)[gamma < bounds(problem)]),
        "pull": largest(np.minimum(gamma, 0.0)),
        "excess": largest(np.maximum(gamma - bounds(problem), 0.0)),
        "natural residual": largest(np.maximum(np.minimum(pushed, apart), pushed - bounds(problem) / scale)),
    }


def bounds(problem) -> np.ndarray:
    """Return the largest impulses of the unilateral rows."""
    return np.full(problem.m, np.inf) if problem.upper is None else problem.upper


def magnitude(problem) -> float:
    """Return the scale of residuals: the largest of the momenta and of the target velocities."""
    H = problem.H
    asked = np.maximum(problem.d, 0.0) * scales(H, problem.D.toarray())
    parts = problem.g / np.sqrt(np.diag(H)), asked, problem.c * scales(H, problem.C.toarray())
    return max(map(largest, parts)) or 1.0


def scales(H, J) -> np.ndarray:
    """Return 1 / sqrt(J_i H^-1 J_i^T) of every row, 1 for a row of zeros."""
    square = np.einsum("ij,ji->i", J, np.linalg.solve(H, J.T))
    return 1.0 / np.sqrt(np.where(square > 0, square, 1.0))


def largest(x: np.ndarray) -> float:
    """Return the largest absolute value, 0 of an empty array."""
    return float(np.abs(x).max(initial=0.0))
