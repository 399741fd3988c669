"""Passes for printers."""

import numpy as np
import pytest
from codegen_models import model

<<<<<<< HEAD
from treefactor import OperationCount
from treefactor.codegen import Function, generate, passes
from treefactor.codegen.expressions import CONST, INPUT, Table, sincos
from treefactor.codegen.numpy_ import evaluate

MACHINE = {
    "ADD": lambda a, b, c: a + b,
    "SUB": lambda a, b, c: a - b,
    "MUL": lambda a, b, c: a * b,
    "RECIP": lambda a, b, c: 1.0 / a,
    "SIN": lambda a, b, c: np.sin(a),
    "COS": lambda a, b, c: np.cos(a),
    "MULADD": lambda a, b, c: a * b + c,
    "MULSUB": lambda a, b, c: a * b - c,
    "SUBMUL": lambda a, b, c: c - a * b,
}


def run(code, arguments, slot, count):
    """Results of instructions on a machine with that many slots."""
    slots = np.full(count, np.nan)
    for row, op in enumerate(code.op):
        a, b, c = code.operands[row]
        if op == CONST:
            slots[slot[row]] = code.value[row]
        elif op == INPUT:
            slots[slot[row]] = arguments[a][b]
        else:
            slots[slot[row]] = MACHINE[passes.FUSED[op]](slots[slot[a]], slots[slot[b]], slots[slot[c]])
    return code.sign * slots[slot[code.output]]
=======
from treefactor.codegen import generate, passes
from treefactor.codegen.expressions import INPUT
>>>>>>> 23e6d8d57e0de26ec66970e700c19f3fc47797c2


@pytest.fixture(scope="module")
def function():
    return generate(model("solo12"), "aba").functions["aba"]


<<<<<<< HEAD
def test_instructions_compute_what_the_rows_do(function):
    arguments = [x[0] for x in states(model("solo12"), 1)]
    code = passes.schedule(passes.fuse(function))
    slot, count = passes.allocate(code)
    assert np.allclose(
        run(code, arguments, slot, count), evaluate(function, *arguments), rtol=1e-10, atol=1e-9
    )
    assert count < code.op.size / 4


def written(result, table):
    """Function of four inputs that computes scalars of a table."""
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


def test_fusing_loses_no_operation(function):
    code = passes.fuse(function)
    fused = int(np.count_nonzero(code.op >= passes.MULADD))
    assert code.op.size + fused == function.rows
    assert fused > 0.3 * function.operations.mul


def test_schedule_makes_longer_runs_in_dependency_order(function):
    code = passes.fuse(function)
    scheduled = passes.schedule(code)

    def runs(op):
        return 1 + int(np.count_nonzero(np.diff(op)))

    assert runs(scheduled.op) < runs(code.op) / 4
    assert sorted(scheduled.op) == sorted(code.op)
    is_row = np.arange(3) < passes.operand_count(scheduled.op)[:, None]
    assert (np.where(is_row, scheduled.operands, -1) < np.arange(scheduled.op.size)[:, None]).all()


=======
>>>>>>> 23e6d8d57e0de26ec66970e700c19f3fc47797c2
def test_a_printer_inlines_what_is_used_once(function):
    once = passes.inlined(function)
    used = np.concatenate([function.a[function.op > INPUT], function.b[function.op > INPUT], function.output])
    uses = np.bincount(used, minlength=function.rows)
    assert (uses[once] == 1).all()
    assert not once[function.output].any()
    assert once.sum() > 0.3 * function.rows
