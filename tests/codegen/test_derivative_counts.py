"""Hold the operation counts of derivatives in programs, exactly and below those of other ways."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.codegen_models import model
from helpers.sweeps import sweep

from treefactor.codegen import generate
from treefactor.codegen.program import passes
from treefactor.codegen.program.names import DERIVATIVES
from treefactor.codegen.program.program import operation_count

LARGE = pytest.param("talos32", marks=pytest.mark.slow)
COUNTED = (
    *(f"rnea_{x}" for x in ("derivatives", "jvp", "vjp", "hvp")),
    *(f"forward_dynamics_{x}" for x in ("derivatives", "jvp", "vjp")),
)
COUNTS = {  # all operations of these
    "ur5": (1192, 695, 678, 1763, 2264, 1125, 1105),
    "panda9": (3465, 1560, 1543, 3872, 6593, 2856, 2808),
    "solo12": (5180, 2737, 2699, 6794, 18960, 5271, 5117),
    "talos32": (23229, 8699, 8621, 21775, 94107, 17348, 16795),
}
PROTOTYPES = {  # derivatives by q and v, all of forward dynamics, and gradients of it, on the same scalars
    "ur5": (1076, 2278, 1105),
    "panda9": (3596, 6841, 2841),
    "solo12": (5446, 19810, 5460),
    "talos32": (23915, 110313, 19395),
}
CASADI = {
    "ur5": (4273, 5727),
    "panda9": (13752, 18507),
    "solo12": (18942, 36425),
}  # with common subexpressions
PER_RNEA = {"rnea_vjp": 2.45, "rnea_jvp": 2.5, "rnea_hvp": 6.3}


@cache
def program(name):
    """Return the program of all derivatives and of what they derive from."""
    return generate(model(name), ["rnea", "forward_dynamics", *DERIVATIVES])


def by_q_and_v(name):
    """Return the operations of the derivatives of inverse dynamics without H."""
    function = program(name).functions["rnea_derivatives"]
    size = function.output.size - model(name).tree.nnz
    part = replace(function, output=function.output[:size], sign=function.sign[:size], shape=(size,))
    return operation_count(function.op[np.flatnonzero(passes.uses(part))]).total


@pytest.mark.parametrize("name", sweep(["ur5", "panda9", "solo12", "talos32"], "panda9".__eq__))
def test_exact_counts(name):
    counts = program(name).operations
    assert set(COUNTED) == set(DERIVATIVES)
    assert tuple(counts[x].total for x in COUNTED) == COUNTS[name]


@pytest.mark.parametrize("name", ["ur5", "panda9", "solo12", LARGE])
def test_products_cost_a_few_times_the_function(name):
    counts = {function: count.total for function, count in program(name).operations.items()}
    for function, most in PER_RNEA.items():
        assert counts[function] <= most * counts["rnea"]
    assert counts["forward_dynamics_vjp"] <= 2.27 * counts["forward_dynamics"]
    totals = by_q_and_v(name), counts["forward_dynamics_derivatives"], counts["forward_dynamics_vjp"]
    assert all(own <= theirs for own, theirs in zip(totals, PROTOTYPES[name], strict=True))


@pytest.mark.parametrize("name", CASADI)
def test_matrices_take_a_quarter_to_a_half_of_casadi(name):
    """Jacobians of CasADi's own recursions, operations without sines and cosines."""
    counts = program(name).operations
    inverse, forward = (counts[f"{x}_derivatives"] for x in ("rnea", "forward_dynamics"))
    assert inverse.total - inverse.trig <= 0.28 * CASADI[name][0]
    assert forward.total - forward.trig <= 0.53 * CASADI[name][1]
