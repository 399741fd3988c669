"""Test MuJoCo's adapter against Pinocchio, and the traps between the two."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot

import treefactor as tf

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

from helpers import engine_cases as cases  # noqa: E402
from helpers.engine_cases import pin  # noqa: E402

from treefactor.adapters import mujoco_  # noqa: E402
from treefactor.adapters.mujoco_ import Body  # noqa: E402

INERTIAL = '<inertial pos="0.1 0.2 0.3" quat="1 2 3 4" mass="1.5" diaginertia="0.1 0.2 0.25"/>'
MJCF = f"""
<mujoco><compiler angle="radian"/><worldbody>
  <body name="torso" pos="0 0 1"><freejoint name="base"/>{INERTIAL}
    <body name="a" pos="0.1 0 0" euler="1 2 3">
      <joint name="h1" axis="0 0 1" armature="0.3"/><joint name="h2" axis="0 1 0"/>
      <joint name="s" type="slide" axis="1 1 0"/>{INERTIAL}
      <body name="b" pos="0.1 0.2 0.1" euler="4 5 6"><joint name="ball" type="ball"/>{INERTIAL}</body>
    </body>
    <body name="c" pos="-0.1 0 0"><joint axis="0 1 0"/>{INERTIAL}</body>
  </body>
</worldbody></mujoco>"""
ONE = '<mujoco><worldbody><body name="b">{}</body></worldbody>{}</mujoco>'


def body_of(mjcf):
    return Body(mujoco.MjModel.from_xml_string(mjcf))


def random_state(body, seed=0):
    rng = np.random.default_rng(seed)
    q, (v, tau) = rng.normal(size=body.nq), rng.normal(size=(2, body.nv))
    for joint in body.joints:
        if joint.nq >= 4:
            x = q[joint.q][-4:]
            x /= np.linalg.norm(x)
    return q, v, tau


# ------------------------------------------------------------------------------------------------- agreement


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", cases.REAL)
def test_real_robots_agree_with_pinocchio(name, floating):
    path = bundled_robot(name)
    with mujoco_.load(path, floating) as body:
        for seed in range(2):
            cases.assert_agrees(mujoco_, body, cases.pinocchio_model(path, floating), seed)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("trap", cases.TRAPS)
def test_traps_of_urdfs(write_text, trap, floating):
    path = write_text(cases.TRAPS[trap])
    cases.assert_agrees(mujoco_, mujoco_.load(path, floating), cases.pinocchio_model(path, floating))
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    "odd",
    [
        cases.link("odd", 0.1, (0.0, 0.0, 0.0)),
        cases.link("odd", 0.0),
        cases.link("odd", 0.1, (0.01, 0.02, 0.04)),
    ],
    ids=["point mass", "inertia without mass", "triangle"],
)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_links_on_fixed_joints_that_no_body_could_have(write_text, odd, floating):
    """Assert that links are merged which MuJoCo's own importer refuses or drops."""
    weld = cases.joint("w", "a", "odd", "fixed")
    path = write_text(
        cases.urdf(cases.link("base"), cases.link("a"), odd, cases.joint("j", "base", "a"), weld)
    )
    cases.assert_agrees(mujoco_, mujoco_.load(path, floating), cases.pinocchio_model(path, floating))


def test_joints_of_several_kinds_and_several_in_one_body(write_text):
    path = write_text(MJCF, "robot.xml")
    body, model = mujoco_.load(path), pin.buildModelFromMJCF(str(path))
    assert [j.name for j in body.joints] == ["base", "h1", "h2", "s", "ball", "cJoint_0"]
    assert model.names[2] == "Composite_h1"
    for seed in range(3):
        cases.assert_agrees(mujoco_, body, model, seed)


def test_a_pinocchio_model_from_urdf_may_call_the_free_joint_root_joint():
    body = body_of(ONE.format(f'<freejoint name="floats"/>{INERTIAL}', ""))
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint")
    R = pin.Quaternion(np.array([2.0, 3.0, 4.0, 1.0]) / np.sqrt(30)).matrix()
    inertia = R @ np.diag([0.1, 0.2, 0.25]) @ R.T
    model.appendBodyToJoint(joint, pin.Inertia(1.5, np.array([0.1, 0.2, 0.3]), inertia), pin.SE3.Identity())
    cases.assert_agrees(mujoco_, body, model)


