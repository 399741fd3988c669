"""From rows to instructions of the register machine of ``kernels/interpreter/machine.h``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exceptions import CodegenError
from ..program.expressions import CONST, INPUT
from ..program.passes import uses
from ..program.program import Function
from ._lower import END, SINCOS, allocate, fuse, schedule

MOST = 2**24  # slots of arguments


@dataclass(frozen=True, eq=False)
class Code:
    """A function as instructions on slots: its arguments, then numbers, then what is computed.

    Attributes
    ----------
    constants : ndarray
        The first one is 0.
    slots : int
    words : ndarray of int32
        The instructions, see ``kernels/interpreter/machine.h``.
    output : ndarray of int32
        Slots of the results.
    zero : int
        Slot of the number 0.
    """

    constants: np.ndarray
    slots: int
    words: np.ndarray
    output: np.ndarray
    zero: int


def lower(function: Function) -> Code:
    """Fuse, order and place the rows of a function.

    Raises
    ------
    CodegenError
        Where the arguments are too large.
    """
    sizes = [size for _, size in function.inputs]
    if not all(0 <= size < MOST for size in sizes):
        raise CodegenError(f"{function.name}: arguments of {sizes} entries")
    op, given = function.op, function.op == INPUT
    constants = np.append(0.0, function.value[op == CONST])
    zero = sum(sizes)
    slot = np.full(function.rows, -1, np.intc)
    slot[op == CONST] = zero + np.arange(1, constants.size)
    slot[given] = np.cumsum([0, *sizes])[function.a[given]] + function.b[given]

    opcode, operand, result = fuse(op, function.a, function.b, uses(function))
    order, first = schedule(opcode, operand, result, function.rows)
    opcode, operand, result = opcode[order], operand[order], result[order]
    kept = np.append(function.output, np.flatnonzero(op == CONST)).astype(np.intc)
    slots = allocate(operand, result, slot, kept, zero + constants.size)
    unwanted = (result < 0) & (opcode == SINCOS)[:, None]  # a sine without cosine, or the reverse
    result[unwanted], slot, slots = function.rows, np.append(slot, slots), int(slots + unwanted.any())
    return Code(constants, slots, _words(opcode, operand, result, slot, first), slot[function.output], zero)


def _words(opcode, operand, result, slot, first) -> np.ndarray:
    """Runs of equal opcodes, of which these are the first ones, each with its head."""
    rows = np.concatenate([result, operand], axis=1)
    there = rows >= 0
    length = np.append(0, np.cumsum(there.sum(1)))
    heads = np.stack([opcode[first], np.diff(first, append=opcode.size)], axis=1)
    words = np.insert(slot[rows[there]], np.repeat(length[first], 2), heads.ravel())
    return np.concatenate([words, [END, 0]]).astype(np.int32)
