"""Compare arms of the papers with Pinocchio: the Kane-sum chain, and programs of an arm without zeros."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...dynamics.chain import chain_forces, chain_inertia
from ...model import arms
from ...model.inertia import Inertia
from ...model.joints import Joint
from ...model.model import Model
from ..case import Moving, program_backends
from ..timing import Call, Comparison
from .dynamics import SINGLE, single
from .loops import in_pinocchio


def chain(name: str) -> Iterator[Comparison]:
    """Compare the Kane-sum chain of an arm from arrays in the base frame with Pinocchio from q."""
    for what in ("inertia", "forces"):
        ours, theirs = partial(chain_of, name, what), partial(peer_of_chain, name, what)
        yield Comparison("Chain", name, what, "Pinocchio", ours, theirs)


def chain_arrays(name: str) -> tuple[np.ndarray, ...]:
    """Return the arrays of an arm in one configuration, in the base frame."""
    arm = getattr(arms, name)
    return arm.chain(np.linspace(0.1, 0.7, len(arm.mass)))


def chain_of(name: str, what: str) -> Call:
    """Return our function of a chain."""
    arrays = chain_arrays(name)
    if what == "inertia":
        return Call(partial(chain_inertia, *arrays))
    n = len(arrays[2])
    return Call(partial(chain_forces, *arrays, np.zeros(n), *np.zeros((2, n, 3))))


def peer_of_chain(name: str, what: str) -> Call:
    """Return Pinocchio's function of a chain given in the base frame, at rest there."""
    import pinocchio as pin

    joints = []
    for k, (axis, p, m, first, tensor) in enumerate(zip(*chain_arrays(name), strict=True)):
        com = first / m
        central = tensor - m * (com @ com * np.eye(3) - np.outer(com, com))
        joints.append(Joint(f"joint{k}", "revolute", k - 1, p=p, axis=axis, inertia=Inertia(m, com, central)))
    model = in_pinocchio(Model(joints))
    still = np.zeros(model.nv)
    function, given = (pin.crba, [still]) if what == "inertia" else (pin.nle, [still, still])
    return Call(partial(function, model, model.createData(), *given))


def compiled(name: str) -> Iterator[Comparison]:
    """Compare single calls of an arm without zeros, as compiled C, with Pinocchio."""
    if "cc" in program_backends():
        model = getattr(arms, name).model()
        yield from single(Moving(name, model, in_pinocchio(model)), "S7", SINGLE, "cc", 3.0)
