"""Operational-space inertia, consistent inverse, null space and bias of tasks."""

import numpy as np
import pytest
from helpers.codegen_models import random_model

import treefactor as tf
from treefactor import robots

KINDS = ("revolute", "prismatic", "helical", "universal", "spherical", "planar", "translation", "freeflyer")
ROBOTS = [("panda", "panda_joint7"), ("solo12", "FL_KFE"), ("talos_reduced", "leg_left_6_joint")]


def robot(name):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from treefactor.adapters import pinocchio_

    model = pinocchio_.load(robots.find(name).path, name != "panda")
    return pin, model, pinocchio_.model(model)


def states(model, *batch):
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng, size=int(np.prod(batch)))
    return q.reshape(*batch, model.nq), rng.normal(size=(*batch, model.nv))


def transposed(a):
    return np.swapaxes(a, -1, -2)


def check(task, H, atol=1e-9):
    """Check a regular task against NumPy and the properties of its quantities."""
    J, m, n = task.J, task.J.shape[-2], task.J.shape[-1]
    G = J @ np.linalg.solve(H, transposed(J))
    scale = np.linalg.cond(G)[..., None, None] * 1e-12
    assert (np.abs(task.inertia @ G - np.eye(m)) < scale * 10).all()
    np.testing.assert_array_equal(task.inertia, transposed(task.inertia))
    expected = np.linalg.solve(H, transposed(J)) @ np.linalg.inv(G)
    np.testing.assert_allclose(task.inverse, expected, rtol=1e-6, atol=atol * np.abs(expected).max())
    N = task.nullspace
    scale = np.abs(N).max() * np.abs(task.inverse).max()
    for zero in (J @ task.inverse - np.eye(m), J @ N, N @ task.inverse, N @ N - N):
        assert np.abs(zero).max() < atol * scale
    assert N.shape == (*task.status.shape, n, n)
    assert (task.status == -1).all()


@pytest.mark.parametrize("batch", [(), (9,), (2, 3)])
@pytest.mark.parametrize("reference", ["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"])
@pytest.mark.parametrize(("name", "joint"), ROBOTS)
def test_agrees_with_numpy_and_pinocchio(name, joint, reference, batch):
    pin, other, model = robot(name)
    q, v = states(model, *batch)
    task = tf.operational_space(model, q, joint, getattr(pin, reference))
    check(task, tf.crba(model, q))
    np.testing.assert_array_equal(tf.operational_inertia(model, q, joint, reference), task.inertia)
    data, frame = other.createData(), other.getFrameId(joint)
    for at in np.ndindex(*batch):
        J = pin.computeFrameJacobian(other, data, q[at], frame, getattr(pin, reference))
        np.testing.assert_allclose(task.J[at], J, rtol=1e-12, atol=1e-12 * np.abs(J).max())
        pin.computeJointJacobiansTimeVariation(other, data, q[at], v[at])
        dJ = pin.getFrameJacobianTimeVariation(other, data, frame, getattr(pin, reference))
        rate = tf.task_bias(model, q, v, joint, reference)[at]
        np.testing.assert_allclose(rate, dJ @ v[at], rtol=1e-10, atol=1e-10 * np.abs(dJ).max())


def test_the_inverse_of_delassus_is_that_of_pinocchio():
    pin, other, model = robot("talos_reduced")
    q, _ = states(model)
    joints = ["leg_left_6_joint", "leg_right_6_joint"]
    rows, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for joint in joints:
        number = other.getJointId(joint)
        rows.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, other, number, pin.LOCAL))
        datas.append(rows[-1].createData())
    data = other.createData()
    pin.initConstraintDynamics(other, data, rows, datas)
    G = pin.computeDelassusMatrix(other, data, q, rows, datas)
    task = tf.operational_space(model, q, joints)
    np.testing.assert_allclose(task.factor.delassus(task.J), G, rtol=1e-9, atol=1e-9 * np.abs(G).max())
    np.testing.assert_allclose(task.inertia @ G, np.eye(12), atol=1e-8)


