"""Compute tangents of configurations with the functions of jax.numpy or torch: differentiable to any order.

q has nq entries, a tangent has nv, and two matrices convert them. dq = G(q) v is how q changes along
`treefactor.integrate`, the matrix of Pinocchio's C++ function integrateCoeffWiseJacobian; v = P(q) dq is
how normalize(q) moves when the entries of q change by any dq. P G = 1, and P maps the entries of a rotation
to zero. The derivative of a function by the entries of q is that of the function of normalize(q): gradients
by entries are P^T g.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.model import Model
from ._lie_groups import GROUPS, Group


class Manifold:
    """Tangents, steps and brackets of the configurations of a model.

    Parameters
    ----------
    model : Model
    xp : module
        jax.numpy or torch: functions of this module do all the work.

    Attributes
    ----------
    trivial : bool
        Whether G = P = 1: no quaternion and no (cos, sin). Then arguments are returned as they are.
    commutes : bool
        Whether all brackets are zero.

    Notes
    -----
    All methods take leading batch axes, which broadcast, keep the dtype, and can be traced, mapped and
    differentiated to any order by the framework: also at v = 0 and q0 = q1. A rotation in q may have any
    length but zero, by which it is divided. Mimic joints have no entries in q and v.
    """

    trivial: bool
    commutes: bool

    def __init__(self, model: Model, xp: Any):
        self.xp = xp
        plain = [places for kind, places in model.entries.items() if kind not in GROUPS]
        parts = [_Part(GROUPS[kind](xp), *places) for kind, places in model.entries.items() if kind in GROUPS]
        self.trivial = not parts
        self.commutes = all(part.group.commutes for part in parts)
        if plain:
            q, v = (np.sort(np.concatenate([each[k].ravel() for each in plain])) for k in (0, 1))
            parts.append(_Part(None, q[:, None], v[:, None]))
        self._parts = sorted(parts, key=lambda part: part.first)
        self._order_q, self._order_v = (_order([part.indices[k] for part in self._parts]) for k in (0, 1))

    def normalize(self, q):
        """Return q with rotations of unit length, as `treefactor.normalize`."""
        if self.trivial:
            return q
        return self._join(0, [part.group.normalize(x) if part.group else x for part, x in self._split(0, q)])

    def integrate(self, q, v):
        """Return normalize(q) after one second at the velocity v, as `treefactor.integrate`."""
        return q + v if self.trivial else self._apply("integrate", q, v, (0, 1, 0), _sum)

    def difference(self, q0, q1):
        """Return the shortest velocity from q0 to q1 in one second, as `treefactor.difference`."""
        return q1 - q0 if self.trivial else self._apply("difference", q0, q1, (0, 0, 1), _change)

    def to_tangent(self, q, dq):
        """Return P(q) dq, the tangent of normalize(q) when the entries of q change by dq."""
        return dq if self.trivial else self._apply("to_tangent", q, dq, (0, 0, 1), _second)

    def from_tangent(self, q, v):
        """Return G(q) v, the change of the entries of q along `integrate`, times the length of a rotation."""
        return v if self.trivial else self._apply("from_tangent", q, v, (0, 1, 0), _second)

    def pull(self, q, g):
        """Return P(q)^T g, the gradient by the entries of q, from the gradient g along `integrate`."""
        return g if self.trivial else self._apply("pull", q, g, (0, 1, 0), _second)

    def bracket(self, a, b):
        """Return c with E_a E_b f - E_b E_a f = E_c f, E_u f being the derivative along integrate(q, t u)."""
        if self.commutes:
            return self.xp.zeros_like(b)
        return self._apply("bracket", a, b, (1, 1, 1), self._zero)

    def co_bracket(self, a, g):
        """Return g . bracket(a, .), shape (..., nv): ad_a^T g."""
        if self.commutes:
            return self.xp.zeros_like(g)
        return self._apply("co_bracket", a, g, (1, 1, 1), self._zero)

    def _zero(self, a, b):
        """Return zeros like b."""
        return self.xp.zeros_like(b)

    def _apply(self, name: str, x, y, sides: tuple[int, int, int], plain):
        """Return a function of two arguments for all parts; sides: 0 for nq entries, 1 for nv."""
        first, second, side = sides
        if x.shape[:-1] != y.shape[:-1]:
            shape = self.xp.broadcast_shapes(x.shape[:-1], y.shape[:-1])
            x, y = (self.xp.broadcast_to(each, (*shape, each.shape[-1])) for each in (x, y))
        results = [
            (getattr(part.group, name) if part.group else plain)(mine, yours)
            for (part, mine), (_, yours) in zip(self._split(first, x), self._split(second, y), strict=True)
        ]
        return self._join(side, results)

    def _split(self, side: int, x):
        """Return every part with its entries of x: (..., joints, entries), or (..., entries) of one joint."""
        parts = []
        for part in self._parts:
            mine = x[..., part.places[side]]
            if part.group and part.joints > 1:
                mine = mine.reshape((*x.shape[:-1], part.joints, part.group.sizes[side]))
            parts.append((part, mine))
        return parts

    def _join(self, side: int, values):
        """Return one array of the values of all parts, in the order of the entries."""
        values = [
            x.reshape((*x.shape[:-2], part.joints * x.shape[-1])) if part.group and part.joints > 1 else x
            for part, x in zip(self._parts, values, strict=True)
        ]
        joined = values[0] if len(values) == 1 else self.xp.concatenate(values, axis=-1)
        order = (self._order_q, self._order_v)[side]
        return joined if order is None else joined[..., order]


def runge_kutta(h: float, q, v, accelerate, integrate, bracket) -> tuple:
    """Return the state after a step, as `treefactor.rollout` describes it, by functions of arrays."""
    a1 = accelerate(q, v)
    v2 = v + h / 2 * a1
    a2 = accelerate(integrate(q, h / 2 * v), v2)
    v3 = v + h / 2 * a2
    a3 = accelerate(integrate(q, h / 2 * v2 + h * h / 8 * bracket(v, v2)), v3)
    v4 = v + h * a3
    a4 = accelerate(integrate(q, h * v3), v4)
    u = h / 6 * (v + 2 * v2 + 2 * v3 + v4) + h * h / 12 * bracket(v, v4)
    return integrate(q, u), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


class _Part:
    """Joints of one kind that turn, or all plain entries (no group), with their places in q and v."""

    def __init__(self, group: Group | None, q: np.ndarray, v: np.ndarray):
        self.group, self.joints, self.first = group, len(q), int(q[0, 0])
        self.indices = q.flatten(), v.flatten()
        self.places = _as_slice(self.indices[0]), _as_slice(self.indices[1])


def _as_slice(indices: np.ndarray) -> slice | np.ndarray:
    """Return the slice that selects successive entries, or the indices."""
    first, last = int(indices[0]), int(indices[-1])
    return slice(first, last + 1) if last - first + 1 == len(indices) else indices


def _order(indices: list[np.ndarray]) -> np.ndarray | None:
    """Return where each entry stands in the joined parts, or None if in order."""
    order = np.argsort(np.concatenate(indices))
    return None if (np.diff(order) == 1).all() else order


def _sum(x, y):
    """Return x + y."""
    return x + y


def _change(x, y):
    """Return y - x."""
    return y - x


def _second(x, y):
    """Return the second argument."""
    return y
