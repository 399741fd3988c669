"""SDFs that we write and read have the dynamics of their URDFs, for treefactor, Drake and DART."""

import logging
from types import MappingProxyType

import numpy as np
import pytest
from helpers.small_sdfs import small_sdf
from helpers.small_urdfs import small_urdf
from hypothesis import given, settings

import treefactor as tf
from treefactor.check.rewriting import edits, read_sdf, rewrite, to_sdf, translated
from treefactor.check.robots import SDF_ROBOTS, bundled, sdf_robot
from treefactor.model.joints import SIZES

SAME = 1e-14  # relative deviation of H, and m: absolute poses round more often than relative ones
RENAMED = {"world_": "world"}  # links in an SDF


def state(model):
    """Return a configuration that models with the same joints share, and the rows of v by joint."""
    ends = zip(model.joints, model.idx_v, strict=True)
    rows = {joint.name: np.arange(at, at + SIZES[joint.kind][1]) for joint, at in ends}
    move = np.zeros(model.nv)
    for k, name in enumerate(sorted(rows)):
        move[rows[name]] = np.random.default_rng(k).standard_normal(rows[name].size)
    return tf.integrate(model, tf.neutral(model), move), rows


def assert_same_dynamics(model, own, names=MappingProxyType({})):
    """Compare H by joint names, and the placements of all links of the first model, by their new names."""
    (q, rows), (x, others) = state(model), state(own)
    assert sorted(others) == sorted(rows)
    if model.nv:
        order, wanted = (np.concatenate([some[name] for name in rows]) for some in (others, rows))
        H, own_H = tf.crba(model, q)[np.ix_(wanted, wanted)], tf.crba(own, x)[np.ix_(order, order)]
        np.testing.assert_allclose(own_H, H, rtol=0.0, atol=SAME * np.abs(H).max())
    for frame in model.frames:
        if frame.type == "body" and (frame.name != "world" or names):
            wanted = tf.frame_placement(model, q, frame)
            pose = tf.frame_placement(own, x, own.frame(names.get(frame.name, frame.name), "body"))
            np.testing.assert_allclose(pose, wanted, rtol=0.0, atol=SAME * max(1.0, np.abs(wanted).max()))


def read_back(text, path):
    path.write_text(text, encoding="utf-8")
    urdf = read_sdf(path)
    return tf.Model.from_urdf_string(urdf.text, urdf.floating)


@pytest.mark.parametrize("version", ["1.6", "1.9"])
@pytest.mark.parametrize("name", SDF_ROBOTS)
def test_robots_written_and_read_keep_their_dynamics(tmp_path, name, version):
    path = sdf_robot(name, tmp_path, version)
    assert f'<sdf version="{version}">' in path.read_text(encoding="utf-8")
    floating = read_sdf(path).floating
    assert floating == (name in ("solo12", "talos_reduced", "icub"))
    model = tf.Model.from_urdf(bundled()[name], floating)
    assert_same_dynamics(model, read_back(path.read_text(encoding="utf-8"), path))


@settings(max_examples=20, deadline=None)
@given(text=small_urdf(floating=False))
@pytest.mark.parametrize("version", ["1.6", "1.9"])
@pytest.mark.parametrize("floating", [False, True])
def test_small_robots_written_and_read_keep_their_dynamics(tmp_path_factory, text, version, floating):
    text = text.replace("world", "root")
    path = tmp_path_factory.getbasetemp() / "small.sdf"
    model = tf.Model.from_urdf_string(text, floating)
    assert_same_dynamics(model, read_back(to_sdf(text, version, floating), path))


def drake_plant(text):
    """Return Drake's plant of an SDF."""
    parsing = pytest.importorskip("pydrake.multibody.parsing", reason="Drake reads SDFs")
    plants = pytest.importorskip("pydrake.multibody.plant", reason="Drake reads SDFs")
    logging.getLogger("drake").setLevel(logging.CRITICAL)
    plant = plants.MultibodyPlant(0.0)
    parsing.Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    return plant


def assert_drake_agrees(model, text):
    """Compare H and placements with those that Drake finds in an SDF whose base is fixed."""
    plant, (q, rows) = drake_plant(text), state(model)
    context, order = plant.CreateDefaultContext(), []
    assert plant.num_velocities() == model.nv
    for name, row in rows.items():
        joint = plant.GetJointByName(name)
        order.append(joint.velocity_start())
        values = plant.GetPositions(context)
        at = model.idx_q[[one.name for one in model.joints].index(name)]
        kind = model.joints[[one.name for one in model.joints].index(name)].kind
        values[joint.position_start()] = np.arctan2(q[at + 1], q[at]) if kind == "continuous" else q[at]
        plant.SetPositions(context, values)
        assert row.size == 1
    if order:
        rows = np.concatenate([*rows.values()])
        H, M = tf.crba(model, q)[np.ix_(rows, rows)], plant.CalcMassMatrix(context)[np.ix_(order, order)]
        np.testing.assert_allclose(M, H, rtol=0.0, atol=SAME * np.abs(H).max())
    for index in plant.GetBodyIndices(plant.GetModelInstanceByName("small")):
        body = plant.get_body(index)
        pose = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()[:3]
        wanted = tf.frame_placement(model, q, RENAMED.get(body.name(), body.name()))
        np.testing.assert_allclose(pose, wanted, rtol=0.0, atol=SAME)


