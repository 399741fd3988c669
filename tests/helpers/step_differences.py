"""Compare derivatives of steps with central differences of steps."""

import copy

import numpy as np

import treefactor as tf

STEP, DIFFERENCES = 1e-6, 3e-5  # differences carry the solver's errors of 1e-11 of the momenta


def differences(stepper, q, v, tau, t, directions):
    """Return central differences of the state after a step along directions, in the derivatives' order."""
    model = stepper.model

    def step(q, v, tau):
        made = copy.copy(stepper).step(q, v, tau, t)
        return made.q, made.v

    center = step(q, v, tau)[0]

    def derivative(function, size=STEP):
        ends = [[function(s * size * unit) for s in (1, -1)] for unit in directions.T]
        moved = [[tf.difference(model, center, end[0]) for end in pair] for pair in ends]
        q = np.stack([(a - b) / (2 * size) for a, b in moved], axis=-1)
        return q, np.stack([(a[1] - b[1]) / (2 * size) for a, b in ends], axis=-1)

    pairs = (
        derivative(lambda x: step(tf.integrate(model, q, x), v, tau)),
        derivative(lambda x: step(q, v + x, tau)),
        derivative(lambda x: step(q, v, tau + x), 100.0 * STEP),
    )
    return [pair[k] for k in (0, 1) for pair in pairs]


def check(stepper, q, v, tau, t=0.0, directions=None):
    """Compare derivatives along directions (nv, k), by default all; return them."""
    directions = np.eye(stepper.model.nv) if directions is None else directions
    before, fresh = copy.copy(stepper), copy.copy(stepper)
    derivatives = stepper.derivatives(q, v, tau, t)
    assert np.array_equal(stepper.step(q, v, tau, t).v, before.step(q, v, tau, t).v)  # it was left unchanged
    h, H = stepper.h, tf.crba(stepper.model, q)
    least = (1.0, h, h**2 / np.abs(H).max(), 1.0 / h, 1.0, h / np.abs(H).max())
    for name, ours, theirs, size in zip(
        derivatives._fields[1:],
        derivatives[1:],
        differences(fresh, q, v, tau, t, directions),
        least,
        strict=True,
    ):
        error = np.abs(ours @ directions - theirs).max() / max(np.abs(theirs).max(), size)
        assert error < DIFFERENCES, (name, error)
    return derivatives
