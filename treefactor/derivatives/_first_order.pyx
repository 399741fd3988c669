"""Compute first derivatives of inverse and forward dynamics as matrices: compiled functions of one model."""

from libc.string cimport memcpy, memset

from ..dynamics._coupling cimport expand, reduce_coriolis, reduce_forces, reduce_inertia
from ..dynamics._recursions cimport Bodies, Mechanism
from ..tree._operands cimport ALIGNED, LANES, align
from ..tree._pattern cimport (
    FACTORIZED, SOLVE, Shape, Workspace, active, carve_workspace, clear_workspace,
    workspace_size as factor_workspace_size)
from .._functions._compiled_function cimport PAIR, SYMMETRIC
from ..dynamics._model_function cimport ModelFunction

from . import first_order_results as made

cdef extern from "kernels/derivatives/first_order_table.h" nogil:
    ctypedef struct State:
        const double *q
        const double *v
        const double *a
        const double *fext
        int moved

    ctypedef struct FirstOrderKernels:
        Py_ssize_t (*workspace_size)(const Mechanism *) noexcept nogil
        void (*equation_of_motion)(const Mechanism *, const double *q, const double *v, const double *fext,
                                   double *H, double *bias, double *workspace) noexcept nogil
        void (*rnea_derivatives)(const Mechanism *, const State *, double *tau, double *H, double *dq,
                                 double *dv, double *workspace) noexcept nogil

    ctypedef struct FirstOrder:
        const char *name
        FirstOrderKernels one
        FirstOrderKernels lanes

cdef extern from *:
    """
    #include "kernels/derivatives/first_order_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(FirstOrder, first_order)
    """
    const FirstOrder *first_order_for(const char *name) nogil

cdef const FirstOrder *first_order = first_order_for(active.name)


cdef Py_ssize_t first_order_size(Bodies bodies, int lanes) noexcept nogil:
    """Return the doubles that `write_equation_of_motion` and `write_rnea` need."""
    cdef const FirstOrderKernels *kernels = &first_order.one if lanes == 1 else &first_order.lanes
    cdef Py_ssize_t n = bodies.m.n, nnz = bodies.m.start[n]
    cdef Py_ssize_t size = kernels.workspace_size(&bodies.m)
    if bodies.coupled:
        size += lanes * (5 * nnz + n) + ALIGNED                         # v, a, tau; H; dq, dv: 2 nnz - n
    return size


cdef void write_equation_of_motion(Bodies bodies, const Mechanism *m, int lanes, const double *q,
                                   const double *v, const double *fext, double *bias, double *H,
                                   double *work) noexcept nogil:
    """bias, H <- inverse dynamics at zero acceleration and its derivative by a, packed."""
    cdef const FirstOrderKernels *kernels = &first_order.one if lanes == 1 else &first_order.lanes
    cdef Py_ssize_t n = bodies.m.n
    cdef double *full = align(work + kernels.workspace_size(&bodies.m))         # v, bias, H
    if not bodies.coupled:
        kernels.equation_of_motion(m, q, v, fext, H, bias, work)
        return
    expand(&bodies.coupling, lanes, v, full)
    kernels.equation_of_motion(m, q, full, fext, full + lanes * 2 * n, full + lanes * n, work)
    reduce_forces(&bodies.coupling, lanes, full + lanes * n, bias)
    reduce_inertia(&bodies.coupling, lanes, full + lanes * 2 * n, H)


cdef void write_rnea(Bodies bodies, const Mechanism *m, int lanes, const double *q, const double *v,
                     const double *a, const double *fext, double *tau, double *H, double *dq, double *dv,
                     double *work) noexcept nogil:
    """tau, H, dq, dv <- inverse dynamics and its derivatives by a, q and v, packed.

    q = NULL: that of the last call of `write_equation_of_motion`, whose workspace this is.
    """
    cdef const FirstOrderKernels *kernels = &first_order.one if lanes == 1 else &first_order.lanes
    cdef Py_ssize_t n = bodies.m.n, nnz = bodies.m.start[n]
    cdef double *full_v = align(work + kernels.workspace_size(&bodies.m))
    cdef double *full_a = full_v + lanes * n
    cdef double *full_tau = full_a + lanes * n
    cdef double *full_H = full_tau + lanes * n
    cdef double *full_dq = full_H + lanes * nnz
    cdef double *full_dv = full_dq + lanes * (2 * nnz - n)
    cdef State state
    state.q, state.v, state.a, state.fext, state.moved = q, v, a, fext, False
    if not bodies.coupled:
        kernels.rnea_derivatives(m, &state, tau, H, dq, dv, work)
        return
    expand(&bodies.coupling, lanes, v, full_v)
    expand(&bodies.coupling, lanes, a, full_a)
    state.v, state.a = full_v, full_a
    kernels.rnea_derivatives(m, &state, full_tau, full_H, full_dq, full_dv, work)
    reduce_forces(&bodies.coupling, lanes, full_tau, tau)
    reduce_inertia(&bodies.coupling, lanes, full_H, H)
    reduce_coriolis(&bodies.coupling, lanes, full_dq, dq)
    reduce_coriolis(&bodies.coupling, lanes, full_dv, dv)


