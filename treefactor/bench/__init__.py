"""Measure times in turns with peers: the timer, the registry of comparisons, the scaling study."""

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
    median_times,
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
    "median_times",
    "outcome",
    "times_in_turns",
]
