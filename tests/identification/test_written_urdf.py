"""Test URDFs with new inertias: what is read from them, and that all other text stays."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots
from treefactor.identification import write_urdf

ARM = """<?xml version="1.0"?>
<!-- made by hand -->
<robot name="arm">
  <link name="base"><inertial><mass value="4"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="upper">
    <visual><geometry><box size="1 1 1"/></geometry></visual> <!-- a box -->
    <inertial>  <!-- from CAD -->
      <origin xyz="0 0.1 0.3" rpy="0.1 0.2 0.3"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0.1" ixz="0" iyy="1.2" iyz="0" izz="0.9"/>
    </inertial>
    <collision name='a > b'><geometry><sphere radius="1"/></geometry></collision>
  </link>
  <link name="lower"/>
  <link name="tool">
    <inertial>
      <origin xyz="0 0 0.2"/><mass value="0.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <link name='tip > end'  ></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.5" rpy="0.3 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/>
    <origin xyz="0.1 0 0.4" rpy="0 0.7 0"/></joint>
  <joint name="end" type="fixed"><parent link="tool"/><child link="tip > end"/></joint>
  <gazebo><link name="upper"><inertial/></link></gazebo>
</robot>
"""
INERTIAL = re.compile(r"<inertial>.*?</inertial>", re.DOTALL)


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM)
    return path


def heavier(model, factor=1.5, added=0.0):
    """Return the model with heavier bodies, and a mass added to each at (0, 0, 0.1)."""
    pi = factor * model.parameters
    pi += added * tf.Inertia(1.0, [0, 0, 0.1], np.eye(3) * 0.01).parameters
    return model.with_parameters(pi)


def assert_same(model, wanted):
    scale = np.abs(wanted.parameters).max(axis=1, keepdims=True)
    assert (np.abs(model.parameters - wanted.parameters) <= 1e-12 * scale).all()


def test_the_file_has_the_parameters_and_keeps_its_other_text(arm, tmp_path):
    model = heavier(tf.Model.from_urdf(arm), added=1.0)
    out = tmp_path / "out.urdf"
    assert write_urdf(arm, out, model) == ("upper", "lower")
    assert_same(tf.Model.from_urdf(out), model)
    text = out.read_text()
    ET.fromstring(text)
    for part in (
        "<!-- made by hand -->",
        "<!-- a box -->",
        "<collision name='a > b'>",
        "<gazebo><link",
        'rpy="0.3 0 0"',
    ):
        assert part in text
    before, after = INERTIAL.split(ARM), INERTIAL.split(text)
    assert len(after) == len(before) + 1  # lower had none
    assert after[0] == before[0]
    assert "".join(after).replace('<link name="lower">\n    \n  </link>', '<link name="lower"/>') == "".join(
        before
    )
    assert '<mass value="0.5"/>' in text  # the merged link keeps its own


def test_a_model_without_changes_changes_nothing(arm, tmp_path):
    for merged in ("keep", "clear"):
        model = tf.Model.from_urdf(arm)
        assert write_urdf(arm, tmp_path / "out.urdf", model.with_parameters(model.parameters), merged) == ()
        assert (tmp_path / "out.urdf").read_bytes() == ARM.encode()


def test_the_file_can_be_replaced_and_written_again(arm):
    model = heavier(tf.Model.from_urdf(arm), added=1.0)
    write_urdf(arm, arm, model)
    once = arm.read_bytes()
    assert write_urdf(arm, arm, model) == ()
    assert arm.read_bytes() == once


def test_a_rest_that_no_body_has_is_an_error_or_takes_merged_inertias_out(arm, tmp_path):
    model = tf.Model.from_urdf(arm)
    pi = model.parameters.copy()
    pi[1] *= 0.4  # less than the tool alone
    lighter = model.with_parameters(pi)
    out = tmp_path / "out.urdf"
    with pytest.raises(
        tf.InvalidModelError, match=r"link 'lower' .* joint 'elbow' .* 'tool', 'tip > end'.*merged='clear'"
    ):
        write_urdf(arm, out, lighter)
    assert not out.exists()
    assert write_urdf(arm, out, lighter, merged="clear") == ("lower", "tool")
    assert_same(tf.Model.from_urdf(out), lighter)
    assert '<link name="tool">\n  </link>' in out.read_text()
    assert ET.parse(out).find("link[@name='tool']/inertial") is None


def test_a_floating_base_carries_the_root(arm, tmp_path):
    model = heavier(tf.Model.from_urdf(arm, floating=True))
    assert write_urdf(arm, tmp_path / "out.urdf", model)[0] == "base"
    assert_same(tf.Model.from_urdf(tmp_path / "out.urdf", floating=True), model)


def test_line_ends_marks_and_namespaces_stay(tmp_path):
    text = "\ufeff" + ARM.replace("\n", "\r\n")
    path = tmp_path / "dos.urdf"
    path.write_bytes(text.encode())
    model = heavier(tf.Model.from_urdf(path), added=1.0)
    write_urdf(path, path, model)
    content = path.read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    assert content.count(b"\n") == content.count(b"\r\n")
    assert_same(tf.Model.from_urdf(path), model)


def test_names_in_other_scripts(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.replace("upper", "плечо").replace("made by hand", "手作り"), encoding="utf-8")
    model = heavier(tf.Model.from_urdf(path), added=1.0)
    assert write_urdf(path, path, model)[0] == "плечо"
    assert_same(tf.Model.from_urdf(path), model)
    assert "手作り" in path.read_text(encoding="utf-8")


OTHER_FILES = {
    "joint": (ARM.replace("shoulder", "other"), "it has no joint 'shoulder' that moves"),
    "place": (ARM.replace('xyz="0 0 0.5"', 'xyz="0 0 0.6"'), "'elbow' is at another place than in the model"),
    "encoding": (
        ARM.replace("?>", ' encoding="utf-16"?>', 1),
        "expected a text in UTF-8, found one in UTF-16",
    ),
}


@pytest.mark.parametrize(("text", "message"), OTHER_FILES.values(), ids=OTHER_FILES)
def test_other_files(arm, tmp_path, text, message):
    model = tf.Model.from_urdf(arm)
    arm.write_text(text, encoding="utf-16" if "utf-16" in text else "utf-8")
    with pytest.raises(tf.TreefactorError, match=message) as caught:
        write_urdf(arm, tmp_path / "out.urdf", model)
    assert str(caught.value).startswith(str(arm))
    assert not (tmp_path / "out.urdf").exists()


def test_bodies_that_cannot_exist(arm, tmp_path):
    model = tf.Model.from_urdf(arm)
    pi = model.parameters.copy()
    pi[0, 0] = -1.0
    with pytest.raises(tf.InvalidModelError, match=r"body of joint 'shoulder': .* nothing is written"):
        write_urdf(arm, tmp_path / "out.urdf", model.with_parameters(pi))
    with pytest.raises(ValueError, match="merged"):
        write_urdf(arm, tmp_path / "out.urdf", model, merged="move")
    assert not (tmp_path / "out.urdf").exists()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["keep", "clear"]))
def test_random_bodies(tmp_path_factory, seed, merged):
    folder = tmp_path_factory.mktemp("urdf")
    (folder / "arm.urdf").write_text(ARM)
    model = tf.Model.from_urdf(folder / "arm.urdf")
    rng = np.random.default_rng(seed)
    own = []
    for pi in model.parameters if merged == "keep" else 0 * model.parameters:
        A = rng.normal(size=(3, 3))
        tensor = A @ A.T * 10.0 ** rng.uniform(-6, 1)
        body = tf.Inertia(
            10.0 ** rng.uniform(-3, 3), rng.normal(size=3), np.trace(tensor) * np.eye(3) - tensor
        )
        own.append(pi + body.parameters)
    changed = model.with_parameters(np.array(own))
    write_urdf(folder / "arm.urdf", folder / "out.urdf", changed, merged)
    assert_same(tf.Model.from_urdf(folder / "out.urdf"), changed)


ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced", "tiago", "double_pendulum")


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("merged", ["keep", "clear"])
def test_pinocchio_reads_the_same(tmp_path, name, merged):
    pin = pytest.importorskip("pinocchio", reason="the oracle")
    if name not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    robot = robots.find(name)
    model = heavier(tf.Model.from_urdf(robot.path, robot.floating), 1.3, added=0.2)
    out = tmp_path / "out.urdf"
    assert len(write_urdf(robot.path, out, model, merged)) >= model.njoints
    assert_same(tf.Model.from_urdf(out, robot.floating), model)
    theirs = pin.buildModelFromUrdf(str(out), *([pin.JointModelFreeFlyer()] if robot.floating else []))
    for joint, pi in zip(model.joints, model.parameters, strict=True):
        own = theirs.inertias[theirs.getJointId(joint.name)].toDynamicParameters()
        np.testing.assert_allclose(own, pi, rtol=0, atol=1e-12 * np.abs(pi).max())
    shape = [
        (element.tag, element.get("name"))
        for element in ET.parse(robot.path).iter()
        if element.tag in ("link", "joint")
    ]
    assert shape == [
        (element.tag, element.get("name"))
        for element in ET.parse(out).iter()
        if element.tag in ("link", "joint")
    ]
    assert Path(robot.path).read_bytes() != out.read_bytes()
