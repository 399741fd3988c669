"""Robots of the same kinematics and other inertias, and their parameters in Pinocchio's order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import treefactor as tf
from treefactor.model.arms import general_inertia


def other_robot(model: tf.Model, seed: int = 0) -> tf.Model:
    """Return a model with random inertias, and other armature where there is some."""
    rng = np.random.default_rng(seed)
    joints = [
        replace(joint, inertia=general_inertia(rng), armature=joint.armature * rng.uniform(0.5, 2.0))
        for joint in model.joints
    ]
    return tf.Model(joints, model.gravity, model.name)


def parameters(model: tf.Model) -> np.ndarray:
    """Return the ten parameters of every joint: mass, first moments, tensor about the origin."""
    bodies = []
    for joint in model.joints:
        m, c, I = joint.inertia.mass, joint.inertia.com, joint.inertia.tensor
        xx, yy, zz = np.diag(I) + m * (c @ c - c * c)
        xy, xz, yz = I[0, 1] - m * c[0] * c[1], I[0, 2] - m * c[0] * c[2], I[1, 2] - m * c[1] * c[2]
        bodies.append([m, *(m * c), xx, xy, yy, xz, yz, zz])
    return np.reshape(bodies, (len(model.joints), 10))
