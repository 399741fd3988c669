"""Files that engines get: a rewriting finds the meshes that the original finds, wherever it lies."""

import os

import pytest
from helpers.engine_errors import INERTIAL, joint, link

from treefactor.check.files import file_for, shadow, with_coupled
from treefactor.check.rewriting import edits
from treefactor.check.robots import Robot

BOX = "solid box\nendsolid box\n"


@pytest.fixture
def robot(tmp_path):
    """Return a robot whose mesh lies in a package two folders above."""
    package = tmp_path / "share" / "arm_description"
    (package / "urdf").mkdir(parents=True)
    (package / "meshes").mkdir()
    (package / "meshes" / "box.stl").write_text(BOX)
    names = "package://arm_description/meshes/box.stl", "../meshes/box.stl"
    shapes = "".join(f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names)
    path = package / "urdf" / "arm.urdf"
    links = link("a"), link("b", INERTIAL + shapes), link("c", "")
    path.write_text(
        "<robot name='arm'>"
        + "".join([*links, joint("j", "a", "b"), joint("k", "b", "c", "fixed")])
        + "</robot>"
    )
    return Robot("arm", path)


def resolved(path, name):
    """Return the file of a name, looked up in the folders above the file."""
    if name.startswith("package://"):
        inside = name.removeprefix("package://")
        return next((above / inside for above in path.parents if (above / inside).is_file()), None)
    return path.parent / name


def test_an_unchanged_file_is_the_original(robot, tmp_path):
    assert file_for(robot, ("urdf",), (), tmp_path) == (robot.path, {})


def test_a_rewriting_finds_what_the_original_finds(robot, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (edit,) = [edit for edit in edits(robot.path) if edit.kind == "inertial"]
    path, _ = file_for(robot, ("urdf",), [edit], folder)
    text = path.read_text()
    assert text.count("<inertial>") == 3
    assert folder in path.parents
    for name in ("package://arm_description/meshes/box.stl", "../meshes/box.stl"):
        assert name in text
        assert resolved(path, name).read_text() == BOX


def test_paths_are_absolute_if_that_is_chosen(robot, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (edit,) = [edit for edit in edits(robot.path) if edit.kind == "mesh path"]
    path, _ = file_for(robot, ("urdf",), [edit], folder)
    assert f'filename="{robot.path.parent.parent / "meshes" / "box.stl"}"' in path.read_text()


def test_a_shadow_has_the_names_of_the_folders_and_links_what_the_file_names(robot, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    for k in range(3):
        (robot.path.parent / f"other{k}").mkdir()
    own = shadow(robot.path, folder, '<mesh filename="package://arm_description/meshes/box.stl"/>')
    assert own.parts[-3:] == ("share", "arm_description", "urdf")
    assert not list(own.iterdir())
    assert os.path.realpath(own.parent / "meshes") == str(robot.path.parent.parent / "meshes")


def test_robots_with_mimic_joints_are_compared_coupled_as_well(robot):
    text = robot.path.read_text()
    robot.path.write_text(text.replace("</joint>", '<mimic joint="k"/></joint>', 1))
    assert [one.base for one in with_coupled([robot])] == ["fixed", "fixed, mimic"]
