"""Cross-validation: the same H and q̈ from every engine, or the named reason for the difference."""

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
    "self_check",
]
