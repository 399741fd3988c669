"""Batches of worlds, and steps in compiled code, against single steps: equal to the last bit."""

import copy

import numpy as np
import pytest
from helpers.scenes import random_scene
from test_stepper import at, bodies, squeezed

import treefactor as tf
from treefactor.constraints import Box, Capsule, Contact, Mesh, Plane, Sphere, Stepper, _runs, box
from treefactor.exceptions import ConfigurationError, NonFiniteError, ShapeError, StepError
from treefactor.model._hulls import SIGNS

STEPS = 30
FLOOR = Plane(point=[0, 0, -2.97])


def equal(one, other):
    """Return whether two trajectories have the same bits."""
    return np.array_equal(one.q, other.q) and np.array_equal(one.v, other.v)


def falling(count=5, friction="pyramid", **options):
    """Return the stepper of a box, and states in which it falls on its corners or slides."""
    contacts = [Contact(corner, mu=0.4) for corner in box(0, [0.4, 0.4, 0.2])]
    stepper = Stepper(bodies(1), contacts, h=0.01, friction=friction, **options)
    rng = np.random.default_rng(0)
    q = np.tile(at([0, 0, 0.101]), (count, 1))
    q[:, 2] += 0.01 * np.arange(count)
    return stepper, q, rng.normal(size=(count, 6)) * [1, 1, 0.2, 0.1, 0.1, 0.3]


@pytest.fixture
def compiled_steps(monkeypatch):
    """Count the compiled steps."""
    counts, advance = [], _runs.advance

    def counted(*arguments):
        row, first = advance(*arguments), arguments[-2]
        counts.append(row - first)
        return row

    monkeypatch.setattr(_runs, "advance", counted)
    return counts


@pytest.mark.parametrize("parts", [["balls"], ["boxes"], ["arms"], ["balls", "boxes", "arms"]], ids=" ".join)
@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_compiled_steps_have_the_bits_of_single_steps(parts, friction, compiled_steps):
    for seed in range(4):
        scene = random_scene(seed, parts, friction, h=1e-3)
        stepper, tau = scene.stepper, np.random.default_rng(seed).normal(size=(STEPS, len(scene.v)))
        other = copy.copy(stepper)
        expected = stepper.run(scene.q, scene.v, STEPS, tau)
        run = other.run(scene.q, scene.v, STEPS, tau, keep_steps=False)
        assert equal(run, expected)
        assert len(expected.steps) == STEPS
        assert run.steps == []
        last = [one.step(expected.q[-1], expected.v[-1]) for one in (stepper, other)]
        assert np.array_equal(last[0].v, last[1].v)
        assert np.array_equal(last[0].solution.gamma, last[1].solution.gamma)
    assert sum(compiled_steps) > 2 * STEPS


def test_explicit_steps_and_limits_are_compiled_too(compiled_steps):
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]))
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "inertia": rod, "lower": -0.3, "upper": 0.3}
    arm = [tf.Joint(f"hinge{i}", parent=i - 1, p=[0, 0, -1.0 * (i > 0)], **hinge) for i in range(3)]
    for gyroscopic in ("implicit", "explicit"):
        stepper = Stepper(
            tf.Model(arm), [Contact(Sphere(2, [0, 0, -1.0]), FLOOR, 0.5)], h=0.01, gyroscopic=gyroscopic
        )
        state = [0.1, 0.2, 0.25], [1.0, 2.0, -1.0]
        expected = copy.copy(stepper).run(*state, 2 * STEPS)
        assert equal(stepper.run(*state, 2 * STEPS, keep_steps=False), expected)
        assert np.abs(expected.q).max() > 0.29
    assert sum(compiled_steps) > 2 * STEPS


