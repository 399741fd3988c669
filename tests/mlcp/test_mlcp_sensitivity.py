"""Derivatives of solutions agree with differences; where they do not exist, they are NaN."""

import pickle

import numpy as np
import pytest
from helpers.strategies import spd_matrix

from treefactor import ShapeError, Tree, mlcp
from treefactor.mlcp import SensitivityStatus
from treefactor.mlcp import families as mlcp_families

TREE = Tree([-1, 0, 1, 1, 0, 4, -1])
STEP, DIFFERENCES = 1e-5, 2e-8


def data(seed):
    """Return random data of a problem with bounds, and the generator."""
    rng = np.random.default_rng(seed)
    n, p, m = TREE.n, rng.integers(0, 3), rng.integers(1, 6)
    upper = np.where(rng.random(m) < 0.4, rng.uniform(0.05, 1.0, m), np.inf)
    given = {"H": spd_matrix(TREE, seed), "g": 3.0 * rng.normal(size=n)}
    given |= {"C": rng.normal(size=(p, n)), "c": rng.normal(size=p), "D": rng.normal(size=(m, n))}
    return given | {"d": rng.normal(size=m), "upper": upper}, rng


def solved(given, change=None, t=0.0):
    x = {
        name: value if name not in (change or {}) else value + t * change[name]
        for name, value in given.items()
    }
    problem = mlcp.Problem(x["H"], TREE, x["g"], x["C"], x["c"], x["D"], x["d"], x["upper"])
    return mlcp.solve(problem, polish=True)


def difference(given, change):
    ends = [solved(given, change, t) for t in (STEP, -STEP)]
    parts = [(x.v, x.gamma, x.gamma_c) for x in ends]
    return [(a - b) / (2 * STEP) for a, b in zip(*parts, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_products_agree_with_differences(seed):
    given, rng = data(seed)
    solution = solved(given)
    sensitivity = mlcp.sensitivity(solution)
    assert sensitivity.status is SensitivityStatus.STRICT
    change = {name: rng.normal(size=given[name].shape) for name in ("g", "c", "d", "upper")}
    change["upper"][given["upper"] == np.inf] = 0.0
    ahead = sensitivity.jvp(**change)
    for ours, theirs in zip(ahead, difference(given, change), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=DIFFERENCES * max(1.0, np.abs(theirs).max(initial=0.0)))
    weights = [rng.normal(size=x.shape) for x in ahead]
    back = sensitivity.vjp(*weights)
    value = sum((w * x).sum() for w, x in zip(weights, ahead, strict=True))
    total = sum((getattr(back, name) * x).sum() for name, x in change.items())
    np.testing.assert_allclose(total, value, rtol=1e-10, atol=1e-12)
    packed = rng.normal(size=TREE.nnz)
    change = {"H": TREE.unpack(packed), **{name: rng.normal(size=given[name].shape) for name in "CD"}}
    value = sum((w * x).sum() for w, x in zip(weights, difference(given, change), strict=True))
    total = back.H @ packed + (back.C * change["C"]).sum() + (back.D * change["D"]).sum()
    np.testing.assert_allclose(total, value, rtol=1e-6, atol=1e-7)


def test_matrices_are_products_with_unit_vectors():
    given, _ = data(0)
    sensitivity = mlcp.sensitivity(solved(given))
    n, m, p = TREE.n, len(given["d"]), len(given["c"])
    assert sensitivity.held.any()
    assert sensitivity.full.any()
    shapes = {"dv_dg": (n, n), "dv_dc": (n, p), "dv_dd": (n, m)}
    shapes |= {"dgamma_dg": (m, n), "dgamma_dc": (m, p), "dgamma_dd": (m, m)}
    for name, shape in shapes.items():
        assert getattr(sensitivity, name).shape == shape
    np.testing.assert_allclose(sensitivity.dv_dg, sensitivity.dv_dg.T, atol=1e-12)
    np.testing.assert_allclose(sensitivity.dgamma_dg, -sensitivity.dv_dd.T, atol=1e-12)
    np.testing.assert_allclose(sensitivity.dv_dg[:, 2], sensitivity.jvp(g=np.eye(n)[2]).v, atol=1e-15)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(sensitivity)).dv_dg, sensitivity.dv_dg)


def everything(sensitivity):
    """Return all derivatives."""
    p = sensitivity.solution.problem
    return [*sensitivity.jvp(g=np.ones(p.n)), *sensitivity.vjp(np.ones(p.n))]


def test_a_row_that_neither_acts_nor_is_open_is_named():
    problem = mlcp.Problem([[2.0]], Tree([-1]), [0.0], D=[[1.0], [-1.0]], d=[0.0, -1.0])
    sensitivity = mlcp.sensitivity(mlcp.solve(problem))
    assert sensitivity.status is SensitivityStatus.DEGENERATE
    np.testing.assert_array_equal(sensitivity.weak, [True, False])
    assert all(np.isnan(x).all() for x in everything(sensitivity))


ROWS = {  # force on a body of 2 kg, D, d, upper; rows that are weak, held and full
    "an empty row never acts": ((0.0, [1.0, 0.0], [1.0, 0.0], [np.inf] * 2), ([0, 0], [1, 0], [0, 0])),
    "a row that may not act": ((0.0, [1.0], [0.0], [0.0]), ([0], [0], [0])),
    "neither acts nor is open": ((0.0, [1.0], [0.0], [1.0]), ([1], [0], [0])),
    "pushes within its bound": ((-1.0, [1.0], [0.0], [3.0]), ([0], [1], [0])),
    "at its bound at rest": ((-1.0, [1.0], [0.0], [1.0]), ([1], [0], [0])),
    "at its bound in motion": ((-3.0, [1.0], [0.0], [1.0]), ([0], [0], [1])),
}


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(("given", "statuses"), ROWS.values(), ids=ROWS)
def test_statuses_of_rows(given, statuses, scale):
    """A row multiplied by a number has the same status, with forces and bounds divided by it."""
    g, D, d, upper = given
    problem = mlcp.Problem(
        [[2.0]],
        Tree([-1]),
        [g],
        D=scale * np.array(D)[:, None],
        d=scale * np.array(d),
        upper=np.array(upper) / scale,
    )
    sensitivity = mlcp.sensitivity(mlcp.solve(problem))
    for own, expected in zip((sensitivity.weak, sensitivity.held, sensitivity.full), statuses, strict=True):
        np.testing.assert_array_equal(own, np.array(expected, bool))


