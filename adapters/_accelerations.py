"""Compute trees and accelerations alike for every engine: from its joints, H and bias, by our factor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._util.validation import as_vector
from ..linalg.factorization import factor
from ..tree.tree import Tree


def tree_of(joints: Callable) -> Callable[..., Tree]:
    """Return the ``tree`` of an adapter, made from its function ``joints``."""

    def tree(body) -> Tree:
        """Return the tree of the freedoms in the order of v, named after the joints."""
        engine_joints = joints(body)
        sizes = [joint.v.stop - joint.v.start for joint in engine_joints]
        return Tree.from_joints(
            [joint.parent for joint in engine_joints], sizes, [joint.name for joint in engine_joints]
        )

    tree.__module__ = joints.__module__
    return tree


def accelerator_of(
    mass_matrix: Callable, bias: Callable, tree: Callable, require: Callable | None = None
) -> Callable[..., np.ndarray]:
    """Return the ``forward_dynamics`` of an adapter.

    Parameters
    ----------
    mass_matrix, bias, tree : callable
        The adapter's functions, see `treefactor._util.engine.Engine`.
    require : callable, optional
        Raises AdapterError for a body that has no acceleration.
    """

    def forward_dynamics(body, q, v, tau) -> np.ndarray:
        """Compute q̈ = H^-1 (tau - bias) through treefactor's factor of the engine's H, shape (nv,).

        Parameters
        ----------
        body : Body
        q : array_like, shape (nq,)
        v, tau : array_like, shape (nv,)

        Raises
        ------
        ShapeError, NonFiniteError
            If q, v or tau has another length or is not finite.
        NotPositiveDefiniteError, AdapterError
            If a joint moves nothing that has mass; names the joint.
        """
        tau = as_vector(tau, body.nv, "tau")
        if require is not None:
            require(body)
        return factor(mass_matrix(body, q), tree(body)).solve(tau - bias(body, q, v))

    forward_dynamics.__module__ = mass_matrix.__module__
    return forward_dynamics
