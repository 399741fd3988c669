"""Mirror the Kane-sum recursion for the inertia matrix of a chain, equation by equation.

The paper, on a recursive O(n^2) algorithm for the equations of motion of space manipulators in closed form,
exchanges the sums of Kane's equations (9), so that pairs of joints share the sums of their sub-chains:

    A_ik = a_i^T Msum_ik a_k,    Msum_ik = sum over j >= k of
           m_j r~_ij r~_kj^T + r~_ij c~_j^T + c~_j r~_kj^T + I_j          i <= k, revolute joints

a_i is the unit axis of joint i, r_ij the vector from O_i to O_j, m_j the mass, c_j = m_j d_j the first moment
and I_j the inertia tensor of body j about O_j; all in the base frame. One function is one line of table 1.
Scalars may be of any type; dictionaries are indexed from 1.

What is executed here and what the table prints differ in these lines, and `DIFFERENCES` holds by how much:

- 1, `sum m_j`: used by pairs of prismatic joints alone; a revolute chain does not form it.
- 4, `c_ij = m_j r_ij + c_j`: likewise for prismatic joints. The additions done instead are those of the sums
  of m_j r_ij, j > k, without which (14b) does not hold.
- 7, M2: (14b), as far as it is legible, has m_j+1 r~_i,j+1 where M2 needs the sum of m_l r~_il over l > j: as
  it stands it is wrong from three bodies on. With the sums nothing is left to be multiplied by a mass, 9
  multiplications fewer for every matrix. Besides, the printed 18 N^2 - 18 is not the sum 18 N^2 - 18 N of the
  36 (N-1) and 18 N^2 - 54 N + 36 in the paper's own text.
- 8, M3: the table leaves out (15a), 27 + 27 for each of N-1 matrices, which the text counts.
- 10, A: a_i^T (M a_k) is 9 + 3 products, not the 6 of the text, and as many additions.

The printed totals are the sums of the printed lines, but for 19 N additions: those of line 1 (N) are left out
and the 9 N of line 6 enter with a minus sign. As in the paper, a product of matrices accumulates into zeros:
3 multiplications and 3 additions for every entry, zeros included.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..._util.counting import counting, zero_of
from ..._util.vectors import cross, dot, tilde
from ...tree.tree import OperationCount

# Table 1, coefficients of N^2, N, 1: multiplications, additions
TABLE_1 = {
    "1 sum m": ((0, 0, 0), (0, 1, 0)),
    "2 r": ((0, 0, 0), (1.5, -4.5, 3)),
    "3 m r": ((1.5, -1.5, 0), (0, 0, 0)),
    "4 c": ((0, 0, 0), (1.5, -1.5, 0)),
    "6 M1": ((0, 0, 0), (0, 9, -9)),
    "7 M2": ((18, 0, -18), (18, -27, 9)),
    "8 M3": ((13.5, -40.5, 27), (18, -54, 36)),
    "9 Msum": ((0, 0, 0), (13.5, -4.5, -9)),
    "10 A": ((3, 3, 0), (3, 3, 0)),
}
TOTAL = ((36, -39, 9), (55.5, -97.5, 30))  # line 11, as printed

# executed minus printed
DIFFERENCES = {
    "1 sum m": ((0, 0, 0), (0, -1, 0)),
    "4 c": ((0, 0, 0), (0, -3, 3)),
    "7 M2": ((-4.5, -13.5, 18), (0, 0, 0)),
    "8 M3": ((0, 27, -27), (0, 27, -27)),
    "10 A": ((3, 3, 0), (3, 3, 0)),
}


def evaluate(polynomials, n: int) -> OperationCount:
    """Evaluate polynomials in n: multiplications and additions for n bodies."""
    return OperationCount(*(int(np.polyval(coefficients, n)) for coefficients in polynomials))


def product(left, right) -> np.ndarray:
    """Add left times right to zeros, as the paper does: 27 products and 27 additions for 3 x 3."""
    result = np.full((len(left), len(right[0])), zero_of(left[0][0]), dtype=object)
    for i, j in np.ndindex(result.shape):
        for k in range(len(right)):
            result[i, j] = result[i, j] + left[i][k] * right[k][j]
    return result


def distances(r) -> dict:
    """Return r_ij from O_i to O_j, i < j, from r[j] = r_j-1,j (12)."""
    n = len(r)
    result = {(j - 1, j): r[j] for j in range(2, n + 1)}
    for i in range(n - 2, 0, -1):
        for j in range(i + 2, n + 1):
            result[i, j] = r[i + 1] + result[i + 1, j]
    return result


def moments(r, m) -> dict:
    """Return m_j r_ij (table 1, line 3)."""
    return {(i, j): r[i, j] * m[j] for i, j in r}


def outboard(mr, n: int) -> dict:
    """Return the sums of m_l r_il over l > k, for i <= k."""
    result = {(i, n - 1): mr[i, n] for i in range(1, n)}
    for k in range(n - 2, 0, -1):
        for i in range(1, k + 1):
            result[i, k] = mr[i, k + 1] + result[i, k + 1]
    return result


def m1(I) -> dict:
    """Return the sums of I_l over l >= j (13)."""
    n = len(I)
    result = {n: I[n]}
    for j in range(n - 1, 0, -1):
        result[j] = I[j] + result[j + 1]
    return result


def m2(s, r, n: int) -> dict:
    """Return M2_ij, the sum of m_l r~_il r~_jl^T over l > j (14); s holds the sums of m_l r_il over l > j."""
    result = {(i, n - 1): product(tilde(s[i, n - 1]), tilde(r[n - 1, n]).T) for i in range(1, n)}
    for j in range(n - 2, 0, -1):
        for i in range(1, j + 1):
            result[i, j] = product(tilde(s[i, j]), tilde(r[j, j + 1]).T) + result[i, j + 1]
    return result


def m3(c, r, n: int) -> dict:
    """Return M3_ij, the sum of c~_l r~_il^T over l > j (15)."""
    result = {(i, n - 1): product(tilde(c[n]), tilde(r[i, n]).T) for i in range(1, n)}
    for j in range(n - 2, 0, -1):
        for i in range(1, j + 1):
            result[i, j] = product(tilde(c[j + 1]), tilde(r[i, j + 1]).T) + result[i, j + 1]
    return result


def m_sum(M1, M2, M3) -> dict:
    """Return Msum_ij, i <= j (16)."""
    n = len(M1)
    result = {(n, n): M1[n]}
    for i in range(1, n):
        result[i, i] = M1[i] + M2[i, i] + M3[i, i] + M3[i, i].T
        for j in range(i + 1, n):
            result[i, j] = M1[j] + M2[i, j] + M3[j, j] + M3[i, j - 1].T
        result[i, n] = M1[n] + M3[i, n - 1].T
    return result


def inertia_matrix(a, M) -> np.ndarray:
    """Return A_ij = a_i^T (Msum_ij a_j), revolute joints (20)."""
    n = len(a)
    A = np.empty((n, n), dtype=object)
    for i, j in M:
        x, y = a[i].reshape(1, 3), a[j].reshape(3, 1)
        A[i - 1, j - 1] = A[j - 1, i - 1] = product(x, product(M[i, j], y))[0, 0]
    return A


def inertia(axis, r, mass, c, inertia, prismatic=None) -> np.ndarray:
    """Return A from arrays (n, 3), (n, 3), (n,), (n, 3), (n, 3, 3) of any scalar, prismatic (n,) of bool."""
    a, steps, m, c, I = (dict(enumerate(x, 1)) for x in (axis, r, mass, c, inertia))
    n = len(a)
    r = distances(steps)
    mr = moments(r, m)
    M = m_sum(m1(I), m2(outboard(mr, n), r, n), m3(c, r, n)) if n else {}
    A = inertia_matrix(a, M)
    if prismatic is not None and any(prismatic):
        couple(A, a, m, c, mr, dict(enumerate(prismatic, 1)))
    return A


def couple(A, a, m, c, mr, prismatic) -> None:
    """Write the rows and columns of prismatic joints, from the sums of m_j and of c_ij (12a, 12b)."""
    #   C_ik = sum of c_ij over j >= k,  c_ij = m_j r_ij + c_j
    #   A_ik = a_i^T a_k sum m_j;  a_i^T (C_ik cross a_k), i revolute;  a_i^T (a_k cross C_kk), k revolute
    n = len(a)
    total, C = {}, {}
    for k in range(n, 0, -1):
        total[k] = m[k] if k == n else m[k] + total[k + 1]
        for i in range(k, 0, -1):
            own = c[k] if i == k else mr[i, k] + c[k]
            C[i, k] = own if k == n else own + C[i, k + 1]
    for i, k in C:
        if prismatic[i] and prismatic[k]:
            entry = dot(a[i], a[k]) * total[k]
        elif prismatic[k]:
            entry = dot(a[i], cross(C[i, k], a[k]))
        elif prismatic[i]:
            entry = dot(a[i], cross(a[k], C[k, k]))
        else:
            continue
        A[i - 1, k - 1] = A[k - 1, i - 1] = entry


def forces(axis, r, force, moment, torque, prismatic) -> np.ndarray:
    """Return b_j = torque_j + a_j^T (moment of outboard loads about O_j; or their force), (17)-(21).

    Arrays (n, 3) but for torque and prismatic, (n,); force and moment are f^IE and m^IE of (11), about O_j.
    """
    a, steps, f, m = (dict(enumerate(x, 1)) for x in (axis, r, force, moment))
    n = len(a)
    r = distances(steps)
    b = np.empty(n, dtype=object)
    F = M1 = None
    for j in range(n, 0, -1):
        F = f[j] if j == n else f[j] + F  # (17)
        M1 = m[j] if j == n else m[j] + M1  # (18)
        M = M1
        for k in range(j + 1, n + 1):
            M = M + cross(r[j, k], f[k])  # (19)
        b[j - 1] = dot(a[j], F if prismatic[j - 1] else M) + torque[j - 1]  # (20), (21)
    return b


def executed(axis, r, mass, c, inertia) -> dict[str, OperationCount]:
    """Count every line of table 1 on a revolute chain by running it on counting scalars."""
    tally = Counter()
    a, steps, m, c, I = (dict(enumerate(counting(x, tally), 1)) for x in (axis, r, mass, c, inertia))
    n = len(a)
    lines = {"1 sum m": OperationCount()}

    def line(name, run, *arguments):
        tally.clear()
        result = run(*arguments)
        lines[name] = OperationCount(**tally)
        return result

    r = line("2 r", distances, steps)
    mr = line("3 m r", moments, r, m)
    s = line("4 c", outboard, mr, n)
    M1 = line("6 M1", m1, I)
    M2 = line("7 M2", m2, s, r, n)
    M3 = line("8 M3", m3, c, r, n)
    M = line("9 Msum", m_sum, M1, M2, M3)
    line("10 A", inertia_matrix, a, M)
    return lines
