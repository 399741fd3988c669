"""Compute motions of frames in C, and their derivatives along one freedom, in the axes of the base.

`_frame_derivatives` has the formulas. A motion x is linear before angular, at the origin of the root body.
"""

from libc.string cimport memset

from .._util._rotations cimport add_cross
from ..dynamics._recursions cimport BodyMotion

cdef enum:
    ORIGINS
    ANGLE
    HELD_3D
    HELD_6D

ctypedef struct Part:            # rows of one pair of frames
    Py_ssize_t kind, row, pair
    Py_ssize_t i, j              # numbers of the two axes whose angle a row keeps
    Py_ssize_t local             # 1: rows of a contact are in the axes of the first frame

ctypedef struct Pair:
    Py_ssize_t body[2]           # joints; -1: the base
    double R[18]                 # axes of both frames in their bodies, one after the other
    double p[6]

ctypedef struct Drive:           # prescribes position, velocity and acceleration of one row
    Py_ssize_t row
    Py_ssize_t column            # of the driven joint; -1: the row is one of a loop
    Py_ssize_t q                 # place of that joint
    Py_ssize_t circle            # 1: q holds cosine and sine

ctypedef struct Moving:          # motion of a frame, or its derivative along one freedom
    double p[3]
    double turn[3]
    double u[3]
    double w[3]
    double c[3]
    double b[3]                  # angular acceleration

ctypedef struct UnitMotion:      # motion S of a freedom at unit rate, and rates of S
    double S[6]
    double first[6]              # V_l x S
    double second[6]             # A_l x S + V_l x (V_l x S)
    double mixed[6]              # (V_l + V_i) x S

ctypedef struct Frame:
    Py_ssize_t body
    double V[6]
    double A[6]
    double axes[9]               # axes of the frame, as columns
    double where[3]              # origin of the frame, from the origin of the root body
    Moving at


cdef inline void subtract(const double *a, const double *b, double *x) noexcept nogil:
    """x = a - b."""
    x[0], x[1], x[2] = a[0] - b[0], a[1] - b[1], a[2] - b[2]


cdef inline void add(double s, const double *a, double *x) noexcept nogil:
    """x += s a."""
    x[0] += s * a[0]
    x[1] += s * a[1]
    x[2] += s * a[2]


cdef inline double dot(const double *a, const double *b) noexcept nogil:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline void add_product(double s, const double *a, const double *da, const double *b, const double *db,
                             double *x) noexcept nogil:
    """x += s (da × b + a × db)."""
    add_cross(s, da, b, x)
    add_cross(s, a, db, x)


cdef inline void motion_cross(const double *x, const double *y, double *z) noexcept nogil:
    """z += x × y of motions."""
    add_cross(1.0, x + 3, y, z)
    add_cross(1.0, x, y + 3, z)
    add_cross(1.0, x + 3, y + 3, z + 3)


cdef inline void rotate(const double *axes, const double *x, double *y) noexcept nogil:
    """y = R x, R stored by columns."""
    cdef int r
    for r in range(3):
        y[r] = axes[r] * x[0] + axes[3 + r] * x[1] + axes[6 + r] * x[2]


cdef inline void place(const Pair *pair, int side, const BodyMotion *body, const BodyMotion *first,
                       const double *A, Frame *f) noexcept nogil:
    """Compute the motion of a frame from that of its body; positions are from the first body's root body."""
    cdef int r
    memset(f, 0, sizeof(Frame))
    f.body = pair.body[side]
    rotate(body.axes, pair.p + 3 * side, f.where)
    for r in range(3):
        rotate(body.axes, pair.R + 9 * side + 3 * r, f.axes + 3 * r)
        f.where[r] += body.origin[r]
        f.at.p[r] = f.where[r] + (body.root[r] - first.root[r])
    for r in range(6):
        f.V[r] = body.velocity[r]
        f.A[r] = A[6 * f.body + r] if f.body >= 0 else 0.0
    add(1.0, f.V + 3, f.at.w)
    add(1.0, f.A + 3, f.at.b)
    add(1.0, f.V, f.at.u)
    add_cross(1.0, f.at.w, f.where, f.at.u)
    add(1.0, f.A, f.at.c)
    add_cross(1.0, f.at.b, f.where, f.at.c)
    add_cross(1.0, f.at.w, f.at.u, f.at.c)


cdef inline void differentiate_by_q(const Frame *f, const UnitMotion *k, Moving *x) noexcept nogil:
    """Compute the derivative of a frame along a displacement of a freedom."""
    cdef double dV[6]
    cdef double dA[6]
    cdef double minus[6]
    cdef int r
    for r in range(6):
        dV[r], dA[r], minus[r] = k.first[r], k.second[r], -k.S[r]
    motion_cross(f.V, minus, dV)
    motion_cross(f.A, minus, dA)
    for r in range(6):
        minus[r] = -k.first[r]
    motion_cross(f.V, minus, dA)
    add(1.0, k.S + 3, x.turn)
    add(1.0, k.S, x.p)
    add_cross(1.0, k.S + 3, f.where, x.p)
    finish(f, dV, dA, x)


