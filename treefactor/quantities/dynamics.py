"""Declarations of the dynamics: inertia, inverse and forward dynamics, energies, statics, reactions."""

from .arrays import FEXT, LAYOUT, TAU, A, Q, V
from .declaration import Array, Counterpart, Derivative, Generated, Option, Quantity, Timed, of_wrapper

FUNCTIONS = "dynamics._dynamics_functions"
FORCES = Array("tau", ("nv",), "N, N m")
ACCELERATION = Array("a", ("nv",), "m/s^2, rad/s^2")
HINGE = """
>>> import numpy as np, treefactor as tf
>>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
>>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
"""
BY_FACTOR = "factor", "aba"  # methods: from H and its factor, or by articulated bodies
NO_MASS = "If a freedom moves no mass; names the joint. Only for a single configuration."

crba = Quantity(
    "crba",
    "Compute the joint-space inertia matrix H(q), armature included.",
    (Q,),
    (Array("H", ("nv", "nv"), "kg, kg m, kg m^2", packed="nnz"),),
    f"{FUNCTIONS}:Crba",
    (LAYOUT._replace(text=f"{LAYOUT.text} `treefactor.factor` accepts all of them."),),
    parameters=("q", "out", "layout"),
    inertias=True,
    derivative=Derivative(case_of="h_times", rule="adapters._rules:Columns"),
    generated=(
        Generated(
            "dynamics",
            "packed rows of the lower triangle of H: ancestors of a freedom from the root on, itself last",
        ),
    ),
    counterparts=(
        Counterpart("crba", note="of which Pinocchio's has the upper triangle only"),
        *of_wrapper("mass"),
    ),
    timed=(
        Timed(
            "pin.crba(model, data, q)",
            note="`layout=` for packed entries",
            convention="both triangles, armature included",
        ),
    ),
    other_names="mass matrix, inertia matrix, joint-space inertia, joint-space inertia matrix, fullm, "
    "getmassmatrix, computemassmatrix, calcmassmatrix, calculatemassmatrix, mjfullm, mjcrb, "
    "generalized inertia, composite rigid body algorithm, free-floating mass matrix",
    oracle="oracles.dynamics:crba",
    source="Featherstone (2008), table 6.2",
    notes="Composite-rigid-body algorithm, every body in its own axes and about its own origin.",
)
rnea = Quantity(
    "rnea",
    "Compute inverse dynamics: the generalized forces tau that produce the acceleration a.",
    (Q, V, A, FEXT),
    (FORCES,),
    f"{FUNCTIONS}:Rnea",
    inertias=True,
    derivative=Derivative("rnea_jvp", "rnea_vjp", "rnea_hvp"),
    generated=(Generated("dynamics", "forces for accelerations a"),),
    counterparts=(Counterpart("rnea"),),
    timed=(
        Timed(
            "pin.rnea(model, data, q, v, a)",
            names="rnea, rneaInParallel",
            convention="`fext=` (njoints, 6): force and moment at the origin and in the axes of each joint",
        ),
    ),
    other_names="inverse dynamics, id, idyn, rne, Newton-Euler, recursive Newton-Euler, computeinversedynamics, "
    "mjrne, mjinverse, calcinversedynamics, calculateinversedynamics, rneainparallel",
    oracle="oracles.dynamics:rnea",
    source="Luh, Walker and Paul (1980)",
    notes="Recursive Newton-Euler algorithm, every body in its own axes.",
)
bias = Quantity(
    "bias",
    "Compute the generalized forces at zero acceleration: Coriolis, centrifugal, gravity, minus external.",
    (Q, V, FEXT),
    (FORCES,),
    f"{FUNCTIONS}:Bias",
    inertias=True,
    derivative=Derivative(case_of="rnea"),
    generated=(Generated("dynamics", "forces at zero acceleration, of gravity and velocities"),),
    counterparts=(
        Counterpart("nonLinearEffects"),
        *of_wrapper("nle"),
    ),
    timed=(
        Timed(
            "pin.nle(model, data, q, v)",
            names="nle, nonLinearEffects",
            convention="Coriolis, centrifugal and gravity forces",
        ),
    ),
    other_names="nle, nonlinear terms, bias force, bias forces, bias term, h, calcbiasterm, qfrc_bias, "
    "Coriolis and gravity, generalized bias forces, computebias",
    oracle="oracles.dynamics:bias",
    source="Featherstone (2008), table 5.1",
    notes="Without accelerations. Pinocchio calls these forces ``nle``, MuJoCo ``qfrc_bias``.",
)
h_times = Quantity(
    "h_times",
    "Compute H(q) x without forming H.",
    (Q, Array("x", ("nv",), axes="Vectors of the freedoms.")),
    (Array("y", ("nv",), "that of x times kg, kg m, kg m^2"),),
    f"{FUNCTIONS}:HTimes",
    inertias=True,
    derivative=Derivative(case_of="rnea", acceleration="x"),
    timed=(
        Timed(
            "pin.crba(model, data, q) @ a",
            names="crba",
            what="crba @ a",
            note="*H x* without *H*, timed with `crba(...) @ x`",
        ),
    ),
    oracle="oracles.dynamics:h_times",
    source="Featherstone (2008), table 6.1",
    notes="Inverse dynamics without velocities, gravity and external forces.",
)
aba = Quantity(
    "aba",
    "Compute forward dynamics, the acceleration under tau, by the articulated-body algorithm in O(n).",
    (Q, V, TAU, FEXT),
    (ACCELERATION._replace(axes="In a batch, NaN where there is no solution."),),
    f"{FUNCTIONS}:Aba",
    inertias=True,
    fails=NO_MASS,
    mimic=False,
    derivative=Derivative(case_of="forward_dynamics"),
    generated=(Generated("dynamics", "accelerations under forces tau"),),
    counterparts=(Counterpart("aba"),),
    timed=(
        Timed(
            "pin.aba(model, data, q, v, tau)",
            what="aba of bodies",
            note="articulated-body algorithm; no mimic joints",
        ),
    ),
    other_names="articulated body, articulated body algorithm, forward dynamics ABA",
    oracle="oracles.dynamics:forward_dynamics",
    source="Featherstone (2008), table 7.1",
    notes="One freedom after the other.",
)
forward_dynamics = Quantity(
    "forward_dynamics",
    "Compute forward dynamics, the acceleration under tau: from H, its LTDL factor and the bias, or by ABA.",
    (Q, V, TAU, FEXT),
    (ACCELERATION._replace(axes="In a batch, NaN where there is no solution."),),
    f"{FUNCTIONS}:forward_dynamics",
    (
        Option(
            "method",
            BY_FACTOR,
            text='"factor" solves ``H a = tau - bias``; models with mimic joints need it.',
        ),
    ),
    inertias=True,
    fails=NO_MASS,
    derivative=Derivative(
        "forward_dynamics_jvp", "forward_dynamics_vjp", "forward_dynamics_hvp", options=("method",)
    ),
    generated=(Generated("dynamics", "accelerations under forces tau", methods=BY_FACTOR),),
    counterparts=(Counterpart("aba"),),
    timed=(Timed("pin.aba(model, data, q, v, tau)", names="aba, abaInParallel", note="factorizes *H*"),),
    other_names="fd, fdyn, direct dynamics, accel, forward dynamics CRBA, calcforwarddynamics, "
    "computeforwarddynamics, mjforward, abainparallel, solveforwarddynamics",
    oracle="oracles.dynamics:forward_dynamics",
    source="Featherstone (2008), section 6.1",
    notes='With "aba" they do not: a single H and a batch are factorized by different kernels. Strides never change a '
    "bit; nor does a batch in functions of the dynamics whose notes do not say so.",
    batch_rounds=True,
)
joint_forces = Quantity(
    "joint_forces",
    "Compute forces and moments in the joints: what the parents exert on the bodies at the acceleration a.",
    (Q, V, A, FEXT),
    (
        Array(
            "forces",
            ("njoints", 6),
            "N, N m",
            "For every joint, in the order of ``model.joints``, the force and then the moment that its "
            "parent exerts on its body, at the origin of the joint and in the axes of the body. Actuator "
            "forces are included, those that accelerate the armature are not.",
        ),
    ),
    f"{FUNCTIONS}:JointForces",
    inertias=True,
    generated=(
        Generated(
            "reactions", "force and moment in every joint, at its origin and in its axes, for accelerations a"
        ),
    ),
    counterparts=(Counterpart("rnea", "data.f", "without its first entry"),),
    timed=(
        Timed(
            "pin.rnea(model, data, q, v, a); data.f",
            names="Data.f",
            convention="force, moment in the axes of each joint; after `rnea`, without the universe's entry",
        ),
    ),
    oracle="oracles.dynamics:joint_forces",
    source="Featherstone (2008), table 5.1",
    notes="Along its free axes a joint transmits the actuator force: for a revolute joint about z, the "
    "last entry is tau of `rnea` without armature.",
    examples=f"""
A rod of 1 kg and 1 m that hangs from a hinge: the hinge carries its weight.
{HINGE}>>> tf.joint_forces(model, [0.0], [0.0], [0.0]).round(3)
array([[0.  , 0.  , 9.81, 0.  , 0.  , 0.  ]])
""",
)
base_force = Quantity(
    "base_force",
    "Compute the force and moment that the model exerts on its base, for accelerations a.",
    (Q, V, A, FEXT),
    (
        Array(
            "force",
            (6,),
            "N, N m",
            "The force and then the moment, at the origin and in the axes of the base: the opposite of the "
            "sum of `joint_forces` of all joints on the base. With a free-flyer root it is zero if a "
            "solves H a + bias = tau with no tau on the free-flyer.",
        ),
    ),
    f"{FUNCTIONS}:BaseForce",
    inertias=True,
    generated=(Generated("reactions", "force and moment on the base, at its origin, for accelerations a"),),
    timed=(
        Timed(
            "pin.rnea(model, data, q, v, a); data.f[1].vector",
            names="Data.f",
            what="Data.f[1]",
            note="timed with `data.f[1]`",
            convention="force, moment on the base, in its axes: the opposite of the sum of `joint_forces` of the joints on it",
        ),
    ),
    oracle="oracles.dynamics:base_force",
    source="Featherstone (2008), table 5.1",
    notes="Equal to the external forces and gravity less the rate of the momentum.",
    examples=f"""{HINGE}>>> tf.base_force(model, [0.0], [0.0], [0.0])[2].round(3)
np.float64(-9.81)
""",
)
generalized_gravity = Quantity(
    "generalized_gravity",
    "Compute the generalized forces that hold the model at rest against gravity.",
    (Q,),
    (FORCES._replace(axes="The derivative of `potential_energy` along `integrate`."),),
    f"{FUNCTIONS}:GeneralizedGravity",
    inertias=True,
    derivative=Derivative(case_of="rnea"),
    generated=(Generated("kinematics", "forces that hold the robot at rest"),),
    counterparts=(
        Counterpart("computeGeneralizedGravity"),
        *of_wrapper("gravity"),
    ),
    timed=(
        Timed(
            "pin.computeGeneralizedGravity(model, data, q)",
            convention="`bias` at *v* = 0: the gradient of the potential energy",
        ),
    ),
    other_names="gravity, g, gravity forces, gravity force, gravity vector, gravload, gravity torques, "
    "gravity torque, gravity term, gravity compensation, calcgravitygeneralizedforces",
    oracle="oracles.dynamics:generalized_gravity",
    source="Featherstone (2008), table 5.1",
    notes="Without velocities and accelerations.",
    examples=f"""
A rod of 1 kg and 1 m, held horizontally:
{HINGE}>>> tf.generalized_gravity(model, [np.pi / 2])
array([4.905])
""",
)
static_torque = Quantity(
    "static_torque",
    "Compute the generalized forces that hold the model at rest against gravity and external forces.",
    (Q, FEXT._replace(optional=False)),
    (
        FORCES._replace(
            axes="``generalized_gravity - sum(J_i^T f_i)`` with the Jacobians of the joints in their own "
            "axes."
        ),
    ),
    f"{FUNCTIONS}:StaticTorque",
    inertias=True,
    derivative=Derivative(case_of="rnea"),
    counterparts=(Counterpart("computeStaticTorque"),),
    timed=(
        Timed(
            "pin.computeStaticTorque(model, data, q, forces)",
            convention="gravity less *Jᵀ f* of the joints; `fext` without the universe's entry",
        ),
    ),
    other_names="static torques",
    oracle="oracles.dynamics:static_torque",
    source="Featherstone (2008), table 5.1",
    notes="Without velocities and accelerations.",
    examples=f"""
A push of 9.81 N upwards on the hinge's origin does not load the hinge; a moment of 1 N m does:
{HINGE}>>> tf.static_torque(model, [0.0], [[0, 0, 9.81, 0, 1.0, 0]])
array([-1.])
""",
)
ENERGY = Array("energy", (), "J")
kinetic_energy = Quantity(
    "kinetic_energy",
    "Compute the kinetic energy, half of v^T H v, armature included.",
    (Q, V),
    (ENERGY,),
    f"{FUNCTIONS}:KineticEnergy",
    inertias=True,
    generated=(Generated("kinematics", "kinetic energy, armature included", methods=("bodies", "inertia")),),
    counterparts=(Counterpart("computeKineticEnergy"),),
    timed=(Timed("pin.computeKineticEnergy(model, data, q, v)", convention="½ *vᵀ H v*, armature included"),),
    other_names="calckineticenergy, kinetic",
    oracle="oracles.dynamics:kinetic_energy",
    source="Featherstone (2008), section 2.14",
    notes="The sum over all bodies, in their own axes.",
    examples=f"""{HINGE}>>> tf.kinetic_energy(model, [0.0], [2.0])
np.float64(0.7)
""",
    batch_rounds=True,
)
potential_energy = Quantity(
    "potential_energy",
    "Compute the potential energy in gravity, -m g . c with the centre of mass c; zero at the base's origin.",
    (Q,),
    (ENERGY,),
    f"{FUNCTIONS}:PotentialEnergy",
    inertias=True,
    generated=(
        Generated("kinematics", "potential energy, 0 with the centre of mass at the origin of the base"),
    ),
    counterparts=(Counterpart("computePotentialEnergy"),),
    timed=(Timed("pin.computePotentialEnergy(model, data, q)", convention="zero at the origin of the base"),),
    other_names="calcpotentialenergy, potential",
    oracle="oracles.dynamics:potential_energy",
    source="Featherstone (2008), section 2.14",
    examples=f"""{HINGE}>>> tf.potential_energy(model, [0.0])
np.float64(-4.905)
""",
)
mechanical_energy = Quantity(
    "mechanical_energy",
    "Compute the sum of `kinetic_energy` and `potential_energy`, which changes by the power of tau alone.",
    (Q, V),
    (ENERGY,),
    f"{FUNCTIONS}:MechanicalEnergy",
    inertias=True,
    counterparts=(Counterpart("computeMechanicalEnergy"),),
    timed=(Timed("pin.computeMechanicalEnergy(model, data, q, v)", convention="the sum of both"),),
    other_names="energy, total energy",
    oracle="oracles.dynamics:mechanical_energy",
    source="Featherstone (2008), section 2.14",
    examples=f"""{HINGE}>>> tf.mechanical_energy(model, [0.0], [2.0]).round(3)
np.float64(-4.205)
""",
    batch_rounds=True,
)
coriolis_matrix = Quantity(
    "coriolis_matrix",
    "Compute the Coriolis matrix C(q, v): C v = bias - gravity, and the rate of H is C + C^T.",
    (Q, V),
    (
        Array(
            "C",
            ("nv", "nv"),
            "kg/s, kg m/s, kg m^2/s",
            "With mimic joints, G^T C G of all joints.",
            packed="2 nnz - nv",
        ),
    ),
    f"{FUNCTIONS}:CoriolisMatrix",
    (
        Option(
            "layout",
            ("dense", "packed"),
            text='"packed" has only the 2 nnz - nv entries in the pattern of H: first those on and left of '
            "the diagonal, row by row as `Tree.pack` orders them; then those above the diagonal, "
            "transposed, in the same order.",
        ),
    ),
    parameters=("q", "v", "out", "layout"),
    inertias=True,
    counterparts=(Counterpart("computeCoriolisMatrix"),),
    timed=(
        Timed(
            "pin.computeCoriolisMatrix(model, data, q, v)",
            note="`layout=` for packed entries",
            convention="*C v* is `nle` less gravity; *Ḣ = C + Cᵀ*",
        ),
    ),
    other_names="coriolis, Coriolis term, getcoriolismatrix",
    source="Echeandia and Wensing (2021), algorithm 1",
    notes="Many matrices C satisfy the first equation; with the second, the rate of H minus 2 C is "
    "skew-symmetric, as passivity-based control needs. With universal or mimic joints Pinocchio 4.1's C "
    "satisfies neither.",
    examples="""
>>> import numpy as np, treefactor as tf
>>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
>>> shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=rod)
>>> elbow = tf.Joint("elbow", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=rod)
>>> model = tf.Model([shoulder, elbow])
>>> tf.coriolis_matrix(model, [0.0, np.pi / 2], [1.0, 0.0]).round(3)
array([[ 0. , -0.5],
       [ 0.5,  0. ]])
""",
    batch_rounds=True,
)
inverse_inertia = Quantity(
    "inverse_inertia",
    "Compute the inverse of the joint-space inertia matrix H(q), armature included.",
    (Q,),
    (
        Array(
            "inverse",
            ("nv", "nv"),
            "1/kg, 1/(kg m), 1/(kg m^2)",
            "Both triangles; in a batch, NaN where H is singular.",
        ),
    ),
    f"{FUNCTIONS}:InverseInertia",
    inertias=True,
    fails=NO_MASS,
    generated=(Generated("dynamics", "inverse of H, all entries", name="minv", methods=BY_FACTOR),),
    counterparts=(Counterpart("computeMinverse", note="which refuses mimic joints"),),
    timed=(
        Timed(
            "pin.computeMinverse(model, data, q)",
            what="inverse_inertia",
            note="with mimic joints, too",
            convention="both triangles, armature included",
        ),
    ),
    other_names="minv, inverse mass matrix, mass matrix inverse",
    oracle="oracles.dynamics:inverse_inertia",
    source="Featherstone (2008), sections 6.2 and 6.5",
    notes="H by composite rigid bodies, its branch-sparse LTDL factor, and the inverse of that. To apply "
    "the inverse to a few vectors, `factor` and solve instead.",
    examples=f"""{HINGE}>>> tf.inverse_inertia(model, [0.0])
array([[2.85714286]])
""",
    batch_rounds=True,
)
frames = Quantity(
    "frames",
    "Compute kinematics records of all bodies and unit motions of all freedoms, in the axes of the base.",
    (Q, V),
    (
        Array(
            "records",
            ("records",),
            "m, rad, s",
            "For every joint the numbers of a record with the fields of the dtype `BODY_MOTION`: axes of "
            "its body; its origin, measured from that of the root body; origin of the root body; velocity; "
            "acceleration at zero acceleration of the joints. Then 6 numbers for each freedom of all "
            "joints, mimic joints included: its unit motion. All velocities, accelerations and motions are "
            "spatial, linear before angular, taken at the origin of the root body.",
        ),
    ),
    f"{FUNCTIONS}:Frames",
    source="Featherstone (2008), table 5.1",
    notes="Outward half. Positions are measured from the root body, so results for a point are as exact as "
    "its rounded distance from the root body. `BodyMotions` and `treefactor.constraints` read these "
    "records.",
    module="treefactor.quantities.functions",
)
equation_of_motion = Quantity(
    "equation_of_motion",
    "Compute tau - bias, then the packed rows of H: the two sides of H a = tau - bias.",
    (Q, V, TAU, FEXT),
    (Array("parts", ("nv + nnz",), "N, N m; kg, kg m, kg m^2"),),
    f"{FUNCTIONS}:EquationOfMotion",
    source="Featherstone (2008), section 6.1",
    module="treefactor.quantities.functions",
)
