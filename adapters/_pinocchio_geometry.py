"""Build our geometry of Pinocchio's geometry models."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..exceptions import AdapterError, InvalidModelError
from ..model.geometry import Geometry, Shape
from ..model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere


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
        Of meshes, the convex hulls. Pairs of shapes that may touch are not read: see `contacts_of`.

    Raises
    ------
    AdapterError
        If an object has a shape that has no equivalent here, or one that encloses nothing; names it.

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
            return Mesh(joint, np.array(shape.vertices()), **placed)
    except InvalidModelError as error:
        raise AdapterError(f"geometry object {one.name!r}: {error}", "pinocchio") from None
    known = "Sphere, Box, Capsule, Cylinder, Cone, Ellipsoid, Halfspace, HeightField, Convex and meshes"
    raise AdapterError(f"geometry object {one.name!r} is a {kind}: only {known} are converted", "pinocchio")
