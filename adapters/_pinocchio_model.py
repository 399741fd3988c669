"""Build our model of a Pinocchio model; q and v are laid out alike, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import pinocchio as pin

from ..exceptions import AdapterError, InvalidModelError, TreefactorError
from ..model.frames import Frame, distinct_names
from ..model.joints import AXES, LIMITED, SIZES, Inertia, Joint, Mimic
from ..model.model import Model
from ..tolerances import NO_TWIST
from ._pinocchio_arguments import require_model

KINDS = {  # kind of a joint by the end of the name of its class in Pinocchio
    **dict.fromkeys(("RX", "RY", "RZ", "RevoluteUnaligned"), "revolute"),
    **dict.fromkeys(("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"), "continuous"),
    **dict.fromkeys(("PX", "PY", "PZ", "PrismaticUnaligned"), "prismatic"),
    **dict.fromkeys(("HX", "HY", "HZ", "HelicalUnaligned"), "helical"),
    "Universal": "universal",
    "Spherical": "spherical",
    "Planar": "planar",
    "Translation": "translation",
    "FreeFlyer": "freeflyer",
}
NO_LIMIT = np.finfo(float).max  # in Pinocchio


@dataclass
class Piece:
    """A joint of ours, placed in the frame of its parent; one of Pinocchio's joints or a part of it."""

    kind: str
    placement: pin.SE3
    axis: np.ndarray | None = None
    pitch: float = 0.0
    mimic: Mimic | None = None  # with the leader's number in Pinocchio's model


def model(pin_model: pin.Model) -> Model:
    """Build our model of a Pinocchio model, with the same q, v, H and forces, entry by entry.

    Parameters
    ----------
    pin_model : pinocchio.Model

    Returns
    -------
    Model
        A composite joint or one of type "SphericalZYX" becomes joints ``joint[0]``, ``joint[1]`` ..., and the
        last carries the body. Inertias that no body has are kept: see `treefactor.Model.faults`.
        ``frames[k]`` is Pinocchio's frame k with its name, type, placement and the name of its parent frame;
        the first is "universe". If its name is empty, or that of an earlier frame of its type, " (frame k)"
        is added.

    Raises
    ------
    AdapterError
        If a joint is of a type that has no equivalent here; names it.
    InvalidModelError
        If a mass is negative, a number is not finite, or a frame's placement is not a rotation and a
        translation; names the joint or the frame.

    Notes
    -----
    The model is a copy and does not follow later changes of ``pin_model``, such as those by ``addFrame``,
    ``addJoint``, ``appendBodyToJoint`` or to ``inertias``, ``armature``, ``gravity`` and ``frames``; nor does
    it know of models that ``buildReducedModel`` makes. Build it again after a change.
    """
    require_model(pin_model, "pin_model")
    bodies = _bodies(pin_model)
    pieces = [_pieces(pin_model, j) for j in range(1, pin_model.njoints)]
    last = [count - 1 for count in accumulate(map(len, pieces), initial=0)]  # the joint that carries body j
    joints: list[Joint] = []
    for j, parts in enumerate(pieces, 1):
        name, carrier = pin_model.names[j], last[pin_model.parents[j]]
        at_q, at_v = pin_model.idx_qs[j], pin_model.idx_vs[j]
        for k, part in enumerate(parts):
            own = {}
            if part.mimic:
                own["mimic"] = replace(part.mimic, leader=last[part.mimic.leader])
            else:
                q, v = (slice(at, at + n) for at, n in zip((at_q, at_v), SIZES[part.kind], strict=True))
                at_q, at_v = q.stop, v.stop
                own["armature"] = np.array(pin_model.armature)[v]
                own["lower"] = _limits(pin_model.lowerPositionLimit[q], part.kind)
                own["upper"] = _limits(pin_model.upperPositionLimit[q], part.kind)
            joints.append(
                Joint(
                    name if len(parts) == 1 else f"{name}[{k}]",
                    part.kind,
                    len(joints) - 1 if k else carrier,
                    part.placement.rotation,
                    part.placement.translation,
                    part.axis,
                    part.pitch,
                    _inertia(pin_model, j) if part is parts[-1] else Inertia(),
                    body=bodies.get(j, "") if part is parts[-1] else "",
                    **own,
                )
            )
    frames = _frames(pin_model, last)
    return Model(joints, pin_model.gravity.linear, pin_model.name, strict=False, frames=frames)


def _frames(pin_model: pin.Model, carriers: list[int]) -> list[Frame]:
    """Return all frames in Pinocchio's order; joint ``carriers[j]`` carries Pinocchio's body j."""
    names = distinct_names(*zip(*((frame.name, frame.type) for frame in pin_model.frames), strict=True))
    return [
        Frame(
            name,
            carriers[frame.parentJoint],
            frame.placement.rotation,
            frame.placement.translation,
            frame.type.name.lower(),
            names[frame.parentFrame] if k else "",
        )
        for k, (name, frame) in enumerate(zip(names, pin_model.frames, strict=True))
    ]


