"""What `treefactor bench` measures of interpreted programs: S6, and our own loops beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .bench import Call, Duel
from .codegen import compile
from .duels_dynamics import COUNT, Moving
from .dynamics import aba, bias, bind, crba, forward_dynamics, rnea

if TYPE_CHECKING:
    from .duels import Case

NAMES = ("crba", "bias", "rnea", "aba", "forward_dynamics")


def programs(case: Case) -> Iterator[Duel]:
    """S6: interpreted programs, single calls on bound arrays and batches on one thread."""
    moving = Moving(case)
    kernels = compile(moving.ours, NAMES)
    yield from _single(moving, kernels)
    yield from _batches(moving, kernels)


def _single(moving: Moving, kernels) -> Iterator[Duel]:
    """One configuration, into arrays that are kept; against Pinocchio, and the loops over bodies."""
    pin, model, data = moving.pin, moving.theirs, moving.data
    q, v, a, tau = (x[0] for x in (moving.q, moving.v, moving.a, moving.tau))
    H, out = np.empty((model.nv, model.nv)), np.empty(model.nv)
    for name, loop, theirs, given, result in (
        ("crba", crba, pin.crba, (q,), H),
        ("bias", bias, pin.nle, (q, v), out),
        ("rnea", rnea, pin.rnea, (q, v, a), out),
        ("aba", aba, pin.aba, (q, v, tau), out),
        ("forward_dynamics", forward_dynamics, pin.aba, (q, v, tau), out),
    ):
        ours, what = Call(kernels.bind(name, *given, out=result)), f"program {name.replace('_', ' ')}"
        yield Duel(
            "S6", moving.name, what, "Pinocchio", ours, Call(partial(theirs, model, data, *given)), 1.0
        )
        yield Duel(
            "S6", moving.name, what, "loops", ours, Call(bind(loop, moving.ours, *given, out=result)), None
        )


def _batches(moving: Moving, kernels) -> Iterator[Duel]:
    """Many configurations on one thread; Pinocchio loops over them in C++ (CRBA: from Python)."""
    pin, model, ours = moving.pin, moving.theirs, moving.ours
    q, v, a, tau = moving.q, moving.v, moving.a, moving.tau
    columns = [np.asfortranarray(x.T) for x in (q, v, a, tau)]
    lanes = {"out": np.empty((COUNT // 8, ours.tree.nnz, 8)), "layout": "lanes"}
    out = {"out": np.empty((COUNT, model.nv))}
    single = Call(partial(pin.crba, model, moving.data, q[0]))
    inverse = Call(partial(pin.rneaInParallel, 1, moving.pool, *columns[:3]), COUNT)
    forward = Call(partial(pin.abaInParallel, 1, moving.pool, *columns[:2], columns[3]), COUNT)
    for name, loop, theirs, given, options in (
        ("crba", crba, single, (q,), lanes),
        ("rnea", rnea, inverse, (q, v, a), out),
        ("aba", aba, forward, (q, v, tau), out),
        ("forward_dynamics", forward_dynamics, forward, (q, v, tau), out),
    ):
        own = Call(partial(getattr(kernels, name), *given, **options), COUNT)
        what = f"program {name.replace('_', ' ')} {COUNT}"
        yield Duel("S6", moving.name, what, "Pinocchio", own, theirs, 9.0)
        yield Duel(
            "S6", moving.name, what, "loops", own, Call(partial(loop, ours, *given, **options), COUNT), None
        )
