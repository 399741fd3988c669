"""Test the formulas of Golubev & Yaskevich, the counts of their mechanisms, and Tasora's penalty forces."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor import arms
from treefactor._util.counting import counting
from treefactor.check.cells import EXPLAINED
from treefactor.codegen.program import emit_c
from treefactor.papers.tables import golubev_yaskevich_formulas as formulas
from treefactor.papers.tables import golubev_yaskevich_systems as systems
from treefactor.papers.tables import tasora_figures as figures
from treefactor.papers.tables.table import HOLDS
from treefactor.papers.textbook import optimizing, penalty
from treefactor.papers.textbook.recursions import evaluate

SEEDS, AXES = st.integers(0, 10_000), st.sampled_from(range(3))


@given(seed=SEEDS, k=AXES, kind=st.sampled_from(["general", "symmetric", "equal"]))
def test_a_turned_matrix_needs_the_mended_formula(seed, k, kind):
    rng = np.random.default_rng(seed)
    A, angle = rng.normal(size=(3, 3)), rng.uniform(0.2, 1.3)
    A = A if kind == "general" else A + A.T
    if kind == "equal":
        np.fill_diagonal(A, 1.0)
    c, s = np.cos(angle), np.sin(angle)
    turn = optimizing.alpha(k, c, s, 0.0, 1.0).astype(float)
    right = turn.T @ A @ turn
    mended, printed = (
        optimizing.turned(A, k, c, s, optimizing.trigonometric(c, s), as_is).astype(float)
        for as_is in (False, True)
    )
    np.testing.assert_allclose(mended, right, atol=1e-12)
    m, n = (k + 1) % 3, (k + 2) % 3
    wrong = s * c * abs((A[m, n] + A[n, m]) - (A[m, m] - A[n, n]))
    assert np.abs(printed - right).max() == pytest.approx(wrong, abs=1e-12)


@given(seed=SEEDS)
def test_products_of_angular_velocities(seed):
    rng = np.random.default_rng(seed)
    w, r, A = rng.normal(size=3), rng.normal(size=3), rng.normal(size=(3, 3))
    Omega = np.array(optimizing.centrifugal(optimizing.squares(w)))
    np.testing.assert_allclose(Omega @ r, np.cross(w, np.cross(w, r)), atol=1e-12)
    np.testing.assert_allclose(optimizing.gyroscopic_of(w, A @ A.T), np.cross(w, A @ A.T @ w), atol=1e-12)


@pytest.mark.parametrize("arm", [arms.PUMA_560, arms.GENERAL_6R, arms.GENERAL_7R], ids=lambda arm: arm.name)
def test_generalized_forces_are_bias_forces(arm):
    model = arm.model()
    q, v = np.random.default_rng(0).normal(size=(2, model.nv))
    bias = -tf.bias(model, q, v)
    np.testing.assert_allclose(optimizing.generalized_forces(model, q, v, printed=False), bias, atol=1e-10)
    printed = optimizing.generalized_forces(model, q, v)
    assert printed[-1] == pytest.approx(bias[-1])  # the last body is not reached by the misprint
    assert np.abs(printed - bias).max() > 1e-3 * np.abs(bias).max()


def test_operations_of_the_formulas():
    """(1.4) for a symmetric matrix: 11 products, 10 sums; the products of sine and cosine are shared."""
    tally: Counter = Counter()
    A = counting(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]]), tally)
    c, s = counting(np.array([0.6, 0.8]), tally)
    shared = optimizing.trigonometric(c, s)
    assert tally == {"mul": 3}
    tally.clear()
    optimizing.turned(A, 2, c, s, shared, printed=False)
    assert tally == {"mul": 11, "add": 10}


def test_bodies_without_symmetry_take_about_5000_operations():
    totals = {case: systems.count(case).total for case in systems.mechanisms()}
    assert totals == {systems.ROUND: 4160, systems.GENERAL: 5042, systems.TURNED: 5450}
    for model in systems.mechanisms().values():
        assert all(joint.inertia.fault() is None for joint in model.joints)
        assert (model.nv, len(model.loops)) == (30, 6)


def test_the_six_legged_robot_has_the_counted_accelerations():
    model = systems.robot()
    q, v, tau = np.random.default_rng(0).normal(size=(3, model.nv))
    qdd = evaluate(model, "aba", q, v, tau, Counter())
    np.testing.assert_allclose(qdd, tf.aba(model, q, v, tau), rtol=1e-9)
    program = tf.compile(tf.generate(model, "forward_dynamics"))
    np.testing.assert_allclose(program.forward_dynamics(q, v, tau), qdd, rtol=1e-8)


def test_only_the_width_of_lines_keeps_variables_of_rows_used_once(monkeypatch):
    for columns, verdict in ((emit_c.COLUMNS, EXPLAINED), (10**9, HOLDS)):
        monkeypatch.setattr(emit_c, "COLUMNS", columns)
        rows = [row for row in formulas.inlined() if "used once" in row.what]
        assert [row.verdict for row in rows] == [verdict] * 2


def test_penalty_forces_keep_the_guide_and_bounce():
    path = list(penalty.path(1e5, 2000))
    assert max(abs(q[0] - penalty.GUIDE * q[1]) for q, _ in path) < 1e-12
    assert max(q[1] for q, _ in path[1000:]) > 0.9 * penalty.HEIGHT
    rest = penalty.GRAVITY / 1e5  # depth d of all energy in the spring: 1e5 d^2 / 2 = GRAVITY (HEIGHT + d)
    depth = rest + np.sqrt(rest**2 + 2 * rest * penalty.HEIGHT)
    assert penalty.deepest(1e5, 2000) == pytest.approx(depth, rel=1e-3)


def test_steps_of_impulses_end_on_the_floor():
    fall = penalty.impulse_step(0.2, steps=100)
    assert min(fall.gaps) > -1e-9
    assert fall.gaps[-1] < 1e-6


def test_bottles_stay_apart():
    rows, gaps = figures.contacts(np.array([[0.5, 0.0], [0.5 + 2.1 * figures.RADIUS, 0.0]]))
    assert gaps == pytest.approx([0.1 * figures.RADIUS])
    np.testing.assert_allclose(rows, [[-1.0, 0.0, 1.0, 0.0]])
    for normal, _ in figures.walls():
        assert np.linalg.norm(normal) == pytest.approx(1.0)
