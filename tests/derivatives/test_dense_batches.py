"""Compare dense matrices of batches with those that `Tree` unpacks, to the bit."""

import numpy as np
import pytest
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf

pytestmark = pytest.mark.isa


@settings(max_examples=25, deadline=None)
@given(models(), st.integers(1, 20), st.integers(0, 2**31))
def test_dense_matrices_are_the_unpacked_ones(model, batch, seed):
    rng = np.random.default_rng(seed)
    q = np.array([tf.random_configuration(model, rng) for _ in range(batch)])
    v, a = rng.normal(size=(2, batch, model.nv))
    v[rng.integers(batch), rng.integers(model.nv)] = np.nan
    tree = model.tree
    packed = tf.rnea_derivatives(model, q, v, a, layout="packed")
    dense = tf.rnea_derivatives(model, q, v, a)
    for unpack, own, other in zip((tree.unpack_pair,) * 2 + (tree.unpack,), packed, dense, strict=True):
        np.testing.assert_array_equal(other, unpack(own), strict=True)
        assert not other[:, ~tree.mask()].any()
    np.testing.assert_array_equal(tf.crba(model, q), tree.unpack(tf.crba(model, q, layout="packed")))
    own = tf.coriolis_matrix(model, q, v, layout="packed")
    np.testing.assert_array_equal(tf.coriolis_matrix(model, q, v), tree.unpack_pair(own))
