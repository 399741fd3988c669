"""Models, tensors and functions for the tests of the PyTorch adapter."""

import numpy as np
import torch

import treefactor as tf
from helpers.derivative_cases import random_case, rooted
from treefactor.adapters import torch_
from treefactor.adapters._maps import array_function
from treefactor.quantities.frameworks import DIFFERENTIABLE, TORCH, is_extra

MOVES = ("integrate", "difference", "normalize", "step", "rollout")  # whose tests are by hand
FIXED, FLOATING = rooted("revolute"), rooted("freeflyer")
MODELS = {"fixed base": FIXED, "floating base": FLOATING}
FUNCTIONS = [name for name in DIFFERENTIABLE if name not in MOVES]


def tensors(model, size=(3,), seed=0):
    """Return q, v, another vector and external forces."""
    q, v, a, _, fext = random_case(model, seed, size)
    return tuple(map(torch.from_numpy, (q, v, a, fext)))


def arguments(name, model, size=(3,), seed=0):
    """Return the tensors that a function needs."""
    known = dict(zip(("q", "v", "a", "fext"), tensors(model, size, seed), strict=True))
    known |= {"tau": known["a"], "x": known["a"]}
    return tuple(known[one.name] for one in TORCH.quantity(name).inputs if not is_extra(one))


def options(name):
    """Return arguments of a function after its arrays."""
    named = {"frame": [tf.Frame("first", 0), tf.Frame("second", 1)]}
    return {key: value for key, value in named.items() if key in TORCH.quantity(name).arguments}


def value(name, model, *arrays):
    """Call a function of treefactor with tensors."""
    return getattr(tf, name)(model, *(x.numpy() for x in arrays), **options(name))


def call(name, model, *arrays):
    """Call a function of the adapter."""
    return getattr(torch_, name)(model, *arrays, **options(name))


def recorded(*arrays):
    """Return copies of tensors that require gradients."""
    return tuple(x.detach().clone().requires_grad_() for x in arrays)


def moved(name, model, q):
    """Return a function of a tangent d, instead of q, and of the other arrays."""
    return lambda d, *rest: call(name, model, torch_.integrate(model, q, d), *rest)


def tangent(model, size=(3,)):
    """Return zeros that require gradients."""
    return torch.zeros(*size, model.nv, dtype=torch.float64, requires_grad=True)


def assert_same_bits(own, expected):
    """Compare a result, or several, with those of treefactor bit by bit."""
    own, expected = (x if isinstance(x, tuple) else (x,) for x in (own, expected))
    for x, y in zip(own, expected, strict=True):
        np.testing.assert_array_equal(x.detach().numpy(), y)


def order(name):
    """Return the order of the derivatives of a function."""
    frames = {key: tuple(frame) for key, frame in options(name).items()}
    return array_function(name, FIXED, **frames).order


SECOND = [name for name in FUNCTIONS if order(name) == 2]
