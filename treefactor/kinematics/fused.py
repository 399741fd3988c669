"""Compute several kinematic results of one model in one pass over its bodies."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from .._functions._bound_function import BoundFunction
from .._functions.binding import bound
from .._functions.general_path import run
from .._util.messages import received
from .._util.validation import Sealed, as_tuple
from ..exceptions import ShapeError
from ..model.frames import Frame, frame_of
from ..model.model import Model, require_model
from ._request import NEEDS, Request
from .masses import MASSES
from .plans import (
    Item,
    View,
    item_of,
    item_of_joints,
    items_of_masses,
    reference_name,
    request_of,
)

MOTIONS = {
    "placements": "frame_placement",
    "velocities": "frame_velocity",
    "accelerations": "frame_acceleration",
}
JACOBIANS = {"jacobians": "frame_jacobian", "jacobian_dots": "frame_jacobian_dot"}


class Kinematics(Sealed):
    """Compute several kinematic results of a model in one call; picklable.

    Parameters
    ----------
    model : Model
    placements : sequence of frames
        A frame is a name, a `Frame`, or -1, the base.
    velocities : sequence
        Frames, or pairs (frame, reference); the references are those of `frame_velocity`.
    accelerations : sequence
        Frames, pairs (frame, reference), or triples (frame, reference, "spatial" or "classical").
    jacobians, jacobian_dots : sequence
        Frames, pairs (frame, reference), or triples (frame, reference, layout); the layouts are those of
        `frame_jacobian`.
    joint_placements : bool
    center_of_mass, center_of_mass_jacobian : bool or sequence
        True for the whole model, or a list of roots of subtrees; see `treefactor.center_of_mass`.
    center_of_mass_velocity, center_of_mass_acceleration : bool or sequence
        Likewise.
    centroidal_map, centroidal_map_dot, centroidal_momentum, centroidal_momentum_rate : bool
        See the functions of these names.
    centroidal_inertia : bool

    Attributes
    ----------
    model : Model
    fields : tuple of str
        Names of what was requested, in the order of the parameters: the fields of the result.

    Raises
    ------
    InvalidModelError
        If the model has no frame of a name; proposes similar names.
    ValueError, TypeError
        If a reference, layout or entry is wrong, or no result is requested.

    Notes
    -----
    Immutable.

    Calls return a named tuple with one field for everything requested: arrays of shape (..., k, 3, 4) for k
    placements, (..., k, 6) for k velocities or accelerations, (..., njoints, 3, 4) for the placements of all
    joints; tuples of arrays (..., 6, nv) or packed ones for Jacobians and their time derivatives; what
    `center_of_mass` and the other functions of masses return, or tuples of that for lists of roots. Only
    the bodies between the base and these frames are visited, each once, and only these results are written.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> request = tf.Kinematics(arm, placements=["tip"], jacobians=[("tip", "WORLD", "packed")])
    >>> motion = request([0.0])
    >>> motion.placements[0, :, 3], motion.jacobians[0].T
    (array([1., 0., 0.]), array([[0., 0., 0., 0., 0., 1.]]))
    """

    model: Model
    fields: tuple[str, ...]
    _request: Request
    _counts: tuple[int | None, ...]  # of a field that is a tuple of arrays
    _asked: tuple

    def __init__(
        self,
        model: Model,
        placements=(),
        velocities=(),
        accelerations=(),
        jacobians=(),
        jacobian_dots=(),
        joint_placements: bool = False,
        center_of_mass: bool | Sequence = False,
        center_of_mass_velocity: bool | Sequence = False,
        center_of_mass_acceleration: bool | Sequence = False,
        center_of_mass_jacobian: bool | Sequence = False,
        centroidal_map: bool = False,
        centroidal_map_dot: bool = False,
        centroidal_momentum: bool = False,
        centroidal_momentum_rate: bool = False,
        centroidal_inertia: bool = False,
    ):
        asked = {name: given for name, given in locals().items() if name not in ("self", "model")}
        require_model(model)
        items_of: dict[str, Item | list[Item]] = {}  # a list: the field is a tuple
        for name, given in asked.items():
            asked[name] = bool(given) if isinstance(given, bool | np.bool_) else _entries(given, name)
            if asked[name]:
                items_of[name] = _items(model, name, asked[name])
        if not items_of:
            raise ValueError("no result is requested: pass placements, velocities, jacobians, ...")
        items = [item for part in items_of.values() for item in (part if isinstance(part, list) else [part])]
        self._keep(
            model=model,
            fields=tuple(items_of),
            _request=request_of(model, items),
            _counts=tuple(len(part) if isinstance(part, list) else None for part in items_of.values()),
            _result=_results_of(tuple(items_of)),
            _asked=tuple(asked.values()),
        )

    def __reduce__(self):
        return Kinematics, (self.model, *self._asked)

    def __repr__(self) -> str:
        return f"<Kinematics of {self.model.name!r}: {', '.join(self.fields)}>"

    def __call__(self, q, v=None, a=None, out=None, num_threads: int = 1):
        """Compute the results.

        Parameters
        ----------
        q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
            Leading axes are a batch. v is needed for velocities, accelerations and time derivatives of
            Jacobians, otherwise it is not read; without a, accelerations of the joints are zero.
        out : named tuple, optional
            Result of an earlier call or of `empty`, to be overwritten.
        num_threads : int
            For batches; -1 uses all cores.

        Returns
        -------
        named tuple
            With the fields named in ``fields``.

        Raises
        ------
        ShapeError, DtypeError, NonFiniteError, ConfigurationError
        """
        flat = None if out is None else self._flat(out)
        arrays = self._request.run_arrays((q, v, a), flat, num_threads)
        if arrays is None:
            arrays = run(self.model, self._request, (q, v, a), flat, num_threads)
        return self._nested(arrays) if out is None else out

    def empty(self, *batch: int):
        """Return a result with uninitialized arrays for batches of that shape, to be passed as ``out``."""
        arrays = [np.empty((*batch, *shape)) for shape in self._request.shapes]
        return self._nested(tuple(arrays) if len(arrays) > 1 else arrays[0])

    def bind(self, q, v=None, a=None, *, out) -> BoundFunction:
        """Bind the request to fixed arrays: returns a call without arguments that overwrites and returns out.

        Parameters
        ----------
        q, v, a : ndarray of float64
            For one configuration; contiguous. They are referenced, not copied.
        out : named tuple
            Result of an earlier call or of `empty`.

        Raises
        ------
        ValueError
            If an array is not contiguous float64 of the right shape.
        """
        general = partial(self.__call__, q, v, a, out)
        return bound(self._request, {"q": q, "v": v, "a": a}, self._flat(out), general, out)

    def _flat(self, out):
        """Return the arrays of a result: a tuple, or one array if there is only one."""
        wanted = f"out must have the fields {', '.join(self.fields)}, as empty() makes them"
        if not isinstance(out, tuple) or len(out) != len(self._counts):
            raise ShapeError(f"{wanted}, got {received(out)}", None, None)
        flat: list = []
        for part, count, name in zip(out, self._counts, self.fields, strict=True):
            arrays = (part,) if count is None else as_tuple(part, name)
            if len(arrays) != (count or 1):
                raise ShapeError(
                    f"{wanted}, got {len(arrays)} arrays in {name} instead of {count}", None, None
                )
            flat += arrays
        return tuple(flat) if len(flat) > 1 else flat[0]

    def _nested(self, arrays):
        """Return arrays as a result."""
        parts = iter(arrays if isinstance(arrays, tuple) else (arrays,))
        return self._result._make(
            [next(parts) if one is None else tuple([next(parts) for _ in range(one)]) for one in self._counts]
        )


@lru_cache(maxsize=256)
def _results_of(fields: tuple[str, ...]) -> type:
    """Return the class of results with these fields; they can be pickled."""
    results_class = namedtuple("Results", fields)
    results_class.__reduce__ = lambda results: (_restored, (fields, tuple(results)))  # type: ignore[method-assign]
    return results_class


def _restored(fields: tuple[str, ...], values: tuple):
    """Return pickled results."""
    return _results_of(fields)(*values)


def _entries(given, name: str) -> tuple:
    """Return what was requested as a tuple of entries."""
    if isinstance(given, str | Frame):
        raise TypeError(f"{name} must be a list of frames, got {received(given)}: pass a list with one frame")
    return as_tuple(given, name)


def _items(model: Model, name: str, given) -> Item | list[Item]:
    """Return the item of a field, or the items of a field that is a tuple of arrays."""
    if name == "joint_placements":
        return item_of_joints(model)
    if name in MASSES:
        if given is True:
            return items_of_masses(model, name, -1)[0]
        if NEEDS[name][2]:  # ways from the centre of mass of the whole model
            raise TypeError(f"{name} must be True or False, got {received(given)}")
        return [items_of_masses(model, name, root)[0] for root in given]
    if given is True:
        raise TypeError(f"{name} must be a list of frames, got True")
    if name in MOTIONS:
        return _motions(model, name, given)
    return [_jacobian(model, name, entry) for entry in given]


def _split(entry, name: str, last: str) -> tuple:
    """Return the frame, the reference and the last part of an entry, with defaults for the last two."""
    if not isinstance(entry, tuple):
        return entry, "LOCAL", last
    if not 1 <= len(entry) <= 3:
        raise TypeError(f"an entry of {name} must be a frame, a pair or a triple, got {entry!r}")
    return (*entry, *("LOCAL", last)[len(entry) - 1 :])


def _motions(model: Model, name: str, entries: tuple) -> Item:
    """Return the item of placements, velocities or accelerations."""
    views = []
    for entry in entries:
        frame, reference, kind = _split(entry, name, "spatial")
        if kind not in ("spatial", "classical") or (kind == "classical" and name != "accelerations"):
            raise ValueError(f"an acceleration is 'spatial' or 'classical', got {kind!r} in {name}")
        views.append(View(frame_of(model, frame), reference_name(reference), kind == "classical"))
    return Item(MOTIONS[name], tuple(views), many=True)


def _jacobian(model: Model, name: str, entry) -> Item:
    """Return the item of a Jacobian or of its time derivative."""
    frame, reference, layout = _split(entry, name, "dense")
    return item_of(model, JACOBIANS[name], frame, reference, layout)
