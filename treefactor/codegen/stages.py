"""Write the text of a program after each stage of its generation, for readers and for comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from ..tolerances import SNAP
from .choices import VARIANTS, Choice
from .derivatives import compared
from .lower._lower import ARCTANGENT, END, RECIPROCALS, ROOT, SCALED, SINCOS
from .lower.lowering import Code, lower
from .program import passes
from .program._table import Scalar, use_counts
from .program.emit_c import file_names, plain
from .program.expressions import ADD, CONST, INPUT, OPERATIONS, is_binary
from .program.program import Function, operation_count
from .selection import Cheapest
from .writer import Writer, written

SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*"}
UNARY = {SINCOS: "sincos", ROOT: "sqrt", **dict.fromkeys(RECIPROCALS, "1 /")}


def stages(
    model,
    functions=None,
    tips=(),
    variants=tuple(VARIANTS),
    snap: float = SNAP,
    independent=None,
    branch=None,
) -> dict[str, str]:
    """Return the text of a program after each stage of its generation, by file name.

    Parameters
    ----------
    model, functions, tips, variants, snap, independent, branch
        See `treefactor.generate`.

    Returns
    -------
    dict of str to str
        "variants.txt": operations of every function for all variants and methods; the fewest are kept.
        For every variant of which a function is kept, "VARIANT-1-recorded.txt": all statements of the
        recursions, equal expressions shared, with the names of the matrix elements they hold. For every
        function "NAME-2-used.txt", the statements of these that its result needs, under the same numbers;
        "NAME-3-gathered.txt", with common factors taken out of sums; and "NAME-4-instructions.txt", fused,
        ordered and on slots for the interpreter. The last stage of the C backend is its C text. In NAME
        ``:`` is ``__``, as in C.

    Raises
    ------
    CodegenError, TypeError, ValueError
        As `treefactor.generate`.

    Notes
    -----
    The stages of Golubev & Yaskevich (2020), section 3, with those of the interpreter.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.codegen import stages
    >>> slide = tf.Joint("slide", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(2.0))
    >>> print(stages(tf.Model([slide]), "rnea", variants="plain")["rnea-3-gathered.txt"])
    rnea: 1 multiplications, 1 additions, 0 divisions, 0 square roots, 0 sines, cosines, arc tangents
    t3 = a[0] + 9.81
    t4 = t3 * 2.0
    out[0] = t4
    <BLANKLINE>
    """
    choice = Choice.of(model, functions, tips, variants, snap, independent, branch)
    cheapest, lines = Cheapest(choice), []
    for writer, function in written(model, choice, named=True):
        own = compared(function)
        lines.append(f"{function.name:<16} {function.variant:<17} {_counts(own.op)}")
        cheapest.add(own, (writer, function, own))
    kept = cheapest.forms()
    lines += [f"{name}: {function.variant} is kept" for name, (_, function, _) in kept.items()]
    texts = {"variants.txt": _text(lines)}
    for (writer, function, own), file in zip(kept.values(), file_names(kept), strict=True):
        variant = function.variant.split(",")[0]
        recorded = f"{variant}-1-recorded.txt"
        if recorded not in texts:
            texts[recorded] = _recorded(writer, f"all functions, {variant}")
        name, gathered = file.removesuffix(".c"), passes.gather(own)
        texts[f"{name}-2-used.txt"] = _used(writer, function)
        texts[f"{name}-3-gathered.txt"] = _gathered(gathered)
        texts[f"{name}-4-instructions.txt"] = _instructions(gathered)
    return texts


def _text(lines) -> str:
    """Return lines as the text of a file."""
    return "\n".join([*lines, ""])


def _counts(op) -> str:
    """Describe the operation counts of statements."""
    count = operation_count(np.asarray(op))
    return (
        f"{count.mul} multiplications, {count.add} additions, {count.div} divisions, "
        f"{count.sqrt} square roots, {count.trig} sines, cosines, arc tangents"
    )


def _recorded(writer: Writer, what: str) -> str:
    """Return all statements of a table."""
    op = writer.table.columns()[0]
    return _text([f"{what}: {_counts(op[1:])}", *_statements(writer, range(1, op.size))])


def _used(writer: Writer, function: Function) -> str:
    """Return the statements of a table that a result needs, and the result."""
    result = writer.results[function.name, function.variant]
    codes = writer.table.codes(result)
    op, a, b = writer.table.columns()
    rows = np.flatnonzero(use_counts(op, a, b, codes))
    operands = _Operands(op, a, b, _values(op, a, b), list(writer.sizes))
    results = [
        f"out[{k}] = {'-' if code < 0 else ''}{operands.text(abs(code))}" for k, code in enumerate(codes)
    ]
    return _text([f"{function.name}: {_counts(op[rows])}", *_statements(writer, rows), *results])


def _values(op, a, b) -> np.ndarray:
    """Return the numbers of constant statements, stored as two halves; 0 of others."""
    halves = np.stack([a, b], axis=1).astype(np.int32).view(np.float64)[:, 0]
    return np.where(op == CONST, halves, 0.0)


def _statements(writer: Writer, rows) -> Iterator[str]:
    """Yield the lines of statements of a table, with the names of the elements they hold."""
    op, a, b = writer.table.columns()
    operands = _Operands(op, a, b, _values(op, a, b), list(writer.sizes))
    names: dict[int, list[str]] = {}
    for matrix, content in (writer.named or {}).items():
        for at, x in _elements(content):
            if isinstance(x, Scalar):
                name = f"{'-' if x.code < 0 else ''}{plain_name(matrix)}{at}"
                names.setdefault(abs(x.code), []).append(name)
    for row in rows:
        if op[row] >= ADD:
            comment = ", ".join(names.get(int(row), ()))
            yield operands.statement(row) + (f"    # {comment}" if comment else "")


def plain_name(matrix: str) -> str:
    """Return the name of a matrix; joints in it are the user's and are made safe for a text file."""
    return "".join(x if x in "[]" else plain(x) for x in matrix)


