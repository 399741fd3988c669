"""Which constraints are on: exchanges of many at a time, or the walk of Tasora, Manconi and Silvestri.

Rows of J = [C; D] and b = [c; d] are scaled by 1 / sqrt(sum J_ij^2 / H_jj); lambda are their impulses, and
gap = J v - b. Row i is on where s_i = delta lambda_i - gap_i > 0; bilateral rows always are.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memcpy, memset

from ._kkt cimport Kkt
from ._ltdl cimport h_mul
from ._pattern cimport Pattern, active
from ._vector cimport axpy, dot

import numpy as np

from ._arrays import aligned

cnp.import_array()

SOLVED, INFEASIBLE, ITERATION_LIMIT, INVALID = range(4)

cdef enum:
    SOLVED_ = 0
    INFEASIBLE_ = 1
    LIMIT_ = 2
    INVALID_ = 3
    REFINEMENTS = 8              # of one factor
    BISECTIONS = 200
    CORRECTIONS = 4              # of a certificate

cdef double LOOSE = 1e-2         # delta of the first multipliers of a cold start
cdef double TIGHT = 1e-6         # and the least one
cdef double SHRINK = 1e-2        # from one to the next
cdef double ACCEPTED = 1e-10     # residual, relative to the data, that counts as solved if none is smaller
cdef double NOISE = 1e-12        # of lambda, relative to the data: a row is not switched for less
cdef double ROUNDING = 1e-15     # of a gap, relative to the data
cdef double BEYOND = 1e9         # a problem is infeasible if v had to be so many times larger
cdef double PROMISING = 1e3      # and worth a closer look from here on
cdef double BALANCE = 1e-9       # |J^T y| / |y| of a certificate
cdef double NEVER = -1e300       # the d of a row that is never on

FIELDS = ("v", "Hv", "u", "step", "force", "root", "free")  # vectors of n
ROWS = ("b", "impulse", "gap", "other", "last", "scale")  # vectors of p + m


cdef class Walk:
    """Workspace of one problem's pattern and the loops on it; trusts its callers.

    Parameters
    ----------
    kkt : Kkt
    pattern : Pattern
        Of the tree.
    start, column : ndarray
        The constraints' pattern, bilateral ones first.
    equal : int
        Number of bilateral ones.
    """

    cdef Kkt kkt
    cdef Pattern pattern
    cdef readonly Py_ssize_t n, m, equal, pivots, factorizations, iterations
    cdef readonly double size    # of the data: residuals are relative to it
    cdef double delta, noise
    cdef const Py_ssize_t *start
    cdef const Py_ssize_t *column
    cdef const double *g
    cdef double *J
    cdef double *H               # padded rows
    cdef double *path
    cdef double *v
    cdef double *Hv
    cdef double *u
    cdef double *step
    cdef double *force
    cdef double *root            # sqrt(H_kk)
    cdef double *free            # H^-1 g
    cdef double *b
    cdef double *impulse         # lambda
    cdef double *gap
    cdef double *other           # gap of u
    cdef double *last            # change of lambda by the last multiplier step
    cdef double *scale
    cdef unsigned char *on
    cdef object kept
    cdef dict vectors

    def __cinit__(self, Kkt kkt not None, Pattern pattern not None, start, column, Py_ssize_t equal):
        cdef Py_ssize_t n = kkt.symbolic.n, m = kkt.symbolic.m
        self.kkt, self.pattern = kkt, pattern
        self.n, self.m, self.equal = n, m, equal
        room = aligned((len(FIELDS) * padded(n) + len(ROWS) * padded(m),))
        arrays, at = {}, 0
        for name in FIELDS + ROWS:
            size = n if name in FIELDS else m
            arrays[name] = room[at : at + size]
            at += padded(size)
        H, path = aligned((pattern.shape.room + 8,)), aligned((pattern.shape.path + 8,))
        J, on = aligned((len(column),)), np.zeros(m, dtype=np.uint8)
        self.start = <const Py_ssize_t *> (<cnp.ndarray> start).data
        self.column = <const Py_ssize_t *> (<cnp.ndarray> column).data
        self.H, self.path, self.J = doubles(H), doubles(path), doubles(J)
        self.v, self.Hv, self.u = doubles(arrays["v"]), doubles(arrays["Hv"]), doubles(arrays["u"])
        self.step, self.force = doubles(arrays["step"]), doubles(arrays["force"])
        self.root, self.free = doubles(arrays["root"]), doubles(arrays["free"])
        self.b, self.impulse = doubles(arrays["b"]), doubles(arrays["impulse"])
        self.gap = doubles(arrays["gap"])
        self.other, self.last = doubles(arrays["other"]), doubles(arrays["last"])
        self.scale = doubles(arrays["scale"])
        self.on = <unsigned char *> (<cnp.ndarray> on).data
        self.vectors = arrays | {"on": on}
        self.kept = [start, column, H, path, J, on, room, None]

    def load(self, cnp.ndarray H not None, cnp.ndarray g not None, cnp.ndarray free not None,
             cnp.ndarray J not None, cnp.ndarray b not None):
        """Take packed rows of H, g, H^-1 g, the constraints' entries and right sides: contiguous float64."""
        self.kept[7] = (H, g)
        self.g = <const double *> g.data
        memcpy(self.free, free.data, self.n * sizeof(double))
        with nogil:
            self.take(<const double *> H.data, <const double *> J.data, <const double *> b.data)

    cdef void take(self, const double *H, const double *J, const double *b) noexcept nogil:
        """Scale the rows and measure the data."""
        cdef Py_ssize_t k, i, p
        cdef double size
        active.rows.load_packed(&self.pattern.shape, <const char *> H, sizeof(double), 0, self.H)
        self.size = 0.0
        for k in range(self.n):
            self.root[k] = sqrt(H[self.pattern.shape.start[k + 1] - 1])
            self.size = max(self.size, fabs(self.g[k]) / self.root[k])
        for i in range(self.m):
            size = 0.0
            for p in range(self.start[i], self.start[i + 1]):
                size += (J[p] / self.root[self.column[p]]) ** 2
            self.scale[i] = 1.0 / sqrt(size) if size > 0.0 else 1.0
            for p in range(self.start[i], self.start[i + 1]):
                self.J[p] = self.scale[i] * J[p]
            self.b[i] = max(self.scale[i] * b[i], NEVER)
            if self.b[i] > NEVER:
                self.size = max(self.size, fabs(self.b[i]))
        self.kkt.load(H, self.J)

    def run(self, bint simplex, warm, double target, Py_ssize_t limit):
        """Solve; return the status. warm: impulses and rows that are on, unscaled, (p + m,) each, or None."""
        cdef int status
        cdef const double *impulse = NULL
        cdef const unsigned char *on = NULL
        if warm is not None:
            impulse = doubles(warm[0])
            on = <const unsigned char *> (<cnp.ndarray> warm[1]).data
        with nogil:
            self.pivots = self.factorizations = self.iterations = 0
            self.begin(impulse, on)
            status = -1 if isfinite(self.size) else INVALID_
            if simplex and status < 0:
                status = self.walk(limit)
            if status < 0:
                status = self.exchange(target, limit, warm is not None or simplex)
        return status

    def results(self):
        """v, lambda and the last change of lambda in the units of the rows, and the rows that are on."""
        found = self.vectors
        return (found["v"].copy(), found["impulse"] * found["scale"], found["last"] * found["scale"],
                found["on"].view(bool).copy())

    # ------------------------------------------------------------------------------------- products

    cdef inline double row(self, Py_ssize_t i, const double *x) noexcept nogil:
        """J_i x."""
        cdef double sum = 0.0
        cdef Py_ssize_t p
        for p in range(self.start[i], self.start[i + 1]):
            sum += self.J[p] * x[self.column[p]]
        return sum

    cdef inline void add_row(self, Py_ssize_t i, double a, double *y) noexcept nogil:
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

    cdef void begin(self, const double *impulse, const unsigned char *on) noexcept nogil:
        """v free of constraints; on are the rows of a warm start, or those that v violates or that touch."""
        cdef Py_ssize_t i
        memcpy(self.v, self.free, self.n * sizeof(double))
        self.gaps(self.v, self.gap)
        for i in range(self.m):
            self.impulse[i] = impulse[i] / self.scale[i] if impulse != NULL else 0.0
            self.on[i] = i < self.equal or (
                on[i] != 0 if on != NULL else (self.gap[i] < 0.0 or self.b[i] >= 0.0)
            )
            self.last[i] = 0.0

    cdef void loosen(self, double delta) noexcept nogil:
        """Set delta, and what counts as noise of lambda: while it is loose, rounding errors of gap, too."""
        self.delta = delta
        self.noise = (NOISE + (ROUNDING / delta if delta > TIGHT else 0.0)) * self.size
        self.kkt.touch_all()

    cdef bint update(self) noexcept nogil:
        """Set the rows that are on by s; tell whether any changed."""
        cdef Py_ssize_t i, changed = 0
        for i in range(self.equal, self.m):
            if self.wrong(i, self.gap):
                self.switch(i)
                changed += 1
        return changed > 0

    cdef inline void switch(self, Py_ssize_t i) noexcept nogil:
        self.on[i] = not self.on[i]
        self.kkt.touch(i)
        self.pivots = self.pivots + 1

    cdef bint refactor(self) noexcept nogil:
        """The factor for the rows that are on; false where it failed."""
        cdef Py_ssize_t failed = self.kkt.refactor(self.on, 1.0 / self.delta)
        if self.kkt.touched:
            self.factorizations = self.factorizations + 1
        return failed < 0

    cdef void newton(self) noexcept nogil:
        """u <- S^-1 (g + J_on^T (lambda + b / delta)): the minimum of phi were no row switched."""
        cdef Py_ssize_t i
        memcpy(self.u, self.g, self.n * sizeof(double))
        for i in range(self.m):
            if self.on[i]:
                self.add_row(i, self.impulse[i] + self.b[i] / self.delta, self.u)
        self.kkt.solve(self.u)
        self.gaps(self.u, self.other)

    cdef bint agrees(self) noexcept nogil:
        """Whether u has the same rows on."""
        cdef Py_ssize_t i
        for i in range(self.equal, self.m):
            if self.wrong(i, self.other):
                return False
        return True

    cdef inline bint wrong(self, Py_ssize_t i, const double *gap) noexcept nogil:
        """Whether a row is on or off that should not be, beyond rounding errors."""
        cdef double s = self.impulse[i] - gap[i] / self.delta
        return s < -self.noise if self.on[i] else s > self.noise

    cdef void jump(self) noexcept nogil:
        """v <- u."""
        memcpy(self.v, self.u, self.n * sizeof(double))
        memcpy(self.gap, self.other, self.m * sizeof(double))

    # ------------------------------------------------------------------------------------ exchanges

    cdef int exchange(self, double target, Py_ssize_t limit, bint warm) noexcept nogil:
        """The proximal method on lambda (Rockafellar 1976), each step by Newton's method on phi(v)."""
        #   phi(v) = 1/2 v^T H v - g^T v + 1/(2 delta) sum_i max(0, s_i)^2,  lambda <- max(0, s) / delta
        cdef double residual
        cdef bint first = True
        self.loosen(TIGHT if warm else LOOSE)
        while self.iterations < limit:
            if not self.minimise(limit, first):
                return INVALID_
            first = False
            if self.iterations >= limit:
                break
            self.multiply()
            residual = self.refine(target)
            if residual <= target * self.size:
                return SOLVED_
            if not isfinite(residual):
                return INVALID_
            if self.infeasible():
                return INFEASIBLE_
            if self.delta > TIGHT:
                self.loosen(max(self.delta * SHRINK, TIGHT))
                self.update()
            elif not self.update() and residual <= ACCEPTED * self.size:
                return SOLVED_
        return LIMIT_

    cdef bint minimise(self, Py_ssize_t limit, bint first) noexcept nogil:
        """v <- argmin phi by Newton steps with exact line search; false where numbers overflow."""
        cdef double t
        while self.iterations < limit:
            self.iterations = self.iterations + 1
            if not self.refactor():
                return False
            self.newton()
            if self.agrees():
                self.jump()
                return True
            if first:                    # the rows that are on were guessed, not those of v
                first = False
                self.jump()
                self.h_times(self.v, self.Hv)
                self.update()
                continue
            t = self.search()
            if not isfinite(t):
                return False
            approach(self.n, t, self.u, self.v)
            axpy(self.n, t, self.force, self.Hv)
            approach(self.m, t, self.other, self.gap)
            if not self.update():        # u differs by rounding errors only
                return True
        return True

    cdef double search(self) noexcept nogil:
        """Step t to the minimum of phi(v + t (u - v)); force <- H (u - v)."""
        #   the derivative a0 + a1 t - sum_on slope (s - t slope) / delta  is monotone and piecewise linear
        cdef double a0 = 0.0, a1, value, rise, s, slope, t = 1.0, low = 0.0, high = INFINITY, new
        cdef Py_ssize_t k, i
        for k in range(self.n):
            self.step[k] = self.u[k] - self.v[k]
            a0 += self.step[k] * (self.Hv[k] - self.g[k])
        self.h_times(self.step, self.force)
        a1 = dot(self.n, self.step, self.force)
        for _count in range(BISECTIONS):
            value, rise = 0.0, 0.0
            for i in range(self.m):
                slope = self.other[i] - self.gap[i]
                s = self.delta * self.impulse[i] - self.gap[i] - t * slope
                if i < self.equal or s > 0.0:
                    value -= slope * s
                    rise += slope * slope
            value = a0 + a1 * t + value / self.delta
            rise = a1 + rise / self.delta
            if value < 0.0:
                low = t
            else:
                high = t
            new = t - value / rise
            if not (low <= new <= high):
                new = 0.5 * (low + high)
            if fabs(new - t) <= 1e-14 * t:
                return new
            t = new
        return t

    cdef void multiply(self) noexcept nogil:
        """lambda <- max(0, s) / delta; `last` keeps the change."""
        cdef Py_ssize_t i
        cdef double new
        for i in range(self.m):
            new = self.impulse[i] - self.gap[i] / self.delta if self.on[i] else 0.0
            self.last[i] = new - self.impulse[i]
            self.impulse[i] = new

    cdef double refine(self, double target) noexcept nogil:
        """Refine v and lambda on K without delta while that helps; return the residual."""
        #   S dv = g + J^T lambda - H v - J_on^T gap / delta,  dlambda = -(gap + J_on dv) / delta
        cdef Py_ssize_t i, count
        cdef double residual, before = INFINITY
        for count in range(REFINEMENTS + 1):
            residual = self.measure()
            if residual <= target * self.size or not isfinite(residual):
                break
            if count == REFINEMENTS or residual > 0.5 * before:
                break
            before = residual
            memcpy(self.u, self.force, self.n * sizeof(double))
            for i in range(self.m):
                if self.on[i]:
                    self.add_row(i, -self.gap[i] / self.delta, self.u)
            self.kkt.solve(self.u)
            for i in range(self.m):
                if self.on[i]:
                    self.impulse[i] = self.impulse[i] - (self.gap[i] + self.row(i, self.u)) / self.delta
            axpy(self.n, 1.0, self.u, self.v)
            self.gaps(self.v, self.gap)
        for i in range(self.equal, self.m):
            self.impulse[i] = max(self.impulse[i], 0.0)
        return residual

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
                worst = larger(worst, self.gap[i] if i < self.equal else min(self.impulse[i], self.gap[i]))
            else:
                worst = larger(worst, min(0.0, self.gap[i]))
        for k in range(self.n):
            worst = larger(worst, self.force[k] / self.root[k])
        return worst

    cdef bint infeasible(self) noexcept nogil:
        """Whether y = the last change of lambda shows that no v of sensible size fulfils the constraints."""
        #   J v >= b  gives  y^T J v >= b^T y  for y >= 0;  y -= J_on S^-1 J^T y / delta  brings J^T y to 0
        cdef Py_ssize_t i, k
        cdef double power, reach, force, size
        for _count in range(CORRECTIONS):
            power, reach, force, size = 0.0, 0.0, 0.0, 0.0
            memset(self.u, 0, self.n * sizeof(double))
            for i in range(self.m):
                if i >= self.equal:
                    self.last[i] = max(self.last[i], 0.0)
                if self.last[i] != 0.0:
                    power += self.b[i] * self.last[i]
                    size += (self.last[i] * self.scale[i]) ** 2
                    self.add_row(i, self.last[i], self.u)
            for k in range(self.n):
                force += self.u[k] ** 2
                reach += fabs(self.u[k] * self.v[k])
            if not (power > 0.0 and PROMISING * reach <= power):
                return False
            if BEYOND * reach <= power and force <= BALANCE * BALANCE * size:
                return True
            self.kkt.solve(self.u)
            for i in range(self.m):
                if self.on[i]:
                    self.last[i] = self.last[i] - self.row(i, self.u) / self.delta
        return False

    # ----------------------------------------------------------------------------------------- walk

    cdef int walk(self, Py_ssize_t limit) noexcept nogil:
        """One row at a time, from none that is on; LIMIT, INVALID, or -1 where no row is violated."""
        #   Tasora, Manconi, Silvestri: activate a violated row; while a row blocks the way to the solution
        #   for the rows that are on, go as far as it allows and switch it (of several the first)
        cdef Py_ssize_t i, worst, blocking
        cdef double t, least = -ACCEPTED * self.size
        self.loosen(TIGHT)
        for i in range(self.m):
            self.on[i] = i < self.equal
            self.impulse[i] = 0.0
        if self.equal:
            if not self.refactor():
                return INVALID_
            self.newton()
            self.jump()
            for i in range(self.equal):
                self.impulse[i] = -self.gap[i] / self.delta
        while True:
            worst = -1
            for i in range(self.equal, self.m):
                if not self.on[i] and self.gap[i] < (least if worst < 0 else self.gap[worst]):
                    worst = i
            if worst < 0:
                return -1
            self.switch(worst)
            blocking = worst
            while blocking >= 0:
                self.iterations = self.iterations + 1
                if self.iterations > limit:
                    return LIMIT_
                if not self.refactor():
                    return INVALID_
                blocking, t = self.go()
                if not isfinite(t):
                    return INVALID_
                if blocking >= 0:
                    self.switch(blocking)

    cdef (Py_ssize_t, double) go(self) noexcept nogil:
        """Go towards the solution for the rows that are on; the row that blocks, or -1, and t <= 1."""
        cdef Py_ssize_t i, blocking = -1
        cdef double t = 1.0, here, there
        # without multipliers of an earlier step the solution has lambda = -gap / delta
        self.solve_regular()
        for i in range(self.equal, self.m):
            here = self.impulse[i] if self.on[i] else self.gap[i]
            there = -self.other[i] / self.delta if self.on[i] else self.other[i]
            if there < 0.0 <= here and here < t * (here - there):
                t = here / (here - there)
                blocking = i
        for i in range(self.m):
            if self.on[i]:
                self.impulse[i] = (1.0 - t) * self.impulse[i] - t * self.other[i] / self.delta
        approach(self.n, t, self.u, self.v)
        approach(self.m, t, self.other, self.gap)
        if blocking >= 0:
            if self.on[blocking]:
                self.impulse[blocking] = 0.0
            else:
                self.gap[blocking] = 0.0
        return blocking, t

    cdef void solve_regular(self) noexcept nogil:
        """u <- S^-1 (g + J_on^T b / delta) and its gaps."""
        cdef Py_ssize_t i
        memcpy(self.u, self.g, self.n * sizeof(double))
        for i in range(self.m):
            if self.on[i]:
                self.add_row(i, self.b[i] / self.delta, self.u)
        self.kkt.solve(self.u)
        self.gaps(self.u, self.other)


cdef inline double *doubles(cnp.ndarray a):
    return <double *> a.data


cdef inline void approach(Py_ssize_t n, double t, const double *to, double *x) noexcept nogil:
    """x += t (to - x)."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] += t * (to[k] - x[k])


cdef inline Py_ssize_t padded(Py_ssize_t size):
    """Entries of a vector with room behind it, so that the next one is aligned."""
    return size // 8 * 8 + 16


cdef inline double larger(double a, double b) noexcept nogil:
    """max(a, |b|), or a NaN where there is one."""
    return a if fabs(b) <= a else fabs(b)
