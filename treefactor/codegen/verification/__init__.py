"""Verify programs: compare every named intermediate with matrix algorithms on numbers."""

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