cdef class RneaDerivatives(ModelFunction):
    """Compute derivatives of inverse dynamics by q, v and a.

    Parameters
    ----------
    model : Model
    layout : {"dense", "packed", "lanes"}
    with_value : bool
        Whether the generalized forces are a result, too.
    """

    cdef bint with_value

    def __init__(self, model, str layout="dense", bint with_value=False):
        cdef Py_ssize_t n = self.bodies.nv, nnz = self.bodies.nnz
        self.add_arguments(("q", "v", "a", "fext"))
        self.gather = made.RneaDerivativesWithValue if with_value else made.RneaDerivatives
        self.with_value, self.in_lanes = with_value, layout == "lanes"
        if layout == "packed":
            self.add_result((2 * nnz - n,))
            self.add_result((2 * nnz - n,))
            self.add_result((nnz,))
        else:
            self.add_result((n, n), PAIR)
            self.add_result((n, n), PAIR)
            self.add_result((n, n), SYMMETRIC)
        if with_value:
            self.add_result((n,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return lanes * self.bodies.nv + first_order_size(self.bodies, lanes)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        write_rnea(self.bodies, m, lanes, x[0], x[1], x[2], x[3], y[3] if self.with_value else work, y[2],
                   y[0], y[1], work + lanes * self.bodies.nv)


cdef class ForwardDynamicsDerivatives(ModelFunction):
    """Compute derivatives of forward dynamics by q, v and tau.

    Parameters
    ----------
    model : Model
    with_value : bool
        Whether the acceleration is a result, too.
    """

    cdef bint with_value

    def __init__(self, model, bint with_value=False):
        cdef Py_ssize_t n = self.bodies.nv
        self.add_arguments(("q", "v", "tau", "fext"))
        self.gather = made.ForwardDynamicsDerivatives
        if with_value:
            self.gather = made.ForwardDynamicsDerivativesWithValue
        self.with_value, self.may_fail = with_value, True
        for _ in range(3):
            self.add_result((n, n))
        if with_value:
            self.add_result((n,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t size = lanes * (2 * t.n + 7 * self.bodies.nnz) + 2 * ALIGNED
        size += first_order_size(self.bodies, lanes)
        if lanes == LANES:
            return size + lanes * (t.scratch + 4 * t.n)
        return size + factor_workspace_size(t) + t.n * padded_columns(t)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """y <- -H^-1 times the derivatives of inverse dynamics at the acceleration found, and H^-1."""
        cdef const Mechanism *m = <const Mechanism *> model
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t n = t.n, nnz = self.bodies.nnz, k
        cdef double *a = work
        cdef double *inverse = a + lanes * n
        cdef double *H = inverse + lanes * n
        cdef double *dq = H + lanes * nnz
        cdef double *dv = dq + lanes * (2 * nnz - n)
        cdef double *spare = dv + lanes * (2 * nnz - n)
        cdef double *recursion = align(spare + lanes * 2 * nnz)
        cdef double *rest = align(recursion + first_order_size(self.bodies, lanes))
        cdef Workspace w
        write_equation_of_motion(self.bodies, m, lanes, x[0], x[1], x[3], a, H, recursion)
        for k in range(n * lanes):
            a[k] = x[2][k] - a[k]
        if lanes == LANES:
            active.lanes.factor(t, H, H, inverse, rest, failed)
            active.lanes.apply(t, H, inverse, 1, SOLVE, a, 1)
            active.lanes.invert(t, H, inverse, 1, spare, spare + lanes * nnz, y[2])
            write_rnea(self.bodies, m, lanes, NULL, x[1], a, x[3], rest, spare, dq, dv, recursion)
            active.lanes.solve_pair(t, H, spare + lanes * nnz, dq, rest, y[0])
            active.lanes.solve_pair(t, H, spare + lanes * nnz, dv, rest, y[1])
        else:
            w = carve_workspace(t, rest)
            failed[0] = factor_and_accelerate(t, &w, H, a)
            if failed[0] != FACTORIZED:
                return
            active.single.invert(t, w.X, w.inverse, 1, y[2])
            write_rnea(self.bodies, m, lanes, NULL, x[1], a, x[3], spare + nnz, spare, dq, dv, recursion)
            solve_both(t, &w, dq, dv, y[0], y[1], rest + factor_workspace_size(t))
        if self.with_value:
            memcpy(y[3], a, lanes * n * sizeof(double))


cdef Py_ssize_t factor_and_accelerate(const Shape *t, Workspace *w, double *H, double *a) noexcept nogil:
    """Factorize H of one configuration, and a <- H^-1 a; return FACTORIZED or the freedom that failed."""
    cdef Py_ssize_t failed
    clear_workspace(t, w)
    active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
    failed = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, w.D, w.inverse)
    if failed == FACTORIZED:
        active.single.apply(t, w.X, w.D, w.inverse, 1, SOLVE, a, w.path)
    return failed


cdef Py_ssize_t padded_columns(const Shape *t) noexcept nogil:
    """Return the columns of two matrices, padded for `solve_many`."""
    return (2 * t.n + 15) // 16 * 16


cdef void solve_both(const Shape *t, const Workspace *w, const double *dq, const double *dv, double *X,
                     double *Y, double *work) noexcept nogil:
    """X, Y <- -H^-1 times matrices whose packed entries are given."""
    cdef Py_ssize_t n = t.n, r = padded_columns(t), k, e, i, above
    memset(work, 0, n * r * sizeof(double))
    for k in range(n):
        above = t.start[n] - k
        for e in range(t.start[k], t.start[k + 1]):
            i = t.column[e]
            work[k * r + i], work[k * r + n + i] = -dq[e], -dv[e]
            if i != k:
                work[i * r + k], work[i * r + n + k] = -dq[above + e], -dv[above + e]
    active.single.solve_many(t, w.X, w.inverse, work, r)
    for k in range(n):
        memcpy(X + k * n, work + k * r, n * sizeof(double))
        memcpy(Y + k * n, work + k * r + n, n * sizeof(double))
