"""The recursions over bodies bound to one model, and to NumPy arrays."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport NAN, fabs
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ..tree._pattern cimport (
    FACTORIZED,
    SOLVE,
    Pattern,
    Shape,
    Workspace,
    active,
    carve_workspace,
    clear_workspace,
    workspace_size,
)
from .._util._fast_arrays cimport all_finite, is_plain_matrix, is_plain_vector, is_real, is_result, may_overlap

import numpy as np

from .._util.messages import not_a_model
from ..tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/dynamics/bodies.h"
    #include "kernels/common/choose.h"
    CHOOSE(Dynamics, dynamics)
    """
    const Dynamics *dynamics_for(const char *name) nogil

cdef const Dynamics *dynamics = dynamics_for(active.name)

cdef enum:
    LOCAL = 6144                 # doubles of room on the C stack; larger robots allocate theirs

BODY = np.dtype(
    [
        *((name, np.intp) for name in "kind parent q v freedoms angle joint circle copied local above".split()),
        *((name, float) for name in ("ratio", "offset", "pitch")),
        *((name, float, size) for name, size in (("R", 9), ("p", 3), ("axes", 9))),
        ("mass", float), ("first", float, 3), ("tensor", float, 9), ("carried", float),
    ]
)  # the struct of bodies.h
cdef double unit_square = UNIT_SQUARE
assert BODY.itemsize == sizeof(Body)

KINDS = ("revolute", "continuous", "prismatic", "helical", "spherical", "planar", "translation", "freeflyer")
OPERATIONS = ("crba", "rnea", "bias", "h_times", "aba", "factor", "frames", "motion")  # as in the pxd


def sincos(x):
    """Sines and cosines of a vector."""
    cdef cnp.ndarray source = np.ascontiguousarray(x, dtype=np.float64)
    cdef cnp.ndarray s = np.empty_like(source), c = np.empty_like(source)
    dynamics.sincos(source.size, <const double *> source.data, <double *> s.data, <double *> c.data)
    return s, c


def sincos_address():
    """Address of what `sincos` calls, for machine code that calls it too."""
    return <size_t> dynamics.sincos


cdef void describe(cnp.ndarray x, Operand *found) noexcept:
    """Where the rows of an operand (batch, size) or (1, size) are; None is absent."""
    found.data, found.size, found.to_next = NULL, 0, 0
    if x is not None:
        found.data, found.size = x.data, x.shape[1]
        found.to_next = 0 if x.shape[0] == 1 else x.strides[0]


cdef bint take(object x, Py_ssize_t size, Py_ssize_t *batch, Operand *found) noexcept:
    """Where an array (batch, size) or (size,) has its rows; false if it is none, or of another batch."""
    cdef cnp.ndarray a
    if not is_real(x):
        return False
    a = x
    if not 1 <= a.ndim <= 2 or a.shape[a.ndim - 1] != size or a.strides[a.ndim - 1] != sizeof(double):
        return False
    found.data, found.size, found.to_next = a.data, size, 0
    if a.ndim == 1:
        return True
    if batch[0] >= 0 and batch[0] != a.shape[0]:
        return False
    batch[0], found.to_next = a.shape[0], a.strides[0]
    return True


cdef void load(const Operand *given, Py_ssize_t b, int count, double *X) noexcept nogil:
    """X <- configurations of block b; lanes beyond the last one repeat its first."""
    cdef const char *source
    if given.data == NULL:
        return
    source = given.data + b * LANES * given.to_next
    if count < LANES:
        active.lanes.load(given.size, LANES, source, 0, X)
    active.lanes.load(given.size, count, source, given.to_next, X)


cdef bint meet(const double *a, Py_ssize_t n, const double *b, Py_ssize_t m) noexcept nogil:
    """Whether vectors of n and m entries share memory; NULL does not."""
    return b != NULL and a < b + m and b < a + n


cdef bint gives_h(int op) noexcept nogil:
    return op == CRBA or op == FACTOR or op == MOTION


cdef bint takes_v(int op) noexcept nogil:
    return op != CRBA and op != H_TIMES


cdef bint takes_x(int op) noexcept nogil:
    return op != CRBA and op != BIAS and op != FRAMES


cdef Arguments arguments(int op, object q, object v, object x, object out) noexcept:
    """Where plain arrays have their data."""
    cdef Arguments found
    found.q = <const double *> cnp.PyArray_DATA(<cnp.ndarray> q)
    found.v = <const double *> cnp.PyArray_DATA(<cnp.ndarray> v) if takes_v(op) else NULL
    found.x = <const double *> cnp.PyArray_DATA(<cnp.ndarray> x) if takes_x(op) else NULL
    found.fext = NULL
    found.out = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
    return found


