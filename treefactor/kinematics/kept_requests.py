"""Keep the compiled requests of a model: those of its frames, and of frames placed on its bodies."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np

from .._util.validation import as_vector
from ..model.frames import Frame, frame_of, frame_of_joint
from ..model.joints import _rotation
from ..model.model import Model
from ._bound_request import code_of, key_of, key_of_placed
from ._request import Request
from .plans import frame_on, items_of, reference_name, request_of, turn_of

MOST_KEPT = 256  # frames, and lists of them, whose compiled requests a model keeps
_changing = Lock()


def compiled_request(model: Model, kind: int, frame, reference, option: int) -> Request:
    """Return the compiled request of results of frames, and keep it; the model forgets the oldest of many."""
    name = reference_name(reference)
    code = code_of(kind, name, option)

    def compiled(one) -> Request:
        return request_of(model, items_of(model, kind, one, name, option))

    def moved_from_its_joint() -> Request:
        own = frame_of(model, frame)
        of_joint = _kept(model, (None, own.joint), code, lambda: compiled(frame_of_joint(model, own.joint)))
        return moved(model, of_joint, own)

    make = moved_from_its_joint if isinstance(frame, Frame) else lambda: compiled(frame)
    return _kept(model, key_of(frame), code, make)


def _kept(model: Model, key, code: int, compiled: Callable[[], Request]) -> Request:
    """Return the request that a model keeps by a key, if there is one, and a code; compile a new one."""
    request = None if key is None else model._requests.get(key, {}).get(code)
    if request is None:
        request = compiled()
        if key is not None:
            with _changing:
                _forget_oldest(model._requests, key)
                model._requests.setdefault(key, {})[code] = request
    return request


def moved(model: Model, request: Request, frame: Frame) -> Request:
    """Return the request of a joint's frame for another frame on the same joint."""
    axes, outputs = model._requests[None].axes[frame.joint], request.outputs.copy()
    R = axes @ frame.R
    outputs["R"], outputs["p"], outputs["turn"] = R.T.ravel(), axes @ frame.p, turn_of(R)
    return request.with_outputs(outputs)


def placed_request(model: Model, kind: int, body, reference: str, option: int, R, p) -> Request:
    """Return the compiled request of a frame placed at R, p on a body, and keep it by their bytes."""
    key = key_of_placed(kind, reference, body, R, p) or (
        *(kind, reference, type(body), body),
        *(_contents(R), _contents(p)),
    )
    try:
        found = model._requests.get(key)
    except TypeError:  # lists are not hashed
        key, found = None, None
    if found is None:
        found = _place(model, kind, body, reference, option, R, p)
        if key is not None:
            keep_request(model, key, found)
    return found


def keep_request(model: Model, key, found) -> None:
    """Keep what was compiled for a model; it forgets the oldest of many."""
    with _changing:
        _forget_oldest(model._requests, key)
        model._requests[key] = found


def _contents(x):
    """Return what tells an array from others, or the argument itself."""
    return (x.dtype.char, x.shape, x.tobytes()) if type(x) is np.ndarray else x


def _place(model: Model, kind: int, body, reference: str, option: int, R, p) -> Request:
    """Return the request of a body, with a frame placed at R, p instead of that of the body."""
    frame = frame_on(model, body, None if R is None else _rotation(R, "R"), as_vector(p, 3, "p"))
    return moved(model, compiled_request(model, kind, body, reference, option), frame)


def _forget_oldest(requests: dict, key) -> None:
    """Delete the oldest requests where a new frame needs their place, but not the tables."""
    while key not in requests and len(requests) >= MOST_KEPT:
        del requests[next(one for one in requests if one is not None)]
