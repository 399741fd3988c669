"""Compute second derivatives of inverse and forward dynamics: compiled functions of one model."""

from libc.string cimport memset

from ..dynamics._coupling cimport expand, reduce_coriolis, reduce_forces, reduce_inertia
from ..dynamics._recursions cimport Bodies, Mechanism
from ..tree._pattern cimport FACTORIZED, active
from ._products cimport Directions, Gradients, Solver, SolvingProduct, State
from .._functions._compiled_function cimport PAIR, SYMMETRIC
from ..dynamics._model_function cimport ModelFunction

from ._first_order import ForwardDynamicsDerivatives
from .second_order_results import (
    ForwardDynamicsHessian as ForwardDynamicsBlocks, ForwardDynamicsHvp as ForwardDynamicsVectors,
    RneaHessian as RneaBlocks, RneaHvp as RneaVectors)

cdef extern from "kernels/derivatives/second_order_table.h" nogil:
    ctypedef struct Weighted:
        const double *q
        const double *v
        const double *a
        const double *fext
        const double *w
        const double *dq
        const double *dv
        const double *da
        const double *dw

    ctypedef struct PackedHessian:
        Py_ssize_t n
        const Py_ssize_t *start
        const Py_ssize_t *column
        const double *qq
        const double *qv
        const double *vv
        const double *qa

    ctypedef struct SecondOrderKernels:
        Py_ssize_t (*workspace_size)(const Mechanism *) noexcept nogil
        void (*hvp)(const Mechanism *, const Weighted *, int symmetric, double *y_q, double *y_v, double *y_a,
                    double *workspace) noexcept nogil
        void (*hessian)(const Mechanism *, const Weighted *, int symmetric, double *qq, double *qv,
                        double *vv, double *qa, double *workspace) noexcept nogil
        void (*forward_hessian)(const PackedHessian *, int symmetric, const double *a_q, const double *a_v,
                                const double *a_tau, double *qq, double *qv, double *vv,
                                double *qtau) noexcept nogil

    ctypedef struct SecondOrder:
        const char *name
        SecondOrderKernels one
        SecondOrderKernels lanes

cdef extern from *:
    """
    #include "kernels/derivatives/second_order_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(SecondOrder, second_order)
    """
    const SecondOrder *second_order_for(const char *name) nogil

cdef const SecondOrder *second_order = second_order_for(active.name)


cdef const double *expanded(Bodies bodies, int lanes, const double *x, double **work) noexcept nogil:
    """Return the entries of all freedoms of a vector, mimic joints included, and advance work; keep NULL."""
    cdef double *full = work[0]
    if x == NULL:
        return NULL
    expand(&bodies.coupling, lanes, x, full)
    work[0] += lanes * bodies.m.n
    return full


cdef double *expand_state(Bodies bodies, int lanes, Weighted *x, double *work) noexcept nogil:
    """x <- vectors of all freedoms, stored at work; return the first address behind them."""
    x.v = expanded(bodies, lanes, x.v, &work)
    x.a = expanded(bodies, lanes, x.a, &work)
    x.w = expanded(bodies, lanes, x.w, &work)
    x.dq = expanded(bodies, lanes, x.dq, &work)
    x.dv = expanded(bodies, lanes, x.dv, &work)
    x.da = expanded(bodies, lanes, x.da, &work)
    x.dw = expanded(bodies, lanes, x.dw, &work)
    return work


