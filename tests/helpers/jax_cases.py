"""Models, arguments and the precision of JAX for the tests of `treefactor.adapters.jax_`."""

from contextlib import contextmanager

import numpy as np
import pytest

import treefactor as tf
from helpers.derivative_cases import FOLLOWERS, TREES, chain, random_case

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'treefactor[jax]'")

from treefactor.adapters import jax_  # noqa: E402

ARM = chain("revolute")  # q and v have the same entries
TURNING = chain("spherical")  # one quaternion in mid-tree
MODELS = {
    "arm": ARM,
    "turning": TURNING,
    "all kinds": TREES["all kinds"],
    "followers": FOLLOWERS["followers"],
}
H = 0.01


@contextmanager
def precision(float64: bool):
    """Let JAX compute in float64 or float32."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", float64)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)


@contextmanager
def compiled_fast():
    """Let XLA compile without most optimizations: in half the time, for tests that compile much."""
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", False)


def calls(model, size=()) -> dict:
    """Return arguments of every function, as NumPy arrays and other values, by name."""
    q, v, a, tau, fext = random_case(model, 3, size)
    series = np.repeat(tau[..., None, :], 4, axis=-2)
    joint = model.joints[-1].name
    return {
        "forward_dynamics": (q, v, tau),
        "aba": (q, v, tau, fext),
        "rnea": (q, v, a, fext),
        "bias": (q, v),
        "h_times": (q, a),
        "crba": (q,),
        "integrate": (q, v),
        "difference": (q, tf.integrate(model, q, v)),
        "normalize": (1.1 * q,),
        "step": (q, v, tau, H, "rk4"),
        "rollout": (q, v, series, H),
        "frame_placement": (q, joint),
        "frame_velocity": (q, v, joint, "WORLD"),
        "frame_jacobian": (q, [joint, model.joints[0].name], "LOCAL_WORLD_ALIGNED"),
        "joint_placements": (q,),
        "center_of_mass": (q,),
        "center_of_mass_jacobian": (q,),
        "centroidal_momentum": (q, v),
    }


def as_tuple(found) -> tuple:
    """Return results as a tuple, also one array."""
    return found if isinstance(found, tuple) else (found,)


def scalar(name: str, model, arguments):
    """Return a function of a tangent at q and of other arrays: a weighted sum of the function's results.

    The weights are cosines, different for all entries; the arguments are those of one configuration.
    """
    first, *others = arguments
    rest = [x for x in others if isinstance(x, np.ndarray)]
    fixed = others[len(rest) :]

    def function(d, *arrays):
        q = jax_.integrate(model, first, d)
        total = 0.0
        for result in as_tuple(getattr(jax_, name)(model, q, *arrays, *fixed)):
            total += (np.cos(np.arange(result.size)).reshape(result.shape) * result).sum()
        return total

    return function, (np.zeros(model.nv), *rest)
