"""Declarations of kinematics: frames and joints, centres of mass, momentum and inertia about them."""

from .arrays import A, Q, V
from .declaration import (
    NEEDED,
    Array,
    Counterpart,
    Derivative,
    Generated,
    Option,
    Quantity,
    Timed,
    of_wrapper,
)

REQUESTS = "kinematics.requests"
RULES = "adapters._rules"
REFERENCE = Option(
    "reference",
    ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"),
    "reference",
    text='"LOCAL": of the frame\'s origin, in the axes of the frame. "WORLD": of the point of the body '
    "that is at the "
    'origin of the world, in world axes. "LOCAL_WORLD_ALIGNED": of the frame\'s origin, in world axes: '
    "the linear part "
    "of its velocity is the time derivative of the origin's position.",
)
FRAME = Option(
    "frame",
    kind="frame",
    default=NEEDED,
    type="str, Frame, -1 for the base, or list of them",
    text="A frame, joint or body by name, or a `Frame`. Numbers are refused: for joint k of the model pass "
    "``model.joints[k].name``, for a number of ``getFrameId`` ``model.frames[number]``. A list of k "
    "frames adds an "
    "axis.",
)
ROOT = Option(
    "root",
    kind="frame",
    type="int or str, optional",
    text="Joint, by its number, its name or that of its body: selects its body and all bodies that it "
    "carries. The "
    "name of a link on a fixed joint selects the joint that carries the link, with its whole body. By "
    "default, and "
    "with -1, all bodies of the model are selected; the base has no mass.",
)
COLUMNS = Option(
    "layout",
    ("dense", "packed"),
    text='"packed" leaves out the columns that are zero: it holds those of ``model.support(frame)``, and '
    "takes one "
    "frame.",
)
CLASSICAL = Option(
    "classical",
    kind="flag",
    text='Compute the acceleration of the point of the body: in "LOCAL_WORLD_ALIGNED" the second '
    "derivative of the "
    "origin's position. Otherwise the linear part is that of the spatial acceleration: the classical one "
    "minus "
    "omega x v.",
)
ACCELERATIONS = A._replace(optional=True, needed=True, axes="None means zero.")
PLACEMENT = Array(
    "placement", ("frames", 3, 4), "m", "``T[..., :3]`` is the rotation, ``T[..., 3]`` the origin."
)
ROWS = (
    "Linear rows before angular ones. Columns that are zero for every q remain so in configurations that are "
    "not finite."
)
NO_FRAME = (
    "InvalidModelError",
    "If the model has no frame, joint or body of that name; proposes similar names.",
)
NO_NUMBER = (
    "DtypeError",
    "If a frame is given by a number other than -1, or an array does not hold real numbers.",
)
NO_MASS = "InvalidModelError", "If the bodies have no mass, or the model has no joint or body of that name."
NO_JOINT = "IndexError", "If a number is not that of a joint."
FEATHERSTONE = "Featherstone (2008), section 4.4"
ARM = """
>>> import numpy as np, treefactor as tf
>>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
"""
SLIDER = """
>>> import treefactor as tf
>>> slider = tf.Model([tf.Joint("slider", "prismatic", axis=[0, 0, 1])])
"""
MASS = """
>>> import treefactor as tf
>>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.1]])
>>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
"""