cdef Py_ssize_t second_order_size(Bodies bodies, int lanes, Py_ssize_t coupled) noexcept nogil:
    """Return the doubles of workspace of a kernel, and so many more per lane if joints are coupled."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    return kernels.workspace_size(&bodies.m) + (lanes * coupled if bodies.coupled else 0)


cdef Py_ssize_t hvp_size(Bodies bodies, int lanes) noexcept nogil:
    """Return the doubles that `write_hvp` needs."""
    return second_order_size(bodies, lanes, 10 * bodies.m.n)


cdef void write_hvp(Bodies bodies, const Mechanism *m, int lanes, const Weighted *given, int symmetric,
                    double *y_q, double *y_v, double *y_a, double *work) noexcept nogil:
    """y_q, y_v, y_a <- second derivatives of w . (inverse dynamics) along a direction."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    cdef Py_ssize_t n = lanes * bodies.m.n
    cdef Weighted x = given[0]
    cdef double *full
    if not bodies.coupled:
        kernels.hvp(m, &x, symmetric, y_q, y_v, y_a, work)
        return
    full = expand_state(bodies, lanes, &x, work)
    kernels.hvp(m, &x, symmetric, full, full + n, full + 2 * n, full + 3 * n)
    reduce_forces(&bodies.coupling, lanes, full, y_q)
    reduce_forces(&bodies.coupling, lanes, full + n, y_v)
    reduce_forces(&bodies.coupling, lanes, full + 2 * n, y_a)


cdef Py_ssize_t hessian_size(Bodies bodies, int lanes) noexcept nogil:
    """Return the doubles that `write_hessian` needs."""
    return second_order_size(bodies, lanes, 7 * bodies.m.start[bodies.m.n])


