"""Compare what Shimanovsky's algorithms compute with dense matrices, on decimals of 40 digits."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal, localcontext

import numpy as np

from ... import families
from ...tree.tree import Tree
from ..textbook import shimanovsky as textbook
from .execution import sample, vector
from .shimanovsky_bounds import PAPER
from .table import Identity, PaperRow, Table

DIGITS = 40
EXACT = Identity(1e-35)  # of numbers with so many digits
TREES = {
    "chain, n = 9": families.chain(9),
    "binary tree, n = 15": families.binary_tree(4),
    "lattice, n = 16": families.lattice(4),
    "Tree-1, n = 9": families.tree_1(),
    "random tree, n = 20": families.random_tree(20, 0),
}


def numbers() -> Table:
    """Compare both factorizations and their substitutions with dense products and a dense solution."""
    with localcontext(Context(prec=DIGITS)):
        rows = [row for case, tree in TREES.items() for row in (*by_uut(case, tree), *by_udut(case, tree))]
    note = (
        f"Largest deviations over the largest entry, on decimals of {DIGITS} digits. Algorithms 1 to 3 get "
        "the upper triangle alone: what is below the diagonal is no number. M is a random positive definite "
        "matrix with the pattern of the tree. The dense factor comes from LAPACK's Cholesky factorization of "
        "M with its rows and columns in reversed order, in double precision; the dense solution from "
        "Gaussian elimination on decimals."
    )
    return Table(PAPER, "Algorithms 1 to 3: numbers", note, rows)


def by_uut(case: str, tree: Tree) -> list[PaperRow]:
    """Compare M = U U^T, U y = b and U^T x = y."""
    M, p, b = problem(tree)
    stored = textbook.uut(upper(M), p)
    U, y = upper(stored, Decimal(0)), textbook.forward(stored, p, b, False)
    x = textbook.backward(stored, p, y, False)
    return [
        PaperRow(case, "UUᵀ: U Uᵀ against M", apart(U.dot(U.T), M), EXACT),
        PaperRow(case, "UUᵀ: U against a dense factor", apart(U, dense_factor(M)), Identity()),
        PaperRow(case, "UUᵀ, forward: U y against b", apart(U.dot(y), b), EXACT),
        PaperRow(case, "UUᵀ, backward: Uᵀ x against y", apart(U.T.dot(x), y), EXACT),
        PaperRow(case, "UUᵀ: x against a dense solution", apart(x, solution(M, b)), EXACT),
    ]


def by_udut(case: str, tree: Tree) -> list[PaperRow]:
    """Compare M = U D U^T, U D y = b and U^T x = y."""
    M, p, b = problem(tree)
    stored = textbook.udut(upper(M), p)
    D, U = np.diag(stored), unit(stored)
    y = textbook.forward(stored, p, b, True)
    x = textbook.backward(stored, p, y, True)
    return [
        PaperRow(case, "UDUᵀ: U D Uᵀ against M", apart((U * D).dot(U.T), M), EXACT),
        PaperRow(case, "UDUᵀ: U against a dense factor", along_p(M, U), Identity()),
        PaperRow(case, "UDUᵀ, forward: U D y against b", apart(U.dot(D * y), b), EXACT),
        PaperRow(case, "UDUᵀ, backward: Uᵀ x against y", apart(U.T.dot(x), y), EXACT),
        PaperRow(case, "UDUᵀ: x against a dense solution", apart(x, solution(M, b)), EXACT),
    ]


def problem(tree: Tree) -> tuple[np.ndarray, list[int], np.ndarray]:
    """Return M and b as decimals, and the parent array from 1."""
    return decimals(sample(tree)), (tree.parent + 1).tolist(), decimals(vector(tree))


decimals: Callable[[np.ndarray], np.ndarray] = np.vectorize(Decimal, otypes=[object])


def upper(matrix: np.ndarray, below: float | Decimal = Decimal("NaN")) -> np.ndarray:
    """Return the upper triangle of a matrix, above another number."""
    return np.where(np.tri(len(matrix), k=-1, dtype=bool), below, matrix)


def unit(stored: np.ndarray) -> np.ndarray:
    """Return the unit upper triangle that `udut` stores above D."""
    U = upper(stored, stored[0, 0] * 0)
    np.fill_diagonal(U, 1)
    return U


def along_p(M: np.ndarray, U: np.ndarray) -> float:
    """Return the largest deviation of a unit triangle from that of the dense factor."""
    dense = dense_factor(M)
    return apart(U, dense / np.diag(dense))


def dense_factor(M: np.ndarray) -> np.ndarray:
    """Return U of M = U U^T: the Cholesky factor of M in reversed order."""
    return np.linalg.cholesky(M[::-1, ::-1].astype(float))[::-1, ::-1]


def solution(M: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return M^-1 b by Gaussian elimination from the first row on, on scalars of any type."""
    A, n = np.column_stack((M, b)), len(b)
    for k in range(n):
        A[k] = A[k] / A[k, k]
        for i in range(n):
            if i != k:
                A[i] = A[i] - A[i, k] * A[k]
    return A[:, n]


def apart(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest deviation over the largest expected entry."""
    if expected.dtype != object:
        actual = actual.astype(float)
    return float(np.abs(actual - expected).max() / np.abs(expected).max())
