"""Run the instructions that `lowering` writes."""

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ...derivatives._first_order cimport (
    factor_and_accelerate, first_order_size, padded_columns, solve_both, write_rnea)
from ...dynamics._kernel_calls cimport factor_and_solve
from ...dynamics._operations cimport FACTOR, INVERSE
from ...dynamics._recursions cimport Bodies
from ...tree._operands cimport ALIGNED, align
from ...tree._pattern cimport (
    FACTORIZED, Pattern, Shape, Workspace, active, carve_workspace, workspace_size as factor_workspace_size)
from ..._util._fast_arrays cimport all_finite
from ._results cimport Results, Target
from ._routine cimport ARGUMENTS, LOCAL, Routine, Width

import numpy as np

cnp.import_array()


cdef class Interpreter(Routine):
    """Function as instructions of the interpreter.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype
        See `Routine`.
    constants : ndarray of this dtype
        Values of the slots after the arguments.
    code : ndarray of int32
        Instructions, see ``kernels/interpreter/interpreter.h``.
    """

    cdef Py_ssize_t count
    cdef const char *constant
    cdef const int32_t *code

    def __init__(self, sizes, slots, units, pivots, dtype, cnp.ndarray constants not None,
                 cnp.ndarray code not None):
        super().__init__(sizes, slots, units, pivots, dtype)
        self.kept = units, constants, code
        self.count, self.constant = constants.size, constants.data
        self.code = <const int32_t *> code.data

    cdef void prepare(self, const Width *width, char *workspace) noexcept nogil:
        cdef char *first = workspace + self.inputs * width.lanes * self.bytes
        width.load(self.count, 1, self.constant, 0, self.bytes, first, 0)

    cdef void evaluate(self, const Width *width, char *workspace) noexcept nogil:
        width.run(self.code, workspace)


cdef class Recursion(Interpreter):
    """Interpreter that differentiates inverse dynamics of one configuration by the recursion of its model.

    For humanoids that takes 30 % to 40 % of the time of the statements. Batches run the statements.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype, constants, code
        See `Interpreter`; of float64, of the arguments q, v and a.
    bodies : Bodies
        Of the model whose program this is.
    output : ndarray of int32
        Slots of the derivatives by q and v, packed, and of H.
    sign : ndarray
        1, or -1 where a result is the negative of its slot.
    zero : int
        Slot of the number 0.
    """

    cdef Bodies bodies
    cdef const int32_t *output
    cdef const double *sign
    cdef Py_ssize_t zero

    def __init__(self, sizes, slots, units, pivots, dtype, constants, code, Bodies bodies not None,
                 output, sign, Py_ssize_t zero):
        cdef cnp.ndarray places = np.array(output, np.int32), signs = np.array(sign, np.float64)
        super().__init__(sizes, slots, units, pivots, dtype, constants, code)
        self.kept = self.kept, places, signs
        self.bodies, self.zero = bodies, zero
        self.output, self.sign = <const int32_t *> places.data, <const double *> signs.data

    cdef void evaluate(self, const Width *width, char *workspace) noexcept nogil:
        cdef Py_ssize_t n = self.bodies.nv, nnz = self.bodies.nnz, k, size = 5 * nnz - 2 * n
        cdef double *x = <double *> workspace          # q, v and a
        cdef double *results = NULL
        cdef double *H
        if width.lanes == 1:
            results = <double *> malloc(
                (size + n + first_order_size(self.bodies, 1) + ALIGNED) * sizeof(double))
        if results == NULL:
            Interpreter.evaluate(self, width, workspace)
            return
        H = results + size - nnz
        write_rnea(self.bodies, &self.bodies.m, 1, x, x + self.bodies.nq, x + self.bodies.nq + n, NULL,
                   H + nnz, H, results, results + 2 * nnz - n, align(H + nnz + n))
        for k in range(size):
            x[self.output[k]] = self.sign[k] * results[k]
        x[self.zero] = 0.0           # results that are always 0 may have that slot, too
        free(results)