cdef class Bodies:
    """The recursions of one model. Trusts its callers: arrays are contiguous float64 and of the right size.

    Parameters
    ----------
    bodies : ndarray of BODY
    gravity : ndarray, shape (3,)
    extended : Tree
        Of the freedoms of all bodies.
    armature : ndarray, shape (n,)
    pattern : Pattern
        Of the tree of the freedoms v.
    nq : int
    units : ndarray of int, shape (m, 2)
        First entry and number of the entries of q whose squares must sum to 1.
    coupling : tuple of ndarrays, optional
        Where some freedoms follow others: which, in v, a freedom follows (n,); how many times (n,); for every
        packed entry of the extended H the entry of H it goes to, and how many times.
    """

    def __cinit__(self, cnp.ndarray bodies not None, cnp.ndarray gravity not None, extended,
                  cnp.ndarray armature not None, Pattern pattern not None, Py_ssize_t nq,
                  cnp.ndarray units not None, Py_ssize_t joints, coupling=None):
        cdef cnp.ndarray start = extended.row_start, column = extended.columns
        cdef cnp.ndarray follows, ratio, fold, fold_ratio
        cdef Py_ssize_t r
        self.m.bodies = len(bodies)
        self.m.n = extended.n
        self.m.joints = joints
        self.m.angles = np.count_nonzero(bodies["angle"] >= 0)
        self.m.body = <const Body *> bodies.data
        self.m.start = <const Py_ssize_t *> start.data
        self.m.column = <const Py_ssize_t *> column.data
        self.m.armature = <const double *> armature.data
        for r in range(3):
            self.m.gravity[r] = gravity[r]
        self.pattern = pattern
        self.nq, self.nv, self.nnz = nq, pattern.shape.n, pattern.shape.start[pattern.shape.n]
        self.units = len(units)
        self.unit = <const Py_ssize_t *> units.data
        self.coupled = coupling is not None
        if self.coupled:
            follows, ratio, fold, fold_ratio = coupling
            self.follows = <const Py_ssize_t *> follows.data
            self.ratio = <const double *> ratio.data
            self.fold = <const Py_ssize_t *> fold.data
            self.fold_ratio = <const double *> fold_ratio.data
        self.kept = (bodies, start, column, armature, units, coupling)

    cdef Py_ssize_t size(self, int op) noexcept nogil:
        """Numbers that an operation gives for one configuration.

        Of crba those of the packed rows; of motion tau - bias and these.
        """
        if op == CRBA:
            return self.nnz
        if op == MOTION:
            return self.nv + self.nnz
        return 27 * self.m.joints + 6 * self.m.n if op == FRAMES else self.nv

    def numbers(self, int op):
        """The same for Python."""
        return self.size(op)

    cdef Py_ssize_t room(self, int op, int lanes) noexcept nogil:
        """Doubles that `compute` needs, beyond alignment."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t size = (dynamics.one if lanes == 1 else dynamics.lanes).room(&self.m) + ALIGNED
        size += lanes * 5 * self.m.n                       # v, x, tau, D, reciprocals
        if gives_h(op):
            size += lanes * (self.m.start[self.m.n] + self.nnz)
        if op == FACTOR:
            size += workspace_size(t) if lanes == 1 else lanes * t.scratch
        return size

    cdef bint is_configuration(self, const double *q, int step) noexcept nogil:
        """Whether quaternions, and cosines with sines, are of unit length; the entries of q `step` apart."""
        cdef Py_ssize_t j, e
        cdef double norm
        for j in range(self.units):
            norm = 0.0
            for e in range(self.unit[2 * j], self.unit[2 * j] + self.unit[2 * j + 1]):
                norm += q[e * step] * q[e * step]
            if not fabs(norm - 1.0) <= unit_square:
                return False
        return True

    cdef void expand(self, int lanes, const double *v, double *x) noexcept nogil:
        """x <- G v."""
        cdef Py_ssize_t k, lane
        for k in range(self.m.n):
            for lane in range(lanes):
                x[k * lanes + lane] = self.ratio[k] * v[self.follows[k] * lanes + lane]

    cdef void reduce(self, int lanes, Py_ssize_t count, Py_ssize_t reduced, const Py_ssize_t *to,
                     const double *ratio, const double *x, double *y) noexcept nogil:
        """y <- the sum of the entries of x that go to the same place: G^T x, or G^T H G."""
        cdef Py_ssize_t e, lane
        memset(y, 0, reduced * lanes * sizeof(double))
        for e in range(count):
            for lane in range(lanes):
                y[to[e] * lanes + lane] += ratio[e] * x[e * lanes + lane]

    cdef void compute(self, int op, int lanes, const Arguments *given, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """Run an operation on 1 or 8 configurations; failed[lane] <- the freedom without inertia, or -1."""
        cdef const Recursions *r = &dynamics.one if lanes == 1 else &dynamics.lanes
        cdef Py_ssize_t n = lanes * self.m.n, k, lane
        cdef double *room = align(work)
        cdef double *extended = room + r.room(&self.m)     # v, x and the result, where freedoms follow others
        cdef double *D = extended + 3 * n
        cdef double *inverse = D + n
        cdef double *H = inverse + n
        cdef double *full_H = inverse + n + lanes * self.nnz
        cdef double *tau = extended + 2 * n if self.coupled else given.out
        cdef const double *v = given.v
        cdef const double *x = given.x
        if op == CRBA or op == MOTION:
            H = given.out + (lanes * self.nv if op == MOTION else 0)
        if not self.coupled:
            full_H = H
        if self.coupled and v != NULL:
            self.expand(lanes, v, extended)
            v = extended
        if self.coupled and x != NULL:
            self.expand(lanes, x, extended + n)
            x = extended + n
        for lane in range(lanes):
            failed[lane] = FACTORIZED
        if op == CRBA:
            r.crba(&self.m, given.q, full_H, room)
        elif op == ABA:
            r.aba(&self.m, given.q, v, x, given.fext, tau, D, room)
        elif op == FRAMES:
            r.frames(&self.m, given.q, v, given.out, room)
        elif op == FACTOR or op == MOTION:
            r.motion(&self.m, given.q, v, given.fext, full_H, tau, room)
        else:
            r.rnea(&self.m, given.q, v, x, given.fext, op != H_TIMES, tau, room)
        if self.coupled and gives_h(op):
            self.reduce(lanes, self.m.start[self.m.n], self.nnz, self.fold, self.fold_ratio, full_H, H)
        if self.coupled and op != CRBA and op != FRAMES:
            self.reduce(lanes, self.m.n, self.nv, self.follows, self.ratio, tau, given.out)
        if op == FACTOR or op == MOTION:
            for k in range(self.nv * lanes):
                given.out[k] = given.x[k] - given.out[k]
        if op == FACTOR:
            self.solve(lanes, H, D, inverse, full_H + lanes * self.m.start[self.m.n], given.out, failed)
        if op == ABA:
            self.find_failures(lanes, D, failed)
        for lane in range(lanes):
            if failed[lane] != FACTORIZED:
                for k in range(self.nv):
                    given.out[k * lanes + lane] = NAN

    cdef void find_failures(self, int lanes, const double *D, Py_ssize_t *failed) noexcept nogil:
        """Name the first pivots that are not in (0, inf), in the order of elimination."""
        cdef Py_ssize_t k, lane
        for k in range(self.nv):
            for lane in range(lanes):
                if not 0 < D[k * lanes + lane] <= DBL_MAX:
                    failed[lane] = k

    cdef void solve(self, int lanes, double *H, double *D, double *inverse, double *scratch, double *x,
                    Py_ssize_t *failed) noexcept nogil:
        """x <- H^-1 x."""
        cdef const Shape *t = &self.pattern.shape
        cdef double *X
        cdef Workspace w
        if lanes == LANES:
            X = align(scratch)
            active.lanes.factor(t, H, H, inverse, X, failed)
            active.lanes.apply(t, H, inverse, 1, SOLVE, x, 1)
            return
        w = carve_workspace(t, scratch)
        clear_workspace(t, &w)
        active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
        failed[0] = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, D, inverse)
        active.single.apply(t, w.X, D, inverse, 1, SOLVE, x, w.path)

    cdef bint plain(self, int op, object q, object v, object x, object out) noexcept:
        """Whether the arrays that an operation takes are plain, of the right sizes, and out is apart."""
        cdef Py_ssize_t n = self.nv, size = n * n if op == CRBA else self.size(op)
        cdef Arguments given
        if not (is_plain_vector(q, self.nq)
                and (not takes_v(op) or is_plain_vector(v, n)) and (not takes_x(op) or is_plain_vector(x, n))
                and (is_plain_matrix(out, n, n) if op == CRBA else is_plain_vector(out, size))
                and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)):
            return False
        given = arguments(op, q, v, x, out)
        return not (meet(given.out, size, given.q, self.nq)
                    or meet(given.out, size, given.v, n) or meet(given.out, size, given.x, n))

    cdef bint run(self, int op, const Arguments *given) noexcept:
        """Run an operation on one configuration, crba to dense H; false leaves the case to the gate."""
        cdef double local[LOCAL]
        cdef double *room = local
        cdef Py_ssize_t failed, n = self.nv, packed = self.nnz if op == CRBA else 0
        cdef Py_ssize_t need = packed + self.room(op, 1)
        cdef Arguments block = given[0]
        if not (all_finite(self.nq, given.q) and (given.v == NULL or all_finite(n, given.v))
                and (given.x == NULL or all_finite(n, given.x)) and self.is_configuration(given.q, 1)):
            return False
        if (op == FACTOR and self.pattern.shape.tasks) or (op == ABA and self.coupled):
            return False
        if need > LOCAL:
            room = <double *> malloc(need * sizeof(double))
            if room == NULL:
                return False
        if op == CRBA:
            block.out = room
        self.compute(op, 1, &block, &failed, room + packed)
        if op == CRBA:
            self.unpack(room, 1, given.out)
        if need > LOCAL:
            free(room)
        return failed == FACTORIZED

    cdef object one(self, int op, object q, object v, object x, object out):
        """Result of an operation on plain vectors, or None."""
        cdef cnp.npy_intp shape[2]
        cdef Arguments given
        if out is None:
            shape[0] = shape[1] = self.nv
            if op != CRBA:
                shape[0] = self.size(op)
            out = cnp.PyArray_SimpleNew(2 if op == CRBA else 1, shape, cnp.NPY_DOUBLE)
        if not self.plain(op, q, v, x, out):
            return None
        given = arguments(op, q, v, x, out)
        return out if self.run(op, &given) else None

    cdef void unpack(self, const double *packed, Py_ssize_t step, double *H) noexcept nogil:
        """H <- dense symmetric matrix of packed rows, their entries `step` apart."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t k, e, j, n = t.n
        memset(H, 0, n * n * sizeof(double))
        for k in range(n):
            for e in range(t.start[k], t.start[k + 1]):
                j = t.column[e]
                H[k * n + j] = H[j * n + k] = packed[e * step]

    def batch(self, int op, Py_ssize_t batch, operands, cnp.ndarray out not None, str layout,
              cnp.ndarray failed not None, Py_ssize_t first, Py_ssize_t stop):
        """Run an operation on the blocks first .. stop-1 of 8 configurations.

        Operands are q, v, x and fext: (batch, size), or (1, size) for all alike, rows contiguous; all but q
        may be None.
        out has shape (batch, size), or for crba (batch, n, n), (batch, nnz) or (blocks, nnz, 8), by layout.
        failed, of shape (blocks * 8,), receives the freedom without inertia, or -1.
        """
        cdef Operand given[4]
        cdef Py_ssize_t j
        for j in range(4):
            describe(operands[j], &given[j])
        self.run_blocks(op, batch, given, out, layout, <Py_ssize_t *> failed.data, first, stop)

    cdef bint run_blocks(self, int op, Py_ssize_t batch, const Operand *given, cnp.ndarray out, str layout,
                         Py_ssize_t *failed, Py_ssize_t first, Py_ssize_t stop) except False:
        """What `batch` does; failed may be NULL."""
        cdef Py_ssize_t size = self.size(op), to_next = out.strides[0], b, j, need
        cdef Py_ssize_t unwanted[LANES]
        cdef Py_ssize_t *status
        cdef int count
        cdef bint dense = op == CRBA and layout == "dense", lanes = layout == "lanes"
        cdef char *to = out.data
        cdef double *x[5]
        cdef Arguments block
        cdef double *room
        need = LANES * size + self.room(op, LANES) + 2 * ALIGNED
        for j in range(4):
            need += LANES * given[j].size
        room = <double *> malloc(need * sizeof(double))
        if room == NULL:
            raise MemoryError(f"no room for {need} numbers")
        x[0] = align(room)
        for j in range(4):
            x[j + 1] = x[j] + LANES * given[j].size
        block.q = x[0]
        block.v = NULL if given[1].data == NULL else x[1]
        block.x = NULL if given[2].data == NULL else x[2]
        block.fext = NULL if given[3].data == NULL else x[3]
        block.out = x[4]
        with nogil:
            for b in range(first, stop):
                status = &unwanted[0] if failed == NULL else failed + b * LANES
                count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
                for j in range(4):
                    load(&given[j], b, count, x[j])
                self.compute(op, LANES, &block, status, x[4] + LANES * size)
                self.refuse(given, x, size)
                if lanes:
                    self.pad(count, x[4])
                    memcpy(to + b * to_next, x[4], LANES * size * sizeof(double))
                elif dense:
                    for j in range(count):
                        self.unpack(x[4] + j, LANES, <double *> (to + (b * LANES + j) * to_next))
                else:
                    active.lanes.store(size, count, x[4], to + b * LANES * to_next, to_next)
                for j in range(count, LANES):
                    status[j] = FACTORIZED
        free(room)
        return True

    cdef object many(self, int op, object q, object v, object x, object out):
        """Result of an operation on arrays of a batch, or that hold for all of it; or None."""
        cdef Operand given[4]
        cdef tuple arrays = (q, v, x)
        cdef cnp.npy_intp shape[3]
        cdef Py_ssize_t batch = -1, j
        cdef object room
        memset(&given[0], 0, sizeof(given))
        if not (take(q, self.nq, &batch, &given[0])
                and (not takes_v(op) or take(v, self.nv, &batch, &given[1]))
                and (not takes_x(op) or take(x, self.nv, &batch, &given[2]))):
            return None
        if batch <= 0 or (op == ABA and self.coupled):
            return None
        shape[0], shape[1], shape[2] = batch, self.nv if op == CRBA else self.size(op), self.nv
        room = cnp.PyArray_SimpleNew(3 if op == CRBA else 2, shape, cnp.NPY_DOUBLE)
        if out is None:
            out = room
        elif not is_result(out, room):
            return None
        for j in range(3):
            if given[j].data != NULL and may_overlap(arrays[j], out):
                return None
        self.run_blocks(op, batch, given, out, "dense", NULL, 0, (batch + LANES - 1) // LANES)
        return out

    cdef void refuse(self, const Operand *given, double **x, Py_ssize_t size) noexcept nogil:
        """Results x[4] <- NaN where an operand x[j] is not finite, or q no configuration."""
        cdef double doubt[LANES]
        cdef Py_ssize_t j, e, lane
        memset(doubt, 0, sizeof(doubt))
        for j in range(4):
            for e in range(given[j].size):
                for lane in range(LANES):
                    doubt[lane] += 0 * x[j][e * LANES + lane]
        for lane in range(LANES):
            if doubt[lane] != 0 or not self.is_configuration(x[0] + lane, LANES):
                for e in range(size):
                    x[4][e * LANES + lane] = NAN

    cdef void pad(self, int count, double *H) noexcept nogil:
        """H <- identities in the lanes from `count` on."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t k, e, lane
        for k in range(t.n):
            for e in range(t.start[k], t.start[k + 1]):
                for lane in range(count, LANES):
                    H[e * LANES + lane] = e == t.start[k + 1] - 1


cpdef Bodies bodies_of(model):
    """The bodies of a Model, or TypeError."""
    found = getattr(model, "bodies", None)
    if not isinstance(found, Bodies):
        raise TypeError(not_a_model(model))
    return found


def quick(model, int op, q, v, x, fext, out, threads):
    """Result of an operation on arrays that need no gate; None leaves the case to it.

    v and x are looked at where the operation takes them; the result of crba is dense.
    """
    cdef Bodies bodies = bodies_of(model)
    cdef object found = None
    if fext is None and is_real(q) and cnp.PyArray_NDIM(<cnp.ndarray> q) == 1:
        found = bodies.one(op, q, v, x, out)
    if found is None and fext is None and type(threads) is int and threads == 1:
        found = bodies.many(op, q, v, x, out)
    return found


cdef class Bound:
    """An operation on one configuration in arrays that stay in place: a call without arguments.

    Parameters
    ----------
    model : Model
    op : int
    q, v, x, out : ndarray
        Plain arrays; v and x are looked at where the operation takes them.
    slowly : callable
        Does the same by the gate, which says what is wrong.

    Raises
    ------
    ValueError
        Where an array is not plain.
    """

    cdef Bodies bodies
    cdef int op
    cdef Arguments given
    cdef object kept, slowly
    cdef readonly object out

    def __cinit__(self, model, int op, q, v, x, out, slowly):
        self.bodies = bodies_of(model)
        if not self.bodies.plain(op, q, v, x, out):
            raise ValueError("only contiguous float64 arrays of the right shapes, apart, can be bound")
        self.op, self.out, self.slowly = op, out, slowly
        self.kept = (q, v, x)
        self.given = arguments(op, q, v, x, out)

    def __call__(self):
        """Compute what the arrays hold now; return out."""
        if not self.bodies.run(self.op, &self.given):
            return self.slowly()
        return self.out

    def __reduce__(self):
        raise TypeError("a bound call refers to memory of other owners and cannot be copied or pickled")
