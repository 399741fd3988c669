"""Passes from rows to instructions: a machine with slots and multiply-adds computes what the rows say."""

import numpy as np
import pytest
from codegen_models import model, states

from treefactor.codegen import generate, passes
from treefactor.codegen.expressions import CONST, INPUT
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


@pytest.fixture(scope="module")
def function():
    return generate(model("solo12"), "aba").functions["aba"]


def test_instructions_compute_what_the_rows_do(function):
    arguments = [x[0] for x in states(model("solo12"), 1)]
    code = passes.schedule(passes.fuse(function))
    slot, count = passes.allocate(code)
    assert np.allclose(
        run(code, arguments, slot, count), evaluate(function, *arguments), rtol=1e-10, atol=1e-9
    )
    assert count < code.op.size / 4


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


def test_a_printer_inlines_what_is_used_once(function):
    once = passes.inlined(function)
    used = np.concatenate([function.a[function.op > INPUT], function.b[function.op > INPUT], function.output])
    uses = np.bincount(used, minlength=function.rows)
    assert (uses[once] == 1).all()
    assert not once[function.output].any()
    assert once.sum() > 0.3 * function.rows
