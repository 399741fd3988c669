"""Hold a Drake plant with its joints, and a context to evaluate it in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydrake.multibody.plant import MultibodyPlant
from pydrake.systems.framework import Context
from scipy.spatial.transform import Rotation

from .._util.validation import Sealed, as_vector
from ..exceptions import AdapterError
from ._pinocchio_conventions import one_position

FLOATING = "quaternion_floating"
TRANSLATED = (FLOATING, "revolute", "prismatic")  # joints that Pinocchio has, too


@dataclass(frozen=True)
class Joint:
    """Joint of a plant with at least one freedom.

    Attributes
    ----------
    name, kind : str
        Drake's name and type.
    parent : int
        Next joint with freedoms towards the world, as an index into ``Body.joints``; -1 for the first one.
    q, v : slice
        Its entries in q and v.

    Notes
    -----
    Immutable.
    """

    name: str
    kind: str
    parent: int
    q: slice
    v: slice

    @property
    def nv(self) -> int:
        """Entries in v."""
        return self.v.stop - self.v.start

    @property
    def free(self) -> bool:
        """Whether the joint belongs to a floating body."""
        return self.kind == FLOATING

    def block(self, x: np.ndarray) -> np.ndarray:
        """Return v_pinocchio over v; of a floating body of rotation R [[0, R'], [R', 0]]."""
        if self.free:
            return np.kron([[0.0, 1.0], [1.0, 0.0]], Rotation.from_quat(x[3:]).as_matrix().T)
        return np.eye(self.nv)

    def position(self, x: np.ndarray) -> np.ndarray:
        """Return the joint's entries in q."""
        return np.array([x[6], *x[3:6], *x[:3]]) if self.free else one_position(x)


class Body(Sealed):
    """Plant with a context to evaluate it in.

    Parameters
    ----------
    plant : pydrake.multibody.plant.MultibodyPlant
        Finalized, of continuous time; it may be part of a diagram.
    context : pydrake.systems.framework.Context, optional
        A context of the plant whose parameters (masses, damping ...) to use; it is copied, not changed.

    Attributes
    ----------
    plant, context
    nq, nv : int
    joints : tuple of Joint
        In the order of v.
    floating : bool
        Whether there is a floating body.

    Raises
    ------
    AdapterError
        If the plant is not finalized, has discrete time, or is not a tree.

    Notes
    -----
    Thread-compatible.

    Every evaluation changes it, because it writes into the context.
    """

    engine = "Drake"
    plant: MultibodyPlant
    context: Context
    nq: int
    nv: int
    joints: tuple[Joint, ...]
    floating: bool

    def __init__(self, plant: MultibodyPlant, context=None):
        if not plant.is_finalized() or plant.time_step() > 0.0:
            raise adapter_error("the plant must be finalized, and of continuous time (time_step 0)")
        own, joints = plant.CreateDefaultContext(), _joints(plant)
        if context is not None:
            own.SetTimeStateAndParametersFrom(context)
        self._keep(plant=plant, context=own, nq=plant.num_positions(), nv=plant.num_velocities())
        self._keep(joints=joints, floating=any(joint.free for joint in joints))

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: Drake frees its memory with the last reference."""

    @property
    def armature(self) -> np.ndarray:
        """Reflected inertia of the actuators, on the diagonal of H, shape (nv,)."""
        armature = np.zeros(self.nv)
        for index in self.plant.GetJointActuatorIndices():
            actuator = self.plant.get_joint_actuator(index)
            reflected = actuator.calc_reflected_inertia(self.context)
            armature[actuator.joint().velocity_start()] += reflected
        return armature

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity, m/s^2, in the world."""
        return self.plant.gravity_field().gravity_vector()

    def parts(self, name: str) -> list[Joint]:
        """Return the joint of that name; ``root_joint`` is the only floating body."""
        free = [joint for joint in self.joints if joint.free]
        return [
            joint
            for joint in self.joints
            if joint.name == name or ([joint] == free and name == "root_joint")
            if joint.kind in TRANSLATED
        ]

    def at(self, q, v):
        """Set the context to a state and return it."""
        self.plant.SetPositions(self.context, as_vector(q, self.nq, "q"))
        self.plant.SetVelocities(self.context, as_vector(v, self.nv, "v"))
        return self.context


def _joints(plant: MultibodyPlant) -> tuple[Joint, ...]:
    """Return the joints with freedoms in the order of v, found from the world outwards."""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    above, parent = (
        {int(plant.world_body().index()): None},
        {},
    )  # next moving joint towards the world, of bodies and of joints
    waiting = list(joints)
    while waiting:
        joint = next(
            joint for joint in waiting if len(_ends(joint) & above.keys()) == 1
        )  # Drake has no loops
        waiting.remove(joint)
        (inner,), (outer,) = _ends(joint) & above.keys(), _ends(joint) - above.keys()
        parent[joint.index()] = above[inner]
        above[outer] = joint.index() if joint.num_velocities() else above[inner]
    moving = sorted(
        (joint for joint in joints if joint.num_velocities()), key=lambda joint: joint.velocity_start()
    )
    number = {None: -1, **{joint.index(): k for k, joint in enumerate(moving)}}
    return tuple(_joint(joint, number[parent[joint.index()]]) for joint in moving)


def _ends(joint) -> set[int]:
    return {int(joint.parent_body().index()), int(joint.child_body().index())}


def _joint(joint, parent: int) -> Joint:
    q, v = joint.position_start(), joint.velocity_start()
    ends = slice(q, q + joint.num_positions()), slice(v, v + joint.num_velocities())
    return Joint(joint.name(), joint.type_name(), parent, *ends)


def adapter_error(message: str, joint: str | None = None, file=None) -> AdapterError:
    """Return Drake's AdapterError about a joint or link of a file."""
    return AdapterError(message if file is None else f"{file}: {message}", "drake", file, joint)
