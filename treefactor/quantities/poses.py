"""Declarations of operations on poses, the functions of `treefactor.se3`."""

from typing import Any

from .declaration import Array, Counterpart, Option, Quantity, Timed

WITHOUT_MODEL: dict[str, Any] = {
    "has_model": False,
    "bound": False,
    "spoiled": "In a batch, numbers that are not finite give NaN in their element.",
}
SE3: dict[str, Any] = {**WITHOUT_MODEL, "module": "treefactor.se3"}
KERNEL = "kinematics._poses:PoseFunction"
FROM_QUATERNION = "kinematics._poses:FromQuaternion"
M = Array("M", (3, 4), axes="Rotation matrix and translation [R p]; not checked.")
M0 = M._replace(name="M0")
M1 = M._replace(name="M1")
POSE = Array("M", (3, 4))
MOTION = Array("v", (6,), axes="Linear before angular.")
X = Array("x", ("k",), axes="Points (m) for k = 3, velocities for k = 6, linear before angular.")
LENGTH = Option("k", (3, 6), "axis")
FRACTION = Array("u", role="number", type="float or array_like")
ZERO_OR_NAN = (
    "In a batch, quaternions of length zero and numbers that are not finite give NaN in their element."
)
ZERO_QUATERNION = (("ConfigurationError", "If a single quaternion has length zero."),)

