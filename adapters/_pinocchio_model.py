"""Build our model of a Pinocchio model; q and v are laid out alike, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import pinocchio as pin

from ..exceptions import AdapterError, InvalidModelError, TreefactorError
from ..model._building import new_frame, new_inertia, new_joint
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
ALONG = {  # axes of joints by the ends of their names
    f"{motion}{axis}": np.eye(3)[k] for motion in ("R", "RUB", "P") for k, axis in enumerate("XYZ")
}
UNALIGNED = ("RevoluteUnaligned", "PrismaticUnaligned")  # have an attribute `axis`
TYPES = {kind: kind.name.lower() for kind in pin.FrameType.values.values()}
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
    names, pin_frames = pin_model.names.tolist(), pin_model.frames.tolist()
    frame_names = [frame.name for frame in pin_frames]
    types, carriers = [TYPES[frame.type] for frame in pin_frames], [frame.parentJoint for frame in pin_frames]
    bodies = _bodies(pin_frames, frame_names, types, carriers)
    pieces = [
        _pieces(pin_model, j, joint, placement)
        for j, (joint, placement) in enumerate(
            zip(pin_model.joints.tolist(), pin_model.jointPlacements.tolist(), strict=True)
        )
        if j
    ]
    last = [count - 1 for count in accumulate(map(len, pieces), initial=0)]  # the joint that carries body j
    starts = zip(
        pin_model.parents.tolist(), pin_model.idx_qs.tolist(), pin_model.idx_vs.tolist(), strict=True
    )
    armature, at = np.array(pin_model.armature), list(starts)
    lower, upper = _limits(pin_model.lowerPositionLimit), _limits(pin_model.upperPositionLimit)
    effort, velocity = _limits(pin_model.effortLimit), _limits(pin_model.velocityLimit)
    inertias = pin_model.inertias.tolist()
    joints: list[Joint] = []
    for j, parts in enumerate(pieces, 1):
        (parent, q, v), name = at[j], names[j]
        carrier = last[parent]
        for k, part in enumerate(parts):
            is_last, mimic, limits = k == len(parts) - 1, part.mimic, (None, None, None)
            others = None, None
            if mimic:
                mimic = replace(mimic, leader=last[mimic.leader])
            else:
                nq, nv = SIZES[part.kind]
                limits = armature[v : v + nv], lower[q : q + nq], upper[q : q + nq]
                if part.kind in LIMITED:
                    limits = limits[0], *(_only_first(bounds, LIMITED[part.kind]) for bounds in limits[1:])
                others = effort[v : v + nv], velocity[v : v + nv]
                q, v = q + nq, v + nv
            joints.append(
                new_joint(
                    name if len(parts) == 1 else f"{name}[{k}]",
                    part.kind,
                    len(joints) - 1 if k else carrier,
                    part.placement.homogeneous,
                    part.axis,
                    part.pitch,
                    _inertia(name, inertias[j]) if is_last else Inertia(),
                    *limits,
                    mimic,
                    bodies.get(j, "") if is_last else "",
                    *others,
                )
            )
    frames = _frames(pin_frames, frame_names, types, [last[joint] for joint in carriers])
    return Model(joints, pin_model.gravity.linear, pin_model.name, strict=False, frames=frames)


def _frames(
    pin_frames: list[pin.Frame], names: list[str], types: list[str], carriers: list[int]
) -> list[Frame]:
    """Return all frames in Pinocchio's order; carriers are the joints of ours that carry them."""
    names = distinct_names(names, types)
    parents = ["", *(names[frame.parentFrame] for frame in pin_frames[1:])]
    return [
        new_frame(name, carrier, frame.placement.homogeneous, type, parent)
        for name, carrier, frame, type, parent in zip(
            names, carriers, pin_frames, types, parents, strict=True
        )
    ]


def _bodies(
    pin_frames: list[pin.Frame], names: list[str], types: list[str], carriers: list[int]
) -> dict[int, str]:
    """Map each joint to the body whose frame is the joint's; empty if two bodies have one name."""
    bodies: dict[int, str] = {}
    for frame, name, type, joint in zip(pin_frames, names, types, carriers, strict=True):
        if type == "body" and joint and joint not in bodies and frame.placement.isIdentity():
            bodies[joint] = name
    return bodies if len({*bodies.values()}) == len(bodies) else {}


def _pieces(pin_model: pin.Model, j: int, joint, placement: pin.SE3) -> list[Piece]:
    """Return our joints that make up joint j."""
    try:
        if joint.shortname() == "JointModelMimic":
            return [_follower(pin_model, j)]
        return _parts(joint, placement, pin_model)
    except AdapterError as error:
        name = pin_model.names[j]
        raise AdapterError(f"joint {name!r}: {error}", "pinocchio", joint=name) from None


def _parts(joint, placement: pin.SE3, pin_model: pin.Model) -> list[Piece]:
    """Return a joint, or the joints in a chain that make it up."""
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "Composite":
        whole = joint.extract()
        placed = zip(whole.joints, whole.jointPlacements, strict=True)
        parts = [part for inner, P in placed for part in _parts(inner, P, pin_model)]
        parts[0].placement = placement * parts[0].placement
        return parts
    if kind == "SphericalZYX":
        placements = placement, pin.SE3.Identity(), pin.SE3.Identity()
        return [Piece("revolute", P, axis) for P, axis in zip(placements, np.eye(3)[::-1], strict=True)]
    if kind not in KINDS:
        raise AdapterError(f"its type {kind} is not one of {', '.join(KINDS)}, Composite, SphericalZYX")
    if KINDS[kind] not in AXES:
        return [Piece(KINDS[kind], placement)]
    if kind in ALONG:
        return [Piece(KINDS[kind], placement, ALONG[kind])]
    if kind in UNALIGNED:
        return [Piece(KINDS[kind], placement, joint.extract().axis)]
    data = joint.createData()
    joint.calc(data, pin.neutral(pin_model))
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


def _limits(bounds: np.ndarray) -> np.ndarray:
    """Return limits of all entries of q or v, infinite where Pinocchio has none."""
    return np.where(np.abs(bounds) == NO_LIMIT, np.copysign(np.inf, bounds), bounds)


def _only_first(bounds: np.ndarray, count: int) -> np.ndarray:
    """Return limits of a joint with rotations, whose entries have none: only the first others have any."""
    return np.concatenate([bounds[:count], np.copysign(np.inf, bounds[count:])])


def _inertia(name: str, Y: pin.Inertia) -> Inertia:
    """Return the inertia of the body of a joint."""
    try:
        return new_inertia(Y.mass, Y.lever, Y.inertia)
    except TreefactorError as error:
        raise InvalidModelError(f"body of joint {name!r}: {error}", name) from None
