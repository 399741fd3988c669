"""Check derivatives of straight-line functions by their statements: forward, in reverse, of any function."""

import numpy as np
import pytest
from helpers.codegen_models import branched_loop, coupled_loops, model
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import Function, directional, generate, gradient
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.program import passes
from treefactor.codegen.program.expressions import (
    OPERATIONS,
    RECIP,
    Table,
    arctangent,
    is_binary,
    reciprocal,
    root,
    sincos,
)

STEP = 1e-30
EXACT = 1e-12
SIZES = (3, 2)  # of the arguments of random functions


def function_of(result, table, sizes):
    """Return the function of scalars of a table."""
    columns = passes.extract(table, result, range(len(sizes)))
    inputs = tuple((f"x{k}", size) for k, size in enumerate(sizes))
    return Function("mine", inputs, *columns, (len(result),))


def turned(y, x):
    """Return atan2(y, x) of complex numbers with small imaginary parts."""
    y, x = complex(y), complex(x)
    return np.arctan2(y.real, x.real) + 1j * (y.imag * x.real - x.imag * y.real) / (x.real**2 + y.real**2)


APPLY = {
    "ADD": lambda x, y: x + y,
    "SUB": lambda x, y: x - y,
    "MUL": lambda x, y: x * y,
    "RECIP": lambda x, _: 1.0 / x,
    "SIN": lambda x, _: np.sin(x),
    "COS": lambda x, _: np.cos(x),
    "SQRT": lambda x, _: np.sqrt(x),
    "ATAN2": turned,
}


def complex_rows(function, arguments):
    """Return the result of a function for complex arguments."""
    values = function.value.astype(complex)
    for row, op in enumerate(function.op):
        a, b = function.a[row], function.b[row]
        if OPERATIONS[op] == "INPUT":
            values[row] = arguments[a][b]
        elif OPERATIONS[op] != "CONST":
            values[row] = APPLY[OPERATIONS[op]](values[a], values[b] if is_binary(op) else 0.0)
    return function.sign * values[function.output]


@st.composite
def functions(draw):
    """Return a random function that is finite for arguments from 0.5 to 1.5."""
    table = Table()
    known = [table.input(k, e) for k, size in enumerate(SIZES) for e in range(size)]
    for _ in range(draw(st.integers(1, 12))):
        x, y = (known[draw(st.integers(0, len(known) - 1))] for _ in range(2))
        number = draw(st.sampled_from([-2.0, 0.5, 3.0]))
        square = x * x + 1.0 if hasattr(x, "table") else 2.0
        known.append(
            draw(
                st.sampled_from(
                    [
                        x + y * number,
                        x - y,
                        sincos(x)[0] * y,
                        sincos(x + number)[1],
                        1.0 / square,
                        reciprocal(square, 0),
                        root(square, 0),
                        arctangent(y, square),
                        number,
                    ]
                )
            )
        )
    return function_of(known[-3:], table, SIZES)


@given(functions(), st.integers(0, 2**32 - 1))
def test_any_function_is_differentiated_both_ways(function, seed):
    rng = np.random.default_rng(seed)
    x = [rng.uniform(0.5, 1.5, size) for size in SIZES]
    dx = [rng.normal(size=size) for size in SIZES]
    w = rng.normal(size=3)
    moved = [a + 1j * STEP * da for a, da in zip(x, dx, strict=True)]
    expected = complex_rows(function, moved).imag / STEP
    change = evaluate(directional(function), *x, *dx)
    slope = evaluate(gradient(function), *x, w)
    scale = np.abs(change).max() + np.abs(slope).max() + np.abs(w) @ np.abs(change) + 1.0
    np.testing.assert_allclose(change, expected, rtol=0, atol=EXACT * scale)
    np.testing.assert_allclose(slope @ np.concatenate(dx), w @ expected, rtol=0, atol=EXACT * scale)


def test_a_function_of_my_own():
    table = Table()
    x, y, z = (table.input(0, k) for k in range(3))
    function = function_of([x * sincos(y)[0] / (z * z), arctangent(x, z)], table, [3])
    at, w = np.array([0.3, 0.7, 1.9]), np.array([2.0, -1.0])
    (x, y, z), square = at, at[0] ** 2 + at[2] ** 2
    J = [
        [np.sin(y) / z**2, x * np.cos(y) / z**2, -2.0 * x * np.sin(y) / z**3],
        [z / square, 0.0, -x / square],
    ]
    np.testing.assert_allclose(evaluate(gradient(function), at, w), w @ J, rtol=1e-15)
    np.testing.assert_allclose(
        evaluate(directional(function), at, [1.0, 2.0, 3.0]), J @ np.array([1.0, 2, 3])
    )
    assert evaluate(gradient(function), np.tile(at, (5, 1)), w).shape == (5, 3)


