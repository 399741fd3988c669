"""Test messages about arrays: bound calls, external forces, and data objects in the place of arrays."""

import numpy as np
import pytest
from helpers.message_cases import ARM, Q, V, foreign

import treefactor as tf
from treefactor import constraints
from treefactor.exceptions import ShapeError

# ------------------------------------------------------------------------------------------------------ bind


CALLS = {
    tf.crba: "q",
    tf.rnea: "q v a",
    tf.joint_forces: "q v a",
    tf.base_force: "q v a",
    tf.bias: "q v",
    tf.h_times: "q x",
    tf.aba: "q v tau",
    tf.forward_dynamics: "q v tau",
    tf.generalized_gravity: "q",
    tf.static_torque: "q fext",
    tf.coriolis_matrix: "q v",
    tf.inverse_inertia: "q",
}
PROGRAMS = ["crba", "rnea", "bias", "aba", "forward_dynamics", "joint_forces", "base_force"]
KERNELS = tf.compile(ARM, PROGRAMS)
SHAPES = {tf.joint_forces: (ARM.njoints, 6), tf.base_force: (6,)}
SHAPES |= dict.fromkeys((tf.crba, tf.coriolis_matrix, tf.inverse_inertia), (ARM.nv, ARM.nv))
FORCES = np.zeros((ARM.njoints, 6))


def bound(function, program, **changes):
    """Bind a call with valid arguments except for the changes."""
    names = CALLS[function].split()
    good = {name: {"q": Q, "fext": FORCES}.get(name, V).copy() for name in names}
    good["out"] = np.empty(SHAPES.get(function, (ARM.nv,)))
    given = good | {name: change(good[name]) for name, change in changes.items() if name in good}
    arguments = [given[name] for name in names]
    if program:
        return KERNELS.bind(function.__name__, *arguments, out=given["out"])
    return tf.bind(function, ARM, *arguments, out=given["out"])


def spread(x):
    """Return the same numbers with gaps between them."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]))[..., ::2]
    wide[...] = x
    return wide


def shifted(x):
    """Return the same numbers at an address that is not a multiple of eight."""
    memory = np.zeros(x.nbytes + 1, np.uint8)[1:]
    return np.ndarray(x.shape, float, memory)


UNBOUND = {
    "float32": (lambda x: x.astype(np.float32), r"contiguous .* float64 to be bound, got float32: .*astype"),
    "integers": (lambda x: x.astype(int), "got int64"),
    "list": (lambda x: x.tolist(), r"got list: bind an array made by np\.array"),
    "strided": (spread, r"got strides .*: bind np\.ascontiguousarray"),
    "shape": (lambda x: x[..., 1:].copy(), r"have shape .* to be bound, got"),
    "unaligned": (shifted, r"not aligned: bind"),
}


@pytest.mark.parametrize(("change", "why"), UNBOUND.values(), ids=UNBOUND)
@pytest.mark.parametrize(
    ("function", "program"),
    [
        pytest.param(function, program, id=f"{function.__name__}-{'program' if program else 'recursion'}")
        for function in CALLS
        for program in (False, True)
        if not program or function.__name__ in PROGRAMS
    ],
)
def test_arrays_that_cannot_be_bound_are_named(function, program, change, why):
    bound(function, program)()
    for name in (*CALLS[function].split(), "out"):
        with pytest.raises(ValueError, match=rf"^{name} must .*{why}"):
            bound(function, program, **{name: change})


def test_results_that_cannot_be_bound():
    x = np.zeros(ARM.nv)
    with pytest.raises(ValueError, match=r"^out shares memory with v"):
        tf.bind(tf.bias, ARM, Q, x, out=x)
    x.flags.writeable = False
    with pytest.raises(ValueError, match=r"^out is read-only"):
        tf.bind(tf.bias, ARM, Q, V, out=x)
    with pytest.raises(ValueError, match="takes 3 arguments after the model: q, v, tau; got 2"):
        tf.bind(tf.aba, ARM, Q, V, out=np.empty(ARM.nv))
    with pytest.raises(ValueError, match=r"^function must be one of aba, .* to be bound, got"):
        tf.bind(print, ARM, Q, out=np.empty(ARM.nv))


@pytest.mark.parametrize(
    ("H", "why"), [(np.eye(2, dtype=np.float32), "dtype float32"), ([[1.0, 0.0], [0.0, 1.0]], "list")]
)
def test_matrices_that_cannot_be_bound(H, why):
    with pytest.raises(
        tf.DtypeError, match=f"^H must be an aligned NumPy array of float64 to be bound, got {why}"
    ):
        tf.BoundFactor(H, tf.Tree([-1, 0]))


def test_a_bound_matrix_of_zeros_is_named():
    f = tf.BoundFactor(np.zeros((2, 2)), tf.Tree([-1, 0], ["a", "b"]))
    with pytest.raises(tf.NotPositiveDefiniteError, match="all zero: write H into it") as caught:
        f.factor()
    assert caught.value.name == "b"


# ---------------------------------------------------------------------------------------------------- forces


@pytest.mark.parametrize("lead", [(), (4,)])
@pytest.mark.parametrize(
    "function", [tf.rnea, tf.bias, tf.aba, tf.joint_forces, tf.forward_dynamics, constraints.forward_dynamics]
)
def test_pinocchios_universe_has_no_force(function, lead):
    takes = len(CALLS.get(function, "q v tau").split()) - 1
    fext = np.zeros((*lead, ARM.njoints + 1, 6))
    with pytest.raises(
        ShapeError, match=r"^fext must have shape .* leave out Pinocchio's universe, fext\[\.\.\., 1:"
    ):
        function(ARM, np.broadcast_to(Q, (*lead, ARM.nq)), *[V] * takes, fext)


def test_forces_of_pinocchio_are_taken_apart():
    class Force:
        vector = np.zeros(6)

    with pytest.raises(
        tf.DtypeError, match=r"^fext must hold real numbers.*\[force\.vector for force in fext\[1:\]\]"
    ):
        tf.bias(ARM, Q, V, [Force()] * 4)


# ------------------------------------------------------------------------------------------- data of engines


@pytest.mark.parametrize(("package", "kind"), [("pinocchio", "Data"), ("mujoco", "MjData")])
def test_data_where_an_array_belongs_is_named(package, kind):
    data = foreign(package, kind)
    with pytest.raises(tf.DtypeError, match=rf"q must hold real numbers, got {package}\.{kind}: .* no data"):
        tf.rnea(ARM, data, Q, V)
