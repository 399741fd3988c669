"""Compile the functions of kinematics, most of which `treefactor.quantities.kinematics` declares."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from .._functions.general_path import forget_oldest
from ..model.frames import Frame, body_number, frame_of, frame_of_joint
from ..model.model import Model
from ._request import Request
from .plans import item_of, item_of_jacobians, item_of_joints, items_of_masses, request_of

_changing = Lock()


def of_frames(
    model: Model,
    kind: str,
    frame,
    reference: str = "LOCAL",
    classical: bool = False,
    layout: str = "dense",
    placement: bool = False,
    gather: type | None = None,
) -> Request:
    """Return the request of results of a frame, or of a list of frames."""

    def compiled(one) -> Request:
        items = [item_of(model, kind, one, reference, layout, classical)]
        if placement:
            items.append(item_of(model, "frame_placement", one, reference))
        return request_of(model, items, gather)

    if not isinstance(frame, Frame):
        return compiled(frame)
    own = frame_of(model, frame)
    # Frames on one joint differ in their places only
    key = kind, own.joint, reference, classical, layout, placement
    return moved(model, kept(model, key, lambda: compiled(frame_of_joint(model, own.joint))), own)


def moved(model: Model, request: Request, frame: Frame) -> Request:
    """Return the request of a joint's frame for another frame on the same joint."""
    axes = model._requests[None].axes_of(frame.joint)
    return request.moved((axes @ frame.R).T.ravel(), axes @ frame.p)


def joint_jacobian(model: Model, name: str, joint, reference: str) -> Request:
    """Return the request of the Jacobian of a joint's own frame."""
    return of_frames(
        model, "frame_jacobian", frame_of_joint(model, body_number(model, joint, "joint")), reference
    )


def joint_placements(model: Model, name: str) -> Request:
    """Return the request of the placements of all joints."""
    return request_of(model, [item_of_joints(model)])


def joint_jacobians(model: Model, name: str) -> Request:
    """Return the request of the columns of all joints."""
    return request_of(model, [item_of_jacobians(model)])


def of_masses(model: Model, kind: str, root=None, v=None, a=None, gather=None) -> Request:
    """Return the request of a result of masses; of a centre of mass also of its motion, if v and a are."""
    if a is not None and v is None:
        raise TypeError("v is needed for accelerations of a centre of mass, got None")
    order = 2 if a is not None else 1 if v is not None else 0
    return request_of(model, items_of_masses(model, kind, -1 if root is None else root, order), gather)


def kept(model: Model, key, compiled: Callable[[], Request]) -> Request:
    """Return the request that a model keeps by a key; compile a new one, and forget the oldest of many."""
    request = model._requests.get(key)
    if request is None:
        request = compiled()
        keep(model, key, request)
    return request


def keep(model: Model, key, compiled: object) -> None:
    """Let a model keep what was compiled for it by a key; it forgets the oldest of many."""
    with _changing:
        if key not in model._requests:
            forget_oldest(model._requests)
        model._requests[key] = compiled