cdef inline void differentiate_by_v(const Frame *f, const UnitMotion *k, Moving *x) noexcept nogil:
    """Compute the derivative of a frame along a velocity of a freedom."""
    cdef double dA[6]
    cdef double minus[6]
    cdef int r
    for r in range(6):
        dA[r], minus[r] = k.mixed[r], -k.S[r]
    motion_cross(f.V, minus, dA)
    finish(f, k.S, dA, x)


cdef inline void finish(const Frame *f, const double *dV, const double *dA, Moving *x) noexcept nogil:
    """Compute the derivatives of velocities and classical accelerations from those of spatial ones."""
    add(1.0, dV + 3, x.w)
    add(1.0, dA + 3, x.b)
    add(1.0, dV, x.u)
    add_product(1.0, f.at.w, x.w, f.where, x.p, x.u)
    add(1.0, dA, x.c)
    add_product(1.0, f.at.b, x.b, f.where, x.p, x.c)
    add_product(1.0, f.at.w, x.w, f.at.u, x.u, x.c)


cdef inline void linear_rows(const Part *part, const Frame *f, double *y) noexcept nogil:
    """y <- distance, rate and acceleration of the origins in the axes of the base."""
    cdef const Frame *a = f if part.kind != ORIGINS else f + 1
    cdef const Frame *b = f + 1 if part.kind != ORIGINS else f
    subtract(a.at.p, b.at.p, y)
    subtract(a.at.u, b.at.u, y + 3)
    subtract(a.at.c, b.at.c, y + 6)
    if part.kind != HELD_3D:
        add_cross(-1.0, b.at.b, y, y + 6)
        add_cross(-1.0, b.at.w, y + 3, y + 6)
        add_cross(-1.0, b.at.w, y, y + 3)
        add_cross(-1.0, f.at.w, y + 3, y + 6)


cdef inline void linear_derivatives(const Part *part, const Frame *f, const Moving *d, const double *y,
                                    double *dy) noexcept nogil:
    """dy <- derivatives of y, which `linear_rows` computes."""
    cdef int side = part.kind == ORIGINS, opposite = 1 - side
    cdef const Frame *b = f + opposite
    cdef const Moving *db = d + opposite
    cdef double e[3]
    cdef double de[3]
    subtract(d[side].p, db.p, dy)
    subtract(d[side].u, db.u, dy + 3)
    subtract(d[side].c, db.c, dy + 6)
    if part.kind != HELD_3D:
        subtract(f[side].at.u, b.at.u, e)
        subtract(d[side].u, db.u, de)
        add_product(-1.0, b.at.b, db.b, y, dy, dy + 6)
        add_product(-1.0, b.at.w, db.w, e, de, dy + 6)
        add_product(-1.0, b.at.w, db.w, y, dy, dy + 3)
        add_product(-1.0, f.at.w, d.w, y + 3, dy + 3, dy + 6)


cdef inline void angular_rows(const Frame *f, const double *log, double *y) noexcept nogil:
    """y <- rotation vector, relative angular velocity and its derivative seen from the first frame."""
    add(1.0, log, y)
    subtract(f.at.w, f[1].at.w, y + 3)
    subtract(f.at.b, f[1].at.b, y + 6)
    add_cross(1.0, f.at.w, f[1].at.w, y + 6)


cdef inline void angular_derivatives(const Frame *f, const Moving *d, const double *log,
                                     double *dy) noexcept nogil:
    """dy <- derivatives of y, which `angular_rows` computes; behind the vector, log has its derivative."""
    cdef double turn[3]
    subtract(d.turn, d[1].turn, turn)
    rotate(log + 3, turn, dy)
    add_cross(1.0, d.turn, log, dy)
    subtract(d.w, d[1].w, dy + 3)
    subtract(d.b, d[1].b, dy + 6)
    add_product(1.0, f.at.w, d.w, f[1].at.w, d[1].w, dy + 6)


cdef inline void axis_motion(const Frame *f, Py_ssize_t i, double *x) noexcept nogil:
    """x <- axis i of a frame, and two derivatives by time."""
    memset(x, 0, 9 * sizeof(double))
    add(1.0, f.axes + 3 * i, x)
    add_cross(1.0, f.at.w, x, x + 3)
    add_cross(1.0, f.at.b, x, x + 6)
    add_cross(1.0, f.at.w, x + 3, x + 6)


cdef inline void axis_derivative(const Frame *f, const Moving *d, const double *x, double *dx) noexcept nogil:
    """dx <- derivative of x, which `axis_motion` computes."""
    memset(dx, 0, 9 * sizeof(double))
    add_cross(1.0, d.turn, x, dx)
    add_product(1.0, f.at.w, d.w, x, dx, dx + 3)
    add_product(1.0, f.at.b, d.b, x, dx, dx + 6)
    add_product(1.0, f.at.w, d.w, x + 3, dx + 3, dx + 6)


cdef inline double product_rule(const double *a, const double *b, int order) noexcept nogil:
    """Return a derivative by time of a . b."""
    if order == 0:
        return dot(a, b)
    if order == 1:
        return dot(a + 3, b) + dot(a, b + 3)
    return dot(a + 6, b) + 2.0 * dot(a + 3, b + 3) + dot(a, b + 6)
