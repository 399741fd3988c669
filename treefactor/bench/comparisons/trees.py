"""Compare factorizations on trees of the papers with MuJoCo and with sparse direct solvers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ... import families
from ...linalg.factorization import Factor
from ...tree.tree import Tree
from .. import scaling
from ..timing import Call, Comparison

SMALL_TREES = {
    "chain 32": partial(families.chain, 32),
    **{f"binary tree {2**m - 1}": partial(families.binary_tree, m) for m in (4, 6, 8, 10)},
    **{f"lattice {m * m}": partial(families.lattice, m) for m in (4, 8, 16, 32)},
}
LARGE_TREES = {
    "chain 256": partial(families.chain, 256),
    **{f"binary tree {2**m - 1}": partial(families.binary_tree, m) for m in (6, 8, 10, 14)},
    **{f"lattice {m * m}": partial(families.lattice, m) for m in (8, 16, 32)},
}


def packed_rows(name: str) -> Iterator[Comparison]:
    """Compare packed rows of one matrix with MuJoCo on the same tree."""
    for what, goal in (("factor", 1.5), ("solve", None)):
        ours, theirs = (partial(of_packed_rows, name, what, peer) for peer in (False, True))
        yield Comparison("S3", name, what, "MuJoCo", ours, theirs, goal)


def of_packed_rows(name: str, what: str, peer: bool) -> Call:
    """Return the factorization or the solution of MuJoCo's matrix of a tree, by us or by MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(SMALL_TREES[name]()))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tree = Tree(model.dof_parentid)  # MuJoCo numbers depth first
    b = np.random.default_rng(0).normal(size=(1, tree.n))
    if peer:
        if what == "factor":
            return Call(partial(mujoco.mj_factorM, model, data))
        return Call(partial(mujoco.mj_solveM, model, data, np.empty_like(b), b))
    H = data.M.copy()
    f = Factor(tree, layout="packed").refactor(H)
    return Call(partial(f.refactor, H) if what == "factor" else partial(f.solve, b[0], np.empty(tree.n)))


def mjcf(tree: Tree) -> str:
    """Write a tree of hinges in MuJoCo's format."""
    bodies = [""] * tree.n
    roots = ""
    for k in range(tree.n - 1, -1, -1):
        axis = "1 0 0.3" if tree.depth[k] % 2 else "0 1 0.3"
        body = f"<body pos='.1 0 .1'><joint axis='{axis}'/><geom size='.1' mass='1'/>{bodies[k]}</body>"
        if tree.parent[k] < 0:
            roots = body + roots
        else:
            bodies[tree.parent[k]] = body + bodies[tree.parent[k]]
    without = "<option><flag contact='disable'/></option>"
    return f"<mujoco>{without}<worldbody>{roots}</worldbody></mujoco>"


def sparse(name: str) -> Iterator[Comparison]:
    """Compare numeric factorization with sparse direct solvers that eliminate the last row first.

    SciPy offers no refactorization: SuperLU analyses the pattern again. CHOLMOD has no wheel.
    """
    for peer in ("QDLDL", "SuperLU"):
        ours, theirs = (partial(sparse_factor, name, solver) for solver in ("", peer))
        yield Comparison("S10", name, "factor", peer, ours, theirs, 5.0)


def sparse_factor(name: str, peer: str) -> Call:
    """Return the factorization of a matrix of a tree by a peer, or by us if none is named."""
    tree = LARGE_TREES[name]()
    if not peer:
        return Call(scaling.refactorization(tree))
    H, upper = sparse_matrix(tree, scaling.dominant(tree, np.random.default_rng(0)))
    if peer == "QDLDL":
        import qdldl

        return Call(partial(qdldl.Solver(upper, upper=True).update, upper, upper=True))
    from scipy.sparse.linalg import splu

    natural = {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    return Call(partial(splu, H, **natural))


def sparse_matrix(tree: Tree, packed: np.ndarray) -> tuple:
    """Return H with rows and columns in reverse, which makes no fill, and its upper triangle."""
    from scipy.sparse import csc_matrix, triu

    lower = csc_matrix((packed, (tree.rows, tree.columns)), shape=(tree.n, tree.n))
    H = csc_matrix((lower + triu(lower.T, 1))[::-1][:, ::-1])
    return H, csc_matrix(triu(H))
