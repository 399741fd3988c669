"""Write recursions once, as loops over the tables of section 4: matrices of an algorithm (AMT), state (SAS).

A row of AMT is one matrix operation. Its operands are matrices of the algorithm by name: "Om" of the body at
hand, "Om@p" of the preceding one; "F@p" as a result is a matrix of the preceding body. SAS holds for every
operation and body the number of the result in MPT: -1 if it is not formed yet, 0 for a constant matrix of
zeros, which is not stored. Of several operations that form one matrix of a body, the newest is the operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .. import optimizing
from .scalars import Scalar
from .systems import Body
from .tables import AUXILIARY, INDEXED, SOURCE, TARGET, TEMPORARY, Tables

V, M, S = (3, 1), (3, 3), (1, 1)  # shapes: vectors, matrices, scalars


@dataclass(frozen=True)
class Operation:
    """Row of AMT: number of the cycle c, function f, identifier S, shape (I, J), type T; operands of f."""

    c: int
    f: Callable
    S: str
    shape: tuple[int, int]
    T: int
    operands: tuple[str, ...] = ()

    @property
    def is_before(self) -> bool:
        """Return whether the result belongs to the preceding body."""
        return self.S.endswith("@p")

    @property
    def name(self) -> str:
        """Identifier without the mark of the body."""
        return self.S.removesuffix("@p")


class Run:
    """One algorithm at work on one branch: its AMT and SAS, and the external matrices by name.

    Parameters
    ----------
    tables : Tables
    AMT : sequence of Operation
    BDT : sequence of Body
        Of one branch.
    external : mapping of str to ndarray
        Columns of operands: Q, sq, cq, dQ, and Tau.
    base : mapping of str to ndarray
        Constant matrices of the base; the others are 0.
    """

    def __init__(
        self,
        tables: Tables,
        AMT: Sequence[Operation],
        BDT: Sequence[Body],
        external: Mapping[str, np.ndarray],
        base: Mapping[str, np.ndarray],
    ):
        self.tables, self.AMT, self.BDT, self.external = tables, AMT, BDT, external
        self.j = self.column = 0
        self.targets: dict[tuple[str, int], Scalar] = {}
        self.rows_of: dict[str, list[int]] = {}
        for i, row in enumerate(AMT):
            self.rows_of.setdefault(row.name, []).append(i)
        self.after: list[list[int]] = [[] for _ in range(len(BDT) + 1)]
        for body in BDT:
            self.after[body.p].append(body.j)
        self.SAS = np.full((len(AMT), len(BDT)), -1)
        self.root = 0  # body whose matrices are constants
        self.constants = {name: self.constant(values) for name, values in base.items()}

    @property
    def body(self) -> Body:
        """Row of BDT of the body at hand."""
        return self.BDT[self.j - 1]

    def constant(self, values) -> int:
        """Return the number of a matrix of numbers; 0 if it is zero."""
        values = np.asarray(values, dtype=float)
        if not values.any():
            return 0
        number = self.tables.describe(None, SOURCE, values.shape)
        self.tables.write(number, self.coded(values))
        return number

    def coded(self, values) -> np.ndarray:
        """Return operands for an array of numbers."""
        return self.tables.numbers(values)

    def operand(self, name: str) -> np.ndarray:
        """Return a matrix of the body at hand, or of the preceding one, by SAS."""
        j, name = self.body.p if name.endswith("@p") else self.j, name.removesuffix("@p")
        rows = self.rows_of[name]
        numbers = [self.constants.get(name, 0)] if j == self.root else []
        for i in rows:
            at = self.after[j] if self.AMT[i].is_before else [j][: j > 0]
            numbers += [int(self.SAS[i, k - 1]) for k in at]
        number = max(numbers, default=-1)
        if number < 0:
            raise LookupError(f"matrix {name!r} of body {j} is not formed yet")
        return self.tables.read(number) if number else self.coded(np.zeros(self.AMT[rows[0]].shape))

    def cycle(self, c: int, bodies: Iterable[int]) -> None:
        """Perform the operations of a cycle for these bodies."""
        for self.j in bodies:
            for i, row in enumerate(self.AMT):
                if row.c == c:
                    self.perform(i, row)

    def column_of(self, name: str) -> np.ndarray:
        """Return the results of all bodies as a column."""
        column = np.empty((len(self.BDT), 1), dtype=object)
        column[:, 0] = [self.targets[name, body.j] for body in self.BDT]
        return column

    def perform(self, i: int, row: Operation) -> None:
        """Perform one operation; write its result to IDT, MPT, MET and SET, and its number to SAS."""
        j = self.body.p if row.is_before else self.j
        result = row.f(self, *map(self.operand, row.operands))
        if row.T == SOURCE and all(x.is_number(0.0) for x in result.flat):
            self.SAS[i, self.j - 1] = 0
            return
        if row.T == TARGET:
            self.targets[row.name, self.j] = result[0, 0]
        name = f"{row.name}{j}" if row.T == INDEXED else None if row.T == SOURCE else row.name
        number = self.tables.describe(name, TEMPORARY if row.T == TARGET else row.T, row.shape)
        self.SAS[i, self.j - 1] = number
        self.tables.write(number, result)


# ------------------------------------------------------------------------------- functions of source matrices


def gamma(run: Run) -> np.ndarray:
    """Return gamma of the joint."""
    return run.coded(run.body.gamma(run.tables.readings.rounded_frames))


def alpha(run: Run) -> np.ndarray:
    """Return alpha of the joint; 1 if it slides."""
    zero, one, (c, s) = run.tables.scalar(), run.tables.scalar(1.0), trigonometric(run)
    return optimizing.alpha(run.body.k, c, s, zero, one) if run.body.turns else run.coded(np.eye(3))


def trigonometric(run: Run) -> tuple[Scalar, Scalar]:
    """Return cosine and sine of the joint's angle."""
    return run.external["cq"][run.j - 1, 0], run.external["sq"][run.j - 1, 0]


