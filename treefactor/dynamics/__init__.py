"""Compute dynamics and rollouts of a model: CRBA, RNEA, ABA, forward dynamics; inertia matrices of chains."""

from . import bodies  # noqa: F401  # registers the compiler behind Model.bodies
from .energies import kinetic_energy, mechanical_energy, potential_energy
from .matrices import coriolis_matrix, inverse_inertia
from .reactions import base_force, joint_forces
from .recursions import (
    aba,
    bias,
    bind,
    crba,
    forward_dynamics,
    h_times,
    rnea,
)
from .rollouts import rollout, step
from .statics import generalized_gravity, static_torque

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
