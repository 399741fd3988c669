"""Identify inertial parameters of robots from measured motions.

``physical`` fits bodies that can exist to a triangle of a least-squares problem, ``gradients`` changes gradients
to coordinates of bodies that can exist.
"""

from .gradients import log_cholesky_gradient
from .physical import PhysicalFit, fit_physical

__all__ = ["PhysicalFit", "fit_physical", "log_cholesky_gradient"]
