"""Kinematic trees with masses: joints, placements, inertias, armature, in Pinocchio's conventions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral

import numpy as np

from ._arrays import ReadOnly, as_real, as_vector, require_finite
from ._dynamics import Bodies
from .bodies import bodies
from .couplings import Coupling
from .exceptions import InvalidModelError, ShapeError, TreefactorError
from .tree import Tree, freedom_names

GRAVITY = (0.0, 0.0, -9.81)
SIZES = {  # entries in q and in v
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
AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "helical": 1, "universal": 2}  # needed by a kind
LIMITED = {"continuous": 0, "spherical": 0, "planar": 2, "freeflyer": 3}  # entries of q that can have limits
FOLLOWERS = ("revolute", "prismatic", "helical")  # kinds that may follow
LEADERS = (*FOLLOWERS, "continuous")  # kinds that may be followed
ROUND_OFF = 1e-9  # relative; of lengths of axes, orthogonality of rotations, symmetry of tensors


@dataclass(frozen=True, eq=False)
class Inertia(ReadOnly):
    """Mass, centre of mass and inertia tensor about it, in the axes of some frame.

    Parameters
    ----------
    mass : float
        kg, not negative.
    com : array_like, shape (3,)
        m, from the origin of the frame.
    tensor : array_like, shape (3, 3)
        kg m^2, about the centre of mass; symmetric.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError
        Where these are no such things. Whether the tensor can be that of a body is asked by `Inertia.fault`.
    """

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    tensor: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self):
        mass = _number(self.mass, "mass")
        com, tensor = as_vector(self.com, 3, "com").copy(), _matrix(self.tensor, "inertia tensor")
        if mass < 0:
            raise InvalidModelError(f"mass must not be negative, got {mass}")
        if np.abs(tensor - tensor.T).max() > ROUND_OFF * np.abs(tensor).max():
            raise InvalidModelError("the inertia tensor is not symmetric")
        self.__setstate__({"mass": mass, "com": com, "tensor": (tensor + tensor.T) / 2})

    def fault(self) -> str | None:
        """Why no body has this inertia: a negative principal moment, or one larger than the others' sum."""
        if not self.mass and not self.tensor.any():
            return None
        moments = np.linalg.eigvalsh(self.tensor)
        tolerance = ROUND_OFF * np.abs(moments).max()
        if moments[0] < -tolerance:
            return f"principal moment {moments[0]:.3g} of the inertia tensor is negative"
        if moments[2] > moments[0] + moments[1] + tolerance:
            shown = ", ".join(f"{moment:.3g}" for moment in moments)
            return f"principal moments {shown} break the triangle inequality"
        return None if self.mass else "an inertia tensor without mass"

    def moved(self, R: np.ndarray, p: np.ndarray) -> Inertia:
        """Same inertia, seen from a frame in which its own has rotation R and origin p."""
        return Inertia(self.mass, p + R @ self.com, R @ self.tensor @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        """Inertia of both together."""
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else np.zeros(3)
        tensor = np.zeros((3, 3))
        for part in (self, other):  # parallel axes: I + m (d'd 1 - d d')
            d = part.com - com
            tensor += part.tensor + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return Inertia(mass, com, tensor)


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: its q is ``ratio * q_leader + offset``, of a continuous leader its angle.

    Parameters
    ----------
    leader : int
        An earlier or later joint, which follows none.
    ratio, offset : float
    """

    leader: int
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint(ReadOnly):
    """A joint, and the body it carries.

    Parameters
    ----------
    name : str
    kind : {"revolute", "continuous", "prismatic", "helical", "universal", "spherical", "planar", \
"translation", "freeflyer"}
        Laid out in q and v as Pinocchio does: "continuous" is its unbounded revolute joint (cos, sin), a
        quaternion is x y z w, "planar" x y cos sin; the velocities of "spherical", "planar" and "freeflyer"
        are those of the body, in its own axes, linear ones first.
    parent : int
        The joint whose body carries this one, -1 for the base.
    R, p : array_like, shapes (3, 3) and (3,)
        Rotation and origin (m) of the frame of the joint in the parent's, at q = 0.
    axis : array_like, shape (3,), or (2, 3) for "universal"
        Unit vectors in the frame of the joint; the second one of "universal" turns with the first.
    pitch : float
        Of "helical": m per radian.
    inertia : Inertia
        Of the body, in the frame of the joint, which moves with the body.
    armature : float or array_like, shape (nv,)
        Added to the diagonal of H: kg m^2 or kg.
    lower, upper : float or array_like, shape (nq,), optional
        Limits of q; by default there are none.
    mimic : Mimic, optional
        Makes the joint follow another one; it then has no freedom of its own.
    """

    name: str
    kind: str
    parent: int = -1
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    p: np.ndarray = field(default_factory=lambda: np.zeros(3))
    axis: np.ndarray | None = None
    pitch: float = 0.0
    inertia: Inertia = field(default_factory=Inertia)
    armature: float | np.ndarray = 0.0
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None
    mimic: Mimic | None = None

    def __post_init__(self):
        try:
            self.__setstate__(self._checked())
        except TreefactorError as error:
            raise InvalidModelError(f"joint {self.name!r}: {error}", joint=self.name) from error

    def _checked(self) -> dict:
        """Attributes as arrays that cannot be written."""
        if self.kind not in SIZES:
            known = ", ".join(SIZES)
            raise InvalidModelError(f"{self.kind!r} is no kind of joint; there are {known}")
        for value, kind in ((self.parent, Integral), (self.inertia, Inertia), (self.mimic, Mimic | None)):
            if not isinstance(value, kind):
                raise InvalidModelError(f"expected {getattr(kind, '__name__', kind)}, got {value!r}")
        nq, nv = SIZES[self.kind]
        R, p = _matrix(self.R, "R"), as_vector(self.p, 3, "p").copy()
        if np.abs(R @ R.T - np.eye(3)).max() > ROUND_OFF or np.linalg.det(R) < 0:
            raise InvalidModelError("R is no rotation")
        armature = _spread(self.armature, nv, "armature")
        require_finite(armature, "armature")
        if armature.min() < 0:
            raise InvalidModelError(f"armature must not be negative, got {armature.min()}")
        pitch = _number(self.pitch, "pitch")
        if pitch and self.kind != "helical":
            raise InvalidModelError(f"a {self.kind} joint has no pitch")
        if self.mimic and self.kind not in FOLLOWERS:
            raise InvalidModelError(f"a {self.kind} joint cannot follow another one")
        if self.mimic:
            _number(self.mimic.ratio, "ratio")
            _number(self.mimic.offset, "offset")
            if not isinstance(self.mimic.leader, Integral):
                raise InvalidModelError(
                    f"expected the number of a joint to follow, got {self.mimic.leader!r}"
                )
        lower = _spread(-np.inf if self.lower is None else self.lower, nq, "lower")
        upper = _spread(np.inf if self.upper is None else self.upper, nq, "upper")
        if np.isnan([lower, upper]).any():
            raise InvalidModelError("a limit is NaN")
        limits = {"lower": lower, "upper": upper}
        return {"R": R, "p": p, "axis": self._axis(), "pitch": pitch, "armature": armature, **limits}

    def _axis(self) -> np.ndarray | None:
        """Axes of unit length, or None where the kind has none."""
        if self.kind not in AXES:
            if self.axis is not None:
                raise InvalidModelError(f"a {self.kind} joint has no axis")
            return None
        shape = (2, 3) if AXES[self.kind] == 2 else (3,)
        axis = as_real(self.axis if self.axis is not None else np.nan, "axis")
        if axis.shape != shape:
            raise ShapeError(f"axis must have shape {shape}, got {axis.shape}", axis.shape, shape)
        require_finite(axis, "axis")
        length = np.linalg.norm(axis, axis=-1, keepdims=True)
        if np.abs(length - 1).max() > ROUND_OFF:
            raise InvalidModelError(f"axis must have unit length, it has {length.ravel()}")
        return axis / length

    @property
    def nq(self) -> int:
        """Entries in q."""
        return 0 if self.mimic else SIZES[self.kind][0]

    @property
    def nv(self) -> int:
        """Freedoms."""
        return 0 if self.mimic else SIZES[self.kind][1]


class Model:
    """A tree of joints and the bodies they carry: immutable, picklable, may be shared by threads.

    Parameters
    ----------
    joints : sequence of Joint
        Parents before children.
    gravity : array_like, shape (3,)
        Acceleration of free fall in the frame of the base, m/s^2.
    name : str
    strict : bool
        Refuse inertias that no body has. Robot descriptions are full of them, and engines take them as they
        are; see `Model.faults`.

    Attributes
    ----------
    joints : tuple of Joint
    njoints, nq, nv : int
    idx_q, idx_v : tuple of int
        First entry of every joint in q and in v; a joint that follows another one has those of its leader.
    tree : Tree
        Of the freedoms, with the joints' names.
    gravity : ndarray, shape (3,), read-only
    armature : ndarray, shape (nv,), read-only
    lower, upper : ndarray, shape (nq,), read-only

    Raises
    ------
    InvalidModelError
        Where a joint comes before its parent, shares its name, follows one that it cannot follow, or (if
        strict) has a body with an impossible inertia. Carries the name of the joint.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=arm)
    >>> elbow = tf.Joint("elbow", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=arm)
    >>> model = tf.Model([shoulder, elbow])
    >>> tf.crba(model, [0.0, 0.0])
    array([[2.7 , 0.85],
           [0.85, 0.35]])
    """

    def __init__(self, joints: Sequence[Joint], gravity=GRAVITY, name: str = "", strict: bool = True):
        joints = tuple(joints)
        _require_tree(joints)
        gravity = as_vector(gravity, 3, "gravity").copy()
        parents = [joint.parent for joint in joints]
        names = [joint.name for joint in joints]
        free = [joint for joint in joints if not joint.mimic]
        idx_q, idx_v = _places(joints)
        self.__dict__.update(
            joints=joints,
            name=str(name),
            njoints=len(joints),
            nq=sum(joint.nq for joint in joints),
            nv=sum(joint.nv for joint in joints),
            idx_q=idx_q,
            idx_v=idx_v,
            gravity=gravity,
            armature=_armature(joints, idx_v),
            lower=np.concatenate([np.zeros(0), *(joint.lower for joint in free)]),
            upper=np.concatenate([np.zeros(0), *(joint.upper for joint in free)]),
            extended=Tree.from_joints(parents, [SIZES[joint.kind][1] for joint in joints], names),
        )
        for array in (self.gravity, self.armature, self.lower, self.upper):
            array.flags.writeable = False
        if strict and self.faults():
            joint, reason = next(iter(self.faults().items()))
            raise InvalidModelError(f"body of joint {joint!r}: {reason}", joint=joint)

    @classmethod
    def from_urdf(cls, path, floating: bool = False, mimic: bool = False, strict: bool = False) -> Model:
        """Model of a URDF, with q and v as Pinocchio would lay them out; no engine and no mesh is needed.

        Parameters
        ----------
        path : path-like
        floating : bool
            Put a free-flyer named ``root_joint`` under the root link.
        mimic : bool
            Have mimic joints follow the joint they name, instead of leaving both free.
        strict : bool
            Refuse inertias that no body has.

        Raises
        ------
        AdapterError
            Where the file is missing, no well-formed XML, no URDF, no tree, or holds what is no number, or a
            joint or inertia that cannot be; names the file, the reason and the link or joint.
        InvalidModelError
            Where joints do not make a model; names the file and the joint.

        Notes
        -----
        Joints come depth first, those on one link sorted by name. Links on fixed joints are merged into the
        link that carries them, on a fixed base those of the root into the base. Damping and friction are no
        part of a model.
        """
        from . import urdf

        return urdf.model(path, floating, mimic, strict)

    def __setattr__(self, name, value):
        raise AttributeError("a model is immutable")

    def __delattr__(self, name):
        raise AttributeError("a model is immutable")

    def __reduce__(self):
        return Model, (self.joints, self.gravity, self.name, False)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.njoints} joints, nq {self.nq}, nv {self.nv}>"

    @cached_property
    def coupling(self) -> Coupling | None:
        """How the freedoms of all joints follow v; None where no joint follows another one."""
        if not any(joint.mimic for joint in self.joints):
            return None
        G = np.zeros((self.extended.n, self.nv))
        k = 0
        for joint, v in zip(self.joints, self.idx_v, strict=True):
            count = SIZES[joint.kind][1]
            G[k : k + count, v : v + count] = np.eye(count) * (joint.mimic.ratio if joint.mimic else 1.0)
            k += count
        free = [joint for joint in self.joints if not joint.mimic]
        return Coupling(
            self.extended, G, freedom_names([joint.name for joint in free], [joint.nv for joint in free])
        )

    @cached_property
    def tree(self) -> Tree:
        """Tree of the freedoms, with the joints' names."""
        return self.coupling.tree if self.coupling else self.extended

    @cached_property
    def bodies(self) -> Bodies:
        """The model as the recursions take it."""
        return bodies(self)

    @cached_property
    def entries(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Entries in q, shape (joints, nq), and in v, shape (joints, nv), of the free joints by kind."""
        found: dict[str, list] = {}
        for joint, q, v in zip(self.joints, self.idx_q, self.idx_v, strict=True):
            if not joint.mimic:
                found.setdefault(joint.kind, []).append((range(q, q + joint.nq), range(v, v + joint.nv)))
        return {kind: tuple(map(np.array, zip(*ranges, strict=True))) for kind, ranges in found.items()}

    def faults(self) -> dict[str, str]:
        """What is impossible about the bodies' inertias, by the names of their joints."""
        found = ((joint.name, joint.inertia.fault()) for joint in self.joints)
        return {name: fault for name, fault in found if fault}


def _require_tree(joints: tuple[Joint, ...]) -> None:
    """Raise InvalidModelError where joints do not hang from earlier ones, or follow what they cannot."""
    seen = set()
    for i, joint in enumerate(joints):
        if not isinstance(joint, Joint):
            raise InvalidModelError(f"joints[{i}] is no Joint but {type(joint).__name__}")
        if joint.name in seen:
            raise InvalidModelError(f"two joints are called {joint.name!r}", joint=joint.name)
        seen.add(joint.name)
        if not -1 <= joint.parent < i:
            raise InvalidModelError(
                f"joint {joint.name!r} is number {i} and has parent {joint.parent}: parents come first",
                joint=joint.name,
            )
        if joint.mimic is None:
            continue
        leader = joints[joint.mimic.leader] if 0 <= joint.mimic.leader < len(joints) else None
        if leader is None or leader.mimic or leader.kind not in LEADERS:
            raise InvalidModelError(
                f"joint {joint.name!r} follows joint {joint.mimic.leader}, which must be one of "
                f"{', '.join(LEADERS)} that follows none",
                joint=joint.name,
            )


def _armature(joints: tuple[Joint, ...], idx_v: tuple[int, ...]) -> np.ndarray:
    """Armature of the freedoms; that of a joint which follows another one acts through the ratio."""
    armature = np.zeros(sum(joint.nv for joint in joints))
    for joint, v in zip(joints, idx_v, strict=True):
        ratio = joint.mimic.ratio if joint.mimic else 1.0
        armature[v : v + joint.armature.size] += ratio**2 * joint.armature
    return armature


def _places(joints: tuple[Joint, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """First entry of every joint in q and in v."""
    q = np.cumsum([0, *(joint.nq for joint in joints)]).tolist()
    v = np.cumsum([0, *(joint.nv for joint in joints)]).tolist()
    leaders = [joint.mimic.leader if joint.mimic else i for i, joint in enumerate(joints)]
    return tuple(q[i] for i in leaders), tuple(v[i] for i in leaders)


def _number(value, name: str) -> float:
    array = as_real(value, name)
    if array.shape:
        raise ShapeError(f"{name} must be one number, got shape {array.shape}", array.shape, ())
    require_finite(array, name)
    return float(array)


def _spread(values, size: int, name: str) -> np.ndarray:
    """One number for every entry, or as many as there are."""
    array = as_real(values, name)
    if array.shape not in ((), (size,)):
        raise ShapeError(f"{name} must have shape ({size},), got {array.shape}", array.shape, (size,))
    return np.full(size, array)


def _matrix(values, name: str) -> np.ndarray:
    array = as_real(values, name)
    if array.shape != (3, 3):
        raise ShapeError(f"{name} must have shape (3, 3), got {array.shape}", array.shape, (3, 3))
    require_finite(array, name)
    return array.copy()
