"""Declarations of derivatives of the dynamics: matrices, products, and second derivatives of weighted sums."""

from .arrays import FEXT, LAYOUT, TAU, A, Q, V
from .declaration import Array, Counterpart, Generated, Option, Quantity, Timed
from .dynamics import BY_FACTOR, HINGE, NO_MASS

FIRST, PRODUCTS, SECOND = (f"derivatives.{name}" for name in ("_first_order", "_products", "_second_order"))
NO_SOLUTION = "In a batch, NaN where there is no solution."
SINGH = (
    "Singh, Russell and Wensing (2022), Efficient analytical derivatives of rigid-body dynamics using spatial vector "
    "algebra"
)
CARPENTIER = "Carpentier and Mansard (2018), Analytical derivatives of rigid body dynamics algorithms"
PAIR = (
    "2 nnz - nv, first those on and left of the diagonal, row by row as `Tree.pack` orders them, then those above the "
    "diagonal, transposed, in the same order (`Tree.unpack_pair`)"
)
LANES = '"lanes" has the same entries for 8 configurations side by side.'
SIDES = "2 nnz - nv"
PER_A = "per m/s^2 or rad/s^2"
BY_INERTIA = (
    "Gradient by m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of every body about the origin of its joint, in the joint's axes: "
    "Pinocchio's ``toDynamicParameters``."
)


def asks_for(value: str) -> Option:
    """Return the flag that asks for a value, too."""
    return Option("with_value", kind="flag", text=f"Whether to return the {value}, too.")


def direction(name: str, of: str, needed: bool = True, shape: tuple[str | int, ...] = ("nv",)) -> Array:
    """Return the argument that changes another one."""
    return Array(
        name, shape, axes=f"Direction in {of}; None is zero.", role="direction", optional=True, needed=needed
    )


def gradient(
    name: str, unit: str, axes: str = "", when: str = "", shape: tuple[str | int, ...] = ("nv",)
) -> Array:
    """Return the part of a gradient by an argument."""
    return Array(name, shape, unit, axes, role="direction", when=when)


def second(name: str, unit: str, of: str) -> Array:
    """Return a part of the second derivatives along a direction."""
    return Array(name, ("nv",), unit, f"Part by {of}.")


def matrix(name: str, unit: str, axes: str = "", packed: str = "") -> Array:
    """Return a matrix with a row and a column for every freedom."""
    return Array(name, ("nv", "nv"), unit, axes, packed=packed)


FORCES = "generalized forces"
WITH_FORCES, WITH_ACCELERATION = asks_for(FORCES), asks_for("acceleration")
DQ = direction("dq", "q, in the units of v times s: q changes along `integrate`")
DV = direction("dv", "v")
DA = direction("da", "a")
DTAU = direction("dtau", "tau, in N, N m")
DFEXT = direction("dfext", "fext, in N, N m", False, ("njoints", 6))
SEVERAL = (
    "Directions of shape (..., m, nv), with one axis more than a batch of states, are m directions for every state, "
    "which share what depends on the state alone; all of them, and dfext, have this axis then. For one state, "
    "directions of shape (m, nv) are a batch."
)
WEIGHTS = Array(
    "w",
    ("nv",),
    axes="Weights. Shape (..., m, nv), with one axis more than a batch of states, holds m vectors of weights for every "
    "state, which share what depends on the state alone. For one state, w of shape (m, nv) is a batch.",
    role="direction",
)
WANTED = (
    Option("fext_gradient", kind="flag", text="Whether to compute the gradient by external forces."),
    Option(
        "inertia_gradient", kind="flag", text="Whether to compute the gradient by the inertias of all bodies."
    ),
)
W = Array("w", ("nv",), axes="Weights.")


def along(name: str, of: str) -> Array:
    """Return the argument of second derivatives that changes another one."""
    return Array(name, ("nv",), axes=f"Direction in {of}; None is zero.", optional=True, needed=True)


