"""Write derivatives of inverse and forward dynamics on the table of a `Writer`.

Derivatives by q are along `integrate`. Products with vectors differentiate the statements of a finished
function; matrices are computed by pairs of freedoms, or column by column.
"""

from __future__ import annotations

from contextlib import contextmanager

from .algorithms import tangents
from .algorithms.factors import column_of, following, half_solve, inverse_of, solve
from .algorithms.matrices import transposed
from .algorithms.pairwise_derivatives import PairwiseDerivatives
from .program import passes
from .program.differentiate import Statements
from .program.names import DERIVATIVES
from .program.program import Function

GRADIENT = ("q", "v", "a", "w")  # arguments of "rnea_vjp"


class Derivatives:
    """Derivatives in the statement table of a writer; the method named after a function returns its result.

    Parameters
    ----------
    writer : Writer
    """

    def __init__(self, writer):
        self.writer, self.model = writer, writer.model

    def result(self, name: str, method: str | None) -> list:
        """Return the scalars of a function."""
        return getattr(self, name)(method) if method else getattr(self, name)()

    def input(self, name: str) -> list:
        """Return the scalars of an argument."""
        return self.writer.input(name)

    def statements(self, name: str, result: list, arguments) -> Statements:
        """Return the statements of a result, with common factors gathered, on arguments."""
        function = passes.gather(self.writer.extract((name,), result, (len(result),), ""))
        return Statements(function, arguments)

    @contextmanager
    def unnamed(self):
        """Leave out the names of intermediates: those at other accelerations have the same names."""
        recursions = self.writer.recursions
        kept, recursions.named = recursions.named, None
        try:
            yield
        finally:
            recursions.named = kept

    def rnea_statements(self, a) -> Statements:
        """Return the statements of inverse dynamics at accelerations a."""
        return self.statements("rnea", self.writer.rnea(), [self.input("q"), self.input("v"), a])

    def forward(self, statements: Statements, dq, *others) -> list:
        """Return the derivative of a result along a motion dq and directions of the other arguments."""
        return statements.forward([tangents.entry_rates(self.model, self.input("q"), dq), *others])

    def reverse(self, statements: Statements, weights) -> list[list]:
        """Return the gradient of a weighted result by motions of q, and by the other arguments."""
        by_q, *others = statements.reverse(weights)
        return [tangents.gradient_by_motion(self.model, self.input("q"), by_q), *others]

    def rnea_jvp(self) -> list:
        """Return the derivative of inverse dynamics along dq, dv, da."""
        return self.forward(self.rnea_statements(self.input("a")), *map(self.input, ("dq", "dv", "da")))

    def rnea_vjp(self) -> list:
        """Return the gradients of w^T rnea by q, v and a."""
        gradients = self.reverse(self.rnea_statements(self.input("a")), self.input("w"))
        return [x for part in gradients for x in part]

    def rnea_hvp(self) -> list:
        """Return the Hessian of w^T rnea times dq, dv, da: symmetric, see `tangents.half_bracket`."""
        n = self.model.nv
        statements = self.statements("rnea_vjp", self.rnea_vjp(), [self.input(x) for x in GRADIENT])
        dq, dv, da = map(self.input, ("dq", "dv", "da"))
        products = self.forward(statements, dq, dv, da, [0.0] * n)
        turned = tangents.half_bracket(self.model, dq, statements.result[:n])
        return [*(x - y for x, y in zip(products[:n], turned, strict=True)), *products[n:]]

    def rnea_derivatives(self, method: str) -> list:
        """Return the packed derivatives by q and v, by pairs or column by column, and H."""
        a = self.input("a")
        by_q, by_v = self.pairs(a) if method == "pairs" else self.columns(a)
        return [*self.packed(by_q), *self.packed(by_v), *self.writer.crba()]

    def packed(self, A) -> list:
        """Return the entries in the pattern of H: on and below the diagonal, then the others transposed."""
        at = list(zip(self.model.tree.rows.tolist(), self.model.tree.columns.tolist(), strict=True))
        return [*(A[i][j] for i, j in at), *(A[j][i] for i, j in at if i != j)]

    def pairs(self, a) -> tuple[list, list]:
        """Return the derivatives of inverse dynamics by q and v, row by row, at accelerations."""
        derivatives = PairwiseDerivatives(
            self.writer.recursions, self.writer.rates("v"), self.writer.expanded(a)
        )
        return self.folded(derivatives.by_q), self.folded(derivatives.by_v)

    def folded(self, A) -> list:
        """Return G^T A G for models with mimic joints, A for others."""
        reduced = self.writer.reduced
        return transposed(list(map(reduced, transposed(list(map(reduced, A))))))

    def columns(self, a) -> tuple[list, list]:
        """Return the derivatives of inverse dynamics by q and v at accelerations, column by column."""
        statements, n = self.rnea_statements(a), self.model.nv
        units = [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
        still = [0.0] * n
        by_q = [self.forward(statements, unit, still, still) for unit in units]
        by_v = [self.forward(statements, still, unit, still) for unit in units]
        return transposed(by_q), transposed(by_v)

    def forward_dynamics_derivatives(self, method: str) -> list:
        """Return the derivatives of accelerations by q, v and tau: -H^-1 times those of inverse dynamics."""
        tree = self.model.tree
        L, inverse = self.writer.factor(method)
        a = self.writer.forward_dynamics(method)
        with self.unnamed():
            by_q, by_v = self.pairs(a)
        P = following(tree, L)
        entries: list = []
        for A in (by_q, by_v):
            columns = [column_of(tree, L, P, inverse, [-x for x in b]) for b in transposed(A)]
            entries += [x for row in transposed(columns) for x in row]
        return entries + inverse_of(tree, P, inverse)

    def forward_dynamics_vjp(self, method: str) -> list:
        """Return the gradients of w^T forward_dynamics by q, v and tau."""
        a = self.writer.forward_dynamics(method)
        with self.unnamed():
            u = self.solved(method, self.input("w"))
            statements = self.rnea_statements(a)
        by_q, by_v, _ = self.reverse(statements, u)
        return [*(-x for x in (*by_q, *by_v)), *u]

    def forward_dynamics_jvp(self, method: str) -> list:
        """Return the derivative of forward dynamics along dq, dv, dtau."""
        dq, dv, dtau = map(self.input, ("dq", "dv", "dtau"))
        a = self.writer.forward_dynamics(method)
        with self.unnamed():
            statements = self.rnea_statements(a)
        moved = self.forward(statements, dq, dv, [0.0] * self.model.nv)
        with self.unnamed():
            return self.solved(method, [x - y for x, y in zip(dtau, moved, strict=True)])

    def solved(self, method: str, b) -> list:
        """Return H^-1 b, by its factor or by articulated bodies."""
        if method == "aba":
            return self.writer.recursions.response(b)
        L, inverse = self.writer.factor(method)
        return solve(self.model.tree, L, inverse, half_solve(self.model.tree, L, b))


def compared(function: Function) -> Function:
    """Return the form whose operations are counted: derivatives with common factors gathered."""
    return function if set(DERIVATIVES).isdisjoint(function.parts) else passes.gather(function)
