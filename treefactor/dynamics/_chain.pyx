"""Inertia matrix and forces of chains: kernels that trust their arrays, and the checks that come before them.

All arrays are C-contiguous float64; those of one chain of n bodies are axis, r, c (n, 3), mass (n,), inertia
(n, 3, 3), all in the base frame, moments about O_k; r[k] is from O_k-1 to O_k. slides (n,) marks prismatic
joints. The recursions are those of dynamics/chain_on_scalars.py.
"""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport fabs
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

from ..tolerances import SEMIDEFINITE as _SEMIDEFINITE
from ..tolerances import SYMMETRY as _SYMMETRY
from ..tolerances import UNIT as _UNIT

cnp.import_array()

cdef double SEMIDEFINITE = _SEMIDEFINITE, SYMMETRY = _SYMMETRY, UNIT = _UNIT

cpdef enum Fault:
    SOUND
    NOT_FINITE
    NOT_UNIT
    NEGATIVE_MASS
    NOT_SYMMETRIC
    NOT_SEMIDEFINITE

FAULTS = {
    NOT_FINITE: "joint {} or its body holds a number that is not finite",
    NOT_UNIT: "the axis of joint {} is not a unit vector",
    NEGATIVE_MASS: "body {} has a negative mass",
    NOT_SYMMETRIC: "the inertia of body {} is not symmetric",
    NOT_SEMIDEFINITE: "the inertia of body {} is not positive semidefinite",
}

ctypedef struct Chain:
    Py_ssize_t n
    const double *axis
    const double *r
    const double *mass
    const double *c
    const double *inertia
    const uint8_t *slides


# -------------------------------------------------------------------------------------------- three scalars

cdef inline double dot(const double *x, const double *y) noexcept nogil:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


cdef inline void cross(const double *x, const double *y, double *z) noexcept nogil:
    z[0] = x[1] * y[2] - x[2] * y[1]
    z[1] = x[2] * y[0] - x[0] * y[2]
    z[2] = x[0] * y[1] - x[1] * y[0]


cdef inline void add_cross(const double *x, const double *y, double *z) noexcept nogil:
    z[0] += x[1] * y[2] - x[2] * y[1]
    z[1] += x[2] * y[0] - x[0] * y[2]
    z[2] += x[0] * y[1] - x[1] * y[0]


cdef inline void apply(const double *M, const double *x, double *y) noexcept nogil:
    y[0] = dot(M, x)
    y[1] = dot(M + 3, x)
    y[2] = dot(M + 6, x)


# ---------------------------------------------------------------------------------------------- the checks

cdef inline bint finite(Py_ssize_t count, const double *x) noexcept nogil:
    cdef Py_ssize_t k
    cdef bint sound = True
    for k in range(count):
        sound &= fabs(x[k]) <= DBL_MAX
    return sound


cdef Fault fault_of_tensor(const double *I) noexcept nogil:
    """Whether a tensor is symmetric and no principal minor of it is negative beyond rounding."""
    cdef double s = fabs(I[0]) + fabs(I[4]) + fabs(I[8]) + fabs(I[1]) + fabs(I[2]) + fabs(I[5]), low
    if fabs(I[1] - I[3]) + fabs(I[2] - I[6]) + fabs(I[5] - I[7]) > SYMMETRY * s:
        return NOT_SYMMETRIC
    low = -SEMIDEFINITE * s
    if I[0] < low or I[4] < low or I[8] < low:
        return NOT_SEMIDEFINITE
    low *= s
    if I[0] * I[4] - I[1] * I[1] < low or I[0] * I[8] - I[2] * I[2] < low or I[4] * I[8] - I[5] * I[5] < low:
        return NOT_SEMIDEFINITE
    low *= s
    if (I[0] * (I[4] * I[8] - I[5] * I[5]) - I[1] * (I[1] * I[8] - I[5] * I[2])
            + I[2] * (I[1] * I[5] - I[4] * I[2])) < low:
        return NOT_SEMIDEFINITE
    return SOUND


cdef Fault fault_of(const Chain *s, Py_ssize_t *joint) noexcept nogil:
    """The first thing wrong with a chain, and the joint where."""
    cdef Py_ssize_t k
    cdef Fault fault
    for k in range(s.n):
        joint[0] = k
        if not (finite(3, s.axis + 3 * k) and finite(3, s.r + 3 * k) and finite(3, s.c + 3 * k)
                and finite(1, s.mass + k) and finite(9, s.inertia + 9 * k)):
            return NOT_FINITE
        if fabs(dot(s.axis + 3 * k, s.axis + 3 * k) - 1) > 2 * UNIT:
            return NOT_UNIT
        if s.mass[k] < 0:
            return NEGATIVE_MASS
        fault = fault_of_tensor(s.inertia + 9 * k)
        if fault != SOUND:
            return fault
    return SOUND


