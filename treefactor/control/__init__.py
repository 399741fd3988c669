"""Tasks people use a model for: inverse kinematics, motions of least cost, and control by sampling.

`tasks` has what a configuration shall do, `inverse` the function and the class that search for it. `costs`
has what a motion shall cost, `starts` reads where it starts, `regulation` has the function that finds
motions of least cost. `sampling` has the controller that averages random motions, `splines` its
interpolation, `samples` what it returns. `results` has what the functions return, `weights` checks the
weights of tasks and costs.
"""

from .._util.lazy_names import lazy_names

__all__, _, __getattr__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    """Return the names for completion and `help`: those of `__all__`."""
    return __all__.copy()
