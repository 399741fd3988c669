"""Identify inertial parameters of robots from measured motions.

``physical`` fits bodies that can exist to a triangle of a least-squares problem.
"""

from .physical import PhysicalFit, fit_physical

__all__ = ["PhysicalFit", "fit_physical"]
