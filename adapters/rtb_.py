"""Compute the dynamics of a robot by the Robotics Toolbox for Python, to compare engines.

The base is fixed. Units are SI, all results are float64. Joints are depth-first, children in the order of the
file; q and v have one entry for each. Frames of links are those of the file, Jacobians have world axes.

H is n calls of a recursion in Python: 4 s for the 101 joints of tiago_dual, 0.2 s for the 32 of talos.
"""

from __future__ import annotations

from . import requires

with requires("Robotics Toolbox", "rtb"):
    from roboticstoolbox.models.URDF.URDFRobot import URDFRobot
    from xacrodoc import packages

import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from ..exceptions import AdapterError

NAME = "Robotics Toolbox"
READS = ("urdf",)
DTYPE = "float64"
FLOATS = False
OPTIONS: dict[str, str] = {}

KEPT = 64  # results of inverse dynamics


class _Robot(URDFRobot):
    """Robot that keeps its last inverse dynamics, as H and accelerations need the same n calls."""

    def rne(self, q, qd, qdd, symbolic=False, gravity=None):
        """Return the forces of states; the toolbox computes H, the gravity load and q̈ from them."""
        if not self.n:
            return np.zeros(0)
        parts = q, qd, qdd, self.gravity if gravity is None else gravity
        key = tuple(np.asarray(part, dtype=float).tobytes() for part in parts)
        kept = self.__dict__.setdefault("_kept_forces", {})
        if key not in kept:
            if len(kept) >= KEPT:
                kept.clear()
            kept[key] = super().rne(q, qd, qdd, symbolic, gravity)
        return kept[key].copy()


def load(path, floating: bool, gravity, options: frozenset[str] = frozenset()) -> _Robot:
    """Load a URDF; every folder above it is the package of its name, as for the toolbox's own models.

    Raises
    ------
    AdapterError
        If the base is to be floating, or the toolbox refuses the file: it needs all meshes.
    """
    path = Path(path).absolute()
    if floating:
        raise AdapterError(f"{path}: the Robotics Toolbox has no floating base", "rtb", path)
    packages.reset()  # of another file
    packages.update_package_cache({folder.name: folder for folder in reversed(path.parents) if folder.name})
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            robot = _Robot(path)
    except Exception as error:  # whatever its parsers happen to raise
        if getattr(error, "expanded_file", None):
            Path(error.expanded_file).unlink(missing_ok=True)
        reason = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        raise AdapterError(f"{path}: the Robotics Toolbox refuses it: {reason}", "rtb", path) from error
    if gravity is not None:
        robot.gravity = np.asarray(gravity, dtype=float)
    return robot


def joints(body: _Robot) -> Sequence[EngineJoint]:
    """Return the joints with a freedom, a parent before its children."""
    engine_joints = list[EngineJoint]()
    number = dict[str, int]()
    for link in sorted((link for link in body.links if link.isjoint), key=lambda link: link.jindex):
        above = link.parent
        while above is not None and not above.isjoint:
            above = above.parent
        k = number[link.name] = len(engine_joints)
        kind = "prismatic" if link.isprismatic else "revolute"
        parent = -1 if above is None else number[above.name]
        engine_joints.append(EngineJoint(link._joint_name, kind, parent, slice(k, k + 1), slice(k, k + 1)))
    return engine_joints


def base(body: _Robot) -> Base:
    """Return the convention of a base that is always fixed."""
    return Base()


def mass_matrix(body: _Robot, q) -> np.ndarray:
    """Return H, column by column from inverse dynamics."""
    return body.inertia(as_vector(q, body.n, "q")) if body.n else np.zeros((0, 0))


def bias(body: _Robot, q, v) -> np.ndarray:
    """Return Coriolis, centrifugal and gravity forces, and the toolbox's friction."""
    return inverse_dynamics(body, q, v, np.zeros(body.n))


def gravity_forces(body: _Robot, q) -> np.ndarray:
    """Return the forces that hold the robot against gravity."""
    return body.gravload(as_vector(q, body.n, "q")) if body.n else np.zeros(0)


def inverse_dynamics(body: _Robot, q, v, a) -> np.ndarray:
    """Return H a + bias by the toolbox's recursion."""
    return body.rne(*(as_vector(x, body.n, name) for x, name in ((q, "q"), (v, "v"), (a, "a"))))


def acceleration(body: _Robot, q, v, tau) -> np.ndarray:
    """Return q̈ by the toolbox's ``accel``, a dense solve with H, which fails for a single joint."""
    if body.n == 1:
        raise AdapterError("the Robotics Toolbox's accel fails for a robot with a single joint", "rtb")
    state = (as_vector(x, body.n, name) for x, name in ((q, "q"), (v, "v"), (tau, "tau")))
    return body.accel(*state) if body.n else np.zeros(0)


def frames(body: _Robot) -> Sequence[str]:
    """Return the names of all links, those on fixed joints included."""
    return tuple(link.name for link in body.links)


def placement(body: _Robot, q, frame: str) -> np.ndarray:
    """Return the pose of a link frame in the world."""
    return body.fkine(as_vector(q, body.n, "q")[None], end=frame).A  # as one row, which may be empty


def jacobian(body: _Robot, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link frame's origin; the toolbox has the columns of the joints above it."""
    J = np.zeros((6, body.n))
    J[:, _path(body, frame)] = body.jacob0(as_vector(q, body.n, "q"), end=frame)
    return J


def _path(body: _Robot, frame: str) -> np.ndarray:
    """Return the entries in v of the joints above a link."""
    return body.ets(end=frame).jindices.astype(int)  # without any it has floats


def jacobian_dot_v(body: _Robot, q, v, frame: str) -> np.ndarray:
    """Return J̇ v from the toolbox's derivatives of the Jacobian by q."""
    v = as_vector(v, body.n, "v")[_path(body, frame)]
    derivatives = body.hessian0(as_vector(q, body.n, "q"), end=frame)  # derivatives by q are the first axis
    return np.einsum("kij,k,j->i", derivatives, v, v)
