"""List the comparisons of every target, and their models: robots, and the families of the papers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import numpy as np

from treefactor import Factor, Tree, arms, chain_forces, chain_inertia, families, robots
from treefactor.bench import Call, Comparison, Result
from treefactor.bench import scaling as growth
from treefactor.bench.comparisons import (
    frameworks as frameworks_times,
)
from treefactor.bench.comparisons import (
    loops as loops_times,
)
from treefactor.bench.comparisons import (
    mlcp as mlcp_times,
)
from treefactor.bench.comparisons import (
    programs as programs_times,
)
from treefactor.bench.comparisons import (
    robot as robot_times,
)
from treefactor.bench.comparisons.dynamics import Moving

ROBOTS = (
    "double_pendulum",
    "ur5_robot",
    "panda",
    "solo12",
    "anymal-kinova",
    "talos_reduced",
    "talos_full_v2",
)
FEW = ("ur5_robot", "solo12", "talos_reduced")  # for what takes long to prepare
HUMANOIDS = ("talos_reduced", "talos_full_v2")
ARMS = ("GENERAL_6R",)  # of treefactor.arms
STANDING = ("anymal-kinova", "talos_full_v2")  # on a free-flyer, unlike in treefactor.robots

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


def case(robot: str) -> robot_times.Case:
    """Return a robot on the base it is meant to stand on."""
    return robot_times.Case(robots.find(robot, True if robot in STANDING else None))


def mujoco(name: str) -> Iterator[Comparison]:
    """Compare packed rows of one matrix with MuJoCo on the same tree."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(SMALL_TREES[name]()))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    tree = Tree(model.dof_parentid)  # MuJoCo numbers depth first
    H, b = data.M.copy(), np.random.default_rng(0).normal(size=(1, tree.n))
    f = Factor(tree, layout="packed").refactor(H)
    x, y = np.empty_like(b), np.empty(tree.n)
    for what, goal, ours, theirs in (
        ("factor", 1.5, partial(f.refactor, H), partial(mujoco.mj_factorM, model, data)),
        ("solve", None, partial(f.solve, b[0], y), partial(mujoco.mj_solveM, model, data, x, b)),
    ):
        yield Comparison("S3", name, what, "MuJoCo", Call(ours), Call(theirs), goal)


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


def framework_comparisons(robot: str) -> Iterator[Comparison]:
    """Compare JAX and PyTorch with NumPy; print which of them is missing."""
    for name in frameworks_times.missing():
        print(f"{name} is left out: it is not installed", file=sys.stderr)
    return frameworks_times.frameworks(case(robot))


def chain_of(name: str) -> Iterator[Comparison]:
    """Compare the Kane-sum chain of an arm from arrays in the base frame with Pinocchio from q."""
    import pinocchio as pin

    arm = getattr(arms, name)
    n = len(arm.mass)
    axis, r, mass, c, inertia = arm.chain(np.linspace(0.1, 0.7, n))
    model = pinocchio_chain(axis, r, mass, c, inertia)
    data, still, none = model.createData(), np.zeros(n), np.zeros((n, 3))
    for what, ours, theirs in (
        ("inertia", partial(chain_inertia, axis, r, mass, c, inertia), partial(pin.crba, model, data, still)),
        (
            "forces",
            partial(chain_forces, axis, r, mass, c, inertia, still, none, none),
            partial(pin.nle, model, data, still, still),
        ),
    ):
        yield Comparison("Chain", name, what, "Pinocchio", Call(ours), Call(theirs))


def pinocchio_chain(axis, r, mass, c, inertia):
    """Return Pinocchio's model of a chain given in the base frame, at rest there."""
    import pinocchio as pin

    model = pin.Model()
    for k, (a, p, m, first, tensor) in enumerate(zip(axis, r, mass, c, inertia, strict=True)):
        joint = pin.JointModelRevoluteUnaligned(a)
        model.addJoint(k, joint, pin.SE3(np.eye(3), p), f"joint{k}")
        lever = first / m
        central = tensor - m * (lever @ lever * np.eye(3) - np.outer(lever, lever))
        model.appendBodyToJoint(k + 1, pin.Inertia(m, lever, central), pin.SE3.Identity())
    return model


