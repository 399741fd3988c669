"""Compare centres of mass and centroidal quantities with Pinocchio's, with differences and each other."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments, error, free
from helpers.frame_cases import ROBOTS, loaded
from helpers.model_cases import in_pinocchio, models, random_model
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.model.joints import SIZES

CLOSE = 1e-13  # relative to the size of the terms
STEP = 1e-5  # of central differences
BY_DIFFERENCES = 1e-7  # relative


def size_of(q, v, a):
    """Return the size of the terms of positions, velocities and accelerations, which may cancel."""
    return (1.0 + np.abs(q).max()) ** 2 * (1.0 + np.square(v).sum() + np.abs(a).sum())


def assert_agrees(model, theirs, seed=0):
    """Assert K8 to K10 for the whole model: all results are Pinocchio's."""
    import pinocchio as pin

    q, v, a, _ = arguments(model, seed)
    data, scale = theirs.createData(), size_of(q, v, a)
    pin.computeCentroidalMomentumTimeVariation(theirs, data, q, v, a)
    assert error(tf.centroidal_momentum(model, q, v), data.hg.vector, scale) < CLOSE
    assert error(tf.centroidal_momentum_rate(model, q, v, a), data.dhg.vector, scale) < CLOSE
    pin.centerOfMass(theirs, data, q, v, a)
    expected = [data.com[0], data.vcom[0], data.acom[0]]
    for own, other in zip(tf.center_of_mass(model, q, v, a), expected, strict=True):
        assert error(own, other, scale) < CLOSE
    if model.coupling is not None:
        return  # Pinocchio has no centroidal map of models with mimic joints
    J = pin.jacobianCenterOfMass(theirs, data, q).reshape(3, model.nv)
    assert error(tf.center_of_mass_jacobian(model, q), J, scale) < CLOSE
    A = pin.computeCentroidalMap(theirs, data, q).reshape(6, model.nv)
    assert error(tf.centroidal_map(model, q), A, scale) < CLOSE
    pin.ccrba(theirs, data, q, v)
    assert error(tf.centroidal_inertia(model, q), data.Ig.inertia, scale) < CLOSE
    if any(joint.kind == "universal" for joint in model.joints):
        return  # Pinocchio 4.1 leaves out that its first axis turns in the body
    dA = pin.dccrba(theirs, data, q, v)
    assert error(tf.centroidal_map_dot(model, q, v), dA.reshape(6, model.nv), scale) < CLOSE


def assert_subtrees_agree(model, theirs, seed=0):
    """Assert K8 and K9 for all subtrees; Pinocchio's centre is in the axes of the joint."""
    import pinocchio as pin

    q, v, a, _ = arguments(model, seed)
    data, other, scale = theirs.createData(), theirs.createData(), size_of(q, v, a)
    pin.centerOfMass(theirs, data, q, v, a)
    for joint in range(model.njoints):
        M, k = data.oMi[joint + 1], joint + 1
        expected = M.act(data.com[k])
        center, velocity, _ = tf.center_of_mass(model, q, v, a, root=joint)
        assert error(center, expected, scale) < CLOSE
        assert error(velocity, M.rotation @ data.vcom[k], scale) < CLOSE
        J = pin.jacobianSubtreeCenterOfMass(theirs, other, q, k).reshape(3, model.nv)
        assert error(tf.center_of_mass_jacobian(model, q, joint), J, scale) < CLOSE


@pytest.mark.parametrize("name", ROBOTS)
def test_results_of_robots_are_pinocchios(name):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    theirs, model = loaded(*ROBOTS[name])
    assert_agrees(model, theirs)


@pytest.mark.parametrize("name", [name for name in ROBOTS if name != "tiago"])
def test_subtrees_of_robots_are_pinocchios(name):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    theirs, model = loaded(*ROBOTS[name])
    assert_subtrees_agree(model, theirs)


@pytest.mark.parametrize("kind", SIZES)
def test_results_with_each_kind_of_joint_are_pinocchios(kind):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    for kinds in [[kind], [kind, kind], ["revolute", kind, "spherical"]]:
        model = free(random_model(range(-1, len(kinds) - 1), kinds, 1))
        assert_agrees(model, in_pinocchio(model))


@settings(max_examples=25)
@given(models(depth_first=True, max_joints=6), st.integers(0, 2**32 - 1))
def test_results_of_trees_are_pinocchios(model, seed):
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    model = free(model)
    assert_agrees(model, in_pinocchio(model), seed)


@settings(max_examples=50)
@given(models(), st.integers(0, 2**32 - 1))
def test_results_belong_together(model, seed):
    """Covers mimic joints of every ratio: A[:3] = m J, h = A v, h' = A a + A' v, v = J v, a = h' / m."""
    q, v, a, _ = arguments(model, seed)
    scale, mass = size_of(q, v, a), sum(joint.inertia.mass for joint in model.joints)
    A, dA = tf.centroidal_map(model, q), tf.centroidal_map_dot(model, q, v)
    rate = tf.centroidal_momentum_rate(model, q, v, a)
    _, velocity, acceleration = tf.center_of_mass(model, q, v, a)
    for own, other in [
        (mass * tf.center_of_mass_jacobian(model, q), A[:3]),
        (tf.centroidal_momentum(model, q, v), A @ v),
        (rate, A @ a + dA @ v),
        (mass * velocity, A[:3] @ v),
        (mass * acceleration, rate[:3]),
        (tf.centroidal_momentum_rate(model, q, v, None), dA @ v),
    ]:
        assert error(own, other, scale * mass * (1.0 + np.abs(A).max())) < CLOSE


