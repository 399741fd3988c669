"""Execute Tasora, Manconi & Silvestri, figures 2, 3 and 5, and draw our own runs."""

from __future__ import annotations

import numpy as np

from ... import mlcp
from ...mlcp.families import roots
from ...mlcp.problem import Problem
from ..textbook import tasora
from .table import AtLeast, Identity, PaperRow, Picture, Table

PAPER = "Tasora, Manconi & Silvestri, simplex method for the mixed LCP"
BODIES, CONTACTS = 8, 8  # bodies and contacts in figures 2 and 3
SWITCHED = (1, 2)  # rows that figure 3 switches, from 0
BOTTLES, RADIUS, STEP, STEPS = 60, 0.04, 0.02, 250
BELT, DRAG = 0.4, 8.0  # m/s, and N s/m between the belt and a bottle
LANE = 0.13  # half of the width of the lane at its narrow end; m
LENGTH, MOUTH = 1.6, 0.5  # length of the machine, and half of the width at its beginning


COUPLED = (
    "M before C couples the rows of neighbouring joints, and C before D all contacts of the chain, whose "
    "corner fills; the paper gives no number"
)
FEW, NOT_FEW = "few", AtLeast(0.5)  # new entries over those of S: the paper's word, and ours
SEVERAL = AtLeast(2)  # contacts at once
INSTANTS = {  # steps that the paper's procedure solves: rows, how it ends, pivots
    50: (67, tasora.SOLVED, 6),
    100: (97, tasora.SOLVED, 46),
    250: (154, tasora.NO_STEP, None),
}
TOUCHING = "bottles that touch and stay so make a step of 0, which the paper calls an error"
ROWS, APART = Identity(1e-6), Identity(1e-6)


def linked(bodies: int, contacts: int) -> Problem:
    """Return a chain of bodies with six freedoms each, three bilateral rows per joint, and contacts."""
    rng, n = np.random.default_rng(0), 6 * bodies
    M = np.diag(np.tile([1.0, 1.0, 1.0, 0.1, 0.1, 0.1], bodies))
    C, D = np.zeros((3 * (bodies - 1), n)), np.zeros((contacts, n))
    for k in range(bodies - 1):
        for body, sign in ((k, 1.0), (k + 1, -1.0)):
            C[3 * k : 3 * k + 3, 6 * body : 6 * body + 6] = sign * point(rng.normal(size=3))
    for row in range(contacts):
        body = 6 * (row % bodies)
        D[row, body : body + 6] = rng.normal(size=3) @ point(rng.normal(size=3))
    return Problem(M, roots(n), rng.normal(size=n), C, np.zeros(len(C)), D, np.ones(contacts))


def point(at: np.ndarray) -> np.ndarray:
    """Return the velocity of a point of a body, by the velocities of the body."""
    return np.column_stack((np.eye(3), np.cross(np.eye(3), at).T))


def figure_2() -> Table:
    """Factorize the matrix of a chain of bodies in place, and draw it before and after."""
    problem = linked(BODIES, CONTACTS)
    S = tasora.matrix(problem)
    L = tasora.Incremental(S.copy()).L
    before, after, what = np.tril(S) != 0, L != 0, "new entries of L, over those of S"
    share = float((after & ~before).sum() / before.sum())
    case = f"chain of {BODIES} bodies, {CONTACTS} contacts"
    rows = [
        PaperRow(case, "entries of the lower half of S", int(before.sum())),
        PaperRow(case, what, share, FEW, NOT_FEW, COUPLED),
        PaperRow(f"chain of {BODIES} bodies", what, filled(), FEW, NOT_FEW, COUPLED),
    ]
    pictures = [
        drawn("S", {"lower": S != 0}),
        drawn(
            "L^T in the upper half, the lower half of S unchanged",
            {"lower": after.T, "upper": before & ~after.T},
        ),
    ]
    note = (
        "Bodies with six freedoms each, joints with three bilateral rows, one contact on each body; the "
        "order M, C, D as in the paper's figure 2, the last freedom first. Few is the paper's word."
    )
    return Table(PAPER, "Figure 2: the matrix before and after", note, rows, pictures=pictures)


