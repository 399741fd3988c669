"""List the exhibits of Featherstone (2008), chapter 6."""

from __future__ import annotations

from functools import partial

from ..tables.table import HOLDS
from .exhibit import EXPLAINED, NOT_EXECUTABLE, Exhibit, each

_of, _each = partial(Exhibit, "featherstone"), partial(each, "featherstone")

PRODUCT, COMPOSITE = "Table 6.1: H times a vector without H", "Table 6.2: composite-rigid-body algorithm"
ACCELERATED, SUMS = "Figure 6.1: one joint accelerates", "Equations (6.7) to (6.16)"
SPARSITY, PATTERN = "Figure 6.2: branch-induced sparsity", "Figure 6.3: factors keep the pattern"
EXPANDED, STEPS = "Table 6.4: expanded parent array", "Figure 6.4: first three steps"
PRODUCTS, COST = "Table 6.5: products and back-substitutions", "Table 6.6: computational cost"
RULE, ORDERS = "Section 6.4: rule of thumb", "Section 6.1: orders of the three steps"
BOUNDS = "Section 6.5: bounds of D1 and D2"

EXHIBITS = (
    _of("eq. (6.1)", "The equation of motion τ = H q̈ + C", NOT_EXECUTABLE, "a definition; (6.3) executes it"),
    *_each(
        ["eq. (6.2)", "eq. (6.3)"],
        "Two inverse dynamics give H q̈",
        verdict=HOLDS,
        table=PRODUCT,
        rows=("(6.3)",),
    ),
    _of(
        "eq. (6.4)",
        "Velocities and external forces cancel from H q̈",
        verdict=HOLDS,
        table=PRODUCT,
        rows=("(6.4)",),
    ),
    *_each(
        ["eq. (6.5)", "eq. (6.6)", "eq. (6.7)", "eq. (6.10)"],
        "The kinetic energy of all bodies is q̇ᵀ H q̇ / 2",
        verdict=HOLDS,
        table=SUMS,
        rows=("(6.5)",),
    ),
    *_each(
        ["eq. (6.8)", "eq. (6.9)", "eq. (6.11)"],
        "The entry H_ij sums the bodies that joints i and j both support",
        verdict=HOLDS,
        table=SUMS,
        rows=("(6.8)",),
    ),
    *_each(
        ["eq. (6.12)", "eq. (6.13)", "eq. (6.15)"],
        "Composite inertias add up from the leaves",
        verdict=HOLDS,
        table=SUMS,
        rows=("(6.12)",),
    ),
    *_each(
        ["eq. (6.14)", "eq. (6.16)"],
        "The entry H_ij takes the composite of the outer joint (our text prints a plus sign for a product)",
        verdict=HOLDS,
        table=SUMS,
        rows=("(6.14)",),
    ),
    *_each(
        [f"eq. (6.{k})" for k in range(17, 21)],
        "In body coordinates, forces are carried from joint to joint",
        verdict=HOLDS,
        table=COMPOSITE,
        rows=("H against crba",),
    ),
    _of(
        "eq. (6.21)",
        "The subtree of the joint accelerates as one body",
        verdict=HOLDS,
        table=ACCELERATED,
        rows=("(6.21)",),
    ),
    *_each(
        ["eq. (6.22)", "eq. (6.23)"],
        "A joint carries the forces of its subtree",
        verdict=HOLDS,
        table=ACCELERATED,
        rows=("(6.22)",),
    ),
    _of(
        "eq. (6.24)",
        "These forces are composites times one motion",
        verdict=HOLDS,
        table=ACCELERATED,
        rows=("(6.24)",),
    ),
    _of("eq. (6.25)", "They are a column of H", verdict=HOLDS, table=ACCELERATED, rows=("(6.25)",)),
    _of("Fig. 6.1", "One joint accelerates by one unit", verdict=HOLDS, table=ACCELERATED),
    _of(
        "Fig. 6.2",
        "Patterns of H without joints in series, without branches, and in two numberings",
        table=SPARSITY,
    ),
    _of(
        "graph (c) of figure 6.2",
        "A typical pattern",
        NOT_EXECUTABLE,
        "a drawing that the text we have does not contain",
    ),
    _of("Fig. 6.3", "LᵀL and LᵀDL do not fill", table=PATTERN, rows=("fill-in of LᵀL", "fill-in of LᵀDL")),
    _of("Fig. 6.4", "Batches of the first three steps of seven bodies", table=STEPS),
    _of(
        "Table 6.1",
        "Differential inverse dynamics gives H q̈ and, with unit vectors, the columns of H",
        verdict=HOLDS,
        table=PRODUCT,
    ),
    _of("Table 6.2", "The composite-rigid-body algorithm computes H", verdict=HOLDS, table=COMPOSITE),
    _of(
        "Table 6.3",
        "Factorizations along the tree, in place",
        verdict=HOLDS,
        table=PATTERN,
        rows=("table 6.3",),
    ),
    _of("Table 6.4", "The expanded parent array of the example", table=EXPANDED, rows=("3 freedoms",)),
    _of(
        "joints without freedoms in table 6.4",
        "Their map is that of the joint numbered before",
        EXPLAINED,
        "the children of such a joint then hang on the joint before it, instead of its parent",
        EXPANDED,
        ("welded",),
    ),
    _of("Table 6.5", "L x, Lᵀ x, L⁻¹ x, L⁻ᵀ x and H x along the tree", verdict=HOLDS, table=PRODUCTS),
    _of("Table 6.6", "Exact costs of all algorithms in n, D1 and D2", table=COST),
    _of("section 6.1, orders", "C, H and the solution take O(n), O(n d) and O(n d²)", table=ORDERS),
    _of(
        "section 6.1, fastest method",
        "Columns of H by table 6.1 take more than table 6.2",
        verdict=HOLDS,
        table=PRODUCT,
        rows=("operations for H by n columns",),
    ),
    _of(
        "section 6.2, non-zeros", "H has O(n d) of them", verdict=HOLDS, table=COMPOSITE, rows=("non-zeros",)
    ),
    _of(
        "section 6.4, cost of H",
        "It is about ρ of the cost of a dense H",
        EXPLAINED,
        "poses and composites take the same for every body: table 6.2 takes up to 1.5 ρ, our loops 3.6 ρ",
        RULE,
        ("operations for H",),
    ),
    _of(
        "section 6.4, factorization",
        "It takes about ρ² of the dense cost",
        table=RULE,
        rows=("to factorize",),
    ),
    _of(
        "section 6.4, usual densities",
        "Densities about 0.5 are not unusual",
        NOT_EXECUTABLE,
        "no set of robots is named",
    ),
    _of(
        "section 6.4, rounding",
        "LᵀL and LᵀDL have the numerical properties of Cholesky and LDLᵀ",
        NOT_EXECUTABLE,
        "the statement has no figure",
    ),
    _of(
        "section 6.5, D1 and D2",
        "Without branches they are (n² - n)/2 and (n³ - n)/6",
        table=BOUNDS,
        rows=("no branches",),
    ),
    _of(
        "section 6.5, bounds",
        "D1 ≤ n (d - 1), D2 ≤ n d (d - 1)/2",
        verdict=HOLDS,
        table=BOUNDS,
        rows=("D1 ≤", "D2 ≤"),
    ),
)
