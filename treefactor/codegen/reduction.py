"""Elimination of the coordinates that follow from closed loops, loop by loop, from equations of motion.

The rows of a loop are J_d a_d + J_x a_x + g = 0, with coordinates d that follow and all others x. With
K = J_d^-1, a_d = -K (J_x a_x + g) is put into H a = u, and rows of d are added to rows of x:

    M = K^T H_dd K,   N = K^T H_dx,   H_xx + J_x^T M J_x - J_x^T N - N^T J_x,
    u_x - J_x^T (K^T u_d + M g) + N^T g.

M, N and K^T u_d live in the space of the rows: inertia and force of the loop as seen from where it was cut. It
may have axes in which J_x is simple, K^T others in which J_d is. No product with a zero is formed.

Golubev & Yaskevich (2020), sections 1 and 5: reduction to the independent branch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..exceptions import CodegenError
from .closures import Closure
from .inverses import SingularError, inverse, is_zero, matching, ordered
from .matrices import transposed, weighted
from .recursions import Recursions

AXES = ("top", "first", "second", "own")  # of the rows: of the body that carries both ends, of one, of J_d


@dataclass(frozen=True, eq=False)
class Cut:
    """A loop with linear rows in axes `own` for J_d, and in axes `seen` for all else.

    Attributes
    ----------
    closure : Closure
    own, seen : int
        Bodies.
    J : list
        Rows for all coordinates, linear ones in axes `own`.
    """

    closure: Closure
    own: int
    seen: int
    J: list

    def turned(self, y, back: bool = False) -> list:
        """Rows in axes `own` made rows in axes `seen`, or back."""
        axes = (self.seen, self.own) if back else (self.own, self.seen)
        return self.closure.recursions.across(y[:3], *axes) + list(y[3:])

    def inertia(self, M) -> list:
        """A symmetric matrix of rows in axes `own`, in axes `seen`."""
        inner = [row[:3] for row in M[:3]]
        if any(not is_zero(x) for row in inner for x in row):
            inner = self.closure.recursions.across_matrix(inner, self.own, self.seen)
        mixed = [self.turned(row)[:3] for row in M[3:]]
        return [
            *(row + [other[i] for other in mixed] for i, row in enumerate(inner)),
            *(other + row[3:] for other, row in zip(mixed, M[3:], strict=True)),
        ]


class Group:
    """Loops whose rows share the coordinates that follow from them.

    Parameters
    ----------
    cuts : list of Cut
    dependent : list of int
    reduced : callable
        Row for the freedoms of all joints to row for coordinates.
    """

    def __init__(self, cuts: list[Cut], dependent: list[int], reduced):
        self.cuts, self.dependent = cuts, dependent
        rows = [[row[j] for j in dependent] for cut in cuts for row in cut.J]
        kept = [k for k, row in enumerate(rows) if not all(map(is_zero, row))]
        names = ", ".join(repr(cut.closure.name) for cut in cuts)
        if len(kept) != len(dependent):
            raise CodegenError(f"loop {names}: {len(kept)} equations for {len(dependent)} coordinates")
        try:
            found = inverse([rows[k] for k in kept])
        except SingularError:
            raise CodegenError(f"loop {names}: the equations do not determine its coordinates") from None
        self.K = [[0.0] * len(rows) for _ in dependent]
        for row, values in zip(self.K, found, strict=True):
            for k, value in zip(kept, values, strict=True):
                row[k] = value
        self.J = [
            row
            for cut in cuts
            for row in (
                cut.J if cut.own == cut.seen else [*map(reduced, cut.closure.linear(cut.seen)), *cut.J[3:]]
            )
        ]

    def parts(self, y):
        """Rows loop by loop."""
        for cut in self.cuts:
            size = cut.closure.rows
            yield cut, y[:size]
            y = y[size:]

    def follow(self, a, g) -> None:
        """Put the coordinates that follow into a: -K (J a + g)."""
        total = [
            weighted([a[j] for j in self.others(a)], [row[j] for j in self.others(a)], x)
            for row, x in zip(self.J, g, strict=True)
        ]
        own = [x for cut, part in self.parts(total) for x in cut.turned(part, back=True)]
        for j, row in zip(self.dependent, self.K, strict=True):
            a[j] = -weighted(row, own)

    def others(self, a) -> list[int]:
        """Coordinates that are known."""
        return [j for j in range(len(a)) if a[j] is not None and j not in self.dependent]

    def seen(self, u) -> list:
        """Forces as seen from the cuts: K^T u."""
        found = [weighted(column, u) for column in transposed(self.K)]
        return [x for cut, part in self.parts(found) for x in cut.turned(part)]

    def inertia(self, H) -> list:
        """M = K^T H_dd K, its mirrored entries the same scalars."""
        size = len(self.J)
        HK = [[weighted(row, column) for column in transposed(self.K)] for row in H]
        M = [[0.0] * size for _ in range(size)]
        for i in range(size):
            for j in range(i, size):
                M[i][j] = M[j][i] = weighted([row[i] for row in self.K], [row[j] for row in HK])
        return self.cuts[0].inertia(M) if len(self.cuts) == 1 else M

    def eliminate(self, H, u, g) -> None:
        """Add the rows of the coordinates that follow to those of the others, and clear them."""
        n, d = len(H), self.dependent
        M = self.inertia([[H[i][j] for j in d] for i in d])
        others = [j for j in range(n) if H[j] is not None and j not in d]
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


def groups(recursions: Recursions, loops, dependent: list[int], reduced, axes: str) -> list[Group]:
    """Groups of loops, each before those whose coordinates it uses.

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
    """
    cuts = [_cut(Closure(recursions, loop), dependent, reduced, axes) for loop in loops]
    rows = [(k, [row[j] for j in dependent]) for k, cut in enumerate(cuts) for row in cut.J]
    rows = [(k, row) for k, row in rows if not all(map(is_zero, row))]
    match = matching([row for _, row in rows])
    owner = {j: k for (k, _), j in zip(rows, match, strict=True) if j >= 0}
    if -1 in match or len(owner) < len(dependent):
        names = ", ".join(repr(loop.name) for loop in loops)
        raise CodegenError(f"loops {names}: the equations do not determine the coordinates")
    uses = np.eye(len(cuts), dtype=bool)
    for k, row in rows:
        for j, x in enumerate(row):
            uses[k, owner[j]] |= not is_zero(x)
    return [
        Group(
            _together([cuts[k] for k in ks]), [d for j, d in enumerate(dependent) if owner[j] in ks], reduced
        )
        for ks in reversed(ordered(uses))
    ]


def _cut(closure: Closure, dependent: list[int], reduced, axes: str) -> Cut:
    """The rows in the axes in which those of the dependent coordinates have most zeros."""
    seen = {"top": closure.top, "first": closure.ends[0], "second": closure.ends[1]}
    least = None
    for body in (closure.top, *closure.bodies):
        linear = [reduced(row) for row in closure.linear(body)]
        full = sum(not is_zero(row[j]) for row in linear for j in dependent)
        if least is None or full < least[0]:
            least = full, body, linear
    _, own, linear = least
    target = seen.get(axes, own)
    return Cut(closure, own, target, linear + [reduced(row) for row in closure.angular(target)])


def _together(cuts: list[Cut]) -> list[Cut]:
    """Cuts of a group; axes are changed only where it is alone."""
    if len(cuts) == 1:
        return cuts
    return [Cut(cut.closure, cut.own, cut.own, cut.J) for cut in cuts]