cdef void write_hessian(Bodies bodies, const Mechanism *m, int lanes, const Weighted *given, int symmetric,
                        double *qq, double *qv, double *vv, double *qa, double *work) noexcept nogil:
    """qq, qv, vv, qa <- second derivatives of w . (inverse dynamics), packed."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    cdef Py_ssize_t n = bodies.m.n, nnz = bodies.m.start[n], pair = lanes * (2 * nnz - n)
    cdef Weighted x = given[0]
    cdef double *full
    cdef double *full_vv
    if not bodies.coupled:
        kernels.hessian(m, &x, symmetric, qq, qv, vv, qa, work)
        return
    full = expand_state(bodies, lanes, &x, work)
    full_vv = full + 3 * pair
    kernels.hessian(m, &x, symmetric, full, full + pair, full_vv, full + 2 * pair,
                    full_vv + lanes * nnz)
    if symmetric:
        reduce_inertia(&bodies.coupling, lanes, full, qq)
    else:
        reduce_coriolis(&bodies.coupling, lanes, full, qq)
    reduce_coriolis(&bodies.coupling, lanes, full + pair, qv)
    reduce_inertia(&bodies.coupling, lanes, full_vv, vv)
    reduce_coriolis(&bodies.coupling, lanes, full + 2 * pair, qa)


cdef void find_state(Weighted *state, const double **x, bint direction) noexcept nogil:
    """state <- the arguments q, v, a or tau, w, then those of a direction if there is one, then fext."""
    state.q, state.v, state.a, state.w = x[0], x[1], x[2], x[3]
    state.dq = state.dv = state.da = state.dw = NULL
    state.fext = x[8 if direction else 4]
    if direction:
        state.dq, state.dv, state.da, state.dw = x[4], x[5], x[6], x[7]


cdef tuple OPTIONAL = ("dq", "dv", "da", "dtau", "dw", "fext")


cdef class RneaHvp(ModelFunction):
    """Compute second derivatives of w . (inverse dynamics) along a direction.

    Parameters
    ----------
    model : Model
    symmetric : bool
    """

    cdef bint symmetric

    def __init__(self, model, bint symmetric=True):
        self.add_arguments(("q", "v", "a", "w", "dq", "dv", "da", "dw", "fext"), OPTIONAL)
        self.symmetric, self.gather = symmetric, RneaVectors
        for _ in range(3):
            self.add_result((self.bodies.nv,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return hvp_size(self.bodies, lanes)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef Weighted state
        find_state(&state, x, True)
        write_hvp(self.bodies, m, lanes, &state, self.symmetric, y[0], y[1], y[2], work)


cdef class RneaHessian(ModelFunction):
    """Compute second derivatives of w . (inverse dynamics) as matrices.

    Parameters
    ----------
    model : Model
    symmetric : bool
    layout : {"dense", "packed", "lanes"}
    """

    cdef bint symmetric

    def __init__(self, model, bint symmetric=True, str layout="dense"):
        cdef Py_ssize_t n = self.bodies.nv, nnz = self.bodies.nnz
        self.add_arguments(("q", "v", "a", "w", "fext"))
        self.symmetric, self.gather, self.in_lanes = symmetric, RneaBlocks, layout == "lanes"
        for one in (SYMMETRIC if symmetric else PAIR, PAIR, SYMMETRIC, PAIR):
            if layout == "packed":
                self.add_result((nnz if one == SYMMETRIC else 2 * nnz - n,))
            else:
                self.add_result((n, n), one)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return hessian_size(self.bodies, lanes)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef Weighted state
        find_state(&state, x, False)
        write_hessian(self.bodies, m, lanes, &state, self.symmetric, y[0], y[1], y[2], y[3], work)


cdef class ForwardDynamicsHvp(SolvingProduct):
    """Compute second derivatives of w . (forward dynamics) along a direction.

    Parameters
    ----------
    model : Model
    symmetric : bool
    """

    cdef bint symmetric

    def __init__(self, model, bint symmetric=True):
        self.set_vectors(-1)
        self.add_arguments(("q", "v", "tau", "w", "dq", "dv", "dtau", "dw", "fext"), OPTIONAL)
        self.symmetric, self.gather, self.may_fail = symmetric, ForwardDynamicsVectors, True
        for _ in range(3):
            self.add_result((self.bodies.nv,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (self.kernels(lanes).workspace_size(&self.bodies.m) + self.solver_size(lanes)
                + lanes * (5 * self.bodies.nv + self.expanded_size(8)) + hvp_size(self.bodies, lanes))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """y <- minus the second derivatives of inverse dynamics along (dq, dv, da), weighted by H^-1 w.

        The weights change by dw, which y[2] receives: H dw is their given change less that of H along dq.
        """
        cdef const Mechanism *m = <const Mechanism *> model
        cdef double *end = work + self.kernels(lanes).workspace_size(&self.bodies.m)
        cdef Py_ssize_t k, n = self.bodies.nv * lanes
        cdef Weighted given, full
        cdef Solver solver
        cdef double *a = end
        cdef double *da = a + n
        cdef double *weights = da + n
        cdef double *by_w = weights + n                    # by q, and by v
        end = by_w + 2 * n
        find_state(&given, x, True)
        full = given
        full.v = self.expanded(lanes, 1, given.v, &end)
        self.solve_motion(m, lanes, given.q, full.v, given.a, given.fext, a, failed, &solver, &end, work)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        full.a = self.expanded(lanes, 1, a, &end)
        self.derive(m, lanes, &full, da, end, work)
        for k in range(n):
            da[k] = (0.0 if x[6] == NULL else x[6][k]) - da[k]
            weights[k] = given.w[k]
        self.solve(lanes, &solver, da)
        self.solve(lanes, &solver, weights)
        given.a, given.da, given.w, given.dw = a, da, weights, NULL
        write_hvp(self.bodies, m, lanes, &given, self.symmetric, y[0], y[1], y[2], end)
        for k in range(n):
            y[2][k] = (0.0 if x[7] == NULL else x[7][k]) - y[2][k]
        self.solve(lanes, &solver, y[2])
        self.weigh(m, lanes, &full, y[2], by_w, end, work)
        for k in range(n):
            y[0][k] = -y[0][k] - by_w[k]
            y[1][k] = -y[1][k] - by_w[n + k]

    cdef void derive(self, const Mechanism *m, int lanes, const Weighted *full, double *dtau, double *end,
                     double *work) noexcept nogil:
        """dtau <- derivative of inverse dynamics along dq and dv; work holds the placements of the bodies."""
        cdef State state
        cdef Directions d
        cdef double *rates = self.target(lanes, 1, dtau, &end)
        state.q, state.v, state.a, state.fext = NULL, full.v, full.a, full.fext
        d.q, d.v = self.expanded(lanes, 1, full.dq, &end), self.expanded(lanes, 1, full.dv, &end)
        d.a = d.fext = NULL
        self.kernels(lanes).jvp(m, &state, 1, &d, NULL, rates, work)
        self.reduce(lanes, 1, rates, dtau)

    cdef void weigh(self, const Mechanism *m, int lanes, const Weighted *full, const double *w, double *y,
                    double *end, double *work) noexcept nogil:
        """y <- gradients of w . (inverse dynamics) by q and by v; work holds the placements of the bodies."""
        cdef State state
        cdef Gradients g
        cdef Py_ssize_t n = self.bodies.nv * lanes
        state.q, state.v, state.a, state.fext = NULL, full.v, full.a, full.fext
        g.q, g.v = self.target(lanes, 1, y, &end), self.target(lanes, 1, y + n, &end)
        g.a = g.fext = g.inertia = NULL
        self.kernels(lanes).vjp(m, &state, 1, self.expanded(lanes, 1, w, &end), NULL, &g, work)
        self.reduce(lanes, 1, g.q, y)
        self.reduce(lanes, 1, g.v, y + n)


cdef class ForwardDynamicsHessian(ModelFunction):
    """Compute second derivatives of w . (forward dynamics) as matrices.

    Parameters
    ----------
    model : Model
    symmetric : bool
    """

    cdef bint symmetric
    cdef ModelFunction first     # a_q, a_v, a_tau and a

    def __init__(self, model, bint symmetric=True):
        cdef Py_ssize_t n = self.bodies.nv
        self.add_arguments(("q", "v", "tau", "w", "fext"))
        self.symmetric, self.gather, self.may_fail = symmetric, ForwardDynamicsBlocks, True
        self.first = ForwardDynamicsDerivatives(model, True)
        for _ in range(4):
            self.add_result((n, n))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        cdef Py_ssize_t n = self.bodies.nv
        return (lanes * (3 * n * n + 2 * n + 4 * (2 * self.bodies.nnz - n))
                + max(hessian_size(self.bodies, lanes), self.first.workspace_size(lanes)))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
        cdef Py_ssize_t n = self.bodies.nv, square = lanes * n * n, k
        cdef Py_ssize_t pair = lanes * (2 * self.bodies.nnz - n)
        cdef double *derivatives[4]
        cdef const double *arguments[4]
        cdef double *packed = work + 3 * square + 2 * lanes * n
        cdef double *weights = packed - lanes * n
        cdef double *rest = packed + 4 * pair
        cdef Weighted state
        cdef PackedHessian phi
        for k in range(4):
            derivatives[k] = work + k * square
        find_state(&state, x, False)
        arguments[0], arguments[1], arguments[2], arguments[3] = x[0], x[1], x[2], x[4]
        self.first.compute(m, lanes, arguments, derivatives, failed, rest)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        multiply(n, lanes, derivatives[2], state.w, weights)
        state.a, state.w = derivatives[3], weights
        write_hessian(self.bodies, m, lanes, &state, self.symmetric, packed, packed + pair, packed + 2 * pair,
                      packed + 3 * pair, rest)
        phi.n = n
        phi.start, phi.column = self.bodies.pattern.shape.start, self.bodies.pattern.shape.column
        phi.qq, phi.qv, phi.vv, phi.qa = packed, packed + pair, packed + 2 * pair, packed + 3 * pair
        kernels.forward_hessian(&phi, self.symmetric, derivatives[0], derivatives[1], derivatives[2],
                                y[0], y[1], y[2], y[3])


cdef void multiply(Py_ssize_t n, int lanes, const double *A, const double *x, double *y) noexcept nogil:
    """y <- A x."""
    cdef Py_ssize_t r, c, lane
    memset(y, 0, n * lanes * sizeof(double))
    for r in range(n):
        for c in range(n):
            for lane in range(lanes):
                y[r * lanes + lane] += A[(r * n + c) * lanes + lane] * x[c * lanes + lane]
