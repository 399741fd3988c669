"""Read the vertices of mesh files: STL, binary or as text, and OBJ."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..exceptions import AdapterError

HEADER, TRIANGLE = 84, 50  # bytes of a binary STL: before the triangles, and of each
READABLE = ("stl", "obj")


def mesh_vertices(path: Path) -> np.ndarray:
    """Return the vertices of a mesh, each once, shape (vertices, 3), or raise AdapterError."""
    suffix = path.suffix.lower().removeprefix(".")
    if suffix not in READABLE:
        raise AdapterError(
            f"{path}: expected a mesh in STL or OBJ format, got {path.suffix!r}: convert the mesh, as by "
            "trimesh.load(path).export('mesh.stl')",
            file=path,
        )
    content = path.read_bytes()
    is_binary = suffix == "stl" and _is_binary(content)
    try:
        points = _binary_stl(content) if is_binary else _words(content, suffix)
    except ValueError as error:
        raise AdapterError(f"{path}: cannot read this {suffix.upper()} file: {error}", file=path) from None
    if not len(points) or not np.isfinite(points).all():
        what = "a number that is not finite" if len(points) else "no vertices"
        raise AdapterError(f"{path}: this {suffix.upper()} file has {what}", file=path)
    return np.unique(points, axis=0)


def _is_binary(content: bytes) -> bool:
    """Return whether an STL is binary: its size is that of its triangles, or it does not begin as text."""
    count = int.from_bytes(content[80:84], "little")
    whole = len(content) >= HEADER and len(content) == HEADER + TRIANGLE * count
    return whole or not content.lstrip().startswith(b"solid")


def _binary_stl(content: bytes) -> np.ndarray:
    """Return the corners of all triangles."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) < HEADER + TRIANGLE * count:
        raise ValueError(f"it should hold {count} triangles, but has {len(content)} bytes")
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    triangles = np.frombuffer(content, triangle, count, HEADER)
    return triangles["corners"].reshape(-1, 3).astype(float)


def _words(content: bytes, suffix: str) -> np.ndarray:
    """Return the vertices of a file in text: lines that begin with ``vertex`` in an STL, ``v`` in an OBJ."""
    key = b"vertex" if suffix == "stl" else b"v"
    lines = [words[1:4] for words in map(bytes.split, content.splitlines()) if words and words[0] == key]
    if any(len(line) != 3 for line in lines):
        raise ValueError("a vertex does not have three coordinates")
    return np.array([[float(word) for word in line] for line in lines]).reshape(-1, 3)
