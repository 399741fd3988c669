"""Run the recursions of rigid-body dynamics in body frames: ordinary loops on scalars of any type.

Motions and forces are pairs (linear, angular) in body coordinates. Constants of a model are Python floats;
operations with 0 and 1 are folded away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..program.expressions import reciprocal
from .frames import TURNING, Body, whole
from .inertias import Articulated, Moments
from .matrices import ZERO, add, apply, cross, dot, rate, subtract, times, transposed
from .placements import motions, placement


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Motion of a body: its point x has acceleration ``linear + rate x``.

    Attributes
    ----------
    w, dw : list
        Angular velocity and acceleration.
    linear : list
        Acceleration of the origin, minus gravity.
    rate : tuple
        See `matrices.rate`.
    """

    w: list
    dw: list
    linear: list
    rate: tuple


class Recursions:
    """Recursions of a model at one configuration; intermediate results that functions share are cached.

    Parameters
    ----------
    bodies : list of Body
    gravity : sequence of float
    tree : Tree
        Tree of the freedoms of all joints.
    q : sequence of scalars

    Attributes
    ----------
    named : dict of str to scalars, or None
        Receives intermediate matrices by name and number of the body or freedom, for `verification`.
    """

    def __init__(self, bodies: list[Body], gravity, tree, q, named: dict | None = None):
        self.bodies, self.gravity, self.tree = bodies, [float(g) for g in gravity], tree
        self.named = named
        self.places = [placement(body, q) for body in bodies]
        self.motions = [motions(body) for body in bodies]
        self.moments = [Moments.of(body) for body in bodies]
        for i, place in enumerate(self.places):
            self.name(i, p=place.p, r=place.r, **place.joint_turn)

    def name(self, number: int | str, **matrices) -> None:
        """Store intermediate matrices of a body or freedom by name, for verification."""
        if self.named is not None:
            self.named.update({f"{name}[{number}]": matrix for name, matrix in matrices.items()})

    @cached_property
    def H(self) -> list:
        """Packed rows of H by the composite-rigid-body algorithm: Featherstone (2008), table 6.2."""
        rows: list = [None] * self.tree.n
        composite = self.composites
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            self.name(i, Kc=composite[i].K, hc=composite[i].h, Izz=[composite[i].about_z])
            for d, (v, w) in enumerate(self.motions[i]):
                row = self._row(i, d, *composite[i].momentum(v, w))
                row[-1] = row[-1] + body.armature[d]
                rows[body.v + d] = row
        return [entry for row in rows for entry in row]

    @cached_property
    def composites(self) -> list[Moments]:
        """Moments of the subtree of every body, in its frame."""
        composites = [
            replace(moments, about_z=moments.tensor[2][2]) if parallel else moments
            for moments, parallel in zip(self.moments, self._parallel(), strict=True)
        ]
        for i in reversed(range(len(self.bodies))):
            if self.bodies[i].parent >= 0:
                composites[self.bodies[i].parent] += composites[i].moved(self.places[i])
        return composites

    def _parallel(self) -> list[bool]:
        """Return for each body whether it and all its ancestors only rotate about parallel z axes."""
        parallel: list[bool] = []
        for body, place in zip(self.bodies, self.places, strict=True):
            along = body.parent < 0 or (parallel[body.parent] and all(turn.axis == 2 for turn in place.turns))
            parallel.append(along and body.kind in (*TURNING, "prismatic"))
        return parallel

    def _row(self, i: int, freedom: int, f, n) -> list:
        """Return a force on body i projected on its freedoms up to one and on those of its ancestors."""
        row = [along(f, n, s) for s in self.motions[i][freedom::-1]]
        while self.bodies[i].parent >= 0:
            f, n = self.places[i].force(f, n)
            i = self.bodies[i].parent
            row += [along(f, n, s) for s in reversed(self.motions[i])]
        return row[::-1]

    def frame(self, joint: int) -> tuple[int, np.ndarray, np.ndarray]:
        """Return the body with the frame of a joint (-1: base), rotation and origin of the frame in it."""
        if joint < 0:
            return -1, np.eye(3), np.zeros(3)
        (i,) = (i for i, body in enumerate(self.bodies) if body.joint == joint)
        return i, self.bodies[i].axes, self.bodies[i].origin

    def path(self, body: int, top: int = -1) -> list[int]:
        """Return a body and its ancestors below `top`."""
        path = []
        while body != top:
            path.append(body)
            body = self.bodies[body].parent
        return path

    def common(self, i: int, j: int) -> int:
        """Return the nearest common ancestor of two bodies, which may be one of them; -1 for the base."""
        carried = {-1, *self.path(i)}
        return next(body for body in [*self.path(j), -1] if body in carried)

    def across(self, x, body: int, axes: int) -> list:
        """Rotate a vector from the axes of a body to those of another."""
        top = self.common(body, axes)
        for i in self.path(body, top):
            x = self.places[i].rotated(x)
        for i in reversed(self.path(axes, top)):
            x = self.places[i].inward(x)
        return x

    def across_matrix(self, A, body: int, axes: int) -> list:
        """Rotate a matrix from the axes of a body to those of another."""
        top = self.common(body, axes)
        for i in self.path(body, top):
            A = self.places[i].outward(A)
        for i in reversed(self.path(axes, top)):
            A = self.places[i].inner(A)
        return A

    def out(self, x, body: int, top: int) -> list:
        """Transform a point from a body to one of its ancestors."""
        for i in self.path(body, top):
            x = self.places[i].point(x)
        return x

    def into(self, x, top: int, body: int) -> list:
        """Transform a point from a body to one of its descendants."""
        for i in reversed(self.path(body, top)):
            x = self.places[i].seen(x)
        return x

    def holder(self, body: int, point) -> tuple[int, list]:
        """Return the nearest-to-base body in which a point is fixed, and the point in its frame."""
        while body >= 0 and self.bodies[body].kind in ("revolute", "continuous") and not any(point[:2]):
            body, point = self.bodies[body].parent, self.places[body].point(point)
        return body, point

    def freedoms(self, body: int) -> list:
        """Return numbers and motions of the freedoms of a body."""
        return list(enumerate(self.motions[body], self.bodies[body].v))

    def jacobian(self, joint: int) -> list:
        """Return the Jacobian of a joint frame in its own axes, linear before angular, for all freedoms.

        Runs from the joint to the base: E rotates body vectors to joint axes, r is the joint origin.
        """
        return transposed(self.inward(*self.frame(joint), joint)[2])

    def inward(self, i: int, R: np.ndarray, p: np.ndarray, label: int | str) -> tuple[list, list, list]:
        """Return E and r at the base of a frame at R, p in body i, and columns of its Jacobian."""
        E, r = whole(R.T).tolist(), p.tolist()
        columns = [[0.0] * 6] * self.tree.n
        while i >= 0:
            self.name(f"{label}, {i}", E=E, tip=r)
            for d, (v, w) in enumerate(self.motions[i]):
                columns[self.bodies[i].v + d] = apply(E, add(v, cross(w, r))) + apply(E, w)
            place, i = self.places[i], self.bodies[i].parent
            E, r = [place.rotated(row) for row in E], place.point(r)
        return E, r, columns

    def states(self, v, a, falling: bool = True) -> list[BodyMotion]:
        """Return the motion of all bodies, with gravity if falling; a is None for zero accelerations."""
        states: list[BodyMotion] = []
        base = self.base if falling else replace(self.base, linear=ZERO)
        for i, body in enumerate(self.bodies):
            before = states[body.parent] if body.parent >= 0 else base
            states.append(self._moved(i, before, self.joint_motion(i, v), self.joint_motion(i, a)))
        for i, state in enumerate(states if falling else ()):
            self.name(i, w=state.w, dw=state.dw, a=state.linear, rate=state.rate[0])
        return states

    def forces(self, states) -> list:
        """Return the forces for given body motions, gravity included."""
        forces = [moments.force(s.rate, s.linear) for moments, s in zip(self.moments, states, strict=True)]
        for i, force in enumerate(forces):
            self.name(i, f=force)
        return forces

    @property
    def base(self) -> BodyMotion:
        """Motion of the base: it accelerates against gravity."""
        return BodyMotion(ZERO, ZERO, times(self.gravity, -1.0), rate(ZERO, ZERO))

    def _moved(self, i: int, before: BodyMotion, velocity, acceleration) -> BodyMotion:
        """Return the motion of a body from those of parent and joint: Featherstone (2008), table 5.1."""
        place, (v, w_joint), (a, dw_joint) = self.places[i], velocity, acceleration
        w_before, dw = place.inward(before.w), place.inward(before.dw)
        w = add(w_before, w_joint)
        dw = add(add(dw, cross(w_before, w_joint)), dw_joint)
        turning = rate(w, dw)
        linear = place.inward(add(before.linear, apply(before.rate[0], place.p)))
        linear = add(linear, apply(turning[0], place.r))
        coriolis = add(cross(times(w_before, 2.0), v), cross(w_joint, v))
        return BodyMotion(w, dw, add(add(linear, coriolis), a), turning)

    def joint_motion(self, i: int, x) -> tuple[list, list]:
        """Return the joint motion of a body for rates x; zero if x is None."""
        linear, angular = list(ZERO), list(ZERO)
        for d, (v, w) in enumerate(self.motions[i] if x is not None else ()):
            speed = x[self.bodies[i].v + d]
            linear, angular = add(linear, times(v, speed)), add(angular, times(w, speed))
        return linear, angular

    def generalized_forces(self, forces, a=None) -> list:
        """Return generalized forces: S^T times the sum of the forces on each subtree."""
        tau: list = [None] * self.tree.n
        for body, i, total in self._sums(forces):
            for d, s in enumerate(self.motions[i]):
                tau[body.v + d] = along(*total, s)
                if a is not None:
                    tau[body.v + d] = tau[body.v + d] + body.armature[d] * a[body.v + d]
        self.name("all", tau=tau)
        return tau

    def _sums(self, forces) -> Iterator:
        """Yield every body, its number and the force on its subtree, from the leaves to the base."""
        sums = list(forces)
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            self.name(i, F=sums[i])
            yield body, i, sums[i]
            if body.parent >= 0:
                moved = self.places[i].force(*sums[i])
                sums[body.parent] = tuple(map(add, sums[body.parent], moved))

    def reactions(self, forces, joints: int) -> list:
        """Return force and moment in every joint, at its origin and in its axes."""
        reactions: list = [None] * joints
        for body, _, (f, n) in self._sums(forces):
            if body.joint >= 0:
                axes, origin = whole(body.axes.T).tolist(), body.origin.tolist()
                reactions[body.joint] = [*apply(axes, f), *apply(axes, subtract(n, cross(origin, f)))]
        return [entry for six in reactions for entry in six]

    def base_force(self, forces) -> list:
        """Return force and moment of the bodies without parent on the base: `treefactor.base_force`."""
        f, n = ZERO, ZERO
        for body, i, total in self._sums(forces):
            if body.parent < 0:
                f, n = map(add, (f, n), self.places[i].force(*total))
        return times([*f, *n], -1.0)

    @cached_property
    def articulated(self) -> list:
        """1 / d, U and U / d of every freedom, of the articulated bodies: Featherstone (2008), table 7.1."""
        inertia = [Articulated.of(moments) for moments in self.moments]
        articulated: list = [None] * self.tree.n
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            self.name(i, M=inertia[i].M, C=inertia[i].C, I=inertia[i].I)
            for d, s in reversed(list(enumerate(self.motions[i]))):
                U = inertia[i].times(*s)
                total = along(*U, s) + body.armature[d]
                inverse = reciprocal(total, body.v + d)
                step = tuple([1.0 if x == total else x * inverse for x in part] for part in U)  # exactly 1
                articulated[body.v + d] = inverse, U, step
                self.name(body.v + d, U=U, D=[total], step=step)
                inertia[i] = inertia[i].without(U, step)
            if body.parent >= 0:
                inertia[body.parent] += inertia[i].moved(self.places[i])
        return articulated

    def factor(self) -> tuple[list, list]:
        """Return packed rows of L below the diagonal, and 1 / D, of H = L^T D L without H: from U / d."""
        rows: list = [None] * self.tree.n
        for i, body in enumerate(self.bodies):
            for d in range(body.freedoms):
                _, _, step = self.articulated[body.v + d]
                rows[body.v + d] = self._row(i, d, *step)
        return [entry for row in rows for entry in row], [inverse for inverse, _, _ in self.articulated]

    def aba(self, v, tau) -> list:
        """Return accelerations by the articulated-body algorithm: Featherstone (2008), table 7.1."""
        return self.response(tau, list(self.forces(self.states(v, None))))

    def response(self, tau, total=None) -> list:
        """Return accelerations for forces tau and forces on the bodies; without these, H^-1 tau."""
        total = [(ZERO, ZERO)] * len(self.bodies) if total is None else total
        u: list = [None] * self.tree.n
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            self.name(i, pA=total[i])
            for d, s in reversed(list(enumerate(self.motions[i]))):
                k = body.v + d
                _, _, step = self.articulated[k]
                u[k] = tau[k] - along(*total[i], s)
                total[i] = tuple(add(x, times(y, u[k])) for x, y in zip(total[i], step, strict=True))
            if body.parent >= 0:
                moved = self.places[i].force(*total[i])
                total[body.parent] = tuple(map(add, total[body.parent], moved))
        self.name("all", u=u)
        return self._accelerations(u)

    def _accelerations(self, u) -> list:
        """Return qdd_k = u_k / d_k - (U_k / d_k) a, from the base to the leaves."""
        qdd: list = [None] * self.tree.n
        accelerations: list = []
        for i, body in enumerate(self.bodies):
            a = self.places[i].motion(*accelerations[body.parent]) if body.parent >= 0 else (ZERO, ZERO)
            for d, s in enumerate(self.motions[i]):
                inverse, _, step = self.articulated[body.v + d]
                x = qdd[body.v + d] = inverse * u[body.v + d] - along(*step, a)
                a = tuple(add(part, times(axis, x)) for part, axis in zip(a, s, strict=True))
            accelerations.append(a)
            self.name(i, dV=a)
        return qdd


def along(f, n, motion):
    """Return the power of a force and moment for a motion."""
    return dot(f, motion[0]) + dot(n, motion[1])
