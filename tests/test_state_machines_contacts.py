"""Any sequence of contact problems and time steps has solutions that the data confirm."""

import numpy as np
import pytest
from helpers.machines import MACHINE, SEEDS, WAYS
from helpers.mlcp_small import small
from helpers.mlcp_verify import magnitude, verify
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.constraints import Contact, Plane, Sphere, Stepper
from treefactor.mlcp import Problem, Status, solve


class Problems(RuleBasedStateMachine):
    """Contact problems change in small steps; cold and warm solutions agree."""

    @initialize(seed=SEEDS)
    def made(self, seed):
        self.solved(small(seed))

    @rule(seed=SEEDS)
    def another(self, seed):
        self.solution = None
        self.solved(small(seed))

    @rule(seed=SEEDS)
    def pushed_otherwise(self, seed):
        self.solved(self.with_(g=np.random.default_rng(seed).integers(-3, 4, self.problem.n).astype(float)))

    @rule(seed=SEEDS, value=st.sampled_from([-np.inf, -2.0, 0.0, 1.0]))
    def another_right_side(self, seed, value):
        d = np.where(np.random.default_rng(seed).random(self.problem.m) < 0.3, value, self.problem.d)
        self.solved(self.with_(d=d))

    @rule(seed=SEEDS)
    def rows_the_other_way_round(self, seed):
        signs = np.random.default_rng(seed).choice([-1.0, 1.0, 1.0], self.problem.m)
        self.solved(self.with_(D=signs[:, None] * self.problem.D.toarray()))

    @rule(seed=SEEDS, bound=st.sampled_from([0.0, 0.5, 3.0, np.inf]))
    def bounded(self, seed, bound):
        upper = np.full(self.problem.m, np.inf) if self.problem.upper is None else self.problem.upper
        chosen = np.random.default_rng(seed).random(self.problem.m) < 0.4
        self.solved(self.with_(upper=np.where(chosen, bound, upper)))

    @rule()
    def unbounded(self):
        self.solved(self.with_(upper=None))

    @rule()
    def a_row_more(self):
        D, d = self.problem.D.toarray(), self.problem.d
        more = self.with_(D=np.append(D, D[:1], axis=0), d=np.append(d, d[:1]), upper=None)
        self.solution = None
        self.solved(more)

    @rule(way=WAYS)
    def copied(self, way):
        self.problem, self.solution = way(self.problem), way(self.solution)

    @rule(wrong=st.sampled_from([{"g": [np.nan]}, {"d": "d"}, {"upper": [-1.0]}, {"D": None}, {"c": [1j]}]))
    def refused(self, wrong):
        with pytest.raises((ValueError, TypeError)):
            self.with_(**wrong)

    def with_(self, **changed):
        """Return the problem with some data changed."""
        problem = self.problem
        given = {name: getattr(problem, name) for name in ("g", "C", "c", "D", "d", "upper")}
        return Problem(problem.packed, problem.tree, **(given | changed), layout="packed")

    def solved(self, problem):
        cold = solve(problem)
        verify(problem, cold)
        before = getattr(self, "solution", None)
        if before is not None:
            warm = solve(problem, warm_start=before)
            verify(problem, warm)
            assert warm.status is cold.status
            if cold.status is Status.SOLVED:
                np.testing.assert_allclose(warm.v, cold.v, rtol=0, atol=1e-8 * magnitude(problem))
        again = solve(problem)
        for name in ("v", "gamma", "gamma_c", "active"):
            np.testing.assert_array_equal(getattr(again, name), getattr(cold, name))
        self.problem, self.solution = problem, cold


