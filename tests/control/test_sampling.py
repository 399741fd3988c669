"""Check control by sampling: motions, costs, random numbers, weights, plans, and what goes wrong."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import special, stats
from scipy.interpolate import CubicHermiteSpline

import treefactor as tf
from treefactor import control
from treefactor.control.costs import Sizes, terms_of
from treefactor.control.splines import Spline

EYE = np.eye(3)


def slide(**options) -> tf.Model:
    """Return a mass of 1 kg on a horizontal rail, a linear system."""
    return tf.Model([tf.Joint("slide", "prismatic", axis=EYE[0], inertia=tf.Inertia(1.0))], **options)


def diver() -> tf.Model:
    """Return a floating body with an arm of a continuous, a prismatic and a revolute joint."""
    body = tf.Inertia(5.0, [0.1, 0.0, 0.05], np.diag([0.3, 0.4, 0.5]))
    part = tf.Inertia(1.0, [0.0, 0.1, 0.2], np.diag([0.1, 0.1, 0.1]))
    joints = [
        tf.Joint("base", "freeflyer", inertia=body),
        tf.Joint("turn", "continuous", 0, p=[0.2, 0.0, 0.1], axis=EYE[2], inertia=part),
        tf.Joint(
            "slide", "prismatic", 1, p=[0.0, 0.1, 0.0], axis=EYE[0], inertia=part, lower=-0.1, upper=0.1
        ),
        tf.Joint("bend", "revolute", 2, p=[0.0, 0.0, 0.2], axis=EYE[1], inertia=part, lower=-0.2, upper=0.3),
    ]
    return tf.Model(joints).add_frame("tip", "bend", p=[0.1, 0.2, 0.3])


SLIDE, DIVER = slide(), diver()
TASK = [control.StateCost([0.5], weight_v=0.1), control.ControlCost(weight=1e-2)]
OPTIONS = {"horizon": 12, "dt": 0.02, "noise": 3.0, "samples": 40, "knots": 4}
START, SPEED = tf.integrate(DIVER, tf.neutral(DIVER), np.linspace(-0.4, 0.5, 9)), np.linspace(0.5, -0.3, 9)


class Recorder:
    """Cost that keeps the motions it got; its values are those of a function of these."""

    def __init__(self, value=lambda motions: (motions.v**2).sum(axis=(-1, -2))):
        self.value = value

    def __call__(self, motions):
        self.motions, self.u = motions, motions.u
        return self.value(motions)


@pytest.mark.parametrize("samples", [1, 7, 33])
@pytest.mark.parametrize("program", [None, np.float64, np.float32])
def test_motions_have_the_bits_of_rollouts(samples, program):
    model = DIVER
    if program is not None:
        model = tf.compile(DIVER, ["forward_dynamics"], backend="interp", dtype=program)
    record = Recorder()
    options = OPTIONS | {"samples": samples, "noise": np.linspace(1, 2, 9), "at": "steps", "substeps": 2}
    result = control.SamplingController(model, record, **options).plan(START, SPEED)
    dtype = program or np.float64
    arrays = [x.astype(dtype) for x in (START, SPEED, record.u.repeat(2, axis=1))]
    q, v = tf.rollout(DIVER, *arrays, 0.01) if program is None else model.rollout(*arrays, 0.01)
    assert record.motions.q.dtype == dtype
    np.testing.assert_array_equal(record.motions.q, q[:, 2::2])
    np.testing.assert_array_equal(record.motions.v, v[:, 2::2])
    np.testing.assert_allclose(record.motions.time, 0.02 * np.arange(1, 13))
    tip = tf.frame_placement(DIVER, q[:, 2::2].astype(float), "tip")
    np.testing.assert_array_equal(record.motions.placement["tip"], tip)
    arrays = [x.astype(dtype) for x in (START[None], SPEED[None], result.u[None].repeat(2, axis=1))]
    q, v = tf.rollout(DIVER, *arrays, 0.01) if program is None else model.rollout(*arrays, 0.01)
    np.testing.assert_array_equal(result.q, q[0, ::2])
    np.testing.assert_array_equal(result.v, v[0, ::2])


@pytest.mark.parametrize("dtype", [None, np.float32])
def test_costs_are_those_of_ilqr(dtype):
    rng = np.random.default_rng(0)
    steps = OPTIONS["horizon"] + 1
    goals = np.stack([tf.integrate(DIVER, START, 0.3 * d) for d in rng.standard_normal((2 * steps, 9))])
    goals = goals.reshape(2, steps, -1)
    costs = [
        control.StateCost(goals, 0.1, rng.random(9), rng.random(9)),
        control.ControlCost(rng.standard_normal((2, steps - 1, 4)), rng.random(4)),
        control.FrameCost("tip", tf.frame_placement(DIVER, goals[0, 0], "tip"), rng.random(6), at="running"),
        control.FrameVelocityCost("tip", 0.1, rng.random(6), "LOCAL_WORLD_ALIGNED", at="final"),
        control.ComCost(rng.standard_normal((2, 1, 3)), rng.random(3), at=rng.random(steps)),
        control.LimitCost(weight=50.0),
        control.LimitCost(np.full(DIVER.nq, 0.6), np.full(DIVER.nq, np.inf)),
    ]
    model = tf.compile(DIVER, ["forward_dynamics"], backend="interp", dtype=dtype) if dtype else DIVER
    record = Recorder()
    actuated = np.eye(9)[:, 5:] + 0.1 * np.eye(9)[:, :4]
    options = OPTIONS | {"actuated": actuated, "control_limits": (-2.0, 2.5)}
    q0, v0 = np.stack([START, START]), np.stack([SPEED, -SPEED])
    control.SamplingController(model, record, at="steps", **options).plan(q0, v0)
    forces = np.einsum("...u,vu->...v", record.u, actuated)
    count = OPTIONS["samples"]
    starts = [np.repeat(x, count, axis=0).reshape(2, count, -1) for x in (q0, v0)]
    q, v = tf.rollout(DIVER, *starts, forces, 0.02)
    for cost in [[one] for one in costs] + [costs]:
        controller = control.SamplingController(model, cost, **options)
        terms, _ = terms_of(cost, Sizes(DIVER, steps - 1, 4, 0.02, (2,)))
        expected = np.zeros(2 * count)
        motions = [x.reshape(2 * count, *x.shape[2:]) for x in (q, v, np.ascontiguousarray(record.u))]
        terms.add_values_of(*motions, np.repeat([0, 1], count), expected, 0, 2 * count)
        cost = controller.plan(q0, v0).cost
        np.testing.assert_allclose(cost, expected.reshape(2, count), rtol=2e-3 if dtype else 1e-12)


def numbers(seed: int, call: int, samples: int, count: int) -> np.ndarray:
    """Return normal numbers by Box and Muller from SplitMix64, in integers of any length."""

    def mixed(x: int) -> int:
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) % 2**64
        return x ^ (x >> 31)

    def bits(key: int, counter: int) -> int:
        return mixed((key + 0x9E3779B97F4A7C15 * (counter + 1)) % 2**64)

    keys = [bits(bits(seed, call), k) for k in range(samples)]
    u = np.array([[bits(key, e) >> 12 for e in range(count + count % 2)] for key in keys]) * 2.0**-52
    length, angle = np.sqrt(-2.0 * np.log(1.0 - u[:, ::2])), 2.0 * np.pi * u[:, 1::2]
    pairs = np.stack([length * np.cos(angle), length * np.sin(angle)], axis=-1)
    return pairs.reshape(samples, -1)[:, :count]


def test_random_numbers():
    record = Recorder()
    options = OPTIONS | {"samples": 4000, "noise": 2.0, "knots": 3, "spline": "zero", "at": "steps"}
    controller = control.SamplingController(SLIDE, record, seed=7, **options)
    for call in range(2):
        before = controller.u[::4, 0]
        controller.plan([0.0], [0.0])
        drawn = record.u[:, ::4, 0]
        np.testing.assert_array_equal(drawn[0], before)
        np.testing.assert_allclose(
            drawn[1:] - before, 2.0 * numbers(7, call, 4000, 3)[1:], rtol=1e-12, atol=1e-14
        )
    assert stats.kstest(numbers(7, 0, 4000, 3).ravel(), "norm").pvalue > 0.01


@pytest.mark.parametrize("spline", ["zero", "linear", "cubic"])
def test_splines(spline):
    record = Recorder()
    options = OPTIONS | {"knots": 4, "horizon": 13, "at": "steps", "samples": 9, "spline": spline}
    control.SamplingController(SLIDE, record, **options).plan([0.0], [0.0])
    u, times = record.u[1:, :, 0], np.arange(13)
    few = Recorder()
    control.SamplingController(SLIDE, few, **options | {"at": "knots"}).plan([0.0], [0.0])
    seen = np.array([4, 7, 10, 13] if spline == "zero" else [1, 5, 9, 13])
    np.testing.assert_allclose(few.motions.time, 0.02 * seen)
    np.testing.assert_array_equal(few.motions.v, record.motions.v[:, seen - 1])
    np.testing.assert_array_equal(few.u, record.u[:, seen - 1])
    if spline == "zero":
        np.testing.assert_array_equal(u, u[:, [0, 4, 7, 10]][:, np.arange(13) * 4 // 13])
        return
    if spline == "linear":
        expected = [np.interp(times, [0, 4, 8, 12], row[::4]) for row in u]
    else:
        x, ends = np.arange(-4, 17, 4), np.c_[2 * u[:, 0] - u[:, 4], u[:, ::4], 2 * u[:, 12] - u[:, 8]]
        slopes = (ends[:, 2:] - ends[:, :-2]) / 8
        expected = CubicHermiteSpline(x[1:-1], ends[:, 1:-1], slopes, axis=1)(times)
    np.testing.assert_allclose(u, expected, atol=1e-13)


def test_weights_of_mppi():
    cost = Recorder(lambda m: 1e7 + 1e3 * ((m.q - 0.3) ** 2).sum(axis=(-1, -2)))
    for temperature, of in ((200.0, None), ("auto", None), (1e-9, "best"), (1e12, "mean")):
        controller = control.SamplingController(SLIDE, cost, temperature=temperature, at="steps", **OPTIONS)
        result = controller.plan([0.0], [0.0])
        scale = (np.median(result.cost) - result.cost.min()) / 10.0 if temperature == "auto" else temperature
        np.testing.assert_allclose(result.weights, special.softmax(-result.cost / scale), atol=1e-14)
        np.testing.assert_allclose(result.effective_samples, 1.0 / (result.weights**2).sum())
        np.testing.assert_allclose(result.u, np.tensordot(result.weights, cost.u, 1), atol=1e-12)
        np.testing.assert_array_equal(result.best_u, cost.u[result.cost.argmin()])
        np.testing.assert_array_equal(controller.u, result.u)
        if of == "best":
            np.testing.assert_allclose(result.u, result.best_u, atol=1e-12)
        elif of == "mean":
            np.testing.assert_allclose(result.u, cost.u.mean(axis=0), atol=1e-8)


def test_average_of_a_quadratic_cost():
    """The average of normal samples tends to a known one; its error falls with the root of their number."""
    basis = Spline("linear", 4, 12).basis(np.arange(12))

    def values(knots):
        q, v = tf.rollout(SLIDE, [0.0], [0.0], (knots @ basis.T)[..., None], 0.02)
        deviation = (q[..., 0] - 0.5) ** 2 + 0.1 * v[..., 0] ** 2
        running = deviation[:, :-1].sum(axis=1) + 1e-2 * ((knots @ basis.T) ** 2).sum(axis=1)
        return 0.5 * (0.02 * running + deviation[:, -1])

    unit, zero = np.eye(4), values(np.zeros((1, 4)))
    pairs = np.array([[values((a + b)[None])[0] for a in unit] for b in unit])
    alone = values(unit)
    H = pairs - alone - alone[:, None] + zero
    g = alone - zero - 0.5 * np.diag(H)
    temperature, errors = 2e-2, []
    expected = -np.linalg.solve(temperature / 9.0 * np.eye(4) + H, g)
    for samples in (400, 40000):
        deviations = []
        for seed in range(8):
            options = OPTIONS | {"samples": samples, "temperature": temperature, "seed": seed}
            result = control.SamplingController(SLIDE, TASK, **options).plan([0.0], [0.0])
            deviations.append(result.u[:, 0] - basis @ expected)
        errors.append(np.sqrt(np.mean(np.square(deviations))))
    assert errors[1] < 0.02
    assert 5.0 < errors[0] / errors[1] < 20.0


@pytest.mark.parametrize("method", ["mppi", "predictive", "cem"])
def test_plans_tend_to_the_optimal_control(method):
    options = OPTIONS | {"method": method, "samples": 400, "spline": "zero", "knots": 12}
    controller = control.SamplingController(SLIDE, TASK, **options)
    optimal = control.ilqr(SLIDE, [0.0], [0.0], np.zeros((12, 1)), TASK, 0.02)
    costs = [controller.plan([0.0], [0.0]).cost[0] for _ in range(60)]
    if method == "predictive":
        assert (np.diff(costs) <= 0.0).all()
    assert optimal.cost <= costs[-1]
    assert costs[-1] < optimal.cost + 0.06 * (costs[0] - optimal.cost)


def test_noise_of_cem_is_the_deviation_of_the_elites():
    options = OPTIONS | {"method": "cem", "elites": 0.2, "knots": 12, "spline": "zero", "at": "steps"}
    cost = Recorder(lambda m: ((m.q - 0.3) ** 2).sum(axis=(-1, -2)))
    controller = control.SamplingController(SLIDE, cost, **options)
    result = controller.plan([0.0], [0.0])
    elites = cost.u[np.argsort(result.cost)[:8], :, 0]
    np.testing.assert_allclose(result.u[:, 0], elites.mean(axis=0), atol=1e-13)
    mean, deviation = elites.mean(axis=0), np.maximum(elites.std(axis=0), 0.3)
    controller.command([0.0], [0.0])
    expected = mean + deviation * numbers(0, 1, 40, 12)
    np.testing.assert_allclose(cost.u[1:, :, 0], expected[1:], atol=1e-12)
    elites = cost.u[np.argsort(controller.result.cost)[:8], :, 0]
    mean, deviation = elites.mean(axis=0), np.maximum(elites.std(axis=0), 0.3)
    controller.command([0.0], [0.0])  # one step later, with new noise at the end
    expected = np.r_[mean[1:], 0.0] + np.r_[deviation[1:], 3.0] * numbers(0, 2, 40, 12)
    np.testing.assert_allclose(cost.u[1:, :, 0], expected[1:], atol=1e-12)


def test_samples_are_clipped_before_they_are_averaged():
    cost = Recorder()
    for spline in ("linear", "cubic"):
        options = OPTIONS | {
            "spline": spline,
            "control_limits": ([-1.0], 0.5),
            "at": "steps",
            "temperature": 1e9,
        }
        result = control.SamplingController(SLIDE, cost, **options).plan([0.0], [0.0])
        assert (cost.u.min(), cost.u.max()) == (-1.0, 0.5)
        assert ((result.u >= -1.0) & (result.u <= 0.5)).all()
        if spline == "linear":
            np.testing.assert_allclose(result.u, cost.u.mean(axis=0), atol=1e-12)


def test_commands_shift_by_the_elapsed_time():
    first = Recorder(lambda m: np.minimum(np.arange(40), 1))  # the plan of before is the best
    options = OPTIONS | {"method": "predictive", "idle": 20.0, "knots": 12}
    plan = np.linspace(0, 11, 12)
    controller = control.SamplingController(SLIDE, first, **options)
    np.testing.assert_allclose(controller.u, 20.0)
    controller.reset(plan[:, None])
    np.testing.assert_allclose(controller.command([0.0], [0.0], elapsed=1.0), 0.0, atol=1e-12)
    np.testing.assert_allclose(controller.command([0.0], [0.0], elapsed=0.01), 0.5)
    np.testing.assert_allclose(controller.u[:, 0], [*(plan[:-1] + 0.5), 15.5])
    np.testing.assert_allclose(controller.command([0.0], [0.0]), 1.5)
    np.testing.assert_allclose(controller.command([0.0], [0.0], elapsed=0.0), 1.5)
    controller = control.SamplingController(SLIDE, first, **options | {"spline": "zero", "knots": 4})
    controller.reset(np.repeat([0.0, 3.0, 6.0, 9.0], 3)[:, None])
    controller.command([0.0], [0.0])
    controller.command([0.0], [0.0], elapsed=0.06)
    np.testing.assert_allclose(controller.u[:, 0], np.repeat([3.0, 6.0, 9.0, 20.0], 3))


def test_noise_of_controls_that_belong_together():
    matrix = np.array([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [0.0, -1.0, 0.3]])
    cost = Recorder(lambda m: m.u[..., 0, 0] + m.u[..., 0, 1])
    options = OPTIONS | {"noise": matrix, "actuated": ["turn", "slide", "bend"], "at": "steps"}
    options |= {"knots": 12, "spline": "zero", "method": "cem", "elites": 0.2}
    controller = control.SamplingController(DIVER, cost, **options)
    result = controller.plan(START, SPEED)
    normal = numbers(0, 0, 40, 36).reshape(40, 12, 3)
    np.testing.assert_allclose(cost.u[1:], normal[1:] @ matrix.T, atol=1e-12)
    elites = np.flatnonzero(result.weights)
    normal[0] = 0.0
    deviation = np.maximum(normal[elites].std(axis=0), 0.1)
    controller.plan(START, SPEED)
    expected = result.u + (deviation * numbers(0, 1, 40, 36).reshape(40, 12, 3)) @ matrix.T
    np.testing.assert_allclose(cost.u[1:], expected[1:], atol=1e-12)


def test_answers_depend_on_seed_call_and_sample_only():
    def run(samples=40, rows=slice(None), calls=2, **options):
        controller = control.SamplingController(SLIDE, TASK, **OPTIONS | {"samples": samples} | options)
        q, v = np.array([[0.0], [0.2], [-0.4]])[rows], np.array([[0.0], [1.0], [0.5]])[rows]
        return [controller.plan(q, v) for _ in range(calls)][-1]

    whole = run()
    np.testing.assert_array_equal(run(num_threads=2, samples=4000).u, run(samples=4000).u)
    for k in range(3):
        alone = run(rows=k)
        for name in ("u", "best_u", "cost", "weights", "q", "v", "effective_samples"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(whole, name)[k])
    np.testing.assert_array_equal(run(samples=41, calls=1).cost[:, :40], run(calls=1).cost)
    assert not np.isin(run(seed=1).cost[0, 1:], whole.cost[0]).any()
    controller = control.SamplingController(SLIDE, TASK, **OPTIONS)
    answers = []
    for _ in range(2):
        answers.append([controller.command([0.0], [0.0]) for _ in range(3)])
        controller.reset()
    np.testing.assert_array_equal(*answers)
    controller.command([0.0], [0.0])
    restored = pickle.loads(pickle.dumps(controller))
    np.testing.assert_array_equal(restored.command([0.1], [0.0]), controller.command([0.1], [0.0]))


def test_what_is_not_finite_changes_no_bit_of_neighbours():
    good = np.stack([START, START, tf.neutral(DIVER)])
    bad = good.copy()
    bad[1, 8] = np.nan
    long = good.copy()
    long[1, 3:7] *= 1.1
    speed = np.zeros((3, 9))
    cost = [control.StateCost(tf.neutral(DIVER)), control.FrameCost("tip", np.eye(3, 4), at="final")]
    whole = control.SamplingController(DIVER, cost, **OPTIONS).plan(good, speed)
    for wrong in (bad, long):
        controller = control.SamplingController(DIVER, cost, **OPTIONS)
        controller.reset(np.full((12, 9), 0.1))
        controller.reset()
        result = controller.plan(wrong, speed)
        assert result.status.tolist() == [0, 1, 0]
        assert result.summary() == "3 robots: 2 UPDATED, 1 NON_FINITE"
        np.testing.assert_array_equal(result.u[1], 0.0)
        assert np.isnan(result.cost[1]).all()
        assert not result.weights[1].any()
        np.testing.assert_array_equal(result.u[::2], whole.u[::2])
        np.testing.assert_array_equal(result.cost[::2], whole.cost[::2])
    controller.reset()
    with pytest.raises(tf.ConfigurationError, match="quaternion"):
        controller.plan(long[1], speed[1])
    assert controller.plan(bad[1], speed[1]).status == control.SamplingStatus.NON_FINITE


@pytest.mark.parametrize("method", ["mppi", "predictive", "cem"])
def test_samples_that_diverge_have_no_weight(method):
    for spoiled in (np.nan, np.inf, -np.inf):
        cost = Recorder(lambda m, x=spoiled: np.where(np.arange(40) % 3 == 0, x, (m.q**2).sum(axis=(-1, -2))))
        controller = control.SamplingController(SLIDE, cost, method=method, **OPTIONS)
        result = controller.plan([0.1], [0.0])
        assert not result.weights[::3].any()
        assert np.isnan(result.cost[::3]).all()
        np.testing.assert_allclose(result.weights.sum(), 1.0)
    wild = control.SamplingController(DIVER, [control.ControlCost()], **OPTIONS | {"noise": 1e120})
    result = wild.plan(START, SPEED)  # motions diverge, controls alone do not show it
    assert np.isnan(result.cost[1:]).all()
    assert result.weights[0] == 1.0
    far = control.SamplingController(SLIDE, [control.ControlCost()], method=method, **OPTIONS)
    assert np.isnan(far.plan([1.7e308], [1e308]).cost).all()  # positions overflow, velocities are finite
    none = control.SamplingController(SLIDE, lambda m: np.full(40, np.nan), method=method, **OPTIONS)
    none.reset(np.full((12, 1), 0.25))
    result = none.plan([0.0], [0.0])
    assert result.status == control.SamplingStatus.NON_FINITE
    assert result.effective_samples == 0.0
    np.testing.assert_allclose(result.u, 0.25)
    record = Recorder(lambda m: np.zeros(40))
    none.set_cost(record)
    none.plan([0.0], [0.0])
    assert 2.0 < record.u[1:].std() < 4.0  # the noise has stayed, too


def test_one_effective_sample_warns_once():
    controller = control.SamplingController(SLIDE, TASK, temperature=1e-12, **OPTIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(9):
            controller.command([0.0], [0.0])
    with pytest.warns(RuntimeWarning, match="higher temperature"):
        controller.command([0.0], [0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(12):
            controller.command([0.0], [0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        controller.reset()
        for cost in (TASK, lambda m: np.zeros(40), TASK):  # not in ten successive calls
            controller.set_cost(cost)
            for _ in range(1 if callable(cost) else 9):
                controller.command([0.0], [0.0])


def test_equal_costs():
    for cost in (np.zeros(40), np.repeat([0.0, 1.0], [30, 10])):
        controller = control.SamplingController(SLIDE, lambda m, cost=cost: cost, **OPTIONS)
        expected = (cost == 0.0) / (cost == 0.0).sum()
        np.testing.assert_allclose(controller.plan([0.0], [0.0]).weights, expected)


def test_inertias():
    sets = SLIDE.parameters * np.array([0.5, 1.0, 2.0])[:, None, None]
    costs = np.array(
        [
            control.SamplingController(SLIDE.with_parameters(one), TASK, **OPTIONS).plan([0.0], [0.0]).cost
            for one in sets
        ]
    )
    for risk, of in (("mean", np.mean), ("max", np.max)):
        result = control.SamplingController(SLIDE, TASK, inertias=sets, risk=risk, **OPTIONS).plan(
            [0.0], [0.0]
        )
        np.testing.assert_allclose(result.cost, of(costs, axis=0), rtol=1e-14)
    q, _ = tf.rollout(SLIDE, [0.0], [0.0], result.u, 0.02)
    np.testing.assert_allclose(result.q, q, atol=1e-15)


def test_costs_and_plans_may_be_replaced():
    controller = control.SamplingController(SLIDE, TASK, **OPTIONS | {"knots": 12})
    plan = np.sin(np.arange(24.0)).reshape(2, 12, 1)
    controller.reset(plan)
    np.testing.assert_allclose(controller.u, plan, atol=1e-12)
    assert controller.plan(np.zeros((2, 1)), np.zeros((2, 1))).u.shape == (2, 12, 1)
    controller.set_cost(control.StateCost([[[0.1]], [[0.7]]]))
    assert controller.plan(np.zeros((2, 1)), np.zeros((2, 1))).cost.shape == (2, 40)
    with pytest.raises(tf.ShapeError, match="call reset"):
        controller.plan([0.0], [0.0])
    controller.reset()
    for cost in (TASK, lambda motions: motions.q[..., 0] ** 2):
        controller.set_cost(cost)
        assert controller.command(np.zeros((0, 1)), np.zeros((0, 1))).shape == (0, 1)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"horizon": 0}, ValueError, "horizon"),
        ({"dt": -0.1}, ValueError, "dt must be positive"),
        ({"noise": -1.0}, ValueError, "noise"),
        ({"noise": [1.0, 2.0]}, tf.ShapeError, "noise"),
        ({"noise": [[np.nan]]}, tf.NonFiniteError, "noise"),
        ({"idle": [1.0, 2.0]}, tf.ShapeError, "idle"),
        ({"samples": 0}, ValueError, "samples"),
        ({"method": "mpi"}, ValueError, "method"),
        ({"spline": "quintic"}, ValueError, "spline"),
        ({"risk": "worst"}, ValueError, "risk"),
        ({"at": "ends"}, ValueError, "at"),
        ({"knots": 13}, ValueError, "knots must be 2 to the horizon 12"),
        ({"temperature": 0.0}, ValueError, "temperature must be positive"),
        ({"temperature": "low"}, ValueError, "temperature"),
        ({"elites": 1.5}, ValueError, "elites"),
        ({"control_limits": (1.0, -1.0)}, tf.ConfigurationError, "limits"),
        ({"actuated": ["slid"]}, tf.InvalidModelError, "slide"),
        ({"inertias": np.ones((2, 3, 10))}, tf.ShapeError, "inertias"),
        ({"seed": 2**64}, ValueError, "seed"),
        ({"cost": control.FrameCost("slid", np.eye(3, 4))}, tf.InvalidModelError, "slid"),
        ({"cost": control.StateCost([0.0], weight_q=-1.0)}, ValueError, "weight"),
        ({"cost": control.CustomCost(len, len)}, tf.DtypeError, "function of SampledMotions"),
        ({"cost": lambda m: np.zeros(3)}, tf.ShapeError, "cost must return"),
        ({"model": 3}, TypeError, "model"),
        ({"q": [0.0, 0.0]}, tf.ShapeError, "q must have shape"),
        ({"v": [[0.0]]}, tf.ShapeError, "leading axes"),
    ],
)
def test_errors(changes, error, text):
    options = {"model": SLIDE, "cost": TASK} | OPTIONS | changes
    q, v = options.pop("q", [0.0]), options.pop("v", [0.0])
    with pytest.raises(error, match=text):
        control.SamplingController(**options).plan(q, v)


def test_what_programs_and_loops_refuse():
    program = tf.compile(SLIDE, ["forward_dynamics"], backend="interp")
    with pytest.raises(tf.CodegenError, match="inertias need a Model"):
        control.SamplingController(program, TASK, inertias=SLIDE.parameters[None], **OPTIONS)
    ring = tf.Loop("ring", "spherical", 0, -1, EYE, np.zeros(3), EYE, np.zeros(3))
    with pytest.raises(tf.InvalidModelError, match="loops"):
        control.SamplingController(slide(loops=[ring]), TASK, **OPTIONS)
    controller = control.SamplingController(SLIDE, TASK, **OPTIONS)
    for u in (np.zeros((11, 1)), np.full((12, 1), np.nan)):
        with pytest.raises(ValueError, match="u must"):
            controller.reset(u)
    with pytest.raises(tf.InvalidModelError, match="slid"):
        controller.set_cost(control.FrameCost("slid", np.eye(3, 4)))
    assert controller.cost is TASK
    with pytest.raises(ValueError, match="elapsed"):
        controller.command([0.0], [0.0], elapsed=-1.0)
