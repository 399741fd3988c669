"""Compute dynamics and rollouts of a model: CRBA, RNEA, ABA, forward dynamics; inertia matrices of chains."""

from . import bodies  # noqa: F401  # registers the compiler behind Model.bodies
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

__all__ = [
    "aba",
    "base_force",
    "bias",
    "bind",
    "crba",
    "forward_dynamics",
    "h_times",
    "joint_forces",
    "rnea",
    "rollout",
    "step",
]
