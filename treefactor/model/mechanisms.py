"""Define named mechanisms with closed loops: planar linkages and platforms on six legs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from .._util.rotations import about, rotate, unit
from .._util.validation import as_vector
from ..exceptions import ConfigurationError
from .joints import Inertia, Joint, Loop
from .model import Model

__all__ = [
    "IN_PLANE",
    "LEGS",
    "MECHANISMS",
    "Mechanism",
    "Z",
    "docking_platform",
    "five_bar",
    "four_bar",
    "stewart",
]

Z = (0.0, 0.0, 1.0)
IN_PLANE = (0.0, -9.81, 0.0)  # gravity of linkages in the x-y plane
LEGS = range(6)
DRAWS = 100  # of `Mechanism.random`


@dataclass(frozen=True)
class Mechanism:
    """Model with loops, and a function that closes them.

    Attributes
    ----------
    model : Model
    independent : tuple of str
        Joints whose positions are the inputs.
    rest, reach : tuple of float
        Positions of these joints at rest, and the largest difference from them in `random`; the quaternion of
        a free-flyer differs by that much before it is normalized.
    close : callable
        Maps positions of these joints, shape (k,), to q, shape (nq,), with all loops closed. Raises
        ConfigurationError if the loops cannot close, ShapeError or NonFiniteError for invalid positions.

    Notes
    -----
    Immutable.
    """

    model: Model
    independent: tuple[str, ...]
    rest: tuple[float, ...]
    reach: tuple[float, ...]
    close: Callable[[np.ndarray], np.ndarray]

    def __post_init__(self):
        object.__setattr__(self, "close", partial(_closed, self.close, len(self.rest)))

    @property
    def closed(self) -> np.ndarray:
        """Return the closed configuration q at rest, shape (nq,)."""
        return self.close(np.array(self.rest))

    def random(self, rng: np.random.Generator | int) -> np.ndarray:
        """Return a random closed configuration q, shape (nq,); rng may be a seed.

        Positions that close no loops are drawn again; ConfigurationError is raised after ``DRAWS`` of them.
        """
        rng = np.random.default_rng(rng)
        for _ in range(DRAWS - 1):
            with suppress(ConfigurationError):
                return self.close(self._near_rest(rng))
        return self.close(self._near_rest(rng))

    def _near_rest(self, rng: np.random.Generator) -> np.ndarray:
        """Draw positions of the independent joints."""
        return np.array(self.rest) + rng.uniform(-1, 1, len(self.rest)) * self.reach


def four_bar() -> Mechanism:
    """Build a four-bar linkage: crank and rocker, connected by a coupler.

    Lengths, in m: ground 0.5, crank 0.2, coupler 0.5, rocker 0.4. Links are rods of 4 kg/m. The tip of the
    coupler is a spherical joint on the rocker; in the plane one of its three rows is redundant.

    Returns
    -------
    Mechanism
    """
    joints = [
        Joint("crank", "revolute", axis=Z, inertia=_rod(0.2)),
        Joint("coupler", "revolute", 0, p=(0.2, 0, 0), axis=Z, inertia=_rod(0.5)),
        Joint("rocker", "revolute", p=(0.5, 0, 0), axis=Z, inertia=_rod(0.4)),
    ]
    loop = Loop("tip", "spherical", 1, 2, p1=(0.5, 0, 0), p2=(0.4, 0, 0))

    model = Model(joints, gravity=IN_PLANE, name="four-bar", loops=[loop])
    return Mechanism(model, ("crank",), (0.7,), (np.pi,), _close_four_bar)


def five_bar() -> Mechanism:
    """Build a five-bar linkage: two planar arms with connected tips.

    The shoulders are 0.4 m apart, upper arms 0.3 m and forearms 0.45 m long; rods of 4 kg/m. The tips are
    connected by a spherical joint. The shoulders are the inputs, the elbows follow.

    Returns
    -------
    Mechanism
    """
    base, upper, fore = 0.4, 0.3, 0.45
    joints = [
        Joint("shoulder0", "revolute", axis=Z, inertia=_rod(upper)),
        Joint("elbow0", "revolute", 0, p=(upper, 0, 0), axis=Z, inertia=_rod(fore)),
        Joint("shoulder1", "revolute", p=(base, 0, 0), axis=Z, inertia=_rod(upper)),
        Joint("elbow1", "revolute", 2, p=(upper, 0, 0), axis=Z, inertia=_rod(fore)),
    ]
    loop = Loop("tip", "spherical", 1, 3, p1=(fore, 0, 0), p2=(fore, 0, 0))

    model = Model(joints, gravity=IN_PLANE, name="five-bar", loops=[loop])
    close = partial(_close_five_bar, base, upper, fore)
    return Mechanism(model, ("shoulder0", "shoulder1"), (2.3, 0.8), (0.25, 0.25), close)


def stewart() -> Mechanism:
    """Build a Stewart platform on six legs of variable length, cut at the spherical joints under it.

    The platform is a free-flyer of 30 kg, a disc of radius 0.4 m. Legs are a universal joint on the base, a
    sliding rod, and the spherical joint. See `docking_platform` for their positions.

    Returns
    -------
    Mechanism
    """
    disc = Inertia(30.0, (0, 0, 0.02), np.diag([1.2, 1.2, 2.4]))
    joints, loops = [Joint("platform", "freeflyer", inertia=disc)], []
    for k in LEGS:
        foot = _foot(k)
        joints += [
            Joint(f"foot{k}", "universal", p=foot[1], R=foot[0], axis=np.eye(3)[:2], inertia=_CYLINDER),
            Joint(f"rod{k}", "prismatic", len(joints), axis=Z, inertia=_ROD),
        ]
        loops.append(Loop(f"ball{k}", "spherical", len(joints) - 1, 0, p2=_head(k)[1]))

    model = Model(joints, name="Stewart platform", loops=loops)
    rest, reach = (0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0), (0.1, 0.1, 0.1, 0.15, 0.15, 0.15, 0.0)
    return Mechanism(model, ("platform",), rest, reach, _close_stewart)


def docking_platform() -> Mechanism:
    """Build a docking mechanism: a ring on six legs, cut at the universal joints under it.

    Golubev & Yaskevich (2020) publish these properties of theirs: six freedoms, six loops, joints of one
    freedom each, universal or spherical cuts, 42 sines and cosines. So 21 coordinates are angles, as here:
    three of the ring, three of every leg. Everything else is our choice. The ring slides along x, y and z and
    turns about z, y and x. A leg is a universal joint on the base, a rod that slides and turns in its
    cylinder, and a universal joint under the ring: four coordinates that follow from its loop.

    Feet stand on a circle of 0.6 m at 15 degrees to both sides of 0, 120 and 240 degrees, heads on one of
    0.5 m at 15 degrees to both sides of 60, 180 and 300, leg k between the k-th of both. The outer axes of
    the joints of a foot are radial, inner axes at right angles; the axes fixed to the ring are tangential.
    Masses: ring 120 kg, its centre 0.04 m above the heads, its tensor without symmetry; cylinders 5 kg,
    their centres 0.15 m from the feet; rods 3 kg, their centres 0.2 m below the heads.

    Returns
    -------
    Mechanism
    """
    ring = Inertia(120.0, (0.01, -0.02, 0.04), [[15.0, 0.3, -0.2], [0.3, 16.0, 0.4], [-0.2, 0.4, 29.0]])
    joints = [Joint("ring", "translation")]
    for i, name in ((2, "yaw"), (1, "pitch"), (0, "roll")):
        body = ring if name == "roll" else Inertia()
        joints.append(Joint(name, "revolute", len(joints) - 1, axis=np.eye(3)[i], inertia=body))
    loops = []
    for k in LEGS:
        R, p = _foot(k)
        joints += [
            Joint(f"foot{k}", "universal", p=p, R=R, axis=np.eye(3)[:2], inertia=_CYLINDER),
            Joint(f"rod{k}", "prismatic", len(joints), axis=Z),
            Joint(f"turn{k}", "revolute", len(joints) + 1, axis=Z, inertia=_ROD),
        ]
        R, p = _head(k)
        loops.append(Loop(f"head{k}", "universal", len(joints) - 1, 3, R1=_CYCLE, R2=R @ _CYCLE, p2=p))

    model = Model(joints, name="docking platform", loops=loops)
    rest, reach = (0.0, 0.0, 0.6, 0.0, 0.0, 0.0), (0.1, 0.1, 0.1, 0.25, 0.25, 0.25)
    return Mechanism(model, ("ring", "yaw", "pitch", "roll"), rest, reach, _close_docking_platform)


def _close_four_bar(x: np.ndarray) -> np.ndarray:
    """Return q of the four-bar linkage for the crank angle."""
    crank = x[0]
    elbow = 0.2 * _direction(crank)
    tip = _meeting(elbow, 0.5, np.array([0.5, 0.0]), 0.4)
    return np.array([crank, _angle(tip - elbow) - crank, _angle(tip - (0.5, 0.0))])


def _close_five_bar(base: float, upper: float, fore: float, x: np.ndarray) -> np.ndarray:
    """Return q of the five-bar linkage for both shoulder angles."""
    elbows = [upper * _direction(x[0]), np.array([base, 0.0]) + upper * _direction(x[1])]
    tip = _meeting(elbows[0], fore, elbows[1], fore)
    follow = [_angle(tip - elbow) - angle for elbow, angle in zip(elbows, x, strict=True)]
    return np.array([x[0], follow[0], x[1], follow[1]])


def _close_stewart(x: np.ndarray) -> np.ndarray:
    """Return q of the Stewart platform for the placement of the platform."""
    turn = unit(x[3:])
    legs = [_leg(k, np.stack(rotate(turn, np.eye(3))), x[:3])[:3] for k in LEGS]
    return np.concatenate([x[:3], turn, *legs])


def _close_docking_platform(x: np.ndarray) -> np.ndarray:
    """Return q of the docking platform for the placement of the ring."""
    R = about(2, x[3]) @ about(1, x[4]) @ about(0, x[5])
    return np.concatenate([x, *(_leg(k, R, x[:3]) for k in LEGS)])


MECHANISMS = {"four-bar": four_bar, "five-bar": five_bar, "stewart": stewart, "docking": docking_platform}

_CYLINDER = Inertia(5.0, (0, 0, 0.15), np.diag([0.05, 0.05, 0.01]))
_ROD = Inertia(3.0, (0, 0, -0.2), np.diag([0.04, 0.04, 0.002]))
_CYCLE = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # x, y, z to y, z, x


def _closed(close: Callable, size: int, x) -> np.ndarray:
    """Return the configuration that closes the loops; raise ConfigurationError if none is found."""
    x = as_vector(x, size, "x")
    with np.errstate(all="ignore"):
        q = close(x)
    if not np.isfinite(q).all():
        raise ConfigurationError(f"no configuration closes the loops with these joints at {x}")
    return q


def _rod(length: float) -> Inertia:
    """Return the inertia of a rod of 4 kg/m along x that begins at the joint."""
    mass = 4.0 * length
    across = mass * length**2 / 12
    return Inertia(mass, (length / 2, 0, 0), np.diag([across / 100, across, across]))


def _direction(angle: float) -> np.ndarray:
    """Return the planar unit vector at an angle."""
    return np.array([np.cos(angle), np.sin(angle)])


def _angle(x) -> float:
    """Return the angle of a planar vector."""
    return float(np.arctan2(x[1], x[0]))


def _meeting(a: np.ndarray, r: float, b: np.ndarray, s: float) -> np.ndarray:
    """Return the point at distance r from a and s from b, on the left of the line from a to b."""
    d = np.linalg.norm(b - a)
    x = (b - a) / d
    along = (d**2 + r**2 - s**2) / (2 * d)
    return a + along * x + np.sqrt(r**2 - along**2) * np.array([-x[1], x[0]])


def _foot(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (x radial) and origin of the lower end of a leg on the base."""
    return _on_circle(0.6, (0, 120, 120, 240, 240, 0)[k] + (15, -15)[k % 2])


def _head(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (x radial) and origin of the upper end of a leg on the platform."""
    return _on_circle(0.5, (60, 60, 180, 180, 300, 300)[k] + (-15, 15)[k % 2])


def _on_circle(radius: float, degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (x radial) and position of a point on a circle."""
    R = about(2, np.radians(degrees))
    return R, radius * R[:, 0]


def _leg(k: int, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return both foot angles, the length and the rod angle of a leg under a platform at R and p."""
    (F, foot), (H, head) = _foot(k), _head(k)
    span = F.T @ (p + R @ head - foot)
    length = np.linalg.norm(span)
    x, y, z = span / length
    outer, inner = np.arctan2(-y, z), np.arcsin(x)
    axis = (F @ about(0, outer) @ about(1, inner)).T @ R @ H[:, 1]  # axis of the ring in the frame of the leg
    return np.array([outer, inner, length, np.arctan2(-axis[0], axis[1])])
