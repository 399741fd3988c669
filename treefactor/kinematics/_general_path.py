"""General path of requests: validate arrays of any form, and compute batches on threads."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._functions.general_path import outputs
from .._util.threads import spread
from .._util.validation import flatten, thread_count
from ..model._states import states
from ..model.model import Model, require_model
from ._request import Request
from .kept_requests import compiled_request

LANES = 8


def general_path(model, kind: int, frame, reference, option, q, v, a, out, num_threads):
    """Compile the request of one result if that is new, and run it."""
    require_model(model)
    return run(model, compiled_request(model, kind, frame, reference, option), q, v, a, out, num_threads)


def run(model: Model, request: Request, q, v=None, a=None, out=None, num_threads: int = 1):
    """Run a request on arrays of any form; raise the error that names the bad one."""
    found = request.run(q, v, a, out, num_threads)
    return _run_validated(model, request, q, v, a, out, num_threads) if found is None else found


def _run_validated(model: Model, request: Request, q, v, a, out, num_threads: int):
    """Validate and convert arrays, and run the request."""
    threads = thread_count(num_threads)
    present = _present(request, q, v, a)
    tails = {"q": (model.nq,), "v": (model.nv,), "a": (model.nv,)}
    arrays, batch = states(present, tails, model)
    rows = [
        flatten(np.ascontiguousarray(arrays[name]), 1) if name in arrays else None for name in ("q", "v", "a")
    ]
    given = outputs(out, [(*batch, *shape) for shape in request.shapes])
    if batch:
        count = math.prod(batch)
        results = _targets(request, given, count, arrays)
        size = sum(math.prod(shape) for shape in request.shapes)
        work = partial(request.batch, count, rows, results)
        spread(work, -(-count // LANES), threads, 4 * (size + len(model.joints)) * count)
    else:
        found = request.run(*(None if x is None else x[0] for x in rows), None, 1)
        results = found if len(request.shapes) > 1 else (found,)
    results = tuple(x.reshape(*batch, *shape) for x, shape in zip(results, request.shapes, strict=True))
    if given is not None:
        for to, result in zip(given, results, strict=True):
            if not np.shares_memory(to, result):
                to[...] = result
        return out
    return results if len(results) > 1 else results[0]


def _targets(request: Request, given, count: int, arrays: dict) -> tuple[np.ndarray, ...]:
    """Return contiguous arrays with one leading axis for the results: those of out where they fit."""
    found = []
    for k, shape in enumerate(request.shapes):
        to = None if given is None else given[k]
        if to is None or not to.flags.carray or any(np.may_share_memory(to, x) for x in arrays.values()):
            to = np.empty((count, *shape))
        found.append(to.reshape(count, *shape))
    return tuple(found)


def _present(request: Request, q, v, a) -> dict:
    """Return the arrays that a request reads, by name."""
    found = {"q": q}
    if request.order > 0:
        if v is None:
            raise TypeError("v is needed for velocities, accelerations and rates of Jacobians, got None")
        found["v"] = v
    if request.order > 1 and a is not None:
        found["a"] = a
    return found
