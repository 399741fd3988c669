"""Read the vertices of mesh files: STL, binary or as text, and OBJ; coal reads other formats, as COLLADA."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from .._util.messages import COAL
from ..exceptions import AdapterError

HEADER, TRIANGLE = 84, 50  # bytes of a binary STL: before the triangles, and of each
POINTER = b"version https://git-lfs"  # begins the file that Git has in the place of a large one


def mesh_vertices(path: Path) -> np.ndarray:
    """Return the vertices of a mesh, each once, shape (vertices, 3), or raise AdapterError."""
    suffix = path.suffix.removeprefix(".").upper()
    try:
        points = _read(path, suffix)
    except OSError as error:
        raise AdapterError(f"{path}: cannot open it: {error.strerror}", file=path) from None
    except ValueError as error:
        raise AdapterError(f"{path}: cannot read this {suffix} file: {error}", file=path) from None
    if not len(points) or not np.isfinite(points).all():
        what = "a number that is not finite" if len(points) else "no vertices"
        raise AdapterError(f"{path}: this {suffix} file has {what}", file=path)
    order = np.lexsort(points.T[::-1])  # np.unique takes several times as long
    points = points[order]
    return points[np.append(True, (points[1:] != points[:-1]).any(axis=1))]


def _read(path: Path, suffix: str) -> np.ndarray:
    """Return the vertices of a file, or raise ValueError."""
    content = path.read_bytes()
    if not content.strip():
        raise ValueError("it is empty")
    if content.startswith(POINTER):
        raise ValueError("it is a pointer to the mesh in Git LFS: run `git lfs pull` in its repository")
    if suffix == "STL":
        return _binary_stl(content) if _is_binary(content) else _text_stl(content)
    if suffix == "OBJ":
        return _obj(content)
    if find_spec("coal") is None:
        raise ValueError(f"that needs coal: {COAL}; or convert it by trimesh.load(path).export('mesh.stl')")
    return import_module("treefactor.adapters._coal_meshes").vertices(path)


def _is_binary(content: bytes) -> bool:
    """Return whether an STL is binary: its size is that of its triangles, or it does not begin as text."""
    count = int.from_bytes(content[80:84], "little")
    whole = len(content) >= HEADER and len(content) == HEADER + TRIANGLE * count
    return whole or not content.lstrip().startswith(b"solid")


def _binary_stl(content: bytes) -> np.ndarray:
    """Return the corners of all triangles."""
    count, size = int.from_bytes(content[80:84], "little"), len(content)
    if size < HEADER:
        raise ValueError(f"it has {size} bytes, fewer than the header of a binary STL")
    if size < HEADER + TRIANGLE * count:
        whole = (size - HEADER) // TRIANGLE
        raise ValueError(f"it should have {count} triangles, but ends after {whole}: copy it again")
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles = np.frombuffer(content, triangle, count, HEADER)
    return triangles["corners"].reshape(-1, 3).astype(float)


def _text_stl(content: bytes) -> np.ndarray:
    """Return the corners of all triangles."""
    corners = [words[1:4] for words in map(bytes.split, content.splitlines()) if words[:1] == [b"vertex"]]
    if len(corners) % 3:
        raise ValueError("it ends within a triangle: copy it again")
    return _numbers(corners)


def _obj(content: bytes) -> np.ndarray:
    """Return the corners of all faces, or all vertices if there are no faces."""
    points: list[Sequence[bytes]] = []
    used: list[int] = []
    for words in map(bytes.split, content.splitlines()):
        if words[:1] == [b"v"]:
            points.append(words[1:4])
        elif words[:1] == [b"f"]:  # numbers from 1, or from -1 for the last vertex so far
            corners = [int(word.partition(b"/")[0]) for word in words[1:]]
            used += [k - 1 if k > 0 else len(points) + k for k in corners]
    if used and not 0 <= min(used) <= max(used) < len(points):
        raise ValueError(f"a face has a corner that is not one of the {len(points)} vertices")
    return _numbers(points)[used] if used else _numbers(points)


def _numbers(points: list[Sequence[bytes]]) -> np.ndarray:
    """Return points as an array, shape (points, 3)."""
    if any(len(point) != 3 for point in points):
        raise ValueError("a vertex does not have three coordinates")
    return np.array([[float(word) for word in point] for point in points]).reshape(-1, 3)
