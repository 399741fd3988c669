"""Validate chains, and compute inertia matrices and forces of batches; one short chain has a fast path.

All arrays are C-contiguous float64; _chain_recursions.pyx gives their shapes.
"""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport fabs
from libc.stdint cimport uint8_t
from libc.stdlib cimport free, malloc

from ._chain_recursions cimport (
    SHORT,
    Chain,
    columns_of,
    dot,
    forces_of,
    inertia_of,
    momenta_of,
    tiles_of,
    workspace_of,
)

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

# ----------------------------------------------------------------------------------------------- validation

cdef inline bint finite(Py_ssize_t count, const double *x) noexcept nogil:
    """Return whether all entries are finite."""
    cdef Py_ssize_t k
    cdef bint sound = True
    for k in range(count):
        sound &= fabs(x[k]) <= DBL_MAX
    return sound


cdef Fault fault_of_tensor(const double *I) noexcept nogil:
    """Return SOUND if a tensor is symmetric and no principal minor is negative beyond rounding."""
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
    """Return the first fault of a chain; joint <- where it is."""
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


# -------------------------------------------------------------------------------------------------- batches

cdef inline Py_ssize_t step(cnp.ndarray x, int tail) noexcept:
    """Return the entries between the arrays of successive chains: 0 if all share one."""
    cdef Py_ssize_t size = 1
    cdef int d
    if x.ndim == tail:
        return 0
    for d in range(1, x.ndim):
        size *= x.shape[d]
    return size


cdef class Chains:
    """Arrays of a batch of chains: each (batch, ...), or without that axis if all chains share it."""

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
        """Return pointers to the arrays of chain b."""
        cdef Chain s = self.first
        s.axis += b * self.to_axis
        s.r += b * self.to_r
        s.mass += b * self.to_mass
        s.c += b * self.to_c
        s.inertia += b * self.to_inertia
        return s

    def faults(self, Py_ssize_t[::1] kind not None, Py_ssize_t[::1] joint not None):
        """kind[b] <- 0 or one of FAULTS, joint[b] <- the joint where, for every chain."""
        cdef Py_ssize_t b
        cdef Chain s
        with nogil:
            for b in range(kind.shape[0]):
                s = self.at(b)
                kind[b] = fault_of(&s, &joint[b])

    def workspace(self):
        """Return an array for `momenta`."""
        cdef cnp.npy_intp size = workspace_of(self.first.n)
        return cnp.PyArray_SimpleNew(1, &size, cnp.NPY_DOUBLE)

    def parts(self):
        """Return the number of parts of `columns`: pairs of tiles, the first with the last, of equal work."""
        return (tiles_of(self.first.n) + 1) // 2

    def momenta(self, Py_ssize_t b, cnp.ndarray A not None, cnp.ndarray workspace not None):
        """Diagonal of A[b] <- that of the inertia matrix of chain b; workspace <- what `columns` reads."""
        cdef double *to = <double *> A.data + b * self.first.n * self.first.n
        cdef Chain s = self.at(b)
        with nogil:
            momenta_of(&s, to, <double *> workspace.data)

    def columns(self, Py_ssize_t b, cnp.ndarray A not None, cnp.ndarray workspace not None,
                Py_ssize_t first, Py_ssize_t stop):
        """A[b] <- entries beside the diagonal, of the parts first .. stop-1 of the columns."""
        cdef double *to = <double *> A.data + b * self.first.n * self.first.n
        cdef Py_ssize_t last = tiles_of(self.first.n) - 1, part
        cdef Chain s = self.at(b)
        with nogil:
            for part in range(first, stop):
                columns_of(&s, <const double *> workspace.data, part, to)
                if last - part != part:
                    columns_of(&s, <const double *> workspace.data, last - part, to)

    def inertia(self, cnp.ndarray A not None, Py_ssize_t first, Py_ssize_t stop):
        """A[b] <- the inertia matrix of chain b, from chain first to stop-1."""
        cdef Py_ssize_t n = self.first.n, b
        cdef double *to = <double *> A.data
        cdef double *workspace = allocate_workspace(n)
        cdef Chain s
        with nogil:
            for b in range(first, stop):
                s = self.at(b)
                inertia_of(&s, to + b * n * n, workspace)
        free(workspace)

    def forces(self, cnp.ndarray rate not None, cnp.ndarray force not None, cnp.ndarray moment not None,
               cnp.ndarray torque not None, cnp.ndarray out not None):
        """out[b] <- the forces of chain b; arrays without a batch axis are shared by all chains."""
        cdef Py_ssize_t n = self.first.n, b
        cdef Py_ssize_t to_rate = step(rate, 1), to_torque = step(torque, 1)
        cdef Py_ssize_t to_force = step(force, 2), to_moment = step(moment, 2)
        cdef const double *q = <const double *> rate.data
        cdef const double *f = <const double *> force.data
        cdef const double *m = <const double *> moment.data
        cdef const double *t = <const double *> torque.data
        cdef double *to = <double *> out.data
        cdef double *workspace = allocate_workspace(n)
        cdef Chain s
        with nogil:
            for b in range(out.shape[0]):
                s = self.at(b)
                forces_of(
                    &s, q + b * to_rate, f + b * to_force, m + b * to_moment, t + b * to_torque,
                    to + b * n, workspace,
                )
        free(workspace)


