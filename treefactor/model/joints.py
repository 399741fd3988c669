"""Define inertias, joints with the bodies they carry, and joints that close loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from .._util.elsewhere import KINDS
from .._util.messages import plain, similar
from .._util.validation import Array, MaybeArray, ReadOnly, as_number, as_real, as_vector, require_finite
from ..exceptions import InvalidModelError, ShapeError, TreefactorError
from ..tolerances import ORTHONORMAL
from .inertia import Inertia, as_matrix, no_vector

ROTATIONS = {  # entries of q that form a unit vector
    "continuous": slice(0, 2),
    "spherical": slice(0, 4),
    "planar": slice(2, 4),
    "freeflyer": slice(3, 7),
}


SIZES = {  # number of entries in q and in v
    "revolute": (1, 1),
    "continuous": (2, 1),
    "prismatic": (1, 1),
    "helical": (1, 1),
    "universal": (2, 2),
    "spherical": (4, 3),
    "planar": (4, 3),
    "translation": (3, 3),
    "freeflyer": (7, 6),
}
AXES = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "helical": 1,
    "universal": 2,
}  # number of axes of a kind
LIMITED = {"continuous": 0, "spherical": 0, "planar": 2, "freeflyer": 3}  # entries of q that can have limits
FOLLOWERS = ("revolute", "prismatic", "helical")  # kinds that can be mimic joints
LEADERS = (*FOLLOWERS, "continuous")  # kinds that mimic joints can follow
LOOPS = {"spherical": 3, "universal": 4, "revolute": 5, "weld": 6}  # constraint rows of a kind of loop
PAIRS: dict[str, tuple] = {  # axes of both frames that a kind keeps at right angles
    "spherical": (),
    "universal": ((2, 0),),
    "revolute": ((0, 2), (1, 2)),
    "weld": ((2, 1), (0, 2), (1, 0)),
}
NO_JOINT = (
    "what does not move is one body: add its inertia to that of its parent, and mark its place with "
    "Model.add_frame"
)
JointNumber = Any  # number or name of a joint; a Model stores the number
NOT_GIVEN: Any = None
NO_ARMATURE: Any = 0.0


def _unturned() -> Any:
    """Return the identity rotation."""
    return np.eye(3)


@dataclass(frozen=True)
class Mimic:
    """Mimic coupling of a joint: q is ``ratio * q_leader + offset``, of a continuous leader its angle.

    Parameters
    ----------
    leader : int or str
        Number or name of an earlier or later joint, which must not be a mimic joint itself.
    ratio, offset : float

    Notes
    -----
    Immutable.
    """

    leader: JointNumber
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint(ReadOnly):
    """Joint, and the body it carries.

    Parameters
    ----------
    name : str
    kind : {"revolute", "continuous", "prismatic", "helical", "universal", "spherical", "planar", \
"translation", "freeflyer"}
        The layout in q and v is Pinocchio's: "continuous" is its unbounded revolute joint (cos, sin), a
        quaternion is x y z w, "planar" is x y cos sin; velocities of "spherical", "planar" and "freeflyer"
        are those of the body in its own axes, linear before angular.
    parent : int or str
        Number or name of the joint whose body carries this one; -1 for the base. A `Model` replaces names by
        numbers.
    R, p : array_like, shapes (3, 3) and (3,)
        Rotation and origin (m) of the joint's frame in that of the parent at q = 0.
    axis : array_like, shape (3,), or (2, 3) for "universal"
        Unit vectors in the frame of the joint; the second axis of "universal" turns with the first.
    pitch : float
        For "helical": m per radian.
    inertia : Inertia
        Inertia of the body in the frame of the joint, which moves with the body.
    armature : float or array_like, shape (nv,)
        Added to the diagonal of H: kg m^2 or kg.
    lower, upper : float or array_like, shape (nq,), optional
        Limits of q; none by default.
    mimic : Mimic, optional
        Makes this a mimic joint, without a freedom of its own.
    body : str
        Name of the body, such as a link of a URDF: constraints accept it instead of the joint's number.
    effort_limit, velocity_limit : float or array_like, shape (nv,), optional
        Largest amounts of the forces of motors (N m or N) and of v; none by default. No function of the
        dynamics applies them.

    Notes
    -----
    Immutable.
    """

    name: str
    kind: str
    parent: JointNumber = -1
    R: Array = field(default_factory=_unturned)
    p: Array = field(default_factory=no_vector)
    axis: MaybeArray = NOT_GIVEN
    pitch: float = 0.0
    inertia: Inertia = field(default_factory=Inertia)
    armature: Array = NO_ARMATURE
    lower: Array = NOT_GIVEN
    upper: Array = NOT_GIVEN
    mimic: Mimic | None = None
    body: str = ""
    effort_limit: Array = NOT_GIVEN
    velocity_limit: Array = NOT_GIVEN

    def __post_init__(self):
        try:
            self.__setstate__(self._checked())
        except TreefactorError as error:
            raise InvalidModelError(f"joint {self.name!r}: {error}", joint=self.name) from error

    def _checked(self) -> dict:
        """Return validated attributes; arrays are copies."""
        if self.kind not in SIZES:
            hint, known = similar(self.kind, SIZES, KINDS), ", ".join(SIZES)
            if isinstance(self.kind, str) and KINDS.get(plain(self.kind)) == "weld":
                hint = f"; {NO_JOINT}"
            raise InvalidModelError(f"{self.kind!r} is not a kind of joint{hint}; there are {known}")
        for name, kind, wanted in (
            ("parent", Integral | str, "the number or name of a joint"),
            ("inertia", Inertia, "an Inertia"),
            ("mimic", Mimic | None, "a Mimic or None"),
            ("body", str, "a name"),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind):
                raise InvalidModelError(f"{name} must be {wanted}, got {value!r}")
        nq, nv = SIZES[self.kind]
        R, p = _rotation(self.R, "R"), as_vector(self.p, 3, "p").copy()
        armature = _spread(self.armature, nv, "armature")
        require_finite(armature, "armature")
        if armature.min() < 0:
            raise InvalidModelError(f"armature must not be negative, got {armature.min()}")
        pitch = as_number(self.pitch, "pitch")
        if pitch and self.kind != "helical":
            raise InvalidModelError(f"a {self.kind} joint has no pitch")
        if self.mimic and self.kind not in FOLLOWERS:
            raise InvalidModelError(f"a {self.kind} joint cannot follow another one")
        if self.mimic:
            ratio = as_number(self.mimic.ratio, "ratio")
            if ratio * ratio == np.inf:
                raise InvalidModelError(f"ratio {ratio} is too large: inertias go by its square")
            as_number(self.mimic.offset, "offset")
            if not isinstance(self.mimic.leader, Integral | str):
                raise InvalidModelError(
                    f"expected the number or name of a joint to follow, got {self.mimic.leader!r}"
                )
        lower = _spread(-np.inf if self.lower is None else self.lower, nq, "lower")
        upper = _spread(np.inf if self.upper is None else self.upper, nq, "upper")
        limits = {"lower": lower, "upper": upper}
        for name in ("effort_limit", "velocity_limit"):
            value = getattr(self, name)
            limits[name] = _spread(np.inf if value is None else value, nv, name)
        if any(np.isnan(limit).any() for limit in limits.values()):
            raise InvalidModelError("a limit is NaN")
        return {"R": R, "p": p, "axis": self._axis(), "pitch": pitch, "armature": armature, **limits}

    def _axis(self) -> np.ndarray | None:
        """Return the axes with unit length, or None if the kind has none."""
        if self.kind not in AXES:
            if self.axis is not None:
                raise InvalidModelError(f"a {self.kind} joint has no axis")
            return None
        shape = (2, 3) if AXES[self.kind] == 2 else (3,)
        if self.axis is None:
            given = "two unit vectors, such as axis=[[1, 0, 0], [0, 1, 0]]"
            given = given if len(shape) == 2 else "a unit vector, such as axis=[0, 0, 1]"
            raise InvalidModelError(f"a {self.kind} joint needs an axis: {given}")
        axis = as_real(self.axis, "axis")
        if axis.shape != shape:
            raise ShapeError(f"axis must have shape {shape}, got {axis.shape}", axis.shape, shape)
        require_finite(axis, "axis")
        with np.errstate(over="ignore"):
            length = np.linalg.norm(axis, axis=-1, keepdims=True)
        if np.abs(length - 1).max() > ORTHONORMAL:
            raise InvalidModelError(f"axis must have unit length, it has {length.ravel()}")
        return axis / length

    @property
    def nq(self) -> int:
        """Return the number of entries in q."""
        return 0 if self.mimic else SIZES[self.kind][0]

    @property
    def nv(self) -> int:
        """Return the number of freedoms."""
        return 0 if self.mimic else SIZES[self.kind][1]


def with_numbers(
    joint: Joint, mass: float, com: np.ndarray, tensor: np.ndarray, armature: np.ndarray
) -> Joint:
    """Return a joint with an Inertia of other numbers, which need not be those of a body, and armature."""
    inertia, made = object.__new__(Inertia), object.__new__(Joint)
    inertia.__setstate__({"mass": mass, "com": com, "tensor": tensor})
    made.__setstate__(joint.__dict__ | {"inertia": inertia, "armature": armature})
    return made


@dataclass(frozen=True, eq=False)
class Loop(ReadOnly):
    """Joint that closes a loop: it constrains a frame of one body to a frame of another.

    Parameters
    ----------
    name : str
    kind : {"spherical", "universal", "revolute", "weld"}
        The origins coincide; for "universal" the z axis of the first frame also stays at right angles to the
        x axis of the second; for "revolute" the z axes coincide; for "weld" the frames do.
    first, second : int, str or Frame
        Numbers or names of the joints whose bodies are constrained, frames or their names; -1 for the base. A
        `Model` replaces them by numbers of joints.
    R1, p1, R2, p2 : array_like, shapes (3, 3) and (3,)
        Rotations and origins (m) of the frames in those of the joints, or in the given frames.

    Notes
    -----
    Immutable.
    """

    name: str
    kind: str
    first: JointNumber
    second: JointNumber
    R1: Array = field(default_factory=_unturned)
    p1: Array = field(default_factory=no_vector)
    R2: Array = field(default_factory=_unturned)
    p2: Array = field(default_factory=no_vector)

    def __post_init__(self):
        try:
            self.__setstate__(self._checked())
        except TreefactorError as error:
            raise InvalidModelError(f"loop {self.name!r}: {error}", joint=self.name) from error

    def _checked(self) -> dict:
        """Return the validated frames as copies."""
        if self.kind not in LOOPS:
            hint, known = similar(self.kind, LOOPS, KINDS), ", ".join(LOOPS)
            raise InvalidModelError(f"{self.kind!r} is not a kind of loop{hint}; there are {known}")
        for joint in (self.first, self.second):
            if not (isinstance(joint, Integral | str) or hasattr(joint, "joint")):  # as a Frame has
                raise InvalidModelError(f"expected the number of a joint, a name or a Frame, got {joint!r}")
        if self.first == self.second:
            raise InvalidModelError(f"both ends are on joint {self.first}")
        return {
            "R1": _rotation(self.R1, "R1"),
            "p1": as_vector(self.p1, 3, "p1").copy(),
            "R2": _rotation(self.R2, "R2"),
            "p2": as_vector(self.p2, 3, "p2").copy(),
        }

    @property
    def rows(self) -> int:
        """Return the number of constraint rows."""
        return LOOPS[self.kind]


def fault_of_limits(joint: Joint) -> str:
    """Return which limit of a joint is impossible, "" if all are possible."""
    for low, high in zip(joint.lower.tolist(), joint.upper.tolist(), strict=True):
        if low > high:
            return f"lower limit {low:.9g} is above the upper one, {high:.9g}"
    for name in ("effort", "velocity"):
        least = getattr(joint, f"{name}_limit").min()
        if least < 0.0:
            return f"limit of {name} {least:.9g} is negative"
    return ""


def _spread(values, size: int, name: str) -> np.ndarray:
    """Return an array of that size, from one number for all entries or one for each."""
    array = as_real(values, name)
    if array.shape not in ((), (size,)):
        raise ShapeError(f"{name} must have shape ({size},), got {array.shape}", array.shape, (size,))
    return np.full(size, array)


def _rotation(values, name: str) -> np.ndarray:
    """Return a copy of a rotation matrix; raise InvalidModelError for any other matrix."""
    R = as_matrix(values, name)
    if np.abs(R @ R.T - np.eye(3)).max() > ORTHONORMAL or np.linalg.det(R) < 0:
        raise InvalidModelError(f"{name} is not a rotation matrix: expected R Rᵀ = 1 and det R = 1")
    return R
