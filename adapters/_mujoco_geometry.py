"""Build our geometry of the geoms of a MuJoCo model, and list the pairs that MuJoCo leaves out."""

from __future__ import annotations

from glob import escape
from itertools import combinations

import mujoco
import numpy as np

from .._util.engine_objects import require_object
from ..exceptions import InvalidModelError
from ..model.geometry import Geometry, Shape
from ..model.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere
from ._mujoco_body import Body, adapter_error, geom_names
from ._mujoco_model import Place, joints_and_places, matrices

CONVERTED = "plane, hfield, sphere, capsule, cylinder, ellipsoid, box and mesh"
FILES = "load a file with mujoco_.load(path)"


def geometry(source: mujoco.MjModel | Body) -> Geometry:
    """Build our geometry of the geoms of a MuJoCo model that may touch others.

    Parameters
    ----------
    source : mujoco.MjModel or Body

    Returns
    -------
    Geometry
        On the joints of `model`, by the names of the geoms; one without a name is called ``geom <number>``.
        Geoms whose contype and conaffinity are 0 touch nothing and are left out. Planes are half-spaces,
        meshes their convex hulls. Friction, margins and softness are not read.

    Raises
    ------
    AdapterError
        If a geom is an SDF, or encloses nothing; names it.

    See Also
    --------
    excluded_pairs : Pairs that MuJoCo leaves out.

    Examples
    --------
    >>> import mujoco
    >>> from treefactor.adapters import mujoco_
    >>> text = '<mujoco><worldbody><geom name="ground" type="plane" size="1 1 1"/><body><freejoint/>'
    >>> text += '<geom name="brick" type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>'
    >>> ground, brick = mujoco_.geometry(mujoco.MjModel.from_xml_string(text))
    >>> ground.body, brick.body, brick.size
    (-1, 0, array([0.2, 0.4, 0.6]))
    """
    body = _body(source)
    m, names = body.model, geom_names(body.model)
    places, turned = joints_and_places(body)[1], matrices(body.model.geom_quat)
    numbers = _touching(m)
    return Geometry(
        [_shape(m, k, names[k], places[m.geom_bodyid[k]], turned[k]) for k in numbers],
        [names[k] for k in numbers],
    )


def excluded_pairs(source: mujoco.MjModel | Body) -> list[tuple[str, str]]:
    """List the pairs of geoms that a MuJoCo model does not let touch, for ``exclude=`` of `contacts_of`.

    Parameters
    ----------
    source : mujoco.MjModel or Body

    Returns
    -------
    list of tuple of str
        Pairs of names of shapes of `geometry`, special characters of patterns escaped: those whose contype
        and conaffinity share no bit, and those of bodies that an ``<exclude>`` names.

    Notes
    -----
    MuJoCo also leaves out geoms of one body and of a body and its parent, unless the parent is the world, as
    `contacts_of` does. Its predefined ``<pair>`` are not read.

    Examples
    --------
    >>> import mujoco
    >>> from treefactor.adapters import mujoco_
    >>> text = '<mujoco><worldbody><geom name="wall" size="1" conaffinity="2"/>'
    >>> text += '<geom name="ball" size="1" contype="4"/></worldbody></mujoco>'
    >>> mujoco_.excluded_pairs(mujoco.MjModel.from_xml_string(text))
    [('wall', 'ball')]
    """
    m = _body(source).model
    names, bodies = [escape(name) for name in geom_names(m)], m.geom_bodyid.tolist()
    signatures = m.exclude_signature.tolist()
    bodies_apart = {frozenset((signature >> 16, signature & 0xFFFF)) for signature in signatures}
    contype, conaffinity = m.geom_contype, m.geom_conaffinity
    return [
        (names[i], names[k])
        for i, k in combinations(_touching(m), 2)
        if not (contype[i] & conaffinity[k] or contype[k] & conaffinity[i])
        or frozenset((bodies[i], bodies[k])) in bodies_apart
    ]


def _body(source) -> Body:
    """Return a Body, or raise TypeError."""
    require_object(source, (mujoco.MjModel, Body), "source", "a mujoco.MjModel or a Body of mujoco_", FILES)
    return source if isinstance(source, Body) else Body(source)


def _touching(m: mujoco.MjModel) -> list[int]:
    """Return the numbers of the geoms that may touch others."""
    return np.flatnonzero(m.geom_contype | m.geom_conaffinity).tolist()


def _shape(m: mujoco.MjModel, k: int, name: str, place: Place, turned: np.ndarray) -> Shape:
    """Return the shape of geom k on a body that is placed in the frame of a joint."""
    joint, R, p = place
    R, p = R @ turned, p + R @ m.geom_pos[k]
    size, kind = m.geom_size[k], mujoco.mjtGeom(m.geom_type[k]).name.removeprefix("mjGEOM_").lower()
    try:
        if kind == "plane":
            return Plane(joint, R[:, 2], p)
        if kind == "sphere":
            return Sphere(joint, p, size[0])
        if kind in ("capsule", "cylinder"):
            round_shape = Capsule if kind == "capsule" else Cylinder
            return round_shape(joint, size[0], 2.0 * size[1], R, p)
        if kind == "hfield":
            field = m.geom_dataid[k]
            shape, first = (m.hfield_nrow[field], m.hfield_ncol[field]), m.hfield_adr[field]
            heights = m.hfield_data[first : first + shape[0] * shape[1]].reshape(shape).T
            x, y, top, _ = m.hfield_size[field]
            return HeightField(joint, top * heights.astype(float), [2.0 * x, 2.0 * y], R, p)
        if kind == "ellipsoid":
            return Ellipsoid(joint, size, R, p)
        if kind == "box":
            return Box(joint, 2.0 * size, R, p)
        if kind == "mesh":
            mesh = m.geom_dataid[k]
            first = m.mesh_vertadr[mesh]
            return Mesh(joint, m.mesh_vert[first : first + m.mesh_vertnum[mesh]], R, p)
    except InvalidModelError as error:
        raise adapter_error(f"geom {name!r}: {error}", name) from None
    raise adapter_error(f"geom {name!r} is a {kind}: only {CONVERTED} are converted", name)
