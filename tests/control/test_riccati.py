"""Riccati sweeps against dense recursions and the KKT system."""

from itertools import product

import numpy as np
import pytest
from oracles.riccati import controls_of_saddle_point, recursion, transition

import treefactor as tf
from treefactor.control._riccati import SIDE, Sweeps

H = 0.01


def model_of(*kinds):
    """Return a chain of joints of several kinds."""
    inertia = tf.Inertia(1.0, [0.1, 0.05, -0.2], np.diag([0.1, 0.2, 0.15]))
    joints = []
    for k, kind in enumerate(kinds):
        axis = {} if kind in ("freeflyer", "spherical", "planar") else {"axis": np.eye(3)[k % 3]}
        joints.append(tf.Joint(f"joint{k}", kind, parent=k - 1, inertia=inertia, p=[0.1, 0.0, 0.2], **axis))
    return tf.Model(joints)


class Problems:
    """Random linear-quadratic problems along motions of a model; Hessians of costs are positive definite.

    They have entries of all, of the state, or of q.
    """

    def __init__(self, model, count, steps, controls=None, of="all", seed=0):
        rng = np.random.default_rng(seed)
        self.model, self.count, self.steps = model, count, steps
        n = self.n = model.nv
        nu = self.nu = n if controls is None else controls
        m = nu + 2 * n
        q = tf.random_configuration(model, rng, size=(count, steps))
        v = 3.0 * rng.normal(size=(count, steps, n))
        by_q, by_v, by_u = tf.forward_dynamics_derivatives(model, q, v, rng.normal(size=(count, steps, n)))
        self.dynamics = by_q, by_v, np.ascontiguousarray(by_u[..., :nu])
        self.transport = tf.d_integrate(model, q, H * v)
        roots = rng.normal(size=(count, steps + 1, n, n)), 0.3 * rng.normal(size=(count, steps + 1, m, m))
        hessian = roots[0] @ roots[0].swapaxes(-1, -2)
        self.first = 0 if of == "all" else nu
        if of != "q":
            by_all = roots[1] @ roots[1].swapaxes(-1, -2)
            by_all[..., nu : nu + n, nu : nu + n] += hessian
            hessian = by_all[..., self.first :, self.first :]
        self.costs = (
            rng.normal(size=(count, steps + 1, m)),
            rng.uniform(0.1, 1.0, size=(count, steps + 1, m)),
            hessian,
        )
        self.regularization = 10.0 ** rng.uniform(-9, -1, size=count)

    def blocks(self):
        """Return the derivatives of steps of configurations: their blocks of rotations."""
        sizes = {"freeflyer": 6, "spherical": 3, "planar": 3}
        places = [
            slice(v, v + sizes[joint.kind])
            for joint, v in zip(self.model.joints, self.model.idx_v, strict=True)
            if joint.kind in sizes
        ]
        shape = (self.count, self.steps, -1)
        empty = np.empty((self.count, self.steps, 0))
        return tuple(
            np.concatenate([empty, *(D[..., at, at].reshape(shape) for at in places)], axis=-1)
            for D in self.transport
        )

    def sweep(self, lanes, chosen=slice(None), limits=None, gaps=None):
        """Return gains, feedforward, slopes and failures of some problems."""
        chosen = np.arange(self.count)[chosen]
        count, nu, n = len(chosen), self.nu, self.n
        results = (
            np.full((count, self.steps, nu, 2 * n), np.nan),
            np.full((count, self.steps, nu), np.nan),
            np.full((count, 2), np.nan),
            np.full(count, -1, np.int8),
        )
        sweeps = Sweeps(self.model.configurations, nu)
        side = SIDE if lanes else count
        for first in range(0, count, side):
            at, rows = slice(first, first + side), chosen[first : first + side]
            eight = np.resize(rows, 8)
            parts = (
                tuple(np.moveaxis(x[eight], 0, -1).copy() if lanes else x[rows] for x in part)
                for part in (self.dynamics, self.blocks(), self.costs)
            )
            dynamics, transport, costs = parts
            own = None if limits is None else (limits[0][rows], *limits[1:])
            crossed = None if gaps is None else (gaps[0][rows], gaps[1][at])
            regularization = self.regularization[rows]
            outputs = tuple(x[at] for x in results)
            sweeps.run(
                H, dynamics, transport, (*costs, self.first), own, crossed, regularization, outputs, lanes
            )
        return results

    def dense(self, b):
        """Return transitions, gradients and Hessians of one problem."""
        steps = self.steps
        transitions = np.array(
            [transition(*(x[b, t] for x in (*self.dynamics, *self.transport)), H) for t in range(steps)]
        )
        gradient, diagonal, by_some = self.costs
        hessian = np.array([np.diag(row) for row in diagonal[b]])
        end = self.first + by_some.shape[-1]
        hessian[:, self.first : end, self.first : end] += by_some[b]
        return transitions, gradient[b], hessian