def along(run: Run, turning: int) -> np.ndarray:
    """Return the unit vector of a joint that turns (R_rel) or slides (T_rel), 0 for the other kind."""
    return run.coded(np.eye(3)[:, [run.body.k]] * (run.body.turns == turning))


def external(run: Run, name: str, turning: int) -> np.ndarray:
    """Return an external variable of the joint along its axis, 0 for the other kind of joint."""
    return along(run, turning) * run.external[name][run.j - 1, 0]


def geometry(run: Run) -> np.ndarray:
    """Return r, from the preceding body's origin to the joint's."""
    return run.coded(run.body.r[:, None])


def mass(run: Run) -> np.ndarray:
    """Return m 1_3."""
    return run.coded(run.body.m * np.eye(3))


def first_moment(run: Run) -> np.ndarray:
    """Return c = m d."""
    return run.coded(run.body.m * run.body.d[:, None])


def tensor(run: Run) -> np.ndarray:
    """Return I."""
    return run.coded(run.body.tensor)


# -------------------------------------------------------------------------------------- elementary operations


def product(_, A, B) -> np.ndarray:
    """Return A B."""
    return A @ B


def turned_back(_, A, B) -> np.ndarray:
    """Return A^T B."""
    return A.T @ B


def total(_, A, B) -> np.ndarray:
    """Return A + B."""
    return A + B


def difference(_, A, B) -> np.ndarray:
    """Return A - B."""
    return A - B


def negative(_, A) -> np.ndarray:
    """Return -A."""
    return -A


def doubled(run: Run, A) -> np.ndarray:
    """Return 2 A."""
    return A * run.tables.scalar(2.0)


def tilde(run: Run, a) -> np.ndarray:
    """Return the matrix of a cross product."""
    return optimizing.tilde(a[:, 0], run.tables.scalar())


def crossed(run: Run, a, b) -> np.ndarray:
    """Return a~ b; of matrices, a~ B."""
    return tilde(run, a) @ b


def behind(run: Run, A, b) -> np.ndarray:
    """Return A b~^T."""
    return A @ tilde(run, b).T


def centrifugal(_, w) -> np.ndarray:
    """Return Omega by (1.2)."""
    return np.array(optimizing.centrifugal(optimizing.squares(w[:, 0])), dtype=object)


