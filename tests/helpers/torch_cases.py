"""Models, tensors and functions for the tests of the PyTorch adapter."""

import numpy as np
import torch

import treefactor as tf
from helpers.derivative_cases import random_case, rooted
from treefactor.adapters import torch_

FIXED, FLOATING = rooted("revolute"), rooted("freeflyer")
MODELS = {"fixed base": FIXED, "floating base": FLOATING}
STATE = {"forward_dynamics": 3, "aba": 3, "rnea": 3, "bias": 2, "h_times": 2, "crba": 1}
KINEMATICS = {
    "joint_placements": 1,
    "center_of_mass": 1,
    "center_of_mass_jacobian": 1,
    "centroidal_momentum": 2,
    "frame_placement": 1,
    "frame_jacobian": 1,
    "frame_velocity": 2,
}
FUNCTIONS = STATE | KINEMATICS  # and the number of arrays that each takes
SECOND = (*STATE, "center_of_mass", "frame_placement")  # have second derivatives


def tensors(model, size=(3,), seed=0):
    """Return q, v, another vector and external forces."""
    q, v, a, _, fext = random_case(model, seed, size)
    return tuple(map(torch.from_numpy, (q, v, a, fext)))


def options(name):
    """Return arguments of a function after its arrays."""
    return ([tf.Frame("first", 0), tf.Frame("second", 1)],) if name.startswith("frame") else ()


def value(name, model, *arrays):
    """Call a function of treefactor with tensors."""
    return getattr(tf, name)(model, *(x.numpy() for x in arrays), *options(name))


def call(name, model, *arrays):
    """Call a function of the adapter."""
    return getattr(torch_, name)(model, *arrays, *options(name))


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
