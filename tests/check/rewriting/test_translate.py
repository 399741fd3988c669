"""Translated robots carry every link of the original file where the frames say."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.small_urdfs import small_urdf
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.check.rewriting import edits, read_sdf, translated
from treefactor.check.rewriting.translate import FORMATS
from treefactor.check.robots import bundled

SUFFIXES = {"urdf": ".urdf", "sdf": ".sdf", "sdf16": ".sdf", "mjcf": ".xml"}
NEAR = (
    1e-10  # m, and entries of rotations: MuJoCo turns sites to the frames of their bodies if they differ less
)


def placements(model, frames):
    """Return the poses of links in the world at zero, from those of the links that carry them."""
    q = tf.neutral(model)
    poses = {}
    for link, (carrier, pose) in frames.items():
        M = np.vstack([tf.frame_placement(model, q, model.frame(carrier, "body")), [0.0, 0.0, 0.0, 1.0]])
        poses[link] = M @ pose
    return poses


def read(text, suffix, folder):
    path = folder / f"robot{suffix}"
    path.write_text(text, encoding="utf-8")
    return tf.Model.from_urdf_string(read_sdf(path).text if suffix == ".sdf" else text)


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "mjcf"])
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_frames_of_small_robots(tmp_path_factory, format, data):
    folder, text = tmp_path_factory.getbasetemp(), data.draw(small_urdf(floating=False))
    path = folder / "small.urdf"
    path.write_text(text, encoding="utf-8")
    offered = edits(path)
    chosen = data.draw(st.sets(st.sampled_from(offered))) if offered else ()
    model = tf.Model.from_urdf_string(text)
    links = {frame.name: (frame.name, np.eye(4)) for frame in model.frames if frame.type == "body"}
    translation, suffix, frames = translated(path, chosen, format)
    assert suffix == SUFFIXES[format]
    own = placements(read(translation, suffix, folder), frames)
    for link, wanted in placements(model, links).items():
        np.testing.assert_allclose(own[link], wanted, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "floating"),
    [("ur5_robot", False), ("ur5_robot", True), ("panda", False), ("talos_reduced", True), ("baxter", False)],
)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_mjcf_of_robots(write_text, name, floating, share):
    mujoco_ = pytest.importorskip("treefactor.adapters.mujoco_", reason="MuJoCo compiles MJCFs")
    rng, path = np.random.default_rng(0), bundled()[name]
    chosen = [edit for edit in edits(path) if rng.random() < share]
    text, suffix, frames = translated(path, chosen, "mjcf", floating)
    body = mujoco_.load(write_text(text, f"robot{suffix}"))
    model = tf.Model.from_urdf(path, floating)
    q = tf.integrate(model, tf.neutral(model), np.random.default_rng(1).standard_normal(model.nv))
    (x, _), T = mujoco_.from_pinocchio(body, model, q, np.zeros(model.nv)), mujoco_.transform(body, model, q)
    H = tf.crba(model, q)
    np.testing.assert_allclose(
        T.T @ H @ T, mujoco_.mass_matrix(body, x), rtol=0.0, atol=1e-14 * np.abs(H).max()
    )
    for link, (carrier, pose) in frames.items():
        wanted = tf.frame_placement(model, q, model.frame(link, "body"))
        np.testing.assert_allclose(
            (mujoco_.placement(body, x, carrier) @ pose)[:3], wanted, rtol=0.0, atol=NEAR
        )


def test_a_body_that_mujoco_does_not_compile_is_refused_by_name():
    with pytest.raises(tf.AdapterError, match=r"icub\.urdf: an MJCF cannot hold .* of inertia: r_hip_1"):
        translated(bundled()["icub"], (), "mjcf")


def test_a_root_without_mass_is_written_where_it_is_fixed():
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo compiles MJCFs")
    model = mujoco.MjModel.from_xml_string(
        translated(bundled_robot("pybullet_data/kuka_iiwa/model"), (), "mjcf")[0]
    )
    assert model.body("lbr_iiwa_link_0").mass == 0.0
    assert min(model.body_mass[2:]) > 0.0


def test_another_format_is_refused():
    with pytest.raises(ValueError, match=r"one of urdf, sdf.*got 'usd'"):
        translated(bundled()["ur5_robot"], (), "usd")


def test_a_robot_that_a_format_cannot_hold_is_refused_by_name(tmp_path):
    path = tmp_path / "planar.urdf"
    joint = '<joint name="j" type="planar"><parent link="a"/><child link="b"/></joint>'
    path.write_text(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>', encoding="utf-8")
    assert translated(path)[1] == ".urdf"
    with pytest.raises(tf.AdapterError, match=r"planar\.urdf: line 1: joint 'j' has type 'planar'"):
        translated(path, (), "sdf")
