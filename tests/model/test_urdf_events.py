"""The reader of a URDF's events returns what the reader of its elements returns, or leaves the file to it."""

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.sweeps import in_turn
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import robots
from treefactor.model import _urdf_events, _urdf_joints
from treefactor.model.model import Model

BUNDLED = robots.bundled()
INERTIAL = '<inertial><origin xyz="0.1 -2e-1 .3" rpy="0.3 1 -2"/><mass value="2"/>{}</inertial>'
LINK = f'<link name="{{}}">{INERTIAL}</link>'
TENSOR = '<inertia ixx="3" ixy="0.1" ixz="0" iyy="4" iyz="-0.2" izz="5"/>'
HINGE = '<joint name="hinge" type="revolute">{}<parent link="a"/><child link="b"/>{}</joint>'
ORIGIN = '<origin xyz="1 2 3" rpy="1.5707963267948966 0 0.1"/>'
ROUNDING = 4 * np.finfo(float).eps
LIMIT = '<axis xyz="0 2 0"/><limit lower="-1" upper="2" effort="1" velocity="1"/>'


SECOND, JOINT = LINK.format("b", TENSOR), HINGE.format(ORIGIN, LIMIT)


def text(link=SECOND, joint=JOINT, head="", more=""):
    """Return a URDF of two links."""
    return f'{head}<robot name="r">{LINK.format("a", TENSOR)}{link}{joint}{more}</robot>'


def by_events(content, floating=False, mimic=False):
    return _urdf_events.read(content.encode(), True, floating, mimic)


def assert_same(one, other):
    """Assert that joints or frames are the same, but for the order in which BLAS adds three products."""
    assert type(one) is type(other)
    assert vars(one).keys() == vars(other).keys()
    for name, value in vars(one).items():
        same = vars(other)[name]
        assert type(value) is type(same), name
        if isinstance(value, tf.Inertia):
            assert_same(value, same)
        elif isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (same.dtype, same.shape), name
            if value.tobytes() != same.tobytes():
                size = np.abs(same[np.isfinite(same)]).max(initial=0.0)
                np.testing.assert_allclose(value, same, rtol=0.0, atol=ROUNDING * size, err_msg=name)
            assert not value.flags.writeable
            assert value.flags.c_contiguous
        else:
            assert value == same, name


