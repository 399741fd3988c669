"""Steps and rollouts equal a loop of forward dynamics and integration, here and with Pinocchio."""

from functools import partial

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.model_cases import models, random_model
from hypothesis import given
from hypothesis import strategies as st
from oracles import motions

import treefactor as tf
from treefactor import robots

H, STEPS = 0.01, 6
METHODS = tuple(motions.METHODS)
CLOSE = {"rtol": 1e-12, "atol": 1e-12}
MOVING = tuple(name for name in MODELS if name != "nothing")

pytestmark = pytest.mark.isa


def states_and_forces(model, size=(), seed=0):
    """Return q, v, forces of every step and external forces that keep the motion gentle."""
    q, v, _, _ = arguments(model, seed, size)
    rng = np.random.default_rng(seed + 1)
    tau = 0.3 * rng.normal(size=(*size, STEPS, model.nv))
    return q, 0.3 * v, tau, 0.3 * rng.normal(size=(*size, STEPS, model.njoints, 6))


def assert_motions(own, expected):
    for states, wanted in zip(own, expected, strict=True):
        assert states.shape == wanted.shape
        scale = max(1.0, np.abs(wanted).max(initial=0.0))
        np.testing.assert_allclose(states, wanted, rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MOVING)
def test_a_rollout_equals_the_loop(name, method):
    model = MODELS[name]
    q, v, tau, fext = states_and_forces(model, (11,))
    for forces in (None, fext):
        expected = []
        for k in range(len(q)):

            def acceleration(q, v, t, k=k, forces=forces):
                return tf.forward_dynamics(model, q, v, tau[k, t], None if forces is None else forces[k, t])

            expected.append(motions.rollout(model, q[k], v[k], range(STEPS), H, method, acceleration))
        wanted = [np.array(x) for x in zip(*expected, strict=True)]
        assert_motions(tf.rollout(model, q, v, tau, H, method=method, fext=forces), wanted)
        one = tf.rollout(
            model, q[3], v[3], tau[3], H, method=method, fext=None if forces is None else fext[3]
        )
        assert_motions(one, [x[3] for x in wanted])


@pytest.mark.slow
@given(models(), st.sampled_from(METHODS), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_rollouts_of_any_model_equal_the_loop(model, method, count, seed):
    q, v, tau, _ = states_and_forces(model, (count,), seed)
    try:
        one = [
            motions.rollout(model, *state, 1e-3, method, partial(tf.forward_dynamics, model))
            for state in zip(q, v, tau, strict=True)
        ]
    except tf.NotPositiveDefiniteError:  # mimic joints may move masses so that they balance
        return
    wanted = [np.array(x) for x in zip(*one, strict=True)]
    condition = np.linalg.cond(tf.crba(model, q)).max()
    for own, other in zip(tf.rollout(model, q, v, tau, 1e-3, method=method), wanted, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-14 * condition * max(1.0, np.abs(other).max()))


@pytest.mark.parametrize("robot", ["ur5_robot", "panda", "solo12", "talos_reduced"])
def test_a_rollout_equals_pinocchios_loop(robot):
    pin = pytest.importorskip("pinocchio")
    from treefactor.adapters import pinocchio_

    entry = robots.find(robot)
    theirs = pinocchio_.load(entry.path, entry.floating)
    model, data = pinocchio_.model(theirs), theirs.createData()
    rng = np.random.default_rng(0)
    q = tf.integrate(model, tf.neutral(model), 0.2 * rng.normal(size=(9, model.nv)))
    v = 0.1 * rng.normal(size=(9, model.nv))
    tau = np.stack([tf.h_times(model, q, a) for a in rng.normal(size=(STEPS, *v.shape))], axis=1)
    motion = tf.rollout(model, q, v, tau, H)
    for k in range(len(q)):
        x, y = q[k], v[k]
        for t in range(STEPS):
            y = y + H * pin.aba(theirs, data, x, y, tau[k, t])
            x = pin.integrate(theirs, x, H * y)
            for own, wanted in zip(motion, (x, y), strict=True):
                np.testing.assert_allclose(
                    own[k, t + 1], wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max()
                )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MOVING)
