"""What `treefactor bench` measures of generated programs: S6 without a compiler, S7 as compiled C."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from .bench import Call, Duel
from .codegen import Kernels, compile
from .duels_dynamics import Moving, spoken

if TYPE_CHECKING:
    from .duels import Case

MANY = 30  # freedoms from which compiled programs have a lower goal
SINGLE = ("rnea", "forward_dynamics", "aba")


def interpreted(case: Case) -> Iterator[Duel]:
    """S6: programs that the package's own machine runs; against Pinocchio."""
    moving = case.moving
    kernels = compile(moving.ours, ["crba", *singles(moving)])
    yield from _batches("S6", moving, kernels, ("crba", "rnea", "forward_dynamics"), "interpreter", 9.0)
    yield from _bound("S6", moving, kernels, "interpreter", 1.0)


def compiled(case: Case) -> Iterator[Duel]:
    """S7: the same as C that the system's compiler has compiled; nothing without one."""
    moving = case.moving
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernels = compile(moving.ours, singles(moving), backend="cc")
    if kernels.backend != "cc":
        return
    goal = 40.0 if moving.ours.nv < MANY else 25.0
    yield from _batches("S7", moving, kernels, ("rnea", "forward_dynamics"), "cc", goal)
    yield from _bound("S7", moving, kernels, "cc", 5.0)


def singles(moving: Moving) -> list[str]:
    """Functions of single calls; there is no aba where joints follow others."""
    return [name for name in SINGLE if name != "aba" or moving.ours.coupling is None]


def _batches(
    target: str, moving: Moving, kernels: Kernels, names: Iterable[str], how: str, goal: float
) -> Iterator[Duel]:
    """Many configurations on one thread."""
    count = len(moving.q)
    for name in names:
        ours = Call(partial(getattr(kernels, name), *moving.states(name), **moving.rooms(name)), count)
        what = f"{spoken(name)} {count}, {how}"
        yield Duel(target, moving.name, what, "Pinocchio", ours, moving.peers(name), goal)


def _bound(target: str, moving: Moving, kernels: Kernels, how: str, goal: float) -> Iterator[Duel]:
    """One configuration, into arrays that are kept."""
    for name in singles(moving):
        ours = Call(kernels.bind(name, *moving.first(name), out=moving.room(name)))
        yield Duel(target, moving.name, f"{spoken(name)}, {how}", "Pinocchio", ours, moving.peer(name), goal)
