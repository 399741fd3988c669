"""Advise how scripts that call Pinocchio become faster, from their syntax trees: nothing of them is run.

Exported are `advise`, which returns the advice about one script, and its types.
"""

from .rules import Advice, Report, advise

__all__ = ["Advice", "Report", "advise"]