@settings(max_examples=50)
@given(models(), st.integers(0, 2**32 - 1))
def test_results_are_derivatives_of_each_other(model, seed):
    """Covers the centres of all subtrees, and that A' is the derivative of A along v."""
    q, v, a, _ = arguments(model, seed)
    after, before = (tf.integrate(model, q, sign * STEP * v) for sign in (1.0, -1.0))
    A = tf.centroidal_map(model, q)
    scale = size_of(q, v, a) * (1.0 + np.abs(A).max())
    change = (tf.centroidal_map(model, after) - tf.centroidal_map(model, before)) / (2 * STEP)
    assert error(change, tf.centroidal_map_dot(model, q, v), scale) < BY_DIFFERENCES
    for root in (None, *(joint.name for joint in model.joints)):
        moved = tf.center_of_mass(model, after, root=root) - tf.center_of_mass(model, before, root=root)
        J = tf.center_of_mass_jacobian(model, q, root)
        _, velocity, acceleration = tf.center_of_mass(model, q, v, a, root=root)
        assert error(moved / (2 * STEP), velocity, scale) < BY_DIFFERENCES
        assert error(J @ v, velocity, scale) < CLOSE
        J_after, J_before = (tf.center_of_mass_jacobian(model, x, root) for x in (after, before))
        expected = J @ a + (J_after - J_before) @ v / (2 * STEP)
        assert error(expected, acceleration, scale) < BY_DIFFERENCES


def together(model, seed):
    """Return q, v, and the centre of mass, momentum and inertia that the bodies add up to."""
    q, v, _, _ = arguments(model, seed)
    mass = np.array([joint.inertia.mass for joint in model.joints])
    frames = [tf.Frame(f"c{i}", i, p=joint.inertia.com) for i, joint in enumerate(model.joints)]
    T = tf.frame_placement(model, q, frames)
    V = tf.frame_velocity(model, q, v, frames, "LOCAL_WORLD_ALIGNED")
    center = mass @ T[..., 3] / mass.sum()
    momentum, inertia = np.zeros(6), np.zeros((3, 3))
    for m, joint, X, motion in zip(mass, model.joints, T, V, strict=True):
        r, tensor = X[:, 3] - center, X[:, :3] @ joint.inertia.tensor @ X[:, :3].T
        momentum[:3] += m * motion[:3]
        momentum[3:] += tensor @ motion[3:] + m * np.cross(r, motion[:3])
        inertia += tensor + m * (r @ r * np.eye(3) - np.outer(r, r))
    return q, v, center, momentum, inertia


@settings(max_examples=50)
@given(models(), st.integers(0, 2**32 - 1))
def test_results_are_sums_over_the_bodies(model, seed):
    q, v, center, momentum, inertia = together(model, seed)
    scale = size_of(q, v, 0.0 * v)
    assert error(tf.center_of_mass(model, q), center, scale) < CLOSE
    assert error(tf.centroidal_momentum(model, q, v), momentum, scale * 10.0) < CLOSE
    assert error(tf.centroidal_inertia(model, q), inertia, scale * 10.0) < CLOSE


def test_a_million_metres_away_no_digit_is_lost():
    """Compare two floating robots near the origin with the same ones far away."""
    kinds = ["freeflyer", "revolute", "helical", "prismatic", "freeflyer", "revolute"]
    model = free(random_model([-1, 0, 1, 2, -1, 4], kinds, 3))
    q, v, a, _ = arguments(model, 2)
    near, far, shift = q.copy(), q.copy(), np.array([2.0**20, -(2.0**20), 2.0**19])
    second = model.idx_q[4]
    for i, start in ((0, 0), (4, second)):
        for x, where in ((near, 0.0), (far, shift)):
            x[start : start + 3] = model.joints[i].R.T @ (where - model.joints[i].p)
    centers = [tf.center_of_mass(model, x, v, a) for x in (near, far)]
    assert np.abs(centers[1][0] - centers[0][0] - shift).max() <= 8 * np.spacing(2.0**20)
    for function, arrays, size in [
        (tf.center_of_mass_jacobian, (), 1.0),
        (tf.centroidal_map, (), 1.0),
        (tf.centroidal_map_dot, (v,), 10.0),
        (tf.centroidal_momentum, (v,), 10.0),
        (tf.centroidal_momentum_rate, (v, a), 100.0),
        (tf.centroidal_inertia, (), 1.0),
    ]:
        own, other = (function(model, x, *arrays) for x in (near, far))
        assert error(own, other, size) < 4e-9  # positions of the two robots are rounded to 2e-10
    alone = free(random_model([-1, 0, 1], kinds[:3], 3))
    q, v, a, _ = arguments(alone, 2)
    far = q.copy()
    q[:3], far[:3] = 0.0, shift
    for function, arrays in [
        (tf.center_of_mass_jacobian, ()),
        (tf.centroidal_map, ()),
        (tf.centroidal_map_dot, (v,)),
        (tf.centroidal_momentum, (v,)),
        (tf.centroidal_momentum_rate, (v, a)),
        (tf.centroidal_inertia, ()),
    ]:
        assert (function(alone, q, *arrays) == function(alone, far, *arrays)).all()


