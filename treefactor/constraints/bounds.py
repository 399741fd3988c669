"""Place shapes in the world, and bound them by boxes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .._util.validation import as_tuple
from ..exceptions import InvalidModelError
from ..kinematics.jacobians import BodyMotions
from ..model.frames import located
from ..model.geometry import SHAPES, Geometry, Shape
from ..model.model import Model, require_model
from ..model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane
from .contact_points import placement_of
from .contacts import carrier_of


def shape_placements(model: Model, shapes: Iterable[Shape], q) -> np.ndarray:
    """Compute where shapes are: their own axes and origins in the world.

    Parameters
    ----------
    model : Model
    shapes : Geometry or iterable of shapes
    q : array_like, shape (..., nq)

    Returns
    -------
    ndarray, shape (..., shapes, 3, 4)
        [R, p], p in m. The origin of a sphere is its centre, that of a plane its point; the third axis of a
        plane is its normal.

    Raises
    ------
    InvalidModelError
        If these are not shapes, or a body is not in the model; names the shape.
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.constraints import Box, shape_placements
    >>> slide = tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(1.0))
    >>> shape_placements(tf.Model([slide]), [Box(0, [1, 1, 1], p=[0.5, 0, 0])], [2.0])[0, :, 3]
    array([0.5, 0. , 2. ])
    """
    require_model(model)
    names = [f"shape {name!r}" for name in shapes.names] if isinstance(shapes, Geometry) else None
    shapes = as_tuple(shapes, "shapes")
    for k, shape in enumerate(shapes):
        if not isinstance(shape, SHAPES):
            raise InvalidModelError(f"shapes[{k}] is not a shape, but {shape!r}")
        carrier_of(model, shape, names[k] if names else f"shapes[{k}]")
    at = BodyMotions(model, q)
    placements = np.empty((*at.batch, len(shapes), 3, 4))
    for k, shape in enumerate(shapes):
        body, R, p = located(model, shape.body, *placement_of(shape))
        placements[..., k, :, :3] = at.R[..., body, :, :] @ R
        placements[..., k, :, 3] = at.origin[..., body, :] + at.points(body, p)
    return placements


def bounding_boxes(model: Model, shapes: Iterable[Shape], q) -> np.ndarray:
    """Compute the smallest boxes along the axes of the world that hold shapes.

    Parameters
    ----------
    model : Model
    shapes : Geometry or iterable of shapes
    q : array_like, shape (..., nq)

    Returns
    -------
    ndarray, shape (..., shapes, 2, 3)
        Lower and upper corners, m; infinite for planes.

    Raises
    ------
    InvalidModelError
        If these are not shapes, or a body is not in the model; names the shape.
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.constraints import Box, Capsule, bounding_boxes
    >>> slide = tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(1.0))
    >>> bounding_boxes(tf.Model([slide]), [Capsule(0, 0.1, 0.4)], [2.0])
    array([[[-0.1, -0.1,  1.7],
            [ 0.1,  0.1,  2.3]]])
    """
    shapes = as_tuple(shapes, "shapes")
    placed = shape_placements(model, shapes, q)
    bounds = np.empty((*placed.shape[:-2], 2, 3))
    for k, shape in enumerate(shapes):
        R, p = placed[..., k, :, :3], placed[..., k, :, 3]
        low, high = _reach(shape, R)
        bounds[..., k, 0, :], bounds[..., k, 1, :] = p + low, p + high
    return bounds


def _reach(shape: Shape, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far a shape turned by R (..., 3, 3) reaches from its origin, down and up the axes."""
    if isinstance(shape, Mesh | HeightField):
        points = shape.surface.corners if isinstance(shape, HeightField) else np.array(shape.vertices)
        corners = R @ points.T
        return corners.min(axis=-1), corners.max(axis=-1)
    if isinstance(shape, Box):
        reach = 0.5 * np.abs(R) @ shape.size
    elif isinstance(shape, Plane):
        reach = np.full(R.shape[:-1], np.inf)
    elif isinstance(shape, Cylinder | Cone):
        end = 0.5 * shape.length * R[..., 2]
        rim = shape.radius * np.sqrt(np.maximum(1.0 - R[..., 2] ** 2, 0.0))
        if isinstance(shape, Cone):
            return np.minimum(end, -end - rim), np.maximum(end, rim - end)
        reach = np.abs(end) + rim
    elif isinstance(shape, Ellipsoid):
        reach = np.sqrt(R**2 @ shape.radii**2)
    else:
        long = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
        reach = shape.radius + long * np.abs(R[..., 2])
    return -reach, reach
