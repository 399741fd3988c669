"""Branch-sparse linear algebra and dynamics of kinematic trees.

Names and subpackages are imported when they are first used. `__init__.pyi` lists them, each with its module.
"""

from ._util.lazy_names import lazy_names

__all__, _MODULES, __getattr__ = lazy_names(
    __name__, __file__, searched=("codegen", "constraints", "identification", "mlcp")
)


def __dir__() -> list[str]:
    """Return the names for completion and `help`: those of `__all__`."""
    return __all__.copy()
