"""Iterative linear-quadratic regulation: its terms, its minima, and what a batch must not change."""

import json
from dataclasses import replace

import numpy as np
import pytest
from oracles.optimal_motions import STORED, motions
from oracles.riccati import controls_of_saddle_point, transition

import treefactor as tf
from treefactor.control import (
    ComCost,
    ControlCost,
    CustomCost,
    FrameCost,
    FrameVelocityCost,
    ILQRStatus,
    LimitCost,
    StateCost,
    ilqr,
)
from treefactor.control._riccati import first_enough
from treefactor.control.costs import Sizes, terms_of
from treefactor.control.curvature import accelerations_worth
from treefactor.control.regulation import Options, _Search
from treefactor.control.starts import Start
from treefactor.exceptions import ConfigurationError, DtypeError, InvalidModelError, ShapeError

H, STEPS = 0.02, 12
OPTIONS = Options(multiple=False, second_order=False, regularization=1e-9, threads=1)
ROD = tf.Inertia(1.0, [0.1, 0.05, -0.2], np.diag([0.1, 0.2, 0.15]))


def flyer():
    """Return a free-flyer with an arm: a ball joint and two hinges with limits."""
    hinges = [
        tf.Joint(f"hinge{k}", "revolute", parent=1 + k, axis=np.eye(3)[k], inertia=ROD, p=[0.0, 0.1, 0.2])
        for k in range(2)
    ]
    model = tf.Model(
        [
            tf.Joint("base", "freeflyer", inertia=ROD),
            tf.Joint("ball", "spherical", parent=0, inertia=ROD, p=[0.1, 0.0, 0.2]),
            *hinges,
        ]
    )
    return model.add_frame("tool", "hinge1", p=[0.1, 0.2, 0.3])


def arm():
    """Return a chain of three hinges."""
    joints = [
        tf.Joint(f"hinge{k}", "revolute", parent=k - 1, axis=np.eye(3)[k], inertia=ROD, p=[0.0, 0.1, 0.3])
        for k in range(3)
    ]
    return tf.Model(joints).add_frame("tool", "hinge2", p=[0.1, 0.2, 0.3])


def geared():
    """Return the chain of three hinges, of which the last one follows the first."""
    first, second, last = arm().joints
    return tf.Model([first, second, replace(last, mimic=tf.Mimic(0, -1.5, 0.2))]).add_frame("tool", "hinge2")


def closed():
    """Return the chain of three hinges, whose end is fixed."""
    return tf.Model(arm().joints, loops=[tf.Loop("weld", "weld", 2, -1)])


def costs_of(model, rng, shape=()):
    """Return one cost of every kind, with targets for problems of a shape and for all times."""
    q = tf.random_configuration(model, rng, size=(*shape, STEPS + 1))
    low = np.full(model.nq, 0.1)
    return [
        FrameCost("tool", tf.frame_placement(model, q, "tool"), rng.uniform(1.0, 2.0, 6)),
        StateCost(q, rng.normal(size=(*shape, 1, model.nv)), 0.1, rng.uniform(0.1, 1.0, model.nv), "running"),
        FrameVelocityCost("tool", rng.normal(size=6), 0.1, "LOCAL_WORLD_ALIGNED", at="final"),
        ComCost(rng.normal(size=3), [1.0, 0.5, 0.0], at=np.linspace(0.0, 1.0, STEPS + 1)),
        LimitCost(low, low + 0.1, 0.3),
        ControlCost(rng.normal(size=(STEPS, model.nv)), 0.05),
    ]


def search_of(model, count, cost, rng, matrix=None, gaps=None, **options):
    """Return a search that has not begun, from random motions; with gaps of some size in q and in v."""
    matrix = np.eye(model.nv) if matrix is None else matrix
    q, v = tf.random_configuration(model, rng, size=(count, 1)), rng.normal(size=(count, 1, model.nv))
    u = rng.normal(size=(count, STEPS, matrix.shape[1]))
    sizes, start = Sizes(model, STEPS, matrix.shape[1], H, (count,)), Start(q, v, u)
    search = _Search(sizes, start, cost, matrix, None, replace(OPTIONS, **options))
    if gaps is None:
        return search
    by_q, by_v = (size * rng.normal(size=(STEPS, count, model.nv)) for size in gaps)
    q, v, forces = [start.q[:, 0]], [start.v[:, 0]], search._forces(u)
    for t in range(STEPS):
        end = tf.step(model, q[t], v[t], forces[:, t], H)
        q, v = [*q, tf.integrate(model, end[0], by_q[t])], [*v, end[1] + by_v[t]]
    start = Start(np.stack(q, axis=1), np.stack(v, axis=1), u)
    return _Search(sizes, start, cost, matrix, None, replace(OPTIONS, multiple=True, **options))


