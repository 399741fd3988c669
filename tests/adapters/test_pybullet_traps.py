"""Test each of PyBullet's traps by one test named after it."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.engine_trials import assert_all_agree, differing, reduced
from helpers.pybullet_cases import (
    ARM,
    CURED,
    RAW_TOLERANCE,
    assert_agrees,
    assert_close,
    joint,
    link,
    load,
    load_raw,
    pin,
    pinocchio_model,
    pybullet,
    pybullet_,
    state,
)

import treefactor as tf
from treefactor import robots

# -------------------------------------------------------------------------------- traps of the URDF reader


def test_trap_inertia_is_recomputed_from_collision_shapes(write):
    shape = "<collision><geometry><box size='1 2 3'/></geometry></collision>"
    path = write(ARM.replace("</inertial></link>", f"</inertial>{shape}</link>"))
    assert {"H", "bias", "inverse dynamics", "momentum", "energies"} <= differing(pybullet_, path, True)
    assert differing(pybullet_, path, True, ["inertia_from_file"]) == set()


@pytest.mark.parametrize("floating", [False, True])
def test_trap_link_without_inertial_becomes_one_kilogram(write, floating):
    path = write(ARM + "<link name='tcp'/>\n" + joint("flange", "fixed", "lower", "tcp"))
    assert {"H", "centre of mass"} <= differing(pybullet_, path, floating, CURED)
    with load(path, floating) as body:
        held = pybullet_.inertials(body)["tcp"]
    assert held.mass == 1.0
    np.testing.assert_array_equal(held.tensor, np.eye(3))
    assert_all_agree(pybullet_, path, floating, pybullet_.OPTIONS, steps=2)


@pytest.mark.parametrize("floating", [False, True])
def test_trap_merging_fixed_links_drops_the_principal_rotation(write, client, floating):
    path = write(ARM + link("tool", 0.8) + joint("flange", "fixed", "lower", "tool"))
    assert_all_agree(pybullet_, path, floating, pybullet_.OPTIONS)
    merged = pybullet_.Body(load_raw(path, client, floating, flags=pybullet.URDF_MERGE_FIXED_LINKS), client)
    with load(path, floating) as body:
        q = np.linspace(0.1, 0.9, body.nq)
        H = pybullet_.mass_matrix(body, q)
        assert np.abs(pybullet_.mass_matrix(merged, q) - H).max() > 1e-3 * np.abs(H).max()


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["base", "upper", "lower"])
@pytest.mark.parametrize(
    "inertia",
    [
        "ixx='.1' ixy='0' ixz='0' iyy='.2' iyz='0' izz='.9'",
        "ixx='.3' ixy='.3' ixz='0' iyy='.3' iyz='0' izz='0'",
        "ixx='.3' ixy='0' ixz='0' iyy='.3' iyz='0' izz='.6'",
    ],
    ids=["beyond", "thin and askew", "flat"],
)
def test_trap_inertia_beyond_the_triangle_inequality_becomes_zero(write, floating, name, inertia):
    masses = {"base": 2.0, "upper": 1.5, "lower": 1.1}
    path = write(ARM.replace(link(name, masses[name]), link(name, 1.3, inertia)))
    with load(path, floating) as body:
        assert_agrees(body, pinocchio_model(path, floating))
    others = [option for option in pybullet_.OPTIONS if option != "keep_inertia"]
    acts = not inertia.endswith("'.6'") and (floating or name != "base")
    assert ("H" in differing(pybullet_, path, floating, others)) == acts
    assert_all_agree(pybullet_, path, floating, pybullet_.OPTIONS)


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("name", ["base", "upper", "lower"])
def test_trap_negative_moment_becomes_zero(write, floating, name):
    masses = {"base": 2.0, "upper": 1.5, "lower": 1.1}
    odd = link(name, masses[name], "ixx='-.1' ixy='.1' ixz='0' iyy='.2' iyz='0' izz='.3'")
    path = write(ARM.replace(link(name, masses[name]), odd))
    if floating or name != "base":
        others = [option for option in pybullet_.OPTIONS if option != "keep_inertia"]
        assert "H" in differing(pybullet_, path, floating, others)
    assert_all_agree(pybullet_, path, floating, pybullet_.OPTIONS)


def test_trap_root_without_mass_means_fixed_base(write):
    path = write(ARM.replace("mass value='2.0'", "mass value='0'", 1))
    for floating in (False, True):
        with load(path, floating) as body:
            assert (body.nv, body.floating) == (2, False)
            assert [one.name for one in pybullet_.joints(body)] == ["shoulder", "elbow"]


def test_trap_root_without_mass_carries_a_heavy_link(write):
    path = write("<link name='footprint'/>\n" + joint("stand", "fixed", "footprint", "base") + ARM)
    with load(reduced(path, path.parent / "..", steps=2), floating=True) as body:
        assert body.nv == 2
    assert_all_agree(pybullet_, path, True, pybullet_.OPTIONS, steps=5)  # which merges fixed links


def test_trap_long_lines_are_cut(write):
    path = write(" " * 7400 + "".join(ARM.split("\n")).replace("><", "> <"))
    with pytest.raises(tf.AdapterError, match="refused"):
        load(path, True, options=["inertia_from_file", "principal_axes"])
    assert_all_agree(pybullet_, path, True, pybullet_.OPTIONS)


def test_trap_missing_meshes_are_refused(write):
    mesh = "<geometry><mesh filename='package://nowhere/none.dae'/></geometry>"
    shapes = f"<visual>{mesh}</visual><collision>{mesh}</collision>"
    path = write(ARM.replace("</inertial></link>", f"</inertial>{shapes}</link>"))
    for options in ([], pybullet_.OPTIONS):
        with pytest.raises(tf.AdapterError, match="refused"):
            pybullet_.load(path, options=options)
    assert_all_agree(pybullet_, path, False, pybullet_.OPTIONS, steps=1)


def test_children_in_another_order_than_in_pinocchio_are_matched_by_name(write):
    legs = joint("z", "revolute", "base", "left") + joint("a", "revolute", "base", "right")
    path = write(ARM + link("left") + link("right") + legs)
    model = pinocchio_model(path)
    with load(path) as body:
        assert [x.joint for x in body.moving] != list(model.names)[1:]
        assert_agrees(body, model)


# ------------------------------------------------------------------------------------ traps of the dynamics


def test_trap_cache_is_stale_after_change_dynamics(write, client):
    body_id = load_raw(write(ARM), client)
    body = pybullet_.Body(body_id, client)
    pybullet.changeDynamics(body_id, 1, mass=7.0, physicsClientId=client)
    for call in (pybullet_.mass_matrix, lambda *a: pybullet_.bias(*a, [0, 0])):
        with pytest.raises(tf.AdapterError, match="changeDynamics altered link 'lower'"):
            call(body, [0.1, 0.2])
    with pytest.raises(tf.AdapterError, match="fresh client"):
        pybullet_.Body(body_id, client)


def test_changed_masses_before_the_first_call_are_fine(write, client):
    path = write(ARM)
    body_id = load_raw(path, client)
    moments = pybullet.getDynamicsInfo(body_id, 1, physicsClientId=client)[2]
    # without the moments PyBullet takes those of the collision shapes
    pybullet.changeDynamics(body_id, 1, mass=7.0, localInertiaDiagonal=moments, physicsClientId=client)
    model = pinocchio_model(path)
    model.inertias[2].mass = 7.0
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    body = pybullet_.Body(body_id, client)
    T, (q, v, _) = pybullet_.transform(body, model), state(model)
    H = np.array(pin.crba(model, model.createData(), q))
    assert_close(
        pybullet_.mass_matrix(body, pybullet_.from_pinocchio(body, model, q, v)[0]), T.T @ H @ T, 1e-9
    )


def test_trap_cache_survives_remove_body(write, client):
    first, second = write(ARM, "a.urdf"), write(ARM.replace("mass value='1.5'", "mass value='9'"), "b.urdf")
    model = pinocchio_model(second)
    H = np.array(pin.crba(model, model.createData(), np.zeros(2)))
    for _ in range(20):
        body_id = load_raw(first, client)
        pybullet.calculateMassMatrix(body_id, [0.0, 0.0], physicsClientId=client)
        pybullet.removeBody(body_id, physicsClientId=client)
        body_id = load_raw(second, client)
        try:
            body = pybullet_.Body(body_id, client)
        except tf.AdapterError as error:
            assert "fresh client" in str(error)  # noqa: PT017
        else:
            assert_close(pybullet_.mass_matrix(body, [0.0, 0.0]), H, RAW_TOLERANCE)
        pybullet.removeBody(body_id, physicsClientId=client)


def test_mass_matrix_of_another_body_is_refused(write, client, monkeypatch):
    other = load_raw(write(ARM.replace("mass value='1.5'", "mass value='9'"), "b.urdf"), client)
    right = pybullet.calculateMassMatrix
    monkeypatch.setattr(pybullet, "calculateMassMatrix", lambda body_id, q, **where: right(other, q, **where))
    with pytest.raises(tf.AdapterError, match="fresh client"):
        pybullet_.Body(load_raw(write(ARM), client), client)


def test_a_removed_body_is_named(write, client):
    body = pybullet_.Body(load_raw(write(ARM), client), client)
    pybullet.removeBody(body.id, physicsClientId=client)
    with pytest.raises(tf.AdapterError, match="removed"):
        pybullet_.mass_matrix(body, [0, 0])


@pytest.mark.parametrize("floating", [False, True])
def test_trap_wrong_length_of_q_is_accepted(write, floating):
    with load(write(ARM), floating) as body:
        for size in (body.nq - 1, body.nq + 1, 0):
            with pytest.raises(tf.ShapeError) as caught:
                pybullet_.mass_matrix(body, np.ones(size))
            assert caught.value.expected == (body.nq,)


def test_trap_gravity_is_zero_until_set(write, client):
    body = pybullet_.Body(load_raw(write(ARM), client), client)
    assert not body.gravity.any()
    assert not pybullet_.bias(body, [0.1, 0.2], [0, 0]).any()
    with load(write(ARM)) as body:
        assert body.gravity.tolist() == [0, 0, -9.81]


def test_gravity_of_the_client_is_restored(write, client):
    pybullet.setGravity(1, 2, 3, physicsClientId=client)
    body = pybullet_.Body(load_raw(write(ARM), client, True), client)
    pybullet_.bias(body, [0, 0, 0, 0.6, 0, 0.8, 0, 0.1, 0.2], np.ones(8))
    assert body.gravity.tolist() == [1, 2, 3]


def test_trap_base_forces_come_swapped(write):
    with load(write(link("stone", 2.0)), floating=True) as body:
        weight = pybullet_.bias(body, [0, 0, 0, 0, 0, 0, 1], np.zeros(6))
    assert_close(weight, np.array([0, 0, 0, 0, 0, 2 * 9.81]), 1e-15)  # [moment; force]


def test_trap_euler_angles_of_the_base(write):
    path = write(ARM)
    model = pinocchio_model(path, True)
    data, zero = model.createData(), np.zeros(model.nv)
    with load(path, True) as body:
        T = pybullet_.transform(body, model)
        for seed in range(5):
            q = state(model, seed)[0]
            weight = pybullet_.bias(body, *pybullet_.from_pinocchio(body, model, q, zero))
            assert_close(weight, T.T @ np.array(pin.nle(model, data, q, zero)), 1e-12)


def test_trap_default_motors_and_damping(write, client):
    path = write(ARM.replace("</joint>", "<dynamics damping='3' friction='2'/></joint>"))
    pybullet.setGravity(0, 0, -9.81, physicsClientId=client)
    body = pybullet_.Body(load_raw(path, client, True), client)
    assert_agrees(body, pinocchio_model(path, True), RAW_TOLERANCE)


def test_forces_applied_before_do_not_count(write, client):
    body = pybullet_.Body(load_raw(write(ARM), client, floating=True), client)
    pybullet.applyExternalForce(
        body.id, 0, [9, 9, 9], [1, 2, 3], pybullet.WORLD_FRAME, physicsClientId=client
    )
    q, v, tau = np.r_[np.zeros(6), 1, 0.1, 0.2], np.ones(8), np.ones(8)
    stepped = pybullet_.acceleration(body, q, v, tau)
    assert_close(stepped, pybullet_.forward_dynamics(body, q, v, tau), RAW_TOLERANCE)


def test_trap_a_sleeping_body_does_not_move(write, client):
    body_id = load_raw(write(ARM), client, floating=True, flags=pybullet.URDF_ENABLE_SLEEPING)
    for _ in range(1000):  # it falls asleep after two seconds at rest
        pybullet.stepSimulation(physicsClientId=client)
    body = pybullet_.Body(body_id, client)
    q, v, tau = np.r_[np.zeros(6), 1, 0.1, 0.2], np.zeros(8), np.ones(8)
    stepped = pybullet_.acceleration(body, q, v, tau)
    assert_close(stepped, pybullet_.forward_dynamics(body, q, v, tau), RAW_TOLERANCE)


@pytest.mark.parametrize("floating", [False, True])
def test_trap_velocities_are_clipped(write, floating):
    with load(write(ARM), floating) as body:
        q, v = np.full(body.nq, 0.5), np.full(body.nv, 300.0)
        tau = np.full(body.nv, 1e5)
        stepped = pybullet_.acceleration(body, q, v, tau)
        assert_close(stepped, pybullet_.forward_dynamics(body, q, v, tau), 1e-9)


@pytest.mark.parametrize("floating", [False, True])
def test_trap_joint_limits_push_back(write, client, floating):
    body = pybullet_.Body(load_raw(write(ARM), client, floating), client)
    limits = [pybullet.getJointInfo(body.id, i, physicsClientId=client)[8:10] for i in range(2)]
    state = np.linspace(2.1, 3.0, body.nq), np.ones(body.nv), np.ones(body.nv)
    stepped = pybullet_.acceleration(body, *state)
    assert_close(stepped, pybullet_.forward_dynamics(body, *state), 1e-10)
    assert limits == [pybullet.getJointInfo(body.id, i, physicsClientId=client)[8:10] for i in range(2)]


def test_trap_contacts_with_another_body(write, client):
    body = pybullet_.Body(load_raw(write(ARM), client), client)
    load_raw(write(ARM), client)
    with pytest.raises(tf.AdapterError, match="2 bodies"):
        pybullet_.acceleration(body, [0, 0], [0, 0], [0, 0])


def test_trap_moving_link_without_mass(write):
    path = write(ARM + "<link name='finger'/>\n" + joint("knuckle", "revolute", "lower", "finger"))
    with load(reduced(path, path.parent, steps=2)) as body:
        assert pybullet_.mass_matrix(body, np.zeros(3)).shape == (3, 3)
        with pytest.raises(tf.NotPositiveDefiniteError, match="knuckle"):
            pybullet_.forward_dynamics(body, *np.zeros((3, 3)))


def test_massless_link_that_carries_mass_is_fine(write):
    joints = joint("roll", "revolute", "base", "wrist") + joint("weld", "fixed", "wrist", "hand")
    path = write("<link name='base'/><link name='wrist'/>\n" + link("hand") + joints)
    assert_all_agree(pybullet_, path, False, pybullet_.OPTIONS, steps=2)


def test_trap_mimic_is_ignored(write):
    follower = joint("follower", "revolute", "upper", "third", "<mimic joint='shoulder'/>")
    path = write(ARM + link("third") + follower)
    with load(path) as body:
        assert_agrees(body, pinocchio_model(path))


def test_trap_planar_joints_have_no_inverse_dynamics(write):
    path = write(ARM.replace("prismatic", "planar"))
    with pytest.raises(tf.AdapterError, match=r"elbow.*no inverse dynamics") as caught:
        load(path)
    assert (caught.value.file, caught.value.joint) == (str(path), "elbow")


def test_trap_a_floating_joint_becomes_fixed(write):
    with load(write(ARM.replace("prismatic", "floating"))) as body:
        assert [one.name for one in pybullet_.joints(body)] == ["shoulder"]


def test_trap_axes_are_not_scaled_to_unit_length(write):
    path = write(ARM.replace("0 .6 .8", "0 1.2 1.6"))
    assert {"placements", "centre of mass"} <= differing(pybullet_, path, False, pybullet_.OPTIONS)
    assert_all_agree(pybullet_, path, False, pybullet_.OPTIONS, steps=4)


def test_trap_principal_axes_are_loose(write):
    path = robots.find("panda").path
    cured = ["inertia_from_file", "root_link"]
    assert "H" in differing(pybullet_, path, False, cured, steps=2)
    assert_all_agree(pybullet_, path, False, [*cured, "principal_axes"], steps=2)


def test_trap_the_fixed_root_link_has_no_mass(write):
    path, cured = write(ARM), ["inertia_from_file", "principal_axes"]
    assert differing(pybullet_, path, False, cured) == {"centre of mass", "momentum", "energies"}
    assert_all_agree(pybullet_, path, False, [*cured, "root_link"])


def test_trap_points_of_the_jacobian_are_relative_to_the_joint(write):
    """Its documentation says: to the centre of mass."""
    with load(write(ARM)) as body:
        q, rest = [0.3, 0.2], [0.0, 0.0]
        moved, _ = pybullet.calculateJacobian(body.id, 1, [0, 0, 0], q, rest, rest, body.client)
        joint_frame = pybullet_.jacobian(body, q, "lower")[:3]
        np.testing.assert_allclose(body.base_rotation(np.empty(0)) @ moved, joint_frame, atol=1e-14)
        assert np.linalg.norm(body.links[1].centre) > 0.1


def test_trap_planar_joints_of_a_raw_body(write, client):
    body_id = load_raw(write(ARM.replace("prismatic", "planar")), client)
    with pytest.raises(tf.AdapterError, match="elbow"):
        pybullet_.Body(body_id, client)


@pytest.mark.parametrize("flags", [0, pybullet.URDF_USE_INERTIA_FROM_FILE])
@pytest.mark.parametrize("name", [None, "pybullet_data/r2d2", "pybullet_data/laikago/laikago"])
def test_shapes_left_out_change_no_dynamics(write, client, name, flags):
    """`load` leaves them out; PyBullet itself reads all of the file here."""
    shape = "".join(
        f"<{kind}><geometry><box size='1 2 3'/></geometry></{kind}>" for kind in ("visual", "collision")
    )
    path = bundled_robot(name) if name else write(ARM.replace("<inertial>", shape + "<inertial>"))
    raw = pybullet.loadURDF(str(path), flags=flags, physicsClientId=client)
    with load(path, floating=True, options=["inertia_from_file"] if flags else []) as body:
        links = range(-1, pybullet.getNumJoints(raw, physicsClientId=client))
        assert len(links) > 1
        for index in links:
            whole = pybullet.getDynamicsInfo(raw, index, physicsClientId=client)
            ours = pybullet.getDynamicsInfo(body.id, index, physicsClientId=body.client)
            assert [ours[i] for i in (0, 2, 3, 4)] == [whole[i] for i in (0, 2, 3, 4)]  # mass, inertia, frame
