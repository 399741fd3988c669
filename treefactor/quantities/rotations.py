"""Declarations of operations on rotations, the functions of `treefactor.so3`."""

from typing import Any

from .declaration import Array, Counterpart, Quantity, Timed
from .poses import FRACTION, FROM_QUATERNION, KERNEL, WITHOUT_MODEL, ZERO_OR_NAN, ZERO_QUATERNION

SO3: dict[str, Any] = {**WITHOUT_MODEL, "module": "treefactor.so3"}
R = Array("R", (3, 3), axes="Rotation matrices; not checked.")
R0 = R._replace(name="R0")
R1 = R._replace(name="R1")
ROTATION = Array("R", (3, 3))
W = Array("w", (3,), "rad", "Rotation vectors.")
X = Array("x", (3,))
RPY = Array("rpy", (3,), "rad", "Angles about x, then y, then z.")

exp = Quantity(
    "exp",
    "Return the rotation by the angle and about the axis of a rotation vector.",
    (W,),
    (ROTATION,),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("exp3"),),
    timed=(Timed("pin.exp3(w)"),),
    examples="""
>>> from treefactor import so3
>>> so3.exp([0.0, 0.0, 0.0])
array([[1., 0., 0.],
       [0., 1., 0.],
       [0., 0., 1.]])
""",
)
log = Quantity(
    "log",
    "Return the rotation vector, of length at most pi, of a rotation.",
    (R,),
    (W._replace(axes="Finite at a half turn, too."),),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("log3"),),
    timed=(Timed("pin.log3(R)", convention="at most half a turn; finite at half a turn"),),
)
jexp = Quantity(
    "jexp",
    "Return the right Jacobian J of `exp`: exp(w + d) is exp(w) exp(J d) to first order.",
    (W,),
    (Array("J", (3, 3)),),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("Jexp3"),),
    timed=(Timed("pin.Jexp3(w)", convention="right Jacobian"),),
)
jlog = Quantity(
    "jlog",
    "Return the right Jacobian J of `log`: log(R exp(d)) is log(R) + J d to first order.",
    (R,),
    (Array("J", (3, 3)),),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("Jlog3"),),
    timed=(Timed("pin.Jlog3(R)"),),
)
compose = Quantity("compose", "Return the product R0 R1.", (R0, R1), (ROTATION,), KERNEL, **SO3)
inverse = Quantity(
    "inverse", "Return the inverse rotation, the transposed matrix.", (R,), (ROTATION,), KERNEL, **SO3
)
between = Quantity(
    "between",
    "Return the inverse of R0 times R1: the rotation R1, seen from R0.",
    (R0, R1),
    (ROTATION,),
    KERNEL,
    **SO3,
)
act = Quantity("act", "Return turned vectors R x.", (R, X), (Array("y", (3,)),), KERNEL, **SO3)
act_inverse = Quantity(
    "act_inverse",
    "Return vectors turned back: the inverse of R times x.",
    (R, X),
    (Array("y", (3,)),),
    KERNEL,
    **SO3,
)
from_rpy = Quantity(
    "from_rpy",
    "Return the rotation by roll, pitch and yaw about fixed axes, as URDF has them.",
    (RPY,),
    (ROTATION,),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("rpy.rpyToMatrix"), Counterpart("utils.rpyToMatrix")),
    timed=(Timed("pin.rpy.rpyToMatrix(rpy)", convention="about fixed axes, as in URDF"),),
    other_names="rpy, rpyToMatrix",
)
to_rpy = Quantity(
    "to_rpy",
    "Return roll, pitch and yaw of a rotation.",
    (R,),
    (RPY._replace(axes="Pitch lies within -pi/2 and pi/2; where it is one of them, roll is 0."),),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("rpy.matrixToRpy"), Counterpart("utils.matrixToRpy")),
    timed=(Timed("pin.rpy.matrixToRpy(R)"),),
    other_names="matrixToRpy",
    notes="These angles give R at every pitch.",
)
from_quaternion = Quantity(
    "from_quaternion",
    "Return the rotation of a quaternion.",
    (Array("q", (4,), axes="x y z w, of any length but zero."),),
    (ROTATION,),
    FROM_QUATERNION,
    **SO3 | {"spoiled": ZERO_OR_NAN},
    errors=ZERO_QUATERNION,
    counterparts=(Counterpart("Quaternion.matrix"),),
    timed=(Timed("pin.Quaternion(q).matrix()", convention="x y z w"),),
    other_names="quaternion, quat, quaternion to matrix",
)
to_quaternion = Quantity(
    "to_quaternion",
    "Return the unit quaternion x y z w of a rotation.",
    (R,),
    (Array("q", (4,), axes="Of the two quaternions of a rotation, the one with w >= 0."),),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("Quaternion.coeffs", note="up to the sign"),),
    timed=(Timed("pin.Quaternion(R).coeffs()", convention="x y z w"),),
    other_names="matrix to quaternion",
)
interpolate = Quantity(
    "interpolate",
    "Return the rotation at the fraction u between R0 and R1: R0 exp(u log(R0^-1 R1)).",
    (
        R0,
        R1,
        FRACTION._replace(axes="0 gives R0, 1 gives R1; one number, or one for each rotation of the batch."),
    ),
    (ROTATION,),
    KERNEL,
    **SO3,
    counterparts=(Counterpart("Quaternion.slerp"),),
    timed=(
        Timed(
            "pin.Quaternion(R0).slerp(0.25, pin.Quaternion(R1)).matrix()",
            ours="tf.so3.interpolate(R0, R1, 0.25)",
            note="of matrices",
        ),
    ),
)
