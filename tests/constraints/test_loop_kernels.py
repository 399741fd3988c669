"""Compare the kernels of loops to NumPy: rows, redundant and contradicting forces, batches, failures."""

import numpy as np
import pytest
from helpers.dynamics_cases import arguments, error
from helpers.loop_cases import MIXED, closed_cases, closed_velocity, random_loops
from oracles import closing

import treefactor as tf
from treefactor import constraints
from treefactor.exceptions import NonFiniteError, NotPositiveDefiniteError, ShapeError

pytestmark = pytest.mark.wheel

ROUNDING = 1e-11  # relative; of loops with condition numbers up to 1e2
CASES = closed_cases()


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_those_of_numpy(seed):
    model = random_loops(MIXED, seed)
    q, v, _, _ = arguments(model, seed)
    rows, (residual, J, bias) = constraints.loop_rows(model, q, v), closing.rows(model, q, v)
    assert error(rows.residual, residual, 1.0) < ROUNDING
    assert error(rows.dense(), J, 1.0) < ROUNDING
    assert error(rows.bias, bias, 1.0) < ROUNDING


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("stabilization", [0.0, 5.0])
def test_dynamics_are_those_of_numpy(name, stabilization):
    model, q = CASES[name]
    rng = np.random.default_rng(2)
    q, v = tf.integrate(model, q, 1e-3 * rng.normal(size=model.nv)), closed_velocity(model, q)
    check(model, q, v, rng.normal(size=model.nv), rng.normal(size=(model.njoints, 6)), stabilization)


@pytest.mark.parametrize("seed", range(20))
def test_loops_that_contradict_each_other_do_what_least_squares_do(seed):
    model = random_loops(MIXED, seed)
    q, v, tau, _ = arguments(model, seed)
    check(model, q, v, tau, None, 1.0)


def check(model, q, v, tau, fext, stabilization):
    expected = closing.forward_dynamics(model, q, v, tau, fext, stabilization)
    single = constraints.forward_dynamics(model, q, v, tau, fext, stabilization)
    many = [np.tile(x, (11, *np.ones(np.ndim(x), int))) for x in (q, v, tau)]
    batch = constraints.forward_dynamics(model, *many, fext, stabilization)
    for one, some, wanted in zip(single, batch, expected, strict=True):
        assert some.shape == (11, *one.shape)
        assert error(one, wanted) < ROUNDING
        assert error(some, np.tile(wanted, (11, 1))) < ROUNDING


def test_batches_have_axes_and_arguments_without_them_hold_for_all():
    model, q = CASES["stewart"]
    rng = np.random.default_rng(3)
    tau, v = rng.normal(size=(3, 5, model.nv)), closed_velocity(model, q)
    a, force = constraints.forward_dynamics(model, q, v, tau)
    assert a.shape == (3, 5, model.nv)
    assert force.shape == (3, 5, 18)
    for i in np.ndindex(3, 5):
        one = constraints.forward_dynamics(model, q, v, tau[i])
        assert error(a[i], one[0]) < ROUNDING
        assert error(force[i], one[1]) < ROUNDING


def test_invalid_states_give_nan_in_batches_only():
    model, q = CASES["stewart"]
    many, v, tau = np.tile(q, (10, 1)), np.zeros(model.nv), np.ones(model.nv)
    many[3, 0], many[9, 3:7] = np.nan, 2.0
    a, force = constraints.forward_dynamics(model, many, v, tau)
    odd = np.isin(np.arange(10), [3, 9])
    for result in (a, force):
        assert np.isnan(result[odd]).all()
        assert np.isfinite(result[~odd]).all()
    with pytest.raises(NonFiniteError):
        constraints.forward_dynamics(model, many[3], v, tau)


def test_freedoms_that_move_no_mass_are_named():
    joints = [
        tf.Joint("rod", "revolute", inertia=tf.Inertia(1.0, [0.5, 0, 0], 0.1 * np.eye(3)), axis=[0, 0, 1.0]),
        tf.Joint("ghost", "revolute", 0, p=[1.0, 0, 0], axis=[0, 0, 1.0]),
    ]
    model = tf.Model(joints, strict=False, loops=[tf.Loop("pin", "spherical", 1, -1, p2=[1.0, 0, 0])])
    with pytest.raises(NotPositiveDefiniteError) as failure:
        constraints.forward_dynamics(model, np.zeros(2), np.zeros(2), np.zeros(2))
    assert failure.value.row == 1
    a, force = constraints.forward_dynamics(model, np.zeros((9, 2)), np.zeros(2), np.zeros(2))
    assert np.isnan(a).all()
    assert np.isnan(force).all()


def test_batches_that_do_not_fit_are_refused():
    model, q = CASES["four-bar"]
    with pytest.raises(ShapeError):
        constraints.forward_dynamics(model, np.tile(q, (3, 1)), np.zeros((2, 3)), np.zeros(3))