def residuals_of(model, cost, b, q, v, u):
    """Return the residuals (times, size) and weights of a cost along the motion of problem b."""
    own = lambda x, end: np.asarray(x)[b] if np.ndim(x) > end else x  # noqa: E731
    if isinstance(cost, StateCost):
        return [
            (tf.difference(model, own(cost.q, 2), q), cost.weight_q),
            (v - own(cost.v, 2), cost.weight_v),
        ]
    if isinstance(cost, ControlCost):
        return [(np.vstack([u - cost.u, np.zeros(u.shape[1])]), cost.weight)]
    if isinstance(cost, FrameCost):
        place = tf.frame_placement(model, q, cost.frame)
        return [(tf.se3.log(tf.se3.between(own(cost.target, 3), place)), cost.weight)]
    if isinstance(cost, FrameVelocityCost):
        return [(tf.frame_velocity(model, q, v, cost.frame, cost.reference) - cost.target, cost.weight)]
    if isinstance(cost, ComCost):
        return [(tf.center_of_mass(model, q) - cost.target, cost.weight)]
    x = q[:, -2:]  # hinges: their freedoms are the last ones, too
    excess = np.maximum(x - cost.upper[-2:], 0.0) + np.minimum(x - cost.lower[-2:], 0.0)
    return [(np.hstack([np.zeros((len(q), model.nv - 2)), excess]), cost.weight)]


def factors_of(cost):
    """Return the factors of a cost at all times."""
    scale, at = np.append(np.full(STEPS, H), 1.0), getattr(cost, "at", "running")
    named = {"all": scale, "running": scale * (scale < 1.0), "final": scale * (scale == 1.0)}
    return named[at] if isinstance(at, str) else scale * at


def test_costs_and_their_derivatives_are_those_of_gauss_and_newton():
    """Of every cost, against residuals and their central differences."""
    model, rng = flyer(), np.random.default_rng(1)
    n, d = model.nv, 1e-6
    costs = costs_of(model, rng, (2,))
    search = search_of(model, 2, costs, rng)
    q, v, u = search.q[1], search.v[1], search.u[1]
    values = np.zeros(2)
    for cost in costs:
        terms, _ = terms_of(cost, search.sizes)
        gradient, hessian = terms.derivatives_of(q, v, u, 1)
        wanted, slope, value, factors = 0.0, 0.0, 0.0, factors_of(cost)
        for part, (r, weight) in enumerate(residuals_of(model, cost, 1, q, v, u)):
            J = np.zeros((*r.shape, 3 * n))
            for k in range(n):
                e = d * np.eye(n)[k]
                changes = (
                    ((q, v, u + e), (q, v, u - e)),
                    ((tf.integrate(model, q, e), v, u), (tf.integrate(model, q, -e), v, u)),
                    ((q, v + e, u), (q, v - e, u)),
                )
                for block, pair in enumerate(changes):
                    up, down = (residuals_of(model, cost, 1, *motion)[part][0] for motion in pair)
                    J[..., block * n + k] = (up - down) / (2.0 * d)
            weight = factors[:, None] * np.broadcast_to(weight, r.shape)
            wanted = wanted + np.einsum("tki,tk,tkj->tij", J, weight, J)
            slope = slope + np.einsum("tki,tk,tk->ti", J, weight, r)
            value = value + 0.5 * (weight * r**2).sum()
        name = type(cost).__name__
        np.testing.assert_allclose(gradient, slope, atol=2e-8, err_msg=name)
        np.testing.assert_allclose(hessian, np.triu(wanted), atol=2e-8, err_msg=name)
        assert abs(gradient).max() > 1e-3, name
        values[:] = 0.0
        terms.add_values_of(search.q, search.v, search.u, np.arange(2), values, 0, 2)
        np.testing.assert_allclose(values[1], value, rtol=1e-13, err_msg=name)


def test_many_frames_add_up():
    """More than one request computes, and one on the base, which nothing moves."""
    model, rng = arm().add_frame("ground", -1, p=[0.0, 0.1, 0.0]), np.random.default_rng(10)
    target = tf.frame_placement(model, rng.normal(size=3), "tool")
    sizes = Sizes(model, STEPS, 3, H, (1,))
    motion = rng.normal(size=(STEPS + 1, 3)), rng.normal(size=(STEPS + 1, 3)), np.zeros((STEPS, 3))
    velocity = FrameVelocityCost("tool", weight=0.5)
    many = [*[FrameCost("tool", target)] * 20, FrameCost("ground", target), velocity, velocity]
    one = [FrameCost("tool", target, 20.0), FrameVelocityCost("tool")]
    for x, y in zip(
        *(terms_of(cost, sizes)[0].derivatives_of(*motion, 0) for cost in (many, one)), strict=True
    ):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12 * abs(y).max())


def test_times_that_do_not_count_add_nothing():
    """Also where the square of a deviation overflows."""
    model = arm()
    terms, _ = terms_of(StateCost(np.zeros(3), at="final"), Sizes(model, STEPS, 3, H, (1,)))
    q, cost = np.full((1, STEPS + 1, 3), 1e200), np.zeros(1)
    q[:, -1] = 2.0
    terms.add_values_of(q, 0.0 * q, np.zeros((1, STEPS, 3)), np.arange(1), cost, 0, 1)
    assert cost == 6.0


