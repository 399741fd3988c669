"""Measure times in turns with peers: the timer, the scaling study, the comparisons of `treefactor bench`."""

from .timing import (
    BUSY,
    FEWEST,
    GOALS,
    PATIENCE,
    RUN,
    SUBJECTS,
    TURNS,
    Call,
    Comparison,
    Result,
    busy,
    outcome,
    times_in_turns,
)

__all__ = [
    "BUSY",
    "FEWEST",
    "GOALS",
    "PATIENCE",
    "RUN",
    "SUBJECTS",
    "TURNS",
    "Call",
    "Comparison",
    "Result",
    "busy",
    "outcome",
    "times_in_turns",
]
