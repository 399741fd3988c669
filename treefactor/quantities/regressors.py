"""Declarations of regressors: matrices that multiply the inertial parameters of all bodies."""

from .arrays import LAYOUT, A, Q, V
from .declaration import Array, Counterpart, Option, Quantity, Timed

FUNCTIONS = "identification._regressors"
HINGE = """
>>> import treefactor as tf
>>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
"""
COLUMNS = Option(
    "columns",
    kind="key",
    default=("inertia",),
    type="sequence of str",
    read="identification.columns:chosen",
    text='One or more of "inertia", "armature", "viscous", "dry", "offset". The order of the columns does not depend on '
    'that of the names. "inertia": ten for every joint, in the model\'s order: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of '
    "its body about the origin of the joint, in the joint's axes, Pinocchio's ``toDynamicParameters``. \"armature\": one "
    'for every joint with one freedom, kg or kg m^2. "viscous", "dry", "offset": one for every freedom each, for the '
    "forces v, sign(v), which is 0 at v = 0, and 1. `treefactor.identification.column_names` has the names.",
)
NO_COLUMNS = "if there are no such columns"
PARAMETERS = "10 njoints"
OWN = "The model's own inertias and armatures have no effect."


def energy_row(energy: str, axes: str) -> tuple[Array]:
    """Return the result of a regressor of an energy."""
    return (
        Array(
            "row", (PARAMETERS,), "J per unit of the parameter", f"Times the parameters, the {energy}{axes}"
        ),
    )