def tumbling(friction, correction):
    """Return the stepper of boxes, a hull, a capsule and a sphere on a hinge, and states with overlaps."""
    inertia = tf.Inertia(0.5, tensor=np.diag([1e-3, 2e-3, 2.5e-3]))
    joints = [tf.Joint(f"body {k}", "freeflyer", inertia=inertia) for k in range(4)]
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "lower": -0.2, "upper": 0.2}
    joints.append(tf.Joint("arm", parent=3, p=[0, 0, 0.05], inertia=inertia, **hinge))
    shapes = [
        *(Box(0, [0.1, 0.2, 0.1]), Box(1, [0.2, 0.1, 0.1]), Mesh(2, 0.05 * SIGNS[:7])),
        *(Capsule(3, 0.04, 0.1), Sphere(4, [0.0, 0.0, 0.15], 0.03)),
    ]
    contacts = [Contact(shape, mu=0.4) for shape in shapes]
    contacts += [Contact(shapes[k], shapes[j], mu=0.3) for k in range(4) for j in range(k)]
    stepper = Stepper(tf.Model(joints), contacts, h=4e-3, friction=friction, correction=correction)
    q, rng = tf.neutral(stepper.model), np.random.default_rng(2)
    q[:28].reshape(4, 7)[:, :3] = rng.uniform([-0.1, -0.1, 0.03], [0.1, 0.1, 0.5], (4, 3))
    return stepper, q, rng.normal(size=25)


@pytest.mark.parametrize("correction", ["velocity", "split"])
@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_compiled_steps_of_shapes_whose_points_come_and_go(friction, correction, compiled_steps):
    stepper, q, v = tumbling(friction, correction)
    other, tau = copy.copy(stepper), np.random.default_rng(3).normal(size=(150, 25))
    expected = stepper.run(q, v, 150, tau)
    assert equal(other.run(q, v, 150, tau, keep_steps=False), expected)
    points = [len(step.points.gaps) for step in expected.steps]
    assert np.count_nonzero(np.diff(points)) > 30
    assert min(points) < 5 < max(points)
    assert min(step.gap.min() for step in expected.steps) < -1e-3
    for step in expected.steps[::10]:
        least = [
            step.points.gaps[step.points.contacts == k].min(initial=np.inf) for k in range(len(step.gap))
        ]
        assert (step.gap <= least).all()
        assert np.isin(step.gap[np.isfinite(least)], least).all()
    assert sum(compiled_steps) == 150
    assert all(step.solution.residual() <= 1e-9 for step in expected.steps)
    for one in (stepper, other):
        np.testing.assert_array_equal(one._last.identities, stepper._last.identities)
        np.testing.assert_array_equal(one._pressed, stepper._pressed)
    again = [one.step(expected.q[-1], expected.v[-1]).v for one in (stepper, other, copy.deepcopy(other))]
    np.testing.assert_array_equal(again[0], again[1])
    np.testing.assert_array_equal(again[0], again[2])


def spider(friction):
    """Return the stepper of a trunk with four limbs, one tree whose limbs touch each other, and a state."""
    inertia = tf.Inertia(0.3, tensor=np.diag([1e-3, 2e-3, 2.5e-3]))
    joints, shapes = [tf.Joint("trunk", "freeflyer", inertia=inertia)], [Box(0, [0.3, 0.2, 0.1])]
    hinge = {"kind": "revolute", "inertia": inertia, "armature": 0.01, "lower": -1.0, "upper": 1.5}
    for k, (x, y) in enumerate([(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)]):
        joints.append(tf.Joint(f"hip {k}", parent=0, p=[x, y, 0.0], axis=[0, 1, 0], **hinge))
        joints.append(tf.Joint(f"knee {k}", parent=2 * k + 1, p=[0, 0, -0.15], axis=[0, 1, 0], **hinge))
        shapes += [Capsule(2 * k + 1, 0.02, 0.1, p=[0, 0, -0.07]), Box(2 * k + 2, [0.04, 0.04, 0.15])]
    contacts = [Contact(shape, mu=0.6) for shape in shapes]
    contacts += [Contact(shapes[i], shapes[j], mu=0.3) for i, j in [(2, 6), (4, 8), (2, 8), (2, 5), (1, 6)]]
    stepper = Stepper(tf.Model(joints), contacts, h=3e-3, friction=friction, correction="split")
    q = np.r_[0, 0, 0.28, 0, 0.1, 0, np.sqrt(0.99), np.tile([0.3, -0.4], 4)]
    return stepper, q, np.random.default_rng(4).normal(size=14)


