"""Write motions of a robot's shapes into HTML pages; needs viser."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from .._util.validation import as_real, as_tuple
from ..constraints.bounds import bounding_boxes, shape_placements
from ..exceptions import ShapeError, TreefactorError
from ..model.geometry import Geometry, Shape
from ..model.model import Model
from ..model.shapes import Box, Mesh, Plane
from .pictures import colour_of
from .surfaces import surface

PICTURES = 30.0  # per second


def write_page(file, model: Model, geometry: Geometry, t, q, others: Iterable[Shape] = ()) -> None:
    """Write a motion as an HTML page that shows it in 3D, in any browser and without a network.

    Parameters
    ----------
    file : path-like
    model : Model
    geometry : Geometry
    t : array_like, shape (states,)
        Times, ascending, s, such as those of a `constraints.Trajectory`.
    q : array_like, shape (states, nq)
    others : iterable of shapes
        Of the surroundings, such as ``[Plane()]`` for the ground.

    Raises
    ------
    TreefactorError
        If viser is missing.
    InvalidModelError
        If these are not shapes, or a body is not in the model.
    ValueError
        If times descend.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    At most 30 states per second are written; the page plays them in real time, about 1 MB and the meshes
    large. viser serves the scene at a port of this machine while the page is made. Of a run of a
    `constraints.Stepper`: ``write_page("fall.html", model, geometry, run.t, run.q, [Plane()])``.
    """
    try:
        import viser
    except ImportError as error:
        raise TreefactorError(f"pages in 3D need viser ({error}): pip install 'treefactor[view]'") from None
    t, q = as_real(t, "t"), as_real(q, "q")
    if t.ndim != 1 or not t.size or q.shape != (t.size, model.nq):
        expected = f"expected t of shape (states,) and q of shape (states, {model.nq})"
        raise ShapeError(f"{expected}, got {t.shape} and {q.shape}", q.shape)
    if (np.diff(t) < 0.0).any():
        raise ValueError("t must ascend")
    chosen = _pictures(t)
    shapes = [*geometry, *as_tuple(others, "others")]
    placed, bounds = (call(model, shapes, q[chosen]) for call in (shape_placements, bounding_boxes))
    poses = _wxyz(placed[..., :3]), placed[..., 3]
    names = [*geometry.names, *(f"other {k}" for k in range(len(shapes) - len(geometry)))]
    with redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        Path(file).write_text(_recorded(server, model, shapes, names, poses, bounds, t[chosen]), "utf-8")
    finally:
        with redirect_stdout(io.StringIO()):
            server.stop()


def _pictures(t: np.ndarray) -> np.ndarray:
    """Return the states to show: the first one after each time of a picture, and the last state."""
    wanted = np.arange(t[0], t[-1], 1.0 / PICTURES)
    return np.unique(np.append(np.searchsorted(t, wanted - 1e-9), len(t) - 1))


def _recorded(server, model: Model, shapes, names, poses, bounds, t) -> str:
    """Return the page of a motion that a server has shown."""
    finite = bounds[np.isfinite(bounds).all(axis=(-2, -1))]
    low, high = (finite.min(axis=0)[0], finite.max(axis=0)[1]) if len(finite) else (-np.ones(3), np.ones(3))
    size = float(max((high - low).max(), 1e-3))
    server.initial_camera.look_at = 0.5 * (low + high)
    server.initial_camera.position = 0.5 * (low + high) + size * np.array([1.0, -1.0, 0.6])
    quaternions, positions = poses
    handles = []
    for k, (shape, name) in enumerate(zip(shapes, names, strict=True)):
        corners, triangles = surface(shape, 4.0 * size)
        if not len(triangles):
            continue
        handle = server.scene.add_mesh_simple(
            f"/{name}",
            corners,
            triangles,
            color=tuple((255 * colour_of(model, shape)).astype(int).tolist()),
            flat_shading=isinstance(shape, Box | Mesh | Plane),
            wxyz=quaternions[0, k],
            position=positions[0, k],
        )
        handles.append((k, handle))
    recording = server.get_scene_serializer()
    for at in range(1, len(t)):
        recording.insert_sleep(float(t[at] - t[at - 1]))
        for k, handle in handles:
            if (positions[at, k] != positions[at - 1, k]).any():
                handle.position = positions[at, k]
            if (quaternions[at, k] != quaternions[at - 1, k]).any():
                handle.wxyz = quaternions[at, k]
    return recording.as_html()


def _wxyz(R: np.ndarray) -> np.ndarray:
    """Return quaternions w x y z of rotations."""
    from scipy.spatial.transform import Rotation

    flat = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat()
    return np.roll(flat, 1, axis=1).reshape(*R.shape[:-2], 4)
