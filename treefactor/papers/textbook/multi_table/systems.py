"""Describe a mechanism in the tables of section 4: branches (BDT) and loops (LDT).

Loops are cut; what they connect are one independent branch, which may be a tree, and dependent chains. Bodies
are numbered from 1 in their branch, 0 is the base. A joint with several freedoms is a chain of joints with
bodies without mass between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...._util.rotations import about
from ....exceptions import CodegenError

AXES = {"universal": 2, "translation": 3}  # kinds of several freedoms, and how many these are
SLIDING = ("prismatic", "translation")
CUTS = ("universal", "spherical")


@dataclass(frozen=True)
class Body:
    """Row of BDT: a body, the joint that carries it, and the frame of that joint in the preceding body.

    r and angles place the joint's frame in that of the preceding body; k is the axis (0 to 2), turns is 1 for
    a joint that turns, 0 for one that slides (r^J). d, m and I are centre of mass, mass, and IX, IY, IZ, IXY,
    IXZ, IYZ about the origin of the body's frame. ``freedom`` is the entry of the model's v.
    """

    branch: int
    p: int
    j: int
    r: np.ndarray
    angles: tuple[float, float, float]
    k: int
    turns: int
    d: np.ndarray
    m: float
    I: tuple[float, ...]
    freedom: int

    def gamma(self, rounded: bool) -> np.ndarray:
        """Return the constant matrix from the preceding body's axes to the joint's."""
        return transformation(self.angles, rounded)

    @property
    def tensor(self) -> np.ndarray:
        """Inertia tensor: products of inertia enter with a minus sign."""
        x, y, z, xy, xz, yz = self.I
        return np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]])


@dataclass(frozen=True)
class Cut:
    """Row of LDT: joint that closes a loop; of both ends the body, and the joint's frame in it."""

    independent: int
    branch: int
    dependent: int
    r: np.ndarray
    angles: tuple[float, float, float]
    kind: str
    r_d: np.ndarray
    angles_d: tuple[float, float, float]


@dataclass
class System:
    """BDT by branch, LDT, and the gravity of the base."""

    BDT: list[list[Body]]
    LDT: list[Cut]
    gravity: np.ndarray
    last: dict[int, tuple[int, int]] = field(default_factory=dict)  # of a joint of the model: branch and body

    @classmethod
    def of(cls, model) -> System:
        """Describe a model.

        Raises CodegenError unless its joints turn or slide about axes of coordinates and its loops are cut at
        universal or spherical joints of chains on the base.
        """
        system = cls([[]], [], np.asarray(model.gravity, dtype=float))
        chains = [path(model, loop.first) for loop in model.loops]
        branch_of = {joint: b for b, chain in enumerate(chains, 1) for joint in chain}
        system.BDT += [[] for _ in chains]
        for number in range(len(model.joints)):
            system.add(model, number, branch_of.get(number, 0))
        for b, loop in enumerate(model.loops, 1):
            if loop.kind not in CUTS or system.last[loop.second][0] != 0:
                raise CodegenError(
                    f"loop {loop.name!r} must be universal or spherical, and end in the independent branch"
                )
            ends = (system.last[loop.second][1], b, system.last[loop.first][1])
            places = (loop.p2, angles_of(loop.R2), loop.kind, loop.p1, angles_of(loop.R1))
            system.LDT.append(Cut(*ends, *places))
        return system

    def add(self, model, number: int, branch: int) -> None:
        """Append the bodies of one joint of a model."""
        joint, rows = model.joints[number], self.BDT[branch]
        axes = np.eye(3) if joint.kind == "translation" else np.atleast_2d(joint.axis)
        size = AXES.get(joint.kind, 1)
        ks = [int(np.argmax(axis)) for axis in axes]
        straight = joint.kind in (*AXES, "revolute", "prismatic") and np.array_equal(axes, np.eye(3)[ks])
        if not straight or joint.mimic is not None or np.any(joint.armature):
            raise CodegenError(
                f"joint {joint.name!r} must turn or slide about axes of its frame, without mimic or armature"
            )
        p = self.last[joint.parent][1] if joint.parent >= 0 else 0
        if joint.parent >= 0 and self.last[joint.parent][0] != branch:
            raise CodegenError(f"joint {joint.name!r} must be of the branch of the joint before it")
        for step, k in enumerate(ks):
            outer, is_last = step == 0, step == size - 1
            inertia = joint.inertia
            mass, d = (inertia.mass, inertia.com) if is_last else (0.0, np.zeros(3))
            A = inertia.tensor + mass * (d @ d * np.eye(3) - np.outer(d, d)) if is_last else np.zeros((3, 3))
            rows.append(
                Body(
                    *(branch, p, len(rows) + 1, np.asarray(joint.p) if outer else np.zeros(3)),
                    *(angles_of(joint.R) if outer else (0.0, 0.0, 0.0), k, int(joint.kind not in SLIDING)),
                    *(np.asarray(d), mass, (A[0, 0], A[1, 1], A[2, 2], -A[0, 1], -A[0, 2], -A[1, 2])),
                    model.idx_v[number] + step,
                )
            )
            p = len(rows)
        self.last[number] = branch, p


def path(model, joint: int) -> list[int]:
    """Return a joint and those before it."""
    joints = []
    while joint >= 0:
        joints.append(joint)
        joint = model.joints[joint].parent
    return joints


def angles_of(R) -> tuple[float, float, float]:
    """Return angles a, b, c of R = Rx(a) Ry(b) Rz(c); c = 0 where x and z are parallel."""
    R = np.asarray(R)
    b = np.arctan2(R[0, 2], np.hypot(R[0, 0], R[0, 1]))
    if np.hypot(R[0, 0], R[0, 1]) < 1e-12:
        return float(np.arctan2(R[2, 1], R[1, 1])), float(b), 0.0
    return float(np.arctan2(-R[1, 2], R[2, 2])), float(b), float(np.arctan2(-R[0, 1], R[0, 0]))


def transformation(angles: tuple[float, float, float], rounded: bool) -> np.ndarray:
    """Return the matrix to the axes of a frame with these angles."""
    R = np.eye(3)
    for k, angle in enumerate(angles):
        R = R @ about(k, angle)
    whole = R.round()
    return (np.where(np.abs(R - whole) < 1e-10, whole, R) if rounded else R).T + 0.0
