"""Parameters of tests of which a few run in the fast suite and all in the slow one, and cases of one test."""

import inspect
from functools import wraps

import pytest
from hypothesis import settings

THOROUGH = 60  # examples of a property in the profile of that name


def sweep(values, fast, ids=None):
    """Return parameters of a test, those that are not fast marked slow.

    The fast ones are chosen by what they are, never at random: so that every kind of case occurs in them.

    Parameters
    ----------
    values : iterable
        Values of one parameter, or tuples with those of several.
    fast : callable
        Return whether the fast suite runs a value.
    ids : iterable of str, optional
        Names of the values.
    """
    values = list(values)
    ids = list(ids) if ids is not None else [None] * len(values)
    return [
        pytest.param(
            *(value if type(value) is tuple else (value,)),
            id=name,
            marks=() if fast(value) else pytest.mark.slow,
        )
        for value, name in zip(values, ids, strict=True)
    ]


def in_turn(argument, groups):
    """Return a decorator: one test for every group of cases, with which it is called one after the other.

    A test that takes a millisecond takes as long to collect and to report. What a case raises is the cause of
    an error that names the case.

    Parameters
    ----------
    argument : str
        Argument of the test that takes a case.
    groups : iterable
        Parameters of pytest, each a dictionary from the names of cases to these.
    """

    def decorate(test):
        @wraps(test)
        def of_a_group(cases, **others):
            for name, case in cases.items():
                try:
                    test(**{argument: case}, **others)
                except Exception as error:
                    raise AssertionError(f"{test.__name__} fails for {name}") from error

        given = inspect.signature(test).parameters.values()
        of_a_group.__signature__ = inspect.Signature(
            [one.replace(name="cases") if one.name == argument else one for one in given]
        )
        return pytest.mark.parametrize("cases", groups)(of_a_group)

    return decorate


def is_fast(parameter):
    """Return whether the fast suite runs a parameter."""
    return not any(mark.name == "slow" for mark in getattr(parameter, "marks", ()))


def examples(thorough):
    """Return the number of Hypothesis' examples, of which the fast suite tries a share.

    The profile `thorough` tries them all, `make test-slow` repeats every property with it.
    """
    return max(2, round(thorough * settings().max_examples / THOROUGH))