def test_steps_make_a_rollout(name, method):
    model = MODELS[name]
    q, v, tau, fext = states_and_forces(model, (13,))
    for forces in (None, fext):
        trajectory = tf.rollout(model, q, v, tau, H, method=method, fext=forces)
        state = q.copy(), v.copy()
        for t in range(STEPS):
            now = None if forces is None else forces[:, t]
            made = tf.step(model, *state, tau[:, t], H, method, fext=now, out=state)
            assert made is state or all(a is b for a, b in zip(made, state, strict=True))
            for own, wanted in zip(state, trajectory, strict=True):
                np.testing.assert_array_equal(own, wanted[:, t + 1])
        state = tf.rollout(model, q[2], v[2], tau[2], H, method=method)
        single = q[2].copy(), v[2].copy()
        for t in range(STEPS):
            tf.step(model, *single, tau[2, t], H, method, out=single)
            np.testing.assert_array_equal(single[0], state[0][t + 1])


def order(model, method, seed):
    """Return how many times smaller errors become with half the step, as powers of 2."""
    rng = np.random.default_rng(seed)
    q = tf.integrate(model, tf.neutral(model), 0.3 * rng.normal(size=model.nv))
    v, tau = rng.normal(size=(2, model.nv))
    ends = [
        [x[-1] for x in tf.rollout(model, q, v, 0.3 * tau, 0.5 / n, n, method)]
        for n in (16, 32, 64, 128, 4096)  # the smallest error, 5e-13, is far above what 4096 steps round
    ]
    errors = [
        np.abs(np.append(tf.difference(model, p, ends[-1][0]), w - ends[-1][1])).max() for p, w in ends[:-1]
    ]
    return np.log2(np.divide(errors[:-1], errors[1:]))


@pytest.mark.parametrize("kind", ["revolute", "freeflyer", "spherical", "planar", "continuous"])
def test_orders_of_the_methods(kind):
    model = random_model([-1, 0, 1], [kind, "revolute", kind if kind == "spherical" else "revolute"], 5)
    assert order(model, "rk4", 1)[-1] > 3.8
    assert order(model, "semi_implicit_euler", 1)[-1] > 0.9


def test_energy_and_momentum_of_a_free_tree():
    model = tf.Model(MODELS["freeflyer"].joints, (0.0, 0.0, 0.0))
    q, v, _, _ = states_and_forces(model, (5,))
    q, v = tf.rollout(model, q, v, None, 1e-3, 300, "rk4")
    energy = (v * tf.h_times(model, q, v)).sum(-1) / 2
    np.testing.assert_allclose(energy, np.repeat(energy[:, :1], 301, axis=1), rtol=1e-9)
    back = tf.rollout(model, q[:, -1], v[:, -1], None, -1e-3, 300, "rk4")
    np.testing.assert_allclose(back[1][:, -1], v[:, 0], rtol=0, atol=1e-8)


def test_rotations_keep_unit_length_over_thousands_of_steps():
    model = tf.Model(MODELS["all kinds"].joints, (0.0, 0.0, 0.0))
    for method in METHODS:
        q, _ = tf.rollout(model, tf.neutral(model), np.full(model.nv, 0.01), None, 1e-3, 4000, method)
        for kind, turned in (("freeflyer", slice(3, 7)), ("spherical", slice(0, 4)), ("planar", slice(2, 4))):
            at = model.entries[kind][0][0][turned]
            np.testing.assert_allclose((q[:, at] ** 2).sum(1), 1.0, rtol=0, atol=1e-15)


