"""Compute derivatives by treefactor, with the keys of ``errors``, and the values they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import numpy as np

from ... import dynamics, kinematics
from ...derivatives.first_order import forward_dynamics_derivatives, rnea_derivatives
from ...derivatives.kinematics import centroidal_derivatives, frame_derivatives
from ...derivatives.products import forward_dynamics_jvp, forward_dynamics_vjp, rnea_jvp, rnea_vjp
from ...derivatives.second_order import rnea_hessian
from ...exceptions import NotPositiveDefiniteError
from ...model.model import Model

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
Matrices = dict[tuple[str, str], np.ndarray]


def derivatives(model: Model, q, v, a, tau, frame: str) -> Matrices:
    """Return the matrices: of q̈ where H has an inverse, of momenta where the robot has mass."""
    matrices: Matrices = {("τ", by): X for by, X in zip("qva", rnea_derivatives(model, q, v, a), strict=True)}
    with suppress(NotPositiveDefiniteError):
        of_accelerations = forward_dynamics_derivatives(model, q, v, tau)
        matrices |= {("q̈", by): X for by, X in zip("qvτ", of_accelerations, strict=True)}
    for reference in REFERENCES:
        motion = frame_derivatives(model, q, v, a, frame, reference)
        matrices |= {(f"V {reference}", by): getattr(motion, f"velocity_{by}") for by in "qv"}
        matrices |= {(f"A {reference}", by): getattr(motion, f"acceleration_{by}") for by in "qva"}
    if model.mass:
        centroidal = centroidal_derivatives(model, q, v, a)
        matrices |= {("ḣ", by): getattr(centroidal, f"dhdot_d{by}") for by in "qva"}
        matrices["h", "q"] = centroidal.dh_dq
    return matrices


def values(model: Model, q, v, a, tau, frame: str) -> dict[str, np.ndarray]:
    """Return tau, q̈ where H has an inverse, V and A in all references, the momentum h and its rate ḣ."""
    quantities = {"τ": dynamics.rnea(model, q, v, a)}
    with suppress(NotPositiveDefiniteError):
        quantities["q̈"] = dynamics.forward_dynamics(model, q, v, tau)
    for reference in REFERENCES:
        quantities[f"V {reference}"] = kinematics.frame_velocity(model, q, v, frame, reference)
        quantities[f"A {reference}"] = kinematics.frame_acceleration(model, q, v, a, frame, reference)
    if model.mass:
        quantities["h"] = kinematics.centroidal_momentum(model, q, v)
        quantities["ḣ"] = kinematics.centroidal_momentum_rate(model, q, v, a)
    return quantities


def hessian(model: Model, q, v, a, w) -> Matrices:
    """Return the derivatives of `gradients`."""
    blocks = rnea_hessian(model, q, v, a, w, symmetric=False)
    return {("∇q", "q"): blocks.qq, ("∇q", "v"): blocks.qv, ("∇q", "a"): blocks.qa, ("∇v", "v"): blocks.vv}


def gradients(model: Model, q, v, a, w) -> dict[str, np.ndarray]:
    """Return the gradients of w . tau by q and v."""
    vjp = rnea_vjp(model, q, v, a, w)
    return {"∇q": vjp.q, "∇v": vjp.v}


def by_products(model: Model, q, v, a, tau, matrices: Matrices) -> Iterator[tuple[str, Matrices]]:
    """Yield the matrices of τ, and of q̈ if it has any, by products with all unit vectors.

    JVP of the unit directions are their columns, VJP of the unit weights their rows.
    """
    unit, still = np.eye(model.nv), np.zeros((model.nv, model.nv))
    for name, inputs, jvp, vjp in (
        ("τ", "qva", partial(rnea_jvp, model, q, v, a), partial(rnea_vjp, model, q, v, a)),
        (
            "q̈",
            "qvτ",
            partial(forward_dynamics_jvp, model, q, v, tau),
            partial(forward_dynamics_vjp, model, q, v, tau),
        ),
    ):
        if (name, "q") not in matrices:
            continue
        directions = [[unit if k == j else still for k in range(3)] for j in range(3)]
        yield "JVP", {(name, by): jvp(*ways).T for by, ways in zip(inputs, directions, strict=True)}
        yield "VJP", {(name, by): rows for by, rows in zip(inputs, vjp(unit)[:3], strict=True)}
