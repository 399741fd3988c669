"""JAX primitives of the functions of a model, with their derivative, transposition and batching rules.

Every function has five maps: its value, the derivative along a direction u (jvp), the gradient of a sum with
weights w (vjp), the second derivative of that sum along a direction d (hvp), and the second derivative of the
function along two directions u and d (second). All but the value are linear in u, d and w:

    derivative of value: jvp          jvp, transposed by u: vjp         hvp, transposed by d: hvp
    derivative of jvp by x: second    vjp, transposed by w: jvp         hvp, transposed by w: second
    derivative of vjp by x: hvp       second, transposed by u or d: hvp

so that every mode of differentiation is closed up to order 2. Second derivatives by configurations do not
commute: along E_u f, the derivative of f along ``integrate(q, t u)``, the derivative along d is the symmetric
one plus that along [E_d, E_u] / 2.
"""

from __future__ import annotations

import math
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from ._jax_calls import run_map
from ._jax_shards import alike, like

THIRD = (
    "third derivatives of {name} are not available: JAX can differentiate it twice; "
    "finite differences of second derivatives are a way out"
)
SECOND = "second derivatives of {name} are not available: JAX can differentiate it once"


class Function:
    """A function of a model as JAX sees it; equal for equal models, so that they share compiled programs.

    Parameters
    ----------
    arrays : MappedFunction
    manifold : Manifold
        Of the model's configurations, on jax.numpy.
    digest : int
        Of the model.
    tangent : callable, optional
        Returns the tangents of the results from inputs, results and tangents of inputs; None where an
        input is constant. Functions with maps of derivatives need none.

    Notes
    -----
    Thread-safe.
    """

    def __init__(self, arrays, manifold, digest: int, tangent=None):
        self.arrays, self.manifold, self.digest, self.tangent = arrays, manifold, digest, tangent
        self.key = digest, arrays.key
        self.hash = hash(self.key)
        self.x, self.dx, self.w = arrays.x, arrays.dx, arrays.w

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        return isinstance(other, Function) and self.key == other.key

    def configurations(self) -> list[int]:
        """Return the positions of inputs whose tangents are not derivatives of their entries."""
        return [] if self.manifold.trivial else [k for k, x in enumerate(self.x) if x != self.dx[k]]

    def split(self, kind: str, operands) -> list[list]:
        """Return the operands of a map by groups."""
        operands, parts = list(operands), []
        for group in self.arrays.groups(kind):
            parts.append(operands[: len(group)])
            operands = operands[len(group) :]
        return parts

    def lead(self, x: list) -> tuple[int, ...]:
        """Return the leading axes of inputs, which are the batch."""
        return x[0].shape[: len(x[0].shape) - len(self.x[0])]

    def directions(self, x: list, tangents: list) -> list:
        """Return tangents of the inputs as the maps read them: those of configurations with nv entries."""
        lead, dtype = self.lead(x), x[0].dtype
        directions = []
        for k, tangent in enumerate(tangents):
            if is_zero(tangent):
                directions.append(jnp.zeros((*lead, *self.dx[k]), dtype))
            else:
                directions.append(
                    self.manifold.to_tangent(x[k], tangent) if k in self.configurations() else tangent
                )
        return directions

    def require(self, order: int, message: str) -> None:
        """Raise if derivatives of an order are not available."""
        if self.arrays.order < order:
            raise NotImplementedError(message.format(name=self.arrays.title))


def is_zero(tangent) -> bool:
    """Return whether a tangent is JAX's symbol for zero."""
    return type(tangent) is ad.Zero


def nonzero(tangents) -> bool:
    """Return whether any tangent may differ from zero."""
    return not all(map(is_zero, tangents))


def bind(kind: str, function: Function, *groups) -> list:
    """Apply a map to arrays with equal leading axes, given by groups."""
    operands = alike([array for group in groups for array in group])
    return PRIMITIVES[kind].bind(*operands, function=function)


def _value_jvp(primals, tangents, *, function):
    x, results = list(primals), bind("value", function, primals)
    if function.tangent is not None:
        given = [None if is_zero(t) else t for t in tangents]
        return results, function.tangent(x, results, given)
    function.require(1, "derivatives of {name} are not available")
    return results, bind("jvp", function, x, function.directions(x, tangents))


def _jvp_jvp(primals, tangents, *, function):
    (x, u), (dx, du) = function.split("jvp", primals), function.split("jvp", tangents)
    terms, e = [], du
    if nonzero(dx):
        function.require(2, SECOND)
        d = function.directions(x, dx)
        terms.append(bind("second", function, x, u, d))
        for k in function.configurations():
            term = function.manifold.bracket(d[k], u[k]) / 2
            e = [*e[:k], term if is_zero(e[k]) else e[k] + term, *e[k + 1 :]]
    if nonzero(e):
        terms.append(bind("jvp", function, x, _filled(e)))
    return bind("jvp", function, x, u), _total(terms)


def _vjp_jvp(primals, tangents, *, function):
    (x, w), (dx, dw) = function.split("vjp", primals), function.split("vjp", tangents)
    results, terms = bind("vjp", function, x, w), []
    if nonzero(dx):
        function.require(2, SECOND)
        d = function.directions(x, dx)
        change = bind("hvp", function, x, w, d)
        for k in function.configurations():
            change[k] = change[k] + function.manifold.co_bracket(d[k], results[k]) / 2
        terms.append(change)
    if nonzero(dw):
        terms.append(bind("vjp", function, x, _filled(dw)))
    return results, _total(terms)