SECOND_DQ = along("dq", "q, in the units of v times s: q changes along `integrate`")
DW = Array(
    "dw", ("nv",), axes="Change of w: adds the gradient of the sum with the weights dw.", optional=True
)
SYMMETRIC = Option(
    "symmetric",
    kind="flag",
    default=True,
    text="Multiply with the symmetric Hessian, by d at d = 0, of the weighted sum at integrate(q, d). False: return the "
    "derivative of the gradient instead, as differences of gradients approximate it; it is not symmetric. See Notes.",
)
SYMMETRIC_BLOCK = SYMMETRIC._replace(
    text="Return as qq the symmetric Hessian, by d at d = 0, of the weighted sum at integrate(q, d). False: return the "
    "derivative of the gradient: entry (k, l) is that of entry k of the gradient by q along the l-th unit vector. They "
    "differ by the Lie bracket, within spherical, planar and free-flyer joints only; see `rnea_hvp`.",
)
IN_NUMPY = "with Pinocchio, products of the matrices in NumPy"
BY_DIFFERENCES = "with Pinocchio, central differences of the products, without error bounds; batches of 64"
CONDITION = "Errors grow with the condition number of H."
PER_QQ, PER_QV, PER_VV, PER_QA = (
    f"that of the sum per {unit}"
    for unit in (
        "m^2, m rad or rad^2",
        "m^2/s, ... or rad^2/s",
        "m^2/s^2, ... or rad^2/s^2",
        "m^2/s^2, ... or rad^2/s^2",
    )
)
PER_Q, PER_V = "that of the sum per m or rad", "that of the sum per m/s or rad/s"