def filled() -> float:
    """Return the new entries of L over those of the lower half of S, without contacts."""
    S = tasora.matrix(linked(BODIES, 0))
    before, after = np.tril(S) != 0, tasora.Incremental(S.copy()).L != 0
    return float((after & ~before).sum() / before.sum())


def figure_3() -> Table:
    """Switch the second and the third of the unilateral rows, and draw the entries of L computed anew."""
    problem = linked(BODIES, CONTACTS)
    S = tasora.matrix(problem)
    first, old = len(S) - problem.m, tasora.Incremental(S.copy())
    rows, pictures = [], []
    for i in SWITCHED:
        changed = S.copy()
        changed[first + i, first + i] = 0.0
        fresh, kept = tasora.Incremental(changed), tasora.Incremental(S.copy())
        kept.set(first + i, 0.0)
        differing = fresh.L != old.L
        anew = np.zeros_like(differing)
        anew[first + i :, first + i :] = np.tril(kept.L[first + i :, first + i :]) != 0
        case = f"unilateral row {i + 1}"
        outside = int(differing[:, :first].sum() + differing[:first].sum())
        rows += [
            PaperRow(case, "entries of L computed anew", kept.computed[-1]),
            PaperRow(case, "entries of L outside the m x m corner that differ", outside, 0),
            PaperRow(
                case,
                "of a whole decomposition: largest difference",
                float(np.abs(fresh.L - kept.L).max()),
                Identity(),
            ),
        ]
        cells = {"upper": (fresh.L != 0) & ~anew, "lower": anew}
        pictures.append(drawn(f"L; dark: computed anew for unilateral row {i + 1}", cells))
    note = (
        "The matrix of figure 2. Two whole decompositions, with the row off and on, differ in the corner of "
        "the unilateral rows only; the incremental one computes that corner from the row on."
    )
    return Table(PAPER, "Figure 3: a row is switched", note, rows, pictures=pictures)


def drawn(title: str, cells: dict[str, np.ndarray]) -> Picture:
    """Return the picture of a matrix."""
    size = float(len(next(iter(cells.values()))))
    return Picture(title, (size, size), cells=cells)


def figure_5() -> Table:
    """Push bottles through a lane that narrows, by steps (2.5), and draw the last step."""
    rng = np.random.default_rng(0)
    column, row = np.divmod(np.arange(BOTTLES), 10)
    x = np.column_stack((-0.6 + 0.095 * column, -0.43 + 0.095 * row))
    x += rng.uniform(-0.005, 0.005, x.shape)
    v, rows, least = np.zeros_like(x), [], np.inf
    for k in range(1, STEPS + 1):
        D, gap = contacts(x)
        problem = step(x, v, D, gap)
        if k in INSTANTS:
            rows += by_the_paper(f"{BOTTLES} bottles, step {k}", problem, *INSTANTS[k])
            rows.append(
                PaperRow(f"{BOTTLES} bottles, step {k}", "error of the rows", rows_error(x, D, gap), ROWS)
            )
        solution = mlcp.solve(problem)
        v, gamma = solution.v.reshape(x.shape), solution.gamma
        x = x + STEP * v
        least = min(least, float(contacts(x)[1].min(initial=np.inf)))
    case = f"{BOTTLES} bottles, {STEPS} steps"
    rows.append(
        PaperRow(case, "deepest overlap over the radius of a bottle", max(0.0, -least) / RADIUS, APART)
    )
    note = (
        "The paper's figure 5 shows a packaging machine with many contacts, without numbers or dimensions. "
        "Ours: bottles on a belt, between two guides and a stop; the mixed problem of each step is solved by "
        "our solver, and those of three steps by the paper's procedure, repaired. Error of the rows: against "
        "differences of the gaps. Lines join bottles that press on each other, thicker for larger impulses."
    )
    return Table(PAPER, "Figure 5: many contacts", note, rows, pictures=[scene(x, D, gamma)])


