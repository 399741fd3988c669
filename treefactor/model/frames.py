"""Define frames, the named places on bodies, and find them by name."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from .._util.messages import received, similar
from .._util.validation import Array, ReadOnly, as_count, as_vector
from ..exceptions import DtypeError, InvalidModelError, TreefactorError
from .joints import Joint, JointNumber, _rotation

TYPES = ("op_frame", "joint", "fixed_joint", "body", "sensor", "site")  # Pinocchio's, and MuJoCo's sites
IDENTITY: Any = np.eye(3)
ZERO: Any = np.zeros(3)
for _constant in (IDENTITY, ZERO):
    _constant.flags.writeable = False


def _identity() -> Any:
    """Return the identity rotation, one array for all frames."""
    return IDENTITY


def _zero() -> Any:
    """Return the zero vector, one array for all frames."""
    return ZERO


@dataclass(frozen=True, eq=False)
class Frame(ReadOnly):
    """Named place on the body of a joint, such as a tool, a foot, a camera or a link.

    Parameters
    ----------
    name : str
    joint : int or str
        Number or name of the joint whose body carries the frame; -1 for the base. A `Model` replaces names by
        numbers.
    R, p : array_like, shapes (3, 3) and (3,)
        Rotation and origin (m) in the frame of the joint.
    type : {"op_frame", "joint", "fixed_joint", "body", "sensor", "site"}
        What the frame was in the robot's description; has no influence on results.
    parent : str
        Name of the frame that it was attached to; has no influence on results.

    Raises
    ------
    InvalidModelError
        If R is not a rotation, p is not three numbers, or the type is unknown.

    Notes
    -----
    Immutable.

    Pinocchio's ``Frame`` with ``parentJoint``, ``placement``, ``type`` and ``parentFrame``.
    """

    name: str
    joint: JointNumber
    R: Array = field(default_factory=_identity)
    p: Array = field(default_factory=_zero)
    type: str = "op_frame"
    parent: str = ""

    def __post_init__(self):
        try:
            self.__setstate__(self._checked())
        except TreefactorError as error:
            raise InvalidModelError(f"frame {self.name!r}: {error}", joint=self.name) from error

    def _checked(self) -> dict:
        """Return the validated placement as copies."""
        if not isinstance(self.name, str) or not self.name:
            raise InvalidModelError(f"its name must be a text that is not empty, got {self.name!r}")
        if self.type not in TYPES:
            known = ", ".join(TYPES)
            raise InvalidModelError(f"its type must be one of {known}, got {self.type!r}")
        if not isinstance(self.joint, Integral | str) or isinstance(self.joint, bool):
            raise InvalidModelError(f"expected the number of a joint or its name, got {self.joint!r}")
        return {
            "R": self.R if self.R is IDENTITY else _rotation(self.R, "R"),
            "p": self.p if self.p is ZERO else as_vector(self.p, 3, "p").copy(),
        }

    @property
    def placement(self) -> np.ndarray:
        """Return the placement [R | p] in the frame of the joint, shape (3, 4)."""
        return np.column_stack([self.R, self.p])

    def renamed(self, name: str, type: str, parent: str) -> Frame:
        """Return another frame at the same place; its attributes are not validated."""
        frame = object.__new__(Frame)
        frame.__setstate__({**vars(self), "name": name, "type": type, "parent": parent})
        return frame

    def moved(self, R: np.ndarray, p: np.ndarray, joint: int) -> Frame:
        """Return the frame on another joint, in whose frame that of the present one has placement R, p."""
        return replace(self, joint=joint, R=R @ self.R, p=p + R @ self.p)


def frames_of_joints(joints: Iterable[Joint]) -> tuple[Frame, ...]:
    """Return a frame for every joint, and one for its body if that has a name of its own."""
    frames = []
    for i, joint in enumerate(joints):
        frames.append(Frame(joint.name, i, type="joint"))
        if joint.body and joint.body != joint.name:
            frames.append(Frame(joint.body, i, type="body", parent=joint.name))
    return tuple(frames)


def distinct_names(names: Iterable[str], types: Iterable) -> list[str]:
    """Return the names of an engine's frames; " (frame k)" ends an empty one, and one taken in its type."""
    distinct: list[str] = []
    taken = set()
    for k, (name, type) in enumerate(zip(names, types, strict=True)):
        own = name
        while not own or (own, type) in taken:
            own = f"{own} (frame {k})".lstrip()
        taken.add((own, type))
        distinct.append(own)
    return distinct


def frames_by_name(frames: Iterable[Frame]) -> dict[str, list[Frame]]:
    """Return the frames of every name."""
    named: dict[str, list[Frame]] = {}
    for frame in frames:
        named.setdefault(frame.name, []).append(frame)
    return named


def checked_frames(frames: Iterable[Frame], numbers: dict[str, int], njoints: int) -> tuple[Frame, ...]:
    """Return frames with names of joints replaced by numbers; raise InvalidModelError for unknown ones.

    Two frames may share a name if their types differ, as in Pinocchio.
    """
    checked, seen = [], set()
    for frame in frames:
        if (frame.name, frame.type) in seen:
            raise InvalidModelError(
                f"two frames of type {frame.type!r} are called {frame.name!r}", joint=frame.name
            )
        seen.add((frame.name, frame.type))
        joint = frame.joint
        if isinstance(joint, str) and joint not in numbers:
            reason = f"{joint!r} is not a joint or body of the model{similar(joint, numbers)}"
            raise InvalidModelError(f"frame {frame.name!r}: {reason}", joint=frame.name)
        joint = numbers[joint] if isinstance(joint, str) else int(joint)
        if not -1 <= joint < njoints:
            raise InvalidModelError(
                f"frame {frame.name!r} is on joint {joint}, there are {njoints} and the base, -1",
                joint=frame.name,
            )
        checked.append(frame if joint is frame.joint else replace(frame, joint=joint))
    return tuple(checked)


