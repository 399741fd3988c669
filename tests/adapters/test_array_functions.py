"""Values and products with derivatives, as JAX and PyTorch call them, agree with differences."""

from itertools import combinations, product

import numpy as np
import pytest

import treefactor as tf
from treefactor.adapters._maps import array_function
from treefactor.check.robots import find, model_of
from treefactor.quantities import motions
from treefactor.quantities.configurations import OF_FORMULAS
from treefactor.quantities.frameworks import DIFFERENTIABLE, arrays_of, is_extra
from treefactor.quantities.kinematics import REFERENCE

BATCH = 3
FRAMES = [tf.Frame(f"at {k}", k) for k in range(5)]
OF_MOTIONS = [motions.step.derivative, motions.rollout.derivative]
MOVES = [name for name, one in DIFFERENTIABLE.items() if one.derivative in (OF_FORMULAS, *OF_MOTIONS)]
PRODUCTS = [one for name, one in DIFFERENTIABLE.items() if name not in MOVES]
REFERENCES = {"reference": REFERENCE.choices, "method": ("factor",)}
CHOICES = {"frame": (FRAMES[4], (FRAMES[2], FRAMES[0]))} | REFERENCES
STATE = [one.name for one in PRODUCTS if one.inertias]


def cases():
    """Yield names and options of all functions with products: frames, references, forces, inertias."""
    for one in PRODUCTS:
        names = one.derivative.options
        for values in product(*(CHOICES[name] for name in names)):
            yield one.name, dict(zip(names, values, strict=True))
        extras = [array.name for array in arrays_of(one) if is_extra(array)]
        yield from ((one.name, dict.fromkeys(some, True)) for k in (1, 2) for some in combinations(extras, k))


CASES = list(cases())
PLAIN = [one.name for one in PRODUCTS if not one.derivative.options]


def run(function, kind, *arrays):
    mapped = function.map(kind)
    assert [x.shape[1:] for x in arrays] == list(mapped.inputs)
    outputs = [np.full((BATCH, *shape), 7.0) for shape in mapped.outputs]
    mapped.run(arrays, outputs)
    return outputs


def draw(function, rng):
    """Return arguments, a direction of them, and weights of the results."""
    model = function.model
    x, dx = [], []
    for one in function.inputs:
        array, direction = (rng.normal(size=(BATCH, *shape)) for shape in (one.shape, one.tangent))
        if one.shape != one.tangent or one.name == "q":
            array = np.array([tf.random_configuration(model, rng) for _ in range(BATCH)])
        elif one.name == "inertias":  # of bodies that can exist, and of directions as small as they are
            array = model.parameters * rng.uniform(0.9, 1.1, (BATCH, model.njoints, 1))
            direction *= array
        x.append(array)
        dx.append(direction)
    return x, dx, [rng.normal(size=(BATCH, *one.shape)) for one in function.outputs]


def moved(function, x, dx, h):
    return [
        tf.integrate(function.model, one, h * d) if argument.name == "q" else one + h * d
        for argument, one, d in zip(function.inputs, x, dx, strict=True)
    ]


