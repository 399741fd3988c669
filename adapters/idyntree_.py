"""Compute the dynamics of a URDF by iDynTree's ``KinDynComputations``, to compare engines.

Velocities have six entries of the base first, whether it is fixed or not: velocity of the origin of the base
link, then angular velocity, both in world axes ("mixed"). Accelerations are their derivatives. q has the pose
of the base link first, position and quaternion w x y z, which a base that is fixed ignores: it stays at the
world's origin. Then follow the joints in iDynTree's order, one angle or distance each. Units are SI.

A root link without mass on a fixed joint is no link in iDynTree: the base is the next link. iDynTree reports
neither a missing link nor a joint that it cannot represent, but returns an empty model; `load` refuses it.
Limits, damping, mimic and transmissions have no effect.
"""

from __future__ import annotations

from . import requires

with requires("iDynTree", "idyntree"):
    import idyntree.bindings as idyntree

from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from .._util.xml import NOT_WELL_FORMED, as_path, content_of, elements, file_error
from ..exceptions import AdapterError
from ._loading import held_back, require_joints, require_one_parent

NAME = "iDynTree"
READS = ("urdf",)
DTYPE = "float64"
OPTIONS: dict[str, str] = {}

BASE = Base(linear="world", angular="world", pose="p wxyz", always=True)

HELD = 1e30  # kg; next to it, the rest of a robot is less than rounding


class Body:
    """Robot in iDynTree: ``KinDynComputations``, their model, and the names of the file's links.

    Notes
    -----
    Thread-compatible.
    """

    def __init__(self, computations, floating: bool, gravity: np.ndarray, links=()):
        self.computations, self.model = computations, computations.getRobotModel()
        self.floating, self.gravity, self.links = floating, gravity, tuple(links)
        self.nq, self.nv = 7 + self.model.getNrOfPosCoords(), 6 + self.model.getNrOfDOFs()

    def pose(self, q) -> np.ndarray:
        """Return the pose of the base link in the world, shape (4, 4)."""
        pose = np.eye(4)
        if self.floating:
            pose[:3, :3] = Rotation.from_quat(np.roll(q[3:7], -1)).as_matrix()
            pose[:3, 3] = q[:3]
        return pose

    def at(self, q, v=None):
        """Return the computations with the state set; v is zero by default."""
        q = as_vector(q, self.nq, "q")
        v = np.zeros(self.nv) if v is None else as_vector(v, self.nv, "v")
        self.computations.setRobotState(self.pose(q), q[7:], v[:6], v[6:], self.gravity)
        return self.computations

    def frame(self, name: str) -> int:
        """Return the index of a frame."""
        index = self.model.getFrameIndex(name)
        if index < 0:
            raise AdapterError(f"iDynTree has no frame called {name!r}", "idyntree")
        return index

    @cached_property
    def joints(self) -> list[EngineJoint]:
        """The free joint of the base, then the joints with freedoms in the order of v."""
        model, traversal = self.model, idyntree.Traversal()
        model.computeFullTreeTraversal(traversal)
        engine_joints = [EngineJoint("root_joint", "free", -1, slice(0, 7), slice(0, 6))]
        moving = [i for i in range(model.getNrOfJoints()) if model.getJoint(i).getNrOfDOFs()]
        moving.sort(key=lambda i: model.getJoint(i).getDOFsOffset())
        carrier, parents = {traversal.getBaseLink().getIndex(): 0}, {}
        for k in range(1, traversal.getNrOfVisitedLinks()):
            i, link = traversal.getParentJoint(k).getIndex(), traversal.getLink(k).getIndex()
            parents[i] = carrier[traversal.getParentLink(k).getIndex()]
            carrier[link] = 1 + moving.index(i) if i in moving else parents[i]
        for i in moving:
            name, joint = model.getJointName(i), model.getJoint(i)
            q, v = 7 + joint.getPosCoordsOffset(), 6 + joint.getDOFsOffset()
            q, v = slice(q, q + joint.getNrOfPosCoords()), slice(v, v + joint.getNrOfDOFs())
            axes = np.eye(3) if joint.isSphericalJoint() else None
            engine_joints.append(EngineJoint(name, _kind(joint), parents[i], q, v, axes))
        return engine_joints

    @cached_property
    def articulated(self):
        """Model, traversal and workspace of the articulated-body algorithm."""
        model, traversal = self.model.copy(), idyntree.Traversal()
        if not self.floating:
            tensor = idyntree.RotationalInertia()
            tensor.zero()
            for i in range(3):
                tensor.setVal(i, i, HELD)
            heavy = idyntree.SpatialInertia(HELD, idyntree.Position(0.0, 0.0, 0.0), tensor)
            model.getLink(model.getDefaultBaseLink()).setInertia(heavy)
        model.computeFullTreeTraversal(traversal)
        return model, traversal, idyntree.ArticulatedBodyAlgorithmInternalBuffers(model)


