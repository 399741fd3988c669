"""Compute the dynamics of a robot by DART's skeletons, to compare engines.

A free joint has angular velocity, then velocity of the link's origin, both in the world's axes;
accelerations are their derivatives. q has position and quaternion x y z w of a free joint, the quaternion of
a ball joint, whose velocity is in the child link's axes, and x, y and angle of a planar joint, whose
velocities are in the parent link's axes. Units are SI.

Torques are set as commands of actuators and clipped to the limits of the file. q̈ includes joint damping,
implicitly over one time step of 1 ms, and the motion that an actuator imposes on mimic joints.
"""

from __future__ import annotations

from . import _loading, requires

with requires("DART", "dart"):
    import dartpy

    from . import _dart_mjcf
    from ._dart_mjcf import PART

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import tostring

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from .._util.xml import as_path, file_error, numbers

NAME, DTYPE = "DART", "float64"
READS = ("urdf", "sdf", "mjcf")
OPTIONS = {
    "setForces": "clips torques to the effort limits of joints, as commands of actuators",
    "setMass": "gives links without mass in an SDF 1e-9 kg",
    _dart_mjcf.OPTION: _dart_mjcf.ABOUT,
}
BASE = Base(order="angular-linear", linear="world", angular="world", pose="p xyzw")
KINDS = {f"{kind.capitalize()}Joint": kind for kind in ("revolute", "prismatic", "planar", "free")}
KINDS |= {"BallJoint": "spherical", "TranslationalJoint2D": "prismatic"}
LENGTHS = {"free": 7, "spherical": 4}  # entries of q of joints that have fewer entries of v
MESHES: set[Path] = set()  # files that DART has read in this process: they are not read again
COLOURS = re.compile(r"\x1b\[[\d;]*m")


class Body:
    """Robot in DART: the skeletons of a file, one but for an MJCF, with their freedoms in a row.

    Thread-compatible.
    """

    def __init__(self, skeletons, drive: str):
        self.skeletons, self.drive = skeletons, drive
        stops = np.cumsum([0, *(skeleton.getNumDofs() for skeleton in skeletons)]).tolist()
        self.nv, self.parts = stops[-1], [slice(*pair) for pair in pairwise(stops)]
        self.joints: list[EngineJoint] = []
        self.driven = np.ones(self.nv)  # zero for mimic joints, which accept no command
        for skeleton, part in zip(skeletons, self.parts, strict=True):
            last = {"": -1}  # index of each joint's last freedom, or of its parent's if it has none
            for joint in skeleton.getJoints():
                above = joint.getParentBodyNode()
                parent = last[above.getParentJoint().getName() if above else ""]
                freedoms = list(_freedoms(joint, part.start, self.joints, parent))
                self.joints += freedoms
                last[joint.getName()] = len(self.joints) - 1 if freedoms else parent
                if freedoms and joint.getActuatorType() == dartpy.dynamics.ActuatorType.MIMIC:
                    self.driven[freedoms[0].v] = 0.0
        self.nq = self.joints[-1].q.stop if self.joints else 0
        self.nodes = {node.getName(): (k, node) for k, s in enumerate(skeletons) for node in s.getBodyNodes()}

    def at(self, q, v=None) -> list:
        """Return the skeletons with the state set; v is zero by default."""
        q, own = as_vector(q, self.nq, "q"), np.zeros(self.nv)
        v = own.copy() if v is None else as_vector(v, self.nv, "v")
        for joint in self.joints:
            x = q[joint.q]
            if joint.kind in LENGTHS:
                x = np.append(Rotation.from_quat(x[-4:]).as_rotvec(), x[:-4])
            own[joint.v] = x
        for skeleton, part in zip(self.skeletons, self.parts, strict=True):
            skeleton.setPositions(own[part])
            skeleton.setVelocities(v[part])
        return self.skeletons


