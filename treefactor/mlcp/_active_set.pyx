"""Active-set solver: proximal Newton steps, after the simplex method if that is chosen."""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, isfinite, sqrt
from libc.string cimport memset

from ..tree._pattern cimport active
from ._iterate cimport FULL, INFEASIBLE_, INVALID_, LIMIT_, ON, SOLVED_
from ._iterate cimport add_rows, approach, least_delta, rows_times
from ._simplex cimport Simplex
from ..linalg._vector cimport axpy, dot

cnp.import_array()

cdef enum:
    BISECTIONS = 200
    CORRECTIONS = 40             # steps that improve a certificate
    SLOW = 2                     # steps that do not halve the residual: delta is lowered to LAST_DELTA
    STALLED = 40                 # steps that do not halve the residual: rounding decides the status of rows
    PATIENCE = 16                # plain steps per line-search step; only these converge to a certificate

cdef double FIRST_DELTA = 1e-2   # delta of a cold start
cdef double SHRINK = 1e-2        # factor of delta after a multiplier step
# smallest delta, for rows that contradict each other slightly: a step changes multipliers by gap / delta
cdef double LAST_DELTA = 1e-9
cdef double BEYOND = 1e9         # infeasible when feasibility would need a norm of v above this multiple
cdef double PROMISING = 2.0      # multiple from which a certificate is worth improving, which costs a solve;
cdef double SUSPICIOUS = 0.1     # the same multiple after more than FEW systems
cdef Py_ssize_t FEW = 5
cdef double FALLING = 0.5        # improvement continues while the multiple grows by 1 / FALLING per step
cdef double BALANCE = 1e-9       # |J^T y| / |y| of a certificate
cdef double SHARE = 0.01         # share of the accepted residual; a smaller contradiction is not infeasible
cdef double EXACT = 1e-15        # rounding of J^T y, relative to the sum of |y|