frame_placement = Quantity(
    "frame_placement",
    "Compute the placements [R | p] of frames in the world.",
    (Q,),
    (PLACEMENT,),
    f"{REQUESTS}:of_frames",
    (FRAME,),
    derivative=Derivative(rule=f"{RULES}:FramePlacement", options=("frame",)),
    errors=(NO_FRAME, NO_NUMBER),
    generated=(
        Generated(
            "frames", "rows [R | p] of the frame {frame} in the base", methods=("inward", "mixed", "outward")
        ),
    ),
    counterparts=(
        Counterpart("updateFramePlacement", "data.oMf"),
        *of_wrapper("framePlacement", "placement", "framesForwardKinematics"),
    ),
    timed=(
        Timed(
            "pin.framesForwardKinematics(model, data, q); data.oMf[frame]",
            names="framesForwardKinematics, updateFramePlacement, updateFramePlacements, Data.oMf",
            note="a name, or a list of frames; Pinocchio's computes all frames",
            convention="[R | p] of the frame in the world",
        ),
    ),
    other_names="placement, framesforwardkinematics, updateframeplacements, frame pose, body pose, getlinkstate, "
    "frame positions, calcbodytobasecoordinates, getbodyplacement, getframeplacement, link pose",
    source=FEATHERSTONE,
    examples=f"""{ARM}>>> tf.frame_placement(arm, [np.pi / 2], "tip").round(3) + 0.0
array([[ 0., -1.,  0.,  0.],
       [ 1.,  0.,  0.,  1.],
       [ 0.,  0.,  1.,  0.]])
""",
)
joint_placements = Quantity(
    "joint_placements",
    "Compute the placements [R | p] of all joints in the world.",
    (Q,),
    (PLACEMENT._replace(name="placements", shape=("njoints", 3, 4)),),
    f"{REQUESTS}:joint_placements",
    derivative=Derivative(rule=f"{RULES}:JointPlacements"),
    generated=(Generated("geometry", "rows [R | p] of the frames of all joints in the base"),),
    counterparts=(
        Counterpart("forwardKinematics", "data.oMi", "without the universe"),
        *of_wrapper("forwardKinematics"),
    ),
    timed=(
        Timed(
            "pin.forwardKinematics(model, data, q)",
            names="forwardKinematics, Data.oMi",
            convention="joint i is `data.oMi[i + 1]`",
        ),
    ),
    source=FEATHERSTONE,
    examples=f"""{SLIDER}>>> tf.joint_placements(slider, [0.5])[0, :, 3]
array([0. , 0. , 0.5])
""",
)
frame_velocity = Quantity(
    "frame_velocity",
    "Compute the spatial velocities of frames, linear before angular.",
    (Q, V),
    (Array("velocity", ("frames", 6), "m/s, rad/s", "Equal to `frame_jacobian` times v."),),
    f"{REQUESTS}:of_frames",
    (FRAME, REFERENCE),
    derivative=Derivative(rule=f"{RULES}:FrameVelocity", options=("frame", "reference")),
    errors=(NO_FRAME, NO_NUMBER),
    generated=(Generated("frames", "velocity of the frame {frame}, linear first, {options}"),),
    counterparts=(
        Counterpart("getFrameVelocity"),
        *of_wrapper("frameVelocity", "velocity"),
    ),
    timed=(
        Timed(
            "pin.forwardKinematics(model, data, q, v); pin.getFrameVelocity(model, data, frame, pin.LOCAL)",
            names="getFrameVelocity, getVelocity",
            note="`reference=` is LOCAL by default and accepts the enum of Pinocchio; frames and joints by name",
            convention="LOCAL: of the origin, in the axes of the frame; LOCAL_WORLD_ALIGNED: of the origin, in world axes; WORLD: of the point at the origin of the world, in world axes",
        ),
    ),
    other_names="getvelocity, frame vel, body velocity",
    source=FEATHERSTONE,
    examples=f"""{ARM}>>> tf.frame_velocity(arm, [0.0], [2.0], "tip")
array([0., 2., 0., 0., 0., 2.])
""",
)
frame_acceleration = Quantity(
    "frame_acceleration",
    "Compute the accelerations of frames, linear before angular; gravity is not included.",
    (Q, V, ACCELERATIONS),
    (Array("acceleration", ("frames", 6), "m/s^2, rad/s^2"),),
    f"{REQUESTS}:of_frames",
    (FRAME, REFERENCE, CLASSICAL),
    errors=(NO_FRAME, NO_NUMBER),
    generated=(
        Generated("frames", "acceleration of the frame {frame} without gravity, linear first, {options}"),
    ),
    counterparts=(
        Counterpart("getFrameAcceleration"),
        Counterpart("getFrameClassicalAcceleration"),
        *of_wrapper(
            "frameAcceleration", "frameClassicalAcceleration", "acceleration", "classicalAcceleration"
        ),
    ),
    timed=(
        Timed(
            "pin.forwardKinematics(model, data, q, v, a); pin.getFrameAcceleration(model, data, frame, pin.LOCAL)",
            names="getFrameAcceleration, getAcceleration",
            convention="spatial; without gravity; `a=None` is zero",
        ),
        Timed(
            "pin.forwardKinematics(model, data, q, v, a); pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL)",
            names="getFrameClassicalAcceleration, getClassicalAcceleration",
            ours="tf.frame_acceleration(robot, q, v, a, name, 'LOCAL', True)",
            note="with `classical=True`",
            convention="spatial plus *ω* × *v*; in LOCAL_WORLD_ALIGNED the second derivative of the position",
        ),
    ),
    other_names="getacceleration, frame accel",
    source=FEATHERSTONE,
    examples=f"""{ARM}>>> tf.frame_acceleration(arm, [0.0], [2.0], None, "tip", classical=True)
array([-4.,  0.,  0.,  0.,  0.,  0.])
""",
)
frame_jacobian = Quantity(
    "frame_jacobian",
    "Compute the Jacobians J of frames, so that J v is `frame_velocity`; on request the placements, too.",
    (Q,),
    (
        Array("jacobian", ("frames", 6, "nv"), "m, rad per unit of v", ROWS, packed="6, n_s"),
        PLACEMENT._replace(when="placement"),
    ),
    f"{REQUESTS}:of_frames",
    (
        FRAME,
        REFERENCE,
        COLUMNS,
        Option(
            "placement",
            kind="flag",
            text="Return the pair of the Jacobian and of what `frame_placement` returns.",
        ),
    ),
    derivative=Derivative(rule=f"{RULES}:FrameJacobian", options=("frame", "reference")),
    errors=(NO_FRAME, NO_NUMBER),
    generated=(Generated("frames", "Jacobian of the frame {frame}, 6 rows, linear first, {options}"),),
    counterparts=(
        Counterpart("computeFrameJacobian"),
        *of_wrapper("computeFrameJacobian", "getFrameJacobian"),
    ),
    timed=(
        Timed(
            "pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)",
            names="computeFrameJacobian, getFrameJacobian",
            note='`placement=True` returns the placement, too; `layout="packed"` only columns of `Model.support`',
            convention="`J v` is the velocity in the same reference",
        ),
    ),
    other_names="jacobian, jac, jacob, jacob0, jacobe, jacobian0, computejacobian, getframejacobian, "
    "geometric Jacobian, calculatejacobian, mjjac, mjjacbody, mjjacsite, body Jacobian, "
    "calcpointjacobian, calcpointjacobian6d, calcbodyspatialjacobian, spatial Jacobian",
    source=FEATHERSTONE,
    notes="A list of frames cannot be packed.",
    examples=f"""{ARM}>>> tf.frame_jacobian(arm, [0.0], "tip").T
array([[0., 1., 0., 0., 0., 1.]])
""",
)
joint_jacobian = Quantity(
    "joint_jacobian",
    "Compute the Jacobian of a joint's own frame.",
    (Q,),
    (Array("jacobian", (6, "nv"), "m, rad per unit of v", ROWS),),
    f"{REQUESTS}:joint_jacobian",
    (
        FRAME._replace(
            name="joint",
            type="int or str",
            text="Number of the joint, -1 for the base, or name of the joint or of its body. The name of "
            "any other "
            "frame selects the joint that carries it, not the frame: `frame_jacobian` takes frames.",
        ),
        REFERENCE,
    ),
    errors=(NO_FRAME, NO_JOINT),
    counterparts=(
        Counterpart("computeJointJacobian", note="whose joint i + 1 is joint i here"),
        *of_wrapper("computeJointJacobian", "getJointJacobian"),
    ),
    timed=(
        Timed(
            "pin.computeJointJacobian(model, data, q, joint + 1)",
            names="computeJointJacobian, getJointJacobian",
            note="by name or number",
            convention="ratios of mimic joints included",
        ),
    ),
    other_names="getjointjacobian",
    source=FEATHERSTONE,
    examples=f"""{SLIDER}>>> tf.joint_jacobian(slider, [0.5], "slider").T
array([[0., 0., 1., 0., 0., 0.]])
""",
)
joint_jacobians = Quantity(
    "joint_jacobians",
    "Compute one matrix of the Jacobians of all joints: column k is the motion that freedom k gives.",
    (Q,),
    (
        Array(
            "jacobians",
            (6, "nv"),
            "m, rad per unit of v",
            "Linear rows before angular ones, at the origin of the world and in its axes. Column k is that of every "
            "joint and frame that freedom k moves: `frame_jacobian` of one in WORLD has the columns of "
            "``model.support(frame)``, and zeros.",
        ),
    ),
    f"{REQUESTS}:joint_jacobians",
    counterparts=(
        Counterpart("computeJointJacobians", "data.J"),
        *of_wrapper("computeJointJacobians"),
    ),
    timed=(
        Timed(
            "pin.computeJointJacobians(model, data, q)",
            names="computeJointJacobians, Data.J",
            note="one matrix; of one joint it has the columns of `Model.support`",
            convention="motions in world axes, linear parts at the origin of the world; ratios of mimic joints included",
        ),
    ),
    source=FEATHERSTONE,
    notes="The columns of mimic joints are added to that of their leader.",
    examples="""
>>> import treefactor as tf
>>> hinge = tf.Joint("hinge", "revolute", p=[0, 2, 0], axis=[0, 0, 1])
>>> slider = tf.Joint("slider", "prismatic", "hinge", axis=[1, 0, 0])
>>> tf.joint_jacobians(tf.Model([hinge, slider]), [0.0, 0.0]).T
array([[2., 0., 0., 0., 0., 1.],
       [1., 0., 0., 0., 0., 0.]])
""",
)
frame_jacobian_dot = Quantity(
    "frame_jacobian_dot",
    "Compute the time derivatives of the Jacobians of frames.",
    (Q, V),
    (
        Array(
            "jacobian_dot",
            ("frames", 6, "nv"),
            "m/s, rad/s per unit of v",
            "Linear rows before angular ones. With J of the same reference, J-dot v + J a is the spatial "
            "acceleration "
            'in "LOCAL" and "WORLD", and the classical one in "LOCAL_WORLD_ALIGNED".',
            packed="6, n_s",
        ),
    ),
    f"{REQUESTS}:of_frames",
    (FRAME, REFERENCE, COLUMNS),
    errors=(NO_FRAME, NO_NUMBER),
    generated=(
        Generated("frames", "time derivative of the Jacobian of the frame {frame}, 6 rows, {options}"),
    ),
    counterparts=(Counterpart("getFrameJacobianTimeVariation"),),
    timed=(
        Timed(
            "pin.computeJointJacobiansTimeVariation(model, data, q, v); pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL)",
            names="computeJointJacobiansTimeVariation, getFrameJacobianTimeVariation, getJointJacobianTimeVariation",
            what="getFrameJacobianTimeVariation",
            convention="*J̇ v + J a* is spatial in LOCAL and WORLD, classical in LOCAL_WORLD_ALIGNED",
        ),
    ),
    other_names="Jacobian dot, jdot, jacobdot, Jacobian time variation, getjointjacobiantimevariation, "
    "computejointjacobianstimevariation, mjjacdot",
    source=FEATHERSTONE,
    notes="A list of frames cannot be packed.",
    examples=f"""{ARM}>>> tf.frame_jacobian_dot(arm, [0.0], [2.0], "tip", "LOCAL_WORLD_ALIGNED").T
array([[-2.,  0.,  0.,  0.,  0.,  0.]])
""",
)
center_of_mass = Quantity(
    "center_of_mass",
    "Compute the centre of mass of a model or of a subtree, with its velocity and acceleration on request.",
    (
        Q,
        V._replace(optional=True, axes="With it the velocity is computed, too."),
        A._replace(optional=True, axes="With it the acceleration is computed, too."),
    ),
    (
        Array("position", (3,), "m", "In world axes, as all of them, for every subtree."),
        Array("velocity", (3,), "m/s", when="v"),
        Array("acceleration", (3,), "m/s^2", "Gravity is not included.", when="a"),
    ),
    f"{REQUESTS}:of_masses",
    (ROOT, Option("v", kind="presence"), Option("a", kind="presence")),
    parameters=("q", "v", "a", "root", "out"),
    derivative=Derivative(rule=f"{RULES}:CenterOfMass"),
    errors=(NO_MASS, NO_JOINT, ("TypeError", "If a is given without v.")),
    generated=(
        Generated("kinematics", "centre of mass in the base"),
        Generated(
            "kinematics", "velocity of the centre of mass", name="center_of_mass_velocity", result="velocity"
        ),
        Generated(
            "kinematics",
            "acceleration of the centre of mass for accelerations a",
            name="center_of_mass_acceleration",
            result="acceleration",
        ),
    ),
    counterparts=(
        Counterpart(
            "centerOfMass", note="which leaves the centres ``data.com[k]`` of subtrees in the axes of joint k"
        ),
        *of_wrapper("com", "vcom", "acom"),
    ),
    timed=(
        Timed(
            "pin.centerOfMass(model, data, q)",
            names="centerOfMass, Data.com",
            note="`root=` for a subtree",
            convention="in world axes, subtrees too; `data.com[k]` has those of joint k after `centerOfMass`, of the world after `jacobianCenterOfMass`",
        ),
        Timed(
            "pin.centerOfMass(model, data, q, v, a)",
            names="centerOfMass, Data.vcom, Data.acom",
            what="centerOfMass of q, v, a",
            ours="tf.center_of_mass(robot, q, v, a)",
            note="with `v` and `a`",
            convention="derivatives of the position; without gravity",
            shape="three (3)",
        ),
    ),
    other_names="com, centre of mass, com position, computecom, calccenterofmass, calccenterofmassposition, "
    "subtree com, computecenterofmass, vcom, com velocity",
    examples=f"""{MASS}>>> tf.center_of_mass(arm, [0.0], [2.0])
(array([1., 0., 0.]), array([0., 2., 0.]))
""",
)
center_of_mass_jacobian = Quantity(
    "center_of_mass_jacobian",
    "Compute the Jacobian J of the centre of mass of a model or of a subtree: its velocity is J v.",
    (Q,),
    (
        Array(
            "jacobian",
            (3, "nv"),
            "m per unit of v",
            "In world axes. Columns that are zero for every q remain so in configurations that are not "
            "finite.",
        ),
    ),
    f"{REQUESTS}:of_masses",
    (ROOT,),
    derivative=Derivative(rule=f"{RULES}:CenterOfMassJacobian"),
    errors=(NO_MASS, NO_JOINT),
    generated=(
        Generated("kinematics", "Jacobian of the centre of mass, 3 rows", methods=("scaled", "momentum")),
    ),
    counterparts=(
        Counterpart("jacobianCenterOfMass"),
        Counterpart("jacobianSubtreeCenterOfMass"),
        *of_wrapper("Jcom"),
    ),
    timed=(
        Timed(
            "pin.jacobianCenterOfMass(model, data, q)",
            names="jacobianCenterOfMass, jacobianSubtreeCenterOfMass, Data.Jcom",
            note="`root=` for a subtree",
            convention="for a free-flyer *R* and -*R* [*c*]×, not the identity matrix",
        ),
    ),
    other_names="com Jacobian, Jacobian com, jcom, centre of mass Jacobian, mjjacsubtreecom",
    examples=f"""{MASS}>>> tf.center_of_mass_jacobian(arm, [0.0]).T
array([[0., 1., 0.]])
""",
)
WITHOUT_MASS = "InvalidModelError", "If the bodies have no mass."
centroidal_map = Quantity(
    "centroidal_map",
    "Compute the centroidal momentum matrix A: A v is `centroidal_momentum`.",
    (Q,),
    (
        Array(
            "map",
            (6, "nv"),
            "kg m/s, then kg m^2/s per unit of v",
            "Rows of linear momentum before those of angular momentum about the centre of mass, in world "
            "axes.",
        ),
    ),
    f"{REQUESTS}:of_masses",
    errors=(WITHOUT_MASS,),
    generated=(
        Generated("kinematics", "map from v to the momentum about the centre of mass, 6 rows, linear first"),
    ),
    counterparts=(
        Counterpart("computeCentroidalMap"),
        *of_wrapper("centroidalMap", "centroidal"),
    ),
    timed=(
        Timed(
            "pin.computeCentroidalMap(model, data, q)",
            names="computeCentroidalMap, ccrba, Data.Ag",
            note="with mimic joints, too",
            convention="linear rows, then angular ones about the centre of mass, in world axes",
        ),
    ),
    other_names="ccrba, centroidal momentum matrix, cmm, ag",
    source="Orin, Goswami, Lee (2013), Centroidal dynamics of a humanoid robot",
    notes="The linear rows are the mass of the model times `center_of_mass_jacobian`.",
    examples=f"""{MASS}>>> tf.centroidal_map(arm, [0.0]).T.round(12)
array([[0. , 2. , 0. , 0. , 0. , 0.1]])
""",
)
centroidal_map_dot = Quantity(
    "centroidal_map_dot",
    "Compute the time derivative of the centroidal momentum matrix.",
    (Q, V),
    (Array("map_dot", (6, "nv"), "N, then N m per unit of v", "Rows as those of `centroidal_map`."),),
    f"{REQUESTS}:of_masses",
    errors=(WITHOUT_MASS,),
    generated=(
        Generated("kinematics", "time derivative of the map from v to the momentum about the centre of mass"),
    ),
    counterparts=(Counterpart("dccrba"),),
    timed=(
        Timed(
            "pin.dccrba(model, data, q, v)",
            names="dccrba, Data.dAg, computeCentroidalMapTimeVariation",
            convention="derivative of the map",
        ),
    ),
    other_names="computecentroidalmaptimevariation, dag",
    examples=f"""{MASS}>>> tf.centroidal_map_dot(arm, [0.0], [3.0]).T.round(12) + 0.0
array([[-6.,  0.,  0.,  0.,  0.,  0.]])
""",
)
centroidal_momentum = Quantity(
    "centroidal_momentum",
    "Compute the linear momentum of a model, and its angular momentum about the centre of mass.",
    (Q, V),
    (Array("momentum", (6,), "kg m/s, then kg m^2/s", "In world axes."),),
    f"{REQUESTS}:of_masses",
    derivative=Derivative(rule=f"{RULES}:CentroidalMomentum"),
    errors=(WITHOUT_MASS,),
    generated=(
        Generated("kinematics", "momentum about the centre of mass, linear first", methods=("bodies", "map")),
    ),
    counterparts=(
        Counterpart("computeCentroidalMomentum"),
        *of_wrapper("centroidalMomentum"),
    ),
    timed=(
        Timed(
            "pin.computeCentroidalMomentum(model, data, q, v)",
            names="computeCentroidalMomentum, Data.hg",
            convention="the map times *v*",
        ),
    ),
    other_names="momentum, calcmomentum",
    notes="Momenta of bodies are added up about the centre of mass, at velocities relative to it: no "
    "digit is lost far "
    "from the base.",
    examples=f"""{MASS}>>> tf.centroidal_momentum(arm, [0.0], [3.0]).round(12)
array([0. , 6. , 0. , 0. , 0. , 0.3])
""",
)
centroidal_momentum_rate = Quantity(
    "centroidal_momentum_rate",
    "Compute the time derivative of `centroidal_momentum`; gravity is not included.",
    (Q, V, ACCELERATIONS),
    (
        Array(
            "rate",
            (6,),
            "N, then N m",
            "In world axes: `centroidal_map` times a plus `centroidal_map_dot` times v.",
        ),
    ),
    f"{REQUESTS}:of_masses",
    errors=(WITHOUT_MASS,),
    generated=(
        Generated("kinematics", "time derivative of the momentum about the centre of mass, linear first"),
    ),
    counterparts=(
        Counterpart("computeCentroidalMomentumTimeVariation"),
        *of_wrapper("centroidalMomentumVariation"),
    ),
    timed=(
        Timed(
            "pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)",
            names="computeCentroidalMomentumTimeVariation, Data.dhg",
            convention="linear part is mass times acceleration; without gravity",
        ),
    ),
    notes="The linear part is the mass of the model times the acceleration of `center_of_mass`.",
    examples=f"""{MASS}>>> tf.centroidal_momentum_rate(arm, [0.0], [3.0], [1.0]).round(12)
array([-18. ,   2. ,   0. ,   0. ,   0. ,   0.1])
""",
)
centroidal_inertia = Quantity(
    "centroidal_inertia",
    "Compute the inertia tensor of a model about its centre of mass, as if all joints were locked.",
    (Q,),
    (Array("inertia", (3, 3), "kg m^2", "In world axes; armature is not included."),),
    f"{REQUESTS}:of_masses",
    errors=(WITHOUT_MASS,),
    counterparts=(Counterpart("ccrba", "data.Ig.inertia"),),
    timed=(
        Timed(
            "pin.ccrba(model, data, q, v); data.Ig.inertia",
            names="Data.Ig",
            convention="tensor about the centre of mass, in world axes",
        ),
    ),
    examples=f"""{MASS}>>> tf.centroidal_inertia(arm, [0.0]).round(12).diagonal()
array([0.1, 0.2, 0.1])
""",
)
IN_WORLD = "In world axes."
all_terms = Quantity(
    "all_terms",
    "Compute H, bias, gravity, energies, joint placements and centroidal quantities of a state.",
    (Q, V),
    (
        Array("H", ("nv", "nv"), "kg, kg m, kg m^2", "Armature included."),
        Array("bias", ("nv",), "N, N m"),
        Array("generalized_gravity", ("nv",), "N, N m"),
        Array("kinetic_energy", (), "J"),
        Array("potential_energy", (), "J"),
        Array("joint_placements", ("njoints", 3, 4), "m", "[R | p] in the world."),
        Array("center_of_mass", (3,), "m", IN_WORLD),
        Array("center_of_mass_velocity", (3,), "m/s", IN_WORLD),
        Array("center_of_mass_jacobian", (3, "nv"), "m per unit of v", IN_WORLD),
        Array("centroidal_map", (6, "nv"), "kg m/s, then kg m^2/s per unit of v", IN_WORLD),
        Array("centroidal_map_dot", (6, "nv"), "N, then N m per unit of v", IN_WORLD),
        Array("centroidal_momentum", (6,), "kg m/s, then kg m^2/s", IN_WORLD),
        Array("centroidal_inertia", (3, 3), "kg m^2", "About the centre of mass, in world axes."),
    ),
    "kinematics.terms:compiled",
    gathered="AllTerms",
    errors=(WITHOUT_MASS,),
    counterparts=(Counterpart("computeAllTerms", note="but for Jacobians of joints"),),
    timed=(
        Timed(
            "pin.computeAllTerms(model, data, q, v)",
            note="without the Jacobians of joints; `Kinematics` computes what a script reads",
        ),
    ),
    notes="The results are those of the functions of these names and of `crba`, but for rounding; "
    "energies are arrays. "
    "`treefactor.Kinematics` computes the Jacobians that are wanted. One pass over the bodies gives H "
    "and the bias, "
    "another the rest; the kinetic energy is v^T H v / 2, and gravity acts on the centre of mass.",
    examples="""
>>> import treefactor as tf
>>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(2.0))])
>>> terms = tf.all_terms(slide, [1.0], [3.0])
>>> terms.H, terms.kinetic_energy.item(), terms.potential_energy.item()
(array([[2.]]), 9.0, 19.62)
""",
)
MATRIX = ("frames", 6, "nv")
frame_derivatives = Quantity(
    "frame_derivatives",
    "Compute the derivatives of the placement, velocity and acceleration of frames by q, v and a.",
    (Q, V, ACCELERATIONS),
    (
        Array("jacobian", MATRIX, "m, rad per unit of v", "Of the placement by q, of v and a by v and a."),
        Array("velocity_q", MATRIX, "m/s, rad/s per m or rad", "Of the velocity by q."),
        Array("acceleration_q", MATRIX, "m/s^2, rad/s^2 per m or rad", "Of the acceleration by q."),
        Array("acceleration_v", MATRIX, "m/s^2, rad/s^2 per m/s or rad/s", "Of the acceleration by v."),
    ),
    "derivatives.kinematics:of_frames",
    (FRAME, REFERENCE, CLASSICAL),
    gathered="MotionDerivatives",
    errors=(NO_FRAME, NO_NUMBER),
    counterparts=(Counterpart("getFrameVelocityDerivatives"), Counterpart("getFrameAccelerationDerivatives")),
    timed=(
        Timed(
            "pin.computeForwardKinematicsDerivatives(model, data, q, v, a); pin.getFrameAccelerationDerivatives(model, data, frame, pin.LOCAL)",
            names="computeForwardKinematicsDerivatives, getFrameAccelerationDerivatives, getFrameVelocityDerivatives, getJointAccelerationDerivatives, getJointVelocityDerivatives",
            what="getFrameAccelerationDerivatives",
            note="timed with `getFrameAccelerationDerivatives`, which has those of velocities, too",
            convention="of `frame_velocity` and `frame_acceleration` in the same reference; in LOCAL_WORLD_ALIGNED Pinocchio's are its WORLD matrices in other axes, which are not derivatives of these quantities",
        ),
        Timed(
            names="getPointClassicAccelerationDerivatives, getPointVelocityDerivatives",
            note="with `classical=True`; the first three rows",
        ),
    ),
    other_names="computeforwardkinematicsderivatives, getjointvelocityderivatives, "
    "getjointaccelerationderivatives, getpointvelocityderivatives, "
    "getpointclassicaccelerationderivatives",
    source="Singh, Russell & Wensing (2022)",
    notes="Of what `frame_velocity` and `frame_acceleration` return in the same reference, by q along "
    "`integrate`; "
    "``jacobian`` is `frame_jacobian`. Columns that are zero for every q remain so in configurations "
    "that are not "
    "finite. A universal joint is one body for each axis. Pinocchio's functions mean the same in "
    '"LOCAL". In '
    '"LOCAL_WORLD_ALIGNED" they shift and turn the derivatives in "WORLD", which leaves out that the '
    "frame's origin "
    'moves with q; in "WORLD" their columns by q are wrong for accelerations of spherical, planar and '
    "free-flyer "
    "joints that are not at the root (4.1), and in all references for universal joints, whose axes "
    "depend on q.",
    examples=f"""{ARM}>>> state = [0.0], [2.0], [0.0]
>>> motion = tf.frame_derivatives(arm, *state, "tip", "LOCAL_WORLD_ALIGNED", classical=True)
>>> motion.velocity_q.T + 0.0, motion.acceleration_v.T + 0.0
(array([[-2.,  0.,  0.,  0.,  0.,  0.]]), array([[-4.,  0.,  0.,  0.,  0.,  0.]]))
""",
    section="Derivatives",
)
CENTER = (3, "nv")
com_derivatives = Quantity(
    "com_derivatives",
    "Compute the derivatives of a centre of mass, of its velocity and of its acceleration by q, v and a.",
    (Q, V, A._replace(optional=True, axes="None means zero.")),
    (
        Array("jacobian", CENTER, "m per unit of v", "Equal to `center_of_mass_jacobian`."),
        Array("velocity_q", CENTER, "m/s per m or rad", "Of the velocity by q."),
        Array("acceleration_q", CENTER, "m/s^2 per m or rad", "Of the acceleration by q."),
        Array(
            "acceleration_v",
            CENTER,
            "m/s^2 per m/s or rad/s",
            "Of the acceleration by v; in world axes, as all.",
        ),
    ),
    "derivatives.kinematics:of_center",
    (ROOT,),
    gathered="MotionDerivatives",
    errors=(NO_MASS, NO_JOINT),
    counterparts=(Counterpart("getCenterOfMassVelocityDerivatives", note="which computes ``velocity_q``"),),
    timed=(
        Timed(
            "pin.computeForwardKinematicsDerivatives(model, data, q, v, a); pin.centerOfMass(model, data, q, v); pin.getCenterOfMassVelocityDerivatives(model, data)",
            ours="tf.com_derivatives(robot, q, v, a)",
            note="also those of the acceleration, and `root=` for a subtree",
            convention="in world axes",
        ),
    ),
    examples=f"""{MASS}>>> tf.com_derivatives(arm, [0.0], [2.0]).velocity_q.T + 0.0
array([[-2.,  0.,  0.]])
""",
    section="Derivatives",
)
MOMENTUM = (6, "nv")
centroidal_derivatives = Quantity(
    "centroidal_derivatives",
    "Compute the derivatives of `centroidal_momentum` and `centroidal_momentum_rate` by q, v and a.",
    (Q, V, ACCELERATIONS),
    (
        Array("dhdot_da", MOMENTUM, "N s, N m s per unit of v", "Equal to `centroidal_map`."),
        Array("dh_dq", MOMENTUM, "N s, N m s per m or rad"),
        Array("dhdot_dq", MOMENTUM, "N, N m per m or rad"),
        Array("dhdot_dv", MOMENTUM, "N, N m per m/s or rad/s", "Linear rows first, in world axes, as all."),
    ),
    "derivatives.kinematics:of_momentum",
    gathered="CentroidalDerivatives",
    errors=(WITHOUT_MASS,),
    counterparts=(
        Counterpart(
            "computeCentroidalDynamicsDerivatives",
            note="which returns them in the order of dh_dq, dhdot_dq, dhdot_dv and dhdot_da; its "
            "derivatives with "
            "universal joints are wrong (4.1)",
        ),
    ),
    timed=(
        Timed(
            "pin.computeCentroidalDynamicsDerivatives(model, data, q, v, a)",
            names="computeCentroidalDynamicsDerivatives, getCentroidalDynamicsDerivatives",
            convention="of the momentum about the centre of mass and its rate, without gravity",
        ),
    ),
    other_names="getcentroidaldynamicsderivatives",
    notes="Gravity is not included.",
    examples=f"""{MASS}>>> tf.centroidal_derivatives(arm, [0.0], [3.0], [0.0]).dhdot_dv.T.round(12) + 0.0
array([[-12.,   0.,   0.,   0.,   0.,   0.]])
""",
    section="Derivatives",
)
TASKS = "kinematics._task_functions"
TASK = FRAME._replace(
    text="As for `frame_jacobian`. k frames are one task of 6 k rows, linear before angular for each frame."
)
DAMPING = Array(
    "damping",
    unit="1/kg, 1/(kg m^2)",
    axes="Added to the diagonal of J H^-1 J^T, so that singular tasks have a finite result. Not negative: in "
    "a batch the result is NaN where it is.",
    role="number",
    type="float or array_like",
    default=0.0,
)
SINGULAR = (
    "If a single task is singular without damping, as that of 6 rows of an arm with fewer joints: names the row "
    "and frame; or if H has no factor."
)
KHATIB = "Khatib (1987), A unified approach for motion and force control of robot manipulators"
ROW_COUNT = "6 k"
delassus = Quantity(
    "delassus",
    "Compute the Delassus matrix J H^-1 J^T of one or several frames, the inverse of `operational_inertia`.",
    (Q,),
    (
        Array(
            "delassus",
            (ROW_COUNT, ROW_COUNT),
            "1/kg, 1/(kg m), 1/(kg m^2)",
            "Positive semidefinite: of lower rank where rows of J depend on others.",
        ),
    ),
    f"{TASKS}:Delassus",
    (TASK, REFERENCE),
    fails="If H of a single configuration has no factor.",
    errors=(NO_FRAME, NO_NUMBER),
    counterparts=(Counterpart("computeDelassusMatrix"),),
    source=KHATIB,
    notes="H, its factor and J stay in one compiled call. `Factor.delassus` takes any J.",
    examples="""
>>> import treefactor as tf
>>> slider = tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(2.0))
>>> float(tf.delassus(tf.Model([slider]), [0.0], "slide")[0, 0])
0.5
""",
    section="Operational space",
)
operational_inertia = Quantity(
    "operational_inertia",
    "Compute the operational-space inertia of one or several frames, Lambda = (J H^-1 J^T)^-1.",
    (Q, DAMPING),
    (
        Array(
            "inertia",
            (ROW_COUNT, ROW_COUNT),
            "kg, kg m, kg m^2",
            "In a batch NaN where the task is singular: ``status`` of `operational_space` has the row.",
        ),
    ),
    f"{TASKS}:OperationalInertia",
    (TASK, REFERENCE),
    parameters=("q", "frame", "reference", "damping", "out"),
    fails=SINGULAR,
    errors=(NO_FRAME, NO_NUMBER),
    invalid=("if the damping of a single configuration is negative",),
    source=KHATIB,
    examples="""
>>> import treefactor as tf
>>> slider = tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(2.0))
>>> inertia = tf.operational_inertia(tf.Model([slider]), [0.0], "slide", damping=0.5)
>>> inertia.diagonal()
array([1., 2., 2., 2., 2., 2.])
""",
    section="Operational space",
)
task_bias = Quantity(
    "task_bias",
    "Compute J-dot v of frames: the change of their velocity J v while the joints do not accelerate.",
    (Q, V),
    (
        Array(
            "bias",
            (ROW_COUNT,),
            "m/s^2, then rad/s^2, for each frame",
            "The derivative of J v: a spatial acceleration for LOCAL and WORLD, the classical one for "
            "LOCAL_WORLD_ALIGNED.",
        ),
    ),
    f"{TASKS}:TaskBias",
    (TASK, REFERENCE),
    errors=(NO_FRAME, NO_NUMBER),
    source=FEATHERSTONE,
    examples=f"""{ARM}>>> tf.task_bias(arm, [0.0], [2.0], "tip", "LOCAL_WORLD_ALIGNED")
array([-4.,  0.,  0.,  0.,  0.,  0.])
""",
    section="Operational space",
)
operational_bias = Quantity(
    "operational_bias",
    "Compute mu = J_bar^T h - Lambda J-dot v, the force at the task that lets it move without acceleration.",
    (Q, V, DAMPING),
    (
        Array(
            "bias",
            (ROW_COUNT,),
            "N, N m",
            "Gravity is included: h is ``bias(model, q, v)``. In a batch NaN where the task is singular.",
        ),
    ),
    f"{TASKS}:OperationalBias",
    (TASK, REFERENCE),
    parameters=("q", "v", "frame", "reference", "damping", "out"),
    fails=SINGULAR,
    errors=(NO_FRAME, NO_NUMBER),
    invalid=("if the damping of a single configuration is negative",),
    source=f"{KHATIB}, with the sign of F = Lambda x-ddot + mu + p; here mu + p",
    examples="""
>>> import treefactor as tf
>>> slider = tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(2.0))
>>> mu = tf.operational_bias(tf.Model([slider]), [0.0], [0.0], "slide", damping=0.5)
>>> mu.round(3)
array([0.  , 0.  , 9.81, 0.  , 0.  , 0.  ])
""",
    section="Operational space",
)