def by_the_paper(case: str, problem: Problem, rows: int, ended: str, pivots: int | None) -> list[PaperRow]:
    """Solve the problem of one step by the repaired procedure, and compare with ours where it ends."""
    run, solution = tasora.repaired(problem), mlcp.solve(problem)
    off = float(np.abs(run.v - solution.v).max() / np.abs(solution.v).max())
    records = [
        PaperRow(case, "unilateral rows at once", problem.m, SEVERAL),
        PaperRow(case, "unilateral rows, counted", problem.m, instead=rows),
        PaperRow(case, "the procedure, repaired", run.ended, tasora.SOLVED, ended, TOUCHING),
        PaperRow(case, "pivots", run.pivots, instead=pivots),
    ]
    if run.ended != tasora.SOLVED:
        return records
    pressing = int((run.gamma > 0).sum())
    return [
        *records,
        PaperRow(case, "of these with an impulse", pressing, SEVERAL),
        PaperRow(case, "error of v, against our solver", off, Identity(1e-6)),
    ]


def step(x: np.ndarray, v: np.ndarray, D: np.ndarray, gap: np.ndarray) -> Problem:
    """Return the mixed problem of one step: bottles of 1 kg that the belt drags."""
    n = v.size
    force = np.zeros_like(v)
    force[:, 0] = DRAG * (BELT - v[:, 0])
    force[:, 1] = -DRAG * v[:, 1]
    g = (v + STEP * force).ravel()
    return Problem(np.eye(n), roots(n), g, D=D, d=-gap / STEP)


def rows_error(x: np.ndarray, D: np.ndarray, gap: np.ndarray) -> float:
    """Return the largest difference of rows times a motion from the change of their gaps."""
    motion = np.random.default_rng(0).normal(size=x.shape)
    before, after = (contacts(x + h * motion)[1] for h in (-1e-8, 1e-8))
    if not len(before) == len(gap) == len(after):
        return np.nan  # a row has begun or ended
    return float(np.abs((after - before) / 2e-8 - D @ motion.ravel()).max())


def contacts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and gaps of bottles close to each other, to the guides and to the stop."""
    reach = 2 * BELT * STEP
    i, j = np.triu_indices(len(x), 1)
    distance = np.linalg.norm(x[j] - x[i], axis=1)
    close = distance - 2 * RADIUS < reach
    i, j, distance = i[close], j[close], distance[close]
    gaps, rows = [distance - 2 * RADIUS], [np.zeros((len(i), *x.shape))]
    rows[0][np.arange(len(i)), j] = (x[j] - x[i]) / distance[:, None]
    rows[0][np.arange(len(i)), i] = -rows[0][np.arange(len(i)), j]
    for normal, at in walls():
        gap = (x - at) @ normal - RADIUS
        near = np.flatnonzero(gap < reach)
        rows.append(np.zeros((len(near), *x.shape)))
        rows[-1][np.arange(len(near)), near] = normal
        gaps.append(gap[near])
    return np.concatenate(rows).reshape(-1, x.size), np.concatenate(gaps)


def walls() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return unit normals and points of two guides and the stop."""
    along = np.array([LENGTH, LANE - MOUTH]) / np.hypot(LENGTH, LANE - MOUTH)
    lower, upper = np.array([along[1], along[0]]), np.array([along[1], -along[0]])
    return [
        (lower, np.array([0.0, -MOUTH])),
        (upper, np.array([0.0, MOUTH])),
        (np.array([-1.0, 0.0]), np.array([LENGTH, 0.0])),
    ]


def scene(x: np.ndarray, D: np.ndarray, gamma: np.ndarray) -> Picture:
    """Return the picture of the bottles, the guides, and the impulses between bottles."""
    y = x + np.array([0.0, MOUTH])
    lines = [(0, 0, LENGTH, MOUTH - LANE, 0.01), (0, 2 * MOUTH, LENGTH, MOUTH + LANE, 0.01)]
    for row, impulse in zip(D, gamma, strict=True):
        pair = np.unique(np.flatnonzero(row) // 2)
        if impulse > 0 and len(pair) == 2:
            lines.append((*y[pair[0]], *y[pair[1]], 0.02 * np.sqrt(impulse / gamma.max())))
    discs = np.column_stack((y, np.full(len(y), RADIUS)))
    title = "bottles from above; the belt moves to the right"
    scaled = 100.0 * np.array(lines)
    return Picture(title, (100 * LENGTH, 200 * MOUTH), discs={"upper": 100.0 * discs}, lines=scaled)


TABLES = (figure_2, figure_3, figure_5)
