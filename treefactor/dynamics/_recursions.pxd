"""The bodies of a model as the recursions take them."""

cimport numpy as cnp
from libc.stdint cimport uintptr_t

from ..tree._pattern cimport Pattern

cdef extern from "kernels/dynamics/bodies.h" nogil:
    ctypedef struct Body:
        Py_ssize_t kind, parent, q, v, freedoms, angle, joint, circle, copied, local, above
        double ratio, offset, pitch
        double R[9]
        double p[3]
        double axes[9]
        double mass
        double first[3]
        double tensor[9]
        double carried

    ctypedef struct Mechanism:
        Py_ssize_t bodies, joints, n, angles
        const Body *body
        const Py_ssize_t *start
        const Py_ssize_t *column
        const double *armature
        double gravity[3]

    ctypedef struct Recursions:
        Py_ssize_t (*room)(const Mechanism *) noexcept nogil
        void (*crba)(const Mechanism *, const double *q, double *H, double *room) noexcept nogil
        void (*rnea)(const Mechanism *, const double *q, const double *v, const double *a, const double *fext,
                     int gravity, double *tau, double *room) noexcept nogil
        void (*motion)(const Mechanism *, const double *q, const double *v, const double *fext, double *H,
                       double *bias, double *room) noexcept nogil
        void (*aba)(const Mechanism *, const double *q, const double *v, const double *tau,
                    const double *fext, double *qdd, double *D, double *room) noexcept nogil
        void (*frames)(const Mechanism *, const double *q, const double *v, double *frames,
                       double *room) noexcept nogil

    ctypedef struct Dynamics:
        const char *name
        Recursions one
        Recursions lanes
        void (*sincos)(Py_ssize_t n, const double *x, double *s, double *c) noexcept nogil

    const Dynamics dynamics_baseline

cdef enum:
    LANES = 8
    ALIGNED = 8                  # doubles of 64 bytes

cdef enum:                       # operations
    CRBA
    RNEA
    BIAS
    H_TIMES
    ABA
    FACTOR
    FRAMES
    MOTION


ctypedef struct Arguments:       # entry e of a configuration at x[e]; with lanes at x[e * lanes + lane]
    const double *q
    const double *v
    const double *x              # a, tau, or what H is to be multiplied with
    const double *fext
    double *out


ctypedef struct Operand:
    const char *data             # NULL: absent
    Py_ssize_t size, to_next     # bytes to the next configuration


cdef inline double *align(double *x) noexcept nogil:
    return <double *> ((<uintptr_t> x + 63) & ~<uintptr_t> 63)


cdef void describe(cnp.ndarray x, Operand *found) noexcept
cdef void load(const Operand *given, Py_ssize_t b, int count, double *X) noexcept nogil


cdef class Bodies:
    cdef Mechanism m
    cdef Pattern pattern
    cdef object kept
    cdef readonly Py_ssize_t nq, nv, nnz
    cdef Py_ssize_t units
    cdef const Py_ssize_t *unit
    cdef bint coupled
    cdef const Py_ssize_t *follows
    cdef const double *ratio
    cdef const Py_ssize_t *fold
    cdef const double *fold_ratio

    cdef Py_ssize_t size(self, int op) noexcept nogil
    cdef Py_ssize_t room(self, int op, int lanes) noexcept nogil
    cdef bint is_configuration(self, const double *q, int step) noexcept nogil
    cdef void expand(self, int lanes, const double *v, double *x) noexcept nogil
    cdef void reduce(self, int lanes, Py_ssize_t count, Py_ssize_t reduced, const Py_ssize_t *to,
                     const double *ratio, const double *x, double *y) noexcept nogil
    cdef void compute(self, int op, int lanes, const Arguments *given, Py_ssize_t *failed,
                      double *work) noexcept nogil
    cdef void find_failures(self, int lanes, const double *D, Py_ssize_t *failed) noexcept nogil
    cdef void solve(self, int lanes, double *H, double *D, double *inverse, double *scratch, double *x,
                    Py_ssize_t *failed) noexcept nogil
    cdef bint plain(self, int op, object q, object v, object x, object out) noexcept
    cdef bint run(self, int op, const Arguments *given) noexcept
    cdef object one(self, int op, object q, object v, object x, object out)
    cdef object many(self, int op, object q, object v, object x, object out)
    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *given, cnp.ndarray out, str layout,
                         Py_ssize_t *failed, Py_ssize_t first, Py_ssize_t stop) except False
    cdef void unpack(self, const double *packed, Py_ssize_t step, double *H) noexcept nogil
    cdef void refuse(self, const Operand *given, double **x, Py_ssize_t size) noexcept nogil
    cdef void pad(self, int count, double *H) noexcept nogil


cpdef Bodies bodies_of(model)
