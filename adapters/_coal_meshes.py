"""Read mesh files by coal, the library by which Pinocchio reads them."""

from __future__ import annotations

from pathlib import Path

import coal
import numpy as np


def vertices(path: Path) -> np.ndarray:
    """Return the vertices of all triangles of a file, shape (vertices, 3).

    The parts of a COLLADA file are placed by the transforms of their nodes. Its unit and its direction of up
    are not read: numbers are metres, along the axes of the file.

    Raises
    ------
    ValueError
        If the file cannot be read; says why.
    """
    try:
        mesh = coal.MeshLoader(coal.NODE_TYPE.BV_AABB).load(str(path), np.ones(3))
    except (RuntimeError, ValueError) as error:
        raise ValueError(_reason(str(error), path)) from None
    return np.array(mesh.vertices()).reshape(-1, 3)


def _reason(message: str, path: Path) -> str:
    """Return what assimp says in a message of coal, without the path and coal's hint."""
    text = message.partition("message: ")[2].replace(f' of file "{path}"', "").replace(f" {path}", "")
    return [line for line in text.splitlines() if line and not line.startswith("Hint:")][-1].rstrip(".")
