"""Execute Golubev & Yaskevich, section 1 and figures 1 and 4: their formulas, as printed."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ... import dynamics
from ..._util.counting import counting, zero_of
from ..._util.vectors import apply, cross, vector
from ...codegen import generate
from ...codegen.algorithms.matrices import AxisRotation
from ...codegen.algorithms.matrices import apply as scalars_apply
from ...codegen.program import emit_c, passes
from ...codegen.program.expressions import ADD, MUL, SIN
from ...codegen.program.expressions import Table as Statements
from ...model import arms
from ...tree.tree import OperationCount
from ..textbook import optimizing
from .table import AtLeast, Identity, PaperRow, Table

PAPER = "Golubev & Yaskevich (2020), Keldysh preprint 22"
EXACT = Identity(1e-9)
ALL_REPLACED = Identity(0.0)  # rows used once that keep a variable
AXES = range(3)
REPEATED = "v_A4 repeats v_A1 where v_A2 is needed"
OTHER_BODY = "the moment on the left of the last line is that of body j - 1, not j"
FEWEST = (
    "a form with 4 multiplications in the plane of the rotation uses the sum of the squares of sine and "
    "cosine for every matrix, not only where two diagonal entries are equal"
)
LONG = "our C keeps the variable of a row whose expression would be longer than 100 columns"
SIGNS = "products of inertia enter the tensor with a minus sign, which the paper does not write"


def formulas() -> Table:
    """Evaluate (1.1) to (1.6) on random numbers, and count their operations."""
    note = (
        "Errors: over the largest entry, of random vectors and matrices. Operations are counted by running "
        f"the formulas on counting scalars. In (1.2) {SIGNS}. (1.6): the generalized forces of arms in their "
        "negative sign are our bias forces."
    )
    return Table(PAPER, "Optimizing formulas", note, [*velocities(), *rotations(), *forces(), *reciprocals()])


def velocities() -> list[PaperRow]:
    """Compare (1.2) with the products (1.1)."""
    rng = np.random.default_rng(0)
    w, r, A = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    tensor = A @ A.T
    first, second = optimizing.by_cross_products(w, tensor, r)
    Omega = np.array(optimizing.centrifugal(optimizing.squares(w)))
    tally: Counter = Counter()
    w_, r_, I_ = (counting(x, tally) for x in (w, r, tensor))
    tilde = optimizing.tilde(w_, zero_of(w_[0]))
    apply(optimizing.product(tilde, tilde), r_), cross(w_, apply(I_, w_))
    matrices, tally_2 = OperationCount(**tally), Counter()
    w_, r_, I_, given = (counting(x, tally_2) for x in (w, r, tensor, rng.normal(size=3)))
    v = optimizing.squares(w_)
    apply(np.array(optimizing.centrifugal(v)), r_)
    optimizing.gyroscopic(v, (I_[0, 1], I_[0, 2], I_[1, 2]), given)
    fewer = matrices.total / OperationCount(**tally_2).total
    return [
        PaperRow("(1.1), (1.2)", "error of w x (w x r)", error(Omega @ r, first), EXACT),
        PaperRow(
            "(1.1), (1.2)", "error of w x (I w)", error(optimizing.gyroscopic_of(w, tensor), second), EXACT
        ),
        PaperRow("(1.2)", "times fewer operations than (1.1) by matrices", fewer, AtLeast(1.0)),
    ]


def rotations() -> list[PaperRow]:
    """Compare (1.3) to (1.5) with products of matrices, for symmetric, equal and general entries."""
    rng = np.random.default_rng(1)
    A = rng.normal(size=(3, 3))
    kinds = {
        "(1.4), symmetric A": A + A.T,
        "(1.4), symmetric A of equal diagonal": A + A.T - np.diag(np.diag(A + A.T)),
        "(1.5), general A": A,
    }
    rows = [PaperRow("(1.3)", "error of gamma^T (alpha^T A alpha) gamma", regrouped(A), EXACT)]
    for case, B in kinds.items():
        printed, mended = (max(turned_error(B, k, as_is) for k in AXES) for as_is in (True, False))
        rows.append(PaperRow(case, "error as printed", printed, EXACT, AtLeast(1e-3), REPEATED))
        rows.append(PaperRow(case, "error with v_A4 = v_T3 v_A2", mended, EXACT))
    for case, B in kinds.items():
        least, plain, ours = rotation_counts(B)
        rows += [
            PaperRow(case, "times fewer operations than two products", plain / least, AtLeast(1.0)),
            PaperRow(
                case,
                "operations of our form over those printed",
                ours / least,
                AtLeast(1.0),
                AtLeast(0.5),
                FEWEST,
            ),
        ]
    return rows


def regrouped(A: np.ndarray) -> float:
    """Return the error of (1.3) in its two steps, against beta^T A beta."""
    rng = np.random.default_rng(2)
    gamma = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn = optimizing.alpha(0, np.cos(0.7), np.sin(0.7), 0.0, 1.0).astype(float)
    beta = turn @ gamma
    return error(gamma.T @ (turn.T @ A @ turn) @ gamma, beta.T @ A @ beta)


def turned_error(A: np.ndarray, k: int, printed: bool) -> float:
    """Return the error of (1.4) and (1.5) for a rotation about axis k."""
    c, s = np.cos(0.7), np.sin(0.7)
    turn = optimizing.alpha(k, c, s, 0.0, 1.0).astype(float)
    turned = optimizing.turned(A, k, c, s, optimizing.trigonometric(c, s), printed)
    return error(turned.astype(float), turn.T @ A @ turn)


def rotation_counts(A: np.ndarray) -> tuple[int, int, int]:
    """Count the operations of (1.4) and (1.5), of two products of matrices, and of our form.

    What all matrices of a joint share is left out: products of sine and cosine, or twice the cosine.
    """
    tally: Counter = Counter()
    c, s = counting(np.array([np.cos(0.7), np.sin(0.7)]), tally)
    A_, v_t = counting(A, tally), optimizing.trigonometric(c, s)
    tally.clear()
    optimizing.turned(A_, 0, c, s, v_t, printed=False)
    least = tally.total()
    tally.clear()
    turn = optimizing.alpha(0, c, s, zero_of(c), c)
    optimizing.product(optimizing.product(turn.T, A_), turn)
    plain = tally.total()
    statements = Statements()
    c, s = statements.input(0, 0), statements.input(0, 1)
    entries = {value: statements.input(1, k) for k, value in enumerate(np.unique(A))}
    rotated = AxisRotation(0, c, s).matrix([[entries[value] for value in row] for row in A])
    op, a, b, *_ = passes.extract(statements, [x for row in rotated for x in row], (0, 1))
    shared = int(((op == ADD) & (a == b)).sum())  # 2 c
    return least, plain, int((op >= ADD).sum()) - shared


def forces() -> list[PaperRow]:
    """Compare b of (1.6) with our bias forces."""
    rows = []
    for arm in (arms.PUMA_560, arms.GENERAL_6R):
        model = arm.model()
        q, v = np.random.default_rng(3).normal(size=(2, model.nv))
        bias = -dynamics.bias(model, q, v)
        printed, mended = (optimizing.generalized_forces(model, q, v, as_is) for as_is in (True, False))
        case = f"(1.6), {arm.name}"
        rows.append(
            PaperRow(case, "error of b, as printed", error(printed, bias), EXACT, AtLeast(1e-3), OTHER_BODY)
        )
        rows.append(PaperRow(case, "error of b, moments of body j - 1", error(mended, bias), EXACT))
    return rows


def reciprocals() -> list[PaperRow]:
    """Multiply D_r and M_rr of the last body symbolically: entries of N_rr that become the number 0."""
    statements = Statements()
    M = [[statements.input(0, 3 * min(i, j) + max(i, j)) for j in AXES] for i in AXES]
    inverse = 1.0 / M[2][2]
    row = [inverse * entry for entry in M[2]]  # row of D_r M_rr
    N = [[M[i][j] - M[i][2] * row[j] for j in AXES] for i in AXES]
    zeros = sum(isinstance(N[i][2], float) and N[i][2] == 0.0 for i in AXES)
    return [PaperRow("N_rr of the last body", "entries that cancel, with D_r M_rr computed first", zeros, 3)]


def error(actual, expected) -> float:
    """Return the largest error over the largest entry."""
    return float(
        np.abs(np.asarray(actual, float) - np.asarray(expected, float)).max() / np.abs(expected).max()
    )


def figures() -> Table:
    """Encode the velocities of figure 1 as statements, and inline temporaries as figure 4 does."""
    note = (
        "Figure 1: the angular velocity of the second of two bodies, joints about z and y, on our table of "
        "expressions. Figure 4: statements of C against rows of the table; rows with one use are written "
        "into it."
    )
    return Table(PAPER, "Figures 1 and 4", note, [velocity(), *inlined()])


def velocity() -> PaperRow:
    """Count the statements of the angular velocity in figure 1."""
    statements = Statements()
    rates = [statements.input(0, k) for k in range(2)]
    s, c = statements.input(1, 0), statements.input(1, 1)
    beta = [[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]
    turned = scalars_apply(beta, [0.0, 0.0, rates[0]])
    w = vector(*turned) + vector(0.0, rates[1], 0.0)
    op, *_ = passes.extract(statements, list(w), (0, 1))
    count = {"mul": int((op == MUL).sum()), "add": int(((op >= ADD) & (op != MUL) & (op < SIN)).sum())}
    return PaperRow("figure 1", "statements of omega_2", count, {"mul": 2, "add": 0})


def inlined() -> list[PaperRow]:
    """Count rows that are used once, and statements of the C that they leave."""
    rows = []
    for name in ("rnea", "crba"):
        program = generate(arms.PUMA_560.model(), [name])
        function = program.functions[name]
        binary = function.op >= ADD
        once = passes.inlined(function)
        text = emit_c.sources(program)[f"{name}.c"]
        statements = text.rpartition("#else")[2].count("const real t")  # statements of the form in blocks
        case = f"figure 4, {name} of the PUMA 560"
        rows.append(PaperRow(case, "rows of the table", int(binary.sum())))
        rows.append(PaperRow(case, "variables left", statements))
        kept, what = statements - int((binary & ~once).sum()), "rows used once that keep a variable"
        rows.append(PaperRow(case, what, kept, ALL_REPLACED, AtLeast(1), LONG))
    return rows


TABLES = (formulas, figures)
