"""Execute Golubev & Yaskevich, sections 2 to 5: multi-table coding, figures 1 to 3, and beside `Program`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from time import process_time

import numpy as np

from ... import constraints, dynamics
from ...codegen.program.expressions import ADD
from ...codegen.program.function import Function
from ...model import arms
from ...model.joints import Joint
from ...model.mechanisms import docking_platform
from ...model.model import Model
from ...tree.tree import OperationCount
from ..textbook.multi_table import recursions, source, stages
from ..textbook.multi_table.scalars import Readings
from ..textbook.multi_table.stages import USUAL, Coded, Writer
from ..textbook.multi_table.tables import Tables
from . import golubev_yaskevich_systems as systems
from .golubev_yaskevich_systems import GENERATED, PAPER, SHARE, TRIG, WALKER, matrices, stated
from .table import AtLeast, Between, Identity, PaperRow, Table

EXACT = Identity(1e-10)
WRONG = AtLeast(1e-3)  # error of a step that computes something else
DOCKING = "docking, "
PLAIN = ("plain",)
STATES = 2  # random states on which results are compared
NEAR = Between(0.8, 1.2)  # the sizes of the paper's mechanism are not printed
PIVOTS = 6 + 6
THIRTEENTH = (
    "one for each loop, and one for each independent coordinate; the paper does not say what else it divides"
)
SAVED = (  # times fewer operations than over matrices
    Between(4.4, 4.5),
    Between(3.0, 4.0),
    "our loops over matrices take 14120 + 12037 operations, the paper's 19190 + 15904",
)
STEP = (59 - 9, 75 - 25)  # figure 3: numbers in MPT of two operations, of body 2 less of body 1
OTHER_RECURSION = "the recursion is that of another preprint; ours has its own list of operations"


@dataclass(frozen=True)
class Case:
    """A mechanism, the procedures written for it, and functions of `Program` that compute the same."""

    name: str
    model: Model
    write: Callable[..., Coded]
    functions: tuple[str, ...]

    @property
    def kind(self) -> str:
        """Which of the docking mechanisms it is, if it is one."""
        return self.name.removeprefix(DOCKING) if self.name.startswith(DOCKING) else ""


@cache
def cases() -> tuple[Case, ...]:
    """Return the arm of the space station, a six-legged robot, and docking mechanisms."""
    composite, articulated = ("crba", "bias"), ("aba",)
    trees = {"SSRMS": arms.SSRMS.model(), "six legs": systems.robot()}
    return (
        *(
            Case(f"{name}, {what}", model, write, functions)
            for name, model in trees.items()
            for what, write, functions in (
                ("A and b", stages.inertia_and_forces, composite),
                ("accelerations", stages.by_articulated_bodies, articulated),
            )
        ),
        *(
            Case(f"{DOCKING}{kind}", model, stages.with_closed_loops, ("loops",))
            for kind, model in systems.mechanisms().items()
        ),
    )


@cache
def coded(case: Case, readings: Readings = USUAL) -> tuple[Coded, float]:
    """Write the procedures of a mechanism; return them and the processor time that this takes."""
    start = process_time()
    return case.write(case.model, readings), process_time() - start


def error(case: Case, result: Coded, states: int = STATES) -> float:
    """Return the largest error of the procedures against `treefactor`, at random states."""
    rng, model = np.random.default_rng(0), case.model
    errors = []
    for _ in range(states):
        v, tau = rng.normal(size=(2, model.nv))
        if model.loops:
            q = constraints.close(model, docking_platform().random(rng))
            rates = result.evaluate(q, v, tau)
            for b, rows in enumerate(result.writer.system.BDT[1:], 1):
                v[[body.freedom for body in rows]] = rates[f"dQ{b}"][:, 0]
            a, _ = constraints.forward_dynamics(model, q, v, tau)
            pairs = [(result.accelerations(q, v, tau), a)]
        else:
            q = rng.uniform(-np.pi, np.pi, model.nq)
            if "QDD0" in result.writer.MMT:
                pairs = [(result.accelerations(q, v, tau), dynamics.aba(model, q, v, tau))]
            else:
                matrices = result.evaluate(q, v, tau)
                b = tau - dynamics.bias(model, q, v)
                pairs = [(matrices["A0"], dynamics.crba(model, q)), (matrices["B0"][:, 0], b)]
        errors += [np.abs(ours - theirs).max() / np.abs(theirs).max() for ours, theirs in pairs]
    return float(max(errors))


def programs(case: Case) -> tuple[list[Function], float]:
    """Return the programs of a mechanism, not transformed, and the processor time that this takes."""
    written = {name: systems.generated(case.model, name, PLAIN) for name in case.functions}
    functions = [program.functions[name] for name, (program, _) in written.items()]
    return functions, sum(seconds for _, seconds in written.values())


def coding() -> Table:
    """Write mechanisms by the paper's tables, beside `Program`."""
    rows = [row for case in cases() for row in beside_program(case)]
    rows += [row for case in cases() if case.model.loops for row in beside_paper(case)]
    rows.append(PaperRow("SSRMS, A and b", "error of all matrices of b", verification(), EXACT))
    note = (
        "Procedures written by the paper's own tables (treefactor/papers/textbook/multi_table), in the "
        "reading that fits the text best: see the next table. Rows of the tables are those of all stages; "
        "used: rows of SET that are not eliminated. Beside them our programs of the same functions without "
        "transformed bodies. Errors: of the procedures, executed, against treefactor's dynamics at random "
        "states; of all matrices, as section 5 verifies them, against the same recursion on numbers. The "
        "docking mechanisms are those of the table above: the paper, which does not print its dimensions, "
        "states 4686 multiplications, 3155 additions, 13 divisions and 42 sines and cosines."
    )
    return Table(PAPER, "Multi-table coding", note, rows)


