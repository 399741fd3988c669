"""Check that every engine computes the same H and q̈, or name the reason for the difference.

``run`` compares engines on robots; ``compare`` and ``compare_mimic`` measure the deviations, ``explain`` and
``differences`` find their causes. ``derivatives`` and the modules named after it do the same for derivatives.
``isolated`` runs engines in other processes, ``selfcheck`` needs one engine.
"""

from .derivatives import DERIVATIVE_ENGINES, DerivativeRow, check_derivatives
from .run import (
    AGREES,
    CANNOT_LOAD,
    DEFAULT_ENGINES,
    DISAGREES,
    ENGINES,
    EXPLAINED,
    GOOD,
    READ_MJCF,
    Detail,
    Row,
    SelfCheck,
    check,
    has_pinocchio,
    self_check,
)

__all__ = [
    "AGREES",
    "CANNOT_LOAD",
    "DEFAULT_ENGINES",
    "DERIVATIVE_ENGINES",
    "DISAGREES",
    "ENGINES",
    "EXPLAINED",
    "GOOD",
    "READ_MJCF",
    "DerivativeRow",
    "Detail",
    "Row",
    "SelfCheck",
    "check",
    "check_derivatives",
    "has_pinocchio",
    "self_check",
]
