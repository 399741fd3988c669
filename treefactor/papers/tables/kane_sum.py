"""Execute the Kane-sum paper: table 1, line by line and method by method, and the space station's arm."""

from __future__ import annotations

from collections import Counter
from functools import partial
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from ..._util.counting import counting
from ...bench.timing import Result
from ...dynamics import chain_on_scalars as composite
from ...dynamics.chain import chain_inertia
from ...model.arms import SSRMS
from ...tree.tree import OperationCount
from ..textbook import kane_sum, kosynka, stepanenko
from .execution import compare
from .kane_sum_extensions import extensions
from .kane_sum_growth import PAPER, QUOTED, figure_2, forces, totals
from .kane_sum_kinematics import kinematics
from .kane_sum_numbers import numbers
from .sample_chains import chain, counted
from .table import Derived, Identity, PaperRow, Table

LINES_OF = (6, 12)  # bodies of the chains that are counted line by line
SIZES = (2, 4, 6, 12, 24)

# coefficients of the polynomials in N of multiplications and of additions
Polynomials = tuple[tuple[float, ...], tuple[float, ...]]

# of every method: as printed, and as executed where that is known to differ
METHODS: dict[str, tuple[ModuleType, Polynomials, Polynomials]] = {
    "Kane-sum recursion": (kane_sum, kane_sum.TOTAL, ((34.5, -22.5, 0), (58.5, -52.5, 6))),
    "kosynka": (kosynka, kosynka.QUOTED, ((1, 18, 11, 0), (1, 14.5, 7.5, 0))),
    "Stepanenko": (stepanenko, stepanenko.QUOTED, ((4.5, 70.5, -57), (4, 77, -70))),
}
REASONS = {
    "1 sum m": "only pairs of prismatic joints need the sums of masses",
    "4 c": "only prismatic joints need c; the additions are those of the sums of m r that (14b) takes",
    "7 M2": "(14b) holds with the sums of m r in the place of m r, and no mass is multiplied any more; "
    "besides, 18 N² - 18 is printed where the paper's text has 18 N² - 18 N",
    "8 M3": "(15a) is counted in the paper's text, 27 + 27 for each of N - 1 matrices, but not in its table",
    "10 A": "aᵢᵀ (M aₖ) takes 9 + 3 multiplications and as many additions, not the 6 of the text",
    "Kane-sum recursion": "the differences of the lines, and 19 N additions of its own lines that the "
    "printed total leaves out",
    "kosynka": "quoted from a dissertation without its lines; ours are Kane's equations (9), triangular sums",
    "Stepanenko": "counted by the paper without its lines; ours moves composites and works in the base frame",
}
SSRMS_PRINTED = {  # multiplications, additions, total
    "Kane-sum recursion": (1071, 1443, 2514),
    "kosynka": (1458, 5856, 7314),
    "Stepanenko": (1596, 1302, 2898),
}
ONE_LEFT = (
    "counted by the paper without its lines; of 76 multiplications for each pair of a joint and a body one "
    "is in no step of ours"
)
MOVING = 6  # joints of the arm at once


def lines() -> Table:
    """Count lines 1 to 11 of table 1."""
    rows = []
    for n in LINES_OF:
        for name, count in kane_sum.executed(*chain(n)).items():
            printed, difference = (
                kane_sum.evaluate(polynomials.get(name, ((0,), (0,))), n)
                for polynomials in (kane_sum.TABLE_1, kane_sum.DIFFERENCES)
            )
            instead = OperationCount(printed.mul + difference.mul, printed.add + difference.add)
            rows.append(PaperRow(f"N = {n}", name, count, printed, instead, REASONS.get(name, "")))
    note = (
        "Revolute chains. Paper: the polynomials in N. Ours: equations (12) to (16) and (20), counted on "
        "counting scalars; products of matrices accumulate into zeros, as the paper counts them."
    )
    return Table(PAPER, "Table 1: lines", note, rows)


def methods() -> Table:
    """Count the totals of table 1, for the paper's three methods and ours."""
    rows = [row for n in SIZES for row in compared(f"N = {n}", chain(n))]
    note = (
        "Revolute chains; every method counted on counting scalars. Ours in the last rows is "
        "`chain_inertia`. Pinocchio's CRBA does its kinematics, too."
    )
    return Table(PAPER, "Table 1: methods", note, rows)