@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_one_solver_is_fitted_to_all_contacts_of_a_tree(friction, compiled_steps):
    stepper, q, v = spider(friction)
    other = copy.copy(stepper)
    tau = np.sin(np.add.outer(0.1 * np.arange(200), np.arange(14))) * np.r_[np.zeros(6), np.full(8, 8.0)]
    expected = stepper.run(q, v, 200, tau)
    assert equal(other.run(q, v, 200, tau, keep_steps=False), expected)
    assert sum(compiled_steps) == 200
    np.testing.assert_array_equal(other._pressed, stepper._pressed)
    high = np.r_[0, 0, 2.0, q[3:]]
    stepper.step(high, v)
    other.run(high, v, 1, keep_steps=False)
    assert not stepper._pressed.any()
    assert not other._pressed.any()
    rows = [len(step.solution.gamma) for step in expected.steps]
    assert np.count_nonzero(np.diff(rows)) > 30
    assert max(rows) > 2 * min(rows)
    assert any(step.impulse[9:].any() for step in expected.steps), "no limbs touch each other"
    assert all(step.solution.residual() <= 1e-9 for step in expected.steps)
    assert all(step.solution.complementarity() <= 1e-9 for step in expected.steps)


@pytest.mark.parametrize("friction", ["pyramid", "box"])
@pytest.mark.parametrize("keep_steps", [True, False])
def test_a_batch_has_the_bits_of_single_worlds(friction, keep_steps):
    stepper, q, v = falling(friction=friction)
    alone = [copy.copy(stepper).run(*state, STEPS) for state in zip(q, v, strict=True)]
    for num_threads in (1, 2, -1):
        run = stepper.run(q, v, STEPS, num_threads=num_threads, keep_steps=keep_steps)
        assert run.q.shape == (5, STEPS + 1, 7)
        assert run.v.shape == (5, STEPS + 1, 6)
        for k, expected in enumerate(alone):
            assert np.array_equal(run.q[k], expected.q)
            assert np.array_equal(run.v[k], expected.v)
            assert len(run.steps[k]) == STEPS * keep_steps
            for one, other in zip(run.steps[k], expected.steps, strict=False):
                assert np.array_equal(one.impulse, other.impulse)


def test_a_batch_leaves_the_stepper_as_it_was():
    stepper, q, v = falling(friction="box")
    stepper.run(q[0], v[0], 7)
    before = copy.copy(stepper)
    stepper.run(q, v, STEPS, num_threads=2)
    assert equal(stepper.run(q[1], v[1], 3), before.run(q[1], v[1], 3))


def test_worlds_may_have_several_axes_and_share_a_state():
    stepper, q, v = falling(6)
    run = stepper.run(q.reshape(2, 3, 7), np.zeros(6), STEPS)
    assert run.q.shape == (2, 3, STEPS + 1, 7)
    assert np.array_equal(run.q[1, 2], stepper.run(q[5:], np.zeros((1, 6)), STEPS).q[0])
    assert np.array_equal(run.steps[5][-1].q, run.q[1, 2, -1])
    assert stepper.run(q[:0], v[:0], 3).q.shape == (0, 4, 7)
    with pytest.raises(ShapeError):
        stepper.run(q, v[:2], 3)


@pytest.mark.parametrize("batch", [(), (2, 3), (0,)])
def test_runs_without_steps_and_of_models_without_freedoms(batch):
    stepper, q, v = falling(1)
    start = np.broadcast_to(q[0], (*batch, 7))
    for tau in (None, np.zeros(6), np.zeros((0, 6))):
        run = stepper.run(start, v[0], 0, tau)
        assert run.q.shape == (*batch, 1, 7)
        assert (run.q == q[0]).all()
    still = Stepper(tf.Model([]))
    for keep_steps in (True, False):
        assert still.run(np.zeros((*batch, 0)), [], 3, keep_steps=keep_steps).q.shape == (*batch, 4, 0)


