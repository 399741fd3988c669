"""Make the rows of least-squares problems from samples of a robot's motion: one problem for every freedom."""

from __future__ import annotations

import math

import numpy as np

from .._util.validation import as_real, require_finite
from ..derivatives._general_path import compiled_function
from ..dynamics import rnea
from ..exceptions import ShapeError
from ._regressors import Regressor
from ._triangles import update
from .columns import INERTIA, column_names, regressor_pattern, single_entries
from .regressors import regressor

NUMBERS = 2**20  # of rows that are in memory at a time: 8 MB


class SampleRows:
    """Places of the columns of every freedom's problem, and the samples as columns in lanes.

    The rows of freedom k have entries only for the bodies that it carries and for its own friction, so its
    problem has fewer columns than there are parameters.

    Attributes
    ----------
    names : tuple of str
        Of the parameters.
    felt : list of ndarray of intp
        By freedom, the parameters of its columns.
    counts, entries, uses : ndarray of intp
        The columns of every problem, its torque last, as `_triangles.update` takes them.
    """

    def __init__(self, model, columns: tuple[str, ...], base, extra: tuple[str, ...]):
        self.model, self.base, self.extra, self.bodies = model, base, extra, "inertia" in columns
        rotors = [(k, factor) for _, k, factor in single_entries(model, columns) if _ == "armature"]
        self.rotors = np.array([k for k, _ in rotors], dtype=np.intp)
        self.ratios = np.array([factor for _, factor in rotors])
        own = tuple(kind for kind in columns if not (self.bodies and kind in ("inertia", "armature")))
        self.names = (*(base.names if base else ()), *(column_names(model, own) if own else ()), *extra)
        self.places = self._places(own)
        self.felt = [
            np.array([c for c, places in enumerate(self.places) if k in places], dtype=np.intp)
            for k in range(model.nv)
        ]
        first = self._starts()
        entries = [
            [*(self.places[c][k] for c in felt), ~(first["torque"] + k)] for k, felt in enumerate(self.felt)
        ]
        self.counts = np.array([len(places) for places in entries], dtype=np.intp)
        self.entries = np.array([place for places in entries for place in places], dtype=np.intp)
        self.uses = np.arange(first["use"], first["use"] + model.nv, dtype=np.intp)

    def _starts(self) -> dict[str, int]:
        """Return the first columns of the kinds in the second table."""
        nv = self.model.nv
        sizes = {"armature": len(self.rotors), "viscous": nv, "dry": nv, "offset": 1, "torque": nv, "use": nv}
        starts = np.cumsum([0, *sizes.values()]).tolist()
        return dict(zip((*sizes, "extra"), starts, strict=True))

    def _places(self, own: tuple[str, ...]) -> list[dict[int, int]]:
        """Return for every parameter the freedoms that feel it, and the place of its column in each."""
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
        """Return q (N, nq), v, a and others (N, nv) and the further columns (N, nv, count), or raise."""
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
            what = f"entries of {', '.join(self.extra)}" if self.extra else "no further columns"
            raise ShapeError(
                f"expected extra of shape {shape}, {what}; got {np.shape(extra)}", further.shape, shape
            )
        return arrays, further

    def known(self, q, v, a) -> np.ndarray:
        """Return the torques, (N, nv), of those parameters of the model that are not estimated."""
        rotors = self.model.armature.copy()
        rotors[self.rotors] = 0.0
        bodies = 0.0 if self.bodies else rnea(self.model, q, v, a) - self.model.armature * a
        return bodies + rotors * a

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

    def add(self, arrays, use, extra, triangles) -> None:
        """Update the triangles with samples (q, v, a, tau); raise the error that names a bad q."""
        q, v, a, tau = (np.ascontiguousarray(array) for array in arrays)
        tau = np.where(use, tau, 0.0) - self.known(q, v, a)
        function = compiled_function(self.model, Regressor, ("lanes", INERTIA)) if self.bodies else None
        parts = self.parts(v, a, tau, use, extra)
        bad = update(function, (q, v, a), parts, len(q), self.counts, self.entries, self.uses, triangles)
        if bad >= 0:
            rnea(self.model, q[bad], v[bad], a[bad])

    def chunks(self, samples: int):
        """Yield slices of samples whose rows are not many numbers."""
        rows = max(64, NUMBERS // (self.model.nv * max(len(self.names), 1)))
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