def assert_same_parts(parts, others):
    joints, frames, name = parts
    assert name == others[2]
    for one, other in zip([*joints, *frames], [*others[0], *others[1]], strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("mimic", [False, True])
@pytest.mark.parametrize("floating", [False, True])
@in_turn("name", [{name: name for name in BUNDLED}])
@pytest.mark.filterwarnings("ignore:.*is read as")
def test_bundled_robots_have_the_same_numbers(name, floating, mimic):
    content = BUNDLED[name].read_bytes()
    parts = _urdf_events.read(content, False, floating, mimic)
    if parts is not None:
        assert_same_parts(parts, _urdf_joints.read(BUNDLED[name], floating, mimic))


def test_only_unusual_files_are_left_to_the_other_reader():
    left = [name for name, path in BUNDLED.items() if by_bytes(path) is None]
    assert len(left) <= 7  # those that cannot be read
    assert not {robot.name for robot in robots.default_robots()} & set(left)


def by_bytes(path: Path):
    return _urdf_events.read(path.read_bytes(), False, False, False)


@pytest.mark.parametrize(
    "content",
    [
        text(),
        text(more='<link name="c"/><joint name="f" type="fixed"><parent link="b"/><child link="c"/></joint>'),
        text(
            more=f'{LINK.format("c", TENSOR)}<joint name="f" type="fixed">{ORIGIN}<parent link="b"/>'
            '<child link="c"/></joint>'
        ),
        text(joint=HINGE.format("", "").replace("revolute", "floating")),
        text(joint=HINGE.format("", "").replace("revolute", "spherical")),
        text(joint=HINGE.format("", '<axis xyz="1e-200 0 1e-200"/>').replace("revolute", "continuous")),
        text(link='<link name="b"><visual><geometry><box size="1 1 x"/></geometry></visual></link>'),
        text(more="<transmission><joint name='hinge'/></transmission>"),
        text(more="<drake:joint name='hinge'/>"),
        text(head="<?xml version='1.0' encoding='ascii'?><!-- made by xacro -->\n"),
        text(more='<controller:gazebo name="made by xacro"/>'),
        text(more='<joint:slider xmlns:x="http://ros.org/xacro"/>'),
        "\r\n\t " + text(head='<?xml version="1.0"?>'),
        text(head='<!-- value="2*\n\t3" -->', more='<!-- value="2*\n\t3" -->'),
        "\n" + text(),
        text(joint=HINGE.format(ORIGIN, LIMIT).replace("hinge", "Gelenk ä &amp; 関節")),
        text().replace(TENSOR, TENSOR + '<inertia ixx="9"/><mass/><origin xyz="1 1 1"/>'),
        text().replace(ORIGIN, ORIGIN + '<origin xyz="4 5"/>'),
        text().replace(LIMIT, LIMIT + '<axis xyz="1 0 0"/><limit lower="0" upper="1"/><child link="c"/>'),
        text().replace('lower="-1"', 'lower="-inf"').replace('upper="2"', 'upper=" Infinity "'),
        text().replace('lower="-1"', 'lower="-INF"').replace('upper="2"', 'upper="+1e999"'),
        text().replace('effort="1"', 'effort="inf"').replace('velocity="1"', 'velocity="-inf"'),
        text().replace('effort="1" velocity="1"', 'velocity="2.5"'),
        text().replace('effort="1" velocity="1"', 'effort="-2"'),
        text(joint=HINGE.format("", LIMIT).replace("revolute", "continuous")),
        text(joint=HINGE.format("", LIMIT).replace("revolute", "planar")),
        text(joint=HINGE.format('<origin xyz="+.5  1.e2 -0"/>', '<limit upper="0.1234567890123456789012"/>')),
    ],
)
def test_usual_texts_have_the_same_numbers(content):
    for floating in (False, True):
        parts = by_events(content, floating)
        assert parts is not None
        assert_same_parts(parts, _urdf_joints.read_text(content, floating))


@pytest.mark.parametrize(("ratio", "offset"), [("", ""), ('multiplier="-2"', 'offset="0.5"')])
@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_mimic_joints_have_the_same_numbers(ratio, offset, kind):
    follower = f'<link name="c"/><joint name="f" type="{kind}"><parent link="b"/><child link="c"/>'
    content = text(more=f'{follower}<mimic joint="hinge" {ratio} {offset}/></joint>')
    for mimic in (False, True):
        parts = by_events(content, mimic=mimic)
        assert [joint.mimic is not None for joint in parts[0]] == [False, mimic]
        assert_same_parts(parts, _urdf_joints.read_text(content, mimic=mimic))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "robot",
        text()[:-1],
        "<sdf/>",
        '<robot name="empty"/>',
        "<!DOCTYPE robot>" + text(),
        text().replace('xyz="1 2 3"', 'xyz="1\n2 3"'),
        text().replace('xyz="1 2 3"', 'xyz="1&#10;2 3"'),
        text().replace('xyz="1 2 3"', 'xyz="1 2"'),
        text().replace('xyz="1 2 3"', 'xyz="1 2 3 4"'),
        text().replace('xyz="1 2 3"', 'xyz="1_0 2 3"'),
        text().replace('xyz="1 2 3"', 'xyz="1 2 ."'),
        text().replace('xyz="1 2 3"', 'xyz="1 2 1e"'),
        text().replace('xyz="1 2 3"', 'xyz="1 2 1e999"'),
        text().replace('xyz="1 2 3"', 'xyz="1 2 nan"'),
        text().replace('rpy="1.57', 'rpy="1,57'),
        text().replace('value="2"', 'value="2 "'),
        text().replace('value="2"', 'value="-2"'),
        text().replace('value="2"', ""),
        text().replace('ixx="3"', ""),
        text().replace(TENSOR, ""),
        text().replace(INERTIAL.format(TENSOR), 2 * INERTIAL.format(TENSOR)),
        text().replace(TENSOR, TENSOR + '<mass value="inf"/>'),
        text().replace(ORIGIN, ORIGIN + '<origin xyz="inf 0 0"/>'),
        text().replace('lower="-1"', 'lower="nan"'),
        text().replace('lower="-1"', 'lower="-infi"'),
        text().replace('lower="-1"', 'lower="-infinityy"'),
        text().replace('upper="2"', 'upper="inf inf"'),
        text().replace(LIMIT, LIMIT + '<dynamics damping="inf"/>'),
        text(joint=HINGE.format(ORIGIN, LIMIT + '<mimic joint="hinge" offset="inf"/>')),
        text().replace('effort="1"', 'effort="x"'),
        text().replace(LIMIT, LIMIT + '<dynamics damping="x"/>'),
        text().replace('<axis xyz="0 2 0"/>', '<axis xyz="0 0 0"/>'),
        text().replace('<axis xyz="0 2 0"/>', "<axis/>"),
        text().replace('type="revolute"', ""),
        text().replace('"revolute"', '"screw"'),
        text().replace('<child link="b"/>', ""),
        text().replace('<child link="b"/>', '<child link="c"/>'),
        text().replace('<child link="b"/>', '<child link="a"/>'),
        text().replace('name="hinge"', ""),
        text().replace('<link name="b"', '<link name="a"'),
        text().replace('<link name="b"', "<link"),
        text(more='<link name="c"/>'),
        text(more=HINGE.format("", "").replace("hinge", "second")),
        text(more='<link name="c"/>' + HINGE.format("", "").replace('link="b"', 'link="c"')),
        text(more='<xacro:if value="1"/>'),
        text(more='<x:if value="1" xmlns:x="http://ros.org/xacro"/>'),
        text(more='<a xmlns:x="http://ros.org/xacro"><x:if value="1"/></a>'),
        text(head="<!-- a -->").replace('xyz="1 2 3"', 'xyz="1\n2 3"'),
    ],
)
def test_unusual_texts_are_left_to_the_other_reader(content):
    assert by_events(content) is None


