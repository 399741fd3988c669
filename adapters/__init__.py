"""Adapt dynamics engines: one module for each, which imports its engine first.

`treefactor` itself never imports an engine; import the adapter you need::

    from treefactor.adapters import pinocchio_

`Base`, `EngineJoint` and `requires` are for modules of engines that are compared, your own included.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..exceptions import AdapterError

if TYPE_CHECKING:
    from .._util.protocol import Base as Base
    from .._util.protocol import EngineJoint as EngineJoint

__all__ = ["Base", "EngineJoint", "missing_engine", "requires"]


def __getattr__(name: str) -> Any:
    """Import what only modules of engines that are compared need."""
    if name not in ("Base", "EngineJoint"):
        raise AttributeError(f"{__name__} has no attribute {name!r}")
    from .._util import protocol

    return getattr(protocol, name)


def missing_engine(engine: str, extra: str, error: ImportError) -> AdapterError:
    """Return the error that names the extra to install for an engine that cannot be imported."""
    return AdapterError(
        f"{engine} cannot be imported ({error}): pip install 'treefactor[{extra}]'", engine=extra
    )


@contextmanager
def requires(engine: str, extra: str) -> Iterator[None]:
    """Turn ImportError inside the block into AdapterError that names the extra to install.

    Deprecation warnings of the engine's own modules are ignored: as errors, iDynTree's would end the process.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    except ImportError as error:
        raise missing_engine(engine, extra, error) from None
