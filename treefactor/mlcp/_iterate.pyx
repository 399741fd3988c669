"""What pivoting knows: rows and their scales, the rows that are on, v and lambda, and how far off they are.

Rows of J = [C; D] and b = [c; d] are scaled by 1 / sqrt(sum J_ij^2 / H_jj); lambda are their impulses, and
gap = J v - b. Row i is on where 0 < s_i < delta upper_i, s_i = delta lambda_i - gap_i; bilateral rows always
are.

A row without leverage, whose size sqrt(sum J_ij^2 / H_jj) is at most LEVERAGE of the largest row's, is
rounding noise: the motion fulfils it or not, whatever its impulse is. It is scaled like the largest row and
taken for a row of zeros. Where its b is positive, such a row makes the problem infeasible, or is at its
bound; otherwise it never acts.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memcpy

from ._kkt cimport Kkt
from ..linalg._multi_rhs cimport h_mul
from ..tree._pattern cimport Pattern, Workspace, active, carve_workspace, workspace_size
from ..linalg._vector cimport axpy

import numpy as np

from .._util.validation import aligned

cnp.import_array()

cdef enum:
    REFINEMENTS = 8              # of one factor

cdef double NOISE = 1e-12        # of lambda, relative to the data: a row is not switched for less
cdef double ROUNDING = 1e-15     # of a gap, relative to the data
cdef double FAR = 1e5            # a larger guess of lambda, relative to the data, leaves its rounding errors
cdef double ACCEPTED = 1e-10     # residual, relative to the data, that counts as solved if none is smaller,
cdef double ROUNDED = 1e-14      # or relative to the terms of H v that cancel each other in the free motion
cdef double NEVER = -1e300       # the d of a row that is never on
cdef double LEAST = 1e-290       # residual whose terms underflow
cdef double LEVERAGE = 1e-12     # rows that are smaller than this, relative to the largest one, are noise

FIELDS = ("v", "Hv", "u", "step", "force", "root", "free")  # vectors of n
ROWS = ("b", "impulse", "gap", "other", "last", "scale", "upper", "pull")  # vectors of p + m


cdef class State:
    """Workspace for the problems of one pattern; trusts its callers.

    Parameters
    ----------
    kkt : Kkt
    pattern : Pattern
        Of the tree.
    """

    def __cinit__(self, Kkt kkt not None, Pattern pattern not None):
        cdef Py_ssize_t n = kkt.symbolic.n, m = kkt.symbolic.m
        self.kkt, self.pattern = kkt, pattern
        self.n, self.m = n, m
        self.start, self.column = kkt.symbolic.start, kkt.symbolic.column
        room = aligned((len(FIELDS) * padded(n) + len(ROWS) * padded(m),))
        arrays, at = {}, 0
        for name in FIELDS + ROWS:
            size = n if name in FIELDS else m
            arrays[name] = room[at : at + size]
            at += padded(size)
        cdef cnp.ndarray factor = aligned((workspace_size(&pattern.shape),))
        cdef Workspace w = carve_workspace(&pattern.shape, <double *> factor.data)
        J, on = aligned((kkt.symbolic.start[m],)), np.zeros(m, dtype=np.uint8)
        self.H, self.path, self.J = w.X, w.path, doubles(J)
        self.v, self.Hv, self.u = doubles(arrays["v"]), doubles(arrays["Hv"]), doubles(arrays["u"])
        self.step, self.force = doubles(arrays["step"]), doubles(arrays["force"])
        self.root, self.free = doubles(arrays["root"]), doubles(arrays["free"])
        self.b, self.impulse = doubles(arrays["b"]), doubles(arrays["impulse"])
        self.gap = doubles(arrays["gap"])
        self.other, self.last = doubles(arrays["other"]), doubles(arrays["last"])
        self.scale, self.upper = doubles(arrays["scale"]), doubles(arrays["upper"])
        self.pull = doubles(arrays["pull"])
        self.refined = False
        self.on = <unsigned char *> (<cnp.ndarray> on).data
        self.vectors = arrays | {"on": on}
        self.kept = (factor, J, on, room)

    def load(self, cnp.ndarray H not None, cnp.ndarray g not None, cnp.ndarray free not None,
             cnp.ndarray J not None, cnp.ndarray b not None, cnp.ndarray upper, Py_ssize_t equal):
        """Take packed rows of H, g, H^-1 g, the constraints' entries, right sides and bounds (or None).

        Contiguous float64; bilateral constraints come first, `equal` of them.
        """
        self.loaded = (H, g)
        self.g = <const double *> g.data
        self.equal = equal
        memcpy(self.free, free.data, self.n * sizeof(double))
        with nogil:
            self.take(<const double *> H.data, <const double *> J.data, <const double *> b.data,
                      NULL if upper is None else <const double *> upper.data)

    cdef void take(self, const double *H, const double *J, const double *b,
                   const double *upper) noexcept nogil:
        """Scale the rows and measure the data."""
        cdef Py_ssize_t k, i, p
        cdef double most = 0.0
        active.single.load_packed(&self.pattern.shape, <const char *> H, sizeof(double), 0, self.H)
        self.size = self.moved = 0.0
        for k in range(self.n):
            self.root[k] = sqrt(H[self.pattern.shape.start[k + 1] - 1])
            self.size = max(self.size, fabs(self.g[k]) / self.root[k])
            self.moved = max(self.moved, fabs(self.free[k]) * self.root[k])
        for i in range(self.m):
            self.scale[i] = self.length(i, J)
            most = larger(most, self.scale[i])
        for i in range(self.m):
            self.pull[i] = 1.0 if self.scale[i] > LEVERAGE * most else 0.0
            self.scale[i] = 1.0 / (self.scale[i] if self.pull[i] > 0.0 else most if most > 0.0 else 1.0)
            if not isfinite(self.scale[i]) or self.scale[i] == 0.0:
                self.scale[i], self.size = 1.0, INFINITY
            for p in range(self.start[i], self.start[i + 1]):
                self.J[p] = self.pull[i] * self.scale[i] * J[p]
            self.b[i] = max(self.scale[i] * b[i], NEVER)
            self.upper[i] = INFINITY if upper == NULL else upper[i] / self.scale[i]
            if self.pull[i] > 0.0:
                # a row far from where it would hold demands nothing, a row with a bound no more than that
                self.size = max(self.size,
                                fabs(self.b[i]) if i < self.equal else min(self.b[i], self.upper[i]))
        for i in range(self.m):
            if self.pull[i] == 0.0 and fabs(self.b[i]) <= ACCEPTED * self.size:
                self.b[i] = 0.0 if i < self.equal else NEVER
            self.pull[i] = self.pull[i] * self.upper[i] if self.upper[i] < INFINITY else 0.0
        self.kkt.load(H, self.J)

    cdef double length(self, Py_ssize_t i, const double *J) noexcept nogil:
        """sqrt(sum J_ij^2 / H_jj), whose squares must not overflow."""
        cdef double square = 0.0, largest = 0.0
        cdef Py_ssize_t p
        for p in range(self.start[i], self.start[i + 1]):
            largest = larger(largest, J[p] / self.root[self.column[p]])
        for p in range(self.start[i], self.start[i + 1]):
            square += (J[p] / self.root[self.column[p]] / largest) ** 2 if largest > 0.0 else 0.0
        return largest * sqrt(square)

    cdef void weigh(self) noexcept nogil:
        """Set what rounding explains: impulses of rows at their bounds are known forces, as g is."""
        cdef Py_ssize_t i
        cdef double terms = self.moved
        for i in range(self.equal, self.m):
            if self.on[i] == FULL:
                terms = max(terms, self.pull[i])
        self.accepted = max(ACCEPTED * self.size, ROUNDED * terms, LEAST)
        self.rounding = ROUNDING * max(self.size, terms)

    def results(self):
        """v, lambda and its change in the units of the rows, the rows that are on, those at their bounds."""
        found, on = self.vectors, self.vectors["on"]
        return (found["v"].copy(), found["impulse"] * found["scale"], found["last"] * found["scale"],
                on == ON, on == FULL)

    def scaled(self):
        """Copies of the entries of J, of b, -inf for rows that never act, of the bounds and of the scales."""
        found = self.vectors
        b = np.where(found["b"] <= NEVER, -np.inf, found["b"])
        return self.kept[2].copy(), b, found["upper"].copy(), found["scale"].copy()

    # ------------------------------------------------------------------------------------- products

    cdef double row(self, Py_ssize_t i, const double *x) noexcept nogil:
        """J_i x."""
        cdef double sum = 0.0
        cdef Py_ssize_t p
        for p in range(self.start[i], self.start[i + 1]):
            sum += self.J[p] * x[self.column[p]]
        return sum

    cdef void add_row(self, Py_ssize_t i, double a, double *y) noexcept nogil:
        """y += a J_i^T."""
        cdef Py_ssize_t p
        for p in range(self.start[i], self.start[i + 1]):
            y[self.column[p]] += a * self.J[p]

    cdef void gaps(self, const double *x, double *gap) noexcept nogil:
        """gap <- J x - b."""
        cdef Py_ssize_t i
        for i in range(self.m):
            gap[i] = self.row(i, x) - self.b[i]

    cdef void h_times(self, const double *x, double *y) noexcept nogil:
        """y <- H x."""
        h_mul(&self.pattern.shape, self.H, x, y, 1, self.path)

    # ---------------------------------------------------------------------------------------- state

    cdef void begin(self, const double *impulse, const unsigned char *on, bint trusted) noexcept nogil:
        """v free of constraints; on are the rows of a warm start, or those that v violates or that touch."""
        cdef Py_ssize_t i
        cdef bint held
        cdef double most = INFINITY if trusted else FAR * self.size
        memcpy(self.v, self.free, self.n * sizeof(double))
        self.gaps(self.v, self.gap)
        for i in range(self.m):
            self.impulse[i] = impulse[i] / self.scale[i] if impulse != NULL else 0.0
            held = on[i] != 0 if on != NULL else self.gap[i] < 0.0 or self.b[i] >= 0.0
            if i < self.equal:
                self.on[i] = ON
            elif self.b[i] < -most and self.gap[i] >= 0.0:
                self.on[i] = OFF         # also rows with d = -inf, whatever the warm start holds
            elif held or not self.impulse[i] > 0.0:
                self.on[i] = ON if held else OFF
            else:
                self.on[i] = FULL if self.upper[i] <= most and self.upper[i] < INFINITY else ON
            if self.on[i] == FULL:
                self.impulse[i] = self.upper[i]
            elif self.on[i] == OFF or not fabs(self.impulse[i]) <= most:
                self.impulse[i] = 0.0
            elif i >= self.equal:
                self.impulse[i] = min(max(self.impulse[i], 0.0), self.upper[i])
            self.last[i] = 0.0
        self.weigh()

    cdef void loosen(self, double delta) noexcept nogil:
        """Set delta."""
        self.delta = delta
        self.kkt.touch_all()

    cdef bint update(self) noexcept nogil:
        """Set the rows that are on by s; tell whether any changed."""
        cdef Py_ssize_t i, changed = 0
        cdef unsigned char state
        for i in range(self.equal, self.m):
            state = self.aim(i, self.gap)
            if state != self.on[i]:
                self.put(i, state)
                changed += 1
        if changed:
            self.weigh()
        return changed > 0

    cdef void put(self, Py_ssize_t i, unsigned char state) noexcept nogil:
        """Switch a row."""
        if self.on[i] == ON or state == ON:
            self.kkt.touch(i)
        self.on[i] = state
        self.pivots = self.pivots + 1

    cdef bint refactor(self) noexcept nogil:
        """The factor for the rows that are on; false where it failed."""
        cdef Py_ssize_t failed = self.kkt.refactor(self.on, 1.0 / self.delta)
        if self.kkt.touched:
            self.factorizations = self.factorizations + 1
        return failed < 0

    cdef void newton(self) noexcept nogil:
        """u <- the minimum of phi were no row switched."""
        #   u = S^-1 (g + J_on^T (lambda + b / delta) + J_full^T upper)
        cdef Py_ssize_t i
        memcpy(self.u, self.g, self.n * sizeof(double))
        for i in range(self.m):
            if self.on[i] == ON:
                self.add_row(i, self.impulse[i] + self.b[i] / self.delta, self.u)
            elif self.on[i] == FULL:
                self.add_row(i, self.upper[i], self.u)
        self.kkt.solve(self.u)
        self.gaps(self.u, self.other)

    cdef bint agrees(self) noexcept nogil:
        """Whether u has the same rows on."""
        cdef Py_ssize_t i
        for i in range(self.equal, self.m):
            if self.aim(i, self.other) != self.on[i]:
                return False
        return True

    cdef unsigned char aim(self, Py_ssize_t i, const double *gap) noexcept nogil:
        """What a row should be; what it is, within rounding errors."""
        #   those of a gap, multiplied by 1 / delta; a row that is on has none once lambda is refined
        if self.pull[i] == 0.0 and self.upper[i] < INFINITY:
            return FULL if self.b[i] > 0.0 else OFF  # no leverage: its gap is -b, whatever v is
        cdef double s = self.impulse[i] - gap[i] / self.delta
        cdef double wide = NOISE * self.size + self.rounding / self.delta
        cdef double noise = NOISE * self.size if self.refined else wide
        if s <= (wide if self.on[i] == OFF else -noise):
            return OFF
        return FULL if s >= self.upper[i] + (-wide if self.on[i] == FULL else noise) else ON

    cdef void jump(self) noexcept nogil:
        """v <- u."""
        memcpy(self.v, self.u, self.n * sizeof(double))
        memcpy(self.gap, self.other, self.m * sizeof(double))

    cdef bint moderate(self) noexcept nogil:
        """Whether the impulses are small enough for the residual to be trusted."""
        cdef Py_ssize_t i
        for i in range(self.m):
            if not fabs(self.impulse[i]) <= FAR * self.rounding / ROUNDING:
                return False
        return True

    cdef bint correct(self) noexcept nogil:
        """Set the rows that are on by refined v and lambda; tell whether any changed."""
        cdef bint changed
        self.refined = self.delta <= tight()
        changed = self.update()
        self.refined = False
        return changed

    cdef double refine(self, double target) noexcept nogil:
        """Refine v and lambda on K without delta while that helps; return the residual."""
        #   S dv = g + J^T lambda - H v - J_on^T gap / delta,  dlambda = -(gap + J_on dv) / delta
        cdef Py_ssize_t i, count
        cdef double residual, before = INFINITY
        cdef bint moved = False
        for count in range(REFINEMENTS + 1):
            residual = self.measure()
            if residual <= target * self.size or not isfinite(residual):
                break
            if count == REFINEMENTS or residual > 0.5 * before:
                break
            before = residual
            memcpy(self.u, self.force, self.n * sizeof(double))
            for i in range(self.m):
                if self.on[i] == ON:
                    self.add_row(i, -self.gap[i] / self.delta, self.u)
            self.kkt.solve(self.u)
            for i in range(self.m):
                if self.on[i] == ON:
                    self.impulse[i] = self.impulse[i] - (self.gap[i] + self.row(i, self.u)) / self.delta
            axpy(self.n, 1.0, self.u, self.v)
            self.gaps(self.v, self.gap)
        for i in range(self.equal, self.m):
            if not 0.0 <= self.impulse[i] <= self.upper[i]:
                self.impulse[i] = min(max(self.impulse[i], 0.0), self.upper[i])
                moved = True
        return self.measure() if moved else residual

    cdef double measure(self) noexcept nogil:
        """Largest violation of any condition; force <- g + J^T lambda - H v."""
        cdef Py_ssize_t i, k
        cdef double worst = 0.0
        self.h_times(self.v, self.Hv)
        for k in range(self.n):
            self.force[k] = self.g[k] - self.Hv[k]
        for i in range(self.m):
            if self.on[i]:
                self.add_row(i, self.impulse[i], self.force)
            worst = larger(worst, self.natural(i))
        for k in range(self.n):
            worst = larger(worst, self.force[k] / self.root[k])
        return worst

    cdef double natural(self, Py_ssize_t i) noexcept nogil:
        """lambda - min(max(lambda - gap, 0), upper): 0 where a row is as it should be."""
        if i < self.equal:
            return self.gap[i]
        return max(min(self.impulse[i], self.gap[i]), self.impulse[i] - self.upper[i])


cdef inline double *doubles(cnp.ndarray a):
    return <double *> a.data


cdef inline Py_ssize_t padded(Py_ssize_t size):
    """Entries of a vector with room behind it, so that the next one is aligned."""
    return size // 8 * 8 + 16


cdef inline double larger(double a, double b) noexcept nogil:
    """max(a, |b|), or a NaN where there is one."""
    return a if fabs(b) <= a else fabs(b)