def gyroscopic(run: Run, w) -> np.ndarray:
    """Return m_omega by (1.2)."""
    x, y, z, *products = (run.tables.scalar(value) for value in run.body.I)
    m = optimizing.gyroscopic(optimizing.squares(w[:, 0]), products, (z - y, x - z, y - x))
    return np.array(m, dtype=object)[:, None]


def turned_matrix(run: Run, A) -> np.ndarray:
    """Return gamma^T (alpha^T A alpha) gamma by (1.3) to (1.5)."""
    if run.body.turns:
        c, s = trigonometric(run)
        v_T = optimizing.trigonometric(c, s)
        A = optimizing.turned(A, run.body.k, c, s, v_T, printed=False, same=Scalar.same)
    g = gamma(run)
    return g.T @ A @ g


def symmetric(run: Run, A) -> np.ndarray:
    """Return A with its lower triangle copied from the upper one, which is equal."""
    if run.tables.readings.mirrored:
        A = A.copy()
        for i, j in ((1, 0), (2, 0), (2, 1)):
            A[i, j] = A[j, i]
    return A


def copied(_, A) -> np.ndarray:
    """Return A."""
    return A


def transposed(_, A) -> np.ndarray:
    """Return A^T."""
    return A.T


def turned_symmetric(run: Run, A) -> np.ndarray:
    """Return a symmetric A turned by (1.3)."""
    return symmetric(run, turned_matrix(run, A))


def reciprocal(_, A) -> np.ndarray:
    """Return 1 / a of a matrix with one entry."""
    return np.array([[A[0, 0].reciprocal()]], dtype=object)


def quadratic(_, axis, A) -> np.ndarray:
    """Return axis^T A axis."""
    return axis.T @ A @ axis


def dyad(_, axis, inverse) -> np.ndarray:
    """Return D = axis inverse axis^T."""
    return axis @ inverse @ axis.T


def by_joint(run: Run, sliding, turning) -> np.ndarray:
    """Return the first operand for a joint that slides, the second for one that turns."""
    return turning if run.body.turns else sliding


def drive(run: Run) -> np.ndarray:
    """Return the force or moment of the joint's drive."""
    return run.external["Tau"][[run.j - 1]]


def nothing(run: Run) -> np.ndarray:
    """Return 0."""
    return run.coded(np.zeros(S))


def unit(run: Run, turning: int) -> np.ndarray:
    """Return the unit acceleration of the column's joint, 0 for other joints."""
    return along(run, turning) if run.j == run.column else run.coded(np.zeros(V))


# ------------------------------------------------------------------------------------------------- algorithms


def frames(c: int) -> tuple[Operation, ...]:
    """Return the operations that form the matrices of a joint."""
    return (
        Operation(c, gamma, "Gam", M, SOURCE),
        Operation(c, alpha, "Alf", M, AUXILIARY),
        Operation(c, product, "Bet", M, INDEXED, ("Alf", "Gam")),
        Operation(c, geometry, "R", V, SOURCE),
        Operation(c, partial(along, turning=1), "RRel", V, SOURCE),
        Operation(c, partial(along, turning=0), "TRel", V, SOURCE),
        Operation(c, partial(external, name="Q", turning=0), "Ro", V, AUXILIARY),
    )


def bodies(c: int) -> tuple[Operation, ...]:
    """Return the operations that form the matrices of a body."""
    return (
        Operation(c, mass, "Mas", M, SOURCE),
        Operation(c, first_moment, "C", V, SOURCE),
        Operation(c, tensor, "I", M, SOURCE),
    )


def backward(c: int, adding: bool = True) -> tuple[Operation, ...]:
    """Return the operations that move force and moment of a body to the preceding one, or add them, (1.6)."""
    added = (
        Operation(c, total, "F@p", V, INDEXED, ("F@p", "FP")),
        Operation(c, total, "Mo@p", V, INDEXED, ("Mo@p", "tMP")),
    )
    moved = (
        Operation(c, copied, "F@p", V, INDEXED, ("FP",)),
        Operation(c, copied, "Mo@p", V, INDEXED, ("tMP",)),
    )
    return (
        Operation(c, turned_back, "FP", V, AUXILIARY, ("Bet", "F")),
        Operation(c, crossed, "tRF", V, TEMPORARY, ("Ro", "F")),
        Operation(c, total, "tMo", V, TEMPORARY, ("Mo", "tRF")),
        Operation(c, turned_back, "tBM", V, TEMPORARY, ("Bet", "tMo")),
        Operation(c, crossed, "tRP", V, TEMPORARY, ("R", "FP")),
        Operation(c, total, "tMP", V, TEMPORARY, ("tBM", "tRP")),
        *(added if adding else moved),
    )


