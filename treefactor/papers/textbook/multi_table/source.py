"""Final passes of section 5: count uses, name expressions, inline those used once, write the procedure."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ....tree.tree import OperationCount
from .tables import AUXILIARY, TARGET, TEMPORARY, Expression, Tables

KINDS = {"+": "add", "-": "add", "*": "mul", "/": "div", "c": "trig", "s": "trig"}
FUNCTIONS = {"c": "cos", "s": "sin"}
OPERATIONS = {  # of values; a row without operation is a copy
    **{"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv},
    **{"c": lambda x, _: math.cos(x), "s": lambda x, _: math.sin(x), " ": lambda x, _: x},
}


@dataclass(frozen=True)
class Procedure:
    """Generated procedure: statements, its operations, and the values it shares with others.

    Attributes
    ----------
    text : str
        One assignment to a scalar for each line.
    operations : OperationCount
    used : int
        Rows of SET that are used.
    """

    text: str
    operations: OperationCount
    used: int

    def execute(self, memory: Mapping[str, float]) -> dict[str, float]:
        """Return all variables after the procedure has run; memory holds its external scalars."""
        variables = {"sin": math.sin, "cos": math.cos, **memory}
        exec(self.text, variables)  # a text of names and operators that `written` has made
        return {name: value for name, value in variables.items() if isinstance(value, float)}


def written(tables: Tables) -> Procedure:
    """Finish the tables, and write the procedure of all target matrices in MPT."""
    rows = tables.SET
    add_copies(tables)
    for row in tables.MPT:
        if row.T == TARGET:
            for element in tables.MET[row.begin - 1 : row.end]:
                if abs(element.C) == tables.C_TSV:
                    rows[element.I - 1].U = 1
    count_uses(tables)
    name_expressions(tables)
    lines = []
    for row in rows:
        if row.U:
            row.text = expression(tables, row)
            if row.C_S:
                lines.append(f"{tables.IDT[row.C_S - 1].S} = {row.text};\n")
    kinds = Counter(KINDS[row.O] for row in rows if row.U and row.O in KINDS)
    return Procedure("".join(lines), OperationCount(**kinds), sum(row.U > 0 for row in rows))


def add_copies(tables: Tables) -> None:
    """Append rows without an operation for elements of target matrices that no expression defines."""
    # The paper has such rows for numbers. An element that is an external variable, the negative of a
    # temporary, or a temporary that another element of a target names, needs one as well.
    for row in tables.MPT:
        if row.T != TARGET:
            continue
        for element in tables.MET[row.begin - 1 : row.end]:
            named = element.C == tables.C_TSV and (
                (tables.SET[element.I - 1].C_RM, tables.SET[element.I - 1].I_RM) == (row.C, element.L)
            )
            if not named and (element.C or element.N):
                copy = Expression(element.N, element.C, element.I, " ", 0, 0, 1, row.C, element.L)
                tables.SET.append(copy)


def count_uses(tables: Tables) -> None:
    """Count the uses of expressions from the last row to the first; rows that stay at 0 are unused."""
    for row in reversed(tables.SET):
        if row.U:
            for C, I in ((row.C1, row.I1), (row.C2, row.I2)):
                if abs(C) == tables.C_TSV:
                    tables.SET[I - 1].U += 1


def name_expressions(tables: Tables) -> None:
    """Turn elements of matrices, and temporaries used more than once, into scalar variables."""
    shapes = {row.C: (row.I, row.J) for row in tables.MPT}
    given: Counter[str] = Counter()
    for number, row in enumerate(tables.SET, 1):
        if not row.U or (not row.C_RM and row.U == 1):
            continue
        if not row.C_RM:
            row.C_RM, row.I_RM = tables.C_TSV, number
        matrix = tables.IDT[row.C_RM - 1]
        is_vector = shapes.get(row.C_RM) == (3, 1) and not matrix.E
        S = f"{matrix.S}{'xyz'[row.I_RM - 1]}" if is_vector else f"{matrix.S}_{row.I_RM}"
        given[S] += 1
        if tables.readings.own_names and given[S] > 1:
            S = f"{S}_{given[S]}v"  # no identifier of a matrix has this form
        # IDT has one row of type 1, that of the array of temporaries: as scalars they are of type 2
        row.C_S = tables.identifier(S, 0, AUXILIARY if matrix.T == TEMPORARY else matrix.T, matrix.E)


def expression(tables: Tables, row: Expression) -> str:
    """Return the right-hand side of a row."""
    first = first_operand(tables, row)
    if row.O in FUNCTIONS:
        return f"{FUNCTIONS[row.O]}({first})"
    if not row.C2:
        return first
    return f"{first}{row.O}{operand(tables, row.C2, row.I2, row.O, second=True)}"


def first_operand(tables: Tables, row: Expression) -> str:
    """Return the first operand with its sign."""
    if not row.C1:
        return repr(row.N)
    text = operand(tables, row.C1, row.I1, "*" if row.C1 < 0 else row.O)
    return f"-{text}" if row.C1 < 0 else text


def operand(tables: Tables, C: int, I: int, O: str, second: bool = False) -> str:
    """Return the name of an operand, or the expression of one that is used once, in parentheses if needed."""
    if abs(C) != tables.C_TSV:
        return tables.IDT[abs(C) - 1].S
    row = tables.SET[I - 1]
    if row.C_S:
        return tables.IDT[row.C_S - 1].S
    enclosed = O in "*/" or (second and O == "-" and tables.readings.parentheses)
    return f"({row.text})" if enclosed else row.text


def values(tables: Tables, memory: Mapping[str, float]) -> list[float]:
    """Return the values of all rows of SET, used or not, to verify matrices whose elements they are."""
    results: list[float] = []
    for row in tables.SET:
        x = value(tables, row.C1, row.I1, results, memory) if row.C1 else row.N
        y = value(tables, row.C2, row.I2, results, memory) if row.C2 else 0.0
        results.append(OPERATIONS[row.O](x, y))
    return results


def value(tables: Tables, C: int, I: int, results: list[float], memory: Mapping[str, float]) -> float:
    """Return the value of a temporary or external variable with its sign."""
    x = results[I - 1] if abs(C) == tables.C_TSV else memory[tables.IDT[abs(C) - 1].S]
    return x if C > 0 else -x
