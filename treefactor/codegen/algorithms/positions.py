"""Compute the positions of joints that close loops by square roots and arc tangents, on any scalars.

Every unknown joint is a screw of a ring (see `rings`): a rotation by an angle x, or a translation by x, about
or along z. Its position follows from an equation that the other unknown joints do not enter:

    distance of a point from an axis, or from the center of a leg:  a cos x + b sin x = c,  or  x^2 = d
    a cos x + b sin x = c:  (cos x, sin x) = (a c + b h, b c - a h) / (a^2 + b^2),  h^2 = a^2 + b^2 - c^2

h is the derivative of the left side by x. A negative square means that the loop cannot be closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...model._snapping import cosine_and_sine
from ..program.expressions import arctangent, root
from .analytic import Task
from .closures import Closure
from .matrices import add, dot, subtract
from .placements import UNIT, constant_angle, fixed, shifted, turned
from .recursions import Recursions
from .rings import Ring, Screw

Z = list(UNIT[2])


class Positions:
    """Configuration with closed loops.

    Parameters
    ----------
    recursions : Recursions
        At q, of which the entries of unknown joints are not used.
    loops : sequence of Loop
    tasks : sequence of Task
    q : sequence of scalars
    choose : callable
        Sign of a square root: ``choose(body, value)``, where ``value(cos, sin)`` or ``value(x)`` is the root
        for a known angle or displacement of the joint of that body.

    Attributes
    ----------
    q : list
        With closed loops.
    """

    def __init__(
        self, recursions: Recursions, loops, tasks: Sequence[Task], q, choose: Callable[[int, Callable], int]
    ):
        self.recursions, self.loops, self.choose = recursions, loops, choose
        self.bodies, self.places, self.q = recursions.bodies, list(recursions.places), list(q)
        self.moves: dict[int, tuple] = {}  # cosine and sine, or displacement, of the screws of a ring
        for task in tasks:
            for i in (*task.screws, *task.loose):
                self.places[i] = fixed(self.bodies[i])
        for task in tasks:
            self._close(task)

    def _close(self, task: Task) -> None:
        """Compute the positions of the unknown joints of one loop."""
        closure = Closure(self.recursions, self.loops[task.loop])
        ring = Ring.of(closure, self.places, task.screws)
        ring, loop = ring.reverse if task.backward else ring, task.loop
        if task.centers:
            self._leg(ring, loop, *task.centers)
        else:
            self._plane(ring, loop)
        for i in task.loose:
            self._twist(Ring.of(closure, self.places, [i]), loop, *closure.pairs[0])

    def _plane(self, ring: Ring, loop: int) -> None:
        """Close a ring of two joints of a plane."""
        (first, second), y, t = ring.screws, ring.start, ring.stop
        if first.slides:
            w, s = ring.point(1, y), ring.vector(1, Z)
            if second.slides:
                along = (t[0] - w[0]) * s[0] + (t[1] - w[1]) * s[1]
                self._slide(first, _quotient(along, s[0] * s[0] + s[1] * s[1]))
            else:
                near, side = w[0] * s[0] + w[1] * s[1], w[0] * s[1] - w[1] * s[0]
                self._reach(first, loop, t[0] * t[0] + t[1] * t[1] - side * side, -near)
        elif second.slides:
            k = ring.vector_before(1, Z)
            across = [-k[1], k[0], 0.0]  # in the plane, at right angles to the second joint
            far = dot(across, ring.origin_before(1)) + dot(ring.vector(1, across), t)
            self._turn(first, loop, *_products(across, y), far)
        else:
            o = ring.origin_before(1)
            squares = [x[0] * x[0] + x[1] * x[1] for x in (o, y, t)]
            self._turn(first, loop, *_products(o, y), (squares[0] + squares[1] - squares[2]) * 0.5)
        self._last(second, ring.point(1, self._moved(first, y)), t)

    def _leg(self, ring: Ring, loop: int, low: float, high: float) -> None:
        """Close a ring of a joint and two revolute joints that intersect low and high on their axes."""
        (first, second, third), y = ring.screws, ring.start
        r = subtract(ring.stop, [0.0, 0.0, high])
        m = ring.point_before(1, [0.0, 0.0, low])
        if first.slides:
            d = subtract(y, m)
            self._reach(first, loop, dot(r, r) - d[0] * d[0] - d[1] * d[1], -d[2])
        else:
            half = (dot(y, y) + dot(m, m) - dot(r, r)) * 0.5
            self._turn(first, loop, *_products(m, y), half - m[2] * y[2])
        w = subtract(ring.point(1, self._moved(first, y)), [0.0, 0.0, low])
        e = ring.vector_before(2, Z)
        self._turn(second, loop, *_products(e, w), r[2] - e[2] * w[2])
        self._last(third, ring.vector(2, self._moved(second, w)), r)

    def _twist(self, ring: Ring, loop: int, u, v) -> None:
        """Turn the only joint of a ring until the axes u and v of its ends are at right angles."""
        u, v = ring.vector(0, u), ring.vector_before(1, v)
        self._turn(ring.screws[0], loop, *_products(v, u), -(u[2] * v[2]))

    def _turn(self, screw: Screw, loop: int, a, b, c) -> None:
        """Turn a screw by the angle x of a cos x + b sin x = c."""
        sign = self.choose(screw.body, lambda cos, sin: b * cos * screw.sign - a * sin) * screw.sign
        square = a * a + b * b
        if isinstance(c, float) and c == 0.0:
            return self._settle(screw, b * sign, -(a * sign), root(square, loop))
        h = root(square - c * c, loop) * sign
        inverse = _quotient(1.0, square)
        return self._settle(screw, (a * c + b * h) * inverse, (b * c - a * h) * inverse, 1.0)

    def _reach(self, screw: Screw, loop: int, square, center) -> None:
        """Shift a screw by the x of (x - center)^2 = square."""
        sign = self.choose(screw.body, lambda x: x - center * screw.sign) * screw.sign
        self._slide(screw, center + root(square, loop) * sign)

    def _last(self, screw: Screw, w, t) -> None:
        """Move a screw so that it takes w to t."""
        if screw.slides:
            self._slide(screw, t[2] - w[2])
        else:
            c, s = w[0] * t[0] + w[1] * t[1], w[0] * t[1] - w[1] * t[0]
            self._settle(screw, c, s, t[0] * t[0] + t[1] * t[1])

    def _slide(self, screw: Screw, x) -> None:
        """Store a displacement."""
        body = self.bodies[screw.body]
        self.moves[screw.body], total = (x,), x * float(screw.sign)
        self.places[screw.body] = shifted(body, total)
        self.q[body.q] = (total - body.offset) * (1.0 / body.ratio)

    def _settle(self, screw: Screw, c, s, length) -> None:
        """Store an angle, given by its cosine and sine times a length."""
        body = self.bodies[screw.body]
        unit = (
            (c, s) if isinstance(length, float) and length == 1.0 else [_quotient(x, length) for x in (c, s)]
        )
        self.moves[screw.body] = tuple(unit)
        self.places[screw.body] = turned(body, unit[0], unit[1] * float(screw.sign))
        C, S = cosine_and_sine(constant_angle(body))
        if body.kind == "continuous":
            (c, s), turn = unit, screw.sign
            self.q[body.q : body.q + 2] = C * c + S * (s * turn), C * (s * turn) - S * c
        else:
            s = s * float(screw.sign)
            self.q[body.q] = arctangent(C * s - S * c, C * c + S * s) * (1.0 / body.ratio)

    def _moved(self, screw: Screw, x) -> list:
        """Move a point by a screw."""
        if screw.slides:
            return add(x, [0.0, 0.0, *self.moves[screw.body]])
        c, s = self.moves[screw.body]
        return [c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]]


def _products(a, x) -> tuple:
    """Return the coefficients of cosine and sine in the product of a and x after a rotation about z."""
    return a[0] * x[0] + a[1] * x[1], a[1] * x[0] - a[0] * x[1]


def _quotient(x, y):
    """Return x / y; of numbers NaN if y is 0."""
    if isinstance(y, float) and y == 0.0:
        return float("nan")
    return x * (1.0 / y)
