"""Rigid motions in batches: exponentials, logarithms, products and conversions of poses (..., 3, 4).

Spatial velocities are linear before angular, quaternions x y z w. Rotation matrices are not checked.
"""

from .quantities.functions import functions_of

__all__ = sorted(functions_of(__name__))
globals().update(functions_of(__name__))
