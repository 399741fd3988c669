"""Elimination of the coordinates that follow from closed loops, loop by loop, from equations of motion.

The rows of a loop are J_d a_d + J_x a_x + g = 0, with coordinates d that follow and all others x. With
K = J_d^-1, a_d = -K (J_x a_x + g) is put into H a = u, and rows of d are added to rows of x:

    M = K^T H_dd K,   N = K^T H_dx,   H_xx + J_x^T M J_x - J_x^T N - N^T J_x,
    u_x - J_x^T (K^T u_d + M g) + N^T g.

M, N and K^T u_d live in the space of the rows: inertia and force of the loop as seen from where it was cut.
They may have axes in which J_x is simple, K others in which J_d is. A body at which several loops end and
that moves without coordinates that follow is a hub: its velocity and angular velocity t = S x are coordinates
too, the others follow from t, and t from x, with J_d = -1. No product with a zero is formed.

Golubev & Yaskevich (2020), sections 1 and 5: reduction to the independent branch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...exceptions import CodegenError
from .closures import Closure
from .inverses import SingularError, inverse, is_zero, matching, ordered
from .matrices import ZERO, cross, transposed, weighted
from .recursions import Recursions

AXES = ("top", "first", "second", "own")  # of the rows: of the body that carries both ends, of one, of J_d
TWIST = 6


@dataclass(frozen=True, eq=False)
class Cut:
    """A loop with linear rows in axes `own` for J_d, and in axes `seen` for all else.

    Attributes
    ----------
    closure : Closure
    own, seen : int
        Bodies.
    Jd : list
        Rows for the coordinates that follow.
    """

    closure: Closure
    own: int
    seen: int
    Jd: list

    def turned(self, y, back: bool = False) -> list:
        """Rows in axes `own` made rows in axes `seen`, or back."""
        axes = (self.seen, self.own) if back else (self.own, self.seen)
        return self.closure.recursions.across(y[:3], *axes) + list(y[3:])

    def inertia(self, M) -> list:
        """A symmetric matrix of rows in axes `own`, in axes `seen`."""
        inner = self.closure.recursions.across_matrix([row[:3] for row in M[:3]], self.own, self.seen)
        mixed = [self.turned(row)[:3] for row in M[3:]]
        return [
            *(row + [other[i] for other in mixed] for i, row in enumerate(inner)),
            *(other + row[3:] for other, row in zip(mixed, M[3:], strict=True)),
        ]


@dataclass(frozen=True, eq=False)
class Group:
    """Coordinates that follow from the same rows.

    Attributes
    ----------
    name : str
    dependent : list of int
    K : list
        Inverse of the rows for them.
    J : list
        Rows for all others.
    cuts : list of Cut
        Whose rows these are; axes are turned where there is one.
    """

    name: str
    dependent: list
    K: list
    J: list
    cuts: list

    def follow(self, a, g) -> None:
        """Put the coordinates that follow into a: -K (J a + g)."""
        known = [j for j, x in enumerate(a) if x is not None]
        total = [
            weighted([row[j] for j in known], [a[j] for j in known], x)
            for row, x in zip(self.J, g, strict=True)
        ]
        if len(self.cuts) == 1:
            total = self.cuts[0].turned(total, back=True)
        for j, row in zip(self.dependent, self.K, strict=True):
            a[j] = -weighted(row, total)

    def seen(self, u) -> list:
        """Forces as seen from the cuts: K^T u."""
        found = [weighted(column, u) for column in transposed(self.K)]
        return self.cuts[0].turned(found) if len(self.cuts) == 1 else found

    def inertia(self, H) -> list:
        """M = K^T H_dd K, its mirrored entries the same scalars."""
        columns = transposed(self.K)
        HK = [[weighted(row, column) for row in H] for column in columns]
        M: list = [[0.0] * len(columns) for _ in columns]
        for i, column in enumerate(columns):
            for j in range(i, len(columns)):
                M[i][j] = M[j][i] = weighted(column, HK[j])
        return self.cuts[0].inertia(M) if len(self.cuts) == 1 else M

    def eliminate(self, H, u, g) -> dict:
        """Add the rows of the coordinates that follow to those of the others, and clear them.

        What they are as seen from the cuts is returned: M, N by columns, and K^T u_d + M g.
        """
        d = self.dependent
        M = self.inertia([[H[i][j] for j in d] for i in d])
        others = [j for j, row in enumerate(H) if row is not None and j not in d]
        N = {j: self.seen([H[i][j] for i in d]) for j in others}
        J = {j: [row[j] for row in self.J] for j in others}
        P = {j: [weighted(row, J[j]) - y for row, y in zip(M, N[j], strict=True)] for j in others}
        force = [weighted(row, g, y) for row, y in zip(M, self.seen([u[i] for i in d]), strict=True)]
        for j in others:
            u[j] = u[j] - weighted(J[j], force) + weighted(N[j], g)
            for i in others:
                if i <= j:
                    H[i][j] = H[j][i] = H[i][j] + weighted(J[i], P[j]) - weighted(N[i], J[j])
        for i in d:
            H[i] = u[i] = None
        return {"M": M, "N": N, "force": force}


class Reduction:
    """The groups of a model with loops.

    Parameters
    ----------
    recursions : Recursions
    loops : sequence of Loop
    dependent : list of int
        Coordinates that follow.
    reduced : callable
        Row for the freedoms of all joints to row for coordinates.
    axes : str
        Among `AXES`.

    Attributes
    ----------
    cuts : list of Cut
    groups : list of Group
        Each before those whose coordinates it uses.
    size : int
        Coordinates, those of hubs included.
    """

    def __init__(
        self, recursions: Recursions, loops, n: int, dependent: list[int], reduced: Callable, axes: str
    ):
        self.recursions, self.dependent, self.reduced, self.axes = recursions, dependent, reduced, axes
        closures = [Closure(recursions, loop) for loop in loops]
        self.n, self.hubs = n, self._hubs(closures)
        self.size = n + TWIST * len(self.hubs)
        self.cuts = cuts = [self._cut(closure) for closure in closures]
        self.groups = [self._group(*found) for found in self._shared(cuts)]
        self.groups += [self._moved(k, *hub) for k, hub in enumerate(self.hubs)]
        for cut in cuts:
            recursions.name(cut.closure.name, Jd=cut.Jd)
        for group in self.groups:
            recursions.name(group.name, K=group.K, J=group.J)

    def _hubs(self, closures: list[Closure]) -> list[tuple[int, int, int]]:
        """Bodies at which several loops end, the bodies that carry both ends, and axes."""
        where = [
            ((end.body, closure.top, self._axes(closure)), end)
            for closure in closures
            for end in closure.ends
        ]
        ends = Counter(key for key, _ in where)
        for (body, top, axes), end in where:
            path = self.recursions.path(body, top)
            moved = [k for i in path for k, _ in self.recursions.freedoms(i)]
            columns = [float(k in moved) for k in range(self.recursions.tree.n)]
            follows = any(self.reduced(columns)[j] for j in self.dependent)
            if axes is not None and ends[body, top, axes] > 1 and moved and not follows:
                end.hub = axes
        return sorted({key for key, end in where if end.hub is not None})

    def _axes(self, closure: Closure) -> int | None:
        """Axes of the rows of a loop, None for those of J_d."""
        first, second = (end.body for end in closure.ends)
        return {"top": closure.top, "first": first, "second": second, "own": None}[self.axes]

    def _cut(self, closure: Closure) -> Cut:
        """The rows in the axes in which those of the dependent coordinates have most zeros."""
        least = None
        for body in (closure.top, *closure.bodies):
            linear = self._of_dependent(closure.linear(body))
            full = sum(not is_zero(x) for row in linear for x in row)
            if least is None or full < least[0]:
                least = full, body, linear
        _, own, linear = least
        seen = own if self._axes(closure) is None else self._axes(closure)
        return Cut(closure, own, seen, linear + self._of_dependent(closure.angular()))

    def _of_dependent(self, rows) -> list:
        return [[row[j] for j in self.dependent] for row in map(self.reduced, rows)]

    def _shared(self, cuts: list[Cut]) -> list[tuple[list[Cut], list[int]]]:
        """Loops that share coordinates that follow, and these, each before those whose it uses."""
        rows = [(k, row) for k, cut in enumerate(cuts) for row in cut.Jd if not all(map(is_zero, row))]
        match = matching([row for _, row in rows])
        owner = {j: k for (k, _), j in zip(rows, match, strict=True) if j >= 0}
        if -1 in match or len(owner) < len(self.dependent):
            names = ", ".join(repr(cut.closure.name) for cut in cuts)
            raise CodegenError(f"loops {names}: the equations do not determine the coordinates")
        uses = np.eye(len(cuts), dtype=bool)
        for k, row in rows:
            for j, x in enumerate(row):
                uses[k, owner[j]] |= not is_zero(x)
        return [
            ([cuts[k] for k in ks], [j for j in range(len(self.dependent)) if owner[j] in ks])
            for ks in reversed(ordered(uses))
        ]

    def _group(self, cuts: list[Cut], columns: list[int]) -> Group:
        """The inverse of the rows that are not zero, and all rows."""
        rows = [[row[j] for j in columns] for cut in cuts for row in cut.Jd]
        kept = [k for k, row in enumerate(rows) if not all(map(is_zero, row))]
        try:
            found = inverse([rows[k] for k in kept])
        except SingularError:
            names = ", ".join(repr(cut.closure.name) for cut in cuts)
            raise CodegenError(f"loop {names}: the equations do not determine its coordinates") from None
        K = [[0.0] * len(rows) for _ in columns]
        for row, values in zip(K, found, strict=True):
            for k, value in zip(kept, values, strict=True):
                row[k] = value
        if len(cuts) > 1:
            cuts = [Cut(cut.closure, cut.own, cut.own, cut.Jd) for cut in cuts]
        J = [row for cut in cuts for row in self._rows(cut)]
        name = ", ".join(cut.closure.name for cut in cuts)
        return Group(name, [self.dependent[j] for j in columns], K, J, cuts)

    def _rows(self, cut: Cut) -> list:
        """Rows of a loop for all coordinates."""
        closure, axes = cut.closure, cut.seen
        rows = [
            self.reduced(row) + [0.0] * (self.size - self.n)
            for row in closure.linear(axes, hubs=False) + closure.angular(hubs=False)
        ]
        for which, end in enumerate(closure.ends):
            if end.hub is not None:
                first = self.n + TWIST * self.hubs.index((end.body, closure.top, axes))
                for row, twist in zip(rows, closure.twist(which, axes), strict=True):
                    row[first : first + TWIST] = twist
        return rows

    def _moved(self, k: int, body: int, top: int, axes: int) -> Group:
        """Velocities of a hub that follow from those of its joints: -t + S x = 0."""
        columns = [list(ZERO) * 2] * self.recursions.tree.n
        origin = list(ZERO)
        for i in self.recursions.path(body, top):
            for j, (v, w) in self.recursions.freedoms(i):
                linear = [x + y for x, y in zip(v, cross(w, origin), strict=True)]
                columns[j] = [*self.recursions.across(linear, i, axes), *self.recursions.across(w, i, axes)]
            origin = self.recursions.places[i].point(origin)
        J = [self.reduced(row) + [0.0] * (self.size - self.n) for row in transposed(columns)]
        K = [[-1.0 if i == j else 0.0 for j in range(TWIST)] for i in range(TWIST)]
        first = self.n + TWIST * k
        return Group(f"hub {k}", list(range(first, first + TWIST)), K, J, [])

    def rates(self, states) -> list:
        """For every group the left side of its rows where nothing accelerates."""
        return self._sides("g", lambda cut: cut.closure.accelerations(states, cut.seen))

    def gaps(self) -> list:
        """For every group what its loops are open by."""
        return self._sides("gap", lambda cut: cut.closure.gap(cut.seen))

    def _sides(self, name: str, side: Callable) -> list:
        """For every group what is asked of its cuts, zeros where it has none."""
        found = [[x for cut in group.cuts for x in side(cut)] or [0.0] * TWIST for group in self.groups]
        for group, values in zip(self.groups, found, strict=True):
            self.recursions.name(group.name, **{name: values})
        return found

    def complete(self, x, sides) -> list:
        """Coordinates with those that follow computed, for left sides of the rows of all groups."""
        found = list(x) + [None] * (self.size - self.n)
        for j in self.dependent:
            found[j] = None
        for group, side in zip(reversed(self.groups), reversed(sides), strict=True):
            group.follow(found, side)
        return found[: self.n]

    def eliminate(self, H, u, rates) -> list[int]:
        """Leave rows and columns of independent coordinates, whose numbers are returned, in H and u."""
        extra = self.size - self.n
        H[:] = [row + [0.0] * extra for row in H] + [[0.0] * self.size for _ in range(extra)]
        u += [0.0] * extra
        for group, g in zip(self.groups, rates, strict=True):
            self.recursions.name(group.name, **group.eliminate(H, u, g))
        return [k for k, row in enumerate(H) if row is not None]
