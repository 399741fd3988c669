"""Compare interpreted programs with NumPy, the recursions and Pinocchio, on all forms of arrays."""

import numpy as np
import pinocchio as pin
import pytest
from helpers.codegen_models import pinocchio_model
from helpers.dynamics_cases import EXACT, PER_CONDITION, assert_forces, error
from helpers.interp_cases import MODELS, call, functions, kernels, model, states

import treefactor as tf
from treefactor.tree import LAYOUTS

pytestmark = pytest.mark.isa

ROBOTS = ("dpend", "ur5", "panda9", "solo12", "talos32")
SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 63, 64, 65, 79, 80, 100, (2, 3), (3, 0))
NAMES = (*ROBOTS, "stanford", *MODELS)
every_model = pytest.mark.parametrize("name", NAMES)


def assert_agree(function, own, expected, H, v, x):
    """Assert that results differ by rounding errors only."""
    if function in ("aba", "forward_dynamics", "minv"):
        assert error(own, expected) < max(EXACT, PER_CONDITION * np.linalg.cond(H).max())
    else:
        assert_forces(own, expected, H, v, x)


@every_model
def test_equals_numpy_and_the_recursions(name):
    given = states(name, 9)
    q, v, x = given["q"], given["v"], given["a"]
    H = tf.crba(model(name), q)
    expected = {"crba": H, "minv": np.linalg.inv(H), "bias": tf.bias(model(name), q, v)}
    for function in functions(name):
        own = call(kernels(name), function, given)
        other = call(kernels(name, "numpy"), function, given)
        assert_agree(function, own, other, H, v, x)
        if function not in expected:
            expected[function] = getattr(tf, function)(model(name), q, v, x)
        assert_agree(function, own, expected[function], H, v, x)


@pytest.mark.parametrize("name", ROBOTS)
def test_equals_pinocchio(name):
    theirs, one = pinocchio_model(name), states(name)
    q, v, x, data = one["q"], one["v"], one["a"], theirs.createData()
    H = np.triu(pin.crba(theirs, data, q))
    H += np.triu(H, 1).T
    for function, expected in {
        "crba": H,
        "rnea": pin.rnea(theirs, data, q, v, x),
        "bias": pin.nle(theirs, data, q, v),
        "aba": pin.aba(theirs, data, q, v, x),
        "forward_dynamics": pin.aba(theirs, data, q, v, x),
    }.items():
        assert_agree(function, call(kernels(name), function, one), expected, H, v, x)


@pytest.mark.parametrize("size", SIZES)
def test_an_element_is_the_single_call_bit_by_bit(size):
    given = states("ur5", size)
    for function in functions("ur5"):
        own = call(kernels("ur5"), function, given)
        assert own.shape[: own.ndim - (1 if function not in ("crba", "minv") else 2)] == np.zeros(size).shape
        for element in np.ndindex(np.zeros(size).shape):
            one = call(kernels("ur5"), function, {key: value[element] for key, value in given.items()})
            np.testing.assert_array_equal(own[element], one)


@pytest.mark.parametrize("backend", ["interp", "numpy"])
@pytest.mark.parametrize("size", [(), 0, 5, 64, 83])
def test_layouts(backend, size):
    tree, q = model("solo12").tree, states("solo12", size)["q"]
    dense, packed, lanes = (kernels("solo12", backend).crba(q, layout=layout) for layout in LAYOUTS)
    np.testing.assert_array_equal(tree.unpack(packed), dense)
    np.testing.assert_array_equal(lanes, tree.pack(dense, "lanes"))
    for layout, expected in zip(LAYOUTS, (dense, packed, lanes), strict=True):
        out = np.full_like(expected, np.nan)
        assert kernels("solo12", backend).crba(q, out, layout) is out
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [1, 20, 70])
def test_what_is_not_finite_stays_in_its_element(bad, size):
    at = size // 2
    for function in functions("solo12"):
        for key in ("q", "v", "a"):
            given = states("solo12", size)
            expected = call(kernels("solo12"), function, given)
            given[key][at, -1] = bad
            if key in ("q", "v", "a")[: 3 if function not in ("crba", "minv", "bias") else 2] and not (
                key == "v" and function in ("crba", "minv")
            ):
                expected[at] = np.nan
            np.testing.assert_array_equal(call(kernels("solo12"), function, given), expected)


@pytest.mark.parametrize("backend", ["interp", "numpy"])
def test_invalid_rotations_give_nan(backend):
    q = states("solo12", 70)["q"]
    expected = kernels("solo12", backend).crba(q)
    q[66, 3:7] *= 1.1
    q[3, 0] = np.inf
    expected[[3, 66]] = np.nan
    np.testing.assert_array_equal(kernels("solo12", backend).crba(q), expected)
    with pytest.raises(tf.ConfigurationError):
        kernels("solo12", backend).crba(q[66])


def test_large_angles():
    q = states("ur5", 30)["q"] * 1e7
    assert error(kernels("ur5").crba(q), kernels("ur5", "numpy").crba(q)) < EXACT


def test_jacobians_of_tips():
    robot = model("solo12")
    tips = [robot.joints[-1].name, robot.joints[4].name]
    own, q = tf.compile(tf.generate(robot, ["jacobian", "delassus"], tips)), states("solo12", 70)["q"]
    J = own.jacobian(q)
    assert J.shape == (70, 12, 18)
    expected = J @ np.linalg.solve(tf.crba(robot, q), np.swapaxes(J, 1, 2))
    assert error(own.delassus(q), expected) < EXACT
    for function in ("jacobian", "delassus"):
        out = np.empty_like(call(own, function, {"q": q[5]}))
        np.testing.assert_array_equal(own.bind(function, q[5], out=out)(), call(own, function, {"q": q})[5])
