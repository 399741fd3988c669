"""List the exhibits of Featherstone (2008), chapter 6."""

from __future__ import annotations

from functools import partial

from ...check.results import EXPLAINED
from .exhibit import NOT_EXECUTABLE, Exhibit

_of = partial(Exhibit, "featherstone")

PRODUCT, COMPOSITE = "Table 6.1: H times a vector without H", "Table 6.2: composite-rigid-body algorithm"
ACCELERATED, SUMS = "Figure 6.1: one joint accelerates", "Equations (6.7) to (6.16)"
SPARSITY, PATTERN = "Figure 6.2: branch-induced sparsity", "Figure 6.3: factors keep the pattern"
EXPANDED, STEPS = "Table 6.4: expanded parent array", "Figure 6.4: first three steps"
PRODUCTS, COST = "Table 6.5: products and back-substitutions", "Table 6.6: computational cost"
RULE, ORDERS = "Section 6.4: rule of thumb", "Section 6.1: orders of the three steps"
BOUNDS = "Section 6.5: bounds of D1 and D2"
DRAWING = "the graph is a drawing that the text we have does not contain"

EXHIBITS = (
    _of(
        "eq. (6.1)",
        "The equation of motion is τ = H q̈ + C.",
        NOT_EXECUTABLE,
        "a definition; (6.3) executes it",
    ),
    _of("eqs. (6.2), (6.3)", "Two inverse dynamics give H q̈.", table=PRODUCT, rows=("(6.3)",)),
    _of("eq. (6.4)", "Velocities and external forces cancel from H q̈.", table=PRODUCT, rows=("(6.4)",)),
    _of(
        "Table 6.1",
        "Differential inverse dynamics gives H q̈, and with unit vectors the columns of H.",
        table=PRODUCT,
    ),
    _of(
        "section 6.1, fastest method",
        "n runs of table 6.1 are not the cheapest way to H.",
        table=PRODUCT,
        rows=("operations for H by n columns",),
    ),
    _of("eqs. (6.5) to (6.7), (6.10)", "The kinetic energy is q̇ᵀ H q̇ / 2.", table=SUMS, rows=("(6.5)",)),
    _of(
        "eqs. (6.8), (6.9), (6.11)",
        "H_ij sums the bodies that joints i and j both support.",
        table=SUMS,
        rows=("(6.8)",),
    ),
    _of("eqs. (6.12), (6.13)", "Composite inertias add up from the leaves.", table=SUMS, rows=("(6.12)",)),
    _of(
        "eqs. (6.14) to (6.16)",
        "H_ij takes the composite of the outer of both joints, and is zero on different branches.",
        reason="the text we have prints a plus sign after S_iᵀ in (6.16); it is executed as a product",
        table=SUMS,
        rows=("(6.14)",),
    ),
    _of(
        "eqs. (6.17) to (6.20), Table 6.2",
        "The composite-rigid-body algorithm in body coordinates computes H.",
        table=COMPOSITE,
        rows=("H against crba",),
    ),
    _of(
        "section 6.2, non-zeros of H",
        "H has at most of the order of n d non-zeros.",
        table=COMPOSITE,
        rows=("non-zeros",),
    ),
    _of(
        "Fig. 6.1, eqs. (6.21) to (6.25)",
        "If one joint accelerates, its subtree moves as one body, and the joints below it carry one force.",
        table=ACCELERATED,
    ),
    _of("Fig. 6.2 (a)", "Without joints in series H is diagonal.", table=SPARSITY, rows=("(a)",)),
    _of("Fig. 6.2 (b)", "Without branches H has no zeros.", table=SPARSITY, rows=("(b)",)),
    _of("Fig. 6.2 (c)", "A typical pattern.", NOT_EXECUTABLE, DRAWING),
    _of(
        "Fig. 6.2 (d), (e)",
        "Another numbering permutes the pattern and changes no cost.",
        reason=f"on a graph of ours: {DRAWING}",
        table=SPARSITY,
        rows=("(d), (e)",),
    ),
    _of(
        "section 6.4, usual densities",
        "Densities about 0.5 are not unusual.",
        NOT_EXECUTABLE,
        "no set of robots is named",
    ),
    _of("section 6.4, factorization", "It takes ρ² of the dense one.", table=RULE, rows=("to factorize",)),
    _of(
        "section 6.4, cost of H",
        "It takes ρ of that of a dense H.",
        EXPLAINED,
        "poses and composites take the same for every body: table 6.2 takes up to 1.5 ρ, our loops 3.6 ρ",
        RULE,
        ("operations for H",),
    ),
    _of(
        "Fig. 6.3", "LᵀL and LᵀDL have no fill-in.", table=PATTERN, rows=("fill-in of LᵀL", "fill-in of LᵀDL")
    ),
    _of("Table 6.3", "Factorizations along the tree, in place.", table=PATTERN, rows=("table 6.3",)),
    _of(
        "section 6.4, rounding",
        "LᵀL and LᵀDL have the numerical properties of Cholesky and LDLᵀ.",
        NOT_EXECUTABLE,
        "the statement has no figure",
    ),
    _of("Fig. 6.4", "The first three steps of seven bodies: two and three batches each.", table=STEPS),
    _of("Table 6.4", "The expanded parent array of the example.", table=EXPANDED, rows=("3 freedoms",)),
    _of(
        "Table 6.4, joints without freedoms",
        "map(i) = map(i-1) + n_i.",
        EXPLAINED,
        "for n_i = 0 the children hang on the joint numbered before, instead of the parent",
        EXPANDED,
        ("welded",),
    ),
    _of("Table 6.5", "L x, Lᵀ x, L⁻¹ x, L⁻ᵀ x and H x along the tree.", table=PRODUCTS),
    _of("Table 6.6", "Exact costs of all algorithms in n, D1 and D2.", table=COST),
    _of(
        "section 6.5, D1 and D2",
        "Without branches D1 = (n² - n)/2 and D2 = (n³ - n)/6.",
        table=BOUNDS,
        rows=("no branches",),
    ),
    _of(
        "section 6.5, bounds",
        "D1 ≤ n (d - 1), D2 ≤ n d (d - 1)/2.",
        table=BOUNDS,
        rows=("D1 ≤", "D2 ≤"),
    ),
    _of("section 6.1, orders", "C, H and the solution take O(n), O(n d) and O(n d²).", table=ORDERS),
)
