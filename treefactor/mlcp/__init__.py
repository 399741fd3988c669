"""Solve the mixed linear complementarity problem of one time step with joints, contacts and limits.

    minimise 1/2 v^T H v - g^T v  subject to  C v = c  and  D v >= d,  or, with impulses gamma and gamma_c,
    H v = g + C^T gamma_c + D^T gamma,  C v = c,  0 <= gamma  _|_  D v - d >= 0

With bounds of impulses, as of friction, 0 <= gamma <= upper, and D_i v < d_i is allowed where gamma_i is at
its bound, as if upper_i max(0, d_i - D_i v) were added to 1/2 v^T H v - g^T v.

Tasora, Manconi, Silvestri (2.6) and (2.9). v is unique; gamma is not where active rows depend on each other.
"""

from .problem import (
    LAYOUTS,
    METHODS,
    POLISHED,
    STATUS,
    TARGET,
    Problem,
    Solution,
    Status,
    solve,
)
from .sensitivities import Sensitivity, SensitivityStatus, sensitivity

__all__ = [
    "LAYOUTS",
    "METHODS",
    "POLISHED",
    "STATUS",
    "TARGET",
    "Problem",
    "Sensitivity",
    "SensitivityStatus",
    "Solution",
    "Status",
    "sensitivity",
    "solve",
]