def _freedoms(joint, offset: int, before: list[EngineJoint], parent: int) -> Iterator[EngineJoint]:
    """Yield a joint with freedoms, two for slides in a plane; its v begins after `offset`."""
    kind, n, axes = KINDS.get(joint.getType(), "other"), joint.getNumDofs(), None
    child, above = joint.getChildBodyNode().getName(), joint.getParentBodyNode()
    if kind == "free":  # velocities in axes of the world: no convention for a joint on a moving link
        R = above.getWorldTransform().rotation() if above else np.eye(3)
        turned = R @ joint.getTransformFromParentBodyNode().rotation() != np.eye(3)
        kind = "other" if parent >= 0 or turned.any() else "free"
    elif kind == "spherical":
        axes = joint.getTransformFromChildBodyNode().rotation()
    names = [joint.getName()] if n else []
    if joint.getType() == "TranslationalJoint2D":
        names, n = [joint.getDofName(k) for k in range(n)], 1
    q = before[-1].q.stop if before else 0
    for k, name in enumerate(names):
        v, on = offset + joint.getIndexInSkeleton(k), len(before) + k - 1 if k else parent
        slices = slice(q + k, q + k + LENGTHS.get(kind, n)), slice(v, v + n)
        yield EngineJoint(name, kind, on, *slices, axes, child.split(PART)[0])


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), options=frozenset()) -> Body:
    """Load a URDF by ``DartLoader``, an SDF by ``SdfParser`` or an MJCF by ``MjcfParser``, shapes included.

    ``package://NAME`` is the nearest folder NAME beside or above the file. DART reads no gravity of an MJCF.
    Raises AdapterError with what DART writes if it refuses the file.
    """
    path = as_path(path, "dart").absolute()  # a relative one is read as the name of a host
    _loading.require_one_parent(top := _loading.elements_of(path, "dart"), path, "dart")
    reader = {"sdf": _sdf, "mujoco": _dart_mjcf.skeletons_of}.get(top.tag, _urdf)
    with _loading.held_back() as text:
        skeletons = reader(path, floating, top)
        if reader is _dart_mjcf.skeletons_of and _dart_mjcf.OPTION in options and None not in skeletons:
            _dart_mjcf.set_inertias(skeletons, path)
        for link in top.iterfind(".//link[inertial]") if reader is _sdf and "setMass" in options else ():
            if skeletons[0] and numbers(link.findtext("inertial/mass", "1")) == [0.0]:
                skeletons[0].getBodyNode(link.get("name")).setMass(0.0)
    if not skeletons or None in skeletons:
        lines = [COLOURS.sub("", line) for line in text] or ["no reason given"]
        reason = next((line for line in lines if line.startswith("Error")), lines[-1])
        raise file_error(path, "dart", f"DART does not load it: {reason}")
    if reader is _urdf:
        _loading.require_joints(top, [joint.getName() for joint in skeletons[0].getJoints()], path, "dart")
    for skeleton in skeletons:
        skeleton.setGravity(skeleton.getGravity() if gravity is None else as_vector(gravity, 3, "gravity"))
    return Body(skeletons, "setForces" if "setForces" in options else "setCommands")


def _urdf(path: Path, floating: bool, top) -> list:
    loader, root = dartpy.utils.DartLoader(), "FLOATING" if floating else "FIXED"
    root = getattr(dartpy.utils.DartLoaderRootJointType, root)
    loader.setOptions(dartpy.utils.DartLoaderOptions(defaultRootJointType=root))
    packages = _loading.packages(top, path)
    for package, folder in packages.items():
        loader.addPackageDirectory(package, str(folder))
    meshes = _loading.mesh_files(top, packages)
    _loading.remove_meshes(top, {name for name, file in meshes.items() if file in MESHES})
    text = tostring(top, "unicode") if len(top) else path.read_text(errors="replace")
    skeleton = loader.parseSkeletonString(text, str(path))
    MESHES.update(meshes.values() if skeleton else ())
    return [skeleton]


