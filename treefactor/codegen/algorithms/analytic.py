"""Find the loops whose dependent positions are roots of quadratic equations, numerically.

A loop has an analytic closure if its dependent joints are one of these, after joints whose axis contains the
point of an end are set aside, of which the angular row of the loop determines one:

- two joints of a plane, revolute or prismatic: with the point of the loop they form a triangle;
- two revolute joints with intersecting axes and a third joint, revolute or prismatic: a leg, whose end lies
  on a sphere about the intersection.

All properties are analytic functions of q: what holds in random configurations holds everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exceptions import CodegenError
from ...model.configuration import random_configuration
from .closures import Closure
from .placements import UNIT, fixed
from .recursions import Recursions
from .rings import Ring

SAMPLES = 3  # random configurations
NEAR = 1e-9  # tolerance of directions, and of lengths relative to the longest
SOLVED = ("revolute", "continuous", "prismatic")  # kinds of joints whose positions are computed


@dataclass(frozen=True)
class Task:
    """One loop and the joints that close it, in the order of computation.

    Attributes
    ----------
    loop : int
    screws : tuple of int
        Bodies of the two or three joints that the point of the loop determines.
    loose : tuple of int
        Bodies of the joints, at most one, that the angular row of the loop determines.
    backward : bool
        Whether the ring is followed from the second end to the first.
    centers : tuple of float
        Of a leg: where the axes of its last two joints intersect, on either axis.
    """

    loop: int
    screws: tuple[int, ...]
    loose: tuple[int, ...] = ()
    backward: bool = False
    centers: tuple[float, ...] = ()


def tasks_of(model, bodies, unknown: list[int], names: dict[int, str]) -> list[Task]:
    """Return the tasks that compute the positions of unknown joints.

    Parameters
    ----------
    model : Model
    bodies : list of Body
    unknown : list of int
        Bodies of the dependent joints.
    names : dict of int to str
        Names of these bodies' freedoms.

    Raises
    ------
    CodegenError
        If a loop has no analytic closure; names the loop.
    """
    rng = np.random.default_rng(0)
    samples = [
        Recursions(bodies, model.gravity, model.extended, random_configuration(model, rng).tolist())
        for _ in range(SAMPLES)
    ]
    left, waiting, tasks = set(unknown), list(range(len(model.loops))), []
    while waiting:
        candidates = {k: _task(samples, model.loops[k], k, left) for k in waiting}
        solved = next((k for k, task in candidates.items() if task is not None), None)
        if solved is None:
            raise _not_analytic(model.loops[waiting[0]], samples[0], left, names)
        task = candidates[solved]
        left -= {*task.screws, *task.loose}
        waiting.remove(solved)
        tasks += [task] if task.screws else []
    return tasks


def _not_analytic(loop, recursions: Recursions, left: set[int], names: dict[int, str]) -> CodegenError:
    """Return the error for a loop without an analytic closure."""
    joints = ", ".join(names[i] for i in Closure(recursions, loop).bodies if i in left)
    return CodegenError(
        f"loop {loop.name!r} has no analytic closure: its dependent joints ({joints}) are neither two joints "
        "of a plane nor a leg; close it by Newton's method, with treefactor.constraints.close or the "
        "function loop_step, or choose other joints as independent="
    )


def _task(samples: list[Recursions], loop, k: int, left: set[int]) -> Task | None:
    """Return the task of a loop; None if the loop has no analytic closure. No unknowns give no screws."""
    closures = [Closure(recursions, loop) for recursions in samples]
    unknown = [i for i in closures[0].bodies if i in left]
    bodies = samples[0].bodies
    if any(bodies[i].kind not in SOLVED or bodies[i].circle for i in unknown):
        return None
    if len({bodies[i].q for i in unknown}) < len(unknown):  # a mimic joint follows another one
        return None
    length = max(np.abs([x for end in closures[0].ends for x in end.point]).max(), *_lengths(bodies))
    loose = _loose([_ring(closure, unknown) for closure in closures], NEAR * length)
    screws = [i for i in unknown if i not in loose]
    if len(loose) > 1 or (loose and len(closures[0].pairs) != 1):
        return None
    if not screws:
        return None if loose else Task(k, ())
    rings = [_ring(closure, screws) for closure in closures]
    for backward in (False, True):
        rings = [ring.reverse for ring in rings] if backward else rings
        centers = _form(rings, NEAR * length)
        if centers is not None:
            order = tuple(screw.body for screw in rings[0].screws)
            return Task(k, order, tuple(loose), backward, centers)
    return None


def _lengths(bodies) -> list[float]:
    """Return the largest coordinates of the bodies' origins in their parents."""
    return [float(np.abs(body.p).max()) for body in bodies]


def _ring(closure: Closure, unknown) -> Ring:
    """Return the ring of a loop with those joints unknown."""
    recursions = closure.recursions
    places = [
        fixed(body) if i in unknown else place
        for i, (body, place) in enumerate(zip(recursions.bodies, recursions.places, strict=True))
    ]
    return Ring.of(closure, places, unknown)


def _loose(rings: list[Ring], near: float) -> list[int]:
    """Return the unknown revolute joints at the ends of a ring whose axes contain the point of the end."""
    screws, loose = rings[0].screws, []
    for at, points in ((0, [ring.start for ring in rings]), (-1, [ring.stop for ring in rings])):
        if screws and not screws[at].slides and np.abs(np.array(points)[:, :2]).max() <= near:
            loose.append(screws[at].body)
    return list(dict.fromkeys(loose))


def _form(rings: list[Ring], near: float) -> tuple[float, ...] | None:
    """Return the centers of a leg, or () for two joints of a plane; None if a ring is neither."""
    screws = rings[0].screws
    if len(screws) == 2:
        return () if _is_planar(rings) else None
    if len(screws) != 3 or screws[1].slides or screws[2].slides:
        return None
    return _centers(rings, near)


def _is_planar(rings: list[Ring]) -> bool:
    """Return whether two joints move points in the same planes."""
    first, second = rings[0].screws
    cosines = np.abs([ring.vector(1, list(UNIT[2]))[2] for ring in rings])
    if first.slides and second.slides:
        return bool(cosines.max() < 1.0 - NEAR)
    if first.slides or second.slides:
        return bool(cosines.max() <= NEAR)
    return bool(cosines.min() >= 1.0 - NEAR)


def _centers(rings: list[Ring], near: float) -> tuple[float, ...] | None:
    """Return where the last two axes intersect, on either axis; None if that is not one fixed point."""
    centers = []
    for ring in rings:
        axis, origin = (np.array(x) for x in (ring.vector(2, list(UNIT[2])), ring.point(2, [0.0, 0.0, 0.0])))
        square = axis[0] ** 2 + axis[1] ** 2
        if square <= NEAR:
            return None
        along = -(origin[:2] @ axis[:2]) / square
        meeting = origin + along * axis
        if np.abs(meeting[:2]).max() > near:
            return None
        centers.append((along, meeting[2]))
    if np.ptp(centers, axis=0).max() > near:
        return None
    return tuple(0.0 if abs(x) <= near else float(x) for x in centers[0])
