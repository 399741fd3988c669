"""Transform inertias of rigid and articulated bodies between frames, on scalars of any type."""

from __future__ import annotations

from dataclasses import dataclass

from .frames import Body
from .matrices import CYCLES, add, apply, cross, matrix_sum, symmetric, times, transposed, upper
from .placements import Placement


@dataclass(frozen=True, eq=False)
class Moments:
    """Second moments K, first moments h and mass of a rigid body about the origin of a frame.

    The moment of inertia about z may be kept separately: rotations about z do not change it, so that K is not
    needed if all axes up to the base are parallel.
    """

    K: list
    h: list
    m: object
    about_z: object = None

    @classmethod
    def of(cls, body: Body) -> Moments:
        """Return the moments of a body."""
        J = body.moments.tolist()
        return cls([row[:3] for row in J[:3]], [row[3] for row in J[:3]], J[3][3])

    def moved(self, place: Placement) -> Moments:
        """Return the moments in the frame of the parent."""
        inner = self._shifted(place.r)
        K, h, about_z = place.outward(inner.K), place.rotated(inner.h), inner.about_z
        if about_z is None or any(turn.axis != 2 for turn in place.turns):
            about_z = K[0][0] + K[1][1]
        return Moments(K, h, self.m, about_z)._shifted(place.p)

    def _shifted(self, p) -> Moments:
        """Return the moments about an origin at -p: K + h p^T + p h^T + m p p^T, h + m p."""
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
        """Return linear and angular momentum of a motion."""
        return add(times(v, self.m), cross(w, self.h)), add(cross(self.h, v), apply(self.tensor, w))

    def force(self, acceleration, linear) -> tuple[list, list]:
        """Return force and moment for the acceleration ``linear + A x`` of points x; A by `matrices.rate`.

        Columns of ``[A linear] [K h; h^T m]``: the last one, and the skew part of the others (Balafoutis and
        Patel 1991).
        """
        K, h, (A, differences) = self.K, self.h, acceleration
        moment = []
        for i, j, k in CYCLES:
            diagonal = differences[i] * K[j][k] + A[k][j] * K[j][j] - A[j][k] * K[k][k]
            moment.append(diagonal + A[k][i] * K[i][j] - A[j][i] * K[i][k])
        return add(apply(A, h), times(linear, self.m)), add(moment, cross(h, linear))


@dataclass(frozen=True, eq=False)
class Articulated:
    """Articulated inertia: forces M v + C w and C^T v + I w of a motion v, w."""

    M: list
    C: list
    I: list

    @classmethod
    def of(cls, rigid: Moments) -> Articulated:
        """Return the articulated inertia of a rigid body: M = m, C = -h~."""
        (x, y, z), m = rigid.h, rigid.m
        M = symmetric(m, 0.0, 0.0, m, 0.0, m)
        return cls(M, [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]], rigid.tensor)

    def moved(self, place: Placement) -> Articulated:
        """Return the inertia in the frame of the parent."""
        inner = self._shifted(place.r)
        return Articulated(*(place.outward(A) for A in (inner.M, inner.C, inner.I)))._shifted(place.p)

    def _shifted(self, p) -> Articulated:
        """Return the inertia about an origin at -p: B = C - M p~ for C, I - C^T p~ + p~ B for I."""
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
        """Return force and moment of a motion."""
        return add(apply(self.M, v), apply(self.C, w)), add(apply(transposed(self.C), v), apply(self.I, w))

    def without(self, U, step) -> Articulated:
        """Subtract U U^T / d, with step = U / d: the inertia that remains behind a free joint."""
        (f, n), (sf, sn) = U, step
        return Articulated(
            upper(lambda i, j: self.M[i][j] - f[i] * sf[j]),
            [[self.C[i][j] - f[i] * sn[j] for j in range(3)] for i in range(3)],
            upper(lambda i, j: self.I[i][j] - n[i] * sn[j]),
        )
