"""Execute Golubev & Yaskevich: operations of generated programs against numeric loops, and of named arms."""

from __future__ import annotations

import re

import numpy as np

from ... import dynamics
from ...bench.timing import Result
from ...check import robots
from ...codegen import Kernels, Program, generate
from ...codegen import compile as compiled
from ...codegen.backends import build
from ...codegen.backends._results import Results
from ...codegen.backends.choice import machine_code
from ...codegen.program import emit_c
from ...codegen.program.program import ARGUMENTS
from ...exceptions import AdapterError, CodegenError
from ...model import arms
from ...model.configuration import random_configuration
from ...model.mechanisms import MECHANISMS
from ...model.model import Model
from ..textbook import closures
from ..textbook.recursions import operations
from .execution import compare
from .golubev_yaskevich_formulas import figures, formulas
from .golubev_yaskevich_loops import closed_models, loops, numeric
from .golubev_yaskevich_shortcuts import shortcuts
from .golubev_yaskevich_systems import (
    GENERATED,
    MATRICES,
    PAPER,
    ROUND,
    WITHOUT_LOOPS,
    by_loop,
    docking,
    matrices,
    program,
    six_legged,
)
from .golubev_yaskevich_tables import coding, filling, readings
from .named_arms import named_arms, simplified_arms
from .table import ANY_TIME, Between, PaperRow, Table

__all__ = [
    "GENERATED",
    "MATRICES",
    "PAPER",
    "TABLES",
    "WITHOUT_LOOPS",
    "coding",
    "docking",
    "figures",
    "filling",
    "formulas",
    "readings",
    "six_legged",
]
FEWER = (
    "the paper states no figure for single arms; our numeric loops already know which entries of matrices "
    "are zero, equal or unused"
)
NUMERIC = {  # numeric loops that compute the same as each generated function
    "crba": "crba",
    "rnea": "rnea",
    "bias": "bias",
    "aba": "aba",
    "forward_dynamics": "aba",
}
PLATFORMS = ("stewart", "docking")
PROGRAM = "accelerations, program"
COMPARED = (arms.PUMA_560, arms.STANFORD, arms.WAM, arms.SSRMS_7R, arms.GENERAL_7R)
ROBOTS = ("ur5_robot", "solo12")  # counted if their files are installed

LONGER = Between(5.0, 10.0)  # times, with indexed variables
REGISTERS = {  # by form of a program: the reason why it is not 5 to 10 times longer today
    "elements of an array": "today's compilers keep an element whose index is a number in a register",
    "indices at run time": "only an index that is not known before the program runs costs time",
}
INDEXED = ("rnea", "forward_dynamics")  # functions that are also timed with indices


def against_numeric() -> Table:
    """Count how many times fewer operations generated programs take than numeric loops."""
    rows = [row for name, model in models().items() for row in saved(name, model)]
    note = (
        "Additions, multiplications, divisions, sines and cosines of our numeric loops, counted by running "
        "them on counting scalars, over those of the generated program; forward dynamics by the cheaper of "
        "two methods, against the loops of articulated bodies. Time: the program in the interpreter, and how "
        "many times longer the compiled numeric loops take, on one configuration. None is a figure of the "
        f"paper: {FEWER}."
    )
    return Table(PAPER, "Generated against numeric", note, rows)


def closed_loops() -> Table:
    """Count the operations of programs that close loops, beside those of numeric loops over matrices."""
    programs = {
        name: program(ROUND) if name == "docking" else generate(closed_models()[name], "loops")
        for name in MECHANISMS
    }
    counts = {name: written.operations["loops"] for name, written in programs.items()}
    rows = [PaperRow(name, PROGRAM, count) for name, count in counts.items() if name not in PLATFORMS]
    for name in PLATFORMS:
        model, is_theirs = closed_models()[name], name == "docking"
        full = matrices(ROUND) if is_theirs else closures.operations(model, by_loop(model))
        fewer = full.total / counts[name].total
        rows += [
            PaperRow(name, PROGRAM, counts[name], GENERATED if is_theirs else None),
            PaperRow(name, "accelerations, matrices", full, MATRICES if is_theirs else None),
            PaperRow(name, "times fewer operations", fewer),
        ]
    note = (
        "Accelerations of all coordinates with all loops closed, the velocities that follow included, from "
        "closed positions. Ours: as generated, against loops over full matrices of the same reduction, "
        "counted by running them on counting scalars. The paper does not state the dimensions of its docking "
        "mechanism; ours has as many freedoms, loops and angles (and so 42 sines and cosines), and legs that "
        "are bodies of revolution: see treefactor.mechanisms, and the next table for others."
    )
    return Table(PAPER, "Closed loops", note, rows)


