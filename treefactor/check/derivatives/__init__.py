"""Compare the derivatives of Pinocchio and MuJoCo with treefactor's: ``treefactor check --derivatives``.

``comparison`` runs it, ``case`` holds one robot, ``by_treefactor`` computes treefactor's derivatives,
``errors`` measures deviations, ``causes`` names the reasons.
"""

from .causes import DerivativeCause
from .comparison import DERIVATIVE_ENGINES, DerivativeRow, check_derivatives

__all__ = ["DERIVATIVE_ENGINES", "DerivativeCause", "DerivativeRow", "check_derivatives"]
