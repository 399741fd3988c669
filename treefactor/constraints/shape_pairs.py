"""List the contacts of a robot's shapes with each other and with their surroundings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .._util.validation import as_number, as_tuple
from ..exceptions import InvalidModelError
from ..kinematics.jacobians import BodyMotions
from ..model.frames import body_number, located
from ..model.geometry import Geometry, Shape
from ..model.model import Model, require_model
from ..model.shapes import Plane
from ._touching import can_touch
from .contact_points import KINDS, cannot_touch, contact_points
from .contacts import Contact

OVERLAP = 1e-3  # m: pairs that overlap by more at the reference are left out


class LeftOut(NamedTuple):
    """A pair of shapes that may not touch, by names, and why.

    Attributes
    ----------
    first, second : str
    reason : str
        "same body", "adjacent bodies", "excluded", or by how much they overlap at the reference.
    """

    first: str
    second: str
    reason: str


def contacts_of(
    model: Model,
    geometry: Geometry,
    others: Iterable[Shape] = (Plane(),),
    mu: float = 0.0,
    self_collision: bool = True,
    exclude: Iterable[Sequence[str]] = (),
    reference=None,
    named: bool = False,
):
    """List the contacts of a robot's shapes with others, such as the ground, and with each other.

    Parameters
    ----------
    model : Model
    geometry : Geometry
    others : iterable of shapes
        Of the surroundings; by default the ground.
    mu : float
        Coefficient of friction of all of them.
    self_collision : bool
        Whether shapes of the robot may touch each other.
    exclude : iterable of pairs of str
        Pairs of shapes that may not, by names that may hold ``*`` and ``?``. Others are called "other 0" and
        so on.
    reference : array_like, shape (nq,), optional
        Configuration in which shapes that overlap by more than 1 mm do so by design: these pairs are left
        out.
    named : bool
        Return also the pairs left out.

    Returns
    -------
    list of Contact
    list of LeftOut
        Only with ``named``: shapes of one body, those of the robot on bodies that a joint connects, excluded
        ones, and those that overlap at the reference, in this order.

    Raises
    ------
    InvalidModelError
        If a shape is on a body that the model does not have, or a pair of shapes cannot touch yet; names it.
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.constraints import Box, Capsule, Geometry, contacts_of
    >>> body = tf.Inertia(5.0, tensor=[[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> robot = tf.Model([tf.Joint("base", "freeflyer", inertia=body),
    ...                   tf.Joint("leg", "revolute", 0, axis=[0, 1, 0], inertia=body)])
    >>> shapes = Geometry([Box(0, [0.4, 0.2, 0.1]), Capsule(1, 0.02, 0.2)], ["trunk", "leg"])
    >>> contacts, left_out = contacts_of(robot, shapes, mu=0.6, named=True)
    >>> len(contacts), left_out
    (2, [LeftOut(first='trunk', second='leg', reason='adjacent bodies')])
    """
    require_model(model)
    if not isinstance(geometry, Geometry):
        raise InvalidModelError(f"geometry must be a Geometry, got {geometry!r}")
    others, mu = as_tuple(others, "others"), as_number(mu, "mu")
    surroundings = Geometry(others, [f"other {k}" for k in range(len(others))])
    shapes, names = geometry.shapes + surroundings.shapes, geometry.names + surroundings.names
    rules = _rules(exclude)
    bodies = [_body(model, shape, name) for shape, name in zip(shapes, names, strict=True)]
    own = range(len(geometry)) if self_collision else ()
    pairs = [*combinations(own, 2)]
    pairs += [(k, other) for k in range(len(geometry)) for other in range(len(geometry), len(shapes))]
    placed = None if reference is None else _placements(model, shapes, reference)
    contacts, left_out = [], []
    for i, k in pairs:
        first, second = shapes[i], shapes[k]
        reason = _reason(model, bodies[i], bodies[k], k < len(geometry))
        reason = reason or ("excluded" if _is_excluded(rules, names[i], names[k]) else "")
        if not reason and not can_touch(*(KINDS.index(type(shape)) for shape in (first, second))):
            pair = f"shapes {names[i]!r} and {names[k]!r}"
            raise InvalidModelError(f"{pair}: {cannot_touch(first, second)}; leave them out by exclude=")
        if not reason and placed is not None:
            depth = -contact_points(first, second, placed[i], placed[k]).gaps.min(initial=0.0)
            reason = f"overlap by {depth:.3g} m at the reference" if depth > OVERLAP else ""
        if reason:
            left_out.append(LeftOut(names[i], names[k], reason))
        elif k < len(geometry):
            contacts.append(Contact(second, first, mu))
        else:
            contacts.append(Contact(first, second, mu))
    return (contacts, left_out) if named else contacts


def _reason(model: Model, first: int, second: int, are_own: bool) -> str:
    """Return why shapes on two bodies may not touch, or "": of the robot also on bodies with a joint."""
    if first == second:
        return "same body"
    parents = [model.joints[body].parent if body >= 0 else None for body in (first, second)]
    return "adjacent bodies" if are_own and (parents[0] == second or parents[1] == first) else ""


def _rules(exclude) -> list[tuple[str, str]]:
    """Return validated pairs of patterns."""
    rules = [as_tuple(pair, "a pair to exclude") for pair in as_tuple(exclude, "exclude")]
    for pair in rules:
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InvalidModelError(f"exclude must hold pairs of names, got {pair!r}")
    return rules


def _is_excluded(rules: list[tuple[str, str]], first: str, second: str) -> bool:
    """Return whether a rule matches two names, in either order."""
    return any(
        fnmatchcase(one, a) and fnmatchcase(other, b)
        for a, b in rules
        for one, other in ((first, second), (second, first))
    )


def _body(model: Model, shape: Shape, name: str) -> int:
    """Return the joint that carries a shape, or raise InvalidModelError with the name of the shape."""
    try:
        return body_number(model, shape.body)
    except (InvalidModelError, IndexError, ValueError) as error:
        raise InvalidModelError(f"shape {name!r}: {error}") from None


def _placements(model: Model, shapes: Sequence[Shape], q) -> list[np.ndarray]:
    """Return the placements (3, 4) of the bodies or frames that shapes are given in."""
    at = BodyMotions(model, q)
    placements = []
    for shape in shapes:
        joint, R, p = located(model, shape.body, np.eye(3))
        axes = at.R[joint]
        origin = at.origin[joint] + at.p[joint] + axes @ np.array(p)
        placements.append(np.column_stack([axes @ R, origin]))
    return placements
