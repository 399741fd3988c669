"""Regressors from the definition, one unit parameter after the other, and their rank at random states."""

import numpy as np

import treefactor as tf
from oracles.derivatives import inverse_dynamics
from treefactor.model.joints import SIZES


def regressor(model, q, v, a, armature=True):
    """Return Y (nv, p): the forces of bodies with one unit parameter each, and the columns of rotors."""
    unit = np.eye(10 * model.njoints).reshape(-1, model.njoints, 10)
    Y = (inverse_dynamics(model, q, v, a, inertia=unit) - model.armature * a).T
    return np.hstack([Y, rotors(model) * a[:, None]]) if armature else Y


def rotors(model):
    """Return the shares (nv, joints) of rotors in the armature of the freedoms."""
    single = [j for j, joint in enumerate(model.joints) if SIZES[joint.kind][1] == 1]
    shares = np.zeros((model.nv, len(single)))
    for k, j in enumerate(single):
        mimic = model.joints[j].mimic
        shares[model.idx_v[j], k] = mimic.ratio**2 if mimic else 1.0
    return shares


def stacked(model, armature=True, seed=0):
    """Return regressors at random states on top of each other, with twice as many rows as columns."""
    rng = np.random.default_rng(seed)
    count = 10 + 22 * model.njoints // model.nv
    states = ((tf.random_configuration(model, rng), *rng.normal(size=(2, model.nv))) for _ in range(count))
    return np.vstack([regressor(model, *state, armature) for state in states])


def rank(Y, tolerance=1e-9):
    """Return the number of singular values above the tolerance, relative to the largest."""
    sizes = np.linalg.svd(Y, compute_uv=False)
    return int((sizes > tolerance * sizes[0]).sum()) if sizes.size else 0
