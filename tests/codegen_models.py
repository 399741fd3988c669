"""Models of the tests of generated programs: bundled robots, named arms, trees of random joints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor import robots
from treefactor.adapters import pinocchio_

ROBOTS = {  # names in the tables of counts, and of the bundled files
    "dpend": "double_pendulum",
    "ur5": "ur5_robot",
    "panda7": "panda",
    "panda9": "panda",
    "solo12": "solo12",
    "anymal_b": "anymal_b_simple/anymal",
    "g1": "g1_29dof_rev_1_0",
    "icub": "icub_reduced",
    "talos32": "talos_reduced",
    "talos50": "talos_full_v2",
}
FLOATING = ("solo12", "anymal_b", "g1", "icub", "talos32", "talos50")
_H = np.pi / 2
_SSRMS = [(0, 0, 0.65), (_H, 0, 0.38), (_H, 0, 0.38), (0, 6.85, 0.5), (0, 6.85, 0.5), (_H, 0, 0.38)]
_GENERAL = [
    (0.3, 0.2, 0.1),
    (0.7, 0.3, 0.2),
    (-0.5, 0.1, 0.3),
    (0.9, 0.2, 0.2),
    (-1.1, 0.15, 0.1),
    (0.4, 0.3, 0.2),
]
ARMS = {  # modified Denavit-Hartenberg rows alpha, d, r
    "puma": [
        (0, 0, 0),
        (-_H, 0, 0.2435),
        (0, 0.4318, -0.0934),
        (-_H, -0.0203, 0.4331),
        (_H, 0, 0),
        (-_H, 0, 0),
    ],
    "rx90": [(0, 0, 0), (_H, 0, 0), (0, 0.45, 0), (-_H, 0, 0.45), (_H, 0, 0), (-_H, 0, 0)],
    "stanford": [(0, 0, 0), (-_H, 0, 0.15), (_H, 0, 0.3), (0, 0, 0), (-_H, 0, 0), (_H, 0, 0)],
    "wam": [(0, 0, 0), (_H, 0, 0), (-_H, 0, 0.4), (-_H, 0, 0), (_H, 0, 0.39), (_H, 0, 0), (-_H, 0, 0)],
    "ssrms6": _SSRMS,
    "ssrms7": [*_SSRMS, (_H, 0, 0.65)],
    "gen6": _GENERAL,
    "gen7": [*_GENERAL, (0.8, 0.2, 0.3)],
}
SLIDING = {"stanford": 2}  # the joint of an arm that slides
KINDS = (
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "universal",
    "spherical",
    "planar",
    "translation",
    "freeflyer",
)


@cache
def pinocchio_model(name: str) -> pin.Model:
    """Pinocchio's model of a robot; of "panda7" the fingers are locked."""
    model = pinocchio_.load(robots.find(ROBOTS[name]).path, name in FLOATING)
    if name != "panda7":
        return model
    fingers = [model.getJointId(joint) for joint in model.names if "finger" in joint]
    return pin.buildReducedModel(model, fingers, pin.neutral(model))


@cache
def model(name: str) -> tf.Model:
    """A robot or a named arm, the latter with general inertias."""
    if name in ROBOTS:
        return pinocchio_.model(pinocchio_model(name))
    rng = np.random.default_rng(0)
    joints = []
    for k, (alpha, d, r) in enumerate(ARMS[name]):
        c, s = np.round([np.cos(alpha), np.sin(alpha)], 15)
        kind = "prismatic" if SLIDING.get(name) == k else "revolute"
        R, p = [[1, 0, 0], [0, c, -s], [0, s, c]], [d, -r * s, r * c]
        R = R if abs(c) in (0, 1) else pin.utils.rotate("x", alpha)
        joints.append(tf.Joint(f"joint{k}", kind, k - 1, R, p, [0, 0, 1.0], inertia=inertia(rng)))
    return tf.Model(joints, name=name)


def inertia(rng) -> tf.Inertia:
    """A body's inertia without any symmetry."""
    points = rng.normal(size=(8, 3))
    tensor = sum(x @ x * np.eye(3) - np.outer(x, x) for x in points)
    return tf.Inertia(rng.uniform(0.5, 2), rng.normal(size=3), tensor)


def random_model(rng, kinds, armature: float = 0.0, leaders: dict[int, int] | None = None) -> tf.Model:
    """A tree of joints of these kinds in general position; some follow others."""
    joints = []
    for k, kind in enumerate(kinds):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        axis = {1: axes[0], 2: axes[:2]}.get(tf.model.AXES.get(kind))
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        leader = (leaders or {}).get(k)
        joints.append(
            tf.Joint(
                f"joint{k}",
                kind,
                int(rng.integers(-1, k)) if k else -1,
                R * np.linalg.det(R),
                rng.normal(size=3),
                axis,
                0.3 if kind == "helical" else 0.0,
                inertia(rng),
                armature,
                mimic=None if leader is None else tf.Mimic(leader, *rng.normal(size=2)),
            )
        )
    return tf.Model(joints, rng.normal(size=3))


def states(model: tf.Model, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and accelerations or forces."""
    rng = np.random.default_rng(seed)
    return tf.random_configuration(model, rng, size=count), *rng.normal(size=(2, count, model.nv))
