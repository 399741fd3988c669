"""List the exhibits of the Kane-sum paper."""

from __future__ import annotations

from functools import partial

from ...check.results import EXPLAINED
from .exhibit import NOT_EXECUTABLE, Exhibit

_of = partial(Exhibit, "kane-sum")

LINES, METHODS, TOTALS = "Table 1: lines", "Table 1: methods", "Table 1: lines 11 to 16"
CURVES, ARM, FORCES = "Figure 2: operations against N", "SSRMS", "Equations (17) to (21): force vector"
BY_TEST = "the kinematics of one body, without a figure; tests compare it with Pinocchio"

EXHIBITS = (
    _of(
        "Fig. 1, eqs. (1) to (8)", "Frames, velocities, accelerations and inertias.", NOT_EXECUTABLE, BY_TEST
    ),
    _of(
        "eqs. (9), (10)",
        "Kane's equations take O(N³).",
        table=CURVES,
        rows=("kosynka, of order",),
    ),
    _of("eq. (11)", "Inertial forces and moments of a body.", table=FORCES, rows=("b of both",)),
    _of("eq. (12), Table 1 line 2", "1.5 N² - 4.5 N + 3 additions.", table=LINES, rows=("2 r",)),
    _of("Table 1 line 3", "1.5 N² - 1.5 N multiplications.", table=LINES, rows=("3 m r",)),
    _of(
        "eqs. (12a), (12b), Table 1 lines 1 and 4",
        "Sums of masses and first moments, N and 1.5 N² - 1.5 N additions.",
        EXPLAINED,
        "only prismatic joints need them; (14b) needs the sums of m r instead",
        LINES,
        ("1 sum m", "4 c"),
    ),
    _of("eq. (13), Table 1 line 6", "9 N - 9 additions.", table=LINES, rows=("6 M1",)),
    _of(
        "eq. (14), Table 1 line 7",
        "18 N² - 18 multiplications, 18 N² - 27 N + 9 additions.",
        EXPLAINED,
        "(14b) as legible holds for two bodies only; with the sums of m r no mass is multiplied; -18 is "
        "printed for -18 N",
        LINES,
        ("7 M2",),
    ),
    _of(
        "eq. (15), Table 1 line 8",
        "13.5 N² - 40.5 N + 27 multiplications, 18 N² - 54 N + 36 additions.",
        EXPLAINED,
        "the table leaves out (15a), which the text counts",
        LINES,
        ("8 M3",),
    ),
    _of("eq. (16), Table 1 line 9", "13.5 N² - 4.5 N - 9 additions.", table=LINES, rows=("9 Msum",)),
    _of(
        "eq. (20), Table 1 line 10",
        "3 N² + 3 N multiplications and additions.",
        EXPLAINED,
        "a_iᵀ (M a_k) takes twice as many",
        LINES,
        ("10 A",),
    ),
    _of("eqs. (17) to (19), (21)", "Running sums give the force vector.", table=FORCES),
    _of(
        "Table 1 line 11",
        "The recursion takes 36 N² - 39 N + 9 multiplications and 55.5 N² - 97.5 N + 30 additions.",
        EXPLAINED,
        "the differences of the lines, and 19 N additions that the printed total leaves out",
        METHODS,
        ("Kane-sum recursion",),
    ),
    _of(
        "Table 1 line 12",
        "Kosynka takes 3 N³ + 24 N² - 9 N and 11 N³ + 105 N² - 50 N.",
        EXPLAINED,
        "quoted without its lines; triangular sums of (9) take a third to a tenth",
        METHODS,
        ("kosynka",),
    ),
    _of(
        "Table 1 line 13",
        "Stepanenko's method takes 38 N² + 38 N and 31 N² + 31 N.",
        EXPLAINED,
        "quoted without its lines; with composites in the base frame it takes far fewer",
        METHODS,
        ("Stepanenko",),
    ),
    _of(
        "Table 1 lines 14 to 16",
        "Totals of lines 11 to 13.",
        NOT_EXECUTABLE,
        "they follow from the printed lines 11 to 13: nothing runs",
        TOTALS,
        ("line 1",),
    ),
    _of(
        "Fig. 2",
        "Up to eight bodies the recursion is the cheapest method, from nine on Stepanenko's.",
        EXPLAINED,
        "so the printed polynomials; as executed, Stepanenko's is cheapest from two bodies on, and kosynka "
        "cheaper than the recursion up to 28",
        CURVES,
        ("cheaper",),
    ),
    _of("abstract", "The recursion is of order N².", table=CURVES, rows=("recursion, of order",)),
    _of(
        "SSRMS, figures",
        "2514, 7314 and 2898 operations for six moving joints.",
        EXPLAINED,
        "derived from table 1; counted on the arm, the three methods take 2904, 1713 and 1064",
        ARM,
        ("table 1 at N = 6", "joints: Kane-sum", "joints: kosynka", "joints: Stepanenko"),
    ),
    _of(
        "loops over i, j and over A + {...}",
        "Sums are added in ranges of non-zero columns.",
        NOT_EXECUTABLE,
        "the same sums as (20) and (21), without a figure",
    ),
    _of(
        "local frames",
        "Written in local frames, the recursion takes considerably more.",
        NOT_EXECUTABLE,
        "neither an algorithm nor a figure is given",
    ),
    _of(
        "conclusion, parallel sums",
        "Sums and the matrix can be computed in parallel.",
        NOT_EXECUTABLE,
        "no figure is given",
    ),
    _of(
        "conclusion, flexible links",
        "The recursion extends to shape functions.",
        NOT_EXECUTABLE,
        "no equation is given; treefactor.flexible does it, and tests compare it with the kinetic energy",
    ),
)
