"""Convert configurations and velocities between MuJoCo's layout and Pinocchio's, which is ours."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

import mujoco
import numpy as np

from .. import so3
from .._util._by_identity import ByIdentity  # type: ignore[import-not-found]  # compiled
from .._util.conventions import Pair
from .._util.messages import received
from .._util.protocol import Base, EngineJoint
from .._util.validation import as_real, require_finite
from ..exceptions import ConfigurationError, ShapeError
from ..model.model import Model
from ..tolerances import SAME_CONFIGURATION
from ._mujoco_body import Body, Joint, body_names, halves_of, heavy_joints, joints_of
from ._translation import matched

BASE = Base(linear="world", pose="p wxyz")
# kind of a joint by its number mjtJoint
KINDS = dict(enumerate(("free", "spherical", "prismatic", "revolute")))


def configuration(model: mujoco.MjModel | Body, qpos, robot=None) -> np.ndarray:
    """Convert MuJoCo's qpos to q as treefactor and Pinocchio lay it out.

    Parameters
    ----------
    model : mujoco.MjModel or Body
    qpos : array_like, shape (..., model.nq)
        As ``MjData.qpos``: a free joint has its position and a quaternion w x y z.
    robot : Model or pinocchio.Model, optional
        Model that q is for; joints are matched by name, and its continuous joints have (cos, sin). By default
        the one that ``mujoco_.model(model)`` makes, whose joints are MuJoCo's, in MuJoCo's order.

    Returns
    -------
    ndarray, shape (..., robot.nq)
        Quaternions are x y z w, scaled to length 1, as MuJoCo scales them before it uses them.

    Raises
    ------
    ShapeError, DtypeError
    ConfigurationError
        If a quaternion of a single configuration has length zero; names the joint. In a batch it becomes NaN.
    NonFiniteError
        For a single configuration; in a batch such entries stay.
    AdapterError
        If model and robot have different joints; names them.

    Examples
    --------
    >>> import mujoco
    >>> from treefactor.adapters import mujoco_
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody><body><freejoint/><geom size=".1"/>
    ...     </body></worldbody></mujoco>''')
    >>> mujoco_.configuration(model, [1, 2, 3, 0.8, 0.6, 0, 0])
    array([1. , 2. , 3. , 0.6, 0. , 0. , 0.8])
    """
    layout = _layout(model, robot)
    (qpos,), _ = layout.read(qpos=(qpos, layout.joints, "q"))
    q = qpos[..., layout.to_q]
    if layout.circles.size:
        first, at = layout.circles
        q[..., first], q[..., first + 1] = np.cos(qpos[..., at]), np.sin(qpos[..., at])
    for name, entries in layout.quaternions:
        q[..., entries] = _unit(name, q[..., entries])
    return q


def qpos(model: mujoco.MjModel | Body, q, robot=None) -> np.ndarray:
    """Convert q as treefactor and Pinocchio lay it out to MuJoCo's qpos: the inverse of `configuration`.

    Parameters
    ----------
    model, robot
        As for `configuration`.
    q : array_like, shape (..., robot.nq)

    Returns
    -------
    ndarray, shape (..., model.nq)
        Angles of joints with (cos, sin) lie within -pi and pi. Mimic joints of the robot follow their
        leaders.

    Raises
    ------
    ShapeError, DtypeError, NonFiniteError, AdapterError
        As for `configuration`.
    """
    layout = _layout(model, robot)
    (q,), _ = layout.read(q=(q, layout.rows, "q"))
    entries = q[..., layout.to_qpos]
    if layout.circles.size:
        first, at = layout.circles
        entries[..., at] = np.arctan2(q[..., first + 1], q[..., first])
    for joint, leader, ratio, offset in layout.followers:
        x = q[..., leader.q]
        angle = np.arctan2(x[..., 1:], x[..., :1]) if x.shape[-1] == 2 else x
        entries[..., joint.q] = ratio * angle + offset
    return entries


def velocity(model: mujoco.MjModel | Body, qpos, qvel, robot=None) -> np.ndarray:
    """Convert MuJoCo's qvel to v as treefactor and Pinocchio lay it out.

    Parameters
    ----------
    model, robot
        As for `configuration`.
    qpos : array_like, shape (..., model.nq)
        The rotations of free joints are read from it.
    qvel : array_like, shape (..., model.nv)
        As ``MjData.qvel``: a free joint has the velocity of its origin in world axes, then its angular
        velocity in body axes. Leading axes equal those of qpos; either array may lack them.

    Returns
    -------
    ndarray, shape (..., robot.nv)
        Both velocities of a free joint in body axes. One with armature, which ``mujoco_.model`` makes two
        joints, keeps MuJoCo's.

    Raises
    ------
    ConfigurationError
        If the quaternion of a free joint in a single configuration has length zero; names the joint.
    ShapeError, DtypeError, NonFiniteError, AdapterError
        As for `configuration`.
    """
    layout = _layout(model, robot)
    (qpos, qvel), batch = layout.read(qpos=(qpos, layout.joints, "q"), qvel=(qvel, layout.joints, "v"))
    v = _spread(qvel[..., layout.to_v], batch)
    for pair in layout.free:
        R = _rotation(pair.joint.name, np.roll(qpos[..., pair.joint.q][..., 3:], -1, axis=-1), "qpos")
        v[..., pair.v][..., :3] = so3.act_inverse(R, qvel[..., pair.joint.v][..., :3])
    return v


def qvel(model: mujoco.MjModel | Body, q, v, robot=None) -> np.ndarray:
    """Convert v as treefactor and Pinocchio lay it out to MuJoCo's qvel: the inverse of `velocity`.

    Parameters
    ----------
    model, robot
        As for `configuration`.
    q : array_like, shape (..., robot.nq)
        The rotations of free joints are read from it.
    v : array_like, shape (..., robot.nv)
        Leading axes equal those of q; either array may lack them.

    Returns
    -------
    ndarray, shape (..., model.nv)
        Mimic joints of the robot follow their leaders.

    Raises
    ------
    ConfigurationError, ShapeError, DtypeError, NonFiniteError, AdapterError
        As for `velocity`.
    """
    layout = _layout(model, robot)
    (q, v), batch = layout.read(q=(q, layout.rows, "q"), v=(v, layout.rows, "v"))
    entries = _spread(v[..., layout.to_qvel], batch)
    for pair in layout.free:
        R = _rotation(pair.joint.name, q[..., pair.q][..., 3:], "q")
        entries[..., pair.joint.v][..., :3] = so3.act(R, v[..., pair.v][..., :3])
    for joint, leader, ratio, _ in layout.followers:
        entries[..., joint.v] = ratio * v[..., leader.v]
    return entries


class _Layout:
    """Entries of all joints in MuJoCo's arrays and in those of a robot.

    Attributes
    ----------
    model : mujoco.MjModel
    nq, nv : int
        Of the robot.
    joints, rows : sequence of Joint or EngineJoint
        Of MuJoCo, and of the robot.
    heavy : list of bool
        Which joints of MuJoCo are free joints with armature.
    to_q, to_v, to_qpos, to_qvel : ndarray of int
        For every entry of these arrays the entry of the other layout that it equals, where it does.
    circles : ndarray of int, shape (2, k)
        First entries of (cos, sin) in q, and the entries of qpos with their angles.
    free : list of Pair
        Free joints whose velocities have other axes.
    quaternions : list of tuple
        Joints with a quaternion: name, and its entries in q.
    followers : list of tuple
        Mimic joints of the robot, as MuJoCo's joints; leader, ratio and offset.
    """

    def __init__(self, model: mujoco.MjModel, robot):
        self.joints: Sequence[Joint] = joints_of(model)
        self.nq, self.nv = (model if robot is None else robot).nq, (model if robot is None else robot).nv
        self.sizes = {"q": (model.nq, self.nq), "v": (model.nv, self.nv)}
        self.heavy = heavy_joints(model, self.joints)
        self.followers = []
        bodies, halves = body_names(model), halves_of(self.joints)
        own = [
            EngineJoint(joint.name, KINDS[joint.kind], -1, joint.q, joint.v, body=bodies[joint.body])
            for joint in self.joints
        ]
        if robot is None:
            parts = [
                halves[joint.name] if two else (joint,) for joint, two in zip(own, self.heavy, strict=True)
            ]
            self.rows = [joint for part in parts for joint in part]
            pairs = [Pair(joint, joint.q, joint.v) for joint in self.rows]
        else:
            leaders = _leaders(robot)
            self.followers = [(joint, *leaders[joint.name]) for joint in own if joint.name in leaders]
            own = [joint for joint in own if joint.name not in leaders]
            pairs, self.rows = matched(own, halves, robot, leaders, BASE, "mujoco")
        self._set_entries(model, pairs)

    def _set_entries(self, model: mujoco.MjModel, pairs: Sequence[Pair]) -> None:
        """Set the numbers of entries, from the joints."""
        self.to_q, self.to_qpos = np.zeros(self.nq, dtype=int), np.zeros(model.nq, dtype=int)
        self.to_v, self.to_qvel = np.zeros(self.nv, dtype=int), np.zeros(model.nv, dtype=int)
        circles = []
        self.free = [pair for pair in pairs if pair.joint.kind == "free"]
        self.quaternions = [
            (pair.joint.name, slice(pair.q.stop - 4, pair.q.stop))
            for pair in pairs
            if pair.joint.kind in ("free", "spherical")
        ]
        for pair in pairs:
            theirs, ours = np.r_[pair.joint.q], np.r_[pair.q]
            if pair.joint.kind in ("free", "spherical"):
                theirs[-4:] = np.roll(theirs[-4:], -1)  # w first to w last
            if len(ours) > len(theirs):
                circles.append((ours[0], theirs[0]))
                ours = ours[:1]
            self.to_q[ours], self.to_qpos[theirs] = theirs, ours
            self.to_v[pair.v], self.to_qvel[pair.joint.v] = np.r_[pair.joint.v], np.r_[pair.v]
        self.circles = np.array(circles, dtype=int).reshape(-1, 2).T

    def read(self, **arrays) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """Validate arrays of joint entries; return them and their leading axes."""
        validated = []
        for name, (values, joints, which) in arrays.items():
            array, size = as_real(values, name), self.sizes[which][joints is self.rows]
            if array.shape[-1:] != (size,):
                parts = ", ".join(f"{joint.name} {_count(joint, which)}" for joint in joints)
                raise ShapeError(
                    f"{name} must have shape (..., {size}), got {array.shape}; entries by joint: {parts}",
                    array.shape,
                    ("...", size),
                )
            validated.append(array)
        leads = [array.shape[:-1] for array in validated if array.ndim > 1]
        batch = leads[0] if leads else ()
        if leads and leads[-1] != batch:
            raise ShapeError(
                f"the leading axes of {' and '.join(arrays)}, {batch} and {leads[-1]}, differ",
                leads[-1],
                batch,
            )
        for name, array in zip(arrays, validated, strict=True):
            if not batch:
                require_finite(array, name)
        return validated, batch


LAYOUTS = ByIdentity()  # the last one of every MjModel; to make it takes about a millisecond


def _layout(model, robot) -> _Layout:
    """Return the layout of a model and a robot."""
    if not isinstance(model, mujoco.MjModel | Body):
        advice = "; load a file with mujoco_.load(path)" if isinstance(model, str | PathLike) else ""
        raise TypeError(f"model must be a mujoco.MjModel or a Body, got {received(model)}{advice}")
    model = model.model if isinstance(model, Body) else model
    layout = LAYOUTS.find(model, robot)
    if layout is None or layout.heavy != heavy_joints(model, layout.joints):
        layout = LAYOUTS.keep(model, robot, _Layout(model, robot))
    return layout


def _count(joint, which: str) -> int:
    entries = joint.q if which == "q" else joint.v
    return entries.stop - entries.start


def _leaders(robot) -> dict[str, tuple[EngineJoint, float, float]]:
    """Return leader, ratio and offset of the mimic joints of a Model, by name."""
    leaders = {}
    for joint in robot.joints if isinstance(robot, Model) else ():
        if joint.mimic:
            k = joint.mimic.leader
            leader, q, v = robot.joints[k], robot.idx_q[k], robot.idx_v[k]
            entries = slice(q, q + leader.nq), slice(v, v + leader.nv)
            engine_joint = EngineJoint(leader.name, "revolute", -1, *entries)
            leaders[joint.name] = (engine_joint, joint.mimic.ratio, joint.mimic.offset)
    return leaders


def _spread(x: np.ndarray, batch: tuple[int, ...]) -> np.ndarray:
    """Return x, or a copy for every element of the batch."""
    return x if x.shape[:-1] == batch else np.broadcast_to(x, (*batch, x.shape[-1])).copy()


def _rotation(joint: str, quaternion: np.ndarray, name: str) -> np.ndarray:
    """Return the rotation of a free joint from its quaternion."""
    _require_length(joint, quaternion, name)
    return so3.from_quaternion(quaternion)


def _unit(joint: str, quaternion: np.ndarray) -> np.ndarray:
    """Return quaternions scaled to length 1; one that has it to rounding stays as it is."""
    _require_length(joint, quaternion, "qpos")
    length = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # lengths of zero give NaN
        return quaternion / np.where(np.abs(length - 1.0) < SAME_CONFIGURATION, 1.0, length)


def _require_length(joint: str, quaternion: np.ndarray, name: str) -> None:
    """Raise ConfigurationError for a single quaternion of length zero."""
    if quaternion.ndim == 1 and not quaternion.any():
        message = f"the quaternion of joint {joint!r} in {name} has length 0, which no rotation has"
        raise ConfigurationError(message, joint)