def arm_of(name: str) -> Iterator[Comparison]:
    """Compare single calls of an arm without zeros, as compiled C, with Pinocchio."""
    model = pinocchio_arm(getattr(arms, name))
    moving = Moving(SimpleNamespace(name=name, model=model, data=model.createData()))
    kernels = programs_times.compile_c(moving.ours, programs_times.singles(moving))
    if kernels:
        yield from programs_times.bound("S7", moving, kernels, "cc", 3.0)


def pinocchio_arm(arm: arms.Arm):
    """Return Pinocchio's model of an arm of revolute joints."""
    import pinocchio as pin

    model = pin.Model()
    for k, joint in enumerate(arm.model().joints):
        model.addJoint(k, pin.JointModelRZ(), pin.SE3(joint.R, joint.p), joint.name)
        inertia = pin.Inertia(joint.inertia.mass, joint.inertia.com, joint.inertia.tensor)
        model.appendBodyToJoint(k + 1, inertia, pin.SE3.Identity())
    return model


def sparse(name: str) -> Iterator[Comparison]:
    """Compare numeric factorization with sparse direct solvers that eliminate the last row first.

    SciPy offers no refactorization: SuperLU analyses the pattern again. CHOLMOD has no wheel.
    """
    import qdldl
    from scipy.sparse.linalg import splu

    tree = LARGE_TREES[name]()
    packed = growth.dominant(tree, np.random.default_rng(0))
    H, upper = sparse_matrix(tree, packed)
    natural = {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    ours = Call(partial(Factor(tree, layout="packed").refactor, packed))
    for peer, theirs in (
        ("QDLDL", partial(qdldl.Solver(upper, upper=True).update, upper, upper=True)),
        ("SuperLU", partial(splu, H, **natural)),
    ):
        yield Comparison("S10", name, "factor", peer, ours, Call(theirs), 5.0)


def sparse_matrix(tree: Tree, packed: np.ndarray) -> tuple:
    """Return H with rows and columns in reverse, which makes no fill, and its upper triangle."""
    from scipy.sparse import csc_matrix, triu

    lower = csc_matrix((packed, (tree.rows, tree.columns)), shape=(tree.n, tree.n))
    H = csc_matrix((lower + triu(lower.T, 1))[::-1][:, ::-1])
    return H, csc_matrix(triu(H))


def results() -> Iterator[list[Result]]:
    """Yield the results of every target, model by model."""
    for robot in ROBOTS:
        yield [comparison.measure() for comparison in robot_times.case_comparisons(case(robot))]
        yield [comparison.measure() for comparison in framework_comparisons(robot)]
    for trees, comparisons in ((SMALL_TREES, mujoco), (LARGE_TREES, sparse)):
        for name in trees:
            yield [comparison.measure() for comparison in comparisons(name)]
    yield [comparison.measure() for comparison in chain_of("SSRMS")]
    for name in ARMS:
        yield [comparison.measure() for comparison in arm_of(name)]
    for family, m in mlcp_times.COLD:
        yield [comparison.measure() for comparison in mlcp_times.family_comparisons(family, m)]
    for name in loops_times.NAMES:
        found = [*loops_times.closing(name), *loops_times.differentiating(name)]
        yield [comparison.measure() for comparison in found]
    for family in growth.FAMILIES:
        yield [growth.steadiness(growth.growth(family))]


MODELS = (
    1
    + len(ARMS)
    + 2 * len(ROBOTS)
    + len(SMALL_TREES)
    + len(LARGE_TREES)
    + len(mlcp_times.COLD)
    + len(loops_times.NAMES)
    + len(growth.FAMILIES)
)
