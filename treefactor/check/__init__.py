"""Check that every engine computes the same H and q̈, or name the reason for the difference.

``run`` compares engines on robots; ``compare`` and ``compare_mimic`` measure the deviations, ``explain`` and
``differences`` find their causes. ``isolated`` runs engines in other processes, ``selfcheck`` needs one
engine.
"""

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
    "DISAGREES",
    "ENGINES",
    "EXPLAINED",
    "GOOD",
    "READ_MJCF",
    "Detail",
    "Row",
    "SelfCheck",
    "check",
    "has_pinocchio",
    "self_check",
]
