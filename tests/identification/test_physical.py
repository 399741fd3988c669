"""Fits of bodies that can exist: the optimum in parameters, its bounds, and what a prior may be."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from treefactor.exceptions import InvalidModelError, NonFiniteError, ShapeError
from treefactor.identification import fit_physical
from treefactor.model.parameters import from_log_cholesky, moved_parameters, pseudo_inertia

BODIES = 3


def case(seed, rows=24, noise=0.1):
    """Return a triangle with armature and two more columns, K, a prior, and the parameters of the data."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(BODIES, 10)) * 0.3
    prior, truth = from_log_cholesky(theta), from_log_cholesky(theta + 0.2 * rng.normal(size=theta.shape))
    K = rng.normal(size=(12, 10 * BODIES + 1))
    Z = rng.normal(size=(rows, 14))
    x = np.concatenate([K @ np.append(truth.ravel(), 0.3), [0.2, -0.4]])
    tau = Z @ x + noise * rng.normal(size=rows)
    return np.linalg.qr(np.column_stack([Z, tau]) / 0.1, mode="r"), K, prior, truth


def objective(triangle, K, prior, strength, parameters, linear):
    """Return the convex objective in parameters, from its definition."""
    x = np.concatenate([K @ np.append(parameters.ravel(), linear[0]), linear[1:]])
    ratio = np.linalg.solve(pseudo_inertia(prior), pseudo_inertia(parameters))
    divergence = np.trace(ratio, axis1=1, axis2=2) - np.linalg.slogdet(ratio)[1] - 4
    return np.sum((triangle[:, :-1] @ x - triangle[:, -1]) ** 2) + strength * divergence.sum()


