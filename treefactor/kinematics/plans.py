"""Compile requests: which bodies of a model results need, and where their entries go.

A request is a list of `Item`s, one for every result. A new kind of output needs

1. a line in ``OUTPUT_KINDS`` of kernels/kinematics/request.h: its name and needs;
2. a case in ``write_output`` (kernels/kinematics/frames.h) that writes it from the places ``w->X`` of the
   bodies, their velocities ``w->V`` and accelerations ``w->A``, entry 0 first, with `AT`; or in
   ``write_masses`` (kernels/kinematics/centroidal.h), from sums over subtrees; or in ``write_derivatives``
   (kernels/kinematics/derivatives.h), which writes several results;
3. the bodies that it reads, in `Layout.bodies_of`: by default the paths between the base and its frames;
4. its shape and its outputs, in `Layout.add`, and the columns of v that it fills, if it is a Jacobian.

`requests` then needs a function that returns its request, and treefactor/quantities/kinematics.py a
declaration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed, check_choice
from ..dynamics import bodies as compiled
from ..dynamics._recursions import KINDS as JOINT_KINDS
from ..model.frames import IDENTITY, Frame, body_number, frame_of, frame_of_joint
from ..model.joints import SIZES
from ..model.model import Model
from ._request import (
    COLUMN,
    KINDS,
    NEEDS,
    OUTPUT,
    REFERENCES,
    Request,
    freedoms_of,
    taken,
    turn_of,
    turns_of,
)
from .masses import MASSES, add_masses, moved_by, places, require_mass, results_of

LAYOUTS = ("dense", "packed")
AXES = {  # of the freedoms of every kind: axis of the body, and whether it moves along it
    "spherical": ((0, 0), (1, 0), (2, 0)),
    "planar": ((0, 1), (1, 1), (2, 0)),
    "translation": ((0, 1), (1, 1), (2, 1)),
    "freeflyer": ((0, 1), (1, 1), (2, 1), (0, 0), (1, 0), (2, 0)),
    "prismatic": ((2, 1),),
}


class View(NamedTuple):
    """A frame, the reference of its motion, and whether its acceleration is classical, else spatial."""

    frame: Frame
    reference: str = "LOCAL"
    classical: bool = False


class Item(NamedTuple):
    """One result: outputs of one kind for some frames.

    Parameters
    ----------
    kind : str
        Name of an output, one of `KINDS`.
    views : tuple of View
    many : bool
        The result has an axis for the frames.
    layout : {"dense", "packed", "joints"}
        Of Jacobians; or one matrix has the columns of all joints.
    """

    kind: str
    views: tuple[View, ...]
    many: bool = False
    layout: str = "dense"


class Tables(Sealed):
    """Bodies and freedoms of a whole model, from which requests take theirs."""

    bodies: np.ndarray
    turns: np.ndarray
    freedoms: np.ndarray
    units: np.ndarray
    parents: tuple[int, ...]
    body: list[int]  # of every joint, then of the base
    axes: np.ndarray  # of the frames of all joints, in those of their bodies

    def __init__(self, model: Model):
        layout = compiled.layout_of(model)
        bodies = compiled.structs_with(layout, model.parameters)
        bodies["local"] = bodies["above"] = 0
        if model._source is not None:
            self._keep(**_tables(model._source).__dict__ | {"bodies": bodies})
            return
        self._keep(
            bodies=bodies,
            turns=turns_of(bodies),
            freedoms=_freedoms(model, bodies),
            units=layout.units,
            parents=tuple(layout.parents),
            body=[*layout.massive.tolist(), -1],
            axes=layout.axes,
        )

    def axes_of(self, joint: int) -> np.ndarray:
        """Return the axes of the frame of a joint, or of the base, -1, in that of its body."""
        return self.axes[joint] if joint >= 0 else IDENTITY

    def path(self, body: int) -> list[int]:
        """Return the bodies between the base and a body, which comes first."""
        path = []
        while body >= 0:
            path.append(body)
            body = self.parents[body]
        return path


def _tables(model: Model) -> Tables:
    """Return the tables of a model, which all its requests share."""
    return model._requests.get(None) or model._requests.setdefault(None, Tables(model))


def _freedoms(model: Model, bodies: np.ndarray) -> np.ndarray:
    """Return the freedoms of all bodies, mimic joints included."""
    columns = [
        (v + k, joint.mimic.ratio if joint.mimic else 1.0)
        for joint, v in zip(model.joints, model.idx_v, strict=True)
        for k in range(SIZES[joint.kind][1])
    ]
    return freedoms_of(bodies, [AXES.get(kind, ((2, 0),)) for kind in JOINT_KINDS], columns)


class Layout:
    """Places of all results: for one configuration in the user's arrays, for lanes in a workspace.

    Dense Jacobians of lanes hold only the columns that move the frame.
    """

    def __init__(self, model: Model, items: list[Item]):
        self.model = model
        self.tables = _tables(model)
        self.outputs: list[tuple] = []
        self.columns: list[tuple] = []
        self.items: list[tuple] = []
        self.kept = sorted({body for item in items for body in self.bodies_of(item)})
        self.number = {-1: -1} | {body: i for i, body in enumerate(self.kept)}
        self._take_bodies()
        for item in items:
            self.add(item)

    def request(self, needs: np.ndarray, gather: type | None) -> Request:
        """Return the compiled request, given the largest `NEEDS`."""
        structs = (np.array(self.outputs, OUTPUT), np.array(self.columns, COLUMN))
        size = self.model.nq, self.model.nv
        return Request(
            self.bodies,
            self.turns,
            self.freedoms,
            *structs,
            *needs,
            *size,
            self.tables.units,
            self.items,
            gather,
        )

    def bodies_of(self, item: Item) -> Iterator[int]:
        """Yield the bodies that the outputs of an item read, and those between them and the base."""
        for view in item.views:
            yield from moved_by(self, view.frame) if item.kind in MASSES else self._path(view.frame)

    def _path(self, frame: Frame) -> list[int]:
        """Return the bodies between the base and that of a frame, which comes first."""
        return self.tables.path(self.tables.body[frame.joint])

    def _take_bodies(self) -> None:
        """Number the bodies that are needed, their freedoms and their angles."""
        tables = self.tables
        structs = taken(tables.bodies, tables.turns, tables.freedoms, self.kept)
        self.bodies, self.turns, self.freedoms, self.first, self.of_v = structs

    def add(self, item: Item) -> None:
        """Place the entries of a result."""
        if item.kind in MASSES:
            add_masses(self, item)
            return
        tail, count = results_of(item.kind)
        if item.layout == "joints":
            self._add_motions_of_joints(item)
            return
        if "nv" in tail:
            self._add_jacobians(item, count)
            return
        size = math.prod(map(int, tail))
        for j, view in enumerate(item.views):
            self._output(item, view, (j * size, j * size), (0, 0), 0)
        lead = (len(item.views),) if item.many else ()
        self.items.append(((*lead, *tail), len(item.views) * size, None))

    def _add_jacobians(self, item: Item, count: int) -> None:
        """Place Jacobians: dense rows of nv entries or packed ones, in lanes always packed."""
        nv, packed, to = self.model.nv, 0, []
        for j, view in enumerate(item.views):
            entries, support = self._entries(self._path(view.frame))
            row = nv if item.layout == "dense" else len(support)
            self._output(item, view, (6 * row * j, packed), (row, len(support)), len(entries))
            for freedom, again, place in entries:
                column = support[place] if item.layout == "dense" else place
                self.columns.append((freedom, again, (column, place)))
            to += [nv * row + column for row in range(6 * j, 6 * j + 6) for column in support]
            packed += 6 * len(support)
        lead = (len(item.views),) if item.many else ()
        dense = item.layout == "dense"
        shape = (*lead, 6, nv) if dense else (6, len(support))
        self.items += [(shape, packed, places(to, len(item.views) * 6 * nv) if dense else None)] * count

    def _add_motions_of_joints(self, item: Item) -> None:
        """Place one matrix of the columns of all joints; those of a tree are measured from its root body."""
        nv = self.model.nv
        view_of = {self._path(view.frame)[-1]: view for view in reversed(item.views)}
        entries, _ = self._entries(self.kept)
        roots = [self.tables.path(self.kept[body])[-1] for body in self.freedoms["body"].tolist()]
        for root, own in groupby(entries, lambda entry: roots[entry[0]]):
            columns = [(freedom, again, (column, column)) for freedom, again, column in own]
            self._output(item, view_of[root], (0, 0), (nv, nv), len(columns))
            self.columns += columns
        self.items.append(((6, nv), 6 * nv, None))

    def _entries(self, bodies: list[int]) -> tuple[list[tuple[int, int, int]], list[int]]:
        """Return the freedoms of bodies (number, whether to add, place), and their columns of v."""
        ordered = sorted(
            (self.of_v[k], k)
            for body in bodies
            for k in range(self.first[self.number[body]], self.first[self.number[body] + 1])
        )
        support = sorted({column for column, _ in ordered})
        entries = [
            (k, int(i > 0 and ordered[i - 1][0] == column), support.index(column))
            for i, (column, k) in enumerate(ordered)
        ]
        return entries, support

    def _output(self, item: Item, view: View, first: tuple, row: tuple, columns: int) -> None:
        """Append the struct of one output."""
        frame, reference = view.frame, REFERENCES.index(view.reference)
        path, axes = self._path(frame), self.tables.axes_of(frame.joint)
        body, root = (self.number[path[0]], self.number[path[-1]]) if path else (-1, -1)
        if item.kind in MASSES:
            root = max(root, 0)
        R = (axes @ frame.R).T.ravel()
        start = len(self.columns)
        self.outputs.append(
            (
                *(KINDS[item.kind], reference, view.classical, body, root, len(self.items), first, row),
                *(start, columns, R, axes @ frame.p, turn_of(R)),
            )
        )


def request_of(model: Model, items: list[Item], gather: type | None = None) -> Request:
    """Return the compiled request of items; `gather` is the named tuple of the results, if any."""
    return Layout(model, items).request(np.max([NEEDS[item.kind] for item in items], axis=0), gather)


def item_of(model: Model, kind: str, frame, reference, layout: str = "dense", classical=False) -> Item:
    """Return the item of a frame or a list of frames, validated."""
    many = isinstance(frame, list | tuple)
    name = reference_name(reference)
    views = [View(frame_of(model, one), name, bool(classical)) for one in (frame if many else [frame])]
    if layout != "dense":
        check_choice("layout", layout, LAYOUTS)
        if many:
            raise ValueError(
                "layout='packed' takes one frame, since the frames of a list differ in their columns"
            )
    return Item(kind, tuple(views), many, layout)


def item_of_joints(model: Model) -> Item:
    """Return the item of the placements of all joints."""
    joints = [frame_of_joint(model, number) for number in range(model.njoints)]
    return item_of(model, "frame_placement", joints, "LOCAL")


def item_of_jacobians(model: Model) -> Item:
    """Return the item of the columns of all joints, as their Jacobians in the world have them."""
    joints = [frame_of_joint(model, number) for number in range(model.njoints)]
    return item_of(model, "frame_jacobian", joints, "WORLD")._replace(layout="joints")


def items_of_masses(model: Model, kind: str, root, order: int = 0) -> list[Item]:
    """Return the item of a result of masses, or the items of a centre of mass and its first derivatives."""
    number = body_number(model, root, "root")
    require_mass(model, number)
    view = View(frame_of_joint(model, number))
    kinds = (kind, f"{kind}_velocity", f"{kind}_acceleration")
    return [Item(one, (view,)) for one in kinds[: order + 1]]


def reference_name(reference) -> str:
    """Return the name of a reference, given as a string or as Pinocchio's enum."""
    name = reference if isinstance(reference, str) else getattr(reference, "name", reference)
    check_choice("reference", name, REFERENCES)
    return name
