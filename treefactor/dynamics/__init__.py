"""Dynamics of a model (CRBA, RNEA, ABA, forward dynamics) and of chains given in the base frame."""

from . import bodies  # noqa: F401  # gives Model.bodies its compiled form
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
    "bias",
    "bind",
    "crba",
    "forward_dynamics",
    "h_times",
    "rnea",
]
