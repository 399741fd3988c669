"""Tangents of configurations, steps and trajectories in JAX: compositions of derivatives known elsewhere.

Their values come from one call of a kernel each; derivatives are those of `Manifold`, in JAX's operations,
and of forward dynamics, so that they exist to the same order.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ._jax_rules import Function, bind
from ._manifold import runge_kutta


def tangent_of_formula(formula):
    """Return the tangent of a function that is known in JAX's operations."""

    def tangent(x, results, tangents):
        return [jax.jvp(formula, tuple(x), tuple(_filled(x, tangents)))[1]]

    return tangent


def _filled(x, tangents) -> list:
    return [jnp.zeros_like(a) if t is None else t for a, t in zip(x, tangents, strict=True)]


class MotionTangents:
    """Tangents of `step` and `rollout`.

    Parameters
    ----------
    dynamics : Function
        Forward dynamics, with fext and inertias if the motion has them.
    h : float
        Length of a step, s.
    method : {"semi_implicit_euler", "rk4"}

    Notes
    -----
    Thread-safe.
    """

    def __init__(self, dynamics: Function, h: float, method: str):
        self.dynamics, self.manifold, self.h = dynamics, dynamics.manifold, h
        self.count = sum(one.name != "inertias" for one in dynamics.arrays.inputs)  # inertias: in all steps
        self.linear = self._euler if method == "semi_implicit_euler" else self._runge_kutta

    def of_step(self, x, results, tangents) -> list:
        """Return the tangents of q and v after a step."""
        return list(self.linear(x, results[1], _filled(x, tangents)))

    def of_rollout(self, x, results, tangents) -> list:
        """Return the tangents of trajectories, step by step along the states that the kernel computed."""
        time = x[0].ndim - 1
        q, v = (jnp.moveaxis(a, time, 0) for a in results)
        tangents = _filled(x, tangents)
        groups = x, tangents
        forces, changes = ([jnp.moveaxis(a, time, 0) for a in group[2 : self.count]] for group in groups)
        inertias, changes_too = (group[self.count :] for group in groups)

        def advance(carry, given):
            q, v, after, forces, changes = given
            state = [q, v, *forces, *inertias]
            carry = self.linear(state, after, [*carry, *changes, *changes_too])
            return carry, carry

        unit = self.manifold.from_tangent(x[0], self.manifold.to_tangent(x[0], tangents[0]))
        start = unit, tangents[1]
        _, rest = jax.lax.scan(advance, start, (q[:-1], v[:-1], v[1:], forces, changes))
        return [
            jnp.moveaxis(jnp.concatenate([first[None], others]), 0, time)
            for first, others in zip(start, rest, strict=True)
        ]

    def _euler(self, x, after, tangents):
        """Return the tangent of v + h a and of the integration of q by it; ``after`` is that velocity."""
        dq, dv = tangents[:2]
        directions = self.dynamics.directions(x, tangents)
        dv = dv + self.h * bind("jvp", self.dynamics, x, directions)[0]
        return jax.jvp(self._turned, (x[0], after), (dq, dv))[1], dv

    def _turned(self, q, v):
        return self.manifold.integrate(q, self.h * v)

    def _runge_kutta(self, x, after, tangents):
        return jax.jvp(self._runge_kutta_step, tuple(x), tuple(tangents))[1]

    def _runge_kutta_step(self, q, v, *forces):
        def accelerate(q, v):
            return bind("value", self.dynamics, [q, v, *forces])[0]

        return runge_kutta(self.h, q, v, accelerate, self.manifold.integrate, self.manifold.bracket)


def tangent_of_motion(name: str, dynamics: Function, h: float, method: str):
    """Return the tangent of "step" or "rollout" for `Function`."""
    tangents = MotionTangents(dynamics, h, method)
    return tangents.of_step if name == "step" else tangents.of_rollout
