"""Compare flexible_inertia with the kinetic energy of point masses, differentiated numerically."""

import numpy as np
import pytest
from helpers.chains import random_chain
from helpers.flexible_links import flexible_arrays
from helpers.tolerances import assert_close
from oracles.flexible import Flexible

import treefactor as tf
from treefactor.dynamics.flexible import Modes, flexible_inertia, of_points


@pytest.mark.parametrize(("n", "S"), [(1, 1), (4, 1), (3, 2), (2, 3)])
@pytest.mark.parametrize("deflected", [0.0, 0.3])
@pytest.mark.parametrize("prismatic", [False, True])
def test_the_hessian_of_the_kinetic_energy(n, S, deflected, prismatic):
    slides = np.arange(n) % 2 == 1 if prismatic else np.zeros(n, dtype=bool)
    links = Flexible(n, S, slides)
    rng = np.random.default_rng(1)
    q = np.concatenate([rng.uniform(-2, 2, n), deflected * rng.standard_normal(n * S)])
    A = flexible_inertia(*flexible_arrays(links, q), prismatic=slides)
    np.testing.assert_array_equal(A, A.T)
    assert_close(A, links.hessian(q), 10 * len(q))


def test_the_joints_are_those_of_the_rigid_chain():
    links = Flexible(4, 2, np.zeros(4, dtype=bool))
    *arrays, modes = flexible_arrays(links, np.zeros(12))
    A = flexible_inertia(*arrays, modes)
    assert_close(A[:4, :4], tf.chain_inertia(*arrays), 10)
    stiff = Modes(*(np.asarray(x)[:, :0] for x in modes))._replace(mass=np.zeros((4, 0, 0)))
    assert_close(flexible_inertia(*arrays, stiff), tf.chain_inertia(*arrays), 10)


def test_a_cantilever_beam_in_its_quadratic_mode():
    # phi = (x / L)^2 across a uniform beam: integrals m / 3, m L / 4, m / 5
    m, L, P = 3.0, 2.0, 20000
    x = (np.arange(P) + 0.5) * L / P
    points = np.stack([x, 0 * x, 0 * x], axis=1)[None]
    shapes = np.stack([0 * x, (x / L) ** 2, 0 * x], axis=1)[None, None]
    none = np.zeros((1, 1, 3))
    bodies = of_points(points, np.full((1, P), m / P), shapes, none, none)
    A = flexible_inertia([[0, 0, 1]], [[0, 0, 0]], *bodies)
    np.testing.assert_allclose(A, [[m * L**2 / 3, m * L / 4], [m * L / 4, m / 5]], rtol=1e-8)


def test_a_batch_is_its_chains_and_shared_arrays_serve_all():
    links = Flexible(3, 2, np.zeros(3, dtype=bool))
    single = [flexible_arrays(links, 0.2 * np.random.default_rng(e).standard_normal(9)) for e in range(4)]
    axis, r, mass, c, inertia, _ = (np.array(x) for x in zip(*((*x[:5], 0) for x in single), strict=True))
    modes = Modes(*(np.array(x) for x in zip(*(x[5] for x in single), strict=True)))
    A = flexible_inertia(axis, r, mass[0], c, inertia, modes)
    assert A.shape == (4, 9, 9)
    for own, arrays in zip(A, single, strict=True):
        assert_close(own, flexible_inertia(*arrays), 10)
    c[2, 1] = np.nan
    A = flexible_inertia(axis, r, mass[0], c, inertia, modes)
    assert np.isnan(A[2]).all()
    assert np.isfinite(np.delete(A, 2, axis=0)).all()


@pytest.mark.parametrize("field", Modes._fields)
def test_what_does_not_fit_is_named(field):
    modes = flexible_arrays(Flexible(3, 2, np.zeros(3, dtype=bool)), np.zeros(9))[5]
    arrays = random_chain(3)
    short = modes._replace(**{field: np.asarray(getattr(modes, field))[:2]})
    with pytest.raises(tf.ShapeError, match=rf"modes\.{field} must have shape"):
        flexible_inertia(*arrays, short)
    lost = np.array(getattr(modes, field))
    lost[1, 0] = np.inf
    with pytest.raises(tf.NonFiniteError, match=rf"modes\.{field}"):
        flexible_inertia(*arrays, modes._replace(**{field: lost}))
    with pytest.raises(tf.ShapeError, match=r"modes\.momentum"):
        flexible_inertia(*arrays, modes._replace(momentum=np.zeros(3)))
