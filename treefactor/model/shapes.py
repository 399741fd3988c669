"""Define the shapes of bodies that may touch each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from .._util.rotations import unit
from .._util.validation import Array, ReadOnly, as_number, as_real, as_vector, require_finite
from ..exceptions import InvalidModelError, ShapeError
from ._hulls import Hull, box_hull, convex_hull
from ._triangles import Triangles, surface_of
from .frames import Frame, _identity, _zero
from .joints import _rotation


@dataclass(frozen=True, eq=False)
class Sphere(ReadOnly):
    """Sphere on a body; a point if its radius is 0.

    Parameters
    ----------
    body : int, str or Frame
        By the number of its joint, -1 for the base, or by the joint's or its own name; or a frame on it, by
        name or as a `treefactor.Frame`.
    center : array_like, shape (3,)
        m, in the frame of the joint, or in the frame given.
    radius : float
        m.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """

    body: int | str | Frame
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    radius: float = 0.0

    def __post_init__(self):
        radius = as_number(self.radius, "radius")
        if radius < 0:
            raise InvalidModelError(f"radius must not be negative, got {radius}")
        center = as_vector(self.center, 3, "center").copy()
        self.__setstate__({"body": checked_body(self.body), "center": center, "radius": radius})


@dataclass(frozen=True, eq=False)
class Plane(ReadOnly):
    """Half-space on a body, solid on the side opposite to its normal; by default the ground.

    Parameters
    ----------
    body : int, str or Frame
        As for `Sphere`.
    normal : array_like, shape (3,)
        Outward normal, in the frame of the joint, or in the frame given; any length but zero.
    point : array_like, shape (3,)
        Any point of the plane, m.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """

    body: int | str | Frame = -1
    normal: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    point: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self):
        normal, point = as_vector(self.normal, 3, "normal"), as_vector(self.point, 3, "point").copy()
        if not normal.any():
            raise InvalidModelError("expected a normal of nonzero length, got [0, 0, 0]")
        self.__setstate__({"body": checked_body(self.body), "normal": unit(normal), "point": point})


@dataclass(frozen=True, eq=False)
class Box(ReadOnly):
    """Box on a body.

    Parameters
    ----------
    body : int, str or Frame
        As for `Sphere`.
    size : array_like, shape (3,)
        Lengths of the sides along the axes of R, m.
    R, p : array_like, shapes (3, 3) and (3,)
        Axes and centre in the frame of the joint, or in the frame given.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """

    body: int | str | Frame
    size: Array
    R: Array = field(default_factory=_identity)
    p: Array = field(default_factory=_zero)

    def __post_init__(self):
        size = as_vector(self.size, 3, "size").copy()
        if not (size > 0.0).all():
            raise InvalidModelError(f"the sides of a box must be positive, got {size.tolist()}")
        self.__setstate__({"size": size, **_placed(self)})

    @property
    def hull(self) -> Hull:
        """Return corners, faces and edges."""
        return box_hull(0.5 * self.size)


@dataclass(frozen=True, eq=False)
class _Round(ReadOnly):
    """Shape around an axis; its radius and length are positive."""

    body: int | str | Frame
    radius: float
    length: float
    R: Array = field(default_factory=_identity)
    p: Array = field(default_factory=_zero)

    def __init_subclass__(cls):
        dataclass(frozen=True, eq=False)(
            cls
        )  # here, since type checkers take Array in a subclass for ArrayLike

    def __post_init__(self):
        radius, length = as_number(self.radius, "radius"), as_number(self.length, "length")
        if radius <= 0.0 or length <= 0.0:
            raise InvalidModelError(
                f"radius and length of a {type(self).__name__.lower()} must be positive, got radius {radius} "
                f"and length {length}"
            )
        self.__setstate__({"radius": radius, "length": length, **_placed(self)})


class Capsule(_Round):
    """Cylinder with half spheres on both ends, on a body.

    Parameters
    ----------
    body, R, p
        As for `Box`.
    radius, length : float
        m; the length is that of the cylinder, without the half spheres, along the z axis of R.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """


class Cylinder(_Round):
    """Cylinder on a body.

    Parameters
    ----------
    body, R, p
        As for `Box`.
    radius, length : float
        m; the length is along the z axis of R.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """


class Cone(_Round):
    """Cone on a body.

    Parameters
    ----------
    body
        As for `Sphere`.
    radius, length : float
        m; of the base, and from the base to the tip, along the z axis of R.
    R, p : array_like, shapes (3, 3) and (3,)
        Axes, and the point halfway between the base and the tip, in the frame of the joint, or in the frame
        given.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """


@dataclass(frozen=True, eq=False)
class Ellipsoid(ReadOnly):
    """Ellipsoid on a body.

    Parameters
    ----------
    body, R, p
        As for `Box`.
    radii : array_like, shape (3,)
        Half axes along the axes of R, m.

    Raises
    ------
    InvalidModelError, ShapeError, NonFiniteError

    Notes
    -----
    Immutable.
    """

    body: int | str | Frame
    radii: np.ndarray
    R: Array = field(default_factory=_identity)
    p: Array = field(default_factory=_zero)

    def __post_init__(self):
        radii = as_vector(self.radii, 3, "radii").copy()
        if not (radii > 0.0).all():
            raise InvalidModelError(f"the radii of an ellipsoid must be positive, got {radii.tolist()}")
        self.__setstate__({"radii": radii, **_placed(self)})


@dataclass(frozen=True, eq=False)
class Mesh(ReadOnly):
    """Convex hull of points, or a surface of triangles, on a body.

    Parameters
    ----------
    body : int, str or Frame
        As for `Sphere`.
    vertices : array_like, shape (points, 3)
        m, in the axes of R. Those inside their hull, or of no face, are left out.
    R, p : array_like, shapes (3, 3) and (3,)
        Axes and origin in the frame of the joint, or in the frame given.
    faces : array_like of int, shape (faces, 3), optional
        Vertices of the triangles of a surface, counterclockwise from outside.
    convex : bool
        False for a surface, such as a ground: see `HeightField`.

    Attributes
    ----------
    hull : Hull or None
        Corners, faces and edges; None for a surface.
    surface : Triangles or None

    Raises
    ------
    InvalidModelError
        If the points enclose no volume, the triangles have no area or numbers that are not of vertices, or R
        is not a rotation.
    ShapeError, NonFiniteError

    Notes
    -----
    Immutable.

    Triangles whose corners are within a millionth of the size from one plane are one face. Of faces with
    more than 200 corners, as of finely divided cylinders, those that stick out least are left out; of hulls
    with more than 16,384 edges, the corners that are farthest out in none of 5,000 directions.
    """

    body: int | str | Frame
    vertices: Array
    R: Array = field(default_factory=_identity)
    p: Array = field(default_factory=_zero)
    faces: Array | None = None
    convex: bool = True
    hull: Hull | None = field(init=False, repr=False)
    surface: Triangles | None = field(init=False, repr=False)

    def __post_init__(self):
        points = as_real(self.vertices, "vertices")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ShapeError(f"vertices must have shape (points, 3), got {points.shape}", points.shape)
        require_finite(points, "vertices")
        if self.convex == (self.faces is not None):
            raise InvalidModelError("a mesh has faces with convex=False, and only then")
        placed = _placed(self)
        if self.convex:
            hull = convex_hull(points)
            self.__setstate__({"vertices": hull.corners, "hull": hull, "surface": None, **placed})
            return
        used, corners = np.unique(_checked_faces(self.faces, len(points)), return_inverse=True)
        points, faces = points[used], corners.reshape(-1, 3)
        made = {"vertices": points, "faces": faces, "hull": None, "surface": surface_of(points, faces)}
        self.__setstate__({**made, **placed})


@dataclass(frozen=True, eq=False)
class HeightField(ReadOnly):
    """Ground of given heights at the points of a grid, with two triangles between four of these.

    Parameters
    ----------
    body : int, str or Frame
        As for `Sphere`.
    heights : array_like, shape (points along x, points along y)
        m, along the z axis of R; at least two points each way.
    size : array_like, shape (2,)
        Lengths of the grid along the x and y axes of R, m; its centre is at p.
    R, p : array_like, shapes (3, 3) and (3,)
        Axes and origin in the frame of the joint, or in the frame given.

    Attributes
    ----------
    surface : Triangles

    Raises
    ------
    InvalidModelError
        If there are fewer than two points each way, or R is not a rotation.
    ShapeError, NonFiniteError

    Notes
    -----
    Immutable.

    Spheres and capsules whose axes are farther behind the surface than their radius fall through it. There is
    nothing beside its borders.
    """

    body: int | str | Frame
    heights: np.ndarray
    size: np.ndarray
    R: Array = field(default_factory=_identity)
    p: Array = field(default_factory=_zero)
    surface: Triangles = field(init=False, repr=False)

    def __post_init__(self):
        heights, size = as_real(self.heights, "heights").copy(), as_vector(self.size, 2, "size").copy()
        require_finite(heights, "heights")
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InvalidModelError(f"heights must have at least two points each way, got {heights.shape}")
        if not (size > 0.0).all():
            raise InvalidModelError(f"the sides of a height field must be positive, got {size.tolist()}")
        rows, columns = heights.shape
        x, y = (
            length * (np.arange(n) / (n - 1) - 0.5) for length, n in zip(size, heights.shape, strict=True)
        )
        points = np.column_stack([np.repeat(x, columns), np.tile(y, rows), heights.ravel()])
        first = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).ravel()
        cells = np.stack([first, first + columns, first + columns + 1, first + 1], axis=1)
        surface = surface_of(points, np.concatenate([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]]))
        self.__setstate__({"heights": heights, "size": size, "surface": surface, **_placed(self)})


def _checked_faces(faces, count: int) -> np.ndarray:
    """Return the corners of triangles, (triangles, 3), or raise ShapeError or InvalidModelError."""
    try:
        numbers = np.array(faces)
    except ValueError:
        raise InvalidModelError("faces must have three corners each: divide others into triangles") from None
    if numbers.ndim != 2 or numbers.shape[1] != 3:
        raise ShapeError(
            f"faces must have shape (faces, 3), got {numbers.shape}: divide others into triangles",
            numbers.shape,
        )
    if numbers.dtype.kind not in "iu" or numbers.min(initial=0) < 0 or numbers.max(initial=0) >= count:
        raise InvalidModelError(f"faces must be numbers of the {count} vertices, from 0")
    if not len(numbers):
        raise InvalidModelError("a surface needs triangles, got no faces")
    return numbers.astype(np.intp)


def _placed(shape: Box | _Round | Ellipsoid | Mesh | HeightField) -> dict:
    """Return a validated body, and the placement as copies."""
    return {
        "body": checked_body(shape.body),
        "R": _rotation(shape.R, "R"),
        "p": as_vector(shape.p, 3, "p").copy(),
    }


def checked_body(value) -> int | str | Frame:
    """Validate a body given by number or name, or a frame."""
    if isinstance(value, str | Frame):
        return value
    if not isinstance(value, Integral):
        raise InvalidModelError(
            "body must be the number of a joint, its or its body's name, or a frame or its name, "
            f"got {value!r}"
        )
    return int(value)
