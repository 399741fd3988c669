"""Bound the terms that entries of the regressor are sums of: an entry far below them is rounding.

An entry of the regressor is a sum of products of lever arms, velocities and accelerations. Where they cancel,
as the moments of a tensor about axes that a joint does not turn about, about 1e-16 of the terms remains. The
norm of such a column says nothing about its meaning; its size beside these terms does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.joints import SIZES
from ..model.model import Model
from .columns import extended_pairs, follows

LINEAR = {
    "prismatic": 1,
    "planar": 2,
    "translation": 3,
    "freeflyer": 3,
}  # freedoms along lines: the first
TURN = np.pi  # rad; largest angle of a continuous joint, which q has as its cosine and sine


def largest_of(model: Model) -> np.ndarray:
    """Return gravity, then the largest sizes of the entries of q, v and a of no samples yet: zeros.

    Those of two sets of samples together are the maxima of both.
    """
    return np.concatenate([[np.linalg.norm(model.gravity)], np.zeros(model.nq + 2 * model.nv)])


def enlarged(largest: np.ndarray, motion: Sequence[np.ndarray]) -> np.ndarray:
    """Return `largest` with further samples q (N, nq), v and a (N, nv)."""
    own = np.abs(np.concatenate(motion, axis=1)).max(axis=0, initial=0.0)
    return np.maximum(largest, np.concatenate([largest[:1], own]))


def column_sizes(model: Model, largest: np.ndarray) -> np.ndarray:
    """Return bounds (nv, 10 njoints) of the terms of all entries of the regressor, from `largest` values.

    With the distance R of a body from the root, its angular rate n = |w'| + |w|^2 and the acceleration s of
    its origin, gravity included, force and moment of a mass are s and R s, of a first moment n and s + R n,
    of a tensor 0 and n.
    """
    gravity, (q, v, a) = largest[0], np.split(largest[1:], np.cumsum([model.nq, model.nv]))
    along, about = _shares(model)
    G = np.eye(len(about)) if model.coupling is None else np.abs(model.coupling.G)
    freedom, joint = extended_pairs(model)
    path = np.zeros((model.njoints, len(about)))
    path[joint, freedom] = 1.0
    distance = _distances(model, q, along)
    spin, turn = (path @ (about * (G @ rates)) for rates in (v, a))
    slide, push = (path @ (along * (G @ rates)) for rates in (v, a))
    rate = turn + spin**2
    acceleration = gravity + push + spin * slide + distance * rate
    force = np.stack([acceleration, rate, 0.0 * rate], axis=-1)
    moment = np.stack([distance * acceleration, acceleration + distance * rate, rate], axis=-1)
    terms = along[freedom, None] * force[joint] + about[freedom, None] * moment[joint]
    leader = follows(model)
    sizes = np.zeros((model.nv, model.njoints, 10))
    terms *= G.max(axis=1, initial=0.0)[freedom, None]  # every freedom follows one entry of v
    np.add.at(sizes, (leader[freedom], joint), terms.repeat((1, 3, 6), axis=1))
    return sizes.reshape(model.nv, 10 * model.njoints)


def _shares(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the freedoms of all joints, mimic joints included, move along and about axes."""
    along, about = [], []
    for joint in model.joints:
        count, linear = SIZES[joint.kind][1], LINEAR.get(joint.kind, 0)
        along += [1.0] * linear + [abs(joint.pitch)] * (count - linear)
        about += [0.0] * linear + [1.0] * (count - linear)
    return np.array(along), np.array(about)


def _distances(model: Model, q: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Return the largest distances (njoints,) of the joints from the first joint of their tree."""
    distances, first = np.zeros(model.njoints), 0
    for j, joint in enumerate(model.joints):
        count, at = SIZES[joint.kind][1], model.idx_q[j]
        if joint.parent >= 0:
            position, mimic = q[at : at + count], joint.mimic
            if mimic:
                factor = TURN if model.joints[mimic.leader].kind == "continuous" else 1.0
                position = abs(mimic.offset) + abs(mimic.ratio) * factor * q[at]
            distances[j] = distances[joint.parent] + np.linalg.norm(joint.p)
            distances[j] += (along[first : first + count] * position).sum()
        first += count
    return distances
