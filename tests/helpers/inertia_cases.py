"""Robots whose inertias are inputs, and Pinocchio's values and their differences for the same inertias."""

from functools import cache

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor.adapters import pinocchio_
from treefactor.model import parameters

FLOATING = {"panda": False, "solo12": True}
ARGUMENTS = {"forward_dynamics": 3, "aba": 3, "rnea": 3, "bias": 2, "h_times": 2, "crba": 1}
STEP = 1e-6  # of differences, for every parameter


@cache
def loaded(name: str):
    """Return a robot as a model of Pinocchio and of treefactor."""
    robot = pinocchio_.load(tf.robots.find(name).path, FLOATING[name])
    return robot, pinocchio_.model(robot)


def bodies(model, rng, size=()) -> np.ndarray:
    """Return parameters of bodies that can exist, other ones for every element."""
    theta = parameters.to_log_cholesky(model.parameters, floor=1e-3)
    return parameters.from_log_cholesky(theta + 0.1 * rng.normal(size=(*size, *theta.shape)))


def state(model, name: str, rng, size=()) -> list[np.ndarray]:
    """Return the arguments of a function before its inertias."""
    q = tf.random_configuration(model, rng, size=size)
    return [q, *rng.normal(size=(2, *size, model.nv))][: ARGUMENTS[name]]


def value(name: str, robot, x, pi) -> np.ndarray:
    """Return Pinocchio's value for parameters of all bodies."""
    robot = robot.copy()
    for k, each in enumerate(pi):
        robot.inertias[k + 1] = pin.Inertia.FromDynamicParameters(each)
    data = robot.createData()
    if name in ("crba", "h_times"):
        upper = np.triu(pin.crba(robot, data, x[0]))
        H = upper + np.triu(upper, 1).T
        return H if name == "crba" else H @ x[1]
    function = {"rnea": pin.rnea, "bias": pin.nonLinearEffects}.get(name, pin.aba)
    return function(robot, data, *x).copy()


def gradient(name: str, robot, x, pi, w) -> np.ndarray:
    """Return central differences of Pinocchio's w . value by every parameter."""
    slopes = np.empty(pi.shape)
    for index in np.ndindex(pi.shape):
        above, below = pi.copy(), pi.copy()
        above[index] += STEP
        below[index] -= STEP
        change = value(name, robot, x, above) - value(name, robot, x, below)
        slopes[index] = (w * change).sum() / (2 * STEP)
    return slopes
