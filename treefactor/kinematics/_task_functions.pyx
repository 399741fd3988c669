"""Compiled functions of tasks: what follows from the factor of H and the Jacobian J of frames.

Khatib (1987), with H = L^T D L:

    W = D^-1/2 L^-T J^T                     half-solved columns
    G = W^T W = J H^-1 J^T
    Lambda = (G + damping 1)^-1             inertia of the task
    J_bar = H^-1 J^T Lambda                 inverse of J that is consistent with H
    N = 1 - J_bar J                         projects motions into those that leave the task at rest
    mu + p = Lambda (J H^-1 bias - J-dot v)
"""

from libc.math cimport NAN, isfinite
from libc.string cimport memcpy, memset

from .._functions._arrays cimport Array
from .._functions._compiled_function cimport SPARSE
from ..dynamics._dynamics_functions cimport Crba, DynamicsFunction, EquationOfMotion
from ..dynamics._model_function cimport ModelFunction
from ..linalg._delassus cimport (
    Memory, carve_memory, invert_lanes, memory_size, multiply, multiply_inverse, multiply_inverse_lanes,
    project,
)
from ..tree._operands cimport ALIGNED, LANES, align
from ..tree._pattern cimport (
    FACTORIZED, HALF_SOLVE, SOLVE, SOLVE_L, Shape, Workspace, active, carve_workspace, clear_workspace,
    workspace_size as factor_workspace_size,
)
from ._request cimport Request

from ..linalg.delassus import require_damping
from ._task_rows import row_name, singular
from .plans import item_of, request_of

cdef enum:
    STRIP = 16                   # right-hand sides that are solved together


ctypedef struct Parts:           # of 1 or 8 configurations
    double *J                    # entries that the request computes
    double *rate                 # J-dot v, of a function of v
    double *free                 # H^-1 (-bias), of a function of v
    double *H                    # packed rows
    double *L                    # those of the factor; of one configuration padded
    double *inverse              # reciprocals of its diagonal
    double *W                    # lanes: the half-solved J^T, (n, m) entries
    double *G                    # J H^-1 J^T, or the inverse of it and the damping
    double *end


cdef object rate_of(model, frame, str reference):
    """Return the item of J-dot v: only axes that do not move with a frame have its classical acceleration."""
    aligned = reference == "LOCAL_WORLD_ALIGNED"
    return item_of(model, "frame_acceleration", frame, reference, classical=aligned)


