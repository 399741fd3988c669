"""Models of the tests of generated programs: bundled robots, named arms, trees of random joints."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from oracles.loops import poses

import treefactor as tf
from treefactor import robots
from treefactor.model.arms import GENERAL, GENERAL_7R, general_inertia
from treefactor.model.joints import AXES

pin = pytest.importorskip("pinocchio", reason="the reference")

from treefactor.adapters import pinocchio_  # noqa: E402

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
ARMS = dict(
    zip(("puma", "rx90", "stanford", "wam", "ssrms6", "ssrms7", "gen6", "gen7"), GENERAL, strict=True)
)
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
    """Return Pinocchio's model of a robot; of "panda7" the fingers are locked."""
    model = pinocchio_.load(robots.find(ROBOTS[name]).path, name in FLOATING)
    if name != "panda7":
        return model
    fingers = [model.getJointId(joint) for joint in model.names if "finger" in joint]
    return pin.buildReducedModel(model, fingers, pin.neutral(model))


@cache
def model(name: str) -> tf.Model:
    """Return a robot or a named arm, the latter with general inertias."""
    return pinocchio_.model(pinocchio_model(name)) if name in ROBOTS else ARMS[name].model()


def random_model(rng, kinds, armature: float = 0.0, leaders: dict[int, int] | None = None) -> tf.Model:
    """Return a tree of joints of these kinds in general position; some follow others."""
    joints = []
    for k, kind in enumerate(kinds):
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        axis = {1: axes[0], 2: axes[:2]}.get(AXES.get(kind))
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
                general_inertia(rng),
                armature,
                mimic=None if leader is None else tf.Mimic(leader, *rng.normal(size=2)),
            )
        )
    return tf.Model(joints, rng.normal(size=3))


def states(model: tf.Model, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and accelerations or forces."""
    rng = np.random.default_rng(seed)
    return tf.random_configuration(model, rng, size=count), *rng.normal(size=(2, count, model.nv))


def held(model: tf.Model, q, name: str, kind: str, first: int, second: int) -> tf.Loop:
    """Return a loop that is closed at q."""
    still = {i: (R[0], p[0]) for i, (R, p) in poses(model, q, np.zeros(model.nv)).items()}
    A = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    R1, p1 = A * np.linalg.det(A), np.array([0.1, -0.3, 0.2])
    (R, p), (S, r) = still[first], still[second]
    return tf.Loop(name, kind, first, second, R1, p1, S.T @ R @ R1, S.T @ (p + R @ p1 - r))


def branched_loop(kind: str, second: int) -> tuple[tf.Model, np.ndarray]:
    """Return a general arm of seven joints with a branch and a loop at its tips, and a closed state."""
    arm = GENERAL_7R.model()
    tree = tf.Model([*arm.joints, replace(arm.joints[3], name="more", parent=6)], arm.gravity)
    q = np.random.default_rng(3).uniform(-1, 1, tree.nq)
    return tf.Model(tree.joints, tree.gravity, loops=[held(tree, q, "loop", kind, 7, second)]), q


def coupled_loops() -> tuple[tf.Model, np.ndarray]:
    """Return a chain of all kinds of joints with a mimic joint and two overlapping loops; a closed state."""
    rng = np.random.default_rng(4)
    kinds = [*KINDS, "revolute", "prismatic"]
    tree = random_model(rng, kinds, armature=0.3, leaders={len(KINDS): 0})
    chain = [replace(joint, parent=i - 1) for i, joint in enumerate(tree.joints)]
    tree = tf.Model(chain, tree.gravity)
    q = tf.random_configuration(tree, rng)
    loops = [held(tree, q, "ball", "spherical", 10, -1), held(tree, q, "pin", "revolute", 8, 2)]
    return tf.Model(chain, tree.gravity, loops=loops), q
