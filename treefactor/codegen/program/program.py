"""Store programs: straight-line code of a model's functions as plain arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._util.files import replacing
from ..._util.messages import similar
from ..._util.validation import ReadOnly
from ...exceptions import CodegenError
from ...model.joints import LOOPS
from ...tree.tree import OperationCount, Tree
from . import emit_c
from .expressions import ADD, ATAN2, COS, INPUT, MUL, OPERATIONS, RECIP, SIN, SQRT, SUB, is_binary
from .names import ARGUMENTS as ARGUMENTS
from .names import CLOSURES as CLOSURES
from .names import FUNCTIONS as FUNCTIONS
from .names import LOOP_FUNCTIONS as LOOP_FUNCTIONS
from .names import REACTIONS as REACTIONS
from .names import TIP_FUNCTIONS as TIP_FUNCTIONS
from .names import (
    FrameFunction,
    argument_sizes,
    arguments_of,
    joint_shape,
    name_of,
    shapes_of,
)
from .names import available as available
from .names import shape_of as shape_of

FORMAT = 2
NO_PROGRAM = (KeyError, TypeError, ValueError, OverflowError, OSError, EOFError, RuntimeError)
# attributes in the head of a file
PLAIN = ("model", "nq", "nv", "tips", "snapped", "loops", "independent", "joints", "branch", "frames")
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
        sizes = [size for _, size in self.inputs[2:]]
        return [("q", 0), ("v", 0), *(("u", at) for at in accumulate(sizes, initial=0))][: len(self.inputs)]

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


@dataclass(frozen=True, eq=False)
class Program(ReadOnly):
    """Generated functions of one model; picklable.

    Attributes
    ----------
    model : str
        Name of the model.
    parent : ndarray, shape (nv,)
        Parents in the tree of its freedoms, which defines the packed rows of H.
    nq, nv : int
    tips : tuple of str
        Joints of "jacobian" and "delassus".
    snapped : float
        Largest change by rounding angles to multiples of 90 degrees (of a rotation entry) and short lengths
        to 0 (relative to the longest).
    functions : mapping of str to Function
    loops : tuple of (str, str)
        Names and kinds of the joints that close loops.
    independent : tuple of str
        Freedoms, named as in ``Tree.names``, from which "loops" computes the dependent ones.
    joints : tuple of str
        Joints of the rows of "joint_forces".
    branch : tuple of (str, int)
        Dependent freedoms that "position_closure" computes by a square root, and its sign, 1 or -1.
    frames : tuple of (str, tuple of int)
        Frames of the functions, and the columns of v that move them: those of their packed Jacobians.

    Notes
    -----
    Immutable.
    """

    model: str
    parent: np.ndarray
    nq: int
    nv: int
    tips: tuple[str, ...]
    snapped: float
    functions: Mapping[str, Function]
    loops: tuple[tuple[str, str], ...] = ()
    independent: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    branch: tuple[tuple[str, int], ...] = ()
    frames: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __post_init__(self):
        self.__setstate__({"parent": np.array(self.parent), "functions": self.functions})

    def __getstate__(self) -> dict:
        return self.__dict__ | {"functions": dict(self.functions)}

    def __setstate__(self, state: dict):
        super().__setstate__(state | {"functions": MappingProxyType(dict(state["functions"]))})

    @property
    def operations(self) -> dict[str, OperationCount]:
        """Operation counts of every function."""
        return {name: function.operations for name, function in self.functions.items()}

    def c_source(self, functions=None) -> str:
        """Return C99 of functions (default all): ``tf_NAME(q, v, u, out)``, with -DLANES=8 ``tf_NAME_x8``.

        In NAME, ``:`` is ``__``.
        """
        return emit_c.c_source(self, functions)

    def chosen(self, functions=None) -> list[Function]:
        """Validate the program and return functions by name, by default all."""
        self.validate()
        names = list(self.functions) if functions is None else [*map(name_of, functions)]
        for name in names:
            if name not in self.functions:
                wrong, known = f"{name!r}{similar(name, ARGUMENTS)}", ", ".join(self.functions)
                raise CodegenError(f"the program does not have the function {wrong}; it has {known}")
        return [self.functions[name] for name in names]

    def shapes_of(self, function: Function) -> list[tuple[int, ...]]:
        """Return the shapes of the results of a function or of the parts of a group."""
        tree, supports = Tree(self.parent), dict(self.frames)
        given = (tree, len(self.tips), self.loops, len(self.joints), self.nq, supports)
        return [shape for name in function.parts for shape in shapes_of(name, *given)]

    def save(self, path) -> None:
        """Write to a file of arrays, without pickled objects, atomically."""
        head = {name: getattr(self, name) for name in PLAIN}
        head |= {"format": FORMAT, "functions": []}
        arrays: dict[str, Any] = {"parent": self.parent}
        for k, function in enumerate(self.functions.values()):
            plain = {name: getattr(function, name) for name in ("name", "inputs", "shape", "variant")}
            plain |= {"group": function.group} if function.group else {}
            head["functions"].append(plain)
            arrays |= {f"{k}.{column}": getattr(function, column) for column in COLUMNS}
        with replacing(Path(path)) as draft, open(draft, "wb") as file:
            np.savez_compressed(file, head=np.array(json.dumps(head)), **arrays)

    @classmethod
    def load(cls, path) -> Program:
        """Read a program from a file that `save` has written.

        Raises
        ------
        CodegenError
            If the file is something else, or its content is not a valid program.
        """
        import zipfile  # they take longer to import than most of this package
        import zlib

        try:
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                head = json.loads(str(file["head"]))
                if head["format"] != FORMAT:
                    raise CodegenError(f"{path}: format {head['format']}, expected {FORMAT}")
                functions = [_function(file, k, **plain) for k, plain in enumerate(head["functions"])]
                program = cls(
                    str(head["model"]),
                    np.array(Tree(file["parent"]).parent),
                    int(head["nq"]),
                    int(head["nv"]),
                    tuple(map(str, head["tips"])),
                    float(head["snapped"]),
                    {function.name: function for function in functions},
                    tuple((str(name), str(kind)) for name, kind in head["loops"]),
                    tuple(map(str, head["independent"])),
                    tuple(map(str, head.get("joints", ()))),  # these are absent in files of release 0.1
                    tuple((str(name), int(sign)) for name, sign in head.get("branch", ())),
                    tuple((str(name), tuple(map(int, at))) for name, at in head.get("frames", ())),
                )
        except (*NO_PROGRAM, zipfile.BadZipFile, zlib.error) as error:
            if isinstance(error, FileNotFoundError | CodegenError):
                raise
            raise CodegenError(f"{path} was not written by Program.save, or is damaged ({error})") from error
        program.validate()
        return program

    def validate(self) -> None:
        """Raise CodegenError if the statements, arguments or results are not valid."""
        if len(self.parent) != self.nv:
            raise CodegenError(f"expected {self.nv} parents, as many as freedoms, got {len(self.parent)}")
        for name, kind in self.loops:
            if kind not in LOOPS:
                raise CodegenError(f"loop {name!r} must have a kind among {', '.join(LOOPS)}, got {kind!r}")
        for name, columns in self.frames:
            if any(not 0 <= k < self.nv for k in columns) or list(columns) != sorted(set(columns)):
                raise CodegenError(f"frame {name!r} must have ascending columns of v, got {columns}")
        for name, function in self.functions.items():
            self._require_fitting(name, function)
            fault = function.fault()
            if fault:
                raise CodegenError(f"{name}: {fault}")
            if (np.abs(function.b[function.op == RECIP], dtype=float) > self.nv).any():
                raise CodegenError(f"{name}: a pivot does not belong to a freedom")
            closed = function.b[function.op == SQRT]
            if ((closed < 1) | (closed > len(self.loops))).any():
                raise CodegenError(f"{name}: a square root does not belong to a loop")

    def _require_fitting(self, name: str, function: Function) -> None:
        """Raise CodegenError unless the name, arguments and shape of a function fit the model."""
        fits = name == name_of(function.parts) and all(map(self._is_known, function.parts))
        if fits:
            sizes = argument_sizes(self.nq, self.nv)
            inputs = tuple((x, sizes[x]) for x in arguments_of(function.parts))
            fits = function.inputs == inputs and function.shape == joint_shape(self.shapes_of(function))
        if not fits:
            raise CodegenError(f"{name}: its arguments or its result do not fit the model")

    def _is_known(self, name: str) -> bool:
        """Return whether a function exists, and its frame is one of the program's."""
        function = FrameFunction.of(name)
        return name in ARGUMENTS if function is None else function.frame in dict(self.frames)


def _function(file, k: int, name, inputs, shape, variant, group=()) -> Function:
    """Read function number k of a file."""
    columns: dict[str, Any] = {column: np.ascontiguousarray(file[f"{k}.{column}"]) for column in COLUMNS}
    for column, dtype in COLUMNS.items():
        if columns[column].dtype != dtype or columns[column].ndim != 1:
            raise CodegenError(f"{name}: column {column} must be a vector of {np.dtype(dtype).name}")
    inputs = tuple((str(argument), int(size)) for argument, size in inputs)
    made = Function(str(name), inputs, **columns, shape=tuple(map(int, shape)), variant=str(variant))
    return replace(made, group=tuple(map(str, group)))
