"""Collision shapes of all bundled robots are read, or an error names the file and the link."""

import re

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.sweeps import sweep

import treefactor as tf
from treefactor import robots
from treefactor._util.xml import parse
from treefactor.exceptions import AdapterError
from treefactor.model._urdf_shapes import mesh_places
from treefactor.model.meshes import mesh_vertices

ERRORS = {"ur3": "a URDF has one root link, this one has 0"}  # robots of example-robot-data that are not read
FAST = "iris", "kinova", "pybullet_data/racecar/racecar_differential"
OF_THE_URDF = (
    r"joint '|not well-formed|one root link|<origin> of '"  # errors that arise before any shape is read
)


@pytest.mark.parametrize("name", sweep(robots.bundled(), lambda name: name in FAST))
def test_shapes_of_a_robot_are_read_or_an_error_names_file_and_link(name):
    pytest.importorskip("coal")  # reads COLLADA
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


def collada_files(name):
    """Return the COLLADA files of collision and visual shapes of a robot."""
    path = bundled_robot(name)
    try:
        meshes = {mesh.get("filename", "") for mesh in parse(path, None).iter("mesh")}
    except AdapterError:
        return []
    files = {next(filter(lambda one: one.is_file(), mesh_places(path, mesh)), None) for mesh in meshes}
    return sorted(file for file in files if file and file.suffix.lower() == ".dae")


@pytest.mark.parametrize(
    "name", sweep(robots.bundled(), lambda name: name in ("kinova", "hextilt_flying_arm_5"))
)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_vertices_of_collada_files_are_those_that_another_reader_finds(name):
    pytest.importorskip("coal")
    collada = pytest.importorskip("collada")
    for file in collada_files(name):
        document = collada.Collada(str(file), ignore=[collada.common.DaeBrokenRefError])
        if document.errors:  # it leaves out parts without a material
            continue
        parts = [part for one in document.scene.objects("geometry") for part in one.primitives() if len(part)]
        parts = [part for part in parts if not isinstance(part, collada.lineset.BoundLineSet)]
        used = np.concatenate([part.vertex[np.ravel(part.vertex_index)] for part in parts])
        ours, size = mesh_vertices(file), np.ptp(used, axis=0).max()
        for end in (np.min, np.max):
            np.testing.assert_allclose(
                end(ours, axis=0), end(used, axis=0), atol=1e-5 * size, err_msg=str(file)
            )
