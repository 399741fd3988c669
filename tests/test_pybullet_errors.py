"""What the PyBullet adapter refuses, and how it says so."""

import importlib.metadata
import sys
import tempfile

import numpy as np
import pytest
from pybullet_cases import (
    ARM,
    joint,
    link,
    pinocchio_model,
    pybullet,
    pybullet_,
)

import treefactor as tf

# --------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<robot name='r'><link name='a'></robot>", "not well-formed XML.*line 1"),
        ("<sdf/>", "no URDF: the root element is <sdf>"),
        ("<robot name='r'/>", "has 0"),
        ("<robot name='r'><link name='a'/><link name='b'/></robot>", "has 2: a, b"),
        ("<robot name='r'><link name='a'/><link name='a'/></robot>", "two links are called 'a'"),
        ("<robot name='r'><link/></robot>", "lacks the attribute 'name'"),
        ("<robot name='r'><link name='a'><inertial/></link></robot>", "link 'a' lacks"),
        (f"<robot name='r'>{link('a', 'heavy')}</robot>", "'a': could not convert"),
        (f"<robot name='r'>{link('a', 'nan')}</robot>", "'a'.*not finite"),
        (f"<robot name='r'>{link('a', -1)}</robot>", "'a' has a negative mass"),
        (f"<robot name='r'>{ARM.replace('.1 -.2 .3', '.1 -.2')}</robot>", "<origin> of 'base'"),
        (f"<robot name='r'>{joint('j', 'fixed', 'x', 'y')}</robot>", "joint 'j' joins 'x' to 'y'"),
        (f"<robot name='r'>{ARM}{joint('j', 'fixed', 'base', 'lower')}</robot>", "two parent joints"),
        (f"<robot name='r'>{ARM.replace('0 .6 .8', '0 0 0')}</robot>", "axis of joint 'shoulder'"),
        ("<robot name='r'><link name='a'/><joint name='j' type='fixed'/></robot>", "'j' lacks <parent>"),
    ],
)
def test_a_malformed_urdf_is_refused_with_file_and_reason(tmp_path, content, reason):
    path = tmp_path / "bad.urdf"
    path.write_text(content)
    with pytest.raises(tf.AdapterError, match=reason) as caught:
        pybullet_.load(path)
    assert caught.value.engine == "pybullet"
    assert caught.value.file == str(path)
    assert str(path) in str(caught.value)


def test_a_ring_of_links_is_no_tree(write):
    ring = ARM + link("p") + link("q") + joint("pq", "fixed", "p", "q") + joint("qp", "fixed", "q", "p")
    with pytest.raises(tf.AdapterError, match="'p' does not hang from root 'base'"):
        pybullet_.load(write(ring))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(tf.AdapterError, match=r"none\.urdf.*No such file"):
        pybullet_.load(tmp_path / "none.urdf")


def test_a_refusal_leaves_no_copy_and_no_client(write, tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        assert list(scratch.rglob("*.urdf"))
        raise pybullet.error("Cannot load URDF file.")

    path, scratch = write(ARM), tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(pybullet, "loadURDF", refuse)
    before = pybullet.connect(pybullet.DIRECT)
    pybullet.disconnect(before)
    with pytest.raises(tf.AdapterError, match=r"robot\.urdf.*refused") as caught:
        pybullet_.load(path)
    assert caught.value.file == str(path)
    assert not list(scratch.iterdir())
    assert not pybullet.isConnected(before)


def test_close_disconnects_the_client_load_opened(write):
    body = pybullet_.load(write(ARM))
    body.close()
    body.close()
    assert not pybullet.isConnected(body.client)
    with pytest.raises(tf.AdapterError, match="client closed"):
        pybullet_.mass_matrix(body, [0, 0])


def test_no_such_body(client):
    with pytest.raises(tf.AdapterError, match="no such body"):
        pybullet_.Body(17, client)


def test_a_rigid_body_is_no_multibody(client):
    body_id = pybullet.createMultiBody(1.0, useMaximalCoordinates=1, physicsClientId=client)
    with pytest.raises(tf.AdapterError, match="no multibody"):
        pybullet_.Body(body_id, client)


@pytest.mark.parametrize("argument", [1, 2, 3])
def test_arguments_that_are_not_finite_are_named(write, argument):
    with pybullet_.load(write(ARM)) as body:
        arguments = [body, np.zeros(2), np.zeros(2), np.zeros(2)]
        arguments[argument] = np.array([0.0, np.nan])
        for function in (pybullet_.forward_dynamics, pybullet_.own_acceleration):
            with pytest.raises(tf.NonFiniteError, match=r"\[1\]"):
                function(*arguments)


@pytest.mark.parametrize("floating", [False, True])
def test_a_model_with_other_joints_is_refused(write, floating):
    model = pinocchio_model(write(ARM.replace("elbow", "knee"), "other.urdf"), floating)
    with (
        pybullet_.load(write(ARM), floating) as body,
        pytest.raises(tf.AdapterError, match="elbow, knee"),
    ):
        pybullet_.transform(body, model)


def test_a_model_with_another_base_is_refused(write):
    path = write(ARM)
    with pybullet_.load(path) as body, pytest.raises(tf.AdapterError, match="root_joint"):
        pybullet_.transform(body, pinocchio_model(path, True))


def test_without_pybullet_the_adapter_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    monkeypatch.delitem(sys.modules, "treefactor.adapters.pybullet_")
    with pytest.raises(tf.AdapterError, match=r"pip install 'treefactor\[pybullet\]'") as caught:
        importlib.import_module("treefactor.adapters.pybullet_")
    assert caught.value.engine == "pybullet"