cdef class ActiveSetSolver(Simplex):
    """Solver of the problems that its Iterate has loaded; takes the arguments of Iterate."""

    def run(self, bint simplex, warm, double target, Py_ssize_t limit):
        """Solve and return the status.

        warm : tuple of ndarray or None
            Unscaled impulses and rows that are on, shape (p + m,) each.
        """
        cdef int status
        cdef const double *impulse = NULL
        cdef const unsigned char *on = NULL
        if warm is not None:
            impulse = <const double *> (<cnp.ndarray> warm[0]).data
            on = <const unsigned char *> (<cnp.ndarray> warm[1]).data
        with nogil:
            status = self.solve(impulse, on, simplex, target, limit)
        return status

    cdef int solve(self, const double *impulse, const unsigned char *on, bint simplex, double target,
                   Py_ssize_t limit) noexcept nogil:
        """Solve from unscaled impulses and rows that are on, or NULL; return the status."""
        cdef int status
        self.pivots = self.factorizations = self.iterations = 0
        self.begin(impulse, on, False)
        status = -1 if isfinite(self.size) else INVALID_
        if simplex and status < 0:
            status = self.simplex(limit)
        if status < 0:
            status = self.proximal_newton(target, limit, impulse != NULL or simplex)
        if (impulse != NULL or simplex) and status == SOLVED_ and not self.impulses_are_moderate():
            status = LIMIT_              # impulses of the guess cancel each other and hide the residual
        return status

    def solve_with_status(self, warm, double target):
        """Solve with the given rows on; return SOLVED if that solves the problem, otherwise LIMIT."""
        cdef const double *impulse = <const double *> (<cnp.ndarray> warm[0]).data
        cdef const unsigned char *on = <const unsigned char *> (<cnp.ndarray> warm[1]).data
        cdef double residual
        with nogil:
            self.begin(impulse, on, True)
            self.set_delta(least_delta())
            residual = self.refine(target) if self.refactor() else INFINITY
        return SOLVED_ if residual <= self.accepted else LIMIT_

    # ------------------------------------------------------------------------------ proximal Newton

    cdef int proximal_newton(self, double target, Py_ssize_t limit, bint warm) noexcept nogil:
        """Run the proximal method on lambda (Rockafellar 1976); Newton's method on phi(v) makes each step."""
        #   phi(v) = 1/2 v^T H v - g^T v + 1/(2 delta) sum_i max(0, s_i)^2,  lambda <- max(0, s) / delta;
        #   beyond s_i = delta upper_i its tangent replaces the square, so that lambda stays upper_i
        cdef double residual, before = INFINITY, best = INFINITY
        cdef bint first = True
        cdef int status
        cdef Py_ssize_t steps = 0, since = 0
        self.set_delta(least_delta() if warm else FIRST_DELTA)
        while self.iterations < limit:
            status = self.minimise(limit, first)
            if status >= 0:
                return status
            first = False
            if self.iterations >= limit:
                break
            self.update_multipliers()
            residual = self.refine(target)
            if residual <= target * self.size:
                return SOLVED_
            if not isfinite(residual):
                return INVALID_
            if self.is_infeasible():
                return INFEASIBLE_
            if self.delta > least_delta():
                self.set_delta(max(self.delta * SHRINK, least_delta()))
                self.update_statuses()
            elif not self.correct_statuses():
                if residual <= self.accepted and residual > 0.5 * before:
                    return SOLVED_
                steps += 1
                if residual <= self.accepted or steps % PATIENCE == 0:
                    self.line_search_step()
            before = residual
            since += 1
            if residual < 0.5 * best:
                best, since = residual, 0
            elif since >= STALLED:
                break
            elif since == SLOW and LAST_DELTA < self.delta <= least_delta():
                self.set_delta(LAST_DELTA)
        return LIMIT_

    cdef void line_search_step(self) noexcept nogil:
        """Take a proximal step with an exact line search, for active rows that are nearly dependent."""
        #   t = -dlambda gap / dlambda J dv
        cdef Py_ssize_t i
        cdef double power = 0.0, work = 0.0, t
        self.proximal_direction(NULL)
        for i in range(self.m):
            power -= self.weight[i] * self.gap[i]
            work += self.weight[i] * self.gap_u[i]
        if not (work > 0.0 and power > 0.0):
            return
        t = power / work
        for i in range(self.equal, self.m):
            if self.impulse[i] + t * self.weight[i] < 0.0:
                t = self.impulse[i] / -self.weight[i]
            elif self.impulse[i] + t * self.weight[i] > self.upper[i]:
                t = (self.upper[i] - self.impulse[i]) / self.weight[i]
        for i in range(self.m):
            self.impulse[i] = self.impulse[i] + t * self.weight[i]
            if i >= self.equal:
                self.impulse[i] = min(max(self.impulse[i], 0.0), self.upper[i])
        axpy(self.n, t, self.u, self.v)
        self.gaps(self.v, self.gap)
        self.h_times(self.v, self.Hv)

    cdef int minimise(self, Py_ssize_t limit, bint first) noexcept nogil:
        """Minimise phi by Newton steps with line search; return -1, or the status that ends the solver."""
        cdef double t
        cdef Py_ssize_t i
        limit = min(limit, self.iterations + 2 * self.m + 2 * STALLED)
        while self.iterations < limit:
            self.iterations = self.iterations + 1
            if not self.refactor():
                return INVALID_
            self.newton_point()
            if self.statuses_agree():
                self.accept()
                return -1
            if first:                    # the status of the rows was guessed, not derived from v
                first = False
                self.accept()
                self.newton_momentum(self.Hv)
                self.update_statuses()
                continue
            t = self.line_search()
            if not isfinite(t):
                return INVALID_
            approach(self.n, t, self.u, self.v)
            axpy(self.n, t, self.force, self.Hv)
            approach(self.m, t, self.gap_u, self.gap)
            for i in range(self.m):
                self.change[i] = next_multiplier(self, i) - self.impulse[i]
            if self.is_infeasible():
                return INFEASIBLE_
            if not self.update_statuses():        # u differs by rounding errors only
                return -1
        return -1

    cdef double line_search(self) noexcept nogil:
        """Return the t that minimises phi(v + t (u - v)); compute force = H (u - v)."""
        #   the derivative a0 + a1 t - sum_on slope (s - t slope) / delta  is monotone and piecewise linear
        cdef double a0 = 0.0, a1, value, rise, s, slope, t = 1.0, low = 0.0, high = INFINITY, new
        cdef double sums[2]
        cdef Py_ssize_t k, i, q = self.equal, count
        for k in range(self.n):
            self.step[k] = self.u[k] - self.v[k]
            a0 += self.step[k] * (self.Hv[k] - self.g[k])
        self.newton_momentum(self.force)
        axpy(self.n, -1.0, self.Hv, self.force)
        a1 = dot(self.n, self.step, self.force)
        if self.delta < least_delta() or not a1 > 0.0:   # rounding errors of lambda may be larger than a1
            self.h_times(self.step, self.force)
            a1 = dot(self.n, self.step, self.force)
        for count in range(BISECTIONS):
            active.fronts.line_search_sums(self.m - q, self.gap + q, self.gap_u + q, self.impulse + q,
                                           self.upper + q, self.delta, t, sums)
            value, rise = -sums[0], sums[1]
            for i in range(q):
                slope = self.gap_u[i] - self.gap[i]
                s = self.delta * self.impulse[i] - self.gap[i] - t * slope
                value -= slope * s
                rise += slope * slope
            value = a0 + a1 * t + value * self.stiffness
            rise = a1 + rise * self.stiffness
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

    cdef void update_multipliers(self) noexcept nogil:
        """Set lambda = max(0, s) / delta, or its bound, and keep its change."""
        cdef Py_ssize_t i
        cdef double new
        for i in range(self.m):
            new = next_multiplier(self, i)
            self.change[i] = new - self.impulse[i]
            self.impulse[i] = new

    cdef bint is_infeasible(self) noexcept nogil:
        """Return whether y, the change of lambda, certifies that no v of sensible size is feasible."""
        #   J v >= b  gives  y^T J v >= b^T y  for y >= 0;  y -= J_on S^-1 J^T y / delta  brings J^T y to 0
        #   rows with bounds take no part; the present v alone decides whether the first y is worth improving:
        #   the largest v of the size of the data, which an unrelated force can raise, would delay that
        cdef Py_ssize_t i, k, count
        cdef double power, reach, largest, force, size, length, least
        cdef double most = 1.0 / (SUSPICIOUS if self.iterations > FEW else PROMISING)
        for count in range(CORRECTIONS):
            power, reach, force, size, length, least = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for i in range(self.m):
                if i >= self.equal:
                    self.change[i] = max(self.change[i], 0.0) if self.upper[i] == INFINITY else 0.0
                if self.change[i] != 0.0:
                    power += self.b[i] * self.change[i]
                    size += (self.change[i] * self.scale[i]) ** 2
                    length += fabs(self.change[i])
            if not power > SHARE * self.accepted * length:
                return False             # a smaller contradiction counts as solved
            memset(self.u, 0, self.n * sizeof(double))
            add_rows(&self.rows, self.change, self.u)
            for k in range(self.n):
                force += self.u[k] ** 2
                reach += fabs(self.u[k] * self.v[k])
                least += (self.u[k] / self.root[k]) ** 2
            largest = max(reach, self.size * (sqrt(least) - EXACT * length))
            if not (largest if count else reach) <= most * power:
                return False
            if BEYOND * largest <= power and force <= BALANCE * BALANCE * size:
                return True
            most = FALLING * largest / power
            self.kkt.solve(self.u)
            rows_times(&self.rows, self.u, NULL, self.gap_u)
            for i in range(self.m):
                if self.status[i] == ON:
                    self.change[i] = self.change[i] - self.gap_u[i] * self.stiffness
        return False


cdef inline double next_multiplier(ActiveSetSolver self, Py_ssize_t i) noexcept nogil:
    """Return the next lambda of a row."""
    if self.status[i] == ON:
        return self.impulse[i] - self.gap[i] * self.stiffness
    return self.upper[i] if self.status[i] == FULL else 0.0
