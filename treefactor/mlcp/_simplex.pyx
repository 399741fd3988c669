"""Simplex method of Tasora, Manconi and Silvestri: activate violated rows; each step has a ratio test."""

from libc.math cimport fmod, isfinite
from libc.string cimport memcpy, memset

from ._iterate cimport INVALID_, LIMIT_, OFF, ON, Iterate, add_rows, approach, least_delta

cdef double APART = 1e-7         # perturbations of b, relative to the data
cdef double GOLDEN = 0.6180339887498949  # multiples of the golden ratio modulo 1 are well separated


cdef class Simplex(Iterate):
    """Simplex method on the problems that its Iterate has loaded; takes the arguments of Iterate."""

    cdef int simplex(self, Py_ssize_t limit) noexcept nogil:
        """Run the simplex method from no active row; return LIMIT, INVALID, or -1 when no row is violated."""
        #   Tasora, Manconi, Silvestri: activate a violated row; while a row blocks the step to the solution
        #   for the active rows, shorten the step to that row and switch it. Charnes (1952): perturbations
        #   of b keep rows from blocking at the same time, so that the method cannot cycle
        cdef Py_ssize_t i
        cdef int status
        self.set_delta(least_delta())
        for i in range(self.m):
            self.status[i] = ON if i < self.equal else OFF
            self.impulse[i] = 0.0
        memcpy(self.change, self.b, self.m * sizeof(double))
        for i in range(self.equal, self.m):
            self.b[i] = self.b[i] - APART * self.size * fmod((i + 1) * GOLDEN, 1.0)
        self.gaps(self.v, self.gap)
        status = self.simplex_steps(limit)
        memcpy(self.b, self.change, self.m * sizeof(double))
        memset(self.impulse, 0, self.m * sizeof(double))  # the norm need not be the least
        self.gaps(self.v, self.gap)
        return status

    cdef int simplex_steps(self, Py_ssize_t limit) noexcept nogil:
        """Take simplex steps from lambda = 0; return the status of `simplex`."""
        cdef Py_ssize_t i, worst, blocking
        cdef double t, least = -self.accepted
        if self.equal:
            if not self.refactor():
                return INVALID_
            self.newton_point()
            self.accept()
            for i in range(self.equal):
                self.impulse[i] = -self.gap[i] / self.delta
        while True:
            worst = -1
            for i in range(self.equal, self.m):
                if not self.status[i] and self.gap[i] < (least if worst < 0 else self.gap[worst]):
                    worst = i
            if worst < 0:
                return -1
            self.set_status(worst, ON)
            blocking = worst
            while blocking >= 0:
                self.iterations = self.iterations + 1
                if self.iterations > limit:
                    return LIMIT_
                if not self.refactor():
                    return INVALID_
                blocking, t = self.ratio_test_step()
                if not isfinite(t):
                    return INVALID_
                if blocking >= 0:
                    self.set_status(blocking, OFF if self.status[blocking] else ON)

    cdef (Py_ssize_t, double) ratio_test_step(self) noexcept nogil:
        """Step towards the solution for the active rows; return the row that blocks, or -1, and t <= 1."""
        cdef Py_ssize_t i, blocking = -1
        cdef double t = 1.0, value, target
        # without multipliers of an earlier step, the solution has lambda = -gap / delta
        self.solve_without_multipliers()
        for i in range(self.equal, self.m):
            value = self.impulse[i] if self.status[i] else self.gap[i]
            target = -self.gap_u[i] / self.delta if self.status[i] else self.gap_u[i]
            if target < 0.0 <= value and value < t * (value - target):
                t = value / (value - target)
                blocking = i
        for i in range(self.m):
            if self.status[i]:
                self.impulse[i] = (1.0 - t) * self.impulse[i] - t * self.gap_u[i] / self.delta
        approach(self.n, t, self.u, self.v)
        approach(self.m, t, self.gap_u, self.gap)
        if blocking >= 0:
            if self.status[blocking]:
                self.impulse[blocking] = 0.0
            else:
                self.gap[blocking] = 0.0
        return blocking, t

    cdef void solve_without_multipliers(self) noexcept nogil:
        """Compute u = S^-1 (g + J_on^T b / delta) and its gaps."""
        cdef Py_ssize_t i
        for i in range(self.m):
            self.weight[i] = self.b[i] * self.stiffness if self.status[i] else 0.0
        memcpy(self.u, self.g, self.n * sizeof(double))
        add_rows(&self.rows, self.weight, self.u)
        self.kkt.solve(self.u)
        self.gaps(self.u, self.gap_u)