cdef class TaskFunction(ModelFunction):
    """Function of the Jacobian of frames: the base of those below.

    Parameters
    ----------
    model : Model
    frame : str, Frame, -1 for the base, or list or tuple of them
    reference : str
        Of J.
    names : tuple of str
        Arguments: q, then v and a damping where they are needed.
    """

    cdef object frame
    cdef Request request         # of J, then of J-dot v if there is an argument v
    cdef DynamicsFunction equation
    cdef Py_ssize_t rows
    cdef int damping             # number of this argument, 0 without

    def __init__(self, model, frame, str reference, tuple names):
        cdef int axis
        items = [item_of(model, "frame_jacobian", frame, reference)]
        if "v" in names:
            items.append(rate_of(model, frame, reference))
        self.frame, self.request, self.may_fail, self.rows = frame, request_of(model, items), True, 1
        for axis in range(self.request.result[0].axes - 1):
            self.rows *= self.request.result[0].shape[axis]
        self.equation = EquationOfMotion(model) if "v" in names else Crba(model, "packed")
        self.add_arguments(tuple([name for name in names if name != "damping"]))
        if "damping" in names:
            self.damping = self.inputs
            self.add_number()
        self.names = names
        self.effort = 4

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t n = self.bodies.nv, m = self.rows, more
        cdef Py_ssize_t size = self.request.result[0].computed if lanes > 1 else m * n
        size = lanes * (size + m + 2 * n + 2 * self.bodies.nnz + m * n + m * m)
        more = max(self.request.workspace_size(lanes), self.equation.workspace_size(lanes))
        if lanes > 1:
            more = max(more, lanes * max(<Py_ssize_t> t.scratch, m))
        else:
            more = max(more, memory_size(n, m) + ALIGNED)
            size += factor_workspace_size(t) + n * (m + STRIP)
        return size + more + 4 * ALIGNED

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        """Leave trees that are eliminated in parts to the lanes."""
        if self.damping > 0 and not x[self.damping][0] >= 0.0:
            return False
        return not self.pattern.shape.tasks and ModelFunction.run_one(self, x, out)

    def require_valid(self, dict arrays):
        """Raise ValueError for a damping that is negative."""
        if self.damping > 0:
            require_damping(arrays["damping"].item())

    def require_regular(self, Py_ssize_t failed):
        """Raise NotPositiveDefiniteError for a row of J that depends on rows before it."""
        cdef Py_ssize_t row = failed - self.bodies.nv
        if row >= 0:
            raise singular(row, row_name(self.frame, row))

    cdef bint prepare(self, const void *model, int lanes, const double **x, bint invert, double *G,
                      Parts *p, Py_ssize_t *failed, double *work) noexcept nogil:
        """Compute J, H, its factor and G; false if one configuration failed.

        failed[lane] <- the freedom with a bad pivot, or n and the row of J that depends on rows before it.
        """
        cdef Py_ssize_t n = self.bodies.nv, m = self.rows
        cdef double *y[2]
        cdef const double *given[4]
        p.G = G
        p.J = work
        p.rate = p.J + lanes * (self.request.result[0].computed if lanes > 1 else m * n)
        p.free = align(p.rate + lanes * m)
        p.H = p.free + (lanes * n if self.request.results > 1 else 0)
        p.W = align(p.free + lanes * (n + self.bodies.nnz))
        p.inverse = p.W + lanes * m * n
        p.L = align(p.inverse + lanes * n)
        p.end = p.L + (lanes * self.bodies.nnz if lanes > 1 else factor_workspace_size(&self.pattern.shape))
        p.end = align(p.end)
        y[0], y[1] = p.J, p.rate
        given[0], given[1], given[2], given[3] = x[0], x[1] if self.request.results > 1 else NULL, NULL, NULL
        self.request.compute(NULL, lanes, given, y, failed, p.end)
        y[0] = p.H
        if self.request.results > 1:
            y[0], given[2] = p.free, p.W
            memset(p.W, 0, lanes * n * sizeof(double))           # tau
        self.equation.compute(model, lanes, given, y, failed, p.end)
        if lanes == 1:
            return self.prepare_one(x, invert, p, failed)
        self.prepare_lanes(x, invert, p, failed)
        return True

    cdef bint prepare_one(self, const double **x, bint invert, Parts *p, Py_ssize_t *failed) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t row
        cdef Workspace w = carve_workspace(t, p.L)
        cdef Memory memory = carve_memory(t.n, self.rows, p.end)
        clear_workspace(t, &w)
        active.single.load_packed(t, <const char *> p.H, sizeof(double), t.whole, w.X)
        failed[0] = active.single.factor(t, 0, t.supernodes, p.H, t.whole, w.path, w.X, w.D, w.inverse)
        if failed[0] != FACTORIZED:
            return False
        row = multiply(t, w.X, w.inverse, True, self.rows, p.J, p.G, &memory, invert,
                       x[self.damping][0] if self.damping > 0 else 0.0)
        p.L, p.inverse = w.X, w.inverse
        if row >= 0:
            failed[0] = t.n + row
            return False
        if self.request.results > 1:
            active.single.apply(t, w.X, w.D, w.inverse, 1, SOLVE, p.free, w.path)
        return True

    cdef void prepare_lanes(self, const double **x, bint invert, Parts *p, Py_ssize_t *failed) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t m = self.rows, k
        cdef Py_ssize_t row[LANES]
        cdef int lane
        spread_rows(&self.request.result[0], t.n, m, p.J, p.W)
        active.lanes.factor(t, p.H, p.L, p.inverse, p.end, failed)
        active.lanes.apply(t, p.L, p.inverse, 1, HALF_SOLVE, p.W, m)
        active.lanes.gram(t.n, m, p.W, p.G)
        if self.request.results > 1:
            active.lanes.apply(t, p.L, p.inverse, 1, SOLVE, p.free, 1)
        if not invert:
            return
        if self.damping > 0:
            for k in range(m):
                for lane in range(LANES):
                    p.G[(k * m + k) * LANES + lane] += x[self.damping][lane]
        invert_lanes(m, 0.0, p.G, p.end, row)
        for lane in range(LANES):
            if failed[lane] == FACTORIZED and row[lane] >= 0:
                failed[lane] = t.n + row[lane]
            if self.damping > 0 and not x[self.damping][lane] >= 0.0:
                failed[lane] = 0

    cdef void write_inverse(self, int lanes, const Parts *p, double *B) noexcept nogil:
        """B <- H^-1 J^T G, where G is the inverse."""
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t n = t.n, m = self.rows, stride = (m + STRIP - 1) // STRIP * STRIP, k, r
        cdef double *K = p.end
        if lanes > 1:
            multiply_inverse_lanes(n, m, p.W, p.G, p.inverse, B)
            active.lanes.apply(t, p.L, p.inverse, 1, SOLVE_L, B, m)
            return
        memset(K, 0, n * stride * sizeof(double))
        for r in range(m):
            for k in range(n):
                K[k * stride + r] = p.J[r * n + k]
        active.single.solve_many(t, p.L, p.inverse, K, stride)
        multiply_inverse(n, m, K, stride, p.G, B)


