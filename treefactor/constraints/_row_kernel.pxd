"""C interface of the rows of loops and rigid contacts, with their derivatives."""

from ._moving_frames cimport Frame, Moving, Pair, Part, UnitMotion

cdef enum:                       # derivatives
    BY_Q = 1
    BY_V = 2


cdef class RowKernel:
    cdef Py_ssize_t m, joints, n, rows, parts, pairs
    cdef const Py_ssize_t *below
    cdef const Py_ssize_t *joint
    cdef const Py_ssize_t *column
    cdef const double *ratio
    cdef const unsigned char *path
    cdef const unsigned char *moves
    cdef const unsigned char *second
    cdef const unsigned char *used               # freedoms that move a frame
    cdef const Pair *pair
    cdef const Part *part
    cdef object kept

    cdef Py_ssize_t workspace_size(self) noexcept nogil
    cdef void state_rows(self, int sides, int order, bint turns, const double *frames, const double *v,
                         const double *a, int loads, const double *forces, double *values,
                         double *derivatives, double *E, double *work) noexcept nogil
    cdef void unit_motions(self, const double *frames, const double *a, double *A,
                           UnitMotion *units) noexcept nogil
    cdef void units(self, const double *frames, const double *v, const double *a, double *A,
                    UnitMotion *units) noexcept nogil
    cdef void differentiate_frames(self, int sides, const Frame *f, const UnitMotion *units,
                                   Moving *d) noexcept nogil
    cdef void part_rows(self, int sides, int order, const Part *part, const Frame *f, const Moving *d,
                        const double *log, double *values, double *derivatives) noexcept nogil
    cdef void write(self, int least, const Part *part, const Frame *f, const Moving *d, const double *y,
                    const double *dy, double *x, Py_ssize_t order_step, Py_ssize_t row_step) noexcept nogil
    cdef void part_forces(self, const Part *part, const Frame *f, const Moving *d, const double *force,
                          double *E) noexcept nogil
    cdef double entry(self, Py_ssize_t j, Py_ssize_t k, const Moving *d, const double *x,
                      const double *dx) noexcept nogil
    cdef void wrenches(self, const Part *part, const Frame *f, const Moving *d, const double *force,
                       const double *y, double *x, double *dx) noexcept nogil
    cdef void prepare(self, int sides, Py_ssize_t pair, const double *frames, const double *A,
                      const UnitMotion *units, Frame *f, Moving *d) noexcept nogil
    cdef double *allocate(self) except NULL
