"""Regressors, base parameters and estimates of inertial parameters.

`columns` has the names of the columns of regressors; `parameter_bases` finds the combinations that the forces
of the joints depend on, `excitation` names what measured motions do not show, and `exciting`
designs motions that show it. `identification` estimates parameters from samples, which `measurements` reads
from files and `samples` judges; `measured_fit` holds a part of them out. `physical` fits bodies that can
exist, `payload` finds what a joint carries, `gradients` changes gradients to coordinates of bodies that can
exist, `urdf` writes robots with new inertias. Pseudo-inertias and log-Cholesky coordinates
are those of `treefactor.model.parameters`.
"""

from .._util.lazy_names import lazy_names
from ..quantities.table import section

__all__, _, __getattr__ = lazy_names(__name__, __file__, [one.name for one in section("Identification")])


def __dir__() -> list[str]:
    """Return the names for completion and `help`: those of `__all__`."""
    return __all__.copy()