cdef class Solver(Interpreter):
    """Interpreter that solves one configuration from H and the bias by kernels of linear algebra.

    For humanoids the inverse of H takes 35 % of the time of the statements, accelerations 50 % to 70 %.
    Batches run the statements.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype, constants, code
        See `Interpreter`; of float64.
    equation : Interpreter
        Of the packed rows of H, then of the bias if accelerations are computed.
    parts : Results
        Locations of the results of the equation.
    operands : sequence of int
        Arguments of the function that are those of the equation.
    forces : int
        Argument with the forces that cause the accelerations; -1 for the inverse of H.
    pattern : Pattern
        Of H.
    """

    cdef Interpreter equation
    cdef Results parts
    cdef Pattern pattern
    cdef Py_ssize_t operand[ARGUMENTS]
    cdef Py_ssize_t forces

    def __init__(self, sizes, slots, units, pivots, dtype, constants, code, Interpreter equation not None,
                 Results parts not None, operands, Py_ssize_t forces, Pattern pattern not None, *_):
        cdef Py_ssize_t k
        super().__init__(sizes, slots, units, pivots, dtype, constants, code)
        self.equation, self.parts, self.forces, self.pattern = equation, parts, forces, pattern
        for k, operand in enumerate(operands):
            self.operand[k] = operand

    cdef Py_ssize_t workspace_size(self) noexcept nogil:
        """Return the doubles that `solve` needs."""
        return self.parts.size + 2 * self.pattern.shape.n + factor_workspace_size(&self.pattern.shape)

    cdef bint run_single(self, const char **operands, const Target *targets, int count) noexcept nogil:
        cdef double local[LOCAL]
        cdef double *memory = local
        cdef Py_ssize_t needed = self.workspace_size() + ALIGNED
        cdef bint good
        if needed > LOCAL:
            memory = <double *> malloc(needed * sizeof(double))
            if memory == NULL:
                return False
        good = self.solve(operands, align(memory), targets, count)
        if memory != local:
            free(memory)
        return good

    cdef bint run_equation(self, const char **operands, double *H) noexcept nogil:
        """Compute H, and after it the forces less the bias; return False if the general path must."""
        cdef const char *given[ARGUMENTS]
        cdef Target target = self.parts.at(H)
        cdef Py_ssize_t n = self.pattern.shape.n, k
        cdef double *x = H + target.size - n
        for k in range(self.equation.arguments):
            given[k] = operands[self.operand[k]]
        if not self.equation.run_single(given, &target, 1):
            return False
        for k in range(n if self.forces >= 0 else 0):
            x[k] = (<const double *> operands[self.forces])[k] - x[k]
        return True

    cdef bint solve(self, const char **operands, double *H, const Target *targets, int count) noexcept nogil:
        """Compute the result; return False if the general path must handle the call."""
        cdef Py_ssize_t n = self.pattern.shape.n, failed
        cdef double *D = H + self.parts.size
        cdef double *x = D - n       # the forces less the bias, then the accelerations
        cdef double *out = <double *> targets[0].data
        if not self.run_equation(operands, H):
            return False
        if self.forces < 0:
            factor_and_solve(&self.pattern.shape, INVERSE, 1, H, D, D + n, D + 2 * n, out, &failed)
            return failed == FACTORIZED and all_finite(n * n, out)
        factor_and_solve(&self.pattern.shape, FACTOR, 1, H, D, D + n, D + 2 * n, x, &failed)
        memcpy(out, x, n * sizeof(double))
        return failed == FACTORIZED and all_finite(n, out)


cdef class DerivativeSolver(Solver):
    """Solver of derivatives of accelerations: -H^-1 times those of inverse dynamics, and H^-1.

    For humanoids they take 40 % of the time of the statements.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype, constants, code, equation, parts, operands, forces, pattern
        See `Solver`.
    derivatives : Interpreter
        Of the derivatives of inverse dynamics by q and v, packed, and of H.
    derivative_parts : Results
        Locations of its results.
    """

    cdef Interpreter derivatives
    cdef Results derivative_parts

    def __init__(self, sizes, slots, units, pivots, dtype, constants, code, equation, parts, operands, forces,
                 pattern, Interpreter derivatives not None, Results derivative_parts not None):
        super().__init__(sizes, slots, units, pivots, dtype, constants, code, equation, parts, operands,
                         forces, pattern)
        self.derivatives, self.derivative_parts = derivatives, derivative_parts

    cdef Py_ssize_t workspace_size(self) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t size = self.parts.size + self.derivative_parts.size
        return size + factor_workspace_size(t) + t.n * padded_columns(t) + 2 * ALIGNED

    cdef bint solve(self, const char **operands, double *H, const Target *targets, int count) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t n = t.n, k
        cdef double *a = H + self.parts.size - n     # the forces less the bias, then the accelerations
        cdef double *dq = a + n
        cdef double *dv = dq + 2 * t.start[n] - n
        cdef double *rest = align(dq + self.derivative_parts.size)
        cdef Target target = self.derivative_parts.at(dq)
        cdef const char *given[3]
        cdef double *results[3]
        cdef Workspace w = carve_workspace(t, rest)
        if not self.run_equation(operands, H) or factor_and_accelerate(t, &w, H, a) != FACTORIZED:
            return False
        given[0], given[1], given[2] = operands[0], operands[1], <const char *> a
        if not self.derivatives.run_single(given, &target, 1):
            return False
        for k in range(3):           # one array has all results, or each has its own
            results[k] = <double *> targets[min(k, count - 1)].data + (n * n * k if count == 1 else 0)
        active.single.invert(t, w.X, w.inverse, 1, results[2])
        solve_both(t, &w, dq, dv, results[0], results[1], align(rest + factor_workspace_size(t)))
        for k in range(3):
            if not all_finite(n * n, results[k]):
                return False
        return True
