"""Solver iterate: scaled rows, the status of every row, v, the multipliers lambda, and the residuals.

Rows of J = [C; D] and b = [c; d] are scaled by 1 / sqrt(sum J_ij^2 / H_jj); lambda are their impulses, and
gap = J v - b. With s_i = delta lambda_i - gap_i, the target status of row i is ON where
0 < s_i < delta upper_i, OFF below and FULL above; bilateral rows are always ON.

A row without leverage, whose size sqrt(sum J_ij^2 / H_jj) is at most LEVERAGE of the largest row's, is
rounding noise: its impulse cannot change its gap. It is scaled like the largest row and replaced by a row of
zeros. If its b is positive, such a row makes the problem infeasible, or is at its bound; otherwise it never
acts.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

from ._kkt cimport Kkt
from ..linalg._multi_rhs cimport h_mul
from ..tree._pattern cimport Pattern, Workspace, active, carve_workspace, workspace_size
from ..linalg._vector cimport axpy

import numpy as np

from .._util.validation import aligned
from ..tolerances import LEVERAGE as _LEVERAGE

cnp.import_array()

cdef enum:
    REFINEMENTS = 8              # most refinement steps with one factor
    LANES = 8                    # most numbers in a register

cdef double NOISE = 1e-12        # violation of lambda, relative to the data, up to which no row is switched
cdef double ROUNDING = 1e-15     # rounding error of a gap, relative to the data
cdef double FAR = 1e5            # relative to the data; a larger guess of lambda leaves its rounding errors
cdef double ACCEPTED = 1e-10     # residual, relative to the data, that counts as solved if none is smaller,
cdef double ROUNDED = 1e-14      # or relative to the terms of H v that cancel each other in the free motion
cdef double NEVER = -1e300       # the d of a row that is never on
cdef double SMALL = 1e-200       # squares from this to its reciprocal are accurate
cdef double LEAST = 1e-290       # residual whose terms underflow
cdef double LEVERAGE = _LEVERAGE

FIELDS = ("v", "Hv", "u", "step", "force", "root", "v_free")  # vectors of n entries
# vectors of p + m entries
ROWS = ("b", "impulse", "gap", "gap_u", "weight", "change", "scale", "upper", "finite_upper")


cdef class Iterate:
    """Workspace of the solver for problems with one symbolic analysis; assumes validated input.

    Parameters
    ----------
    kkt : Kkt
    pattern : Pattern
        Pattern of the tree.
    """

    def __cinit__(self, Kkt kkt not None, Pattern pattern not None):
        cdef Py_ssize_t n = kkt.symbolic.n
        self.kkt, self.pattern, self.n = kkt, pattern, n
        cdef cnp.ndarray factor = aligned((workspace_size(&pattern.shape),))
        cdef Workspace w = carve_workspace(&pattern.shape, <double *> factor.data)
        self.H, self.path, self.kept = w.X, w.path, factor
        self.vectors = carve_vectors(FIELDS, n)
        self.v, self.Hv, self.u = self.vector("v"), self.vector("Hv"), self.vector("u")
        self.step, self.force = self.vector("step"), self.vector("force")
        self.root, self.v_free = self.vector("root"), self.vector("v_free")
        self.capacity = self.J_capacity = 0
        self.refined = False
        self.take_rows()

    cdef fit(self, Py_ssize_t m, const Py_ssize_t *start, const Py_ssize_t *column):
        """Change to problems with other supports; only for the owner of the symbolic analysis."""
        self.kkt.symbolic.fit(m, start, column)
        self.kkt.fit()
        self.take_rows()

    cdef take_rows(self):
        """Make room for the rows of the symbolic analysis."""
        cdef Py_ssize_t m = self.kkt.symbolic.m, entries = self.kkt.symbolic.start[m], most
        self.m = m
        if m > self.capacity or not self.capacity:
            most = max(m, 3 * self.capacity // 2)
            self.vectors |= carve_vectors(ROWS, most)
            self.vectors["status"] = status = np.zeros(most, dtype=np.uint8)
            self.status = <unsigned char *> (<cnp.ndarray> status).data
            self.b, self.impulse = self.vector("b"), self.vector("impulse")
            self.gap, self.gap_u = self.vector("gap"), self.vector("gap_u")
            self.weight, self.change = self.vector("weight"), self.vector("change")
            self.scale, self.upper = self.vector("scale"), self.vector("upper")
            self.finite_upper = self.vector("finite_upper")
            self.capacity = most
        if entries > self.J_capacity or not self.J_capacity:
            most = max(entries, 3 * self.J_capacity // 2)
            self.vectors["J"] = aligned((most,))
            self.J, self.J_capacity = self.vector("J"), most
        clear_padding(self.gap + m)
        clear_padding(self.gap_u + m)
        clear_padding(self.impulse + m)
        clear_padding(self.upper + m)
        self.rows = SparseRows(m, self.kkt.symbolic.start, self.kkt.symbolic.column, self.J)

    cdef double *vector(self, str name) except NULL:
        """Return the memory of a vector."""
        return doubles(self.vectors[name])

    def load(self, cnp.ndarray H not None, cnp.ndarray g not None, cnp.ndarray free not None,
             cnp.ndarray J not None, cnp.ndarray b not None, cnp.ndarray upper, Py_ssize_t equal):
        """Load packed rows of H, g, H^-1 g, the constraints' entries, right sides and bounds (or None).

        All are contiguous float64; the first `equal` constraints are bilateral.
        """
        self.loaded = (H, g)
        with nogil:
            self.load_values(<const double *> H.data, <const double *> g.data, <const double *> free.data,
                             <const double *> J.data, <const double *> b.data,
                             <const double *> NULL if upper is None else <const double *> upper.data, equal)

    cdef void load_values(self, const double *H, const double *g, const double *free, const double *J,
                          const double *b, const double *upper, Py_ssize_t equal) noexcept nogil:
        """Load what `load` does; H and g are referred to."""
        self.g, self.equal = g, equal
        memcpy(self.v_free, free, self.n * sizeof(double))
        self.scale_rows(H, J, b, upper)

    cdef void scale_rows(self, const double *H, const double *J, const double *b,
                         const double *upper) noexcept nogil:
        """Scale the rows and measure the data."""
        cdef Py_ssize_t k, i, p
        cdef const Py_ssize_t *start = self.rows.start
        cdef double most = 0.0, size
        active.single.load_packed(&self.pattern.shape, <const char *> H, sizeof(double), 0, self.H)
        self.size = self.free_terms = 0.0
        for k in range(self.n):
            self.root[k] = sqrt(H[self.pattern.shape.start[k + 1] - 1])
            self.step[k] = 1.0 / self.root[k]
            self.size = max(self.size, fabs(self.g[k]) / self.root[k])
            self.free_terms = max(self.free_terms, fabs(self.v_free[k]) * self.root[k])
        for i in range(self.m):
            self.scale[i] = self.row_size(i, J)
            most = larger(most, self.scale[i])
        for i in range(self.m):
            self.finite_upper[i] = 1.0 if self.scale[i] > LEVERAGE * most else 0.0
            size = self.scale[i] if self.finite_upper[i] > 0.0 else most if most > 0.0 else 1.0
            self.scale[i] = 1.0 / size
            if not isfinite(self.scale[i]) or self.scale[i] == 0.0:
                self.scale[i], self.size = 1.0, INFINITY
            size = self.finite_upper[i] * self.scale[i]
            for p in range(start[i], start[i + 1]):
                self.J[p] = size * J[p]
            self.b[i] = max(self.scale[i] * b[i], NEVER)
            self.upper[i] = INFINITY if upper == NULL else upper[i] / self.scale[i]
            if self.finite_upper[i] > 0.0:
                # a row with negative b can be inactive, a row with a bound exerts at most that
                self.size = max(self.size,
                                fabs(self.b[i]) if i < self.equal else min(self.b[i], self.upper[i]))
        for i in range(self.m):
            if self.finite_upper[i] == 0.0 and fabs(self.b[i]) <= ACCEPTED * self.size:
                self.b[i] = 0.0 if i < self.equal else NEVER
            self.finite_upper[i] = self.finite_upper[i] * self.upper[i] if self.upper[i] < INFINITY else 0.0
        self.kkt.load(H, self.J)

    cdef double row_size(self, Py_ssize_t i, const double *J) noexcept nogil:
        """Compute sqrt(sum J_ij^2 / H_jj) without overflow of the squares."""
        cdef double square = 0.0, largest = 0.0
        cdef Py_ssize_t p, first = self.rows.start[i], stop = self.rows.start[i + 1]
        cdef const Py_ssize_t *column = self.rows.column
        for p in range(first, stop):
            square += (J[p] * self.step[column[p]]) ** 2
        if SMALL <= square <= 1.0 / SMALL:
            return sqrt(square)
        square = 0.0
        for p in range(first, stop):
            largest = larger(largest, J[p] / self.root[column[p]])
        for p in range(first, stop):
            square += (J[p] / self.root[column[p]] / largest) ** 2 if largest > 0.0 else 0.0
        return largest * sqrt(square)

    cdef void set_tolerances(self) noexcept nogil:
        """Set the tolerances that rounding demands; impulses at their bounds are known forces, as g is."""
        cdef Py_ssize_t i
        cdef double terms = self.free_terms
        for i in range(self.equal, self.m):
            if self.status[i] == FULL:
                terms = max(terms, self.finite_upper[i])
        self.accepted = max(ACCEPTED * self.size, ROUNDED * terms, LEAST)
        self.rounding = ROUNDING * max(self.size, terms)

    def results(self):
        """Return v, lambda and its change in the units of the rows, rows that are on or at bounds."""
        vectors, m = self.vectors, self.m
        status, scale = vectors["status"][:m], vectors["scale"][:m]
        return (vectors["v"].copy(), vectors["impulse"][:m] * scale, vectors["change"][:m] * scale,
                status == ON, status == FULL)

    def scaled(self):
        """Copy the entries of J, b (-inf for rows that never act), the bounds and the scales."""
        vectors, m = self.vectors, self.m
        b = np.where(vectors["b"][:m] <= NEVER, -np.inf, vectors["b"][:m])
        J = vectors["J"][: self.rows.start[m]]
        return J.copy(), b, vectors["upper"][:m].copy(), vectors["scale"][:m].copy()

    # ------------------------------------------------------------------------------------- products

    cdef void gaps(self, const double *x, double *gap) noexcept nogil:
        """Compute gap = J x - b."""
        rows_times(&self.rows, x, self.b, gap)

    cdef void h_times(self, const double *x, double *y) noexcept nogil:
        """Compute y = H x."""
        h_mul(&self.pattern.shape, self.H, x, y, 1, self.path)

    # --------------------------------------------------------------------------------------- status

    cdef void begin(self, const double *impulse, const unsigned char *on, bint trusted) noexcept nogil:
        """Start from the free motion; on are the rows of the warm start, or those violated or touching."""
        cdef Py_ssize_t i
        cdef bint held
        cdef double most = INFINITY if trusted else FAR * self.size
        memcpy(self.v, self.v_free, self.n * sizeof(double))
        self.gaps(self.v, self.gap)
        for i in range(self.m):
            self.impulse[i] = impulse[i] / self.scale[i] if impulse != NULL else 0.0
            held = on[i] != 0 if on != NULL else self.gap[i] < 0.0 or self.b[i] >= 0.0
            if i < self.equal:
                self.status[i] = ON
            elif self.b[i] < -most and self.gap[i] >= 0.0:
                self.status[i] = OFF         # also rows with d = -inf, whatever the warm start holds
            elif held or not self.impulse[i] > 0.0:
                self.status[i] = ON if held else OFF
            else:
                self.status[i] = FULL if self.upper[i] <= most and self.upper[i] < INFINITY else ON
            if self.status[i] == FULL:
                self.impulse[i] = self.upper[i]
            elif self.status[i] == OFF or not fabs(self.impulse[i]) <= most:
                self.impulse[i] = 0.0
            elif i >= self.equal:
                self.impulse[i] = min(max(self.impulse[i], 0.0), self.upper[i])
            self.change[i] = 0.0
        self.set_tolerances()

    cdef void set_delta(self, double delta) noexcept nogil:
        """Set delta, which changes every front."""
        self.delta, self.stiffness = delta, 1.0 / delta
        self.kkt.mark_all_dirty()

    cdef void set_noise(self) noexcept nogil:
        """Set the rounding errors of lambda; a row that is on has few once lambda is refined."""
        self.wide = NOISE * self.size + self.rounding * self.stiffness
        self.noise = NOISE * self.size if self.refined else self.wide

    cdef bint update_statuses(self) noexcept nogil:
        """Set every row to its target status; return whether any changed."""
        cdef Py_ssize_t i, changed = 0
        cdef unsigned char status
        self.set_noise()
        for i in range(self.equal, self.m):
            status = target_status(self, i, self.gap)
            if status != self.status[i]:
                self.set_status(i, status)
                changed += 1
        if changed:
            self.set_tolerances()
        return changed > 0

    cdef void set_status(self, Py_ssize_t i, unsigned char status) noexcept nogil:
        """Set the status of a row and mark the fronts that it changes."""
        if self.status[i] == ON or status == ON:
            self.kkt.mark_path_dirty(i)
        self.status[i] = status
        self.pivots = self.pivots + 1

    cdef bint refactor(self) noexcept nogil:
        """Factorize for the rows that are on; return whether that succeeded."""
        cdef Py_ssize_t failed = self.kkt.refactor(self.status, self.stiffness)
        if self.kkt.touched:
            self.factorizations = self.factorizations + 1
        return failed < 0

    cdef void newton_point(self) noexcept nogil:
        """Compute u, the minimum of phi with the status of every row kept, and its gaps."""
        #   u = S^-1 (g + J_on^T (lambda + b / delta) + J_full^T upper)
        cdef Py_ssize_t i
        for i in range(self.m):
            if self.status[i] == ON:
                self.weight[i] = self.impulse[i] + self.b[i] * self.stiffness
            else:
                self.weight[i] = self.upper[i] if self.status[i] == FULL else 0.0
        memcpy(self.u, self.g, self.n * sizeof(double))
        add_rows(&self.rows, self.weight, self.u)
        self.kkt.solve(self.u)
        self.gaps(self.u, self.gap_u)

    cdef void newton_momentum(self, double *momentum) noexcept nogil:
        """Compute H u of the Newton point u from the impulses that lead to it."""
        #   H u = g + J_on^T (lambda - gap_u / delta) + J_full^T upper
        cdef Py_ssize_t i
        for i in range(self.m):
            if self.status[i] == ON:
                self.weight[i] = self.impulse[i] - self.gap_u[i] * self.stiffness
            else:
                self.weight[i] = self.upper[i] if self.status[i] == FULL else 0.0
        memcpy(momentum, self.g, self.n * sizeof(double))
        add_rows(&self.rows, self.weight, momentum)

    cdef bint statuses_agree(self) noexcept nogil:
        """Return whether the target status at u is the status of every row."""
        cdef Py_ssize_t i
        self.set_noise()
        for i in range(self.equal, self.m):
            if target_status(self, i, self.gap_u) != self.status[i]:
                return False
        return True

    cdef void accept(self) noexcept nogil:
        """Set v = u."""
        memcpy(self.v, self.u, self.n * sizeof(double))
        memcpy(self.gap, self.gap_u, self.m * sizeof(double))

    cdef bint impulses_are_moderate(self) noexcept nogil:
        """Return whether the impulses are so small that rounding cannot hide a residual."""
        cdef Py_ssize_t i
        for i in range(self.m):
            if not fabs(self.impulse[i]) <= FAR * self.rounding / ROUNDING:
                return False
        return True

    cdef bint correct_statuses(self) noexcept nogil:
        """Set every row to its target status at refined v and lambda; return whether any changed."""
        cdef bint changed
        self.refined = self.delta <= least_delta()
        changed = self.update_statuses()
        self.refined = False
        return changed

    cdef double refine(self, double target) noexcept nogil:
        """Refine v and lambda for K without delta while the residual halves; return the residual."""
        cdef Py_ssize_t i, count
        cdef double residual, before = INFINITY
        cdef bint clipped = False
        for count in range(REFINEMENTS + 1):
            residual = self.compute_residual()
            if residual <= target * self.size or not isfinite(residual):
                break
            if count == REFINEMENTS or residual > 0.5 * before:
                break
            before = residual
            self.proximal_direction(self.force)
            for i in range(self.m):
                self.impulse[i] = self.impulse[i] + self.weight[i]
            axpy(self.n, 1.0, self.u, self.v)
            self.gaps(self.v, self.gap)
        for i in range(self.equal, self.m):
            if not 0.0 <= self.impulse[i] <= self.upper[i]:
                self.impulse[i] = min(max(self.impulse[i], 0.0), self.upper[i])
                clipped = True
        return self.compute_residual() if clipped else residual

    cdef void proximal_direction(self, const double *force) noexcept nogil:
        """Compute u and weight, the changes of v and lambda in one step for the force left (or NULL)."""
        #   S u = force - J_on^T gap / delta,  weight = -(gap + J_on u) / delta
        cdef Py_ssize_t i
        for i in range(self.m):
            self.weight[i] = -self.gap[i] * self.stiffness if self.status[i] == ON else 0.0
        if force == NULL:
            memset(self.u, 0, self.n * sizeof(double))
        else:
            memcpy(self.u, force, self.n * sizeof(double))
        add_rows(&self.rows, self.weight, self.u)
        self.kkt.solve(self.u)
        for i in range(self.m):
            self.gap_u[i] = self.weight[i] = 0.0     # of rows that are not on, both are of no use
            if self.status[i] == ON:
                self.gap_u[i] = row_times(&self.rows, i, self.u)
                self.weight[i] = -(self.gap[i] + self.gap_u[i]) * self.stiffness

    cdef double compute_residual(self) noexcept nogil:
        """Return the largest violation of any condition; compute force = g + J^T lambda - H v."""
        cdef Py_ssize_t i, k
        cdef double worst = 0.0
        self.h_times(self.v, self.Hv)
        for i in range(self.m):
            self.weight[i] = self.impulse[i] if self.status[i] else 0.0
        for k in range(self.n):
            self.force[k] = self.g[k] - self.Hv[k]
        add_rows(&self.rows, self.weight, self.force)
        for k in range(self.n):
            worst = larger(worst, self.force[k] / self.root[k])
        return larger(worst, self.natural_residual())

    cdef double natural_residual(self) noexcept nogil:
        """Return the largest lambda - min(max(lambda - gap, 0), upper), which is 0 in a solution."""
        cdef Py_ssize_t i
        cdef double worst = 0.0
        for i in range(self.equal):
            worst = larger(worst, self.gap[i])
        for i in range(self.equal, self.m):
            worst = larger(worst, max(min(self.impulse[i], self.gap[i]), self.impulse[i] - self.upper[i]))
        return worst


cdef inline unsigned char target_status(Iterate self, Py_ssize_t i, const double *gap) noexcept nogil:
    """Return the status that the gap and lambda demand; within rounding errors, the present one."""
    cdef double s = self.impulse[i] - gap[i] * self.stiffness
    if self.finite_upper[i] == 0.0 and self.upper[i] < INFINITY:
        return FULL if self.b[i] > 0.0 else OFF  # no leverage: its gap is -b at any v
    if s <= (self.wide if self.status[i] == OFF else -self.noise):
        return OFF
    return FULL if s >= self.upper[i] + (-self.wide if self.status[i] == FULL else self.noise) else ON


cdef inline double *doubles(cnp.ndarray a):
    return <double *> a.data


cdef dict carve_vectors(tuple names, Py_ssize_t size):
    """Allocate vectors by name."""
    workspace = aligned((len(names) * padded(size),))
    return {name: workspace[k * padded(size) :][:size] for k, name in enumerate(names)}


cdef inline void clear_padding(double *end) noexcept nogil:
    """Set what the line search reads behind a vector to zeros."""
    memset(end, 0, LANES * sizeof(double))


cdef inline Py_ssize_t padded(Py_ssize_t size):
    """Return the size of a vector with padding that aligns the next one."""
    return size // 8 * 8 + 16


cdef inline double larger(double a, double b) noexcept nogil:
    """Return max(a, |b|), NaN if either is NaN."""
    return a if fabs(b) <= a else fabs(b)
