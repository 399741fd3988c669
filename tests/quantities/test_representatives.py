"""The fast suite runs every generic check for every quantity and every option."""

import pytest
import test_declarations
import test_declared_calls
import test_declared_options
from helpers.sweeps import is_fast

CHECKS = {
    name: test
    for module in (test_declarations, test_declared_calls, test_declared_options)
    for name, test in vars(module).items()
    if name.startswith("test_")
}


def cases_of(test):
    """Return the parameters `case` of a test."""
    given = [
        {"argnames": mark.args[0], "argvalues": mark.args[-1], **mark.kwargs}
        for mark in getattr(test, "pytestmark", ())
        if mark.name == "parametrize"
    ]
    return [one for mark in given if mark["argnames"] == "case" for one in mark["argvalues"]]


@pytest.mark.parametrize("name", [name for name, test in CHECKS.items() if cases_of(test)])
def test_fast_cases_have_every_quantity_and_option(name):
    """Those that support mimic joints are called with them, too."""
    chosen, everything = set(), set()
    for one in cases_of(CHECKS[name]):
        (case,) = getattr(one, "values", (one,))
        frames = {option.name for option in case.quantity.options if option.kind == "frame"}
        options = {name: x for name, x in case.options.items() if name not in frames}
        key = case.quantity.key, str(options)
        everything.add(key)
        follows = case.model is not None and case.model.coupling is not None and case.is_plain
        if follows:
            everything.add((*key, "followers"))
        if is_fast(one):
            chosen.add(key)
            chosen |= {(*key, "followers")} if follows else set()
    assert chosen == everything
