"""What declarations name exists, and what follows from them is what they say."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest
from helpers.declared import each_case
from helpers.reachable import REACHABLE
from helpers.undeclared import UNDECLARED

import treefactor as tf
from treefactor import se3, so3
from treefactor._functions.general_path import imported
from treefactor.quantities import functions
from treefactor.quantities.functions import ENTRIES, QUANTITIES
from treefactor.quantities.places import places
from treefactor.quantities.stubs import api_page, files, public_names
from treefactor.quantities.table import section


def is_compared(quantity):
    """Return whether the oracle has the arguments and the result of the quantity; others have own tests."""
    name = "forward_dynamics" if quantity.name == "aba" else quantity.name
    return quantity.oracle == f"oracles.dynamics:{name}"


every_quantity = pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)
CONDITION = 1e-13  # of accelerations, times the condition number of H


@every_quantity
def test_the_compiled_class_and_the_oracle_exist(quantity):
    assert callable(imported(quantity.kernel))
    if quantity.oracle:
        module, _, name = quantity.oracle.partition(":")
        assert callable(getattr(importlib.import_module(module), name))


@every_quantity
def test_signatures_and_docstrings_follow_from_the_declaration(quantity):
    function = ENTRIES[quantity.key].function
    signature = inspect.signature(function)
    assert list(signature.parameters) == list(quantity.arguments)
    for name, parameter in signature.parameters.items():
        expected = quantity.arguments[name]
        expected = list(expected) if isinstance(expected, tuple) else expected  # as text signatures write it
        assert parameter.default == (inspect.Parameter.empty if expected is ... else expected)
    text = inspect.getdoc(function)
    assert text.startswith(quantity.summary)
    for title in ("Parameters", "Returns", "Raises"):
        assert f"\n{title}\n{'-' * len(title)}\n" in text
    for name in quantity.arguments:
        assert f"\n{name} : " in text, name
    assert function.__name__ == quantity.name
    assert function.__module__ == quantity.module


@every_quantity
def test_derivatives_name_declared_functions(quantity):
    if quantity.derivative:
        for name in filter(None, quantity.derivative[:4]):
            assert hasattr(tf, name), name
        assert quantity.derivative.acceleration in ("", *(one.name for one in quantity.inputs))
        assert set(quantity.derivative.options) <= {one.name for one in quantity.options}
        assert callable(imported(quantity.derivative.rule))


@each_case(select=lambda case: is_compared(case.quantity) and case.layout == "dense" and case.model.nv)
@pytest.mark.parametrize("optional", [True, False])
def test_the_oracle_computes_the_same(case, optional):
    module, _, name = case.quantity.oracle.partition(":")
    oracle = getattr(importlib.import_module(module), name)
    for seed in range(3):
        arrays = case.arguments(seed, optional=optional)
        own, expected = np.asarray(case.call(arrays)), np.asarray(oracle(case.model, **arrays))
        scale = max(1.0, np.abs(expected).max())
        bound = 1e-12 if not case.quantity.fails else 1e-12 + CONDITION * condition(case, arrays)
        assert np.abs(own - expected).max() <= bound * scale


def condition(case, arrays):
    """Return the condition number of H."""
    return np.linalg.cond(tf.crba(case.model, arrays["q"]))


@each_case(select=lambda case: case.layout == "dense")
def test_results_have_the_shapes_of_the_declaration(case):
    results = [
        result
        for result in case.quantity.results
        if not result.when or result.when in case.names or case.options.get(result.when)
    ]
    for size in ((), (1,), (3,)):
        arrays = case.parts(case.call(case.arguments(33, size)))
        assert len(arrays) == (1 if case.options.get("argument") is not None else len(results))
        for result, own in zip(results, arrays, strict=False):
            axes = [axis for axis in result.shape if axis != "frames"]
            known = {"nq", "nv", "njoints", "T + 1", *case.options}
            if {axis for axis in axes if isinstance(axis, str)} <= known:
                assert own.shape == (*size, *map(case.length, axes))


def test_entries_are_those_of_the_table():
    assert [entry.quantity for entry in ENTRIES.values()] == list(QUANTITIES.values())
    assert sorted(entry.number for entry in ENTRIES.values()) == list(range(len(ENTRIES)))


def test_what_is_generated_is_that_of_the_table():
    """`make generate` writes it."""
    for path, text in files().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_generated_lists_follow_the_table():
    package = Path(functions.__file__).parents[1] / "__init__.pyi"
    text = package.read_text(encoding="utf-8")
    line = "from .quantities.functions import rnea as rnea\n"
    assert line in text
    assert public_names(text.replace(line, "")) == text
    dynamics = [one.name for one in section("Dynamics")]
    page = f"## Dynamics\n\n   {dynamics[0]}\n   bind\n   {dynamics[1]}\n\n## Trees\n\n   Tree\n"
    assert api_page(page).split() == ["##", "Dynamics", *dynamics, "bind", "##", "Trees", "Tree"]


def test_places_are_files_and_lines():
    place_of = dict(places(QUANTITIES["rnea"]))
    for what, text in [
        ("declaration", "rnea = Quantity("),
        ("compiled class", "cdef class Rnea"),
        ("kernel", "static void NAME(rnea)"),
        ("oracle", "def rnea(model, q, v, a, fext=None)"),
    ]:
        path, _, line = place_of[what].rpartition(":")
        assert Path(path).read_text(encoding="utf-8").splitlines()[int(line) - 1].startswith(text)
    for quantity in QUANTITIES.values():
        assert {"declaration", "compiled class"} <= dict(places(quantity)).keys()
        assert quantity.has_model or "kernel" in dict(places(quantity))


def test_every_public_function_of_arrays_is_called_by_generic_tests():
    """Those that have `num_threads` compute batches; objects and matrices have tests of their own."""
    apart = {"Factor", "factor", "solve", "operational_space", "damped_least_squares", "chain_inertia"}
    functions = {name for name in REACHABLE if "num_threads" in signature(getattr(tf, name))}
    functions |= {
        f"{group.__name__.partition('.')[2]}.{name}" for group in (se3, so3) for name in group.__all__
    }
    assert functions - QUANTITIES.keys() - UNDECLARED.keys() == apart
    called = {**QUANTITIES, **{name: one.quantity for name, one in UNDECLARED.items()}}
    changing = {name for name in REACHABLE if "inertias" in signature(getattr(tf, name))}
    assert changing == {name for name, one in called.items() if one.inertias} | {"stream"}


def signature(value):
    """Return the names of the arguments of a function; none of what has no signature."""
    try:
        return inspect.signature(value).parameters
    except (TypeError, ValueError):
        return ()
