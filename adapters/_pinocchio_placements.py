"""Find bodies and joints that Pinocchio's MJCF reader places differently from MuJoCo, as model changes.

Both models are compared in Pinocchio's neutral configuration: poses of bodies relative to their parent body,
and points on the joint axes in the axes of the body that the joint moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pinocchio as pin

from ..tolerances import SAME_PLACEMENT
from ._pinocchio_conventions import from_pinocchio

POSITION = "another position of a joint"  # Pinocchio ignores positions from default classes
PLACEMENT = "another placement of a body"  # Pinocchio puts a first body that no joint moves at the origin


def placement_changes(model: pin.Model, body) -> dict[str, dict[str, Callable]]:
    """Return positions of joints and placements of bodies of an engine as changes of a model, by cause.

    Parameters
    ----------
    model : pinocchio.Model
        Loaded from an MJCF, whose bodies have frames; left as it is.
    body : ``mujoco_.Body``
    """
    q = pin.neutral(model)
    data = body.forward(*from_pinocchio(body, model, q, np.zeros(model.nv)))
    frames = {0: 0, **dict(_carriers(model, body))}
    poses = {j: _pose(data, body.parts(model.names[j])[0].body if j else 0) for j in frames}
    changes: dict[str, dict[str, Callable]] = {POSITION: {}, PLACEMENT: {}}
    for j, frame in list(frames.items())[1:]:
        parts, name = body.parts(model.names[j]), model.frames[frame].name
        anchors = [poses[j].actInv(data.xanchor[body.joints.index(part)]) for part in parts]
        shifts = [a - S.translation for a, S in zip(anchors, _in_body(model, j, frame), strict=True)]
        if np.abs(shifts).max() > SAME_PLACEMENT:
            changes[POSITION][model.names[j]] = partial(_shift, j=j, frame=frame, shifts=shifts)
        parent = model.parents[j]
        if parent in frames:
            pose = poses[parent].actInv(poses[j])
            own = _placement(model, j, frame, frames[parent])
            if not own.isApprox(pose, SAME_PLACEMENT):
                change = partial(_place, j=j, frame=frame, above=frames[parent], pose=pose)
                changes[PLACEMENT][name] = change
    return {cause: found for cause, found in changes.items() if found}


def _carriers(model: pin.Model, body) -> Iterator[tuple[int, int]]:
    """Return every joint that moves a named body, and the frame of that body."""
    for j in range(1, model.njoints):
        name = body.model.body(body.parts(model.names[j])[0].body).name
        if model.existFrame(name, pin.FrameType.BODY):
            yield j, model.getFrameId(name, pin.FrameType.BODY)


def _pose(data, k: int) -> pin.SE3:
    """Return the world pose of an engine's body."""
    return pin.SE3(data.xmat[k].reshape(3, 3), data.xpos[k])


def _inner(model: pin.Model, j: int) -> list[pin.SE3]:
    """Return the placements of the joints that make up a joint, each in the one before."""
    joint = model.joints[j].extract()
    return list(joint.jointPlacements) if hasattr(joint, "jointPlacements") else [pin.SE3.Identity()]


def _in_body(model: pin.Model, j: int, frame: int) -> list[pin.SE3]:
    """Return the frames of the joints that make up a joint, in the body that they move."""
    found = [model.frames[frame].placement.inverse()]
    for P in _inner(model, j)[:0:-1]:
        found.append(found[-1] * P.inverse())
    return found[::-1]


def _placement(model: pin.Model, j: int, frame: int, above: int) -> pin.SE3:
    """Return the neutral pose of the body that a joint moves, in its parent body."""
    first = _in_body(model, j, frame)[0]
    joint = model.jointPlacements[j] * _inner(model, j)[0]
    return model.frames[above].placement.actInv(joint * first.inverse())


def _place(model: pin.Model, j: int, frame: int, above: int, pose: pin.SE3) -> None:
    """Move the body of a joint to another neutral pose."""
    joint = model.frames[above].placement * pose * _in_body(model, j, frame)[0]
    model.jointPlacements[j] = joint * _inner(model, j)[0].inverse()


def _shift(model: pin.Model, j: int, frame: int, shifts: list[np.ndarray]) -> None:
    """Shift the joints that make up a joint, in the axes of the body that they move; bodies stay."""
    old, inner = _in_body(model, j, frame), _inner(model, j)
    new = [pin.SE3(S.rotation, S.translation + shift) for S, shift in zip(old, shifts, strict=True)]
    first = inner[0]
    model.jointPlacements[j] = model.jointPlacements[j] * first * old[0].actInv(new[0]) * first.inverse()
    for i in range(1, len(new)):
        model.joints[j].extract().jointPlacements[i] = new[i - 1].actInv(new[i])
    D = new[-1].actInv(old[-1])  # from the former frame of the joint to the new one
    model.inertias[j] = D.act(model.inertias[j])
    for other in model.frames:
        if other.parentJoint == j:
            other.placement = D * other.placement
    for child in range(j + 1, model.njoints):
        if model.parents[child] == j:
            model.jointPlacements[child] = D * model.jointPlacements[child]
