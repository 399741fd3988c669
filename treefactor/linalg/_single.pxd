"""Declare the kernel of one matrix and the matrix that it reads."""

cimport numpy as cnp

from ._factor_methods cimport Kernel
from ..tree._pattern cimport Pattern, Shape, Workspace

cdef enum:
    SHORT = 1024                 # entries up to which releasing the GIL costs more than it gains


ctypedef struct InputMatrix:     # a matrix of the caller; all strides in bytes
    const char *data
    bint dense
    Py_ssize_t to_row            # of a dense matrix
    Py_ssize_t to_column
    Py_ssize_t to_entry          # of packed rows


cdef void describe(cnp.ndarray H, bint dense, bint upper, InputMatrix *s)
cdef void load(const Shape *t, const InputMatrix *s, double *X) noexcept nogil


cdef class SingleKernel(Kernel):
    cdef Pattern pattern
    cdef bint ltdl
    cdef int threads
    cdef double *memory          # of the workspace
    cdef Workspace w             # padded rows of L, D, its reciprocals; the path is zeros between calls
    cdef readonly Py_ssize_t status
    cdef InputMatrix bound
    cdef cnp.ndarray kept        # the array that bound points to

    cdef int prepare(self, Pattern pattern, bint ltdl, int threads) except -1
    cdef cnp.ndarray entries(self, double *part, Py_ssize_t count)
    cdef Py_ssize_t factorize(self, const InputMatrix *given, cnp.ndarray shift)
    cdef Py_ssize_t eliminate(self, const InputMatrix *given, const double *shift) noexcept nogil
    cdef Py_ssize_t eliminate_supernodes(self, Py_ssize_t first, Py_ssize_t stop, const char *H,
                                         Py_ssize_t whole, double *path) noexcept nogil
    cdef Py_ssize_t load_input(self, const InputMatrix *given, const double *shift) noexcept nogil
    cdef Py_ssize_t factorize_subtrees(self, const InputMatrix *given, const double *shift)
    cdef Py_ssize_t eliminate_rest(self, const char *H, Py_ssize_t whole, const double *above) noexcept nogil
    cdef void take_over(self, const InputMatrix *L, const char *D, Py_ssize_t to_next) noexcept nogil
    cdef object places(self)
    cdef int apply_all(self, int op, double *x, Py_ssize_t count, Py_ssize_t r) except -1 nogil
    cdef void apply_one(self, int op, double *x, double *path) noexcept nogil