def beside_program(case: Case) -> list[PaperRow]:
    """Compare the procedures of a mechanism with its programs, and with our dynamics."""
    result, seconds = coded(case)
    kinds, statements = Counter[str](), 0
    functions, seconds_of_programs = programs(case)
    for function in functions:
        kinds.update(vars(function.operations))
        statements += int((function.op >= ADD).sum())
    operations = OperationCount(**kinds)
    longer = seconds / seconds_of_programs if case.kind in ("", systems.ROUND) else None
    sizes = {name: result.rows(name) for name in ("IDT", "MPT", "MET", "SET")} | {"used": result.used}
    rows = [
        PaperRow(case.name, "rows of the tables", sizes),
        PaperRow(case.name, "comparisons of rows, if SET is searched from its first", result.compared),
        PaperRow(case.name, "rows of Program", statements),
        PaperRow(case.name, "operations", result.operations),
        PaperRow(case.name, "operations of Program", operations),
        PaperRow(case.name, "operations over those of Program", result.operations.total / operations.total),
        PaperRow(case.name, "error", error(case, result), EXACT),
    ]
    if longer is not None:
        rows.append(PaperRow(case.name, "time to write them, over that of Program", longer))
    return rows


def beside_paper(case: Case) -> list[PaperRow]:
    """Compare the procedures of a docking mechanism with the figures that the paper states."""
    result, _ = coded(case)
    ours = result.operations
    walker, _ = coded(next(one for one in cases() if one.name == "six legs, accelerations"))
    opened = opened_operations(case.model)
    share = 1.0 - (opened.mul + opened.add) / (ours.mul + ours.add)
    return [
        PaperRow(case.name, "multiplications over the paper's", ours.mul / GENERATED.mul, NEAR),
        PaperRow(case.name, "additions over the paper's", ours.add / GENERATED.add, NEAR),
        PaperRow(case.name, "sines and cosines", ours.trig, TRIG),
        PaperRow(case.name, "divisions", ours.div, GENERATED.div, PIVOTS, THIRTEENTH),
        PaperRow(case.name, "share of the loops", share, *stated(SHARE, case.kind)),
        PaperRow(case.name, "times fewer than over matrices", matrices(case.kind).total / ours.total, *SAVED),
        PaperRow(
            case.name, "over those of the six-legged robot", ours.total / walker.operations.total, WALKER
        ),
    ]


def verification() -> float:
    """Return the largest error of any matrix of b, against the recursion on numbers from the same BDT."""
    arm = arms.SSRMS.model()
    writer = stages.inertia_and_forces(arm, USUAL).writer
    run = writer.runs["b"]
    q, v, tau = np.random.default_rng(1).normal(size=(3, arm.nv))
    given = {"Q": q, "dQ": v, "Tau": tau, "sq": np.sin(q), "cq": np.cos(q)}
    memory = {f"{name}0_{k}": x for name, column in given.items() for k, x in enumerate(column, 1)}
    results = source.values(run.tables, memory)
    numeric = Tables(USUAL)
    columns = {name: numeric.numbers(column[:, None]) for name, column in given.items()}
    other = recursions.Run(numeric, recursions.FORCES, run.BDT, columns, writer.falling)
    recursions.generalized_forces(other)
    errors = [0.0]
    for number, number_of_other in zip(run.SAS[run.SAS > 0], other.SAS[run.SAS > 0], strict=True):
        matrices = run.tables.read(number).flat, other.tables.read(number_of_other).flat
        for x, y in zip(*matrices, strict=True):
            own = source.value(run.tables, x.C, x.I, results, memory) if x.C else x.N
            errors.append(abs(own - y.N))
    return max(errors)


