"""C interface of plans: compiled functions that run on the buffers of a call without Python."""

from .._functions._compiled_function cimport MOST_ARRAYS, CompiledFunction
from ..codegen.backends._results cimport Results, Target
from ..codegen.backends._routine cimport Routine
from ..tree._operands cimport Operand


cdef class Plan:
    cdef object kept
    cdef bint single_precision   # whether the function computes in float32
    cdef int arguments, results  # of the function
    cdef int inputs, outputs     # of the map
    cdef int source[MOST_ARRAYS]                 # input of the map for an argument, or -1
    cdef const char *constant[MOST_ARRAYS]       # values of an argument that has no input; NULL: it is absent
    cdef int destination[MOST_ARRAYS]            # output of the map for a result; -1: it is not needed
    cdef Py_ssize_t size[MOST_ARRAYS]            # entries of the arguments
    cdef Py_ssize_t result_size[MOST_ARRAYS]
    cdef bint omits              # some results are not needed

    cdef bint run(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil
    cdef bint run_blocks(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil
    cdef bint run_block(self, Py_ssize_t first, Py_ssize_t count, bint single, bint narrow, void *const *data,
                        double *end) noexcept nogil
    cdef bint compute(self, Py_ssize_t batch, bint single, const char **x, char **y) noexcept nogil


cdef class FunctionPlan(Plan):
    cdef CompiledFunction function


cdef class RoutinePlan(Plan):
    cdef Routine routine
    cdef Results whole           # all results of the routine, one after the other
    cdef tuple parts             # the same one by one
    cdef Target target[MOST_ARRAYS]              # of them, without the addresses
    cdef Py_ssize_t number_bytes

    cdef bint run_rows(self, Py_ssize_t batch, const Operand *operands, char *y) noexcept nogil
    cdef bint run_parts(self, Py_ssize_t batch, Operand *operands, char **y) noexcept nogil
    cdef void divide_rows(self, const char *rows, Py_ssize_t first, Py_ssize_t count,
                          char **y) noexcept nogil
