"""Adapt dynamics engines: one module for each, which imports its engine first.

`treefactor` itself never imports an engine; import the adapter you need::

    from treefactor.adapters import pinocchio_
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ..exceptions import AdapterError


def missing_engine(engine: str, extra: str, error: ImportError) -> AdapterError:
    """Return the error that names the extra to install for an engine that cannot be imported."""
    return AdapterError(
        f"{engine} cannot be imported ({error}): pip install 'treefactor[{extra}]'", engine=extra
    )


@contextmanager
def requires(engine: str, extra: str) -> Iterator[None]:
    """Turn ImportError inside the block into AdapterError that names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise missing_engine(engine, extra, error) from None
