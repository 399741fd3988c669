"""Test MuJoCo models whose bodies and joints have no names, or names that collide."""

import numpy as np
import pytest

import treefactor as tf

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from treefactor.adapters import mujoco_  # noqa: E402

INERTIAL = '<inertial pos="0.1 0.2 0.3" quat="1 2 3 4" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
NAMES = (
    "",
    "",
    "a",
    "Joint_0",
    "Joint_0_2",
    "Joint_1",
    "aJoint_0",
    "_free",
    "a_free",
    "_free[0]",
    "_free[1]",
)
KINDS = ("hinge", "hinge", "slide", "ball", "free")


@st.composite
def models(draw):
    """Draw trees of bodies with up to two joints each, with names from a few that collide."""
    bodies = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 2)), min_size=1, max_size=8))
    used, opened, text = {"joint": set(), "body": set()}, 0, ""
    for at, (name, count) in enumerate(bodies):
        text += f"<body{named(draw, used['body'], name)}>{INERTIAL}"
        kinds = [draw(st.sampled_from(KINDS if not opened else KINDS[:4])) for _ in range(count)]
        kinds = kinds[:1] if {"free", "ball"} & set(kinds) else kinds
        for kind, axis in zip(kinds, ("0 1 0", "1 0 0"), strict=False):
            gear = draw(st.sampled_from(["", ' armature="0.3"']))
            text += f'<joint type="{kind}" axis="{axis}"{named(draw, used["joint"])}{gear}/>'
        opened += 1
        while opened and (at == len(bodies) - 1 or draw(st.booleans())):
            text, opened = f"{text}</body>", opened - 1
    return f"<mujoco><worldbody>{text}</worldbody></mujoco>"


def named(draw, used, name=None):
    """Return an attribute with a unique name, or nothing."""
    name = draw(st.sampled_from(NAMES)) if name is None else name
    if not name or name in used:
        return ""
    used.add(name)
    return f' name="{name}"'


def assert_same(body, model, seed=0):
    """Assert that a model computes what MuJoCo does."""
    rng = np.random.default_rng(seed)
    q, v = tf.random_configuration(model, rng), rng.normal(size=model.nv)
    a, tau = rng.normal(size=(2, model.nv))
    T, (own_q, own_v) = mujoco_.transform(body, model, q), mujoco_.from_pinocchio(body, model, q, v)
    c = mujoco_.acceleration_offset(body, model, q, v)
    H = mujoco_.mass_matrix(body, own_q)
    np.testing.assert_allclose(T.T @ tf.crba(model, q) @ T, H, atol=1e-12)
    bias = mujoco_.bias(body, own_q, own_v)
    np.testing.assert_allclose(T.T @ tf.rnea(model, q, v, T @ np.zeros(body.nv) + c), bias, atol=1e-11)
    qdd = tf.forward_dynamics(model, q, v, tau)
    own = mujoco_.acceleration(body, own_q, own_v, T.T @ tau)
    np.testing.assert_allclose(qdd, T @ own + c, rtol=1e-9, atol=1e-9 * np.abs(qdd).max(initial=1.0))
    torque = mujoco_.inverse_dynamics(body, own_q, own_v, T.T @ (a - c))
    np.testing.assert_allclose(T.T @ tf.rnea(model, q, v, a), torque, atol=1e-10)


@given(models())
def test_joints_have_distinct_names_and_the_model_is_mujocos(text):
    body = mujoco_.Body(mujoco.MjModel.from_xml_string(text))
    names = [joint.name for joint in body.joints]
    assert len(set(names)) == len(names)
    given = [body.model.joint(j).name for j in range(body.model.njnt)]
    assert all(own in ("", name) for own, name in zip(given, names, strict=True))
    assert len(mujoco_.inertials(body)) == body.model.nbody - 1
    model = mujoco_.model(body)
    assert mujoco_.tree(body).n == model.nv
    if body.nv:
        assert_same(body, model)


def test_names_that_were_distinct_are_as_they_were():
    text = f"<body><joint/>{INERTIAL}</body><body name='b'><joint/><joint axis='1 0 0'/>{INERTIAL}</body>"
    body = mujoco_.Body(mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>"))
    assert [joint.name for joint in body.joints] == ["Joint_0", "bJoint_0", "bJoint_1"]


def test_thousands_of_joints_without_names():
    count = 3000
    text = f"<body><joint/>{INERTIAL}</body>" * count
    body = mujoco_.Body(mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>"))
    names = [joint.name for joint in body.joints]
    assert names[:3] == ["Joint_0", "Joint_0_2", "Joint_0_3"]
    assert len(set(names)) == count


def test_the_accelerator_names_the_joint():
    text = f"<body><joint armature='1'/>{INERTIAL}<body><joint/>{INERTIAL}</body></body>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    accelerator = mujoco_.Accelerator(model, data)
    assert accelerator.tree.names == ("Joint_0", "Joint_0_2")


# --------------------------------------------------------------------------- armature of free joints

BASE = '<joint name="base" type="free" armature="{}"/>'
FREE = f'<mujoco><worldbody><body name="b">{BASE}{INERTIAL}{{}}</body></worldbody></mujoco>'
ARM = f'<body name="a"><joint name="h" axis="0 1 0" armature="0.1"/>{INERTIAL}</body>'


@pytest.mark.parametrize("rest", ["", ARM], ids=["alone", "with an arm"])
@pytest.mark.parametrize("size", [0.0, 0.02, 3.0])
def test_armature_of_a_free_joint(size, rest):
    body = mujoco_.Body(mujoco.MjModel.from_xml_string(FREE.format(size, rest)))
    model = mujoco_.model(body)
    assert [joint.kind for joint in model.joints][:2] == (
        ["translation", "spherical"] if size else ["freeflyer", "revolute"][: model.njoints]
    )
    for seed in range(5):
        assert_same(body, model, seed)


def test_armature_that_differs_along_the_axes():
    body = mujoco_.Body(mujoco.MjModel.from_xml_string(FREE.format(0.1, ARM)))
    body.model.dof_armature[:6] = [0.1, 2.0, 0.3, 0.4, 0.5, 3.0]
    for seed in range(5):
        assert_same(body, mujoco_.model(body), seed)
