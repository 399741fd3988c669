"""Mirror Featherstone (2008), chapter 6: tables 6.3, 6.4 and 6.5, in the paper's 1-based letters.

Every function takes the paper's parent array lam (nodes 1..n, base 0), a dense matrix and dense vectors of
any scalar type, and returns new arrays. Entry 0 of the working copies is None, so that reading it fails.
"""

from __future__ import annotations

import numpy as np

from ..._util.counting import sqrt


def one_based(array) -> np.ndarray:
    """Return a copy of a vector or matrix as an object array that is indexed from 1."""
    array = np.asarray(array)
    result = np.full([size + 1 for size in array.shape], None, dtype=object)
    result[(slice(1, None),) * array.ndim] = array
    return result


def zero_based(array: np.ndarray) -> np.ndarray:
    """Return an array that is indexed from 0."""
    return array[(slice(1, None),) * array.ndim]


def expand(lam, dof) -> list[int]:
    """Expand the parent array of joints with dof[i] freedoms (table 6.4).

    A joint without freedoms maps to its parent's last variable, which the paper's map(i-1) + n_i does not.
    """
    joints, n = len(lam), sum(dof)
    lam, dof = [None, *lam], [None, *dof]
    expanded = [None, *range(n)]  # lambda'(i) = i - 1
    last = [0] * (joints + 1)  # map
    count = 0
    for i in range(1, joints + 1):
        if dof[i] == 0:
            last[i] = last[lam[i]]
            continue
        expanded[count + 1] = last[lam[i]]
        count += dof[i]
        last[i] = count
    return expanded[1:]


def ancestors(lam, k: int) -> list[int]:
    """Return lambda(k), lambda(lambda(k)), ... of node k, nearest first."""
    path, i = [], lam[k - 1]
    while i != 0:
        path.append(i)
        i = lam[i - 1]
    return path


def ltl(H, lam) -> np.ndarray:
    """Factorize H = L^T L (table 6.3): L in the lower triangle of the result."""
    H = one_based(H)
    for k in range(len(lam), 0, -1):
        H[k, k] = sqrt(H[k, k])
        for i in ancestors(lam, k):
            H[k, i] = H[k, i] / H[k, k]
        for i in ancestors(lam, k):
            for j in [i, *ancestors(lam, i)]:
                H[i, j] = H[i, j] - H[k, i] * H[k, j]
    return zero_based(H)


def ltdl(H, lam) -> np.ndarray:
    """Factorize H = L^T D L (table 6.3): D on the diagonal of the result, the unit lower L below it."""
    H = one_based(H)
    for k in range(len(lam), 0, -1):
        for i in ancestors(lam, k):
            a = H[k, i] / H[k, k]
            for j in [i, *ancestors(lam, i)]:
                H[i, j] = H[i, j] - a * H[k, j]
            H[k, i] = a
    return zero_based(H)


def l_mul(L, lam, x, unit: bool) -> np.ndarray:
    """Return L x (table 6.5)."""
    L, x = one_based(L), one_based(x)
    y = x.copy()
    for i in range(len(lam), 0, -1):
        y[i] = x[i] if unit else L[i, i] * x[i]
        for j in ancestors(lam, i):
            y[i] = y[i] + L[i, j] * x[j]
    return zero_based(y)


def lt_mul(L, lam, x, unit: bool) -> np.ndarray:
    """Return L^T x (table 6.5)."""
    L, x = one_based(L), one_based(x)
    y = x.copy()
    for i in range(1, len(lam) + 1):
        y[i] = x[i] if unit else L[i, i] * x[i]
        for j in ancestors(lam, i):
            y[j] = y[j] + L[i, j] * x[i]
    return zero_based(y)


def l_inv(L, lam, x, unit: bool) -> np.ndarray:
    """Return L^-1 x (table 6.5)."""
    L, x = one_based(L), one_based(x)
    for i in range(1, len(lam) + 1):
        for j in ancestors(lam, i):
            x[i] = x[i] - L[i, j] * x[j]
        if not unit:
            x[i] = x[i] / L[i, i]
    return zero_based(x)


def lt_inv(L, lam, x, unit: bool) -> np.ndarray:
    """Return L^-T x (table 6.5)."""
    L, x = one_based(L), one_based(x)
    for i in range(len(lam), 0, -1):
        if not unit:
            x[i] = x[i] / L[i, i]
        for j in ancestors(lam, i):
            x[j] = x[j] - L[i, j] * x[i]
    return zero_based(x)


def h_mul(H, lam, x) -> np.ndarray:
    """Return H x from the lower triangle of H (table 6.5)."""
    H, x = one_based(H), one_based(x)
    y = x.copy()
    for i in range(1, len(lam) + 1):
        y[i] = H[i, i] * x[i]
    for i in range(len(lam), 0, -1):
        for j in ancestors(lam, i):
            y[i] = y[i] + H[i, j] * x[j]
            y[j] = y[j] + H[i, j] * x[i]
    return zero_based(y)


def solve(factored, lam, b, unit: bool) -> np.ndarray:
    """Solve H x = b from the result of `ltdl` (unit) or `ltl`."""
    x = lt_inv(factored, lam, b, unit)
    if unit:
        x = np.array([x[i] / factored[i, i] for i in range(len(lam))], dtype=object)
    return l_inv(factored, lam, x, unit)
