"""Attributes of public objects, and of the objects inside them, cannot be set or deleted."""

import gc
import inspect
import types
from collections.abc import Mapping
from enum import Enum

import numpy as np
import pytest
from helpers.public_objects import (
    MODEL,
    OBJECTS,
    PROBLEM,
    TREE,
    USES,
    fresh,
    of_factor,
    of_kernels,
    of_stepper,
)
from helpers.strategies import spd_matrix

import treefactor as tf
from treefactor import kinematics
from treefactor.papers import kkt

Q = tf.neutral(MODEL)
BATCH = np.stack([spd_matrix(TREE, seed) for seed in range(3)])
MADE = {  # objects made by what is public, too
    "many factors": tf.factor(BATCH, TREE),
    "float32": tf.factor(BATCH, TREE, dtype=np.float32),
    "bind": tf.bind(tf.crba, MODEL, Q, out=np.empty((MODEL.nv, MODEL.nv))),
    "bind of kernels": OBJECTS["Kernels"].bind("crba", Q, out=np.empty((MODEL.nv, MODEL.nv))),
    "native kernels": tf.compile(OBJECTS["Program"], backend="cc"),
    "KKT": kkt.KKT(PROBLEM.tree, PROBLEM.packed, PROBLEM.D),
    "Corner": kkt.Corner(PROBLEM.tree, PROBLEM.packed, PROBLEM.D),
    "BodyMotions": kinematics.BodyMotions(MODEL, Q),
}
WORK = {"many factors": of_factor, "float32": of_factor, "native kernels": of_kernels}
WORK |= {**USES, "constraints.Stepper": of_stepper}


def is_ours(thing) -> bool:
    """Return whether an object is from this package and not a member of an enumeration."""
    return type(thing).__module__.partition(".")[0] == "treefactor" and not isinstance(thing, Enum)


def parts(thing, seen):
    """Return our objects inside one, also through private attributes and C code."""
    if id(thing) in seen or isinstance(thing, (type, types.ModuleType, types.FunctionType)):
        return
    seen[id(thing)] = thing
    inner = []
    if is_ours(thing):
        yield thing
        inner = [*getattr(thing, "__dict__", {}).values(), *gc.get_referents(thing)]
    elif isinstance(thing, Mapping):
        inner = thing.values()
    elif isinstance(thing, (tuple, list)):
        inner = thing
    for part in inner:
        yield from parts(part, seen)


def changed(thing, attribute) -> list[str]:
    """Return the ways in which an attribute can be changed, and restore it."""
    before, ways = inspect.getattr_static(thing, attribute, None), []
    own = attribute in getattr(thing, "__dict__", {})
    for way, change in (
        ("set", lambda: setattr(thing, attribute, before)),
        ("deleted", lambda: delattr(thing, attribute)),
    ):
        try:
            change()
        except (AttributeError, TypeError):
            continue
        ways.append(f"{type(thing).__name__}.{attribute} can be {way}")
        if own:
            vars(thing)[attribute] = before
    return ways


@pytest.mark.parametrize("name", [*OBJECTS, *MADE])
def test_attributes_cannot_be_set_or_deleted(name):
    thing = (OBJECTS | MADE)[name]
    work = WORK.get(name, lambda thing, k: [])
    before = work(fresh(thing) if name == "constraints.Stepper" else thing, 1)
    ways = []
    for part in parts(thing, {}):
        names = {*dir(part), *getattr(part, "__dict__", ()), "of_no_object"} - {"__doc__"}
        for attribute in sorted(names):
            ways += changed(part, attribute)
    assert ways == []
    for own, expected in zip(work(thing, 1), before, strict=True):
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("attribute", ["tree", "dtype", "batch", "kind", "_kernel", "_upper"])
def test_a_factor_with_another_attribute_would_be_of_other_sizes(attribute):
    f = tf.factor(BATCH, TREE)
    other = tf.factor(np.eye(40)[None] * np.ones((50, 1, 1)), tf.families.chain(40), dtype=np.float32)
    with pytest.raises(AttributeError, match=f"'{attribute}' of a Factor cannot be set"):
        setattr(f, attribute, getattr(other, attribute))
    np.testing.assert_allclose(f.multiply(f.solve(np.ones(TREE.n))), np.ones((3, TREE.n)), atol=1e-12)
