"""Declare what an engine offers to the comparison: a module of a few functions, and its conventions as data.

The comparison translates between an engine and Pinocchio by these declarations alone (see
``treefactor._util.conventions``); an engine's module loads a file, calls the engine, and returns its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

MIMIC = "mimic"  # option of load that has mimic joints follow the joint that they name; see Engine.COUPLES
UNEXPLAINED = (
    "unexplained"  # cause that Engine.settings names where the simulation deviates with all settings off
)

Axes = Literal["world", "body", "inertial"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Base:
    """Convention in which an engine writes the pose, velocity and acceleration of a free joint.

    Attributes
    ----------
    order : {"linear-angular", "angular-linear"}
        Which half of the velocity comes first.
    linear, angular : {"world", "body", "inertial"}
        Axes of the linear and of the angular velocity: of the world, of the link frame, or of the inertial
        frame of the link. Accelerations are classical; only those of a linear velocity in "body" axes are the
        derivatives of its entries, as in Pinocchio.
    point : {"origin", "com"}
        Point whose velocity the linear one is: the origin of the link frame, or its centre of mass.
    placed : {"origin", "com"}
        Frame whose pose q holds: the link frame, or the inertial frame of the link at its centre of mass.
    pose : {"p xyzw", "p wxyz", "wxyz p"}
        Entries of that pose in q: position (m) and quaternion. The quaternions of spherical joints have the
        same order of entries.
    always : bool
        Whether v has six entries of a base that is fixed, too. They are left out of the comparison.
    com : ndarray, shape (3,)
        Centre of mass of the link in its frame (m).
    axes : ndarray, shape (3, 3)
        Rotation of the inertial frame in the link frame.

    Notes
    -----
    Thread-compatible.
    """

    order: Literal["linear-angular", "angular-linear"] = "linear-angular"
    linear: Axes = "body"
    angular: Axes = "body"
    point: Literal["origin", "com"] = "origin"
    placed: Literal["origin", "com"] = "origin"
    pose: Literal["p xyzw", "p wxyz", "wxyz p"] = "p xyzw"
    always: bool = False
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))


@dataclass(frozen=True, eq=False)
class EngineJoint:
    """Joint with at least one freedom.

    Attributes
    ----------
    name : str
        As in the file; joints are matched by name. A free joint has any name: the only free joint of an
        engine is matched with ``root_joint``.
    kind : {"revolute", "prismatic", "spherical", "planar", "free", "other"}
        Continuous joints are "revolute". "other" is never translated.
    parent : int
        Next joint with freedoms towards the world, as an index into the list of joints; -1 for none.
    q, v : slice
        Its entries in q and v: one of a revolute joint, or two, (cos, sin).
    axes : ndarray, shape (3, 3), optional
        Of a spherical joint: rotation, in the child link's frame, of the axes in which the engine writes its
        angular velocity and its quaternion. Of the world's axes by default for none.
    body : str
        Link that carries the joint, where several joints of one body form one joint of Pinocchio (MJCF).

    Notes
    -----
    Thread-compatible.
    """

    name: str
    kind: Literal["revolute", "prismatic", "spherical", "planar", "free", "other"]
    parent: int
    q: slice
    v: slice
    axes: np.ndarray | None = None
    body: str = ""


@dataclass(frozen=True, eq=False)
class ContactScene:
    """A rigid body at rest above the ground z = 0, and the run that a comparison of contacts asks for.

    Attributes
    ----------
    path : pathlib.Path
        URDF without moving joints.
    p : ndarray, shape (3,)
        Origin of the root link at the start (m).
    R : ndarray, shape (3, 3)
        Rotation of the root link at the start.
    gravity : ndarray, shape (3,)
        In the axes of the ground (m/s^2): an incline is a tilted gravity.
    mu : float
        Coefficient of friction.
    h : float
        Step (s).
    steps : int

    Notes
    -----
    Thread-compatible.
    """

    path: Path
    p: np.ndarray
    R: np.ndarray
    gravity: np.ndarray
    mu: float
    h: float
    steps: int


@dataclass(frozen=True, eq=False)
class ContactRun:
    """Motion of the body of a `ContactScene`, and the forces of the ground in the last step.

    Attributes
    ----------
    p : ndarray, shape (steps + 1, 3)
        Origin of the root link (m).
    R : ndarray, shape (3, 3)
        Rotation of the root link at the end.
    points : ndarray, shape (points, 3)
        Where the ground touches the body (m).
    normal : ndarray, shape (points,)
        Normal forces (N).

    Notes
    -----
    Thread-compatible.
    """

    p: np.ndarray
    R: np.ndarray
    points: np.ndarray
    normal: np.ndarray


class Engine(Protocol):
    """Functions of an engine's module; q, v, a, tau and H are in the engine's own conventions.

    Obligatory are the constants NAME, READS and DTYPE, `load`, `joints`, `base`, `mass_matrix` and
    `bias`. What else a module lacks is reported as *not offered*.
    """

    NAME: str  # in messages
    READS: Sequence[str]  # formats of files, among "urdf", "mjcf" and "sdf", the one to prefer first
    DTYPE: str  # precision of the results, "float64" or "float32"
    FLOATS: bool  # optional: False if the engine has no floating base
    COUPLES: bool  # optional: whether `load` has the option MIMIC, which is then not among OPTIONS
    EPSILON: float  # optional: relative rounding of the engine where it is worse than that of DTYPE
    REWRITES: frozenset[str]  # optional: options with which `load` gives the engine another text of the file
    PIP: str  # optional: argument of pip install
    OPTIONS: Mapping[
        str, str
    ]  # optional: of load, by name: what the engine does without it, as a sentence's end

    CONVENTIONS: frozenset[str]  # optional: OPTIONS that choose between conventions; the comparison sets them

    def load(self, path, floating: bool, gravity, options: frozenset[str] = frozenset()) -> Any:
        """Load a file the way scripts do, except for the options named; return the robot.

        ``gravity`` is in the world (m/s^2); None keeps that of the file. A method ``close`` of the result is
        called at the end.

        Raises AdapterError where the engine refuses the file.
        """

    def joints(self, body) -> Sequence[EngineJoint]:
        """Return the joints with freedoms, a parent before its children, in the order of v."""

    def base(self, body) -> Base:
        """Return the convention of the free joint."""

    def mass_matrix(self, body, q) -> np.ndarray:
        """Return H, both triangles, shape (nv, nv)."""

    def bias(self, body, q, v) -> np.ndarray:
        """Return Coriolis, centrifugal and gravity forces, shape (nv,)."""

    def gravity_forces(self, body, q) -> np.ndarray:
        """Return the bias at rest, shape (nv,)."""

    def inverse_dynamics(self, body, q, v, a) -> np.ndarray:
        """Return H a + bias by the engine's own recursion, shape (nv,)."""

    def acceleration(self, body, q, v, tau) -> np.ndarray:
        """Return q̈ by the engine's own algorithm, shape (nv,)."""

    def frames(self, body) -> Sequence[str]:
        """Return the links whose placements the engine knows; by default all links of the file."""

    def placement(self, body, q, frame: str) -> np.ndarray:
        """Return the pose of a link frame in the world, shape (4, 4)."""

    def jacobian(self, body, q, frame: str) -> np.ndarray:
        """Return the Jacobian of a link frame's origin, world axes, linear rows first, shape (6, nv)."""

    def jacobian_dot_v(self, body, q, v, frame: str) -> np.ndarray:
        """Return the time derivative of that Jacobian times v, shape (6,)."""

    def com(self, body, q) -> np.ndarray:
        """Return the centre of mass of all links, the root included, in the world (m), shape (3,)."""

    def momentum(self, body, q, v) -> np.ndarray:
        """Return linear momentum and angular momentum about the centre of mass, world axes, shape (6,)."""

    def kinetic_energy(self, body, q, v) -> float:
        """Return the kinetic energy (J)."""

    def potential_energy(self, body, q) -> float:
        """Return the energy of gravity, zero for masses at the world's origin (J)."""

    def rnea_derivatives(self, body, q, v, a) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of inverse dynamics by q, along v, and by v, each of shape (nv, nv)."""

    def factors(self, body, q) -> tuple[np.ndarray, np.ndarray]:
        """Return L, unit lower triangular, and the diagonal of D with H = L^T D L, by the engine."""

    def inertials(self, body) -> dict:
        """Return the inertias of the links in the engine, by name, in the axes of the link frame."""

    def settings(self, path, floating: bool, gravity, rng) -> list[tuple[str, float, tuple[str, ...]]]:
        """Find what acts by default when a script simulates the file: name, relative effect on q̈, where."""


class ContactEngine(Protocol):
    """Names of a module that runs the scenes of a comparison of contacts in an engine."""

    CONTACT_OPTIONS: Mapping[str, str]  # by name: what the engine does without it, as a sentence's end

    def contact_run(self, scene: ContactScene, options: frozenset[str] = frozenset()) -> ContactRun:
        """Run a scene the way scripts do, friction not set, except for the options named.

        Raises AdapterError where the engine refuses the file.
        """