def test_the_bias_force_holds_the_task_still():
    """With tau = J^T mu + N^T tau_0, the task does not accelerate, whatever tau_0 is; F adds Lambda^-1 F."""
    _, _, model = robot("talos_reduced")
    q, v = states(model, 4)
    joints = ["leg_left_6_joint", "arm_right_3_joint"]
    task = tf.operational_space(model, q, joints)
    mu = tf.operational_bias(model, q, v, joints)
    rate, rng = tf.task_bias(model, q, v, joints), np.random.default_rng(1)
    F, tau_0 = rng.normal(size=(4, 12)), rng.normal(size=(4, model.nv))
    for force in (np.zeros((4, 12)), F):
        tau = transposed(task.J) @ (mu + force)[..., None] + transposed(task.nullspace) @ tau_0[..., None]
        a = tf.forward_dynamics(model, q, v, tau[..., 0])
        acceleration = (task.J @ a[..., None])[..., 0] + rate
        expected = (np.linalg.inv(task.inertia) @ force[..., None])[..., 0]
        np.testing.assert_allclose(acceleration, expected, rtol=1e-7, atol=1e-6)


def test_frames_of_trees_that_do_not_touch_have_no_common_inertia():
    rng, joints = np.random.default_rng(2), []
    for k in range(14):
        axis, parent = np.eye(3)[k % 3], -1 if k % 7 == 0 else k - 1
        body = tf.Inertia(1.0, rng.normal(size=3), np.eye(3))
        joints.append(tf.Joint(f"{k}", "revolute", parent, p=rng.normal(size=3), axis=axis, inertia=body))
    model = tf.Model(joints)
    q = rng.normal(size=model.nq)
    task = tf.operational_space(model, q, ["6", "13"])
    assert not task.inertia[:6, 6:].any()
    for k, joint in enumerate(("6", "13")):
        own = tf.operational_inertia(model, q, joint)
        block = task.inertia[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        np.testing.assert_allclose(block, own, rtol=1e-9, atol=1e-9 * np.abs(own).max())


@pytest.mark.parametrize(("name", "joint"), [("tiago_pro", "arm_left_7_joint"), ("panda", "panda_joint7")])
def test_mimic_robots(name, joint):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from treefactor.adapters import pinocchio_

    other = pinocchio_.load(robots.find(name).path, mimic=True)
    model = pinocchio_.model(other)
    assert model.coupling is not None
    q, v = states(model)
    task = tf.operational_space(model, q, joint)
    check(task, tf.crba(model, q))
    data = other.createData()
    J = pin.computeFrameJacobian(other, data, q, other.getFrameId(joint), pin.LOCAL)
    np.testing.assert_allclose(task.J, J, atol=1e-12)
    assert np.isfinite(tf.operational_bias(model, q, v, joint)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint(kind):
    model = random_model(np.random.default_rng(3), ["freeflyer", kind, "revolute", kind])
    q, _ = states(model, 3)
    check(tf.operational_space(model, q, model.joints[-1].name), tf.crba(model, q))


def test_a_singular_task_is_marked_in_a_batch_and_named_alone():
    _, _, model = robot("panda")
    q, v = states(model, 5)
    q[2] = tf.neutral(model)  # straight arm
    assert np.linalg.matrix_rank(tf.operational_space(model, q[:1], "panda_joint7").J[0]) == 6
    task = tf.operational_space(model, q, "panda_joint7")
    alone = tf.operational_space(model, q[[0, 1, 3, 4]], "panda_joint7")
    np.testing.assert_array_equal(task.status, [-1, -1, task.status[2], -1, -1])
    assert 0 < task.status[2] < 6
    for name in ("inertia", "inverse", "nullspace"):
        assert np.isnan(getattr(task, name)[2]).all()
        np.testing.assert_array_equal(getattr(task, name)[[0, 1, 3, 4]], getattr(alone, name))
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"of frame 'panda_joint7'.*damping") as caught:
        tf.operational_inertia(model, q[2], "panda_joint7")
    assert caught.value.row == task.status[2]
    damped = tf.operational_space(model, q, "panda_joint7", damping=1e-3)
    G = damped.factor.delassus(damped.J) + 1e-3 * np.eye(6)
    np.testing.assert_allclose(damped.inertia @ G, np.broadcast_to(np.eye(6), G.shape), atol=1e-9)
    assert np.isfinite(tf.operational_bias(model, q, v, "panda_joint7", damping=1e-3)).all()


@pytest.mark.parametrize("batch", [(), (4,)])
def test_a_jacobian_on_its_support(batch):
    tree, rng = tf.families.binary_tree(4), np.random.default_rng(5)
    support = np.append(tree.ancestors(12), 12)
    packed = rng.normal(size=(*batch, 3, support.size))
    J = np.zeros((*batch, 3, tree.n))
    J[..., support] = packed
    H = np.eye(tree.n) + np.zeros((*batch, tree.n, tree.n))
    task = tf.OperationalSpace(tf.factor(H, tree), packed, support=support)
    np.testing.assert_array_equal(task.J, J)
    check(task, H)
    for bad in ([0], np.arange(support.size) + tree.n, support + 0.5):
        with pytest.raises(tf.ShapeError, match="support"):
            tf.OperationalSpace(tf.factor(H, tree), packed, support=bad)


def test_one_jacobian_for_a_batch_and_many_for_one_factor():
    tree, rng = tf.families.chain(5), np.random.default_rng(6)
    H = np.eye(5) + np.zeros((5, 5, 5)) * rng.normal()
    J = rng.normal(size=(5, 3, 5))
    check(tf.OperationalSpace(tf.factor(H, tree), J[0]), H)
    check(tf.OperationalSpace(tf.factor(H[0], tree), J), H)
    square = tf.OperationalSpace(tf.factor(H, tree), rng.normal(size=(5, 5)))
    assert np.abs(square.nullspace).max() < 1e-9


def test_unknown_frames_and_references_raise():
    model = random_model(np.random.default_rng(7), ["freeflyer", "revolute"])
    q = tf.neutral(model)
    with pytest.raises(tf.InvalidModelError, match="elbow"):
        tf.operational_inertia(model, q, "elbow")
    with pytest.raises(ValueError, match="reference must be one of"):
        tf.operational_inertia(model, q, "joint1", "BODY")
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"row 6 \(linear x of frame 'joint0'\)"):
        tf.operational_inertia(model, q, ["joint0", "joint0"])