def test_forces_of_worlds():
    stepper, q, v = falling(3)
    tau = np.random.default_rng(1).normal(size=(3, STEPS, 6))
    alone = [copy.copy(stepper).run(q[k], v[k], STEPS, tau[k]) for k in range(3)]
    for run in (stepper.run(q, v, STEPS, tau, keep_steps=keep) for keep in (True, False)):
        assert all(np.array_equal(run.q[k], alone[k].q) for k in range(3))
    each = stepper.run(q, v, STEPS, tau[0])
    called = stepper.run(q, v, STEPS, lambda t, q, v: tau[0, round(t / 0.01)], num_threads=2)
    assert equal(each, called)
    assert np.array_equal(each.q[0], alone[0].q)
    with pytest.raises(ShapeError, match=r"tau must have shape \(6,\) or \(30, 6\) or \(3, 30, 6\)"):
        stepper.run(q, v, STEPS, np.zeros((2, STEPS, 6)))


@pytest.mark.parametrize("num_threads", [1, 3])
def test_errors_name_the_world(num_threads):
    stepper = squeezed()
    q = np.stack([at([0, 0, height]) for height in (5.0, 0.45, -5.0, 0.45)])
    with pytest.raises(StepError, match=r"world 1: .*INFEASIBLE.* at t = 0 s") as caught:
        stepper.run(q, np.zeros(6), 3, num_threads=num_threads)
    assert caught.value.time == 0.0
    assert caught.value.solution.certificate is not None
    with pytest.raises(StepError, match=r"world \(1, 0\)"):
        stepper.run(q[[0, 0, 1, 1]].reshape(2, 2, 7), np.zeros(6), 3, num_threads=num_threads)
    free, q, v = falling(4)
    v[2, 1] = np.nan
    with pytest.raises(NonFiniteError, match="world 2: v is not finite"):
        free.run(q, v, 3, num_threads=num_threads)
    with pytest.raises(ConfigurationError, match="world 3"):
        free.run(np.where(np.arange(4)[:, None] == 3, 2.0, q), np.zeros(6), 3, num_threads=num_threads)
    with pytest.raises(ZeroDivisionError):
        free.run(q, np.zeros(6), 3, lambda t, q, v: 1 / 0, num_threads=num_threads)


def test_forces_that_are_not_finite_are_refused_in_compiled_steps():
    stepper, q, v = falling(1)
    tau = np.zeros((STEPS, 6))
    tau[20, 3] = np.inf
    with pytest.raises(NonFiniteError, match="tau"):
        stepper.run(q[0], v[0], STEPS, tau, keep_steps=False)


def test_functions_of_forces_are_called_once_for_every_step(compiled_steps, monkeypatch):
    stepper, q, v = falling(1)
    calls = []

    def brake(t, q, v):
        calls.append(t)
        return -0.3 * v

    expected = copy.copy(stepper).run(q[0], v[0], STEPS, brake)
    other = copy.copy(stepper)
    assert equal(other.run(q[0], v[0], STEPS, brake, keep_steps=False), expected)
    assert sum(compiled_steps) == STEPS
    assert calls == 2 * expected.t[:-1].tolist()
    calls.clear()
    monkeypatch.setattr(_runs, "SYSTEMS", 0)  # no compiled step is solved
    assert equal(copy.copy(stepper).run(q[0], v[0], STEPS, brake, keep_steps=False), expected)
    assert calls == expected.t[:-1].tolist()

    def fails(t, q, v):
        return brake(t, q, v) if t < 0.095 else 1 / 0

    for keep_steps in (True, False):
        one = copy.copy(stepper)
        with pytest.raises(ZeroDivisionError):
            one.run(q[0], v[0], STEPS, fails, keep_steps=keep_steps)
        state = expected.q[10], expected.v[10]
        np.testing.assert_array_equal(one.step(*state, -0.3 * state[1]).v, expected.v[11])
    with pytest.raises(ShapeError, match="tau must have shape"):
        stepper.run(q[0], v[0], STEPS, lambda t, q, v: v[:3], keep_steps=False)


def test_long_runs_can_be_interrupted(monkeypatch, compiled_steps):
    """Compiled steps end after a while, and go on from where they ended."""
    stepper, q, v = falling(1)
    expected = copy.copy(stepper).run(q[0], v[0], 3 * STEPS)
    monkeypatch.setattr(_runs, "STRETCH", 7)
    assert equal(stepper.run(q[0], v[0], 3 * STEPS, keep_steps=False), expected)
    assert max(compiled_steps) == 7
