"""C interface of the rows of loops and rigid contacts, with their derivatives."""

cdef extern from "kernels/constraints/frame_rows.h" nogil:
    enum:
        ORIGINS
        ANGLE
        HELD_3D
        HELD_6D
        BY_Q                     # derivatives
        BY_V

    ctypedef struct Part:
        Py_ssize_t kind, row, pair
        Py_ssize_t i, j
        Py_ssize_t local

    ctypedef struct Pair:
        Py_ssize_t body[2]
        double R[18]
        double p[6]

    ctypedef struct FrameRows:
        Py_ssize_t m, joints, n, rows, parts
        const Py_ssize_t *below
        const Py_ssize_t *joint
        const Py_ssize_t *column
        const double *ratio
        const unsigned char *path
        const unsigned char *moves
        const unsigned char *second
        const unsigned char *used
        const Pair *pair
        const Part *part
        double rounding
        void (*log)(const double *, const double *, const double *, double *) noexcept nogil
        void (*jlog)(const double *, const double *, const double *, double *) noexcept nogil

    ctypedef struct FrameRowKernels:
        Py_ssize_t (*workspace_size)(const FrameRows *) noexcept nogil
        void (*rows)(const FrameRows *, int sides, int order, int turns, const double *frames,
                     const double *v, const double *a, int loads, const double *forces, double *values,
                     double *derivatives, double *E, double *workspace) noexcept nogil

    ctypedef struct FrameRowTable:
        const char *name
        FrameRowKernels one
        FrameRowKernels lanes

ctypedef struct Drive:           # prescribes position, velocity and acceleration of one row
    Py_ssize_t row
    Py_ssize_t column            # of the driven joint; -1: the row is one of a loop
    Py_ssize_t q                 # place of that joint
    Py_ssize_t circle            # 1: q holds cosine and sine


cdef class RowKernel:
    cdef FrameRows c
    cdef object kept, memory

    cdef const FrameRowKernels *of(self, int lanes) noexcept nogil
    cdef double *allocate(self) except NULL
