"""Measure times in turns with a peer's.

Machines drift by tens of per cent while something is timed, so only ratios of neighbouring runs count: of
each comparison the median ratio is reported, and its quartiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from time import perf_counter, process_time
from timeit import Timer

import numpy as np

RUN = 1e-3  # seconds of one run, or one call; shorter than what a scheduler gives to others
CLOCK_STEP = 1e-8  # seconds; clocks of virtual machines sometimes stand still for a short call
TURNS = 25
PATIENCE = 4.0  # seconds
FEWEST = 5
PASSES = 12  # of warming up: memory that a virtual machine has just handed out is slow for about as many
WARMING = 1 / 40  # of the patience, at most, for warming up
BUSY = 0.15  # of the median ratio between the quartiles; about 0.06 on an idle machine
GOALS = ("target", "goal", "most", "reached")  # of a result, for this project's own use
SUBJECTS = {  # of the targets in words; other targets are words already
    "S1": "factor, one matrix",
    "S2": "solve, one matrix",
    "S3": "packed rows, one matrix",
    "S4": "batches of dense matrices",
    "S5": "batches in the caches",
    "S6": "dynamics",
    "S7": "compiled programs",
    "S8": "threads",
    "S9": "growth with size",
    "S10": "sparse direct solvers",
    "A2": "contacts of a robot",
    "A3": "contacts of spheres",
    "A4": "fewer contacts",
    "A5": "warm starts",
    "A7": "dependent rows",
    "A8": "contradictory rows",
}


@dataclass(frozen=True)
class Call:
    """A function, and the number of items that one call processes.

    Notes
    -----
    Immutable.
    """

    run: Callable[[], object]
    items: float = 1.0


@dataclass(frozen=True)
class Comparison:
    """Declare what is timed in turns with what; nothing is prepared before it is measured.

    Attributes
    ----------
    target : str
        Name of the target, a key of ``SUBJECTS`` such as "S1" or words.
    model, what, peer : str
    ours, theirs : Call, or callable
        A callable prepares and returns the call.
    goal : float or None
        How many times faster it should be than the peer.
    note : str, or callable
        What is known of the peer's result; a callable computes it.
    clock : callable
        Returns seconds.
    patience : float
        Seconds; what takes longer gets fewer turns, but ``FEWEST``.
    most : float or None
        Seconds that one item should take at most; a goal where no peer does the same.
    context : callable or None
        Returns the context manager in which calls are prepared and timed, such as a limit of threads.

    Notes
    -----
    Immutable.
    """

    target: str
    model: str
    what: str
    peer: str
    ours: Call | Callable[[], Call]
    theirs: Call | Callable[[], Call]
    goal: float | None = None
    note: str | Callable[[], str] = ""
    clock: Callable[[], float] = perf_counter
    patience: float = PATIENCE
    most: float | None = None
    context: Callable[[], AbstractContextManager] | None = None

    def measure(self) -> Result:
        """Prepare both calls, and measure them in turns."""
        with (self.context or nullcontext)():
            calls = [call if isinstance(call, Call) else call() for call in (self.ours, self.theirs)]
            ours, theirs = times_in_turns(calls, self.clock, self.patience).T
            note = self.note if isinstance(self.note, str) else self.note()
        result = outcome(self.target, self.model, self.what, self.peer, ours, theirs, self.goal)
        return replace(result, note=note, most=self.most)


@dataclass(frozen=True)
class Result:
    """The result of a comparison.

    Attributes
    ----------
    target, model, what, peer : str
    ours, theirs : float
        Median seconds per item.
    ratio, low, high : float
        Median and quartiles of how many times faster than the peer.
    goal : float or None
    note : str
    most : float or None
        Seconds that one item should take at most.

    Notes
    -----
    Immutable.
    """

    target: str
    model: str
    what: str
    peer: str
    ours: float
    theirs: float
    ratio: float
    low: float
    high: float
    goal: float | None = None
    note: str = ""
    most: float | None = None

    @property
    def subject(self) -> str:
        """The target in words."""
        return SUBJECTS.get(self.target, self.target)

    @property
    def spread(self) -> float:
        """Distance between the quartiles, as a share of the median ratio."""
        return (self.high - self.low) / self.ratio

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.most is not None:
            return self.ours <= self.most
        return None if self.goal is None else self.ratio >= self.goal

    def as_dict(self) -> dict:
        """Return all values, for JSON."""
        return {**asdict(self), "reached": self.reached}


def outcome(
    target: str, model: str, what: str, peer: str, ours: np.ndarray, theirs: np.ndarray, goal: float | None
) -> Result:
    """Return medians and quartiles of times taken in turns."""
    low, ratio, high = map(float, np.quantile(theirs / ours, (0.25, 0.5, 0.75)))
    times = float(np.median(ours)), float(np.median(theirs))
    return Result(target, model, what, peer, *times, ratio, low, high, goal)


def times_in_turns(
    calls: Sequence[Call], clock: Callable[[], float] = perf_counter, patience: float = PATIENCE
) -> np.ndarray:
    """Return seconds per item of every call, taken in turns: an array (turns, calls)."""
    timers = [Timer(call.run, timer=clock) for call in calls]
    once = [_warm(timer, WARMING * patience) for timer in timers]
    counts = [max(1, int(RUN / seconds)) for seconds in once]
    turn = sum(count * seconds for count, seconds in zip(counts, once, strict=True))
    turns = min(TURNS, max(FEWEST, int(patience / turn)))
    return np.array(
        [
            [
                _seconds(timer, count) / (count * call.items)
                for timer, count, call in zip(timers, counts, calls, strict=True)
            ]
            for _ in range(turns)
        ]
    )


def median_times(
    ways: Mapping[str, Call | Callable[[], object]],
    clock: Callable[[], float] = process_time,
    patience: float = PATIENCE,
) -> dict[str, float]:
    """Return median seconds per item of each way, taken in turns; a bare function processes one item."""
    calls = [way if isinstance(way, Call) else Call(way) for way in ways.values()]
    times = np.median(times_in_turns(calls, clock, patience), axis=0)
    return dict(zip(ways, times.tolist(), strict=True))


def _warm(timer: Timer, seconds: float) -> float:
    """Call ``PASSES`` times, or until `seconds` have passed; return the seconds of the last call."""
    timer.timeit(1)  # the first call also does work that is done only once
    spent = last = _seconds(timer)
    for _ in range(PASSES - 2):
        if spent > seconds:
            break
        last = _seconds(timer)
        spent += last
    return last


def _seconds(timer: Timer, count: int = 1) -> float:
    """Return the seconds of `count` calls, at least ``CLOCK_STEP``."""
    return max(timer.timeit(count), CLOCK_STEP)


def busy(results: Sequence[Result]) -> bool:
    """Return whether the machine did other work: half of the results spread by more than ``BUSY``."""
    return bool(results) and float(np.median([one.spread for one in results])) > BUSY
