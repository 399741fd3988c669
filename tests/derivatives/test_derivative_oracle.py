"""Compare the reference derivatives with differences, identities, and Pinocchio where it is right."""

import numpy as np
import pytest
from helpers.derivative_cases import (
    FOLLOWERS,
    KINDS,
    MODELS,
    ROBOTS,
    SINGLE,
    assert_accelerations,
    assert_forces,
    class_error,
    is_linear,
    random_case,
    robot,
    scaled_error,
    sizes,
)
from helpers.dynamics_cases import error
from helpers.model_cases import in_pinocchio
from oracles import derivatives as oracle

import treefactor as tf

ROUNDING = 1e-13  # Pinocchio's, which measures from the base, relative to the largest entry, scaled
VALUE = 1e-13  # relative to the largest entry, and to the size of terms that cancel
STEP = 1e-5  # of central differences
SMOOTH = 1e-8  # their relative error
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
DEPENDENT = "universal"  # Pinocchio's derivatives are wrong where S depends on q


def central(function, model):
    """Return the derivatives of a function of a displacement, on the last axis."""
    steps = STEP * np.eye(model.nv)
    return np.stack([(function(step) - function(-step)) / (2 * STEP) for step in steps], axis=-1)


def pairs():
    """Return functions that load Pinocchio's model and ours where its derivatives are right."""
    trees = {name: model for name, model in SINGLE.items() if DEPENDENT not in name}
    named = {name: lambda name=name: robot(name) for name in ROBOTS}
    return named | {name: lambda model=model: (in_pinocchio(model), model) for name, model in trees.items()}


@pytest.mark.parametrize("name", MODELS)
def test_values_are_those_of_the_package(name):
    model = MODELS[name]
    q, v, a, tau, fext = random_case(model)
    H = tf.crba(model, q)
    scale = np.abs(H).max() * (1 + np.square(v).sum())
    assert error(oracle.inverse_dynamics(model, q, v, a, fext), tf.rnea(model, q, v, a, fext), scale) < VALUE
    assert error(oracle.mass_matrix(model, q), H) < VALUE
    a = oracle.forward_dynamics(model, q, v, tau, fext)
    assert error(oracle.inverse_dynamics(model, q, v, a, fext), tau, scale * np.abs(a).max()) < VALUE


@pytest.mark.parametrize("name", MODELS)
def test_forces_change_as_central_differences_of_them(name):
    model = MODELS[name]
    q, v, a, _, fext = random_case(model, 1)
    expected = (
        central(lambda step: tf.rnea(model, tf.integrate(model, q, step), v, a, fext), model),
        central(lambda step: tf.rnea(model, q, v + step, a, fext), model),
        tf.crba(model, q),
    )
    derivatives = oracle.rnea_derivatives(model, q, v, a, fext)
    assert_forces(derivatives, expected, sizes(model, q), SMOOTH)


@pytest.mark.parametrize("name", pairs())
def test_derivatives_are_those_of_pinocchio(name):
    pin = pytest.importorskip("pinocchio")
    theirs, model = pairs()[name]()
    q, v, a, tau, fext = random_case(model, 2)
    forces = pin.StdVec_Force()
    forces.extend([pin.Force.Zero(), *(pin.Force(force) for force in fext)])
    data, size = theirs.createData(), sizes(model, q)  # results are views of data
    expected = [x.copy() for x in pin.computeRNEADerivatives(theirs, data, q, v, a, forces)]
    assert_forces(oracle.rnea_derivatives(model, q, v, a, fext), expected, size, ROUNDING)
    expected = [x.copy() for x in pin.computeABADerivatives(theirs, data, q, v, tau, forces)]
    own = oracle.forward_dynamics_derivatives(model, q, v, tau, fext)
    assert_accelerations(own, expected, tf.crba(model, q), size, ROUNDING)


@pytest.mark.parametrize("name", MODELS)
def test_accelerations_change_as_complex_steps_of_them(name):
    model = MODELS[name]
    q, v, _, tau, fext = random_case(model, 3)
    own = oracle.forward_dynamics_derivatives(model, q, v, tau, fext)
    functions = (
        lambda step: oracle.forward_dynamics(model, q, v, tau, fext, step),
        lambda step: oracle.forward_dynamics(model, q, v + step, tau, fext),
        lambda step: oracle.forward_dynamics(model, q, v, tau + step, fext),
    )
    expected = [oracle.by_complex_steps(function, model.nv) for function in functions]
    assert_accelerations(own, expected, tf.crba(model, q), sizes(model, q))


@pytest.mark.parametrize("name", MODELS)
def test_eulers_identity_of_velocities(name):
    model = MODELS[name]
    q, v, _, _, _ = random_case(model, 4)
    still = np.zeros(model.nv)
    dtau_dv = oracle.rnea_derivatives(model, q, v, still)[1]
    expected = 2 * (tf.bias(model, q, v) - tf.bias(model, q, still))
    assert error(dtau_dv @ v, expected, np.abs(dtau_dv).max()) < VALUE


@pytest.mark.parametrize("name", [name for name in SINGLE if DEPENDENT not in name])
def test_gradients_by_inertial_parameters_are_pinocchios_regressor(name):
    pin = pytest.importorskip("pinocchio")
    model = SINGLE[name]
    theirs = in_pinocchio(model)
    q, v, a, w, _ = random_case(model, 5)
    regressor = pin.computeJointTorqueRegressor(theirs, theirs.createData(), q, v, a)
    expected = (regressor.T @ w).reshape(-1, 10)
    assert error(oracle.gradient_by_inertia(model, q, v, a, w), expected) < VALUE


