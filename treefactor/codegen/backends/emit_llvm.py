"""Write programs as LLVM intermediate representation and compile them, for one configuration or several."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import CodegenError
from ..program.blocks import Block, Trig, split_into_blocks
from ..program.expressions import ADD, ATAN2, CONST, COS, INPUT, MUL, RECIP, SQRT, SUB
from ..program.names import identifier
from ..program.precision import DOUBLE, Precision
from ._routine import atan2_address, sincos_address
from .addresses import MachineCode

if TYPE_CHECKING:
    from llvmlite.binding import ExecutionEngine

OPCODES = {ADD: "fadd", SUB: "fsub", MUL: "fmul"}
LETTERS = ("q", "v", "u")
# type and suffix of the square root by number of lanes: 16 in single precision
ROOTS = {1: ("double", "f64"), 8: ("<8 x double>", "v8f64"), 16: ("<16 x float>", "v16f32")}
LEVEL = 2  # optimization of code generation; no passes over the representation, which would find nothing


def ir(functions: Iterable, precision: Precision = DOUBLE) -> str:
    """Return LLVM assembly of functions `tf_NAME` and `tf_NAME_x8`, in single precision of `tf_NAME_x16`.

    It calls `tf_sincos` (n, x, s, c) and `tf_atan2` (n, y, x, angle) for numbers of the precision.
    """
    names = [f"{name}{suffix}" for name in ("sincos", "atan2") for suffix in ("", "_single")]
    lines = [f"declare void @tf_{name}(i64, ptr, ptr, ptr)" for name in names]
    lines += [f"declare {kind} @llvm.sqrt.{suffix}({kind})" for kind, suffix in ROOTS.values()] + [""]
    for function in functions:
        for lanes in (16,) if precision.is_single else (1, 8):
            lines += _function(function, lanes)
    lines.append('attributes #0 = { nounwind "min-legal-vector-width"="512" }')
    return "\n".join([*lines, 'attributes #1 = { noinline nounwind "min-legal-vector-width"="512" }', ""])


def compiled(program, functions: Iterable[str] | None = None, precision: Precision = DOUBLE) -> Compiled:
    """Compile functions of a program with LLVM for this processor.

    Parameters
    ----------
    program : Program
    functions : sequence of str, optional
        Names of functions of the program. Default: all.
    precision : Precision

    Raises
    ------
    CodegenError
        If llvmlite is not installed.
    """
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise CodegenError("llvmlite is missing: pip install 'treefactor[llvm]'") from error
    text = ir(program.chosen(functions), precision)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    suffix = "_single" * precision.is_single
    llvm.add_symbol(f"tf_sincos{suffix}", sincos_address(precision.is_single))
    llvm.add_symbol(f"tf_atan2{suffix}", atan2_address(precision.is_single))
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=LEVEL, jit=True
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return Compiled(engine, precision)


class Compiled(MachineCode):
    """Machine code of functions of a program; valid as long as this object exists.

    Parameters
    ----------
    engine : llvmlite.binding.ExecutionEngine
    precision : Precision
    """

    engine: ExecutionEngine

    def __init__(self, engine, precision: Precision):
        self._keep(engine=engine, precision=precision)

    def _address(self, symbol: str) -> int:
        return self.engine.get_function_address(symbol)


def _function(function, lanes: int) -> list[str]:
    """Write one function per block, and the function that calls them."""
    blocks, slots = split_into_blocks(function)
    name = identifier(function.name) + f"_x{lanes}" * (lanes > 1)
    parameters = ", ".join(f"ptr noalias %{x}" for x in (*LETTERS, "out", "w"))
    lines, calls = [], []
    for k, block in enumerate(blocks, start=1):
        lines += [f"define internal void @{name}_{k}({parameters}) #{1 if slots else 0} {{"]
        lines += [*_Lines(function, block, lanes).lines, "  ret void", "}", ""]
        calls.append(f"  call void @{name}_{k}({', '.join(f'ptr %{x}' for x in (*LETTERS, 'out', 'w'))})")
    lines += [f"define void @tf_{name}(ptr %q, ptr %v, ptr %u, ptr %out) #0 {{"]
    lines += [f"  %w = alloca [{slots * lanes} x {_number(lanes)}], align 64", *calls, "  ret void", "}", ""]
    return lines


def _number(lanes: int) -> str:
    """Return the type of a number."""
    return "float" if lanes == 16 else "double"


class _Lines:
    """Writes the LLVM instructions of a block.

    Parameters
    ----------
    function : Function
    block : Block
    lanes : int
        1, 8, or 16 in single precision.
    """

    def __init__(self, function, block: Block, lanes: int):
        self.op, self.a, self.b = (column.tolist() for column in (function.op, function.a, function.b))
        self.value, self.block, self.lanes = function.value.tolist(), block, lanes
        self.places = function.places
        self.bytes = 64 // max(lanes, 8)  # of a number
        self.kind, self.suffix = _number(lanes), "_single" if lanes == 16 else ""
        self.type = self.kind if lanes == 1 else f"<{lanes} x {self.kind}>"
        self.defined: set[str] = set()  # names that are already defined
        self.lines: list[str] = []
        for step in block.steps:
            if isinstance(step, Trig):
                self.sincos(step)
            else:
                self.compute(step)
        for entry in block.outputs:
            row, sign = int(function.output[entry]), function.sign[entry]
            operand = self.operand(row)
            if sign < 0:
                self.lines.append(f"  %o{entry} = fneg {self.type} {operand}")
                operand = f"%o{entry}"
            self.store(operand, "out", entry)

    def compute(self, row: int) -> None:
        """Write the instruction of a statement."""
        op, a = self.op[row], self.operand(self.a[row])
        if op == RECIP:
            self.reciprocal(row, a)
        elif op == SQRT:
            self.define(row, f"call {self.type} @llvm.sqrt.{ROOTS[self.lanes][1]}({self.type} {a})")
        elif op == ATAN2:
            self.arctangent(row, a, self.operand(self.b[row]))
        else:
            self.define(row, f"{OPCODES[op]} contract {self.type} {a}, {self.operand(self.b[row])}")

    def reciprocal(self, row: int, a: str) -> None:
        """Write 1 / a; for a pivot, or its negative, NaN unless the pivot is in (0, inf)."""
        division = f"fdiv {self.type} {self.number(1.0)}, {a}"
        if not self.b[row]:
            self.define(row, division)
            return
        flags = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        low, high = ("ogt", "olt") if self.b[row] > 0 else ("olt", "ogt")
        self.lines += [
            f"  %r{row} = {division}",
            f"  %l{row} = fcmp {low} {self.type} {a}, {self.number(0.0)}",
            f"  %h{row} = fcmp {high} {self.type} {a}, {self.number(math.copysign(math.inf, self.b[row]))}",
            f"  %g{row} = and {flags} %l{row}, %h{row}",
        ]
        self.define(row, f"select {flags} %g{row}, {self.type} %r{row}, {self.type} {self.number(math.nan)}")

    def arctangent(self, row: int, y: str, x: str) -> None:
        """Write one call for atan2(y, x)."""
        names = [f"{name}{row}" for name in ("rise", "run", "turn")]
        for name in names:
            self.lines.append(f"  %{name} = alloca [{self.lanes} x {self.kind}], align 64")
        for value, name in zip((y, x), names, strict=False):
            self.store(value, name, 0)
        pointers = ", ".join(f"ptr %{name}" for name in names)
        self.lines.append(f"  call void @tf_atan2{self.suffix}(i64 {self.lanes}, {pointers})")
        self.define(row, self.load(names[2], 0))

    def sincos(self, step: Trig) -> None:
        """Write one call for the sines and cosines of all angles."""
        n, first = len(step.angles), step.angles[0]
        angle, sine, cosine = (f"{name}{first}" for name in ("angle", "sine", "cosine"))
        for array in (angle, sine, cosine):
            self.lines.append(f"  %{array} = alloca [{n * self.lanes} x {self.kind}], align 64")
        for k, row in enumerate(step.angles):
            self.store(self.operand(row), angle, k)
        pointers = ", ".join(f"ptr %{name}" for name in (angle, sine, cosine))
        self.lines.append(f"  call void @tf_sincos{self.suffix}(i64 {n * self.lanes}, {pointers})")
        for row in step.rows:
            array = cosine if self.op[row] == COS else sine
            self.define(row, self.load(array, step.angles.index(self.a[row])))

    def operand(self, row: int) -> str:
        """Return the name of a statement's value, loaded if needed, or a number."""
        if self.op[row] == CONST:
            return self.number(self.value[row])
        name = f"%t{row}"
        if name not in self.defined:
            is_input = self.op[row] == INPUT
            letter, first = self.places[self.a[row]] if is_input else ("w", 0)
            place = letter, first + self.b[row] if is_input else self.block.taken[row]
            self.defined.add(name)
            self.lines.append(f"  {name} = {self.load(*place)}")
        return name

    def define(self, row: int, instruction: str) -> None:
        """Define the value of a statement, and store it if later blocks need it."""
        self.defined.add(f"%t{row}")
        self.lines.append(f"  %t{row} = {instruction}")
        if row in self.block.kept:
            self.store(f"%t{row}", "w", self.block.kept[row])

    def number(self, value: float) -> str:
        """Return a number, written by its bits as a double, also where it is a float."""
        value = float(np.float32(value)) if self.kind == "float" else value
        bits = f"0x{struct.pack('>d', value).hex().upper()}"
        return bits if self.lanes == 1 else f"<{', '.join([f'{self.kind} {bits}'] * self.lanes)}>"

    def load(self, array: str, entry: int) -> str:
        """Return the instruction that reads an entry."""
        return f"load {self.type}, ptr {self.address(array, entry)}, align {self.bytes}"

    def store(self, name: str, array: str, entry: int) -> None:
        """Write the instruction that stores an entry."""
        self.lines.append(f"  store {self.type} {name}, ptr {self.address(array, entry)}, align {self.bytes}")

    def address(self, array: str, entry: int) -> str:
        """Return the name of an entry's address."""
        name = f"%p_{array}_{entry}"
        if name not in self.defined:
            self.defined.add(name)
            self.lines.append(f"  {name} = getelementptr {self.kind}, ptr %{array}, i64 {entry * self.lanes}")
        return name
