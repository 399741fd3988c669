"""Draw orders of elimination: the places of constraint rows, and the fill."""

from collections.abc import Sequence

import numpy as np
from layout import CELL, LEGIBLE, figure

from treefactor import Tree
from treefactor.mlcp.symbolic_kkt import positions

LETTERS = "abcdefgh"
OWN, ROW, FILL = "#33659c", "#2f7d4f", "#a3122f"


def draw(tree: Tree, supports: Sequence[Sequence[int]]) -> str:
    """Draw L of K = [H Jᵀ; J -E] in the paper's order and in ours, side by side; constraints are letters.

    Parameters
    ----------
    tree : Tree
    supports : sequence of sequence of int
        Freedoms of every constraint.
    """
    drawings = ""
    for order, name in ((last(tree, supports), "constraints last"), (first(tree, supports), "in the tree")):
        L = factor_pattern(coupled(tree, supports), order)
        caption = (
            f"{name}: {int((L > 0).sum())} entries of L with its diagonal, {int((L == 2).sum())} of them fill"
        )
        drawings += figure(*_lower(tree, L, order), caption)
    return f'<div class="drawings orders">{drawings}</div>'


def coupled(tree: Tree, supports: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the pattern of K: freedoms, then constraints."""
    n, m = tree.n, len(supports)
    K = np.eye(n + m, dtype=bool)
    K[:n, :n] = tree.mask()
    for r, support in enumerate(supports):
        K[n + r, support] = K[support, n + r] = True
    return K


def last(tree: Tree, supports: Sequence[Sequence[int]]) -> list[int]:
    """Order freedoms from the leaves to the root, then constraints."""
    return [*range(tree.n - 1, -1, -1), *range(tree.n, tree.n + len(supports))]


def first(tree: Tree, supports: Sequence[Sequence[int]]) -> list[int]:
    """Order every constraint before the first freedom of its support."""
    start = np.cumsum([0, *map(len, supports)]).astype(np.intp)
    position = positions(tree, start, np.concatenate(supports).astype(np.intp))
    turn = [(position[support].min(), 0, tree.n + r) for r, support in enumerate(map(list, supports))]
    turn += [(position[k], 1, k) for k in range(tree.n)]
    return [k for _, _, k in sorted(turn)]


def factor_pattern(K: np.ndarray, order: list[int]) -> np.ndarray:
    """Return entries of L in that order: 1 where K has one, 2 where elimination adds one."""
    L = np.tril(K[np.ix_(order, order)]).astype(int)
    for e in range(len(order)):
        below = np.flatnonzero(L[e + 1 :, e]) + e + 1
        for i, j in ((i, j) for i in below for j in below if j <= i and not L[i, j]):
            L[i, j] = 2
    return L


def _lower(tree: Tree, L: np.ndarray, order: list[int]) -> tuple[str, float, float]:
    """Draw the triangle, with names of rows on its diagonal."""
    n, side, body = tree.n, CELL - 2, ""
    for i, j in zip(*np.nonzero(L), strict=True):
        colour = FILL if L[i, j] == 2 else ROW if max(order[i], order[j]) >= n else OWN
        x, y = (j + 0.5) * CELL, (i + 0.5) * CELL
        body += (
            f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" rx="3" '
            f'fill="{colour}"/>'
        )
        text = _name(order[i], n) if i == j else "+" if L[i, j] == 2 else ""
        body += f'<text x="{x}" y="{y + 3.5}" text-anchor="middle" style="fill:{LEGIBLE}">{text}</text>'
    return body, len(order) * CELL, len(order) * CELL


def _name(k: int, n: int) -> str:
    """Name a freedom by its number, a constraint by a letter."""
    return str(k) if k < n else LETTERS[k - n]