# -------------------------------------------------------------------------------------- the inertia matrix

cdef void velocities(const Chain *s, double *o, double *v) noexcept nogil:
    """o_k from O_1 to O_k, and the velocity at O_1 that turning about joint k gives, (n, 3) each."""
    cdef Py_ssize_t k, d
    for k in range(s.n):
        for d in range(3):
            o[3 * k + d] = 0.0 if k == 0 else o[3 * (k - 1) + d] + s.r[3 * k + d]
        cross(o + 3 * k, s.axis + 3 * k, v + 3 * k)


cdef inline void move(double *I, const double *h, const double *r, const double *shifted) noexcept nogil:
    """Symmetric I (3, 3) from O + r to O; first moments h and h + m r about these points."""
    #   I' = I + (2 r^T h + m r^T r) E - r h^T - (h + m r) r^T
    cdef double x = r[0] * (h[0] + shifted[0])
    cdef double y = r[1] * (h[1] + shifted[1])
    cdef double z = r[2] * (h[2] + shifted[2])
    I[0] += y + z
    I[4] += x + z
    I[8] += x + y
    I[1] -= r[0] * h[1] + r[1] * shifted[0]
    I[2] -= r[0] * h[2] + r[2] * shifted[0]
    I[5] -= r[1] * h[2] + r[2] * shifted[1]
    I[3] = I[1]
    I[6] = I[2]
    I[7] = I[5]


cdef void inertia_of(const Chain *s, double *A, double *room) noexcept nogil:
    """A (n, n) of one chain; room (2 n, 3)."""
    cdef Py_ssize_t n = s.n, i, k, d
    cdef double *o = room
    cdef double *v = room + 3 * n
    cdef double m = 0.0, entry
    cdef double h[3]
    cdef double shifted[3]
    cdef double P[3]
    cdef double L[3]
    cdef double I[9]
    cdef const double *a
    velocities(s, o, v)
    for d in range(3):
        h[d] = shifted[d] = 0.0
    for d in range(9):
        I[d] = 0.0
    for k in range(n - 1, -1, -1):
        a = s.axis + 3 * k
        if k < n - 1:
            for d in range(3):
                shifted[d] = h[d] + m * s.r[3 * k + 3 + d]
            move(I, h, s.r + 3 * k + 3, shifted)
        m += s.mass[k]
        for d in range(3):
            h[d] = shifted[d] + s.c[3 * k + d]
        for d in range(9):
            I[d] += s.inertia[9 * k + d]
        if s.slides[k]:
            for d in range(3):
                P[d] = m * a[d]
            cross(h, a, L)
            A[k * n + k] = m
        else:
            cross(a, h, P)
            apply(I, a, L)
            A[k * n + k] = dot(a, L)
        add_cross(o + 3 * k, P, L)
        for i in range(k):
            if s.slides[i]:
                entry = dot(s.axis + 3 * i, P)
            else:
                entry = dot(s.axis + 3 * i, L) + dot(v + 3 * i, P)
            A[i * n + k] = entry
            A[k * n + i] = entry


# ---------------------------------------------------------------------------------------------- the forces

cdef inline void rotation_rates(const double *w, const double *e, double *E) noexcept nogil:
    """E = e~ + w~ w~."""
    cdef double xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2]
    cdef double xy = w[0] * w[1], xz = w[0] * w[2], yz = w[1] * w[2]
    E[0] = -(yy + zz)
    E[1] = xy - e[2]
    E[2] = xz + e[1]
    E[3] = xy + e[2]
    E[4] = -(xx + zz)
    E[5] = yz - e[0]
    E[6] = xz - e[1]
    E[7] = yz + e[0]
    E[8] = -(xx + yy)


cdef void inertial(const Chain *s, const double *rate, double *f, double *m) noexcept nogil:
    """f^I and m^I (n, 3) of every body, about O_j, where all accelerations of joints are zero."""
    cdef Py_ssize_t j, d
    cdef double w[3]
    cdef double e[3]
    cdef double u[3]             # angular velocity, its rate, acceleration of O_j
    cdef double E[9]
    cdef double x[3]
    cdef double y[3]
    for d in range(3):
        w[d] = e[d] = u[d] = 0.0
    for j in range(s.n):
        if j:                                             # (5)
            apply(E, s.r + 3 * j, x)
            for d in range(3):
                u[d] += x[d]
        for d in range(3):
            x[d] = s.axis[3 * j + d] * rate[j]
        cross(w, x, y)
        for d in range(3):
            if s.slides[j]:
                u[d] += 2 * y[d]
            else:                                         # (3), (4)
                w[d] += x[d]
                e[d] += y[d]
        rotation_rates(w, e, E)
        apply(E, s.c + 3 * j, x)                          # (11)
        for d in range(3):
            f[3 * j + d] = -s.mass[j] * u[d] - x[d]
        apply(s.inertia + 9 * j, e, m + 3 * j)
        add_cross(s.c + 3 * j, u, m + 3 * j)
        apply(s.inertia + 9 * j, w, x)
        add_cross(w, x, m + 3 * j)
        for d in range(3):
            m[3 * j + d] = -m[3 * j + d]


