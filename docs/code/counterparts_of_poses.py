"""Poses and rotations in the table of the page *From Pinocchio to treefactor*."""

from __future__ import annotations

from counterpart import Counterpart

POSES: dict[str, tuple[Counterpart, ...]] = {
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