def against_indices() -> Table:
    """Measure how much longer a program takes if its scalars are elements of an array."""
    pairs = [(arm, name) for arm in (arms.PUMA_560, arms.GENERAL_7R) for name in INDEXED]
    rows = [row for arm, name in pairs for row in slower(unindexed(arm, name))]
    note = (
        "Operations of a program, the same in all its forms, and its time as C with a variable for each row, "
        "on one configuration. Beside it the same C with an element of one array for each row, compiled by "
        f"the same compiler with the same flags ({build.FLAGS[1]}), and the register machine, which reads "
        "the indices at run time. The paper found indexed elements 5 to 10 times slower."
    )
    return Table(PAPER, "Scalars instead of indexed elements", note, rows)


def unindexed(arm: arms.Arm, name: str) -> PaperRow:
    """Count a program's operations, and time it against its forms with indices."""
    program, what = generate(arm.model(), [name]), f"{name}, operations"
    texts = emit_c.sources(program)
    file = f"{name}.c"
    try:
        scalars, elements = (
            bound_c(program, {**texts, file: text}) for text in (texts[file], indexed(texts[file]))
        )
    except CodegenError as error:
        return PaperRow(arm.name, f"{what}, not timed: {error}", program.operations[name].total)
    interpreted = compiled(program).bind(name, *states(arm.model(), name), out=np.empty(program.nv))
    timed = compare(scalars, {"elements of an array": elements, "indices at run time": interpreted})
    return PaperRow(arm.name, what, program.operations[name].total, timed=timed)


def slower(row: PaperRow) -> list[PaperRow]:
    """Return a program's row, and one for each form with indices: how many times longer it takes."""
    name = row.what.partition(",")[0]
    return [row] + [
        PaperRow(
            row.case,
            f"{name}: {result.peer}, times longer",
            result.ratio,
            LONGER,
            ANY_TIME,
            REGISTERS[result.peer],
        )
        for result in row.timed
    ]


def indexed(text: str) -> str:
    """Return C in which each statement's variable is replaced by an element of an array."""
    head, body = text.split("\n\n", 1)
    variable = re.compile(r"\bt(\d+)\b")
    size = 1 + max(map(int, variable.findall(body)))
    body = variable.sub(r"t[\1]", re.sub(r"const real (t\d+ =)", r"\1", body))
    return f"{head}\n\nstatic real t[{size}];\n\n{body}"


def bound_c(program: Program, texts: dict[str, str]):
    """Compile these files, and bind the program's one function."""
    (function,) = program.functions.values()
    plain = np.empty((0, 2), np.intp)
    native, slot, sign, _ = machine_code(build.compiled_texts(texts))(function, plain, False)
    rng = np.random.default_rng(0)
    taken = tuple(rng.normal(size=size) for _, size in function.inputs)
    return native.bind(taken, np.empty(function.shape), Results(slot, sign, function.shape), None)


def models() -> dict[str, Model]:
    """Return arms, and those robots that are installed."""
    installed = {name: model for name in ROBOTS if (model := robot(name))}
    return {arm.name: arm.model() for arm in COMPARED} | installed


def robot(name: str) -> Model | None:
    """Return the model of a bundled robot on its own base."""
    try:
        bundled = robots.find(name)
    except AdapterError:
        return None
    return Model.from_urdf(bundled.path, bundled.floating)


def saved(case: str, model: Model) -> list[PaperRow]:
    """Return for every function how many times fewer operations its program takes."""
    program = generate(model, tuple(NUMERIC))
    kernels, rows = compiled(program), []
    for name, numeric_name in NUMERIC.items():
        fewer = operations(model, numeric_name).total / program.operations[name].total
        what = f"{name}, times fewer operations"
        rows.append(PaperRow(case, what, fewer, timed=timed(model, kernels, name)))
    return rows


def timed(model: Model, kernels: Kernels, name: str) -> tuple[Result, ...]:
    """Time a program in the interpreter against the compiled numeric loops."""
    taken = states(model, name)
    out = np.empty((model.nv, model.nv) if name == "crba" else model.nv)
    loops = dynamics.bind(getattr(dynamics, NUMERIC[name]), model, *taken, out=out.copy())
    return compare(kernels.bind(name, *taken, out=out), {"numeric loops": loops})


def states(model: Model, name: str) -> list[np.ndarray]:
    """Return random arguments of a function."""
    rng = np.random.default_rng(0)
    given = {"q": random_configuration(model, rng)}
    given |= {x: rng.normal(size=model.nv) for x in ("v", "a", "tau")}
    return [given[x] for x in ARGUMENTS[name]]


TABLES = (
    formulas,
    figures,
    filling,
    loops,
    numeric,
    closed_loops,
    shortcuts,
    docking,
    six_legged,
    coding,
    readings,
    against_indices,
    against_numeric,
    named_arms,
    simplified_arms,
)
