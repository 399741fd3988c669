"""Bound calls of functions without a declaration; other public functions are listed with the reason."""

import inspect

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.reachable import REACHABLE

import treefactor as tf
from treefactor import constraints
from treefactor.quantities.functions import QUANTITIES

MODEL = MODELS["all kinds"]
TIP = tf.Frame("tip", 5, p=[0.1, 0.2, 0.3])
CONTACTS = {"contacts": [constraints.RigidContact(TIP)]}
BOUND = {  # arguments after the model, and the options to try
    "operational_space": ("q frame", {"damping": 1.0}, {"damping": 0.5, "reference": "WORLD"}),
    "constraints.forward_dynamics": (
        *("q v tau", CONTACTS),
        {"fext": "fext", "stabilization": 2.0, "contacts": (*CONTACTS["contacts"],)},
    ),
    "constraints.forward_dynamics_derivatives": (
        *("q v tau", {}, {"fext": "fext", "with_value": True, **CONTACTS}),
        {"stabilization": 2.0, "contacts": (*CONTACTS["contacts"],)},
    ),
}
NOT_BOUND = {  # and why
    **dict.fromkeys(["bind", "compile", "generate", "show_config", "stream"], "returns no array"),
    **dict.fromkeys(["chain_forces", "chain_inertia"], "takes chain parameters, not a model"),
    **dict.fromkeys(["factor", "multiply", "solve"], "takes a matrix; BoundFactor binds it"),
    **dict.fromkeys(["damped_least_squares", "from_lanes", "to_lanes"], "takes arrays, not a model"),
    **dict.fromkeys(["base_parameters", "neutral", "random_configuration"], "reads no array"),
    "is_same_configuration": "returns a bool",
    **dict.fromkeys(
        ["constraints.box", "constraints.contacts_between", "constraints.contacts_of"], "describes contacts"
    ),
    **dict.fromkeys(["constraints.bounding_boxes", "constraints.shape_placements"], "takes shapes"),
    "constraints.close": "iterates",
    "constraints.contact_points": "takes shapes, not a model",
    "constraints.loop_rows": "returns an object",
}


def public_functions():
    """Return all public functions of the package and of its constraints by name."""
    functions = {name: getattr(tf, name) for name in REACHABLE}
    functions |= {f"constraints.{name}": getattr(constraints, name) for name in constraints.__all__}
    return {name: one for name, one in functions.items() if not inspect.isclass(one) and callable(one)}


def named_arguments():
    q, v, x, fext = arguments(MODEL)
    return {"q": q, "v": v, "tau": x, "fext": fext, "frame": TIP}


def empty_like(result):
    """Return arrays of the shapes of a result."""
    if isinstance(result, tuple):
        made = [empty_like(one) for one in result]
        return type(result)(*made) if hasattr(result, "_fields") else tuple(made)
    return np.full(np.shape(result), 7.0)


def computed(function, *arguments, **options):
    """Return the results of a plain call as a bound one writes them."""
    result = function(*arguments, **options)
    if isinstance(result, tf.OperationalSpace):
        return result.inertia, result.inverse, result.nullspace
    return result


def same(results, expected):
    """Return whether results are equal to the bit, also of tuples."""
    if isinstance(expected, tuple):
        return len(results) == len(expected) and all(map(same, results, expected))
    return np.array_equal(results, expected)


def test_every_public_function_is_bound_or_has_a_reason():
    declared = {name for name, one in QUANTITIES.items() if one.bound and hasattr(tf, name)}
    assert not (declared | BOUND.keys()) & NOT_BOUND.keys()
    assert public_functions().keys() == declared | BOUND.keys() | NOT_BOUND.keys()


@pytest.mark.parametrize(("name", "options"), [(k, o) for k, (_, *given) in BOUND.items() for o in given])
def test_bound_calls_equal_plain_ones(name, options):
    function, known = public_functions()[name], named_arguments()
    taken = [known[one] for one in BOUND[name][0].split()]
    options = {key: known[key] if key == "fext" else given for key, given in options.items()}
    expected = computed(function, MODEL, *taken, **options)
    out = empty_like(expected)
    call = tf.bind(function, MODEL, *taken, out=out, **options)
    result = call()
    assert result is out
    assert same(result, expected)
    taken[0][:] = arguments(MODEL, 1)[0]
    assert same(call(), computed(function, MODEL, *taken, **options))
    taken[0][1] = np.nan
    with pytest.raises(tf.NonFiniteError):
        call()


@pytest.mark.parametrize("name", BOUND)
def test_unknown_and_missing_arguments_are_named(name):
    function, known = public_functions()[name], named_arguments()
    taken = [known[one] for one in BOUND[name][0].split()]
    out = np.empty(1)
    for option in ({"foo": 1}, {"num_threads": 2}):
        with pytest.raises(ValueError, match=rf"takes no {next(iter(option))} to be bound, only q.* and out"):
            tf.bind(function, MODEL, *taken, out=out, **option)
    first = next(iter(inspect.signature(function).parameters.keys() & {"q", "q0"}))
    with pytest.raises(ValueError, match=f"received {first} twice"):
        tf.bind(function, MODEL, *taken, out=out, **{first: taken[0]})
    with pytest.raises(ValueError, match=r"takes \d arguments? after the model: q.*; got 0"):
        tf.bind(function, MODEL, out=out)


@pytest.mark.parametrize("name", NOT_BOUND)
def test_other_functions_are_refused(name):
    with pytest.raises(ValueError, match=r"function must be one of aba, all_terms, .* to be bound"):
        tf.bind(public_functions()[name], MODEL, out=np.empty(1))
