"""Array functions of dynamics: their values and derivatives, in terms of treefactor's functions.

Bias forces, H x and H are inverse dynamics with zero accelerations, or without velocities and gravity; so are
their derivatives. All but forward dynamics are linear in the inertias, so that the derivative along a change
of these is the value with this change in their place, without armature and external forces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from .. import dynamics
from ..derivatives import products, second_order
from ..dynamics.inertias import Inertias
from ..model.gravity import without_gravity
from ..model.model import Model
from ..quantities import functions as quantities
from ._maps import Argument, ArrayFunction, unit_vectors


def vector(model: Model, name: str) -> Argument:
    """Return an argument with an entry for every freedom."""
    return Argument(name, (model.nv,), (model.nv,))


def configuration_of(model: Model, name: str = "q") -> Argument:
    """Return a configuration, whose tangents have nv entries."""
    return Argument(name, (model.nq,), (model.nv,))


def matrix(name: str, shape: tuple[int, ...]) -> Argument:
    """Return an argument of any shape in a vector space."""
    return Argument(name, shape, shape)


class Unchecked(Inertias):
    """Inertias whose numbers need not be finite: elements with others become NaN.

    Notes
    -----
    Thread-compatible.
    """

    def _require_finite(self, *arguments) -> None:
        """Accept all numbers."""


class Extras:
    """Inputs after the state: external forces and inertias, as far as the options name them.

    Notes
    -----
    Thread-safe.
    """

    def __init__(self, model: Model, fext: bool, inertias: bool):
        shapes = {"fext": (model.njoints, 6)} if fext else {}
        if inertias:
            shapes["inertias"] = (model.njoints, 10)
        self.model, self.fext, self.inertias = model, fext, inertias
        self.inputs = [matrix(name, shape) for name, shape in shapes.items()]
        self.wanted = {"fext_gradient": fext, "inertia_gradient": inertias}
        self.results = ["fext"] * fext + ["inertia"] * inertias
        self.last = np.empty((0, model.njoints, 10)), None  # of the last call: often the same in the next one

    def given(self, arrays) -> dict:
        """Return arrays by the names of their arguments."""
        found: dict = dict(zip((one.name for one in self.inputs), arrays, strict=True))
        if self.inertias:
            found["inertias"] = self._inertias(found["inertias"])
        return found

    def _inertias(self, pi: np.ndarray) -> Inertias:
        """Return the inertias of all elements, or one set that they share."""
        if len(pi) and (pi[1:] == pi[0]).all():
            pi = pi[0]
        last, found = self.last
        if found is None or not np.array_equal(pi, last):
            found = Unchecked(self.model, pi)
            self.last = pi.copy(), found
        return found

    def changes(self, arrays) -> tuple[dict, dict]:
        """Return the direction in external forces, and the direction in inertias as inertias, by name."""
        forces = {"dfext": arrays[0]} if self.fext else {}
        if not self.inertias:
            return forces, {}
        return forces, {"inertias": Unchecked(self.model, arrays[-1], np.zeros(self.model.nv))}


def _of_state(
    name: str,
    third: str,
    value: Callable,
    model: Model,
    options: tuple,
    fext: bool = False,
    inertias: bool = False,
) -> ArrayFunction:
    """Build a function of q, v, a third vector and inputs on request, with results of nv entries."""
    extras = Extras(model, fext, inertias)
    inputs = [configuration_of(model), vector(model, "v"), vector(model, third), *extras.inputs]
    inverse = name == "rnea"
    family = "rnea" if inverse else "forward_dynamics"
    jvp, vjp = (getattr(products, f"{family}_{kind}") for kind in ("jvp", "vjp"))
    hvp = getattr(second_order, f"{family}_hvp")

    def run_value(inputs, outputs):
        if extras.inputs:
            value(model, *inputs[:3], out=outputs[0], **extras.given(inputs[3:]))
        else:
            value(model, *inputs, out=outputs[0])

    def run_jvp(inputs, outputs):
        half = len(inputs) // 2
        (q, v, x, *rest), (dq, dv, dx, *changes) = inputs[:half], inputs[half:]
        given, (forces, change) = extras.given(rest), extras.changes(changes)
        if change and not inverse:
            a = dynamics.forward_dynamics(model, q, v, x, **given)
            dx = dx - dynamics.rnea(model, q, v, a, **change)
        jvp(model, q, v, x, dq, dv, dx, out=outputs[0], **given, **forces)
        if change and inverse:
            outputs[0][:] += dynamics.rnea(model, q, v, x, **change)

    def run_vjp(inputs, outputs):
        q, v, x, *rest, w = inputs
        vjp(model, q, v, x, w, out=tuple(outputs), **extras.given(rest), **extras.wanted)

    def run_hvp(inputs, outputs):
        hvp(model, *inputs, out=tuple(outputs))

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    if not extras.inputs:
        runs["hvp"] = run_hvp
    return ArrayFunction(name, model, options, inputs, [vector(model, "result")], runs)


def _forward_dynamics(model: Model, options: tuple, method: str = "factor", **extras: bool):
    value = partial(dynamics.forward_dynamics, method=method)
    return _of_state("forward_dynamics", "tau", value, model, options, **extras)


def _bias(model: Model, options: tuple, fext: bool = False, inertias: bool = False) -> ArrayFunction:
    """Build the bias forces: inverse dynamics with zero accelerations."""
    extras = Extras(model, fext, inertias)
    inputs = [configuration_of(model), vector(model, "v"), *extras.inputs]
    rest = np.zeros(model.nv)

    def run_value(inputs, outputs):
        dynamics.bias(model, *inputs[:2], out=outputs[0], **extras.given(inputs[2:]))

    def run_jvp(inputs, outputs):
        half = len(inputs) // 2
        (q, v, *others), (dq, dv, *changes) = inputs[:half], inputs[half:]
        given, (forces, change) = extras.given(others), extras.changes(changes)
        products.rnea_jvp(model, q, v, rest, dq, dv, None, out=outputs[0], **given, **forces)
        if change:
            outputs[0][:] += dynamics.bias(model, q, v, **change)

    def run_vjp(inputs, outputs):
        q, v, *others, w = inputs
        found = products.rnea_vjp(model, q, v, rest, w, **extras.given(others), **extras.wanted)
        _take(found, ("q", "v", *extras.results), outputs)

    def run_hvp(inputs, outputs):
        q, v, w, dq, dv = inputs
        _take(second_order.rnea_hvp(model, q, v, rest, w, dq, dv, None), ("q", "v"), outputs)

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    if not extras.inputs:
        runs["hvp"] = run_hvp
    return ArrayFunction("bias", model, options, inputs, [vector(model, "result")], runs)


def _take(gradients, names: Sequence[str], outputs) -> None:
    """Copy gradients with these names to the outputs."""
    for name, output in zip(names, outputs, strict=True):
        output[:] = getattr(gradients, name)


def _h_times(model: Model, options: tuple, inertias: bool = False) -> ArrayFunction:
    """Build the product H x: inverse dynamics without gravity and velocities."""
    still, rest = without_gravity(model), np.zeros(model.nv)
    extras = Extras(still, False, inertias)

    def run_value(inputs, outputs):
        dynamics.h_times(still, *inputs[:2], out=outputs[0], **extras.given(inputs[2:]))

    def run_jvp(inputs, outputs):
        half = len(inputs) // 2
        (q, x, *others), (dq, dx, *changes) = inputs[:half], inputs[half:]
        given, (_, change) = extras.given(others), extras.changes(changes)
        products.rnea_jvp(still, q, rest, x, dq, None, dx, out=outputs[0], **given)
        if change:
            outputs[0][:] += dynamics.h_times(still, q, x, **change)

    def run_vjp(inputs, outputs):
        q, x, *others, w = inputs
        found = products.rnea_vjp(still, q, rest, x, w, **extras.given(others), **extras.wanted)
        _take(found, ("q", "a", *extras.results), outputs)

    def run_hvp(inputs, outputs):
        q, x, w, dq, dx = inputs
        _take(second_order.rnea_hvp(still, q, rest, x, w, dq, None, dx), ("q", "a"), outputs)

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    if not inertias:
        runs["hvp"] = run_hvp
    inputs = [configuration_of(model), vector(model, "x"), *extras.inputs]
    return ArrayFunction("h_times", model, options, inputs, [vector(model, "result")], runs)


def _crba(model: Model, options: tuple, inertias: bool = False) -> ArrayFunction:
    """Build H: its column j is H times the unit vector j, and so are the derivatives."""
    still, rest, n = without_gravity(model), np.zeros(model.nv), model.nv
    extras = Extras(still, False, inertias)

    def columns(arrays) -> dict:
        """Return the inertias of every column by name."""
        which = np.repeat(np.arange(len(arrays[0])), n) if inertias else None
        return {"inertias": Unchecked(still, arrays[0], which=which)} if inertias else {}

    def run_value(inputs, outputs):
        dynamics.crba(still, inputs[0], out=outputs[0], **extras.given(inputs[1:]))

    def run_jvp(inputs, outputs):
        half, batch = len(inputs) // 2, len(inputs[0])
        (q, *others), (dq, *changes) = inputs[:half], inputs[half:]
        every, units = unit_vectors(n, batch, q)
        directions = np.repeat(dq, n, axis=0)
        found = products.rnea_jvp(still, every, rest, units, directions, None, None, **columns(others))
        outputs[0][:] = found.reshape(batch, n, n)
        _, change = extras.changes(changes)
        if change:
            outputs[0][:] += dynamics.crba(still, q, **change)

    def run_vjp(inputs, outputs):
        (q, *others, weights), batch = inputs, len(inputs[0])
        every, units = unit_vectors(n, batch, q)
        w = np.swapaxes(weights, 1, 2).reshape(batch * n, n)
        found = products.rnea_vjp(still, every, rest, units, w, **columns(others), **extras.wanted)
        for name, output in zip(("q", *extras.results), outputs, strict=True):
            each = getattr(found, name)
            output[:] = each.reshape(batch, n, *each.shape[1:]).sum(axis=1)

    def run_hvp(inputs, outputs):
        batch = len(inputs[0])
        q, units = unit_vectors(n, batch, inputs[0])
        w = np.swapaxes(inputs[1], 1, 2).reshape(batch * n, n)
        found = second_order.rnea_hvp(still, q, rest, units, w, np.repeat(inputs[2], n, axis=0), None, None)
        outputs[0][:] = found.q.reshape(batch, n, n).sum(axis=1)

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    if not inertias:
        runs["hvp"] = run_hvp
    inputs = [configuration_of(model), *extras.inputs]
    return ArrayFunction("crba", model, options, inputs, [matrix("H", (n, n))], runs)


def _values_only(
    name: str, inputs, outputs, compute: Callable, model: Model, options: tuple
) -> ArrayFunction:
    """Build a function that the frameworks differentiate by themselves."""

    def run(arrays, outs):
        compute(model, *arrays, out=outs[0] if len(outs) == 1 else tuple(outs))

    return ArrayFunction(name, model, options, inputs, outputs, {"value": run})


def _integrate(model: Model, options: tuple) -> ArrayFunction:
    q = configuration_of(model)
    return _values_only("integrate", [q, vector(model, "v")], [q], quantities.integrate, model, options)


def _difference(model: Model, options: tuple) -> ArrayFunction:
    inputs = [configuration_of(model, "q0"), configuration_of(model, "q1")]
    return _values_only("difference", inputs, [vector(model, "v")], quantities.difference, model, options)


def _normalize(model: Model, options: tuple) -> ArrayFunction:
    q = configuration_of(model)
    return _values_only("normalize", [q], [q], quantities.normalize, model, options)


def _step(model: Model, options: tuple, h: float, method: str = "semi_implicit_euler", **wanted: bool):
    """Build a step: the state after the time h."""
    extras = Extras(model, wanted.get("fext", False), wanted.get("inertias", False))
    inputs = [configuration_of(model), vector(model, "v"), vector(model, "tau"), *extras.inputs]

    def compute(model, q, v, tau, *others, out):
        dynamics.step(model, q, v, tau, h, method, out=out, **extras.given(others))

    return _values_only("step", inputs, inputs[:2], compute, model, options)


def _rollout(
    model: Model,
    options: tuple,
    h: float,
    steps: int,
    method: str = "semi_implicit_euler",
    fext: bool = False,
    inertias: bool = False,
):
    """Build a trajectory of states: the first ones and those after every step."""
    n, many, extras = model.nv, steps + 1, Extras(model, fext, inertias)
    inputs = [configuration_of(model, "q0"), vector(model, "v0"), matrix("tau", (steps, n))]
    outputs = [Argument("q", (many, model.nq), (many, n)), matrix("v", (many, n))]
    forces = [matrix("fext", (steps, model.njoints, 6))] * fext

    def compute(model, q0, v0, tau, *others, out):
        dynamics.rollout(model, q0, v0, tau, h, None, method, out=out, **extras.given(others))

    inputs += forces + extras.inputs[len(forces) :]
    return _values_only("rollout", inputs, outputs, compute, model, options)


BUILDERS = {
    "forward_dynamics": _forward_dynamics,
    "aba": partial(_of_state, "aba", "tau", dynamics.aba),
    "rnea": partial(_of_state, "rnea", "a", dynamics.rnea),
    "bias": _bias,
    "h_times": _h_times,
    "crba": _crba,
    "integrate": _integrate,
    "difference": _difference,
    "normalize": _normalize,
    "step": _step,
    "rollout": _rollout,
}