def test_gravity_is_an_argument():
    path, gravity = bundled_robot("solo12"), np.array([1.0, -2.0, 3.0])
    model = cases.pinocchio_model(path, floating=True)
    model.gravity.linear = gravity
    cases.assert_agrees(mujoco_, mujoco_.load(path, floating=True, gravity=gravity), model)


def test_a_free_base_keeps_the_mass_mujoco_would_drop():
    path = bundled_robot("solo12")
    body, model = mujoco_.load(path, floating=True), cases.pinocchio_model(path, floating=True)
    assert body.model.body_mass.sum() == pytest.approx(pin.computeTotalMass(model), rel=1e-14)
    q = cases.own_state(mujoco_, body, model)[0]
    assert mujoco_.mass_matrix(body, q)[0, 0] == pytest.approx(body.model.body_mass.sum(), rel=1e-14)


# ------------------------------------------------------------------------------------ matrices of the engine


def test_tree_is_named_after_the_joints():
    body = mujoco_.load(bundled_robot("solo12"), floating=True)
    tree = mujoco_.tree(body)
    assert list(tree.parent) == list(body.model.dof_parentid)
    assert tree.names[:7] == (*(f"root_joint[{d}]" for d in range(6)), "FL_HAA")


def test_the_layout_of_older_versions_is_that_of_the_tree():
    body = mujoco_.load(bundled_robot("solo12"), floating=True)
    seen = np.zeros((body.nv, body.nv), dtype=bool)
    rows, columns = body.upward()
    seen[rows, columns] = True
    np.testing.assert_array_equal(seen, np.tril(mujoco_.tree(body).mask()))
    np.testing.assert_array_equal(np.flatnonzero(rows == columns), body.model.dof_Madr)


def test_a_spherical_joint_of_a_urdf(write_text):
    text = cases.urdf(cases.link("base"), cases.link("a"), cases.joint("s", "base", "a", "spherical"))
    body = mujoco_.load(write_text(text))
    assert mujoco_.tree(body).names == ("s[0]", "s[1]", "s[2]")
    assert_smooth(body)


@pytest.mark.parametrize("name", ["panda", "talos_reduced"])
def test_mujocos_factor_is_ours(name):
    path = bundled_robot(name)
    body, model = mujoco_.load(path, floating=True), cases.pinocchio_model(path, floating=True)
    q = cases.own_state(mujoco_, body, model)[0]
    H = mujoco_.mass_matrix(body, q)
    f = tf.factor(H, mujoco_.tree(body))
    L, D = mujoco_.factors(body, q)
    allowed = cases.QDD_PER_CONDITION * np.linalg.cond(H)
    assert cases.relative(L, f.L()) < allowed
    assert cases.relative(D, f.D()) < allowed


def test_a_factor_stored_in_another_way_is_refused(monkeypatch):
    body = mujoco_.load(bundled_robot("panda"))
    q = np.zeros(body.nq)
    data = body.forward(q, np.zeros(body.nv))
    stored = SimpleNamespace(qLD=2.0 * data.qLD, qLDiagInv=data.qLDiagInv)
    monkeypatch.setattr(Body, "forward", lambda *_: stored)
    with pytest.raises(tf.AdapterError, match="stores qLD in a way this adapter does not know"):
        mujoco_.factors(body, q)


def test_simple_freedoms_have_rows_of_one_entry():
    sphere = '<body><freejoint/><geom size="0.1"/></body>'
    arm = (
        f'<body name="arm"><joint axis="0 0 1"/>{INERTIAL}<body><joint axis="0 1 0"/>{INERTIAL}</body></body>'
    )
    body = body_of(f"<mujoco><worldbody>{sphere}{arm}</worldbody></mujoco>")
    assert body.model.dof_simplenum[0] == 6
    q = random_state(body)[0]
    H, (L, D) = mujoco_.mass_matrix(body, q), mujoco_.factors(body, q)
    np.testing.assert_array_equal(H[:6], np.diag(H.diagonal())[:6])
    assert H[0, 0] == body.model.body_mass[1]
    assert H[7, 6] != 0.0
    assert cases.relative(L.T @ np.diag(D) @ L, H) < cases.H_TOLERANCE


def test_armature_is_part_of_H():
    plain, geared = (
        body_of(ONE.format(f'<joint armature="{a}" axis="0 1 0"/>{INERTIAL}', "")) for a in (0.0, 0.3)
    )
    difference = mujoco_.mass_matrix(geared, [0.4]) - mujoco_.mass_matrix(plain, [0.4])
    assert difference[0, 0] == pytest.approx(0.3, rel=1e-14)


