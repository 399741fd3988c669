"""Calls of compiled functions by their addresses, and NumPy's results for the same states."""

import ctypes

import numpy as np

from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.model import configuration

CALL = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
GUARD = 7.25  # beyond the ends of results


def states(model, count=8, seed=0):
    """Return arguments by name, of so many configurations."""
    rng = np.random.default_rng(seed)
    given = {"q": configuration.random_configuration(model, rng, size=count)}
    return given | dict(zip(("v", "a", "tau"), rng.normal(size=(3, count, model.nv)), strict=True))


def arguments(function, given):
    return [given[name] for name, _ in function.inputs]


def one(address, function, given):
    """Return results of the form for one configuration, called for each."""
    rows = [np.ascontiguousarray(x) for x in arguments(function, given)]
    out = np.full((len(rows[0]), function.output.size + 1), GUARD)
    for l in range(len(out)):
        passed = [x[l].ctypes.data for x in rows]
        CALL(address)(*passed, *[None] * (3 - len(passed)), out[l].ctypes.data)
    assert (out[:, -1] == GUARD).all()
    return out[:, :-1].reshape(-1, *function.shape)


def eight(address, function, given):
    """Return results of the form for eight configurations."""
    lanes = [np.ascontiguousarray(x.T) for x in arguments(function, given)]
    out = np.full((function.output.size + 1, 8), GUARD)
    passed = [x.ctypes.data for x in lanes]
    CALL(address)(*passed, *[None] * (3 - len(passed)), out.ctypes.data)
    assert (out[-1] == GUARD).all()
    return np.moveaxis(out[:-1], -1, 0).reshape(8, *function.shape)


def deviation(result, expected):
    return np.abs(result - expected).max() / max(np.abs(expected).max(), 1e-300)


def assert_agrees(compiled, program, model, tolerance=1e-12):
    """Compare both forms of every function with NumPy."""
    given = states(model)
    for name, function in program.functions.items():
        expected = evaluate(function, *arguments(function, given))
        for result in (
            one(compiled.one(name), function, given),
            eight(compiled.lanes(name), function, given),
        ):
            assert deviation(result, expected) <= tolerance, name
