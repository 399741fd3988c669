"""Compare Coriolis matrices and inverses of H with their definitions, and with Pinocchio."""

import numpy as np
import pytest
from helpers.dynamics_cases import EXACT, MODELS, PER_CONDITION, arguments, error, force_scale, free
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import robots
from treefactor.model.joints import SIZES

pytestmark = pytest.mark.isa

seeds = st.integers(0, 2**32 - 1)
ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
STEP = 1e-5  # s, of central differences
SMOOTH = 1e-7  # their relative error


def assert_coriolis(model, seed=0):
    """Assert that C v is the bias without gravity, and that the rate of H is C + C^T."""
    q, v, _, _ = arguments(model, seed)
    C, H = tf.coriolis_matrix(model, q, v), tf.crba(model, q)
    scale = force_scale(H, v)
    assert error(C @ v, tf.bias(model, q, v) - tf.generalized_gravity(model, q), scale) < EXACT
    ahead, behind = (tf.crba(model, tf.integrate(model, q, h * v)) for h in (STEP, -STEP))
    assert error(C + C.T, (ahead - behind) / (2 * STEP), scale * (1 + np.abs(v).max(initial=0))) < SMOOTH
    assert (C[~model.tree.mask()] == 0).all()


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_has_a_coriolis_matrix(kind):
    assert_coriolis(random_model([-1], [kind], 1))
    assert_coriolis(random_model([-1, 0, 1, 1], ["revolute", "spherical", kind, "prismatic"], 2))
    assert_coriolis(random_model([-1, -1, 1, 0], [kind, "freeflyer", kind, "helical"], 3))


@given(models(), seeds)
def test_a_tree_has_a_coriolis_matrix(model, seed):
    assert_coriolis(model, seed)


@pytest.mark.parametrize("name", ["panda", "tiago_pro"])
def test_robots_with_mimic_joints_have_both_matrices(name):
    model = tf.Model.from_urdf(robots.find(name).path, mimic=True)
    assert_coriolis(model)
    assert_inverse(model)


@given(models(), seeds)
def test_followers_fold_the_matrix_of_all_joints(model, seed):
    q, v, _, _ = arguments(model, seed)
    if model.coupling is None:
        return
    G, whole = model.coupling.G, free(model)
    positions = whole_configuration(model, whole, q)
    expected = G.T @ tf.coriolis_matrix(whole, positions, G @ v) @ G
    scale = force_scale(tf.crba(whole, positions), G @ v)
    assert error(tf.coriolis_matrix(model, q, v), expected, scale) < EXACT


def whole_configuration(model, whole, q):
    """Return q of all joints, where those that follow none are independent."""
    whole_q = tf.neutral(whole)
    for joint, own, at in zip(model.joints, whole.idx_q, model.idx_q, strict=True):
        if not joint.mimic:
            whole_q[own : own + joint.nq] = q[at : at + joint.nq]
            continue
        leader = model.joints[joint.mimic.leader]
        x = np.arctan2(q[at + 1], q[at]) if leader.kind == "continuous" else q[at]
        x = joint.mimic.ratio * x + joint.mimic.offset
        whole_q[own : own + SIZES[joint.kind][0]] = (
            [np.cos(x), np.sin(x)] if joint.kind == "continuous" else x
        )
    return whole_q


@pytest.mark.parametrize("which", MODELS)
@pytest.mark.parametrize("size", [(), (9,)], ids=str)
def test_packed_entries(which, size):
    """Entries on and left of the diagonal as `Tree.pack` orders them, then those above it, transposed."""
    model = MODELS[which]
    q, v, _, _ = arguments(model, 1, size)
    C, tree = tf.coriolis_matrix(model, q, v), model.tree
    left = tree.rows != tree.columns
    rows, columns = tree.rows[left], tree.columns[left]
    expected = np.concatenate([C[..., tree.rows, tree.columns], C[..., columns, rows]], axis=-1)
    np.testing.assert_array_equal(tf.coriolis_matrix(model, q, v, layout="packed"), expected, strict=True)
    with pytest.raises(ValueError, match="layout must be one of 'dense', 'packed'; got 'lanes'"):
        tf.coriolis_matrix(model, q, v, layout="lanes")


