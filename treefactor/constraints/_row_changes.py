"""Rows of loops, drives and rigid contacts with their derivatives by q and v, and those of their forces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed
from ..kinematics.jacobians import BodyMotions
from ..model import so3
from ..model.joints import PAIRS
from ._frame_changes import Changing, Frames, columns_of, cross, force_changes, frames_of, freedoms_of
from ._loop_rows import Loops
from .rigid_contacts import KINDS, RigidContact, frames_of_contacts

IDENTITY = np.eye(3)


class Rows(NamedTuple):
    """Residuals, rates and accelerations of rows (..., rows), with derivatives (..., rows, 2 nv).

    Derivatives are by q at fixed v and a, then by v.
    """

    residual: np.ndarray
    rate: np.ndarray
    acceleration: np.ndarray
    residual_change: np.ndarray
    rate_change: np.ndarray
    acceleration_change: np.ndarray

    @property
    def J(self) -> np.ndarray:
        """Return the Jacobian (..., rows, nv)."""
        return self.rate_change[..., self.rate_change.shape[-1] // 2 :]

    def stabilized(self, s: float) -> tuple[np.ndarray, np.ndarray]:
        """Return acceleration + 2 s rate + s² residual, which dynamics keep at zero, and its derivatives."""
        value = self.acceleration + s * (2.0 * self.rate + s * self.residual)
        change = self.acceleration_change + s * (2.0 * self.rate_change + s * self.residual_change)
        return value, change


class Origins:
    """Rows of the origins of loops: x = R1ᵀ (p2 - p1) and two derivatives by time."""

    def __init__(self, loops: np.ndarray, rows: np.ndarray):
        self.pairs, self.rows = loops, rows

    def changes(self, first: Frames, second: Frames) -> list[Changing]:
        """Return residuals, rates and accelerations."""
        apart, w = first.to_second(second), first.spin
        moving = second.velocity.minus(first.velocity)
        rate = moving.minus(w.cross(apart))
        faster = second.acceleration.minus(first.acceleration).minus(first.twist.cross(apart))
        faster = faster.minus(w.cross(moving)).minus(w.cross(rate))
        return [x.seen_from(first.R, first.turn) for x in (apart, rate, faster)]

    def wrenches(self, first: Frames, second: Frames, force: np.ndarray):
        """Return forces and moments on both frames: the force acts at the origin of the second one."""
        f = turned_with(first, force)
        moment = f.cross(first.to_second(second))
        return (f.opposite(), moment), (f, f.zero())


class Angles:
    """Rows of loops that keep pairs of axes at right angles: cosines a · b and two derivatives by time."""

    def __init__(self, loops: np.ndarray, axes: np.ndarray, rows: np.ndarray):
        self.pairs, self.axes, self.rows = loops, axes, rows

    def _axes(self, first: Frames, second: Frames) -> tuple[Changing, Changing]:
        """Return both axes of every pair."""
        units = IDENTITY[self.axes]
        return turned_with(first, units[0]), turned_with(second, units[1])

    def changes(self, first: Frames, second: Frames) -> list[Changing]:
        """Return residuals, rates and accelerations."""
        motions = []
        for axis, end in zip(self._axes(first, second), (first, second), strict=True):
            rate = end.spin.cross(axis)
            motions.append((axis, rate, end.twist.cross(axis).plus(end.spin.cross(rate))))
        (a, da, dda), (b, db, ddb) = motions
        mixed = da.dot(db)
        return [a.dot(b), da.dot(b).plus(a.dot(db)), dda.dot(b).plus(mixed).plus(mixed).plus(a.dot(ddb))]

    def wrenches(self, first: Frames, second: Frames, force: np.ndarray):
        """Return forces and moments on both frames: the moment b x a on the second one."""
        a, b = self._axes(first, second)
        moment = b.cross(a)
        moment = Changing(moment.value * force[..., None], moment.change * force[..., None])
        return (moment.zero(), moment.opposite()), (moment.zero(), moment)


class Held:
    """Rows of rigid contacts of one kind; `RigidContact` has the formulas."""

    def __init__(self, kind: str, pairs: np.ndarray, local: np.ndarray, rows: np.ndarray):
        self.whole, self.pairs, self.local, self.rows = kind == "6D", pairs, local, rows

    def _axes(self, first: Frames) -> Frames:
        """Return the first frames with the axes of the rows."""
        R = np.where(self.local, first.R, IDENTITY)
        return first._replace(R=R, turn=first.turn * self.local)

    def changes(self, first: Frames, second: Frames) -> list[Changing]:
        """Return residuals, rates and accelerations."""
        apart, moving = second.to_second(first), first.velocity.minus(second.velocity)
        faster, axes = first.acceleration.minus(second.acceleration), self._axes(first)
        if not self.whole:
            return [x.seen_from(axes.R, axes.turn) for x in (apart, moving, faster)]
        rate = moving.minus(second.spin.cross(apart))
        faster = faster.minus(second.twist.cross(apart)).minus(second.spin.cross(moving))
        faster = faster.minus(first.spin.cross(rate))
        turning = first.spin.minus(second.spin)
        bent = first.twist.minus(second.twist).plus(first.spin.cross(second.spin))
        found = (apart, _rotation(first, second)), (rate, turning), (faster, bent)
        return [_stacked(*(x.seen_from(axes.R, axes.turn) for x in pair)) for pair in found]

    def wrenches(self, first: Frames, second: Frames, force: np.ndarray):
        """Return forces and moments on both frames."""
        axes = self._axes(first)
        f = turned_with(axes, force[..., :3])
        if not self.whole:
            return (f, f.zero()), (f.opposite(), f.zero())
        n = turned_with(axes, force[..., 3:])
        moment = n.plus(second.to_second(first).cross(f))
        return (f, n), (f.opposite(), moment.opposite())


def turned_with(end: Frames, x: np.ndarray) -> Changing:
    """Return vectors (..., frames, 3), constant in the axes of frames, in those of the base."""
    value = end.R @ x[..., None]
    return Changing(value, cross(end.turn, value))


def _rotation(first: Frames, second: Frames) -> Changing:
    """Return the rotation vectors from the second frames to the first ones, in base axes."""
    between = np.swapaxes(second.R, -1, -2) @ first.R
    vector = turned_with(first, so3.log(between))
    to_log = first.R @ so3.jlog(between) @ np.swapaxes(first.R, -1, -2)
    return Changing(vector.value, vector.change + to_log @ (first.turn - second.turn))


def _stacked(linear: Changing, angular: Changing) -> Changing:
    """Return vectors of six entries."""
    return Changing(*(np.concatenate(pair, axis=-2) for pair in zip(linear, angular, strict=True)))


class RowChanges(Sealed):
    """Loops, drives and rigid contacts of a model, prepared for derivatives of their rows in many states.

    Parameters
    ----------
    loops : Loops
        Rows of the loops of the model, then those of driven joints.
    contacts : tuple of RigidContact
        Rows of contacts follow.
    """

    loops: Loops
    body: np.ndarray
    R: np.ndarray
    p: np.ndarray
    parts: tuple
    count: int

    def __init__(self, loops: Loops, contacts: tuple[RigidContact, ...]):
        ends = [end for x in loops.model.loops for end in ((x.first, x.R1, x.p1), (x.second, x.R2, x.p2))]
        pairs = frames_of_contacts(loops.model, contacts)
        ends += [(x.joint, x.R, x.p) for pair in pairs for x in pair]
        body = np.array([joint for joint, *_ in ends], dtype=np.intp)
        R = np.array([R for _, R, _ in ends]).reshape(-1, 3, 3)
        p = np.array([p for *_, p in ends]).reshape(-1, 3)
        first = loops.kernel.row_count
        parts = (*_of_loops(loops), *_of_contacts(contacts, len(loops.model.loops), first))
        count = first + sum(one.rows for one in contacts)
        self._keep(loops=loops, body=body, R=R, p=p, parts=parts, count=count)

    def frames(self, at: BodyMotions, v: np.ndarray, a: np.ndarray) -> Frames:
        """Compute the motions of both frames of all loops and contacts."""
        return frames_of(at, columns_of(at, v, a), self.body, self.R, self.p)

    def _ends(self, part, frames: Frames) -> tuple[Frames, Frames]:
        """Return the first and the second frames of a part."""
        return frames.pick(2 * part.pairs), frames.pick(2 * part.pairs + 1)

    def rows(self, frames: Frames) -> Rows:
        """Compute all rows; those of driven joints have no values, and no row has prescribed motions."""
        model = self.loops.model
        batch, n = frames.R.shape[:-3], model.nv
        values = np.zeros((3, *batch, self.count))
        changes = np.zeros((3, *batch, self.count, 2 * n))
        for part in self.parts:
            for k, found in enumerate(part.changes(*self._ends(part, frames))):
                values[k][..., part.rows] = found.value.reshape(*batch, -1)
                changes[k][..., part.rows, :] = self._to_v(found.change, batch)
        columns = self._driven_columns()
        rows = self.loops.driven[[target.loop < 0 for target in self.loops.targets]]
        changes[0][..., rows, columns] = changes[1][..., rows, n + columns] = 1.0
        return Rows(*values, *changes)

    def _to_v(self, change: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
        """Return derivatives of all freedoms by q and v as those of v, one row after the other."""
        known = freedoms_of(self.loops.model)
        halves = change.reshape(*batch, -1, 2, change.shape[-1] // 2)
        halves = known.to_v(halves)
        return halves.reshape(*batch, -1, 2 * halves.shape[-1])

    def _driven_columns(self) -> np.ndarray:
        """Return the columns of v of driven joints."""
        model = self.loops.model
        places = [model.idx_v[x.joint] + x.freedom for x in self.loops.targets if x.loop < 0]
        return np.array(places, dtype=np.intp)

    def force_changes(self, frames: Frames, forces: np.ndarray) -> np.ndarray:
        """Compute the derivatives of Jᵀ forces by q (..., nv, nv) at fixed forces (..., rows)."""
        model = self.loops.model
        found = np.zeros((*frames.R.shape[:-3], model.nv, model.nv))
        for part in self.parts:
            ends = self._ends(part, frames)
            own = forces[..., part.rows].reshape(*forces.shape[:-1], len(part.pairs), -1)
            for end, (force, moment) in zip(ends, part.wrenches(*ends, own), strict=True):
                found += force_changes(model, end, force, moment)
        return found


def _of_loops(loops: Loops) -> list:
    """Return the parts of the rows of loops."""
    model = loops.model
    if not model.loops:
        return []
    count = len(model.loops)
    start = np.searchsorted(loops.of, np.arange(count))
    parts: list = [Origins(np.arange(count), (start[:, None] + np.arange(3)).ravel())]
    pairs = [
        (k, i, j, start[k] + 3 + r)
        for k, x in enumerate(model.loops)
        for r, (i, j) in enumerate(PAIRS[x.kind])
    ]
    if pairs:
        number, *axes, rows = np.array(pairs, dtype=np.intp).T
        parts.append(Angles(number, np.array(axes), rows))
    return parts


def _of_contacts(contacts: tuple[RigidContact, ...], pair: int, row: int) -> list:
    """Return the parts of the rows of contacts, of which the first has these numbers of its pair and row."""
    starts = row + np.cumsum([0, *(one.rows for one in contacts)])
    parts = []
    for kind, size in KINDS.items():
        which = np.array([k for k, one in enumerate(contacts) if one.kind == kind], dtype=np.intp)
        if which.size:
            local = np.array([contacts[k].reference == "LOCAL" for k in which])[:, None, None]
            rows = (starts[which, None] + np.arange(size)).ravel()
            parts.append(Held(kind, pair + which, local, rows))
    return parts