def _bodies(pin_model: pin.Model) -> dict[int, str]:
    """Map each joint to the body whose frame is the joint's; empty if two bodies have one name."""
    names: dict[int, str] = {}
    for frame in pin_model.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint and frame.placement.isIdentity():
            names.setdefault(frame.parentJoint, frame.name)
    return names if len({*names.values()}) == len(names) else {}


def _pieces(pin_model: pin.Model, j: int) -> list[Piece]:
    """Return our joints that make up joint j."""
    joint, placement = pin_model.joints[j], pin_model.jointPlacements[j]
    try:
        if joint.shortname() == "JointModelMimic":
            return [_follower(pin_model, j)]
        return _parts(joint, placement, pin.neutral(pin_model))
    except AdapterError as error:
        name = pin_model.names[j]
        raise AdapterError(f"joint {name!r}: {error}", "pinocchio", joint=name) from None


def _parts(joint, placement: pin.SE3, neutral: np.ndarray) -> list[Piece]:
    """Return a joint, or the joints in a chain that make it up."""
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "Composite":
        whole = joint.extract()
        placed = zip(whole.joints, whole.jointPlacements, strict=True)
        parts = [part for inner, P in placed for part in _parts(inner, P, neutral)]
        parts[0].placement = placement * parts[0].placement
        return parts
    if kind == "SphericalZYX":
        placements = placement, pin.SE3.Identity(), pin.SE3.Identity()
        return [Piece("revolute", P, axis) for P, axis in zip(placements, np.eye(3)[::-1], strict=True)]
    if kind not in KINDS:
        raise AdapterError(f"its type {kind} is not one of {', '.join(KINDS)}, Composite, SphericalZYX")
    if KINDS[kind] not in AXES:
        return [Piece(KINDS[kind], placement)]
    data = joint.createData()
    joint.calc(data, neutral)
    linear, angular = np.hsplit(np.array(data.S).reshape(6, -1).T, 2)
    if kind == "Universal":
        return [Piece("universal", placement, angular)]
    return [_along(KINDS[kind], placement, linear[0], angular[0])]


def _along(kind: str, placement: pin.SE3, linear: np.ndarray, angular: np.ndarray) -> Piece:
    """Return a joint of one freedom that moves the body along a twist."""
    if kind == "prismatic":
        return Piece(kind, placement, linear)
    return Piece(kind, placement, angular, float(linear @ angular) if kind == "helical" else 0.0)


def _follower(pin_model: pin.Model, j: int) -> Piece:
    """Return a joint that follows another one; its twist is found from its motion."""
    joint = pin_model.joints[j].extract()
    ratio, offset = joint.scaling, joint.offset
    if not ratio:
        raise AdapterError("it follows another joint with multiplier 0")
    leader = pin_model.mimicked_joints[list(pin_model.mimicking_joints).index(j)]
    step = np.zeros(pin_model.nv)
    step[pin_model.idx_vs[leader]] = min(1.0, 1.0 / abs(ratio))
    start = pin.neutral(pin_model)
    M = []
    for q in (start, pin.integrate(pin_model, start, step)):
        data = joint.createData()
        joint.calc(data, q)
        M.append(data.M)
    twist = pin.log6(M[0].actInv(M[1])).vector / (
        ratio * step.max()
    )  # exp(S x1) = exp(S x0) exp(S (x1 - x0))
    linear, angular = twist[:3], twist[3:]
    if np.linalg.norm(angular) < NO_TWIST:
        kind = "prismatic"
    else:
        kind = "helical" if np.linalg.norm(linear) > NO_TWIST else "revolute"
    part = _along(kind, pin_model.jointPlacements[j], linear, angular)
    part.mimic = Mimic(leader, ratio, offset)
    return part


def _limits(bounds: np.ndarray, kind: str) -> np.ndarray:
    """Return limits in our form: infinite where the joint has no limit, as for the entries of rotations."""
    free = (np.arange(bounds.size) >= LIMITED.get(kind, bounds.size)) | (np.abs(bounds) == NO_LIMIT)
    return np.where(free, np.copysign(np.inf, bounds), bounds)


def _inertia(pin_model: pin.Model, j: int) -> Inertia:
    Y = pin_model.inertias[j]
    try:
        return Inertia(Y.mass, Y.lever, Y.inertia)
    except TreefactorError as error:
        name = pin_model.names[j]
        raise InvalidModelError(f"body of joint {name!r}: {error}", name) from None