@pytest.mark.parametrize("name", MODELS)
def test_gradients_by_external_forces(name):
    model = MODELS[name]
    q, _, _, w, _ = random_case(model, 6)
    expected = [-tf.frame_jacobian(model, q, joint.name) @ w for joint in model.joints]
    assert error(oracle.gradient_by_forces(model, q, w), np.array(expected)) < VALUE


@pytest.mark.parametrize("reference", REFERENCES)
@pytest.mark.parametrize("name", MODELS)
def test_frames_move_as_those_of_the_package(name, reference):
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 7)
    frame = tf.Frame("tool", model.njoints - 1, model.joints[0].R, [0.3, -0.5, 0.7])
    own = oracle.frame_state(model, q, v, a, frame, reference)
    assert error(own.placement, tf.frame_placement(model, q, frame)) < VALUE
    assert error(own.velocity, tf.frame_velocity(model, q, v, frame, reference)) < VALUE
    for value, classical in ((own.acceleration, False), (own.classical, True)):
        expected = tf.frame_acceleration(model, q, v, a, frame, reference, classical)
        assert error(value, expected, np.square(own.velocity).sum()) < VALUE

    def velocity(step):
        return oracle.frame_state(model, q, v, a, frame, reference, dq=step).velocity

    expected = central(
        lambda step: tf.frame_velocity(model, tf.integrate(model, q, step), v, frame, reference), model
    )
    rows = np.repeat([True, False], 3)
    by_q = oracle.by_complex_steps(velocity, model.nv)
    assert class_error(by_q, expected, rows, is_linear(model), scale=1.0) < SMOOTH


@pytest.mark.parametrize("name", MODELS)
def test_centroidal_quantities_are_those_of_the_package(name):
    model = MODELS[name]
    q, v, a, _, _ = random_case(model, 8)
    own = oracle.centroidal_state(model, q, v, a)
    for value, expected in zip(own[:3], tf.center_of_mass(model, q, v, a), strict=True):
        assert error(value, expected, 1 + np.square(v).sum()) < VALUE
    assert error(own.momentum, tf.centroidal_momentum(model, q, v)) < VALUE
    assert error(own.rate, tf.centroidal_momentum_rate(model, q, v, a)) < VALUE


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_of_configurations_are_those_of_the_package(name):
    model = MODELS[name]
    q, v, _, _, _ = random_case(model, 9)
    q1 = tf.integrate(model, q, v)
    for own, expected in zip(
        oracle.integrate_derivatives(model, v), tf.d_integrate(model, q, v), strict=True
    ):
        assert error(own, expected) < VALUE
    own = oracle.difference_derivatives(model, tf.difference(model, q, q1))
    for one, expected in zip(own, tf.d_difference(model, q, q1), strict=True):
        assert error(one, expected) < 10 * VALUE


@pytest.mark.parametrize("name", [*(f"{kind} in mid-tree" for kind in KINDS), *FOLLOWERS])
def test_second_derivatives(name):
    model = MODELS[name]
    q, v, a, w, fext = random_case(model, 10)
    x, y = np.random.default_rng(10).normal(size=(2, 4, 3, model.nv))
    second = oracle.hessian_differences(model, q, v, a, w, x, y, fext)
    assert error(oracle.hessian_differences(model, q, v, a, w, y, x, fext), second) < VALUE

    def gradient(t):
        """Return the derivatives of w^T tau along all y, displaced by t times all x."""
        dq, dv, da = (1j * oracle.STEP * y).swapaxes(0, 1)
        tau = oracle.inverse_dynamics(
            model, q, v + t * x[:, 1] + dv, a + t * x[:, 2] + da, fext, (t * x[:, 0], dq)
        )
        return (tau @ w).imag / oracle.STEP

    expected = (gradient(STEP) - gradient(-STEP)) / (2 * STEP)
    second = oracle.hessian_differences(model, q, v, a, w, x, y, fext, symmetric=False)
    assert error(second, expected) < SMOOTH


@pytest.mark.parametrize("name", ["spherical in mid-tree", "followers"])
def test_second_derivatives_of_accelerations(name):
    model = MODELS[name]
    q, v, _, tau, fext = random_case(model, 11)
    w, *x = np.random.default_rng(11).normal(size=(4, model.nv))
    y = np.random.default_rng(12).normal(size=(3, model.nv))

    def slope(t):
        """Return the derivative of w^T a along y, displaced by t times x."""
        steps = (t * x[0], 1j * oracle.STEP * y[0])
        rest = (t * x[k] + 1j * oracle.STEP * y[k] for k in (1, 2))
        a = oracle.forward_dynamics(model, q, v + next(rest), tau + next(rest), fext, steps)
        return (a @ w).imag / oracle.STEP

    expected = (slope(STEP) - slope(-STEP)) / (2 * STEP)
    second = oracle.forward_hessian_differences(model, q, v, tau, w, np.array(x), y, fext, symmetric=False)
    assert error(second, expected, np.abs(slope(0.0))) < SMOOTH


def test_scaled_errors_see_small_rows():
    expected = np.array([[1e6, 1e3], [1e3, 1.0]])
    wrong = expected + np.array([[0.0, 0.0], [0.0, 1e-3]])
    size = np.array([1e3, 1.0])
    assert scaled_error(wrong, expected, size, size) == pytest.approx(1e-3)
    assert class_error(wrong, expected, [0, 1], [0, 1]) == pytest.approx(1e-3)