cdef void forces_of(const Chain *s, const double *rate, const double *force, const double *moment,
                    const double *torque, double *b, double *room) noexcept nogil:
    """b (n,) of one chain; room (2 n, 3)."""
    cdef Py_ssize_t n = s.n, j, d
    cdef double *f = room
    cdef double *m = room + 3 * n
    inertial(s, rate, f, m)
    for j in range(n - 1, -1, -1):                        # (17)-(19)
        for d in range(3):
            f[3 * j + d] += force[3 * j + d]
            m[3 * j + d] += moment[3 * j + d]
            if j < n - 1:
                f[3 * j + d] += f[3 * j + 3 + d]
                m[3 * j + d] += m[3 * j + 3 + d]
        if j < n - 1:
            add_cross(s.r + 3 * j + 3, f + 3 * j + 3, m + 3 * j)
        b[j] = dot(s.axis + 3 * j, (f if s.slides[j] else m) + 3 * j) + torque[j]


# ---------------------------------------------------------------------------------------------- the batches

cdef inline Py_ssize_t step(cnp.ndarray x, int tail) noexcept:
    """Entries from one chain's array to the next one's: none where all share it."""
    cdef Py_ssize_t size = 1
    cdef int d
    if x.ndim == tail:
        return 0
    for d in range(1, x.ndim):
        size *= x.shape[d]
    return size


cdef class Chains:
    """Arrays of a batch of chains: each (batch, ...), or without that axis where all chains share it."""

    cdef Chain first
    cdef Py_ssize_t to_axis, to_r, to_mass, to_c, to_inertia
    cdef tuple kept

    def __cinit__(self, cnp.ndarray axis not None, cnp.ndarray r not None, cnp.ndarray mass not None,
                  cnp.ndarray c not None, cnp.ndarray inertia not None, cnp.ndarray slides not None):
        self.kept = (axis, r, mass, c, inertia, slides)
        self.first.n = slides.shape[0]
        self.first.axis = <const double *> axis.data
        self.first.r = <const double *> r.data
        self.first.mass = <const double *> mass.data
        self.first.c = <const double *> c.data
        self.first.inertia = <const double *> inertia.data
        self.first.slides = <const uint8_t *> slides.data
        self.to_axis = step(axis, 2)
        self.to_r = step(r, 2)
        self.to_mass = step(mass, 1)
        self.to_c = step(c, 2)
        self.to_inertia = step(inertia, 3)

    cdef Chain at(self, Py_ssize_t b) noexcept nogil:
        cdef Chain s = self.first
        s.axis += b * self.to_axis
        s.r += b * self.to_r
        s.mass += b * self.to_mass
        s.c += b * self.to_c
        s.inertia += b * self.to_inertia
        return s

    def faults(self, Py_ssize_t[::1] kind not None, Py_ssize_t[::1] joint not None):
        """Fill in what is wrong with every chain, 0 or one of FAULTS, and the joint where."""
        cdef Py_ssize_t b
        cdef Chain s
        with nogil:
            for b in range(kind.shape[0]):
                s = self.at(b)
                kind[b] = fault_of(&s, &joint[b])

    def inertia(self, cnp.ndarray A not None):
        """A[b] <- inertia matrix of chain b."""
        cdef Py_ssize_t n = self.first.n, b
        cdef double *to = <double *> A.data
        cdef double *room = take(n)
        cdef Chain s
        with nogil:
            for b in range(A.shape[0]):
                s = self.at(b)
                inertia_of(&s, to + b * n * n, room)
        free(room)

    def forces(self, cnp.ndarray rate not None, cnp.ndarray force not None, cnp.ndarray moment not None,
               cnp.ndarray torque not None, cnp.ndarray out not None):
        """out[b] <- forces of chain b; the arrays have a batch axis or not, as those of the chains."""
        cdef Py_ssize_t n = self.first.n, b
        cdef Py_ssize_t to_rate = step(rate, 1), to_torque = step(torque, 1)
        cdef Py_ssize_t to_force = step(force, 2), to_moment = step(moment, 2)
        cdef const double *q = <const double *> rate.data
        cdef const double *f = <const double *> force.data
        cdef const double *m = <const double *> moment.data
        cdef const double *t = <const double *> torque.data
        cdef double *to = <double *> out.data
        cdef double *room = take(n)
        cdef Chain s
        with nogil:
            for b in range(out.shape[0]):
                s = self.at(b)
                forces_of(
                    &s, q + b * to_rate, f + b * to_force, m + b * to_moment, t + b * to_torque,
                    to + b * n, room,
                )
        free(room)


