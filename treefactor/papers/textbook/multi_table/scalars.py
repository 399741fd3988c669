"""Scalar symbolic processor of section 3: sums, products and reciprocals of coded operands."""

from __future__ import annotations

from dataclasses import dataclass

from ....exceptions import CodegenError

UNIT = 1e-10  # a product of numbers this close to 1 or -1 is 1 or -1


@dataclass(frozen=True)
class Readings:
    """Steps that the paper leaves open, or prints in two ways.

    Attributes
    ----------
    signs_of_elements : bool
        The sign of a product is that of the element, as in the matrix of figure 1; or its row has a negative
        first operand, as in the multiplication that section 3 prints.
    cancelling : bool
        x - x is 0. The printed addition orders operands of different indices only, and so does not say.
    signed_units : bool
        A product of numbers within 1e-10 of -1 is -1; as printed it is 1.
    rounded_frames : bool
        Entries of gamma within 1e-10 of 0, 1 or -1 are rounded: the paper takes them as 0 or 1.
    parentheses : bool
        A sum that is inlined after a minus is put in parentheses; as printed, only in products.
    own_names : bool
        An identifier that another expression has gets a number; as printed, auxiliary matrices of all bodies
        share their identifiers, and a value that is used later may be overwritten.
    composites : bool
        Columns of H are moments of composite bodies (Walker & Orin's third method), or forces of the bodies
        for a unit acceleration, one forward and one backward loop for each column, as figure 2 describes.
    mirrored : bool
        The matrix processor computes one triangle of N_tt, N_rr and composite tensors; or both, in which the
        same products are grouped in two ways.
    own_tables : bool
        Each procedure has its own tables, or all share one set.
    """

    signs_of_elements: bool = True
    cancelling: bool = True
    signed_units: bool = True
    rounded_frames: bool = True
    parentheses: bool = True
    own_names: bool = True
    composites: bool = False
    mirrored: bool = True
    own_tables: bool = True


class Scalar:
    """Operand (N, C, I): a number if C = 0, a scalar variable if I = 0, otherwise an element of an array."""

    __slots__ = ("C", "I", "N", "tables")

    def __init__(self, tables, N: float, C: int, I: int):
        self.tables, self.N, self.C, self.I = tables, N, C, I

    def same(self, other: Scalar) -> bool:
        """Return whether both are the same operand."""
        return (self.N, self.C, self.I) == (other.N, other.C, other.I)

    def is_number(self, value: float) -> bool:
        """Return whether this is that number."""
        return self.C == 0 and self.N == value

    def __neg__(self) -> Scalar:
        return Scalar(self.tables, -self.N if self.N else 0.0, -self.C, self.I)

    def __sub__(self, other: Scalar) -> Scalar:
        """Subtract: addition of the operand with the other sign."""
        return self + (-other)

    def __add__(self, other: Scalar) -> Scalar:
        tables = self.tables
        if not self.C and not other.C:
            return Scalar(tables, self.N + other.N, 0, 0)
        if self.is_number(0.0):
            return other
        if other.is_number(0.0):
            return self
        if not self.C or not other.C:
            number, x = (self, other) if not self.C else (other, self)
            return tables.temporary(number.N, 0, 0, "-" if x.C < 0 else "+", abs(x.C), x.I)
        if tables.readings.cancelling and (self.C, self.I) == (-other.C, other.I):
            return Scalar(tables, 0.0, 0, 0)
        x, y = ordered(self, other)
        return tables.temporary(0.0, x.C, x.I, "-" if y.C < 0 else "+", abs(y.C), y.I)

    def __mul__(self, other: Scalar) -> Scalar:
        tables = self.tables
        if not self.C and not other.C:
            return Scalar(tables, product(self.N, other.N, tables.readings.signed_units), 0, 0)
        for number, x in ((self, other), (other, self)):
            if number.C == 0 and number.N in (0.0, 1.0, -1.0):
                return Scalar(tables, 0.0, 0, 0) if number.N == 0.0 else x if number.N > 0 else -x
        for inverse, x in ((self, other), (other, self)):
            row = tables.SET[inverse.I - 1] if abs(inverse.C) == tables.C_TSV else None
            if row is not None and row.O == "/" and (row.C2, row.I2) == (abs(x.C), x.I):
                sign = row.N * (1 if inverse.C * x.C > 0 else -1)
                return Scalar(tables, sign, 0, 0)
        if not self.C or not other.C:
            number, x = (self, other) if not self.C else (other, self)
            return self._signed(number.N * x.C < 0, abs(number.N), 0, 0, "*", abs(x.C), x.I)
        x, y = ordered(self, other)
        return self._signed(x.C * y.C < 0, 0.0, abs(x.C), x.I, "*", abs(y.C), y.I)

    def _signed(self, negative: bool, N: float, C1: int, *rest) -> Scalar:
        """Return a product whose sign the element has, or the first operand of its row."""
        if not negative:
            return self.tables.temporary(N, C1, *rest)
        if self.tables.readings.signs_of_elements:
            return -self.tables.temporary(N, C1, *rest)
        return self.tables.temporary(-N if N else 0.0, -C1, *rest)

    def reciprocal(self) -> Scalar:
        """Return 1 / x."""
        if self.C:
            return self.tables.temporary(1.0 if self.C > 0 else -1.0, 0, 0, "/", abs(self.C), self.I)
        if self.N == 0.0:
            raise CodegenError("the reciprocal of 0 does not exist: a joint moves no mass")
        return Scalar(self.tables, 1.0 / self.N, 0, 0)


def ordered(x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    """Return two operands by index; two scalar variables, for which the paper has no rule, by code."""
    return (x, y) if (x.I, abs(x.C)) <= (y.I, abs(y.C)) else (y, x)


def product(x: float, y: float, signed: bool) -> float:
    """Return the product of two numbers; 1 or -1 where it is within `UNIT` of that."""
    z = x * y
    if abs(abs(z) - 1.0) <= UNIT:
        return -1.0 if signed and z < 0 else 1.0
    return z
