"""Collision shapes of all bundled robots are read, or an error names the file and the link."""

import re

import pytest
from helpers.bundled_robots import bundled_robot
from helpers.sweeps import sweep

import treefactor as tf
from treefactor import robots
from treefactor._util.xml import parse
from treefactor.exceptions import AdapterError

COLLADA = "expected a mesh in STL or OBJ format, got '.dae'"
ERRORS = {  # robots of example-robot-data that are not read, and why
    **dict.fromkeys(["baxter"], "expected a mesh in STL or OBJ format, got '.DAE'"),
    **dict.fromkeys(
        ["anymal-kinova", "borinot_flying_arm_2", "hextilt_flying_arm_5", "hyq_no_sensors"], COLLADA
    ),
    **dict.fromkeys(["icub", "icub_reduced", "kinova", "romeo", "romeo_small"], COLLADA),
    **dict.fromkeys(["tiago", "tiago_dual", "tiago_no_hand"], COLLADA),
    "ur3": "a URDF has one root link, this one has 0",
    "centauro": "edges and faces of up to",
}
FAST = "iris", "kinova", "pybullet_data/racecar/racecar_differential"
OF_THE_URDF = (
    r"joint '|not well-formed|one root link|<origin> of '"  # errors that arise before any shape is read
)


@pytest.mark.parametrize("name", sweep(robots.bundled(), lambda name: name in FAST))
def test_shapes_of_a_robot_are_read_or_an_error_names_file_and_link(name):
    path = bundled_robot(name)
    error = None
    try:
        _, shapes = tf.Model.from_urdf(path, geometry="collision")
    except AdapterError as raised:
        error = raised
    if error is None:
        links = parse(path, None).iterfind("link")
        names = [f"{link.get('name')}_{k}" for link in links for k in range(len(link.findall("collision")))]
        assert shapes.names == tuple(names)
        assert name not in ERRORS
    else:
        assert (str(error).startswith(f"{path}: "), error.file) == (True, str(path))
        assert re.search(rf"line \d+: link '|{OF_THE_URDF}", str(error))
        assert name.startswith("pybullet_data/") or ERRORS[name] in str(error)
