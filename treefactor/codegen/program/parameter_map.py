"""Map inertial parameters of joints to the input ``pi`` of generated functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._util.validation import ReadOnly, as_real
from ...dynamics.inertias import Inertias
from ...exceptions import CodegenError, ShapeError
from ...model.model import Model
from ...model.parameters import PARAMETERS

ARRAYS = {"row": np.int32, "column": np.int32, "value": np.float64, "model": np.float64}
FOLDED = 1e-12  # largest value of an input that is folded to 0, relative to the parameters of the joints


@dataclass(frozen=True, eq=False)
class ParameterMap(ReadOnly):
    """Sparse linear map from the parameters of joints, and armature, to inputs of functions.

    Attributes
    ----------
    joints : tuple of str
    freedoms : tuple of str
        Names of the freedoms of v, which have armature.
    size : int
        Number of inputs.
    row, column : ndarray of int32, shape (nonzeros,)
        Of each coefficient, in order of the rows. Rows after `size` must be 0: the program has folded them.
        Columns are the ten parameters of every joint, then the armature of every freedom.
    value : ndarray, shape (nonzeros,)
    model : ndarray, shape (10 njoints + freedoms,)
        Parameters and armature of the model.

    Notes
    -----
    Immutable.
    """

    joints: tuple[str, ...]
    freedoms: tuple[str, ...]
    size: int
    row: np.ndarray
    column: np.ndarray
    value: np.ndarray
    model: np.ndarray

    def __post_init__(self):
        for name in ARRAYS:
            getattr(self, name).flags.writeable = False

    @classmethod
    def of(cls, joints, freedoms, size: int, matrix: np.ndarray, model: np.ndarray) -> ParameterMap:
        """Return the map of a dense matrix, whose rows have an entry that is not 0."""
        row, column = (x.astype(np.int32) for x in np.nonzero(matrix))
        return cls(tuple(joints), tuple(freedoms), size, row, column, matrix[row, column], model)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        of_joints = (f"{name} of {joint}" for joint in self.joints for name in PARAMETERS)
        return (*of_joints, *(f"armature of {freedom}" for freedom in self.freedoms))

    @cached_property
    def starts(self) -> np.ndarray:
        """First coefficient of every row."""
        starts = np.flatnonzero(np.diff(self.row, prepend=-1))
        starts.flags.writeable = False
        return starts

    def text(self, row: int, spelled: Callable[[str], str] = str) -> str:
        """Return a row as a sum of parameters, with their names spelled by a function."""
        text = ""
        for k in np.flatnonzero(self.row == row).tolist():
            factor, name = float(self.value[k]), spelled(self.names[self.column[k]])
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += sign + (name if abs(factor) == 1.0 else f"{abs(factor)!r} {name}")
        return text

    def inputs(self, pi=None, armature=None) -> np.ndarray:
        """Return the inputs for parameters, see `Program.parameters`."""
        x = self._columns(pi, armature)
        products = self._products(x, self.value)
        self._require_folded(products[..., self.size :], x)
        return np.ascontiguousarray(products[..., : self.size])

    def _products(self, x: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return the sums of x times coefficients of every row."""
        if not self.row.size:
            return np.zeros((*x.shape[:-1], 0))
        return np.add.reduceat(x.take(self.column, axis=-1) * value, self.starts, axis=-1)

    def _columns(self, pi, armature) -> np.ndarray:
        """Return validated parameters and armature, one after the other."""
        joints, freedoms = len(self.joints), len(self.freedoms)
        own = self.model[: 10 * joints].reshape(joints, 10), self.model[10 * joints :]
        if isinstance(pi, Model | Inertias):
            self._require_joints(pi if isinstance(pi, Model) else pi.model)
            pi, armature = pi.parameters, pi.armature if armature is None else armature
        pi = own[0] if pi is None else as_real(pi, "pi")
        armature = own[1] if armature is None else as_real(armature, "armature")
        for array, tail, name, of in (
            (pi, (joints, 10), "pi", "ten numbers for each joint"),
            (armature, (freedoms,), "armature", "one number for each freedom"),
        ):
            if array.shape[array.ndim - len(tail) :] != tail:
                raise ShapeError(
                    f"{name} must have shape (..., {str(tail)[1:-1].rstrip(',')}), {of}; got {array.shape}",
                    array.shape,
                    tail,
                )
        try:
            batch = np.broadcast_shapes(pi.shape[:-2], armature.shape[:-1])
        except ValueError:
            raise ShapeError(
                f"leading axes {pi.shape[:-2]} of pi and {armature.shape[:-1]} of armature differ"
            ) from None
        pi = np.broadcast_to(pi, (*batch, joints, 10)).reshape(*batch, 10 * joints)
        return np.concatenate([pi, np.broadcast_to(armature, (*batch, freedoms))], axis=-1)

    def _require_joints(self, model: Model) -> None:
        """Raise CodegenError unless a model has the joints of the program."""
        names = tuple(joint.name for joint in model.joints)
        if names != self.joints:
            listed = ", ".join(names), ", ".join(self.joints)
            raise CodegenError(f"{model.name!r} has joints {listed[0]}; the program has {listed[1]}")

    def _require_folded(self, folded: np.ndarray, x: np.ndarray) -> None:
        """Raise CodegenError, with names, if values are not 0 that the program has folded."""
        if not folded.any():
            return
        wrong = np.abs(folded) > FOLDED * self._products(self._sizes(x), np.abs(self.value))[..., self.size :]
        if wrong.any():
            *at, row = (int(k) for k in np.argwhere(wrong)[0])
            where = f" in element {at[0] if len(at) == 1 else tuple(at)}" if at else ""
            raise CodegenError(
                f"{self.text(self.size + row)} must be 0, as in the model: the program has folded it; got "
                f"{folded[(*at, row)]:.6g}{where}. {self._advice(self.size + row)}"
            )

    def _advice(self, row: int) -> str:
        """Return what to do about a value that is folded."""
        if self.column[self.row == row][0] >= 10 * len(self.joints):
            return "Generate the program from a model in which this armature is not 0"
        return "Generate the program without zeros='model'"

    def _sizes(self, x: np.ndarray) -> np.ndarray:
        """Return the magnitude of every parameter: the largest of its kind of that joint."""
        joints = len(self.joints)
        of_joints = np.abs(x[..., : 10 * joints]).reshape(*x.shape[:-1], joints, 10)
        mass, tensor = of_joints[..., :1], of_joints[..., 4:].max(axis=-1, keepdims=True)
        first = np.maximum(of_joints[..., 1:4].max(axis=-1, keepdims=True), np.sqrt(mass * tensor))
        sizes = np.concatenate([mass, np.repeat(first, 3, axis=-1), np.repeat(tensor, 6, axis=-1)], axis=-1)
        return np.concatenate([sizes.reshape(*x.shape[:-1], -1), np.abs(x[..., 10 * joints :])], axis=-1)

    def fault(self) -> str | None:
        """Return why this is not a valid map, or None."""
        columns = 10 * len(self.joints) + len(self.freedoms)
        rows = int(self.row[-1]) + 1 if self.row.size else 0
        for name, dtype in ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1:
                return f"{name} must be a vector of {np.dtype(dtype).name}"
        if not self.row.size == self.column.size == self.value.size:
            return "its columns differ in length"
        if (
            self.model.size != columns
            or not np.isfinite(self.model).all()
            or not np.isfinite(self.value).all()
        ):
            return "its numbers do not fit the joints, or are not finite"
        if not np.array_equal(np.unique(self.row), np.arange(rows)) or (np.diff(self.row) < 0).any():
            return "its rows are not in order"
        if not 0 <= self.size <= rows or ((self.column < 0) | (self.column >= columns)).any():
            return "an entry is outside of the map"
        return None

    def head(self) -> dict:
        """Return what a file holds in its head."""
        return {"size": self.size, "freedoms": self.freedoms}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return what a file holds as arrays."""
        return {f"pi.{name}": getattr(self, name) for name in ARRAYS}

    @classmethod
    def read(cls, file, joints: Sequence[str], size: int, freedoms: Sequence[str]) -> ParameterMap:
        """Read a map from a file."""
        arrays = [np.ascontiguousarray(file[f"pi.{name}"]) for name in ARRAYS]
        parameter_map = cls(tuple(joints), tuple(map(str, freedoms)), int(size), *arrays)
        fault = parameter_map.fault()
        if fault:
            raise CodegenError(f"the map of inertial parameters is not valid: {fault}")
        return parameter_map
