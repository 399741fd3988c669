"""Time `Model.from_urdf` in turns with Pinocchio's reader on all bundled URDFs that both read.

`python docs/code/compare_readers.py` prints ratios of least times, the smallest first and above 1 where
treefactor is faster, and stores nothing.
"""

from __future__ import annotations

import time
import warnings

import pinocchio as pin
from rich.progress import track

import treefactor as tf
from treefactor import robots

TURNS, SECONDS = 9, 0.05  # at least so many turns, and so long


def least_times(path: str) -> tuple[float, float]:
    """Return the least times to read a file, s: of treefactor and of Pinocchio."""
    spent: list[tuple[float, float]] = []
    begin = time.perf_counter()
    while len(spent) < TURNS or time.perf_counter() - begin < SECONDS:
        first = time.perf_counter()
        tf.Model.from_urdf(path)
        middle = time.perf_counter()
        pin.buildModelFromUrdf(path)
        spent.append((middle - first, time.perf_counter() - middle))
    ours, theirs = zip(*spent, strict=True)
    return min(ours), min(theirs)


def main() -> None:
    """Compare both readers on every file."""
    rows, refused = [], []
    for name, path in track(robots.bundled().items(), "timing"):
        try:
            ours, theirs = least_times(str(path))
        except (tf.AdapterError, tf.InvalidModelError, ValueError):
            refused.append(name)
            continue
        rows.append((theirs / ours, name, ours, theirs))
    for ratio, name, ours, theirs in sorted(rows)[:10]:
        print(f"{ratio:5.2f}  {name}: {1e6 * ours:.1f}, {1e6 * theirs:.1f} us")
    print(
        f"{sum(row[0] < 1.0 for row in rows)} of {len(rows)} below 1; not read by both: {', '.join(refused)}"
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what Pinocchio reads differently
    main()
