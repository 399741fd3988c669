"""C interface of the recursions: the structs of the kernels, and the class that calls them."""

cimport numpy as cnp
from ..tree._pattern cimport Pattern
from ..tree._operands cimport Operand

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
        Py_ssize_t (*workspace_size)(const Mechanism *) noexcept nogil
        void (*crba)(const Mechanism *, const double *q, double *H, double *workspace) noexcept nogil
        void (*rnea)(const Mechanism *, const double *q, const double *v, const double *a, const double *fext,
                     int gravity, double *tau, double *workspace) noexcept nogil
        void (*reactions)(const Mechanism *, const double *q, const double *v, const double *a,
                          const double *fext, double *joints, double *base, double *workspace) noexcept nogil
        void (*equation_of_motion)(const Mechanism *, const double *q, const double *v, const double *fext,
                                   double *H, double *bias, double *workspace) noexcept nogil
        void (*aba)(const Mechanism *, const double *q, const double *v, const double *tau,
                    const double *fext, double *qdd, double *D, double *workspace) noexcept nogil
        void (*frames)(const Mechanism *, const double *q, const double *v, double *frames,
                       double *workspace) noexcept nogil

    ctypedef struct Dynamics:
        const char *name
        Recursions one
        Recursions lanes
        void (*sincos)(Py_ssize_t n, const double *x, double *s, double *c) noexcept nogil

    const Dynamics dynamics_baseline

cdef extern from "kernels/dynamics/body_motion.h" nogil:
    ctypedef struct BodyMotion:
        double axes[9]
        double origin[3]
        double root[3]
        double velocity[6]
        double acceleration[6]

    ctypedef struct Entry:
        Py_ssize_t freedom, side, place
        double ratio

    Py_ssize_t RECORD
    Py_ssize_t UNIT_MOTION(Py_ssize_t joints, Py_ssize_t k)

cdef enum:                       # operations
    CRBA
    RNEA
    BIAS
    H_TIMES
    ABA
    FACTOR
    FRAMES
    MOTION
    JOINT_FORCES
    BASE_FORCE


ctypedef struct Arguments:       # entry e of a configuration at x[e]; with lanes at x[e * lanes + lane]
    const double *q
    const double *v
    const double *x              # a, tau, or the vector that H multiplies
    const double *fext
    double *out


cdef inline bint takes_v(int op) noexcept nogil:
    """Return whether an operation reads velocities."""
    return op != CRBA and op != H_TIMES


cdef inline bint takes_x(int op) noexcept nogil:
    """Return whether an operation reads accelerations, forces or a vector to multiply."""
    return op != CRBA and op != BIAS and op != FRAMES


cdef inline bint gives_freedoms(int op) noexcept nogil:
    """Return whether the result begins with an entry for every freedom."""
    return op != CRBA and op != FRAMES and op != JOINT_FORCES and op != BASE_FORCE


cdef class Bodies:
    cdef Mechanism m
    cdef Pattern pattern
    cdef object kept
    cdef readonly Py_ssize_t nq, nv, nnz
    cdef Py_ssize_t units        # number of unit vectors in q
    cdef const Py_ssize_t *unit  # first entry and size of each
    cdef bint coupled            # mimic joints: the four arrays below
    cdef const Py_ssize_t *follows
    cdef const double *ratio
    cdef const Py_ssize_t *fold
    cdef const double *fold_ratio

    cdef Py_ssize_t size(self, int op) noexcept nogil
    cdef Py_ssize_t workspace_size(self, int op, int lanes) noexcept nogil
    cdef bint is_configuration(self, const double *q, int step) noexcept nogil
    cdef void expand(self, int lanes, const double *v, double *x) noexcept nogil
    cdef void reduce(self, int lanes, Py_ssize_t count, Py_ssize_t reduced, const Py_ssize_t *to,
                     const double *ratio, const double *x, double *y) noexcept nogil
    cdef void compute(self, int op, int lanes, const Arguments *args, Py_ssize_t *failed,
                      double *work) noexcept nogil
    cdef void run_recursion(self, int op, const Recursions *r, const Arguments *args, double *H, double *D,
                            double *workspace) noexcept nogil
    cdef void find_failures(self, int lanes, const double *D, Py_ssize_t *failed) noexcept nogil
    cdef void solve(self, int lanes, double *H, double *D, double *inverse, double *scratch, double *x,
                    Py_ssize_t *failed) noexcept nogil
    cdef bint run_one(self, int op, const Arguments *args) noexcept
    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *operands, cnp.ndarray out, str layout,
                         Py_ssize_t *failed, Py_ssize_t first, Py_ssize_t stop) except False
    cdef void unpack(self, const double *packed, Py_ssize_t step, double *H) noexcept nogil
    cdef void invalidate(self, const Operand *operands, double **x, Py_ssize_t size) noexcept nogil
    cdef void pad(self, int count, double *H) noexcept nogil


cpdef Bodies bodies_of(model)
