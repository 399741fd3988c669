"""Models with loops that have an analytic closure: planar rings, legs, a six-bar; closed at a known q."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracles.loops import poses

import treefactor as tf
from helpers.codegen_models import held
from treefactor.model.arms import general_inertia


def _turn(angle: float) -> np.ndarray:
    """Return the rotation about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _rotation(rng) -> np.ndarray:
    """Return a random rotation."""
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return A * np.linalg.det(A)


def _closed(joints, rng, kind: str, first: int, second: int) -> tuple[tf.Model, np.ndarray]:
    """Return a model with one loop, and a state that closes it."""
    tree = tf.Model(joints, rng.normal(size=3), name="ring")
    q = tf.random_configuration(tree, rng)
    loop = held(tree, q, "ring", kind, first, second)
    return tf.Model(joints, tree.gravity, name="ring", loops=[loop]), q


def planar(rng, kinds, split: int) -> tuple[tf.Model, np.ndarray]:
    """Return a ring in a tilted plane, `split` joints on one side of the loop, the others on the other."""
    joints = []
    for k, kind in enumerate(kinds):
        along = rng.uniform(-np.pi, np.pi)
        axis = [0, 0, rng.choice([-1.0, 1.0])] if kind != "prismatic" else [np.cos(along), np.sin(along), 0]
        root = k in (0, split)
        R, p = _turn(rng.uniform(-np.pi, np.pi)), rng.normal(size=3)
        joints.append(
            tf.Joint(f"joint{k}", kind, -1 if root else k - 1, R, p, axis, inertia=general_inertia(rng))
        )
    A = _rotation(rng)
    joints = [replace(j, R=A @ j.R, p=A @ j.p) if j.parent < 0 else j for j in joints]
    second = len(kinds) - 1 if split < len(kinds) else -1
    return _closed(joints, rng, "spherical", split - 1, second)


def leg(
    rng, third: str, reverse: bool, cut: str = "spherical", apart: bool = False
) -> tuple[tf.Model, np.ndarray]:
    """Return a leg under a free-flyer: two intersecting revolute joints and a third joint.

    Parameters
    ----------
    third : str
        Kind of the joint that sets the length.
    reverse : bool
        Whether the third joint stands first, at the base.
    cut : str
        Kind of the loop; under a universal one the rod also turns.
    apart : bool
        Whether the first two axes are two joints at any angle, not a universal joint.
    """
    axes, given = _rotation(rng), {"inertia": general_inertia(rng)}
    places = [{"R": _rotation(rng), "p": rng.normal(size=3)} for _ in range(2)]
    if apart:  # the origin of the second joint is on the axis of the first
        tilted = (axes[0] + axes[1]) / np.sqrt(2.0)
        pair = [
            tf.Joint("outer", "revolute", axis=axes[0], **places[0], **given),
            tf.Joint("inner", "revolute", p=0.3 * axes[0], axis=tilted, **given),
        ]
    else:
        pair = [tf.Joint("foot", "universal", axis=axes[:2], **places[0], **given)]
    length = tf.Joint("length", third, axis=axes[2], **places[1], **given)
    chain = [length, *pair] if reverse else [*pair, length]
    if cut == "universal":
        chain.append(tf.Joint("turn", "revolute", R=_rotation(rng), axis=[0, 0, 1.0], **given))
    chain = [replace(joint, parent=k if k else -1) for k, joint in enumerate(chain)]
    joints = [tf.Joint("platform", "freeflyer", **given), *chain]
    return _turning(joints, rng) if cut == "universal" else _closed(joints, rng, cut, len(chain), 0)


def _turning(joints, rng) -> tuple[tf.Model, np.ndarray]:
    """Return the model with a universal loop on the axis of its last joint, and a state that closes it."""
    tree = tf.Model(joints, rng.normal(size=3), name="ring")
    q = tf.random_configuration(tree, rng)
    still = {i: (R[0], p[0]) for i, (R, p) in poses(tree, q, np.zeros(tree.nv)).items()}
    last = len(joints) - 1
    (R, p), (S, r) = still[last], still[0]
    R1, p1 = _rotation(rng), np.array([0.0, 0.0, 0.4])
    z = R @ R1[:, 2]  # stays at right angles to x of the second frame
    x = np.cross(z, rng.normal(size=3))
    x /= np.linalg.norm(x)
    second = np.stack([x, np.cross(z, x), z], axis=1)
    loop = tf.Loop("ring", "universal", last, 0, R1, p1, S.T @ second, S.T @ (p + R @ p1 - r))
    return tf.Model(joints, tree.gravity, name="ring", loops=[loop]), q


def six_bar(rng) -> tuple[tf.Model, np.ndarray]:
    """Return two four-bars in a row: the rocker of the first is the crank of the second."""
    hinge = {"kind": "revolute", "axis": [0, 0, 1.0], "inertia": general_inertia(rng)}
    parents = (-1, 0, -1, 2, -1)
    joints = [
        tf.Joint(f"joint{k}", parent=i, p=[*rng.normal(size=2), 0.0], **hinge) for k, i in enumerate(parents)
    ]
    tree = tf.Model(joints, name="six-bar")
    q = tf.random_configuration(tree, rng)
    loops = [held(tree, q, "second", "spherical", 3, 4), held(tree, q, "first", "revolute", 1, 2)]
    return tf.Model(joints, name="six-bar", loops=_flat(tree, q, loops)), q


def _flat(tree, q, loops) -> list[tf.Loop]:
    """Return the loops with the axes of revolute ones along z of the plane."""
    still = {i: (R[0], p[0]) for i, (R, p) in poses(tree, q, np.zeros(tree.nv)).items()}
    return [replace(one, R1=np.eye(3), R2=still[one.second][0].T @ still[one.first][0]) for one in loops]
