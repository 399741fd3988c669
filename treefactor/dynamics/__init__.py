"""Compute dynamics: CRBA, RNEA, ABA and forward dynamics of a model, and inertia matrices of chains."""

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
]
