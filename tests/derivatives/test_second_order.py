"""Compare second derivatives of the dynamics with differences of 50 digits, and with Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.derivative_cases import (
    FOLLOWERS,
    KINDS,
    MODELS,
    PER_CONDITION,
    ROBOTS,
    random_case,
    robot,
    scaled_error,
    sizes,
)
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import derivatives as oracle

import treefactor as tf

ROUNDING = 2e-14  # relative to the largest entry, scaled: sums of all freedoms
FAR = 1e-12
AWAY = np.array([1e6, -2e6, 5e5])  # m
STEP = 1e-5  # of central differences
SMOOTH = 1e-6  # their relative error
TURNING = ("spherical", "planar", "freeflyer")  # kinds whose motions do not commute
FEW = [*(f"{kind} {where}" for kind in KINDS for where in ("at the root", "in mid-tree")), *FOLLOWERS]

pytestmark = pytest.mark.isa


def case(model, seed=0, size=()):
    """Return random q, v, a, weights w and fext, all scaled by the sizes of the freedoms, and these."""
    q, v, a, w, fext = random_case(model, seed, size)
    size = sizes(model, q)
    return q, v / size, a / size, w / size, fext, size


def directions(model, size, *shape, seed=1):
    """Return random directions in q, v and a, each (*shape, nv); a force times one of them is of order 1."""
    return np.random.default_rng(seed).normal(size=(3, *shape, model.nv)) / size


def error(own, expected, size, scale=0.0):
    """Return the largest deviation over the largest entry or scale; entries of both are divided by size."""
    assert own.shape == expected.shape
    largest = max(np.abs(expected / size).max(initial=1e-300), scale)
    return np.abs((own - expected) / size).max(initial=0.0) / largest


def assert_vectors(own, expected, size, tolerance=ROUNDING):
    """Assert that the parts by q, v and a are as expected; parts far smaller than others by those others."""
    largest = max(np.abs(part / size).max(initial=0.0) for part in expected)
    for one, other in zip(own, expected, strict=True):
        assert error(one, other, size, 1e-3 * largest) < tolerance


def assert_differences(products, differences, size, tolerance):
    """Assert that the products of second derivatives with unit vectors are differences of 50 digits.

    ``differences`` takes directions y (3 nv, 3, nv); the sizes of the parts by q, v and a are given.
    """
    n = len(size[0])
    expected = differences(np.eye(3 * n).reshape(3 * n, 3, n)).reshape(3, n)
    for one, other, own in zip(products, expected, size, strict=True):
        assert error(one, other, own, 1e-3 * np.abs(expected / size).max()) < tolerance


def allowed(model, q, size):
    """Return the relative error of solutions with H."""
    return 20 * PER_CONDITION * np.linalg.cond(tf.crba(model, q) / np.outer(size, size))


def blocks(second, size):
    """Return the products of all matrices with the unit vectors of q, v and a, divided by their sizes."""
    zero, unit = np.zeros_like(second.qq), np.diag(1 / size)
    rows = np.block(
        [
            [second.qq, second.qv, second[3]],
            [second.qv.T, second.vv, zero],
            [second[3].T, zero, zero],
        ]
    )
    return rows.reshape(3, len(size), 3, len(size)) @ unit


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", FEW)
def test_products_are_differences_of_50_digits(name, symmetric):
    model = MODELS[name]
    q, v, a, w, fext, size = case(model)
    x = directions(model, size)
    products = tf.rnea_hvp(model, q, v, a, w, *x, fext=fext, symmetric=symmetric)
    assert products._fields == ("q", "v", "a")

    def differences(y):
        return oracle.hessian_differences(model, q, v, a, w, np.broadcast_to(x, y.shape), y, fext, symmetric)

    assert_differences(products, differences, [size] * 3, ROUNDING)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["all kinds", "all kinds reversed", "forest"])
def test_products_of_large_trees_are_differences_of_50_digits(name):
    test_products_are_differences_of_50_digits(name, True)
    test_products_are_differences_of_50_digits(name, False)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_matrices_times_vectors_are_the_products(name, symmetric):
    model = MODELS[name]
    q, v, a, w, fext, size = case(model, 1)
    zero = np.zeros((model.nv, model.nv))
    hessian = tf.rnea_hessian(model, q, v, a, w, fext, symmetric)
    assert hessian._fields == ("qq", "qv", "vv", "qa")
    unit = np.diag(1 / size)
    steps = ((unit, zero, zero), (zero, unit, zero), (zero, zero, unit))
    own = blocks(hessian, size)
    for k, step in enumerate(steps):
        expected = tf.rnea_hvp(model, q, v, a, w, *step, fext=fext, symmetric=symmetric)
        for part in range(3):
            scale = np.abs(np.array(expected) / size).max()
            assert error(own[part, :, k], expected[part].T, size[:, None], 1e-3 * scale) < ROUNDING
    assert (hessian.vv == hessian.vv.T).all()
    if symmetric:
        assert (hessian.qq == hessian.qq.T).all()
    assert not any(block[~model.tree.mask()].any() for block in hessian)


@pytest.mark.parametrize("name", MODELS)
def test_a_change_of_weights_adds_their_gradient(name):
    model = MODELS[name]
    q, v, a, w, fext, size = case(model, 2)
    x, dw = directions(model, size), directions(model, size, seed=3)[0]
    with_dw, without = (tf.rnea_hvp(model, q, v, a, w, *x, one, fext) for one in (dw, None))
    expected = [one - other for one, other in zip(with_dw, without, strict=True)]
    gradient = tf.rnea_vjp(model, q, v, a, dw, fext)
    assert_vectors(gradient[:3], expected, size, 1e3 * ROUNDING)
    alone = tf.rnea_hvp(model, q, v, a, w, None, None, None, dw, fext)
    assert_vectors(alone, gradient[:3], size)


@pytest.mark.parametrize("name", MODELS)
def test_the_derivative_of_the_gradient_is_symmetric_but_for_the_lie_bracket(name):
    model = MODELS[name]
    q, v, a, w, fext, size = case(model, 3)
    plain, symmetric = (tf.rnea_hessian(model, q, v, a, w, fext, kind).qq for kind in (False, True))
    bracket = np.zeros_like(plain)
    gradient = tf.rnea_vjp(model, q, v, a, w, fext).q
    for joint, at in zip(model.joints, model.idx_v, strict=True):
        if joint.kind in TURNING:
            own = slice(at, at + joint.nv)
            bracket[own, own] = bracket_matrix(joint, gradient[own])
    assert bracket.any() or not {"spherical", "freeflyer"} & {joint.kind for joint in model.joints}
    scale = np.abs(plain / np.outer(size, size)).max()
    for own, expected in ((plain - plain.T, bracket), (plain - bracket / 2, symmetric)):
        assert np.abs((own - expected) / np.outer(size, size)).max() < ROUNDING * scale


def bracket_matrix(joint, gradient):
    """Return g . [x, y] for all unit vectors y (rows) and x of the tangent of one joint with gradient g."""
    S = oracle.motion(joint, oracle.neutral(joint.kind))[2]
    return oracle.motion_cross(S.T[None], S.T[:, None]) @ (S @ gradient)


@pytest.mark.parametrize("name", MODELS)
def test_symmetric_products_are_curvatures_along_integrate(name):
    model = MODELS[name]
    q, v, a, w, fext, size = case(model, 4)
    x = directions(model, size)
    h = 1e-3

    def function(t):
        ahead = tf.integrate(model, q, t * x[0])
        return w @ tf.rnea(model, ahead, v + t * x[1], a + t * x[2], fext)

    values = [function(t * h) for t in (-2, -1, 0, 1, 2)]
    expected = np.dot([-1, 16, -30, 16, -1], values) / (12 * h * h)
    for symmetric in (True, False):
        curvature = np.vdot(x, tf.rnea_hvp(model, q, v, a, w, *x, fext=fext, symmetric=symmetric))
        assert curvature == pytest.approx(expected, rel=1e-5, abs=1e-6 * (1 + np.abs(values).max()))


@pytest.mark.parametrize("name", ROBOTS)
def test_derivatives_of_gradients_are_differences_of_pinocchios(name):
    pin = pytest.importorskip("pinocchio")
    theirs, model = robot(name)
    data = theirs.createData()
    q, v, a, w, _, size = case(model, 5)

    def gradients(t, k):
        """Return the gradients by q and v, displaced by t along the k-th unit vector."""
        step = t * np.eye(model.nv)[k]
        by_q, by_v, _ = pin.computeRNEADerivatives(theirs, data, pin.integrate(theirs, q, step), v, a)
        return np.array([by_q.T @ w, by_v.T @ w])

    hessian = tf.rnea_hessian(model, q, v, a, w, symmetric=False)
    for k in range(model.nv):
        expected = (gradients(STEP, k) - gradients(-STEP, k)) / (2 * STEP)
        for own, column in zip((hessian.qq[:, k], hessian.qv[k]), expected, strict=True):
            assert error(own, column, size, 1.0) < SMOOTH


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", [f"{kind} in mid-tree" for kind in TURNING] + ["universal at the root"])
def test_products_of_accelerations_are_differences_of_50_digits(name, symmetric):
    model = MODELS[name]
    q, v, tau, w, fext, size = case(model, 7)
    tau, w, x = tau * size**2, w * size**2, directions(model, size)
    x[2] *= size**2
    products = tf.forward_dynamics_hvp(model, q, v, tau, w, *x, fext=fext, symmetric=symmetric)
    assert products._fields == ("q", "v", "tau")

    def differences(y):
        return oracle.forward_hessian_differences(
            model, q, v, tau, w, np.broadcast_to(x, y.shape), y, fext, symmetric
        )

    assert_differences(products, differences, [size, size, 1 / size], allowed(model, q, size))


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_products_of_all_accelerations_are_differences_of_50_digits(name):
    test_products_of_accelerations_are_differences_of_50_digits(name, True)
    test_products_of_accelerations_are_differences_of_50_digits(name, False)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_matrices_of_accelerations_times_vectors_are_the_products(name, symmetric):
    model = MODELS[name]
    q, v, tau, w, fext, size = case(model, 8)
    tau, w = tau * size**2, w * size**2
    dq, dv, dtau = directions(model, size)
    dtau *= size**2
    hessian = tf.forward_dynamics_hessian(model, q, v, tau, w, fext, symmetric)
    assert hessian._fields == ("qq", "qv", "vv", "qtau")
    products = tf.forward_dynamics_hvp(model, q, v, tau, w, dq, dv, dtau, fext=fext, symmetric=symmetric)
    expected = (
        hessian.qq @ dq + hessian.qv @ dv + hessian.qtau @ dtau,
        hessian.qv.T @ dq + hessian.vv @ dv,
        hessian.qtau.T @ dq,
    )
    for own, other, scale in zip(products, expected, (size, size, 1 / size), strict=True):
        assert error(own, other, scale, 1.0) < allowed(model, q, size)
    if symmetric:
        assert scaled_error(hessian.qq, hessian.qq.T.copy(), size, size) < 1e-15
    assert not hessian.vv[~model.tree.mask()].any()


@pytest.mark.parametrize("name", MODELS)
def test_a_change_of_weights_adds_the_gradient_of_accelerations(name):
    model = MODELS[name]
    q, v, tau, w, fext, size = case(model, 9)
    tau, w, dw = tau * size**2, w * size**2, directions(model, 1 / size)[0]
    products = tf.forward_dynamics_hvp(model, q, v, tau, w, None, None, None, dw, fext)
    expected = tf.forward_dynamics_vjp(model, q, v, tau, dw, fext)
    for own, other, scale in zip(products, expected[:3], (size, size, 1 / size), strict=True):
        assert error(own, other, scale, 1.0) < allowed(model, q, size)


CALLS = {
    "rnea_hvp": (tf.rnea_hvp, 7),
    "rnea_hessian": (tf.rnea_hessian, 4),
    "forward_dynamics_hvp": (tf.forward_dynamics_hvp, 7),
    "forward_dynamics_hessian": (tf.forward_dynamics_hessian, 4),
}


def arrays_of(name, model, size=()):
    """Return the arrays of a call, with external forces."""
    q, v, a, w, fext, _ = case(model, 10, size)
    steps = np.random.default_rng(11).normal(size=(3, *v.shape))
    return [q, v, a, w, *steps][: CALLS[name][1]], fext


@pytest.mark.parametrize("name", CALLS)
def test_the_place_of_the_base_does_not_matter(name):
    model = MODELS["all kinds"]
    function = CALLS[name][0]
    arrays, fext = arrays_of(name, model)
    joints = [replace(j, p=j.p + AWAY) if j.parent < 0 else j for j in model.joints]
    far = function(tf.Model(joints, model.gravity), *arrays, fext=fext)
    for own, other in zip(far, function(model, *arrays, fext=fext), strict=True):
        assert np.abs(own - other).max() <= FAR * np.abs(other).max()


@settings(max_examples=20)
@given(models(max_joints=5), st.integers(0, 2**32 - 1))
def test_trees_have_symmetric_second_derivatives(model, seed):
    q, v, a, w, fext, size = case(model, seed)
    x, y = directions(model, size, 2, seed=seed).swapaxes(0, 1)
    product = np.vdot(y, tf.rnea_hvp(model, q, v, a, w, *x, fext=fext))
    other = np.vdot(x, tf.rnea_hvp(model, q, v, a, w, *y, fext=fext))
    second = tf.rnea_hessian(model, q, v, a, w, fext)
    terms = [np.abs(block / np.outer(size, size)).sum() for block in second]
    scale = (1 + np.square(x * size).sum() + np.square(y * size).sum()) * (1e-9 + np.sum(terms))
    assert abs(product - other) < ROUNDING * scale
    expected = oracle.hessian_differences(model, q, v, a, w, x, y, fext)
    assert abs(product - expected) < ROUNDING * scale
