"""Compare the named arms, as chains, with Pinocchio's models of the same parameters."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from helpers.tolerances import assert_close

import treefactor as tf
from treefactor.model.arms import GENERAL, SSRMS, Arm
from treefactor.papers.textbook import kane_sum


def general_arm(prismatic) -> Arm:
    """Return an arm of random parameters and bodies."""
    rng = np.random.default_rng(5)
    n = len(prismatic)
    root = rng.standard_normal((n, 3, 3))
    return Arm(
        "general",
        rng.standard_normal((n, 3)),
        rng.uniform(1, 2, n),
        rng.standard_normal((n, 3)),
        root @ np.swapaxes(root, 1, 2),
        prismatic,
    )


def pinocchio_arm(arm):
    """Return Pinocchio's model: Rx(alpha) Tx(d) Tz(r), then the joint."""
    model = pin.Model()
    for k, (alpha, d, r) in enumerate(arm.rows):
        R = pin.utils.rotate("x", alpha)
        joint = pin.JointModelPZ() if arm.prismatic[k] else pin.JointModelRZ()
        model.addJoint(k, joint, pin.SE3(R, R @ [d, 0, r]), f"joint{k}")
        inertia = pin.Inertia(arm.mass[k], arm.centre[k], arm.inertia[k])
        model.appendBodyToJoint(k + 1, inertia, pin.SE3.Identity())
    return model


@pytest.mark.parametrize("arm", [SSRMS, general_arm([False, True, False, True, False])], ids=lambda a: a.name)
def test_chain_is_that_of_pinocchio(arm):
    model = pinocchio_arm(arm)
    n, data = model.nq, model.createData()
    q = np.random.default_rng(1).uniform(-3, 3, (4, n))
    A = tf.chain_inertia(*arm.chain(q), prismatic=arm.prismatic)
    for own, at in zip(A, q, strict=True):
        expected = pin.crba(model, data, at, pin.Convention.WORLD)
        assert_close(own, np.triu(expected) + np.triu(expected, 1).T, 10 * n)
        np.testing.assert_allclose(np.sum(arm.chain(at)[1], axis=0), data.oMi[n].translation, atol=1e-12)


@pytest.mark.parametrize("arm", [SSRMS, *GENERAL], ids=lambda a: a.name)
def test_model_is_that_of_the_chain(arm):
    q = np.random.default_rng(2).uniform(-3, 3, len(arm.mass))
    expected = tf.chain_inertia(*arm.chain(q), prismatic=arm.prismatic)
    assert_close(tf.crba(arm.model(), q), expected, 10 * len(q))


def six_moving(q):
    """Return the SSRMS with its last joint locked, the last link welded to the one before."""
    axis, r, mass, c, inertia = SSRMS.chain(q)
    arm, h = r[6], c[6] + mass[6] * r[6]
    c[5] += h
    inertia[5] += inertia[6] + (arm @ (c[6] + h)) * np.eye(3) - np.outer(arm, c[6]) - np.outer(h, arm)
    mass[5] += mass[6]
    return [x[:6] for x in (axis, r, mass, c, inertia)]


def test_ssrms_with_six_moving_joints():
    q = np.linspace(-1, 1, 7)
    six = six_moving(q)
    A, own = tf.chain_inertia(*six, count=True)
    assert_close(A, tf.chain_inertia(*SSRMS.chain(q))[:6, :6], 6)
    published = kane_sum.evaluate(kane_sum.TOTAL, 6)
    assert (published.mul, published.add, published.total) == (1071, 1443, 2514)
    assert (own.mul, own.add, own.total) == (291, 314, 605)
    assert_close(kane_sum.inertia(*six).astype(float), A, 6)


def test_ssrms_is_a_real_arm():
    assert SSRMS.mass.sum() == pytest.approx(1261.66)
    axis, r, *_ = SSRMS.chain(np.zeros(7))
    assert np.linalg.norm(r[3:5], axis=1).sum() == pytest.approx(2 * np.hypot(6.85, 0.5))
    np.testing.assert_allclose(axis[2:5], np.tile(axis[2], (3, 1)))  # three parallel pitch joints
    second = np.trace(SSRMS.inertia, axis1=1, axis2=2)[:, None] / 2 - np.linalg.eigvalsh(SSRMS.inertia)
    assert (second > 0).all()  # the triangle inequality of moments of inertia
    with pytest.raises(ValueError, match="read-only"):
        SSRMS.mass[0] = 1.0


def test_q_must_have_the_size_of_the_arm():
    with pytest.raises(tf.ShapeError, match=r"\(\.\.\., 7\)"):
        SSRMS.chain(np.zeros(6))


def test_an_arm_pickles_and_cannot_be_written():
    other = pickle.loads(pickle.dumps(SSRMS))
    np.testing.assert_array_equal(other.inertia, SSRMS.inertia)
    assert SSRMS not in {other}
    for arm in (SSRMS, other):
        with pytest.raises(ValueError, match="read-only"):
            arm.mass[0] = 0.0
