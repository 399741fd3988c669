"""Compiled dynamics with contacts and their derivatives agree with the general path, and so do batches."""

import numpy as np
import pytest
from helpers.dynamics_cases import arguments
from helpers.loop_cases import MIXED, closed_cases, closed_velocity, frame_of

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.constraints import RigidContact, _constrained_function
from treefactor.constraints._constrained_dynamics import prepared_rows
from treefactor.constraints._general_derivatives import derivatives_of_states, values_of_states
from treefactor.constraints._loop_rows import loops_of

BOUND = 1e-11  # relative to the largest entry, of results that carry the condition of H
TREE = tf.Model(MIXED.joints, MIXED.gravity)
AXES = ("LOCAL", "LOCAL_WORLD_ALIGNED")
CASES = closed_cases()


def contacts(reference="LOCAL"):
    ends = [tf.Frame(f"end {k}", joint, *frame_of(k)) for k, joint in enumerate((8, 5, 6))]
    return RigidContact(ends[0], "6D", reference), RigidContact(ends[1], "3D", reference, ends[2])


def error(result, expected):
    return np.abs(result - expected).max(initial=0.0) / max(np.abs(expected).max(initial=0.0), 1e-9)


def check_general_path(model, given, held, s):
    """Compare a batch with the general path, and its states with single calls."""
    derivatives = constraints.forward_dynamics_derivatives(
        model, *given, stabilization=s, contacts=held, with_value=True
    )
    expected = derivatives_of_states(prepared_rows(loops_of(model), held), list(given), s)
    scale = np.abs(tf.inverse_inertia(model, given[0])).max()
    for name, x, y in zip(derivatives._fields, derivatives, expected, strict=True):
        assert x.shape == y.shape, name
        assert np.abs(x - y).max(initial=0.0) < BOUND * max(np.abs(y).max(initial=0.0), scale), name
    for k in range(len(given[0])):
        state = [None if x is None else x[k] for x in given]
        one = constraints.forward_dynamics_derivatives(
            model, *state, stabilization=s, contacts=held, with_value=True
        )
        for name, x, y in zip(derivatives._fields, derivatives, one, strict=True):
            assert error(x[k], y) < BOUND, name


@pytest.mark.parametrize("s", [0.0, 3.0])
@pytest.mark.parametrize("reference", AXES)
def test_contacts_agree_with_the_general_path(reference, s):
    q, v, tau, fext = arguments(TREE, 4, (11,))
    check_general_path(TREE, (q, v, tau, fext), contacts(reference), s)
    check_general_path(TREE, (q, v, tau, None), contacts(reference)[1:], s)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart", "leg", "arm", "over-constrained"])
def test_loops_agree_with_the_general_path(name):
    model, q = CASES[name]
    rng = np.random.default_rng(0)
    q = np.array([q, *(tf.integrate(model, q, 0.03 * rng.normal(size=model.nv)) for _ in range(9))])
    v = np.array([closed_velocity(model, x) for x in q])
    check_general_path(model, (q, v, rng.normal(size=v.shape), None), (), 3.0)


def test_states_whose_rows_depend_on_each_other_stand_beside_others():
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.2, 0.3]))
    joints = [
        tf.Joint(f"hinge {k}", "revolute", parent, axis=axis, p=[0, 0, -float(k > 0)], inertia=rod)
        for k, (parent, axis) in enumerate([(-1, [1, 0, 0]), (0, [0, 1, 0]), (1, [0, 1, 0]), (2, [0, 0, 1])])
    ]
    model = tf.Model(joints)
    held = (RigidContact(tf.Frame("end", 3, p=[0, 0, -1.0])),)
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 12, 4))
    q[3], q[9] = 0.0, 0.0  # stretched
    check_general_path(model, (q, v, tau, None), held, 0.0)
    beside = check_bits_beside_any_states(model, (q, v, tau), held, 0.0)
    expected = values_of_states(prepared_rows(loops_of(model), held), [q, v, tau, None], 0.0)
    for x, y in zip(beside, expected, strict=True):
        assert error(x, y) < BOUND
        assert error(x[[3, 9]], y[[3, 9]]) < BOUND


