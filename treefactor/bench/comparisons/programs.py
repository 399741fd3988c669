"""Compare times of generated programs: in the interpreter, compiled as C, and on threads."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...codegen import Kernels, compile
from .. import _peak
from ..timing import Call, Comparison
from . import factor as factor_times
from .dynamics import Moving, spoken

if TYPE_CHECKING:
    from ...model.model import Model

MANY = 30  # freedoms from which compiled programs have a lower goal
BATCHES = ("rnea", "forward_dynamics")
SINGLE = ("rnea", "forward_dynamics", "aba")


def interpreted(case) -> Iterator[Comparison]:
    """Run programs in the package's interpreter, compared with Pinocchio."""
    moving = case.moving
    if moving.theirs is None:
        return
    kernels = compile(moving.ours, ["crba", *singles(moving)])
    yield from batches("S6", moving, kernels, ("crba", *BATCHES), "interpreter", 9.0)
    yield from bound("S6", moving, kernels, "interpreter", 1.0)


def compiled(case) -> Iterator[Comparison]:
    """Run programs as compiled C, compared with Pinocchio; yield nothing without a compiler."""
    moving = case.moving
    kernels = compile_c(moving.ours, singles(moving))
    if kernels is None:
        return
    goal = 40.0 if moving.ours.nv < MANY else 25.0
    if moving.theirs is not None:
        yield from batches("S7", moving, kernels, BATCHES, "cc", goal)
    yield from _of_the_peak(moving, kernels)
    if moving.theirs is not None:
        yield from bound("S7", moving, kernels, "cc", 5.0)


def threaded(case, threads: int) -> Iterator[Comparison]:
    """Run programs on several threads, compared with one."""
    moving, count = case.moving, factor_times.LARGE
    states = [np.resize(array, (count, array.shape[1])) for array in moving.states("forward_dynamics")]
    for how, kernels in (
        ("interpreter", compile(moving.ours, "forward_dynamics")),
        ("cc", compile_c(moving.ours, ["forward_dynamics"])),
    ):
        if kernels is None:
            continue
        run = partial(kernels.forward_dynamics, *states, out=np.empty((count, moving.ours.nv)))
        ours, one = (Call(partial(run, num_threads=number), count) for number in (threads, 1))
        what = f"forward dynamics {count}, {how}, {threads} threads"
        yield Comparison("S8", moving.name, what, "one thread", ours, one, 0.9 * threads)


def compile_c(model: Model, functions: list[str]) -> Kernels | None:
    """Compile functions to machine code; return None where there is no compiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernels = compile(model, functions, backend="cc")
    return kernels if kernels.backend == "cc" else None


def singles(moving: Moving) -> list[str]:
    """Return the functions of single calls; aba is missing where joints follow others."""
    return [name for name in SINGLE if name != "aba" or moving.ours.coupling is None]


def batches(
    target: str, moving: Moving, kernels: Kernels, names: Iterable[str], how: str, goal: float
) -> Iterator[Comparison]:
    """Compare calls for many configurations on one thread."""
    count = len(moving.q)
    for name in names:
        ours = Call(
            partial(getattr(kernels, name), *moving.states(name), **moving.result_arrays(name)), count
        )
        what = f"{spoken(name)} {count}, {how}"
        yield Comparison(target, moving.name, what, "Pinocchio", ours, moving.peers(name), goal)


def _of_the_peak(moving: Moving, kernels: Kernels) -> Iterator[Comparison]:
    """Compare a batch with the processor's peak; a sine counts as one operation."""
    count, rounds = len(moving.q), factor_times.ROUNDS
    for name in BATCHES:
        ours = Call(
            partial(getattr(kernels, name), *moving.states(name), **moving.result_arrays(name)), count
        )
        work = _peak.multiply_adds(rounds) / max(kernels.program.operations[name].total, 1)
        peak = Call(partial(_peak.multiply_adds, rounds), work)
        yield Comparison("S7", moving.name, f"{spoken(name)} {count}, cc", "FMA peak", ours, peak, 0.4)


def bound(target: str, moving: Moving, kernels: Kernels, how: str, goal: float) -> Iterator[Comparison]:
    """Compare calls for one configuration that write into preallocated arrays."""
    for name in singles(moving):
        ours = Call(kernels.bind(name, *moving.first(name), out=moving.result_array(name)))
        yield Comparison(
            target, moving.name, f"{spoken(name)}, {how}", "Pinocchio", ours, moving.peer(name), goal
        )
