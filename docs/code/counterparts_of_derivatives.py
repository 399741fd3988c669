"""Derivatives in the table of the page *From Pinocchio to treefactor*."""

from __future__ import annotations

from counterpart import Counterpart

ALONG = "by *q* along `integrate`, (nv) columns"
PRODUCT = "with Pinocchio, products of the matrices in NumPy"
DIFFERENCES = "with Pinocchio, central differences of the products, without error bounds; batches of 64"
DERIVATIVES: dict[str, tuple[Counterpart, ...]] = {
    "Derivatives": (
        Counterpart(
            "computeRNEADerivatives",
            "rnea_derivatives",
            '`layout="packed"` and `"lanes"` have only entries of the pattern; with mimic joints, too',
            shape="three (nv, nv)",
            convention=(
                f"*∂τ/∂q*, *∂τ/∂v* and *H*, {ALONG}; Pinocchio's are wrong for universal and spherical-ZYX "
                "joints, and views that the next call overwrites"
            ),
        ),
        Counterpart(
            "computeABADerivatives",
            "forward_dynamics_derivatives",
            "`with_value=True` returns the acceleration, too; with mimic joints, too",
            shape="three (nv, nv)",
            convention="*∂a/∂q*, *∂a/∂v* and *H⁻¹*; Pinocchio's are wrong for the same joints",
        ),
        Counterpart(
            "computeGeneralizedGravityDerivatives, computeStaticTorqueDerivatives",
            "rnea_derivatives",
            "at *v* = *a* = 0, with `fext=` for the second",
            shape="three (nv, nv)",
            convention="the first matrix",
        ),
        Counterpart(
            (
                "computeForwardKinematicsDerivatives, getFrameAccelerationDerivatives, "
                "getFrameVelocityDerivatives, getJointAccelerationDerivatives, getJointVelocityDerivatives"
            ),
            "frame_derivatives",
            "timed with `getFrameAccelerationDerivatives`, which has those of velocities, too",
            what="getFrameAccelerationDerivatives",
            shape="MotionDerivatives",
            convention=(
                "of `frame_velocity` and `frame_acceleration` in the same reference; in "
                "LOCAL_WORLD_ALIGNED Pinocchio's are its WORLD matrices in other axes, which are not "
                "derivatives of these quantities"
            ),
        ),
        Counterpart(
            "getPointClassicAccelerationDerivatives, getPointVelocityDerivatives",
            "frame_derivatives",
            "with `classical=True`; the first three rows",
            shape="MotionDerivatives",
        ),
        Counterpart(
            "getCenterOfMassVelocityDerivatives",
            "com_derivatives",
            "also those of the acceleration, and `root=` for a subtree",
            shape="MotionDerivatives",
            convention="in world axes",
        ),
        Counterpart(
            "computeCentroidalDynamicsDerivatives, getCentroidalDynamicsDerivatives",
            "centroidal_derivatives",
            shape="CentroidalDerivatives",
            convention="of the momentum about the centre of mass and its rate, without gravity",
        ),
        Counterpart(
            "dIntegrate",
            "integrate_derivatives",
            "`d_integrate` computes one of them",
            what="integrate_derivatives",
            shape="two (nv, nv)",
        ),
        Counterpart(
            "dDifference",
            "difference_derivatives",
            "`d_difference` computes one of them",
            what="difference_derivatives",
            shape="two (nv, nv)",
        ),
        Counterpart(
            "computeRNEADerivatives",
            "rnea_vjp",
            PRODUCT,
            what="rnea_vjp",
            shape="three (nv)",
            convention=(
                "gradient of *w* · *τ*; on request by `fext` and by all inertial parameters, which is the "
                "transposed `computeJointTorqueRegressor` times *w*"
            ),
        ),
        Counterpart(
            "computeABADerivatives",
            "forward_dynamics_vjp",
            PRODUCT,
            what="forward_dynamics_vjp",
            shape="three (nv)",
            convention="gradient of *w* · *a*",
        ),
        Counterpart("computeRNEADerivatives", "rnea_jvp", PRODUCT, what="rnea_jvp", shape="(nv)"),
        Counterpart(
            "computeABADerivatives",
            "forward_dynamics_jvp",
            PRODUCT,
            what="forward_dynamics_jvp",
            shape="(nv)",
        ),
        Counterpart(
            "computeRNEADerivatives",
            "rnea_hvp",
            DIFFERENCES,
            what="rnea_hvp",
            shape="three (nv)",
            convention="Hessian of *w* · *τ* times a direction; symmetric by default",
        ),
        Counterpart(
            "computeABADerivatives",
            "forward_dynamics_hvp",
            DIFFERENCES,
            what="forward_dynamics_hvp",
            shape="three (nv)",
        ),
        Counterpart(
            "computeRNEADerivatives",
            "rnea_hessian",
            DIFFERENCES,
            what="rnea_hessian",
            shape="blocks (nv, nv)",
            convention="symmetric by default: of the displacement, not the derivative of the gradient",
        ),
        Counterpart(
            "computeABADerivatives",
            "forward_dynamics_hessian",
            DIFFERENCES,
            what="forward_dynamics_hessian",
            shape="blocks (nv, nv)",
        ),
        Counterpart(
            "computeConstraintDynamicsDerivatives",
            "constraints.forward_dynamics_derivatives",
            "of loops, drives and each `RigidContact`; timed with points of feet held, in batches of 64",
            shape="six (nv or rows, nv)",
            convention="of accelerations and forces by *q*, *v* and *τ*",
        ),
        Counterpart("computeImpulseDynamicsDerivatives"),
    ),
}