def _sdf(path: Path, floating: bool, top) -> list:
    parser = dartpy.utils.SdfParser
    root = getattr(parser.RootJointType, "FLOATING" if floating else "FIXED")
    return [parser.readSkeleton(str(path), parser.Options(defaultRootJointType=root))]


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints with freedoms, in the order of v."""
    return body.joints


def base(body: Body) -> Base:
    """Return the convention of a free joint: velocities of its origin in world axes, angular first."""
    return BASE


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute H, shape (nv, nv)."""
    return block_diag(np.zeros((0, 0)), *(s.getMassMatrix() for s in body.at(q) if s.getNumDofs()))


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces, in N m and N, shape (nv,)."""
    return np.concatenate([skeleton.getCoriolisAndGravityForces() for skeleton in body.at(q, v)])


def gravity_forces(body: Body, q) -> np.ndarray:
    """Compute the forces that hold the robot against gravity, in N m and N, shape (nv,)."""
    return np.concatenate([skeleton.getGravityForces() for skeleton in body.at(q)])


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute H a + bias, without damping and springs, in N m and N, shape (nv,)."""
    a = as_vector(a, body.nv, "a")
    for skeleton, part in zip(body.at(q, v), body.parts, strict=True):
        skeleton.setAccelerations(a[part])
        skeleton.computeInverseDynamics(False, False, False)
    return np.concatenate([skeleton.getForces() for skeleton in body.skeletons])


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by ``computeForwardDynamics``, actuators and damping included, shape (nv,)."""
    tau = as_vector(tau, body.nv, "tau")
    for skeleton, part in zip(body.at(q, v), body.parts, strict=True):
        getattr(skeleton, body.drive)(tau[part] * body.driven[part])
        skeleton.computeForwardDynamics()
    return np.concatenate([skeleton.getAccelerations() for skeleton in body.skeletons])


def frames(body: Body) -> list[str]:
    """Return the links."""
    return [name for name in body.nodes if PART not in name]


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a link frame in the world, shape (4, 4)."""
    body.at(q)
    return np.array(body.nodes[frame][1].getWorldTransform().matrix())


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link frame's origin in world axes, linear rows first, shape (6, nv)."""
    k, node = body.nodes[frame]
    J = np.roll(body.at(q)[k].getWorldJacobian(node), 3, axis=0)
    return np.pad(J, ((0, 0), (body.parts[k].start, body.nv - body.parts[k].stop)))


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the derivative of `jacobian` times v, shape (6,)."""
    k, node = body.nodes[frame]
    return np.roll(body.at(q, v)[k].getJacobianClassicDeriv(node) @ np.asarray(v)[body.parts[k]], 3)


def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass in the world (m), shape (3,)."""
    parts = [(skeleton.getMass(), skeleton.getCOM()) for skeleton in body.at(q)]
    return sum(m * c for m, c in parts) / sum(m for m, _ in parts)


def momentum(body: Body, q, v) -> np.ndarray:
    """Return the sum of the links' momenta, the angular one about the centre of mass, shape (6,)."""
    centre, total = com(body, q), np.zeros(6)
    body.at(q, v)
    for _, node in body.nodes.values():
        pose = node.getWorldTransform().matrix()
        p = pose[:3, :3] @ node.getLinearMomentum()
        arm, spin = pose[:3, 3] - centre, pose[:3, :3] @ node.getAngularMomentum()
        total += np.append(p, spin + np.cross(arm, p))
    return total


def kinetic_energy(body: Body, q, v) -> float:
    """Return the kinetic energy (J)."""
    return sum(skeleton.computeKineticEnergy() for skeleton in body.at(q, v))


def potential_energy(body: Body, q) -> float:
    """Return the energy of gravity and springs (J)."""
    return sum(skeleton.computePotentialEnergy() for skeleton in body.at(q))
