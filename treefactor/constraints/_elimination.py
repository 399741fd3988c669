"""Order the unknowns of a mechanism in maximal coordinates, and lay out its matrix K = [M J^T; J -E]."""

from __future__ import annotations

import numpy as np

from .._util.validation import Sealed

ORDERS = ("tree", "bodies first")
BODY = 6  # freedoms of a body
A, B = np.triu_indices(BODY, 1)


def spanning_forest(
    n: int, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Choose joints that connect the bodies without loops, the earlier one where there is a choice.

    Parameters
    ----------
    n : int
        Bodies.
    first, second : ndarray of int
        Bodies of every joint; -1 is the base.

    Returns
    -------
    order : ndarray, shape (n,)
        Bodies, depth first, each after the one that carries it.
    carrier : ndarray, shape (n,)
        Joint by which a body hangs on the one that carries it, or on the base; -1 without such a joint.
    loops : ndarray
        The other joints.
    """
    group = list(range(n + 1))  # the last is the base
    adjacent: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    loops = []
    for j, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        a, b = a % (n + 1), b % (n + 1)
        x, y = _representative(group, a), _representative(group, b)
        if x == y:
            loops.append(j)
            continue
        group[x] = y
        adjacent[a].append((j, b))
        adjacent[b].append((j, a))
    order: list[int] = []
    carrier = np.full(n + 1, -1, dtype=np.intp)
    seen = [False] * (n + 1)
    for root in (n, *range(n)):
        waiting = [] if seen[root] else [(-1, root)]
        while waiting:
            j, body = waiting.pop()
            carrier[body], seen[body] = j, True
            order.append(body)
            waiting += [(k, neighbour) for k, neighbour in adjacent[body] if not seen[neighbour]]
    bodies = np.array(order, dtype=np.intp)
    return bodies[bodies < n], carrier[:n], np.array(loops, dtype=np.intp)


def _representative(group: list[int], member: int) -> int:
    """Return the representative of a set, and shorten the path to it."""
    while group[member] != member:
        group[member] = group[group[member]]
        member = group[member]
    return member


class Layout(Sealed):
    """Places of K's unknowns in the order of elimination, and of its entries in rows.

    In the order "tree", every body is eliminated after those that it carries, and the rows of its joint right
    after it: no row couples more than one body and the next. In "bodies first", all rows follow all bodies.

    Parameters
    ----------
    order, carrier : ndarray
        From `spanning_forest`.
    count : ndarray of int
        Rows of every joint; of joints that close loops, 0.
    first, second : ndarray of int
        Bodies of every joint.
    tied : ndarray of int
        Joints whose bodies are coupled directly, too.
    chosen : {"tree", "bodies first"}

    Attributes
    ----------
    size : int
        Unknowns.
    body : ndarray, shape (n,)
        Place of a body's first freedom.
    row, joint, within : ndarray
        Place, joint and number within its joint of every row.
    row_start, columns : ndarray
        Later neighbours of every unknown, itself last.
    slots : tuple of ndarray
        Places in ``columns`` of the entries of M above the diagonal, of J on second and on first bodies, of
        the blocks of tied bodies, and of the diagonal.
    on_second, on_first : ndarray
        Rows whose second and first bodies are not the base.
    """

    size: int
    body: np.ndarray
    row: np.ndarray
    joint: np.ndarray
    within: np.ndarray
    row_start: np.ndarray
    columns: np.ndarray
    slots: tuple[np.ndarray, ...]
    on_second: np.ndarray
    on_first: np.ndarray

    def __init__(self, order, carrier, count, first, second, tied, chosen: str):
        leafward = order[::-1]
        own = np.where(carrier[leafward] >= 0, count[carrier[leafward]], 0) if len(count) else 0 * leafward
        n, total = len(order), int(own.sum())
        self._keep(size=BODY * n + total)
        self._keep(body=np.empty(n, dtype=np.intp))
        start = np.zeros(len(count), dtype=np.intp)
        before = np.cumsum(own) - own
        has_rows = own > 0
        held = carrier[leafward][has_rows]
        if chosen == "tree":
            self.body[leafward] = BODY * np.arange(n) + before
            start[held] = self.body[leafward][has_rows] + BODY
        else:
            self.body[leafward] = BODY * np.arange(n)
            start[held] = BODY * n + before[has_rows]
        self._keep(joint=np.repeat(held, own[has_rows]))
        self._keep(within=np.arange(total) - np.repeat(before[has_rows], own[has_rows]))
        self._keep(row=start[self.joint] + self.within)
        self._keep(on_second=np.flatnonzero(second[self.joint] >= 0))
        self._keep(on_first=np.flatnonzero(first[self.joint] >= 0))
        self._lay_out(first, second, tied)

    def _lay_out(self, first, second, tied) -> None:
        """Sort all entries into rows of later neighbours, the diagonal last."""
        axes = np.arange(BODY)
        pairs = [np.stack([self.body[:, None] + A, self.body[:, None] + B]).reshape(2, -1)]
        for at, ends in ((self.on_second, second), (self.on_first, first)):
            column = self.body[ends[self.joint[at]]][:, None] + axes
            pair = np.stack([np.broadcast_to(self.row[at, None], column.shape), column]).reshape(2, -1)
            pairs.append(np.sort(pair, axis=0))
        blocks = np.broadcast_arrays(
            self.body[second[tied], None, None] + axes[:, None], self.body[first[tied], None, None] + axes
        )
        pairs.append(np.sort(np.reshape(blocks, (2, -1)), axis=0))
        pairs.append(np.tile(np.arange(self.size), (2, 1)))
        earlier, later = np.concatenate(pairs, axis=1)
        by_row = np.argsort(earlier, kind="stable")
        slot = np.empty(len(by_row), dtype=np.intp)
        slot[by_row] = np.arange(len(by_row))
        self._keep(columns=np.ascontiguousarray(later[by_row], dtype=np.intp))
        counts = np.bincount(earlier, minlength=self.size)
        self._keep(row_start=np.concatenate([np.zeros(1, np.intp), np.cumsum(counts, dtype=np.intp)]))
        self._keep(slots=tuple(np.split(slot, np.cumsum([pair.shape[1] for pair in pairs])[:-1])))

    def entries(self, M, J2, J1, ties, diagonal) -> np.ndarray:
        """Return the entries of K from blocks (n, 6, 6) of M, rows of J, blocks of ties, and the diagonal."""
        values = np.empty(len(self.columns))
        parts = M[:, A, B], J2[self.on_second], J1[self.on_first], ties, diagonal
        for slot, part in zip(self.slots, parts, strict=True):
            values[slot] = part.ravel()
        return values
