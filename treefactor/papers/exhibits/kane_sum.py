"""List the exhibits of the Kane-sum paper."""

from __future__ import annotations

from functools import partial

from ..tables.table import DERIVED, DIFFERS, HOLDS
from .exhibit import EXPLAINED, NOT_EXECUTABLE, Exhibit, each

_of, _each = partial(Exhibit, "kane-sum"), partial(each, "kane-sum")

KANE = "Equations (1) to (11): Kane's equations"
LINES, METHODS, TOTALS = "Table 1: lines", "Table 1: methods", "Table 1: lines 11 to 16"
CURVES, ARM, FORCES = "Figure 2: operations against N", "SSRMS", "Equations (17) to (21): force vector"
READINGS = "Table 1: readings of line 13"
NUMBERS, EXTENSIONS = "Matrices and forces", "Conclusion: threads and flexible links"

EXHIBITS = (
    *_each(
        ["Fig. 1", "eq. (1)", "eq. (2)", "eq. (6)"],
        "Frames of adjacent bodies, and vectors and inertias in the base frame",
        verdict=HOLDS,
        table=KANE,
        rows=("(1), (2), (6)",),
    ),
    _of("eq. (3)", "Partial velocities, body by body", verdict=HOLDS, table=KANE, rows=("(3), (9)",)),
    *_each(
        ["eq. (4)", "eq. (5)", "eq. (11)"],
        "Accelerations without those of the joints, and inertial forces",
        verdict=HOLDS,
        table=KANE,
        rows=("(4), (5)",),
    ),
    _of("eq. (7)", "Loads in the base frame", verdict=HOLDS, table=KANE, rows=("(7)",)),
    _of("eq. (8)", "The equation of motion A q̈ = b", verdict=HOLDS, table=KANE, rows=("(8)",)),
    _of("eq. (9)", "Kane's equations give A", verdict=HOLDS, table=KANE, rows=("(3), (9)",)),
    _of("eq. (10)", "Kane's equations give b", verdict=HOLDS, table=KANE, rows=("(10)",)),
    _of("cost of (9) and (10)", "They take O(N³)", table=CURVES, rows=("kosynka, of order",)),
    _of("eq. (12)", "1.5 N² - 4.5 N + 3 additions (line 2)", table=LINES, rows=("2 r",)),
    _of("line 3 of table 1", "1.5 N² - 1.5 N multiplications", table=LINES, rows=("3 m r",)),
    _of(
        "eqs. (12a), (12b), lines 1 and 4 of table 1",
        "Sums of masses and first moments: N and 1.5 N² - 1.5 N additions",
        EXPLAINED,
        "only prismatic joints need them; (14b) needs the sums of m r instead",
        LINES,
        ("1 sum m", "4 c"),
    ),
    _of("eq. (13)", "9 N - 9 additions (line 6)", table=LINES, rows=("6 M1",)),
    _of(
        "eq. (14)",
        "18 N² - 18 multiplications, 18 N² - 27 N + 9 additions (line 7)",
        EXPLAINED,
        "(14b) as legible holds for two bodies only; with the sums of m r no mass is multiplied; -18 is "
        "printed for -18 N",
        LINES,
        ("7 M2",),
    ),
    _of(
        "eq. (15)",
        "13.5 N² - 40.5 N + 27 multiplications, 18 N² - 54 N + 36 additions (line 8)",
        EXPLAINED,
        "the table leaves out (15a), which the text counts",
        LINES,
        ("8 M3",),
    ),
    _of("eq. (16)", "13.5 N² - 4.5 N - 9 additions (line 9)", table=LINES, rows=("9 Msum",)),
    *_each(
        [f"eq. ({k})" for k in (17, 18, 19, 21)],
        "Running sums give the force vector",
        verdict=HOLDS,
        table=FORCES,
        rows=("b of both",),
    ),
    _of(
        "eq. (20)",
        "3 N² + 3 N multiplications and as many additions (line 10)",
        EXPLAINED,
        "the product with a matrix and two vectors takes twice as many",
        LINES,
        ("10 A",),
    ),
    _of(
        "eqs. (12) to (16), (20), values",
        "The recursion computes the A of (9)",
        HOLDS,
        table=NUMBERS,
        rows=("A by recursion",),
    ),
    _of(
        "eqs. (17) to (21), values",
        "The running sums give b of revolute and prismatic joints",
        HOLDS,
        table=NUMBERS,
        rows=("b by (17) to (21)",),
    ),
    _of(
        "kosynka and Stepanenko's method, values",
        "Both compute the A of (9)",
        HOLDS,
        table=NUMBERS,
        rows=("A by kosynka", "A by Stepanenko"),
    ),
    _of("Table 1", "Operations of the recursion, line by line", EXPLAINED, "the lines that differ", LINES),
    _of(
        "line 11 of table 1",
        "The recursion takes 36 N² - 39 N + 9 multiplications and 55.5 N² - 97.5 N + 30 additions",
        EXPLAINED,
        "the differences of the lines, and 19 N additions that the printed total leaves out",
        METHODS,
        ("Kane-sum recursion",),
    ),
    _of(
        "line 12 of table 1",
        "Kosynka takes 3 N³ + 24 N² - 9 N and 11 N³ + 105 N² - 50 N",
        DIFFERS,
        "quoted from a dissertation that we do not have, without its lines: triangular sums of (9), the one "
        "reading tried, give the same A with a third to a fifth of the operations. They add as often as they "
        "multiply in the highest power, the printed count 11/3 times as often",
        METHODS,
        ("kosynka",),
    ),
    _of(
        "line 13 of table 1",
        "Stepanenko's method takes 38 N² + 38 N and 31 N² + 31 N",
        DIFFERS,
        "counted without its lines. With composites in the base frame it takes far fewer; body by body in "
        "body frames exactly the printed additions and 37.5 N² + 37.5 N multiplications: of 76 for each pair "
        "of a joint and a body outboard of it, one remains unknown",
        READINGS,
    ),
    _of(
        "lines 14 to 16 of table 1",
        "Totals of lines 11 to 13",
        DERIVED,
        table=TOTALS,
        rows=("line 14", "line 15", "line 16"),
    ),
    _of(
        "Fig. 2",
        "Up to eight bodies the recursion is the cheapest method, from nine on Stepanenko's",
        DIFFERS,
        "so the printed polynomials, two of which are quoted without their lines; as executed, Stepanenko's "
        "is cheaper from two bodies on, and kosynka cheaper than the recursion from two to 28",
        CURVES,
        ("cheaper", "N ="),
    ),
    _of("abstract", "The recursion is of order N²", table=CURVES, rows=("recursion, of order",)),
    _of(
        "figures of the SSRMS",
        "2514, 7314 and 2898 operations for six moving joints",
        DIFFERS,
        "derived from table 1, two of whose totals are quoted without their lines; counted on the arm, the "
        "three methods take 2904, 1713 and 1064",
        ARM,
    ),
    _of(
        "loops over i and j",
        "Sums are added in ranges of non-zero columns",
        NOT_EXECUTABLE,
        "the same sums as (20) and (21), without a figure",
    ),
    _of(
        "conclusion, local frames",
        "In local frames the recursion takes considerably more",
        NOT_EXECUTABLE,
        "neither an algorithm nor a figure is given",
    ),
    _of(
        "conclusion, parallel sums",
        "Sums and the matrix can be computed in parallel",
        table=EXTENSIONS,
        rows=("parallel sums",),
    ),
    _of(
        "conclusion, flexible links",
        "The recursion extends to shape functions",
        verdict=HOLDS,
        table=EXTENSIONS,
        rows=("flexible links",),
    ),
)
