"""List small URDFs of one to five links, each with one peculiarity that engines treat differently."""

from __future__ import annotations

from ._urdf_parts import BOX, LIMIT, ORIGIN, arm, inertial, joint, link, moments, robot

MIMIC = '<mimic joint="elbow" multiplier="0.5" offset="0.1"/>'
DAMPING = '<dynamics damping="0.7" friction="0"/>'
FRICTION = '<dynamics damping="0" friction="0.4"/>'
MESH = '<geometry><mesh filename="package://no_such_package/missing.stl"/></geometry>'
TRANSMISSION = """  <transmission name="drive"><type>transmission_interface/SimpleTransmission</type>
    <joint name="elbow"><hardwareInterface>EffortJointInterface</hardwareInterface></joint>
    <actuator name="motor"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>"""
GAZEBO = '  <gazebo reference="lower"><turnGravityOff>false</turnGravityOff></gazebo>'
SENSOR = '  <sensor name="eye"><parent link="lower"/><camera/></sensor>'


def _tool(inside: str, name: str = "tool") -> tuple[str, str]:
    return link(name, inside), joint(f"{name}_mount", "lower", name, "fixed", None, "")


def _elbow(**changes) -> str:
    return joint("elbow", "upper", "lower", **changes)


def _branch(*names: str) -> list[str]:
    """Return joints on one link, in the order of the file."""
    parts = []
    for k, name in enumerate(names):
        parts += [link(f"finger_{name}", inertial(1.0 + k)), joint(name, "base", f"finger_{name}")]
    return parts


URDF_TRAPS = {  # name: (what is peculiar, text)
    "plain": ("an arm without peculiarities", arm()),
    "no_inertial": ("a link without <inertial> and without geometry", arm(None, None, *_tool(""))),
    "no_inertial_shape": (
        "a link without <inertial> that has a collision shape",
        arm(None, None, *_tool(f"<collision>{BOX}</collision>")),
    ),
    "no_inertial_inside": (
        "a moving link without <inertial> in the middle of a chain",
        robot(
            *(link("base"), link("upper", ""), link("lower")),
            *(joint("shoulder", "base", "upper"), joint("elbow", "upper", "lower", axis="0 1 0")),
        ),
    ),
    "no_inertial_origin": ("an <inertial> without <origin>", arm(inertial(origin=""))),
    "inertial_rotated": (
        "an inertial frame turned by 90 degrees",
        arm(inertial(2.0, moments(0.05, 0.06, 0.09), '<origin xyz="0 0 0.1" rpy="1.5707963267948966 0 0"/>')),
    ),
    "triangle": ("principal moments that break A + B >= C", arm(inertial(2.0, moments(0.01, 0.01, 0.09)))),
    "negative_moment": ("a negative principal moment", arm(inertial(2.0, moments(0.05, 0.06, -0.01)))),
    "massless_tensor": ("a link without mass that has a tensor", arm(inertial(0.0))),
    "point_mass": ("a link with mass and no tensor", arm(inertial(2.0, moments(0, 0, 0)))),
    "fixed_links": (
        "two links with inertia on fixed joints of one link",
        arm(None, None, *_tool(inertial()), *_tool(inertial(3.0), "camera")),
    ),
    "fixed_chain": (
        "two links with inertia on fixed joints in a row, and a joint beyond them",
        robot(
            *(link("base"), link("upper"), link("bracket"), link("lower")),
            joint("weld", "upper", "bracket", "fixed", None, ""),
            *(joint("shoulder", "base", "upper"), joint("elbow", "bracket", "lower")),
        ),
    ),
    "axis_negative": ("a joint axis along -z", arm(None, _elbow(axis="0 0 -1"))),
    "axis_negative_y": ("a joint axis along -y", arm(None, _elbow(axis="0 -1 0"))),
    "axis_oblique": ("an oblique joint axis of unit length", arm(None, _elbow(axis="0.48 0.6 0.64"))),
    "axis_not_unit": ("a joint axis of length 3", arm(None, _elbow(axis="1 2 2"))),
    "axis_missing": ("a joint without <axis>, which is x", arm(None, _elbow(axis=None))),
    "prismatic": ("a prismatic joint", arm(None, _elbow(kind="prismatic"))),
    "prismatic_oblique": (
        "a prismatic joint along an oblique axis",
        arm(None, _elbow(kind="prismatic", axis="0.6 0 0.8")),
    ),
    "continuous": ("a continuous joint", arm(None, _elbow(kind="continuous", inside=""))),
    "root_world": (
        "a root link called world with the base on a fixed joint",
        arm(None, None, '  <link name="world"/>', joint("mount", "world", "base", "fixed", None, "")),
    ),
    "root_world_moving": (
        "a root link called world with the first joint on it",
        robot('  <link name="world"/>', link("upper"), joint("shoulder", "world", "upper")),
    ),
    "mimic": (
        "a joint that mimics another",
        robot(
            *(link("base"), link("upper"), link("lower"), link("finger")),
            *(joint("shoulder", "base", "upper"), joint("elbow", "upper", "lower")),
            joint("follower", "upper", "finger", inside=LIMIT + MIMIC),
        ),
    ),
    "damping": ("joint damping", arm(None, _elbow(inside=LIMIT + DAMPING))),
    "friction": ("joint friction", arm(None, _elbow(inside=LIMIT + FRICTION))),
    "limits": (
        "limits of zero effort and velocity",
        arm(None, _elbow(inside='<limit lower="-0.1" upper="0.1" effort="0" velocity="0"/>')),
    ),
    "missing_mesh": ("a mesh that does not exist", arm(inertial() + f"<visual>{MESH}</visual>")),
    "missing_texture": (
        "a texture without file name",
        arm(inertial() + f'<visual>{BOX}<material name="paint"><texture/></material></visual>'),
    ),
    "planar": ("a planar joint", arm(None, _elbow(kind="planar"))),
    "floating": (
        "a floating joint between two links",
        arm(None, _elbow(kind="floating", axis=None, inside="")),
    ),
    "slash": (
        "slashes in names",
        arm().replace('"lower"', '"left/lower"').replace('"elbow"', '"left/elbow"'),
    ),
    "one_name": ("a link and a joint of one name", arm().replace('"elbow"', '"lower"')),
    "branch_order": (
        "three joints on one link that are not in alphabetical order",
        robot(link("base"), *_branch("z", "m", "c")),
    ),
    "transmission": (
        "a transmission, elements of Gazebo and a sensor",
        arm(None, None, TRANSMISSION, GAZEBO, SENSOR),
    ),
    "one_link": ("a single link: nothing moves", robot(link("base", inertial(2.0, origin=ORIGIN)))),
}
