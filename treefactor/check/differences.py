"""Find the smallest set of named causes for which an engine, loaded the ordinary way, has another H.

What an engine makes of a robot depends on the inertias it holds. Those of every link are compared with the
file's; what differs is put into Pinocchio's model, which must then reproduce the engine's H and bias. Of the
groups of changes the fewest that do so are the causes; the error that one makes alone is its effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import combinations

import numpy as np

from .._util.engine import UNEXPLAINED as UNEXPLAINED
from ..tolerances import ROUNDED_INERTIA, SAME_INERTIA

NO_INERTIAL = "links without <inertial> are given mass"
TRIANGLE = "an inertia that breaks the triangle inequality is set to zero"
ROUNDED = "principal axes are iterated to a loose tolerance"
MERGED = "links on fixed joints are merged wrongly"
OTHER_MASS = "another mass or centre of mass"
FIXED_BASE = "a floating base is fixed, and the mass of its root link dropped"
REFUSED = "the ordinary way fails"
TENDONS = "armature of tendons"
FREE_ARMATURE = "the armature of a free joint acts along the axes of the world"

SHOWN = 3  # links or joints named in a line of text


@dataclass(frozen=True)
class Cause:
    """One reason for a difference.

    Attributes
    ----------
    name : str
    effect : float or None
        Error of H that it alone makes, relative to ``sqrt(H_ii H_jj)``; for a setting that of q̈, relative to
        the largest entry; for the armature of free joints that of the bias, relative to the largest force.
    where : tuple of str
        Links or joints concerned, the largest effect first.
    way : str
        The ordinary way of loading in which it shows.
    quantity : {"H", "q̈", "bias"}
        Quantity that the effect concerns: q̈ for a setting of the engine that acts by default.
    """

    name: str
    effect: float | None = None
    where: tuple[str, ...] = ()
    way: str = ""
    quantity: str = "H"

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        text = self.name
        if self.effect is not None:
            size = f"{self.effect:.0%}" if 0.1 <= self.effect < 100 else f"{self.effect:.0e}"
            text += f", Δ{self.quantity} {size}"
        if self.where:
            more = len(self.where) - SHOWN
            text += f" ({', '.join(self.where[:SHOWN])}{f' and {more} more' if more > 0 else ''})"
        return text


def inertial_changes(file: Mapping, engine: Mapping, tensor_cause: str) -> dict[str, dict]:
    """Group the links whose inertia in the engine is not the file's by the reason for it.

    Parameters
    ----------
    file, engine : mapping of str to Inertia
        By link, in the axes of the link frame. Links that the file lacks are skipped; those that the engine
        lacks have been merged into others.
    tensor_cause : str
        What it means for this engine if the tensor alone is another.

    Returns
    -------
    dict of str to dict of str to Inertia
        The engine's inertias by the name of the cause and of the link.
    """
    groups: dict[str, dict] = {}
    for link in sorted(engine.keys() & file.keys()):
        reason = _reason(file[link], engine[link], tensor_cause)
        if reason is not None:
            groups.setdefault(reason, {})[link] = engine[link]
    merged = {link: nothing(inertial) for link, inertial in file.items() if link not in engine}
    if merged:
        groups[MERGED] = {**groups.pop(OTHER_MASS, {}), **merged}
    return groups


def nothing(inertial):
    """Return an inertia of the same type with no mass."""
    return replace(inertial, mass=0.0, com=0.0 * inertial.com, tensor=0.0 * inertial.tensor)


def _reason(file, engine, tensor_cause: str) -> str | None:
    """Name the cause for which a link has the engine's inertia instead of the file's."""
    if not file.mass and not file.tensor.any():
        return NO_INERTIAL if engine.mass or engine.tensor.any() else None
    moved = np.abs(engine.com - file.com).max() > SAME_INERTIA * (1.0 + np.abs(file.com).max())
    if abs(engine.mass - file.mass) > SAME_INERTIA * file.mass or (engine.mass and moved):
        return OTHER_MASS
    difference = np.abs(engine.tensor - file.tensor).max()
    size = np.abs(file.tensor).max()
    if difference <= SAME_INERTIA * size:
        return None
    low, middle, high = np.linalg.eigvalsh(file.tensor)
    if not engine.tensor.any() and (high > low + middle or low < 0.0):
        return TRIANGLE
    return ROUNDED if difference <= ROUNDED_INERTIA * size else tensor_cause


def explain(
    groups: Mapping[str, Mapping],
    left: Callable[[list], float],
    effect: Callable[[list], float],
    allowed: float,
) -> tuple[list[Cause], float]:
    """Find the smallest set of groups with which the engine is reproduced.

    Parameters
    ----------
    groups : mapping of str to mapping of str to Inertia or callable
        By cause and link as `inertial_changes` returns them, or changes of a model by cause and joint.
    left : callable
        Relative deviation of the model with these pairs of link and change from the engine.
    effect : callable
        Relative deviation of the model with these changes from the unchanged one.
    allowed : float
        Deviation that counts as none.

    Returns
    -------
    causes : list of Cause
        The largest effect first.
    unexplained : float
        Deviation that remains with all of them.
    """

    def changes(names) -> list:
        return [change for name in names for change in groups[name].items()]

    unexplained = left(changes(groups))
    allowed = max(allowed, unexplained)  # no subset does better than all groups together
    smallest = (
        (names, found)
        for size in range(len(groups))
        for names in combinations(groups, size)
        if (found := left(changes(names))) <= allowed
    )
    needed, unexplained = next(smallest, (tuple(groups), unexplained))
    causes = []
    for name in needed:
        alone = {link: effect([(link, change)]) for link, change in groups[name].items()}
        where = sorted((link for link in alone if alone[link]), key=lambda link: (-alone[link], link))
        where = where or sorted(alone)  # H does not depend on gravity and on the orientation of the base
        causes.append(Cause(name, effect(changes([name])) or None, tuple(where)))
    return sorted(causes, key=lambda cause: -(cause.effect or 0.0)), unexplained