cdef double *take(Py_ssize_t n) except NULL:
    """Room for two arrays (n, 3)."""
    cdef double *room = <double *> malloc((6 * n + 1) * sizeof(double))
    if room == NULL:
        raise MemoryError(f"no room for {6 * n} entries")
    return room


# ---------------------------------------------------------------------------------------- the short way

cdef enum:
    SHORT = 64                   # joints of chains that need no memory from the heap

cdef uint8_t all_turn[SHORT]     # zeros
cdef double nothing[3 * SHORT]   # zeros


cdef const void *plain(object x, int type, int ndim, Py_ssize_t n) noexcept:
    """Data of a contiguous array (n,), (n, 3) or (n, 3, 3) of that type; NULL of anything else."""
    cdef int d
    if not (cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(<cnp.ndarray> x) == type
            and cnp.PyArray_NDIM(<cnp.ndarray> x) == ndim and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x)):
        return NULL
    for d in range(ndim):
        if cnp.PyArray_DIM(<cnp.ndarray> x, d) != (3 if d else n):
            return NULL
    return cnp.PyArray_DATA(<cnp.ndarray> x)


cdef bint read_one(Chain *s, axis, r, mass, c, inertia, prismatic) noexcept:
    """Fill in one short chain; tell whether all its arrays are plain, and sound."""
    cdef Py_ssize_t joint = 0
    if not cnp.PyArray_CheckExact(mass) or cnp.PyArray_NDIM(<cnp.ndarray> mass) != 1:
        return False
    s.n = cnp.PyArray_DIM(<cnp.ndarray> mass, 0)
    s.axis = <const double *> plain(axis, cnp.NPY_DOUBLE, 2, s.n)
    s.r = <const double *> plain(r, cnp.NPY_DOUBLE, 2, s.n)
    s.mass = <const double *> plain(mass, cnp.NPY_DOUBLE, 1, s.n)
    s.c = <const double *> plain(c, cnp.NPY_DOUBLE, 2, s.n)
    s.inertia = <const double *> plain(inertia, cnp.NPY_DOUBLE, 3, s.n)
    s.slides = &all_turn[0] if prismatic is None else <const uint8_t *> plain(prismatic, cnp.NPY_BOOL, 1, s.n)
    return (s.n <= SHORT and s.axis != NULL and s.r != NULL and s.mass != NULL and s.c != NULL
            and s.inertia != NULL and s.slides != NULL and fault_of(s, &joint) == SOUND)


cdef const double *read_load(object x, int ndim, Py_ssize_t n) noexcept:
    """Data of a plain and finite load, zeros for None, otherwise NULL."""
    cdef const double *data = &nothing[0] if x is None else <const double *> plain(x, cnp.NPY_DOUBLE, ndim, n)
    if data != NULL and not finite(n * (3 if ndim == 2 else 1), data):
        return NULL
    return data


def inertia_of_one(axis, r, mass, c, inertia, prismatic):
    """A (n, n) of one short chain whose arrays are plain and sound; None otherwise, for others to look at."""
    cdef cnp.npy_intp shape[2]
    cdef double room[6 * SHORT]
    cdef Chain s
    if not read_one(&s, axis, r, mass, c, inertia, prismatic):
        return None
    shape[0] = shape[1] = s.n
    A = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
    inertia_of(&s, <double *> cnp.PyArray_DATA(<cnp.ndarray> A), room)
    return A


def forces_of_one(axis, r, mass, c, inertia, rate, force, moment, torque, prismatic):
    """b (n,) of one short chain, or None, as `inertia_of_one`; loads may be None."""
    cdef cnp.npy_intp n
    cdef double room[6 * SHORT]
    cdef Chain s
    if not read_one(&s, axis, r, mass, c, inertia, prismatic):
        return None
    n = s.n
    cdef const double *q = read_load(rate, 1, n)
    cdef const double *f = read_load(force, 2, n)
    cdef const double *m = read_load(moment, 2, n)
    cdef const double *t = read_load(torque, 1, n)
    if q == NULL or f == NULL or m == NULL or t == NULL:
        return None
    b = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_DOUBLE)
    forces_of(&s, q, f, m, t, <double *> cnp.PyArray_DATA(<cnp.ndarray> b), room)
    return b
