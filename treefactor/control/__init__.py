"""Tasks people use a model for: inverse kinematics and motions of least cost.

`tasks` has what a configuration shall do, `inverse` the function and the class that search for it. `costs`
has what a motion shall cost, `starts` reads where it starts, `regulation` has the function that finds
motions of least cost. `results` has what both return, `weights` checks the weights of both.
"""

from .._util.lazy_names import lazy_names

__all__, _, __getattr__ = lazy_names(__name__, __file__)