def inner(a, b):
    return sum((x * y).reshape(BATCH, -1).sum(axis=1) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("robot", ["panda", "solo12", "tiago"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_products_are_those_of_differences(robot, name, options):
    function = array_function(name, model_of(find(robot)), **options)
    rng = np.random.default_rng(1)
    x, dx, w = draw(function, rng)
    at = lambda h: run(function, "value", *moved(function, x, dx, h))  # noqa: E731
    dy = run(function, "jvp", *x, *dx)
    for change, above, below in zip(dy, at(1e-6), at(-1e-6), strict=True):
        expected = (above - below) / 2e-6
        np.testing.assert_allclose(change, expected, atol=1e-6 * (1 + abs(expected).max()))
    g = run(function, "vjp", *x, *w)
    scale = np.sqrt(inner(g, g) * inner(dx, dx)) + 1e-12
    assert abs(inner(dy, w) - inner(g, dx)).max() < 1e-11 * scale.max()
    if function.order == 2:
        check_second(function, x, w, dx, rng, lambda h: inner(at(h), w))


def check_second(function, x, w, dx, rng, cost):
    other = [rng.normal(size=one.shape) for one in dx]
    h = 1e-4
    expected = (cost(h) - 2 * cost(0) + cost(-h)) / h**2
    along, across = run(function, "hvp", *x, *w, *dx), run(function, "hvp", *x, *w, *other)
    np.testing.assert_allclose(inner(along, dx), expected, atol=1e-4 * (1 + abs(expected).max()))
    mixed = inner(along, other)
    np.testing.assert_allclose(inner(across, dx), mixed, atol=1e-11 * (1 + abs(mixed).max()))


def test_equal_options_give_the_same_function():
    model = model_of(find("panda"))
    assert array_function("rnea", model) is array_function("rnea", model)
    assert array_function("rnea", model) is not array_function("rnea", model, fext=True)


def test_what_is_missing_raises_a_sentence():
    model = model_of(find("panda"))
    with pytest.raises(NotImplementedError, match="no second derivatives of rnea with external forces"):
        array_function("rnea", model, fext=True).map("hvp")
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model, got str"):
        array_function("rnea", "panda")


@pytest.mark.parametrize("name", PLAIN)
def test_a_bad_state_gives_nan_in_its_element(name):
    function = array_function(name, model_of(find("solo12")))
    x, _, w = draw(function, np.random.default_rng(2))
    good = run(function, "vjp", *x, *w)
    x[0][1] = np.nan
    for gradient, expected in zip(run(function, "vjp", *x, *w), good, strict=True):
        assert np.isnan(gradient[1]).any(), "every result of an element with a bad state has NaN"
        np.testing.assert_array_equal(gradient[::2], expected[::2])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", STATE)
def test_bad_inertias_give_nan_in_their_element(name, bad):
    function = array_function(name, model_of(find("solo12")), inertias=True)
    x, dx, w = draw(function, np.random.default_rng(2))
    maps = {"value": [], "vjp": w, "jvp": dx}
    good = {kind: run(function, kind, *x, *more) for kind, more in maps.items()}
    x[-1][1] = bad
    for kind, more in maps.items():
        results = run(function, kind, *x, *more)
        assert not all(np.isfinite(result[1]).all() for result in results)
        for result, expected in zip(results, good[kind], strict=True):
            np.testing.assert_array_equal(result[::2], expected[::2])


def kinds():
    """Return a chain of all kinds of joints with rotations, and others between them."""
    inertia = tf.Inertia(1.0, [0.1, 0.0, 0.2], np.eye(3))
    named = {"revolute": {"axis": [0, 1, 0]}, "continuous": {"axis": [0, 0, 1]}}
    order = ("freeflyer", "revolute", "continuous", "planar", "spherical", "revolute")
    return tf.Model(
        [
            tf.Joint(f"{k}", kind, k - 1, inertia=inertia, **named.get(kind, {}))
            for k, kind in enumerate(order)
        ]
    )


@pytest.mark.parametrize("name", ["integrate", "difference"])
def test_one_rotation_without_unit_length_is_nan_and_changes_no_other_bit(name):
    model, rng, batch = kinds(), np.random.default_rng(8), 3001
    function = array_function(name, model).map("value")
    q0, q1 = tf.random_configuration(model, rng, size=(2, batch))
    x = [q0, rng.normal(size=(batch, model.nv)) if name == "integrate" else q1]
    wanted = getattr(tf, name)(model, *x)
    for kind in ("freeflyer", "continuous", "planar", "spherical"):
        for which in range(1 if name == "integrate" else 2):
            changed, row = [each.copy() for each in x], rng.integers(batch)
            changed[which][row, model.entries[kind][0][0, -1]] += 0.5
            changed[which][row - 1, 0] = np.nan
            result = np.empty((batch, *function.outputs[0]))
            function.run(changed, [result])
            others = np.delete(np.arange(batch), [row - 1, row])
            assert np.isnan(result[row]).all()
            assert np.isnan(result[row - 1]).any()
            np.testing.assert_array_equal(result[others], wanted[others])
