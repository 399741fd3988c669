"""Run the instructions that `lowering` writes."""

cimport numpy as cnp
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ...dynamics._kernel_calls cimport factor_and_solve
from ...dynamics._operations cimport FACTOR, INVERSE
from ...tree._operands cimport ALIGNED, align
from ...tree._pattern cimport FACTORIZED, Pattern, workspace_size as factor_workspace_size
from ..._util._fast_arrays cimport all_finite
from ._results cimport Results, Target
from ._routine cimport ARGUMENTS, LOCAL, Routine, Width

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


cdef class Solver(Interpreter):
    """Interpreter that solves one configuration from H and the bias by kernels of linear algebra.

    For humanoids the inverse of H takes 35 % of the time of the statements, accelerations 50 % to 70 %.
    Batches run the statements.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype, constants, code
        See `Interpreter`; of float64.
    equation : Interpreter
        Of the packed rows of H, then of the bias if the result are accelerations.
    parts : Results
        Locations of the results of the equation.
    operands : sequence of int
        Arguments of the function that are those of the equation.
    forces : int
        Argument with the forces of which the result are the accelerations; -1 for the inverse of H.
    pattern : Pattern
        Of H.
    """

    cdef Interpreter equation
    cdef Results parts
    cdef Pattern pattern
    cdef Py_ssize_t operand[ARGUMENTS]
    cdef Py_ssize_t forces

    def __init__(self, sizes, slots, units, pivots, dtype, constants, code, Interpreter equation not None,
                 Results parts not None, operands, Py_ssize_t forces, Pattern pattern not None):
        cdef Py_ssize_t k
        super().__init__(sizes, slots, units, pivots, dtype, constants, code)
        self.equation, self.parts, self.forces, self.pattern = equation, parts, forces, pattern
        for k, operand in enumerate(operands):
            self.operand[k] = operand

    cdef bint run_single(self, const char **operands, const Target *targets, int count) noexcept nogil:
        cdef double local[LOCAL]
        cdef double *memory = local
        cdef Py_ssize_t needed = self.parts.size + 2 * self.pattern.shape.n + ALIGNED
        cdef bint good
        needed += factor_workspace_size(&self.pattern.shape)
        if needed > LOCAL:
            memory = <double *> malloc(needed * sizeof(double))
            if memory == NULL:
                return False
        good = self.solve(operands, align(memory), <double *> targets[0].data)
        if memory != local:
            free(memory)
        return good

    cdef bint solve(self, const char **operands, double *H, double *out) noexcept nogil:
        """Compute the result; return False if the general path must handle the call."""
        cdef const char *given[ARGUMENTS]
        cdef Py_ssize_t n = self.pattern.shape.n, failed, k
        cdef Target target = self.parts.at(H)
        cdef double *D = H + target.size
        cdef double *x = D - n       # the bias, then the forces less the bias, then the accelerations
        for k in range(self.equation.arguments):
            given[k] = operands[self.operand[k]]
        if not self.equation.run_single(given, &target, 1):
            return False
        if self.forces < 0:
            factor_and_solve(&self.pattern.shape, INVERSE, 1, H, D, D + n, D + 2 * n, out, &failed)
            return failed == FACTORIZED and all_finite(n * n, out)
        for k in range(n):
            x[k] = (<const double *> operands[self.forces])[k] - x[k]
        factor_and_solve(&self.pattern.shape, FACTOR, 1, H, D, D + n, D + 2 * n, x, &failed)
        memcpy(out, x, n * sizeof(double))
        return failed == FACTORIZED and all_finite(n, out)
