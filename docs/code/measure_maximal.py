"""Measure mechanisms in maximal coordinates.

Entries of L and CPU seconds, by kind of tree and number of bodies, of the tree order, of "bodies first", of
SciPy's SuperLU on the same K, and of the joint-space route `tf.aba`. The rows of H on a long chain are too
many to store: above MOST of them `tf.aba` is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.sparse.linalg import splu

import treefactor as tf
from treefactor import bench
from treefactor._util.rotations import about
from treefactor.constraints import BodyJoint, BodyStates, MaximalCoordinates

SIZES = (10, 100, 1000, 10_000, 100_000)
TREES = {
    "chain": lambda n: np.arange(n) - 1,
    "binary tree": lambda n: (np.arange(n) - 1) // 2,
    "star": lambda n: np.minimum(np.arange(n) - 1, 0),
}
WIDEST = {"bodies first": 100, "SuperLU": 1000}  # bodies of a star: its corner is dense, SuperLU's fill grows
MOST = 10**8  # entries of H
PATIENCE = 2.0  # s
TURNS = ("rx", "ry", "rz")
ARM = (0.1, 0.0, 0.0)
ROD = tf.Inertia(1.0, [0.05, 0.0, 0.0], np.diag([1e-3, 2e-3, 3e-3]))


def measured(_: dict) -> dict:
    """Return the figures of all trees."""
    return {"trees": {name: list(of_trees(name)) for name in TREES}}


def of_trees(name: str) -> Iterator[dict]:
    """Yield entries and seconds for all sizes of a kind of tree."""
    for n in SIZES:
        parent, rng = TREES[name](n), np.random.default_rng(n)
        links = [(str(i), int(above), i % 3) for i, above in enumerate(parent)]
        hinges = [BodyJoint(i, above, int(i), [TURNS[axis]], p1=ARM) for i, above, axis in links]
        made = MaximalCoordinates([ROD] * n, hinges)
        q, v, tau = 0.3 * rng.normal(size=(3, n))
        states = moving(parent, q, v)
        a, x = made.accelerations(states, tau).joints, rng.normal(size=11 * n)
        K = made._kkt.matrix()
        ways = {
            "accelerations": partial(made.accelerations, states, tau),
            "factor, solve": partial(factor_and_solve, made, x),
        }
        entries = {"tree": made.nnz, "dense corner": dense_corner(parent)}
        if name != "star" or n <= WIDEST["bodies first"]:
            other = MaximalCoordinates([ROD] * n, hinges, order="bodies first")
            other.accelerations(states, tau)
            entries["bodies first"] = other.nnz
            ways["bodies first"] = partial(factor_and_solve, other, x)
        if name != "star" or n <= WIDEST["SuperLU"]:
            ways["SuperLU"] = partial(lambda K, x: splu(K).solve(x), K, x)
        figures = {"bodies": n, "entries": entries, "residual": residual(K, made, x)}
        if tf.Tree(parent).nnz <= MOST:
            joints = [
                tf.Joint(i, "revolute", above, p=ARM, axis=np.eye(3)[axis], inertia=ROD)
                for i, above, axis in links
            ]
            model = tf.Model(joints)
            expected = tf.aba(model, q, v, tau)
            figures["difference"] = float(np.abs(a - expected).max() / np.abs(expected).max())
            ways["aba"] = partial(tf.aba, model, q, v, tau)
        figures["seconds"] = bench.median_times(ways, patience=PATIENCE)
        print(name, figures, flush=True)
        yield figures


def moving(parent: np.ndarray, q: np.ndarray, v: np.ndarray) -> BodyStates:
    """Return the states of the bodies for angles and rates of the hinges."""
    n, spins = len(parent), v[:, None] * np.eye(3)[np.arange(len(parent)) % 3]
    turned = np.concatenate([about(axis, q[axis::3]) for axis in range(3)])
    turned = turned[np.argsort(np.concatenate([np.arange(axis, n, 3) for axis in range(3)]))]
    R, p, velocity = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    for i, above in enumerate(parent):
        if above < 0:
            R[i], p[i], velocity[i, :3], spin = turned[i], ARM, 0.0, np.zeros(3)
        else:
            arm, spin = R[above] @ ARM, velocity[above, 3:]
            R[i], p[i] = R[above] @ turned[i], p[above] + arm
            velocity[i, :3] = velocity[above, :3] + np.cross(spin, arm)
        velocity[i, 3:] = spin + R[i] @ spins[i]
    return BodyStates(R, p, velocity)


def dense_corner(parent: np.ndarray) -> int:
    """Count the entries of L where all bodies come first and the corner of the rows is full."""
    n, rows = len(parent), 5 * len(parent)
    return 21 * n + 6 * 5 * (n + int((parent >= 0).sum())) + rows * (rows + 1) // 2


def factor_and_solve(made: MaximalCoordinates, x: np.ndarray) -> np.ndarray:
    """Factorize the entries of K again, and solve."""
    y = x.copy()
    made._kkt.refactor()
    made._kkt.kernel.apply_inverse(y)
    return y


def residual(K, made: MaximalCoordinates, x: np.ndarray) -> float:
    """Return the backward error of a solution, relative to K and the solution."""
    y = factor_and_solve(made, x)
    return float(np.abs(K @ y - x).max() / (np.abs(K).sum(axis=1).max() * np.abs(y).max()))
