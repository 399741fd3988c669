"""Make sample mechanisms for the recursions in body coordinates, and count what they take."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np

from ..._util.counting import counting
from ..._util.rotations import about
from ...model.arms import general_inertia
from ...model.joints import Joint
from ...model.model import Model
from ...tree.tree import OperationCount, Tree
from ..textbook import body_coordinates as textbook
from ..textbook.body_coordinates import Body

Z = np.array([0.0, 0.0, 1.0])


@cache
def model(tree: Tree) -> Model:
    """Return revolute joints and general inertias at random, one joint for every node."""
    rng = np.random.default_rng(tree.n)
    joints = []
    for k, parent in enumerate(tree.parent.tolist()):
        R = about(0, rng.uniform(1, 2)) @ about(2, rng.uniform(1, 2))
        body = general_inertia(rng)
        joints.append(Joint(f"joint{k}", "revolute", parent, R, rng.normal(size=3), Z, inertia=body))
    return Model(joints)


def configuration(tree: Tree) -> np.ndarray:
    """Return random angles of the sample model."""
    return np.random.default_rng(1).uniform(-3, 3, tree.n)


@cache
def bodies(tree: Tree) -> tuple[Body, ...]:
    """Return the bodies of the sample model at its configuration, in their own coordinates."""
    placed = []
    for joint, angle in zip(model(tree).joints, configuration(tree), strict=True):
        mass, com, tensor = joint.inertia.mass, joint.inertia.com, joint.inertia.tensor
        tensor = tensor + mass * (com @ com * np.eye(3) - np.outer(com, com))  # about the origin
        placed.append(
            Body(
                joint.parent + 1,
                np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]),
                (joint.R @ about(2, angle)).T,
                joint.p,
                mass,
                mass * com,
                tensor[np.triu_indices(3)],
            )
        )
    return tuple(placed)


@cache
def inertia(tree: Tree) -> tuple[OperationCount, np.ndarray]:
    """Run table 6.2; return its operations and H."""
    tally: Counter = Counter()
    H = textbook.composite_rigid_body([body.on_scalars(tally) for body in bodies(tree)])
    return OperationCount(**tally), H.astype(float)


def product(tree: Tree, qdd: np.ndarray) -> tuple[OperationCount, np.ndarray, np.ndarray, np.ndarray]:
    """Run table 6.1; return its operations, tau, and accelerations and forces of the bodies."""
    tally: Counter = Counter()
    chosen = [body.on_scalars(tally) for body in bodies(tree)]
    results = textbook.inverse_dynamics(chosen, counting(qdd, tally))
    tau, a, f = (np.array(values, dtype=object).astype(float) for values in results)
    return OperationCount(**tally), tau, a, f


def motions_from_base(tree: Tree) -> list[np.ndarray]:
    """Return of every body the 6 x 6 matrix that transforms motions of the base to the body."""
    transforms: list[np.ndarray] = []
    for body in bodies(tree):
        X = np.zeros((6, 6))
        X[:3, :3] = X[3:, 3:] = body.E
        X[3:, :3] = -body.E @ np.cross(np.eye(3), body.r)
        transforms.append(X @ transforms[body.parent - 1] if body.parent else X)
    return transforms


def matrix(body: Body) -> np.ndarray:
    """Return the 6 x 6 inertia of a body about its origin, in its axes."""
    tensor = body.tensor[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)
    cross = np.cross(np.eye(3), body.h)  # cross @ x = h cross x
    return np.block([[tensor, cross], [cross.T, body.mass * np.eye(3)]])
