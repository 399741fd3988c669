"""Define contacts and joint limits: gaps, and the rows that keep them open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import compress
from itertools import product as all_pairs
from numbers import Integral

import numpy as np

from .._util.validation import Sealed, as_number, as_tuple, as_vector
from ..exceptions import InvalidModelError
from ..kinematics.jacobians import BodyMotions, Support
from ..model.frames import Frame, body_number, located
from ..model.model import Model, require_model
from ..model.shapes import Plane, Sphere
from ._contacts import CONTACT, ContactKernel
from ._shape_contacts import NOTHING_CARRIED, SLOTS, ShapeContactKernel
from ._step_records import Touch
from ._still_pairs import still_pairs
from .contact_points import (
    KINDS,
    Shape,
    collider,
    has_kernel,
    placement_of,
    require_points,
    shown,
    slow_finder,
)
from .trajectory import NO_POINTS, StepPoints

FREE = -1  # identity of a slot that holds no point
IDENTITY = np.eye(3)
IDENTITY.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Contact:
    """Contact of a sphere, point or other shape with a plane or another shape.

    Parameters
    ----------
    sphere : Sphere, Capsule, Cylinder, Box, Mesh, Cone or Ellipsoid
    against : Plane, HeightField, or one of these
        The ground by default.
    mu : float
        Coefficient of friction.
    restitution : float
        Share, from 0 to 1, of the speed of approach with which the bodies part, as Newton has it; see the
        notes of `Stepper`.

    Raises
    ------
    InvalidModelError
        If both are on one body, are planes, mu is negative, or restitution is not from 0 to 1.
    AdapterError
        If the pair needs coal, which is not installed (see `contact_points`).

    Notes
    -----
    Immutable.
    """

    sphere: Shape
    against: Shape = field(default_factory=Plane)
    mu: float = 0.0
    restitution: float = 0.0

    def __post_init__(self):
        _require_shape("sphere", self.sphere, KINDS[1:])
        _require_shape("against", self.against, KINDS)
        require_points(self.sphere, self.against)
        if self.sphere.body == self.against.body:
            raise InvalidModelError(f"both sides of a contact are on body {shown(self.sphere.body)}")
        if not 0 <= as_number(self.mu, "mu"):
            raise InvalidModelError(f"mu must not be negative, got {self.mu}")
        if not 0 <= as_number(self.restitution, "restitution") <= 1:
            raise InvalidModelError(f"restitution must be from 0 to 1, got {self.restitution}")


def box(body: int | str | Frame, size, center=(0.0, 0.0, 0.0)) -> list[Sphere]:
    """Make the corners of a box on a body, as points that may touch planes.

    Parameters
    ----------
    body : int, str or Frame
        As for `Sphere`.
    size : array_like, shape (3,)
        Lengths of the edges along the axes of the joint's frame, or of the frame given, m.
    center : array_like, shape (3,)
        Centre in this frame, m.

    Returns
    -------
    list of Sphere
        Eight, of radius 0.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError
    """
    half, center = as_vector(size, 3, "size") / 2.0, as_vector(center, 3, "center")
    return [Sphere(body, center + half * signs) for signs in all_pairs((-1.0, 1.0), repeat=3)]


def contacts_between(
    spheres: Iterable[Sphere],
    others: Iterable[Plane | Sphere] = (),
    mu: float = 0.0,
    model: Model | None = None,
    named: bool = False,
):
    """List the contacts of spheres of different bodies with each other and with other spheres or planes.

    Parameters
    ----------
    spheres : iterable of Sphere
    others : iterable of Plane or Sphere
    mu : float
        Coefficient of friction of all of them.
    model : Model, optional
        Contacts whose gap no motion of this model changes are left out: a sphere centred on the axis of the
        joint between both bodies, bodies that follow one joint alike or that loops hold together. Where such
        bodies overlap, every step would be infeasible.
    named : bool
        Return also the names of the bodies of the contacts left out.

    Returns
    -------
    list of Contact
    list of tuple of str
        Only with ``named``: the joints that carry both bodies of every contact left out, "base" for -1.

    Raises
    ------
    InvalidModelError, DtypeError
        If these are not spheres or planes, a body is not in the model, or mu is negative.
    ValueError
        If ``named`` is given without a model.

    Notes
    -----
    Motions are analytic functions of q: what they leave as it is in random configurations stays everywhere.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.constraints import Sphere, contacts_between
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> hinge = dict(kind="revolute", axis=[0, 1, 0], inertia=rod)
    >>> arm = tf.Model([tf.Joint("upper", **hinge), tf.Joint("lower", parent=0, p=[0, 0, -1.0], **hinge)])
    >>> elbow, hand = Sphere(1, radius=0.1), Sphere(1, [0, 0, -1.0], 0.1)
    >>> contacts, left_out = contacts_between([elbow, hand], [Sphere(0)], model=arm, named=True)
    >>> len(contacts), left_out
    (1, [('lower', 'upper')])
    """
    if model is not None:
        require_model(model)
    spheres, others = as_tuple(spheres, "spheres"), as_tuple(others, "others")
    for name, given, kind in (("spheres", spheres, Sphere), ("others", others, Plane | Sphere)):
        for k, side in enumerate(given):
            if not isinstance(side, kind):
                raise InvalidModelError(
                    f"{name}[{k}] is not a {getattr(kind, '__name__', kind)}, but {side!r}"
                )
    if named and model is None:
        raise ValueError("named needs a model, whose joints name the bodies: pass model=")
    pairs = [(sphere, other) for i, sphere in enumerate(spheres) for other in spheres[:i]]
    pairs += all_pairs(spheres, others)
    if model is None:
        return [Contact(sphere, other, mu) for sphere, other in pairs if sphere.body != other.body]
    number = {
        id(side): carrier_of(model, side, f"{name}[{k}]")
        for name, given in (("spheres", spheres), ("others", others))
        for k, side in enumerate(given)
    }
    candidates = [
        Contact(sphere, other, mu) for sphere, other in pairs if number[id(sphere)] != number[id(other)]
    ]
    still = still_pairs(model, [(contact.sphere, contact.against) for contact in candidates])
    kept = [contact for contact, is_still in zip(candidates, still, strict=True) if not is_still]
    left_out = [_names(model, contact) for contact in compress(candidates, still)]
    return (kept, left_out) if named else kept


def carrier_of(model: Model, shape: Shape, name: str) -> int:
    """Return the joint that carries a shape, or raise InvalidModelError with the name of the shape."""
    try:
        return body_number(model, shape.body)
    except (InvalidModelError, IndexError, ValueError) as error:
        raise InvalidModelError(f"{name}: {error}") from None


class Contacts(Sealed):
    """Contacts of a model, prepared for evaluation in many states.

    Parameters
    ----------
    model : Model
    contacts : sequence of Contact

    Raises
    ------
    InvalidModelError
        If a contact names a body or frame that the model does not have.
    """

    mu: np.ndarray  # of every slot, as restitution
    restitution: np.ndarray
    structs: np.ndarray
    kernel: ContactKernel
    owner: np.ndarray  # contact of every slot
    shapes: ShapeContactKernel | None
    pairs: list[tuple[Shape, Shape]]  # of those contacts, first the shape that normals lead out of
    poses: np.ndarray  # (pairs, 2, 12): R by rows, then p, in the frames of joints
    no_points: np.ndarray  # identities of points, before the first step
    slow_pairs: int  # contacts whose points coal finds

    def __init__(self, model: Model, contacts, h: float = 0.0):
        require_model(model)
        for k, contact in enumerate(contacts):
            if not isinstance(contact, Contact):
                advice = "; Contact(shape) is that of a shape with the ground" * hasattr(contact, "body")
                raise InvalidModelError(f"contact {k} is not a Contact, but {contact!r}{advice}")
        ends = [_ends(model, k, contact) for k, contact in enumerate(contacts)]
        bodies = np.array(ends, np.intp).reshape(-1, 2)
        support, structs = Support(model, *bodies.T), np.zeros(len(contacts), dtype=CONTACT)
        structs["body"], structs["columns"] = bodies, np.diff(support.indptr)
        structs["entry"], structs["stop"] = support.ranges(np.arange(len(contacts)))
        structs["first"] = support.indptr[:-1]
        has_shapes = np.array([not _is_of_spheres(contact) for contact in contacts], dtype=bool)
        plain, shaped = np.flatnonzero(~has_shapes), np.flatnonzero(has_shapes)
        for k, contact in enumerate(contacts):
            if has_shapes[k]:
                continue
            struct = structs[k]
            flat = isinstance(contact.against, Plane)
            struct["flat"], struct["radius"] = flat, contact.sphere.radius
            struct["center"] = located(model, contact.sphere.body, None, contact.sphere.center)[2]
            struct["anchor"], struct["normal"] = _surface(model, contact.against)
            struct["reach"] = contact.sphere.radius + (0.0 if flat else contact.against.radius)
        rows = model.njoints, support.entries(model), support.indices
        kernel = ContactKernel(rows[0], structs[plain], *rows[1:])
        owner = np.concatenate([plain, np.repeat(shaped, SLOTS)])
        mu, restitution = (
            np.array([getattr(contacts[k], name) for k in owner], dtype=float)
            for name in ("mu", "restitution")
        )
        pairs = [(contacts[k].against, contacts[k].sphere) for k in shaped]
        poses, shapes = _poses(model, pairs), None
        if len(shaped):
            own = ContactKernel(rows[0], structs[shaped], *rows[1:])
            colliders = [(collider(first), collider(second)) for first, second in pairs]
            finders = [slow_finder(*pair) for pair in pairs]
            shapes = ShapeContactKernel(
                own, colliders, finders, poses, h, float(np.linalg.norm(model.gravity))
            )
        for array in (mu, restitution, structs, owner, poses):
            array.flags.writeable = False
        no_points = np.full((len(shaped), SLOTS), FREE)
        self._keep(mu=mu, restitution=restitution, structs=structs, kernel=kernel, owner=owner)
        slow_pairs = sum(not has_kernel(*pair) for pair in pairs)
        self._keep(shapes=shapes, pairs=pairs, poses=poses, no_points=no_points, slow_pairs=slow_pairs)

    def near(
        self,
        at: BodyMotions,
        margin: float = np.inf,
        before: np.ndarray | None = None,
        carried: np.ndarray = NOTHING_CARRIED,
    ) -> Touch:
        """Find the contacts whose gap is at most the margin in one state, in slots that points keep.

        A contact of spheres and planes has one slot, any other one for each of its points; before are the
        identities of the points in these, in the step before. Points of shapes that were carried back, see
        `ShapeContactKernel.overlooked`, are near, too.

        Rows are the velocities, along the axes, of the point of the sphere that is closest to the other side
        against the other body: the first one is the rate of the gap.
        """
        if self.shapes is None:
            return Touch(*self.kernel.near(at.frames, margin))
        before = self.no_points if before is None else before
        points, first = (
            Touch(*self.shapes.near(at.frames, margin, before, carried)),
            len(self.mu) - before.size,
        )
        return Touch(*self.kernel.near(at.frames, margin)).joined(first, points) if first else points

    def points(self, touch: Touch, impulse: np.ndarray) -> StepPoints:
        """Return the points of shapes, with their share of the impulses of near slots."""
        if self.shapes is None:
            return NO_POINTS
        first = len(touch.which) - len(touch.places)
        normals, gaps = touch.axes[first:, 0], touch.gap[first:]
        return StepPoints(self.owner[touch.which[first:]], touch.places, normals, gaps, impulse[first:])


def _is_of_spheres(contact: Contact) -> bool:
    """Return whether a contact is of a sphere with a sphere or plane: one point, by `ContactKernel`."""
    return isinstance(contact.sphere, Sphere) and isinstance(contact.against, Plane | Sphere)


def _poses(model: Model, pairs: list[tuple[Shape, Shape]]) -> np.ndarray:
    """Return where shapes are in the frames of their joints: R by rows, then p, (pairs, 2, 12)."""
    poses = np.empty((len(pairs), 2, 12))
    for k, pair in enumerate(pairs):
        for side, shape in enumerate(pair):
            _, R, p = located(model, shape.body, *placement_of(shape))
            poses[k, side] = *np.ravel(R), *p
    return poses


def _names(model: Model, contact: Contact) -> tuple[str, str]:
    """Name the joints that carry both bodies of a contact."""
    numbers = [body_number(model, side.body) for side in (contact.sphere, contact.against)]
    first, second = ["base" if k < 0 else model.joints[k].name for k in numbers]
    return first, second


def limits_of(model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """List joint limits: index in q, index in v, sign and bound, for joints whose q changes at the rate v."""
    limits = [np.zeros((4, 0))]
    for kind, (at_q, at_v) in model.entries.items():
        if kind in ("revolute", "prismatic", "helical", "universal", "translation"):
            i, k = at_q.ravel(), at_v.ravel()
            for sign, bound in ((1.0, model.lower), (-1.0, model.upper)):
                some = np.isfinite(bound[i])
                limits.append(np.stack([i, k, np.full(len(i), sign), bound[i]])[:, some])
    i, k, sign, bound = np.concatenate(limits, axis=1)
    return i.astype(np.intp), k.astype(np.intp), sign, bound


def _require_shape(argument: str, shape, kinds: tuple[type, ...]) -> None:
    """Raise InvalidModelError if one side of a contact is not a shape of these kinds."""
    if isinstance(shape, kinds):
        return
    if isinstance(shape, Frame | Integral):
        shape = shape.name if isinstance(shape, Frame) else int(shape)
    got = repr(shape)
    is_body = isinstance(shape, int | str)
    body = f": for that body write Sphere({got}, center, radius)" if is_body else ""
    *others, last = (kind.__name__ for kind in kinds)
    raise InvalidModelError(f"{argument} must be a {', '.join(others)} or {last}, got {got}{body}")


def _ends(model: Model, k: int, contact: Contact) -> list[int]:
    """Look up the bodies of contact k: of the plane or other sphere, and of the sphere."""
    bodies = []
    for side in (contact.against, contact.sphere):
        body = _carrier(model, side.body, f"contact {k}: body")
        if not -1 <= body < model.njoints:
            raise InvalidModelError(f"contact {k} is on body {body}, there are {model.njoints}")
        bodies.append(body)
    if bodies[0] == bodies[1]:
        raise InvalidModelError(
            f"contact {k}: both sides are on body {bodies[0]}, which was given as "
            f"{shown(contact.against.body)} and {shown(contact.sphere.body)}"
        )
    return bodies


def _carrier(model: Model, body: int | str | Frame, argument: str) -> int:
    """Return the number of the joint that carries a body; one given by number is not checked."""
    return body_number(model, body, argument) if isinstance(body, str | Frame) else body


def _surface(model: Model, side: Plane | Sphere) -> tuple:
    """Return point and normal of a plane, or the centre of a sphere and 0, in the frame of the joint."""
    if isinstance(side, Sphere):
        return located(model, side.body, None, side.center)[2], 0.0
    _, R, point = located(model, side.body, IDENTITY, side.point)
    return point, side.normal if R is IDENTITY else R @ side.normal
