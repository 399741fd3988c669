"""C interface of functions of a state: the class that runs them on NumPy arrays."""

cimport numpy as cnp

from ..dynamics._recursions cimport Bodies, Mechanism
from ..tree._operands cimport Operand
from ._array_shapes cimport PAIR, PLAIN, SPARSE, SYMMETRIC, Array, Form

cdef enum:
    MOST_ARRAYS = 16             # arguments or results of a function


cdef class StateFunction:
    cdef Bodies bodies
    cdef readonly int inputs, results
    cdef Array input[MOST_ARRAYS]
    cdef Array result[MOST_ARRAYS]
    cdef readonly tuple names    # of the arguments
    cdef object gather           # makes what is returned from a tuple of results; None: the only result
    cdef readonly bint may_fail  # there are pivots
    cdef readonly bint in_lanes  # the user's results have the layout "lanes"

    cdef void add_input(self, tuple shape, bint optional=*)
    cdef void add_result(self, tuple shape, Form form=*, Py_ssize_t computed=*, const int *at=*)
    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil
    cdef void compute(self, const Mechanism *m, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil
    cpdef object make(self, tuple results)
    cdef bint is_apart(self, int k) noexcept nogil
    cdef bint run_one(self, const double **x, double **out) noexcept nogil
    cdef bint find_arguments(self, tuple arrays, const double **x) noexcept
    cdef bint find_results(self, tuple arrays, tuple out, double **y) noexcept
    cdef tuple given_results(self, object out)
    cpdef tuple allocate(self, Py_ssize_t batch)
    cpdef object run(self, tuple arrays, object out, object threads)
    cdef object run_vectors(self, tuple arrays, object out)
    cdef object run_rows(self, tuple arrays, object out)
    cdef bint fits_batch(self, int k, object out, Py_ssize_t batch) noexcept
    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t *failed,
                         Py_ssize_t first, Py_ssize_t stop) except False
    cdef Py_ssize_t rows_workspace_size(self, const Operand *operands) noexcept nogil
    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t *failed,
                           Py_ssize_t first, Py_ssize_t stop) noexcept nogil
    cdef Py_ssize_t to_next_block(self, int k) noexcept nogil
    cdef double *place_of(self, int k, char *to, Py_ssize_t b, double *packed) noexcept nogil
    cdef void run_block(self, const Mechanism *m, Py_ssize_t b, int count, const Operand *operands,
                        double **x, double **y, char **to, Py_ssize_t *failed, double *work) noexcept nogil
    cdef void invalidate(self, double **x, double **y, const Py_ssize_t *failed) noexcept nogil
    cdef void spoil(self, int lane, double **y) noexcept nogil
    cdef void store(self, const Array *result, int count, double *y, char *to) noexcept nogil