def readings() -> Table:
    """Count Stepanenko's method with composites in the base frame, and body by body in body frames."""
    rows = []
    for n in LINES_OF:
        arrays, printed = chain(n), kane_sum.evaluate(stepanenko.QUOTED, n)
        composites = counted(stepanenko, arrays)
        tally: Counter[str] = Counter()
        A = stepanenko.by_bodies(*(counting(x, tally) for x in in_body_frames(arrays)))
        expected = chain_inertia(*arrays)
        error = float(np.abs(A.astype(float) - expected).max() / np.abs(expected).max())
        case, pairs = f"N = {n}", n * (n + 1) // 2
        rows += [
            PaperRow(case, "composites in the base frame, multiplications", composites.mul),
            PaperRow(case, "composites in the base frame, additions", composites.add),
            PaperRow(case, "body by body, additions", tally["add"], printed.add),
            PaperRow(
                *(case, "body by body, multiplications", tally["mul"], printed.mul, 75 * pairs),
                *(ONE_LEFT, False),
            ),
            PaperRow(case, "body by body, A", error, Identity()),
        ]
    note = (
        "Revolute chains. The printed 38 N² + 38 N and 31 N² + 31 N are 76 and 62 for each pair of a joint "
        "and a body outboard of it. Body by body: column k of A is an inverse dynamics of the bodies from k "
        "on, in body frames, with the same operations for each of them, counted on counting scalars. The "
        "paper says that it counted the method in its own notation, with vectors in the base frame: that the "
        "additions agree may be a coincidence."
    )
    return Table(PAPER, "Table 1: readings of line 13", note, rows)


def in_body_frames(arrays: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Return a chain's arrays in frames that turn with its bodies, and the turns between them."""
    axis, r, mass, c, inertia = arrays
    n = len(mass)
    turned = [np.linalg.qr(x)[0] for x in np.random.default_rng(n).normal(size=(n, 3, 3))]
    frames = np.array([np.eye(3), *(Q * np.linalg.det(Q) for Q in turned), np.eye(3)])
    own, before = frames[1:-1], frames[:-1]
    return (
        np.einsum("kji,kj->ki", own, axis),
        np.einsum("kji,kj->ki", before, np.vstack((r, np.ones(3)))),
        mass,
        np.einsum("kji,kj->ki", own, c),
        np.einsum("kji,kjl,klm->kim", own, inertia, own),
        np.einsum("kji,kjl->kil", before, frames[1:]),
    )


def ssrms() -> Table:
    """Count operations for the arm of the space station with six joints moving."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, len(SSRMS.mass))
    rows = []
    for name, printed in SSRMS_PRINTED.items():
        count = kane_sum.evaluate(METHODS[name][1], MOVING)
        rows.append(PaperRow("table 1 at N = 6", name, (count.mul, count.add, count.total), Derived(printed)))
    rows += compared("first six joints", tuple(array[:MOVING] for array in SSRMS.chain(q)))
    note = (
        "First what the paper prints for the arm (multiplications, additions, total) beside its own table 1 "
        "at N = 6: nothing was executed for these rows. Then as counted on the arm."
    )
    return Table(PAPER, "SSRMS", note, rows)


def compared(case: str, arrays: tuple[np.ndarray, ...]) -> list[PaperRow]:
    """Compare the paper's methods and ours on one chain."""
    rows, n = [], len(arrays[2])
    for name, (module, *polynomials) in METHODS.items():
        printed, known = (kane_sum.evaluate(polynomial, n) for polynomial in polynomials)
        reason, is_explained = REASONS[name], name not in QUOTED
        rows.append(PaperRow(case, name, counted(module, arrays), printed, known, reason, is_explained))
    ours, best = counted(composite, arrays), min(row.paper.total for row in rows)
    return [
        *rows,
        PaperRow(case, "ours", ours, timed=timed(arrays)),
        PaperRow(case, "ours, times fewer than the paper's best", best / ours.total),
    ]


def timed(arrays: tuple[np.ndarray, ...]) -> tuple[Result, ...]:
    """Time our call against Pinocchio's, where that is installed."""
    if find_spec("pinocchio") is None:
        return ()
    import pinocchio as pin

    model = pin.Model()
    for k, (r, mass) in enumerate(zip(arrays[1], arrays[2], strict=True)):
        model.addJoint(k, pin.JointModelRZ(), pin.SE3(pin.utils.rotate("x", 1.0), r), f"joint{k}")
        model.appendBodyToJoint(k + 1, pin.Inertia(mass, r, np.eye(3)), pin.SE3.Identity())
    crba = partial(pin.crba, model, model.createData(), np.ones(model.nq))
    return compare(partial(chain_inertia, *arrays), {"Pinocchio": crba})


TABLES = (kinematics, numbers, lines, methods, readings, totals, figure_2, ssrms, forces, extensions)
