"""List the contacts of a robot's shapes with each other and with their surroundings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import combinations, compress
from typing import NamedTuple

import numpy as np

from .._util.validation import as_number, as_tuple
from ..exceptions import InvalidModelError
from ..kinematics.jacobians import BodyMotions
from ..model._srdf import disabled_collisions
from ..model.frames import located
from ..model.geometry import Geometry, Shape
from ..model.model import Model, require_model
from ..model.shapes import Plane
from ._still_pairs import still_pairs
from .contact_points import contact_points, require_points
from .contacts import Contact, carrier_of

FREE = "freeflyer", "planar", "translation"  # joints that do not hold bodies together
OVERLAP = 1e-3  # m: pairs that overlap by more at the reference are left out


class LeftOut(NamedTuple):
    """A pair of shapes that may not touch, by names, and why.

    Attributes
    ----------
    first, second : str
    reason : str
        "same body", "no motion changes their distance", "adjacent bodies", "SRDF: " and the reason given
        there, "excluded", or by how much they overlap at the reference.
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
    srdf=None,
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
        Coefficient of friction of all of them; URDFs have none to read. The default is no friction: robots
        slide as on ice. Rubber on dry concrete has about 0.8.
    self_collision : bool
        Whether shapes of the robot may touch each other.
    exclude : iterable of pairs of str
        Pairs of shapes that may not, by names that may hold ``*`` and ``?``. Others are called "other 0" and
        so on.
    srdf : path, optional
        SRDF whose ``<disable_collisions>`` name pairs of links. A shape is on the link that it is called by,
        as "foot_0" is on the link foot.
    reference : array_like, shape (nq,), optional
        Configuration in which shapes of the robot that overlap by more than 1 mm do so by design: these
        pairs are left out. Pairs with others stay, whatever the height of the robot.
    named : bool
        Return also the pairs left out.

    Returns
    -------
    list of Contact
    list of LeftOut
        Only with ``named``: the pairs of one body, those whose distance no motion changes, of shapes of the
        robot those on bodies that a joint connects, those of the SRDF, excluded ones, and of shapes of
        the robot those that overlap at the reference; the first of these reasons is named.

    Raises
    ------
    InvalidModelError
        If a shape is on a body that the model does not have, or both of a pair are planes; names it.
    AdapterError
        If the SRDF cannot be read, or a pair needs coal, which is not installed; names it.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    The distance of a robot's base from the ground never changes, nor that of a wheel from the body that it
    turns on. Joints with massless bodies between them connect bodies like one joint. A free-flyer, planar or
    translation joint connects nothing, and no plane is adjacent to a body.

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
    is_excluded = _exclusion(exclude)
    disabled = {} if srdf is None else disabled_collisions(srdf)
    bodies = [carrier_of(model, shape, f"shape {name!r}") for shape, name in zip(shapes, names, strict=True)]
    joined, links = [_joined(model, body) for body in bodies], [_link(name) for name in names]
    own = range(len(geometry)) if self_collision else ()
    pairs = [*combinations(own, 2)]
    pairs += [(k, other) for k in range(len(geometry)) for other in range(len(geometry), len(shapes))]
    moving = [(i, k) for i, k in pairs if bodies[i] != bodies[k]]
    still = still_pairs(model, [(shapes[i], shapes[k]) for i, k in moving])
    at_rest = set(compress(moving, still))
    placed = None if reference is None else _placements(model, shapes, reference)

    def reason_of(i: int, k: int) -> str:
        first, second = shapes[i], shapes[k]
        if bodies[i] == bodies[k]:
            return "same body"
        if (i, k) in at_rest:
            return "no motion changes their distance"
        are_own = k < len(geometry) and not isinstance(first, Plane) and not isinstance(second, Plane)
        if are_own and (bodies[i] in joined[k] or bodies[k] in joined[i]):
            return "adjacent bodies"
        if frozenset((links[i], links[k])) in disabled:
            return f"SRDF: {disabled[frozenset((links[i], links[k]))]}"
        if is_excluded(names[i], names[k]):
            return "excluded"
        require_points(first, second, (names[i], names[k]))
        if placed is None or k >= len(geometry):
            return ""
        depth = -contact_points(first, second, placed[i], placed[k]).gaps.min(initial=0.0)
        return f"overlap by {depth:.3g} m at the reference" if depth > OVERLAP else ""

    contacts, left_out = [], []
    for i, k in pairs:
        reason = reason_of(i, k)
        if reason:
            left_out.append(LeftOut(names[i], names[k], reason))
        elif k < len(geometry) and not isinstance(shapes[k], Plane):
            contacts.append(Contact(shapes[k], shapes[i], mu))
        else:
            contacts.append(Contact(shapes[i], shapes[k], mu))
    return (contacts, left_out) if named else contacts


def _joined(model: Model, body: int) -> set[int]:
    """Return the body that a joint connects to the one behind it, or massless ones and the next with mass."""
    joined = set[int]()
    while body >= 0 and model.joints[body].kind not in FREE:
        body = model.joints[body].parent
        joined.add(body)
        if body < 0 or model.joints[body].inertia.mass:
            break
    return joined


def _link(name: str) -> str:
    """Return the link of a shape that is called by its link and number."""
    link, _, number = name.rpartition("_")
    return link if number.isdigit() else name


def _exclusion(exclude) -> Callable[[str, str], bool]:
    """Return whether pairs of names match one of the pairs of patterns, in either order."""
    rules = [as_tuple(pair, "a pair to exclude") for pair in as_tuple(exclude, "exclude")]
    for pair in rules:
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise InvalidModelError(f"exclude must hold pairs of names, got {pair!r}")
    plain = {frozenset(pair) for pair in rules if not any(mark in name for name in pair for mark in "*?[")}
    patterns = [pair for pair in rules if frozenset(pair) not in plain]

    def is_excluded(first: str, second: str) -> bool:
        return frozenset((first, second)) in plain or any(
            fnmatchcase(one, a) and fnmatchcase(other, b)
            for a, b in patterns
            for one, other in ((first, second), (second, first))
        )

    return is_excluded


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