def opened_operations(model: Model) -> OperationCount:
    """Count the operations of A and b of all branches of a mechanism whose loops are open."""
    writer = Writer(model, USUAL)
    for b in range(len(writer.system.BDT)):
        writer.trigonometric(writer.stage(), b)
        tables = writer.stage()
        writer.target(tables, f"A{b}", writer.inertia(b))
        tables = writer.stage()
        writer.target(tables, f"B{b}", writer.forces(b, writer.inputs(tables, "dQ", b)))
    return Coded(writer, writer.procedures()).operations


# --------------------------------------------------------------------------------------------------- readings

READINGS = {  # of each open step: the other reading, and why its results are wrong
    "signs_of_elements": ("products of negative operands have rows of their own, as section 3 prints", ""),
    "cancelling": ("x - x is a row", ""),
    "signed_units": (
        "a product of numbers that is -1 becomes 1, as printed",
        "the printed condition compares the absolute value with 1, and loses the sign",
    ),
    "rounded_frames": ("entries of gamma are not rounded to 0 or 1", ""),
    "parentheses": ("no parentheses after a minus, as printed", "a - (b + c) becomes a - b + c"),
    "own_names": (
        "auxiliary matrices of all bodies share their names, as printed",
        "an expression is found again after its name has been given to another one",
    ),
    "composites": ("columns of A by composite bodies", ""),
    "mirrored": ("both triangles of symmetric matrices are computed", ""),
    "own_tables": ("one set of tables for all procedures", ""),
}
WITH_LOOPS = ("own_names", "composites", "own_tables")  # also shown on a docking mechanism


def readings() -> Table:
    """Write mechanisms with the other reading of each step that the paper leaves open."""
    arm = [case for case in cases() if case.name.startswith("SSRMS")]
    platform = [case for case in cases() if case.kind == systems.ROUND]
    rows = [
        row
        for name in READINGS
        for case in (*arm, *(platform if name in WITH_LOOPS else ()))
        for row in read_otherwise(case, name)
    ]
    note = (
        "One step after the other in its other reading: how many times as many operations, and the error of "
        "the results. Three readings are misprints: what they compute is something else."
    )
    return Table(PAPER, "Multi-table coding: readings", note, rows)


def read_otherwise(case: Case, name: str) -> list[PaperRow]:
    """Compare the procedures of a mechanism with those of another reading."""
    other, _ = coded(case, replace(USUAL, **{name: not getattr(USUAL, name)}))
    text, reason = READINGS[name]
    many = other.operations.total / coded(case)[0].operations.total
    wrong, what = error(case, other, 1), f"{text}: error"
    expected = (WRONG, reason) if reason and wrong > EXACT.tolerance else ()
    return [
        PaperRow(case.name, f"{text}: times as many operations", many),
        PaperRow(case.name, what, wrong, EXACT, *expected),
    ]


# --------------------------------------------------------------------------------------------- figures 1 to 3


def filling() -> Table:
    """Follow figures 1 to 3: how tables of matrices and the state of an algorithm fill."""
    writer = stages.inertia_and_forces(arms.SSRMS.model()).writer
    articulated = stages.by_articulated_bodies(arms.SSRMS.model()).writer
    rows = [
        *of_figure_1(),
        PaperRow("figure 2, a", "share of SAS that is filled, ABA", filled(articulated.runs["QDD"]), 1.0),
        PaperRow("figure 2, b", "share of SAS that is filled, b", filled(writer.runs["b"]), 1.0),
        *(of_column(j) for j in (1, 3)),
        *of_figure_3(writer.runs["b"]),
    ]
    note = (
        "The arm of the space station. Figure 1: the two bodies of the paper; the elements are those printed "
        "but for the numbers of rows. Figure 2: all elements of SAS hold numbers after the recursions of "
        "articulated bodies and of b; for column j of A, those of the bodies from j on. Figure 3: the "
        "numbers in MPT of one operation at two bodies. Our copy of the paper does not show the drawings; "
        "what they show is taken from its text."
    )
    return Table(PAPER, "Figures 1 to 3: tables", note, rows)