def test_forms_of_tau():
    model = MODELS["freeflyer"]
    q, v, tau, fext = states_and_forces(model, (2, 3))
    constant, force = tau[0, 0, 0], fext[0, 0, 0]
    every = np.broadcast_to(constant, tau.shape)
    expected = tf.rollout(model, q, v, every, H)
    for forces in (constant, np.broadcast_to(constant, v.shape)):
        assert_motions(tf.rollout(model, q, v, forces, H, STEPS), expected)
    assert_motions(tf.rollout(model, q, v, every[0, 0], H), expected)
    nothing = tf.rollout(model, q, v, None, H, STEPS)
    assert_motions(nothing, tf.rollout(model, q, v, np.zeros_like(tau), H))
    assert_motions(
        tf.rollout(model, q, v, tau[0, 0, 0], H, STEPS, fext=force),
        tf.rollout(model, q, v, every, H, fext=np.broadcast_to(force, fext.shape)),
    )
    assert_motions(
        tf.rollout(model, q, v[0, 0], tau, H), tf.rollout(model, q, np.broadcast_to(v[0, 0], v.shape), tau, H)
    )


@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_finite_stays_in_its_motion(method):
    model = MODELS["freeflyer"]
    q, v, tau, _ = states_and_forces(model, (19,))
    expected = tf.rollout(model, q, v, tau, H, method=method)
    spoiled = {3: 4, 7: 0, 8: 0, 12: 0}  # motion and the first step that fails
    tau[3, 4, 2] = np.inf
    q[7, 1], v[8, 5] = np.nan, np.nan
    q[12, 3:7] *= 1.5
    for own, wanted, start in zip(
        tf.rollout(model, q, v, tau, H, method=method), expected, (q, v), strict=True
    ):
        for k in range(len(q)):
            good = spoiled.get(k, STEPS)
            np.testing.assert_array_equal(own[k, 0], start[k])
            np.testing.assert_array_equal(own[k, 1 : good + 1], wanted[k, 1 : good + 1])
            assert np.isnan(own[k, good + 1 :]).all()


def massless_at_zero():
    """Return a model whose first joint moves no mass when the second one is at zero."""
    point = tf.Inertia(1.0, [0, 0, 0], np.zeros((3, 3)))
    turn = tf.Joint("turn", "revolute", axis=[0, 0, 1])
    return tf.Model([turn, tf.Joint("slide", "prismatic", 0, axis=[1, 0, 0], inertia=point)], (0.0, 0.0, 0.0))


@pytest.mark.parametrize("method", METHODS)
def test_a_pivot_that_fails(method):
    model = massless_at_zero()
    x, fails = ((-0.5, -2.0, -0.25), (4, 6, 2)) if method == METHODS[0] else ((-0.0625, -2.0, 0.0), (0, 6, 0))
    q, v = np.array([[0.3, place] for place in x]), np.array([[0.0, 1.0]] * 3)
    for own in tf.rollout(model, q, v, None, 0.125, 6, method):
        for motion, step in zip(own, fails, strict=True):
            assert np.isfinite(motion[: step + 1]).all()
            assert np.isnan(motion[step + 1 :]).all()
    with pytest.raises(
        tf.NotPositiveDefiniteError, match=rf"^step {fails[0]}: freedom 0 \(turn\) moves no mass"
    ):
        tf.rollout(model, q[0], v[0], None, 0.125, 6, method)
    state = np.array([0.3, 0.0]), v[0].copy()
    kept = [x.copy() for x in state]
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"^freedom 0 \(turn\)") as caught:
        tf.step(model, *state, np.zeros(2), 0.1, method, out=state)
    assert (caught.value.row, caught.value.name) == (0, "turn")
    np.testing.assert_array_equal(state, kept)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fast", [1e20, 1e120, 1e160])
def test_a_single_motion_that_diverges_is_nan(method, fast):
    model = MODELS["freeflyer"]
    q, v, tau, _ = states_and_forces(model)
    own = tf.rollout(model, q, fast * v, tau, H, method=method)
    assert np.isnan(own[1][-1]).all()
    for t in range(STEPS):  # to the bit, those of single steps
        if all(np.isfinite(x[t + 1]).all() for x in own):
            state = tf.step(model, own[0][t], own[1][t], tau[t], H, method)
            assert all(np.array_equal(x[t + 1], one) for x, one in zip(own, state, strict=True))


