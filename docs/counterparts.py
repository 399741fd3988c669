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
        Counterpart(
            "aba, abaInParallel", "forward_dynamics, aba", "`forward_dynamics` is the faster of ours"
        ),
        Counterpart("rnea, rneaInParallel", "rnea", "`fext=` takes forces in the axes of each joint's body"),
        Counterpart("Data.f", "joint_forces, base_force", "after `rnea`; without the universe's entry"),
        Counterpart("nle, nonLinearEffects", "bias"),
        Counterpart("computeGeneralizedGravity", "generalized_gravity"),
        Counterpart("computeStaticTorque", "static_torque", "`fext` without the universe's entry"),
        Counterpart("crba", "crba", "both triangles; `layout=` for packed entries"),
        Counterpart("computeMinverse", "inverse_inertia", "with mimic joints, too", "inverse_inertia"),
        Counterpart("computeMinverse", "compile, Kernels.bind", "the function `minv` of a generated program"),
        Counterpart("computeCoriolisMatrix", "coriolis_matrix", "`layout=` for packed entries"),
        Counterpart("computeKineticEnergy", "kinetic_energy"),
        Counterpart("computePotentialEnergy", "potential_energy"),
        Counterpart("computeMechanicalEnergy", "mechanical_energy"),
        Counterpart("computeAllTerms"),
        Counterpart(
            "constraintDynamics",
            "constraints.forward_dynamics",
            "closed loops; times on the page on performance",
        ),
        Counterpart("computeABADerivatives, computeRNEADerivatives"),
        Counterpart("computeJointTorqueRegressor, computeStaticRegressor"),
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
            "delassus, operational_inertia",
            "*J H⁻¹ Jᵀ* of frames from *q*; `operational_inertia` is the inverse",
            "delassus",
        ),
        Counterpart(
            "computeDelassusMatrix",
            "adapters.pinocchio_.Accelerator.delassus",
            "with `crba` and the Jacobians of Pinocchio; `delassus` needs neither",
        ),
        Counterpart("computeDelassusMatrix", "Factor.delassus", "of a given *J* and factor", "delassus of J"),
    ),
    "Configurations": (
        Counterpart("integrate", "integrate"),
        Counterpart("difference", "difference"),
        Counterpart("neutral", "neutral"),
        Counterpart("randomConfiguration", "random_configuration", "takes a NumPy generator or a seed"),
        Counterpart("interpolate, distance, squaredDistance, normalize, dIntegrate, dDifference"),
    ),
    "Kinematics": (
        Counterpart(
            "framesForwardKinematics, forwardKinematics, updateFramePlacement, updateFramePlacements",
            "constraints.placement",
            "one frame, by its name, or by body and placement",
        ),
        Counterpart(
            "computeFrameJacobian, computeJointJacobians, computeJointJacobian, getFrameJacobian",
            "constraints.jacobian",
            "one frame; LOCAL with `R=`, otherwise LOCAL_WORLD_ALIGNED",
        ),
        Counterpart(
            "getFrameClassicalAcceleration, getFrameAcceleration",
            "constraints.acceleration_bias",
            "at zero joint accelerations",
        ),
        Counterpart("getFrameVelocity, getVelocity, getAcceleration, getClassicalAcceleration"),
        Counterpart("computeJointJacobiansTimeVariation, getFrameJacobianTimeVariation"),
        Counterpart("Data.oMf, Data.oMi"),
        Counterpart("computeForwardKinematicsDerivatives, computeFrameKinematicRegressor"),
    ),
    "Centre of mass and momentum": (
        Counterpart(
            "centerOfMass, jacobianCenterOfMass, jacobianSubtreeCenterOfMass",
            "center_of_mass, center_of_mass_jacobian",
            "in the axes of the base for subtrees, too; `centerOfMass` has those of the joint",
        ),
        Counterpart("Data.com, Data.vcom, Data.acom, Data.Jcom", "center_of_mass, center_of_mass_jacobian"),
        Counterpart(
            "computeTotalMass, computeSubtreeMasses, Data.mass",
            "Model.mass, Model.subtree_masses",
            "attributes; without the universe's entry",
        ),
        Counterpart(
            "ccrba, dccrba, computeCentroidalMap, computeCentroidalMomentum",
            "centroidal_map, centroidal_map_dot, centroidal_momentum, centroidal_momentum_rate",
            "of mimic joints, too",
        ),
        Counterpart(
            "computeCentroidalMomentumTimeVariation, Data.Ag, Data.dAg, Data.hg, Data.dhg",
            "centroidal_momentum_rate, centroidal_map, centroidal_map_dot, centroidal_momentum",
        ),
        Counterpart("Data.Ig", "centroidal_inertia", "its tensor, 3 x 3"),
    ),
    "Geometry": (
        Counterpart("SE3, exp3, log3, exp6, log6, Jlog3, Jlog6"),
        Counterpart("Quaternion, rpy.rpyToMatrix, rpy.matrixToRpy, XYZQUATToSE3, SE3ToXYZQUAT"),
        Counterpart("computeCollisions, computeDistances"),
    ),
}
