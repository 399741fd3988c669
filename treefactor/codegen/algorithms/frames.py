"""Transform the bodies of a model so that more entries of frames and inertias are zero or one.

Every transformation is exact and maps bodies to bodies; q, v and generalized forces keep their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...dynamics._recursions import KINDS
from ...dynamics.bodies import table_of
from ...model._snapping import about_z, euler, snapped_rotation
from ...model._snapping import cosine_and_sine as cosine_and_sine
from ...tolerances import SNAP

TURNING = ("revolute", "continuous", "helical")  # kinds of joints that rotate about z of the body
KEPT = (
    "parent",
    "q",
    "v",
    "freedoms",
    "ratio",
    "offset",
    "pitch",
    "circle",
    "R",
    "p",
    "joint",
    "axes",
)
UNFELT = {  # rows and columns of the second moments that do not affect the force of a joint
    "revolute": slice(2, 4),
    "continuous": slice(2, 4),
    "helical": slice(2, 3),
    "planar": slice(2, 3),
    "prismatic": slice(0, 3),
    "translation": slice(0, 3),
    "spherical": slice(3, 4),
}
ROUNDING = 1e-15  # smaller lengths and moments, relative to the largest of their kind, become 0
THIN = 0.05  # ratio of the second moments across and along what is thin
FAR = 10.0  # largest distance of the foot of a common normal, in distances of the origins; more loses digits


@dataclass(frozen=True, eq=False)
class Body:
    """Body with a joint about, along or with its z axis: an entry of the BDT of Golubev & Yaskevich.

    Attributes
    ----------
    kind : str
    parent : int
    q, v : int
        First entry in q, and among the freedoms of all joints.
    freedoms : int
    ratio, offset, pitch : float
        Joints of one freedom have angle or displacement ``ratio q + offset``; pitch in m per radian.
    circle : bool
        Whether q holds cosine and sine of the angle (mimic of a continuous joint).
    R, p : ndarray
        Placement in the parent at zero displacement.
    moments : ndarray, shape (4, 4)
        Second moments of the mass, sum of ``m (x y z 1)^T (x y z 1)``.
    armature : tuple of float
    joint : int
        Joint of the model whose frame has rotation `axes` and origin `origin` in the body; -1 for none.
    axes, origin : ndarray
    unfelt : ndarray, shape (4, 4)
        Second moments of mass on the axis of a root body that its joint does not move; `moments` leave them
        out.
    quarter : bool
        Whether moments are rotated with `AxisRotation.quarter`.
    """

    kind: str
    parent: int
    q: int
    v: int
    freedoms: int
    ratio: float
    offset: float
    pitch: float
    circle: bool
    R: np.ndarray
    p: np.ndarray
    moments: np.ndarray
    armature: tuple
    joint: int
    axes: np.ndarray
    origin: np.ndarray
    unfelt: np.ndarray = field(default_factory=lambda: np.zeros((4, 4)))
    quarter: bool = False


def bodies_of(model) -> list[Body]:
    """Return the bodies of a `Model`, with joint axes along z; coordinate axes are permuted cyclically."""
    armature = np.concatenate([np.zeros(0), *(joint.armature for joint in model.joints)])
    return [
        Body(
            kind=KINDS[body["kind"]],
            moments=_moments(body["mass"], body["first"], body["tensor"]),
            armature=tuple(armature[body["v"] : body["v"] + body["freedoms"]].tolist()),
            origin=np.zeros(3),
            **{name: body[name] for name in KEPT},
        )
        for body in table_of(model)
    ]


def _moments(mass: float, first: np.ndarray, tensor: np.ndarray) -> np.ndarray:
    """Return second moments about the origin: sum of m x x^T = tr(I) / 2 - I."""
    K = np.trace(tensor) / 2 * np.eye(3) - tensor
    moments = np.empty((4, 4))
    moments[:3, :3], moments[:3, 3], moments[3, :3], moments[3, 3] = K, first, first, mass
    return moments


def snapped(bodies: list[Body], tolerance: float = SNAP) -> tuple[list[Body], float]:
    """Round angles near multiples of 90 degrees to them, and short lengths to 0.

    Returns also the largest change of a rotation entry, or of a length relative to the largest.
    """
    rounded = [
        replace(body, R=snapped_rotation(body.R, tolerance))
        for body in _without_tiny_lengths(bodies, tolerance)
    ]
    longest = max((np.abs(body.p).max() for body in bodies), default=0.0) or 1.0
    changes = [
        max(np.abs(new.R - old.R).max(), np.abs(new.p - old.p).max() / longest)
        for new, old in zip(rounded, bodies, strict=True)
    ]
    return rounded, max(changes, default=0.0)


def _without_tiny_lengths(bodies: list[Body], tolerance: float) -> list[Body]:
    """Set lengths to 0 that are tiny relative to the largest."""
    smallest = tolerance * max((np.abs(body.p).max() for body in bodies), default=0.0)
    return [replace(body, p=np.where(np.abs(body.p) <= smallest, 0.0, body.p)) for body in bodies]


def whole(x, tolerance: float = SNAP) -> np.ndarray:
    """Round numbers that are almost integers."""
    x = np.asarray(x, dtype=float)
    near = np.round(x) + 0.0  # no negative zeros
    return np.where(np.abs(x - near) <= tolerance, near, x)


def regrouped(bodies: list[Body]) -> list[Body]:
    """Move inertial parameters that do not affect the joint force to the parent (base parameters).

    Mass on the axis of a revolute joint does not affect its force: the moments zz, z and 1 move to the
    parent. Second moments do not affect a prismatic joint. Joint-space quantities do not change; masses of
    single bodies do.

    Notes
    -----
    The base parameters of Gautier and Khalil (1990), as a block of the second moments.
    """
    bodies = list(bodies)
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        moved = np.zeros((4, 4))
        at = UNFELT.get(body.kind, slice(0))
        moved[at, at] = body.moments[at, at]
        unfelt = body.unfelt + moved if body.parent < 0 else body.unfelt
        bodies[i] = replace(body, moments=body.moments - moved, unfelt=unfelt)
        if body.parent >= 0:
            parent = bodies[body.parent]
            bodies[body.parent] = replace(
                parent, moments=_rounded(parent.moments + _transformed(moved, body.R, body.p))
            )
    return bodies


def _transformed(moments: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return second moments in a frame in which their own frame has rotation R and origin p."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return _rounded(T @ moments @ T.T)


def _rounded(moments: np.ndarray) -> np.ndarray:
    """Make second moments symmetric and set entries of the size of rounding errors to 0."""
    rounded = (moments + moments.T) / 2
    for block in (np.s_[:3, :3], np.s_[:3, 3], np.s_[3, :3]):
        part = rounded[block]
        part[np.abs(part) <= ROUNDING * np.abs(part).max()] = 0.0
    return rounded


def with_quarter_turns(bodies: list[Body]) -> list[Body]:
    """Choose for each turning body the form in which its rotation changes moments: see `Body.quarter`.

    A body and what it carries may be thin and turn into the axis of the parent, as shanks into that of a hip.
    Its moment about that axis is small there. One form writes it as the large moment minus a product, the
    other as the small moment plus a product, with as many operations; the first loses digits. Which moment is
    the small one is decided in the zero positions of all joints. Moments of a body that carries nothing are
    constants, and so is their difference: the other form is worth it only where the small one is zero.
    """
    carried = [body.moments.copy() for body in bodies]
    for i in reversed(range(len(bodies))):
        if bodies[i].parent >= 0:
            carried[bodies[i].parent] += _transformed(carried[i], bodies[i].R, bodies[i].p)
    parents = {body.parent for body in bodies}
    chosen = []
    for i, (body, moments) in enumerate(zip(bodies, carried, strict=True)):
        fixed = body.R @ about_z(-euler(body.R)[2])
        along = np.argmax(np.abs(fixed[2]))  # the turned axis that is closest to the axis of the parent
        spread = np.diag(moments)[:3]
        thin = THIN * spread[1 - along] if i in parents else 0.0
        quarter = along < 2 and spread[along] <= thin and spread[along] < spread[1 - along]
        chosen.append(replace(body, quarter=body.kind in TURNING and bool(quarter)))
    return chosen


def canonical(bodies: list[Body], meet: bool = False, by_mass: bool = True) -> list[Body]:
    """Choose frames along common normals of successive axes: modified Denavit-Hartenberg frames on trees.

    The frame of a revolute body may have its origin anywhere on the axis, that of a prismatic body anywhere,
    both with x in any direction. The origin is the foot of the common normal from the axis of the parent; x
    points along the common normal to the axis of the largest subtree, or from a leaf to its centre of mass.
    With `meet` the origin is the intersection with the axis of the only child, if there is one: sometimes
    cheaper. Without `by_mass` the frames depend on the kinematics only, not on centres of mass.

    Notes
    -----
    Khalil and Kleinfinger (1986). If axes are nearly parallel the foot may be far; then the origin is kept.
    """
    bodies = list(bodies)
    sizes = np.ones(len(bodies), dtype=int)
    for i in reversed(range(len(bodies))):
        if bodies[i].parent >= 0:
            sizes[bodies[i].parent] += sizes[i]
    for i, body in enumerate(bodies):
        carried = sorted((j for j, b in enumerate(bodies) if b.parent == i), key=lambda j: -sizes[j])
        if body.kind in TURNING:
            _change(bodies, i, np.eye(3), np.array([0.0, 0.0, _foot(bodies, i)]))
            if meet and len(carried) == 1 and (bodies[i].p.any() or _is_wrist(bodies, carried[0])):
                _change(bodies, i, np.eye(3), np.array([0.0, 0.0, _meeting(bodies[carried[0]])]))
        elif body.kind == "prismatic":
            _slide(bodies, i, carried)
        else:
            continue
        _change(bodies, i, about_z(_direction(bodies, i, carried, by_mass)), np.zeros(3))
    return _without_tiny_lengths(bodies, ROUNDING)


def _slide(bodies: list[Body], i: int, carried: list[int]) -> None:
    """Move distances along a prismatic axis into the joint offset."""
    if carried:
        _change(bodies, i, np.eye(3), np.array([0.0, 0.0, bodies[carried[0]].p[2]]))
    body, z = bodies[i], bodies[i].R[:, 2]
    along = body.p @ z
    bodies[i] = replace(body, p=body.p - along * z, offset=body.offset + along)


def _direction(bodies: list[Body], i: int, carried: list[int], by_mass: bool) -> float:
    """Return the angle about z to which x of a body should point."""
    x, y = bodies[i].moments[:2, 3] if by_mass else (0.0, 0.0)
    for j in carried:
        if (angle := _normal(bodies[j])) is not None:
            return angle
    if bodies[i].kind in TURNING and (x or y):
        return np.arctan2(y, x)
    return -euler(bodies[i].R)[2]  # leaves no constant rotation about z


def _foot(bodies: list[Body], i: int) -> float:
    """Return the position on the axis of a body closest to the axis of its parent; 0 if undefined."""
    body, z = bodies[i], bodies[i].R[:, 2]
    if body.parent < 0:
        return 0.0
    if bodies[body.parent].kind not in TURNING:  # all points of the parent's axis are as close
        along = np.argmax(np.abs(z))
        return -body.p[along] / z[along]
    sine = np.hypot(z[0], z[1])
    if sine <= SNAP:
        return -body.p[2] * np.sign(z[2])
    along = -(body.p[:2] @ z[:2]) / sine**2
    return along if abs(along) <= FAR * np.linalg.norm(body.p) else 0.0


def _is_wrist(bodies: list[Body], i: int) -> bool:
    """Return whether all descendants of a body, at least one, share its origin."""
    below = {i}
    for j in range(i + 1, len(bodies)):
        if bodies[j].parent in below:
            below.add(j)
    return len(below) > 1 and not any(bodies[j].p.any() for j in below - {i})


def _meeting(body: Body) -> float:
    """Return where the axis of a body intersects that of its parent, from the parent origin; else 0."""
    z, p = body.R[:, 2], body.p
    sine = np.hypot(z[0], z[1])
    if body.kind not in TURNING or sine <= SNAP:
        return 0.0
    along = -(p[:2] @ z[:2]) / sine**2
    apart, reach = np.abs(p[:2] + along * z[:2]).max(), np.linalg.norm(p)
    return p[2] + along * z[2] if apart <= SNAP * reach and abs(along) <= FAR * reach else 0.0


def _normal(body: Body) -> float | None:
    """Return the direction of the common normal with the axis of the parent, as an angle about that axis."""
    z = body.R[:, 2]
    if body.kind not in (*TURNING, "prismatic"):
        return None
    if np.hypot(z[0], z[1]) > SNAP:
        return np.arctan2(z[0], -z[1])
    return np.arctan2(body.p[1], body.p[0]) if np.hypot(body.p[0], body.p[1]) > 0 else None


def _change(bodies: list[Body], i: int, A: np.ndarray, t: np.ndarray) -> None:
    """Change the frame of body i to axes A and origin t, both in its old frame."""
    body = bodies[i]
    moments = _transformed(body.moments, A.T, -A.T @ t)
    axes, origin = A.T @ body.axes, A.T @ (body.origin - t)
    bodies[i] = replace(body, R=body.R @ A, p=body.p + body.R @ t, moments=moments, axes=axes, origin=origin)
    for j, child in enumerate(bodies):
        if child.parent == i:
            bodies[j] = replace(child, R=A.T @ child.R, p=A.T @ (child.p - t))