def test_results_may_begin_at_a_state_that_all_share():
    model = MODELS["freeflyer"]
    q, v, tau, _ = states_and_forces(model, (20,))
    expected = tf.step(model, q[0], v, tau[:, 0], H)
    out = q.copy(), np.empty_like(v)
    for own, wanted in zip(tf.step(model, out[0][0], v, tau[:, 0], H, out=out), expected, strict=True):
        np.testing.assert_array_equal(own, wanted)


def test_nothing_to_compute():
    model = MODELS["freeflyer"]
    q, v, tau, _ = states_and_forces(model, (4,))
    assert_motions(tf.rollout(model, q, v, tau[:, :0], H), (q[:, None], v[:, None]))
    assert_motions(tf.rollout(model, q[0], v[0], None, H, 0), (q[:1], v[:1]))
    assert [x.shape for x in tf.rollout(model, q[:0], v[:0], tau[:0], H)] == [
        (0, STEPS + 1, model.nq),
        (0, STEPS + 1, model.nv),
    ]
    nothing = MODELS["nothing"]
    assert [x.shape for x in tf.rollout(nothing, np.zeros(0), np.zeros(0), None, H, 3)] == [(4, 0), (4, 0)]
    assert [x.shape for x in tf.step(nothing, np.zeros((5, 0)), np.zeros(0), np.zeros(0), H)] == [(5, 0)] * 2


def test_large_trees():
    model = random_model(tf.families.binary_tree(8).parent[:200], ["revolute"] * 200, 0)
    q, v, tau, _ = states_and_forces(model)
    expected = motions.rollout(model, q, v, tau[:2], 1e-4, "rk4", partial(tf.forward_dynamics, model))
    assert_motions(tf.rollout(model, q, v, tau[:2], 1e-4, method="rk4"), expected)


def test_far_from_the_base():
    model = MODELS["freeflyer"]
    q, v, tau, _ = states_and_forces(model)
    far = q.copy()
    far[:3] += 1e6
    near, moved = (tf.rollout(model, x, v, tau, H) for x in (q, far))
    np.testing.assert_allclose(moved[1], near[1], rtol=0, atol=1e-12)


def test_a_bound_step_may_replace_the_state():
    model = MODELS["freeflyer"]
    q, v, tau, _ = states_and_forces(model)
    for method in METHODS:
        expected = tf.rollout(model, q, v, tau, H, method=method)
        state, force = (q.copy(), v.copy()), np.empty(model.nv)
        call = tf.bind(tf.step, model, *state, force, H, method, out=state)
        for t in range(STEPS):
            force[:] = tau[t]
            assert call() is state
            assert all(np.array_equal(a, b[t + 1]) for a, b in zip(state, expected, strict=True))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"h": "0.1"}, tf.DtypeError, "h must hold real numbers"),
        ({"h": np.full(2, 0.1)}, tf.ShapeError, "h must be one number"),
        ({"h": np.inf}, tf.NonFiniteError, "h is not finite"),
        ({"tau": np.zeros(12)}, tf.ShapeError, r"tau must have shape \(..., T, 12\), .* pass steps=T"),
        ({"tau": None}, tf.ShapeError, "got None: pass steps=T"),
        ({"steps": -1}, ValueError, "steps must not be negative"),
        ({"steps": 2.5}, tf.DtypeError, "steps must be a whole number"),
        ({"steps": 2**41}, ValueError, "steps must be at most"),
        ({"fext": np.zeros((5, 8, 6))}, tf.ShapeError, "leave out Pinocchio's universe"),
    ],
)
def test_errors_name_the_argument(change, error, message):
    model = MODELS["freeflyer"]
    q, v, _, _ = states_and_forces(model)
    right = {"q0": q, "v0": v, "tau": np.zeros((5, 12)), "h": H}
    with pytest.raises(error, match=message):
        tf.rollout(model, **(right | change))
