"""Compute hashes of models and of other contents that are equal in every process."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from .model import Model, require_model


def digest(model: Model) -> int:
    """Return a 64-bit hash of the model's content: equal for equal models, in every process.

    Parameters
    ----------
    model : Model

    Returns
    -------
    int
        64 bits, signed.

    Raises
    ------
    TypeError
        If model is not a Model.

    Notes
    -----
    The first 8 bytes of a SHA-256 of the joints with their bodies, limits and names, the loops, the frames
    and the gravity. The name of the model has no influence: no result depends on it. Zeros of both signs are
    equal.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.model.digests import digest
    >>> joint = tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=tf.Inertia(1.0))
    >>> digest(tf.Model([joint])) == digest(tf.Model([joint]))
    True
    >>> digest(tf.Model([joint])) == digest(tf.Model([joint], gravity=[0, 0, -1.62]))
    False
    """
    require_model(model)
    if model._source is not None:  # its parameters have more bits than the inertias of its joints
        return number_of(digest(model._source), model.parameters, model._rotors)
    return number_of(model.joints, model.loops, model.frames, model.gravity)


def number_of(*content: Any) -> int:
    """Return a hash of texts, numbers, arrays, None, dataclasses, and tuples, lists and mappings of these.

    Parameters
    ----------
    *content
        Numbers and arrays count as float64, so that 1 and 1.0 are equal. The order of a mapping matters.

    Returns
    -------
    int
        The first 8 bytes, signed, of a SHA-256 of the content.

    Raises
    ------
    TypeError
        If an object is of another kind.

    Examples
    --------
    >>> from treefactor.model.digests import number_of
    >>> number_of("forward_dynamics", ("factor",)) == number_of("forward_dynamics", ["factor"])
    True
    """
    sha = hashlib.sha256()
    for part in _parts(content):
        sha.update(part)
    return int.from_bytes(sha.digest()[:8], "little", signed=True)


def _parts(content: Any) -> Iterable[bytes]:
    """Yield the bytes of a content: a letter for its kind, its size, its entries."""
    if content is None:
        yield b"N"
    elif isinstance(content, str):
        text = content.encode("utf-8", "surrogatepass")
        yield b"S" + struct.pack("<q", len(text)) + text
    elif isinstance(content, Integral) and not -(2**53) <= content <= 2**53:
        yield from _parts(("integer", str(int(content))))
    elif isinstance(content, Real):
        yield b"R" + struct.pack("<d", float(content) + 0.0)  # -0.0 + 0.0 is 0.0
    elif isinstance(content, np.ndarray):
        array = np.ascontiguousarray(content, dtype="<f8") + 0.0
        yield b"A" + struct.pack(f"<q{content.ndim}q", content.ndim, *content.shape)
        yield array.tobytes()
    elif isinstance(content, (tuple, list)):
        yield b"T" + struct.pack("<q", len(content))
        for part in content:
            yield from _parts(part)
    elif isinstance(content, Mapping):
        yield b"M"
        yield from _parts(tuple(content.items()))
    elif is_dataclass(content) and not isinstance(content, type):
        yield from _parts(type(content).__name__)
        yield from _parts(tuple(getattr(content, field.name) for field in fields(content)))
    else:
        raise TypeError(
            "expected texts, numbers, arrays, None, dataclasses, tuples and mappings of these; "
            f"got an object of type {type(content).__name__}"
        )
