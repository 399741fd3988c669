"""Compare instructions for random programs with NumPy, and check their slots."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.interp_cases import functions, kernels
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from treefactor.codegen import Function
from treefactor.codegen.backends._interp import Interpreter
from treefactor.codegen.backends._results import Results
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.lower._lower import ARCTANGENT, END, RECIPROCALS, ROOT, SCALED, SINCOS
from treefactor.codegen.lower.lowering import lower
from treefactor.codegen.program.expressions import ADD, ATAN2, CONST, COS, INPUT, MUL, RECIP, SIN, SQRT, SUB

pytestmark = pytest.mark.isa

SIZES = (3, 2)
LARGEST = 2.0**52  # integers up to here are exact


@st.composite
def rows_of_integers(draw):
    """Draw programs of sums and products of small integers, then other functions of these, and their sums."""
    numbers = draw(st.lists(st.integers(0, 3), max_size=3))
    entries = [(argument, entry) for argument, size in enumerate(SIZES) for entry in range(size)]
    given = draw(st.lists(st.sampled_from(entries), min_size=0 if numbers else 1, max_size=5, unique=True))
    rows = [(CONST, 0, 0, float(x)) for x in numbers] + [(INPUT, *x, 0.0) for x in given]
    for operation in draw(st.lists(st.sampled_from((ADD, SUB, MUL)), max_size=30)):
        rows.append((operation, *draw(st.tuples(*[st.integers(0, len(rows) - 1)] * 2)), 0.0))
    exact = len(rows)
    for operation in draw(st.lists(st.sampled_from((RECIP, SIN, COS, SQRT, ATAN2)), max_size=5)):
        last = len(rows) if operation in (SIN, COS) else exact
        second = draw(st.integers(0, exact - 1)) if operation == ATAN2 else 0
        rows.append((operation, draw(st.integers(0, last - 1)), second, 0.0))
    for operation in draw(st.lists(st.sampled_from((ADD, SUB)), max_size=5)):
        rows.append((operation, *draw(st.tuples(*[st.integers(0, len(rows) - 1)] * 2)), 0.0))
    output = draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=8))
    sign = draw(st.lists(st.sampled_from((-1, 1)), min_size=len(output), max_size=len(output)))
    op, a, b, value = zip(*rows, strict=True)
    return Function(
        "random",
        tuple(zip("qv", SIZES, strict=True)),
        np.array(op, np.uint8),
        np.array(a, np.int32),
        np.array(b, np.int32),
        np.array(value),
        np.array(output, np.int32),
        np.array(sign, np.int8),
        (len(output),),
    )


def interpret(function, *arguments):
    """Return results of a batch; the first ones are compared with single calls."""
    code, count = lower(function), len(arguments[0])
    units = np.empty((0, 2), np.intp)
    machine = Interpreter(SIZES, code.slots, units, False, np.dtype(float), code.constants, code.words)
    out = np.empty((count, function.output.size))
    results = Results(code.output, function.sign, function.shape)
    machine.batch(list(arguments), out, results, 0, count)
    for k in range(min(count, 3)):
        single = machine.fast_path(tuple(x[k] for x in arguments), None, results, 1)
        np.testing.assert_array_equal(single, out[k])
    return out


@settings(max_examples=200)
@given(function=rows_of_integers(), count=st.sampled_from([1, 8, 17, 70]), seed=st.integers(0, 99))
def test_random_rows_compute_what_numpy_does(function, count, seed):
    assert function.fault() is None
    rng = np.random.default_rng(seed)
    q, v = (rng.integers(-3, 4, (count, size)).astype(float) for size in SIZES)
    every = np.arange(function.rows, dtype=np.int32)
    rows = evaluate(replace(function, output=every, sign=np.ones_like(every), shape=every.shape), q, v)
    assume((np.abs(rows[np.isfinite(rows)]) < LARGEST).all())
    expected = evaluate(function, q, v)
    own = interpret(function, q, v)
    scale = np.abs(rows[np.isfinite(rows)]).max(initial=1.0)
    np.testing.assert_allclose(own, expected, rtol=0, atol=1e-14 * scale, equal_nan=True)
    if (function.op < RECIP).all():
        np.testing.assert_array_equal(own, expected)


def instructions(words):
    """Yield the slots of results, operands and broadcast constants of every instruction, in order."""
    at = 0
    while words[at] != END:
        code, times = words[at : at + 2].tolist()
        results = 2 if code == SINCOS else 1
        scaled, code = code >= SCALED, code % SCALED
        terms = [2 * (code >> 6), 2 * (code >> 4 & 3), code >> 2 & 3, code & 3]
        of_one, of_two = (SINCOS, ROOT, *RECIPROCALS), (ARCTANGENT,)
        length = results + (1 if code in of_one else 2 if code in of_two else sum(terms))
        for first in range(at + 2, at + 2 + times * length, length):
            operands = words[first + results : first + length]
            yield words[first : first + results], operands, operands[: sum(terms[:2]) : 2] if scaled else []
        at += 2 + times * length
    assert at + 2 == len(words)


def assert_in_order(function):
    """Assert that slots exist, are written before they are read, and that constants are not overwritten."""
    code, inputs = lower(function), sum(size for _, size in function.inputs)
    written = np.zeros(code.slots, bool)
    written[: inputs + code.constants.size] = True
    for results, operands, constants in instructions(code.words):
        assert written[operands].all()
        assert all(inputs < slot < inputs + code.constants.size for slot in constants)
        assert ((results < inputs) | (results >= inputs + code.constants.size)).all()
        written[results] = True
    assert written[code.output].all()
    assert (code.constants[0], code.zero) == (0.0, inputs)


@given(function=rows_of_integers())
def test_slots_of_random_rows(function):
    assert_in_order(function)


@pytest.mark.parametrize("name", ["ur5", "talos32", "all kinds"])
def test_slots_of_robots(name):
    for function in functions(name):
        assert_in_order(kernels(name).program.functions[function])


def test_products_join_sums_and_runs_are_long():
    function = kernels("talos32").program.functions["aba"]
    words = lower(function).words
    count = sum(1 for _ in instructions(words))
    assert count < 0.5 * function.operations.total
    assert (len(words) - sum(len(r) + len(o) for r, o, _ in instructions(words))) / 2 < 0.35 * count


def test_most_products_with_constants_broadcast_them():
    function = kernels("talos32").program.functions["aba"]
    operands = function.op[np.stack([function.a, function.b])[:, function.op == MUL]]
    broadcast = sum(len(constants) for *_, constants in instructions(lower(function).words))
    assert broadcast > 0.5 * (operands == CONST).any(0).sum()


@settings(max_examples=300)
@given(data=st.data())
def test_whatever_columns_hold_they_are_refused_or_run(data):
    function = kernels("dpend").program.functions["bias"]
    column = data.draw(st.sampled_from(["op", "a", "b", "value", "output", "sign"]))
    changed = getattr(function, column).copy()
    limits = (-np.inf, np.inf) if changed.dtype.kind == "f" else np.iinfo(changed.dtype)
    number = (
        st.floats() if changed.dtype.kind == "f" else st.integers(limits.min, limits.max) | st.integers(0, 40)
    )
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, changed.size - 1))] = data.draw(number)
    tampered = replace(function, **{column: changed})
    if tampered.fault() is None:
        assert_in_order(tampered)


def arctangent() -> Function:
    """Return the program of atan2(q[0], q[1])."""
    columns = {"op": [INPUT, INPUT, ATAN2], "a": [0, 0, 0], "b": [0, 1, 1]}
    op, a, b = (
        np.array(columns[name], kind)
        for name, kind in zip(columns, (np.uint8, np.int32, np.int32), strict=True)
    )
    output, sign = np.array([2], np.int32), np.ones(1, np.int8)
    return Function("random", tuple(zip("qv", SIZES, strict=True)), op, a, b, np.zeros(3), output, sign, (1,))


def test_arc_tangents_are_exact_to_the_last_digits():
    rng, function = np.random.default_rng(0), arctangent()
    q = np.zeros((40003, SIZES[0]))
    q[:, :2] = rng.normal(size=(40003, 2)) * 10.0 ** rng.integers(-150, 150, (40003, 2))
    q[:20000, :2] = rng.normal(size=(20000, 2))
    edges = np.array([(y, x) for y in (0.0, -0.0, 1.0, -1.0, 1e-310) for x in (0.0, -0.0, 1.0, -1.0, 1e-310)])
    q[: len(edges), :2] = edges
    angles = interpret(function, q, np.zeros((len(q), SIZES[1])))[:, 0]
    expected = np.arctan2(q[:, 0], q[:, 1])
    assert (np.signbit(angles) == np.signbit(expected)).all()
    np.testing.assert_allclose(angles, expected, rtol=5e-16, atol=5e-324)