@pytest.mark.parametrize("strength", [1.0, 10.0, 1000.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_has_no_slope_in_any_parameter(seed, strength):
    triangle, K, prior, _ = case(seed)
    fit = fit_physical(
        triangle, K, prior, [0.1], [-np.inf] * 2, strength, floor=0.0, tolerance=1e-13, max_iterations=200
    )
    assert fit.converged

    def value(change):
        parameters = fit.parameters + change[: 10 * BODIES].reshape(BODIES, 10)
        linear = np.append(fit.armature, fit.linear) + change[10 * BODIES :]
        return objective(triangle, K, prior, strength, parameters, linear)

    best = value(np.zeros(10 * BODIES + 3))
    assert np.isclose(best, fit.cost + strength * fit.divergences.sum(), rtol=1e-10)
    for direction in np.eye(10 * BODIES + 3):
        if fit.armature[0] == 0.0 and direction[10 * BODIES]:
            continue
        step = 1e-5 * direction
        slope = (value(step) - value(-step)) / 2e-5
        curvature = (value(step) + value(-step) - 2 * best) / 1e-10
        assert abs(slope) < 1e-4 * np.sqrt(abs(curvature * best)) + 1e-5


def test_exact_data_and_a_weak_pull_give_back_the_base_parameters():
    triangle, K, prior, truth = case(5, noise=0.0)
    fit = fit_physical(triangle, K, prior, [0.1], [0.0, -np.inf], 1e-6, floor=1e-4)
    assert fit.converged
    assert np.allclose(
        K @ np.append(fit.parameters.ravel(), fit.armature), K @ np.append(truth.ravel(), 0.3), atol=1e-3
    )
    assert np.allclose(fit.linear, [0.2, -0.4], atol=1e-3)


def test_a_strong_pull_gives_back_the_prior():
    triangle, K, prior, _ = case(6)
    fit = fit_physical(triangle, K, prior, [0.1], [0.0, 0.0], 1e12)
    assert np.allclose(fit.parameters, prior, rtol=1e-4, atol=1e-4)
    assert fit.divergences.max() < 1e-9


def test_the_result_does_not_depend_on_the_axes_of_the_bodies():
    triangle, K, prior, _ = case(7)
    rng = np.random.default_rng(0)
    R, p = Rotation.random(BODIES, random_state=1).as_matrix(), rng.normal(size=(BODIES, 3))
    back = moved_parameters(np.eye(10), R.swapaxes(-1, -2)[:, None], -np.einsum("bji,bj->bi", R, p)[:, None])
    turned = K.copy()
    turned[:, :-1] = np.einsum("cbi,bji->cbj", K[:, :-1].reshape(12, BODIES, 10), back).reshape(12, -1)
    options = {"tolerance": 1e-12, "floor": 0.1}
    one = fit_physical(triangle, K, prior, [0.1], [0.0, 0.0], **options)
    two = fit_physical(triangle, turned, moved_parameters(prior, R, p), [0.1], [0.0, 0.0], **options)
    assert np.allclose(moved_parameters(one.parameters, R, p), two.parameters, atol=1e-5)
    assert np.allclose(one.divergences, two.divergences, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strength", [1e-3, 0.1])
def test_the_floor_holds_where_the_data_want_impossible_bodies(seed, strength):
    triangle, K, prior, _ = case(seed)
    rng = np.random.default_rng(seed)
    triangle[:-1, -1] = triangle[:-1, :-1] @ rng.normal(size=len(triangle) - 1) * 3
    fit = fit_physical(triangle, K, prior, [0.1], [0.0, 0.0], strength, floor=0.05)
    share = np.linalg.eigvals(np.linalg.solve(pseudo_inertia(prior), pseudo_inertia(fit.parameters))).real
    assert share.min() > 0.05 * (1 - 1e-9)
    assert share.min() < 0.2  # it was needed
    assert min(fit.armature.min(), fit.linear.min()) >= 0.0


def test_bounds_hold_and_the_rest_is_the_best_within_them():
    triangle, K, prior, _ = case(8, noise=0.0)
    fit = fit_physical(triangle, K, prior, [0.0], [0.0, 0.0], 1e-3)
    assert fit.linear[1] == 0.0  # the data say -0.4
    free = fit_physical(triangle, K, prior, [0.0], [0.0, -np.inf], 1e-3)
    assert np.isclose(free.linear[1], -0.4, atol=1e-2)
    assert fit.cost > free.cost


def test_columns_that_the_data_do_not_contain_stay_where_they_were():
    triangle, K, prior, _ = case(9)
    triangle[:, 13] = 0.0
    K[:, -1] = 0.0
    fit = fit_physical(triangle, K, prior, [0.25], [0.0, 0.0])
    assert fit.converged
    assert fit.armature[0] == 0.25
    assert fit.linear[1] == 0.0


def test_bodies_without_mass_stay_and_thin_ones_get_a_thickness():
    triangle, K, prior, truth = case(10)
    changed = truth.copy()
    changed[1] = prior[1] = 0.0
    changed[2] = prior[2] = [2.0, 0, 0, 1.0, 0.5, 0, 0.5, 0, 0, 0]  # a point mass
    triangle[:, -1] += triangle[:, :12] @ K[:, :-1] @ (changed - truth).ravel()
    fit = fit_physical(triangle, K, prior, [0.0], [0.0, 0.0])
    assert fit.converged
    assert not fit.parameters[1].any()
    assert fit.divergences[1] == 0.0
    assert np.linalg.eigvalsh(pseudo_inertia(fit.parameters[[0, 2]])).min() > 0.0


def test_robots_without_mass_and_data_of_any_size_converge():
    triangle, K, prior, _ = case(0)
    nothing = fit_physical(triangle, K, 0.0 * prior, [0.0], [0.0, 0.0])
    assert nothing.converged
    assert not nothing.parameters.any()
    for size in (0.0, 1e-100, 1e-6, 1e6):
        fit = fit_physical(size * triangle, K, prior, [0.0], [0.0, 0.0], strength=10.0)
        assert fit.converged
        assert np.isfinite(fit.parameters).all()


def test_few_iterations_are_enough():
    for seed in range(10):
        fit = fit_physical(*case(seed)[:3], [0.1], [0.0, -np.inf], 1.0)
        assert fit.converged
        assert fit.iterations <= 10


def test_iterations_end_at_rounding_errors_and_at_the_tolerance():
    for seed in range(4):
        triangle, K, prior, truth = case(seed, noise=0.0)
        fit = fit_physical(triangle, K, truth, [0.3], [0.0, -np.inf], 1.0, tolerance=0.0)
        assert fit.converged
        assert fit.iterations <= 2
        loose, tight = (
            fit_physical(triangle, K, prior, [0.1], [0.0, -np.inf], 1.0, tolerance=tolerance)
            for tolerance in (1e-2, 1e-12)
        )
        assert loose.iterations < tight.iterations


def test_the_tolerance_is_a_share_of_the_whole_objective():
    """In any unit, and with a residual that no parameter explains."""
    triangle, K, prior, _ = case(0)

    def fit(triangle, unit=1.0):
        linear = [0.1], [0.0, -np.inf]
        return fit_physical(unit * triangle, K, prior, *linear, strength=unit**2, tolerance=1e-9)

    wanted = fit(triangle)
    for unit in (1e-4, 1e4):
        assert fit(triangle, unit).iterations == wanted.iterations
    noisy = triangle.copy()
    noisy[-1, -1] = 1e6
    assert fit(noisy).iterations < wanted.iterations


def test_wrong_arguments_are_named():
    triangle, K, prior, _ = case(0)
    good = {"armature": [0.0], "lower": [0.0, 0.0]}
    with pytest.raises(ShapeError, match=r"K must have shape \(count, 30\)"):
        fit_physical(triangle, K, prior, lower=[0.0, 0.0])
    with pytest.raises(ShapeError, match=r"triangle must have shape \(14, 14\)"):
        fit_physical(triangle, K, prior, [0.0], [0.0])
    with pytest.raises(ShapeError, match="prior must have shape"):
        fit_physical(triangle, K, prior[0], **good)
    with pytest.raises(ValueError, match="a floor below 1"):
        fit_physical(triangle, K, prior, **good, floor=1.0)
    with pytest.raises(ValueError, match="expected a positive strength"):
        fit_physical(triangle, K, prior, **good, strength=0.0)
    with pytest.raises(ValueError, match="strength must not be negative"):
        fit_physical(triangle, K, prior, **good, strength=-1)
    with pytest.raises(NonFiniteError, match=r"lower is not finite: lower\[1\]"):
        fit_physical(triangle, K, prior, [0.0], [-np.inf, np.inf])
    with pytest.raises(ShapeError, match=r"armature must be a vector, got shape \(\)"):
        fit_physical(triangle, K, prior, 0.0, [0.0, 0.0])
    with pytest.raises(NonFiniteError, match="triangle is not finite"):
        fit_physical(triangle * np.nan, K, prior, **good)
    lighter = prior.copy()
    lighter[2, 0] = -1.0
    with pytest.raises(InvalidModelError, match=r"prior\[2\] has a negative mass"):
        fit_physical(triangle, K, lighter, **good)
    with pytest.raises(InvalidModelError, match="have no size"):
        fit_physical(triangle, K, np.tile(np.eye(10)[0], (BODIES, 1)), **good)
