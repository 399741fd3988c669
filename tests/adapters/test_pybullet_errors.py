"""Test what the PyBullet adapter refuses, and its error messages."""

import importlib.metadata
import itertools
import sys
import tempfile

import numpy as np
import pytest
from helpers.engine_cases import assert_refused_with_reason
from helpers.engine_trials import reduced
from helpers.pybullet_cases import (
    ARM,
    joint,
    link,
    load,
    pinocchio_model,
    pybullet,
    pybullet_,
)
from helpers.sweeps import sweep

import treefactor as tf
from treefactor import check
from treefactor.adapters._pybullet_step import random_state
from treefactor.check.robots import Robot

# --------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<robot name='r'><link name='a'></robot>", "not well-formed XML.*line 1"),
        ("<sdf/>", "not a URDF: the root element is <sdf>"),
        ("<robot name='r'/>", "has 0"),
        ("<robot name='r'><link name='a'/><link name='b'/></robot>", "has 2: a, b"),
        ("<robot name='r'><link name='a'/><link name='a'/></robot>", "two links are called 'a'"),
        ("<robot name='r'><link/></robot>", "lacks the attribute 'name'"),
        ("<robot name='r'><link name='a'><inertial/></link></robot>", "link 'a' lacks"),
        (f"<robot name='r'>{link('a', 'heavy')}</robot>", "link 'a': <mass value='heavy'> is not a number"),
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
    assert_refused_with_reason(load, "pybullet", path, reason)


def test_a_ring_of_links_is_refused(write):
    ring = ARM + link("p") + link("q") + joint("pq", "fixed", "p", "q") + joint("qp", "fixed", "q", "p")
    with pytest.raises(tf.AdapterError, match="'p' does not hang from root 'base'"):
        load(write(ring))


def test_a_wrong_gravity_leaves_no_client(write):
    before = pybullet.connect(pybullet.DIRECT)
    pybullet.disconnect(before)
    with pytest.raises(tf.ShapeError, match="gravity"):
        load(write(ARM), gravity=-9.81)
    after = pybullet.connect(pybullet.DIRECT)
    pybullet.disconnect(after)
    assert after == before


@pytest.mark.parametrize("load", [load, pybullet_.load])
@pytest.mark.parametrize("part", ["shoulder", "lower"])
@pytest.mark.parametrize("name", [1001 * "x", 501 * "é", 5000 * "x"], ids=["ASCII", "UTF-8", "long"])
def test_names_that_make_pybullet_crash_are_refused(write, load, part, name):
    path = write(ARM.replace(part, name))
    with pytest.raises(tf.AdapterError, match="names of more than 1000 bytes") as caught:
        load(path)
    assert (caught.value.file, caught.value.joint) == (str(path), name)


def test_a_name_that_pybullet_cannot_give_back_is_refused_with_the_file(tmp_path):
    """Assert that the file is named: PyBullet reads its bytes as UTF-8, whatever its encoding."""
    path = tmp_path / "latin.urdf"
    text = f"<robot name='r'>{ARM.replace('shoulder', 'épaule')}</robot>"
    path.write_bytes(b"<?xml version='1.0' encoding='iso-8859-1'?>\n" + text.encode("iso-8859-1"))
    with pytest.raises(tf.AdapterError, match="one is not UTF-8") as caught:
        pybullet_.load(path)
    assert caught.value.file == str(path)


def test_the_longest_names_that_pybullet_has(write):
    with load(write(ARM.replace("shoulder", 500 * "é"))) as body:
        assert body.links[0].joint == 500 * "é"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(tf.AdapterError, match=r"none\.urdf.*No such file"):
        load(tmp_path / "none.urdf")


def test_a_refusal_leaves_no_copy_and_no_client(write, tmp_path, monkeypatch):
    def refuse(file, **options):
        if file == str(path):
            return right(file, **options)
        assert list(scratch.rglob("*.urdf"))
        raise pybullet.error("Cannot load URDF file.")

    path, scratch, right = write(ARM), tmp_path / "scratch", pybullet.loadURDF
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setattr(pybullet, "loadURDF", refuse)
    before = pybullet.connect(pybullet.DIRECT)
    pybullet.disconnect(before)
    with pytest.raises(tf.AdapterError, match=r"robot\.urdf.*refused") as caught:
        load(path)
    assert caught.value.file == str(path)
    assert not list(scratch.iterdir())
    assert not pybullet.isConnected(before)


def test_close_disconnects_the_client_load_opened(write):
    body = load(write(ARM))
    body.close()
    body.close()
    assert not pybullet.isConnected(body.client)
    with pytest.raises(tf.AdapterError, match="client closed"):
        pybullet_.mass_matrix(body, [0, 0])