@pytest.mark.parametrize("name", ["loops", "loop_velocity", "position_closure"])
def test_functions_that_close_loops(name):
    """Against central differences; the gradient is exactly the transpose of the derivative."""
    robot, q = branched_loop("revolute", 2)
    if name == "position_closure":
        robot, q = four_bar()
    function = generate(robot, [name], variants="both").functions[name]
    rng = np.random.default_rng(1)
    x = [q, *rng.normal(size=(len(function.inputs) - 1, robot.nv))]
    dx, w = [rng.normal(size=part.shape) for part in x], rng.normal(size=function.output.size)
    h = 1e-6
    ahead, behind = (
        evaluate(function, *(a + s * h * da for a, da in zip(x, dx, strict=True))) for s in (1, -1)
    )
    change, slope = evaluate(directional(function), *x, *dx), evaluate(gradient(function), *x, w)
    scale = np.abs(change).max()
    np.testing.assert_allclose(change, (ahead - behind) / (2 * h), rtol=0, atol=1e-7 * scale)
    bound = EXACT * np.abs(slope) @ np.abs(np.concatenate(dx))
    assert abs(w @ change - slope @ np.concatenate(dx)) <= bound


def four_bar():
    """Return a closed four-bar linkage."""
    rod = tf.Inertia(1.0, [0.5, 0, 0], np.diag([0.01, 0.1, 0.1]))
    crank = tf.Joint("crank", "revolute", axis=[0, 0, 1], inertia=rod)
    coupler = tf.Joint("coupler", "revolute", 0, p=[1.0, 0, 0], axis=[0, 0, 1], inertia=rod)
    rocker = tf.Joint("rocker", "revolute", p=[2.5, 0, 0], axis=[0, 0, 1], inertia=rod)
    pin = tf.Loop("pin", "revolute", 1, 2, p1=[2.0, 0, 0], p2=[1.5, 0, 0])
    tree = tf.Model([crank, coupler, rocker], loops=[pin])
    q = np.array([1.0, -0.5, 1.5])
    return tree, tf.constraints.close(tree, q)


def test_coupled_loops_with_a_follower_are_differentiated():
    robot, q = coupled_loops()
    function = generate(robot, ["loops"], variants="plain").functions["loops"]
    rng = np.random.default_rng(2)
    v, tau, w, dv, dtau = rng.normal(size=(5, robot.nv))
    still = np.zeros(robot.nq)
    dqdd = evaluate(directional(function), q, v, tau, still, dv, dtau)
    slope = evaluate(gradient(function), q, v, tau, w)[robot.nq :]
    change = np.concatenate([dv, dtau])
    assert abs(w @ dqdd - slope @ change) <= 1e-10 * np.abs(slope) @ np.abs(change)


def test_guards_are_not_differentiated_and_pivots_keep_their_freedoms():
    """The reciprocals of pivots stay guarded: NaN for a bad pivot, and only there."""
    robot = model("ur5")
    function = generate(robot, ["minv"]).functions["minv"]
    derived = gradient(function)
    freedoms = {abs(b) for b in function.b[function.op == RECIP]}
    assert {abs(b) for b in derived.b[derived.op == RECIP]} == freedoms
    table = Table()
    x = table.input(0, 0)
    mine = gradient(function_of([reciprocal(x, 4)], table, [1]))
    slopes = evaluate(mine, [[2.0], [-1.0], [0.0], [4.0]], [1.0])
    assert np.isfinite(slopes[:, 0]).tolist() == [True, False, False, True]
    np.testing.assert_array_equal(slopes[[0, 3], 0], [-0.25, -0.0625])


def test_a_function_that_does_not_depend_on_an_argument():
    table = Table()
    function = function_of([table.input(0, 0) * 2.0, 3.0], table, [2, 1])
    np.testing.assert_array_equal(evaluate(gradient(function), [1.0, 2.0], [5.0], [1.0, 7.0]), [2.0, 0, 0])
    np.testing.assert_array_equal(
        evaluate(directional(function), [1.0, 2], [5.0], [4.0, 1.0], [9.0]), [8.0, 0.0]
    )


def test_functions_whose_result_is_a_number():
    ball = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(2.0))])
    energy = generate(ball, ["kinetic_energy"]).functions["kinetic_energy"]
    np.testing.assert_allclose(energy.evaluate([0.0], [3.0]), 9.0, rtol=EXACT)
    np.testing.assert_allclose(directional(energy).evaluate([0.0], [3.0], [1.0], [0.5]), 3.0, rtol=EXACT)
    np.testing.assert_allclose(gradient(energy).evaluate([0.0], [3.0], [1.0]), [0.0, 6.0], rtol=EXACT)
    assert energy.evaluate(np.zeros((4, 1)), [3.0]).shape == (4,)


def test_what_is_not_a_function_is_refused():
    for made in (gradient, directional):
        with pytest.raises(TypeError, match="function must be a Function, such as"):
            made(generate(model("dpend"), ["rnea"]))
