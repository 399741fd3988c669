"""Load URDFs into Drake: their dynamics parsed strictly, or the file as scripts parse it."""

from __future__ import annotations

import logging
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import MultibodyPlant

from .._util.validation import as_vector
from .._util.xml import as_path, parse
from ..exceptions import AdapterError, TreefactorError
from ._drake_body import Body, adapter_error
from ._plain_urdf import name_at, plain, write


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Body:
    """Load the dynamics of a URDF.

    Drake reads only inertias and joints, no meshes, and parses strictly; otherwise it would replace an
    impossible inertia by another one with only a warning.

    Parameters
    ----------
    path : path-like
    floating : bool
        Whether the root link is free, or welded to the world.
    gravity : array_like, shape (3,)
        m/s^2, in the world.

    Raises
    ------
    AdapterError
        If the file is missing, malformed or refused by Drake, which demands that inertias are positive and
        satisfy the triangle inequality; names the file, the reason and the link or joint.
    ShapeError, NonFiniteError
        If gravity is not a vector.
    """
    path = as_path(path, "drake")
    robot, root = plain(parse(path, "drake"), path, "drake")
    for dynamics in robot.iterfind("joint/dynamics"):
        dynamics.attrib.pop("friction", None)  # Drake does not support it, and warns
    text, plant = write(robot), MultibodyPlant(time_step=0.0)
    parser = Parser(plant=plant)
    parser.SetStrictParsing()
    with refusals(path, text):
        parser.AddModelsFromString(text, "urdf")
        return Body(finalized(plant, root, floating, gravity))


def load_plain(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), way: str = "Parser") -> Body:
    """Load a URDF as scripts do, with a parser that only warns; meshes are not read.

    Its H may differ from that of the file: Drake takes a link called "world" for the world itself, replaces
    impossible inertias, and adds the reflected inertia of actuators with rotors. Arguments and errors are
    those of `load`.
    """
    path = as_path(path, "drake")
    top = parse(path, "drake")
    require_limits(top, path)
    _, root = plain(top, path, "drake")
    plant = MultibodyPlant(time_step=0.0)
    with refusals(path, path.read_text(errors="replace")), unwarned():
        Parser(plant=plant).AddModels(str(path))
        return Body(finalized(plant, root, floating, gravity))


def finalized(plant: MultibodyPlant, root: str, floating: bool, gravity) -> MultibodyPlant:
    """Finalize the plant with its gravity and base; a root that Drake took for the world is already fixed."""
    plant.mutable_gravity_field().set_gravity_vector(as_vector(gravity, 3, "gravity"))
    if not floating and plant.HasBodyNamed(root):
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
    plant.Finalize()
    return plant


def require_limits(robot: ET.Element, path: Path) -> None:
    """Refuse limits in the wrong order, for which Drake ends the process."""
    with refusals(path, ""):
        for joint in robot.iterfind("joint[limit]"):
            limits = joint.find("limit").attrib
            if float(limits.get("lower", 0)) > float(limits.get("upper", 0)):
                name = joint.get("name")
                raise adapter_error(f"lower limit of joint {name!r} above its upper limit", name, path)


@contextmanager
def unwarned() -> Iterator[None]:
    """Keep Drake from logging what it ignores in a file."""
    logger = logging.getLogger("drake")
    kept = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(kept)


@contextmanager
def refusals(path: Path, text: str) -> Iterator[None]:
    """Turn Drake's errors about generated URDF text into AdapterError that names the user's file."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        if isinstance(error, TreefactorError):
            raise
        raise _refusal(path, text, error) from error


def _refusal(path: Path, text: str, error: Exception) -> AdapterError:
    """Return AdapterError with Drake's reason; a line number becomes the link or joint found there."""
    reason = " ".join(str(error).split())
    line = re.search(r"\.urdf:(\d+): \w+: ", reason)
    name = name_at(text, int(line[1])) if line else None
    if line:
        reason = reason[line.end() :]
    if name:
        reason = f"{name!r}: {reason}"
    return adapter_error(f"Drake cannot load it: {reason}", name, path)
