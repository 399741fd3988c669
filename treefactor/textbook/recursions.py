"""The loops over bodies of kernels/recursions.h, line by line, on scalars of any type: they are counted here.

Featherstone (2008), tables 5.1, 6.2 and 7.1 in the frame of the root body, one freedom after the other. Moves by
numbers that a compiler folds (zeros, copies) cost nothing; constants of the model are numbers like any other.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..bodies import table_of
from ..tree import OperationCount
from .counting import counting

FUNCTIONS = ("crba", "bias", "rnea", "aba")


def operations(model, function: str) -> OperationCount:
    """Scalar operations of a function of `treefactor` on one configuration of a model, counted by running it.

    Parameters
    ----------
    model : Model
        Without joints that follow others.
    function : {"crba", "bias", "rnea", "aba"}
    """
    tally: Counter = Counter()
    rng = np.random.default_rng(0)
    q = counting(model.neutral, tally)
    v, x = (counting(rng.normal(size=model.nv), tally) for _ in range(2))
    evaluate(model, function, q, v, x, tally)
    return OperationCount(**tally)


def evaluate(model, function: str, q, v, x, tally: Counter | None = None) -> np.ndarray:
    """Result of a function on scalars of any type, x the acceleration or the forces; H as packed rows."""
    loops = Loops(model, Counter() if tally is None else tally)
    loops.place(q)
    if function == "crba":
        return loops.compose()
    if function == "aba":
        loops.forces(v, None)
        return loops.articulate(x)
    loops.forces(v, x if function == "rnea" else None)
    return loops.project(x if function == "rnea" else None)


class Loops:
    """The bodies of a model at one configuration; vectors are (linear, angular), matrices in columns."""

    def __init__(self, model, tally: Counter):
        self.model, self.tree, self.bodies = model, model.extended, table_of(model)
        for body in self.bodies:
            for name in ("R", "p", "first", "tensor"):
                body[name] = counting(np.asarray(body[name], dtype=float), tally)
            for name in ("mass", "carried", "ratio", "offset", "pitch"):
                body[name] = counting(np.array([body[name]], dtype=float), tally)[0]
        self.gravity = counting(model.gravity, tally)
        self.armature = counting(model.armature, tally)
