"""Test robots in engines in Pinocchio's conventions, and the configuration on the page."""

import re
from pathlib import Path

import numpy as np
import pytest

import treefactor as tf
from treefactor.check.loaded import load_robot
from treefactor.check.project.configuration import parse
from treefactor.exceptions import AdapterError

ROOT = Path(__file__).parents[2]
INERTIAL = """<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
  <inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0.01" ixz="0" iyz="0"/></inertial>"""
DOG = f"""<link name="trunk">{INERTIAL}</link><link name="leg">{INERTIAL}</link>
<joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><origin rpy="0.3 0 0.2"/>
  <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="9" velocity="9"/></joint>"""


@pytest.mark.parametrize(("engine", "options"), [("mujoco", ["root_link"]), ("treefactor", [])])
def test_a_floating_robot_is_treefactors(engine, options, write):
    pytest.importorskip("mujoco", reason="the engine whose conventions differ")
    with load_robot(engine, write(DOG), True, options) as robot:
        model, rng = robot.model, np.random.default_rng(0)
        q = tf.integrate(model, tf.neutral(model), rng.normal(size=model.nv))
        v, a = rng.normal(size=(2, model.nv))
        tau = tf.rnea(model, q, v, a)
        np.testing.assert_allclose(robot.mass_matrix(q), tf.crba(model, q), atol=1e-12)
        np.testing.assert_allclose(robot.bias(q, v), tf.bias(model, q, v), atol=1e-10)
        np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-10)
        np.testing.assert_allclose(robot.acceleration(q, v, tau), a, atol=1e-8)
        np.testing.assert_allclose(robot.com(q), tf.center_of_mass(model, q), atol=1e-12)
        np.testing.assert_allclose(
            robot.momentum(q, v)[:3], tf.centroidal_momentum(model, q, v)[:3], atol=1e-10
        )
        J = tf.frame_jacobian(model, q, "leg", reference="LOCAL_WORLD_ALIGNED")
        np.testing.assert_allclose(robot.jacobian(q, "leg"), J, atol=1e-12)


def test_the_configuration_on_the_page_is_valid(tmp_path):
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    text = (ROOT / "docs" / "conformance" / "ci.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", text[text.index("## Configuration") :], re.MULTILINE)
    (tmp_path / "my_engine.py").write_text("")
    chosen = parse(tomllib.loads(blocks[0]), tmp_path / "treefactor.toml")
    assert (len(chosen.robots), len(chosen.engines), chosen.expect[0].robot) == (2, 3, "dog")
    assert len(parse(tomllib.loads(blocks[1]), tmp_path / "treefactor.toml").engines) == 3


def test_a_missing_robot_is_an_error():
    with pytest.raises(AdapterError, match="no such file"), load_robot("treefactor", "no.urdf"):
        pytest.fail("there is no such robot")
