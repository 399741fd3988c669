"""Follow theorem 1 of Tasora, Manconi & Silvestri: from the mixed problem (2.6) to alpha = A gamma + B.

`printed` has A and B of (2.8) as they stand, `corrected` B with M^-1 b in place of b.
"""

from __future__ import annotations

import numpy as np


def parts(problem) -> tuple[np.ndarray, ...]:
    """Return M^-1, C_q, D_q, b, c and d of the proof; c and d are right sides, as in (2.6)."""
    return (
        *(np.linalg.inv(problem.H), problem.C.toarray(), problem.D.toarray()),
        *(problem.g, problem.c, problem.d),
    )


def coupling(problem) -> np.ndarray:
    """Return D M^-1 C^T."""
    W, C, D, *_ = parts(problem)
    return D @ W @ C.T


def first_summand(problem) -> np.ndarray:
    """Return D M^-1 D^T, the first summand of A."""
    W, _, D, *_ = parts(problem)
    return D @ W @ D.T


def printed(problem) -> tuple[np.ndarray, np.ndarray]:
    """Return A and B of (2.8) as printed."""
    W, C, D, b, c, d = parts(problem)
    inverse = np.linalg.inv(C @ W @ C.T)
    A = D @ W @ D.T - D @ W @ C.T @ inverse @ C @ W @ D.T
    return A, D @ W @ C.T @ inverse @ (c - C @ b) + D @ b - d


def corrected(problem) -> np.ndarray:
    """Return B of (2.8) with M^-1 b in place of b."""
    W, C, D, b, c, d = parts(problem)
    inverse = np.linalg.inv(C @ W @ C.T)
    return D @ W @ C.T @ inverse @ (c - C @ W @ b) + D @ W @ b - d


def by_the_proof(problem) -> np.ndarray:
    """Return A by the proof's steps: subtract two equations times inverses, multiply by D M^-1 C^T again."""
    W, C, D, *_ = parts(problem)
    X, Y = D @ W @ C.T, C @ W @ C.T
    return X @ (np.linalg.inv(X) @ D @ W @ D.T - np.linalg.inv(Y) @ C @ W @ D.T)


def residuals(problem, gamma: np.ndarray) -> np.ndarray:
    """Return alpha for given impulses: the first two lines of (2.6) solved for v and gamma_C."""
    _, C, D, b, c, d = parts(problem)
    p = len(c)
    K = np.block([[problem.H, C.T], [C, np.zeros((p, p))]])
    v = np.linalg.solve(K, np.concatenate((b + D.T @ gamma, c)))[: problem.n]
    return D @ v - d


def reduced(problem, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Solve (3.1), with the rows that are on; return v and their impulses."""
    J = np.concatenate((problem.C.toarray(), problem.D.toarray()[active]))
    K = np.block([[problem.H, J.T], [J, np.zeros((len(J),) * 2)]])
    x = np.linalg.solve(K, np.concatenate((problem.g, problem.c, problem.d[active])))
    return x[: problem.n], -x[problem.n + len(problem.c) :]


def switched(problem, active: np.ndarray, off: float = 1e20) -> tuple[np.ndarray, np.ndarray]:
    """Solve (3.2), with a large diagonal entry for rows that are off; return v and -gamma_D."""
    J, n, p = np.concatenate((problem.C.toarray(), problem.D.toarray())), problem.n, len(problem.c)
    K = np.block([[problem.H, J.T], [J, np.zeros((len(J),) * 2)]])
    rows = n + p + np.flatnonzero(~active)
    K[rows, rows] = off
    x = np.linalg.solve(K, np.concatenate((problem.g, problem.c, problem.d)))
    return x[:n], x[n + p :]
