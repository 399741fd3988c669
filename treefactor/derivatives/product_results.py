"""Types of products with derivatives of inverse and forward dynamics."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any, NamedTuple

import numpy as np


class RneaGradients(tuple[np.ndarray, ...]):
    """Gradients of w . tau; a named tuple with the fields that were requested."""

    __slots__ = ()
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    fext: np.ndarray
    inertia: np.ndarray
    value: np.ndarray


class ForwardDynamicsGradients(tuple[np.ndarray, ...]):
    """Gradients of w . a; a named tuple with the fields that were requested."""

    __slots__ = ()
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    fext: np.ndarray
    inertia: np.ndarray
    value: np.ndarray


class RneaJvpWithValue(NamedTuple):
    """Derivative dtau of inverse dynamics along directions, and its value tau."""

    dtau: np.ndarray
    tau: np.ndarray


class ForwardDynamicsJvpWithValue(NamedTuple):
    """Derivative da of forward dynamics along directions, and its value a."""

    da: np.ndarray
    a: np.ndarray


@cache
def gradients_with(base: type, fields: tuple[str, ...]) -> type:
    """Return the named tuple class of a kind of gradients with these fields; its objects can be pickled."""
    named: Any = namedtuple(base.__name__, fields)
    methods = {"__slots__": (), "__reduce__": lambda self: (make_gradients, (base, fields, tuple(self)))}
    return type(base.__name__, (named, base), methods)


def make_gradients(base: type, fields: tuple[str, ...], results: tuple[np.ndarray, ...]) -> Any:
    """Return gradients with these fields."""
    return gradients_with(base, fields)(*results)
