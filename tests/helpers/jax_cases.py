"""Models, arguments and the precision of JAX for the tests of `treefactor.adapters.jax_`."""

from contextlib import contextmanager

import numpy as np
import pytest

import treefactor as tf
from helpers.derivative_cases import FOLLOWERS, TREES, chain, random_case

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'treefactor[jax]'")

from treefactor.adapters import jax_  # noqa: E402
from treefactor.adapters._maps import array_function  # noqa: E402
from treefactor.quantities.declaration import NEEDED  # noqa: E402
from treefactor.quantities.frameworks import DIFFERENTIABLE, JAX  # noqa: E402

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


def calls(model, size=(), fext=False) -> dict:
    """Return arguments of every declared function, as NumPy arrays before other values, by name."""
    q, v, a, tau, forces = random_case(model, 3, size)
    joint, first = model.joints[-1].name, model.joints[0].name
    known = {"q": q, "q0": q, "v": v, "v0": v, "a": a, "x": a, "tau": tau, "fext": forces}
    known |= {"q1": tf.integrate(model, q, v), "frame": joint, "reference": "WORLD", "h": H}
    special = {
        "normalize": {"q": 1.1 * q},
        "step": {"method": "rk4"},
        "rollout": {"tau": np.repeat(tau[..., None, :], 4, axis=-2)},
        "frame_jacobian": {"frame": [joint, first], "reference": "LOCAL_WORLD_ALIGNED"},
    }
    return {name: _call(model, size, name, known, special.get(name, {}), fext) for name in DIFFERENTIABLE}


def _call(model, size, name, known, special, fext) -> tuple:
    """Return the arguments of a function: those it needs, references, and forces if asked for."""
    quantity, arguments = JAX.quantity(name), []
    shapes = {one.name: one.shape for one in quantity.inputs}
    rng = np.random.default_rng(4)
    for key, default in list(quantity.arguments.items())[1:]:
        if (
            default is not NEEDED
            and key not in ("reference", *special)
            and not (key == "fext" and fext and not special)
        ):
            break
        if key in special or key in known:
            arguments.append(special.get(key, known.get(key)))
        else:
            shape = [getattr(model, axis) if isinstance(axis, str) else axis for axis in shapes[key]]
            arguments.append(rng.normal(size=(*size, *shape)))
    return tuple(arguments)


def order_of(name) -> int:
    """Return the order of the derivatives of a function."""
    options = {"frame": ARM.joints[0].name, "h": H, "steps": 1}
    taken = JAX.quantity(name).arguments
    given = {key: value for key, value in options.items() if key in taken}
    return array_function(name, ARM, **given).order


def as_tuple(result) -> tuple:
    """Return results as a tuple, also one array."""
    return result if isinstance(result, tuple) else (result,)


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