def projected(c: int, name: str, T: int, driven: bool) -> tuple[Operation, ...]:
    """Return the operations of the first line of (1.6), with the joint's drive or without."""
    return (
        Operation(c, turned_back, "tTF", S, TEMPORARY, ("TRel", "F")),
        Operation(c, turned_back, "tRM", S, TEMPORARY, ("RRel", "Mo")),
        Operation(c, by_joint, "tS", S, TEMPORARY, ("tTF", "tRM")),
        Operation(c, drive if driven else nothing, "tTau", S, TEMPORARY),
        Operation(c, total, name, S, T, ("tS", "tTau")),
    )


VELOCITIES = (  # section 1
    Operation(1, product, "OmP", V, AUXILIARY, ("Bet", "Om@p")),
    Operation(1, partial(external, name="dQ", turning=1), "OmR", V, AUXILIARY),
    Operation(1, total, "Om", V, INDEXED, ("OmP", "OmR")),
    Operation(1, product, "tEp", V, TEMPORARY, ("Bet", "Ep@p")),
    Operation(1, crossed, "tOR", V, TEMPORARY, ("OmP", "OmR")),
    Operation(1, total, "Ep", V, INDEXED, ("tEp", "tOR")),
    Operation(1, centrifugal, "OmO", M, AUXILIARY, ("Om",)),
    Operation(1, tilde, "tEpT", M, TEMPORARY, ("Ep",)),
    Operation(1, total, "E", M, INDEXED, ("tEpT", "OmO")),  # (1.1)
    Operation(1, product, "tER", V, TEMPORARY, ("E@p", "R")),
    Operation(1, total, "tWR", V, TEMPORARY, ("W@p", "tER")),
    Operation(1, product, "WP", V, AUXILIARY, ("Bet", "tWR")),
    Operation(1, partial(external, name="dQ", turning=0), "VR", V, AUXILIARY),
    Operation(1, crossed, "tOV", V, TEMPORARY, ("Om", "VR")),
    Operation(1, doubled, "tCo", V, TEMPORARY, ("tOV",)),
    Operation(1, product, "tERo", V, TEMPORARY, ("E", "Ro")),
    Operation(1, total, "tWC", V, TEMPORARY, ("WP", "tCo")),
    Operation(1, total, "W", V, INDEXED, ("tWC", "tERo")),
)
LOADS = (
    *bodies(2),
    Operation(2, product, "tMW", V, TEMPORARY, ("Mas", "W")),
    Operation(2, product, "tEC", V, TEMPORARY, ("E", "C")),
    Operation(2, total, "tF", V, TEMPORARY, ("tMW", "tEC")),
    Operation(2, negative, "F", V, INDEXED, ("tF",)),
    Operation(2, gyroscopic, "MOm", V, AUXILIARY, ("Om",)),
    Operation(2, product, "tIE", V, TEMPORARY, ("I", "Ep")),
    Operation(2, negative, "tMI", V, TEMPORARY, ("tIE",)),
    Operation(2, crossed, "tCW", V, TEMPORARY, ("C", "W")),
    Operation(2, difference, "tMC", V, TEMPORARY, ("tMI", "tCW")),
    Operation(2, difference, "Mo", V, INDEXED, ("tMC", "MOm")),
)


