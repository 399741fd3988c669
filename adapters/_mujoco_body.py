"""Hold a MuJoCo model with its joints, its smooth dynamics at a state, and its sparse layouts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import mujoco
import numpy as np

from .._util.engine_objects import require_object
from .._util.protocol import EngineJoint
from .._util.validation import Sealed, as_vector
from ..exceptions import AdapterError

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
SIZES = {FREE: (7, 6), BALL: (4, 3)}  # entries in q and v; 1 and 1 for the others

# flags of mj_forward for forces that are no part of the bias, or only take time
# flags that disable passive forces; a version of MuJoCo has the first or the other two
SWITCHES = "mjDSBL_PASSIVE", "mjDSBL_SPRING", "mjDSBL_DAMPER"
PASSIVE = sum(int(getattr(mujoco.mjtDisableBit, name, 0)) for name in SWITCHES)
DISABLED = int(
    mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    | mujoco.mjtDisableBit.mjDSBL_SENSOR
)


@dataclass(frozen=True)
class Joint:
    """Joint of a MuJoCo model.

    Attributes
    ----------
    name : str
        A joint without a name in the file has the name that Pinocchio makes for it: ``<body>_free`` or
        ``<body>Joint_<number in body>``, with ``_2``, ``_3`` ... at its end if another joint has that name.
    kind, body : int
        MuJoCo's type and body.
    q, v : slice
        Its entries in q and v.

    Notes
    -----
    Immutable.
    """

    name: str
    kind: int
    body: int
    q: slice
    v: slice

    @property
    def nq(self) -> int:
        """Entries in q."""
        return self.q.stop - self.q.start

    @property
    def nv(self) -> int:
        """Entries in v."""
        return self.v.stop - self.v.start

    @property
    def free(self) -> bool:
        """Whether the joint is a free joint."""
        return self.kind == FREE


class Body(Sealed):
    """MuJoCo model with the data it is evaluated in.

    Parameters
    ----------
    model : mujoco.MjModel
        Not copied, so that later changes, for instance of masses, have an effect. Its constraints, actuators
        and sensors are disabled during an evaluation.
    data : mujoco.MjData, optional
        Overwritten by every evaluation.

    Attributes
    ----------
    model, data
    nq, nv : int
    joints : tuple of Joint
    floating : bool
        Whether there is a free joint.
    halves : dict of tuple of EngineJoint
        By the name of every free joint the translation along the axes of the world and the spherical joint
        that `model` makes of it if it has armature.

    Notes
    -----
    Thread-compatible.

    Every evaluation changes it, because it writes into ``data``.
    """

    engine = "MuJoCo"
    model: mujoco.MjModel
    data: mujoco.MjData
    nq: int
    nv: int
    joints: tuple[Joint, ...]
    floating: bool
    halves: dict[str, tuple[EngineJoint, EngineJoint]]

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        require_object(model, mujoco.MjModel, "model", "a mujoco.MjModel", "mujoco_.load(path) reads a file")
        data = mujoco.MjData(model) if data is None else data
        joints = joints_of(model)
        self._keep(model=model, data=data, nq=model.nq, nv=model.nv, joints=joints)
        self._keep(floating=any(joint.free for joint in joints), halves=halves_of(joints))

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: MuJoCo frees its memory with the last reference."""

    @property
    def armature(self) -> np.ndarray:
        """Inertia of rotors, joints' and actuators', on the diagonal of H, shape (nv,)."""
        return armature_of(self.model, self.joints)

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity that acts, m/s^2, in the world."""
        disabled = self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        return np.zeros(3) if disabled else self.model.opt.gravity.copy()

    def forward(self, q, v=None, applied=0.0, passive: bool = False) -> mujoco.MjData:
        """Return data after mj_forward, at rest by default: energies, smooth dynamics under applied forces.

        Passive forces act only if that is wanted.
        """
        model, data = self.model, self.data
        data.qpos[:] = as_vector(q, self.nq, "q")
        data.qvel[:] = 0.0 if v is None else as_vector(v, self.nv, "v")
        data.qfrc_applied[:], data.xfrc_applied[:] = applied, 0.0
        options, kept = model.opt, (model.opt.disableflags, model.opt.enableflags)
        options.disableflags |= DISABLED | (0 if passive else PASSIVE)
        options.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        try:
            mujoco.mj_forward(model, data)
        finally:
            options.disableflags, options.enableflags = kept
        return data

    def csr(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return rows and columns of ``MjData.M``, or None in a MuJoCo that does not store them.

        Ancestors root first, diagonal last; the rows of "simple" freedoms hold the diagonal only.
        """
        for owner in (self.model, self.data):  # the data in MuJoCo 3.3.2, the model later on
            if hasattr(owner, "M_rownnz"):
                return np.repeat(np.arange(self.nv), owner.M_rownnz), np.array(owner.M_colind)
        return None

    def upward(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rows and columns of ``MjData.qM``: from the diagonal up to the root."""
        rows, columns = [], []
        for k in range(self.nv):
            i = k
            while i >= 0:
                rows.append(k)
                columns.append(i)
                i = int(self.model.dof_parentid[i])
        return np.array(rows, dtype=int), np.array(columns, dtype=int)


def body_names(model: mujoco.MjModel) -> list[str]:
    """Return distinct names of all bodies."""
    return _distinct(
        [model.body(k).name for k in range(model.nbody)], [f"body {k}" for k in range(model.nbody)]
    )


def site_names(model: mujoco.MjModel) -> list[str]:
    """Return distinct names of all sites."""
    return _distinct(
        [model.site(k).name for k in range(model.nsite)], [f"site {k}" for k in range(model.nsite)]
    )


def geom_names(model: mujoco.MjModel) -> list[str]:
    """Return distinct names of all geoms."""
    return _distinct(
        [model.geom(k).name for k in range(model.ngeom)], [f"geom {k}" for k in range(model.ngeom)]
    )


def joint_names(model: mujoco.MjModel) -> list[str]:
    """Return distinct names of all joints."""
    made_up = []
    for j, (body, kind) in enumerate(zip(model.jnt_bodyid.tolist(), model.jnt_type.tolist(), strict=True)):
        last = "_free" if kind == FREE else f"Joint_{j - int(model.body_jntadr[body])}"
        made_up.append(model.body(body).name + last)
    return _distinct([model.joint(j).name for j in range(model.njnt)], made_up)


def _distinct(given: list[str], made_up: list[str]) -> list[str]:
    """Return the given names; empty ones are replaced, with ``_2``, ``_3`` ... if a name is taken."""
    taken, used = set(given), Counter[str]()
    names = []
    for own, name in zip(given, made_up, strict=True):
        distinct = own or name
        while not own and distinct in taken:
            used[name] += 1
            distinct = f"{name}_{used[name] + 1}"
        taken.add(distinct)
        names.append(distinct)
    return names


def joints_of(model: mujoco.MjModel) -> tuple[Joint, ...]:
    """Return the joints of a model in their order."""
    return tuple(_joint(model, j, name) for j, name in enumerate(joint_names(model)))


def armature_of(model: mujoco.MjModel, joints: tuple[Joint, ...]) -> np.ndarray:
    """Return the inertia of rotors, joints' and actuators', on the diagonal of H, shape (nv,)."""
    armature = model.dof_armature.copy()
    for i in np.flatnonzero(getattr(model, "actuator_armature", ())):
        if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT:
            joint = joints[model.actuator_trnid[i, 0]]
            armature[joint.v] += model.actuator_armature[i] * model.actuator_gear[i, : joint.nv] ** 2
    return armature


def heavy_joints(model: mujoco.MjModel, joints: tuple[Joint, ...]) -> list[bool]:
    """Return for every joint whether it is a free joint with armature of its translation."""
    armature = armature_of(model, joints)
    return [joint.free and bool(armature[joint.v][:3].any()) for joint in joints]


def _joint(model: mujoco.MjModel, j: int, name: str) -> Joint:
    body, kind = int(model.jnt_bodyid[j]), int(model.jnt_type[j])
    q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
    nq, nv = SIZES.get(kind, (1, 1))
    return Joint(name, kind, body, slice(q, q + nq), slice(v, v + nv))


def halves_of(joints: tuple[Joint, ...]) -> dict[str, tuple[EngineJoint, EngineJoint]]:
    """Split every free joint into two joints with distinct names, ``<joint>[0]`` and ``<joint>[1]``."""
    free, names = [joint for joint in joints if joint.free], [joint.name for joint in joints]
    made_up = [f"{joint.name}[{k}]" for joint in free for k in range(2)]
    first = iter(_distinct([*names, *("" for _ in made_up)], [*names, *made_up])[len(names) :])
    halves = {}
    for joint in free:
        q, v = joint.q.start, joint.v.start
        halves[joint.name] = (
            EngineJoint(next(first), "prismatic", -1, slice(q, q + 3), slice(v, v + 3)),
            EngineJoint(next(first), "spherical", -1, slice(q + 3, q + 7), slice(v + 3, v + 6)),
        )
    return halves


def adapter_error(message: str, joint: str | None = None, file=None) -> AdapterError:
    """Return MuJoCo's AdapterError about a joint or body of a file."""
    return AdapterError(message if file is None else f"{file}: {message}", "mujoco", file, joint)