def test_the_bias_of_one_task_takes_many_h():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(3, 3))
    task = tf.OperationalSpace(tf.factor(A @ A.T + np.eye(3), tf.Tree([-1, 0, 1])), rng.normal(size=(2, 3)))
    h, rate = rng.normal(size=(4, 5, 3)), rng.normal(size=2)
    expected = h @ task.inverse - task.inertia @ rate
    np.testing.assert_allclose(task.bias(h, rate), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(task.bias(h[0], rate), expected[0], rtol=1e-12, atol=1e-12)
    with pytest.raises(tf.ShapeError, match=r"h must have shape \(..., 3\)"):
        task.bias(h[..., :2], rate)


def test_a_negative_damping_is_refused_alone_and_gives_nan_in_a_batch():
    body = tf.Inertia(2.0, [0.1, 0.0, 0.2], np.eye(3))
    model = tf.Model([tf.Joint("joint2", "freeflyer", inertia=body)])
    q, v = states(model, 10)
    damping = np.linspace(0.1, 1.0, 10)
    damping[[3, 9]] = -1e-9, np.nan  # the sum may still be positive definite
    own = tf.operational_inertia(model, q, "joint2", damping=damping)
    mu = tf.operational_bias(model, q, v, "joint2", damping=damping)
    for k in range(10):
        if k in (3, 9):
            assert np.isnan(own[k]).all()
            assert np.isnan(mu[k]).all()
            continue
        expected = tf.operational_inertia(model, q[k], "joint2", damping=damping[k])
        np.testing.assert_allclose(own[k], expected, rtol=1e-12, atol=1e-12)
        expected = tf.operational_bias(model, q[k], v[k], "joint2", damping=damping[k])
        np.testing.assert_allclose(mu[k], expected, rtol=1e-10, atol=1e-10)
    for call in (
        lambda: tf.operational_inertia(model, q[0], "joint2", damping=-0.1),
        lambda: tf.operational_bias(model, q[0], v[0], "joint2", damping=-0.1),
        lambda: tf.operational_space(model, q[0], "joint2", damping=-0.1),
    ):
        with pytest.raises(ValueError, match=r"damping must not be negative, got -0\.1"):
            call()


@pytest.mark.parametrize("frames", [2, 4])  # tasks of one strip of right-hand sides, and of two
def test_tasks_of_many_rows(frames):
    model = random_model(np.random.default_rng(9), ["freeflyer", "spherical", "revolute"] * 3)
    names = [joint.name for joint in model.joints[:: 9 // frames]][:frames]
    q, v = states(model, 9)
    tasks = tf.operational_space(model, q, names, damping=1.0)
    G = tf.delassus(model, q, names) + np.eye(6 * frames)
    np.testing.assert_allclose(tasks.inertia @ G, np.broadcast_to(np.eye(6 * frames), G.shape), atol=1e-9)
    expected = np.linalg.solve(tf.crba(model, q), transposed(tasks.J)) @ tasks.inertia
    np.testing.assert_allclose(tasks.inverse, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tasks.nullspace, np.eye(model.nv) - expected @ tasks.J, rtol=1e-9, atol=1e-9)
    mu = tf.operational_bias(model, q, v, names, damping=1.0)
    rate = tf.task_bias(model, q, v, names)
    right = tasks.bias(tf.bias(model, q, v), rate)
    np.testing.assert_allclose(mu, right, rtol=1e-9, atol=1e-9 * np.abs(right).max())
    for k in range(3):
        one = tf.operational_space(model, q[k], names, damping=1.0)
        for name in ("J", "inertia", "inverse", "nullspace"):
            own, other = getattr(tasks, name)[k], getattr(one, name)
            np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-10 * np.abs(other).max())
        np.testing.assert_allclose(one.factor.solve(v[k]), tasks.factor.solve(v)[k], rtol=1e-9, atol=1e-9)


def test_elements_of_a_batch_that_are_not_valid_are_nan():
    """J and H of singular tasks stay; of configurations that are not valid nothing does."""
    model = random_model(np.random.default_rng(10), ["freeflyer", "revolute"])
    q, _ = states(model, 9)
    q[2, 0], q[5, 3:7] = np.nan, 2.0
    task = tf.operational_space(model, q, ["joint0", "joint1"])  # 12 rows of 7 freedoms
    np.testing.assert_array_equal(task.status[[2, 5]], 0)
    assert np.isnan(task.J[[2, 5]]).any(axis=(1, 2)).all()
    assert np.isnan(task.inertia).all()
    good = [0, 1, 3, 4, 6, 7, 8]
    assert (task.status[good] == 6).all()
    expected = tf.frame_jacobian(model, q[good], ["joint0", "joint1"]).reshape(7, 12, 7)
    np.testing.assert_array_equal(task.J[good], expected)
    solved = task.factor.solve(np.ones((9, 7)))[good]
    np.testing.assert_allclose((tf.crba(model, q[good]) @ solved[..., None])[..., 0], 1.0, rtol=1e-9)
