"""Edits of URDFs keep H and all placements, for every kind and for random subsets."""

import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from helpers.small_urdfs import small_urdf
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.check.rewriting import Edit, edits, rewrite
from treefactor.check.rewriting.urdf_edits import STEPS
from treefactor.check.robots import bundled

pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
ROBOTS = ("ur5_robot", "panda", "baxter", "talos_reduced", "icub", "tiago")
SAME = 1e-15  # relative deviation of H
NEAR = 1e-14  # m, and entries of rotations: of placements, which sum up more roundings


def state(text, floating, steps=None):
    """Return Pinocchio's model of a URDF, its data at a configuration, and the steps to it, by joint."""
    model = pin.buildModelFromXML(text, *([pin.JointModelFreeFlyer()] if floating else []))
    data, rng, move = model.createData(), np.random.default_rng(0), np.zeros(model.nv)
    rows = {name: slice(v, v + n) for name, v, n in zip(model.names, model.idx_vs, model.nvs, strict=True)}
    steps = steps or {name: rng.standard_normal(move[row].shape) for name, row in rows.items()}
    for name, row in rows.items():
        move[row] = steps[name]
    q = pin.integrate(model, pin.neutral(model), move)
    pin.crba(model, data, q)
    pin.framesForwardKinematics(model, data, q)
    return model, data, steps, {name: np.r_[row] for name, row in rows.items()}