@settings(max_examples=50, deadline=None)
@given(text=small_sdf())
def test_drake_reads_the_same_in_sdfs_with_poses_in_all_frames(tmp_path_factory, text):
    pytest.importorskip("pydrake", reason="Drake reads SDFs")
    assert_drake_agrees(read_back(text, tmp_path_factory.getbasetemp() / "small.sdf"), text)


@pytest.mark.parametrize("version", ["1.6", "1.9"])
@pytest.mark.parametrize("name", ["double_pendulum", "panda", "ur5_robot", "solo12", "talos_reduced"])
def test_drake_reads_what_we_write(name, version):
    model = tf.Model.from_urdf(bundled()[name])
    text = to_sdf(bundled()[name], version).replace(f'<model name="{model.name}"', '<model name="small"')
    assert_drake_agrees(model, text)


@pytest.mark.parametrize("name", SDF_ROBOTS)
def test_dart_reads_what_we_write(tmp_path, name):
    dart = pytest.importorskip("dartpy", reason="DART reads SDFs")
    merged = [edit for edit in edits(bundled()[name]) if edit.kind == "fixed joint"]
    text = rewrite(
        bundled()[name], merged
    ).text  # DART gives massless links 1e-9 kg, so that none may be left
    model, path = tf.Model.from_urdf_string(text), tmp_path / "robot.sdf"
    path.write_text(to_sdf(text, "1.6"), encoding="utf-8")
    robot = dart.utils.SdfParser.readSkeleton(str(path))
    (q, rows), own = state(model), []
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        dof = robot.getJoint(joint.name)
        own.append(dof.getIndexInSkeleton(0))
        angle = np.arctan2(q[at + 1], q[at]) if joint.kind == "continuous" else q[at]
        dof.setPosition(0, angle)
    order, H = np.concatenate([*rows.values()]), tf.crba(model, q)
    M = robot.getMassMatrix()[np.ix_(own, own)]
    np.testing.assert_allclose(M, H[np.ix_(order, order)], rtol=0.0, atol=SAME * np.abs(H).max())
    for link in robot.getBodyNodes():
        wanted = tf.frame_placement(model, q, RENAMED.get(link.getName(), link.getName()))
        np.testing.assert_allclose(link.getWorldTransform().matrix()[:3], wanted, rtol=0.0, atol=SAME)


def test_ball_joints_are_read_back(tmp_path):
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in "ab")
    joint = '<joint name="j" type="spherical"><origin xyz="1 2 3" rpy="1 2 3"/><parent link="a"/>'
    text = f'<robot name="r">{links}{joint}<child link="b"/></joint></robot>'
    for version in ("1.6", "1.9"):
        written = to_sdf(text, version)
        own = read_back(written, tmp_path / "ball.sdf")
        assert [joint.kind for joint in own.joints] == ["spherical"]
        assert_same_dynamics(tf.Model.from_urdf_string(text), own)


def test_names_that_sdf_reserves_are_replaced_or_refused(tmp_path):
    text = '<robot name="r"><link name="world"/><link name="j"/><joint name="j" type="fixed">'
    text += '<parent link="world"/><child link="j"/></joint></robot>'
    own = read_back(to_sdf(text, "1.9"), tmp_path / "names.sdf")
    assert [frame.name for frame in own.frames if frame.type == "body"] == ["world_", "j_"]
    with pytest.raises(tf.AdapterError, match="reserves names like 'a::b'"):
        to_sdf('<robot name="r"><link name="a::b"/></robot>')
    with pytest.raises(ValueError, match=r"one of 1\.6, 1\.9, got '1\.7'"):
        to_sdf('<robot name="r"><link name="a"/></robot>', "1.7")
    with pytest.raises(tf.AdapterError, match="'j' has type 'planar'"):
        to_sdf(text.replace("fixed", "planar"))