def _elements(matrix, at: str = "") -> Iterator[tuple[str, object]]:
    """Yield index and value of the elements of nested lists and dicts."""
    if isinstance(matrix, dict):
        parts = list(matrix.items())
    elif isinstance(matrix, list | tuple):
        parts = list(enumerate(matrix))
    else:
        yield at, matrix
        return
    for k, part in parts:
        yield from _elements(part, f"{at}[{k}]")


def _gathered(function: Function) -> str:
    """Return the statements of a function and its result."""
    arguments = [name for name, _ in function.inputs]
    operands = _Operands(function.op, function.a, function.b, function.value, arguments)
    lines = [operands.statement(row) for row in range(function.first, function.rows)]
    results = [
        f"out[{k}] = {'-' if sign < 0 else ''}{operands.text(row)}"
        for k, (row, sign) in enumerate(zip(function.output, function.sign, strict=True))
    ]
    return _text([f"{function.name}: {_counts(function.op)}", *lines, *results])


class _Operands:
    """Texts of statements and operands; ``arguments`` are the names of the arguments by number."""

    def __init__(self, op, a, b, value, arguments: Sequence[str]):
        self.op, self.a, self.b, self.value, self.arguments = op, a, b, value, arguments

    def text(self, row: int) -> str:
        """Return the text of an operand: a number, an entry of an argument, or a statement."""
        if self.op[row] == CONST:
            return repr(float(self.value[row]))
        if self.op[row] == INPUT:
            return f"{self.arguments[self.a[row]]}[{self.b[row]}]"
        return f"t{row}"

    def statement(self, row: int) -> str:
        """Return the text of a statement."""
        name, left = OPERATIONS[self.op[row]], self.text(self.a[row])
        if name == "RECIP":
            return f"t{row} = 1 / {left}"
        if not is_binary(self.op[row]):
            return f"t{row} = {name.lower()}({left})"
        right = self.text(self.b[row])
        return (
            f"t{row} = {left} {SIGNS[name]} {right}" if name in SIGNS else f"t{row} = atan2({left}, {right})"
        )


def _instructions(function: Function) -> str:
    """Return the instructions of a function for the interpreter, one run of equal opcodes after the other."""
    code = lower(function)
    inputs = [f"{name}[{k}]" for name, size in function.inputs for k in range(size)]
    slots = chain(inputs, map(repr, code.constants.tolist()))
    names = dict(enumerate(slots))
    lines = [f"{function.name}: {code.slots} slots, of which {len(inputs)} arguments"]
    for run in _runs(code, names):
        lines += [f"run of {len(run)}:", *(f"    {line}" for line in run)]
    results = [
        f"out[{k}] = {'-' if sign < 0 else ''}{names.get(slot, f's{slot}')}"
        for k, (slot, sign) in enumerate(zip(code.output.tolist(), function.sign, strict=True))
    ]
    return _text([*lines, *results])


def _runs(code: Code, names: dict[int, str]) -> Iterator[list[str]]:
    """Yield the instructions of every run; slots that still hold arguments and constants have names."""
    words, at = code.words.tolist(), 0
    while words[at] != END:
        opcode, times = words[at : at + 2]
        opcode %= SCALED
        products, minus, plus, less = opcode >> 6, opcode >> 4 & 3, opcode >> 2 & 3, opcode & 3
        results = 2 if opcode == SINCOS else 1
        size = 1 if opcode in UNARY else 2 if opcode == ARCTANGENT else 2 * (products + minus) + plus + less
        run = []
        for first in range(at + 2, at + 2 + times * (results + size), results + size):
            x = [names.get(slot, f"s{slot}") for slot in words[first + results : first + results + size]]
            to = words[first : first + results]
            for slot in to:
                names.pop(slot, None)  # slots of arguments are reused
            targets = ", ".join(f"s{slot}" for slot in to)
            run.append(f"{targets} = {_right_side(opcode, x, products, minus, plus)}")
        yield run
        at += 2 + times * (results + size)


def _right_side(opcode: int, x: list[str], products: int, minus: int, plus: int) -> str:
    """Return the right side of an instruction with operands x."""
    if opcode in UNARY:
        return f"{UNARY[opcode]} {x[0]}"
    if opcode == ARCTANGENT:
        return f"atan2({x[0]}, {x[1]})"
    pairs = 2 * (products + minus)
    terms = [f"{x[k]} * {x[k + 1]}" for k in range(0, pairs, 2)] + x[pairs:]
    signs = ["+"] * products + ["-"] * minus + ["+"] * plus + ["-"] * (len(x) - pairs - plus)
    ordered = sorted(zip(signs, terms, strict=True), key=lambda term: term[0] == "-")
    first, *others = ordered
    return " ".join([first[1], *(f"{sign} {term}" for sign, term in others)])