def _bilinear_jvp(primals, tangents, *, function, kind):
    """Differentiate hvp or second by its two linear groups; by x it would be a third derivative."""
    (x, a, b), (dx, da, db) = function.split(kind, primals), function.split(kind, tangents)
    if nonzero(dx):
        raise NotImplementedError(THIRD.format(name=function.arrays.name))
    terms = []
    if nonzero(da):
        terms.append(bind(kind, function, x, _filled(da), b))
    if nonzero(db):
        terms.append(bind(kind, function, x, a, _filled(db)))
    return bind(kind, function, x, a, b), _total(terms)


def _filled(tangents) -> list:
    """Return tangents with arrays of zeros in the place of symbols."""
    return [ad.instantiate_zeros(tangent) for tangent in tangents]


def _total(terms: list[list]) -> list:
    """Return the sums of results, one by one."""
    return [sum(parts[1:], start=parts[0]) for parts in zip(*terms, strict=True)]


def _transpose(cotangents, *operands, function, kind):
    """Transpose a map by the group of operands in which it is linear and that is not known."""
    groups = function.split(kind, operands)
    at = next(k for k, group in enumerate(groups) if any(map(ad.is_undefined_primal, group)))
    other = [group for k, group in enumerate(groups) if k not in (0, at)]
    into = {("jvp", 1): "vjp", ("vjp", 1): "jvp", ("hvp", 1): "second", ("hvp", 2): "hvp"}
    x, c = groups[0], _filled(cotangents)
    arguments = [x, *other, c] if kind == "hvp" else [x, c, *other]
    transposed = bind(into.get((kind, at), "hvp"), function, *arguments)
    results = [[None] * len(group) for group in groups]
    results[at] = [
        value if ad.is_undefined_primal(operand) else None
        for operand, value in zip(groups[at], transposed, strict=True)
    ]
    return [value for group in results for value in group]


def _batch(operands, axes, *, function, kind):
    """Move the mapped axis to the front of all operands, where it is one more axis of the batch."""
    size = next(x.shape[axis] for x, axis in zip(operands, axes, strict=True) if axis is not None)
    moved = [
        jnp.broadcast_to(x, (size, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
    ]
    results = PRIMITIVES[kind].bind(*moved, function=function)
    return results, [0] * len(results)


def _abstract(*operands, function, kind):
    first, lead = operands[0], function.lead(operands)
    return [like(first, (*lead, *shape)) for shape in function.arrays.results(kind)]


def _lowered(*operands, function, kind):
    """Return the results of a map within a compiled program."""
    lead = function.lead(operands)
    if kind == "second":
        return _second(function, lead, *function.split(kind, operands))
    return run_map(function.arrays.map(kind), function.digest, operands, lead)


def _second(function, lead, x, u, d) -> list:
    """Return second derivatives along u and d: those of every entry of the results, as a batch of hvp."""
    sizes = [math.prod(shape) for shape in function.w]
    total = sum(sizes)
    units = jnp.split(jnp.eye(total, dtype=x[0].dtype), np.cumsum(sizes)[:-1], axis=1)
    w = [
        jnp.broadcast_to(jnp.reshape(unit, (total, *(1 for _ in lead), *shape)), (total, *lead, *shape))
        for unit, shape in zip(units, function.w, strict=True)
    ]
    spread = [[jnp.broadcast_to(a, (total, *a.shape)) for a in group] for group in (x, d)]
    gradients = bind("hvp", function, spread[0], w, spread[1])
    axes = [tuple(range(-len(shape), 0)) for shape in function.dx]
    products = [
        jnp.sum(gradient * direction, axis)
        for gradient, direction, axis in zip(gradients, u, axes, strict=True)
    ]
    entries = jnp.moveaxis(sum(products[1:], start=products[0]), 0, -1)
    parts = jnp.split(entries, np.cumsum(sizes)[:-1], axis=-1)
    return [jnp.reshape(part, (*lead, *shape)) for part, shape in zip(parts, function.w, strict=True)]


@cache
def _compiled(kind: str, function: Function):
    """Return the compiled map, for calls outside of transformations."""
    return jax.jit(partial(PRIMITIVES[kind].bind, function=function))


def _primitive(kind: str) -> Primitive:
    """Return the primitive of one kind of map."""
    primitive = Primitive(f"treefactor_{kind}")
    primitive.multiple_results = True
    primitive.def_impl(lambda *operands, function: _compiled(kind, function)(*operands))
    primitive.def_abstract_eval(partial(_abstract, kind=kind))
    lowering = mlir.lower_fun(partial(_lowered, kind=kind), multiple_results=True)
    mlir.register_lowering(primitive, lowering, platform="cpu")
    jvps = {"value": _value_jvp, "jvp": _jvp_jvp, "vjp": _vjp_jvp}
    ad.primitive_jvps[primitive] = jvps.get(kind) or partial(_bilinear_jvp, kind=kind)
    if kind != "value":
        ad.primitive_transposes[primitive] = partial(_transpose, kind=kind)
    batching.primitive_batchers[primitive] = partial(_batch, kind=kind)
    return primitive


PRIMITIVES = {kind: _primitive(kind) for kind in ("value", "jvp", "vjp", "hvp", "second")}