def test_regularization_grows_where_a_problem_has_no_minimum():
    """In its problem alone, whether eight are swept side by side or one."""
    model, rng, count = arm(), np.random.default_rng(11), 9
    curvature = np.where(np.arange(count) % 4 == 1, -3.0, 1.0)
    endless, eye = np.where(np.arange(count) == 6, np.inf, 0.0), np.eye(3)

    def search_for(chosen):
        own = curvature[chosen][:, None, None]

        def derivatives(q, v, u):
            zeros = [np.zeros((*q.shape[:-1], 6)), np.zeros((*q.shape[:-1], 6, 6)), np.zeros((*u.shape, 6))]
            return (
                zeros[0],
                (own + endless[chosen][:, None, None]) * u,
                zeros[1],
                own[..., None] * np.ones((*u.shape[:-1], 1, 1)) * eye,
                zeros[2],
            )

        custom = CustomCost(lambda q, v, u: np.zeros(q.shape[:-1]), derivatives)
        sizes = Sizes(model, STEPS, 3, H, (len(chosen),))
        start = Start(q0[chosen, None], v0[chosen, None], u[chosen])
        return _Search(sizes, start, [StateCost(np.zeros(3)), custom], np.eye(3), None, OPTIONS)

    q0, v0, u = rng.normal(size=(count, 3)), rng.normal(size=(count, 3)), rng.normal(size=(count, STEPS, 3))
    together = search_for(np.arange(count))
    together.sweep(np.arange(count))
    assert (together.damping > 1.0).tolist() == ((curvature < 0.0) | (endless > 0.0)).tolist()
    assert together.damping[6] >= 1e9
    assert np.isfinite(together.slope).all(axis=1).tolist() == (endless == 0.0).tolist()
    for b in (1, 2, 8):
        alone = search_for(np.array([b]))
        alone.sweep(np.arange(1))
        for name in ("gains", "feedforward", "slope", "damping"):
            np.testing.assert_array_equal(getattr(alone, name)[0], getattr(together, name)[b], err_msg=name)


def test_expected_falls_are_derivatives_along_the_step():
    """Of the whole motion with feedback, on groups and with fewer forces than freedoms."""
    model, rng = flyer(), np.random.default_rng(2)
    matrix = np.vstack([np.zeros((6, 3)), rng.normal(size=(model.nv - 6, 3))])
    cost = [*costs_of(model, rng)[:-1], ControlCost(weight=0.1)]
    search = search_of(model, 5, cost, rng, matrix)
    every, d = np.arange(5), 1e-6
    search.sweep(every)
    up, down = (search._forward(every, np.array([s]))[3] for s in (d, -d))
    np.testing.assert_allclose((up - down) / (2.0 * d), -search.slope[:, 0], rtol=1e-6)


def test_expected_changes_with_gaps_are_derivatives_along_the_step():
    """Of velocities, and of configurations that add up. A step of length s leaves 1 - s of all gaps."""
    rng, every, d = np.random.default_rng(10), np.arange(5), 1e-6
    for model, gaps in ((arm(), (0.3, 0.3)), (geared(), (0.3, 0.3)), (flyer(), (0.0, 2.0))):
        search = search_of(model, 5, [*costs_of(model, rng)[:-1], ControlCost(weight=0.1)], rng, gaps=gaps)
        search.sweep(every)
        up, down = (search._forward(every, np.array([s])) for s in (d, -d))
        change = (up[3] - down[3]) / (2.0 * d)
        linear = search.slope[:, 0] + search._pulled(every, np.array([d]), *up[:2])
        np.testing.assert_allclose(linear, -change, rtol=1e-5, atol=1e-6 * abs(change).max())
    search = search_of(flyer(), 5, costs_of(flyer(), rng), rng, gaps=(0.5, 0.5))
    search.sweep(every)
    before = search.gaps.copy()
    for length in (1.0, 0.25):
        search.q, search.v, search.u, _ = search._forward(every, np.array([length]))
        np.testing.assert_allclose(search._gaps(every), (1.0 - length) * before, atol=1e-12)


def test_expected_changes_of_linear_problems_with_gaps_are_exact():
    joints = [tf.Joint(f"slide{k}", "prismatic", k - 1, axis=np.eye(3)[k], inertia=ROD) for k in range(2)]
    rng, every = np.random.default_rng(15), np.arange(3)
    cost = [StateCost(rng.normal(size=(STEPS + 1, 2)), weight_q=2.0), ControlCost(weight=0.1)]
    search = search_of(tf.Model(joints), 3, cost, rng, gaps=(0.5, 2.0))
    search.sweep(every)
    for length in np.array([1.0, 0.25]):
        motion = search._forward(every, length[None])
        pulled = search._pulled(every, length[None], *motion[:2])
        a, b = search.slope[:, 0] + pulled, search.slope[:, 1] + 2.0 * pulled
        fall = search.cost - motion[3]
        np.testing.assert_allclose(length * a - 0.5 * length**2 * b, fall, rtol=1e-7)


