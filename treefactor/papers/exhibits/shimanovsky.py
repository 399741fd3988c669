"""List the exhibits of Shimanovsky's paper on UDUᵀ."""

from __future__ import annotations

from functools import partial

from ..tables.table import HOLDS
from .exhibit import NOT_EXECUTABLE, Exhibit, each

_of, _each = partial(Exhibit, "shimanovsky"), partial(each, "shimanovsky")

COSTS, SIZES, TREE = "Table 1: costs", "Table 2: three families", "Tree-1"
CURVES, SAVINGS, DENSITY = "Figure 4: cost of a factorization", "Savings against dense", "Density rule"
BOUNDS, SPANNING = "Bounds (7) and (10) to (13)", "Figure 3: spanning trees of a lattice"
NUMBERS = "Algorithms 1 to 3: numbers"
HALF, ORDERS = "Example: half of the entries are zero", "Sections 2 and 3: orders of N1 and N2"

EXHIBITS = (
    _of("eq. (1)", "The equation of motion M q̈ = Q", NOT_EXECUTABLE, "a definition"),
    *_each(
        ["eq. (2)", "Fig. 1"],
        "Tree-1 has the parent array (0, 1, 2, 2, 3, 4, 4)",
        NOT_EXECUTABLE,
        "an input, from which the rows of Tree-1 follow",
    ),
    _of("Fig. 2", "The expanded parent array has 9 entries", table=TREE, rows=("expanded p",)),
    _of("eq. (3)", "Composite bodies give M", verdict=HOLDS, table=TREE, rows=("(3)",)),
    *_each(["eq. (4)", "eq. (5)"], "The pattern of M of Tree-1", table=TREE, rows=("of M",)),
    _of(
        "eq. (6)",
        "The pattern of U of Tree-1",
        table=TREE,
        rows=(*(f"row {k} of U" for k in range(1, 10)), "in UDUᵀ"),
    ),
    _of("section 1, UᵀU", "UᵀU fills up completely", table=TREE, rows=("in UᵀU",)),
    _of(
        "Algorithm 1",
        "UDUᵀ along p is that of a dense matrix",
        verdict=HOLDS,
        table=NUMBERS,
        rows=("UDUᵀ: U",),
    ),
    _of(
        "section 1, first step",
        "4 elements computed and 6 modified; 9 and 36 of a dense matrix",
        table=TREE,
        rows=("first step",),
    ),
    _of(
        "Algorithms 2 and 3",
        "Substitutions along p",
        verdict=HOLDS,
        table=NUMBERS,
        rows=("forward", "backward", "dense solution"),
    ),
    _of("Table 1", "Exact costs of factorization and substitutions", table=COSTS),
    _of("eq. (7)", "Every η_i is from 1 to i", verdict=HOLDS, table=BOUNDS, rows=("(7)",)),
    *_each(["eq. (8)", "eq. (9)"], "N1 and N2 are sums over η_i", table=SIZES, rows=(": m =",)),
    _of(
        "section 2, UUᵀ",
        "UDUᵀ does without n square roots and n divisions",
        table=ORDERS,
        rows=("more than UDUᵀ",),
    ),
    _of("eq. (10)", "N1 is from 0 to (n² - n)/2", verdict=HOLDS, table=BOUNDS, rows=("(10)",)),
    _of("eq. (11)", "N2 is from 0 to (n³ - n)/6", verdict=HOLDS, table=BOUNDS, rows=("(11)",)),
    _of("eq. (12)", "N1 ≤ n (d - 1)", verdict=HOLDS, table=BOUNDS, rows=("(12)",)),
    _of("eq. (13)", "N2 ≤ n d (d - 1)/2", verdict=HOLDS, table=BOUNDS, rows=("(13)",)),
    _of(
        "section 2, loops",
        "Loops over p cost little, and O(n) where M is diagonal",
        NOT_EXECUTABLE,
        "no figure is given, and scalars that count do not see the steps of loops",
    ),
    _of("section 2, half zeros", "Half of the entries zero: four times faster", table=HALF),
    _of(
        "section 2, rule",
        "Factorization takes α² and substitution α of the dense cost",
        table=DENSITY,
        rows=("times fewer",),
    ),
    _of(
        "Fig. 3",
        "Nodes by distance; table 2 holds for every shortest-path spanning tree of a lattice",
        table=SPANNING,
    ),
    _of("Table 2", "Sizes n, N1 and N2 of chain, binary tree and lattice, and their orders", table=SIZES),
    _of("Fig. 4", "N = N1 + 2 N2 against n of the three families", table=CURVES),
    _of("section 3, orders", "Orders of N1 and N2 of the families", table=ORDERS, rows=("of order",)),
    _of("section 3, savings", "7.75, 434, 5.29 and 73.9 times fewer operations", table=SAVINGS),
    _of(
        "section 3, densities",
        "Densities 0.37 and 0.44 predict 7.3 and 5.2 times",
        table=DENSITY,
        rows=("density α", "1/α²"),
    ),
    _of("conclusion", "Costs grow from n log² n to n³", table=SIZES, rows=("order n",)),
)
