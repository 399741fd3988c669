"""Table of the page *From Pinocchio to treefactor*: functions that scripts call, and what computes the same.

The choice of functions follows a count of what 486 files of 21 public repositories call.
"""

from __future__ import annotations

from typing import NamedTuple


class Counterpart(NamedTuple):
    """Functions of Pinocchio and what replaces them.

    Attributes
    ----------
    theirs : str
        Names in ``pinocchio``, separated by commas.
    ours : str
        Names in ``treefactor``, separated by commas; empty where scripts should use Pinocchio.
    note : str
        Plain text with code between backticks.
    what : str
        Name of the measurement, by default the first of theirs.
    """

    theirs: str
    ours: str = ""
    note: str = ""
    what: str = ""

    @property
    def measured(self) -> str:
        """Name of the measurement in measure_from_pinocchio.py."""
        return self.what or self.theirs.split(",")[0]


GROUPS: dict[str, tuple[Counterpart, ...]] = {
    "Models": (
        Counterpart(
            "buildModelFromUrdf", "Model.from_urdf", "`adapters.pinocchio_.model` takes a `pin.Model`"
        ),
        Counterpart("Model.createData", "", "only for Pinocchio: our functions need no `data`"),
        Counterpart("buildReducedModel", "", "then `adapters.pinocchio_.model`"),
        Counterpart(
            "Model.getFrameId, Model.existFrame, Model.frames",
            "Model.frame, Model.frames",
            "unknown names raise; frame k is Pinocchio's frame k",
        ),
        Counterpart("Model.addFrame", "Model.add_frame", "returns another model"),
        Counterpart("RobotWrapper.BuildFromURDF", "Model.from_urdf", "no wrapper; functions take a `Model`"),
    ),
    "Dynamics": (
        Counterpart("aba, abaInParallel", "forward_dynamics", "factorizes *H*"),
        Counterpart("aba", "aba", "recursion over bodies, for long chains", "aba of bodies"),
        Counterpart("rnea, rneaInParallel", "rnea", "`fext=` takes forces in the axes of each joint's body"),
        Counterpart("Data.f", "joint_forces", "after `rnea`; without the universe's entry"),
        Counterpart("Data.f", "base_force", "after `rnea`: entry 1", "Data.f[1]"),
        Counterpart("nle, nonLinearEffects", "bias"),
        Counterpart("computeGeneralizedGravity", "generalized_gravity"),
        Counterpart("computeStaticTorque", "static_torque", "`fext` without the universe's entry"),
        Counterpart("crba", "crba", "both triangles; `layout=` for packed entries"),
        Counterpart("crba", "h_times", "*H* times a vector, without *H*", "crba @ a"),
        Counterpart("computeMinverse", "inverse_inertia", "with mimic joints, too", "inverse_inertia"),
        Counterpart("computeMinverse", "compile, Kernels.bind", "the function `minv` of a generated program"),
        Counterpart("computeCoriolisMatrix", "coriolis_matrix", "`layout=` for packed entries"),
        Counterpart("computeKineticEnergy", "kinetic_energy"),
        Counterpart("computePotentialEnergy", "potential_energy"),
        Counterpart("computeMechanicalEnergy", "mechanical_energy"),
        Counterpart("nle", "Kernels.bias", "the function `bias` of a generated program", "nle of a program"),
        Counterpart("computeAllTerms"),
        Counterpart(
            "constraintDynamics",
            "constraints.forward_dynamics",
            "closed loops; times on the page on performance",
        ),
        Counterpart("computeABADerivatives, computeRNEADerivatives"),
        Counterpart("computeJointTorqueRegressor, computeStaticRegressor"),
    ),
    "Simulation": (
        Counterpart("aba, integrate", "step", "semi-implicit Euler; also RK4", "step"),
        Counterpart("aba, integrate", "rollout", "20 steps; batches of 64 trajectories", "rollout"),
    ),
    "Linear algebra with the inertia matrix": (
        Counterpart(
            "cholesky.decompose", "adapters.pinocchio_.Accelerator.factor", "reads `data.M` in place"
        ),
        Counterpart(
            "cholesky.solve", "adapters.pinocchio_.Accelerator.solve", "with `out=`; also for many columns"
        ),
        Counterpart(
            "cholesky.decompose",
            "adapters.pinocchio_.cholesky.decompose",
            "drop-in with Pinocchio's signatures; it also fills `data.U` and `data.D`",
            "drop-in decompose",
        ),
        Counterpart(
            "cholesky.solve",
            "adapters.pinocchio_.cholesky.solve",
            "drop-in with Pinocchio's signature, from `data.U` and `data.D`",
            "drop-in solve",
        ),
        Counterpart(
            "cholesky.computeMinv",
            "adapters.pinocchio_.cholesky.computeMinv",
            "drop-in with Pinocchio's signature; `Factor.inverse` needs no `data`",
            "drop-in computeMinv",
        ),
        Counterpart(
            "crba",
            "adapters.pinocchio_.mass_matrix",
            "calls Pinocchio's `crba` and makes the result symmetric",
            "mass_matrix",
        ),
        Counterpart(
            "cholesky.decompose",
            "factor, Factor.refactor",
            "one call makes a new `Factor`; a batch is refactored",
            "new factor",
        ),
        Counterpart(
            "computeDelassusMatrix, ContactCholeskyDecomposition",
            "Factor.delassus, crba, frame_jacobian",
            "*J H⁻¹ Jᵀ* from *q*",
        ),
        Counterpart(
            "computeDelassusMatrix",
            "adapters.pinocchio_.Accelerator.delassus",
            "of a given *J* and factor",
            "delassus of J",
        ),
        Counterpart(
            "cholesky.decompose, cholesky.solve", "solve", "one call, without keeping a `Factor`", "solve"
        ),
    ),
    "Operational space": (
        Counterpart(
            "computeMinverse, computeFrameJacobian",
            "operational_inertia",
            "(*J H⁻¹ Jᵀ*)⁻¹; with Pinocchio, NumPy composes it",
            "operational_inertia",
        ),
        Counterpart(
            "computeMinverse, computeFrameJacobian",
            "operational_space, OperationalSpace",
            "with the consistent inverse and the projector",
            "operational_space",
        ),
        Counterpart("nle, getFrameAcceleration", "operational_bias", "gravity included", "operational_bias"),
        Counterpart("forwardKinematics, getFrameAcceleration", "task_bias", "", "task_bias"),
    ),
    "Configurations": (
        Counterpart("integrate", "integrate"),
        Counterpart("difference", "difference"),
        Counterpart("neutral", "neutral"),
        Counterpart(
            "randomConfiguration",
            "random_configuration",
            "between given limits; takes a NumPy generator or a seed",
        ),
        Counterpart(
            "randomConfiguration",
            "random_configuration",
            "between the limits of the model",
            "randomConfiguration of the model",
        ),
        Counterpart("interpolate", "interpolate"),
        Counterpart("distance", "distance"),
        Counterpart("squaredDistance", "squared_distance"),
        Counterpart("normalize", "normalize"),
        Counterpart("dIntegrate", "d_integrate", "both derivatives"),
        Counterpart("dIntegrate", "d_integrate", "one derivative", "dIntegrate by v"),
        Counterpart("dDifference", "d_difference", "both derivatives"),
        Counterpart("dDifference", "d_difference", "one derivative", "dDifference by q1"),
        Counterpart("isSameConfiguration", "is_same_configuration", "of equal ones"),
        Counterpart(
            "isSameConfiguration",
            "is_same_configuration",
            "of different ones",
            "isSameConfiguration of different ones",
        ),
    ),
    "Kinematics": (
        Counterpart(
            "framesForwardKinematics, updateFramePlacement, updateFramePlacements, Data.oMf",
            "frame_placement",
            "one frame or several, by name",
        ),
        Counterpart("forwardKinematics, Data.oMi", "joint_placements", "all joints in one array"),
        Counterpart("getFrameVelocity, getVelocity", "frame_velocity"),
        Counterpart("getFrameAcceleration, getAcceleration", "frame_acceleration"),
        Counterpart(
            "getFrameClassicalAcceleration, getClassicalAcceleration",
            "frame_acceleration",
            "`classical=True`",
        ),
        Counterpart(
            "computeFrameJacobian, getFrameJacobian", "frame_jacobian", "`layout=` for packed columns"
        ),
        Counterpart("computeJointJacobian, computeJointJacobians", "joint_jacobian"),
        Counterpart(
            "getFrameJacobianTimeVariation, computeJointJacobiansTimeVariation", "frame_jacobian_dot"
        ),
        Counterpart(
            "computeJointJacobians, updateFramePlacement, getFrameJacobian, centerOfMass",
            "Kinematics",
            "one request of a placement, a Jacobian and the centre of mass",
            "Kinematics",
        ),
        Counterpart(
            "framesForwardKinematics",
            "constraints.placement",
            "of a body, placed at *R*, *p*",
            "constraints.placement",
        ),
        Counterpart(
            "computeFrameJacobian",
            "constraints.jacobian",
            "LOCAL with `R=`, otherwise LOCAL_WORLD_ALIGNED",
            "constraints.jacobian",
        ),
        Counterpart(
            "getFrameClassicalAcceleration",
            "constraints.acceleration_bias",
            "at zero joint accelerations",
            "constraints.acceleration_bias",
        ),
        Counterpart("computeForwardKinematicsDerivatives, computeFrameKinematicRegressor"),
    ),
    "Centre of mass and momentum": (
        Counterpart(
            "centerOfMass, Data.com",
            "center_of_mass",
            "in the axes of the base for subtrees, too; `centerOfMass` has those of the joint",
        ),
        Counterpart(
            "centerOfMass, Data.vcom, Data.acom",
            "center_of_mass",
            "with velocity and acceleration",
            "centerOfMass of q, v, a",
        ),
        Counterpart(
            "jacobianCenterOfMass, jacobianSubtreeCenterOfMass, Data.Jcom",
            "center_of_mass_jacobian",
            "of subtrees, too",
        ),
        Counterpart(
            "computeTotalMass, computeSubtreeMasses, Data.mass",
            "Model.mass, Model.subtree_masses",
            "attributes; without the universe's entry",
        ),
        Counterpart("computeCentroidalMap, ccrba, Data.Ag", "centroidal_map", "of mimic joints, too"),
        Counterpart("dccrba, Data.dAg", "centroidal_map_dot"),
        Counterpart("computeCentroidalMomentum, Data.hg", "centroidal_momentum"),
        Counterpart("computeCentroidalMomentumTimeVariation, Data.dhg", "centroidal_momentum_rate"),
        Counterpart("Data.Ig, ccrba", "centroidal_inertia", "its tensor, 3 x 3"),
    ),
    "Poses: arrays (..., 3, 4) in place of objects": (
        Counterpart("exp6", "se3.exp"),
        Counterpart("log6", "se3.log"),
        Counterpart("Jexp6", "se3.jexp"),
        Counterpart("Jlog6", "se3.jlog"),
        Counterpart("SE3.__mul__", "se3.compose", "", "SE3 * SE3"),
        Counterpart("SE3.inverse", "se3.inverse"),
        Counterpart("SE3.actInv", "se3.between", "of a pose", "SE3.actInv of SE3"),
        Counterpart("SE3.act", "se3.act", "of a point"),
        Counterpart("SE3.act", "se3.act", "of a motion", "SE3.act of Motion"),
        Counterpart("SE3.actInv", "se3.act_inverse", "of a point"),
        Counterpart("SE3.actInv", "se3.act_inverse", "of a motion", "SE3.actInv of Motion"),
        Counterpart("SE3.action", "se3.action"),
        Counterpart("SE3.Interpolate", "se3.interpolate"),
        Counterpart("SE3, rpy.rpyToMatrix", "se3.from_rpy", "", "SE3 of rpy"),
        Counterpart("XYZQUATToSE3", "se3.from_xyzquat"),
        Counterpart("SE3ToXYZQUAT", "se3.to_xyzquat"),
    ),
    "Rotations": (
        Counterpart("exp3", "so3.exp"),
        Counterpart("log3", "so3.log"),
        Counterpart("Jexp3", "so3.jexp"),
        Counterpart("Jlog3", "so3.jlog"),
        Counterpart("rpy.rpyToMatrix", "so3.from_rpy"),
        Counterpart("rpy.matrixToRpy", "so3.to_rpy"),
        Counterpart("Quaternion.matrix", "so3.from_quaternion"),
        Counterpart("Quaternion.coeffs", "so3.to_quaternion"),
        Counterpart("Quaternion.slerp", "so3.interpolate"),
    ),
    "Geometry": (Counterpart("computeCollisions, computeDistances"),),
}
WITHOUT_COUNTERPART = {  # public functions and classes, with what Pinocchio's Python has instead
    "a product of two arrays": ("multiply", "so3.act", "so3.act_inverse", "so3.between", "so3.compose"),
    "a view of an array": ("so3.inverse",),
    "a choice of how to call": ("bind", "generate", "stream"),
    "nothing": (
        *("chain_forces", "chain_inertia", "show_config"),
        *("adapters.pinocchio_.coupled_configuration", "adapters.pinocchio_.coupling"),
        *("adapters.pinocchio_.carried", "adapters.pinocchio_.constraints", "adapters.pinocchio_.leading"),
        *("adapters.pinocchio_.massless_joints", "adapters.pinocchio_.mimic_joints"),
        *("adapters.pinocchio_.placement_changes", "adapters.pinocchio_.with_inertials"),
    ),
    "itself: the functions convert models": (
        *("adapters.pinocchio_.load", "adapters.pinocchio_.model", "adapters.pinocchio_.tree"),
    ),
}