def check_bits_beside_any_states(model, given, held, s):
    """Compare states of a batch with the same states beside copies of themselves; return the values."""
    for function in (constraints.forward_dynamics_derivatives, constraints.forward_dynamics):
        batch = function(model, *given, stabilization=s, contacts=held)
        for k in range(len(given[0])):
            alone = function(model, *(np.tile(x[k], (8, 1)) for x in given), stabilization=s, contacts=held)
            for x, y in zip(batch, alone, strict=True):
                np.testing.assert_array_equal(x[k], y[k % 8])
    return batch


@pytest.mark.parametrize("count", [1, 8, 19])
def test_threads_and_outputs_change_nothing(count):
    q, v, tau, fext = arguments(TREE, 2, (count,))
    held = contacts()[1:]

    def call(**given):
        return constraints.forward_dynamics_derivatives(
            TREE, q, v, tau, fext, 1.0, contacts=held, with_value=True, **given
        )

    expected = call()
    out = tuple(np.full(x.shape, 7.0) for x in expected)
    assert call(out=out, num_threads=2) is out
    spread = tuple(np.full((*x.shape, 2), 7.0)[..., 0] for x in expected)
    call(out=spread)
    for x, y, z, threads in zip(expected, out, spread, call(num_threads=3), strict=True):
        assert np.array_equal(x, y)
        assert np.array_equal(x, z)
        assert np.array_equal(x, threads)


def test_bad_states_become_nan_and_leave_others_alone():
    q, v, tau, fext = arguments(TREE, 2, (10,))
    held = contacts()
    expected = constraints.forward_dynamics_derivatives(TREE, q, v, tau, fext, contacts=held, with_value=True)
    q, v, tau, fext = q.copy(), v.copy(), tau.copy(), fext.copy()
    q[1], v[3, 0], tau[4, -1], fext[9, 2, 1] = 2.0 * q[1], np.nan, np.inf, np.nan
    derivatives = constraints.forward_dynamics_derivatives(
        TREE, q, v, tau, fext, contacts=held, with_value=True
    )
    good = [0, 2, 5, 6, 7, 8]
    for x, y in zip(derivatives, expected, strict=True):
        assert np.isnan(x[[1, 3, 4, 9]]).all()
        assert np.array_equal(x[good], y[good])


def test_freedoms_without_mass_are_named():
    light = tf.Joint(
        "light", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    )
    model = tf.Model([light])
    zero, held = np.zeros(1), [RigidContact("light")]
    with pytest.raises(tf.NotPositiveDefiniteError, match="light"):
        constraints.forward_dynamics_derivatives(model, zero, zero, zero, contacts=held)
    derivatives = constraints.forward_dynamics_derivatives(model, zero[None], zero, zero, contacts=held)
    assert all(np.isnan(x).all() for x in derivatives)


def test_drives_take_outputs_threads_and_batches():
    model, q = CASES["stewart"]
    leg = next(k for k, joint in enumerate(model.joints) if joint.kind == "prismatic")
    motor = constraints.Drive(leg, lambda t: (0.1 + t, 1.0 + t, 0.3))
    v, tau = np.random.default_rng(0).normal(size=(2, 9, model.nv))
    given = {"drives": [motor], "t": np.linspace(0.0, 1.0, 9), "stabilization": 3.0}
    expected = constraints.forward_dynamics_derivatives(model, q, v, tau, **given)
    out = tuple(np.empty_like(x) for x in expected)
    assert constraints.forward_dynamics_derivatives(model, q, v, tau, **given, out=out, num_threads=2) is out
    one = constraints.forward_dynamics_derivatives(model, q, v[4], tau[4], **given | {"t": 0.5})
    for x, y, z in zip(expected, out, one, strict=True):
        assert np.array_equal(x, y)
        assert error(x[4], z) < BOUND


