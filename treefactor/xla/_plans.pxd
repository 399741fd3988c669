"""C interface of plans: compiled functions that run on the buffers of a call without Python."""

from .._functions._compiled_function cimport MOST_ARRAYS, CompiledFunction


cdef class Plan:
    cdef CompiledFunction function
    cdef object kept
    cdef int arguments, results  # of the function
    cdef int inputs, outputs     # of the map
    cdef int source[MOST_ARRAYS]                 # input of the map for an argument, or -1
    cdef const double *constant[MOST_ARRAYS]     # values of an argument that has no input; NULL: it is absent
    cdef int destination[MOST_ARRAYS]            # output of the map for a result; -1: it is not needed
    cdef Py_ssize_t size[MOST_ARRAYS]            # entries of the arguments
    cdef Py_ssize_t result_size[MOST_ARRAYS]
    cdef bint converts           # some results are not needed

    cdef bint run(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil
    cdef bint run_blocks(self, Py_ssize_t batch, bint single, bint narrow, void *const *data) noexcept nogil
    cdef bint run_block(self, Py_ssize_t first, Py_ssize_t count, bint single, bint narrow, void *const *data,
                        double *end) noexcept nogil
    cdef bint compute(self, Py_ssize_t batch, bint single, const double **x, double **y) noexcept nogil