@pytest.mark.parametrize(
    ("kinds", "controls", "of"),
    [
        (("revolute",) * 5, None, "all"),
        (("revolute",) * 9, None, "state"),
        (("freeflyer", "revolute", "spherical", "continuous", "revolute"), 4, "all"),
        (("freeflyer", "revolute", "spherical"), 5, "state"),
        (("planar", "prismatic"), None, "q"),
        (("prismatic",), None, "q"),
    ],
)
def test_sweeps_equal_the_dense_recursion(kinds, controls, of):
    """In lanes and alone, to rounding, whatever the number of problems; both have the same bits."""
    problems = Problems(model_of(*kinds), SIDE + 1, 7, controls, of)
    lanes, one = problems.sweep(True), problems.sweep(False)
    for x, y in zip(lanes, one, strict=True):
        np.testing.assert_array_equal(x, y)
    assert not lanes[3].any()
    for b in range(problems.count):
        gains, feedforward, falls = recursion(*problems.dense(b), problems.regularization[b])
        np.testing.assert_allclose(lanes[0][b], gains, rtol=1e-10, atol=1e-12 * abs(gains).max())
        np.testing.assert_allclose(lanes[1][b], feedforward, rtol=1e-10, atol=1e-12 * abs(feedforward).max())
        np.testing.assert_allclose(lanes[2][b], falls.sum(), rtol=1e-12)


def test_controls_solve_the_kkt_system():
    problems = Problems(model_of("freeflyer", "revolute", "revolute"), 1, 5)
    problems.regularization[:] = 0.0
    gains, feedforward, _, _ = problems.sweep(True)
    transitions, *costs = problems.dense(0)
    wanted = controls_of_saddle_point(transitions, *costs)
    x = np.zeros(2 * problems.n)
    for t in range(problems.steps):
        u = feedforward[0, t] + gains[0, t] @ x
        np.testing.assert_allclose(u, wanted[t], rtol=1e-9, atol=1e-11 * abs(wanted).max())
        x = transitions[t] @ np.r_[u, x]


def test_gaps_move_controls_to_the_solution_of_the_kkt_system():
    """Slopes are those of the quadratic cost along the whole change; lanes and one have the same bits."""
    problems = Problems(model_of("freeflyer", "revolute", "prismatic"), SIDE + 1, 4)
    problems.regularization[:] = 0.0
    f = np.random.default_rng(5).normal(size=(problems.count, 4, 2 * problems.n))
    pulls = np.empty_like(f), np.empty_like(f)
    lanes, one = problems.sweep(True, gaps=(f, pulls[0])), problems.sweep(False, gaps=(f, pulls[1]))
    for x, y in zip((*lanes, pulls[0]), (*one, pulls[1]), strict=True):
        np.testing.assert_array_equal(x, y)
    for b in range(problems.count):
        transitions, gradients, hessians = problems.dense(b)
        wanted = controls_of_saddle_point(transitions, gradients, hessians, f[b])
        x, linear, quadratic, pulled = np.zeros(2 * problems.n), 0.0, 0.0, 0.0
        for t in range(problems.steps + 1):
            u = lanes[1][b, t] + lanes[0][b, t] @ x if t < problems.steps else np.zeros(problems.nu)
            z = np.r_[u, x]
            linear, quadratic = linear + gradients[t] @ z, quadratic + z @ hessians[t] @ z
            if t < problems.steps:
                np.testing.assert_allclose(u, wanted[t], rtol=1e-9, atol=1e-10 * abs(wanted).max())
                x = transitions[t] @ z + f[b, t]
                pulled += pulls[0][b, t] @ x
        slope = lanes[2][b]
        np.testing.assert_allclose(slope[0] + pulled, -linear, rtol=1e-9)
        np.testing.assert_allclose(slope[1] + 2.0 * pulled, quadratic, rtol=1e-9)


