"""Test the names of the bundled robots."""

import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf
from treefactor import robots

pytest.importorskip("pinocchio", reason="example-robot-data comes with Pinocchio")


def test_every_bundled_name_is_a_file():
    known = robots.bundled()
    assert len(known) >= 69
    assert all(path.is_file() for path in known.values())


def test_files_of_one_name_are_distinguished_by_their_folder():
    assert robots.find("anymal_b_simple/anymal").path != robots.find("anymal_c_simple/anymal").path


def test_default_selection_has_arms_and_legs():
    chosen = robots.default_robots()
    assert len(chosen) >= 25
    assert {robot.base for robot in chosen} == {"fixed", "floating"}
    assert len({robot.name for robot in chosen}) == len(chosen)


def test_a_path_is_a_robot_too():
    path = robots.find("panda").path
    robot = robots.find(str(path))
    assert (robot.name, robot.path, robot.floating) == (str(path), path, False)


def test_the_base_can_be_chosen():
    assert robots.find("solo12").floating
    assert not robots.find("solo12", floating=False).floating
    assert robots.find("panda", floating=True).base == "floating"


@pytest.mark.parametrize(("asked", "proposed"), [("anymal", "anymal_b_simple/anymal"), ("padna", "panda")])
def test_an_unknown_name_proposes_similar_ones(asked, proposed):
    with pytest.raises(tf.AdapterError, match=proposed):
        robots.find(asked)


@pytest.mark.parametrize(
    ("asked", "proposed"),
    [
        ("sdf-1.6/padna", "sdf-1.6/panda"),
        ("sdf-1.9/padna", "sdf-1.9/panda"),
        ("sdf-1.7/panda", "sdf-1.6/panda"),
        ("sdf-1.6/dm_control/cartpole", "sdf-1.6/pybullet_data/cartpole"),
    ],
)
def test_an_unknown_sdf_is_named_as_typed_with_similar_names(asked, proposed):
    bundled_robot(proposed.partition("/")[2])  # skips where PyBullet, which it comes with, is not installed
    with pytest.raises(tf.AdapterError, match=f"^{asked}: no such file and no bundled robot.*{proposed}'"):
        robots.find(asked)


def test_the_model_of_an_sdf_is_refused_by_its_name():
    with pytest.raises(tf.AdapterError, match=r"^sdf-1\.9/panda: expected a URDF or an MJCF, got an SDF"):
        robots.model_of(robots.find("sdf-1.9/panda"))


def test_a_hopeless_name_points_to_the_list():
    with pytest.raises(tf.AdapterError, match="--list"):
        robots.find("@@@@@@@")