def test_second_derivatives_give_the_step_of_newton():
    """Dense, by all controls, with fewer forces than freedoms; costates on groups are gradients by forces."""
    model, rng = arm(), np.random.default_rng(11)
    cost = [StateCost(np.ones(3), weight_q=3.0, weight_v=0.3), ControlCost(weight=1.0)]
    search = search_of(model, 1, cost, rng, rng.normal(size=(3, 2)), second_order=True)
    one, size, d = np.arange(1), 2 * STEPS, 1e-3
    search.sweep(one)

    def costs_at(u):
        q, v = tf.rollout(model, search.q[0, 0], search.v[0, 0], search._forces(u), H)
        return search._values(q, v, u, np.zeros(len(u), int))

    e = d * np.eye(size).reshape(size, STEPS, 2)
    signs = [(a, b) for a in (1, -1) for b in (1, -1)]
    pairs = [(a * e[:, None] + b * e[None]).reshape(-1, STEPS, 2) for a, b in signs]
    values = [costs_at(search.u + pair).reshape(size, size) for pair in pairs]
    hessian = (values[0] - values[1] - values[2] + values[3]) / (4.0 * d * d)
    gradient = (costs_at(search.u + e) - costs_at(search.u - e)) / (2.0 * d)
    up, down = (search._forward(one, np.array([s])) for s in (1e-6, -1e-6))
    step = (up[2] - down[2]).ravel() / 2e-6
    np.testing.assert_allclose(step, -np.linalg.solve(hessian, gradient), atol=1e-5 * abs(step).max())


def test_costates_are_gradients_by_forces():
    """On groups, by differences of the total cost at random forces."""
    model, rng = flyer(), np.random.default_rng(12)
    search = search_of(model, 1, costs_of(model, rng), rng)
    q, v, u = search.q, search.v, search.u
    by = tf.forward_dynamics_derivatives(model, q[:, :-1], v[:, :-1], u)
    n, d, slope = model.nv, 1e-5, search.terms.derivatives_of(q[0], v[0], u[0], 0)[0][None]
    transport = tf.d_integrate(model, q[:, :-1], H * v[:, 1:])
    worth = accelerations_worth(H, by, transport, slope[..., n:])
    gradient = slope[0, :-1, :n] + np.einsum("ti,tij->tj", worth[0], by[2][0])
    e = d * np.eye(STEPS * n).reshape(-1, STEPS, n)
    costs = []
    for sign in (1.0, -1.0):
        forced = u + sign * e
        motion = tf.rollout(model, q[0, 0], v[0, 0], forced, H)
        costs.append(search._values(*motion, forced, np.zeros(len(e), int)))
    difference = ((costs[0] - costs[1]) / (2.0 * d)).reshape(STEPS, n)
    np.testing.assert_allclose(gradient, difference, atol=1e-6 * abs(gradient).max())


def test_errors_are_squared_with_second_derivatives():
    """Of the cost of a pendulum that stays below its goal; without them each iteration divides the error."""
    rod, excess = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1])), {}
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    cost = [StateCost([np.pi], weight_q=5.0, at="final"), ControlCost(weight=0.1)]
    start = np.zeros(1), np.zeros(1), np.full((40, 1), 0.5)
    for second_order in (False, True):
        options = {"second_order": second_order, "tolerance": 1e-16}
        result = ilqr(model, *start, cost, 0.05, **options)
        assert result.solved
        assert result.cost > 0.1
        excess[second_order] = (result.costs - result.cost)[result.costs > result.cost + 1e-12]
    newton, gauss = excess[True][-4:], excess[False][-8:]
    assert (newton[1:] < 100.0 * newton[:-1] ** 2).all()
    assert (newton[1:] < 0.1 * newton[:-1]).all()
    assert (gauss[1:] > 0.1 * gauss[:-1]).all()
    assert len(excess[True]) < 0.5 * len(excess[False])


def test_motions_that_controls_alone_do_not_hold():
    """Two poles over one motor fall from the first controls; states that lead upright are followed."""
    pole = tf.Inertia(1.0, [0, 0, 0.5], np.diag([0.1, 0.1, 0.1]))
    joints = [tf.Joint("motor", "revolute", axis=[0, 1, 0], inertia=pole)]
    joints.append(tf.Joint("free", "revolute", 0, p=[0, 0, 1.0], axis=[0, 1, 0], inertia=pole))
    model, q0 = tf.Model(joints), np.array([0.3, -0.15])
    cost = [StateCost(np.zeros(2), weight_v=0.1, at=np.r_[np.ones(200), 100.0]), ControlCost(weight=1e-2)]
    states = {"q": np.linspace(1.0, 0.0, 201)[:, None] * q0, "v": np.zeros((201, 2))}
    problem = model, q0, np.zeros(2), np.zeros((200, 1)), cost, 0.02
    options = {"actuated": ["motor"], "iterations": 40}
    single = ilqr(*problem, **options)
    multiple = ilqr(*problem, method="multiple", **states, **options)
    assert multiple.solved
    assert multiple.gap == 0.0
    assert multiple.costs.max() > multiple.costs[0]  # closing gaps has its price
    assert multiple.cost < 1e-2 * single.cost
    few = ilqr(*problem, method="multiple", **states, actuated=["motor"], iterations=0)
    assert not few.solved
    assert repr(few) == f"<ILQRResult of 1 problem: 1 ITERATIONS; gaps up to {few.gap:.1e}>"
    fresh = tf.step(model, few.q[:-1], few.v[:-1], np.zeros((200, 2)), 0.02)
    away = np.concatenate([fresh[0] - few.q[1:], fresh[1] - few.v[1:]], axis=-1)
    np.testing.assert_allclose(few.gap, abs(away).max(), rtol=1e-12)