def test_a_row_that_acts_beside_one_that_does_not():
    problem = mlcp.Problem(2.0 * np.eye(2), Tree([-1, -1]), [0.0, -1.0], D=np.eye(2), d=np.zeros(2))
    sensitivity = mlcp.sensitivity(mlcp.solve(problem))
    assert sensitivity.status is SensitivityStatus.DEGENERATE
    np.testing.assert_array_equal([sensitivity.weak, sensitivity.held], [[True, False], [False, True]])


def test_rows_that_depend_on_each_other():
    sensitivity = mlcp.sensitivity(mlcp.solve(mlcp_families.cps_4_1_14()))
    assert sensitivity.status is SensitivityStatus.DEPENDENT
    np.testing.assert_allclose(sensitivity.dv_dg, 0.0, atol=1e-12)
    assert np.isnan(sensitivity.dgamma_dg).all()
    both = np.ones(sensitivity.solution.problem.m)
    alone = np.eye(len(both))[0]
    assert np.isfinite(sensitivity.jvp(d=both).v).all()  # consistent
    assert np.isnan(sensitivity.jvp(d=alone).v).all()
    gradients = sensitivity.vjp(v=np.ones(1))
    assert np.isfinite(gradients.g).all()
    assert np.isnan(gradients.d).all()


def cone(tangent):
    """Return the step of a ball of 1 kg on the ground with four facets of friction, pushed along x."""
    D = [[0.5, 0.0, 1.0], [-0.5, 0.0, 1.0], [0.0, 0.5, 1.0], [0.0, -0.5, 1.0]]
    return mlcp.Problem(np.eye(3), Tree([-1, 0, 1]), [tangent, 0.0, -1.0], D=D, d=np.zeros(4))


@pytest.mark.parametrize("tangent", [0.0, 0.2, 0.4])
def test_a_cone_that_sticks_is_strict_wherever_its_force_is_inside(tangent):
    sensitivity = mlcp.sensitivity(
        mlcp.solve(cone(tangent))
    )  # at 0.4 the least impulses are zero in one facet
    assert sensitivity.status is SensitivityStatus.DEPENDENT
    np.testing.assert_allclose(sensitivity.dv_dg, 0.0, atol=1e-9)


def test_a_cone_at_its_edge_and_one_that_slides():
    assert mlcp.sensitivity(mlcp.solve(cone(0.5))).status is SensitivityStatus.DEGENERATE
    sensitivity = mlcp.sensitivity(mlcp.solve(cone(0.8)))
    assert sensitivity.status is SensitivityStatus.STRICT
    np.testing.assert_allclose(sensitivity.dv_dg[0], [0.8, 0.0, 0.4], atol=1e-9)


def test_what_is_not_solved_has_no_derivatives():
    problem = mlcp.Problem([[1.0]], Tree([-1]), [0.0], D=[[1.0], [-1.0]], d=[1.0, 1.0])
    sensitivity = mlcp.sensitivity(mlcp.solve(problem))
    assert sensitivity.status is SensitivityStatus.UNSOLVED
    assert all(np.isnan(x).all() for x in everything(sensitivity))


def test_problems_without_rows():
    sensitivity = mlcp.sensitivity(mlcp.solve(mlcp.Problem(2.0 * np.eye(1), Tree([-1]), [1.0])))
    assert sensitivity.status is SensitivityStatus.STRICT
    np.testing.assert_allclose(sensitivity.dv_dg, [[0.5]])
    assert sensitivity.dgamma_dg.shape == (0, 1)


def test_wrong_arguments_are_refused():
    solution = mlcp.solve(cone(0.8))
    with pytest.raises(TypeError, match="solution must be"):
        mlcp.sensitivity(solution.problem)
    with pytest.raises(ValueError, match="tolerance"):
        mlcp.sensitivity(solution, -1.0)
    sensitivity = mlcp.sensitivity(solution)
    with pytest.raises(ShapeError, match=r"g must have shape \(3,\) or \(3, columns\), got \(2,\)"):
        sensitivity.jvp(g=np.ones(2))
    with pytest.raises(
        ShapeError, match=r"d must have shape \(4, 2\), with columns as g has them, got \(4,\)"
    ):
        sensitivity.jvp(g=np.ones((3, 2)), d=np.ones(4))
    with pytest.raises(ShapeError, match=r"v must have shape \(3,\), got \(3, 2\)"):
        sensitivity.vjp(v=np.ones((3, 2)))


def test_what_is_not_finite_gives_nan_both_ways():
    sensitivity = mlcp.sensitivity(mlcp.solve(cone(0.8)))
    bad = np.array([1.0, np.nan, 0.0])
    assert all(np.isnan(x).all() for x in (*sensitivity.jvp(g=bad), *sensitivity.vjp(v=bad)))
    both = sensitivity.jvp(g=np.stack([bad, np.ones(3)], axis=1)).v
    np.testing.assert_array_equal(both[:, 1], sensitivity.jvp(g=np.ones(3)).v)
