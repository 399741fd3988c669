"""C interface of requests: the structs of the kernels, and the class that calls them."""

cimport numpy as cnp

from ..tree._operands cimport Operand
from ..dynamics._recursions cimport Mechanism

cdef extern from "kernels/kinematics/request.h" nogil:
    ctypedef struct Turn:
        Py_ssize_t permuted
        Py_ssize_t source[3]
        double sign[3]

    ctypedef struct Freedom:
        Py_ssize_t body, axis, linear, column
        double ratio, pitch

    ctypedef struct Column:
        Py_ssize_t freedom, add
        Py_ssize_t place[2]

    ctypedef struct Output:
        Py_ssize_t kind, reference, classical, body, root, item
        Py_ssize_t first[2]
        Py_ssize_t row[2]
        Py_ssize_t column, columns
        double R[9]
        double p[3]
        Turn turn

    ctypedef struct Plan:
        Mechanism m
        const Turn *turn
        const Freedom *freedom
        Py_ssize_t order
        Py_ssize_t sums, arms
        double mass
        Py_ssize_t outputs
        const Output *output
        const Column *column
        Py_ssize_t nq, nv
        Py_ssize_t units
        const Py_ssize_t *unit
        double unit_square

    ctypedef struct RequestKernels:
        Py_ssize_t (*workspace_size)(const Plan *) noexcept nogil
        void (*compute)(const Plan *, const double *q, const double *v, const double *a, double **x,
                        double *workspace) noexcept nogil
        void (*check)(const Plan *, const double *q, const double *v, const double *a,
                      double *doubt) noexcept nogil

    ctypedef struct RequestTable:
        const char *name
        RequestKernels one
        RequestKernels lanes


ctypedef struct Run:             # entries that are adjacent both in lanes and in the user's rows
    Py_ssize_t at, to, length


ctypedef struct Item:            # one result
    int axes                     # of one configuration
    cnp.npy_intp shape[3]
    Py_ssize_t size, packed      # entries of one configuration: in the user's rows, and in lanes
    Py_ssize_t runs              # -1: entries in lanes are those of the user's rows
    const Run *run


cdef class Request:
    cdef Plan plan
    cdef Item *item
    cdef readonly Py_ssize_t items
    cdef readonly tuple shapes
    cdef object kept

    cdef bint run_one(self, const double *q, const double *v, const double *a, double **out) noexcept nogil
    cdef bint find_pointers(self, object q, object v, object a, object out, const double **x,
                            double **results) noexcept
    cdef bint find_states(self, object q, object v, object a, const double **x) noexcept
    cdef bint are_apart(self, tuple arrays, Py_ssize_t batch) noexcept
    cdef bint fits(self, object out, Py_ssize_t k) noexcept
    cdef object allocate(self, Py_ssize_t batch)
    cdef object run_vectors(self, object q, object v, object a, object out)
    cdef object run_fast(self, object q, object v, object a, object out, object threads)
    cdef object run_rows(self, object q, object v, object a, object out)
    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t first,
                         Py_ssize_t stop) except False
    cdef Py_ssize_t rows_workspace_size(self, const Operand *operands) noexcept nogil
    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t first,
                           Py_ssize_t stop) noexcept nogil
    cdef Py_ssize_t block_size(self) noexcept nogil
    cdef void compute_block(self, const double *q, double **results, double *doubt,
                            double *work) noexcept nogil
    cdef void store(self, const Item *item, int count, const double *x, char *to) noexcept nogil
