"""Inertial parameters of log-Cholesky coordinates, with the functions of jax.numpy or torch."""

from __future__ import annotations

from typing import Any


def parameters_of(theta, xp: Any):
    """Return the parameters (..., 10) of coordinates (..., 10), as `model.parameters.from_log_cholesky`.

    ``xp`` is jax.numpy, torch or NumPy: its functions do all the work, so that it can differentiate them.
    """
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = (theta[..., k] for k in range(10))
    scale = xp.exp(alpha)  # scale of the triangular matrix U; the pseudo-inertia is U U^T
    e1, e2, e3 = (scale * xp.exp(d) for d in (d1, d2, d3))
    s12, s23, s13, t1, t2, t3 = (scale * x for x in (s12, s23, s13, t1, t2, t3))
    xx = e1 * e1 + s12 * s12 + s13 * s13 + t1 * t1
    yy = e2 * e2 + s23 * s23 + t2 * t2
    zz = e3 * e3 + t3 * t3
    xy = s12 * e2 + s13 * s23 + t1 * t2
    xz, yz = s13 * e3 + t1 * t3, s23 * e3 + t2 * t3
    first = scale * scale, t1 * scale, t2 * scale, t3 * scale
    return xp.stack([*first, yy + zz, -xy, xx + zz, -xz, -yz, xx + yy], -1)
