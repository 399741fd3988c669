"""Compare parameters of bodies and their coordinates with Pinocchio, finite differences and round trips."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import treefactor as tf
from treefactor import identification
from treefactor.model import parameters as own

pin = pytest.importorskip("pinocchio")

COORDINATES = arrays(float, (10,), elements=st.floats(-2.0, 2.0))
PLACES = arrays(float, (3,), elements=st.floats(-5.0, 5.0))
SHAPES = [(), (1,), (7,), (3, 5)]


def random_parameters(shape=(), seed=0):
    """Return parameters of bodies that can exist."""
    return own.from_log_cholesky(np.random.default_rng(seed).normal(size=(*shape, 10)))


def close(result, expected, tolerance=1e-13):
    scale = max(np.abs(expected).max(), 1e-300)
    assert np.abs(np.asarray(result) - expected).max() <= tolerance * scale


@given(COORDINATES)
def test_coordinates_are_those_of_pinocchio(theta):
    theirs = pin.LogCholeskyParameters(theta)
    pi = own.from_log_cholesky(theta)
    close(pi, theirs.toDynamicParameters())
    close(own.log_cholesky_jacobian(theta), theirs.calculateJacobian())
    close(own.pseudo_inertia(pi), pin.PseudoInertia.FromDynamicParameters(pi).toMatrix())


@given(COORDINATES)
def test_coordinates_come_back(theta):
    pi = own.from_log_cholesky(theta)
    assert own.fault_of(pi) is None
    smallest = np.linalg.eigvalsh(own.pseudo_inertia(pi))[0] / np.abs(pi).max()
    if smallest > 1e-8:
        close(own.from_log_cholesky(own.to_log_cholesky(pi)), pi)
        assert np.abs(own.to_log_cholesky(pi) - theta).max() <= 1e-13 / smallest


@pytest.mark.parametrize("shape", SHAPES)
def test_many_are_the_same_as_one(shape):
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(*shape, 10))
    pi, J = own.from_log_cholesky(theta), own.pseudo_inertia(own.from_log_cholesky(theta))
    R, p = np.linalg.qr(rng.normal(size=(*shape, 3, 3)))[0], rng.normal(size=(*shape, 3))
    moved = own.moved_parameters(pi, R, p)
    for at in np.ndindex(*shape):
        assert np.array_equal(own.pseudo_inertia(pi[at]), J[at])
        assert np.array_equal(own.moved_parameters(pi[at], R[at], p[at]), moved[at])
        close(own.from_pseudo_inertia(J[at]), pi[at], 1e-15)
        close(own.to_log_cholesky(pi)[at], own.to_log_cholesky(pi[at]), 1e-14)


def test_jacobian_is_the_derivative():
    theta = np.random.default_rng(2).normal(size=(6, 10))
    step = 1e-30j * np.eye(10)
    U = own._factor(theta[:, None] + step)
    exact = np.swapaxes(own._parameters(U @ np.swapaxes(U, -1, -2)).imag * 1e30, -1, -2)
    close(own.log_cholesky_jacobian(theta), exact, 1e-15)


@given(COORDINATES, PLACES, PLACES)
def test_moved_parameters_are_those_of_the_moved_pseudo_inertia(theta, turn, p):
    pi, R = own.from_log_cholesky(theta), tf.so3.exp(turn)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    moved = own.moved_parameters(pi, R, p)
    close(own.pseudo_inertia(moved), T @ own.pseudo_inertia(pi) @ T.T)
    close(moved, pin.SE3(R, p).act(pin.Inertia.FromDynamicParameters(pi)).toDynamicParameters(), 1e-12)
    close(own.moved_parameters(own.moved_parameters(pi, R=R), p=p), moved, 1e-15)
    close(tf.Inertia.from_parameters(pi).moved(R, p).parameters, moved, 1e-12)


def test_turning_by_right_angles_is_exact():
    pi = random_parameters((4,))
    turned = own.moved_parameters(pi, np.roll(np.eye(3), 1, axis=0))
    assert np.array_equal(np.sort(np.abs(turned)), np.sort(np.abs(pi)))


@given(COORDINATES)
def test_inertia_has_the_parameters_of_pinocchio(theta):
    theirs = pin.Inertia.FromDynamicParameters(own.from_log_cholesky(theta))
    inertia = tf.Inertia(theirs.mass, theirs.lever, theirs.inertia)
    close(inertia.parameters, theirs.toDynamicParameters(), 1e-14)
    again = tf.Inertia.from_parameters(inertia.parameters)
    size = np.abs(inertia.parameters).max()
    assert again.mass == inertia.mass
    assert np.allclose(again.com, inertia.com, rtol=1e-15, atol=0)
    assert np.abs(again.tensor - inertia.tensor).max() <= 1e-13 * size


def test_a_body_without_mass_has_no_first_moment():
    assert np.array_equal(tf.Inertia().parameters, np.zeros(10))
    tensor = tf.Inertia.from_parameters([0, 0, 0, 0, 1, 0, 2, 0, 0, 3]).tensor
    assert np.array_equal(tensor, np.diag([1.0, 2.0, 3.0]))
    with pytest.raises(tf.InvalidModelError, match="no centre of mass"):
        tf.Inertia.from_parameters([0, 0, 1, 0, 1, 0, 2, 0, 0, 3])
    with pytest.raises(tf.InvalidModelError, match="negative"):
        tf.Inertia.from_parameters([-1, 0, 1, 0, 1, 0, 2, 0, 0, 3])
    with pytest.raises(tf.NonFiniteError, match=r"pi\[2\]"):
        tf.Inertia.from_parameters([1, 0, np.nan, *np.ones(7)])
    with pytest.raises(tf.ShapeError, match=r"\(10,\)"):
        tf.Inertia.from_parameters(np.ones(9))


def test_faults_agree_with_eigenvalues():
    rng = np.random.default_rng(3)
    pi = random_parameters((400,), 4) + 0.5 * rng.normal(size=(400, 10))
    least = np.linalg.eigvalsh(own.pseudo_inertia(pi))[:, 0]
    bad = {at for (at,), _ in own.faults(pi)}
    assert 100 < len(bad) < 390
    assert bad == set(np.flatnonzero(least < 0).tolist())


@pytest.mark.parametrize(
    ("pi", "reason"),
    [
        ([1, 0, 0, 0, 1, 0, 1, 0, 0, 2.5], "triangle inequality"),
        ([1, 0, 0, 0, 0.01, 0, 0.01, 0, 0, 0.0200001], "triangle inequality: 0.0200001 > 0.01 + 0.01"),
        (
            [1, 0, 0, 0, 0.0, 0, 0.03, 0, 0, 0.04],
            "0, 0.03, 0.04 break the triangle inequality: 0.04 > 0 + 0.03",
        ),
        (
            [1, 0, 0, 0, -1e-12, 0, 0.03, 0, 0, 0.04],
            "principal moment -1e-12 of the inertia tensor is negative",
        ),
        ([1, 0, 0, 0, 1, 0, 1, 0, 0, -0.5], "negative"),
        ([-1, 0, 0, 0, 1, 0, 1, 0, 0, 1], "mass -1 is negative"),
        ([0, 0, 0, 1, 1, 0, 1, 0, 0, 1], "a first moment without mass"),
        ([0, 0, 0, 0, 1, 0, 1, 0, 0, 1], "an inertia tensor without mass"),
        ([1, 0, 0, 0, 1, 0, np.nan, 0, 0, 1], "I_yy is not finite"),
        ([1, 0, 0, 0, 1, 0, 1, 0, 0, 2], None),
        ([1, 0, 0, 1e3, 1e6, 0, 1e6, 0, 0, 0], None),
        ([0] * 10, None),
    ],
)
def test_faults_have_reasons(pi, reason):
    pi = np.array(pi, float)
    reason_given = own.fault_of(pi)
    assert reason_given is None if reason is None else reason in reason_given
    assert own.faults([[pi, np.zeros(10)]]) == ([] if reason is None else [((0, 0), reason_given)])


def test_the_moments_shown_break_the_triangle_inequality():
    rng = np.random.default_rng(7)
    for excess in 10.0 ** rng.uniform(-8, 0, 200):
        a, b = 10.0 ** rng.uniform(-4, 2, 2)
        moments = a, b, (a + b) * (1 + excess)
        said = own.fault_of([1, 0, 0, 0, moments[0], 0, moments[1], 0, 0, moments[2]])
        largest, least, middle = map(float, re.fullmatch(r".*: (\S+) > (\S+) \+ (\S+)", said).groups())
        assert largest > least + middle, said
        np.testing.assert_allclose([least, middle, largest], sorted(moments), rtol=5e-3)


def test_a_flat_body_needs_a_floor_and_is_named():
    flat = np.array([2, 0, 0, 0, 1, 0, 1, 0, 0, 2.0])
    pi = np.stack([[random_parameters()] * 2, [random_parameters(), flat]])
    with pytest.raises(
        tf.InvalidModelError, match=r"pi\[1, 1\], joint 'wrist': .*positive definite"
    ) as caught:
        own.to_log_cholesky(pi, names=["arm", "wrist"])
    assert caught.value.joint == "wrist"
    theta = own.to_log_cholesky(pi, floor=1e-6)
    assert np.array_equal(theta[0], own.to_log_cholesky(pi[0]))
    raised = own.pseudo_inertia(own.from_log_cholesky(theta[1, 1]))
    assert np.allclose(np.diag(raised), [0.5 * 2, 0.5 * 2, 2e-6, 2.0], rtol=1e-9)
    for values, text in (
        ([2, 0, 0, 0, 1, 0, 1, 0, 0, 3], "at least -1e-06"),
        ([0, 0, 0, 0, 1, 0, 1, 0, 0, 1], "mass must be positive"),
        ([1] + 9 * [0], "their sum"),
    ):
        with pytest.raises(tf.InvalidModelError, match=text):
            own.to_log_cholesky(values, floor=1e-6)


def test_wrong_shapes_are_named():
    for function in (own.pseudo_inertia, own.to_log_cholesky, own.moved_parameters, own.fault_of):
        with pytest.raises(tf.ShapeError, match=r"pi must have shape \(..., 10\), got \(9,\)"):
            function(np.zeros(9))
    with pytest.raises(tf.ShapeError, match="theta"):
        own.from_log_cholesky(np.zeros((10, 3)))
    with pytest.raises(tf.ShapeError, match="J must"):
        own.from_pseudo_inertia(np.zeros((3, 3)))
    with pytest.raises(tf.ShapeError, match="R must"):
        own.moved_parameters(np.zeros(10), np.zeros(3))
    with pytest.raises(ValueError, match="floor must not be negative"):
        own.to_log_cholesky(random_parameters(), floor=-1.0)


def test_identification_has_the_same_functions():
    names = set(own.__all__) - {"PARAMETERS"}
    assert names <= set(identification.__all__)
    assert all(getattr(identification, name) is getattr(own, name) for name in names)