regressor = Quantity(
    "regressor",
    "Compute the matrix Y with tau = Y x, where x are the parameters of bodies and joints.",
    (Q, V, A),
    (
        Array(
            "Y",
            ("nv", "p"),
            "N, N m per unit of the parameter",
            "Entries of joints that a freedom does not move are exactly zero.",
            packed="pairs, 10",
            lanes="10 pairs",
        ),
    ),
    f"{FUNCTIONS}:Regressor",
    (
        LAYOUT._replace(
            text='"packed" has only the blocks of ten entries that can differ from zero: row and joint of each are in '
            '`treefactor.identification.regressor_pattern`. "lanes" has the same entries for 8 configurations side by '
            'side. Both need the columns ``("inertia",)``.'
        ),
        COLUMNS,
    ),
    timed=(
        Timed(
            "pin.computeJointTorqueRegressor(model, data, q, v, a)",
            note='`layout="packed"` has no entries that are always zero; `columns=` adds armature and friction',
            convention="two axes where nv = 1, too; Pinocchio's is a view that the next call overwrites",
            shape="(nv, 10 njoints)",
        ),
    ),
    invalid=(NO_COLUMNS,),
    counterparts=(
        Counterpart(
            "computeJointTorqueRegressor", note="which lacks armature, and is a vector where nv is 1"
        ),
    ),
    other_names="joint torque regressor, inverse dynamics regressor, dynamics regressor",
    oracle="oracles.dynamics:rnea",
    source="Atkeson, An and Hollerbach (1986), Estimation of inertial parameters of manipulator loads and links",
    notes=f"{OWN} Of mimic joints, all columns of the bodies stay and their rows are added to those of their leaders; "
    "armature acts by the ratio squared.",
    examples="""
>>> import numpy as np, treefactor as tf
>>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
>>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
>>> Y = tf.regressor(model, [0.5], [0.0], [2.0])
>>> Y.shape
(1, 10)
>>> x = [1.0, 0, 0, -0.5, 0.35, 0, 0.35, 0, 0, 0]   # of the rod: m, m c, and the tensor about the hinge
>>> (Y @ x).round(6), tf.rnea(model, [0.5], [0.0], [2.0]).round(6)
(array([3.051582]), array([3.051582]))
""",
)
gravity_regressor = Quantity(
    "gravity_regressor",
    "Compute the matrix that multiplies the parameters of all bodies to give generalized gravity.",
    (Q,),
    (
        Array(
            "Y",
            ("nv", PARAMETERS),
            "N, N m per unit of the parameter",
            "``regressor(model, q, 0, 0)``: times the parameters, it is `generalized_gravity`. Columns of moments of "
            "inertia are exactly zero.",
        ),
    ),
    f"{FUNCTIONS}:GravityRegressor",
    timed=(
        Timed(
            "pin.computeJointTorqueRegressor(model, data, q, still, still)",
            names="computeJointTorqueRegressor",
            what="gravity_regressor",
            note="timed with the regressor at *v* = *a* = 0",
            convention="`computeStaticRegressor` is not this one",
        ),
    ),
    oracle="oracles.dynamics:rnea",
    notes="Pinocchio's ``computeStaticRegressor`` is another matrix: see `center_of_mass_regressor`.",
    examples=f"""{HINGE}>>> tf.gravity_regressor(model, [0.0])[0, :4]
array([ 0.  , -9.81,  0.  ,  0.  ])
""",
)
momentum_regressor = Quantity(
    "momentum_regressor",
    "Compute the matrix that multiplies the parameters of all bodies to give the generalized momentum H v.",
    (Q, V),
    (
        Array(
            "Y",
            ("nv", PARAMETERS),
            "kg m/s, kg m^2/s per unit of the parameter",
            "Times the parameters, H v without the part of armatures.",
        ),
    ),
    f"{FUNCTIONS}:MomentumRegressor",
    timed=(
        Timed(
            "pin.computeJointTorqueRegressor(weightless, weightless_data, q, still, v)",
            names="computeJointTorqueRegressor",
            what="momentum_regressor",
            note="timed with a model without gravity at *v* = 0, *a* = *v*",
            convention="of *H v* without armature",
        ),
    ),
    oracle="oracles.dynamics:crba",
    examples=f"""{HINGE}>>> float(tf.momentum_regressor(model, [0.0], [2.0])[0, 6])    # of I_yy
2.0
""",
)
kinetic_energy_regressor = Quantity(
    "kinetic_energy_regressor",
    "Compute the row that multiplies the parameters of all bodies to give the kinetic energy.",
    (Q, V),
    energy_row("kinetic energy", " without that of armatures."),
    f"{FUNCTIONS}:KineticEnergyRegressor",
    counterparts=(Counterpart("computeKineticEnergyRegressor"),),
    timed=(Timed("pin.computeKineticEnergyRegressor(model, data, q, v)"),),
    oracle="oracles.dynamics:crba",
    examples=f"""{HINGE}>>> tf.kinetic_energy_regressor(model, [0.0], [2.0])[4:]    # of I_yy: 2^2 / 2
array([0., 0., 2., 0., 0., 0.])
""",
)
potential_energy_regressor = Quantity(
    "potential_energy_regressor",
    "Compute the row that multiplies the parameters of all bodies to give the potential energy.",
    (Q,),
    energy_row(
        "potential energy",
        " as `potential_energy` counts it: -g . p, -R^T g and six zeros for every joint with origin p and axes R.",
    ),
    f"{FUNCTIONS}:PotentialEnergyRegressor",
    counterparts=(Counterpart("computePotentialEnergyRegressor"),),
    timed=(Timed("pin.computePotentialEnergyRegressor(model, data, q)"),),
    oracle="oracles.dynamics:place",
    examples="""
>>> import treefactor as tf
>>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1])])
>>> tf.potential_energy_regressor(model, [2.0])[:4]
array([19.62,  0.  ,  0.  ,  9.81])
""",
)
center_of_mass_regressor = Quantity(
    "center_of_mass_regressor",
    "Compute the matrix that multiplies the parameters of all bodies to give the centre of mass.",
    (Q,),
    (
        Array(
            "Y",
            (3, PARAMETERS),
            "m per unit of the parameter",
            "p, R and six zeros for every joint with origin p and axes R, over the mass of the model. Times the "
            "parameters, the centre of mass in the axes of the base.",
        ),
    ),
    f"{FUNCTIONS}:CenterOfMassRegressor",
    timed=(
        Timed(
            "pin.computeStaticRegressor(model, data, q)",
            names="computeStaticRegressor",
            convention="times the parameters, the centre of mass; Pinocchio's has 4 columns for a joint",
        ),
    ),
    details="It changes with the masses: it is divided by the mass of the model, and gives the centre of mass of "
    "that model only. For unknown masses use `gravity_regressor` or `potential_energy_regressor`.",
    other_names="computestaticregressor, static regressor",
    oracle="oracles.dynamics:place",
    notes="Pinocchio calls its first four columns of every joint ``computeStaticRegressor``; in spite of that name "
    "it is not the regressor of gravity.",
    examples="""
>>> import numpy as np, treefactor as tf
>>> ball = tf.Inertia(2.0, [0.0, 0, 0], np.eye(3))
>>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=ball)])
>>> tf.center_of_mass_regressor(model, [3.0])[2, :4]
array([1.5, 0. , 0. , 0.5])
""",
)
regressor_transpose_times = Quantity(
    "regressor_transpose_times",
    "Compute Y^T lam for the matrix Y of `regressor`, without that matrix, in O(nv).",
    (Q, V, A, Array("lam", ("nv",), axes="Weights of the generalized forces.")),
    (
        Array(
            "gradient",
            ("p",),
            "that of lam . tau per unit of the parameter",
            "Gradient of lam . tau by the parameters, in the order of the columns of `regressor`.",
        ),
    ),
    f"{FUNCTIONS}:TransposeTimes",
    (COLUMNS,),
    timed=(
        Timed(
            "pin.computeJointTorqueRegressor(model, data, q, v, a).T @ w",
            names="computeJointTorqueRegressor",
            what="regressor_transpose_times",
            ours="tf.regressor_transpose_times(robot, q, v, a, w)",
            note="with Pinocchio, a product with the matrix",
            convention="gradient of *w* · *τ* by the parameters",
            shape="(10 njoints)",
        ),
    ),
    invalid=(NO_COLUMNS,),
    oracle="oracles.dynamics:rnea",
    notes=f"{OWN} The gradient of a loss by the parameters: through inverse dynamics, with lam the gradient by tau; "
    "through forward dynamics, with lam = -H^-1 times the gradient by the acceleration. `rnea_vjp` has it together with "
    "gradients by q, v and a.",
    examples=f"""{HINGE}>>> tf.regressor_transpose_times(model, [0.0], [0.0], [2.0], [10.0])[4:]
array([ 0.,  0., 20.,  0.,  0.,  0.])
""",
)
