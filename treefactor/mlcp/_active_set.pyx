"""Which constraints are on: exchanges of many at a time, or the walk of Tasora, Manconi and Silvestri."""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, fmod, isfinite, sqrt
from libc.string cimport memcpy, memset

from ..tree._pattern cimport active
from ._iterate cimport FULL, OFF, ON, State, tight
from ..linalg._vector cimport axpy, dot

cnp.import_array()

cdef enum:
    SOLVED_ = 0
    INFEASIBLE_ = 1
    LIMIT_ = 2
    INVALID_ = 3
    BISECTIONS = 200
    CORRECTIONS = 40             # of a certificate
    STALLED = 40                 # steps without half the residual: rounding decides what is on
    PATIENCE = 16                # steps from one stride to the next: steps, not strides, tend to certificates

cdef double LOOSE = 1e-2         # delta of the first multipliers of a cold start
cdef double SHRINK = 1e-2        # from one to the next
cdef double BEYOND = 1e9         # a problem is infeasible if v had to be so many times larger
cdef double PROMISING = 2.0      # and worth a closer look, which costs a solution, from here on;
cdef double SUSPICIOUS = 0.1     # from here on where that many systems were not enough:
cdef Py_ssize_t FEW = 5
cdef double FALLING = 0.5        # a look goes on while what speaks against it falls like that
cdef double BALANCE = 1e-9       # |J^T y| / |y| of a certificate
cdef double SHARE = 0.01         # of the residual accepted: contradictions in between have no answer
cdef double EXACT = 1e-15        # rounding of J^T y, relative to the sum of |y|
cdef double APART = 1e-7         # changes of b during a walk, relative to the data
cdef double GOLDEN = 0.6180339887498949  # multiples of it modulo 1 are far from each other