def assert_inverse(model, seed=0):
    """Assert that the inverse is symmetric and that of H."""
    q = arguments(model, seed)[0]
    H, inverse = tf.crba(model, q), tf.inverse_inertia(model, q)
    assert error(inverse, np.linalg.inv(H)) < max(EXACT, PER_CONDITION * np.linalg.cond(H))
    np.testing.assert_array_equal(inverse, inverse.T)


@given(models(), seeds)
def test_a_tree_has_an_inverse(model, seed):
    assert_inverse(model, seed)


def test_a_large_tree_has_an_inverse():
    """`factor` splits 16 long chains into tasks; one inverse does not."""
    rng = np.random.default_rng(0)
    chains, length = 16, 92
    body = tf.Inertia(1.0, [0.0, 0.0, -0.5], np.diag([0.1, 0.1, 0.05]))
    axes = np.eye(3)[[0, 1]]
    joints = [
        tf.Joint(f"{i}", "revolute", int(above), axis=axes[i % 2], inertia=body, armature=1.0)
        for i, above in enumerate(k - 1 if k % length else -1 for k in range(chains * length))
    ]
    model = tf.Model(joints)
    q = rng.uniform(-1.0, 1.0, model.nv)
    H = tf.crba(model, q)
    expected = tf.factor(H, model.tree).inverse()
    assert error(tf.inverse_inertia(model, q), expected) < PER_CONDITION * np.linalg.cond(H[:length, :length])


def test_zero_inertia_is_named_or_nan():
    heavy = tf.Inertia(1.0, [0.0, 0.0, 1.0], np.eye(3))
    joints = [
        tf.Joint("heavy", "revolute", axis=[1, 0, 0], inertia=heavy),
        tf.Joint("light", "prismatic", 0, axis=[1, 0, 0]),
    ]
    model = tf.Model(joints)
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"freedom 1 \(light\) moves no mass") as raised:
        tf.inverse_inertia(model, np.zeros(2))
    assert raised.value.name == "light"
    with pytest.raises(tf.NotPositiveDefiniteError, match="light"):
        tf.bind(tf.inverse_inertia, model, np.zeros(2), out=np.empty((2, 2)))()
    assert np.isnan(tf.inverse_inertia(model, np.zeros((3, 2)))).all()


def assert_pinocchios(model, theirs):
    """Assert that both matrices are Pinocchio's, C to the entry."""
    import pinocchio as pin

    data = theirs.createData()
    q, v, _, _ = arguments(model)
    H = tf.crba(model, q)
    expected = pin.computeCoriolisMatrix(theirs, data, q, v)
    if all(joint.kind != "universal" for joint in model.joints):  # of these Pinocchio's C v is not the bias
        assert error(tf.coriolis_matrix(model, q, v), expected, force_scale(H, v)) < EXACT
    expected = pin.computeMinverse(theirs, data, q)
    bound = max(EXACT, PER_CONDITION * np.linalg.cond(H))
    assert error(tf.inverse_inertia(model, q), expected) < bound


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_robots_are_pinocchios(name, floating):
    pinocchio_ = pytest.importorskip("treefactor.adapters.pinocchio_", reason="Pinocchio is the reference")
    theirs = pinocchio_.load(robots.find(name).path, floating)
    assert_pinocchios(pinocchio_.model(theirs), theirs)


@pytest.mark.parametrize("kind", SIZES)
def test_each_joint_is_pinocchios(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(random_model([-1, 0, 1, 0], [kind, "revolute", kind, "spherical"], 1))
    assert_pinocchios(model, in_pinocchio(model))


def test_a_robot_far_away_loses_no_digit():
    model = MODELS["freeflyer"]
    q, v, _, _ = arguments(model)
    far = q.copy()
    far[:3] += 1e6
    np.testing.assert_array_equal(tf.coriolis_matrix(model, far, v), tf.coriolis_matrix(model, q, v))
    np.testing.assert_array_equal(tf.inverse_inertia(model, far), tf.inverse_inertia(model, q))
