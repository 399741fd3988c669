"""Identify the parameters of a robot from its motion: regressors, base parameters and estimates.

`identification` estimates base parameters and friction from samples, `samples` judges the samples.
"""

from .estimate import Estimate, Residuals
from .identification import Identification
from .samples import slow_rows, torque_delay

__all__ = ["Estimate", "Identification", "Residuals", "slow_rows", "torque_delay"]
