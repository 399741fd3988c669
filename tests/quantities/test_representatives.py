"""The fast suite runs every generic check for every quantity and option, and names the case that fails."""

import pytest
import test_declarations
import test_declared_calls
import test_declared_options
from helpers.sweeps import in_turn, is_fast

CHECKS = {
    name: test
    for module in (test_declarations, test_declared_calls, test_declared_options)
    for name, test in vars(module).items()
    if name.startswith("test_")
}


def cases_of(test):
    """Return the cases of a test, and whether the fast suite runs them."""
    given = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    groups = [one for mark in given if mark.args[0] == "cases" for one in mark.args[1]]
    return [(case, is_fast(group)) for group in groups for case in group.values[0].values()]


@pytest.mark.parametrize("name", [name for name, test in CHECKS.items() if cases_of(test)])
def test_fast_cases_have_every_quantity_and_option(name):
    """Those that support mimic joints are called with them, too."""
    chosen, everything = set(), set()
    for case, fast in cases_of(CHECKS[name]):
        frames = {option.name for option in case.quantity.options if option.kind == "frame"}
        options = {name: x for name, x in case.options.items() if name not in frames}
        key = case.quantity.key, str(options)
        everything.add(key)
        follows = case.model is not None and case.model.coupling is not None and case.is_plain
        if follows:
            everything.add((*key, "followers"))
        if fast:
            chosen.add(key)
            chosen |= {(*key, "followers")} if follows else set()
    assert chosen == everything


def test_a_failure_names_its_case():
    @in_turn("x", [{"one": 1, "zero": 0}])
    def test_of(x, y):
        assert y / x

    test_of({"one": 1}, y=2)
    with pytest.raises(AssertionError, match="test_of fails for zero") as raised:
        test_of({"one": 1, "zero": 0}, y=2)
    assert type(raised.value.__cause__) is ZeroDivisionError
