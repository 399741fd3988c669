"""Models and states for the tests of tangents in JAX and PyTorch."""

import numpy as np

import treefactor as tf
from treefactor.adapters._lie_groups import GROUPS
from treefactor.adapters._manifold import Manifold
from treefactor.model.joints import ROTATIONS

from .codegen_models import KINDS, random_model

TURNING = tuple(GROUPS)
PLACED = {f"{kind} at the root": (kind, "revolute") for kind in KINDS}
PLACED |= {f"{kind} in the tree": ("revolute", kind, "prismatic", kind) for kind in KINDS}
MIXED = ("revolute", *KINDS, "spherical", "freeflyer", "helical", "planar", "continuous")
CLOSE = {"rtol": 1e-14, "atol": 1e-14}


def robot(kinds, leaders=None) -> tf.Model:
    """Return a tree of joints of these kinds."""
    return random_model(np.random.default_rng(7), kinds, leaders=leaders)


def mixed() -> tf.Model:
    """Return a model with several joints of every kind, and mimic joints between them."""
    kinds = (*MIXED[:3], "revolute", *MIXED[3:], "prismatic")
    return robot(kinds, {3: 2, len(kinds) - 1: 0})


def draw(model, size=(), scale=1.0, seed=0):
    """Return random q, another q and a velocity."""
    rng = np.random.default_rng(seed)
    return *tf.random_configuration(model, rng, size=(2, *size)), scale * rng.normal(size=(*size, model.nv))


def off_unit(model, q):
    """Return q with rotations of other lengths."""
    q = q.copy()
    for kind in GROUPS.keys() & model.entries.keys():
        q[..., model.entries[kind][0][:, ROTATIONS[kind]]] *= 1.3
    return q


def at_state(kinds, name, where):
    """Return a model and the arguments of a function at rest, in motion or near half a turn."""
    model = robot(kinds)
    manifold, (q, _, v) = Manifold(model, np), draw(model)
    if where == "near half a turn":
        v[[6, 9, 10]], v[4:7] = 3.0, (1.5, 1.8, 1.6)
    v = 0.0 * v if where == "at rest" else v
    second = tf.integrate(model, q, v) if name == "difference" else v
    return model, (q, manifold.from_tangent(q, v) if name == "to_tangent" else second)


def as_it_is(function):
    """Return a function, not compiled."""
    return function


def check_steps_of_all_kinds(xp, array, fast=as_it_is):
    """Compare steps of a mixed tree in a framework, whose functions are xp, with those of treefactor."""
    model = mixed()
    manifold, (q, other, v) = Manifold(model, xp), draw(model, (3,))
    given = [array(x) for x in (q, other, v)]
    np.testing.assert_allclose(
        fast(manifold.integrate)(given[0], given[2]), tf.integrate(model, q, v), **CLOSE
    )
    np.testing.assert_allclose(fast(manifold.difference)(*given[:2]), tf.difference(model, q, other), **CLOSE)
    long = off_unit(model, q)
    np.testing.assert_allclose(fast(manifold.normalize)(array(long)), tf.normalize(model, long), **CLOSE)
    again = fast(lambda q, v: manifold.to_tangent(q, manifold.from_tangent(q, v)))
    np.testing.assert_allclose(again(given[0], given[2]), v, rtol=1e-13, atol=1e-13)


def results_in_single_precision(xp, array, evaluate):
    """Return q in single precision, and the results of all functions of a manifold for it."""
    model = mixed()
    manifold, (q, other, v) = Manifold(model, xp), draw(model)
    q, other, v = (array(x.astype(np.float32)) for x in (q, other, v))

    def everything(q, other, v):
        results = [manifold.integrate(q, v), manifold.difference(q, other), manifold.normalize(q)]
        results += [manifold.to_tangent(q, other), manifold.from_tangent(q, v), manifold.pull(q, v)]
        return *results, manifold.bracket(v, v), manifold.co_bracket(v, v)

    return q, evaluate(everything, q, other, v)


def check_empty_batches(xp, fast=as_it_is):
    """Check shapes of empty batches, of a robot with several joints of a kind."""
    model = mixed()
    manifold, ones = Manifold(model, xp), xp.ones
    q, v = ones((0, model.nq)), ones((0, model.nv))
    assert fast(manifold.integrate)(q, v).shape == fast(manifold.pull)(q, v).shape == q.shape
    assert fast(manifold.difference)(q, q).shape == v.shape
