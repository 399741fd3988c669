"""Time two versions of one script in turns, and print how many times faster the first one is."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from time import process_time

from treefactor import bench


def compare(name: str, ours: Callable, theirs: Callable, seconds: float) -> float:
    """Print the processor times of both versions and quartiles of their ratio; return the median."""
    calls, measured = (bench.Call(ours), bench.Call(theirs)), {"clock": process_time, "patience": seconds}
    result = bench.Comparison("whole script", name, "script", "Pinocchio", *calls, **measured).measure()
    print(f"treefactor  {1e3 * result.ours:9.3f} ms")
    print(f"Pinocchio   {1e3 * result.theirs:9.3f} ms")
    print(f"ratio       {result.ratio:9.2f}    (quartiles {result.low:.2f} to {result.high:.2f})")
    return result.ratio


def seconds(description: str) -> float:
    """Return how long to measure, from the command line of an example."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long to measure, by default 4")
    return parser.parse_args().seconds
