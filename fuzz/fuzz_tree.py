"""Fuzz trees of any numbers and matrices along them: dense oracles agree, or an error is ours."""

import atheris
import harness
import numpy as np

import treefactor as tf


def build(data: bytes) -> None:
    """Build trees in every way, and factorize along one of them."""
    given = atheris.FuzzedDataProvider(data)
    n = given.ConsumeIntInRange(0, 24)
    parent = [given.ConsumeIntInRange(-2, k) if given.ConsumeBool() else k - 1 for k in range(n)]
    if given.ConsumeProbability() < 0.05:
        parent.append(given.ConsumeInt(9))
    how = given.ConsumeIntInRange(0, 3)
    if how == 1:
        tree, order = tf.Tree.renumber(parent)
        assert sorted(order.tolist()) == list(range(tree.n))
    elif how == 2:
        tree = tf.Tree.from_joints(parent, [given.ConsumeIntInRange(-1, 7) for _ in parent])
    elif how == 3:
        mask = np.array([given.ConsumeBool() for _ in range(n * n)], dtype=bool).reshape(n, n)
        tree = tf.Tree.from_pattern(mask)
        assert not (mask & ~tree.mask()).any()
    else:
        tree = tf.Tree(parent if given.ConsumeBool() else np.array(parent, dtype=float))
    if tree.n <= 60:
        solve(tree, given)


def solve(tree: tf.Tree, given: atheris.FuzzedDataProvider) -> None:
    """Factorize and solve; where that succeeds, H x = b."""
    assert tree.nnz == np.tril(tree.mask()).sum()
    layout = given.PickValueInList(["dense", "packed", "lanes"])
    count = given.ConsumeIntInRange(0, 9) if given.ConsumeBool() or layout == "lanes" else None
    shape = (tree.nnz,) if count is None else (count, tree.nnz)
    numbers = given.ConsumeFloatListInRange(int(np.prod(shape)) % 97, -4.0, 4.0)
    packed = np.resize(numbers or [0.5], shape)
    packed[..., tree.row_start[1:] - 1] += given.ConsumeFloat() if given.ConsumeBool() else 4.0 * tree.n
    H = tree.unpack(packed)
    stored = packed if layout == "packed" else H if layout == "dense" else tree.pack(H, "lanes")
    b = np.ones(tree.n)
    kind = given.PickValueInList(["LTDL", "LTL"])
    with np.errstate(all="ignore"):
        f = tf.factor(stored, tree, kind, layout, num_threads=given.ConsumeIntInRange(1, 2))
        x = f.solve(b)
        f.delassus(np.ones((2, tree.n)))
        good = np.isfinite(H).all(axis=(-2, -1)) & (np.abs(H).max(initial=0.0) < 1e100)
        for one, own in zip(np.atleast_2d(x), np.atleast_3d(H.T).T if count is None else H, strict=False):
            if np.all(good) and np.isfinite(one).all():
                scale = np.abs(own).max(initial=0.0) * np.abs(one).max(initial=0.0) + 1.0
                condition = np.linalg.cond(own) if tree.n else 1.0
                assert np.abs(own @ one - b).max(initial=0.0) <= 1e-10 * scale * max(1.0, condition)


if __name__ == "__main__":
    harness.run(build, [bytes(range(64)), b"\x10" * 200, bytes(range(255, 0, -1))], harness.numbers)
