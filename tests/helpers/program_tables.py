"""Print the tables of a function in the notation of Golubev & Yaskevich (2020)."""

from __future__ import annotations

from treefactor.codegen.program.expressions import CONST, INPUT, OPERATIONS
from treefactor.codegen.program.passes import uses

SIGNS = {"ADD": "+", "SUB": "-", "MUL": "*", "RECIP": "/", "SIN": "sin", "COS": "cos"}
SIGNS |= {"SQRT": "sqrt", "ATAN2": "atan2"}


def tables(function, names=()) -> str:
    """Return identifiers (IDT), scalar expressions (SET) and result elements (MET) of a `Function` as text.

    Statements are numbered from 1, as in the paper. An operand is a number, an entry of an identifier or,
    in parentheses, an earlier statement of the SET; ``/`` is the reciprocal of its operand. Uses are the
    paper's U_SET. Elements may have names, for example those of `verification.Verifiable`.
    """
    return "\n".join([*_identifiers(function), "", *_expressions(function), "", *_elements(function, names)])


def _identifiers(function) -> list[str]:
    """Return name, length and kind of the identifiers: 0 source, 4 target; all are external."""
    lines = ["IDT  name  length  kind"]
    for number, (name, size) in enumerate((*function.inputs, (function.name, function.output.size)), 1):
        lines.append(f"{number}  {name}  {size}  {0 if number <= len(function.inputs) else 4}")
    return lines


def _expressions(function) -> list[str]:
    """Return the scalar expression table, one statement per line."""
    lines, used = ["SET  operation  operand1  operand2  uses"], uses(function)
    for row in range(function.first, function.rows):
        sign, a, b = SIGNS[OPERATIONS[function.op[row]]], function.a[row], function.b[row]
        second = _operand(function, b) if sign in ("+", "-", "*", "atan2") else "."
        lines.append(f"{row - function.first + 1}  {sign}  {_operand(function, a)}  {second}  {used[row]}")
    return lines


def _elements(function, names) -> list[str]:
    """Return the elements of the result, one per line."""
    lines = [f"MET  {function.name}{function.shape}"]
    for entry, (row, sign) in enumerate(zip(function.output, function.sign, strict=True), 1):
        element = f"{entry}  {'-' if sign < 0 else ''}{_operand(function, row)}"
        lines.append(f"{element}  {names[entry - 1]}" if names else element)
    return lines


def _operand(function, row: int) -> str:
    """Return a number, an entry of an input, or the number of a statement in parentheses."""
    if function.op[row] == CONST:
        return repr(float(function.value[row]))
    if function.op[row] == INPUT:
        return f"{function.inputs[function.a[row]][0]}[{function.b[row] + 1}]"
    return f"({row - function.first + 1})"
