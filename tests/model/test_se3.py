"""Check rigid motions and rotations against Pinocchio and power series, near 0 and pi."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treefactor import se3, so3

ANGLES = (0.0, 1e-200, 1e-12, 1e-5, 0.0999, 0.1001, 0.2999, 0.3001, 1.0, 3.0, np.pi - 1e-9, np.pi)
rng = np.random.default_rng(0)


def axes(count):
    a = np.random.default_rng(1).normal(size=(count, 3))
    return [*(a / np.linalg.norm(a, axis=1, keepdims=True)), *np.eye(3), *-np.eye(3)]


def motions(angle):
    return [np.concatenate([[0.3, -2.0, 1.0], angle * axis]) for axis in axes(5)]


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio")


def pose(M):
    return M.homogeneous[:3]


def cross(a):
    return np.cross(np.eye(3), a)


def series(matrix, divisor):
    """Return the sum of matrix^k / (k + divisor)!."""
    term = total = np.eye(len(matrix)) * 1.0
    for k in range(1, 80):
        term = term @ matrix / (k + divisor)
        total = total + term
    return total


# ----------------------------------------------------------------------------------- as Pinocchio does


@pytest.mark.parametrize("angle", ANGLES)
def test_exponentials_and_logarithms_are_pinocchios(pin, angle):
    for v in motions(angle):
        M = se3.exp(v)
        np.testing.assert_allclose(M, pose(pin.exp6(v)), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(M[:, :3], so3.exp(v[3:]), atol=1e-16)
        twin = pin.SE3(M[:, :3], M[:, 3])
        near = angle > np.pi - 1e-6  # the sign of the axis is a matter of rounding
        if not near:
            np.testing.assert_allclose(se3.log(M), pin.log6(twin).vector, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(so3.log(M[:, :3]), pin.log3(M[:, :3]), rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(se3.jlog(M), pin.Jlog6(twin), atol=1e-8)
        np.testing.assert_allclose(se3.exp(se3.log(M)), M, rtol=1e-13, atol=2e-14)
        assert np.linalg.norm(so3.log(M[:, :3])) <= np.pi * (1.0 + 1e-15)


@pytest.mark.parametrize("angle", ANGLES[:-2])
def test_logarithms_invert_exponentials(angle):
    for v in motions(angle):
        np.testing.assert_allclose(se3.log(se3.exp(v)), v, rtol=1e-13, atol=2e-14)


def test_half_turns_have_a_finite_logarithm(pin):
    for k in range(3):
        R = -np.eye(3)
        R[k, k] = 1.0
        np.testing.assert_allclose(so3.log(R), np.pi * np.eye(3)[k], atol=1e-15)
        np.testing.assert_allclose(np.abs(so3.log(R)), np.abs(pin.log3(R)), atol=1e-12)
        assert np.isfinite(se3.jlog(np.column_stack([R, [1.0, 2.0, 3.0]]))).all()


@pytest.mark.parametrize("angle", ANGLES[:-2])
def test_jacobians_are_power_series(angle):
    for v in motions(angle):
        ad = np.block([[cross(v[3:]), cross(v[:3])], [np.zeros((3, 3)), cross(v[3:])]])
        J = series(-ad, 1)
        np.testing.assert_allclose(se3.jexp(v), J, atol=3e-14)
        np.testing.assert_allclose(so3.jexp(v[3:]), J[:3, :3], atol=3e-14)
        tolerance = 2e-13 if angle < 3.0 else 1e-12
        np.testing.assert_allclose(se3.jlog(se3.exp(v)) @ J, np.eye(6), atol=tolerance)
        np.testing.assert_allclose(so3.jlog(so3.exp(v[3:])) @ J[:3, :3], np.eye(3), atol=tolerance)
        np.testing.assert_allclose(se3.action(se3.exp(v)), series(ad, 0), atol=1e-13)


def test_products_are_pinocchios(pin):
    for _ in range(5):
        A, B = pin.SE3.Random(), pin.SE3.Random()
        M, N, x, v = pose(A), pose(B), rng.normal(size=3), rng.normal(size=6)
        twins = [
            (se3.compose(M, N), pose(A * B)),
            (se3.inverse(M), pose(A.inverse())),
            (se3.between(M, N), pose(A.actInv(B))),
            (se3.interpolate(M, N, 0.3), pose(pin.SE3.Interpolate(A, B, 0.3))),
            (se3.action(M), A.action),
            (se3.act(M, x), A.act(x)),
            (se3.act_inverse(M, x), A.actInv(x)),
            (se3.act(M, v), A.act(pin.Motion(v)).vector),
            (se3.act_inverse(M, v), A.actInv(pin.Motion(v)).vector),
            (so3.compose(M[:, :3], N[:, :3]), (A * B).rotation),
            (so3.inverse(M[:, :3]), A.rotation.T),
            (so3.between(M[:, :3], N[:, :3]), A.actInv(B).rotation),
            (so3.interpolate(M[:, :3], N[:, :3], 0.3), pin.SE3.Interpolate(A, B, 0.3).rotation),
            (so3.act(M[:, :3], x), A.rotation @ x),
            (so3.act_inverse(M[:, :3], x), A.rotation.T @ x),
        ]
        for result, expected in twins:
            np.testing.assert_allclose(result, expected, atol=1e-14)


def test_conversions_are_pinocchios(pin):
    for _ in range(5):
        A, rpy = pin.SE3.Random(), rng.uniform(-1.5, 1.5, 3)
        x = pin.SE3ToXYZQUAT(A)
        np.testing.assert_allclose(
            se3.to_xyzquat(pose(A)), x * np.r_[1, 1, 1, [np.sign(x[6])] * 4], atol=1e-15
        )
        np.testing.assert_allclose(se3.from_xyzquat(x), pose(A), atol=1e-15)
        np.testing.assert_allclose(so3.from_quaternion(5.0 * x[3:]), A.rotation, atol=1e-15)
        np.testing.assert_allclose(so3.to_quaternion(A.rotation), se3.to_xyzquat(pose(A))[3:], atol=0)
        np.testing.assert_allclose(so3.from_rpy(rpy), pin.rpy.rpyToMatrix(rpy), atol=1e-15)
        np.testing.assert_allclose(so3.to_rpy(A.rotation), pin.rpy.matrixToRpy(A.rotation), atol=1e-13)
        placed = pose(pin.SE3(pin.rpy.rpyToMatrix(rpy), x[:3]))
        np.testing.assert_allclose(se3.from_rpy(x[:3], rpy), placed, atol=1e-15)


@pytest.mark.parametrize("off", [0.0, 1e-12, 1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_angles_give_the_rotation_at_every_pitch(sign, off):
    R = so3.from_rpy([0.4, sign * (np.pi / 2 - off), -1.1])
    np.testing.assert_allclose(so3.from_rpy(so3.to_rpy(R)), R, atol=4e-16)


@given(st.integers(0, 2**32 - 1), st.floats(0, 10))
def test_interpolation_is_a_screw(seed, u):
    some = np.random.default_rng(seed)
    M, N = se3.exp(some.normal(size=(2, 6)))
    there = se3.interpolate(M, N, u)
    v = se3.log(se3.between(M, N))
    np.testing.assert_allclose(there, se3.compose(M, se3.exp(u * v)), atol=1e-12)


def test_threads_leave_numbers_that_are_not_finite_where_one_does():
    M = se3.exp(rng.normal(size=(20_000, 6)))  # enough that each thread gets a part
    M[::7, 0, 3] = np.nan
    expected = se3.inverse(M)
    assert np.isnan(expected[::7, :, 3]).all()
    assert np.isfinite(expected[..., :3]).all()
    np.testing.assert_array_equal(se3.inverse(M, num_threads=3), expected)
