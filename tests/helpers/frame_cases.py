"""Robots with Pinocchio's frames, and its results of the functions of the kinematics."""

import numpy as np

import treefactor as tf
from treefactor.adapters import pinocchio_

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
ROBOTS = {  # file, whether floating, whether with mimic joints
    "ur5": ("ur5_robot", False, False),
    "panda": ("panda", False, False),
    "solo12": ("solo12", True, False),
    "talos_reduced": ("talos_reduced", True, False),
    "tiago": ("tiago", False, True),
}


FRAMES = {"ur5": "tool0", "panda9": "panda_hand_tcp", "solo12": "FL_FOOT", "talos32": "left_sole_link"}


def loaded(name, floating=False, mimic=False):
    """Return Pinocchio's model of a robot, and ours."""
    theirs = pinocchio_.load(tf.robots.find(name).path, floating, mimic)
    return theirs, pinocchio_.model(theirs)


def with_frames(theirs, model, seed=0):
    """Add a frame on every joint to Pinocchio's model; return all its frames as ours."""
    import pinocchio as pin

    rng = np.random.default_rng(seed)
    for joint in range(theirs.njoints):
        R = pin.exp3(rng.normal(size=3))
        placement = pin.SE3(R, rng.normal(size=3))
        theirs.addFrame(pin.Frame(f"f{joint}", joint, 0, placement, pin.FrameType.OP_FRAME))
    return own_frames(theirs, model)


def own_frames(theirs, model):
    """Return the frames of a model whose joints depth first are Pinocchio's, each perhaps composite."""
    starts = [v for v, j in zip(model.idx_v, model.joints, strict=True) if not j.mimic]
    frames = []
    for frame in theirs.frames:
        joint = frame.parentJoint
        end = theirs.idx_vs[joint] + theirs.nvs[joint] if joint else 0
        number = max((i for i, v in enumerate(starts) if v < end), default=-1)
        placement = frame.placement
        frames.append(tf.Frame(frame.name, number, placement.rotation, placement.translation))
    return frames


class Expected:
    """Pinocchio's results in one state, for all frames."""

    def __init__(self, theirs, q, v, a):
        import pinocchio as pin

        self.pin, self.theirs, self.data, self.q = pin, theirs, theirs.createData(), q
        pin.forwardKinematics(theirs, self.data, q, v, a)
        pin.updateFramePlacements(theirs, self.data)
        self.rates = theirs.createData()
        pin.computeJointJacobiansTimeVariation(theirs, self.rates, q, v)

    def placement(self, frame):
        return self.data.oMf[frame].homogeneous[:3]

    def joints(self):
        return np.array([M.homogeneous[:3] for M in self.data.oMi[1:]]).reshape(-1, 3, 4)

    def velocity(self, frame, reference):
        at = self.pin.ReferenceFrame.names[reference]
        return self.pin.getFrameVelocity(self.theirs, self.data, frame, at).vector

    def acceleration(self, frame, reference, classical):
        at = self.pin.ReferenceFrame.names[reference]
        get = self.pin.getFrameClassicalAcceleration if classical else self.pin.getFrameAcceleration
        return get(self.theirs, self.data, frame, at).vector

    def jacobian(self, frame, reference):
        at, data = self.pin.ReferenceFrame.names[reference], self.theirs.createData()
        J = self.pin.computeFrameJacobian(self.theirs, data, self.q, frame, at)
        return J.reshape(6, self.theirs.nv)

    def joint_jacobian(self, joint, reference):
        data = self.theirs.createData()
        self.pin.computeJointJacobians(self.theirs, data, self.q)
        at = self.pin.ReferenceFrame.names[reference]
        return self.pin.getJointJacobian(self.theirs, data, joint + 1, at).reshape(6, self.theirs.nv)

    def jacobian_dot(self, frame, reference):
        at = self.pin.ReferenceFrame.names[reference]
        dJ = self.pin.getFrameJacobianTimeVariation(self.theirs, self.rates, frame, at)
        return dJ.reshape(6, self.theirs.nv)


def frame_functions(frame):
    """Return all functions of a frame, in all references; Jacobians also packed."""
    names = [f"frame_placement:{frame}"]
    for reference in REFERENCES:
        for kind in ("velocity", "acceleration", "jacobian", "jacobian_dot"):
            names.append(f"frame_{kind}:{frame}:{reference}")
        names.append(f"frame_acceleration:{frame}:{reference}:classical")
        names += [f"frame_{kind}:{frame}:{reference}:packed" for kind in ("jacobian", "jacobian_dot")]
    return names


def frame_results(theirs, q, v, a, frame, columns):
    """Return Pinocchio's results of `frame_functions`; packed Jacobians have these columns."""
    expected, number = Expected(theirs, q, v, a), theirs.getFrameId(frame)
    results = {f"frame_placement:{frame}": expected.placement(number)}
    for reference in REFERENCES:
        end = f"{frame}:{reference}"
        results[f"frame_velocity:{end}"] = expected.velocity(number, reference)
        results[f"frame_acceleration:{end}"] = expected.acceleration(number, reference, False)
        results[f"frame_acceleration:{end}:classical"] = expected.acceleration(number, reference, True)
        for kind in ("jacobian", "jacobian_dot"):
            matrix = getattr(expected, kind)(number, reference)
            results[f"frame_{kind}:{end}"] = matrix
            results[f"frame_{kind}:{end}:packed"] = matrix[:, columns]
    return results


def _kinds(theirs):
    """Return the kinds of the joints of Pinocchio's model."""
    return [joint.shortname() for joint in theirs.joints]


def whole_results(theirs, q, v, a):
    """Return Pinocchio's results for the whole robot, by the names of our functions."""
    import pinocchio as pin

    data = theirs.createData()
    pin.centerOfMass(theirs, data, q, v, a)
    results = {
        "joint_placements": np.array([placement.homogeneous[:3] for placement in data.oMi][1:]),
        "center_of_mass": data.com[0].copy(),
        "center_of_mass_velocity": data.vcom[0].copy(),
        "center_of_mass_acceleration": data.acom[0].copy(),
        "center_of_mass_jacobian": pin.jacobianCenterOfMass(theirs, data, q).reshape(3, theirs.nv),
    }
    pin.computeCentroidalMomentumTimeVariation(theirs, data, q, v, a)
    results["centroidal_momentum"] = data.hg.vector.copy()
    results["centroidal_momentum_rate"] = data.dhg.vector.copy()
    if not any(name.startswith("JointModelUniversal") for name in _kinds(theirs)):
        dmap = pin.computeCentroidalMapTimeVariation(theirs, data, q, v)  # leaves out axes in the joint
        results["centroidal_map_dot"] = dmap.reshape(6, theirs.nv).copy()
    results["centroidal_map"] = pin.computeCentroidalMap(theirs, data, q).reshape(6, theirs.nv).copy()
    H = pin.crba(theirs, data, q)  # computeKineticEnergy leaves out armatures of most unaligned joints
    results["kinetic_energy"] = np.array(v @ np.triu(H) @ v - v @ (np.diag(H) * v) / 2)
    results["potential_energy"] = np.array(pin.computePotentialEnergy(theirs, data, q))
    results["generalized_gravity"] = pin.computeGeneralizedGravity(theirs, data, q).copy()
    return results
