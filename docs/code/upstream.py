"""List the defects found in engines, each with the trap file that shows it, for reports to their authors."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """Defect of an engine.

    Attributes
    ----------
    engine : str
        Name in `treefactor check`.
    title : str
        Of the report to the authors.
    trap : str
        Name of the minimal file in `treefactor.check.traps`, without folder; "" if the lines of Python build
        the model.
    text : str
        What the engine does.
    expected : str
        What it should do, and why.
    code : str
        Lines of Python that show it, with `path` for the file if there is one; "" if `treefactor check` of
        the file shows it.
    link : str
        Address of a thread that exists; "" if none was found.
    """

    engine: str
    title: str
    trap: str
    text: str
    expected: str
    code: str = ""
    link: str = ""


DEFECTS = (
    Defect(
        "rtb",
        "Dynamics have the opposite sign for joint axes along -x, -y, -z",
        "axis_negative",
        "Robot.inertia and Robot.rne treat a joint with axis 0 0 -1 as if its axis were 0 0 1; "
        "fkine and jacob0 are right.",
        "H, gravity and inverse dynamics that belong to the same kinematics as fkine.",
    ),
    Defect(
        "rtb",
        "The second of two links on fixed joints of one parent is misplaced",
        "fixed_links",
        "Of two links on fixed joints of one parent, Robot.inertia and Robot.rne place the second one as if "
        "it were attached to the first one.",
        "Both links move with their parent, at the places that fkine computes.",
        link="https://github.com/petercorke/robotics-toolbox-python/issues/636",
    ),
    Defect(
        "adam",
        "Prismatic joints fail on array shapes",
        "prismatic",
        "Functions of the NumPy backend raise an error on a model with a prismatic joint.",
        "The same functions as for revolute joints.",
        link="https://github.com/ami-iit/adam/issues/66",
    ),
    Defect(
        "adam",
        "Joint axes are not scaled to unit length",
        "axis_not_unit",
        "The axis of a joint is used with the length that it has in the URDF.",
        "Parsers of URDF scale <axis> to unit length, as the specification demands.",
    ),
    Defect(
        "adam",
        "An <inertial> without <origin> is refused",
        "no_inertial_origin",
        "Loading fails: 'NoneType' object has no attribute 'xyz'.",
        "The origin is the identity if it is not specified, by the URDF specification.",
    ),
    Defect(
        "dart",
        "A link without <inertial> weighs 1 kg",
        "no_inertial",
        "A link without <inertial> gets 1 kg and moments of 1 kg m².",
        "No mass: the URDF specification has a massless link where <inertial> is missing.",
    ),
    Defect(
        "dart",
        "Bodies of an MJCF have moments of inertia of 1 kg m²",
        "mjcf_plain",
        "The moments of inertia of every body of an MJCF are 1 kg m² instead of those of its <inertial>; a "
        "body without shapes weighs 1 kg, with its centre of mass at the origin.",
        "The moments of the file, as MuJoCo reads them.",
    ),
    Defect(
        "pinocchio",
        "MJCF: settotalmass is ignored",
        "mjcf_settotalmass",
        "The attribute settotalmass of <compiler> has no effect.",
        "Masses and inertias scaled so that the masses sum to it, as in MuJoCo.",
    ),
    Defect(
        "drake",
        "MJCF: settotalmass is ignored",
        "mjcf_settotalmass",
        "The attribute settotalmass of <compiler> has no effect.",
        "Masses and inertias scaled so that the masses sum to it, as in MuJoCo.",
    ),
    Defect(
        "newton",
        "MJCF: settotalmass is ignored",
        "mjcf_settotalmass",
        "The attribute settotalmass of <compiler> has no effect.",
        "Masses and inertias scaled so that the masses sum to it, as in MuJoCo.",
    ),
    Defect(
        "idyntree",
        "ModelLoader.loadModelFromFile returns True and an empty model",
        "planar",
        "A URDF with a planar joint cannot be parsed, and yet loadModelFromFile returns True; "
        "the model has no links.",
        "False, or an exception with the reason.",
        code="""
import idyntree.bindings as idyn

loader = idyn.ModelLoader()
print(loader.loadModelFromFile(path), loader.model().getNrOfLinks())  # True 0
""",
    ),
    Defect(
        "pinocchio",
        "getFrameJacobian crashes on a model without freedoms",
        "one_link",
        "getFrameJacobian ends the process with a segmentation fault if nv is 0.",
        "An array of shape (6, 0).",
        code="""
import numpy as np
import pinocchio as pin

model = pin.buildModelFromUrdf(path)
data = model.createData()
pin.computeJointJacobians(model, data, np.zeros(0))
pin.updateFramePlacements(model, data)
pin.getFrameJacobian(model, data, model.nframes - 1, pin.LOCAL_WORLD_ALIGNED)
""",
    ),
    Defect(
        "rtb",
        "A link on a fixed joint that carries a moving joint has a wrong inertia",
        "fixed_chain",
        "Robot.inertia and Robot.rne are wrong where a link on a fixed joint carries a moving joint.",
        "The inertia of the link adds to that of its parent.",
        link="https://github.com/petercorke/robotics-toolbox-python/issues/636",
    ),
    Defect(
        "rtb",
        "The friction of a URDF joint acts as viscous friction in rne",
        "friction",
        "The attribute friction of <dynamics> is multiplied by the velocity of the joint and added to rne; "
        "damping, which is viscous, is ignored.",
        "friction is a static force, in N m or N, by the URDF specification; damping is in N m s/rad.",
    ),
    Defect(
        "rtb",
        "Robot.accel fails for one joint",
        "root_world_moving",
        "Robot.accel raises LinAlgError for a robot with one joint.",
        "An acceleration of shape (1,).",
        code="""
