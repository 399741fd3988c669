"""Compute dynamics and rollouts of a model: CRBA, RNEA, ABA, forward dynamics; inertia matrices of chains."""

from ..quantities.functions import (
    aba,
    base_force,
    bias,
    coriolis_matrix,
    crba,
    forward_dynamics,
    generalized_gravity,
    h_times,
    inverse_inertia,
    joint_forces,
    kinetic_energy,
    mechanical_energy,
    potential_energy,
    rnea,
    static_torque,
)
from . import bodies  # noqa: F401  # registers the compiler behind Model.bodies
from .recursions import bind
from .rollouts import rollout, step

__all__ = [
    "aba",
    "base_force",
    "bias",
    "bind",
    "coriolis_matrix",
    "crba",
    "forward_dynamics",
    "generalized_gravity",
    "h_times",
    "inverse_inertia",
    "joint_forces",
    "kinetic_energy",
    "mechanical_energy",
    "potential_energy",
    "rnea",
    "rollout",
    "static_torque",
    "step",
]
