"""Lower the statements of a function to instructions of ``kernels/interpreter/interpreter.h``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exceptions import CodegenError
from ..program.expressions import CONST, INPUT
from ..program.passes import uses
from ..program.program import Function
from ._lower import END, SINCOS, allocate, fuse, schedule

MOST = 2**24  # largest size of an argument


@dataclass(frozen=True, eq=False)
class Code:
    """Function as instructions on slots: arguments come first, then constants, then computed values.

    Attributes
    ----------
    constants : ndarray
        Values of the slots after the arguments; the first is 0.
    slots : int
        Number of slots.
    words : ndarray of int32
        Instructions, see ``kernels/interpreter/interpreter.h``.
    output : ndarray of int32
        Slots of the result entries.
    zero : int
        Slot of the constant 0.
    """

    constants: np.ndarray
    slots: int
    words: np.ndarray
    output: np.ndarray
    zero: int


def lower(function: Function) -> Code:
    """Fuse and order the statements of a function, and allocate their slots.

    Raises
    ------
    CodegenError
        If an argument has 2^24 entries or more.
    """
    sizes = [size for _, size in function.inputs]
    if not all(0 <= size < MOST for size in sizes):
        raise CodegenError(f"{function.name}: arguments have {sizes} entries; expected less than {MOST} each")
    op, is_input = function.op, function.op == INPUT
    constants = np.append(0.0, function.value[op == CONST])
    zero = sum(sizes)
    slot = np.full(function.rows, -1, np.intc)
    slot[op == CONST] = zero + np.arange(1, constants.size)
    slot[is_input] = np.cumsum([0, *sizes])[function.a[is_input]] + function.b[is_input]

    opcode, operand, result = fuse(op, function.a, function.b, uses(function))
    order, first = schedule(opcode, operand, result, function.rows)
    opcode, operand, result = opcode[order], operand[order], result[order]
    kept = np.append(function.output, np.flatnonzero(op == CONST)).astype(np.intc)
    slots = allocate(operand, result, slot, kept, zero + constants.size)
    unwanted = (result < 0) & (opcode == SINCOS)[:, None]  # sine or cosine that nothing uses
    result[unwanted], slot, slots = function.rows, np.append(slot, slots), int(slots + unwanted.any())
    return Code(constants, slots, _words(opcode, operand, result, slot, first), slot[function.output], zero)


def _words(opcode, operand, result, slot, first) -> np.ndarray:
    """Encode runs of equal opcodes, which start at `first`: a head (opcode, count), then slots."""
    rows = np.concatenate([result, operand], axis=1)
    present = rows >= 0
    length = np.append(0, np.cumsum(present.sum(1)))
    heads = np.stack([opcode[first], np.diff(first, append=opcode.size)], axis=1)
    words = np.insert(slot[rows[present]], np.repeat(length[first], 2), heads.ravel())
    return np.concatenate([words, [END, 0]]).astype(np.int32)
