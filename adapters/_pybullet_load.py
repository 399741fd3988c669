"""Load URDFs into PyBullet: the dynamics alone, or the file as scripts load it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pybullet

from .._util.validation import as_vector
from .._util.xml import as_path, numbers, parse
from ..exceptions import AdapterError
from ..model._urdf import read
from ..model.joints import Inertia
from ..tolerances import ORTHONORMAL
from ._plain_urdf import AXIAL, JOINT_PARTS, plain, write
from ._pybullet_body import Body, adapter_error, engine_errors
from ._pybullet_traps import read_names, sanitised

DYNAMICS_ONLY = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_IGNORE_COLLISION_SHAPES
WAYS = {  # reading meshes takes most of the time; those of collision shapes change default inertias only
    "default flags": 0,
    "URDF_USE_INERTIA_FROM_FILE": DYNAMICS_ONLY,
    "and URDF_MERGE_FIXED_LINKS": DYNAMICS_ONLY | pybullet.URDF_MERGE_FIXED_LINKS,
}
TENSOR_CAUSE = dict.fromkeys(WAYS, "another inertia tensor than the file's")
TENSOR_CAUSE["default flags"] = "inertia recomputed from collision shapes, not read from the file"
SELF_COLLISION = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_USE_SELF_COLLISION


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Body:
    """Load the dynamics of a URDF alone into a client of its own.

    PyBullet reads a sanitised copy (see ``_pybullet_traps``) without meshes, joint limits, friction, damping
    and mimic; links without ``<inertial>`` have no mass.

    Parameters
    ----------
    path : str or path-like
    floating : bool
        Whether the base is free.
    gravity : array_like, shape (3,)
        m/s^2, in the world.

    Returns
    -------
    Body
        Close it, or use it in a ``with`` statement.

    Raises
    ------
    AdapterError
        If the file is missing, malformed, or PyBullet cannot represent the robot; the message names the
        file, the reason and the link or joint.
    """
    path = as_path(path, "pybullet")
    text, moments = sanitised(path, floating)
    return _load_copy(text, path, floating, gravity, moments)


def load_plain(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), way: str = "default flags") -> Body:
    """Load a URDF as it is, in one of ``WAYS``, as scripts do, but without the shapes that change no inertia.

    Its H may differ from that of the file: see `inertials` and ``treefactor.check.differences``. Visual
    shapes are left out, and collision shapes too if inertias are read from the file. Other arguments as for
    `load`.
    """
    return _load_file(as_path(path, "pybullet"), floating, gravity, WAYS[way])


def load_touching(path: Path, floating: bool, gravity) -> Body:
    """Load a URDF as it is, its inertias read from the file, with contacts between its links."""
    return _load_file(path, floating, gravity, SELF_COLLISION)


def load_shapeless(path: Path, floating: bool, gravity) -> Body:
    """Load inertias, joints and limits of a URDF as they are, but no shapes: meshes need not be there."""
    read_names(path)
    robot, _ = plain(parse(path, "pybullet"), path, "pybullet", JOINT_PARTS | {"limit"})
    return _load_copy(write(robot), path, floating, gravity, {})


def _load_file(path: Path, floating: bool, gravity, flags: int) -> Body:
    read_names(path)
    scaled = _scaled_axes(path)
    if scaled:
        reason = f"PyBullet does not scale axes to unit length everywhere, and {scaled[0]!r} has another"
        raise adapter_error(reason, scaled[0], path)
    return _in_own_client(path, path, floating, gravity, flags, {})


def _scaled_axes(path: Path) -> list[str]:
    """Return the joints whose axis is not of unit length in the file."""
    axial = [joint for joint in parse(path, "pybullet").iterfind("joint[axis]") if joint.get("type") in AXIAL]
    axes = {joint.get("name", ""): numbers(joint.find("axis").get("xyz", "")) for joint in axial}
    return [name for name, axis in axes.items() if abs(np.linalg.norm(axis) - 1.0) > ORTHONORMAL]


def _load_copy(text: str, path: Path, floating: bool, gravity, moments: dict[str, np.ndarray]) -> Body:
    with TemporaryDirectory(prefix="treefactor") as folder:
        copy = Path(folder, "copy.urdf")
        copy.write_text(text, encoding="utf-8")
        return _in_own_client(path, copy, floating, gravity, DYNAMICS_ONLY, moments)


def _in_own_client(path: Path, urdf: Path, floating: bool, gravity, flags: int, moments: dict) -> Body:
    """Make the body of a URDF from the file at path, which the errors name."""
    client = pybullet.connect(pybullet.DIRECT)
    try:
        with engine_errors("PyBullet refused it, see its output"):
            body_id = pybullet.loadURDF(
                str(urdf),
                useFixedBase=not floating,
                flags=flags | pybullet.URDF_IGNORE_VISUAL_SHAPES,
                physicsClientId=client,
            )
        pybullet.setGravity(*as_vector(gravity, 3, "gravity"), physicsClientId=client)
        _set_moments(moments, body_id, client)
        body = Body(body_id, client)
    except AdapterError as error:
        pybullet.disconnect(client)
        raise adapter_error(str(error), error.joint, path) from None
    except UnicodeDecodeError as error:
        pybullet.disconnect(client)
        reason = f"PyBullet passes names on as bytes, and one is not UTF-8: {error}"
        raise adapter_error(reason, file=path) from None
    except BaseException:
        pybullet.disconnect(client)
        raise
    vars(body)["owns_client"] = True
    return body


def _set_moments(moments: dict[str, np.ndarray], body_id: int, client: int) -> None:
    """Set principal moments that a URDF could not hold; must come before the first mass matrix."""
    for i in range(pybullet.getNumJoints(body_id, physicsClientId=client)):
        own = moments.get(pybullet.getJointInfo(body_id, i, physicsClientId=client)[12].decode())
        if own is not None:
            pybullet.changeDynamics(body_id, i, localInertiaDiagonal=own.tolist(), physicsClientId=client)


def inertials(body: Body) -> dict[str, Inertia]:
    """Return inertias of the links that enter H, by name, in the axes of the link frame."""
    found = {
        link.name: Inertia(
            link.mass, link.inertial @ link.centre, link.inertial * link.moments @ link.inertial.T
        )
        for link in body.links
    }
    if body.floating:
        R = body.base_inertial
        found[body.base] = Inertia(body.base_mass, body.base_centre, R * body.base_moments @ R.T)
    return found


def file_inertials(path, floating: bool) -> dict[str, Inertia]:
    """Return inertias of the links of a URDF that can move, by name, in the axes of the link frame."""
    robot = read(as_path(path, "pybullet"), "pybullet")
    return {name: inertial for name, inertial in robot.links.items() if floating or name != robot.root}