FORCES = (*frames(1), *VELOCITIES, *LOADS, *projected(3, "B", TARGET, True), *backward(3))
COLUMNS = (  # of H: cycle 1 is that of the columns, and has no operations of its own
    *frames(2),
    Operation(2, product, "EpP", V, AUXILIARY, ("Bet", "Ep@p")),
    Operation(2, partial(unit, turning=1), "EpR", V, SOURCE),
    Operation(2, total, "Ep", V, INDEXED, ("EpP", "EpR")),
    Operation(2, crossed, "tER", V, TEMPORARY, ("Ep@p", "R")),
    Operation(2, total, "tWR", V, TEMPORARY, ("W@p", "tER")),
    Operation(2, product, "WP", V, AUXILIARY, ("Bet", "tWR")),
    Operation(2, crossed, "tERo", V, TEMPORARY, ("Ep", "Ro")),
    Operation(2, total, "tWP", V, TEMPORARY, ("WP", "tERo")),
    Operation(2, partial(unit, turning=0), "WR", V, SOURCE),
    Operation(2, total, "W", V, INDEXED, ("tWP", "WR")),
    *bodies(2),
    Operation(2, product, "tMW", V, TEMPORARY, ("Mas", "W")),
    Operation(2, crossed, "tEC", V, TEMPORARY, ("Ep", "C")),
    Operation(2, total, "F", V, INDEXED, ("tMW", "tEC")),
    Operation(2, product, "tIE", V, TEMPORARY, ("I", "Ep")),
    Operation(2, crossed, "tCW", V, TEMPORARY, ("C", "W")),
    Operation(2, total, "Mo", V, INDEXED, ("tIE", "tCW")),
    *projected(3, "A", TARGET, False),
    *backward(3),
)


def shifted(c: int, of: tuple[str, str, str], r: str, to: str) -> tuple[Operation, ...]:
    """Return the operations that move a rigid inertia to the origin at -r: first moment and tensor."""
    m, h, I = of
    return (
        Operation(c, product, f"t{to}M", V, TEMPORARY, (m, r)),
        Operation(c, total, f"C{to}", V, AUXILIARY, (h, f"t{to}M")),
        Operation(c, tilde, f"t{to}H", M, TEMPORARY, (h,)),
        Operation(c, crossed, f"t{to}X", M, TEMPORARY, (r, f"t{to}H")),
        Operation(c, tilde, f"t{to}R", M, TEMPORARY, (r,)),
        Operation(c, crossed, f"t{to}Y", M, TEMPORARY, (f"C{to}", f"t{to}R")),
        Operation(c, total, f"t{to}Z", M, TEMPORARY, (f"t{to}X", f"t{to}Y")),
        Operation(c, difference, f"t{to}I", M, TEMPORARY, (I, f"t{to}Z")),
        Operation(c, symmetric, f"I{to}", M, AUXILIARY, (f"t{to}I",)),
    )


COMPOSITES = (  # of H, by Walker & Orin (1982)
    *frames(1),
    *bodies(1),
    *shifted(2, ("Mas", "C", "I"), "Ro", "S"),
    Operation(2, turned_back, "CB", V, AUXILIARY, ("Bet", "CS")),
    Operation(2, turned_symmetric, "IB", M, AUXILIARY, ("IS",)),
    *shifted(2, ("Mas", "CB", "IB"), "R", "P"),
    Operation(2, total, "Mas@p", M, INDEXED, ("Mas@p", "Mas")),
    Operation(2, total, "C@p", V, INDEXED, ("C@p", "CP")),
    Operation(2, total, "I@p", M, INDEXED, ("I@p", "IP")),
    Operation(3, product, "tMT", V, TEMPORARY, ("Mas", "TRel")),
    Operation(3, crossed, "tRC", V, TEMPORARY, ("RRel", "C")),
    Operation(3, total, "F", V, INDEXED, ("tMT", "tRC")),
    Operation(3, product, "tIR", V, TEMPORARY, ("I", "RRel")),
    Operation(3, crossed, "tCT", V, TEMPORARY, ("C", "TRel")),
    Operation(3, total, "Mo", V, INDEXED, ("tIR", "tCT")),
    *projected(4, "A", TARGET, False),
    *backward(4, adding=False),
)


