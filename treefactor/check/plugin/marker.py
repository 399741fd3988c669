"""Support tests of other projects under pytest: the marker ``treefactor`` and the fixture of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from ...exceptions import AdapterError
from ..engines import ENGINES, engine_version, title
from ..loaded import LoadedRobot, load_robot
from ..project.quantity_names import quantity_named

MARKER = "treefactor"


def select(config: pytest.Config, items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the items that the options choose, and deselect the others.

    Marked tests whose engine is missing are skipped, or fail with ``--treefactor-require``; the tests of an
    engine run in one process of xdist.
    """
    engines = [title(name) for name in listed(config, "treefactor_engines") or ()]
    quantities = [_quantity(name) for name in listed(config, "treefactor_quantities") or ()]
    kept, left = [], []
    for item in items:
        marker = item.get_closest_marker(MARKER)
        about = marker.kwargs if marker else {}
        engine, quantity = about.get("engine"), about.get("quantity")
        unwanted = bool(engines and engine and title(engine) not in engines)
        unwanted |= bool(quantities and quantity and _quantity(quantity) not in quantities)
        (left if unwanted else kept).append(item)
        if engine and not unwanted and isinstance(item, pytest.Function):
            _prepare(config, item, engine)
    if left:
        config.hook.pytest_deselected(items=left)
    return kept


def listed(config: pytest.Config, option: str) -> list[str] | None:
    """Return the values of an option, also of one text with commas; None if it is not given."""
    values = config.getoption(option)
    return values and [name for value in values for name in value.split(",") if name]


def missing(name: str) -> str:
    """Return why an engine of treefactor cannot be used, with how to get it, or ""."""
    if name not in ENGINES or engine_version(name):
        return ""
    return f"{name} is not installed: {ENGINES[name].remedy}"


@contextmanager
def loader(config: pytest.Config) -> Iterator[Callable[..., LoadedRobot]]:
    """Yield the function of the fixture; what it has loaded is closed at the end."""
    with ExitStack() as stack:

        def load(engine: str, robot, floating: bool | None = None, options=()) -> LoadedRobot:
            try:
                return stack.enter_context(load_robot(engine, robot, floating, options))
            except AdapterError as error:
                if not missing(engine):
                    raise
                _absent(config, str(error))

        yield load


def _quantity(name: str) -> str:
    try:
        return quantity_named(name)
    except ValueError as error:
        raise pytest.UsageError(f"quantity must be {error}") from None


def _prepare(config: pytest.Config, item: pytest.Item, engine: str) -> None:
    """Mark a test of an engine for xdist; skip it if the engine is missing."""
    if config.pluginmanager.hasplugin("xdist"):
        item.add_marker(pytest.mark.xdist_group(title(engine)))
    reason = missing(engine)
    if reason and not config.getoption("treefactor_require"):
        item.add_marker(pytest.mark.skip(reason=reason))
    elif reason:
        item.runtest = lambda: _absent(config, reason)  # type: ignore[method-assign]


def _absent(config: pytest.Config, reason: str):
    """Skip a test whose engine is missing, or fail."""
    (pytest.fail if config.getoption("treefactor_require") else pytest.skip)(reason)
