"""Tasks people use a model for: inverse kinematics of many targets within limits.

`tasks` has what a configuration shall do, `inverse_kinematics` the function and the class that search for it, `results`
what they return.
"""

from .._util.lazy_names import lazy_names

__all__, _, __getattr__ = lazy_names(__name__, __file__)
