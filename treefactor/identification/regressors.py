"""Compute the regressor of the centre of mass."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._util.bindable import register
from ..derivatives._calls import call
from ..derivatives._general_path import bound, general_path
from ..model.model import Model
from . import _regressors as compiled

__all__ = ["center_of_mass_regressor"]


def center_of_mass_regressor(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the matrix that multiplies the parameters of all bodies to give the centre of mass.

    It changes with the masses: it is divided by the mass of the model, and gives the centre of mass of that
    model only. For unknown masses use `treefactor.gravity_regressor` or
    `treefactor.potential_energy_regressor`.

    Parameters
    ----------
    model, q, out, num_threads
        As for `treefactor.gravity_regressor`.

    Returns
    -------
    ndarray, shape (..., 3, 10 njoints)
        p, R and six zeros for every joint with origin p and axes R, over the mass of the model. Times the
        parameters, the centre of mass in the axes of the base, m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Pinocchio calls its first four columns of every joint ``computeStaticRegressor``; in spite of that name it
    is not the regressor of gravity.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import center_of_mass_regressor
    >>> ball = tf.Inertia(2.0, [0.0, 0, 0], np.eye(3))
    >>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=ball)])
    >>> center_of_mass_regressor(model, [3.0])[2, :4]
    array([1.5, 0. , 0. , 0.5])
    """
    return call(model, compiled.CenterOfMassRegressor, (), (q,), out, num_threads, general_path)


def _bound(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of the function."""
    validated = partial(function, model, **given, out=out)
    return bound(model, compiled.CenterOfMassRegressor, (), given, out, validated)


register(_bound, (center_of_mass_regressor,))
