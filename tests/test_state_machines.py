"""Any sequence of calls on trees, factors and models agrees with plain NumPy."""

import numpy as np
import pytest
from helpers.machines import MACHINE, SEEDS, WAYS
from helpers.model_cases import random_axis, random_inertia
from helpers.strategies import lower_pattern, parents, spd_matrix, trees
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import treefactor as tf
from treefactor.model.joints import SIZES

KINDS = st.sampled_from(["LTDL", "LTL"])


class Trees(RuleBasedStateMachine):
    """Trees are made from each other and never change."""

    known = Bundle("known")

    def __init__(self):
        super().__init__()
        self.seen = []  # every tree with the parents it was made of

    def keep(self, parent, tree):
        self.seen.append((list(parent), tree))
        return tree

    @initialize(target=known, parent=parents(max_n=12))
    def made(self, parent):
        return self.keep(parent, tf.Tree(parent))

    @rule(target=known, tree=known, data=st.data())
    def with_a_leaf(self, tree, data):
        parent = [*tree.parent.tolist(), data.draw(st.integers(-1, tree.n - 1))]
        return self.keep(parent, tf.Tree(parent))

    @rule(target=known, tree=known, other=known)
    def beside_each_other(self, tree, other):
        parent = tree.parent.tolist() + [i + tree.n if i >= 0 else -1 for i in other.parent.tolist()]
        return self.keep(parent[:60], tf.Tree(parent[:60]))

    @rule(target=known, tree=known, seed=SEEDS)
    def shuffled_and_renumbered(self, tree, seed):
        order = np.random.default_rng(seed).permutation(tree.n)  # new number of every old one
        shuffled = np.empty(tree.n, dtype=int)
        shuffled[order] = np.append(order, -1)[tree.parent]
        other, old = tf.Tree.renumber(shuffled)
        back = np.argsort(order)[old]  # number in the first tree
        np.testing.assert_array_equal(other.mask(), tree.mask()[np.ix_(back, back)])
        return self.keep(other.parent.tolist(), other)

    @rule(target=known, tree=known, way=WAYS)
    def copied(self, tree, way):
        other = way(tree)
        assert other == tree
        assert hash(other) == hash(tree)
        return self.keep(tree.parent.tolist(), other)

    @rule(target=known, tree=known)
    def from_its_pattern(self, tree):
        return self.keep(tree.parent.tolist(), tf.Tree.from_pattern(tree.mask()))

    @rule(tree=known, seed=SEEDS, layout=st.sampled_from(["packed", "lanes"]))
    def matrices_go_out_and_come_back(self, tree, seed, layout):
        H = spd_matrix(tree, seed, (3,))
        np.testing.assert_array_equal(tree.unpack(tree.pack(H, layout), layout)[:3], H)

    @rule(tree=known, data=st.data())
    def refused(self, tree, data):
        row = data.draw(st.integers(0, tree.n))
        with pytest.raises(tf.InvalidTreeError) as error:
            tf.Tree([*tree.parent[:row].tolist(), data.draw(st.sampled_from([row, row + 1, -2])), -1])
        assert error.value.row == row
        with pytest.raises(AttributeError):
            tree.n = 3

    @invariant()
    def nothing_has_changed(self):
        for parent, tree in self.seen[-3:]:
            pattern = lower_pattern(parent)
            depth = pattern.sum(axis=1)
            assert tree.parent.tolist() == parent
            assert tree.depth.tolist() == depth.tolist()
            assert (tree.nnz, tree.D1) == (pattern.sum(), pattern.sum() - len(parent))
            assert tree.D2 == sum(d * (d - 1) // 2 for d in depth.tolist())
            np.testing.assert_array_equal(np.tril(tree.mask()), pattern)


class Factors(RuleBasedStateMachine):
    """A factor of good and bad matrices in turn agrees with the dense matrices."""

    @initialize(tree=trees(1, 14), kind=KINDS, batch=st.sampled_from([(), (3,), (9,)]))
    def made(self, tree, kind, batch):
        self.H = spd_matrix(tree, 0, batch)
        self.factor = tf.factor(self.H, tree, kind)

    @property
    def tree(self):
        return self.factor.tree

    @property
    def good(self):
        """Return which matrices can be factorized."""
        return self.factor.status == -1

    @rule(seed=SEEDS, layout=st.sampled_from(["dense", "packed"]), shift=st.sampled_from([None, 0.5]))
    def refactored(self, seed, layout, shift):
        H = spd_matrix(self.tree, seed, self.factor.batch)
        self.factor.refactor(H if layout == "dense" else self.tree.pack(H), shift, layout)
        self.H = H + (shift or 0.0) * np.eye(self.tree.n)
        assert self.good.all()

    @rule(data=st.data(), value=st.sampled_from([-1.0, 0.0, np.nan, np.inf]))
    def refactored_with_a_bad_one(self, data, value):
        row = data.draw(st.integers(0, self.tree.n - 1))
        H = spd_matrix(self.tree, 1, self.factor.batch)
        bad = data.draw(st.integers(0, len(H) - 1)) if self.factor.batch else ...
        H[bad, row, row] = value
        self.H = np.where(np.isfinite(H), H, 0.0)
        if self.factor.batch:
            self.factor.refactor(H)
            assert np.flatnonzero(~self.good).tolist() == [bad]
        else:
            with pytest.raises(tf.NotPositiveDefiniteError):
                self.factor.refactor(H)
            assert not self.good

    @rule(wrong=st.sampled_from(["shape", "text", "shift", "layout"]))
    def refused(self, wrong):
        given = {"H": self.H, "shift": None, "layout": None}
        given |= {
            "shape": {"H": np.eye(self.tree.n + 1)},
            "text": {"H": "H"},
            "shift": {"shift": np.ones(self.tree.n + 1)},
            "layout": {"layout": "round"},
        }[wrong]
        with pytest.raises((ValueError, TypeError)):
            self.factor.refactor(**given)

    @rule(way=WAYS)
    def copied(self, way):
        self.factor = way(self.factor)

    @rule()
    def handed_over(self):
        if self.factor.kind == "LTDL" and self.good.all():
            L, D = self.factor.L(), self.factor.D()
            self.factor = tf.Factor.from_ld(L, D, self.tree)

    @invariant()
    def it_holds_its_matrices(self):
        if not hasattr(self, "factor"):
            return
        b = np.linspace(1.0, 2.0, self.tree.n)
        if not self.factor.batch and not self.good:
            with pytest.raises(tf.NotPositiveDefiniteError):
                self.factor.solve(b)
            return
        x, H = self.factor.solve(b), np.reshape(self.H, (-1, self.tree.n, self.tree.n))
        for good, own, one in zip(np.atleast_1d(self.good), x.reshape(len(H), -1), H, strict=True):
            if good:
                np.testing.assert_allclose(own, np.linalg.solve(one, b), rtol=1e-8)
            else:
                assert np.isnan(own).all()


class Models(RuleBasedStateMachine):
    """Models grow joint by joint; their functions agree, and older models do not change."""

    def __init__(self):
        super().__init__()
        self.model = tf.Model([])
        self.older = []

    @rule(kind=st.sampled_from(list(SIZES)), seed=SEEDS, data=st.data())
    def another_joint(self, kind, seed, data):
        rng, n = np.random.default_rng(seed), self.model.njoints
        parent = data.draw(st.integers(-1, n - 1))
        pitch = 0.1 if kind == "helical" else 0.0
        axis, inertia = random_axis(kind, rng), random_inertia(rng)
        joint = tf.Joint(f"j{n}", kind, parent, p=rng.normal(size=3), axis=axis, pitch=pitch, inertia=inertia)
        self.replaced(tf.Model([*self.model.joints, joint][:7], self.model.gravity))

    @rule(seed=SEEDS)
    def other_gravity(self, seed):
        self.replaced(tf.Model(self.model.joints, np.random.default_rng(seed).normal(size=3)))

    @rule(way=WAYS)
    def copied(self, way):
        self.replaced(way(self.model))

    @rule(wrong=st.sampled_from([{"name": "j0"}, {"parent": 99}]))
    def refused(self, wrong):
        joints = [
            *self.model.joints,
            tf.Joint(**{"name": "j0", "kind": "translation", "parent": -1, **wrong}),
        ]
        if len(joints) > 1 or "parent" in wrong:
            with pytest.raises(tf.InvalidModelError):
                tf.Model(joints)
        with pytest.raises(AttributeError):
            self.model.nv = 0

    def replaced(self, model):
        q = tf.random_configuration(self.model, 0)
        self.older.append((self.model, q, tf.crba(self.model, q)))
        self.model = model

    @invariant()
    def its_functions_agree(self):
        model, rng = self.model, np.random.default_rng(0)
        sizes = np.array([SIZES[joint.kind] for joint in model.joints]).reshape(-1, 2).sum(axis=0)
        assert (model.nq, model.nv) == tuple(sizes)
        q, (v, a) = tf.random_configuration(model, rng), rng.normal(size=(2, model.nv))
        H, tau = tf.crba(model, q), tf.rnea(model, q, v, a)
        scale = 1e-10 * max(1.0, np.abs(H).max(initial=0.0), np.abs(tau).max(initial=0.0))
        np.testing.assert_allclose(tau - tf.bias(model, q, v), H @ a, atol=scale)
        np.testing.assert_allclose(tf.h_times(model, q, a), H @ a, atol=scale)
        accuracy = 1e-12 * (np.linalg.cond(H) if model.nv else 1.0)
        for method in ("factor", "aba"):
            np.testing.assert_allclose(
                tf.forward_dynamics(model, q, v, tau, method=method), a, atol=max(1e-9, accuracy)
            )
        np.testing.assert_allclose(
            tf.difference(model, q, tf.integrate(model, q, 0.1 * v)), 0.1 * v, atol=1e-9
        )
        assert not (H[~model.tree.mask()]).any()

    @invariant()
    def older_ones_are_as_they_were(self):
        for model, q, H in self.older[-2:]:
            np.testing.assert_array_equal(tf.crba(model, q), H)


TestTrees, TestFactors, TestModels = (one.TestCase for one in (Trees, Factors, Models))
for one in (TestTrees, TestFactors, TestModels):
    one.settings = MACHINE
