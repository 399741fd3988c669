"""Decide whether what a call reads differs between the iterations of a loop, and depends on earlier ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .flow import OUTSIDE, RANDOM, Definition, Loop, Place, shown


class Origin(NamedTuple):
    """Where values come from in the iterations of a loop.

    Attributes
    ----------
    varies : bool
        Whether they differ between iterations.
    earlier : frozenset of str
        Variables that carry them from one iteration to the next, or that are read anew each time.
    """

    varies: bool = False
    earlier: frozenset[str] = frozenset()

    @property
    def is_independent(self) -> bool:
        """Whether all iterations can be computed together."""
        return self.varies and not self.earlier


class Dependence:
    """Origins of what is read in a list of definitions."""

    def __init__(self, definitions: list[Definition]):
        self.definitions = definitions
        self._bodies: dict[Loop, list[Definition]] = {}
        self._named: dict[tuple[Loop | None, str], list[Definition]] = {}  # by the first part of the place
        for one in definitions:
            self._named.setdefault((None, one.place[0]), []).append(one)
            for loop in one.loops:
                self._bodies.setdefault(loop, []).append(one)
                self._named.setdefault((loop, one.place[0]), []).append(one)

    def origin(self, loop: Loop, at: Definition, places: Iterable[Place]) -> Origin:
        """Return where the values come from that a definition reads."""
        varies, earlier = False, set()
        seen: set[tuple[int, Place]] = set()
        waiting = [(at, place) for place in places]
        while waiting:
            here, place = waiting.pop()
            if (here.number, place) in seen:
                continue
            seen.add((here.number, place))
            if place in (RANDOM, OUTSIDE):
                varies = True
                earlier |= {shown(place)} & {shown(OUTSIDE)}
                continue
            named = self._named.get((loop, place[0]), [])
            candidates = [one for one in named if overlap(one.place, place)]
            sources = self._sources(loop, here, place, candidates)
            if sources is None:  # left by an earlier iteration
                varies = True
                earlier |= set() if self._is_count(loop, candidates, place) else {shown(place)}
                continue
            for one, reads in sources:
                varies = varies or one.of is loop
                waiting += [(one, read) for read in reads if one.of is not loop]
        return Origin(varies, frozenset(earlier))

    def _sources(
        self, loop: Loop, at: Definition, place: Place, candidates: list[Definition]
    ) -> list[tuple[Definition, list[Place]]] | None:
        """Return the definitions in an iteration that may give a place its value, with what they read.

        None if the value may be of an earlier iteration.
        """
        if not candidates:
            return []
        last = _last([one for one in candidates if one.number < at.number], at, place)
        if last is None:
            return None
        inner = [one for one in at.loops[at.loops.index(loop) + 1 :] if one not in last.loops]
        sources = []
        for one in candidates:
            again = one.number >= at.number and any(other in one.loops for other in inner)
            if last.number <= one.number < at.number or again:
                sources.append((one, [read for read in one.reads if one is last or read != one.place]))
        return sources

    def _is_count(self, loop: Loop, candidates: list[Definition], place: Place) -> bool:
        """Return whether the same is added to a place each time, so that its values are known beforehand."""
        body = self._bodies[loop]
        return all(
            one.is_step
            and one.place == place
            and not any(overlap(other.place, read) for read in one.reads if read != place for other in body)
            for one in candidates
        )

    def reaching(self, at: Definition, place: Place) -> Definition | None:
        """Return the last definition before that surely gives a place its value."""
        return _last(self._earlier(at, place), at, place)

    def _earlier(self, at: Definition, place: Place) -> list[Definition]:
        """Return the definitions before one of places that begin alike."""
        return [one for one in self._named.get((None, place[0]), []) if one.number < at.number]

    def comes_from(self, at: Definition, places: Iterable[Place], source: Place) -> bool:
        """Return whether what is read is computed from a source, through definitions before."""
        seen: set[tuple[int, Place]] = set()
        waiting = [(at, place) for place in places]
        while waiting:
            here, place = waiting.pop()
            if place[: len(source)] == source:
                return True
            if (here.number, place) in seen:
                continue
            seen.add((here.number, place))
            for one in self._before(here, place):
                waiting += [(one, read) for read in one.reads]
        return False

    def is_same(self, at: Definition, places: Iterable[Place], source: Place) -> bool:
        """Return whether what is read is the source itself, under other names."""
        listed = set(places)
        for _ in self.definitions:
            if listed == {source}:
                return True
            last = self.reaching(at, *listed) if len(listed) == 1 else None
            if last is None:
                return False
            at, listed = last, set(last.reads)
        return False

    def _before(self, at: Definition, place: Place) -> list[Definition]:
        """Return the definitions before that may give a place its value."""
        listed = self._earlier(at, place)
        last = _last(listed, at, place)
        first = last.number if last else 0
        within = (one for one in listed if one.number >= first and overlap(one.place, place))
        return [one for one in within if not _is_attribute(one, place)]


def _last(listed: list[Definition], at: Definition, place: Place) -> Definition | None:
    """Return the last definition of the whole place that runs whenever a later one does."""
    for one in reversed(listed):
        covers = place[: len(one.place)] == one.place
        if covers and at.path[: len(one.path)] == one.path:
            return one
    return None


def _is_attribute(one: Definition, place: Place) -> bool:
    """Return whether an attribute of a place is defined: what reads the object need not read that."""
    return any(part[0] == "." for part in one.place[len(place) :])


def overlap(one: Place, other: Place) -> bool:
    """Return whether two places may share values: subscripts may be equal unless both are other numbers."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            both = a[0] == "[" and b[0] == "["
            if not both or (a[1:-1].lstrip("-").isdigit() and b[1:-1].lstrip("-").isdigit()):
                return False
    return True
