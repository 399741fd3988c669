"""Generate mixed complementarity problems with extreme bounds and sizes, and misleading warm starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.mlcp_small import small
from helpers.mlcp_verify import scales
from treefactor.mlcp import Problem, Solution, Status

UPPER = [np.inf, np.inf, np.inf, 0.0, 1e-300, 1e-11, 1.0, 2.0, 1e6]
NUMBERS = [0.0, -1.0, np.nan, np.inf, -np.inf, 1e-300, 1e308, 1e31, 1.0]


def hostile(seed: int) -> Problem:
    """Draw a small problem with rows of any scale, d down to -inf or tiny, and some bounds of impulses.

    Four in ten have bounds, one in three is in other units, one in three has tiny or no momenta.
    """
    rng = np.random.default_rng([2, seed])
    whole = small(seed, n=5, m=7)
    C, D, d, g = whole.C.toarray(), whole.D.toarray(), whole.d.copy(), whole.g.copy()
    c, m = whole.c, whole.m
    d[rng.random(m) < 0.1] = -np.inf
    d[rng.random(m) < 0.1] = -1e12
    if rng.random() < 1 / 3:
        g *= rng.choice([0.0, 1e-9, 1e-3])
    if rng.random() < 1 / 3:
        small_d = np.flatnonzero(d > 0)
        d[small_d] *= rng.choice([1e-9, 1e-3, 1.0], len(small_d))
    upper = rng.choice(UPPER, m) if rng.random() < 0.4 else None
    if rng.random() < 1 / 3:
        by_row, by_equation = 10.0 ** rng.integers(-5, 6, m), 10.0 ** rng.integers(-5, 6, len(c))
        D, d, C, c = D * by_row[:, None], d * by_row, C * by_equation[:, None], c * by_equation
    return Problem(whole.H, whole.tree, g, C, c, D, d, upper)


def neighbour(problem: Problem, seed: int) -> Problem:
    """Return a problem with as many rows: other momenta, some rows out of reach, some the other way round."""
    rng = np.random.default_rng([3, seed])
    d, sign = problem.d.copy(), np.where(rng.random(problem.m) < 0.2, -1.0, 1.0)
    d[rng.random(problem.m) < 0.3] = -np.inf
    g = problem.g + rng.choice([0.0, 1e-9, 1.0]) * rng.normal(size=problem.n)
    D = problem.D.toarray() * sign[:, None]
    return Problem(problem.H, problem.tree, g, problem.C, problem.c, D, d, problem.upper)


def garbage(solution: Solution, seed: int) -> Solution:
    """Return a warm start of random impulses, among them NaN and huge ones, and random active rows."""
    rng = np.random.default_rng([4, seed])
    m, p = len(solution.gamma), len(solution.gamma_c)
    finite = [x for x in NUMBERS if np.isfinite(x)]
    gamma, gamma_c = (rng.choice(NUMBERS if seed % 4 == 0 else finite, size) for size in (m, p))
    return replace(solution, status=Status.SOLVED, gamma=gamma, gamma_c=gamma_c, active=rng.random(m) < 0.5)


def confirm(problem: Problem, solution: Solution) -> None:
    """Assert from the data that a solution solves, or that a certificate excludes every v of sensible size.

    All rows are scaled to unit length in the metric of H^-1. Forces at finite bounds are data, too, of which
    1e-12 is lost by rounding; a certificate shows that v would have to be 1e7 times larger than the data.
    """
    H, root = problem.H, np.sqrt(np.diag(problem.H))
    J = np.concatenate((problem.C.toarray(), problem.D.toarray()))
    p, b, reachable = len(problem.c), np.concatenate((problem.c, problem.d)), problem.d > -np.inf
    upper = np.full(len(b), np.inf)
    upper[p:] = np.inf if problem.upper is None else problem.upper
    scale = scales(H, J)
    empty = ~J.any(axis=1)
    scale[empty] = scale[~empty].min(initial=1.0)
    J, b, upper = J * scale[:, None], b * scale, upper / scale
    asked = np.minimum(np.where(np.arange(len(b)) < p, np.abs(b), np.maximum(b, 0.0)), upper)
    size = max(np.abs(problem.g / root).max(initial=0.0), asked[~empty].max(initial=0.0))
    if solution.status is Status.INFEASIBLE:
        y = np.concatenate(solution.certificate[::-1]) / scale
        norm = np.linalg.norm(y)
        assert np.isfinite(norm)
        assert norm > 0.0
        assert y[p:].min(initial=0.0) >= -1e-12 * norm
        assert not y[p:][~reachable].any()
        assert not y[upper < np.inf].any()
        used = y != 0.0
        gain, force = b[used] @ y[used], np.linalg.norm((J.T @ y) / root) - 1e-14 * norm
        assert gain > 1e-13 * size * norm
        assert gain >= 1e7 * size * force, f"gain {gain:.2e}, force {force:.2e} of {size:.2e}"
        return
    assert solution.status is Status.SOLVED, f"{solution.status}, residual {solution.residual():.2e}"
    impulse = np.concatenate((solution.gamma_c, solution.gamma)) / scale
    full = (impulse >= upper) & (upper < np.inf)
    moved = np.abs(root * np.linalg.solve(H, problem.g)).max(initial=0.0)
    allowed = 1e-290 + 1e-9 * size + 1e-12 * max(impulse[full & ~empty].max(initial=0.0), moved)
    force, gap = (H @ solution.v - problem.g - J.T @ impulse) / root, J @ solution.v - b
    natural = np.maximum(np.minimum(impulse, gap), impulse - upper)
    wrong = np.abs(np.concatenate((force, gap[:p], natural[p:]))).max(initial=0.0)
    assert wrong <= allowed, f"residual {wrong:.2e}, allowed {allowed:.2e}"
    assert (solution.gamma >= 0.0).all()
    assert (impulse <= upper * (1.0 + 1e-15)).all()
    assert not (solution.active | (solution.gamma > 0.0))[~reachable].any()
