"""Compare dynamics with Pinocchio and MuJoCo: loops over bodies and programs, single calls and batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from .. import case as robots
from ..case import Case, Moving, program_backends, spoken
from ..timing import Call, Comparison
from . import factor

MANY = 30  # freedoms from which compiled programs have a lower goal
LOOPS = ("crba", "bias", "rnea", "aba", "forward_dynamics")
SINGLE = ("rnea", "forward_dynamics", "aba")  # of programs
BATCHES = ("rnea", "forward_dynamics")


def loops(case: Moving) -> Iterator[Comparison]:
    """Compare loops over bodies and interpreted programs with Pinocchio and MuJoCo."""
    if case.model is not None:
        yield from single(case, "S6", LOOPS, "", 1.0)
        yield from batches(case, "S6", ("crba", "rnea", "aba", "forward_dynamics"), "", 9.0)
        yield from batches(case, "S6", ("crba", *BATCHES), "interpreter", 9.0)
        yield from single(case, "S6", SINGLE, "interpreter", 1.0)
    yield from single_precision(case, "S6", "interpreter")
    if isinstance(case, Case) and case.body is not None:
        ours = partial(case.bound, "crba")
        yield Comparison("S6", case.name, "crba", "MuJoCo", ours, partial(mujocos_crba, case), 1.0)


def compiled(case: Moving) -> Iterator[Comparison]:
    """Compare programs as compiled C with Pinocchio and the processor's peak; nothing without a compiler."""
    if "cc" not in program_backends():
        return
    if case.model is not None:
        yield from batches(case, "S7", BATCHES, "cc", 40.0 if case.ours.nv < MANY else 25.0)
    yield from single_precision(case, "S7", "cc")
    for name in BATCHES:
        ours, peak = partial(case.batch, name, "cc"), partial(peak_of_program, case, name)
        what = what_is_timed(name, "cc", many=True)
        yield Comparison("S7", case.name, what, "FMA peak", ours, peak, 0.4)
    if case.model is not None:
        yield from single(case, "S7", SINGLE, "cc", 5.0)


def threaded(case: Case) -> Iterator[Comparison]:
    """Compare programs on several threads with one."""
    for how in program_backends():
        what = f"forward dynamics {robots.MATRICES}, {how}, {case.threads} threads"
        ours, one = (partial(on_threads, case, how, number) for number in (case.threads, 1))
        yield Comparison("S8", case.name, what, "one thread", ours, one, 0.9 * case.threads)


def single(
    case: Moving, target: str, names: Iterable[str], how: str, goal: float | None
) -> Iterator[Comparison]:
    """Compare calls for one configuration that write into preallocated arrays."""
    for name in names:
        if name == "aba" and how and case.ours.coupling is not None:  # no program where joints follow others
            continue
        ours, theirs = partial(case.bound, name, how), partial(case.peer, name)
        yield Comparison(target, case.name, what_is_timed(name, how), "Pinocchio", ours, theirs, goal)


def batches(
    case: Moving, target: str, names: Iterable[str], how: str, goal: float | None
) -> Iterator[Comparison]:
    """Compare calls for many configurations on one thread."""
    for name in names:
        ours, theirs = partial(case.batch, name, how), partial(case.peers, name)
        what = what_is_timed(name, how, many=True)
        yield Comparison(target, case.name, what, "Pinocchio", ours, theirs, goal)


def single_precision(case: Moving, target: str, how: str) -> Iterator[Comparison]:
    """Compare batches of programs in float32 with the same in float64."""
    for name in BATCHES:
        ours, theirs = partial(case.single_precision, name, how), partial(case.batch, name, how)
        what = f"{what_is_timed(name, how, many=True)}, float32"
        yield Comparison(target, case.name, what, "float64", ours, theirs, 1.6)


def what_is_timed(name: str, how: str, many: bool = False) -> str:
    """Return a function's name in words, with the size of the batch and the way that it is computed."""
    return f"{spoken(name)}{f' {robots.COUNT}' * many}{f', {how}' * bool(how)}"


def peak_of_program(case: Moving, name: str) -> Call:
    """Return multiply-adds at the processor's peak, as many as a program takes; a sine counts as one."""
    operations = max(case.kernels("cc", name).program.operations[name].total, 1)
    return factor.peak(operations)


def on_threads(case: Case, how: str, threads: int) -> Call:
    """Return forward dynamics of a program for MATRICES configurations."""
    count = robots.MATRICES
    states = [np.resize(array, (count, array.shape[1])) for array in case.states("forward_dynamics")]
    run = case.kernels(how, "forward_dynamics").forward_dynamics
    return Call(partial(run, *states, out=np.empty((count, case.ours.nv)), num_threads=threads), count)


def mujocos_crba(case: Case) -> Call:
    """Return MuJoCo's inertia matrix of one configuration, poses included."""
    import mujoco

    model, data = case.body.model, case.body.data

    def run() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)

    return Call(run)
