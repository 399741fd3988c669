"""Compute derivatives of inverse dynamics, one pair of freedoms at a time, on scalars of any type.

A freedom k of body i displaces its subtree along S_k, or changes its velocity. Points at r from the origin of
body i, which move at u relative to it, then accelerate by ``linear + matrix r + turn cross u``: a `Field`.
The forces of the field on the subtree act on the freedoms above; the fields of freedoms above act on k. All
vectors are in the frames of their bodies.

Carpentier & Mansard (2018), Singh, Russell & Wensing (2022), with velocities relative to the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .inertias import Moments
from .matrices import ZERO, add, apply, cross, dot, matrix_sum, rate, subtract, times, transposed
from .recursions import Recursions, along


@dataclass(frozen=True, eq=False)
class Field:
    """Accelerations ``linear + matrix r + turn cross u`` of points at r with relative velocities u."""

    linear: list
    matrix: list
    turn: list


@dataclass(frozen=True, eq=False)
class Flow:
    """Sums of m u and m u r^T over a subtree, for velocities u relative to its first body."""

    p: list
    G: list

    @classmethod
    def still(cls) -> Flow:
        """Return the flow of a single body."""
        return cls(list(ZERO), [list(ZERO) for _ in range(3)])

    def __add__(self, other: Flow) -> Flow:
        return Flow(add(self.p, other.p), matrix_sum(self.G, other.G))

    def with_motion(self, moments: Moments, v, w) -> Flow:
        """Return the flow with a motion of the whole subtree added."""
        p = add(self.p, add(times(v, moments.m), cross(w, moments.h)))
        turned = transposed([cross(w, column) for column in transposed(moments.K)])
        return Flow(p, matrix_sum(self.G, matrix_sum(outer(v, moments.h), turned)))

    def moved(self, place) -> Flow:
        """Return the flow in the frame of the parent of the first body."""
        G = place.outward(matrix_sum(self.G, outer(self.p, place.r)))
        p = place.rotated(self.p)
        return Flow(p, matrix_sum(G, outer(p, place.p)))

    def force(self, turn) -> tuple[list, list]:
        """Return the force and moment of accelerations ``turn cross u``."""
        trace = self.G[0][0] + self.G[1][1] + self.G[2][2]
        return cross(turn, self.p), subtract(times(turn, trace), apply(self.G, turn))

    def couple(self, v, w) -> list:
        """Return the vector whose product with turn is the power of these forces on a motion v, w."""
        trace = self.G[0][0] + self.G[1][1] + self.G[2][2]
        return add(cross(self.p, v), subtract(times(w, trace), apply(transposed(self.G), w)))


def outer(x, y) -> list:
    """Return x y^T."""
    return [times(y, a) for a in x]


def product(a, b) -> list:
    """Return the matrix of x: a cross (b cross x)."""
    square = dot(a, b)
    return [[b[i] * a[j] - (square if i == j else 0.0) for j in range(3)] for i in range(3)]


class PairwiseDerivatives:
    """Derivatives of the generalized forces by displacements and velocities of all freedoms, in one state.

    Parameters
    ----------
    recursions : Recursions
    v, a : sequence of scalars
        Rates of all freedoms.

    Attributes
    ----------
    by_q, by_v : list of lists
        Derivatives for the freedoms of all joints, row by row.
    """

    def __init__(self, recursions: Recursions, v, a):
        self.recursions, self.bodies, self.places = recursions, recursions.bodies, recursions.places
        self.joints = [recursions.joint_motion(i, v) for i in range(len(self.bodies))]
        self.states = recursions.states(v, a)
        sums = recursions._sums(recursions.forces(self.states))
        self.forces = {i: total for _, i, total in sums}
        size = recursions.tree.n
        self.by_q, self.by_v = ([[0.0] * size for _ in range(size)] for _ in range(2))
        self.flows = self._flows()
        for i in range(len(self.bodies)):
            self._fill(i)

    def _flows(self) -> list[Flow]:
        """Return the flows of all subtrees."""
        flows = [Flow.still() for _ in self.bodies]
        for i in reversed(range(len(self.bodies))):
            parent = self.bodies[i].parent
            if parent >= 0:
                moving = flows[i].with_motion(self.recursions.composites[i], *self.joints[i])
                flows[parent] += moving.moved(self.places[i])
        return flows

    def before(self, i: int) -> tuple:
        """Return w, dw, acceleration at the origin of body i, and rate of the parent, in its axes."""
        place, parent = self.places[i], self.bodies[i].parent
        state = self.states[parent] if parent >= 0 else self.recursions.base
        w, dw = place.inward(state.w), place.inward(state.dw)
        turning = rate(w, dw)[0]
        linear = place.inward(add(state.linear, apply(state.rate[0], place.p)))
        return w, dw, add(linear, apply(turning, place.r)), turning

    @cached_property
    def velocities(self) -> list[tuple[list, list]]:
        """Velocities of every body's origin, of the parent there, both in its axes, if root bodies rest."""
        velocities: list = []
        for i, (place, (joint, _)) in enumerate(zip(self.places, self.joints, strict=True)):
            parent = self.bodies[i].parent
            if parent < 0:
                velocities.append((list(ZERO), times(joint, -1.0)))
                continue
            before = place.motion(velocities[parent][0], self.states[parent].w)[0]
            velocities.append((add(before, joint), before))
        return velocities

    @cached_property
    def fields(self) -> list[tuple[Field, Field]]:
        """Fields of a displacement and of a velocity of every freedom."""
        return [pair for i in range(len(self.bodies)) for pair in self._fields(i)]

    def _fields(self, i: int) -> list:
        """Return the fields of the freedoms of body i."""
        (w, dw, c, turning), (j, spin), fields = self.before(i), self.joints[i], []
        twice = add(times(w, 2.0), spin)
        for s, z in self.recursions.motions[i]:
            chi = cross(w, z)
            double = times(chi, 2.0)
            linear = add(subtract(apply(turning, s), cross(z, c)), cross(double, j))
            x, y, t = cross(dw, z), matrix_sum(outer(w, chi), outer(chi, w)), product(double, spin)
            skew = [[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]]
            shift = Field(linear, matrix_sum(matrix_sum(skew, y), t), double)
            moving = matrix_sum(product(twice, z), product(z, spin))
            fields.append((shift, Field(add(cross(twice, s), cross(z, j)), moving, times(z, 2.0))))
        return fields

    def force(self, i: int, field: Field) -> tuple[list, list]:
        """Return the force and moment of a field on the subtree of body i."""
        A = field.matrix
        differences = [A[2][2] - A[1][1], A[0][0] - A[2][2], A[1][1] - A[0][0]]
        rigid = self.recursions.composites[i].force((A, differences), field.linear)
        return tuple(map(add, rigid, self.flows[i].force(field.turn)))

    @cached_property
    def seen(self) -> list[tuple]:
        """For every freedom, the motions whose products with f1 and f2 are its column: see `_climb`."""
        motions = []
        for i in range(len(self.bodies)):
            (w, dw, c, turning), (v, v_before), (_, spin) = self.before(i), self.velocities[i], self.joints[i]
            twice = add(times(w, 2.0), spin)
            for s, z in self.recursions.motions[i]:
                chi = cross(w, z)
                linear = add(subtract(apply(turning, s), cross(z, c)), cross(times(v_before, 2.0), chi))
                shift = linear, add(cross(dw, z), cross(w, chi))
                speed = add(cross(twice, s), cross(add(v_before, v), z)), cross(twice, z)
                motions.append((shift, chi, speed, z))
        return motions

    def _fill(self, i: int) -> None:
        """Write the rows and columns of the freedoms of body i up to its own and those above."""
        composite, (v, w) = self.recursions.composites[i], (self.velocities[i][0], self.states[i].w)
        whole = self.flows[i].with_motion(composite, v, w)
        (f, n), first = self.forces[i], self.bodies[i].v
        for d, (s, z) in enumerate(self.recursions.motions[i]):
            k = first + d
            shift, speed = self.fields[k]
            turned = cross(z, f), add(cross(z, n), cross(s, f))
            f4 = tuple(map(add, turned, self.force(i, shift)))
            f3 = self.force(i, speed)
            self.recursions.name(k, f3=f3, f4=f4)
            self._climb(i, k, composite.momentum(s, z), times(whole.couple(s, z), 2.0), f3, f4)

    def _climb(self, i: int, k: int, f1, f2, f3, f4) -> None:
        """Write the entries of freedom k of body i, up to the base."""
        start = i
        while i >= 0:
            for j, S in self.recursions.freedoms(i):
                shift, chi, speed, z = self.seen[j]
                self.by_q[k][j] = along(*f1, shift) + dot(f2, chi)
                self.by_v[k][j] = along(*f1, speed) + dot(f2, z)
                if i != start:
                    self.by_q[j][k], self.by_v[j][k] = along(*f4, S), along(*f3, S)
            place, i = self.places[i], self.bodies[i].parent
            f1, f3, f4 = (place.force(*x) for x in (f1, f3, f4))
            f2 = place.rotated(f2)
