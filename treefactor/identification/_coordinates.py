"""Convert configurations to coordinates that can be filtered: continuous joints by angles without jumps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.joints import ROTATIONS, SIZES, Joint
from ..model.model import Model
from ..quantities.functions import normalize
from ..tree.tree import freedom_names

DIGITS = 0.01  # difference of the length of a rotation in a file from 1, by rounding


def coordinate_names(model: Model) -> list[str]:
    """Return the names of the coordinates of q: as in v, but all entries of quaternions and planar joints.

    A continuous joint has one, its angle.
    """
    free = [joint for joint in model.joints if not joint.mimic]
    sizes = [1 if joint.kind == "continuous" else SIZES[joint.kind][0] for joint in free]
    return freedom_names([joint.name for joint in free], sizes)


def entry_names(model: Model) -> list[str]:
    """Return the names of the entries of q; a continuous joint has two, its cosine and sine."""
    free = [joint for joint in model.joints if not joint.mimic]
    return freedom_names([joint.name for joint in free], [SIZES[joint.kind][0] for joint in free])


def _blocks(model: Model) -> Iterator[tuple[Joint, slice, slice]]:
    """Yield the joints that are free, with their entries in q and in the coordinates."""
    at, k = 0, 0
    for joint in model.joints:
        if not joint.mimic:
            size, count = SIZES[joint.kind][0], 1 if joint.kind == "continuous" else SIZES[joint.kind][0]
            yield joint, slice(at, at + size), slice(k, k + count)
            at, k = at + size, k + count


def coordinates_of(model: Model, q: np.ndarray) -> np.ndarray:
    """Return coordinates of configurations: continuous joints by their angles."""
    coordinates = np.empty((len(q), len(coordinate_names(model))))
    for joint, entries, own in _blocks(model):
        x = q[:, entries]
        coordinates[:, own] = np.arctan2(x[:, 1:], x[:, :1]) if joint.kind == "continuous" else x
    return coordinates


def configurations(model: Model, coordinates: np.ndarray) -> np.ndarray:
    """Return configurations, with quaternions, cosines and sines of length one."""
    q = np.empty((len(coordinates), len(entry_names(model))))
    for joint, entries, own in _blocks(model):
        x = coordinates[:, own]
        q[:, entries] = np.hstack([np.cos(x), np.sin(x)]) if joint.kind == "continuous" else x
    return normalize(model, q)


def odd_rotation(model: Model, q: np.ndarray) -> tuple[int, str] | None:
    """Return the first sample and the joint whose rotation in q or in its coordinates has no unit length."""
    own = q.shape[1] == model.nq
    for joint, entries, coordinates in _blocks(model):
        if joint.kind in ROTATIONS and (own or joint.kind != "continuous"):
            lengths = np.linalg.norm(q[:, entries if own else coordinates][:, ROTATIONS[joint.kind]], axis=1)
            wrong = np.abs(lengths - 1.0) > DIGITS
            if wrong.any():
                return int(np.argmax(wrong)), joint.name
    return None


def unwrapped(model: Model, coordinates: np.ndarray) -> np.ndarray:
    """Return coordinates without jumps: angles of continuous joints beyond pi, quaternions of either sign."""
    smooth = coordinates.copy()
    for joint, _, own in _blocks(model):
        x = smooth[:, own]
        if joint.kind == "continuous":
            smooth[:, own] = np.unwrap(x, axis=0)
        elif joint.kind in ("spherical", "freeflyer"):
            part = x[:, ROTATIONS[joint.kind]]
            turns = np.where(np.einsum("ij,ij->i", part[1:], part[:-1]) < 0, -1.0, 1.0)
            part *= np.cumprod(np.r_[1.0, turns])[:, None]
            smooth[:, own] = x
    return smooth
