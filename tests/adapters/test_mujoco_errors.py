"""Test what MuJoCo's adapter refuses, and its error messages."""

import numpy as np
import pytest

import treefactor as tf

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import pin  # noqa: E402

from treefactor.adapters import mujoco_  # noqa: E402
from treefactor.adapters._mujoco_files import quiet  # noqa: E402
from treefactor.adapters._mujoco_settings import imported  # noqa: E402

INERTIAL = '<inertial pos="0.1 0.2 0.3" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
GRAVITY = (0.0, 0.0, -9.81)
ONE = '<mujoco><worldbody><body name="b">{}</body></worldbody>{}</mujoco>'


@pytest.mark.parametrize("case", cases.BROKEN)
def test_malformed_urdf_names_the_file(write_text, case):
    text, reason = cases.BROKEN[case]
    cases.assert_refused_with_reason(mujoco_.load, "mujoco", write_text(text), reason)


def test_missing_file(tmp_path):
    with pytest.raises(tf.AdapterError, match="No such file"):
        mujoco_.load(tmp_path / "absent.urdf")


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        (cases.link("a", None), "mass and inertia of moving bodies"),
        (cases.link("a", 1.0, (0, 0, 0)), "mass and inertia of moving bodies"),
        (cases.link("a", 1.0, (0.01, 0.02, 0.5)), "A \\+ B >= C"),
    ],
    ids=["massless", "point mass", "triangle"],
)
def test_moving_bodies_that_mujoco_refuses_are_loaded(write_text, odd, reason):
    path = write_text(cases.urdf(cases.link("base"), odd, cases.joint("j", "base", "a")))
    with pytest.raises(tf.AdapterError, match=reason) as caught:
        imported(path, GRAVITY)
    assert caught.value.joint == "a"
    model, body = cases.pinocchio_model(path), mujoco_.load(path)
    q, v, _ = cases.state(model)
    own = mujoco_.from_pinocchio(body, model, q, v)
    T = mujoco_.transform(body, model, q)
    data = model.createData()
    np.testing.assert_allclose(
        mujoco_.mass_matrix(body, own[0]), T.T @ pin.crba(model, data, q) @ T, rtol=1e-13, atol=1e-16
    )
    np.testing.assert_allclose(
        mujoco_.bias(body, *own), T.T @ pin.nle(model, data, q, v), rtol=1e-12, atol=1e-15
    )


def test_a_free_base_without_mass_is_loaded(write_text):
    path = write_text(cases.urdf(cases.link("base", None), cases.link("a"), cases.joint("j", "base", "a")))
    assert mujoco_.load(path).nv == 1
    assert mujoco_.load(path, floating=True).nv == 7
    assert not imported(path, GRAVITY).floating


def test_no_log_file_is_left(write_text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_text(cases.urdf(cases.link("base"), cases.link("a"), cases.joint("j", "base", "a")))
    with quiet():
        assert set(mujoco_.inertials(imported(path, GRAVITY))) == {"a"}
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_an_mjcf_defines_its_base(write_text):
    hinged = write_text(ONE.format(f"<joint/>{INERTIAL}", ""), "hinged.xml")
    with pytest.raises(tf.AdapterError, match=r"hinged\.xml: .*free joint"):
        mujoco_.load(hinged, floating=True)
    free = write_text(ONE.format(f"<freejoint/>{INERTIAL}", ""), "free.xml")
    assert mujoco_.load(free).nv == mujoco_.load(free, floating=True).nv == 6


@pytest.mark.parametrize("links", [600, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_chain_too_long_for_nested_xml(write_text, links):
    joints = [cases.joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(links - 1)]
    path = write_text(cases.urdf(*(cases.link(f"l{k}") for k in range(links)), *joints))
    with pytest.raises(tf.AdapterError, match=r"MuJoCo cannot load it: .*(deep|nest|XML)"):
        mujoco_.load(path)


@pytest.mark.parametrize("mesh", ['<asset><mesh file="absent.obj"/></asset>', '<include file="absent.xml"/>'])
def test_an_mjcf_whose_files_are_missing(write_text, mesh):
    with pytest.raises(tf.AdapterError, match="absent"):
        mujoco_.load(write_text(ONE.format(f"<joint/>{INERTIAL}", mesh), "robot.xml"))


def test_wrong_lengths_and_nan():
    cases.assert_wrong_arguments_are_refused(mujoco_)


def test_joints_that_pinocchio_lacks_are_named():
    cases.assert_unmatched_joints_are_named(mujoco_)
