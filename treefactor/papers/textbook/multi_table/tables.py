"""Tables of section 2: identifiers (IDT), scalar expressions (SET), matrices (MPT) and their elements (MET).

Rows are numbered from 1, so that code 0 is a number, and the sign of a code that of the operand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....exceptions import CodegenError
from .scalars import Readings, Scalar

SOURCE, TEMPORARY, AUXILIARY, INDEXED, TARGET = range(5)  # T_IDT, T_MPT and T_AMT
TEMPORARIES = "vv"  # the one identifier with T_IDT = 1


@dataclass
class Identifier:
    """Row of IDT: symbols S, their number is n; length D, type T, and E = 1 if it is external."""

    S: str
    D: int
    T: int
    E: int


@dataclass
class Expression:
    """Row of SET: N, or operand C1, I1; operation O; operand C2, I2; and what the last passes write.

    U counts the uses, C_RM and I_RM name the element that replaces the temporary, C_S is the scalar
    identifier of the result, and `text` the part of S_ESS that n_ESS,B and n_ESS,E bound.
    """

    N: float
    C1: int
    I1: int
    O: str
    C2: int
    I2: int
    U: int = 0
    C_RM: int = 0
    I_RM: int = 0
    C_S: int = 0
    text: str = ""


@dataclass
class Parameters:
    """Row of MPT: code of the identifier C, type T, largest indices I and J, first and last row in MET."""

    C: int
    T: int
    I: int
    J: int
    begin: int
    end: int


@dataclass
class Element:
    """Row of MET: index L in the matrix by columns, and a number N, or operand C, I."""

    L: int
    N: float = 0.0
    C: int = 0
    I: int = 0


class Tables:
    """IDT, SET, MPT and MET of one procedure, and the codes by which a row is found again.

    The paper compares a new row with all earlier ones; here a dictionary finds the same row, and `compared`
    counts the comparisons that a search from the first row takes.
    """

    def __init__(self, readings: Readings):
        self.readings = readings
        self.IDT: list[Identifier] = []
        self.SET: list[Expression] = []
        self.MPT: list[Parameters] = []
        self.MET: list[Element] = []
        self.compared = 0
        self._codes: dict[str, int] = {}
        self._rows: dict[tuple, int] = {}
        self.C_TSV = self.identifier(TEMPORARIES, 1, TEMPORARY)

    def identifier(self, S: str, D: int, T: int, E: int = 0) -> int:
        """Return the code of an identifier, the number of its row in IDT."""
        if S not in self._codes:
            if T == TEMPORARY and any(row.T == TEMPORARY for row in self.IDT):
                raise CodegenError(
                    f"IDT has one identifier of temporaries, {TEMPORARIES!r}; {S!r} is another"
                )
            self.IDT.append(Identifier(S, D, T, E))
            self._codes[S] = len(self.IDT)
        code = self._codes[S]
        if self.IDT[code - 1].T != T:
            raise CodegenError(f"identifier {S!r} has type {self.IDT[code - 1].T}, and cannot have type {T}")
        return code

    def row(self, *operation) -> int:
        """Return the number of the row of SET with an operation (N, C1, I1, O, C2, I2); write it if new."""
        number = self._rows.get(operation)
        self.compared += number or len(self.SET)
        if number is None:
            self.SET.append(Expression(*operation))
            number = self._rows[operation] = len(self.SET)
        return number

    def scalar(self, N: float = 0.0, C: int = 0, I: int = 0) -> Scalar:
        """Return an operand of the scalar processor."""
        return Scalar(self, float(N), C, I)

    def numbers(self, values) -> np.ndarray:
        """Return operands for an array of numbers."""
        coded = np.empty(np.shape(values), dtype=object)
        for index, x in np.ndenumerate(np.asarray(values, dtype=float)):
            coded[index] = self.scalar(x)
        return coded

    def temporary(self, *operation) -> Scalar:
        """Return the temporary that stands for an operation."""
        return self.scalar(C=self.C_TSV, I=self.row(*operation))

    def external(self, S: str) -> Scalar:
        """Return a scalar of the common memory."""
        return self.scalar(C=self.identifier(S, 0, SOURCE, 1))

    # ------------------------------------------------------------------------------------------- matrices

    def describe(self, S: str | None, T: int, shape: tuple[int, int]) -> int:
        """Write the description of a matrix of zeros; return its number. Constants have no identifier."""
        C = 0 if S is None or T == TEMPORARY else self.identifier(S, -1, T, int(T == TARGET))
        first = len(self.MET) + 1
        self.MET += [Element(L) for L in range(1, shape[0] * shape[1] + 1)]
        self.MPT.append(Parameters(C, T, *shape, first, len(self.MET)))
        return len(self.MPT)

    def read(self, number: int) -> np.ndarray:
        """Return the elements of a matrix as operands."""
        row = self.MPT[number - 1]
        elements = self.MET[row.begin - 1 : row.end]
        scalars = np.empty(len(elements), dtype=object)
        scalars[:] = [self.scalar(one.N, one.C, one.I) for one in elements]
        return scalars.reshape(row.I, row.J, order="F")

    def write(self, number: int, entries: np.ndarray) -> None:
        """Write all elements of a matrix."""
        row = self.MPT[number - 1]
        if entries.shape != (row.I, row.J):
            raise CodegenError(f"matrix {number} has shape {(row.I, row.J)}, and its entries {entries.shape}")
        for L, x in enumerate(entries.ravel(order="F"), 1):
            self.put(number, L, x)

    def put(self, number: int, L: int, x: Scalar) -> None:
        """Write one element, and name the temporary after it by the rules at the end of section 3."""
        row = self.MPT[number - 1]
        element = self.MET[row.begin + L - 2]
        element.N, element.C, element.I = x.N, x.C, x.I
        if x.C != self.C_TSV or row.T <= TEMPORARY:
            return
        expression = self.SET[x.I - 1]
        before = self.IDT[expression.C_RM - 1].T if expression.C_RM else SOURCE
        if before < row.T:  # no name yet, or that of a matrix of a lesser type
            expression.C_RM, expression.I_RM = row.C, L
