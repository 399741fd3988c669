"""Test tangents and steps in JAX: derivatives of all orders, transformations, dtypes, and what is traced."""

import numpy as np
import pytest
from helpers.jax_cases import compiled_fast, jax, precision
from helpers.manifold_cases import (
    CLOSE,
    TURNING,
    at_state,
    check_empty_batches,
    check_steps_of_all_kinds,
    draw,
    off_unit,
    results_in_single_precision,
    robot,
)
from helpers.sweeps import sweep

import treefactor as tf
from treefactor.adapters._lie_groups import SMALL, SMALL_TANGENT, Sphere
from treefactor.adapters._manifold import Manifold

jnp = jax.numpy
SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@pytest.fixture(autouse=True)
def _float64():
    with precision(True), compiled_fast():
        yield


def test_steps_of_all_kinds_in_one_tree():
    """Put every entry into its place where kinds alternate and mimic joints follow."""
    check_steps_of_all_kinds(jnp, jnp.asarray, jax.jit)


def test_empty_batches_of_several_joints_of_a_kind():
    check_empty_batches(jnp, jax.jit)


def test_dtypes_are_kept():
    """Single precision stays single precision in every function."""
    q, results = results_in_single_precision(jnp, jnp.asarray, jax.eval_shape)
    assert {result.dtype for result in results} == {q.dtype}


def third(f):
    """Return the function of third derivatives."""
    return jax.jacfwd(jax.jacfwd(jax.jacfwd(f)))


@pytest.mark.parametrize(
    ("kind", "orders"),
    [
        ("continuous", (jax.jacfwd, jax.hessian)),
        ("spherical", (jax.jacfwd, jax.hessian)),
        ("planar", (jax.hessian,)),
        pytest.param("freeflyer", (jax.hessian,), marks=pytest.mark.slow),
        pytest.param("continuous", (third,), marks=pytest.mark.slow),
        pytest.param("spherical", (third,), marks=pytest.mark.slow),
        pytest.param("freeflyer", (jax.jacfwd,), marks=pytest.mark.slow),
    ],
)
def test_rules_repeat(kind, orders):
    """A function whose derivative is written with P has the higher derivatives of f(normalize(q))."""
    model = robot((kind,))
    manifold, (q, _, _) = Manifold(model, jnp), draw(model)
    weights = jnp.asarray(np.random.default_rng(2).normal(size=model.nq))

    def height(q):
        return jnp.sum(jnp.sin(weights * manifold.normalize(q)))

    def gradient(q):  # along integrate
        unit = manifold.normalize(q)
        return jax.jacfwd(lambda v: height(unit + manifold.from_tangent(unit, v)))(jnp.zeros(model.nv))

    @jax.custom_jvp
    def ruled(q):
        return height(q)

    @ruled.defjvp
    def _(primals, tangents):
        return ruled(*primals), gradient(*primals) @ manifold.to_tangent(*primals, *tangents)

    for order in orders:
        got, wanted = (
            jax.jit(jax.vmap(order(f)))(jnp.stack([q, off_unit(model, q)])) for f in (ruled, height)
        )
        np.testing.assert_allclose(got, wanted, atol=1e-12)


@pytest.mark.parametrize("kind", sweep(TURNING, lambda kind: kind != "freeflyer"))
def test_derivatives_of_steps(kind):
    """Derivatives of steps, in tangents, equal d_integrate and d_difference, at rest and in motion."""
    model = robot(("revolute", kind))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model, (2,), np.array([[0.0], [1.0]]))
    reached = tf.integrate(model, q, v)

    def at(x):
        return manifold.from_tangent(x, jnp.eye(model.nv)).T

    def by_tangents(q, v, reached):
        by_q, by_v = jax.jacfwd(manifold.integrate, (0, 1))(q, v)
        by_q0, by_q1 = jax.jacrev(manifold.difference, (0, 1))(q, reached)
        steps = [manifold.to_tangent(reached, columns.T).T for columns in (by_q @ at(q), by_v)]
        return *steps, by_q0 @ at(q), by_q1 @ at(reached)

    wanted = *tf.d_integrate(model, q, v), *tf.d_difference(model, q, reached)
    for got, expected in zip(jax.jit(jax.vmap(by_tangents))(q, v, reached), wanted, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-13)