def articulated_shift(c: int, of: tuple[str, str, str], r: str, to: str) -> tuple[Operation, ...]:
    """Return the operations that move an articulated inertia to the origin at -r: M_tr and M_rr."""
    tt, tr, rr = of
    return (
        Operation(c, behind, f"t{to}A", M, TEMPORARY, (tt, r)),
        Operation(c, total, f"Mtr{to}", M, AUXILIARY, (tr, f"t{to}A")),
        Operation(c, transposed, f"t{to}T", M, TEMPORARY, (tr,)),
        Operation(c, behind, f"t{to}B", M, TEMPORARY, (f"t{to}T", r)),
        Operation(c, crossed, f"t{to}C", M, TEMPORARY, (r, f"Mtr{to}")),
        Operation(c, total, f"t{to}D", M, TEMPORARY, (rr, f"t{to}B")),
        Operation(c, total, f"t{to}E", M, TEMPORARY, (f"t{to}D", f"t{to}C")),
        Operation(c, symmetric, f"Mrr{to}", M, AUXILIARY, (f"t{to}E",)),
    )


ARTICULATED = (  # section 1, with the force and moment of the bodies for zero accelerations of the joints
    *frames(1),
    *VELOCITIES,
    *(replace(row, c=1) for row in LOADS),
    Operation(1, copied, "Mtt", M, INDEXED, ("Mas",)),
    Operation(1, tilde, "tCT", M, TEMPORARY, ("C",)),
    Operation(1, transposed, "Mtr", M, INDEXED, ("tCT",)),
    Operation(1, copied, "Mrr", M, INDEXED, ("I",)),
    Operation(2, total, "Axis", V, INDEXED, ("TRel", "RRel")),
    Operation(2, transposed, "tTr", M, TEMPORARY, ("Mtr",)),
    Operation(2, by_joint, "Lt", M, AUXILIARY, ("Mtt", "tTr")),
    Operation(2, by_joint, "Lr", M, AUXILIARY, ("Mtr", "Mrr")),
    Operation(2, by_joint, "tLL", M, TEMPORARY, ("Lt", "Lr")),
    Operation(2, quadratic, "tJ", S, TEMPORARY, ("Axis", "tLL")),
    Operation(2, reciprocal, "Inv", S, INDEXED, ("tJ",)),
    Operation(2, dyad, "D", M, AUXILIARY, ("Axis", "Inv")),
    Operation(2, product, "DLt", M, INDEXED, ("D", "Lt")),
    Operation(2, product, "DLr", M, INDEXED, ("D", "Lr")),
    Operation(2, turned_back, "tTT", M, TEMPORARY, ("Lt", "DLt")),
    Operation(2, difference, "tNtt", M, TEMPORARY, ("Mtt", "tTT")),
    Operation(2, symmetric, "Ntt", M, AUXILIARY, ("tNtt",)),
    Operation(2, turned_back, "tTR", M, TEMPORARY, ("Lt", "DLr")),
    Operation(2, difference, "Ntr", M, AUXILIARY, ("Mtr", "tTR")),
    Operation(2, turned_back, "tRR", M, TEMPORARY, ("Lr", "DLr")),
    Operation(2, difference, "tNrr", M, TEMPORARY, ("Mrr", "tRR")),
    Operation(2, symmetric, "Nrr", M, AUXILIARY, ("tNrr",)),
    *articulated_shift(2, ("Ntt", "Ntr", "Nrr"), "Ro", "S"),
    Operation(2, turned_symmetric, "NttP", M, AUXILIARY, ("Ntt",)),  # (1.3)
    Operation(2, turned_matrix, "NtrP", M, AUXILIARY, ("MtrS",)),
    Operation(2, turned_symmetric, "NrrP", M, AUXILIARY, ("MrrS",)),
    *articulated_shift(2, ("NttP", "NtrP", "NrrP"), "R", "P"),
    Operation(2, total, "Mtt@p", M, INDEXED, ("Mtt@p", "NttP")),
    Operation(2, total, "Mtr@p", M, INDEXED, ("Mtr@p", "MtrP")),
    Operation(2, total, "Mrr@p", M, INDEXED, ("Mrr@p", "MrrP")),
    *projected(2, "U", INDEXED, True),
    Operation(2, product, "tAU", V, TEMPORARY, ("Axis", "U")),
    Operation(2, turned_back, "tGt", V, TEMPORARY, ("DLt", "tAU")),
    Operation(2, difference, "F", V, INDEXED, ("F", "tGt")),
    Operation(2, turned_back, "tGr", V, TEMPORARY, ("DLr", "tAU")),
    Operation(2, difference, "Mo", V, INDEXED, ("Mo", "tGr")),
    *backward(2),
    Operation(3, product, "dEP", V, AUXILIARY, ("Bet", "dE@p")),
    Operation(3, crossed, "tdER", V, TEMPORARY, ("dE@p", "R")),
    Operation(3, total, "tdW", V, TEMPORARY, ("dW@p", "tdER")),
    Operation(3, product, "tdBW", V, TEMPORARY, ("Bet", "tdW")),
    Operation(3, crossed, "tdRo", V, TEMPORARY, ("dEP", "Ro")),
    Operation(3, total, "dWP", V, AUXILIARY, ("tdBW", "tdRo")),
    Operation(3, product, "tLW", V, TEMPORARY, ("DLt", "dWP")),
    Operation(3, product, "tLE", V, TEMPORARY, ("DLr", "dEP")),
    Operation(3, total, "tL", V, TEMPORARY, ("tLW", "tLE")),
    Operation(3, turned_back, "tAL", S, TEMPORARY, ("Axis", "tL")),
    Operation(3, product, "tIU", S, TEMPORARY, ("Inv", "U")),
    Operation(3, difference, "QDD", S, TARGET, ("tIU", "tAL")),
    Operation(3, product, "tRQ", V, TEMPORARY, ("RRel", "QDD")),
    Operation(3, total, "dE", V, INDEXED, ("dEP", "tRQ")),
    Operation(3, product, "tTQ", V, TEMPORARY, ("TRel", "QDD")),
    Operation(3, total, "dW", V, INDEXED, ("dWP", "tTQ")),
)


