"""Write the procedures of a mechanism, stage after stage (sections 1 and 4), and run them.

MMT lists the external matrices by branch: a stage reads those of earlier stages, and later stages read its
targets. The stages of section 1: sines, cosines and kinematics of the independent branch; equations of the
loops, solved for the dependent velocities and accelerations; dynamics of each dependent branch, reduced to
the independent one; accelerations of that, and of the dependent branches. The paper takes the equations from
[25] and [26], which it does not print. Here three rows hold two points together, and a universal joint keeps
two axes at right angles, all in the axes of the base; matrices of 3 and 4 rows are inverted by cofactors, as
the paper says, and the independent accelerations follow from A = L D L^T.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ....tree.tree import OperationCount
from .recursions import (
    ARTICULATED,
    COLUMNS,
    COMPOSITES,
    FORCES,
    INDEXED,
    M,
    Operation,
    Run,
    V,
    accelerations,
    along,
    centrifugal,
    crossed,
    doubled,
    external,
    gamma,
    generalized_forces,
    geometry,
    inertia_by_columns,
    inertia_of_composites,
    product,
    tilde,
    total,
)
from .recursions import alpha as alpha_of
from .scalars import Readings, Scalar
from .source import Procedure, written
from .systems import Cut, System, transformation
from .tables import AUXILIARY, SOURCE, TARGET, TEMPORARY, Tables

USUAL = Readings()
ONE = {"Th": np.eye(3)}  # of the base


def product_back(_, A, B) -> np.ndarray:
    """Return A B^T."""
    return A @ B.T


IN_BASE = (  # all vectors in the axes of the base; Th turns from the axes of the body to them
    Operation(1, gamma, "Gam", M, SOURCE),
    Operation(1, alpha_of, "Alf", M, AUXILIARY),
    Operation(1, geometry, "R", V, SOURCE),
    Operation(1, partial(along, turning=1), "RRel", V, SOURCE),
    Operation(1, partial(along, turning=0), "TRel", V, SOURCE),
    Operation(1, product_back, "GTh", M, INDEXED, ("Th@p", "Gam")),
    Operation(1, product_back, "Th", M, INDEXED, ("GTh", "Alf")),
    Operation(1, product, "RB", V, INDEXED, ("Th@p", "R")),
    Operation(1, product, "AxR", V, INDEXED, ("GTh", "RRel")),
    Operation(1, product, "AxT", V, INDEXED, ("GTh", "TRel")),
    Operation(1, partial(external, name="Q", turning=0), "Ro", V, AUXILIARY),
    Operation(1, product, "RoB", V, INDEXED, ("GTh", "Ro")),
    Operation(1, total, "tPo", V, TEMPORARY, ("Po@p", "RB")),
    Operation(1, total, "Po", V, INDEXED, ("tPo", "RoB")),
    Operation(2, partial(external, name="dQ", turning=1), "tOR", V, TEMPORARY),
    Operation(2, product, "OmR", V, AUXILIARY, ("GTh", "tOR")),
    Operation(2, total, "Om", V, INDEXED, ("Om@p", "OmR")),
    Operation(2, crossed, "tOO", V, TEMPORARY, ("Om@p", "OmR")),
    Operation(2, total, "Ep", V, INDEXED, ("Ep@p", "tOO")),
    Operation(2, centrifugal, "OmO", M, AUXILIARY, ("Om",)),
    Operation(2, tilde, "tEpT", M, TEMPORARY, ("Ep",)),
    Operation(2, total, "E", M, INDEXED, ("tEpT", "OmO")),
    Operation(2, product, "tER", V, TEMPORARY, ("E@p", "RB")),
    Operation(2, total, "tWR", V, TEMPORARY, ("W@p", "tER")),
    Operation(2, partial(external, name="dQ", turning=0), "tVR", V, TEMPORARY),
    Operation(2, product, "VR", V, AUXILIARY, ("GTh", "tVR")),
    Operation(2, crossed, "tOV", V, TEMPORARY, ("Om", "VR")),
    Operation(2, doubled, "tCo", V, TEMPORARY, ("tOV",)),
    Operation(2, product, "tERo", V, TEMPORARY, ("E", "RoB")),
    Operation(2, total, "tWC", V, TEMPORARY, ("tWR", "tCo")),
    Operation(2, total, "W", V, INDEXED, ("tWC", "tERo")),
)


@dataclass
class Writer:
    """The tables of all stages of a mechanism, and MMT: the external matrices, by name and branch."""

    model: object
    readings: Readings
    system: System = field(init=False)
    stages: list[Tables] = field(default_factory=list)
    MMT: dict[str, tuple[Tables, int]] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)

    def __post_init__(self):
        self.system = System.of(self.model)

    def stage(self) -> Tables:
        """Begin a stage: return its tables."""
        if self.readings.own_tables or not self.stages:
            self.stages.append(Tables(self.readings))
        return self.stages[-1]

    def size(self, b: int) -> int:
        """Return the number of bodies of a branch."""
        return len(self.system.BDT[b])

    def source(self, tables: Tables, name: str) -> np.ndarray:
        """Return an external matrix: the targets of an earlier stage, whose numbers stay numbers."""
        owner, number = self.MMT[name]
        matrix = owner.read(number)
        if owner is tables:
            return matrix
        elements = [
            tables.external(f"{name}_{L}") if x.C else tables.scalar(x.N)
            for L, x in enumerate(matrix.ravel(order="F"), 1)
        ]
        result = np.empty(len(elements), dtype=object)
        result[:] = elements
        return result.reshape(matrix.shape, order="F")

    def target(self, tables: Tables, name: str, entries: np.ndarray) -> None:
        """Write a target matrix."""
        number = tables.describe(name, TARGET, entries.shape)
        tables.write(number, entries)
        self.MMT[name] = tables, number

    def inputs(self, tables: Tables, name: str, b: int) -> np.ndarray:
        """Return a column of external variables of a branch."""
        column = np.empty((self.size(b), 1), dtype=object)
        column[:, 0] = [tables.external(f"{name}{b}_{L}") for L in range(1, self.size(b) + 1)]
        return column

    def rates(self, tables: Tables) -> np.ndarray:
        """Return the velocities of the independent branch."""
        return self.inputs(tables, "dQ", 0)

    def trigonometric(self, tables: Tables, b: int) -> None:
        """Write sines and cosines of the joints of a branch that turn; 0 for others."""
        for name, O in (("sq", "s"), ("cq", "c")):
            column = np.full((self.size(b), 1), tables.scalar(), dtype=object)
            for body in self.system.BDT[b]:
                if body.turns:
                    angle = tables.external(f"Q{b}_{body.j}")
                    column[body.j - 1, 0] = tables.temporary(0.0, angle.C, 0, O, 0, 0)
            self.target(tables, f"{name}{b}", column)

    def run(self, tables: Tables, AMT, b: int, base, dQ=None) -> Run:
        """Return a run of an algorithm on a branch."""
        of_branch = {name: self.inputs(tables, name, b) for name in ("Q", "Tau")}
        of_branch |= {name: self.source(tables, f"{name}{b}") for name in ("sq", "cq")}
        of_branch["dQ"] = dQ
        return Run(tables, AMT, self.system.BDT[b], of_branch, base)

    @property
    def falling(self) -> dict[str, np.ndarray]:
        """Matrices of the base: it accelerates against gravity."""
        return {"W": -self.system.gravity[:, None]}

    def forces(self, b: int, dQ) -> np.ndarray:
        """Write the generalized forces of a branch in the current tables."""
        tables = self.stages[-1]
        self.runs["b"] = run = self.run(tables, FORCES, b, self.falling, dQ)
        return generalized_forces(run)

    def inertia(self, b: int) -> np.ndarray:
        """Write the inertia matrix of a branch in the current tables."""
        tables = self.stages[-1]
        composites = self.readings.composites
        self.runs["A"] = run = self.run(tables, COMPOSITES if composites else COLUMNS, b, {})
        return inertia_of_composites(run) if composites else inertia_by_columns(run)

    def procedures(self) -> list[Procedure]:
        """Finish the tables of all stages."""
        return [written(tables) for tables in self.stages]

    # ------------------------------------------------------------------------------------- closed loops

    def close(self) -> None:
        """Write the stages of section 1 for a mechanism with loops."""
        tables = self.stage()
        self.trigonometric(tables, 0)
        run = self.run(tables, IN_BASE, 0, ONE, self.rates(tables))
        for c in (1, 2):
            run.cycle(c, range(1, self.size(0) + 1))
        for cut in self.system.LDT:
            self.independent_end(run, cut)
        for cut in self.system.LDT:
            self.equations(cut)
        for cut in self.system.LDT:
            self.reduce(cut.branch)
        tables = self.stage()
        self.target(tables, "A0", self.inertia(0))
        tables = self.stage()
        self.target(tables, "B0", self.forces(0, self.rates(tables)))
        tables = self.stage()
        H, u = self.source(tables, "A0"), self.source(tables, "B0")
        for cut in self.system.LDT:
            H, u = (x + self.source(tables, f"{name}{cut.branch}") for x, name in ((H, "AR"), (u, "BR")))
        self.target(tables, "QDD0", solved(tables, H, u))
        for cut in self.system.LDT:
            b, tables = cut.branch, self.stage()
            a = self.source(tables, f"G{b}") @ self.source(tables, "QDD0") + self.source(tables, f"GG{b}")
            self.target(tables, f"QDD{b}", a)

    def independent_end(self, run: Run, cut: Cut) -> None:
        """Write what the equations of a loop take from the independent branch."""
        b, end = cut.branch, End(run, cut.independent, cut.r, cut.angles)
        axis = end.axis(0)  # x
        parts = {"JT": end.linear, "JR": end.angular, "WP": end.acceleration, "Ax": axis}
        for name, matrix in {**parts, "AxV": end.velocity(axis), "AxW": end.E @ axis}.items():
            self.target(run.tables, f"{name}{b}", matrix)

    def equations(self, cut: Cut) -> None:
        """Write G, GG and dQ of a dependent branch: velocities G dQ0, accelerations G QDD0 + GG."""
        b, tables = cut.branch, self.stage()
        self.trigonometric(tables, b)
        run = self.run(tables, IN_BASE, b, ONE)
        run.cycle(1, range(1, self.size(b) + 1))
        end = End(run, cut.dependent, cut.r_d, cut.angles_d)
        rows, others = [*end.linear], [*self.source(tables, f"JT{b}")]
        if cut.kind == "universal":
            u, v = end.axis(2), self.source(tables, f"Ax{b}")  # z and x
            normal = crossed(run, u, v)
            rows.append((normal.T @ end.angular)[0])
            others.append((normal.T @ self.source(tables, f"JR{b}"))[0])
        K = inverse(tables, np.array(rows, dtype=object))
        G = K @ np.array(others, dtype=object)
        dQ = G @ self.rates(tables)
        run.external["dQ"] = dQ
        run.cycle(2, range(1, self.size(b) + 1))
        sides = [*(self.source(tables, f"WP{b}") - end.acceleration)]
        if cut.kind == "universal":
            both = end.velocity(u).T @ self.source(tables, f"AxV{b}")
            turning = (end.E @ u).T @ v + both + both + u.T @ self.source(tables, f"AxW{b}")
            sides.append(-turning[0])
        for name, matrix in {"G": G, "GG": K @ np.array(sides, dtype=object), "dQ": dQ}.items():
            self.target(tables, f"{name}{b}", matrix)

    def reduce(self, b: int) -> None:
        """Write the dynamics of a dependent branch, reduced to the independent one."""
        tables = self.stage()
        H, u = self.inertia(b), self.forces(b, self.source(tables, f"dQ{b}"))
        G, GG = self.source(tables, f"G{b}"), self.source(tables, f"GG{b}")
        reduced = G.T @ (H @ G)
        if self.readings.mirrored:
            for i, j in zip(*np.tril_indices(len(reduced), -1), strict=True):
                reduced[i, j] = reduced[j, i]
        self.target(tables, f"AR{b}", reduced)
        self.target(tables, f"BR{b}", G.T @ (u - H @ GG))


class End:
    """End of a loop in a body: a place and axes, and the columns of the joints that move it."""

    def __init__(self, run: Run, body: int, r, angles):
        self.run, self.body = run, body
        self.run.j = body
        Th = run.operand("Th")
        self.r = Th @ run.coded(r[:, None])
        self.axes = Th @ run.coded(transformation(angles, run.tables.readings.rounded_frames).T)
        place = run.operand("Po") + self.r
        n = len(run.BDT)
        self.linear, self.angular = run.coded(np.zeros((3, n))), run.coded(np.zeros((3, n)))
        j = body
        while j:
            run.j = j
            arm = place - run.operand("Po")
            self.angular[:, [j - 1]] = run.operand("AxR")
            self.linear[:, [j - 1]] = crossed(run, run.operand("AxR"), arm) + run.operand("AxT")
            j = run.body.p

    def of_body(self, name: str) -> np.ndarray:
        """Return a matrix of the end's body."""
        self.run.j = self.body
        return self.run.operand(name)

    def axis(self, k: int) -> np.ndarray:
        """Return an axis of the joint that closes the loop."""
        return self.axes[:, [k]]

    def velocity(self, axis) -> np.ndarray:
        """Return the velocity of the tip of a unit vector of the body."""
        return crossed(self.run, self.of_body("Om"), axis)

    @property
    def E(self) -> np.ndarray:
        """Matrix of accelerations of points of the body, without those of its joints."""
        return self.of_body("E")

    @property
    def acceleration(self) -> np.ndarray:
        """Acceleration of the place, without those of its joints."""
        return self.of_body("W") + self.E @ self.r


