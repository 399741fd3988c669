"""Declarations of the unilateral rows of a time step; see _unilateral_rows.pyx."""

ctypedef struct RowResults:      # results, and the row and entry that the next row begins with
    Py_ssize_t row, entry
    Py_ssize_t *start
    Py_ssize_t *column
    double *entries
    double *d
    double *upper                # upper bounds, NULL without any
    double *gap
    Py_ssize_t *key
    Py_ssize_t *of
    double *along

ctypedef struct Near:            # near contacts, from ContactKernel; `size` entries in a row of all data
    Py_ssize_t count, size
    const Py_ssize_t *number
    const double *gap
    const Py_ssize_t *start
    const Py_ssize_t *column
    const double *data
    const double *errors         # rounding error of every entry

cdef class UnilateralRows:
    cdef const double[::1] mu, restitution, sign, bound
    cdef const double[:, ::1] forms
    cdef const Py_ssize_t[::1] limited, column
    cdef bint boxed
    cdef double h, stabilization, noise, slow
    cdef object kept

    cdef Py_ssize_t measure(self, const Near *x, const double *pressed, Py_ssize_t *size) noexcept nogil
    cdef void combine(self, const Near *x, const double *q, const double *v, const double *pressed,
                      RowResults *r) noexcept nogil
    cdef double rebound(self, const Near *x, Py_ssize_t k, const double *v) noexcept nogil
    cdef Py_ssize_t forms_of(self, Py_ssize_t contact, double pressed) noexcept nogil
    cdef void add_contact(self, RowResults *r, Py_ssize_t k, Py_ssize_t contact, double gap, Py_ssize_t size,
                          double pressed, const Py_ssize_t *column, const double *data,
                          Py_ssize_t apart, const double *errors) noexcept nogil
    cdef void add_limit(self, RowResults *r, Py_ssize_t k, double q) noexcept nogil
    cdef void finish(self, RowResults *r, Py_ssize_t size, double gap, double upper) noexcept nogil

cdef void sum_normals(Py_ssize_t rows, const Py_ssize_t *of, const double *along, const double *gamma,
                      Py_ssize_t near, const Py_ssize_t *start, const Py_ssize_t *column, const double *g,
                      double noise, double *normal) noexcept nogil

cdef void keep_open(const RowResults *rows, const double *v, double *d) noexcept nogil

cdef void match_rows(Py_ssize_t rows, const Py_ssize_t *key, Py_ssize_t known, const Py_ssize_t *before,
                     const double *gamma, const unsigned char *active, double *impulse,
                     unsigned char *on) noexcept nogil
