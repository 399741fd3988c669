"""Array functions of dynamics: their values and derivatives, in terms of treefactor's functions.

Bias forces, H x and H are inverse dynamics with zero accelerations, or without velocities and gravity; so are
their derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .. import dynamics
from ..derivatives import products, second_order
from ..exceptions import ConfigurationError
from ..model import configuration
from ..model.gravity import without_gravity
from ..model.model import Model
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


def _forces(model: Model) -> Argument:
    return Argument("fext", (model.njoints, 6), (model.njoints, 6))


def _of_state(
    name: str, third: str, value: Callable, model: Model, options: tuple, fext: bool = False, **given
) -> ArrayFunction:
    """Build a function of q, v, a third vector and external forces on request, with results of nv entries."""
    inputs = [configuration_of(model), vector(model, "v"), vector(model, third)]
    family = "rnea" if name == "rnea" else "forward_dynamics"
    jvp, vjp = (getattr(products, f"{family}_{kind}") for kind in ("jvp", "vjp"))
    hvp = getattr(second_order, f"{family}_hvp")

    def run_value(inputs, outputs):
        value(model, *inputs, out=outputs[0], **given)

    def run_jvp(inputs, outputs):
        half = len(inputs) // 2
        x, dx = inputs[:half], inputs[half:]
        forces = {"fext": x[3], "dfext": dx[3]} if fext else {}
        jvp(model, *x[:3], *dx[:3], out=outputs[0], **forces)

    def run_vjp(inputs, outputs):
        q, v, x, *forces, w = inputs
        vjp(model, q, v, x, w, *forces, fext_gradient=fext, out=tuple(outputs))

    def run_hvp(inputs, outputs):
        hvp(model, *inputs, out=tuple(outputs))

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    if fext:
        inputs.append(_forces(model))
    else:
        runs["hvp"] = run_hvp
    return ArrayFunction(name, model, options, inputs, [vector(model, "result")], runs)


def _forward_dynamics(model: Model, options: tuple, method: str = "factor", fext: bool = False):
    value = partial(dynamics.forward_dynamics, method=method)
    return _of_state("forward_dynamics", "tau", value, model, options, fext)


def _bias(model: Model, options: tuple, fext: bool = False) -> ArrayFunction:
    """Build the bias forces: inverse dynamics with zero accelerations."""
    inputs = [configuration_of(model), vector(model, "v"), *[_forces(model)] * fext]
    rest = np.zeros(model.nv)

    def run_value(inputs, outputs):
        dynamics.bias(model, *inputs, out=outputs[0])

    def run_jvp(inputs, outputs):
        half = len(inputs) // 2
        (q, v, *forces), (dq, dv, *changes) = inputs[:half], inputs[half:]
        products.rnea_jvp(model, q, v, rest, dq, dv, None, *forces, *changes, out=outputs[0])

    def run_vjp(inputs, outputs):
        q, v, *forces, w = inputs
        gradients = products.rnea_vjp(model, q, v, rest, w, *forces, fext_gradient=fext)
        for name, output in zip(("q", "v", "fext"), outputs, strict=False):
            output[:] = getattr(gradients, name)

    def run_hvp(inputs, outputs):
        q, v, w, dq, dv = inputs
        found = second_order.rnea_hvp(model, q, v, rest, w, dq, dv, None)
        outputs[0][:], outputs[1][:] = found.q, found.v

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    if not fext:
        runs["hvp"] = run_hvp
    return ArrayFunction("bias", model, options, inputs, [vector(model, "result")], runs)


def _h_times(model: Model, options: tuple) -> ArrayFunction:
    """Build the product H x: inverse dynamics without gravity and velocities."""
    still, rest = without_gravity(model), np.zeros(model.nv)

    def run_value(inputs, outputs):
        dynamics.h_times(model, *inputs, out=outputs[0])

    def run_jvp(inputs, outputs):
        q, x, dq, dx = inputs
        products.rnea_jvp(still, q, rest, x, dq, None, dx, out=outputs[0])

    def run_vjp(inputs, outputs):
        q, x, w = inputs
        gradients = products.rnea_vjp(still, q, rest, x, w)
        outputs[0][:], outputs[1][:] = gradients.q, gradients.a

    def run_hvp(inputs, outputs):
        q, x, w, dq, dx = inputs
        found = second_order.rnea_hvp(still, q, rest, x, w, dq, None, dx)
        outputs[0][:], outputs[1][:] = found.q, found.a

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp, "hvp": run_hvp}
    inputs = [configuration_of(model), vector(model, "x")]
    return ArrayFunction("h_times", model, options, inputs, [vector(model, "result")], runs)


def _crba(model: Model, options: tuple) -> ArrayFunction:
    """Build H: its column j is H times the unit vector j, and so are the derivatives."""
    still, rest, n = without_gravity(model), np.zeros(model.nv), model.nv

    def run_value(inputs, outputs):
        dynamics.crba(model, inputs[0], out=outputs[0])

    def run_jvp(inputs, outputs):
        batch = len(inputs[0])
        q, units = unit_vectors(n, batch, inputs[0])
        dq = np.repeat(inputs[1], n, axis=0)
        outputs[0][:] = products.rnea_jvp(still, q, rest, units, dq, None, None).reshape(batch, n, n)

    def run_vjp(inputs, outputs):
        batch = len(inputs[0])
        q, units = unit_vectors(n, batch, inputs[0])
        w = np.swapaxes(inputs[1], 1, 2).reshape(batch * n, n)
        outputs[0][:] = products.rnea_vjp(still, q, rest, units, w).q.reshape(batch, n, n).sum(axis=1)

    def run_hvp(inputs, outputs):
        batch = len(inputs[0])
        q, units = unit_vectors(n, batch, inputs[0])
        w = np.swapaxes(inputs[1], 1, 2).reshape(batch * n, n)
        found = second_order.rnea_hvp(still, q, rest, units, w, np.repeat(inputs[2], n, axis=0), None, None)
        outputs[0][:] = found.q.reshape(batch, n, n).sum(axis=1)

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp, "hvp": run_hvp}
    return ArrayFunction("crba", model, options, [configuration_of(model)], [matrix("H", (n, n))], runs)


def _values_only(
    name: str, inputs, outputs, compute: Callable, model: Model, options: tuple
) -> ArrayFunction:
    """Build a function that the frameworks differentiate by themselves."""

    def run(arrays, outs):
        compute(model, *arrays, out=outs[0] if len(outs) == 1 else tuple(outs))

    return ArrayFunction(name, model, options, inputs, outputs, {"value": run})


def _with_nan_rows(name: str) -> Callable:
    """Return integrate or difference with NaN for configurations whose rotations lack unit length."""

    def compute(model, *arrays, out):
        try:
            getattr(configuration, name)(model, *arrays, out=out)
        except ConfigurationError:
            model.configurations.rows(name, arrays, out)

    return compute


def _integrate(model: Model, options: tuple) -> ArrayFunction:
    inputs, compute = [configuration_of(model), vector(model, "v")], _with_nan_rows("integrate")
    return _values_only("integrate", inputs, [configuration_of(model)], compute, model, options)


def _difference(model: Model, options: tuple) -> ArrayFunction:
    inputs = [configuration_of(model, "q0"), configuration_of(model, "q1")]
    compute = _with_nan_rows("difference")
    return _values_only("difference", inputs, [vector(model, "v")], compute, model, options)


def _normalize(model: Model, options: tuple) -> ArrayFunction:
    q = configuration_of(model)
    return _values_only("normalize", [q], [q], configuration.normalize, model, options)


def _step(model: Model, options: tuple, h: float, method: str = "semi_implicit_euler", fext: bool = False):
    """Build a step: the state after the time h."""
    inputs = [configuration_of(model), vector(model, "v"), vector(model, "tau")]

    def compute(model, q, v, tau, *forces, out):
        dynamics.step(model, q, v, tau, h, method, *forces, out=out)

    return _values_only("step", inputs + [_forces(model)] * fext, inputs[:2], compute, model, options)


def _rollout(
    model: Model,
    options: tuple,
    h: float,
    steps: int,
    method: str = "semi_implicit_euler",
    fext: bool = False,
):
    """Build a trajectory of states: the first ones and those after every step."""
    n, many = model.nv, steps + 1
    inputs = [configuration_of(model, "q0"), vector(model, "v0"), matrix("tau", (steps, n))]
    outputs = [Argument("q", (many, model.nq), (many, n)), matrix("v", (many, n))]
    forces = [matrix("fext", (steps, model.njoints, 6))] * fext

    def compute(model, q0, v0, tau, *forces, out):
        dynamics.rollout(model, q0, v0, tau, h, None, method, *forces, out=out)

    return _values_only("rollout", inputs + forces, outputs, compute, model, options)


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
