"""Measure a gradient in a process of its own; every contestant of a comparison runs this."""

import sys
import time

import numpy as np

ENOUGH = 0.3  # s of processor time per turn


def serve(prepare) -> None:
    """Compute the gradient of a problem, then print its processor time once per line of the standard input.

    The last two arguments of the process are the .npz files of the problem and of the answer.

    Parameters
    ----------
    prepare : callable
        Of a dict of arrays; returns two functions without arguments: one returns the accelerations of the
        problem's states, the other compiles and returns the function that computes costs and gradient.
    """
    with np.load(sys.argv[-2]) as file:
        problem = dict(file)
    accelerations, build = prepare(problem)
    a = np.asarray(accelerations())
    start = time.process_time()
    gradient = build()
    compiled = time.process_time() - start
    costs, by_x = gradient()
    np.savez(sys.argv[-1], accelerations=a, compiled=compiled, costs=costs, gradient=by_x)
    print("seconds", seconds(gradient), flush=True)  # a turn to warm up
    for _ in sys.stdin:
        print("seconds", seconds(gradient), flush=True)


def seconds(function) -> float:
    """Return the median processor time of calls that last for `ENOUGH` together."""
    spent: list[float] = []
    while sum(spent) < ENOUGH:
        start = time.process_time()
        function()
        spent.append(time.process_time() - start)
    return float(np.median(spent))
