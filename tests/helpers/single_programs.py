"""A program in float32 with products of derivatives, and states of its robot, for the tests of frameworks."""

import numpy as np

import treefactor as tf
from helpers.derivative_cases import random_case, rooted

FLOATING = rooted("freeflyer")
BATCH = 300  # more than the configurations whose results are divided, or converted, at a time
BAD = 257  # a configuration of them
FUNCTIONS = ["forward_dynamics", "forward_dynamics_jvp", "forward_dynamics_vjp", "aba", "crba"]


def program(backend="interp", functions=FUNCTIONS, dtype=np.float32):
    """Return kernels of the robot."""
    return tf.compile(FLOATING, functions, backend, dtype=dtype)


def states(dtype=np.float32):
    """Return q, v, tau and weights; one velocity is not a number."""
    q, v, tau, w, _ = random_case(FLOATING, 8, (BATCH,))
    v[BAD, 1] = np.nan
    return tuple(x.astype(dtype) for x in (q, v, tau, w))


def assert_gradients(gradients, expected):
    """Compare the bits of gradients by the entries of q, by v and by tau with those by motions."""
    for own, wanted in zip(gradients[1:], expected[1:], strict=True):
        assert own.dtype == wanted.dtype
        np.testing.assert_array_equal(own, wanted)
    np.testing.assert_array_equal(gradients[0][..., 7:], expected[0][..., 6:])
    assert np.isnan(expected[1]).any(axis=1).nonzero()[0].tolist() == [BAD]
