"""Constraints on the motion of a model: loops, contacts, joint limits, and time stepping with them."""

from .kinematics import acceleration_bias, jacobian, placement
from .loops import Rows, close, forward_dynamics, loop_rows

__all__ = [
    "Rows",
    "acceleration_bias",
    "close",
    "forward_dynamics",
    "jacobian",
    "loop_rows",
    "placement",
]
