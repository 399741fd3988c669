"""List the exhibits of Shimanovsky's paper on UDUᵀ."""

from __future__ import annotations

from functools import partial

from .exhibit import NOT_EXECUTABLE, Exhibit

_of = partial(Exhibit, "shimanovsky")

COSTS, SIZES, TREE = "Table 1: costs", "Table 2: three families", "Tree-1"
CURVES, SAVINGS, DENSITY = "Figure 4: cost of a factorization", "Savings against dense", "Density rule"
BOUNDS, SPANNING = "Bounds (7) and (10) to (13)", "Figure 3: spanning trees of a lattice"
HALF, ORDERS = "Example: half of the entries are zero", "Sections 2 and 3: orders of N1 and N2"

EXHIBITS = (
    _of("eq. (1)", "The equation of motion M q̈ = Q.", NOT_EXECUTABLE, "a definition"),
    _of(
        "Fig. 1, eq. (2)",
        "Tree-1 has the parent array (0, 1, 2, 2, 3, 4, 4).",
        NOT_EXECUTABLE,
        "an input, from which the other rows of Tree-1 follow",
    ),
    _of("Fig. 2", "Its expanded parent array has 9 entries.", table=TREE, rows=("expanded p",)),
    _of("eq. (3)", "Composite bodies give M.", table=TREE, rows=("(3)",)),
    _of("eqs. (4), (5)", "The pattern of M of Tree-1.", table=TREE, rows=("of M",)),
    _of("eq. (6)", "The pattern of U of Tree-1.", table=TREE, rows=("of U", "in UDUᵀ")),
    _of("section 1, UᵀU", "UᵀU fills up completely.", table=TREE, rows=("in UᵀU",)),
    _of(
        "Algorithm 1",
        "UDUᵀ along p leaves out only operations on zeros.",
        table=TREE,
        rows=("U along p",),
    ),
    _of(
        "section 1, first step",
        "4 elements computed and 6 modified; 9 and 36 of a dense matrix.",
        table=TREE,
        rows=("first step",),
    ),
    _of("Algorithms 2 and 3, Table 1", "Exact costs of factorization and substitutions.", table=COSTS),
    _of("eq. (7)", "1 ≤ η_i ≤ i.", table=BOUNDS, rows=("(7)",)),
    _of("eqs. (8), (9)", "N1 and N2 are sums over η_i.", table=SIZES, rows=(": m =",)),
    _of(
        "section 2, UUᵀ",
        "UDUᵀ saves n square roots and n divisions.",
        table=ORDERS,
        rows=("more than UDUᵀ",),
    ),
    _of("eqs. (10), (11)", "0 ≤ N1 ≤ (n² - n)/2, 0 ≤ N2 ≤ (n³ - n)/6.", table=BOUNDS, rows=("(10)", "(11)")),
    _of("eqs. (12), (13)", "N1 ≤ n (d - 1), N2 ≤ n d (d - 1)/2.", table=BOUNDS, rows=("(12)", "(13)")),
    _of(
        "section 2, loops",
        "The loops over p cost little, and O(n) where M is diagonal.",
        NOT_EXECUTABLE,
        "no figure is given, and scalars that count do not see the steps of loops",
    ),
    _of("section 2, half zeros", "Half of the entries zero: four times faster.", table=HALF),
    _of(
        "section 2, rule",
        "Factorization takes α² and substitution α of the dense cost.",
        table=DENSITY,
        rows=("times fewer",),
    ),
    _of("Fig. 3 (a)", "2^(k-1) nodes of a binary tree have η = k.", table=SPANNING, rows=("binary tree",)),
    _of(
        "Fig. 3 (b)",
        "Table 2 holds for every shortest-path spanning tree of a lattice.",
        table=SPANNING,
        rows=("tree by", "trees: different", "lattice, m = 8: nodes"),
    ),
    _of("Table 2", "n, N1, N2 of chain, binary tree and lattice, and their orders.", table=SIZES),
    _of("Fig. 4", "N = N1 + 2 N2 against n of the three families.", table=CURVES),
    _of("section 3, orders", "Orders of N1 and N2 of the families.", table=ORDERS, rows=("of order",)),
    _of("section 3, savings", "7.75, 434, 5.29 and 73.9 times fewer operations.", table=SAVINGS),
    _of(
        "section 3, densities",
        "α = 0.37 and 0.44 predict 7.3 and 5.2 times.",
        table=DENSITY,
        rows=("density α", "1/α²"),
    ),
    _of(
        "conclusion",
        "Costs grow from n log² n to n³.",
        table=SIZES,
        rows=("order n",),
    ),
)