cdef void spread_rows(const Array *result, Py_ssize_t n, Py_ssize_t m, const double *J,
                      double *W) noexcept nogil:
    """W <- J^T, (n, m) entries in lanes, from the columns of J that a request computes."""
    cdef Py_ssize_t e, at
    for e in range(result.size):
        at = result.at[e] if result.form == SPARSE else e
        if at < result.computed:
            memcpy(W + LANES * (e % n * m + e // n), J + LANES * at, LANES * sizeof(double))
        else:
            memset(W + LANES * (e % n * m + e // n), 0, LANES * sizeof(double))


cdef class Delassus(TaskFunction):
    """J H^-1 J^T (q)."""

    def __init__(self, model, frame, str reference):
        super().__init__(model, frame, reference, ("q",))
        self.add_result((self.rows, self.rows))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Parts p
        self.prepare(model, lanes, x, False, y[0], &p, failed, work)


cdef class OperationalInertia(TaskFunction):
    """Inverse of J H^-1 J^T and a damping (q, damping)."""

    def __init__(self, model, frame, str reference):
        super().__init__(model, frame, reference, ("q", "damping"))
        self.add_result((self.rows, self.rows))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Parts p
        self.prepare(model, lanes, x, True, y[0], &p, failed, work)


cdef class OperationalBias(TaskFunction):
    """Force Lambda (J H^-1 bias - J-dot v) (q, v, damping)."""

    def __init__(self, model, frame, str reference):
        super().__init__(model, frame, reference, ("q", "v", "damping"))
        self.add_result((self.rows,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Array *J = &self.request.result[0]
        cdef Py_ssize_t n = self.bodies.nv, m = self.rows, e, at, r, c, lane
        cdef double *Lambda = align(work)
        cdef Parts p
        if not self.prepare(model, lanes, x, True, Lambda, &p, failed, Lambda + lanes * m * m):
            return
        for e in range(m * n):                       # acceleration of the free task: J-dot v - J H^-1 bias
            at = J.at[e] if lanes > 1 and J.form == SPARSE else e
            if lanes == 1 or at < J.computed:
                for lane in range(lanes):
                    p.rate[e // n * lanes + lane] += p.J[at * lanes + lane] * p.free[e % n * lanes + lane]
        for r in range(m):
            for lane in range(lanes):
                y[0][r * lanes + lane] = 0.0
            for c in range(m):
                for lane in range(lanes):
                    y[0][r * lanes + lane] -= Lambda[(r * m + c) * lanes + lane] * p.rate[c * lanes + lane]


cdef class TaskBias(ModelFunction):
    """J-dot v (q, v)."""

    cdef Request request

    def __init__(self, model, frame, str reference):
        self.request = request_of(model, [rate_of(model, frame, reference)])
        self.add_arguments(("q", "v"))
        self.add_result((self.request.result[0].size,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.request.workspace_size(lanes)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const double *given[3]
        given[0], given[1], given[2] = x[0], x[1], NULL
        self.request.compute(NULL, lanes, given, y, failed, work)


cdef class OperationalSpace(TaskFunction):
    """Lambda, J_bar, J, the packed rows of H, and the row of J that depends on others, or -1 (q, damping)."""

    def __init__(self, model, frame, str reference):
        cdef const Array *J
        super().__init__(model, frame, reference, ("q", "damping"))
        self.gather, J = tuple, &self.request.result[0]
        self.add_result((self.rows, self.rows))
        self.add_result((self.bodies.nv, self.rows))
        self.add_result((self.rows, self.bodies.nv), J.form, J.computed, J.at)
        self.add_result((self.bodies.nnz,))
        self.add_result(())

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Parts p
        cdef Py_ssize_t lane, size
        for lane in range(lanes):
            y[4][lane] = -1.0
        if not self.prepare(model, lanes, x, True, y[0], &p, failed, work):
            return
        self.write_inverse(lanes, &p, y[1])
        size = self.result[2].computed if lanes > 1 else self.result[2].size
        memcpy(y[2], p.J, lanes * size * sizeof(double))
        memcpy(y[3], p.H, lanes * self.bodies.nnz * sizeof(double))
        for lane in range(lanes if lanes > 1 else 0):
            if failed[lane] != FACTORIZED and self.is_possible(x[0], lane):
                y[4][lane] = max(failed[lane] - self.bodies.nv, 0)

    cdef bint is_possible(self, const double *q, Py_ssize_t lane) noexcept nogil:
        """Return whether one of 8 configurations is finite, and its quaternions have unit length."""
        cdef Py_ssize_t e
        for e in range(self.bodies.nq):
            if not isfinite(q[e * LANES + lane]):
                return False
        return self.is_valid(q + lane, LANES)

    cdef void spoil(self, int lane, double **y) noexcept nogil:
        """Keep J and H of configurations whose task is singular, or whose H has no factor."""
        cdef Py_ssize_t e, k
        if not y[4][lane] >= 0.0:
            TaskFunction.spoil(self, lane, y)
            y[4][lane] = 0.0
            return
        for k in range(2):
            for e in range(self.result[k].computed):
                y[k][e * LANES + lane] = NAN


cdef class TaskMatrices(TaskFunction):
    """Lambda, J_bar and N = 1 - J_bar J (q, damping), for bound calls: there are no lanes."""

    def __init__(self, model, frame, str reference):
        super().__init__(model, frame, reference, ("q", "damping"))
        self.gather = tuple
        self.add_result((self.rows, self.rows))
        self.add_result((self.bodies.nv, self.rows))
        self.add_result((self.bodies.nv, self.bodies.nv))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Parts p
        if self.prepare(model, lanes, x, True, y[0], &p, failed, work):
            self.write_inverse(lanes, &p, y[1])
            project(self.bodies.nv, self.rows, y[1], p.J, y[2])