rnea_derivatives = Quantity(
    "rnea_derivatives",
    "Compute the derivatives of inverse dynamics by q, v and a.",
    (Q, V, A, FEXT),
    (
        matrix("dtau_dq", "N, N m per m or rad", packed=SIDES),
        matrix("dtau_dv", "N, N m per m/s or rad/s", packed=SIDES),
        matrix("dtau_da", f"N, N m {PER_A}", "H.", "nnz"),
        Array("tau", ("nv",), "N, N m", when="with_value"),
    ),
    f"{FIRST}:RneaDerivatives",
    (
        LAYOUT._replace(
            text=f'"packed" has only entries in the pattern of H: of the derivatives by q and v {PAIR}; of H the nnz rows '
            f"(`Tree.unpack`). {LANES}"
        ),
        WITH_FORCES,
    ),
    inertias=True,
    gathered="RneaDerivatives",
    generated=(
        Generated(
            "derivatives",
            "derivatives of the forces for accelerations a by q and v, packed: lower triangle like H, then the upper one without diagonal, transposed; packed rows of H",
            methods=("pairs", "columns"),
        ),
    ),
    counterparts=(Counterpart("computeRNEADerivatives", note="which refuses mimic joints"),),
    timed=(
        Timed(
            "pin.computeRNEADerivatives(model, data, q, v, a)",
            note='`layout="packed"` and `"lanes"` have only entries of the pattern; with mimic joints, too',
            convention="*∂τ/∂q*, *∂τ/∂v* and *H*, by *q* along `integrate`, (nv) columns; Pinocchio's are wrong for universal and spherical-ZYX joints, and views that the next call overwrites",
        ),
        Timed(
            names="computeGeneralizedGravityDerivatives, computeStaticTorqueDerivatives",
            note="at *v* = *a* = 0, with `fext=` for the second",
            convention="the first matrix",
        ),
    ),
    other_names="computernreaderivatives, inverse dynamics derivatives, drnea, "
    "computegeneralizedgravityderivatives, computestatictorquederivatives",
    oracle="oracles.derivatives:rnea_derivatives",
    source=SINGH,
    notes="Column k of dtau_dq is the derivative along `integrate`: of tau at integrate(q, t e_k) by t, for the k-th "
    "unit vector e_k; a quaternion has three columns. The algorithm is in the axes of the root body; the first of its "
    "kind is in Carpentier and Mansard (2018). Entries outside the pattern of H, and columns of dtau_dq of translations "
    "of a free-flying root, are exactly zero. Pinocchio 4.1's ``computeRNEADerivatives`` is wrong for universal and ZYX "
    "joints. Forces in fext turn with their bodies.",
    examples=f"""{HINGE}>>> derivatives = tf.rnea_derivatives(model, [0.0], [0.0], [0.0])
>>> derivatives.dtau_dq, derivatives.dtau_da
(array([[4.905]]), array([[0.35]]))
""",
)
forward_dynamics_derivatives = Quantity(
    "forward_dynamics_derivatives",
    "Compute the derivatives of forward dynamics by q, v and tau.",
    (Q, V, TAU, FEXT),
    (
        matrix("da_dq", "m/s^2, rad/s^2 per m or rad"),
        matrix("da_dv", "m/s^2, rad/s^2 per m/s or rad/s"),
        matrix("da_dtau", "m/s^2, rad/s^2 per N or N m", f"The inverse of H. {NO_SOLUTION}"),
        Array("a", ("nv",), "m/s^2, rad/s^2", when="with_value"),
    ),
    f"{FIRST}:ForwardDynamicsDerivatives",
    (WITH_ACCELERATION,),
    inertias=True,
    fails=NO_MASS,
    gathered="ForwardDynamicsDerivatives",
    generated=(
        Generated(
            "derivatives", "derivatives of the accelerations by q, v and tau, all entries", methods=BY_FACTOR
        ),
    ),
    counterparts=(Counterpart("computeABADerivatives", note="which refuses mimic joints"),),
    timed=(
        Timed(
            "pin.computeABADerivatives(model, data, q, v, tau)",
            note="`with_value=True` returns the acceleration, too; with mimic joints, too",
            convention="*∂a/∂q*, *∂a/∂v* and *H⁻¹*; Pinocchio's are wrong for the same joints",
        ),
    ),
    other_names="ABA derivatives, daba, FD derivatives",
    oracle="oracles.derivatives:forward_dynamics_derivatives",
    source=CARPENTIER,
    notes="With ID the inverse dynamics, da_dq = -H^-1 dID/dq and da_dv = -H^-1 dID/dv at the acceleration that forward "
    f"dynamics gives. Column k of da_dq is the derivative along `integrate`, as in `rnea_derivatives`. {CONDITION} "
    "There is no packed layout: the matrices are dense where the model is connected.",
    examples=f"""{HINGE}>>> derivatives = tf.forward_dynamics_derivatives(model, [0.0], [0.0], [0.0], with_value=True)
>>> derivatives.da_dq.round(3), derivatives.a
(array([[-14.014]]), array([0.]))
""",
)
rnea_jvp = Quantity(
    "rnea_jvp",
    "Compute the derivative of inverse dynamics along directions, in O(nv).",
    (Q, V, A, DQ, DV, DA, FEXT, DFEXT),
    (
        Array("dtau", ("nv",), "N, N m", role="direction"),
        Array("tau", ("nv",), "N, N m", when="with_value"),
    ),
    f"{PRODUCTS}:RneaJvp",
    (WITH_FORCES,),
    inertias=True,
    generated=(Generated("derivatives", "derivative of the forces for accelerations a along dq, dv, da"),),
    timed=(
        Timed(
            "matrices = pin.computeRNEADerivatives(model, data, q, v, a); matrices[0] @ dq + matrices[1] @ dv + matrices[2] @ da",
            names="computeRNEADerivatives",
            what="rnea_jvp",
            note=IN_NUMPY,
        ),
    ),
    oracle="oracles.derivatives:rnea_derivatives",
    source=CARPENTIER,
    notes=f"Their derivative recursions, summed over the directions from the start: no matrix is formed. {SEVERAL}",
    examples=f"""{HINGE}>>> tf.rnea_jvp(model, [0.0], [0.0], [0.0], [1.0], None, [2.0])
array([5.605])
""",
)
rnea_vjp = Quantity(
    "rnea_vjp",
    "Compute the gradient of w . tau for the inverse dynamics tau, in O(nv).",
    (Q, V, A, WEIGHTS, FEXT),
    (
        gradient("q", "that of w . tau per m or rad", "By q along `integrate`."),
        gradient("v", "that of w . tau per m/s or rad/s"),
        gradient("a", f"that of w . tau {PER_A}"),
        gradient("fext", "that of w . tau per N or N m", "", "fext_gradient", ("njoints", 6)),
        gradient(
            "inertia", "that of w . tau per kg, kg m, kg m^2", BY_INERTIA, "inertia_gradient", ("njoints", 10)
        ),
        Array("value", ("nv",), "N, N m", "What `rnea` returns.", when="with_value"),
    ),
    f"{PRODUCTS}:RneaVjp",
    (*WANTED, WITH_FORCES),
    inertias=True,
    gathered="RneaGradients",
    generated=(Generated("derivatives", "gradients of w^T forces by q, v and a"),),
    timed=(
        Timed(
            "matrices = pin.computeRNEADerivatives(model, data, q, v, a); w @ matrices[0], w @ matrices[1], w @ matrices[2]",
            names="computeRNEADerivatives",
            what="rnea_vjp",
            note=IN_NUMPY,
            convention="gradient of *w* · *τ*; on request by `fext` and by all inertial parameters, which is the transposed `computeJointTorqueRegressor` times *w*",
        ),
    ),
    oracle="oracles.derivatives:rnea_derivatives",
    source=CARPENTIER,
    notes="Their derivative recursions, summed over the weights from the start: every body carries one force and moment "
    "that serve all its freedoms. The gradient by inertias is w^T times ``computeJointTorqueRegressor`` of Pinocchio, "
    "without that matrix.",
    examples=f"""{HINGE}>>> gradient = tf.rnea_vjp(model, [0.0], [0.0], [0.0], [1.0])
>>> gradient.q, gradient.a
(array([4.905]), array([0.35]))
""",
)
forward_dynamics_jvp = Quantity(
    "forward_dynamics_jvp",
    "Compute the derivative of forward dynamics along directions.",
    (Q, V, TAU, DQ, DV, DTAU, FEXT, DFEXT),
    (
        Array("da", ("nv",), "m/s^2, rad/s^2", NO_SOLUTION, role="direction"),
        Array("a", ("nv",), "m/s^2, rad/s^2", when="with_value"),
    ),
    f"{PRODUCTS}:ForwardDynamicsJvp",
    (WITH_ACCELERATION,),
    inertias=True,
    fails=NO_MASS,
    generated=(
        Generated("derivatives", "derivative of the accelerations along dq, dv, dtau", methods=BY_FACTOR),
    ),
    timed=(
        Timed(
            "matrices = pin.computeABADerivatives(model, data, q, v, tau); matrices[0] @ dq + matrices[1] @ dv + matrices[2] @ dtau",
            names="computeABADerivatives",
            what="forward_dynamics_jvp",
            note=IN_NUMPY,
        ),
    ),
    oracle="oracles.derivatives:forward_dynamics_derivatives",
    source=CARPENTIER,
    notes="H^-1 (dtau - rnea_jvp(dq, dv, 0)) at the acceleration of `forward_dynamics`; one factorization of H serves "
    f"both solves. {SEVERAL}",
    examples=f"""{HINGE}>>> tf.forward_dynamics_jvp(model, [0.0], [0.0], [0.0], [1.0], None, [0.7])
array([-12.01428571])
""",
)
forward_dynamics_vjp = Quantity(
    "forward_dynamics_vjp",
    "Compute the gradient of w . a for the forward dynamics a.",
    (Q, V, TAU, WEIGHTS, FEXT),
    (
        gradient("q", "that of w . a per m or rad", "By q along `integrate`."),
        gradient("v", "that of w . a per m/s or rad/s"),
        gradient("tau", "that of w . a per N or N m", NO_SOLUTION),
        gradient("fext", "that of w . a per N or N m", "", "fext_gradient", ("njoints", 6)),
        gradient(
            "inertia", "that of w . a per kg, kg m, kg m^2", BY_INERTIA, "inertia_gradient", ("njoints", 10)
        ),
        Array("value", ("nv",), "m/s^2, rad/s^2", "What `forward_dynamics` returns.", when="with_value"),
    ),
    f"{PRODUCTS}:ForwardDynamicsVjp",
    (*WANTED, WITH_ACCELERATION),
    inertias=True,
    fails=NO_MASS,
    gathered="ForwardDynamicsGradients",
    generated=(
        Generated("derivatives", "gradients of w^T accelerations by q, v and tau", methods=BY_FACTOR),
    ),
    timed=(
        Timed(
            "matrices = pin.computeABADerivatives(model, data, q, v, tau); w @ matrices[0], w @ matrices[1], w @ matrices[2]",
            names="computeABADerivatives",
            what="forward_dynamics_vjp",
            note=IN_NUMPY,
            convention="gradient of *w* · *a*",
        ),
    ),
    oracle="oracles.derivatives:forward_dynamics_derivatives",
    source=CARPENTIER,
    notes="The gradient by tau is H^-1 w, the others are those of `rnea_vjp` for -H^-1 w at the acceleration of "
    "`forward_dynamics`; one factorization of H serves both solves. The gradient by armature is ``-gradient.tau * "
    "gradient.value`` with ``with_value``; `treefactor.identification.log_cholesky_gradient` changes that by inertias "
    "to coordinates that reach only bodies that can exist.",
    examples=f"""{HINGE}>>> gradient = tf.forward_dynamics_vjp(model, [0.0], [0.0], [0.0], [0.7])
>>> gradient.q, gradient.tau
(array([-9.81]), array([2.]))
""",
)
rnea_hvp = Quantity(
    "rnea_hvp",
    "Compute the second derivatives of w . rnea(model, q, v, a) along a direction, in O(nv).",
    (Q, V, A, W, SECOND_DQ, along("dv", "v"), along("da", "a"), DW, FEXT),
    (
        second("q", PER_Q, "q"),
        second("v", PER_V, "v"),
        second("a", f"that of the sum {PER_A}", "a"),
    ),
    f"{SECOND}:RneaHvp",
    (SYMMETRIC,),
    inertias=True,
    gathered="RneaHvp",
    generated=(Generated("derivatives", "symmetric Hessian of w^T forces times dq, dv, da"),),
    timed=(
        Timed(
            "peers.rnea_hvp(q, v, a, w, dq, dv, da)",
            names="computeRNEADerivatives",
            what="rnea_hvp",
            note=BY_DIFFERENCES,
            convention="Hessian of *w* · *τ* times a direction; symmetric by default",
        ),
    ),
    oracle="oracles.derivatives:hessian_differences",
    source=CARPENTIER,
    notes="The derivative of their reverse recursion along the direction, in the axes of the root body. The gradient g "
    "by q of a joint that turns in more than one way (spherical, planar, free-flyer) belongs to axes that move with q. "
    "Its derivative along x therefore contains the Lie bracket of the motions along the tangent, and as a matrix D is "
    "not symmetric: y . D x - x . D y = g . [x, y]. The symmetric Hessian is H x = D x - ad_x^T g / 2, which is D x - "
    "g x x / 2 (a cross product) for a spherical joint. Both have the same x . H x, and are equal where g = 0 and for "
    "all other joints.",
    examples=f"""{HINGE}>>> tf.rnea_hvp(model, [np.pi / 2], [0.0], [0.0], [1.0], [1.0], [0.0], [0.0]).q.round(3)
array([-4.905])
""",
)
rnea_hessian = Quantity(
    "rnea_hessian",
    "Compute the second derivatives of w . rnea(model, q, v, a) as matrices, in O(nv depth).",
    (Q, V, A, W, FEXT),
    (
        matrix("qq", PER_QQ, "By q twice.", f"nnz, or {SIDES} if not symmetric"),
        matrix("qv", PER_QV, "By q (rows) and v (columns).", SIDES),
        matrix("vv", PER_VV, "By v twice, symmetric.", "nnz"),
        matrix(
            "qa",
            PER_QA,
            "By q (rows) and a (columns). Derivatives by v and a, and by a twice, are zero.",
            SIDES,
        ),
    ),
    f"{SECOND}:RneaHessian",
    (
        SYMMETRIC_BLOCK,
        LAYOUT._replace(
            text='"packed" has only entries in the pattern of H: of symmetric matrices the nnz rows that `Tree.unpack` '
            f"makes dense, of the others {PAIR}. {LANES}"
        ),
    ),
    inertias=True,
    gathered="RneaHessian",
    timed=(
        Timed(
            "peers.rnea_hessian(q, v, a, w)",
            names="computeRNEADerivatives",
            what="rnea_hessian",
            note=BY_DIFFERENCES,
            convention="symmetric by default: of the displacement, not the derivative of the gradient",
        ),
    ),
    other_names="computerneasecondorderderivatives",
    oracle="oracles.derivatives:hessian_differences",
    source="Singh, Russell and Wensing (2023), On second-order derivatives of rigid-body dynamics",
    notes="Those are the derivatives without w; here sums over composite bodies are contracted with w before any entry "
    "is formed. Entries outside the pattern of H are exactly zero.",
    examples=f"""{HINGE}>>> tf.rnea_hessian(model, [np.pi / 2], [0.0], [0.0], [1.0]).qq.round(3)
array([[-4.905]])
""",
)
forward_dynamics_hvp = Quantity(
    "forward_dynamics_hvp",
    "Compute the second derivatives of w . forward_dynamics(model, q, v, tau) along a direction.",
    (Q, V, TAU, W, SECOND_DQ, along("dv", "v"), along("dtau", "tau, in N, N m"), DW, FEXT),
    (
        second("q", PER_Q, "q"),
        second("v", PER_V, "v"),
        Array("tau", ("nv",), "that of the sum per N or N m", f"Part by tau. {NO_SOLUTION}"),
    ),
    f"{SECOND}:ForwardDynamicsHvp",
    (SYMMETRIC,),
    inertias=True,
    fails=NO_MASS,
    gathered="ForwardDynamicsHvp",
    timed=(
        Timed(
            "peers.forward_dynamics_hvp(q, v, tau, w, dq, dv, dtau)",
            names="computeABADerivatives",
            what="forward_dynamics_hvp",
            note=BY_DIFFERENCES,
        ),
    ),
    oracle="oracles.derivatives:forward_hessian_differences",
    source=CARPENTIER,
    notes="With the factor of H, the acceleration a and its change da along the direction: minus `rnea_hvp` with "
    "weights H^-1 w along (dq, dv, da), where the weights change, too. It costs the factor, three solves and products "
    "in O(nv); errors grow with the condition number of H. For the symmetric Hessian see `rnea_hvp`.",
    examples=f"""{HINGE}>>> tf.forward_dynamics_hvp(model, [np.pi / 2], [0.0], [0.0], [1.0], [1.0], [0.0], [0.0]).q.round(3)
array([14.014])
""",
)
forward_dynamics_hessian = Quantity(
    "forward_dynamics_hessian",
    "Compute the second derivatives of w . forward_dynamics(model, q, v, tau) as matrices.",
    (Q, V, TAU, W, FEXT),
    (
        matrix("qq", PER_QQ, "By q twice."),
        matrix("qv", PER_QV, "By q (rows) and v (columns)."),
        matrix("vv", PER_VV, "By v twice."),
        matrix(
            "qtau",
            "that of the sum per m N, ... or rad N m",
            f"By q (rows) and tau (columns). Derivatives by v and tau, and by tau twice, are zero. {NO_SOLUTION}",
        ),
    ),
    f"{SECOND}:ForwardDynamicsHessian",
    (SYMMETRIC_BLOCK,),
    inertias=True,
    fails=NO_MASS,
    gathered="ForwardDynamicsHessian",
    timed=(
        Timed(
            "peers.forward_dynamics_hessian(q, v, tau, w)",
            names="computeABADerivatives",
            what="forward_dynamics_hessian",
            note=BY_DIFFERENCES,
        ),
    ),
    oracle="oracles.derivatives:forward_hessian_differences",
    notes="From `rnea_hessian` with weights H^-1 w at the acceleration that forward dynamics gives, and the matrices of "
    f"`forward_dynamics_derivatives`, in O(nv^2 depth). {CONDITION} The matrices are dense where the model is connected, "
    "except vv, which has the pattern of H.",
    examples=f"""{HINGE}>>> tf.forward_dynamics_hessian(model, [np.pi / 2], [0.0], [0.0], [1.0]).qq.round(3)
array([[14.014]])
""",
)