exp = Quantity(
    "exp",
    "Return the pose that a constant velocity v reaches from the identity within one second.",
    (MOTION._replace(unit="m/s, rad/s", axes="Linear before angular, in axes of the moving body."),),
    (POSE,),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("exp6"), Counterpart("exp")),
    timed=(Timed("pin.exp6(v)", convention="motions are linear before angular"),),
    examples="""
>>> from treefactor import se3
>>> se3.exp([1.0, 0, 0, 0, 0, 0])
array([[1., 0., 0., 1.],
       [0., 1., 0., 0.],
       [0., 0., 1., 0.]])
""",
)
log = Quantity(
    "log",
    "Return the velocity of at most half a turn that leads from the identity to M within one second.",
    (M,),
    (MOTION._replace(axes="Linear before angular; finite at a half turn, too."),),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("log6"), Counterpart("log")),
    timed=(Timed("pin.log6(A)", convention="at most half a turn; finite at half a turn"),),
    examples="""
>>> from treefactor import se3
>>> se3.log([[1.0, 0, 0, 2], [0, 1, 0, 0], [0, 0, 1, 0]])
array([2., 0., 0., 0., 0., 0.])
""",
)
jexp = Quantity(
    "jexp",
    "Return the right Jacobian J of `exp`: exp(v + d) is exp(v) exp(J d) to first order.",
    (MOTION,),
    (Array("J", (6, 6)),),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("Jexp6"),),
    timed=(Timed("pin.Jexp6(v)", convention="right Jacobian"),),
)
jlog = Quantity(
    "jlog",
    "Return the right Jacobian J of `log`: log(M exp(d)) is log(M) + J d to first order.",
    (M,),
    (Array("J", (6, 6)),),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("Jlog6"),),
    timed=(Timed("pin.Jlog6(A)", convention="log(*M* exp *d*) is log *M* + *J d* to first order"),),
)
compose = Quantity(
    "compose",
    "Return the product M0 M1: the pose M1, given in the frame M0.",
    (M0, M1),
    (POSE,),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("SE3.__mul__"),),
    timed=(Timed("A * B", what="SE3 * SE3", note="`M0 * M1`"),),
)
inverse = Quantity(
    "inverse",
    "Return the inverse pose.",
    (M,),
    (POSE,),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("SE3.inverse"),),
    timed=(Timed("A.inverse()"),),
)
between = Quantity(
    "between",
    "Return the inverse of M0 times M1: the pose M1, seen from the frame M0.",
    (M0, M1),
    (POSE,),
    KERNEL,
    **SE3,
    timed=(
        Timed(
            "A.actInv(B)",
            names="SE3.actInv",
            what="SE3.actInv of SE3",
            note="of a pose",
            convention="*M1* as seen from *M0*",
        ),
    ),
    notes="``M0.actInv(M1)`` of ``pinocchio.SE3``.",
)
act = Quantity(
    "act",
    "Transform points or spatial velocities from the frame M to its reference: R x + p for points.",
    (M, X),
    (Array("y", ("k",)),),
    KERNEL,
    (LENGTH,),
    **SE3,
    counterparts=(Counterpart("SE3.act"),),
    timed=(
        Timed("A.act(x)", note="of a point", shape="(3)"),
        Timed("A.act(u)", ours="tf.se3.act(M, v)", what="SE3.act of Motion", note="of a motion", shape="(6)"),
    ),
    examples="""
>>> from treefactor import se3
>>> se3.act(se3.exp([1.0, 0, 0, 0, 0, 0]), [0.0, 2, 0])
array([1., 2., 0.])
""",
)
act_inverse = Quantity(
    "act_inverse",
    "Transform points or spatial velocities into the frame M: the inverse of `act`.",
    (M, X),
    (Array("y", ("k",)),),
    KERNEL,
    (LENGTH,),
    **SE3,
    counterparts=(Counterpart("SE3.actInv"),),
    timed=(
        Timed("A.actInv(x)", note="of a point", shape="(3)"),
        Timed(
            "A.actInv(u)",
            ours="tf.se3.act_inverse(M, v)",
            what="SE3.actInv of Motion",
            note="of a motion",
            shape="(6)",
        ),
    ),
)
action = Quantity(
    "action",
    "Return the matrix by which `act` multiplies spatial velocities.",
    (M,),
    (Array("X", (6, 6), axes="Its transpose takes forces from the outer frame to M."),),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("SE3.action"),),
    timed=(Timed("A.action", convention="multiplies motions; its inverse transposed multiplies forces"),),
)
interpolate = Quantity(
    "interpolate",
    "Return the pose at the fraction u between M0 and M1: M0 exp(u log(M0^-1 M1)).",
    (
        M0,
        M1,
        FRACTION._replace(axes="0 gives M0, 1 gives M1; one number, or one for each pose of the batch."),
    ),
    (POSE,),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("SE3.Interpolate"),),
    timed=(Timed("pin.SE3.Interpolate(A, B, 0.25)", ours="tf.se3.interpolate(M0, M1, 0.25)"),),
)
from_rpy = Quantity(
    "from_rpy",
    "Return the pose at a position, turned by roll, pitch and yaw about fixed axes, as URDF has them.",
    (
        Array("xyz", (3,), "m", "Position."),
        Array("rpy", (3,), "rad", "Angles about x, then y, then z."),
    ),
    (POSE,),
    KERNEL,
    **SE3,
    timed=(Timed("pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)", names="SE3, rpy.rpyToMatrix", what="SE3 of rpy"),),
    notes="The rotation is that of ``pinocchio.rpy.rpyToMatrix``.",
)
from_xyzquat = Quantity(
    "from_xyzquat",
    "Return the pose of a position and a quaternion.",
    (Array("x", (7,), axes="Position (m) and quaternion x y z w of any length but zero."),),
    (POSE,),
    FROM_QUATERNION,
    **SE3 | {"spoiled": ZERO_OR_NAN},
    errors=ZERO_QUATERNION,
    counterparts=(Counterpart("XYZQUATToSE3"),),
    timed=(Timed("pin.XYZQUATToSE3(z)", ours="tf.se3.from_xyzquat(z)", convention="quaternions x y z w"),),
)
to_xyzquat = Quantity(
    "to_xyzquat",
    "Return position and quaternion x y z w of a pose.",
    (M,),
    (Array("x", (7,), axes="Of the two quaternions of a rotation, the one with w >= 0."),),
    KERNEL,
    **SE3,
    counterparts=(Counterpart("SE3ToXYZQUAT"),),
    timed=(Timed("pin.SE3ToXYZQUAT(A)"),),
)
