"""Inertial parameters in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ._jax_functions import as_array
from ._log_cholesky import parameters_of


def from_log_cholesky(theta) -> jax.Array:
    """Return the parameters of log-Cholesky coordinates: those of a body that can exist, for any theta.

    Parameters
    ----------
    theta : array_like, shape (..., 10)
        See `treefactor.identification.from_log_cholesky`, whose values these are; ``to_log_cholesky`` of
        that module gives those to start from.

    Returns
    -------
    jax.Array, shape (..., 10)
        For ``inertias``; in operations of JAX, which can be differentiated to any order.

    Raises
    ------
    ShapeError, DtypeError

    Examples
    --------
    >>> import jax
    >>> from treefactor.adapters import jax_
    >>> print(jax.grad(lambda theta: jax_.from_log_cholesky(theta)[0])(jax.numpy.zeros(10)))
    [2. 0. 0. 0. 0. 0. 0. 0. 0. 0.]
    """
    return parameters_of(as_array(theta, "theta", (10,)), jnp)
