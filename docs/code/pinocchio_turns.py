"""Time functions in turns with those of Pinocchio, written out as scripts write them.

Both sides are source code: a call such as ``tf.rnea(robot, q, v, a)``, and simple statements for Pinocchio.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import process_time
from typing import Any

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor import bench
from treefactor.bench.case import Case

CALL, BOUND, BATCH = WAYS = "one call", "bound call", "batch of 1024"
PATIENCE = 0.3  # seconds for each comparison; batches in Python loops are slow


def turns(
    how: str, case: Case, what: str, ours: Callable, peer: Callable, count: int = 1
) -> bench.Comparison:
    """Compare a function with Pinocchio's, each called for `count` configurations."""
    calls = bench.Call(ours, count), bench.Call(peer, count)
    return bench.Comparison(how, case.name, what, "Pinocchio", *calls, clock=process_time, patience=PATIENCE)


def rows(
    case: Case,
    what: str,
    ours: str,
    theirs: str,
    arrays: Mapping[str, Sequence],
    ways: Sequence[str] = WAYS,
    out: bool = True,
    parallel: Callable[[], object] | None = None,
    **names: Any,
) -> Iterator[bench.Comparison]:
    """Yield the comparisons of a function in every way that it can be called.

    Parameters
    ----------
    case : Case
        Its models are `robot`, `model` and `data` in the source code.
    what : str
        Name of the row.
    ours : str
        One call.
    theirs : str
        Simple statements, separated by semicolons.
    arrays : mapping of str to sequence
        What differs between the configurations of the batch.
    ways : sequence of str
    out : bool
        Whether our function takes ``out=``.
    parallel : callable, optional
        Does the whole batch for Pinocchio, in place of a loop.
    names : object
        Other names in the source code.
    """
    same = {"tf": tf, "pin": pin, "np": np, "model": case.model, "data": case.data, **names}
    same.setdefault("robot", case.ours)
    first = {name: array[0] for name, array in arrays.items()}
    one = written(theirs, same, first)
    if CALL in ways:
        yield turns(CALL, case, what, written(ours, same, first), one)
    results = eval(ours, same | dict(arrays)) if out else None
    if BOUND in ways:
        function, _, arguments = ours.partition("(")
        result = (
            tuple(np.array(x[0]) for x in results) if isinstance(results, tuple) else np.array(results[0])
        )
        bound = eval(f"tf.bind({function}, {arguments[:-1]}, out=out)", same | first | {"out": result})
        yield turns(BOUND, case, what, written("bound()", {"bound": bound}), one)
    if BATCH in ways:
        whole = written(f"{ours[:-1]}, out=out)" if out else ours, same, {**arrays, "out": results})
        read = [name for name in arrays if re.search(rf"\b{name}\b", theirs)]
        loop = f"for {', '.join(read)}, in zip({', '.join(f'each_{name}' for name in read)}): {theirs}"
        each = {f"each_{name}": arrays[name] for name in read}
        count = len(next(iter(arrays.values())))
        yield turns(BATCH, case, what, whole, parallel or written(loop, same, each), count)


def written(
    source: str, names: Mapping[str, Any], variables: Mapping[str, Any] | None = None
) -> Callable[[], None]:
    """Return a function with that source code, global names and local variables."""
    local = variables or {}
    scope = dict(names) | dict(local)
    exec(f"def run({', '.join(f'{name}={name}' for name in local)}):\n    {source}", scope)
    return scope["run"]
