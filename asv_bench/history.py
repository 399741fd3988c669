"""Measure a commit and store its ratios for the pages: `make history`, or `make history COMMIT=<commit>`.

The speed of the machine cancels in ratios, the instruction set does not: only records of the same set are
compared with each other.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import builds
import numpy as np
from rich.console import Console
from rich.progress import track

from treefactor import report

FILE = builds.ROOT / "docs" / "measured" / "history.json"
ROUNDS = 3
TOLERANCE = 0.15  # of a median over robots; less is the spread between machines and days


def main(name: str) -> None:
    """Build and measure a commit, store the record, and print what is slower than in the record before."""
    commit = builds.commit_of(name)
    runs = builds.in_turns({commit: builds.build(commit)}, ROUNDS)
    shown = track(runs, "timing", ROUNDS, console=Console(stderr=True), transient=True)
    records = added(stored(), record(commit, date_of(commit), [results for _, results in shown]))
    report.write_json(FILE, {"records": records})
    for line in (*slower(records), *more_operations(records)):
        print(line)


def stored(file: Path = FILE) -> list[dict]:
    """Return the stored records, the oldest commit first."""
    return json.loads(file.read_text(encoding="utf-8"))["records"] if file.exists() else []


def date_of(commit: str) -> str:
    """Return date and time of a commit."""
    command = ("git", "show", "--no-patch", "--format=%cI", commit)
    return subprocess.run(command, cwd=builds.ROOT, check=True, capture_output=True, text=True).stdout.strip()


def record(commit: str, date: str, runs: Sequence[dict]) -> dict:
    """Return the record of a commit: medians over the runs of how many times faster than Pinocchio."""
    first = runs[0]
    ratios = {
        robot: {what: float(np.median([1.0 / run["shares"][robot][what] for run in runs])) for what in shares}
        for robot, shares in first["shares"].items()
    }
    config = {name: first["config"][name] for name in ("treefactor", "used", "machine")}
    known = {"commit": commit[:8], "date": date, "config": config}
    return {**known, "ratios": ratios, "operations": first["operations"]}


def added(records: Iterable[dict], new: dict) -> list[dict]:
    """Return the records with a new one, which replaces an earlier one of its commit and instruction set."""
    kept = [one for one in records if key(one) != key(new)]
    return sorted((*kept, new), key=lambda one: one["date"])


def key(one: dict) -> tuple[str, str]:
    """Return commit and instruction set of a record."""
    return one["commit"], one["config"]["used"]


def medians(one: dict) -> dict[str, float]:
    """Return the median over the robots of every quantity."""
    whats = dict.fromkeys(what for ratios in one["ratios"].values() for what in ratios)
    return {
        what: float(np.median([ratios[what] for ratios in one["ratios"].values() if what in ratios]))
        for what in whats
    }


def slower(records: Sequence[dict]) -> list[str]:
    """Return quantities whose median fell in the newest record, against the one before of its set."""
    *earlier, newest = records
    before = [one for one in earlier if one["config"]["used"] == newest["config"]["used"]]
    if not before:
        return []
    old, new = medians(before[-1]), medians(newest)
    return [
        f"{what}: {report.ratio(old[what])} times faster than Pinocchio, now {report.ratio(value)}"
        for what, value in new.items()
        if what in old and value < old[what] * (1.0 - TOLERANCE)
    ]


def more_operations(records: Sequence[dict]) -> list[str]:
    """Return programs that take more operations in the newest record than in any before."""
    *earlier, newest = records
    return [
        f"{robot}, program of {name}: {least} operations, now {count}"
        for robot, counts in newest["operations"].items()
        for name, count in counts.items()
        if (
            least := min(
                (one["operations"].get(robot, {}).get(name, count) for one in earlier), default=count
            )
        )
        < count
    ]


if __name__ == "__main__":
    main(*sys.argv[1:])
