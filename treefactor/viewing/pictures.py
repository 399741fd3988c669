"""Draw the shapes of a robot; needs Matplotlib."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from .._util.validation import as_tuple
from ..constraints.bounds import bounding_boxes, shape_placements
from ..exceptions import TreefactorError
from ..model.frames import body_number
from ..model.geometry import Geometry, Shape
from ..model.model import Model
from ..model.shapes import Plane
from .surfaces import surface

COLOURS = np.array([[0.36, 0.52, 0.72], [0.86, 0.58, 0.32], [0.47, 0.66, 0.47], [0.68, 0.50, 0.70]])
GREY = np.array([0.8, 0.8, 0.8])  # of the base and of planes
LIGHT = np.array([0.3, -0.5, 0.8])
FAINTEST = 0.2  # opacity of the first of several configurations


def colour_of(model: Model, shape: Shape) -> np.ndarray:
    """Return the colour of a shape by its body."""
    body = body_number(model, shape.body)
    return GREY if body < 0 else COLOURS[body % len(COLOURS)]


def plot(model: Model, geometry: Geometry, q, others: Iterable[Shape] = (), axes=None):
    """Draw the shapes of a robot in one or several configurations.

    Parameters
    ----------
    model : Model
    geometry : Geometry
    q : array_like, shape (nq,) or (configurations, nq)
        Of several configurations the last is opaque, and the first palest.
    others : iterable of shapes
        Of the surroundings, such as ``[Plane()]`` for the ground.
    axes : mpl_toolkits.mplot3d.axes3d.Axes3D, optional
        To draw into; by default those of a new figure.

    Returns
    -------
    mpl_toolkits.mplot3d.axes3d.Axes3D
        ``axes.figure.savefig(...)`` writes a file.

    Raises
    ------
    TreefactorError
        If Matplotlib is missing.
    InvalidModelError
        If these are not shapes, or a body is not in the model.
    ShapeError, NonFiniteError, ConfigurationError

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor import viewing
    >>> from treefactor.constraints import Box, Geometry, Plane
    >>> slide = tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(1.0))
    >>> axes = viewing.plot(tf.Model([slide]), Geometry([Box(0, [1, 1, 1])]), [2.0], [Plane()])
    >>> [float(z) for z in axes.get_zlim()]
    [1.5, 2.5]
    """
    try:
        from matplotlib.figure import Figure
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    except ImportError as error:
        raise TreefactorError(f"plots need Matplotlib ({error}): pip install 'treefactor[plot]'") from None
    shapes = [*geometry, *as_tuple(others, "others")]
    placed = shape_placements(model, shapes, q)
    placed = placed.reshape(math.prod(placed.shape[:-3]), *placed.shape[-3:])
    low, high = _limits(bounding_boxes(model, shapes, q))
    size = float((high - low).max())
    if axes is None:
        axes = Figure(figsize=(5, 5), layout="constrained").add_subplot(projection="3d")
    faces, colours = [], []
    for k, placements in enumerate(placed):
        is_last = k == len(placed) - 1
        opacity = 1.0 if is_last else FAINTEST + 0.4 * k / len(placed)
        for shape, placement in zip(shapes, placements, strict=True):
            corners, triangles = surface(shape, size)
            if isinstance(shape, Plane):
                placement = _nearest(placement, 0.5 * (low + high))
            drawn = (corners @ placement[:, :3].T + placement[:, 3])[triangles]
            shades = _shaded(colour_of(model, shape), drawn)
            if not isinstance(shape, Plane):
                faces.append(drawn)
                colours.append(np.insert(shades, 3, opacity, axis=1))
            elif is_last:  # behind the others, because two large triangles have no order among small ones
                axes.add_collection3d(Poly3DCollection(drawn, facecolors=shades, alpha=0.4, zorder=0))
    if faces:
        own = {"facecolors": np.concatenate(colours), "edgecolors": np.concatenate(colours)}
        axes.add_collection3d(Poly3DCollection(np.concatenate(faces), linewidths=0.2, zorder=1, **own))
    axes.computed_zorder = False
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set(xlabel="x, m", ylabel="y, m", zlabel="z, m")
    axes.set_box_aspect(high - low, zoom=0.85)  # leaves room for the label of z
    axes.zaxis.labelpad = 6
    return axes


def _limits(bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box that holds all shapes but planes, and is not flat."""
    bounds = bounds.reshape(-1, 2, 3)
    bounds = bounds[np.isfinite(bounds).all(axis=(1, 2))]
    if not len(bounds):
        return -np.ones(3), np.ones(3)
    low, high = bounds[:, 0].min(axis=0), bounds[:, 1].max(axis=0)
    half = np.maximum(0.5 * (high - low), 0.25 * max((high - low).max(), 1e-3))
    return 0.5 * (low + high) - half, 0.5 * (low + high) + half


def _nearest(placement: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Return the placement of a plane with its point nearest to the centre of the picture."""
    normal, point = placement[:, 2], placement[:, 3]
    nearest = center - normal * (normal @ (center - point))
    return np.column_stack([placement[:, :3], nearest])


def _shaded(colour: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the colours of triangles (k, 3, 3) that light falls on."""
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    shade = 0.75 + 0.3 * normals @ (LIGHT / np.linalg.norm(LIGHT))
    return np.clip(colour * shade[:, None], 0.0, 1.0)
