"""Functions of JAX and PyTorch as the table makes them, tested with NumPy: arguments, docstrings."""

import inspect

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS

import treefactor as tf
from treefactor.adapters._public_functions import Adapter, public_functions
from treefactor.quantities.frameworks import DIFFERENTIABLE, FRAMEWORKS, JAX

FUNCTIONS = public_functions(
    Adapter(
        *(JAX, np, lambda *given: [given], lambda x, name, shape: np.asarray(x), float),
        constant=None,
        as_int8=None,
    )
)
MODEL = next(model for model in MODELS.values() if model.nv > 1)
Q, V, A, TAU = np.arange(4.0 * MODEL.nv).reshape(4, -1)
FEXT = np.ones((MODEL.njoints, 6))
every_function = pytest.mark.parametrize("name", DIFFERENTIABLE)
every_framework = pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda one: one.name)


@every_function
@every_framework
def test_docstrings_have_an_entry_for_every_argument(framework, name):
    quantity = framework.quantity(name)
    text = framework.docstring(quantity)
    assert text.startswith(DIFFERENTIABLE[name].summary)
    for argument in quantity.arguments:
        assert text.count(f"\n{argument} : ") == 1, argument
    assert f"`treefactor.{name}`" in text
    assert framework.array in text or quantity.gathered


@every_function
def test_arguments_are_those_of_treefactor_but_for_some(name):
    own = list(inspect.signature(getattr(tf, name)).parameters)
    arguments = inspect.signature(FUNCTIONS[name]).parameters
    assert [key for key in own if key in arguments] == list(arguments)
    left_out = set(own) - set(arguments) - {"out", "num_threads", "layout"}
    assert left_out == {"frame_jacobian": {"placement"}, "center_of_mass": {"v", "a", "root"}}.get(
        name, {"root"} & set(own)
    )
    for key, parameter in arguments.items():
        default = inspect.signature(getattr(tf, name)).parameters[key].default
        assert parameter.default == default, key


def test_arguments_by_place_and_by_name():
    function = FUNCTIONS["rnea"]
    expected = "rnea", MODEL, (Q, V, A), ()
    assert function(MODEL, Q, V, A) == expected
    assert function(MODEL, Q, a=A, v=V) == expected
    assert function(a=A, model=MODEL, v=V, q=Q, inertias=None) == expected
    assert function(MODEL, Q, V, A, FEXT) == ("rnea", MODEL, (Q, V, A, FEXT), (("fext", True),))
    both = function(MODEL, Q, V, A, inertias=1, fext=FEXT)
    assert both == ("rnea", MODEL, (Q, V, A, FEXT, 1), (("fext", True), ("inertias", True)))


@pytest.mark.parametrize(
    ("given", "named", "message"),
    [
        ((Q, V), {}, "missing 1 required positional argument: 'a'"),
        ((Q, V), {"fext": FEXT}, "missing 1 required positional argument: 'a'"),
        ((Q, V, A), {"tau": TAU}, "unexpected keyword argument 'tau'"),
        ((Q, V, A), {"q": Q}, "multiple values for argument 'q'"),
        ((Q, V, A, None, None, None), {}, "takes from 4 to 6 positional arguments but 7 were given"),
    ],
)
def test_wrong_calls(given, named, message):
    with pytest.raises(TypeError, match=message):
        FUNCTIONS["rnea"](MODEL, *given, **named)


def test_options_are_checked_and_hashable():
    frames = ["tip", tf.Frame("other", 0)]
    assert FUNCTIONS["frame_placement"](MODEL, Q, frames)[3] == (("frame", tuple(frames)),)
    named = FUNCTIONS["frame_velocity"](MODEL, Q, V, "tip", reference="WORLD")[3]
    assert named == (("frame", "tip"), ("reference", "WORLD"))
    assert FUNCTIONS["forward_dynamics"](MODEL, Q, V, TAU)[3] == (("method", "factor"),)
    with pytest.raises(ValueError, match="reference must be one of"):
        FUNCTIONS["frame_velocity"](MODEL, Q, V, "tip", "BASE")
    with pytest.raises(ValueError, match="method must be one of"):
        FUNCTIONS["step"](MODEL, Q, V, TAU, 0.1, "euler")


def test_forces_of_rollouts_have_an_axis_of_steps():
    function = FUNCTIONS["rollout"]
    (states, options) = function(MODEL, Q, V, TAU, 0.1, steps=3, fext=FEXT)[0][2:]
    assert states[2].shape == (3, MODEL.nv)
    assert (states[2] == TAU).all()
    assert states[3].shape == (3, *FEXT.shape)
    assert options[:2] == (("h", 0.1), ("steps", 3))
    series = np.stack([TAU, A])
    (states, options) = function(MODEL, Q, V, series, 0.1)[0][2:]
    assert states[2] is series
    assert options[1] == ("steps", 2)
    (states, _) = function(MODEL, Q, V, None, 0.1, 4)[0][2:]
    assert states[2].shape == (4, MODEL.nv)
    assert not states[2].any()
    for wrong in (None, TAU):
        with pytest.raises(tf.ShapeError, match="pass steps=T"):
            function(MODEL, Q, V, wrong, 0.1)
    with pytest.raises(TypeError, match="model must be a treefactor"):
        function("panda", Q, V, TAU, 0.1)
