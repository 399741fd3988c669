"""Check the table of scalar expressions: folding, sharing, signs."""

import math

import numpy as np
import pytest
from helpers.program_tables import tables
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import generate
from treefactor.codegen.algorithms import matrices
from treefactor.codegen.program.expressions import CONST, INPUT, Scalar, Table, sincos


@pytest.fixture
def table():
    return Table()


def inputs(table, count):
    return [table.input(0, k) for k in range(count)]


def rows(table):
    """Return the number of operations."""
    op, _, _ = table.columns()
    return int(np.count_nonzero(op[1:] > INPUT))


def test_equal_expressions_are_one_row(table):
    x, y = inputs(table, 2)
    assert x * y == y * x
    assert x + y == y + x
    assert rows(table) == 2


def test_signs_need_no_statements(table):
    x, y = inputs(table, 2)
    assert x - y == -(y - x)
    assert -x - y == -(x + y)
    assert -x * y == -(x * y) == x * -y
    assert 1.0 / -x == -(1.0 / x)
    assert rows(table) == 4


def test_zeros_and_ones_fold(table):
    (x,) = inputs(table, 1)
    assert x + 0.0 == 0.0 + x == x * 1.0 == x - 0.0 == x
    assert x * -1.0 == 0.0 - x == -x
    assert x * 0.0 == x - x == 0.0
    assert rows(table) == 0


def test_numbers_gather(table):
    x, y = inputs(table, 2)
    assert 3.0 * (2.0 * x) == 6.0 * x
    assert 2.0 * x + 3.0 * x == 5.0 * x
    assert 2.0 * x - x == x
    assert x + x == 2.0 * x
    assert 0.5 * x - x * 0.5 == 0.0
    assert x * 2.0 + y != y * 2.0 + x


def test_what_is_taken_away_again_is_gone(table):
    x, y = inputs(table, 2)
    assert (x + y) - y == x
    assert (x - y) + y == x
    assert y - (y - x) == x
    assert x - (x + y) == -y


def test_quotients_share_reciprocals(table):
    x, y = inputs(table, 2)
    assert x / y == x * (1.0 / y)
    assert x / x == 1.0
    assert (-x) * (1.0 / x) == -1.0
    assert 2.0 / y == 2.0 * (1.0 / y)


def test_sine_is_odd_and_cosine_even(table):
    (x,) = inputs(table, 1)
    (s, c), (s_, c_) = sincos(x), sincos(-x)
    assert (s_, c_) == (-s, c)
    assert sincos(0.5) == (math.sin(0.5), math.cos(0.5))


def test_numbers_are_exact(table):
    (x,) = inputs(table, 1)
    near = np.nextafter(0.1, 1.0)
    assert x * 0.1 != x * near
    op, a, b = table.columns()
    halves = np.stack([a, b], axis=1)[op == CONST][1:].astype(np.int32)
    assert halves.view(float)[:, 0].tolist() == [0.1, near]


def test_a_table_grows(table):
    sums = [x + y for x, y in zip(inputs(table, 3000), inputs(table, 3001)[1:], strict=True)]
    assert len({scalar.code for scalar in sums}) == 3000
    assert all(x + y == s for x, y, s in zip(inputs(table, 3000), inputs(table, 3001)[1:], sums, strict=True))


@given(st.integers(0, 2), st.floats(-4, 4), st.booleans(), st.lists(st.floats(-2, 2), min_size=9, max_size=9))
def test_planar_rotation_of_matrices(axis, angle, quarter, entries):
    turn = matrices.AxisRotation(axis, math.cos(angle), math.sin(angle), quarter)
    R = np.stack([turn.vector(e) for e in np.eye(3)], axis=1)
    A = np.reshape(entries, (3, 3))
    assert np.allclose(R, np.array(turn.inverse.matrix(np.eye(3).tolist())) @ R, atol=1e-12)
    assert np.allclose(turn.matrix(A.tolist()), R @ A @ R.T, atol=1e-12)


@given(st.lists(st.floats(-2, 2), min_size=9, max_size=9), st.integers(0, 2**32 - 1))
def test_quaternions(entries, seed):
    A, q = np.reshape(entries, (3, 3)), np.random.default_rng(seed).normal(size=4)
    turn = matrices.Quaternion(*(q / np.linalg.norm(q)).tolist())
    R = np.array(turn.R)
    assert np.allclose(R @ turn.inverse.R, np.eye(3))
    assert np.allclose(turn.vector(A[0].tolist()), R @ A[0])
    assert np.allclose(turn.vector(list(A[0])), R @ A[0])
    assert np.allclose(turn.matrix(A.tolist()), R @ A @ R.T, atol=1e-12)
    assert np.allclose(turn.matrix((A + A.T).tolist()), R @ (A + A.T) @ R.T, atol=1e-12)


@given(st.lists(st.floats(-2, 2), min_size=9, max_size=9))
def test_rate_is_that_of_a_point(entries):
    w, dw, x = np.reshape(entries, (3, 3))
    A, differences = matrices.rate(w, dw)
    assert np.allclose(A @ x, np.cross(dw, x) + np.cross(w, np.cross(w, x)))
    assert np.allclose(differences, [A[2][2] - A[1][1], A[0][0] - A[2][2], A[1][1] - A[0][0]])


def test_a_symmetric_matrix_stays_so(table):
    c, s, *entries = inputs(table, 8)
    A = matrices.symmetric(*entries)
    turns = (
        matrices.AxisRotation(1, c, s),
        matrices.AxisRotation(1, c, s, True),
        matrices.Quaternion(c, s, c, s),
    )
    for turned in (turn.matrix(A) for turn in turns):
        assert all(
            isinstance(turned[i][j], Scalar) and turned[i][j] == turned[j][i]
            for i in range(3)
            for j in range(3)
        )


def test_tables_as_the_paper_prints_them():
    hinge = tf.Joint("hinge", "revolute", axis=[0, 0, 1.0], inertia=tf.Inertia(2.0, [0.5, 0, 0], np.eye(3)))
    slide = tf.Joint("slide", "prismatic", 0, axis=[1.0, 0, 0], inertia=tf.Inertia(1.0))
    function = generate(tf.Model([hinge, slide]), "crba").functions["crba"]
    assert tables(function).splitlines() == [
        "IDT  name  length  kind",
        "1  q  2  0",
        "2  crba  3  4",
        "",
        "SET  operation  operand1  operand2  uses",
        "1  *  q[2]  q[2]  1",
        "2  +  (1)  1.5  1",
        "",
        "MET  crba(3,)",
        "1  (2)",
        "2  0.0",
        "3  1.0",
    ]
