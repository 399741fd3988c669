"""The recursions of rigid-body dynamics in the frames of the bodies: ordinary loops on scalars of any type.

Motions and forces are pairs (linear, angular), seen from the frame of a body; constants of a model are
Python's numbers, which fold away where they are 0 or 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from .expressions import sincos
from .frames import TURNING, Body, euler, whole
from .matrices import (
    ZERO,
    Quaternion,
    Turn,
    add,
    apply,
    cross,
    dot,
    matrix_sum,
    rate,
    symmetric,
    times,
    transposed,
    upper,
    weighted,
)

CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Placement:
    """The frame of a body in its parent's: origin p, then turns, then r along its own axes."""

    p: list
    turns: list
    r: list

    def force(self, f, n) -> tuple[list, list]:
        """A force and moment on the body, as the parent sees them."""
        f, n = self.rotated(f), self.rotated(add(n, cross(self.r, f)))
        return f, add(n, cross(self.p, f))

    def motion(self, v, w) -> tuple[list, list]:
        """A motion of the parent, as the body sees it."""
        v = add(v, cross(w, self.p))
        v, w = self.inward(v), self.inward(w)
        return add(v, cross(w, self.r)), w

    def inward(self, x) -> list:
        """Components of a vector of the parent in the axes of the body."""
        for turn in self.turns:
            x = turn.inverse.vector(x)
        return x

    def rotated(self, x) -> list:
        """Components of a vector of the body in the axes of the parent."""
        for turn in reversed(self.turns):
            x = turn.vector(x)
        return x

    def point(self, x) -> list:
        """A point of the body, as the parent sees it."""
        return add(self.p, self.rotated(add(x, self.r)))

    def outward(self, A) -> list:
        """A matrix of the body in the axes of the parent."""
        for turn in reversed(self.turns):
            A = turn.matrix(A)
        return A


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments K, first moments h and mass of a rigid body about the origin of a frame.

    The moment of inertia about z may stand by itself: it does not change with turns about z, so that K is not
    needed where all axes up to the base are parallel.
    """

    K: list
    h: list
    m: object
    about_z: object = None

    def moved(self, place: Placement) -> Moments:
        """As the parent sees them."""
        inner = self._shifted(place.r)
        K, h, about_z = place.outward(inner.K), place.rotated(inner.h), inner.about_z
        if about_z is None or any(turn.axis != 2 for turn in place.turns):
            about_z = K[0][0] + K[1][1]
        return Moments(K, h, self.m, about_z)._shifted(place.p)

    def _shifted(self, p) -> Moments:
        """About an origin from which the one of now is at p: K + h p^T + p h^T + m p p^T, h + m p."""
        h, after = self.h, add(self.h, times(p, self.m))
        more = upper(lambda i, j: p[i] * (h[i] + after[i]) if i == j else h[i] * p[j] + p[i] * after[j])
        about_z = None if self.about_z is None else self.about_z + (more[0][0] + more[1][1])
        return Moments(matrix_sum(self.K, more), after, self.m, about_z)

    def __add__(self, other: Moments) -> Moments:
        about_z = None if self.about_z is None else self.about_z + other.about_z
        return Moments(matrix_sum(self.K, other.K), add(self.h, other.h), self.m + other.m, about_z)

    @property
    def tensor(self) -> list:
        """Inertia tensor: tr(K) - K."""
        K = self.K
        about_z = K[0][0] + K[1][1] if self.about_z is None else self.about_z
        diagonal = K[1][1] + K[2][2], K[0][0] + K[2][2], about_z
        return upper(lambda i, j: diagonal[i] if i == j else -K[i][j])

    def momentum(self, v, w) -> tuple[list, list]:
        """Of a motion."""
        return add(times(v, self.m), cross(w, self.h)), add(cross(self.h, v), apply(self.tensor, w))


@dataclass(frozen=True, eq=False)
class Articulated:
    """Articulated inertia: forces M v + C w and C^T v + I w of a motion v, w."""

    M: list
    C: list
    I: list

    def moved(self, place: Placement) -> Articulated:
        """As the parent sees it."""
        inner = self._shifted(place.r)
        return Articulated(*(place.outward(A) for A in (inner.M, inner.C, inner.I)))._shifted(place.p)

    def _shifted(self, p) -> Articulated:
        """About an origin from which the one of now is at p: B = C - M p~ for C, I - C^T p~ + p~ B for I."""
        C, B = self.C, [add(c, cross(p, row)) for c, row in zip(self.C, self.M, strict=True)]
        I = [list(row) for row in self.I]
        for i, j, k in CYCLES:
            I[i][i] = I[i][i] + (p[j] * (C[k][i] + B[k][i]) - p[k] * (C[j][i] + B[j][i]))
            I[i][j] = I[j][i] = I[i][j] + (p[k] * (C[i][i] - B[j][j]) - p[i] * C[k][i] + p[j] * B[k][j])
        return Articulated(self.M, B, I)

    def __add__(self, other: Articulated) -> Articulated:
        return Articulated(*(matrix_sum(A, B) for A, B in zip(self.parts, other.parts, strict=True)))

    @property
    def parts(self) -> tuple:
        """M, C, I."""
        return self.M, self.C, self.I

    def times(self, v, w) -> tuple[list, list]:
        """Forces of a motion."""
        return add(apply(self.M, v), apply(self.C, w)), add(apply(transposed(self.C), v), apply(self.I, w))

    def without(self, U, step) -> Articulated:
        """Less U U^T / d, step being U / d: what is left where a joint gives way."""
        (f, n), (sf, sn) = U, step
        return Articulated(
            upper(lambda i, j: self.M[i][j] - f[i] * sf[j]),
            [[self.C[i][j] - f[i] * sn[j] for j in range(3)] for i in range(3)],
            upper(lambda i, j: self.I[i][j] - n[i] * sn[j]),
        )


class Recursions:
    """The bodies of a model at one configuration; what several functions need is computed once.

    Parameters
    ----------
    bodies : list of Body
    gravity : sequence of float
    tree : Tree
        Of the freedoms of all joints.
    q : sequence of scalars
    """

    def __init__(self, bodies: list[Body], gravity, tree, q):
        self.bodies, self.gravity, self.tree = bodies, [float(g) for g in gravity], tree
        self.places = [placement(body, q) for body in bodies]
        self.motions = [motions(body) for body in bodies]
        self.moments = [_moments(body) for body in bodies]

    @cached_property
    def H(self) -> list:
        """Packed rows of H by composite bodies: Featherstone (2008), table 6.2."""
        rows: list = [None] * self.tree.n
        composite = [
            replace(moments, about_z=moments.tensor[2][2]) if alone else moments
            for moments, alone in zip(self.moments, self._parallel(), strict=True)
        ]
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            for d, (v, w) in enumerate(self.motions[i]):
                row = self._row(i, d, *composite[i].momentum(v, w))
                row[-1] = row[-1] + body.armature[d]
                rows[body.v + d] = row
            if body.parent >= 0:
                composite[body.parent] += composite[i].moved(self.places[i])
        return [entry for row in rows for entry in row]

    def _parallel(self) -> list[bool]:
        """Whether a body can turn about its own z axis only, and so can all it hangs on."""
        found: list[bool] = []
        for body, place in zip(self.bodies, self.places, strict=True):
            along = body.parent < 0 or (found[body.parent] and all(turn.axis == 2 for turn in place.turns))
            found.append(along and body.kind in (*TURNING, "prismatic"))
        return found

    def _row(self, i: int, freedom: int, f, n) -> list:
        """Products of a force on body i with the motions of its freedoms up to one and all before."""
        row = [along(f, n, s) for s in self.motions[i][freedom::-1]]
        while self.bodies[i].parent >= 0:
            f, n = self.places[i].force(f, n)
            i = self.bodies[i].parent
            row += [along(f, n, s) for s in reversed(self.motions[i])]
        return row[::-1]

    def jacobian(self, joint: int) -> list:
        """Rows of the velocity of a joint's frame in its own axes, linear before angular, for all freedoms.

        From the joint to the base: E turns vectors of a body into the joint's axes, r is its origin.
        """
        (i,) = (i for i, body in enumerate(self.bodies) if body.joint == joint)
        E, r = whole(self.bodies[i].axes.T).tolist(), self.bodies[i].origin.tolist()
        columns = [[0.0] * 6] * self.tree.n
        while i >= 0:
            for d, (v, w) in enumerate(self.motions[i]):
                columns[self.bodies[i].v + d] = apply(E, add(v, cross(w, r))) + apply(E, w)
            place, i = self.places[i], self.bodies[i].parent
            E, r = [place.rotated(row) for row in E], place.point(r)
        return transposed(columns)

    def forces(self, v, a) -> list:
        """Forces that move the bodies, gravity included; a is None for rest.

        The acceleration of a point x of a body is ``linear + rate x``; with the second moments J of its mass
        the force is the last column of ``G = [rate linear] J``, the moment the skew part of the others
        (Balafoutis and Patel 1991).
        """
        w, dw, linear = [], [], []
        found = []
        rates = []
        for i, body in enumerate(self.bodies):
            place, up = self.places[i], body.parent
            w1, dw1, a1 = (w[up], dw[up], linear[up]) if up >= 0 else (ZERO, ZERO, times(self.gravity, -1.0))
            if up >= 0:
                a1 = add(a1, apply(rates[up][0], place.p))
            w1, dw1, a1 = place.inward(w1), place.inward(dw1), place.inward(a1)
            lin, ang = self._joint(i, v)
            dlin, dang = self._joint(i, a) if a is not None else (ZERO, ZERO)
            w.append(add(w1, ang))
            dw.append(add(add(dw1, cross(w1, ang)), dang))
            rates.append(rate(w[i], dw[i]))
            a1 = add(a1, apply(rates[i][0], place.r))
            a1 = add(a1, add(cross(times(w1, 2.0), lin), cross(ang, lin)))
            linear.append(add(a1, dlin))
            found.append(_wrench(self.moments[i], rates[i], linear[i]))
        return found

    def _joint(self, i: int, x) -> tuple[list, list]:
        """Motion of the freedoms of a body at rates x."""
        lin, ang = list(ZERO), list(ZERO)
        for (v, w), rate_ in zip(self.motions[i], x[self.bodies[i].v :], strict=False):
            lin, ang = add(lin, times(v, rate_)), add(ang, times(w, rate_))
        return lin, ang

    def project(self, forces, a=None) -> list:
        """Forces of the freedoms: S^T of what acts on all bodies from here on."""
        tau: list = [None] * self.tree.n
        total = list(forces)
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            for d, s in enumerate(self.motions[i]):
                tau[body.v + d] = along(*total[i], s)
                if a is not None:
                    tau[body.v + d] = tau[body.v + d] + body.armature[d] * a[body.v + d]
            if body.parent >= 0:
                moved = self.places[i].force(*total[i])
                total[body.parent] = tuple(map(add, total[body.parent], moved))
        return tau

    @cached_property
    def articulated(self) -> list:
        """For every freedom 1 / d, U and U / d of the articulated bodies: Featherstone (2008), table 7.1."""
        inertia = [_articulated(moments) for moments in self.moments]
        found: list = [None] * self.tree.n
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            for d, s in reversed(list(enumerate(self.motions[i]))):
                U = inertia[i].times(*s)
                inverse = 1.0 / (along(*U, s) + body.armature[d])
                step = tuple(times(x, inverse) for x in U)
                found[body.v + d] = inverse, U, step
                inertia[i] = inertia[i].without(U, step)
            if body.parent >= 0:
                inertia[body.parent] += inertia[i].moved(self.places[i])
        return found

    def factor(self) -> tuple[list, list]:
        """Packed rows of L below the diagonal, and 1 / D, of H = L^T D L without H: U / d is what L holds."""
        rows: list = [None] * self.tree.n
        for i, body in enumerate(self.bodies):
            for d in range(body.freedoms):
                _, _, step = self.articulated[body.v + d]
                rows[body.v + d] = self._row(i, d, *step)
        return [entry for row in rows for entry in row], [inverse for inverse, _, _ in self.articulated]

    def aba(self, v, tau) -> list:
        """Accelerations by articulated bodies, on the forces at rest: Featherstone (2008), table 7.1."""
        total = list(self.forces(v, None))
        u: list = [None] * self.tree.n
        for i in reversed(range(len(self.bodies))):
            body = self.bodies[i]
            for d, s in reversed(list(enumerate(self.motions[i]))):
                k = body.v + d
                _, _, step = self.articulated[k]
                u[k] = tau[k] - along(*total[i], s)
                total[i] = tuple(add(x, times(y, u[k])) for x, y in zip(total[i], step, strict=True))
            if body.parent >= 0:
                moved = self.places[i].force(*total[i])
                total[body.parent] = tuple(map(add, total[body.parent], moved))
        return self._accelerations(u)

    def _accelerations(self, u) -> list:
        """qdd_k = u_k / d_k - (U_k / d_k) a from the base on."""
        qdd: list = [None] * self.tree.n
        found: list = []
        for i, body in enumerate(self.bodies):
            a = self.places[i].motion(*found[body.parent]) if body.parent >= 0 else (ZERO, ZERO)
            for d, s in enumerate(self.motions[i]):
                inverse, _, step = self.articulated[body.v + d]
                x = qdd[body.v + d] = inverse * u[body.v + d] - along(*step, a)
                a = tuple(add(part, times(axis, x)) for part, axis in zip(a, s, strict=True))
            found.append(a)
        return qdd


def factor(tree, H) -> tuple[list, list]:
    """Packed rows of L below the diagonal, and 1 / D, of H = L^T D L: Featherstone (2008), table 6.3."""
    H, inverse = list(H), [None] * tree.n
    start = tree.row_start.tolist()
    for k in reversed(range(tree.n)):
        row = range(start[k], start[k + 1] - 1)
        inverse[k] = 1.0 / H[start[k + 1] - 1]
        for e in row:
            scaled = H[e] * inverse[k]
            into = start[tree.columns[e]]
            for c in range(e - start[k] + 1):
                H[into + c] = H[into + c] - scaled * H[start[k] + c]
        for e in row:
            H[e] = H[e] * inverse[k]
    return H, inverse


def half_solve(tree, L, b) -> list:
    """X with L^T x = b."""
    x = list(b)
    for k in reversed(range(tree.n)):
        for e, j in enumerate(tree.ancestors(k).tolist(), int(tree.row_start[k])):
            x[j] = x[j] - L[e] * x[k]
    return x


def solve(tree, L, inverse, b) -> list:
    """X with L^T D L x = b."""
    x = [d * y for d, y in zip(inverse, half_solve(tree, L, b), strict=True)]
    for k in range(tree.n):
        for e, j in enumerate(tree.ancestors(k).tolist(), int(tree.row_start[k])):
            x[k] = x[k] - L[e] * x[j]
    return x


def delassus(tree, L, inverse, J) -> list:
    """J H^-1 J^T = Y^T D^-1 Y with Y = L^-T J^T, row by row."""
    Y = [half_solve(tree, L, row) for row in J]
    scaled = [[d * y for d, y in zip(inverse, row, strict=True)] for row in Y]
    found = [[0.0] * len(J) for _ in J]
    for i, j in combinations_with_replacement(range(len(J)), 2):
        found[i][j] = found[j][i] = weighted(Y[i], scaled[j])
    return [entry for row in found for entry in row]


def inverse_of(tree, L, inverse) -> list:
    """W = H^-1, full, from L W = D^-1 L^-T: row k of W from those of its ancestors, no inverse of L.

    With the ancestors C of a node a where the tree branches, itself included, row k of ``P = -L^-1 L_C`` says
    how k follows C when all between them gives way. ``W_ki = sum over j in C of P_kj W_ji`` for every i that
    hangs on C elsewhere, or is in C: shorter sums than over all ancestors of k.
    """
    W = [[0.0] * tree.n for _ in range(tree.n)]
    paths = [[*tree.ancestors(k).tolist(), k] for k in range(tree.n)]
    branching = np.bincount(tree.parent + 1, minlength=tree.n + 1)[1:] > 1
    P: list = [{} for _ in range(tree.n)]  # by the length of C
    for k, path in enumerate(paths):
        *ancestors, _ = path
        P[k][len(ancestors)] = follows = [-x for x in L[tree.row_start[k] : tree.row_start[k + 1] - 1]]
        for length in range(len(ancestors) - 1, 0, -1):
            if branching[path[length - 1]]:
                between = range(length, len(follows))
                follows = P[k][length] = [
                    weighted(
                        [follows[b] for b in between], [P[path[b]][length][j] for b in between], follows[j]
                    )
                    for j in range(length)
                ]
        for i in range(k + 1):
            shared = sum(x == y for x, y in zip(ancestors, paths[i], strict=False))
            length = min((length for length in P[k] if length >= shared), default=0)
            start = inverse[k] if i == k else 0.0
            total = weighted(P[k][length], [W[j][i] for j in path[:length]], start) if shared else start
            W[k][i] = W[i][k] = total
    return [entry for row in W for entry in row]


def motions(body: Body) -> list:
    """Motions of the freedoms of a body, in its own axes."""
    linear, angular = [(e, ZERO) for e in UNIT], [(ZERO, e) for e in UNIT]
    return {
        "revolute": angular[2:],
        "continuous": angular[2:],
        "prismatic": linear[2:],
        "helical": [((0.0, 0.0, body.pitch), UNIT[2])],
        "spherical": angular,
        "planar": [*linear[:2], angular[2]],
        "translation": linear,
        "freeflyer": [*linear, *angular],
    }[body.kind]


def placement(body: Body, q) -> Placement:
    """The frame of a body at configuration q."""
    q = q[body.q :]
    p, r, turns = (
        body.p.tolist(),
        list(ZERO),
        [_turn(axis, angle) for axis, angle in zip((2, 0, 2), euler(body.R), strict=True)],
    )
    if body.kind in ("revolute", "helical", "prismatic"):
        x = body.ratio * q[0] + body.offset
        if body.kind != "revolute":
            r = [0.0, 0.0, x * body.pitch if body.kind == "helical" else x]
        if body.kind != "prismatic":
            turns[2] = _turned(x, euler(body.R)[2])
    elif body.kind == "continuous":
        turns[2] = _after(turns[2], q[0], q[1])
    elif body.kind == "planar":
        p = add(p, apply(whole(body.R).tolist(), [q[0], q[1], 0.0]))
        turns[2] = _after(turns[2], q[2], q[3])
    elif body.kind == "spherical":
        turns.append(Quaternion(*q[:4]))
    else:
        p = add(p, apply(whole(body.R).tolist(), q[:3]))
        if body.kind == "freeflyer":
            turns.append(Quaternion(*q[3:7]))
    return Placement(p, [turn for turn in turns if isinstance(turn, Quaternion) or turn.c != 1], r)


def _turn(axis: int, angle: float) -> Turn:
    return Turn(axis, *whole([np.cos(angle), np.sin(angle)]).tolist())


def _turned(x, angle: float) -> Turn:
    """Turn about z by x and a constant angle, added to x unless its quarters only swap sine and cosine."""
    fixed = _turn(2, angle)
    if fixed.c == 0 or fixed.s == 0:
        s, c = sincos(x)
        return _after(fixed, c, s)
    s, c = sincos(x + angle)
    return Turn(2, c, s)


def _after(fixed: Turn, c, s) -> Turn:
    """Both turns about one axis."""
    return Turn(fixed.axis, fixed.c * c - fixed.s * s, fixed.s * c + fixed.c * s)


def along(f, n, motion):
    """Product of a force and moment with a motion."""
    return dot(f, motion[0]) + dot(n, motion[1])


def _moments(body: Body) -> Moments:
    K = body.moments.tolist()
    return Moments([row[:3] for row in K[:3]], [row[3] for row in K[:3]], K[3][3])


def _articulated(moments: Moments) -> Articulated:
    """A rigid body is articulated: M = m, C = -h~."""
    (x, y, z), m = moments.h, moments.m
    return Articulated(
        symmetric(m, 0.0, 0.0, m, 0.0, m), [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]], moments.tensor
    )


def _wrench(moments: Moments, rate_, linear) -> tuple[list, list]:
    """Force and moment that accelerate a body: columns of [rate linear] [K h; h^T m], and their skew part."""
    K, h, (A, differences) = moments.K, moments.h, rate_
    moment = []
    for i, j, k in CYCLES:
        same = differences[i] * K[j][k]
        moment.append(same + A[k][j] * K[j][j] - A[j][k] * K[k][k] + A[k][i] * K[i][j] - A[j][i] * K[i][k])
    return add(apply(A, h), times(linear, moments.m)), add(moment, cross(h, linear))
