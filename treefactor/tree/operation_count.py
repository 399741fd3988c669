"""Count the operations of the algorithms along a tree, from D1 = sum(depth - 1) and D2 of its depths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

CostKind = Literal["LTL", "LTDL", "L", "LT", "L_inv", "LT_inv", "H", "solve"]


@dataclass(frozen=True)
class OperationCount:
    """Count the scalar operations of one run of an algorithm.

    Attributes
    ----------
    mul, add, div, sqrt, trig : int
        Multiplications, additions and subtractions, divisions, square roots; sines, cosines and
        arc tangents.

    Notes
    -----
    Immutable.
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0

    @property
    def total(self) -> int:
        """Sum of all kinds of operations."""
        return self.mul + self.add + self.div + self.sqrt + self.trig


def count(tree, kind: CostKind, unit: bool) -> OperationCount:
    """Return the exact operation count of one algorithm; see `Tree.cost`."""
    n, D1, D2 = tree.n, tree.D1, tree.D2
    diagonal = 0 if unit else n
    match kind:
        case "LTL":
            return OperationCount(D2, D2, D1, n)
        case "LTDL":
            return OperationCount(D2, D2, D1)
        case "L" | "LT":
            return OperationCount(D1 + diagonal, D1)
        case "L_inv" | "LT_inv":
            return OperationCount(D1, D1, diagonal)
        case "H":
            return OperationCount(n + 2 * D1, 2 * D1)
        case "solve":
            return OperationCount(2 * D1, 2 * D1, n if unit else 2 * n)
    raise ValueError(f"kind must be one of {', '.join(CostKind.__args__)}; got {kind!r}")


def sum_exactly(terms: np.ndarray) -> int:
    """Sum non-negative int64 terms without overflow, however many there are."""
    if not terms.size:
        return 0
    block = max(1, np.iinfo(np.int64).max // max(1, int(terms.max())))
    return sum(int(terms[p : p + block].sum()) for p in range(0, terms.size, block))