def test_models_without_mass_are_an_error():
    hinge = tf.Joint("hinge", "revolute", axis=[0, 0, 1])
    heavy = tf.Joint("heavy", "revolute", axis=[0, 0, 1], inertia=tf.Inertia(1.0, [0, 0, 0], np.eye(3)))
    for model in (tf.Model([hinge]), tf.Model([])):
        q = np.zeros(model.nq)
        for function in (tf.center_of_mass, tf.center_of_mass_jacobian, tf.centroidal_map):
            with pytest.raises(tf.InvalidModelError, match=r"has no centre of mass.* Inertia with mass > 0"):
                function(model, q)
    model = tf.Model([heavy, tf.Joint("tip", "revolute", axis=[0, 0, 1], parent=0)])
    assert tf.center_of_mass(model, np.zeros(2)).shape == (3,)
    with pytest.raises(
        tf.InvalidModelError, match="the subtree of joint 'tip' has no centre of mass"
    ) as caught:
        tf.center_of_mass(model, np.zeros(2), root="tip")
    assert caught.value.joint == "tip"


@pytest.mark.parametrize("name", [name for name in MODELS if name != "nothing"])
def test_centres_come_with_the_derivatives_that_are_possible(name):
    model = MODELS[name]
    for size in ((), (11,), (2, 5)):
        q, v, a, _ = arguments(model, 1, size)
        for root in (None, -1, 0, model.joints[-1].name):
            three = tf.center_of_mass(model, q, v, a, root)
            for other in (
                tf.center_of_mass(model, q, v, root=root),
                [tf.center_of_mass(model, q, root=root)],
            ):
                assert all((own == x).all() for own, x in zip(three, other, strict=False))
            out = tuple(map(np.empty_like, three))
            assert tf.center_of_mass(model, q.tolist(), v, a, root, out=out) is out
            assert all((own == x).all() for own, x in zip(three, out, strict=True))
            assert all(x.shape == (*size, 3) for x in three)
    with pytest.raises(TypeError, match="v is needed"):
        tf.center_of_mass(model, q, None, a)


def test_wrong_roots_are_named():
    model = MODELS["freeflyer"]
    q = tf.neutral(model)
    with pytest.raises(tf.InvalidModelError, match=r"root 'j00' is not .*did you mean 'j0'"):
        tf.center_of_mass(model, q, root="j00")
    with pytest.raises(IndexError, match="got root 99"):
        tf.center_of_mass_jacobian(model, q, 99)
    with pytest.raises(tf.DtypeError):
        tf.center_of_mass(model, q, root=0.5)


def test_long_chains_fit_in_the_workspace():
    """Covers workspaces that are larger than the part of the stack set aside for them."""
    model = free(
        random_model(range(-1, 149), ["freeflyer", *["revolute", "helical", "prismatic"] * 50][:150], 3)
    )
    q, v, center, momentum, inertia = together(model, 1)
    a, scale = np.ones(model.nv), np.abs(inertia).max() * size_of(q, v, v)
    assert error(tf.center_of_mass(model, q), center, 1.0) < 1e-12
    assert error(tf.centroidal_inertia(model, q), inertia) < 1e-12
    A, dA = tf.centroidal_map(model, q), tf.centroidal_map_dot(model, q, v)
    for own, other in [
        (tf.centroidal_momentum(model, q, v), momentum),
        (tf.centroidal_momentum(model, q, v), A @ v),
        (tf.centroidal_momentum_rate(model, q, v, a), A @ a + dA @ v),
    ]:
        assert error(own, other, scale) < 1e-12
        assert np.isfinite(own).all()


@pytest.mark.parametrize("name", ["all kinds", "followers"])
def test_changed_models_have_masses_of_their_own(name):
    """All bodies change differently, so that what every joint carries does, too."""
    robot = MODELS[name]
    pi = robot.parameters * np.linspace(0.5, 2.0, robot.njoints)[:, None]
    changed, (q, v, *_) = robot.with_parameters(pi), arguments(robot)
    anew = tf.Model(changed.joints, robot.gravity)
    for function, operands in ((tf.center_of_mass_jacobian, (q,)), (tf.centroidal_momentum, (q, v))):
        np.testing.assert_allclose(
            function(changed, *operands), function(anew, *operands), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(tf.centroidal_inertia(changed, q), tf.centroidal_inertia(anew, q), rtol=1e-12)
