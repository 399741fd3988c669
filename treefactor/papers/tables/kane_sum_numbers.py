"""Compare the matrices and forces of the Kane-sum paper's methods with other engines and dense sums."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from ...dynamics import bias, crba
from ...dynamics import chain_on_scalars as composite
from ...dynamics.chain import chain_forces, chain_inertia
from ...model.arms import general_inertia
from ...model.joints import Inertia, Joint
from ...model.model import Model
from ..textbook import kane_sum, kosynka, stepanenko
from .table import Identity, PaperRow, Table

PAPER = "Kane-sum: recursive inertia matrix of a chain of bodies"
EXACT = Identity(1e-11)
MATRICES = {  # functions of axis, r, mass, c, inertia and prismatic
    "recursion (12) to (16), (20)": kane_sum.inertia,
    "kosynka": kosynka.inertia,
    "Stepanenko": stepanenko.inertia,
    "ours, on scalars": composite.inertia,
    "chain_inertia": chain_inertia,
}
SLIDING: dict[str, tuple[int, ...]] = {  # numbers of prismatic joints, from 1
    "one joint": (),
    "two revolute joints": (),
    "six revolute joints": (),
    "six joints, 2, 3 and 6 prismatic": (2, 3, 6),
    "five joints, 1 and 4 prismatic": (1, 4),
}
NUMBER = {"one": 1, "two": 2, "five": 5, "six": 6}

Chain = tuple[np.ndarray, ...]  # axis, r, mass, c, inertia, prismatic


def numbers() -> Table:
    """Compare A and b by every method with (9) on matrices and with other engines."""
    rows = [row for case in SLIDING for row in (*matrices(case), *forces(case))]
    note = (
        "Random chains of bodies without symmetry; largest deviations over the largest entry. A: from (9) on "
        "matrices of partial velocities without any recursion, from our crba for trees, which works in "
        "another frame, and from Pinocchio's where it is installed, on a model of its own. b: from the "
        "powers of the loads, in motion with our bias forces of trees. Prismatic joints use (12a) and (12b)."
    )
    return Table(PAPER, "Matrices and forces", note, rows)


def chain(case: str) -> Chain:
    """Return a random chain of the bodies of a case."""
    n = NUMBER[case.split()[0]]
    rng = np.random.default_rng(n)
    axis, r = rng.normal(size=(2, n, 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    bodies = [general_inertia(rng) for _ in range(n)]
    mass, d = np.array([body.mass for body in bodies]), np.array([body.com for body in bodies])
    spread = np.array([m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(mass, d, strict=True)])
    tensors = np.array([body.tensor for body in bodies]) + spread
    return axis, r, mass, mass[:, None] * d, tensors, np.isin(np.arange(1, n + 1), SLIDING[case])


def matrices(case: str) -> list[PaperRow]:
    """Compare A by every method with that of others, and return the largest deviation."""
    arrays = chain(case)
    model = tree_model(arrays)
    others = [by_matrices(arrays), crba(model, np.zeros(model.nv))]
    if find_spec("pinocchio"):
        others.append(by_pinocchio(arrays))
    return [
        PaperRow(case, f"A by {name}", max(apart(A, other) for other in others), EXACT)
        for name, A in ((name, method(*arrays)) for name, method in MATRICES.items())
    ]


def forces(case: str) -> list[PaperRow]:
    """Compare b with powers of the loads, and with bias forces of our tree."""
    arrays = chain(case)
    axis, r, prismatic = arrays[0], arrays[1], arrays[5]
    rng, model = np.random.default_rng(len(axis)), tree_model(arrays)
    force, moment = rng.normal(size=(2, *axis.shape))
    torque, rate = rng.normal(size=(2, len(axis)))
    loaded = torque + sum(
        T.T @ f + R.T @ m for (T, R), f, m in zip(velocities(arrays), force, moment, strict=True)
    )
    printed = kane_sum.forces(axis, r, force, moment, torque, prismatic)
    moving = loaded - bias(model, np.zeros(model.nv), rate)
    loads = (*arrays[:5], rate, force, moment, torque, prismatic)
    return [
        PaperRow(case, "b by (17) to (21)", apart(printed, loaded), EXACT),
        PaperRow(case, "b in motion, ours on scalars", apart(composite.forces(*loads), moving), EXACT),
        PaperRow(case, "b in motion, chain_forces", apart(chain_forces(*loads), moving), EXACT),
    ]


def velocities(arrays: Chain) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return T_j and R_j of every body: column i is a_i x r_ij and a_i, or a_i and 0 if joint i slides."""
    axis, r, prismatic = arrays[0], arrays[1], arrays[5]
    origin, n = np.cumsum(r, axis=0), len(axis)
    partial = []
    for j in range(n):
        inboard = (np.arange(n) <= j)[:, None]
        turning = np.where(prismatic[:, None], 0.0, axis) * inboard
        moving = np.where(prismatic[:, None], axis, np.cross(axis, origin[j] - origin)) * inboard
        partial.append((moving.T, turning.T))
    return partial


def by_matrices(arrays: Chain) -> np.ndarray:
    """Return A by (9): products of whole matrices, body by body."""
    A = np.zeros((len(arrays[0]),) * 2)
    for (T, R), m, c, I in zip(velocities(arrays), *arrays[2:5], strict=True):
        across = np.cross(np.eye(3), c)
        A += m * T.T @ T + T.T @ across.T @ R + R.T @ across @ T + R.T @ I @ R
    return A


def tree_model(arrays: Chain) -> Model:
    """Return our model of a chain, whose frames are parallel at position 0."""
    joints = []
    for k, (axis, r, slides, (mass, com, tensor)) in enumerate(
        zip(arrays[0], arrays[1], arrays[5], bodies(arrays), strict=True)
    ):
        kind = "prismatic" if slides else "revolute"
        joints.append(Joint(f"joint{k}", kind, k - 1, p=r, axis=axis, inertia=Inertia(mass, com, tensor)))
    return Model(joints, gravity=(0, 0, 0))


def by_pinocchio(arrays: Chain) -> np.ndarray:
    """Return A of a model of Pinocchio's."""
    import pinocchio as pin

    model = pin.Model()
    for k, (axis, r, slides, body) in enumerate(
        zip(arrays[0], arrays[1], arrays[5], bodies(arrays), strict=True)
    ):
        joint = (pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned)(axis)
        model.addJoint(k, joint, pin.SE3(np.eye(3), r), f"joint{k}")
        model.appendBodyToJoint(k + 1, pin.Inertia(*body), pin.SE3.Identity())
    A = pin.crba(model, model.createData(), np.zeros(model.nq))
    return np.triu(A) + np.triu(A, 1).T


def bodies(arrays: Chain) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Return mass, centre of mass and tensor about it of all bodies."""
    centred = []
    for m, c, I in zip(*arrays[2:5], strict=True):
        d = c / m
        centred.append((float(m), d, I - m * (d @ d * np.eye(3) - np.outer(d, d))))
    return centred


def apart(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest deviation over the largest expected entry."""
    return float(np.abs(np.asarray(actual, dtype=float) - expected).max() / np.abs(expected).max())
