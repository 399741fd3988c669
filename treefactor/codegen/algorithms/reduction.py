"""Eliminate dependent coordinates of closed loops from the equations of motion, loop by loop.

The rows of a loop are J_d a_d + J_x a_x + g = 0, with dependent coordinates d and all others x. With
K = J_d^-1, a_d = -K (J_x a_x + g) is substituted into H a = u, and rows of d are added to rows of x:

    M = K^T H_dd K,   N = K^T H_dx,   H_xx + J_x^T M J_x - J_x^T N - N^T J_x,
    u_x - J_x^T (K^T u_d + M g) + N^T g.

M, N and K^T u_d are inertia and force in the space of the rows. Their axes are chosen so that J_x is simple,
those of K so that J_d is. A hub is a body at which several loops end and whose motion does not depend on d:
its velocity and angular velocity t = S x are additional coordinates; d depends on t, and t on x, with
J_d = -1. Products with zeros are not formed.

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

TWIST = 6  # coordinates of a hub


@dataclass(frozen=True, eq=False)
class Cut:
    """Loop whose linear rows have axes `own` in J_d, and axes `seen` elsewhere.

    Attributes
    ----------
    closure : Closure
    own, seen : int
        Bodies whose axes are used.
    Jd : list
        Rows of the dependent coordinates.
    """

    closure: Closure
    own: int
    seen: int
    Jd: list

    def turned(self, y, back: bool = False) -> list:
        """Rotate a vector of the rows from axes `own` to axes `seen`, or back."""
        axes = (self.seen, self.own) if back else (self.own, self.seen)
        return self.closure.recursions.across(y[:3], *axes) + list(y[3:])

    def inertia(self, M) -> list:
        """Rotate a symmetric matrix of the rows from axes `own` to axes `seen`."""
        inner = self.closure.recursions.across_matrix([row[:3] for row in M[:3]], self.own, self.seen)
        mixed = [self.turned(row)[:3] for row in M[3:]]
        return [
            *(row + [coupled[i] for coupled in mixed] for i, row in enumerate(inner)),
            *(coupled + row[3:] for coupled, row in zip(mixed, M[3:], strict=True)),
        ]


@dataclass(frozen=True, eq=False)
class Group:
    """Dependent coordinates determined by the same rows.

    Attributes
    ----------
    name : str
    dependent : list of int
    K : list
        Inverse of their columns of the rows.
    J : list
        Rows of all other coordinates.
    cuts : list of Cut
        Loops of the rows; with a single loop the axes `own` and `seen` may differ.
    """

    name: str
    dependent: list
    K: list
    J: list
    cuts: list

    def solve(self, a, g) -> None:
        """Write the dependent coordinates into a: -K (J a + g)."""
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
        """Return forces in the space of the rows: K^T u."""
        forces = [weighted(column, u) for column in transposed(self.K)]
        return self.cuts[0].turned(forces) if len(self.cuts) == 1 else forces

    def inertia(self, H) -> list:
        """Return M = K^T H_dd K; mirrored entries are the same scalars."""
        columns = transposed(self.K)
        HK = [[weighted(row, column) for row in H] for column in columns]
        M: list = [[0.0] * len(columns) for _ in columns]
        for i, column in enumerate(columns):
            for j in range(i, len(columns)):
                M[i][j] = M[j][i] = weighted(column, HK[j])
        return self.cuts[0].inertia(M) if len(self.cuts) == 1 else M

    def eliminate(self, H, u, g) -> dict:
        """Eliminate the dependent coordinates from H and u, in place; their rows become None.

        Returns the terms in the space of the rows: M, N by columns, and K^T u_d + M g.
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
    """Elimination of all dependent coordinates of a model with loops.

    Parameters
    ----------
    recursions : Recursions
    loops : sequence of Loop
    dependent : list of int
        Dependent coordinates.
    reduced : callable
        Maps a row for the freedoms of all joints to a row for the coordinates.
    axes : str
        One of `program.names.AXES`.

    Attributes
    ----------
    cuts : list of Cut
    groups : list of Group
        Each group comes before those it depends on.
    size : int
        Number of coordinates, those of hubs included.
    """

    def __init__(
        self, recursions: Recursions, loops, n: int, dependent: list[int], reduced: Callable, axes: str
    ):
        self.recursions, self.dependent, self.reduced, self.axes = recursions, dependent, reduced, axes
        closures = [Closure(recursions, loop) for loop in loops]
        self.n, self.hubs = n, self._hubs(closures)
        self.size = n + TWIST * len(self.hubs)
        self.cuts = cuts = [self._cut(closure) for closure in closures]
        self.groups = [self._group(*shared) for shared in self._shared(cuts)]
        self.groups += [self._moved(k, *hub) for k, hub in enumerate(self.hubs)]
        for cut in cuts:
            recursions.name(cut.closure.name, Jd=cut.Jd)
        for group in self.groups:
            recursions.name(group.name, K=group.K, J=group.J)

    def _hubs(self, closures: list[Closure]) -> list[tuple[int, int, int]]:
        """Return the hubs: body, common ancestor of the ends, and axes."""
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
        """Return the body whose axes the rows of a loop have, None for the axes of J_d."""
        first, second = (end.body for end in closure.ends)
        return {"top": closure.top, "first": first, "second": second, "own": None}[self.axes]

    def _cut(self, closure: Closure) -> Cut:
        """Return the loop with `own` axes in which J_d has the most zeros."""
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
        """Return the columns of the dependent coordinates."""
        return [[row[j] for j in self.dependent] for row in map(self.reduced, rows)]

    def _shared(self, cuts: list[Cut]) -> list[tuple[list[Cut], list[int]]]:
        """Return sets of loops that share dependent coordinates, each before those it depends on."""
        rows = [(k, row) for k, cut in enumerate(cuts) for row in cut.Jd if not all(map(is_zero, row))]
        match = matching([row for _, row in rows])
        owner = {j: k for (k, _), j in zip(rows, match, strict=True) if j >= 0}
        if -1 in match or len(owner) < len(self.dependent):
            names = ", ".join(repr(cut.closure.name) for cut in cuts)
            raise CodegenError(f"loops {names}: the equations do not determine the dependent coordinates")
        uses = np.eye(len(cuts), dtype=bool)
        for k, row in rows:
            for j, x in enumerate(row):
                uses[k, owner[j]] |= not is_zero(x)
        return [
            ([cuts[k] for k in ks], [j for j in range(len(self.dependent)) if owner[j] in ks])
            for ks in reversed(ordered(uses))
        ]

    def _group(self, cuts: list[Cut], columns: list[int]) -> Group:
        """Return the group of some loops and dependent coordinates, with the inverse of its non-zero rows."""
        rows = [[row[j] for j in columns] for cut in cuts for row in cut.Jd]
        kept = [k for k, row in enumerate(rows) if not all(map(is_zero, row))]
        try:
            inverse_rows = inverse([rows[k] for k in kept])
        except SingularError:
            names = ", ".join(repr(cut.closure.name) for cut in cuts)
            raise CodegenError(
                f"loop {names}: the equations do not determine its dependent coordinates"
            ) from None
        K = [[0.0] * len(rows) for _ in columns]
        for row, values in zip(K, inverse_rows, strict=True):
            for k, value in zip(kept, values, strict=True):
                row[k] = value
        if len(cuts) > 1:
            cuts = [Cut(cut.closure, cut.own, cut.own, cut.Jd) for cut in cuts]
        J = [row for cut in cuts for row in self._rows(cut)]
        name = ", ".join(cut.closure.name for cut in cuts)
        return Group(name, [self.dependent[j] for j in columns], K, J, cuts)

    def _rows(self, cut: Cut) -> list:
        """Return the rows of a loop for all coordinates."""
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
        """Return the group of a hub, whose velocities depend on those of its joints: -t + S x = 0."""
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
        """Return for every group the left side of its rows at zero accelerations."""
        return self._sides("g", lambda cut: cut.closure.accelerations(states, cut.seen))

    def gaps(self) -> list:
        """Return for every group the residuals of its loops."""
        return self._sides("gap", lambda cut: cut.closure.gap(cut.seen))

    def _sides(self, name: str, side: Callable) -> list:
        """Return for every group the concatenated values of its loops, zeros for a hub."""
        sides = [[x for cut in group.cuts for x in side(cut)] or [0.0] * TWIST for group in self.groups]
        for group, values in zip(self.groups, sides, strict=True):
            self.recursions.name(group.name, **{name: values})
        return sides

    def complete(self, x, sides) -> list:
        """Return all coordinates; the dependent ones are computed from x and the left sides of the rows."""
        coordinates = list(x) + [None] * (self.size - self.n)
        for j in self.dependent:
            coordinates[j] = None
        for group, side in zip(reversed(self.groups), reversed(sides), strict=True):
            group.solve(coordinates, side)
        return coordinates[: self.n]

    def eliminate(self, H, u, rates) -> list[int]:
        """Eliminate all dependent coordinates from H and u; return the numbers of the independent ones."""
        extra = self.size - self.n
        H[:] = [row + [0.0] * extra for row in H] + [[0.0] * self.size for _ in range(extra)]
        u += [0.0] * extra
        for group, g in zip(self.groups, rates, strict=True):
            self.recursions.name(group.name, **group.eliminate(H, u, g))
        return [k for k, row in enumerate(H) if row is not None]
