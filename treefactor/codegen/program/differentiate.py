"""Differentiate straight-line functions by their statements: forward along directions, in reverse by weights.

Both write to a table, and follow the statements of a finished `Function`, whatever it computes. Guards are
not differentiated: the derivative of the reciprocal x of a pivot is -x^2 with the guarded x, so that NaN of a
pivot that is not positive stays in the configuration it belongs to.

Griewank & Walther (2008), chapter 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..._util.messages import received
from . import passes
from .expressions import ADD, ATAN2, CONST, COS, INPUT, MUL, RECIP, SIN, SQRT, SUB, Table, sincos
from .program import Function

WEIGHTS = "w"  # argument of the gradient of a function
DIRECTION = "d"  # prefix that makes the name of a direction from the name of its argument


class Statements:
    """Statements of a function, written to a table on given arguments.

    Parameters
    ----------
    function : Function
    arguments : sequence of sequences of scalars
        Arguments of the function, in their order.
    """

    def __init__(self, function: Function, arguments: Sequence[Sequence]):
        self.function = function
        self.op, self.a, self.b = (x.tolist() for x in (function.op, function.a, function.b))
        scalars = self.scalars = function.value.tolist()
        for row, kind in enumerate(self.op):
            if kind == INPUT:
                scalars[row] = arguments[self.a[row]][self.b[row]]
            elif kind != CONST:
                scalars[row] = passes.applied(kind, scalars, self.a[row], self.b[row])

    @property
    def result(self) -> list:
        """Scalars of the result."""
        return self._signed(self.scalars)

    def _signed(self, x) -> list:
        """Return entries of the result from values of the statements."""
        ends = zip(self.function.output.tolist(), self.function.sign.tolist(), strict=True)
        return [x[row] if sign > 0 else -x[row] for row, sign in ends]

    def forward(self, directions: Sequence[Sequence]) -> list:
        """Return the derivative of the result along directions of the arguments."""
        derivatives: list = [0.0] * len(self.op)
        for row, kind in enumerate(self.op):
            if kind == INPUT:
                derivatives[row] = directions[self.a[row]][self.b[row]]
            elif kind in (ADD, SUB):
                derivatives[row] = passes.applied(kind, derivatives, self.a[row], self.b[row])
            elif kind != CONST:
                for operand, slope in self._slopes(row, derivatives):
                    derivatives[row] = derivatives[row] + slope() * derivatives[operand]
        return self._signed(derivatives)

    def reverse(self, weights: Sequence) -> list[list]:
        """Return the gradient of the weighted sum of the result, for every argument."""
        adjoints: list = [0.0] * len(self.op)
        for row, sign, weight in zip(self.function.output, self.function.sign, weights, strict=True):
            adjoints[row] = adjoints[row] + weight * float(sign)
        gradient: list[list] = [[0.0] * size for _, size in self.function.inputs]
        for row in reversed(range(len(self.op))):
            kind, share = self.op[row], adjoints[row]
            if kind == INPUT:
                gradient[self.a[row]][self.b[row]] = share
            elif kind != CONST and share != 0.0:
                for operand, slope in self._slopes(row):
                    adjoints[operand] = adjoints[operand] + share * slope()
        return gradient

    def _slopes(self, row: int, moving: Sequence | None = None) -> Iterator:
        """Yield the operands of a statement that are not constant, and functions that write its slopes.

        With `moving` only the operands whose entry in it is not 0.
        """
        for operand, slope in self._all_slopes(row):
            if self.op[operand] != CONST and (moving is None or moving[operand] != 0.0):
                yield operand, slope

    def _all_slopes(self, row: int) -> list:
        """Return the operands of a statement, and functions that write its derivatives by them."""
        kind, a, b, x = self.op[row], self.a[row], self.b[row], self.scalars
        if kind in (ADD, SUB):
            return [(a, lambda: 1.0), (b, lambda: 1.0 if kind == ADD else -1.0)]
        if kind == MUL:
            return [(a, lambda: x[b]), (b, lambda: x[a])]
        if kind == ATAN2:
            share = 1.0 / (x[a] * x[a] + x[b] * x[b])
            return [(a, lambda: x[b] * share), (b, lambda: -(x[a] * share))]
        slope = {
            RECIP: lambda: -(x[row] * x[row]),
            SIN: lambda: sincos(x[a])[1],
            COS: lambda: -sincos(x[a])[0],
            SQRT: lambda: 0.5 / x[row],
        }[kind]
        return [(a, slope)]


def directional(function: Function) -> Function:
    """Return the derivative of a function along a direction: its arguments, then "d" of each.

    Parameters
    ----------
    function : Function
        Any straight-line function; arguments are differentiated entry by entry, cosines and quaternions too.

    Returns
    -------
    Function
        Of the shape of the result.

    Raises
    ------
    TypeError
        If it is not a Function.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.codegen import directional
    >>> slide = tf.Joint("slide", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(2.0))
    >>> rnea = tf.generate(tf.Model([slide]), ["rnea"]).functions["rnea"]
    >>> directional(rnea).inputs
    (('q', 1), ('v', 1), ('a', 1), ('dq', 1), ('dv', 1), ('da', 1))
    """
    _require_function(function)
    inputs = (*function.inputs, *((DIRECTION + name, size) for name, size in function.inputs))
    arguments, table = _inputs(inputs)
    count = len(function.inputs)
    result = Statements(function, arguments[:count]).forward(arguments[count:])
    return _finished(function, table, result, inputs, function.shape)


def gradient(function: Function) -> Function:
    """Return the gradient of w^T result of a function: its arguments, then the weights "w".

    Parameters
    ----------
    function : Function
        Any straight-line function; arguments are differentiated entry by entry, cosines and quaternions too.

    Returns
    -------
    Function
        Its result holds the gradients by all arguments, one after the other.

    Raises
    ------
    TypeError
        If it is not a Function.

    Notes
    -----
    Reverse mode: about two and a half times the operations of the function, whatever the number of arguments.
    Griewank and Walther (2008), Evaluating Derivatives, chapter 3.

    Examples
    --------
    >>> import treefactor as tf
    >>> from treefactor.codegen import gradient
    >>> slide = tf.Joint("slide", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(2.0))
    >>> rnea = tf.generate(tf.Model([slide]), ["rnea"]).functions["rnea"]
    >>> gradient(rnea).evaluate([0.0], [0.0], [0.0], [1.0])
    array([0., 0., 2.])
    """
    _require_function(function)
    inputs = (*function.inputs, (WEIGHTS, function.output.size))
    arguments, table = _inputs(inputs)
    gradients = Statements(function, arguments[:-1]).reverse(arguments[-1])
    result = [x for part in gradients for x in part]
    return _finished(function, table, result, inputs, (len(result),))


def _require_function(function) -> None:
    """Raise TypeError unless the argument is a Function."""
    if not isinstance(function, Function):
        raise TypeError(
            f"function must be a Function, such as program.functions['rnea'], got {received(function)}"
        )


def _inputs(inputs) -> tuple[list, Table]:
    """Return the scalars of arguments on a new table."""
    table = Table()
    return [[table.input(k, entry) for entry in range(size)] for k, (_, size) in enumerate(inputs)], table


def _finished(function: Function, table: Table, result: list, inputs, shape: tuple) -> Function:
    """Return the function of a result on a table, common factors gathered."""
    columns = passes.extract(table, result, range(len(inputs)))
    names = ("op", "a", "b", "value", "output", "sign")
    made: Mapping = dict(zip(names, columns, strict=True))
    return passes.gather(replace(function, inputs=inputs, shape=shape, group=(), alternatives=(), **made))
