"""Test messages about arrays: bound calls, external forces, and data objects in the place of arrays."""

import numpy as np
import pytest
from helpers.array_forms import UNBOUND
from helpers.declared import cases
from helpers.message_cases import ARM, Q, V, foreign

import treefactor as tf
from treefactor import constraints
from treefactor.exceptions import ShapeError

# ------------------------------------------------------------------------------------------------------ bind


PROGRAMS = ["crba", "rnea", "bias", "aba", "forward_dynamics", "joint_forces", "base_force"]
KERNELS = tf.compile(ARM, PROGRAMS)


@pytest.mark.parametrize(("change", "why"), UNBOUND.values(), ids=UNBOUND)
@pytest.mark.parametrize(
    "case", **cases({"arm": ARM}, lambda case: case.is_plain and case.quantity.name in PROGRAMS)
)
def test_arrays_that_cannot_be_bound_to_a_program_are_named(case, change, why):
    good = {name: x for name, x in case.arguments().items() if name != "fext"}
    good["out"] = case.call(good)

    def bound(**changed):
        given = good | changed
        return KERNELS.bind(
            case.quantity.name, *[given[name] for name in good if name != "out"], out=given["out"]
        )

    bound()()
    for name in good:
        with pytest.raises(ValueError, match=rf"^{name} must .*{why}"):
            bound(**{name: change(good[name])})


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


UNIVERSE = r"^fext must have shape .* leave out Pinocchio's universe, fext\[\.\.\., 1:"


@pytest.mark.parametrize("lead", [(), (4,)])
@pytest.mark.parametrize("case", **cases({"arm": ARM}, lambda case: case.is_plain and "fext" in case.names))
def test_pinocchios_universe_has_no_force(case, lead):
    with pytest.raises(ShapeError, match=UNIVERSE):
        case.call(case.arguments(0, lead) | {"fext": np.zeros((*lead, ARM.njoints + 1, 6))})
    with pytest.raises(ShapeError, match=UNIVERSE):
        constraints.forward_dynamics(ARM, Q, V, V, np.zeros((*lead, ARM.njoints + 1, 6)))


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
