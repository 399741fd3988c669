"""Count the operations of an algorithm by running it on scalars that tally them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np


class Counting:
    """Float that tallies each of its operations as mul, add, div, sqrt or trig; a subtraction is an add."""

    __slots__ = ("tally", "value")

    def __init__(self, value: float, tally: Counter):
        self.value = float(value)
        self.tally = tally

    def _count(self, kind: str, value: float) -> Counting:
        self.tally[kind] += 1
        return Counting(value, self.tally)

    def __add__(self, other: Counting) -> Counting:
        self.tally["add"] += 1
        return Counting(self.value + other.value, self.tally)

    def __sub__(self, other: Counting) -> Counting:
        self.tally["add"] += 1
        return Counting(self.value - other.value, self.tally)

    def __mul__(self, other: Counting) -> Counting:
        self.tally["mul"] += 1
        return Counting(self.value * other.value, self.tally)

    def __truediv__(self, other: Counting) -> Counting:
        return self._count("div", self.value / other.value)

    def sqrt(self) -> Counting:
        """Return the square root."""
        return self._count("sqrt", math.sqrt(self.value))

    def sincos(self) -> tuple[Counting, Counting]:
        """Return sine and cosine."""
        return self._count("trig", math.sin(self.value)), self._count("trig", math.cos(self.value))

    def __neg__(self) -> Counting:
        """Return the negative without counting: a later sum subtracts instead."""
        return Counting(-self.value, self.tally)

    def __float__(self) -> float:
        return self.value


class Tallying:
    """Scalar without a value, for every number: operations are counted, and nothing is computed."""

    __slots__ = ("add", "div", "mul", "sqrts")

    def __init__(self) -> None:
        self.add = self.div = self.mul = self.sqrts = 0

    def __sub__(self, other: Tallying) -> Tallying:
        self.add += 1
        return self

    __add__ = __sub__

    def __mul__(self, other: Tallying) -> Tallying:
        self.mul += 1
        return self

    def __truediv__(self, other: Tallying) -> Tallying:
        self.div += 1
        return self

    def sqrt(self) -> Tallying:
        """Count a square root."""
        self.sqrts += 1
        return self


def counting(array: np.ndarray, tally: Counter) -> np.ndarray:
    """Return an object array of counting scalars that share one tally."""
    result = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        result[index] = Counting(value, tally)
    return result


def zero_of(x):
    """Return the zero of the type of x."""
    return Counting(0.0, x.tally) if isinstance(x, Counting) else type(x)(0)


def sqrt(x):
    """Return the square root of a number of any type."""
    return x.sqrt() if hasattr(x, "sqrt") else math.sqrt(x)
