"""Test the arm that comes with the package: it is complete, and found without any other wheel."""

from xml.etree import ElementTree

import numpy as np
import pytest

import treefactor as tf
from treefactor import cli, robots
from treefactor.check import robots as places

NAME = "example_arm"


def moments(shape, mass):
    """Return the principal moments of a solid of a URDF, kg m²."""
    if shape.tag == "sphere":
        return np.full(3, 0.4 * mass * float(shape.get("radius")) ** 2)
    if shape.tag == "box":
        squares = np.array(shape.get("size").split(), dtype=float) ** 2
        return mass / 12.0 * (squares.sum() - squares)
    radius, length = float(shape.get("radius")), float(shape.get("length"))
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return np.array([across, across, mass * radius**2 / 2.0])


def test_its_inertias_are_those_of_its_shapes():
    links = ElementTree.parse(robots.find(NAME).path).findall("link")
    assert len(links) == 8
    for link in links:
        (shape,) = link.find("collision/geometry")
        inertia = link.find("inertial/inertia").attrib
        expected = moments(shape, float(link.find("inertial/mass").get("value")))
        given = [float(inertia[name]) for name in ("ixx", "iyy", "izz")]
        np.testing.assert_allclose(given, expected, rtol=1e-5, err_msg=link.get("name"))
        places_of = [
            part.get("xyz")
            for part in map(link.find, ("inertial/origin", "collision/origin"))
            if part is not None
        ]
        assert len(set(places_of)) <= 1, link.get("name")


def test_it_has_limits_shapes_and_a_tool():
    arm, shapes = tf.Model.from_urdf(robots.find(NAME).path, strict=True, geometry="collision")
    assert arm.nq == arm.nv == 6
    assert np.isfinite([arm.lower, arm.upper]).all()
    assert len(shapes) == 8
    upright = tf.frame_placement(arm, np.zeros(6), "tool")
    np.testing.assert_allclose(upright, np.column_stack([np.eye(3), [0, 0, 1.09]]), atol=1e-12)
    targets = tf.frame_placement(arm, tf.random_configuration(arm, 1, size=200), "tool")
    assert tf.control.inverse_kinematics(arm, targets, "tool").solved.all()


@pytest.fixture
def alone(monkeypatch):
    """Hide the robots of other wheels."""
    for name in ("_example_robot_data", "_pybullet_data"):
        monkeypatch.setattr(places, name, dict)
    monkeypatch.setattr(places, "suite", dict)
    places.bundled.cache_clear()
    yield
    places.bundled.cache_clear()


@pytest.mark.usefixtures("alone")
def test_it_is_found_without_other_wheels(capsys):
    assert list(robots.bundled()) == [NAME]
    assert cli.main(["info", NAME]) == 0
    assert "spin" in capsys.readouterr().out
    with pytest.raises(
        tf.AdapterError, match=r"panda: .*; only example_arm is bundled: pip install 'treefactor\["
    ):
        robots.find("panda")
    assert cli.main(["check"]) == cli.FAILED
    assert "no robots to compare: name one, or pip install" in capsys.readouterr().err
