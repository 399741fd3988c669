"""Compute placements, velocities, accelerations and Jacobians of frames and joints."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._functions.general_path import named_outputs, require_disjoint
from .._util._explained_calls import explain
from .._util.bindable import register
from .._util.validation import require_apart, require_bindable
from ..model.model import Model
from ._bound_request import BoundRequest
from ._frame_functions import (
    frame_acceleration,
    frame_jacobian,
    frame_jacobian_dot,
    frame_placement,
    frame_velocity,
    joint_jacobian,
    joint_placements,
)
from ._request import Request
from .kept_requests import compiled_request
from .plans import (
    ACCELERATION,
    ALL_JOINTS,
    CLASSICAL,
    JACOBIAN,
    JACOBIAN_DOT,
    OF_JOINT,
    PLACEMENT,
    VELOCITY,
    option_of,
)

REQUESTS = {  # kind of every function, and the argument or arguments that make its option
    frame_placement: (PLACEMENT, lambda given: 0),
    joint_placements: (ALL_JOINTS, lambda given: 0),
    frame_velocity: (VELOCITY, lambda given: 0),
    frame_acceleration: (ACCELERATION, lambda given: CLASSICAL if given["classical"] else 0),
    frame_jacobian: (JACOBIAN, lambda given: option_of(given["layout"], given["placement"])),
    joint_jacobian: (OF_JOINT, lambda given: 0),
    frame_jacobian_dot: (JACOBIAN_DOT, lambda given: option_of(given["layout"], False)),
}


def bind_function(kind: int, option, function, model: Model, given: dict, out) -> BoundRequest:
    """Bind a function that runs a request of a kind; ``option`` returns its option. See `treefactor.bind`."""
    frame = next((given[name] for name in ("frame", "joint") if name in given), given.get("root"))
    if frame is None and "frame" not in given and "joint" not in given:
        frame = -1  # the whole model
    request = compiled_request(model, kind, frame, given.get("reference", "LOCAL"), option(given))
    arrays = {name: given[name] for name in ("q", "v", "a") if given.get(name) is not None}
    return bound(request, model, arrays, out, partial(function, model, **given, out=out))


def bound(
    request: Request, model: Model, arrays: dict[str, np.ndarray], out, general, result=None
) -> BoundRequest:
    """Return a request bound to arrays, one for each result in ``out``; calls return ``result``, or out."""
    for name, array in arrays.items():
        require_bindable(array, (model.nq if name == "q" else model.nv,), name)
    named = named_outputs(out, len(request.shapes))
    for (name, one), shape in zip(named.items(), request.shapes, strict=True):
        require_bindable(one, shape, name)
        require_apart(one, arrays)
    outs = (out,) if len(named) == 1 else tuple(out)
    require_disjoint(outs)
    out = outs[0] if len(outs) == 1 else outs
    q, v, a = (arrays.get(name) for name in ("q", "v", "a"))
    return BoundRequest(request, q, v, a, out, general, result)


def register_requests(requests: dict) -> None:
    """Make `treefactor.bind` accept functions, given with their kinds and what returns their options."""
    for function, (kind, option) in requests.items():
        register(partial(bind_function, kind, option), [function])


register_requests(REQUESTS)
explain(REQUESTS)
