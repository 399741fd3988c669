"""Samples of motions with friction, for tests of the identification."""

from dataclasses import replace

import numpy as np

import treefactor as tf
from helpers.model_cases import state

VISCOUS, DRY, OFFSET = 0.7, 0.4, -0.3


def samples(model, seed=0, size=200, noise=0.0):
    """Return q, v, a and torques of random states, with friction and noise of every freedom."""
    q, v, a = state(model, seed, (size,))
    tau = tf.rnea(model, q, v, a) + VISCOUS * v + DRY * np.sign(v) + OFFSET
    return q, v, a, tau + noise * np.random.default_rng(seed + 1).normal(size=tau.shape)


def rows_of(fit, q, v, a, extra=None):
    """Return the matrix (N, nv, p) of a problem by columns: predictions are linear in the parameters."""
    estimate = fit.solve()
    known = fit._samples.known(q, v, a)
    unit = np.eye(len(fit.names))
    columns = [
        replace(estimate, solution=one, null=np.zeros((0, len(one)))).predict(q, v, a, extra) - known
        for one in unit
    ]
    return np.stack(columns, axis=-1)


def series(n, step=0.01, count=400, seed=0, harmonics=3, speed=1.0):
    """Return q, v, a (count, n) of sums of sines, exactly, and the times."""
    rng = np.random.default_rng(seed)
    t = step * np.arange(count)[:, None, None]
    w = speed * (1.0 + rng.random((1, n, harmonics))) * np.arange(1, harmonics + 1)
    phase, size = rng.uniform(0, 2 * np.pi, w.shape), rng.uniform(0.3, 0.8, w.shape)
    angle = w * t + phase
    q = (size * np.sin(angle)).sum(-1)
    return q, (size * w * np.cos(angle)).sum(-1), -(size * w**2 * np.sin(angle)).sum(-1), t[:, 0, 0]