class Steps(RuleBasedStateMachine):
    """Step a four-bar, a slide with limits, and two balls that fall on each other, floor and links."""

    @initialize(mu=st.sampled_from([0.0, 0.4]), friction=st.sampled_from(["pyramid", "box"]))
    def made(self, mu, friction):
        self.mu, self.h, self.friction, self.margin = mu, 0.01, friction, np.inf
        self.model = machinery()
        self.rested()

    @rule()
    def rested(self):
        """Start from the initial state."""
        self.q = np.concatenate([mechanisms.four_bar().closed, [0.0], *([x, 0.0, 1.0] for x in (0.0, 0.3))])
        self.v = np.zeros(self.model.nv)
        self.contacts = []
        self.steppers()

    @rule(which=st.integers(0, 4), remove=st.booleans())
    def contacts_appear_and_vanish(self, which, remove):
        balls = [Sphere(joint, radius=0.1) for joint in (4, 5)]
        floor = Plane(normal=[0.0, 0.0, 1.0], point=[0.0, 0.0, 0.5])
        against = (
            (balls[0], floor),
            (balls[1], floor),
            (balls[0], balls[1]),
            (balls[0], Sphere(1)),
            (balls[1], Plane()),
        )
        contact = Contact(*against[which], self.mu)
        known = [
            c
            for c in self.contacts
            if (c.sphere.body, c.against.body) != (against[which][0].body, against[which][1].body)
        ]
        self.contacts = known if remove else [*known, contact]
        self.steppers()

    @rule(h=st.sampled_from([0.001, 0.01, 0.02]), margin=st.sampled_from([0.5, np.inf]))
    def another_step(self, h, margin):
        self.h, self.margin = h, margin
        self.steppers()

    @rule(seed=SEEDS)
    def kicked(self, seed):
        """Return velocities that keep the loop closed."""
        J = constraints.loop_rows(self.model, self.q).dense()
        v = np.random.default_rng(seed).normal(size=self.model.nv)
        self.v = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)

    @rule(seed=SEEDS, steps=st.integers(1, 5))
    def stepped(self, seed, steps):
        tau = np.random.default_rng(seed).normal(size=self.model.nv)
        for _ in range(steps):
            one, other = (stepper.step(self.q, self.v, tau) for stepper in self.pair)
            for name in ("q", "v", "gap", "impulse", "loop_impulse"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            fresh = self.stepper().step(self.q, self.v, tau)
            if self.friction == "pyramid":  # bounds of a box are of the step before
                np.testing.assert_allclose(fresh.v, one.v, rtol=0, atol=1e-7 * (1.0 + np.abs(one.v).max()))
            self.check(one, tau)
            self.q, self.v = one.q, one.v

    @rule(wrong=st.sampled_from([{"q": [0.0]}, {"v": "v"}, {"tau": [np.nan]}, {"q": None}]))
    def refused(self, wrong):
        with pytest.raises((ValueError, TypeError)):
            self.pair[0].step(**({"q": self.q, "v": self.v} | wrong))

    def stepper(self):
        """Make a stepper with the current settings."""
        return Stepper(self.model, self.contacts, self.h, friction=self.friction, margin=self.margin)

    def steppers(self):
        self.pair = self.stepper(), self.stepper()

    def check(self, step, tau):
        """Impulses push within the cone and add only the energy of the targets; no gap gets worse."""
        verify(step.solution.problem, step.solution)
        problem, size = step.solution.problem, 1e-9 * (1.0 + np.abs(step.impulse).max(initial=0.0))
        for contact, impulse, gap in zip(self.contacts, step.impulse, step.gap, strict=True):
            assert np.isfinite(gap) or not impulse.any()
            if isinstance(contact.against, Plane):
                assert impulse[2] >= -size
                if self.friction == "pyramid":
                    assert np.hypot(*impulse[:2]) <= self.mu * impulse[2] + size
        asked = np.maximum(problem.d, 0.0) @ step.solution.gamma + problem.c @ step.solution.gamma_c
        free = problem.factor.solve(problem.g)
        kinetic = [v @ problem.H @ v / 2.0 for v in (step.solution.v, free)]
        assert kinetic[0] <= kinetic[1] + max(asked, 0.0) + 1e-9 * (1.0 + kinetic[1])
        after = self.stepper().step(step.q, step.v).gap
        near = np.isfinite(after) & np.isfinite(step.gap)
        worst = np.minimum(step.gap[near], 0.0)
        assert (after[near] >= worst - 0.5 * (1.0 + np.abs(step.v).max() ** 2) * self.h).all()


def machinery():
    """Return a model: bodies 0 to 2 are a four-bar in the x-z plane, 3 is a slide, 4 and 5 are balls."""
    bar = mechanisms.four_bar().model
    ball = tf.Inertia(0.5, tensor=0.002 * np.eye(3))
    joints = [
        *bar.joints,
        tf.Joint("slide", "prismatic", axis=[1.0, 0, 0], lower=-0.1, upper=0.1, inertia=ball),
        *(tf.Joint(f"ball{k}", "translation", inertia=ball) for k in range(2)),
    ]
    return tf.Model(joints, loops=bar.loops)


TestProblems, TestSteps = Problems.TestCase, Steps.TestCase
TestProblems.settings = TestSteps.settings = MACHINE
