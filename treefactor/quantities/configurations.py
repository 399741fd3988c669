"""Declarations of configurations: steps between them, distances, derivatives of steps, and unit rotations."""

from ..tolerances import SAME_CONFIGURATION
from .arrays import Q, V
from .declaration import Array, Counterpart, Derivative, Option, Quantity, Timed

FUNCTIONS = "kinematics._configuration_functions"
OF_FORMULAS = Derivative(
    rule="adapters._maps:ArrayFunction"
)  # of `Manifold`, in operations of JAX and PyTorch
Q0 = Q._replace(name="q0")
Q1 = Q._replace(name="q1")
REACHED = Array("q", ("nq",), axes="In Pinocchio's layout. May be written over the first argument.")
SLIDE = """
>>> import treefactor as tf
>>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
"""
BY_Q = Array(
    "by_q",
    ("nv", "nv"),
    axes="Velocity of the result in its own axes per velocity of q: the adjoint of exp(-v).",
)
BY_V = Array(
    "by_v",
    ("nv", "nv"),
    axes="Velocity of the result in its own axes per change of v: the right Jacobian of exp.",
)
BY_Q0 = Array(
    "by_q0",
    ("nv", "nv"),
    axes="Change of the difference d per velocity of q0 in its own axes: -J(-d)^-1 with the right Jacobian J of exp.",
)
BY_Q1 = Array("by_q1", ("nv", "nv"), axes="The same of q1: J(d)^-1.")
ARGUMENT = Option(
    "argument",
    (None, "ARG0", "ARG1", 0, 1),
    text="0 is the first one, 1 the second; without it both derivatives are returned, and out is a tuple of two.",
    type='{"ARG0", "ARG1", 0, 1} or pinocchio.ArgumentPosition, optional',
)
NAN_ALL = "In a batch, NaN throughout for configurations that are not finite or whose rotations have another length than 1."

