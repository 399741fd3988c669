"""Kinds of results of masses: centres of mass, momentum and inertia about that of the whole model."""

from __future__ import annotations

import math

import numpy as np

from ..exceptions import InvalidModelError
from ..model.model import Model
from ._request import OUTPUTS

MASSES = range(OUTPUTS.index("center"), OUTPUTS.index("frame_derivatives"))
CENTER, CENTER_VELOCITY, CENTER_ACCELERATION, CENTER_JACOBIAN, *_centroidal = MASSES
MAP, MAP_DOT, MOMENTUM, MOMENTUM_RATE, INERTIA, CENTER_DERIVATIVES, MOMENTUM_DERIVATIVES = _centroidal
FIRST_MOMENTS, TENSORS, TENSOR_RATES, MOMENTS = 1, 2, 3, 4  # `Sums` of request.h
NEEDS_OF_MASSES = (  # derivative of positions, sums over subtrees, and ways from the centre of mass
    *((0, FIRST_MOMENTS, 0), (1, FIRST_MOMENTS, 0), (2, FIRST_MOMENTS, 0), (0, FIRST_MOMENTS, 0)),
    *((0, TENSORS, 1), (1, TENSOR_RATES, 1)),
    *((1, FIRST_MOMENTS, 1), (2, FIRST_MOMENTS, 1), (0, FIRST_MOMENTS, 1)),
    *((2, FIRST_MOMENTS, 0), (2, MOMENTS, 1)),
)
COLUMNS = {  # rows of results with a column for every freedom
    **{CENTER_JACOBIAN: 3, MAP: 6, MAP_DOT: 6},
    **{CENTER_DERIVATIVES: 3, MOMENTUM_DERIVATIVES: 6},
}
MATRICES = 4  # results of an output of derivatives
SHAPES = {MOMENTUM: (6,), MOMENTUM_RATE: (6,), INERTIA: (3, 3)}  # of the others, where not (3,)


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
    found, below = set(tables.path(body)), {body}
    for child, parent in enumerate(tables.parents):
        if parent in below:
            below.add(child)
    return sorted(found | below - {-1})


def add_masses(layout, item) -> None:
    """Place a result of masses in a `plans.Layout`; it has one view."""
    nv, (view,), rows, to = layout.model.nv, item.views, COLUMNS.get(item.kind), None
    if rows is None:
        shape = SHAPES.get(item.kind, (3,))
        packed = math.prod(shape)
        layout._output(item, view, (0, 0), (0, 0), 0)
    else:
        entries, support = layout._entries(moved_by(layout, view.frame))
        shape, packed = (rows, nv), rows * len(support)
        layout._output(item, view, (0, 0), (nv, len(support)), len(entries))
        layout.columns += [(freedom, again, (support[place], place)) for freedom, again, place in entries]
        to = places([r * nv + column for r in range(rows) for column in support], rows * nv)
    count = MATRICES if item.kind in (CENTER_DERIVATIVES, MOMENTUM_DERIVATIVES) else 1
    layout.items += [(shape, packed, to)] * count


def places(to: list[int], size: int) -> np.ndarray | None:
    """Return for every entry of a result its place among the computed ones, or their number; None if all are.

    Computed entry e is entry to[e], in ascending order, of those of the result.
    """
    if len(to) == size:
        return None
    at = np.full(size, len(to), dtype=np.intc)
    at[to] = range(len(to))
    return at