def test_drives_of_planar_loops_take_batches():
    bar = mechanisms.four_bar()
    motor = constraints.Drive("crank", lambda t: (0.7 + t, 1.0 + t, 0.3))
    q, t = np.tile(bar.closed, (11, 1)), np.linspace(0.0, 1.0, 11)
    v, tau = np.random.default_rng(0).normal(size=(2, 11, 3))
    given = {"drives": [motor], "stabilization": 3.0, "with_value": True}
    derivatives = constraints.forward_dynamics_derivatives(bar.model, q, v, tau, t=t, **given)
    for k in range(11):
        one = constraints.forward_dynamics_derivatives(bar.model, q[k], v[k], tau[k], t=t[k], **given)
        for x, y in zip(derivatives, one, strict=True):
            assert error(x[k], y) < BOUND


def test_a_driven_joint_given_by_cosine_and_sine():
    rod = tf.Inertia(1.0, [0.3, 0, 0], np.diag([0.1, 0.2, 0.3]))
    model = tf.Model(
        [
            tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod),
            tf.Joint("wheel", "continuous", 0, axis=[0, 0, 1], inertia=rod),
        ]
    )
    motor, angle, v = constraints.Drive("wheel", (0.7, 0.4, 0.3)), 1.1, np.array([0.2, -0.5])
    q = np.array([0.1, np.cos(angle), np.sin(angle)])
    given = {"drives": [motor], "stabilization": 3.0, "with_value": True}
    derivatives = constraints.forward_dynamics_derivatives(model, q, v, v, **given)
    assert abs(derivatives.a[1] - (0.3 - 6.0 * (v[1] - 0.4) - 9.0 * (angle - 0.7))) < BOUND
    np.testing.assert_allclose(derivatives.da_dq[1], [0.0, -9.0], atol=BOUND)


def test_states_of_uncertain_rank_in_strided_batches():
    near = [constraints.RigidContact(tf.Frame(f"at {y}", 8, p=[0.0, y, 0.0])) for y in (0.0, 1e-6)]
    given = arguments(TREE, 3, (3,))[:3]
    strided = [np.stack([x, x + 1.0], axis=-1)[..., 0] for x in given]
    derivatives = constraints.forward_dynamics_derivatives(TREE, *strided, contacts=near)
    for x, y in zip(
        derivatives, constraints.forward_dynamics_derivatives(TREE, *given, contacts=near), strict=True
    ):
        assert np.isfinite(x).all()
        np.testing.assert_array_equal(x, y)


def test_bound_calls_read_their_arrays():
    q, v, tau, fext = arguments(TREE, 2)
    out = constraints.forward_dynamics_derivatives(TREE, q, v, tau, fext, contacts=contacts())
    call = tf.bind(
        constraints.forward_dynamics_derivatives, TREE, q, v, tau, fext, contacts=contacts(), out=out
    )
    tau[:] = -2.0 * tau
    expected = constraints.forward_dynamics_derivatives(TREE, q, v, tau, fext, contacts=contacts())
    assert call() is out
    for x, y in zip(out, expected, strict=True):
        assert np.array_equal(x, y)