integrate = Quantity(
    "integrate",
    "Return the configuration reached from q at the constant velocity v after one second.",
    (Q, V),
    (REACHED,),
    f"{FUNCTIONS}:Integrate",
    derivative=OF_FORMULAS,
    timed=(
        Timed("pin.integrate(model, q, v)", convention="of a free-flyer *M* exp *v*, with *v* in body axes"),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("integrate"),),
    other_names="integratePos, mjintegratepos, integrate configuration",
    notes="For a free joint, q ∘ exp v with v in body axes (Lie group SE(3)).",
)
difference = Quantity(
    "difference",
    "Return the shortest constant velocity from q0 to q1 within one second: the inverse of `integrate`.",
    (Q0, Q1),
    (Array("v", ("nv",), "m/s, rad/s"),),
    f"{FUNCTIONS}:Difference",
    derivative=OF_FORMULAS,
    timed=(Timed("pin.difference(model, q, r)", convention="`integrate(q0, difference(q0, q1))` is *q1*"),),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("difference"),),
    other_names="mjdifferentiatepos, differentiatepos, subtract",
)
interpolate = Quantity(
    "interpolate",
    "Return the configuration at the fraction u between q0 and q1: integrate(q0, u * difference(q0, q1)).",
    (
        Q0,
        Q1,
        Array(
            "u",
            axes="0 gives q0, 1 gives q1; one number, or one for each configuration of the batch.",
            role="number",
            type="float or array_like",
        ),
    ),
    (REACHED,),
    f"{FUNCTIONS}:Interpolate",
    timed=(
        Timed("pin.interpolate(model, q, r, 0.25)", convention="`integrate(q0, u * difference(q0, q1))`"),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("interpolate"),),
    notes="A path along the geodesics of every joint.",
    examples=f"{SLIDE}>>> tf.interpolate(slide, [1.0], [3.0], 0.25)\narray([1.5])",
)
squared_distance = Quantity(
    "squared_distance",
    "Return the squared distance of two configurations for every joint.",
    (Q0, Q1),
    (
        Array(
            "squares",
            ("m",),
            axes="m joints in the order of ``model.joints``, without mimic joints, which have no entries in q.",
        ),
    ),
    f"{FUNCTIONS}:SquaredDistance",
    timed=(
        Timed(
            "pin.squaredDistance(model, q, r)",
            convention="one entry per joint, without mimic joints",
            shape="(joints)",
        ),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("squaredDistance"),),
)
distance = Quantity(
    "distance",
    "Return the distance of two configurations: the length of their `difference`.",
    (Q0, Q1),
    (Array("distance", axes="Metres and radians count alike.", type="float or ndarray"),),
    f"{FUNCTIONS}:Distance",
    timed=(Timed("pin.distance(model, q, r)", convention="length of `difference`"),),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("distance"),),
    notes="Zero for quaternions q and -q, which are the same rotation.",
    examples="""
>>> import treefactor as tf
>>> gantry = tf.Model([tf.Joint("gantry", "translation", inertia=tf.Inertia(1.0))])
>>> tf.distance(gantry, [0, 0, 0], [3, 4, 0])
5.0
""",
)
is_same_configuration = Quantity(
    "is_same_configuration",
    "Return whether two configurations are the same: no entry differs by more than a tolerance.",
    (
        Q0,
        Q1,
        Array(
            "tolerance",
            axes="Entries of q may differ by the tolerance times max(1, size of the entry).",
            role="number",
            type="float or array_like",
            default=SAME_CONFIGURATION,
        ),
    ),
    (Array("same", type="bool or ndarray of bool"),),
    f"{FUNCTIONS}:IsSameConfiguration",
    bound=False,
    has_out=False,
    timed=(
        Timed(
            "pin.isSameConfiguration(model, q, s, 1e-12)",
            ours="tf.is_same_configuration(robot, q, s)",
            note="an entry may differ by tolerance times max(1, entry)",
            convention="quaternions *q* and -*q* are the same",
            shape="truth value",
        ),
        Timed(
            "pin.isSameConfiguration(model, q, r, 1e-12)",
            what="isSameConfiguration of different ones",
            note="the same, of different configurations",
            shape="truth value",
        ),
    ),
    spoiled="In a batch, False for configurations that are not finite or whose rotations have another length than 1.",
    counterparts=(
        Counterpart(
            "isSameConfiguration",
            note="which compares small entries relative to themselves: 0 and 1e-300 differ",
        ),
    ),
    notes="As in Pinocchio, the quaternions q and -q are the same.",
)
normalize = Quantity(
    "normalize",
    "Return q with all (cos, sin) and quaternions scaled to unit length; other entries stay.",
    (Q._replace(axes=f"{Q.axes} Rotations may have any length but zero."),),
    (REACHED,),
    f"{FUNCTIONS}:Normalize",
    derivative=OF_FORMULAS,
    timed=(Timed("pin.normalize(model, q)"),),
    spoiled="In a batch, NaN throughout for configurations that are not finite or with a rotation of length zero.",
    counterparts=(Counterpart("normalize", note="which leaves (cos, sin) = (0, 0) as it is"),),
    other_names="mjnormalizequat, normalize configuration",
    notes="After many steps of `integrate` it is not needed: every step corrects the length.",
    examples="""
>>> import treefactor as tf
>>> tf.normalize(tf.Model([tf.Joint("ball", "spherical", inertia=tf.Inertia(1.0))]), [0, 0, 3, 4])
array([0. , 0. , 0.6, 0.8])
""",
)
d_integrate = Quantity(
    "d_integrate",
    "Return the derivative of `integrate` by q or by v.",
    (Q, V),
    (BY_Q, BY_V),
    f"{FUNCTIONS}:IntegrateDerivatives",
    (ARGUMENT,),
    gathered="ndarray, or tuple of two of them",
    timed=(
        Timed(
            "pin.dIntegrate(model, q, v)",
            note="both derivatives",
            convention="velocity of the result, in its own axes, per velocity of the argument",
        ),
        Timed(
            "pin.dIntegrate(model, q, v, pin.ARG1)",
            what="dIntegrate by v",
            ours="tf.d_integrate(robot, q, v, 'ARG1')",
            note='one derivative, by `"ARG1"`',
            shape="(nv, nv)",
        ),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("dIntegrate"),),
    source="Solà, Deray & Atchuthan (2018), equations 177 to 180",
    examples=f'{SLIDE}>>> tf.d_integrate(slide, [1.0], [3.0], "ARG1")\narray([[1.]])',
)
d_difference = Quantity(
    "d_difference",
    "Return the derivative of `difference` by q0 or by q1.",
    (Q0, Q1),
    (BY_Q0, BY_Q1),
    f"{FUNCTIONS}:DifferenceDerivatives",
    (ARGUMENT,),
    gathered="ndarray, or tuple of two of them",
    timed=(
        Timed("pin.dDifference(model, q, r)", note="both derivatives"),
        Timed(
            "pin.dDifference(model, q, r, pin.ARG1)",
            what="dDifference by q1",
            ours="tf.d_difference(robot, q, r, 'ARG1')",
            note='one derivative, by `"ARG1"`',
            shape="(nv, nv)",
        ),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("dDifference"),),
)
integrate_derivatives = Quantity(
    "integrate_derivatives",
    "Compute the derivatives of `integrate` by q and by v.",
    (Q, V),
    (BY_Q, BY_V),
    f"{FUNCTIONS}:IntegrateDerivatives",
    gathered="tuple of two ndarrays",
    timed=(
        Timed(
            "pin.dIntegrate(model, q, v)",
            what="integrate_derivatives",
            note="`d_integrate` computes one of them",
        ),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("dIntegrate"),),
    notes="`d_integrate` computes one of them. Both are the identity but for blocks of joints that turn in more than one "
    "way. A joint's block depends only on its own entries of q and v: a model of a free-flyer alone gives that block "
    "of a robot, without the rest.",
    examples="""
>>> import treefactor as tf
>>> ball = tf.Model([tf.Joint("ball", "spherical")])
>>> by_q, by_v = tf.integrate_derivatives(ball, tf.neutral(ball), [0.0, 0.0, 0.0])
>>> by_q + by_v
array([[2., 0., 0.],
       [0., 2., 0.],
       [0., 0., 2.]])
""",
)
difference_derivatives = Quantity(
    "difference_derivatives",
    "Compute the derivatives of `difference` by q0 and by q1.",
    (Q0, Q1),
    (BY_Q0, BY_Q1),
    f"{FUNCTIONS}:DifferenceDerivatives",
    gathered="tuple of two ndarrays",
    timed=(
        Timed(
            "pin.dDifference(model, q, r)",
            what="difference_derivatives",
            note="`d_difference` computes one of them",
        ),
    ),
    spoiled=NAN_ALL,
    counterparts=(Counterpart("dDifference"),),
    notes="`d_difference` computes one of them.",
    examples=f"{SLIDE}>>> tf.difference_derivatives(slide, [1.0], [3.0])\n(array([[-1.]]), array([[1.]]))",
)
