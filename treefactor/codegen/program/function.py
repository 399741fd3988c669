"""Store a function: straight-line code as a table of statements."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from ..._util.validation import ReadOnly
from ...tree.tree import OperationCount
from .expressions import ADD, ATAN2, COS, INPUT, MUL, OPERATIONS, RECIP, SIN, SQRT, SUB, is_binary
from .names import PI

COLUMNS = {
    "op": np.uint8,
    "a": np.int32,
    "b": np.int32,
    "value": np.float64,
    "output": np.int32,
    "sign": np.int8,
}


@dataclass(frozen=True, eq=False)
class Function(ReadOnly):
    """Straight-line code of one function: a table of statements, each after its operands.

    Attributes
    ----------
    name : str
    inputs : tuple of (str, int)
        Names and sizes of the arguments.
    op : ndarray of uint8, shape (rows,)
        Operation of each statement, an index into ``OPERATIONS``: CONST, INPUT, ADD (a + b), SUB (a - b),
        MUL (a b), RECIP (1 / a), SIN (a), COS (a), SQRT (a), ATAN2 (a, b). Constants come first, then inputs,
        then the others in the order of the recursion.
    a, b : ndarray of int32, shape (rows,)
        Operands: numbers of earlier statements, 0 if there is none. INPUT has the number of the argument and
        the entry. RECIP has b = k + 1 if a is the pivot of freedom k, -k - 1 if a is its negative: the value
        is then NaN unless that pivot is positive. SQRT has b = k + 1 if it closes loop k.
    value : ndarray of float64, shape (rows,)
        Value of CONST, positive or 0; 0 for other operations.
    output : ndarray of int32, shape (size,)
        Statements that hold the result.
    sign : ndarray of int8, shape (size,)
        1, or -1 if the result is the negative of the statement.
    shape : tuple of int
        Shape of the result, for example (nnz,) of "crba", the packed rows of H in the layout of
        ``Model.tree``, and (nv, nv) of "minv".
    variant : str
        Model variant, and method if there are several: "both", "frames, aba".
    group : tuple of str
        Functions whose results follow one another in the result; empty for a single function.
    alternatives : tuple of Function
        The same function in other statements, before common factors are gathered. Compiled code for one
        configuration is that of the shortest time, estimated from all of them with few more operations;
        single precision takes the one that rounds least, see ``selection.precise``.
    equations : tuple of Function
        "crba" or "crba + bias", and "rnea_derivatives" for derivatives: this function follows from them
        by kernels of linear algebra instead of statements. So the interpreter computes one configuration.

    Notes
    -----
    Immutable.
    """

    name: str
    inputs: tuple[tuple[str, int], ...]
    op: np.ndarray
    a: np.ndarray
    b: np.ndarray
    value: np.ndarray
    output: np.ndarray
    sign: np.ndarray
    shape: tuple[int, ...]
    variant: str = ""
    group: tuple[str, ...] = ()
    alternatives: tuple[Function, ...] = ()
    equations: tuple[Function, ...] = ()

    def __post_init__(self):
        for column in COLUMNS:
            getattr(self, column).flags.writeable = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Functions of the group, or the name of the single function."""
        return self.group or (self.name,)

    @property
    def rows(self) -> int:
        """Number of statements, constants and inputs included."""
        return self.op.size

    def evaluate(self, *arguments) -> np.ndarray:
        """Evaluate statement by statement with NumPy: slow, the reference of the backends.

        Parameters
        ----------
        *arguments : array_like, shapes (..., size)
            In the order of ``inputs``.

        Returns
        -------
        ndarray
            Leading axes of the arguments, then ``shape``.
        """
        from ..backends.numpy_ import evaluate  # which imports this module

        return evaluate(self, *arguments)

    def fault(self) -> str | None:
        """Return why the columns are not valid straight-line code, or None."""
        op, a, b = self.op, self.a.astype(int), self.b.astype(int)
        sizes = np.array([size for _, size in self.inputs])
        is_input, computed, binary = op == INPUT, op >= ADD, is_binary(op)
        statement = np.arange(op.size)
        if not op.size == a.size == b.size == self.value.size:
            return "columns differ in length"
        if self.output.size != self.sign.size or self.output.size != math.prod(self.shape):
            return "output and sign do not fit the shape of the result"
        checks = {
            "an operation is unknown": op < len(OPERATIONS),
            "constants and inputs must come first": np.diff(np.minimum(op, ADD).astype(int), prepend=0) >= 0,
            "an operand comes after its use": (a >= 0)
            & ((b >= 0) | (op == RECIP))
            & ((a < statement) | ~computed)
            & ((b < statement) | ~binary),
            "a number is not finite or negative": np.isfinite(self.value) & ~np.signbit(self.value),
            "an entry of the result is not a statement": (self.output >= 0) & (self.output < op.size),
            "a sign is neither 1 nor -1": np.abs(self.sign) == 1,
        }
        for fault, good in checks.items():
            if not good.all():
                return f"{fault} (statement {int(np.argmin(good))})"
        if is_input.any() and (a[is_input].max() >= sizes.size or (b[is_input] >= sizes[a[is_input]]).any()):
            return "an input is not an entry of an argument"
        return None

    @property
    def places(self) -> list[tuple[str, int]]:
        """Parameter of the compiled form, and first entry in it, of every argument; u holds all after v."""
        first = self.after_v
        sizes = [size for _, size in self.inputs[first:]]
        kept = [("q", 0), ("v", 0)][:first]
        return [*kept, *(("u", at) for at in accumulate(sizes, initial=0))][: len(self.inputs)]

    @property
    def after_v(self) -> int:
        """Number of the first argument that u holds: 2, or 1 if inertial parameters follow q."""
        return 1 if len(self.inputs) > 1 and self.inputs[1][0] == PI else 2

    @cached_property
    def first(self) -> int:
        """First statement that is neither a constant nor an input."""
        return int(np.count_nonzero(self.op <= INPUT))

    @cached_property
    def operations(self) -> OperationCount:
        """Counts of scalar operations; changes of sign are free."""
        return operation_count(self.op)


def operation_count(op: np.ndarray) -> OperationCount:
    """Count the operations of statements."""
    count = np.bincount(op, minlength=len(OPERATIONS)).tolist()
    return OperationCount(
        mul=count[MUL],
        add=count[ADD] + count[SUB],
        div=count[RECIP],
        sqrt=count[SQRT],
        trig=count[SIN] + count[COS] + count[ATAN2],
    )
