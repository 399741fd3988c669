"""Trees and matrices for the tests: Hypothesis strategies and seeded generators."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import treefactor as tf


@st.composite
def parents(draw, min_n: int = 0, max_n: int = 200) -> list[int]:
    """Return proper parent arrays: chains, bushes, combs, forests, and anything between them."""
    n = draw(st.integers(min_n, max_n))
    reach = draw(st.sampled_from([0, 1, 3, n]))  # how far back a node may hang; 0 is a chain
    rare = draw(st.booleans())  # branches are the exception
    parent = []
    for k in range(n):
        back = draw(st.integers(0, min(k, reach))) if reach else 0
        if rare and back and draw(st.integers(0, 7)):
            back = 0
        parent.append(k - 1 - back)
    if n and draw(st.booleans()):
        parent[draw(st.integers(0, n - 1))] = -1
    return parent


@st.composite
def trees(draw, min_n: int = 0, max_n: int = 200) -> tf.Tree:
    """Draw trees of min_n to max_n nodes, of any shape, with any number of roots."""
    return tf.Tree(draw(parents(min_n, max_n)))


@st.composite
def joint_trees(draw, max_joints: int = 12) -> tuple[list[int], list[int]]:
    """Return the parent array of joints, and the freedoms of each, 0 included."""
    parent = draw(parents(0, max_joints))
    return parent, [draw(st.integers(0, 3)) for _ in parent]


@st.composite
def spd(draw, min_n: int = 0, max_n: int = 200) -> tuple[tf.Tree, np.ndarray]:
    """Draw a tree and a positive definite matrix of its pattern, of any scale and condition up to 1e6."""
    tree = draw(trees(min_n, max_n))
    spread = 10.0 ** draw(st.integers(0, 6))
    scale = 2.0 ** draw(st.integers(-20, 20))
    return tree, scale * spd_matrix(tree, draw(st.integers(0, 2**32 - 1)), spread=spread)


def lower_pattern(parent) -> np.ndarray:
    """Return the lower triangle of the pattern of H, from the definition: row k is its parent's row and k."""
    pattern = np.zeros((len(parent), len(parent)), dtype=bool)
    for k, i in enumerate(parent):
        if i >= 0:
            pattern[k] = pattern[i]
        pattern[k, k] = True
    return pattern


def spd_matrix(tree: tf.Tree, seed, batch: tuple[int, ...] = (), spread: float = 10.0) -> np.ndarray:
    """Return positive definite matrices L^T D L with the tree's pattern, D spread over [1, spread]."""
    rng = np.random.default_rng(seed)
    n = tree.n
    pattern = lower_pattern(tree.parent)
    depth = pattern.sum(axis=1, keepdims=True)
    L = rng.uniform(-1, 1, (*batch, n, n)) * np.tril(pattern, -1) / np.maximum(depth, 1) + np.eye(n)
    D = spread ** rng.random((*batch, n))
    H = np.swapaxes(L, -1, -2) @ (D[..., None] * L)
    return np.where(pattern | pattern.T, (H + np.swapaxes(H, -1, -2)) / 2, 0.0)


def vectors(seed, *shape: int) -> np.ndarray:
    """Return normally distributed numbers."""
    return np.random.default_rng(seed).standard_normal(shape)


def poisoned(H: np.ndarray, tree: tf.Tree, triangle: str = "lower") -> np.ndarray:
    """Return H with NaN wherever the declared triangle's pattern has no entry."""
    read = lower_pattern(tree.parent)
    return np.where(read if triangle == "lower" else read.T, H, np.nan)


def deep_forest() -> tf.Tree:
    """Return two chains deeper than the kernels' local path, a bush on one, and single roots between."""
    long = list(range(-1, 299))
    second = [-1, *range(300, 570)]
    bush = [10, 571, 100, 299, 299, 575]
    return tf.Tree([*long, *second, *bush, -1, -1, 577])


TREES = {
    "empty": tf.Tree([]),
    "one": tf.Tree([-1]),
    "roots": tf.Tree([-1] * 6),
    "chain": tf.families.chain(7),
    "star": tf.Tree([-1, *[0] * 9]),
    "binary": tf.families.binary_tree(4),
    "lattice": tf.families.lattice(5),
    "tree_1": tf.families.tree_1(),
    "random": tf.families.random_tree(40, 7),
    "deep": deep_forest(),
}