cdef class Walk(State):
    """The loops that solve a problem; see State for its arguments."""

    def run(self, bint simplex, warm, double target, Py_ssize_t limit):
        """Solve; return the status. warm: impulses and rows that are on, unscaled, (p + m,) each, or None."""
        cdef int status
        cdef const double *impulse = NULL
        cdef const unsigned char *on = NULL
        if warm is not None:
            impulse = <const double *> (<cnp.ndarray> warm[0]).data
            on = <const unsigned char *> (<cnp.ndarray> warm[1]).data
        with nogil:
            self.pivots = self.factorizations = self.iterations = 0
            self.begin(impulse, on, False)
            status = -1 if isfinite(self.size) else INVALID_
            if simplex and status < 0:
                status = self.walk(limit)
            if status < 0:
                status = self.exchange(target, limit, impulse != NULL or simplex)
            if impulse != NULL and status == SOLVED_ and not self.moderate():
                status = LIMIT_          # impulses of the first guess cancel each other and hide the residual
        return status

    def settle(self, warm, double target):
        """Solve for the rows that are on; SOLVED where that solves the problem, LIMIT where not."""
        cdef const double *impulse = <const double *> (<cnp.ndarray> warm[0]).data
        cdef const unsigned char *on = <const unsigned char *> (<cnp.ndarray> warm[1]).data
        cdef double residual
        with nogil:
            self.begin(impulse, on, True)
            self.loosen(tight())
            residual = self.refine(target) if self.refactor() else INFINITY
        return SOLVED_ if residual <= self.accepted else LIMIT_

    # ------------------------------------------------------------------------------------ exchanges

    cdef int exchange(self, double target, Py_ssize_t limit, bint warm) noexcept nogil:
        """The proximal method on lambda (Rockafellar 1976), each step by Newton's method on phi(v)."""
        #   phi(v) = 1/2 v^T H v - g^T v + 1/(2 delta) sum_i max(0, s_i)^2,  lambda <- max(0, s) / delta;
        #   beyond s_i = delta upper_i the square goes on as its tangent, so that lambda stays upper_i
        cdef double residual, before = INFINITY, best = INFINITY
        cdef bint first = True
        cdef int status
        cdef Py_ssize_t steps = 0, since = 0
        self.loosen(tight() if warm else LOOSE)
        while self.iterations < limit:
            status = self.minimise(limit, first)
            if status >= 0:
                return status
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
            if self.delta > tight():
                self.loosen(max(self.delta * SHRINK, tight()))
                self.update()
            elif not self.correct():
                if residual <= self.accepted and residual > 0.5 * before:
                    return SOLVED_
                steps += 1
                if residual <= self.accepted or steps % PATIENCE == 0:
                    self.stride()
            before = residual
            since += 1
            if residual < 0.5 * best:
                best, since = residual, 0
            elif since >= STALLED:
                break
        return LIMIT_

    cdef void stride(self) noexcept nogil:
        """The step of the proximal method with an exact line search: rows on that are nearly dependent."""
        #   S dv = -J_on^T gap / delta,  dlambda = -(gap + J_on dv) / delta,  t = -dlambda gap / dlambda J dv
        cdef Py_ssize_t i
        cdef double power = 0.0, work = 0.0, t
        memset(self.u, 0, self.n * sizeof(double))
        for i in range(self.m):
            if self.on[i] == ON:
                self.add_row(i, -self.gap[i] / self.delta, self.u)
        self.kkt.solve(self.u)
        for i in range(self.m):
            self.other[i] = self.row(i, self.u)
            self.last[i] = -(self.gap[i] + self.other[i]) / self.delta if self.on[i] == ON else 0.0
            power -= self.last[i] * self.gap[i]
            work += self.last[i] * self.other[i]
        if not (work > 0.0 and power > 0.0):
            return
        t = power / work
        for i in range(self.equal, self.m):
            if self.impulse[i] + t * self.last[i] < 0.0:
                t = self.impulse[i] / -self.last[i]
            elif self.impulse[i] + t * self.last[i] > self.upper[i]:
                t = (self.upper[i] - self.impulse[i]) / self.last[i]
        for i in range(self.m):
            self.impulse[i] = self.impulse[i] + t * self.last[i]
            if i >= self.equal:
                self.impulse[i] = min(max(self.impulse[i], 0.0), self.upper[i])
        axpy(self.n, t, self.u, self.v)
        self.gaps(self.v, self.gap)

    cdef int minimise(self, Py_ssize_t limit, bint first) noexcept nogil:
        """v <- argmin phi by Newton steps with exact line search; -1, or why that is the end of it."""
        cdef double t
        cdef Py_ssize_t i
        limit = min(limit, self.iterations + 2 * self.m + 2 * STALLED)
        while self.iterations < limit:
            self.iterations = self.iterations + 1
            if not self.refactor():
                return INVALID_
            self.newton()
            if self.agrees():
                self.jump()
                return -1
            if first:                    # the rows that are on were guessed, not those of v
                first = False
                self.jump()
                self.h_times(self.v, self.Hv)
                self.update()
                continue
            t = self.search()
            if not isfinite(t):
                return INVALID_
            approach(self.n, t, self.u, self.v)
            axpy(self.n, t, self.force, self.Hv)
            approach(self.m, t, self.other, self.gap)
            for i in range(self.m):
                self.last[i] = self.multiplier(i) - self.impulse[i]
            if self.infeasible():
                return INFEASIBLE_
            if not self.update():        # u differs by rounding errors only
                return -1
        return -1

    cdef double search(self) noexcept nogil:
        """Step t to the minimum of phi(v + t (u - v)); force <- H (u - v)."""
        #   the derivative a0 + a1 t - sum_on slope (s - t slope) / delta  is monotone and piecewise linear
        cdef double a0 = 0.0, a1, value, rise, s, slope, t = 1.0, low = 0.0, high = INFINITY, new
        cdef double sums[2]
        cdef Py_ssize_t k, i, q = self.equal, count
        for k in range(self.n):
            self.step[k] = self.u[k] - self.v[k]
            a0 += self.step[k] * (self.Hv[k] - self.g[k])
        self.h_times(self.step, self.force)
        a1 = dot(self.n, self.step, self.force)
        for count in range(BISECTIONS):
            active.fronts.line_search_sums(self.m - q, self.gap + q, self.other + q, self.impulse + q,
                                           self.upper + q, self.delta, t, sums)
            value, rise = -sums[0], sums[1]
            for i in range(q):
                slope = self.other[i] - self.gap[i]
                s = self.delta * self.impulse[i] - self.gap[i] - t * slope
                value -= slope * s
                rise += slope * slope
            value = a0 + a1 * t + value / self.delta
            rise = a1 + rise / self.delta
            if value < 0.0:
                low = t
            else:
                high = t
            new = t - value / rise
            if fabs(new - t) <= 1e-14 * t:
                return new
            if not (low < new < high) or (count % 8 == 7 and high < INFINITY):
                new = 0.5 * (low + high)
            t = new
        return t

    cdef void multiply(self) noexcept nogil:
        """lambda <- max(0, s) / delta, or its bound; `last` keeps the change."""
        cdef Py_ssize_t i
        cdef double new
        for i in range(self.m):
            new = self.multiplier(i)
            self.last[i] = new - self.impulse[i]
            self.impulse[i] = new

    cdef double multiplier(self, Py_ssize_t i) noexcept nogil:
        """The next lambda of a row."""
        if self.on[i] == ON:
            return self.impulse[i] - self.gap[i] / self.delta
        return self.upper[i] if self.on[i] == FULL else 0.0

    cdef bint infeasible(self) noexcept nogil:
        """Whether y = the last change of lambda shows that no v of sensible size fulfils the constraints."""
        #   J v >= b  gives  y^T J v >= b^T y  for y >= 0;  y -= J_on S^-1 J^T y / delta  brings J^T y to 0
        #   rows with bounds give way
        cdef Py_ssize_t i, k
        cdef double power, reach, force, size, length, least
        cdef double most = 1.0 / (SUSPICIOUS if self.iterations > FEW else PROMISING)
        for _count in range(CORRECTIONS):
            power, reach, force, size, length, least = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            memset(self.u, 0, self.n * sizeof(double))
            for i in range(self.m):
                if i >= self.equal:
                    self.last[i] = max(self.last[i], 0.0) if self.upper[i] == INFINITY else 0.0
                if self.last[i] != 0.0:
                    power += self.b[i] * self.last[i]
                    size += (self.last[i] * self.scale[i]) ** 2
                    length += fabs(self.last[i])
                    self.add_row(i, self.last[i], self.u)
            for k in range(self.n):
                force += self.u[k] ** 2
                reach += fabs(self.u[k] * self.v[k])
                least += (self.u[k] / self.root[k]) ** 2
            reach = max(reach, self.size * (sqrt(least) - EXACT * length))
            if not (power > SHARE * self.accepted * length and reach <= most * power):
                return False             # constraints that contradict each other by less are solved
            if BEYOND * reach <= power and force <= BALANCE * BALANCE * size:
                return True
            most = FALLING * reach / power
            self.kkt.solve(self.u)
            for i in range(self.m):
                if self.on[i] == ON:
                    self.last[i] = self.last[i] - self.row(i, self.u) / self.delta
        return False

    # ----------------------------------------------------------------------------------------- walk

    cdef int walk(self, Py_ssize_t limit) noexcept nogil:
        """One row at a time, from none that is on; LIMIT, INVALID, or -1 where no row is violated."""
        #   Tasora, Manconi, Silvestri: activate a violated row; while a row blocks the way to the solution
        #   for the rows that are on, go as far as it allows and switch it. Charnes (1952): b is changed a
        #   little, so that rows do not block at once and the walk cannot return to where it was
        cdef Py_ssize_t i
        cdef int status
        self.loosen(tight())
        for i in range(self.m):
            self.on[i] = ON if i < self.equal else OFF
            self.impulse[i] = 0.0
        memcpy(self.last, self.b, self.m * sizeof(double))
        for i in range(self.equal, self.m):
            self.b[i] = self.b[i] - APART * self.size * fmod((i + 1) * GOLDEN, 1.0)
        self.gaps(self.v, self.gap)
        status = self.follow(limit)
        memcpy(self.b, self.last, self.m * sizeof(double))
        memset(self.impulse, 0, self.m * sizeof(double))  # the walk's need not be those of least norm
        self.gaps(self.v, self.gap)
        return status

    cdef int follow(self, Py_ssize_t limit) noexcept nogil:
        """The walk from where lambda is 0, with the status of `walk`."""
        cdef Py_ssize_t i, worst, blocking
        cdef double t, least = -self.accepted
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
            self.put(worst, ON)
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
                    self.put(blocking, OFF if self.on[blocking] else ON)

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


cdef inline void approach(Py_ssize_t n, double t, const double *to, double *x) noexcept nogil:
    """x += t (to - x)."""
    cdef Py_ssize_t k
    for k in range(n):
        x[k] += t * (to[k] - x[k])
