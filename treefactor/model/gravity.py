"""Make models without gravity, whose inverse dynamics at rest is the product H a."""

from __future__ import annotations

import numpy as np

from .model import Model


def without_gravity(model: Model) -> Model:
    """Return the same robot without gravity: its inverse dynamics at rest is H a.

    Parameters
    ----------
    model : Model

    Returns
    -------
    Model
        The same object in every call for a model, which keeps it.

    Notes
    -----
    Thread-safe.
    """
    weightless = model.__dict__.get("_without_gravity")
    if weightless is None:
        made = model._replaced(gravity=np.zeros(3))
        weightless = model.__dict__.setdefault("_without_gravity", made)
    return weightless
