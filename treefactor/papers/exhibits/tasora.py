"""List the exhibits of A. Tasora, E. Manconi and M. Silvestri, a simplex method for the mixed LCP."""

from functools import partial

from ..tables.table import HOLDS
from .exhibit import EXPLAINED, NOT_EXECUTABLE, Exhibit

_shown = partial(Exhibit, "tasora")
TRANSPOSES = "holds with C_q^T and D_q^T in the first line, where the text we have lacks the transposes"
CORNER = "in the paper's order, the corner of the constraints fills on robots with a free base; chains agree"
STOPS = (
    "even repaired, the procedure stops where rows touch at the same point, where rows depend on each other, "
    "and where no velocity fulfils the constraints"
)
THEORY, STEPS = "Theorem 1 and its corollaries", "Time steps of impulses"

EXHIBITS = (
    _shown(
        "abstract",
        "Few iterations, each of O(n) instead of O(n^3)",
        EXPLAINED,
        CORNER,
        "Decomposition of O(n)",
    ),
    _shown(
        "Fig. 1",
        "A self-centring gripper with eight fingers and a cam",
        NOT_EXECUTABLE,
        "a picture without dimensions; examples/gripper.py has a gripper of that kind",
    ),
    *(
        _shown(f"eq. ({number})", claim, EXPLAINED, TRANSPOSES, "Penalty forces", ("(2.3): C_q",))
        for number, claim in {
            "2.1": "Equations of motion with penalty forces for contacts",
            "2.2": "The same with constraints of accelerations",
            "2.3": "Its linear system",
        }.items()
    ),
    _shown(
        "section 2, penalties",
        "Penalties let bodies sink in, and make the equations stiff",
        NOT_EXECUTABLE,
        "stated without figures to compare with; our table of penalty forces shows both on one body",
    ),
    *(
        _shown(f"eq. ({number})", claim, EXPLAINED, TRANSPOSES, STEPS, (f"({number})",))
        for number, claim in {
            "2.4": "Complementarity of gaps and reactions",
            "2.5": "Time steps of impulses that keep D >= 0 and take away a share K of violations",
            "2.6": "The mixed problem of a step",
        }.items()
    ),
    _shown(
        "Theorem 1",
        "Each mixed problem (2.6) can be reduced to a canonical one",
        EXPLAINED,
        "the proof inverts a rectangular matrix, and needs bilateral rows that do not depend on each other; "
        "with as many rows of both kinds its steps give A",
        THEORY,
        ("what the proof inverts", "steps of the proof", "M^-1 b for b", "rank of"),
    ),
    _shown(
        "eq. (2.7)",
        "alpha = A gamma + B",
        EXPLAINED,
        "holds with M^-1 b for b",
        THEORY,
        ("(2.7) with",),
    ),
    _shown(
        "eq. (2.8)",
        "A and B of the canonical problem",
        EXPLAINED,
        "B lacks M^-1 in front of b, and '= 0' is a leftover; A is right",
        THEORY,
        ("of (2.8)", "in (2.8)", "(2.8), B = 0", "A by the steps"),
    ),
    _shown(
        "Corollary 1.1",
        "A is symmetric and positive semidefinite",
        EXPLAINED,
        "the result holds; the proof by sums does not, since A is a difference",
        THEORY,
        ("A - A^T", "smallest eigenvalue"),
    ),
    _shown(
        "Corollary 1.2",
        "The problem is a convex quadratic program",
        verdict=HOLDS,
        table=THEORY,
        rows=("(2.9)",),
    ),
    _shown("eq. (2.9)", "That program", verdict=HOLDS, table=THEORY, rows=("(2.9)",)),
    _shown(
        "Theorem 2",
        "One solution, found in finitely many steps",
        EXPLAINED,
        f"only v is unique where rows depend on each other; {STOPS}",
        "Ends",
        ("unique", "the procedure, repaired"),
    ),
    _shown(
        "section 3",
        "Classes of complexity of the known methods",
        NOT_EXECUTABLE,
        "a survey of other work without figures",
    ),
    _shown("eq. (3.1)", "The system of the rows that are on", EXPLAINED, TRANSPOSES, STEPS, ("(3.1)",)),
    _shown(
        "eq. (3.2)", "Rows switched off by a large diagonal entry", EXPLAINED, TRANSPOSES, STEPS, ("(3.2)",)
    ),
    _shown("eq. (3.3)", "Residuals of the unilateral rows", verdict=HOLDS, table=STEPS, rows=("(3.3)",)),
    _shown(
        "section 3.2, 1e20",
        "The effect of rows that are off cannot be noticed",
        table="Ends",
        rows=("1e+20",),
    ),
    _shown(
        "section 3.2, L D L^T",
        "S = L D L^T without pivots of 2 x 2, kept by every pivot",
        verdict=HOLDS,
        table="Other decompositions",
        rows=("error of L D L^T",),
    ),
    _shown(
        "section 3.2, O(n)",
        "The decomposition has linear cost for mechanisms without loops",
        EXPLAINED,
        CORNER,
        "Decomposition of O(n)",
    ),
    _shown(
        "Fig. 2",
        "S before and after its decomposition: few new entries",
        EXPLAINED,
        "on a chain of bodies new entries are 0.6 times those of S, with contacts 1.0 times (lower halves); "
        "the paper gives no number",
        "Figure 2: the matrix before and after",
    ),
    _shown(
        "section 3.2, m systems",
        "At least m systems are solved",
        EXPLAINED,
        "fewer: rows that no step violates are never switched",
        "Incremental decomposition",
        ("systems solved",),
    ),
    _shown(
        "Fig. 3",
        "A pivot changes the corner from its row on, never more than m x m",
        table="Figure 3: a row is switched",
    ),
    _shown(
        "section 3.2, Golub-Bartels",
        "Bartels and Golub's decomposition loses symmetry and sparsity",
        EXPLAINED,
        "it keeps more entries on robots, and fewer on spheres, since its basis has no columns of impulses "
        "that are off",
        "Other decompositions",
        ("entries kept",),
    ),
    _shown(
        "section 3.2, Risolvi_LCP",
        "The procedure solves the problem",
        EXPLAINED,
        "as printed it solves none of 21 small problems: it calls a step of 1 an error, and lets rows that "
        "stay violated block with a negative step; repaired it solves those without ties and dependent rows",
        "The procedure as printed",
        (": solved",),
    ),
    _shown(
        "section 3.2, friction",
        "Friction makes the problem nonlinear; pyramids make it linear again",
        NOT_EXECUTABLE,
        "a pointer to other work without a formula; treefactor.constraints has friction",
    ),
    _shown(
        "section 4",
        "At least an order of magnitude by both optimisations",
        EXPLAINED,
        "over a dense factor 13 to 123 times fewer entries per pivot, on the smallest robot 9.5; over a "
        "sparse factor computed anew 3 to 4; as time, small problems gain less than 10 times against dense "
        "LU, and problems of every size here against dense Bunch-Kaufman, which skips zeros",
        "An order of magnitude",
    ),
    _shown("Fig. 4", "Hundreds of contacts of spheres", verdict=HOLDS, table="Hundreds of constraints"),
    _shown(
        "Fig. 5",
        "Numerous contacts of bottles in a packaging machine",
        EXPLAINED,
        "its machine has no dimensions, ours is a narrowing lane: the procedure, repaired, solves the steps "
        "with 67 and 97 rows, and stops at a step of 0 where bottles touch and stay so",
        "Figure 5: many contacts",
    ),
    _shown("section 5", "Reliable on ill-conditioned problems", EXPLAINED, STOPS, "Ends"),
)
