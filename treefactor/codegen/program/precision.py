"""The precisions of compiled code: the numbers that a program's functions compute with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exceptions import CodegenError, DtypeError
from .expressions import CONST

REGISTER = 64  # bytes of the configurations that are computed side by side


@dataclass(frozen=True)
class Precision:
    """Numbers that compiled code computes with.

    Attributes
    ----------
    dtype : numpy.dtype
        float64 or float32.
    c_type : str
        Type in C.
    """

    dtype: np.dtype
    c_type: str

    @property
    def lanes(self) -> int:
        """Configurations that are computed side by side: 8 or 16."""
        return REGISTER // self.dtype.itemsize

    @property
    def is_single(self) -> bool:
        """Whether numbers are of float32."""
        return self.dtype == np.float32

    def text(self, value: float) -> str:
        """Return a number as C writes it."""
        return f"{self.dtype.type(value)!s}f" if self.is_single else repr(value)

    def require_arrays(self, given: dict) -> None:
        """Raise DtypeError if this is float32, and an argument, by name, is an array of another dtype."""
        for name, values in given.items() if self.is_single else ():
            dtype = getattr(values, "dtype", None)
            if dtype is not None and np.shape(values) and str(dtype).rpartition(".")[2] != "float32":
                remedy = f"convert it with {name}.astype(np.float32), or compile with dtype=np.float64"
                raise DtypeError(f"{name} must have dtype float32, got {dtype}: {remedy}", dtype)

    def require_constants(self, function) -> None:
        """Raise CodegenError if a constant of a function is too large or too small for this precision."""
        exact = function.value[function.op == CONST]
        with np.errstate(over="ignore", under="ignore"):
            rounded = exact.astype(self.dtype)
        lost = (exact != 0) & ~((rounded >= np.finfo(self.dtype).tiny) & np.isfinite(rounded))
        if self.is_single and lost.any():
            raise CodegenError(
                f"{function.name} has the constant {exact[lost][0]:.3g}, which {self.dtype} cannot hold: "
                "compile it with dtype=float64"
            )


DOUBLE = Precision(np.dtype(np.float64), "double")
SINGLE = Precision(np.dtype(np.float32), "float")
PRECISIONS = {precision.dtype: precision for precision in (DOUBLE, SINGLE)}
