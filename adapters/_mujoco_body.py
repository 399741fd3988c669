"""Hold a MuJoCo model with its joints, its smooth dynamics at a state, and its sparse layouts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .._util.validation import Sealed, as_vector
from ..exceptions import AdapterError
from ._pinocchio_conventions import one_position

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
SIZES = {FREE: (7, 6), BALL: (4, 3)}  # entries in q and v; 1 and 1 for the others

# flags of mj_forward for parts that change smooth accelerations, or only take time
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

    def block(self, x: np.ndarray) -> np.ndarray:
        """Return v_pinocchio over v; of a free joint of rotation R [[R', 0], [0, 1]]."""
        block = np.eye(self.nv)
        if self.free:
            block[:3, :3] = Rotation.from_quat(x[3:]).as_matrix().T
        return block

    def position(self, x: np.ndarray) -> np.ndarray:
        """Return the joint's entries in q; quaternions are w x y z."""
        return np.array([*x[:-4], x[-1], *x[-4:-1]]) if self.kind in SIZES else one_position(x)


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
    halves : dict
        By the name of every free joint the translation along the axes of the world and the rotation that make
        it up.

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
    halves: dict[str, tuple[Joint, Joint]]

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | None = None):
        data = mujoco.MjData(model) if data is None else data
        joints = tuple(_joint(model, j, name) for j, name in enumerate(joint_names(model)))
        self._keep(model=model, data=data, nq=model.nq, nv=model.nv, joints=joints)
        self._keep(floating=any(joint.free for joint in joints), halves=_halves(joints))

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: MuJoCo frees its memory with the last reference."""

    @property
    def armature(self) -> np.ndarray:
        """Inertia of rotors, joints' and actuators', on the diagonal of H, shape (nv,)."""
        model = self.model
        armature = model.dof_armature.copy()
        for i in np.flatnonzero(getattr(model, "actuator_armature", ())):
            if model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT:
                joint = self.joints[model.actuator_trnid[i, 0]]
                armature[joint.v] += model.actuator_armature[i] * model.actuator_gear[i, : joint.nv] ** 2
        return armature

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity that acts, m/s^2, in the world."""
        disabled = self.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        return np.zeros(3) if disabled else self.model.opt.gravity.copy()

    def parts(self, name: str) -> list[Joint]:
        """Return the joints that Pinocchio joins under that name, such as ``Composite_<first>``.

        Its ``root_joint`` is the only free joint, whatever that is called here. The two joints that `model`
        makes of a free joint with armature are parts of that joint.
        """
        free = [joint for joint in self.joints if joint.free]
        for joint in self.joints:
            if joint.name == name or ([joint] == free and name == "root_joint"):
                return [joint]
            if name == f"Composite_{joint.name}":
                return [other for other in self.joints if other.body == joint.body]
        return [half for halves in self.halves.values() for half in halves if half.name == name]

    def forward(self, q, v, applied=0.0) -> mujoco.MjData:
        """Return data after mj_forward under the applied forces, smooth dynamics only."""
        model, data = self.model, self.data
        data.qpos[:], data.qvel[:] = as_vector(q, self.nq, "q"), as_vector(v, self.nv, "v")
        data.qfrc_applied[:], data.xfrc_applied[:] = applied, 0.0
        kept = model.opt.disableflags
        model.opt.disableflags = kept | DISABLED
        try:
            mujoco.mj_forward(model, data)
        finally:
            model.opt.disableflags = kept
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
    found = []
    for own, name in zip(given, made_up, strict=True):
        distinct = own or name
        while not own and distinct in taken:
            used[name] += 1
            distinct = f"{name}_{used[name] + 1}"
        taken.add(distinct)
        found.append(distinct)
    return found


def _joint(model: mujoco.MjModel, j: int, name: str) -> Joint:
    body, kind = int(model.jnt_bodyid[j]), int(model.jnt_type[j])
    q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
    nq, nv = SIZES.get(kind, (1, 1))
    return Joint(name, kind, body, slice(q, q + nq), slice(v, v + nv))


def _halves(joints: tuple[Joint, ...]) -> dict[str, tuple[Joint, Joint]]:
    """Split every free joint into two joints with distinct names, ``<joint>[0]`` and ``<joint>[1]``."""
    free, names = [joint for joint in joints if joint.free], [joint.name for joint in joints]
    made_up = [f"{joint.name}[{k}]" for joint in free for k in range(2)]
    first = iter(_distinct([*names, *("" for _ in made_up)], [*names, *made_up])[len(names) :])
    found = {}
    for joint in free:
        q, v = joint.q.start, joint.v.start
        found[joint.name] = (
            Joint(next(first), SLIDE, joint.body, slice(q, q + 3), slice(v, v + 3)),
            Joint(next(first), BALL, joint.body, slice(q + 3, q + 7), slice(v + 3, v + 6)),
        )
    return found


def adapter_error(message: str, joint: str | None = None, file=None) -> AdapterError:
    """Return MuJoCo's AdapterError about a joint or body of a file."""
    return AdapterError(message if file is None else f"{file}: {message}", "mujoco", file, joint)