cdef double *allocate_workspace(Py_ssize_t n) except NULL:
    """Return the workspace of the recursions."""
    cdef double *workspace = <double *> malloc((workspace_of(n) + 1) * sizeof(double))
    if workspace == NULL:
        raise MemoryError(f"cannot allocate {workspace_of(n)} doubles for a chain of {n} joints")
    return workspace


# ------------------------------------------------------------------------------------------------ fast path

cdef uint8_t no_slides[SHORT]    # zeros: every joint is revolute
cdef double no_load[3 * SHORT]   # zeros


cdef const void *contiguous_data(object x, int type, int ndim, Py_ssize_t n) noexcept:
    """Return the data of a contiguous array (n,), (n, 3) or (n, 3, 3) of that type, otherwise NULL."""
    cdef int d
    if not (cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(<cnp.ndarray> x) == type
            and cnp.PyArray_NDIM(<cnp.ndarray> x) == ndim and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x)):
        return NULL
    for d in range(ndim):
        if cnp.PyArray_DIM(<cnp.ndarray> x, d) != (3 if d else n):
            return NULL
    return cnp.PyArray_DATA(<cnp.ndarray> x)


cdef bint read_one(Chain *s, axis, r, mass, c, inertia, prismatic) noexcept:
    """Fill in one short chain; return whether all its arrays are contiguous and valid."""
    cdef Py_ssize_t joint = 0
    if not cnp.PyArray_CheckExact(mass) or cnp.PyArray_NDIM(<cnp.ndarray> mass) != 1:
        return False
    s.n = cnp.PyArray_DIM(<cnp.ndarray> mass, 0)
    s.axis = <const double *> contiguous_data(axis, cnp.NPY_DOUBLE, 2, s.n)
    s.r = <const double *> contiguous_data(r, cnp.NPY_DOUBLE, 2, s.n)
    s.mass = <const double *> contiguous_data(mass, cnp.NPY_DOUBLE, 1, s.n)
    s.c = <const double *> contiguous_data(c, cnp.NPY_DOUBLE, 2, s.n)
    s.inertia = <const double *> contiguous_data(inertia, cnp.NPY_DOUBLE, 3, s.n)
    s.slides = &no_slides[0]
    if prismatic is not None:
        s.slides = <const uint8_t *> contiguous_data(prismatic, cnp.NPY_BOOL, 1, s.n)
    return (s.n <= SHORT and s.axis != NULL and s.r != NULL and s.mass != NULL and s.c != NULL
            and s.inertia != NULL and s.slides != NULL and fault_of(s, &joint) == SOUND)


cdef const double *read_load(object x, int ndim, Py_ssize_t n) noexcept:
    """Return the data of a contiguous and finite load, zeros for None, otherwise NULL."""
    cdef const double *data = &no_load[0]
    if x is not None:
        data = <const double *> contiguous_data(x, cnp.NPY_DOUBLE, ndim, n)
    if data != NULL and not finite(n * (3 if ndim == 2 else 1), data):
        return NULL
    return data


def inertia_of_one(axis, r, mass, c, inertia, prismatic):
    """Return A (n, n) of one short chain of contiguous, valid arrays, otherwise None."""
    cdef cnp.npy_intp shape[2]
    cdef double workspace[6 * SHORT]
    cdef Chain s
    if not read_one(&s, axis, r, mass, c, inertia, prismatic):
        return None
    shape[0] = shape[1] = s.n
    A = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
    inertia_of(&s, <double *> cnp.PyArray_DATA(<cnp.ndarray> A), workspace)
    return A


def forces_of_one(axis, r, mass, c, inertia, rate, force, moment, torque, prismatic):
    """Return b (n,) of one short chain, or None as `inertia_of_one` does; loads may be None."""
    cdef cnp.npy_intp n
    cdef double workspace[6 * SHORT]
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
    forces_of(&s, q, f, m, t, <double *> cnp.PyArray_DATA(<cnp.ndarray> b), workspace)
    return b