# ---------------------------------------------------------------------------------------- the loops over them


def generalized_forces(run: Run) -> np.ndarray:
    """Return b by (1.6): two forward loops and a backward one."""
    n = len(run.BDT)
    run.cycle(1, range(1, n + 1))
    run.cycle(2, range(1, n + 1))
    run.cycle(3, range(n, 0, -1))
    return run.column_of("B")


def accelerations(run: Run) -> np.ndarray:
    """Return accelerations by articulated bodies: a forward, a backward and a forward loop."""
    n = len(run.BDT)
    run.cycle(1, range(1, n + 1))
    run.cycle(2, range(n, 0, -1))
    run.cycle(3, range(1, n + 1))
    return run.column_of("QDD")


def inertia_by_columns(run: Run) -> np.ndarray:
    """Return A: of each column a forward and a backward loop over the bodies that its joint carries."""
    n = len(run.BDT)
    A = run.coded(np.zeros((n, n)))
    for j in range(1, n + 1):  # cycle 1
        for k in column_of_inertia(run, j):
            A[k - 1, j - 1] = A[j - 1, k - 1] = run.targets["A", k]
    return A


def column_of_inertia(run: Run, j: int) -> list[int]:
    """Form column j of A with a new SAS; return the bodies whose entries it has."""
    run.SAS[:] = -1
    run.column, run.root = j, run.BDT[j - 1].p
    carried = subtree(run.BDT, j)
    run.cycle(2, carried)
    run.cycle(3, reversed(carried))
    return carried


def inertia_of_composites(run: Run) -> np.ndarray:
    """Return A: of each column the momentum of the bodies that its joint carries, moved to the base."""
    n = len(run.BDT)
    A = run.coded(np.zeros((n, n)))
    run.cycle(1, range(1, n + 1))
    run.cycle(2, range(n, 0, -1))
    formed = run.SAS.copy()
    for run.column in range(n, 0, -1):
        run.SAS[:] = formed
        run.cycle(3, [run.column])
        carrying = ancestors(run.BDT, run.column)
        run.cycle(4, carrying)
        for k in carrying:
            A[k - 1, run.column - 1] = A[run.column - 1, k - 1] = run.targets["A", k]
    return A


def subtree(BDT: Sequence[Body], j: int) -> list[int]:
    """Return the bodies that a joint carries, from its own on."""
    carried = [j]
    carried += [body.j for body in BDT if body.j > j and j in ancestors(BDT, body.j)]
    return carried


def ancestors(BDT: Sequence[Body], j: int) -> list[int]:
    """Return a body and those before it."""
    carrying = []
    while j:
        carrying.append(j)
        j = BDT[j - 1].p
    return carrying
