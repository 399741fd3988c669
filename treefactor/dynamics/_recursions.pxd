"""C interface of the recursions: the structs of the kernels, and the class that calls them."""

cimport numpy as cnp
from ..tree._pattern cimport Pattern
from ..tree._operands cimport Operand
from ._coupling cimport Coupling
from ._results cimport Rows

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
        const double *inertias
        const double *armature
        Py_ssize_t in_lanes
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
        void (*static_forces)(const Mechanism *, const double *q, const double *fext, double *tau,
                              double *workspace) noexcept nogil
        void (*energy)(const Mechanism *, const double *q, const double *v, int potential, double *energy,
                       double *workspace) noexcept nogil
        void (*coriolis)(const Mechanism *, const double *q, const double *v, double *C,
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
    GRAVITY
    STATIC_TORQUE
    KINETIC_ENERGY
    POTENTIAL_ENERGY
    MECHANICAL_ENERGY
    CORIOLIS
    CORIOLIS_PACKED
    INVERSE
    CRBA_PACKED


ctypedef struct Arguments:       # entry e of a configuration at x[e]; with lanes at x[e * lanes + lane]
    const double *q
    const double *v
    const double *x              # a, tau, or the vector that H multiplies
    const double *fext
    double *out


cdef inline bint takes_v(int op) noexcept nogil:
    """Return whether an operation reads velocities."""
    return op not in (CRBA, CRBA_PACKED, H_TIMES, GRAVITY, STATIC_TORQUE, POTENTIAL_ENERGY, INVERSE)


cdef inline bint takes_x(int op) noexcept nogil:
    """Return whether an operation reads accelerations, forces or a vector to multiply."""
    return op in (RNEA, H_TIMES, ABA, FACTOR, MOTION, JOINT_FORCES, BASE_FORCE)


cdef inline bint gives_freedoms(int op) noexcept nogil:
    """Return whether the result begins with an entry for every freedom."""
    return op in (RNEA, BIAS, H_TIMES, ABA, FACTOR, MOTION, GRAVITY, STATIC_TORQUE)


cdef inline bint gives_h(int op) noexcept nogil:
    """Return whether an operation computes the packed rows of H."""
    return op in (CRBA, CRBA_PACKED, FACTOR, MOTION, INVERSE)


cdef inline bint gives_coriolis(int op) noexcept nogil:
    """Return whether an operation computes the packed entries of the Coriolis matrix."""
    return op == CORIOLIS or op == CORIOLIS_PACKED


cdef inline bint is_energy(int op) noexcept nogil:
    """Return whether the result is one number."""
    return op in (KINETIC_ENERGY, POTENTIAL_ENERGY, MECHANICAL_ENERGY)


cdef inline bint is_unpacked(int op) noexcept nogil:
    """Return whether the result is a dense matrix that is computed as packed entries."""
    return op == CRBA or op == CORIOLIS


cdef class Bodies:
    cdef Mechanism m
    cdef Py_ssize_t elements     # of a batch that have their own inertias; -1: all share one set
    cdef const double *sets      # inertias and armature: a set, or 8 in lanes, one after the other
    cdef bint one_axis           # elements or none lie along one axis of a batch: fast paths know no other
    cdef Py_ssize_t set_size     # doubles of one set
    cdef const Py_ssize_t *which  # set of every element; NULL: sets are in lanes
    cdef Pattern pattern
    cdef object kept, arguments
    cdef readonly Py_ssize_t nq, nv, nnz
    cdef Py_ssize_t units        # number of unit vectors in q
    cdef const Py_ssize_t *unit  # first entry and size of each
    cdef bint coupled            # by mimic joints
    cdef Coupling coupling

    cdef Mechanism mechanism(self, Py_ssize_t b, double *gathered) noexcept nogil
    cdef Py_ssize_t gathered_size(self) noexcept nogil
    cdef Py_ssize_t size(self, int op) noexcept nogil
    cdef int result_shape(self, int op, cnp.npy_intp *shape) noexcept nogil
    cdef Py_ssize_t workspace_size(self, int op, int lanes) noexcept nogil
    cdef bint is_configuration(self, const double *q, int step) noexcept nogil
    cdef void compute(self, const Mechanism *m, int op, int lanes, const Arguments *args, Py_ssize_t *failed,
                      double *work) noexcept nogil
    cdef void reduce(self, int op, int lanes, const double *full_H, const double *x, double *H,
                     double *y) noexcept nogil
    cdef void run_recursion(self, const Mechanism *m, int op, const Recursions *r, const Arguments *args,
                            double *H, double *D, double *workspace) noexcept nogil
    cdef void factor(self, int op, int lanes, double *H, double *D, double *inverse, double *scratch,
                     double *x, Py_ssize_t *failed) noexcept nogil
    cdef bint run_one(self, int op, const Arguments *args) noexcept nogil
    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *operands, cnp.ndarray out, str layout,
                         Py_ssize_t *failed, Py_ssize_t first, Py_ssize_t stop) except False
    cdef Py_ssize_t rows_workspace_size(self, int op, const Operand *operands) noexcept nogil
    cdef bint compute_rows(self, int op, Py_ssize_t batch, const Operand *operands, const Rows *rows,
                           Py_ssize_t *failed, Py_ssize_t first, Py_ssize_t stop) noexcept nogil
    cdef void invalidate(self, const Operand *operands, double **x, Py_ssize_t size) noexcept nogil


cpdef Bodies bodies_of(model)
