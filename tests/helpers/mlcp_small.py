"""Generate small mixed complementarity problems of whole numbers, often degenerate or infeasible."""

from __future__ import annotations

import numpy as np

from helpers.strategies import lower_pattern
from treefactor import families
from treefactor.mlcp import Problem


def small(seed: int, n: int = 6, m: int = 10, p: int = 2) -> Problem:
    """Draw at most n freedoms, m unilateral and p bilateral rows with entries -1, 0, 1, some rows twice."""
    rng = np.random.default_rng(seed)
    n, m, p = (int(rng.integers(least, most + 1)) for least, most in ((1, n), (0, m), (0, p)))
    tree = families.random_tree(n, rng, 0.5)
    L = np.tril(lower_pattern(tree.parent), -1) * rng.integers(-1, 2, (n, n)) + np.eye(n)
    H = L.T @ np.diag(rng.choice([1.0, 2.0, 4.0], n)) @ L
    C, D = (rng.choice([-1.0, 0.0, 0.0, 1.0], (rows, n)) for rows in (p, m))
    for k in np.flatnonzero(rng.random(m) < 0.3):
        D[k] = rng.choice([-2.0, -1.0, 1.0]) * D[rng.integers(m)]
    g, c = (rng.integers(-3, 4, count).astype(float) for count in (n, p))
    d = rng.choice([-3.0, -1.0, 0.0, 0.0, 0.0, 1.0], m)
    return Problem(H, tree, g, C, c * (rng.random() < 0.5), D, d)
