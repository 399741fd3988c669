"""Structs of the kernels of the dynamics."""

cdef extern from "kernels/dynamics/bodies.h" nogil:
    ctypedef struct Body:
        Py_ssize_t kind, parent, q, v, freedoms, angle, joint, circle, copied, local, above, below
        Py_ssize_t turn, leaf, last
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
        const void *limbs
        Py_ssize_t limb_lanes

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
        int (*are_pivots)(Py_ssize_t entries, const double *D) noexcept nogil
        int (*best_limb_lanes)(const Mechanism *) noexcept nogil
        Py_ssize_t (*fold)(const Mechanism *, double *memory) noexcept nogil

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

cdef enum:                       # what `factor_and_solve` computes
    FACTOR
    INVERSE


ctypedef struct InertiaSets:     # inertias and armature of a batch
    Py_ssize_t elements          # that have their own; -1: all configurations share one set
    const double *first          # a set, or 8 in lanes; the others follow
    Py_ssize_t size              # doubles of one set
    const Py_ssize_t *which      # number of the set of every element; NULL: sets are in lanes