def test_crocoddyl_finds_the_same_costs_of_six_robots():
    """As stored: SolverDDP and SolverFDDP with the same iterations; SolverBoxDDP and SolverBoxFDDP."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))["motions"]
    problems = motions()
    assert set(stored) == set(problems)
    for name, problem in problems.items():
        for solver, theirs in stored[name].items():
            method, limited = solver.split(", ")[0], "limited" in solver
            result = problem.solve(method, limited)
            assert result.solved
            assert theirs["solved"]
            np.testing.assert_allclose(result.cost, theirs["cost"], rtol=1e-9, err_msg=f"{name}, {solver}")
            assert limited or abs(result.iterations - theirs["iterations"]) <= 1, (name, solver)


def test_one_step_solves_a_linear_quadratic_problem():
    joints = [
        tf.Joint(f"slide{k}", "prismatic", parent=k - 1, axis=np.eye(3)[k], inertia=ROD) for k in range(2)
    ]
    model, rng = tf.Model(joints), np.random.default_rng(3)
    q0, v0, u = rng.normal(size=2), rng.normal(size=2), rng.normal(size=(STEPS, 2))
    cost = [StateCost(rng.normal(size=(STEPS + 1, 2)), weight_q=2.0, weight_v=0.5), ControlCost(weight=0.1)]
    result = ilqr(model, q0, v0, u, cost, H, iterations=1, regularization=1e-14)
    search = search_of(model, 1, cost, rng)
    by = [x.squeeze() for x in tf.forward_dynamics_derivatives(model, q0[None], v0[None], u[:1])]
    F = np.array([transition(*by, np.eye(2), np.eye(2), H)] * STEPS)
    gradients, hessians = search.terms.derivatives_of(*tf.rollout(model, q0, v0, u, H), u, 0)
    change = controls_of_saddle_point(F, gradients, hessians)
    np.testing.assert_allclose(result.u, u + change, rtol=1e-9, atol=1e-9 * abs(change).max())
    np.testing.assert_allclose(result.costs[0] - result.cost, result.expected, rtol=1e-9)


@pytest.mark.parametrize("multiple", [False, True])
def test_neighbours_and_threads_change_no_bit(multiple):
    """Nor does a problem that is not finite, or one whose first motion diverges."""
    model, rng = arm(), np.random.default_rng(4)
    q0, v0, u = rng.normal(size=(11, 3)), rng.normal(size=(11, 3)), rng.normal(size=(11, STEPS, 3))
    goal = tf.frame_placement(model, rng.normal(size=(11, 3)), "tool")[:, None]
    u[2, 3, 1], v0[5] = np.nan, 1e200
    states = rng.normal(size=(2, 11, STEPS + 1, 3))

    def solve(chosen, **options):
        if multiple:
            options |= {"method": "multiple", "q": states[0, chosen], "v": states[1, chosen]}
            options |= {"second_order": True, "control_limits": (-40.0, 40.0), "iterations": 300}
        cost = [FrameCost("tool", goal[chosen], 100.0), StateCost(np.zeros(3)), ControlCost(weight=1e-3)]
        return ilqr(model, q0[chosen], v0[chosen], u[chosen], cost, H, **options)

    every = solve(slice(None))
    assert every.status[[2, 5]].tolist() == [ILQRStatus.NON_FINITE] * 2
    assert every.solved[[0, 1, 3, 4, 6, 7, 8, 9, 10]].all()
    assert multiple or (np.diff(every.costs, axis=0)[:, every.solved] <= 1e-12).all()
    threaded = solve(slice(None), num_threads=2)
    names = ("q", "v", "u", "cost", "gains", "feedforward", "iterations", "status", "expected", "gap")
    for chosen in (slice(3, 5), slice(10, 11), np.arange(11)[::-1]):
        few = solve(chosen)
        for name in names:
            np.testing.assert_array_equal(getattr(few, name), getattr(every, name)[chosen], err_msg=name)
            np.testing.assert_array_equal(getattr(threaded, name), getattr(every, name), err_msg=name)


def test_the_first_step_that_lowers_the_cost_enough_is_taken():
    """A tenth of an expected fall, twice an expected rise at most; all but NaN where rounding decides."""
    rng, length = np.random.default_rng(4), 0.5 ** np.arange(4)
    slope, pulled = rng.normal(size=(200, 2)), 0.3 * rng.normal(size=(200, 4))
    slope[:20] = pulled[:20] = 1e-14
    before = rng.normal(size=200)
    for extra in (None, pulled):
        linear, quadratic = (slope[:, k, None] + (0.0 if extra is None else (1 + k) * extra) for k in (0, 1))
        expected = length * linear - 0.5 * length**2 * quadratic
        cost = before[:, None] - expected * rng.uniform(-1.0, 3.0, size=(200, 4))
        cost[::3, 0], cost[1::5, 1], cost[2::7, 2] = np.nan, np.inf, -np.inf
        fall = before[:, None] - cost
        enough = (fall > np.where(expected < 0.0, 2.0, 0.1) * expected) | (abs(linear) < 1e-12)
        enough &= np.isfinite(cost)
        wanted = np.where(enough.any(axis=1), enough.argmax(axis=1), -1)
        flat = None if extra is None else extra.ravel()
        best = first_enough(cost.ravel(), length, before, slope, flat, 0.1, 2.0, 1e-12)
        np.testing.assert_array_equal(best, wanted)
        assert set(best) == {-1, 0, 1, 2, 3}


def test_frames_on_one_joint_keep_their_own_costs():
    """What a model keeps for a cost serves costs of the same frame only."""
    turn = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    rng, q0, v0, u = np.random.default_rng(12), np.zeros(3), np.ones(3), np.zeros((STEPS, 3))
    frames = {"far": (np.eye(3), [0.1, 0.2, 0.9]), "turned": (turn, [0.1, 0.2, 0.3])}
    model, fresh = arm(), arm()
    for name, (R, p) in frames.items():
        model, fresh = (one.add_frame(name, "hinge2", R, p) for one in (model, fresh))
    for name, reference in (("tool", "LOCAL"), ("far", "LOCAL"), ("turned", "LOCAL"), ("tool", "WORLD")):
        goal = tf.frame_placement(fresh, rng.normal(size=3), name)
        cost = [FrameCost(name, goal), FrameVelocityCost(name, reference=reference), ControlCost(weight=0.1)]
        fresh._requests.clear()
        kept, compiled = (ilqr(one, q0, v0, u, cost, H, iterations=2) for one in (model, fresh))
        np.testing.assert_array_equal(kept.costs, compiled.costs)


def test_steps_that_raise_the_cost_are_refused():
    """From fast motions, whose first full step does not lower it."""
    model, rng = arm(), np.random.default_rng(9)
    q, v, u = (size * rng.normal(size=(8, times, 3)) for size, times in ((2.0, 1), (20.0, 1), (30.0, STEPS)))
    start = Start(q, v, u)
    cost = [StateCost(np.zeros(3), weight_q=1e3, at="final"), ControlCost(weight=1e-5)]
    search = search_of(model, 8, cost, rng)
    search = _Search(search.sizes, start, cost, np.eye(3), None, OPTIONS)
    every = np.arange(8)
    search.sweep(every)
    before = search.cost.copy()
    full = search._forward(every, np.ones(1))[3]
    length = search.step(every)
    assert (full > before).any()
    assert (length[full > before] < 1.0).all()
    assert (search.cost <= before).all()


def test_costs_never_rise_on_the_way_to_a_swing_up():
    """Where full steps often cost a little more, so that a test of the wrong sign would take them."""
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1]))
    joints = [tf.Joint("a", "revolute", axis=[0, 1, 0], inertia=rod)]
    joints.append(tf.Joint("b", "revolute", 0, p=[0, 0, -1.0], axis=[0, 1, 0], inertia=rod))
    cost = [StateCost([np.pi, 0.0], weight_q=10.0, at="final"), ControlCost(weight=1e-3)]
    u = 3.0 * np.random.default_rng(0).normal(size=(16, 40, 2))
    result = ilqr(tf.Model(joints), np.zeros(2), np.zeros(2), u, cost, 0.05, iterations=20)
    falls = -np.diff(result.costs, axis=0)
    assert (falls >= 0.0).all()
    assert (falls > 0.0).sum() > 100


def test_custom_costs_are_worth_the_same_terms():
    model, rng = arm(), np.random.default_rng(5)
    time = np.r_[np.full(STEPS, H), 1.0]

    def value(q, v, u):
        cost = 0.5 * time * ((q - 1.0) ** 2 + v**2).sum(axis=-1)
        cost[..., :-1] += 0.05 * H * (u**2).sum(axis=-1)
        return cost

    def derivatives(q, v, u):
        lx = time[:, None] * np.concatenate([q - 1.0, v], axis=-1)
        lxx = np.broadcast_to(time[:, None, None] * np.eye(6), (*lx.shape, 6))
        luu = np.broadcast_to(0.1 * H * np.eye(3), (*u.shape, 3))
        return lx, 0.1 * H * u, lxx, luu, np.zeros((*u.shape, 6))

    start = rng.normal(size=(3, 2, 3)), np.zeros(3), rng.normal(size=(STEPS, 3))
    custom = ilqr(model, *start, CustomCost(value, derivatives), H)
    terms = ilqr(model, *start, [StateCost(np.ones(3)), ControlCost(weight=0.1)], H)
    assert custom.u.shape == (3, 2, STEPS, 3)
    assert custom.solved.all()
    np.testing.assert_allclose(custom.u, terms.u, rtol=1e-6, atol=1e-8)


def test_the_policy_holds_a_pushed_motion():
    """The motion ends nearer to the planned one than with the same forces."""
    model, rng = flyer(), np.random.default_rng(6)
    q0, v0 = tf.random_configuration(model, rng), 0.1 * rng.normal(size=model.nv)
    cost = [StateCost(q0, weight_q=1e3, weight_v=10.0), ControlCost(weight=1e-4)]
    result = ilqr(model, q0, v0, np.zeros((STEPS, model.nv)), cost, H)
    assert result.solved
    push = 0.05 * rng.normal(size=(6, model.nv))
    ends = []
    for feedback in (True, False):
        q, v = tf.integrate(model, q0, push), v0 + push
        for t in range(STEPS):
            u = result.policy(t, q, v) if feedback else np.tile(result.u[t], (6, 1))
            q, v = tf.step(model, q, v, u, H)
        ends.append(np.square(tf.difference(model, result.q[-1], q)).sum(axis=-1))
    assert (ends[0] < 0.5 * ends[1]).all()
    np.testing.assert_allclose(result.policy(3, result.q[3], result.v[3]), result.u[3], rtol=1e-12)
    assert result.gains.shape == (STEPS, model.nv, 2 * model.nv)
    other = q.copy()
    other[:, 3:7] *= -1.0  # the same rotation
    np.testing.assert_allclose(result.policy(0, other, v), result.policy(0, q, v), rtol=1e-9)


def test_controls_at_limits_have_gradients_that_point_outside():
    """And those between them none: by differences of the cost of whole motions."""
    model, rng = arm(), np.random.default_rng(7)
    goal = tf.frame_placement(model, rng.normal(size=(5, 3)), "tool")[:, None]
    rest = [StateCost(np.zeros(3), weight_v=0.1), ControlCost(weight=0.01)]
    cost = [FrameCost("tool", goal, 300.0, at="final"), *rest]
    lower, upper = np.array([-25.0, -20.0, -np.inf]), np.array([25.0, 30.0, 5.0])
    start = rng.normal(size=(5, 3)), np.zeros(3), np.zeros((STEPS, 3))
    options = {"control_limits": (lower, upper), "tolerance": 1e-13, "iterations": 300}
    result = ilqr(model, *start, cost, H, **options)
    assert result.solved.all()
    search, d = search_of(model, 5, cost, rng), 1e-5
    gradient = np.empty((5, STEPS, 3))
    for t, k in np.ndindex(STEPS, 3):
        costs = []
        for sign in (1.0, -1.0):
            u = result.u.copy()
            u[:, t, k] += sign * d
            q, v = tf.rollout(model, start[0], start[1], u, H)
            costs.append(np.zeros(5))
            search.terms.add_values_of(q, v, u, np.arange(5), costs[-1], 0, 5)
        gradient[:, t, k] = (costs[0] - costs[1]) / (2.0 * d)
    low, high = result.u == lower, result.u == upper
    assert 20 < (low | high).sum() < 160
    assert (result.u >= lower).all()
    assert (result.u <= upper).all()
    assert (gradient[low] > -1e-5).all()
    assert (gradient[high] < 1e-5).all()
    assert abs(gradient[~(low | high)]).max() < 1e-5
    assert not result.gains[low | high].any()
    pushed = result.policy(0, start[0] + 10.0, start[1])
    np.testing.assert_array_equal(pushed, np.clip(pushed, lower, upper))
    cost = [FrameCost("tool", goal[3], 300.0, at="final"), *rest]
    alone = ilqr(model, start[0][3], *start[1:], cost, H, **options)
    np.testing.assert_array_equal(alone.u, result.u[3])


def effort(slope=1.0, curvature=1.0, most=np.inf):
    """Return a cost u^2 / 2, NaN beyond the most, whose derivatives are wrong by factors of every problem."""

    def value(q, v, u):
        cost = np.where(abs(u).max(axis=-1) < most, 0.5 * (u**2).sum(axis=-1), np.nan)
        return np.concatenate([cost, np.zeros((*u.shape[:-2], 1))], axis=-1)

    def derivatives(q, v, u):
        (*batch, steps, n), size = u.shape, 2 * v.shape[-1]
        by_u, by_uu = (np.broadcast_to(x, batch)[..., None, None] for x in (slope, curvature))
        luu = by_uu[..., None] * np.broadcast_to(np.eye(n), (*batch, steps, n, n))
        lx, lxx = np.zeros((*batch, steps + 1, size)), np.zeros((*batch, steps + 1, size, size))
        return lx, by_u * u, lxx, luu, np.zeros((*batch, steps, n, size))

    return CustomCost(value, derivatives)


def test_a_search_that_finds_no_step_returns_the_last_motion():
    """Derivatives that lead the wrong way raise the regularization to its largest value."""
    u = np.random.default_rng(13).normal(size=(2, STEPS, 3))
    result = ilqr(arm(), np.zeros(3), np.zeros(3), u, effort(slope=[1.0, -1.0]), H)
    assert result.status.tolist() == [ILQRStatus.CONVERGED, ILQRStatus.REGULARIZATION]
    np.testing.assert_array_equal(result.u[1], u[1])
    assert (result.costs[:, 1] == result.costs[0, 1]).all()


def test_an_indefinite_problem_has_its_own_regularization():
    u = np.random.default_rng(14).normal(size=(3, STEPS, 3))
    result = ilqr(arm(), np.zeros(3), np.zeros(3), u, effort(curvature=[1.0, -0.2, 1.0]), H)
    assert result.solved.all()
    assert result.iterations[1] > result.iterations[0] == result.iterations[2]
    for k in (0, 1):
        cost = effort(curvature=[1.0, -0.2][k])
        alone = ilqr(arm(), np.zeros(3), np.zeros(3), u[k], cost, H)
        np.testing.assert_array_equal(alone.u, result.u[k])


def test_step_lengths_whose_cost_is_not_finite_are_refused():
    cost = [effort(curvature=0.25, most=6.0), ControlCost(10.0, weight=1.0 / H)]  # the first step leads to 11
    result = ilqr(arm(), np.zeros(3), np.zeros(3), np.full((STEPS, 3), -5.0), cost, H)
    assert np.isfinite(result.costs).all()
    assert result.solved
    np.testing.assert_allclose(result.u, 5.0, atol=1e-4)


def test_motions_with_gaps_are_not_solved():
    """Not even where the cost is flat: motions that end below 0.9 are refused. Nor are gaps that are NaN."""

    def value(q, v, u):
        cost = np.zeros(q.shape[:-1])
        cost[..., -1] = np.where(q[..., -1, 0] > 0.9, 0.0, np.nan)
        return cost

    def derivatives(q, v, u):
        return effort(slope=0.0, curvature=1e-12).derivatives(q, v, u)

    model = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=ROD)])
    states = {"q": np.linspace(0.0, 1.0, STEPS + 1)[:, None], "v": np.zeros((STEPS + 1, 1))}
    start, options = (
        (model, [0.0], [0.0]),
        {"method": "multiple", "iterations": 1, "tolerance": 1e-6, **states},
    )
    result = ilqr(*start, np.zeros((STEPS, 1)), CustomCost(value, derivatives), H, **options)
    assert abs(result.expected) < 1e-6
    assert result.gap > 0.01
    assert not result.solved
    result = ilqr(*start, np.full((STEPS, 1), np.nan), StateCost([0.0]), H, **options)
    assert result.status == ILQRStatus.NON_FINITE


def test_a_callback_ends_the_search():
    model, seen = arm(), []
    start = np.zeros((2, 3)), np.zeros(3), np.zeros((STEPS, 3))
    cost = [StateCost(np.ones(3), at="final", weight_q=100.0), ControlCost(weight=1e-3)]

    def stop(progress):
        seen.append(progress)
        return progress.iteration == 2

    result = ilqr(model, *start, cost, H, callback=stop)
    assert result.status.tolist() == [ILQRStatus.STOPPED] * 2
    assert [one.iteration for one in seen] == [1, 2]
    assert repr(result) == "<ILQRResult of 2 problems: 2 STOPPED>"
    np.testing.assert_array_equal(seen[-1].cost, result.cost)
    few = ilqr(model, *start, cost, H, iterations=2)
    assert few.status.tolist() == [ILQRStatus.ITERATIONS] * 2
    np.testing.assert_array_equal(few.u, result.u)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"u": np.zeros((STEPS, 2))}, ShapeError, "u must have shape"),
        ({"u": np.zeros((0, 3))}, ShapeError, "at least one step"),
        ({"q0": np.zeros((2, 3)), "v0": np.zeros((3, 3))}, ShapeError, "leading axes"),
        ({"dt": 0.0}, ValueError, "dt"),
        ({"cost": []}, DtypeError, "cost must be a list"),
        ({"cost": [3.0]}, DtypeError, "a cost must be one of"),
        ({"cost": StateCost(np.zeros(3), weight_q=-1.0)}, ValueError, "negative"),
        ({"cost": StateCost(np.zeros(4))}, ShapeError, "q of StateCost"),
        ({"cost": FrameCost("tol", np.eye(3, 4))}, InvalidModelError, "tool"),
        ({"cost": FrameCost("tool", np.ones((3, 4)))}, ValueError, "no rotation"),
        ({"cost": LimitCost(np.ones(3), np.zeros(3))}, ConfigurationError, "hinge0"),
        ({"cost": ComCost(np.zeros(3), at="end")}, ValueError, "at of ComCost"),
        ({"cost": CustomCost(lambda q, v, u: 0.0, None)}, ShapeError, "value of CustomCost"),
        ({"control_limits": (1.0, -1.0)}, ConfigurationError, "control 0 has limits 1 > -1"),
        ({"control_limits": 1.0}, DtypeError, "control_limits must be a pair"),
        ({"actuated": ["hinge"]}, InvalidModelError, "hinge0"),
        ({"method": "fddp"}, ValueError, "method must be 'single' or 'multiple'"),
        ({"method": "multiple", "q": np.zeros((STEPS + 1, 3))}, ValueError, "given together"),
        (
            {"q": np.zeros((STEPS + 1, 3)), "v": np.zeros((STEPS + 1, 3))},
            ValueError,
            "q and v must be left out",
        ),
        (
            {"method": "multiple", "q": np.zeros((STEPS, 3)), "v": np.zeros((STEPS + 1, 3))},
            ShapeError,
            r"q must have shape \(..., 13, 3\)",
        ),
        ({"model": closed()}, InvalidModelError, "loop 'weld': iterative LQR"),
        ({"actuated": np.eye(2)}, ShapeError, "actuated"),
    ],
)
def test_wrong_arguments_raise_our_errors(change, error, words):
    given = {"model": arm(), "q0": np.zeros(3), "v0": np.zeros(3), "u": np.zeros((STEPS, 3))}
    with pytest.raises(error, match=words):
        ilqr(**{**given, "cost": ControlCost(), "dt": H, **change})
