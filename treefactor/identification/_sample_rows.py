"""Make the rows of least-squares problems from samples of a robot's motion: one problem for every freedom."""

from __future__ import annotations

import math

import numpy as np

from .._functions.general_path import compiled_function
from .._util.validation import Sealed, as_real, require_finite
from ..dynamics import rnea
from ..exceptions import ShapeError
from ..model.model import Model
from ..quantities.functions import ENTRIES, regressor
from ._column_sizes import column_sizes
from ._triangles import update
from .columns import INERTIA, column_names, regressor_pattern, single_entries
from .parameter_bases import BaseParameters

NUMBERS = 2**20  # most numbers of rows that are in memory at a time: 8 MB


class SampleRows(Sealed):
    """Places of the columns of every freedom's problem, and the samples as columns in lanes.

    The rows of freedom k have entries only for the bodies that it carries and for its own friction, so its
    problem has fewer columns than there are parameters.

    Attributes
    ----------
    names : tuple of str
        Of the parameters.
    felt : list of ndarray of intp
        By freedom, the parameters of its columns.
    places : list of dict
        By parameter, the freedoms whose torques depend on it and the place of its column in each, as in
        `entries`.
    rotors, ratios : ndarray
        Freedom and factor of every armature column.
    counts, entries, uses : ndarray of intp
        The columns of every problem, its torque last, as `_triangles.update` takes them.
    """

    model: Model
    base: BaseParameters | None
    extra: tuple[str, ...]
    names: tuple[str, ...]
    rotors: np.ndarray
    ratios: np.ndarray
    places: list[dict[int, int]]
    felt: list[np.ndarray]
    counts: np.ndarray
    entries: np.ndarray
    uses: np.ndarray

    def __init__(self, model, columns: tuple[str, ...], base, extra: tuple[str, ...]):
        rotors = [(k, factor) for kind, k, factor in single_entries(model, columns) if kind == "armature"]
        own = tuple(kind for kind in columns if not (base and kind in ("inertia", "armature")))
        self._keep(
            model=model,
            base=base,
            extra=extra,
            names=(*(base.names if base else ()), *(column_names(model, own) if own else ()), *extra),
            rotors=np.array([k for k, _ in rotors], dtype=np.intp),
            ratios=np.array([factor for _, factor in rotors]),
        )
        first, places = self._starts(), self._places(own)
        felt = [
            np.array([c for c, freedoms in enumerate(places) if k in freedoms], dtype=np.intp)
            for k in range(model.nv)
        ]
        entries = [[*(places[c][k] for c in own), ~(first["torque"] + k)] for k, own in enumerate(felt)]
        self._keep(
            places=places,
            felt=felt,
            counts=np.array([len(own) for own in entries], dtype=np.intp),
            entries=np.array([place for own in entries for place in own], dtype=np.intp),
            uses=np.arange(first["use"], first["use"] + model.nv, dtype=np.intp),
        )

    def _starts(self) -> dict[str, int]:
        """Return the first columns of the kinds in the second table."""
        nv = self.model.nv
        sizes = {"armature": len(self.rotors), "viscous": nv, "dry": nv, "offset": 1, "torque": nv, "use": nv}
        starts = np.cumsum([0, *sizes.values()]).tolist()
        return dict(zip((*sizes, "extra"), starts, strict=True))

    def _places(self, own: tuple[str, ...]) -> list[dict[int, int]]:
        """Return for every parameter the freedoms whose torques depend on it, and its column in each."""
        first = self._starts()
        freedoms, joints = regressor_pattern(self.model)
        places: list[dict[int, int]] = []
        for column in self.base.kept.tolist() if self.base else ():
            rotor = column - 10 * self.model.njoints
            if rotor >= 0:
                places.append({int(self.rotors[rotor]): ~(first["armature"] + rotor)})
            else:
                pairs = np.flatnonzero(joints == column // 10).tolist()
                places.append({int(freedoms[pair]): 10 * pair + column % 10 for pair in pairs})
        for kind in own:
            if kind == "armature":
                places += [{int(k): ~(first[kind] + c)} for c, k in enumerate(self.rotors)]
            else:
                places += [{k: ~(first[kind] + k * (kind != "offset"))} for k in range(self.model.nv)]
        count = len(self.extra)
        for e in range(count):
            places.append({k: ~(first["extra"] + k * count + e) for k in range(self.model.nv)})
        return places

    def validated(self, samples: dict[str, object], extra) -> tuple[list[np.ndarray], np.ndarray]:
        """Return q (N, nq), v, a and others (N, nv) and the extra columns (N, nv, count), or raise."""
        arrays = []
        for name, values in samples.items():
            array = as_real(values, name)
            array = array[None] if array.ndim == 1 else array
            width = self.model.nq if name == "q" else self.model.nv
            rows = arrays[0].shape[0] if arrays else "samples"
            if array.ndim != 2 or array.shape[1] != width or (arrays and len(array) != rows):
                expected = f"({rows}, {width})"
                raise ShapeError(
                    f"expected {name} of shape {expected}, got {np.shape(values)}", np.shape(values)
                )
            arrays.append(array)
        shape = (len(arrays[0]), self.model.nv, len(self.extra))
        further = np.zeros((*shape[:2], 0)) if extra is None else as_real(extra, "extra")
        further = further[None] if further.ndim == 2 else further
        if further.shape != shape:
            what = f"entries of {', '.join(self.extra)}" if self.extra else "no extra columns"
            raise ShapeError(
                f"expected extra of shape {shape}, {what}; got {np.shape(extra)}", further.shape, shape
            )
        return arrays, further

    def known(self, q, v, a) -> np.ndarray:
        """Return the torques, (N, nv) or a zero, of parameters of the model that are not estimated."""
        rotors = self.model.armature.copy()
        rotors[self.rotors] = 0.0
        if self.base:
            return rotors * a if rotors.any() else np.zeros((1, 1))
        return rnea(self.model, q, v, a) - (self.model.armature - rotors) * a

    def sizes(self, largest: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return bounds (nv, p) of the norms of the terms of all columns; 0 for those that are given."""
        sizes = np.zeros((self.model.nv, len(self.names)))
        if self.base:
            own = np.flatnonzero(self.base.kept < 10 * self.model.njoints)
            sizes[:, own] = column_sizes(self.model, largest)[:, self.base.kept[own]]
        return np.sqrt(rows)[:, None] * sizes

    def parts(self, v, a, tau, use, extra) -> tuple[np.ndarray, ...]:
        """Return the second table of `_triangles.update`."""
        rotors = np.ascontiguousarray(a[:, self.rotors]) * self.ratios
        return (
            rotors,
            v,
            np.sign(v),
            np.ones((1, 1)),
            tau,
            use,
            extra.reshape(len(v), math.prod(extra.shape[1:])),
        )

    def add(self, arrays, mask, extra, triangles) -> None:
        """Update the triangles with samples (q, v, a, tau); raise the error that names a bad q."""
        q, v, a, tau = (np.ascontiguousarray(array) for array in arrays)
        tau = (tau if mask is None else np.where(mask, tau, 0.0)) - self.known(q, v, a)
        use = np.ones((1, self.model.nv)) if mask is None else mask.astype(float)
        entry = ENTRIES["regressor"]
        function = compiled_function(entry, self.model, ("lanes", INERTIA)) if self.base else None
        parts = tuple(map(np.ascontiguousarray, self.parts(v, a, tau, use, extra)))
        bad = update(function, (q, v, a), parts, len(q), self.counts, self.entries, self.uses, triangles)
        if bad >= 0:
            rnea(self.model, q[bad], v[bad], a[bad])

    def chunks(self, samples: int):
        """Yield slices of samples, so short that the rows of one slice need little memory."""
        rows = max(64, NUMBERS // max(self.model.nv * len(self.names), 1))
        for start in range(0, samples, rows):
            yield slice(start, start + rows)

    def matrix(self, q, v, a, extra) -> np.ndarray:
        """Return the rows, shape (N, nv, p)."""
        N, start = len(q), len(self.base.names) if self.base else 0
        Y = np.zeros((N, self.model.nv, len(self.names)))
        if self.base:
            columns = INERTIA if len(self.base.columns) == 10 * self.model.njoints else (*INERTIA, "armature")
            Y[:, :, :start] = regressor(self.model, q, v, a, columns=columns)[..., self.base.kept]
        parts = self.parts(v, a, np.zeros_like(v), np.zeros_like(v), extra)
        table = np.hstack([np.broadcast_to(part, (N, part.shape[1])) for part in parts])
        for c in range(start, len(self.names)):
            for k, place in self.places[c].items():
                Y[:, k, c] = table[:, ~place]
        return Y


def require_usable(arrays: dict[str, np.ndarray], mask: np.ndarray | None) -> None:
    """Raise NonFiniteError for entries that are not finite; torques of rows left out may be anything."""
    for name, array in arrays.items():
        require_finite(array if name != "tau" or mask is None else np.where(mask, array, 0.0), name)