def test_every_column_of_H_is_an_inverse_dynamics():
    body = body_of(MJCF)
    q, v, _ = random_state(body)
    H, bias = mujoco_.mass_matrix(body, q), mujoco_.bias(body, q, v)
    assert np.linalg.eigvalsh(H).min() > 0.0
    data = mujoco.MjData(body.model)
    for k, e in enumerate(np.eye(body.nv)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, v, e
        mujoco.mj_inverse(body.model, data)
        np.testing.assert_allclose(data.qfrc_inverse, H[:, k] + bias, atol=1e-12)


# ------------------------------------------------------------------------------- forces that stay outside


def assert_smooth(body, seed=0):
    """Assert that MuJoCo's own acceleration is H^-1 (tau - bias)."""
    q, v, tau = random_state(body, seed)
    expected = np.linalg.solve(mujoco_.mass_matrix(body, q), tau - mujoco_.bias(body, q, v))
    assert cases.relative(mujoco_.acceleration(body, q, v, tau), expected) < cases.QDD_TOLERANCE
    return q, v


def test_dampers_and_springs_are_passive():
    body = body_of(ONE.format(f'<joint axis="0 1 0" damping="0.7" stiffness="3"/>{INERTIAL}', ""))
    q, v = assert_smooth(body)
    np.testing.assert_allclose(mujoco_.passive(body, q, v), -0.7 * v - 3.0 * q, rtol=1e-14)


def test_fluid_and_gravity_compensation_are_passive():
    mjcf = ONE.format(f'<freejoint/>{INERTIAL}<geom size="0.2"/>', '<option density="1.2" viscosity="2"/>')
    body = body_of(mjcf.replace('name="b"', 'name="b" gravcomp="1"'))
    q, v = assert_smooth(body)
    assert np.abs(mujoco_.passive(body, q, v)).min() > 0.0


@pytest.mark.parametrize(
    ("joint", "rest"),
    [
        ('range="-0.01 0.01" limited="true"', ""),
        ('frictionloss="5"', ""),
        ("", '<equality><joint joint1="j" polycoef="1 0 0 0 0"/></equality>'),
        ("", '<actuator><position joint="j" kp="100"/></actuator>'),
        ("", '<actuator><motor joint="j" gear="3"/></actuator>'),
    ],
    ids=["limit", "friction", "equality", "servo", "motor"],
)
def test_constraints_and_actuators_do_not_enter(joint, rest):
    body = body_of(ONE.format(f'<joint name="j" axis="0 1 0" {joint}/>{INERTIAL}', rest))
    body.data.ctrl[:] = 2.0
    assert_smooth(body)


def test_contacts_do_not_enter_and_the_users_flags_come_back():
    two = "".join(f'<body name="{n}"><freejoint/><geom size="0.3"/></body>' for n in "ab")
    body = body_of(f"<mujoco><worldbody>{two}</worldbody></mujoco>")
    body.model.opt.disableflags = flags = int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
    assert_smooth(body)
    assert body.model.opt.disableflags == flags


def test_the_users_model_and_data():
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    data.xfrc_applied[:] = data.qfrc_applied[:] = 3.0
    body = Body(model, data)
    assert body.model is model
    assert body.data is data
    assert_smooth(body)
    q = random_state(body)[0]
    before = mujoco_.mass_matrix(body, q)
    model.body_mass[1] += 1.0
    assert mujoco_.mass_matrix(body, q)[0, 0] == pytest.approx(before[0, 0] + 1.0)


def test_results_are_copies():
    body = body_of(MJCF)
    q, v, tau = random_state(body)
    kept = [mujoco_.bias(body, q, v), mujoco_.passive(body, q, v), mujoco_.acceleration(body, q, v, tau)]
    before = [array.copy() for array in kept]
    mujoco_.acceleration(body, *random_state(body, seed=1))
    for array, copy in zip(kept, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_robot_that_cannot_move(write_text):
    body = mujoco_.load(write_text(cases.urdf(cases.link("alone"))))
    assert mujoco_.mass_matrix(body, []).shape == (0, 0)
    assert mujoco_.acceleration(body, [], [], []).shape == (0,)
    assert mujoco_.tree(body).n == 0