def inverse(tables: Tables, A: np.ndarray) -> np.ndarray:
    """Return the inverse by cofactors and the determinant."""
    n = len(A)
    adjugate = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        rest = determinant(np.delete(np.delete(A, i, 0), j, 1))
        adjugate[j, i] = rest if (i + j) % 2 == 0 else -rest
    det = tables.scalar()
    for j in range(n):
        det = det + A[0, j] * adjugate[j, 0]
    return adjugate * det.reciprocal()


def determinant(A: np.ndarray) -> Scalar:
    """Return the determinant of 2 or 3 rows by its first row."""
    if len(A) == 2:
        return A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    minors = [A[1, j] * A[2, k] - A[1, k] * A[2, j] for j, k in ((1, 2), (0, 2), (0, 1))]
    return A[0, 0] * minors[0] - A[0, 1] * minors[1] + A[0, 2] * minors[2]


def solved(tables: Tables, H: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Solve H a = u by H = L D L^T."""
    n, H, x = len(u), H.copy(), u.copy()
    inverses = []
    for k in range(n):
        inverses.append(H[k, k].reciprocal())
        for i in range(k + 1, n):
            L = H[i, k] * inverses[k]
            for j in range(k + 1, i + 1):
                H[i, j] = H[i, j] - L * H[j, k]
            x[i, 0] = x[i, 0] - L * x[k, 0]
    for k in reversed(range(n)):
        rest = tables.scalar()
        for i in range(k + 1, n):
            rest = rest + H[i, k] * x[i, 0]
        x[k, 0] = (x[k, 0] - rest) * inverses[k]
    return x


# ------------------------------------------------------------------------------------------- whole mechanisms


@dataclass(frozen=True)
class Coded:
    """Procedures of a model, and what is counted of them.

    Attributes
    ----------
    writer : Writer
    procedures : list of Procedure
    """

    writer: Writer
    procedures: list[Procedure]

    @property
    def operations(self) -> OperationCount:
        """Operations of all procedures."""
        kinds: Counter[str] = Counter()
        for procedure in self.procedures:
            kinds.update(vars(procedure.operations))
        return OperationCount(**kinds)

    def rows(self, name: str) -> int:
        """Return the number of rows of a table, over all stages."""
        return sum(len(getattr(tables, name)) for tables in self.writer.stages)

    @property
    def used(self) -> int:
        """Rows of SET that are used."""
        return sum(procedure.used for procedure in self.procedures)

    @property
    def compared(self) -> int:
        """Comparisons of rows that a search of SET from its first row takes."""
        return sum(tables.compared for tables in self.writer.stages)

    def evaluate(self, q, v, tau) -> dict[str, np.ndarray]:
        """Run all procedures; return the target matrices by name."""
        system, memory = self.writer.system, {}
        for b, rows in enumerate(system.BDT):
            for body in rows:
                for name, x in (("Q", q), ("dQ", v), ("Tau", tau)):
                    memory[f"{name}{b}_{body.j}"] = float(x[body.freedom])
        for procedure in self.procedures:
            memory |= procedure.execute(memory)
        return {name: self._values(name, memory) for name in self.writer.MMT}

    def _values(self, name: str, memory) -> np.ndarray:
        """Return the values of a target matrix."""
        tables, number = self.writer.MMT[name]
        matrix = tables.read(number)
        values = [memory[f"{name}_{L}"] if x.C else x.N for L, x in enumerate(matrix.ravel(order="F"), 1)]
        return np.array(values).reshape(matrix.shape, order="F")

    def accelerations(self, q, v, tau) -> np.ndarray:
        """Return the accelerations of all freedoms of the model, as its procedures compute them."""
        results, a = self.evaluate(q, v, tau), np.empty(self.writer.model.nv)
        for b, rows in enumerate(self.writer.system.BDT):
            a[[body.freedom for body in rows]] = results[f"QDD{b}"][:, 0]
        return a


def inertia_and_forces(model, readings: Readings = USUAL) -> Coded:
    """Write sines and cosines, A and b of a tree: one procedure each."""
    writer = Writer(model, readings)
    writer.trigonometric(writer.stage(), 0)
    tables = writer.stage()
    writer.target(tables, "A0", writer.inertia(0))
    tables = writer.stage()
    writer.target(tables, "B0", writer.forces(0, writer.rates(tables)))
    return Coded(writer, writer.procedures())


def by_articulated_bodies(model, readings: Readings = USUAL) -> Coded:
    """Write sines and cosines, and the accelerations of a tree by articulated bodies."""
    writer = Writer(model, readings)
    writer.trigonometric(writer.stage(), 0)
    tables = writer.stage()
    writer.runs["QDD"] = run = writer.run(tables, ARTICULATED, 0, writer.falling, writer.rates(tables))
    writer.target(tables, "QDD0", accelerations(run))
    return Coded(writer, writer.procedures())


def with_closed_loops(model, readings: Readings = USUAL) -> Coded:
    """Write the accelerations of a mechanism with loops."""
    writer = Writer(model, readings)
    writer.close()
    return Coded(writer, writer.procedures())
