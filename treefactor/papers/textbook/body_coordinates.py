"""Mirror Featherstone (2008), tables 6.1 and 6.2, in body coordinates on scalars of any type.

Bodies are numbered from 1, the base is 0. Motions are (angular, linear) and forces (moment, force), both at
the origin of the body and in its axes. The transform X of a body is its rotation E and the vector r from the
parent's origin to its own, in the parent's axes; both tables take X and S as given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from ..._util.counting import Counting, counting, zero_of
from ..._util.vectors import apply, cross, dot
from ...dynamics.chain_on_scalars import moved, symmetric


@dataclass(frozen=True)
class Body:
    """Body with the joint that carries it.

    Attributes
    ----------
    parent : int
        From 1; 0 is the base.
    S : ndarray, shape (freedoms, 6)
        Columns of the motion subspace, as rows.
    E : ndarray, shape (3, 3)
    r : ndarray, shape (3,)
        Transform from the parent to the body.
    mass : scalar
    h : ndarray, shape (3,)
        First moment about the origin.
    tensor : ndarray, shape (6,)
        xx, xy, xz, yy, yz, zz of the inertia tensor about the origin.
    """

    parent: int
    S: np.ndarray
    E: np.ndarray
    r: np.ndarray
    mass: float | Counting
    h: np.ndarray
    tensor: np.ndarray

    def on_scalars(self, tally: Counter) -> Body:
        """Return the body with scalars that count."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)[1:] if field.name != "mass"}
        converted = {name: counting(array, tally) for name, array in arrays.items()}
        return replace(self, mass=Counting(float(self.mass), tally), **converted)


def inverse_dynamics(bodies: Sequence[Body], qdd) -> tuple[list, list, list]:
    """Compute tau = H qdd without H (table 6.1); return tau, accelerations and forces of the joints."""
    zero = np.array([zero_of(bodies[0].r[0])] * 6, dtype=object)
    a, f, tau, first = [zero], [zero], [], 0  # a_0 = 0
    for body in bodies:
        acceleration = transform_motion(body, a[body.parent])
        for s in body.S:
            acceleration = acceleration + s * qdd[first]
            first += 1
        a.append(acceleration)
        f.append(momentum(body, acceleration))
    for i, body in reversed(list(enumerate(bodies, 1))):
        tau = [along(s, f[i]) for s in body.S] + tau
        if body.parent:
            f[body.parent] = f[body.parent] + transform_force(body, f[i])
    return tau, a[1:], f[1:]


def composite_rigid_body(bodies: Sequence[Body]) -> np.ndarray:
    """Compute H by the composite-rigid-body algorithm (table 6.2)."""
    ends = np.cumsum([0] + [len(body.S) for body in bodies])
    freedoms = [range(*pair) for pair in pairwise(ends)]
    H = np.full((ends[-1], ends[-1]), zero_of(bodies[0].r[0]), dtype=object)
    composite = list(bodies)
    for i in range(len(bodies), 0, -1):
        body = composite[i - 1]
        if body.parent:
            composite[body.parent - 1] = joined(composite[body.parent - 1], body)
        for k, s in zip(freedoms[i - 1], body.S, strict=True):
            F, j = momentum(body, s), i
            for m, motion in zip(freedoms[i - 1], body.S, strict=True):
                H[k, m] = along(motion, F)
            while bodies[j - 1].parent:
                F, j = transform_force(bodies[j - 1], F), bodies[j - 1].parent
                for m, motion in zip(freedoms[j - 1], bodies[j - 1].S, strict=True):
                    H[k, m] = H[m, k] = along(motion, F)
    return H


def transform_motion(body: Body, m) -> np.ndarray:
    """Return X m: a motion of the parent in the body's coordinates; 24 multiplications, 18 additions."""
    return np.concatenate([apply(body.E, m[:3]), apply(body.E, m[3:] - cross(body.r, m[:3]))])


def transform_force(body: Body, f) -> np.ndarray:
    """Return X^T f: a force on the body in the parent's coordinates; 24 multiplications, 18 additions."""
    force = apply(body.E.T, f[3:])
    return np.concatenate([apply(body.E.T, f[:3]) + cross(body.r, force), force])


def momentum(body: Body, m) -> np.ndarray:
    """Return I m: 24 multiplications, 18 additions."""
    angular = apply(symmetric(body.tensor), m[:3]) + cross(body.h, m[3:])
    return np.concatenate([angular, m[3:] * body.mass - cross(body.h, m[:3])])


def along(s, f):
    """Return s^T f: 6 multiplications, 5 additions."""
    return dot(s[:3], f[:3]) + dot(s[3:], f[3:])


def joined(parent: Body, body: Body) -> Body:
    """Return the parent with the inertia I + X^T I X of both."""
    R = body.E.T
    left, h = [apply(R, column) for column in symmetric(body.tensor).T], apply(R, body.h)
    turned = np.array([dot([row[i] for row in left], R[k]) for i, k in PAIRS], dtype=object)
    shifted = h + body.r * body.mass
    return replace(
        parent,
        mass=parent.mass + body.mass,
        h=parent.h + shifted,
        tensor=parent.tensor + moved(h, turned, body.r, shifted),
    )


PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))  # entries of a symmetric tensor
