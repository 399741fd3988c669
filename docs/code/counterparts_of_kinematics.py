"""Kinematics in the table of the page *From Pinocchio to treefactor*."""

from __future__ import annotations

from counterpart import Counterpart

KINEMATICS: dict[str, tuple[Counterpart, ...]] = {
    "Configurations": (
        Counterpart(
            "integrate",
            "integrate",
            shape="(nq)",
            convention="of a free-flyer *M* exp *v*, with *v* in body axes",
        ),
        Counterpart(
            "difference", "difference", shape="(nv)", convention="`integrate(q0, difference(q0, q1))` is *q1*"
        ),
        Counterpart(
            "interpolate",
            "interpolate",
            shape="(nq)",
            convention="`integrate(q0, u * difference(q0, q1))`",
        ),
        Counterpart("distance", "distance", shape="number", convention="length of `difference`"),
        Counterpart(
            "squaredDistance",
            "squared_distance",
            shape="(joints)",
            convention="one entry per joint, without mimic joints",
        ),
        Counterpart("normalize", "normalize", shape="(nq)"),
        Counterpart(
            "isSameConfiguration",
            "is_same_configuration",
            "an entry may differ by tolerance times max(1, entry)",
            shape="truth value",
            convention="quaternions *q* and -*q* are the same",
        ),
        Counterpart(
            "isSameConfiguration",
            "is_same_configuration",
            "the same, of different configurations",
            what="isSameConfiguration of different ones",
            shape="truth value",
        ),
        Counterpart(
            "dIntegrate",
            "d_integrate",
            "both derivatives",
            shape="two (nv, nv)",
            convention="velocity of the result, in its own axes, per velocity of the argument",
        ),
        Counterpart(
            "dIntegrate",
            "d_integrate",
            'one derivative, by `"ARG1"`',
            what="dIntegrate by v",
            shape="(nv, nv)",
        ),
        Counterpart("dDifference", "d_difference", "both derivatives", shape="two (nv, nv)"),
        Counterpart(
            "dDifference",
            "d_difference",
            'one derivative, by `"ARG1"`',
            what="dDifference by q1",
            shape="(nv, nv)",
        ),
        Counterpart("neutral", "neutral", shape="(nq)"),
        Counterpart(
            "randomConfiguration",
            "random_configuration",
            "with limits as arguments; takes a NumPy generator or a seed",
            shape="(nq)",
            convention="finite, also where limits are infinite",
        ),
        Counterpart(
            "randomConfiguration",
            "random_configuration",
            "with the limits of the model",
            what="randomConfiguration of the model",
            shape="(nq)",
        ),
    ),
    "Frames": (
        Counterpart(
            "framesForwardKinematics, updateFramePlacement, updateFramePlacements, Data.oMf",
            "frame_placement",
            "a name, or a list of frames; Pinocchio's computes all frames",
            shape="(3, 4)",
            convention="[R | p] of the frame in the world",
        ),
        Counterpart(
            "forwardKinematics, Data.oMi",
            "joint_placements",
            shape="(njoints, 3, 4)",
            convention="joint i is `data.oMi[i + 1]`",
        ),
        Counterpart(
            "getFrameVelocity, getVelocity",
            "frame_velocity",
            ("`reference=` is LOCAL by default and accepts the enum of Pinocchio; frames and joints by name"),
            shape="(6)",
            convention=(
                "LOCAL: of the origin, in the axes of the frame; LOCAL_WORLD_ALIGNED: of the "
                "origin, in world axes; WORLD: of the point at the origin of the world, in world axes"
            ),
        ),
        Counterpart(
            "getFrameAcceleration, getAcceleration",
            "frame_acceleration",
            shape="(6)",
            convention="spatial; without gravity; `a=None` is zero",
        ),
        Counterpart(
            "getFrameClassicalAcceleration, getClassicalAcceleration",
            "frame_acceleration",
            "with `classical=True`",
            shape="(6)",
            convention=(
                "spatial plus *ω* × *v*; in LOCAL_WORLD_ALIGNED the second derivative of the position"
            ),
        ),
        Counterpart(
            "computeFrameJacobian, getFrameJacobian",
            "frame_jacobian",
            (
                '`placement=True` returns the placement, too; `layout="packed"` only columns of '
                "`Model.support`"
            ),
            shape="(6, nv)",
            convention="`J v` is the velocity in the same reference",
        ),
        Counterpart(
            "computeJointJacobian, getJointJacobian, computeJointJacobians",
            "joint_jacobian",
            "by name or number",
            shape="(6, nv)",
            convention="ratios of mimic joints included",
        ),
        Counterpart(
            (
                "computeJointJacobiansTimeVariation, getFrameJacobianTimeVariation, "
                "getJointJacobianTimeVariation"
            ),
            "frame_jacobian_dot",
            what="getFrameJacobianTimeVariation",
            shape="(6, nv)",
            convention="*J̇ v + J a* is spatial in LOCAL and WORLD, classical in LOCAL_WORLD_ALIGNED",
        ),
        Counterpart(
            "computeJointJacobians, updateFramePlacement, getFrameJacobian, centerOfMass",
            "Kinematics",
            (
                "many results in one pass; timed with the placement and Jacobian of a frame and "
                "the centre of mass"
            ),
            what="Kinematics",
            shape="named tuple",
        ),
        Counterpart("computeFrameKinematicRegressor"),
    ),
    "Centre of mass and momentum": (
        Counterpart(
            "centerOfMass, Data.com",
            "center_of_mass",
            "`root=` for a subtree",
            shape="(3)",
            convention=(
                "in world axes, subtrees too; `data.com[k]` has those of joint k after "
                "`centerOfMass`, of the world after `jacobianCenterOfMass`"
            ),
        ),
        Counterpart(
            "centerOfMass, Data.vcom, Data.acom",
            "center_of_mass",
            "with `v` and `a`",
            what="centerOfMass of q, v, a",
            shape="three (3)",
            convention="derivatives of the position; without gravity",
        ),
        Counterpart(
            "jacobianCenterOfMass, jacobianSubtreeCenterOfMass, Data.Jcom",
            "center_of_mass_jacobian",
            "`root=` for a subtree",
            shape="(3, nv)",
            convention="for a free-flyer *R* and -*R* [*c*]×, not the identity matrix",
        ),
        Counterpart(
            "computeCentroidalMap, ccrba, Data.Ag",
            "centroidal_map",
            "with mimic joints, too",
            shape="(6, nv)",
            convention="linear rows, then angular ones about the centre of mass, in world axes",
        ),
        Counterpart(
            "dccrba, Data.dAg, computeCentroidalMapTimeVariation",
            "centroidal_map_dot",
            shape="(6, nv)",
            convention="derivative of the map",
        ),
        Counterpart(
            "computeCentroidalMomentum, Data.hg",
            "centroidal_momentum",
            shape="(6)",
            convention="the map times *v*",
        ),
        Counterpart(
            "computeCentroidalMomentumTimeVariation, Data.dhg",
            "centroidal_momentum_rate",
            shape="(6)",
            convention="linear part is mass times acceleration; without gravity",
        ),
        Counterpart(
            "Data.Ig",
            "centroidal_inertia",
            shape="(3, 3)",
            convention="tensor about the centre of mass, in world axes",
        ),
    ),
    "Poses [R | p]": (
        Counterpart("exp6", "se3.exp", shape="(3, 4)", convention="motions are linear before angular"),
        Counterpart("log6", "se3.log", shape="(6)", convention="at most half a turn; finite at half a turn"),
        Counterpart("Jexp6", "se3.jexp", shape="(6, 6)", convention="right Jacobian"),
        Counterpart(
            "Jlog6",
            "se3.jlog",
            shape="(6, 6)",
            convention="log(*M* exp *d*) is log *M* + *J d* to first order",
        ),
        Counterpart("SE3.__mul__", "se3.compose", "`M0 * M1`", what="SE3 * SE3", shape="(3, 4)"),
        Counterpart("SE3.inverse", "se3.inverse", shape="(3, 4)"),
        Counterpart(
            "SE3.actInv",
            "se3.between",
            "of a pose",
            what="SE3.actInv of SE3",
            shape="(3, 4)",
            convention="*M1* as seen from *M0*",
        ),
        Counterpart("SE3.act", "se3.act", "of a point", shape="(3)"),
        Counterpart("SE3.act", "se3.act", "of a motion", what="SE3.act of Motion", shape="(6)"),
        Counterpart("SE3.actInv", "se3.act_inverse", "of a point", shape="(3)"),
        Counterpart("SE3.actInv", "se3.act_inverse", "of a motion", what="SE3.actInv of Motion", shape="(6)"),
        Counterpart(
            "SE3.action",
            "se3.action",
            shape="(6, 6)",
            convention="multiplies motions; its inverse transposed multiplies forces",
        ),
        Counterpart("SE3.Interpolate", "se3.interpolate", shape="(3, 4)"),
        Counterpart("SE3, rpy.rpyToMatrix", "se3.from_rpy", what="SE3 of rpy", shape="(3, 4)"),
        Counterpart("XYZQUATToSE3", "se3.from_xyzquat", shape="(3, 4)", convention="quaternions x y z w"),
        Counterpart("SE3ToXYZQUAT", "se3.to_xyzquat", shape="(7)"),
    ),
    "Rotations": (
        Counterpart("exp3", "so3.exp", shape="(3, 3)"),
        Counterpart("log3", "so3.log", shape="(3)", convention="at most half a turn; finite at half a turn"),
        Counterpart("Jexp3", "so3.jexp", shape="(3, 3)", convention="right Jacobian"),
        Counterpart("Jlog3", "so3.jlog", shape="(3, 3)"),
        Counterpart(
            "rpy.rpyToMatrix", "so3.from_rpy", shape="(3, 3)", convention="about fixed axes, as in URDF"
        ),
        Counterpart("rpy.matrixToRpy", "so3.to_rpy", shape="(3)"),
        Counterpart("Quaternion.matrix", "so3.from_quaternion", shape="(3, 3)", convention="x y z w"),
        Counterpart("Quaternion.coeffs", "so3.to_quaternion", shape="(4)", convention="x y z w"),
        Counterpart("Quaternion.slerp", "so3.interpolate", "of matrices", shape="(3, 3)"),
    ),
}