@pytest.mark.parametrize("kind", sweep(TURNING, lambda kind: kind != "freeflyer"))
def test_second_derivatives_at_rest(kind):
    """The Hessian at v = 0 is finite and equals second differences of treefactor.integrate."""
    model = robot((kind,))
    manifold, (q, _, _) = Manifold(model, jnp), draw(model)
    weights, n, step = np.random.default_rng(3).normal(size=model.nq), model.nv, 1e-4

    def height(x):
        return jnp.sum(weights * x**2)

    got = jax.jit(jax.hessian(lambda v: height(manifold.integrate(q, v))))(jnp.zeros(n))
    corners = np.array(
        [[s * step * a + t * step * b for a in np.eye(n) for b in np.eye(n)] for s, t in SIGNS]
    )
    x = tf.integrate(model, q, corners)
    value = (weights * x**2).sum(-1).reshape(4, n, n)
    wanted = (value[0] - value[1] - value[2] + value[3]) / (4 * step**2)
    np.testing.assert_allclose(got, wanted, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["integrate", "difference"])
@pytest.mark.parametrize("kind", ["spherical", "planar"])
def test_second_derivatives_in_jax(kind, name):
    """Forward and reverse derivatives of first and second order in JAX, at rest, equal finite differences."""
    from jax.test_util import check_grads

    model, given = at_state((kind,), name, "at rest")
    check_grads(jax.jit(getattr(Manifold(model, jnp), name)), [jnp.asarray(x) for x in given], 2)


def test_derivatives_are_smooth_where_series_end():
    """Values and two derivatives agree on both sides of the angles where series take over."""
    sphere = Sphere(jnp)

    def exponential(angle):
        return jnp.stack(sphere.exponential(angle * angle))

    def logarithm(tangent):
        turn, second = sphere.logarithm(jnp.stack([tangent, 0.0, 0.0, 1.0]))
        return jnp.stack([turn[0], second[0]])

    for function, end in ((exponential, 2 * SMALL**0.5), (logarithm, SMALL_TANGENT**0.5)):
        tolerance = 1e-13
        for _ in range(3):
            below, above = jax.jit(jax.vmap(function))(end * (1.0 + jnp.array([-1e-14, 1e-14])))
            np.testing.assert_allclose(below, above, rtol=tolerance, atol=tolerance)
            function, tolerance = jax.jacfwd(function), 50 * tolerance


def test_batches_and_transformations():
    """Leading axes broadcast, vmap takes any axis, a NaN stays in its row, and a batch may be empty."""
    model = robot(("prismatic", "freeflyer", "planar"))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model, (3,))
    step = jax.jit(manifold.integrate)
    wanted = tf.integrate(model, q, v[0])
    np.testing.assert_allclose(step(q, v[0]), wanted, **CLOSE)
    np.testing.assert_allclose(jax.jit(jax.vmap(manifold.integrate, (1, None)))(q.T, v[0]), wanted, **CLOSE)
    bad = q.copy()
    bad[1, 4] = np.nan
    rows = np.asarray(step(bad, v[0]))
    assert np.isnan(rows[1]).any()
    assert (rows[[0, 2]] == np.asarray(step(q, v[0]))[[0, 2]]).all()
    assert step(q[:0], v[0]).shape == (0, model.nq)


def test_one_free_flyer_costs_no_reordering():
    """A free-flyer before plain joints needs slices and one concatenation: no gather, no scatter."""
    model = robot(("freeflyer", *["revolute"] * 12))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model)
    for name in ("integrate", "from_tangent", "pull"):
        text = str(jax.make_jaxpr(getattr(manifold, name))(q, v))
        assert "gather" not in text
        assert "scatter" not in text
