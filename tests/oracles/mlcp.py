"""Mixed complementarity problems by trying every set of active rows, by quadprog, and by linear programs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

SINGULAR = 1e-9  # smallest eigenvalue of independent rows, of data that are small whole numbers


def reduced(problem):
    """Return (v_0, Z) such that C v = c holds for v = v_0 + Z u only, or None if no v fulfils it."""
    C, c = problem.C.toarray(), problem.c
    if not c.size:
        return np.zeros(problem.n), np.eye(problem.n)
    U, sizes, Vt = np.linalg.svd(C)
    rank = int((sizes > SINGULAR * max(sizes[0], 1.0)).sum())
    v = Vt[:rank].T @ ((U.T @ c)[:rank] / sizes[:rank])
    return (v, Vt[rank:].T) if np.allclose(C @ v, c, rtol=0.0, atol=1e-9 * (1.0 + np.abs(c).max())) else None


def in_freedoms(problem):
    """Return v_0, Z, G, a, B, b: minimise 1/2 u^T G u - a^T u, B u >= b, v = v_0 + Z u; or None as above."""
    particular = reduced(problem)
    if particular is None:
        return None
    v, Z = particular
    H, D = problem.H, problem.D.toarray()
    rows = problem.d > -np.inf
    return v, Z, Z.T @ H @ Z, Z.T @ (problem.g - H @ v), (D @ Z)[rows], (problem.d - D @ v)[rows]


def every_active_set(problem):
    """Return v, or None where the problem is infeasible.

    Of all sets of independent rows, the one that holds with impulses that push; some optimal set is
    independent (Caratheodory).
    """
    terms = in_freedoms(problem)
    if terms is None:
        return None
    v, Z, G, a, B, b = terms
    m = len(b)
    free = np.linalg.solve(G, a)
    A, low = B @ np.linalg.solve(G, B.T), b - B @ free
    on = (np.arange(2**m)[:, None] >> np.arange(m)) % 2 == 1
    both = on[:, :, None] & on[:, None, :]
    values, vectors = np.linalg.eigh(np.where(both, A, np.eye(m)))
    independent = values.min(axis=1, initial=np.inf) > SINGULAR
    coordinates = np.einsum("sij,si->sj", vectors, np.where(on, low, 0.0))
    gamma = np.einsum("sij,sj->si", vectors, coordinates / np.where(independent[:, None], values, 1.0))
    size = 1e-9 * (1.0 + np.abs(gamma).max(axis=1, initial=0.0))
    right = independent & (gamma >= -size[:, None]).all(1) & (gamma @ A - low >= -size[:, None]).all(1)
    if not right.any():
        return None
    return v + Z @ (free + np.linalg.solve(G, B.T @ gamma[right.argmax()]))


def every_state(problem):
    """Return v of a problem with bounds, without bilateral rows: tries all row statuses; None if all fail.

    Rows that are on are independent in some solution, as above.
    """
    H, D, d, upper = problem.H, problem.D.toarray(), problem.d, problem.upper
    free = np.linalg.solve(H, problem.g)
    A, low = D @ np.linalg.solve(H, D.T), d - D @ free
    for states in product(*[(0, 1, 2) if bound < np.inf else (0, 1) for bound in upper]):
        on, full = (np.array(states, dtype=int) == state for state in (1, 2))
        if np.linalg.eigvalsh(A[np.ix_(on, on)]).min(initial=np.inf) <= SINGULAR:
            continue
        gamma = np.where(full, upper, 0.0)
        gamma[on] = np.linalg.solve(A[np.ix_(on, on)], (low - A @ gamma)[on])
        gap = A @ gamma - low
        inside = (gamma >= -SINGULAR) & (gamma <= upper + SINGULAR)
        if inside.all() and (gap >= -SINGULAR)[~full].all() and (gap <= SINGULAR)[full].all():
            return free + np.linalg.solve(H, D.T @ gamma)
    return None


def boxed(problem):
    """Return v by quadprog of a problem with bounds: soft rows D v + slack >= d at the price upper per slack.

    The slacks' small squares keep quadprog's matrix positive definite: v is right to about 1e-6.
    """
    quadprog = pytest.importorskip("quadprog", reason="the oracle")
    n, soft = problem.n, np.flatnonzero(problem.upper < np.inf)
    none, slack = np.zeros((n, len(soft))), np.zeros((problem.m, len(soft)))
    slack[soft, np.arange(len(soft))] = 1.0
    G = np.block([[problem.H, none], [none.T, 1e-8 * np.eye(len(soft))]])
    rows = np.block([[problem.D.toarray(), slack], [none.T, np.eye(len(soft))]])
    right = np.append(problem.d, np.zeros(len(soft)))
    linear = np.append(problem.g, -problem.upper[soft])
    return quadprog.solve_qp(G, linear, np.ascontiguousarray(rows.T), right)[0][:n]


def goldfarb_idnani(problem):
    """Return v of quadprog, or None where it finds the constraints inconsistent."""
    quadprog = pytest.importorskip("quadprog", reason="the oracle")
    terms = in_freedoms(problem)
    if terms is None:
        return None
    v, Z, G, a, B, b = terms
    if not a.size:
        return v if (b <= 1e-9).all() else None
    try:
        u = quadprog.solve_qp(G, a, np.ascontiguousarray(B.T), b)[0] if b.size else np.linalg.solve(G, a)
    except ValueError as error:
        if "inconsistent" not in str(error):
            raise
        return None
    return v + Z @ u


def feasible(problem) -> bool:
    """Return whether some v fulfils the constraints, by a linear program of HiGHS."""
    from scipy.optimize import linprog

    rows = problem.d > -np.inf
    bilateral = {"A_eq": problem.C, "b_eq": problem.c} if problem.c.size else {}
    unilateral = {"A_ub": -problem.D[np.flatnonzero(rows)], "b_ub": -problem.d[rows]} if rows.any() else {}
    program = linprog(np.zeros(problem.n), **bilateral, **unilateral, bounds=(None, None))
    assert program.status in (0, 2), program.message
    return program.status == 0
