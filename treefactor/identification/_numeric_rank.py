"""Find the changes of inertial parameters that regressors at random states do not show."""

from __future__ import annotations

import numpy as np

from ..model.configuration import random_configuration
from ..quantities.functions import regressor
from ._unfelt import Directions, columns_of, order_of, size_of, units_of, weak_directions

MORE_ROWS = 2.0  # rows over columns
SLIDING = ("prismatic", "planar", "translation", "freeflyer")  # kinds with lengths in q


def directions_of_samples(model, armature: bool, largest: float) -> Directions:
    """Return all changes whose size is at most `largest`, of a model with any joints; limits are not used.

    Every freedom's rows have one length in total, so that forces and moments count alike.
    """
    size, columns = size_of(model), columns_of(model, armature)
    units = units_of(model, size, columns)
    generator = np.random.default_rng(0)
    count = int(MORE_ROWS * len(units) / max(model.nv, 1)) + 10
    reach = np.full(model.nq, np.pi)
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        if joint.kind in SLIDING and not joint.mimic:
            reach[at : at + joint.nq] = size
    q = random_configuration(model, generator, -reach, reach, count)
    v, a = generator.normal(size=(2, count, model.nv))
    Y = regressor(model, q, v, a, columns=("inertia", "armature") if armature else ("inertia",)) * units
    lengths = np.linalg.norm(Y, axis=(0, 2))[:, None]
    Y /= np.where(lengths > 0.0, lengths, 1.0)
    triangle = np.asarray(np.linalg.qr(Y.reshape(-1, len(units)), mode="r"))
    rows, sizes = weak_directions(triangle, largest)
    return Directions(rows, sizes, units, order_of(columns), 0.0)