import numpy as np
from roboticstoolbox.models.URDF.URDFRobot import URDFRobot

robot = URDFRobot(path)
try:
    robot.accel(np.zeros(1), np.zeros(1), np.zeros(1))
except np.linalg.LinAlgError as error:
    print(type(error).__name__)  # LinAlgError
""",
    ),
    Defect(
        "adam",
        "A joint without <axis> is refused",
        "axis_missing",
        "Loading fails: 'NoneType' object is not subscriptable.",
        "The axis is 1 0 0 if it is not specified, by the URDF specification.",
    ),
    Defect(
        "adam",
        "A <texture> without file name is refused",
        "missing_texture",
        "Loading fails with a ParseError, though textures have no part in the dynamics.",
        "The dynamics of the other elements.",
    ),
    Defect(
        "adam",
        "The default gravity is 9.80665 in single precision",
        "plain",
        "The default of the argument gravity is a float32 array: its value is 9.80665016..., and other "
        "libraries have 9.81.",
        "A float64 array, and a sentence on the value in the documentation.",
        code="""
from adam.numpy import KinDynComputations

print(KinDynComputations(path, ["shoulder", "elbow"]).g[2])  # -9.80665016
""",
    ),
    Defect(
        "dart",
        "Joint axes of SDF 1.4 are taken in the frame of the joint",
        "sdf_model_axis",
        "The axis of a joint in an SDF of version 1.4 is read as in later versions.",
        "Up to SDF 1.4 joint axes are expressed in the frame of the model.",
    ),
    Defect(
        "dart",
        "The reference position ref of joints is ignored in an MJCF",
        "mjcf_degrees",
        "The reference position ref of joints has no effect.",
        "Positions of joints are measured from ref, as in MuJoCo.",
    ),
    Defect(
        "newton",
        "The reference position ref of joints is ignored in an MJCF",
        "mjcf_degrees",
        "The reference position ref of joints has no effect.",
        "Positions of joints are measured from ref, as in MuJoCo.",
    ),
    Defect(
        "newton",
        "The gravity of an MJCF is ignored",
        "mjcf_gravity",
        "The attribute gravity of <option> has no effect.",
        "The gravity of the file, as in MuJoCo.",
    ),
    Defect(
        "newton",
        "Joints of a body with several joints are misplaced",
        "mjcf_two_joints",
        "Where a body of an MJCF has two joints, placements and dynamics differ from MuJoCo's.",
        "The joints act one after the other, as in MuJoCo.",
    ),
    Defect(
        "newton",
        "Inertia tensors of links without mass are dropped",
        "massless_tensor",
        "A link without mass loses its inertia tensor, without a warning.",
        "The tensor of the file, which a rotor may have, or an error.",
    ),
    Defect(
        "drake",
        "Joints of a body with several joints are misplaced",
        "mjcf_two_joints",
        "Where a body of an MJCF has two joints, placements and dynamics differ from MuJoCo's.",
        "The joints act one after the other, as in MuJoCo.",
    ),
    Defect(
        "drake",
        "MJCF: armature of joints is not in the mass matrix",
        "mjcf_armature",
        "The attribute armature of a joint without actuator has no effect.",
        "It adds to the diagonal of the mass matrix, as in MuJoCo.",
    ),
    Defect(
        "pinocchio",
        "MJCF: gravity of the file is ignored",
        "mjcf_gravity",
        "The attribute gravity of <option> has no effect.",
        "The gravity of the file, as in MuJoCo.",
    ),
    Defect(
        "pinocchio",
        "Derivatives of inverse dynamics are wrong for universal joints",
        "",
        "computeRNEADerivatives treats the motions of JointModelUniversal as constant.",
        "The derivatives that finite differences of rnea give.",
        code="""
import numpy as np
import pinocchio as pin

x, y = np.eye(3)[:2]
model = pin.Model()
joint = model.addJoint(0, pin.JointModelUniversal(x, y), pin.SE3.Identity(), "universal")
inertia = pin.Inertia(1.0, np.array([0.1, 0.2, 0.3]), np.eye(3))
model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
data, q, v, a = model.createData(), np.array([0.3, 0.4]), np.ones(2), np.ones(2)
theirs = np.array(pin.computeRNEADerivatives(model, data, q, v, a)[0])
h = 1e-6
forces = [[pin.rnea(model, data, q + s * h * e, v, a) for e in np.eye(2)] for s in (1, -1)]
print(np.abs(theirs - (np.array(forces[0]) - forces[1]).T / (2 * h)).max())  # 0.47543
""",
    ),
    Defect(
        "mujoco",
        "The URDF importer gives links without <inertial> the mass of their collision shapes",
        "no_inertial_shape",
        "A link without <inertial> gets the mass of its collision shape at 1000 kg/m³.",
        "No mass, by the URDF specification, or a warning.",
    ),
    Defect(
        "pybullet",
        "Axes that are not of unit length scale velocities",
        "axis_not_unit",
        "The axis of a joint is used with the length that it has in the URDF: velocities and accelerations "
        "of links are multiples, and so are displacements of prismatic joints.",
        "Parsers of URDF scale <axis> to unit length, as the specification demands.",
    ),
    Defect(
        "pybullet",
        "A link without <inertial> weighs 1 kg",
        "no_inertial",
        "A link without <inertial> gets 1 kg and moments of 1 kg m².",
        "No mass: the URDF specification has a massless link where <inertial> is missing.",
    ),
)
