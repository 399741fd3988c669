"""Vectors in the layout "lanes": there and back, padding, alignment, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treefactor as tf
from treefactor.exceptions import DtypeError, ShapeError

DTYPES = (np.float64, np.float32)


@given(
    st.lists(st.integers(0, 5), min_size=0, max_size=2).filter(lambda lead: np.prod(lead, dtype=int) < 80),
    st.integers(0, 70),
    st.integers(0, 9),
    st.sampled_from(DTYPES),
    st.booleans(),
)
def test_every_vector_has_its_lane_and_padding_repeats_the_last(lead, count, size, dtype, columns):
    shape = (*lead, size) if lead else (count, size)
    x = np.random.default_rng(0).normal(size=shape).astype(dtype)
    x = np.asfortranarray(x) if columns else x
    lanes = tf.to_lanes(x, dtype=dtype)
    width, rows = 64 // lanes.itemsize, x.reshape(int(np.prod(shape[:-1])), size)
    assert lanes.dtype == dtype
    assert lanes.shape == (-(-len(rows) // width), size, width)
    assert lanes.flags.c_contiguous
    assert lanes.ctypes.data % 64 == 0
    for i in range(len(lanes) * width):
        np.testing.assert_array_equal(lanes[i // width, :, i % width], rows[min(i, len(rows) - 1)])
    back = tf.from_lanes(lanes, count=len(rows))
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, rows)
    assert len(tf.from_lanes(lanes)) == len(lanes) * width


def test_one_vector_fills_a_block_and_results_are_copies():
    block = tf.to_lanes([1, 2, 3], dtype=np.float32)
    np.testing.assert_array_equal(block, np.broadcast_to([[[1], [2], [3]]], (1, 3, 16)))
    rows = tf.from_lanes(block, 2)
    block[:] = 0
    np.testing.assert_array_equal(rows, [[1, 2, 3], [1, 2, 3]])


@pytest.mark.parametrize(
    ("x", "count", "error", "message"),
    [
        (np.zeros((2, 3, 16)), None, ShapeError, r"size, 8\) .*got \(2, 3, 16\): 16 lanes belong to float32"),
        (np.zeros((2, 3), np.float32), None, ShapeError, r"16\) .*to_lanes\(x, dtype=np\.float32\)"),
        (np.zeros((2, 3, 8), int), None, DtypeError, "float64 or float32, got int64"),
        (np.zeros((2, 3, 8)), 17, ValueError, "at most 16, the number of lanes of 2 blocks, got 17"),
        (np.zeros((2, 3, 8)), -1, ValueError, "count must not be negative"),
    ],
)  # fmt: skip
def test_what_from_lanes_refuses(x, count, error, message):
    with pytest.raises(error, match=message):
        tf.from_lanes(x, count)


def test_what_to_lanes_refuses():
    with pytest.raises(ShapeError, match="got one number"):
        tf.to_lanes(3.0)
    with pytest.raises(DtypeError, match="dtype must be float64 or float32"):
        tf.to_lanes([1.0], dtype=np.int64)
    with pytest.raises(DtypeError, match="x must hold real numbers"):
        tf.to_lanes(["a"])
