"""Frames of Pinocchio's models as ours, and its results for them."""

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


def frames_of(theirs, model):
    """Return Pinocchio's frames in its order, on joints of ours."""
    names = {joint.name: i for i, joint in enumerate(model.joints)} | {"universe": -1}
    return [
        tf.Frame(
            frame.name or "universe",
            names[theirs.names[frame.parentJoint]],
            frame.placement.rotation,
            frame.placement.translation,
        )
        for frame in theirs.frames
    ]


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
    found = []
    for frame in theirs.frames:
        joint = frame.parentJoint
        end = theirs.idx_vs[joint] + theirs.nvs[joint] if joint else 0
        number = max((i for i, v in enumerate(starts) if v < end), default=-1)
        placement = frame.placement
        found.append(tf.Frame(frame.name, number, placement.rotation, placement.translation))
    return found


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
