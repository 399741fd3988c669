"""Define drives: motors that move a joint, or one translation of a loop, as prescribed functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._util.messages import similar
from .._util.validation import ReadOnly, as_count, as_number, as_real, as_tuple, require_finite
from ..exceptions import DtypeError, InvalidModelError, NonFiniteError, ShapeError
from ..model._states import states
from ..model.model import Model

FREEDOMS = {"universal": 2, "translation": 3} | dict.fromkeys(
    ("revolute", "continuous", "prismatic", "helical"), 1
)  # kinds of joints whose positions change at the rates v, and the number of these
TRANSLATIONS = 3  # rows of a loop that can be driven
NAMES = ("position", "velocity", "acceleration")
VALUES = len(NAMES)
EARLY = 1e-6  # share of a step by which a time may differ from the time of a sample


@dataclass(frozen=True, eq=False)
class Drive(ReadOnly):
    """Motor with prescribed motion: it moves a joint, or one translation of a loop, as a function of time.

    Parameters
    ----------
    joint : int or str
        Joint by its number, by its or its body's name; or a loop by its name: the origin of its second frame
        then moves along an axis of the first one, like the end of an actuator.
    motion : callable or array_like, shape (..., 3)
        ``motion(t)`` returns position, velocity and acceleration: rad or m, and s. Arrays hold the same for
        one time or for a batch of states; for a `Stepper`, row k at the time k h, one row more than steps, or
        ``(position, 0, 0)`` for a joint that is held.
    freedom : int
        Of a universal joint 0 or 1, of a translation or a loop 0, 1 or 2, the axis.

    Raises
    ------
    DtypeError, ShapeError
        If the motion is neither callable nor an array of such a shape, or the joint no number or name.
    NonFiniteError
        If the motion is an array for one time and not finite.

    Notes
    -----
    Immutable.

    Examples
    --------
    A crank at constant speed, and the moment of the motor at t = 0:

    >>> import numpy as np
    >>> from treefactor import constraints, mechanisms
    >>> bar = mechanisms.four_bar()
    >>> motor = constraints.Drive("crank", lambda t: (0.7 + 2.0 * t, 2.0, 0.0))
    >>> rows = constraints.loop_rows(bar.model, bar.closed, drives=[motor])
    >>> v = np.linalg.lstsq(rows.dense(), -rows.rate, rcond=1e-9)[0]
    >>> a, force = constraints.forward_dynamics(bar.model, bar.closed, v, np.zeros(3), drives=[motor])
    >>> v[0].round(9), abs(a[0]) < 1e-9, force.shape
    (np.float64(2.0), np.True_, (4,))
    """

    joint: int | str
    motion: Callable | np.ndarray
    freedom: int = 0

    def __post_init__(self):
        motion = self.motion
        if not callable(motion):
            motion = as_real(motion, "motion").copy()
            if not motion.ndim or motion.shape[-1] != VALUES:
                raise ShapeError(
                    "motion must be a function of t, or hold position, velocity and acceleration in its last "
                    f"axis, got shape {motion.shape}",
                    motion.shape,
                    ("...", VALUES),
                )
            if motion.ndim == 1:
                require_finite(motion, "motion")
        joint = self.joint
        if isinstance(joint, bool):
            raise DtypeError(f"joint must be a whole number or a name, got {joint}")
        joint = joint if isinstance(joint, str) else as_count(joint, "joint")
        self.__setstate__({"joint": joint, "motion": motion, "freedom": as_count(self.freedom, "freedom")})


class Target(NamedTuple):
    """What a drive moves: a freedom of a joint, or an axis of a loop; the other number is -1."""

    joint: int
    loop: int
    freedom: int


def as_drives(drives) -> tuple[Drive, ...]:
    """Return drives as a tuple; raise DtypeError or InvalidModelError for anything else."""
    drives = as_tuple(drives, "drives")
    for k, drive in enumerate(drives):
        if not isinstance(drive, Drive):
            raise InvalidModelError(f"drives[{k}] is not a Drive, but {drive!r}")
    return drives


@lru_cache(maxsize=16)
def targets_of(model: Model, drives: tuple[Drive, ...]) -> tuple[Target, ...]:
    """Look up what the drives of a model move; done once, because drives do not change."""
    targets = tuple(_target(model, k, drive) for k, drive in enumerate(drives))
    for k, target in enumerate(targets):
        if target in targets[:k]:
            first = targets.index(target)
            raise InvalidModelError(f"drives[{first}] and drives[{k}] move the same: {drives[k].joint!r}")
    return targets


def _not_driven(model: Model, name: str, loops: list[str]) -> str:
    """Return the reason why nothing of this name can be driven: it is a frame, or unknown."""
    try:
        joint = model.frame(name).joint
    except InvalidModelError:
        known = [*model.numbers, *loops, *(frame.name for frame in model.frames)]
        return f"{name!r} is not a joint, body or loop of the model{similar(name, known)}"
    if joint < 0:
        return f"{name!r} is a frame on the base, which does not move"
    return f"{name!r} is a frame on joint {model.joints[joint].name!r}: drive the joint, or a loop"


def _target(model: Model, k: int, drive: Drive) -> Target:
    """Look up what drive k moves."""
    loops = [loop.name for loop in model.loops]
    name = drive.joint
    if isinstance(name, str) and name not in model.numbers:
        if name not in loops:
            raise InvalidModelError(f"drives[{k}]: {_not_driven(model, name, loops)}")
        target, freedoms = Target(-1, loops.index(name), drive.freedom), TRANSLATIONS
    else:
        number = model.numbers[name] if isinstance(name, str) else name
        if number >= model.njoints:
            raise InvalidModelError(
                f"drives[{k}]: joint must be less than {model.njoints}, the number of joints, got {number}"
            )
        joint = model.joints[number]
        if joint.mimic:
            leader = model.joints[joint.mimic.leader].name
            raise InvalidModelError(f"drives[{k}]: joint {joint.name!r} follows {leader!r}: drive that one")
        if joint.kind not in FREEDOMS:
            raise InvalidModelError(
                f"drives[{k}]: joint {joint.name!r} is of the kind {joint.kind!r}, expected one of "
                f"{', '.join(FREEDOMS)}; or drive a loop"
            )
        target, freedoms = Target(number, -1, drive.freedom), FREEDOMS[joint.kind]
    if drive.freedom >= freedoms:
        raise InvalidModelError(
            f"drives[{k}]: freedom of {name!r} must be less than {freedoms}, got {drive.freedom}"
        )
    return target


def states_with_motions(given: dict, tails: Mapping[str, tuple[int, ...]], model: Model):
    """Validate arguments as `states` does; an error about a motion that is not finite names its drive."""
    try:
        return states(given, tails, model)
    except NonFiniteError:
        require_finite_motions(given.get("drives", np.zeros(0)))
        raise


def require_finite_motions(motion: np.ndarray, when: str = "") -> None:
    """Raise NonFiniteError if the motions (3 drives,) at one time are not finite; names the drive."""
    bad = np.flatnonzero(~np.isfinite(motion))
    if bad.size:
        k, which = divmod(int(bad[0]), VALUES)
        message = f"drives[{k}]: the {NAMES[which]} of its motion is not finite{when}, got {motion[bad[0]]}"
        raise NonFiniteError(message, row=int(bad[0]))


def motions_at(drives: Sequence[Drive], t) -> np.ndarray:
    """Return position, velocity and acceleration of all drives, (..., 3 drives)."""
    motions = _scalar_motions(drives, t) if isinstance(t, float) else None
    return _motions(drives, as_real(t, "t")) if motions is None else motions


def _scalar_motions(drives: Sequence[Drive], t: float) -> np.ndarray | None:
    """Return the values of functions that return three numbers each, or None for other motions."""
    values: list = []
    for drive in drives:
        motion = drive.motion(t) if callable(drive.motion) else None
        if (
            type(motion) is not tuple
            or len(motion) != VALUES
            or not all(isinstance(x, float | int) for x in motion)
        ):
            return None
        values += motion
    return np.array(values)


def _motions(drives: Sequence[Drive], time: np.ndarray) -> np.ndarray:
    """Return the values of functions and arrays of any form."""
    motions = [
        _called(k, drive.motion, time) if callable(drive.motion) else np.asarray(drive.motion)
        for k, drive in enumerate(drives)
    ]
    leads = {x.shape[:-1]: k for k, x in enumerate(motions) if x.ndim > 1}
    if len(leads) > 1:
        (lead, first), (other_lead, second) = list(leads.items())[:2]
        raise ShapeError(
            f"drives[{second}] has leading axes {other_lead}, drives[{first}] {lead}",
            other_lead,
            (*lead, VALUES),
        )
    lead = next(iter(leads), ())
    return np.concatenate(
        [np.zeros((*lead, 0)), *(np.broadcast_to(x, (*lead, VALUES)) for x in motions)], axis=-1
    )


def _called(k: int, motion: Callable, t: np.ndarray) -> np.ndarray:
    """Return the values (..., 3) of a function of time."""
    try:
        returned = motion(t if t.ndim else float(t))
    except (TypeError, ValueError) as error:
        if not t.ndim:
            raise
        raise ShapeError(
            f"drives[{k}]: motion(t) of t with shape {t.shape} raised {type(error).__name__}: {error}; use "
            "functions of NumPy, which accept arrays",
            t.shape,
            t.shape,
        ) from error
    try:
        position, velocity, acceleration = returned
    except (TypeError, ValueError):
        raise ShapeError(
            f"drives[{k}]: motion(t) must return position, velocity and acceleration, got {returned!r}",
            np.shape(returned),
            (VALUES,),
        ) from None
    values = [as_real(x, f"drives[{k}]: motion(t)") for x in (position, velocity, acceleration)]
    for x in values:
        if x.shape not in ((), t.shape):
            raise ShapeError(
                f"drives[{k}]: motion(t) of t with shape {t.shape} returned shape {x.shape}", x.shape, t.shape
            )
    return np.stack(np.broadcast_arrays(*values), axis=-1)


def steps_at(drives: Sequence[Drive], t: float, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the values (3 drives,) at t, and by how much every position changes until t + h."""
    t = as_number(t, "t")
    now, after = (
        motions_at([_sampled(k, drive, x, h) for k, drive in enumerate(drives)], x) for x in (t, t + h)
    )
    require_finite_motions(now, f" at t = {t:.6g} s")
    require_finite_motions(after, f" at t = {t + h:.6g} s")
    return now, (after - now)[::VALUES]


def _sampled(k: int, drive: Drive, t: float, h: float) -> Drive:
    """Return a drive with its sample at time t; a drive given as a function is returned unchanged."""
    samples = drive.motion
    if callable(samples) or (samples.ndim == 1 and not samples[1:].any()):
        return drive
    if samples.ndim == 1:
        raise ShapeError(
            f"drives[{k}]: one sample {samples.tolist()} moves; give a function of t, or "
            "(position, 0, 0) to hold",
            samples.shape,
            (2, VALUES),
        )
    row = round(t / h)
    if abs(t / h - row) > EARLY or samples.ndim != 2 or not 0 <= row < len(samples):
        raise ShapeError(
            f"drives[{k}]: a motion of shape {samples.shape} has no row for t = {t:.6g} s: rows belong to "
            f"multiples of h = {h:.6g} s, one more than steps; or give a function of t",
            samples.shape,
            (row + 1, VALUES),
        )
    sample = tuple(samples[row].tolist())
    return Drive(drive.joint, lambda _: sample, drive.freedom)