def two_bodies() -> recursions.Run:
    """Run the velocities of the bodies of figure 1: joints about z and y, all axes parallel."""
    joints = [Joint("joint1", "revolute", axis=(0, 0, 1)), Joint("joint2", "revolute", 0, axis=(0, 1, 0))]
    writer = Writer(Model(joints), USUAL)
    tables = writer.stage()
    writer.trigonometric(tables, 0)
    run = writer.run(tables, recursions.FORCES, 0, {}, writer.rates(tables))
    run.cycle(1, (1, 2))
    return run


def of_figure_1() -> list[PaperRow]:
    """Compare the elements of omega_P and omega_2, and the rows of SET that they take."""
    run = two_bodies()
    rows = []
    for name, paper in (("OmP", "-vv, 0, vv"), ("Om", "-vv, dQ2, vv")):
        elements = ", ".join(element(x) for x in run.operand(name)[:, 0])
        rows.append(PaperRow("figure 1", f"elements of {name} of body 2", elements, paper))
    used = {x.I for name in ("OmP", "Om") for x in run.operand(name)[:, 0] if x.I}
    return [*rows, PaperRow("figure 1", "rows of SET", len(used), 2)]


def element(x) -> str:
    """Return how an element stands in figure 1: temporaries without their numbers."""
    if not x.C:
        return f"{x.N:g}"
    symbols = x.tables.IDT[abs(x.C) - 1].S.replace("0_", "")  # dQ2 of branch 0
    return f"{'-' if x.C < 0 else ''}{symbols}"


def filled(run: recursions.Run) -> float:
    """Return the share of elements of SAS that hold a number."""
    return float((run.SAS >= 0).mean())


def of_column(j: int) -> PaperRow:
    """Return how many elements of SAS are not filled as figure 2, c or d, states for column j of A."""
    writer = Writer(arms.SSRMS.model(), USUAL)
    writer.trigonometric(writer.stage(), 0)
    run = writer.run(writer.stage(), recursions.COLUMNS, 0, {})
    recursions.column_of_inertia(run, j)
    expected = np.arange(1, len(run.BDT) + 1) >= j
    wrong = int(((run.SAS >= 0) != expected).sum())
    figure = "figure 2, c" if j == 1 else "figure 2, d"
    return PaperRow(figure, f"elements of SAS filled otherwise than from body {j} on", wrong, Identity(0.0))


def of_figure_3(run: recursions.Run) -> list[PaperRow]:
    """Compare numbers in MPT of operations at two bodies, and follow the links from SAS to IDT."""
    names = [row.S for row in run.AMT]
    temporary, auxiliary = names.index("tEp"), names.index("OmP")
    step = tuple(int(run.SAS[i, 2] - run.SAS[i, 1]) for i in (temporary, auxiliary))
    known = per_body(run, 3)
    wrong = sum(
        linked(run, i, j) != expected_identifier(run, i, j)
        for i, j in np.ndindex(run.SAS.shape)
        if run.SAS[i, j] > 0
    )
    return [
        PaperRow(
            "figure 3",
            "numbers in MPT, next body's less a body's",
            step,
            STEP,
            (known, known),
            OTHER_RECURSION,
        ),
        PaperRow("figure 3", "difference of these, temporary and auxiliary matrix", step[0] - step[1], 0),
        PaperRow("figure 3", "elements of SAS whose matrix has another identifier", wrong, Identity(0.0)),
    ]


def per_body(run: recursions.Run, j: int) -> int:
    """Return how many matrices cycle 1 describes for a body: all but constant zeros."""
    return sum(row.c == 1 and run.SAS[i, j - 1] > 0 for i, row in enumerate(run.AMT))


def linked(run: recursions.Run, i: int, j: int) -> str | None:
    """Return the identifier to which an element of SAS leads by MPT and IDT."""
    C = run.tables.MPT[run.SAS[i, j] - 1].C
    return run.tables.IDT[C - 1].S if C else None


def expected_identifier(run: recursions.Run, i: int, j: int) -> str | None:
    """Return the identifier that AMT gives to an operation at a body: with its number if it is indexed."""
    row, body = run.AMT[i], run.BDT[j]
    if row.T == recursions.INDEXED:
        return f"{row.name}{body.p if row.is_before else body.j}"
    return row.name if row.T == recursions.AUXILIARY else None


TABLES = (filling, coding, readings)
