"""Define the geometry of a robot: named shapes on its bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .._util.messages import similar
from .._util.validation import Sealed, as_tuple
from ..exceptions import InvalidModelError
from .shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

# kinds in the order of kernels/contacts/shapes.h
SHAPES = (Plane, Sphere, Capsule, Cylinder, Box, Mesh, Cone, Ellipsoid, HeightField)
Shape = Plane | Sphere | Capsule | Cylinder | Box | Mesh | Cone | Ellipsoid | HeightField


class Geometry(Sealed):
    """Named shapes on the bodies of a model, such as the collision shapes of a URDF.

    Parameters
    ----------
    shapes : sequence of shapes
        Plane, Sphere, Capsule, Cylinder, Box, Mesh, Cone, Ellipsoid or HeightField.
    names : sequence of str, optional
        All different; by default "shape 0" and so on.

    Raises
    ------
    InvalidModelError
        If these are not shapes, or names are missing or not different.

    Notes
    -----
    Immutable.

    ``len``, iteration and ``geometry["name"]`` are those of the shapes. `constraints.contacts_of` lists which
    of them may touch.

    Examples
    --------
    >>> from treefactor.constraints import Box, Capsule, Geometry
    >>> robot = Geometry([Box(0, [0.4, 0.2, 0.1]), Capsule(1, 0.02, 0.2)], ["trunk", "leg"])
    >>> robot["leg"].radius, robot
    (0.02, <Geometry: 2 shapes>)
    """

    shapes: tuple[Shape, ...]
    names: tuple[str, ...]

    def __init__(self, shapes: Sequence[Shape], names: Sequence[str] | None = None):
        shapes = as_tuple(shapes, "shapes")
        names = tuple(f"shape {k}" for k in range(len(shapes))) if names is None else as_tuple(names, "names")
        for k, shape in enumerate(shapes):
            if not isinstance(shape, SHAPES):
                known = ", ".join(kind.__name__ for kind in SHAPES)
                raise InvalidModelError(f"shapes[{k}] must be one of {known}, got {shape!r}")
        if not all(isinstance(name, str) for name in names):
            raise InvalidModelError(f"names must be texts, got {names!r}")
        if len(names) != len(shapes):
            raise InvalidModelError(f"expected a name for each of {len(shapes)} shapes, got {len(names)}")
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InvalidModelError(f"two shapes are called {twice[0]!r}: rename one")
        self._keep(shapes=shapes, names=names)

    def __reduce__(self):
        return Geometry, (self.shapes, self.names)

    def __len__(self) -> int:
        return len(self.shapes)

    def __iter__(self) -> Iterator[Shape]:
        return iter(self.shapes)

    def __getitem__(self, name: str) -> Shape:
        if name not in self.names:
            raise InvalidModelError(f"{name!r} is not a shape of this geometry{similar(name, self.names)}")
        return self.shapes[self.names.index(name)]

    def __repr__(self) -> str:
        return f"<Geometry: {len(self)} shapes>"