def test_a_follower_of_a_joint_that_does_not_move_is_left_to_the_other_reader():
    content = text(joint=HINGE.format(ORIGIN, LIMIT + '<mimic joint="none"/>'))
    assert by_events(content) is not None
    assert by_events(content, mimic=True) is None


def test_links_in_a_circle_beside_a_tree_are_left_to_the_other_reader():
    joints = [
        f'<link name="{link}"/><joint name="to {link}" type="fixed"><parent link="{parent}"/>'
        f'<child link="{link}"/></joint>'
        for parent, link in (("d", "c"), ("c", "d"))
    ]
    assert by_events(text(more="".join(joints))) is None


def test_rotations_are_those_of_scipy():
    rng = np.random.default_rng(1)
    for k in range(200):
        angles = rng.uniform(-7, 7, 3) if k % 2 else rng.choice([0.0, np.pi / 2, -np.pi, 1.57], 3)
        content = text(joint=HINGE.format(f'<origin rpy="{" ".join(map(repr, angles.tolist()))}"/>', ""))
        R = by_events(content)[0][0].R
        assert np.abs(R - Rotation.from_euler("xyz", angles).as_matrix()).max() < 4e-16


def test_numbers_are_those_of_python():
    """Reads decimal numbers of any length and size to the last bit."""
    rng = np.random.default_rng(2)
    for k in range(2000):
        digits = "".join(map(str, rng.integers(0, 10, rng.integers(1, 25))))
        at = rng.integers(0, len(digits) + 1)
        number = f"{rng.choice(['', '-', '+'])}{digits[:at]}.{digits[at:]}"
        number += f"{rng.choice(['e', 'E'])}{rng.integers(-30, 30)}" if k % 2 else ""
        content = text(joint=HINGE.format(f'<origin xyz="{number} 0 1"/>', ""))
        assert by_events(content)[0][0].p[0].hex() == (float(number) + 0.0).hex()


def test_files_and_texts_are_read_alike(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(text(), encoding="utf-8")
    models = [Model.from_urdf(path), Model.from_urdf(str(path)), Model.from_urdf_string(text())]
    for model in models[1:]:
        assert_same_parts((model.joints, model.frames, ""), (models[0].joints, models[0].frames, ""))


def test_errors_of_files_have_their_lines(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text(re.sub(">", ">\n", text().replace('effort="1"', 'effort="1_0"')), encoding="utf-8")
    with pytest.raises(tf.exceptions.AdapterError, match=r"line \d+: joint 'hinge': <limit effort='1_0'>"):
        Model.from_urdf(path)
