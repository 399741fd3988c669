"""Describe a closed loop as a ring: rigid links between the joints whose positions are not known yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from .closures import Closure
from .matrices import ZERO
from .placements import Placement


@dataclass(frozen=True, eq=False)
class Passage:
    """Change of frame between a body and its parent: up to the parent, or down to the body."""

    place: Placement
    up: bool

    def point(self, x) -> list:
        """Return the coordinates of a point in the next frame."""
        return self.place.point(x) if self.up else self.place.seen(x)

    def vector(self, x) -> list:
        """Return the coordinates of a vector in the next frame."""
        return self.place.rotated(x) if self.up else self.place.inward(x)

    @property
    def inverse(self) -> Passage:
        """The same passage in the other direction."""
        return replace(self, up=not self.up)


@dataclass(frozen=True)
class Screw:
    """Unknown joint of a ring: rotation about, or translation along, its z axis.

    Attributes
    ----------
    body : int
    sign : int
        1 if the ring passes the joint from the body to its parent, -1 otherwise.
    slides : bool
        Whether the joint is prismatic.
    """

    body: int
    sign: int
    slides: bool

    @property
    def inverse(self) -> Screw:
        """The same joint, passed in the other direction."""
        return replace(self, sign=-self.sign)


@dataclass(frozen=True, eq=False)
class Ring:
    """Loop, from the point of its first end to that of its second: link 0, screw 0, link 1, screw 1, ...

    The point moved through all links and screws is the point of the second end. The frame of a screw has the
    axis of the joint as its z axis.

    Attributes
    ----------
    ends : tuple of list
        Points of both ends, in the frames of their bodies.
    links : sequence of sequence of Passage
        One more than there are screws.
    screws : sequence of Screw
    """

    ends: tuple[list, list]
    links: Sequence[Sequence[Passage]]
    screws: Sequence[Screw]

    @classmethod
    def of(cls, closure: Closure, places: Sequence[Placement], unknown: Collection[int]) -> Ring:
        """Return the ring of a loop.

        Parameters
        ----------
        closure : Closure
        places : sequence of Placement
            Placements of all bodies; those of the unknown joints without the motion of the joint.
        unknown : collection of int
            Bodies whose joints are unknown.
        """
        recursions, (first, second) = closure.recursions, closure.ends
        links: list[list[Passage]] = [[]]
        screws = []
        for up, end in ((True, first), (False, second)):
            path = recursions.path(end.body, closure.top)
            for i in path if up else reversed(path):
                passage, slides = Passage(places[i], up), recursions.bodies[i].kind == "prismatic"
                if not up:
                    links[-1].append(passage)
                if i in unknown:
                    screws.append(Screw(i, 1 if up else -1, slides))
                    links.append([])
                if up:
                    links[-1].append(passage)
        return cls((first.point, second.point), links, screws)

    @property
    def reverse(self) -> Ring:
        """The ring from the second end to the first."""
        links = [_inverse(link) for link in reversed(self.links)]
        return Ring(self.ends[::-1], links, [screw.inverse for screw in reversed(self.screws)])

    @property
    def start(self) -> list:
        """Point of the first end, in the frame of the first screw."""
        return self.point(0, self.ends[0])

    @property
    def stop(self) -> list:
        """Point of the second end, in the frame of the last screw."""
        return self.point_before(len(self.screws), self.ends[1])

    def point(self, link: int, x) -> list:
        """Move a point through a link."""
        for passage in self.links[link]:
            x = passage.point(x)
        return x

    def vector(self, link: int, x) -> list:
        """Rotate a vector through a link."""
        for passage in self.links[link]:
            x = passage.vector(x)
        return x

    def point_before(self, link: int, x) -> list:
        """Move a point back through a link."""
        for passage in _inverse(self.links[link]):
            x = passage.point(x)
        return x

    def vector_before(self, link: int, x) -> list:
        """Rotate a vector back through a link."""
        for passage in _inverse(self.links[link]):
            x = passage.vector(x)
        return x

    def origin_before(self, link: int) -> list:
        """Return the origin of the frame behind a link, in the frame before it."""
        return self.point_before(link, list(ZERO))


def _inverse(link: Sequence[Passage]) -> list[Passage]:
    """Return a link in the other direction."""
    return [passage.inverse for passage in reversed(link)]
