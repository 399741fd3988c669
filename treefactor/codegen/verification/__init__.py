"""Verification of programs: every named intermediate against matrix algorithms on numbers."""

from .verification import (
    CLOSED,
    OPEN,
    TOLERANCE,
    Verdict,
    Verifiable,
    compare,
    verifiable,
    verify,
)

__all__ = [
    "CLOSED",
    "OPEN",
    "TOLERANCE",
    "Verdict",
    "Verifiable",
    "compare",
    "verifiable",
    "verify",
]
