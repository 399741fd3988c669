"""Measure times in turns with peers: the timer, the scaling study, the comparisons of `treefactor bench`."""

from .timing import (
    FEWEST,
    GOALS,
    PATIENCE,
    RUN,
    SUBJECTS,
    TURNS,
    Call,
    Comparison,
    Duel,
    Result,
    outcome,
    times_in_turns,
)

__all__ = [
    "FEWEST",
    "GOALS",
    "PATIENCE",
    "RUN",
    "SUBJECTS",
    "TURNS",
    "Call",
    "Comparison",
    "Duel",
    "Result",
    "outcome",
    "times_in_turns",
]
