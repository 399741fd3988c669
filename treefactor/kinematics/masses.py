"""Results of masses: centres of mass, momentum and inertia about that of the whole model."""

from __future__ import annotations

import math

import numpy as np

from ..exceptions import InvalidModelError
from ..model.model import Model
from ..quantities.table import QUANTITIES
from ._request import NEEDS

MASSES = [name for name, (_, sums, _) in NEEDS.items() if sums]


def results_of(kind: str) -> tuple[tuple[str | int, ...], int]:
    """Return the declared axes of the results of an output, without that of frames, and their number."""
    if kind not in QUANTITIES:
        return (3,), 1  # velocity or acceleration of a centre of mass
    results = [one for one in QUANTITIES[kind].results if not one.when]
    return tuple(axis for axis in results[0].shape if axis != "frames"), len(results)


def require_mass(model: Model, root: int) -> None:
    """Raise InvalidModelError unless the bodies that a joint carries, or all for -1, have mass."""
    below, mass = {root}, 0.0
    for i, joint in enumerate(model.joints):
        if i == root or joint.parent in below:
            below.add(i)
            mass += joint.inertia.mass
    if mass > 0.0:
        return
    name = None if root < 0 else model.joints[root].name
    what = "the model" if name is None else f"the subtree of joint {name!r}"
    raise InvalidModelError(
        f"{what} has no centre of mass: give a joint of it an Inertia with mass > 0, got mass {mass:g}", name
    )


def moved_by(layout, frame) -> list[int]:
    """Return the bodies of the path to a frame and those that its body carries; all for the base."""
    tables = layout.tables
    body = tables.body[frame.joint]
    bodies, below = set(tables.path(body)), {body}
    for child, parent in enumerate(tables.parents):
        if parent in below:
            below.add(child)
    return sorted(bodies | below - {-1})


def add_masses(layout, item) -> None:
    """Place a result of masses in a `plans.Layout`; it has one view."""
    nv, (view,), to = layout.model.nv, item.views, None
    axes, count = results_of(item.kind)
    shape = tuple(nv if axis == "nv" else int(axis) for axis in axes)
    if "nv" not in axes:
        packed = math.prod(shape)
        layout._output(item, view, (0, 0), (0, 0), 0)
    else:
        entries, support = layout._entries(moved_by(layout, view.frame))
        rows = shape[0]
        packed = rows * len(support)
        layout._output(item, view, (0, 0), (nv, len(support)), len(entries))
        layout.columns += [(freedom, again, (support[place], place)) for freedom, again, place in entries]
        to = places([r * nv + column for r in range(rows) for column in support], rows * nv)
    layout.items += [(shape, packed, to)] * count


def places(to: list[int], size: int) -> np.ndarray | None:
    """Return for every entry of a result its place among the computed ones, or their number; None if all are.

    Computed entry e is entry to[e], in ascending order, of those of the result.
    """
    if len(to) == size:
        return None
    at = [len(to)] * size
    for computed, entry in enumerate(to):
        at[entry] = computed
    return np.array(at, dtype=np.intc)