def test_a_limit_that_is_not_a_number_is_refused_by_name():
    joint = (
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="1." upper="1.x"/>'
    )
    with pytest.raises(tf.AdapterError, match=r"limit upper of joint 'j' is not a number: '1\.x'"):
        to_sdf(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</joint></robot>')


MODEL = """<?xml version="1.0"?>
<sdf version="1.9">
  <model name="m">
    <link name="a"/>
    <link name="b"><pose relative_to="a">0 0 1 0 0 0</pose><inertial><mass>2</mass></inertial></link>
    <joint name="j" type="revolute">
      <parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis>
    </joint>
  </model>
</sdf>
"""
LATER = '<joint name="j" type="revolute">'
REFUSED = {
    "version": ('"1.9"', '"1.3"', 2, "sdf", "1.4 to 1.12"),
    "two models": ("</sdf>", "<model/></sdf>", 10, "model", "one <model>"),
    "a world": ("<model", "<world/><model", 3, "world", "one <model>"),
    "nested": (LATER, f'<model name="n"/>{LATER}', 6, "model 'n'", "nested"),
    "include": (LATER, f"<include/>{LATER}", 6, "include", "included files"),
    "static": (LATER, f"<static> 1</static>{LATER}", 6, "static", "no freedoms"),
    "weightless": ('name="a"/>', 'name="a"><gravity>0</gravity></link>', 4, "gravity", "without gravity"),
    "unknown frame": ('relative_to="a"', 'relative_to="c"', 5, "link 'b'", "no link, joint or frame 'c'"),
    "circle": ('relative_to="a"', 'relative_to="b"', 5, "link 'b'", "relative to itself"),
    "parent": ("<parent>a", "<parent>c", 6, "joint 'j'", "'c' is not a link"),
    "no child": ("<child>b</child>", "", 6, "joint 'j'", "lacks <child>"),
    "type": ('"revolute"', '"screw"', 6, "joint 'j'", "'screw' is not one of"),
    "axis": ("0 0 1</xyz>", "0 0 0</xyz>", 7, "xyz", "a direction, got '0 0 0'"),
    "axis frame": ("<xyz>", '<xyz expressed_in="x">', 7, "xyz", "no link, joint or frame 'x'"),
    "number": ("<mass>2", "<mass>two", 5, "mass", "a number, got 'two'"),
    "pose": ("0 0 1 0 0 0", "0 0 1", 5, "pose", "expected 6 numbers"),
    "same name": ('"b"', '"a"', 5, "link 'a'", "that of another one"),
    "shapes": ("<inertial>", '<inertial auto="true">', 5, "inertial", "computed from shapes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_urdf_cannot_hold_is_refused_by_line(tmp_path, case):
    before, after, line, element, reason = REFUSED[case]
    path = tmp_path / "wrong.sdf"
    path.write_text(MODEL, encoding="utf-8")
    assert read_sdf(path).floating
    assert before in MODEL
    path.write_text(MODEL.replace(before, after, 1), encoding="utf-8")
    with pytest.raises(tf.AdapterError, match=rf"wrong\.sdf: line {line}, <{element}.*>: .*{reason}"):
        read_sdf(path)


def test_files_that_are_not_one_tree_are_refused(tmp_path):
    path = tmp_path / "wrong.sdf"
    loop = MODEL.replace(
        "</joint>", '</joint><joint name="k" type="fixed"><parent>b</parent><child>a</child></joint>'
    )
    for text in (
        MODEL.replace("revolute", "rev", 0).replace("<parent>a", "<parent>world"),
        loop,
        "<sdf",
        "<urdf/>",
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(tf.AdapterError, match=r"wrong\.sdf"):
            read_sdf(path)


def test_missing_entries_have_the_defaults_of_sdf(tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text(MODEL, encoding="utf-8")
    model = tf.Model.from_urdf_string(read_sdf(path).text, floating=True)
    assert [joint.inertia.mass for joint in model.joints] == [1.0, 2.0]
    assert all(np.array_equal(joint.inertia.tensor, np.eye(3)) for joint in model.joints)
    assert model.joints[1].kind == "continuous"


def test_edits_of_an_sdf_name_its_lines(tmp_path):
    path = tmp_path / "robot.sdf"
    path.write_text(MODEL.replace("0 0 1</xyz>", "0 0 -2</xyz>"), encoding="utf-8")
    lines = {(edit.kind, edit.where): edit.line for edit in edits(path)}
    assert lines == {("written anew", ""): 1, ("axis", "j"): 6, ("joint frame", "j"): 6}
    text, suffix, frames = translated(path, edits(path), "sdf16", floating=True)
    assert suffix == ".sdf"
    assert frames["b"][0] == "b"
    assert translated(path, (), "sdf")[0].startswith('<sdf version="1.9"')
    model = tf.Model.from_urdf_string(read_sdf(path).text)
    assert_same_dynamics(model, tf.Model.from_urdf_string(translated(path)[0]))
    own = read_back(text, tmp_path / "own.sdf")
    assert own.joints[-1].axis.tolist() == [0.0, 0.0, 1.0]


def test_an_old_sdf_is_rewritten_in_its_version(tmp_path):
    path = sdf_robot("ur5_robot", tmp_path, "1.6")
    assert translated(path, edits(path), "sdf")[0].startswith('<sdf version="1.6"')


@pytest.mark.slow
@pytest.mark.parametrize("format", ["sdf", "sdf16"])
@pytest.mark.parametrize("name", bundled())
def test_all_bundled_robots_written_and_read_keep_their_dynamics(tmp_path, name, format):
    try:
        text, _, frames = translated(bundled()[name], (), format, floating=True)
    except tf.AdapterError as error:
        pytest.skip(f"SDF cannot hold it: {error}")
    model = tf.Model.from_urdf(bundled()[name], floating=True)
    names = {link: carrier for link, (carrier, _) in frames.items()}
    assert_same_dynamics(model, read_back(text, tmp_path / "robot.sdf"), names)
