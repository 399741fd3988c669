"""Models and states for the tests of tangents in JAX and PyTorch."""

import numpy as np

import treefactor as tf
from treefactor.adapters._lie_groups import GROUPS
from treefactor.model.joints import ROTATIONS

from .codegen_models import KINDS, random_model

TURNING = tuple(GROUPS)
PLACED = {f"{kind} at the root": (kind, "revolute") for kind in KINDS}
PLACED |= {f"{kind} in the tree": ("revolute", kind, "prismatic", kind) for kind in KINDS}
MIXED = ("revolute", *KINDS, "spherical", "freeflyer", "helical", "planar", "continuous")
CLOSE = {"rtol": 1e-14, "atol": 1e-14}


def robot(kinds, leaders=None) -> tf.Model:
    """Return a tree of joints of these kinds."""
    return random_model(np.random.default_rng(7), kinds, leaders=leaders)


def mixed() -> tf.Model:
    """Return a model with several joints of every kind, and mimic joints between them."""
    kinds = (*MIXED[:3], "revolute", *MIXED[3:], "prismatic")
    return robot(kinds, {3: 2, len(kinds) - 1: 0})


def draw(model, size=(), scale=1.0, seed=0):
    """Return random q, another q and a velocity."""
    rng = np.random.default_rng(seed)
    return *tf.random_configuration(model, rng, size=(2, *size)), scale * rng.normal(size=(*size, model.nv))


def off_unit(model, q):
    """Return q with rotations of other lengths."""
    q = q.copy()
    for kind in GROUPS.keys() & model.entries.keys():
        q[..., model.entries[kind][0][:, ROTATIONS[kind]]] *= 1.3
    return q
