"""Build our geometry of Pinocchio's geometry models."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..exceptions import AdapterError, InvalidModelError
from ..model.geometry import Geometry, Shape
from ..model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

NOWHERE = 0, 2**64 - 1  # numbers of the frame "universe", and of none
ALIKE = 1e-5  # relative difference of areas and volumes of a mesh that is its convex hull


def geometry(geometry_model: pin.GeometryModel) -> Geometry:
    """Build our geometry of a Pinocchio geometry model, with the names of its objects.

    Parameters
    ----------
    geometry_model : pinocchio.GeometryModel
        Its shapes are on the joints with the numbers of `model`: those of a model without composite joints
        and joints of type "SphericalZYX".

    Returns
    -------
    Geometry
        Meshes of links are their convex hulls, as those of URDFs. A mesh of the surroundings, on the frame
        "universe" or placed without a frame on joint 0, is a surface of its triangles, solid behind them,
        unless it is convex. Pairs of shapes that may touch are not read: see `contacts_of`.

    Raises
    ------
    AdapterError
        If an object has a shape that has no equivalent here, or a link has one that encloses nothing;
        names it.

    Notes
    -----
    Triangles of a surface are counterclockwise from outside, where Pinocchio takes both sides: a ground
    whose triangles look down holds nothing.

    Examples
    --------
    >>> import pinocchio as pin, treefactor as tf
    >>> from treefactor.adapters import pinocchio_
    >>> arm = pin.buildSampleModelManipulator()
    >>> shapes = pinocchio_.geometry(pin.buildSampleGeometryModelManipulator(arm))
    >>> [type(shape).__name__ for shape in shapes]
    ['Sphere', 'Sphere', 'Sphere', 'Capsule', 'Capsule', 'Capsule']
    """
    if not isinstance(geometry_model, pin.GeometryModel):
        raise AdapterError(f"expected a pinocchio.GeometryModel, got {geometry_model!r}", "pinocchio")
    objects = geometry_model.geometryObjects.tolist()
    return Geometry([_shape(one) for one in objects], [one.name for one in objects])


def _shape(one: pin.GeometryObject) -> Shape:
    """Return the shape of a geometry object."""
    shape, joint = one.geometry, one.parentJoint - 1
    placed = {"R": one.placement.rotation, "p": one.placement.translation}
    kind = type(shape).__name__
    try:
        if kind == "Sphere":
            return Sphere(joint, placed["p"], shape.radius)
        if kind == "Box":
            return Box(joint, 2.0 * shape.halfSide, **placed)
        if kind.startswith("HeightField"):
            heights = shape.getHeights().T[:, ::-1]  # there by rows, from the largest y
            return HeightField(joint, heights, [shape.getXDim(), shape.getYDim()], **placed)
        if kind == "Ellipsoid":
            return Ellipsoid(joint, shape.radii, **placed)
        if kind in ("Capsule", "Cylinder", "Cone"):
            round_shape = {"Capsule": Capsule, "Cylinder": Cylinder, "Cone": Cone}[kind]
            return round_shape(joint, shape.radius, 2.0 * shape.halfLength, **placed)
        if kind == "Halfspace":
            normal = placed["R"] @ shape.n
            return Plane(joint, normal, placed["p"] + shape.d * normal)
        if kind.startswith("Convex"):
            return Mesh(joint, np.array(shape.points()), **placed)
        if kind.startswith("BVHModel"):
            return _mesh(one, joint, placed)
    except InvalidModelError as error:
        raise AdapterError(f"geometry object {one.name!r}: {error}", "pinocchio") from None
    known = "Sphere, Box, Capsule, Cylinder, Cone, Ellipsoid, Halfspace, HeightField, Convex and meshes"
    raise AdapterError(f"geometry object {one.name!r} is a {kind}: only {known} are converted", "pinocchio")


def _mesh(one: pin.GeometryObject, joint: int, placed: dict) -> Mesh:
    """Return the convex hull of a mesh, or its surface if it is not on a link and not convex."""
    shape = one.geometry
    points = np.array(shape.vertices()).reshape(-1, 3)
    if joint >= 0 or one.parentFrame not in NOWHERE:
        return Mesh(joint, points, **placed)
    triangles = [shape.tri_indices(k) for k in range(shape.num_tris)]
    faces = np.array([[triangle[k] for k in range(3)] for triangle in triangles])
    if np.prod(one.meshScale) < 0.0:  # mirrored: the order of corners is still that of the file
        faces = faces[:, ::-1]
    surface = Mesh(joint, points, faces=faces, convex=False, **placed)
    try:
        hull = Mesh(joint, points, **placed)
    except InvalidModelError:  # it is flat, or has too many corners
        return surface
    return hull if _is_hull(hull, surface) else surface


def _is_hull(hull: Mesh, surface: Mesh) -> bool:
    """Return whether the triangles of a surface have the area and the volume of its convex hull."""
    center = hull.vertices.mean(axis=0)
    corners = surface.surface.corners[surface.surface.triangles] - center
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    own = 0.5 * np.linalg.norm(across, axis=1).sum(), abs((corners[:, 0] * across).sum()) / 6.0
    faces, heights = hull.hull.areas, hull.hull.offsets - hull.hull.normals @ center
    return np.allclose(own, (faces.sum(), heights @ faces / 3.0), rtol=ALIKE, atol=0.0)
