"""Every public name of release 0.1 can be imported by its path in that release."""

import inspect
import json
import pickle
from importlib import import_module
from pathlib import Path

import pytest

import treefactor as tf
from treefactor import _moved

NAMES = json.loads(Path(__file__).with_name("public_names.json").read_text())
KINDS = {"class": inspect.isclass, "function": callable, "module": inspect.ismodule}


@pytest.mark.parametrize("module", NAMES)
def test_every_name_is_where_it_was(module):
    try:
        found = import_module(module)
    except tf.AdapterError as error:
        pytest.skip(f"its engine is not installed: {error}")
    for name, kind in NAMES[module].items():
        assert KINDS.get(kind, lambda _: True)(getattr(found, name)), name


@pytest.mark.parametrize("former", _moved.MOVED)
def test_a_former_path_is_the_module_itself(former):
    former, own = f"treefactor.{former}", f"treefactor.{_moved.MOVED[former]}"
    module = import_module(former)
    assert module is import_module(own)
    assert (module.__name__, module.__spec__.name) == (own, own)


def test_a_submodule_that_is_new_has_one_path():
    with pytest.raises(ModuleNotFoundError):
        import_module("treefactor.arms.nothing")
    with pytest.raises(AttributeError):
        tf.nothing  # noqa: B018


@pytest.mark.parametrize(
    "name", ["tree.Tree", "ltdl.Factor", "model.Model", "joints.Joint", "mlcp.Problem", "bound.BoundFactor"]
)
def test_pickles_that_name_a_former_path_are_read(name):
    former, _, what = name.rpartition(".")
    written = f"ctreefactor.{former}\n{what}\n.".encode()  # protocol 0: a global
    assert pickle.loads(written) is getattr(import_module(f"treefactor.{former}"), what)
