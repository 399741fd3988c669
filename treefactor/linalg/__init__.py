"""Branch-sparse linear algebra on H: factors, solves and products, for one matrix or a batch.

`factorization` has `factor`, `factors` the class `Factor` that it returns, `solve_multiply` what keeps no
factor, `foreign_factor` a factor in arrays of another library, `damped_least_squares` solves with small dense
matrices. `_single` works on one matrix and one vector,
`_single_calls` does so in one call, `_multi_rhs` on one matrix and many vectors, `_batch` on many matrices
side by side in lanes.
"""

from .bound_factor import BoundFactor
from .damped_least_squares import damped_least_squares
from .factorization import factor
from .factors import Factor
from .solve_multiply import multiply, solve

__all__ = [
    "BoundFactor",
    "Factor",
    "damped_least_squares",
    "factor",
    "multiply",
    "solve",
]
