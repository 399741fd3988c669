"""Docstrings that refer to another function show its parameters and errors on the pages of the reference."""

import importlib
import inspect
import re
from operator import attrgetter
from pathlib import Path

import pytest
from helpers.reference import LISTED

import treefactor
from treefactor import se3

DOCS = Path(__file__).parents[1] / "docs"
LEFT = re.compile(r"\b[Aa]s (?:for|in|of) `(?!`)|\bAs (?:for|of) |\bas (?:for|of) the class")


@pytest.fixture
def docstrings(monkeypatch):
    """Return the module that writes out docstrings."""
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("docstrings")


def modules():
    """Yield treefactor and the modules of the reference; adapters only with their engines."""
    yield treefactor
    owners = (name.rpartition(".")[0] for name in LISTED if "." in name)
    for name in dict.fromkeys([*LISTED, *owners]):
        try:
            documented = attrgetter(name)(treefactor)
        except AttributeError:
            try:
                documented = importlib.import_module(f"treefactor.{name}")
            except treefactor.AdapterError:
                continue
        if inspect.ismodule(documented):
            yield documented


def public_objects():
    """Yield names, functions, classes and methods of the reference."""
    for module in modules():
        for name in getattr(module, "__all__", vars(module)):
            documented = getattr(module, name)
            if name[0] == "_" or not getattr(documented, "__module__", "").startswith("treefactor"):
                continue
            if inspect.isclass(documented):
                for key in dir(documented):
                    method = inspect.getattr_static(documented, key)
                    method = getattr(method, "__func__", getattr(method, "fget", method))
                    ours = str(getattr(method, "__module__", "")).startswith("treefactor")
                    if key[0] != "_" and ours and not inspect.isclass(method):
                        yield f"{name}.{key}", method
            if callable(documented):
                yield f"{module.__name__}.{name}", documented


def expanded(docstrings, documented):
    return docstrings.sections(docstrings.expand(inspect.getdoc(documented).splitlines(), documented))


def test_no_reference_is_left_in_parameters_and_errors(docstrings):
    written = 0
    for name, documented in public_objects():
        if not documented.__doc__:
            continue
        parts = expanded(docstrings, documented)
        left = [line for title in docstrings.LISTS for line in parts.get(title, ()) if LEFT.search(line)]
        assert not left, name
        written += any(map(docstrings.REFERENCE.match, map(str.strip, documented.__doc__.splitlines())))
    assert written > 30


def test_every_parameter_has_one_entry(docstrings):
    for name, documented in public_objects():
        if not inspect.isroutine(documented) or "Parameters" not in expanded(docstrings, documented):
            continue
        heads = docstrings.entries_of(expanded(docstrings, documented)["Parameters"])
        names = [one for head, _ in heads for one in docstrings.names_of(head)]
        assert len(names) == len(set(names)), name
        assert set(names) <= set(inspect.signature(documented).parameters), name


def test_text_types_and_shapes_of_references(docstrings):
    parts = expanded(docstrings, treefactor.constraints.forward_dynamics)  # as for forward_dynamics
    entries = {head: " ".join(text) for head, text in docstrings.entries_of(parts["Parameters"])}
    assert "Leading axes are a batch" in entries["q : array_like, shape (..., nq)"]
    assert "without its first entry" in entries["fext : array_like, shape (..., njoints, 6), optional"]
    parts = expanded(docstrings, treefactor.forward_dynamics)
    errors = dict(docstrings.entries_of(parts["Raises"]))
    assert errors["NotPositiveDefiniteError"][0].startswith("If a freedom moves no mass")


def test_errors_are_those_of_the_list(docstrings):
    parts = expanded(docstrings, treefactor.frame_velocity)
    errors = {head: " ".join(text) for head, text in docstrings.entries_of(parts["Raises"])}
    assert errors["DtypeError"].startswith("If a frame is given by a number other than -1")
    assert errors["ValueError"] == "If the reference is unknown."
    assert docstrings.entries_of(expanded(docstrings, se3.log)["Raises"])


def test_an_own_type_is_kept_and_further_text_follows(docstrings):
    parts = expanded(docstrings, treefactor.operational_space)
    entries = dict(docstrings.entries_of(parts["Parameters"]))
    text = entries["frame : str, Frame, -1 for the base, or list of them"]
    assert text[0].startswith("A frame, joint or body by name")
    assert text[-1].startswith("k frames are one task")


def test_names_that_the_other_function_lacks_are_an_error(docstrings):
    wrong = ["Do.", "", "Parameters", "----------", "model, speed", "    As for `rnea`."]
    with pytest.raises(LookupError, match="Parameters of rnea do not list speed"):
        docstrings.expand(wrong, treefactor.aba)
    with pytest.raises(LookupError, match="refers to 'rneo'"):
        docstrings.expand([line.replace("rnea", "rneo") for line in wrong], treefactor.aba)


def test_other_docstrings_stay_as_they_are(docstrings):
    for documented in (treefactor.rnea, treefactor.frame_placement, treefactor.Kinematics, treefactor.Tree):
        lines = inspect.getdoc(documented).splitlines()
        assert [line for line in docstrings.expand(lines, documented) if line] == [
            line for line in lines if line
        ]