def frame_of(model, frame, type: str | None = None, argument: str = "frame") -> Frame:
    """Return a frame given by its name, by the name of a joint or body, or as a Frame; -1 is the base.

    Raises
    ------
    InvalidModelError
        If the model has no frame of that name (proposes similar names), or frames of that name and different
        types at different places.
    DtypeError
        For anything else. A number could be that of a joint, or what Pinocchio's ``getFrameId`` returns.
    """
    if isinstance(frame, Frame):
        return checked_frames([frame], model.numbers, model.njoints)[0]
    if isinstance(frame, str):
        frames = model._frames_by_name
        numbers = {} if type is None and frame in frames else model.numbers  # made if needed
        return named_frame(frame, frames, numbers, model.name, type, argument)
    number = index_of(frame, argument)
    if number == -1:
        return frame_of_joint(model, -1)
    meanings = [f"joint {number} is {model.joints[number].name!r}"] if 0 <= number < model.njoints else []
    if 0 <= number < len(model.frames):
        name = model.frames[number].name
        meanings.append(f"frame {number}, as Pinocchio counts them, is model.frames[{number}], {name!r}")
    advice = f": {'; '.join(meanings)}" if meanings else ""
    raise DtypeError(f"{argument} must be a name or a Frame, got {number}{advice}")


def index_of(frame, argument: str) -> int:
    """Return a number in the place of a frame, which `frame_of` refuses, as an int; raise DtypeError."""
    try:
        return operator.index(frame)
    except TypeError:
        raise DtypeError(f"{argument} must be a name or a Frame, got {received(frame)}") from None


def frame_of_joint(model, number: int) -> Frame:
    """Return the frame of a joint, or of the base, -1, given by a valid number."""
    return Frame(model.joints[number].name if number >= 0 else "base", number, type="joint")


def joint_number(model, number, argument: str) -> int:
    """Return the number of a joint, -1 for the base; raise IndexError, ValueError or DtypeError."""
    number = whole_number(number, argument)
    if number >= model.njoints:
        raise IndexError(
            f"there are {model.njoints} joints and the base, -1; got {argument} {number}: frames are given "
            "by name, or as model.frames[number]"
        )
    return number


def whole_number(number, argument: str) -> int:
    """Return the number of a joint, of any model, as an int; raise ValueError or DtypeError."""
    if not hasattr(number, "__index__"):
        wanted = "a name, a Frame or the number of a joint"
        raise DtypeError(f"{argument} must be {wanted}, got {received(number)}")
    return as_count(number, argument, -1)


def named_frame(
    name: str,
    frames: Mapping[str, list[Frame]],
    numbers: Mapping[str, int],
    owner: str = "",
    type: str | None = None,
    argument: str = "frame",
) -> Frame:
    """Return the frame of a name, or that of the joint or body of this name in the model called ``owner``."""
    matching = [frame for frame in frames.get(name, ()) if type in (None, frame.type)]
    if matching:
        first, *others = matching
        if any(other.joint != first.joint or (other.placement != first.placement).any() for other in others):
            types = ", ".join(repr(frame.type) for frame in matching)
            raise InvalidModelError(
                f"{argument} {name!r}: frames of types {types} have this name and lie at different places: "
                "pass model.frame(name, type)",
                joint=name,
            )
        return first
    if type is None and name in numbers:
        return Frame(name, numbers[name], type="joint")
    kind = "frame" if type is None else f"frame of type {type!r}"
    where = f"a {kind}, joint or body of {owner or 'the model'}"
    raise InvalidModelError(
        f"{argument} {name!r} is not {where}{similar(name, {**frames, **numbers})}", joint=name
    )


def located(model, body, R=None, p=(0.0, 0.0, 0.0), argument: str = "body"):
    """Return the joint of a body or frame, and a placement R, p in the body or frame as one in the joint.

    A name means a joint or body first, then a frame. R may be None, and stays None.

    Raises
    ------
    InvalidModelError, IndexError, ValueError, DtypeError
        As `frame_of`.
    """
    if isinstance(body, str) and body in model.numbers:
        return model.numbers[body], R, p
    if not isinstance(body, str | Frame):
        return joint_number(model, body, argument), R, p
    own = frame_of(model, body, argument=argument)
    return own.joint, None if R is None else own.R @ R, own.p + own.R @ p


def body_number(model, body, name: str = "body") -> int:
    """Return the number of the joint that carries a body or frame: -1 for the base.

    Raises
    ------
    InvalidModelError, IndexError, ValueError, DtypeError
        As `frame_of`.
    """
    return located(model, body, argument=name)[0]


def support_of(model, frame: Frame) -> np.ndarray:
    """Return the columns of v that move a frame, ascending: those of the joints between it and the base."""
    columns: set[int] = set()
    joint = frame.joint
    while joint >= 0:
        one = model.joints[joint]
        count = model.joints[one.mimic.leader].nv if one.mimic else one.nv
        columns |= set(range(model.idx_v[joint], model.idx_v[joint] + count))
        joint = one.parent
    return np.array(sorted(columns), dtype=np.intp)
