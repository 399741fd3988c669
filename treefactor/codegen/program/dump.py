"""The tables of a function as text, to be read beside the paper of Golubev & Yaskevich."""

from __future__ import annotations

from .expressions import CONST, INPUT, OPERATIONS
from .passes import uses

SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "RECIP": "/", "SIN": "sin", "COS": "cos"}


def dump(function, names=()) -> str:
    """Identifiers (IDT), scalar expressions (SET) and elements of the result (MET) of a `Function`.

    Rows are numbered as the paper does, from 1. An operand is a number, an entry of an identifier or, in
    parentheses, an earlier row of the SET; ``/`` is one over its operand. Uses are the paper's U_SET.
    Elements may have names, as those of `verification.Verifiable` do.
    """
    return "\n".join([*_identifiers(function), "", *_expressions(function), "", *_elements(function, names)])


def _identifiers(function) -> list[str]:
    """Name, length, and kind: 0 source, 4 target; all of them external."""
    lines = ["IDT  name  length  kind"]
    for number, (name, size) in enumerate((*function.inputs, (function.name, function.output.size)), 1):
        lines.append(f"{number}  {name}  {size}  {0 if number <= len(function.inputs) else 4}")
    return lines


def _expressions(function) -> list[str]:
    lines, used = ["SET  operation  operand1  operand2  uses"], uses(function)
    for row in range(function.first, function.rows):
        sign, a, b = SIGNS[OPERATIONS[function.op[row]]], function.a[row], function.b[row]
        second = _operand(function, b) if sign in "+-*" else "."
        lines.append(f"{row - function.first + 1}  {sign}  {_operand(function, a)}  {second}  {used[row]}")
    return lines


def _elements(function, names) -> list[str]:
    lines = [f"MET  {function.name}{function.shape}"]
    for entry, (row, sign) in enumerate(zip(function.output, function.sign, strict=True), 1):
        element = f"{entry}  {'-' if sign < 0 else ''}{_operand(function, row)}"
        lines.append(f"{element}  {names[entry - 1]}" if names else element)
    return lines


def _operand(function, row: int) -> str:
    """A number, an entry of an input, or the number of a row in parentheses."""
    if function.op[row] == CONST:
        return repr(float(function.value[row]))
    if function.op[row] == INPUT:
        return f"{function.inputs[function.a[row]][0]}[{function.b[row] + 1}]"
    return f"({row - function.first + 1})"
