"""Compute dynamics and rollouts of a model: CRBA, RNEA, ABA, forward dynamics; inertia matrices of chains."""

from .._util.lazy_names import lazy_names
from ..quantities.table import section
from . import bodies  # noqa: F401  # registers the compiler behind Model.bodies

__all__, _, __getattr__ = lazy_names(__name__, __file__, [one.name for one in section("Dynamics")])


def __dir__() -> list[str]:
    """Return the names for completion and `help`: those of `__all__`."""
    return __all__.copy()
