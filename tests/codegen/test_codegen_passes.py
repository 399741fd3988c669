"""Check passes over programs: common factors of sums, and inlining."""

import numpy as np
import pytest
from helpers.codegen_models import model

from treefactor import OperationCount
from treefactor.codegen import Function, generate
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.program import passes
from treefactor.codegen.program.expressions import INPUT, MUL, Table, sincos


@pytest.fixture(scope="module")
def function():
    return generate(model("solo12"), "aba").functions["aba"]


def written(result, table):
    """Return a function of four inputs that computes scalars of a table."""
    return Function("crba", (("q", 4),), *passes.extract(table, result, [0]), (len(result),))


def test_common_factors_are_taken_out_of_sums():
    table = Table()
    x, y, z, w = (table.input(0, k) for k in range(4))
    sums = [(x * y + z) + (w - x * w), y * z - (w * y - 3.0 * y) + y * y]
    function = passes.gather(written(sums, table))
    assert function.operations == OperationCount(mul=2, add=6)
    q = np.array([0.3, -2.0, 0.7, 5.0])
    assert np.allclose(evaluate(function, q), evaluate(written(sums, table), q), rtol=1e-15)


def test_products_with_other_uses_stay():
    table = Table()
    x, y, z, _ = (table.input(0, k) for k in range(4))
    function = written([x * y + x * z, x * y], table)
    assert passes.gather(function).operations == function.operations


def test_sums_of_any_length():
    table = Table()
    x = table.input(0, 0)
    total = 0.0
    for k in range(3000):
        total = total + table.input(0, 1) * sincos(x * float(k + 2))[0]
    function = passes.gather(written([total], table))
    assert function.operations.mul == 3001


def test_a_printer_inlines_what_is_used_once(function):
    once = passes.inlined(function)
    binary = (function.op > INPUT) & (function.op <= MUL)
    used = np.concatenate([function.a[function.op > INPUT], function.b[binary], function.output])
    uses = np.bincount(used, minlength=function.rows)
    assert (uses[once] == 1).all()
    assert not once[function.output].any()
    assert once.sum() > 0.3 * function.rows
