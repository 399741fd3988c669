"""The bodies of a model as the recursions take them."""

cimport numpy as cnp

from ._pattern cimport Pattern

cdef extern from "kernels/bodies.h" nogil:
    ctypedef struct Body:
        Py_ssize_t kind, parent, q, v, freedoms, angle, joint, circle, copied
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