@pytest.mark.parametrize("s", [0.0, 3.0])
def test_accelerations_and_forces_agree_with_the_general_path(s):
    q, v, tau, fext = arguments(TREE, 4, (11,))
    for held in (contacts(), contacts("LOCAL_WORLD_ALIGNED")[1:]):
        solution = constraints.forward_dynamics(TREE, q, v, tau, fext, s, contacts=held)
        expected = values_of_states(prepared_rows(loops_of(TREE), held), [q, v, tau, fext], s)
        one = constraints.forward_dynamics(TREE, q[4], v[4], tau[4], fext[4], s, contacts=held)
        for x, y, z in zip(solution, expected, one, strict=True):
            assert error(x, y) < BOUND
            assert error(x[4], z) < BOUND


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_accelerations_take_outputs_and_threads(name):
    model, q = CASES[name]
    v, tau = np.random.default_rng(0).normal(size=(2, 21, model.nv))
    held = {"stewart": [(), [RigidContact(model.joints[-1].name)]], "four-bar": [()]}[name]
    for one in held:
        expected = constraints.forward_dynamics(model, q, v, tau, contacts=one)
        out = tuple(np.full(x.shape, 7.0) for x in expected)
        assert constraints.forward_dynamics(model, q, v, tau, contacts=one, out=out, num_threads=2) is out
        assert all(map(np.array_equal, out, expected))
        single = tuple(np.full(x.shape[1:], 7.0) for x in expected)
        assert constraints.forward_dynamics(model, q, v[3], tau[3], contacts=one, out=single) is single
        assert all(error(x, y[3]) < BOUND for x, y in zip(single, expected, strict=True))


@pytest.mark.parametrize("held", [(), contacts()], ids=["loops", "contacts"])
def test_bound_accelerations_read_their_arrays(held):
    model = CASES["stewart"][0] if not held else TREE
    q, v, tau, fext = arguments(model, 2)
    out = constraints.forward_dynamics(model, q, v, tau, fext, contacts=held)
    call = tf.bind(constraints.forward_dynamics, model, q, v, tau, fext, contacts=held, out=out)
    v *= 2.0
    expected = constraints.forward_dynamics(model, q, v, tau, fext, contacts=held)
    assert call() is out
    assert all(map(np.array_equal, out, expected))


def test_a_freedom_without_mass_is_named():
    arm = tf.Inertia(1.0, [0.5, 0.0, 0.0], np.diag([0.1, 0.1, 0.1]))
    joints = [
        tf.Joint("arm", "revolute", axis=[0, 0, 1], inertia=arm),
        tf.Joint("tip", "revolute", 0, axis=[0, 0, 1]),
    ]
    model, zero = tf.Model(joints), np.zeros(2)
    out = np.full(2, 7.0), np.zeros(0)
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"freedom 1 \(tip\) moves no mass"):
        constraints.forward_dynamics(model, zero, zero, zero, out=out)
    assert (out[0] == 7.0).all()
    assert np.isnan(constraints.forward_dynamics(model, np.zeros((3, 2)), zero, zero)[0]).all()


def test_only_states_of_uncertain_rank_are_computed_in_numpy(monkeypatch):
    states = []

    def derivatives(rows, arrays, s):
        states.append(len(arrays))
        return derivatives_of_states(rows, arrays, s)

    monkeypatch.setattr(_constrained_function, "derivatives_of_states", derivatives)
    bar = mechanisms.four_bar()
    motor = constraints.Drive("crank", (0.7, 0.0, 0.3))
    bar_at = bar.model, bar.closed, np.zeros(3), np.ones(3)
    constraints.forward_dynamics_derivatives(*bar_at)  # a planar loop: rows depend on each other
    constraints.forward_dynamics_derivatives(*bar_at, stabilization=3.0, drives=[motor])
    constraints.forward_dynamics_derivatives(bar.model, *(np.tile(x, (9, 1)) for x in bar_at[1:]))
    q, v, tau, _ = arguments(TREE, 3)
    held = constraints.RigidContact(tf.Frame("end", 8, *frame_of(0)), "6D")
    constraints.forward_dynamics_derivatives(TREE, q, v, tau, stabilization=3.0, contacts=[held])
    assert not states
    near = [constraints.RigidContact(tf.Frame(f"at {y}", 8, p=[0.0, y, 0.0])) for y in (0.0, 1e-6)]
    constraints.forward_dynamics_derivatives(TREE, q, v, tau, contacts=near)
    assert states