def test_no_such_body(client):
    with pytest.raises(tf.AdapterError, match="no such body"):
        pybullet_.Body(17, client)


def test_a_rigid_body_is_not_a_multibody(client):
    body_id = pybullet.createMultiBody(1.0, useMaximalCoordinates=1, physicsClientId=client)
    with pytest.raises(tf.AdapterError, match="is not a multibody"):
        pybullet_.Body(body_id, client)


@pytest.mark.parametrize("argument", [1, 2, 3])
def test_arguments_that_are_not_finite_are_named(write, argument):
    with load(write(ARM)) as body:
        arguments = [body, np.zeros(2), np.zeros(2), np.zeros(2)]
        arguments[argument] = np.array([0.0, np.nan])
        for function in (pybullet_.forward_dynamics, pybullet_.acceleration):
            with pytest.raises(tf.NonFiniteError, match=r"\[1\]"):
                function(*arguments)


@pytest.mark.parametrize("floating", [False, True])
def test_a_model_with_other_joints_is_refused(write, floating):
    model = pinocchio_model(write(ARM.replace("elbow", "knee"), "other.urdf"), floating)
    with (
        load(write(ARM), floating) as body,
        pytest.raises(tf.AdapterError, match="knee, elbow"),
    ):
        pybullet_.transform(body, model)


def test_a_model_with_another_base_is_refused(write):
    path = write(ARM)
    with load(path) as body, pytest.raises(tf.AdapterError, match="root_joint"):
        pybullet_.transform(body, pinocchio_model(path, True))


def test_without_pybullet_the_adapter_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    for module in ("pybullet_", "_pybullet_import"):
        monkeypatch.delitem(sys.modules, f"treefactor.adapters.{module}")
    with pytest.raises(tf.AdapterError, match=r"pip install 'treefactor\[pybullet\]'") as caught:
        importlib.import_module("treefactor.adapters.pybullet_")
    assert caught.value.engine == "pybullet"


# ---------------------------------------------------------------------------------------------------- limits


def chain(joints, kind="continuous"):
    links = (link(f"l{i}", 1.0) for i in range(joints + 1))
    return "".join([*links, *(joint(f"j{i}", kind, f"l{i}", f"l{i + 1}") for i in range(joints))])


@pytest.mark.parametrize(
    ("joints", "load", "floating"),
    sweep(
        itertools.product((121, 128, 1000), (load, pybullet_.load), (False, True)),
        {(121, load, False), (128, pybullet_.load, True)}.__contains__,
    ),
)
def test_a_robot_too_large_for_pybullets_state_is_counted(write, load, floating, joints):
    path = write(chain(joints))
    limits = f"'l0' has {joints + 1} links and {joints} joint positions.*128 links.*120 positions"
    with pytest.raises(tf.AdapterError, match=limits) as caught:
        load(path, floating)
    assert (caught.value.engine, caught.value.file) == ("pybullet", str(path))
    assert str(caught.value).startswith(f"{path}: ")


def test_links_on_fixed_joints_count_only_where_they_are_kept(write, tmp_path):
    path = write(chain(128, "fixed"))
    with pytest.raises(tf.AdapterError, match="129 links and 0 joint positions"):
        pybullet_.load(path)
    with load(reduced(path, tmp_path, steps=5)) as body:
        assert body.links == ()


def test_a_body_of_the_user_that_is_too_large(write, client):
    body_id = pybullet.loadURDF(str(write(chain(130))), physicsClientId=client)
    with pytest.raises(tf.AdapterError, match="131 links"):
        pybullet_.Body(body_id, client)


@pytest.mark.parametrize("floating", [False, True])
def test_the_largest_robot(write, floating):
    fixed = chain(127).replace("'continuous'", "'fixed'", 7)  # 128 links, 120 positions
    with pybullet_.load(write(fixed), floating, options=["inertia_from_file"]) as body:
        q, v, tau = random_state(body, np.random.default_rng(0))
        q[-120:] = np.tanh(q[-120:])  # within its limits
        stepped = pybullet_.acceleration(body, q, v, tau)
        np.testing.assert_allclose(stepped, pybullet_.forward_dynamics(body, q, v, tau), rtol=1e-6)


def test_the_check_of_a_robot_that_is_too_large(write):
    cells = next(check.check([Robot("chain", write(chain(130)))], ["pybullet"], samples=1))
    assert {cell.state for cell in cells} == {check.REFUSED, check.NOT_OFFERED}
    assert "131 links" in next(cell.reason for cell in cells if cell.state == check.REFUSED)