def least_within(Q, g, lower, upper):
    """Return the minimum of g x + x Q x / 2 within limits, over all sets of entries at one."""
    best = np.inf, None
    for signs in product((-1, 0, 1), repeat=len(g)):
        s = np.array(signs)
        x, at = np.where(s < 0, lower, np.where(s > 0, upper, 0.0)), s == 0
        if not np.isfinite(x).all():
            continue
        x[at] = np.linalg.solve(Q[np.ix_(at, at)], -g[at] - Q[np.ix_(at, ~at)] @ x[~at])
        value = g @ x + 0.5 * x @ Q @ x
        if ((x >= lower - 1e-12) & (x <= upper + 1e-12)).all() and value < best[0]:
            best = value, x
    return best


def test_steps_within_limits_are_the_best_ones():
    """Two stages against the least values over all sets of controls at limits; in lanes and alone."""
    problems = Problems(model_of("revolute", "freeflyer"), 2 * SIDE + 1, 2, controls=3)
    rng = np.random.default_rng(8)
    u, upper = rng.uniform(-0.3, 0.3, size=(problems.count, 2, 3)), np.array([0.3, 0.6, np.inf])
    lanes, one = (problems.sweep(kind, limits=(u, -upper, upper)) for kind in (True, False))
    for x, y in zip(lanes, one, strict=True):
        np.testing.assert_array_equal(x, y)
    limited = 0
    for b in range(problems.count):
        transitions, gradients, hessians = problems.dense(b)
        mu, nu, size = problems.regularization[b], 3, 2 * problems.n
        V, g, fall = hessians[2][nu:, nu:] + mu * np.eye(size), gradients[2][nu:], 0.0
        for t in (1, 0):
            F, low, high = transitions[t], -upper - u[b, t], upper - u[b, t]
            Q, Q_g = hessians[t] + F.T @ V @ F, gradients[t] + F.T @ g
            Q_uu = Q[:nu, :nu] + mu * np.eye(nu)
            value, x = least_within(Q_uu, Q_g[:nu], low, high)
            free, K = (x > low) & (x < high), np.zeros((nu, size))
            K[free] = -np.linalg.solve(Q_uu[np.ix_(free, free)], Q[:nu, nu:][free])
            np.testing.assert_allclose(lanes[1][b, t], x, rtol=1e-9, atol=1e-10)
            np.testing.assert_allclose(lanes[0][b, t], K, rtol=1e-9, atol=1e-10 * (1.0 + abs(K).max()))
            V = Q[nu:, nu:] + Q[nu:, :nu] @ K + mu * np.eye(size)
            g, fall = Q_g[nu:] + Q[nu:, :nu] @ x, fall - value
            limited += not free.all()
        np.testing.assert_allclose(lanes[2][b, 0] - 0.5 * lanes[2][b, 1], fall, rtol=1e-9)
    assert 4 < limited < 2 * problems.count


def test_a_problem_without_a_minimum_changes_no_bit_of_its_neighbours():
    """Nor does one that is not finite, nor where a problem stands."""
    problems = Problems(model_of("revolute", "revolute"), SIDE + 1, 4, of="q")
    alone = problems.sweep(True, slice(2, 3))
    problems.costs[0][0, 1, 3] = np.nan
    problems.costs[2][1, 2] = -1e7 * np.eye(2)
    for lanes in (True, False):
        together = problems.sweep(lanes)
        for x, y in zip(together, alone, strict=True):
            np.testing.assert_array_equal(x[2], y[0])
        assert together[3][1]
        assert not together[3][2:].any()
        assert np.isnan(together[2][0]).all()