def _kind(joint) -> str:
    if joint.isRevoluteJoint():
        return "revolute"
    return "prismatic" if joint.isPrismaticJoint() else "spherical" if joint.isSphericalJoint() else "other"


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), options=frozenset()) -> Body:
    """Load a URDF by ``ModelLoader`` and ``KinDynComputations.loadRobotModel``.

    Raises AdapterError if the file is missing or malformed, a link has two parents, for which iDynTree does
    not end, or the model is empty or lacks joints of the file.
    """
    path = as_path(path, "idyntree")
    try:
        top = elements(content_of(path, "idyntree"))
    except NOT_WELL_FORMED as error:
        reason = f"iDynTree gets no text that is not well-formed XML, on which it may crash: {error}"
        raise file_error(path, "idyntree", reason) from None
    require_one_parent(top, path, "idyntree")
    loader, computations = idyntree.ModelLoader(), idyntree.KinDynComputations()
    with held_back() as written:
        loaded = loader.loadModelFromFile(str(path), "urdf") and computations.loadRobotModel(loader.model())
    errors = [line.removeprefix("[ERROR] ") for line in written if line.startswith("[ERROR]")]
    reason = f": {errors[0]}" if errors else ""
    if not loaded or not loader.model().getNrOfLinks():
        raise file_error(path, "idyntree", f"iDynTree loads an empty model{reason}")
    model = computations.getRobotModel()
    names = [model.getJointName(i) for i in range(model.getNrOfJoints())]
    require_joints(top, names, path, "idyntree", reason)
    gravity = as_vector((0.0, 0.0, -9.81) if gravity is None else gravity, 3, "gravity")
    return Body(computations, floating, gravity, [link.get("name") for link in top.iterfind("link")])


def joints(body: Body) -> list[EngineJoint]:
    """Return the free joint of the base and the joints with freedoms, in the order of v."""
    return body.joints


def base(body: Body) -> Base:
    """Return the convention of the base: velocities of its origin in world axes."""
    return BASE


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute H with the six rows of the base, shape (nv, nv)."""
    H = idyntree.MatrixDynSize(body.nv, body.nv)
    body.at(q).getFreeFloatingMassMatrix(H)
    return np.array(H.toNumPy())


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces, in N m and N, shape (nv,)."""
    return _forces(body, body.at(q, v).generalizedBiasForces)


def gravity_forces(body: Body, q) -> np.ndarray:
    """Compute the forces that hold the robot against gravity, in N m and N, shape (nv,)."""
    return _forces(body, body.at(q).generalizedGravityForces)


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute the forces H a + bias, in N m and N, shape (nv,)."""
    a, none = as_vector(a, body.nv, "a"), idyntree.LinkWrenches(body.model)
    none.zero()
    computations = body.at(q, v)
    return _forces(body, lambda out: computations.inverseDynamics(a[:6], a[6:], none, out))


def _forces(body: Body, compute) -> np.ndarray:
    out = idyntree.FreeFloatingGeneralizedTorques(body.model)
    compute(out)
    return np.concatenate([out.baseWrench().toNumPy(), out.jointTorques().toNumPy()])


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by iDynTree's articulated-body algorithm, shape (nv,).

    The algorithm knows neither gravity nor fixed bases: the world is accelerated instead, and with it a fixed
    base, given a mass of ``HELD``. Robots with spherical joints are refused.
    """
    q, v = as_vector(q, body.nq, "q"), as_vector(v, body.nv, "v")
    tau, pose = as_vector(tau, body.nv, "tau"), body.pose(q)
    model, traversal, buffers = body.articulated
    axes, omega = np.kron(np.eye(2), pose[:3, :3]), v[3:6] * body.floating
    position, velocity = idyntree.FreeFloatingPos(model), idyntree.FreeFloatingVel(model)
    position.worldBasePos = idyntree.Transform(idyntree.Matrix4x4.FromPython(pose))
    position.jointPos = idyntree.JointPosDoubleArray.FromPython(q[7:])
    velocity.baseVel = idyntree.Twist.FromPython(axes.T @ v[:6] * body.floating)
    velocity.jointVel = idyntree.JointDOFsDoubleArray.FromPython(v[6:])
    wrenches, result = idyntree.LinkWrenches(model), idyntree.FreeFloatingAcc(model)
    wrenches.zero()
    wrench = axes.T @ tau[:6] if body.floating else np.append(-HELD * body.gravity, np.zeros(3))
    at_base = wrenches(traversal.getBaseLink().getIndex())
    for i, value in enumerate(wrench):
        at_base.setVal(i, value)
    torques = idyntree.JointDOFsDoubleArray.FromPython(tau[6:])
    state = model, traversal, position, velocity
    if not idyntree.ArticulatedBodyAlgorithm(*state, wrenches, torques, buffers, result):
        raise AdapterError(
            "iDynTree's articulated-body algorithm does not support this robot's joints", "idyntree"
        )
    spatial = axes @ result.baseAcc.toNumPy()
    spatial[:3] += np.cross(omega, v[:3]) + body.gravity
    return np.append(spatial * body.floating, result.jointAcc.toNumPy())


def frames(body: Body) -> list[str]:
    """Return the links of the file that iDynTree knows, those without mass as frames of other links."""
    return [name for name in body.links if body.model.isFrameNameUsed(name)]


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a link frame in the world, shape (4, 4)."""
    transform = body.at(q).getWorldTransform(body.frame(frame))
    return np.array(transform.asHomogeneousTransform().toNumPy())


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link frame's origin in world axes, linear rows first, shape (6, nv)."""
    J = idyntree.MatrixDynSize(6, body.nv)
    body.at(q).getFrameFreeFloatingJacobian(body.frame(frame), J)
    return np.array(J.toNumPy())


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the derivative of `jacobian` times v, shape (6,)."""
    return np.array(body.at(q, v).getFrameBiasAcc(body.frame(frame)).toNumPy())


def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass in the world (m), shape (3,)."""
    return np.array(body.at(q).getCenterOfMassPosition().toNumPy())


def momentum(body: Body, q, v) -> np.ndarray:
    """Return linear and angular momentum about the centre of mass in world axes, shape (6,)."""
    return np.array(body.at(q, v).getCentroidalTotalMomentum().asVector().toNumPy())