def assert_same_dynamics(text, rewritten, floating):
    model, data, steps, rows = state(text, floating)
    own, own_data, _, others = state(rewritten.text, floating, steps)
    assert sorted(own.names) == sorted(model.names)
    order = np.concatenate([others[name] for name in model.names])  # Pinocchio sorts the joints of one link
    wanted = np.concatenate([rows[name] for name in model.names])
    H, expected = (np.triu(M) + np.triu(M, 1).T for M in (own_data.M, data.M))
    H, expected = H[np.ix_(order, order)], expected[np.ix_(wanted, wanted)]
    np.testing.assert_allclose(H, expected, rtol=0.0, atol=SAME * np.abs(expected).max(initial=0.0))
    bodies = [frame.name for frame in model.frames if frame.type == pin.FrameType.BODY]
    assert sorted(rewritten.frames) == sorted(bodies)
    for name in bodies:
        carrier, pose = rewritten.frames[name]
        placement = own_data.oMf[own.getFrameId(carrier, pin.FrameType.BODY)].homogeneous @ pose
        wanted = data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous
        np.testing.assert_allclose(placement, wanted, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("name", ROBOTS)
def test_every_kind_and_all_edits_keep_the_dynamics_of_robots(name):
    path = bundled()[name]
    text, offered = path.read_text(encoding="utf-8"), edits(path)
    chosen = [
        [edit for edit in offered if edit.kind == kind] for kind in dict.fromkeys(e.kind for e in offered)
    ]
    for some in [(), offered, *chosen]:
        assert_same_dynamics(text, rewrite(path, some), floating=name in ("talos_reduced", "icub"))


@pytest.mark.parametrize("name", ROBOTS)
def test_treefactor_reads_the_same_dynamics(name):
    path = bundled()[name]
    model, own = (
        tf.Model.from_urdf_string(text, floating=True)
        for text in (path.read_text(encoding="utf-8"), rewrite(path, edits(path)).text)
    )
    q = tf.integrate(model, tf.neutral(model), np.random.default_rng(1).standard_normal(model.nv))
    H = tf.crba(model, q)
    np.testing.assert_allclose(tf.crba(own, q), H, rtol=0.0, atol=4.0 * SAME * np.abs(H).max())


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_random_subsets_keep_the_dynamics_of_small_robots(tmp_path_factory, data):
    text = data.draw(small_urdf())
    path = tmp_path_factory.getbasetemp() / "small.urdf"
    path.write_text(text, encoding="utf-8")
    offered = edits(path)
    some = data.draw(st.sets(st.sampled_from(offered))) if offered else set()
    for chosen, floating in product((some, offered), (False, True)):
        assert_same_dynamics(text, rewrite(path, chosen), floating)


@settings(max_examples=20, deadline=None)
@given(text=small_urdf())
def test_no_edit_is_left_after_all_edits(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "small.urdf"
    path.write_text(text, encoding="utf-8")
    path.write_text(rewrite(path, edits(path)).text, encoding="utf-8")
    assert edits(path) == ()


TRAP = """

<robot name="trap" xmlns:drake="http://drake.mit.edu">
  <material name="grey"><texture/></material>
  <link name="world"/>
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><mesh filename="package://robot/part.obj"/></geometry>
      <material name="grey"/></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
    <visual><geometry><mesh filename="package://robot/none.obj"/></geometry>
      <material name="blue"><color rgba="0 0 1 1"/></material></visual>
  </link>
  <!-- a comment
       of two lines --><joint name="fix" type="fixed"><parent link="world"/><child link="base"/></joint>
  <link name="arm"><inertial>
    <origin xyz="0 0 1"/><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <visual><geometry><sphere radius="1"/></geometry><material name="blue"/></visual></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 2 0"/>
    <limit effort="1" velocity="1" lower="0" upper="1"/><dynamics damping="0" friction="1"/></joint>
  <link name="slow"/>
  <joint name="follow" type="continuous"><origin xyz="0 0 1"/><parent link="arm"/><child link="slow"/>
    <dynamics damping="0"/><mimic joint="turn"/><safety_controller k_velocity="1"/><drake:gear/></joint>
  <transmission name="t"><joint name="turn"/><actuator name="a">
    <drake:rotor_inertia value="1"/></actuator></transmission>
  <gazebo reference="base"/>
  <sensor name="imu"/>
</robot>
"""


@pytest.fixture
def trap(tmp_path):
    folder = tmp_path / "robot" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "robot" / "part.obj").write_text("", encoding="utf-8")
    path = folder / "trap.urdf"
    path.write_text(TRAP, encoding="utf-8")
    return path


def test_edits_name_the_element_and_its_line(trap):
    assert [(e.step, e.kind, e.where, e.line) for e in edits(trap)] == [
        (1, "mesh path", "", 8),
        (1, "material", "", 4),
        (1, "material", "base", 6),
        (1, "material", "arm", 16),
        (1, "visual", "base", 6),
        (1, "visual", "arm", 16),
        (1, "collision", "base", 6),
        (1, "transmission", "turn", 20),
        (1, "gazebo", "base", 6),
        (1, "other", "follow", 23),
        (1, "other", "", 28),
        (2, "inertial", "world", 5),
        (2, "inertial", "slow", 22),
        (2, "inertial origin", "base", 6),
        (2, "inertial origin", "arm", 16),
        (2, "joint origin", "fix", 15),
        (2, "joint origin", "turn", 20),
        (2, "joint origin", "follow", 23),
        (2, "root world", "world", 5),
        (3, "mimic", "follow", 23),
        (3, "dynamics", "turn", 20),
        (3, "limit", "turn", 20),
        (4, "axis", "turn", 20),
        (4, "axis", "follow", 23),
        (5, "fixed joint", "fix", 15),
        (6, "joint frame", "turn", 20),
        (6, "joint frame", "follow", 23),
    ]


def test_the_edit_of_paths_keeps_every_element_and_finds_meshes(trap):
    assert 'filename="package://robot/part.obj"' in rewrite(trap, ()).text
    text = rewrite(trap, [edit for edit in edits(trap) if edit.kind == "mesh path"]).text
    assert f'filename="{trap.parents[1] / "part.obj"}"' in text
    assert 'filename="package://robot/none.obj"' in text
    assert "<drake:rotor_inertia" in text
    assert 'xmlns:drake="http://drake.mit.edu"' in text
    assert text.count("<") == TRAP.count("<") - 1 - TRAP.count("/material>") + text.count("/material>")


def test_a_world_that_is_merged_gives_up_its_name(trap):
    rewritten = rewrite(trap, [edit for edit in edits(trap) if edit.kind == "fixed joint"])
    assert {link: carrier for link, (carrier, _) in rewritten.frames.items()} == {
        **{"world": "base", "base": "base"},
        **{"arm": "arm", "slow": "slow"},
    }
    assert '<parent link="base"' in rewritten.text
    assert 'name="world"' not in rewritten.text
    assert rewritten.text.count("<collision") == 1


def test_a_root_called_world_gets_another_name_everywhere(trap):
    trap.write_text(TRAP.replace('<gazebo reference="base"', '<gazebo reference="world"'))
    chosen = [edit for edit in edits(trap) if edit.kind == "root world"]
    assert [edit.where for edit in chosen] == ["world"]
    rewritten = rewrite(trap, chosen)
    assert {link: carrier for link, (carrier, _) in rewritten.frames.items()} == {
        **{"world": "world_link", "base": "base"},
        **{"arm": "arm", "slow": "slow"},
    }
    assert '"world"' not in rewritten.text
    assert '<parent link="world_link"' in rewritten.text
    assert '<gazebo reference="world_link"' in rewritten.text


def test_uses_of_a_removed_material_are_removed(trap):
    blue, grey = (
        rewrite(trap, [e for e in edits(trap) if (e.kind, e.where) == ("material", where)]).text
        for where in ("base", "")
    )
    assert "blue" not in blue
    assert "grey" not in grey
    assert "blue" in grey


def test_a_joint_that_needs_limits_keeps_some(trap):
    text = rewrite(trap, [edit for edit in edits(trap) if edit.step == 3]).text
    model = pin.buildModelFromXML(text)
    assert model.upperPositionLimit[0] >= 100.0
    assert min(model.effortLimit) >= 1e6
    assert not np.any(model.friction)


@pytest.mark.parametrize(
    "text",
    [
        "<robot>",
        "",
        "<mujoco/>",
        '<robot name="r"/>',
        '<robot name="r"><link name="a"/><link name="a"/></robot>',
        '<robot name="r"><link name="a"/><joint name="j" type="fixed"/></robot>',
        '<robot name="r"><link name="a"><inertial><mass value="nan"/></inertial></link></robot>',
        TRAP.replace('"0 2 0"', '"0 0 0"'),
        TRAP.replace("continuous", "screw"),
    ],
)
def test_files_that_are_not_a_robot_are_refused_by_name(tmp_path, text):
    path = tmp_path / "wrong.urdf"
    path.write_text(text, encoding="utf-8")
    for function in (edits, lambda path: rewrite(path, ())):
        with pytest.raises(tf.AdapterError, match=r"wrong\.urdf"):
            function(path)
    with pytest.raises(tf.AdapterError, match=r"none\.urdf"):
        edits(Path("none.urdf"))


def test_a_shape_without_a_place_is_refused_where_it_must_move(tmp_path):
    path = tmp_path / "shape.urdf"
    path.write_text(TRAP.replace("<visual><geometry><sphere", '<visual><origin xyz="1"/><geometry><sphere'))
    assert rewrite(path, ()).text
    with pytest.raises(tf.AdapterError, match=r"shape\.urdf.*line 19"):
        rewrite(path, [Edit(6, "joint frame", "turn", 0)])


def test_an_unknown_kind_is_refused(trap):
    with pytest.raises(ValueError, match=r"mimic.*got 'colour'"):
        rewrite(trap, [Edit(1, "colour", "base", 1)])


def test_steps_go_from_zero_to_six():
    assert list(STEPS.values()) == sorted(STEPS.values())
    assert {*STEPS.values()} == {*range(7)}


@pytest.mark.slow
def test_a_large_file_is_rewritten_within_60_ms():
    path, times = bundled()["talos_reduced"], []
    for _ in range(5):
        start = time.process_time()
        rewrite(path, edits(path))
        times.append(time.process_time() - start)
    assert min(times) < 0.06


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled())
def test_all_edits_keep_the_dynamics_of_bundled_robots(name):
    path = bundled()[name]
    text = path.read_text(encoding="utf-8")
    try:
        pin.buildModelFromXML(text)
        offered = edits(path)
    except (ValueError, tf.AdapterError) as error:
        pytest.skip(f"it cannot be loaded: {error}")
    rng = np.random.default_rng(0)
    for some in (offered, [edit for edit in offered if rng.random() < 0.5]):
        assert_same_dynamics(text, rewrite(path, some), floating=True)