CALLS_THEIRS = "calls Pinocchio's function, too"
NEW_ARRAY = "makes a new array where Pinocchio fills its data; the bound call does not"
CHECKS = "checks its arguments and makes a new array: about 0.1 microseconds more"
REASONS = {  # why functions take longer than Pinocchio's, by the name of the measurement
    "buildModelFromUrdf": "reads the file in Python, with checks of every number",
    "drop-in decompose": f"{CALLS_THEIRS}: its Python does not show data.Dinv, which its solver reads",
    "mass_matrix": f"{CALLS_THEIRS} and makes the result symmetric",
    "new factor": "makes a new Factor; keep one and call refactor, or an Accelerator",
    "solve": "checks its arguments: about 0.2 microseconds more",
    "randomConfiguration": "locks NumPy's generator, which threads may share",
    "randomConfiguration of the model": "locks NumPy's generator, which threads may share",
    "forwardKinematics": NEW_ARRAY,
    "constraints.placement": "finds the frame by the contents of R and p; frame_placement takes a name",
    "constraints.jacobian": "finds the frame by the contents of R and p; frame_jacobian takes a name",
    "constraints.acceleration_bias": "finds the frame by the contents of R and p",
    "computeDelassusMatrix": "three calls; each checks its arguments and makes a new array",
    "computeMinverse": "a program is interpreted; inverse_inertia is faster on robots of many joints",
    "isSameConfiguration of different ones": "compares all joints; Pinocchio stops at a difference",
    "operational_bias": "its inverse and projector are products of NumPy",
    "operational_space": "its inverse and projector are products of NumPy",
    "exp6": CHECKS,
    "SE3.inverse": CHECKS,
    "XYZQUATToSE3": CHECKS,
}
