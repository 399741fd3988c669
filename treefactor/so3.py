"""Rotations in batches: exponentials, logarithms, products and conversions of matrices (..., 3, 3).

Quaternions are x y z w. Rotation matrices are not checked.
"""

from .quantities.functions import functions_of

__all__ = sorted(functions_of(__name__))
globals().update(functions_of(__name__))
