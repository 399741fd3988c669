"""Wrap treefactor's own recursions as an engine; it is checked against itself where Pinocchio is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import dynamics
from ..model.configuration import integrate, neutral
from ..model.model import Model
from ..tree.tree import Tree
from .robots import Robot, model_of


@dataclass
class Body:
    """Model with the ``close`` method of an engine's body."""

    model: Model

    def close(self) -> None:
        """Do nothing: a model holds nothing outside this process."""


def load(path, floating: bool = False, gravity=None) -> Body:
    """Load a URDF or MJCF; gravity is the model's own."""
    return Body(model_of(Robot(str(path), path, floating)))


def tree(body: Body) -> Tree:
    """Return the tree of the freedoms."""
    return body.model.tree


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau."""
    move, v, tau = rng.normal(size=(3, body.model.nv))
    return integrate(body.model, neutral(body.model), move), v, tau


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute H by the composite-rigid-body algorithm."""
    return dynamics.crba(body.model, q)


def bias(body: Body, q, v) -> np.ndarray:
    """Compute the forces at zero acceleration."""
    return dynamics.bias(body.model, q, v)


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces by the recursive Newton-Euler algorithm."""
    return dynamics.rnea(body.model, q, v, a)


def own_acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute the acceleration by the articulated-body algorithm."""
    return dynamics.aba(body.model, q, v, tau)
