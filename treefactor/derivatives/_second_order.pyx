"""Compute second derivatives of inverse and forward dynamics: compiled functions of one model."""

from libc.string cimport memset

from ..dynamics._coupling cimport reduce_coriolis, reduce_inertia
from ..dynamics._recursions cimport Bodies, Mechanism
from ..tree._pattern cimport FACTORIZED, active
from ._products cimport Directions, Gradients, Product, Solver, SolvingProduct, State
from .._functions._compiled_function cimport PAIR, SYMMETRIC
from ..dynamics._model_function cimport ModelFunction

from ._first_order import ForwardDynamicsDerivatives
from .second_order_results import (
    ForwardDynamicsHessian as ForwardDynamicsBlocks, ForwardDynamicsHvp as ForwardDynamicsVectors,
    RneaHessian as RneaBlocks, RneaHvp as RneaVectors)

cdef extern from "kernels/derivatives/second_order_table.h" nogil:
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
        void (*hessian)(const Mechanism *, const State *, const double *w, int symmetric, double *qq,
                        double *qv, double *vv, double *qa, double *workspace) noexcept nogil
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


cdef void write_hvp(Product f, const Mechanism *m, int lanes, const State *full, const double *w,
                    const Directions *d, const double *dw, int symmetric, double **y, double *end,
                    double *work) noexcept nogil:
    """y <- second derivatives of w . (inverse dynamics) along a direction; v and a are those of all freedoms.

    A state that has moved is the one whose motions and forces work holds.
    """
    cdef Directions along
    cdef double *y_q = f.target(lanes, 1, y[0], &end)
    cdef double *y_v = f.target(lanes, 1, y[1], &end)
    cdef double *y_a = f.target(lanes, 1, y[2], &end)
    along.q, along.v = f.expanded(lanes, 1, d.q, &end), f.expanded(lanes, 1, d.v, &end)
    along.a, along.fext = f.expanded(lanes, 1, d.a, &end), NULL
    w, dw = f.expanded(lanes, 1, w, &end), f.expanded(lanes, 1, dw, &end)
    f.kernels(lanes).hvp(m, full, w, &along, dw, symmetric, y_q, y_v, y_a, work)
    f.reduce(lanes, 1, y_q, y[0])
    f.reduce(lanes, 1, y_v, y[1])
    f.reduce(lanes, 1, y_a, y[2])


cdef Py_ssize_t hessian_size(Bodies bodies, int lanes) noexcept nogil:
    """Return the doubles that `write_hessian` needs."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    cdef Py_ssize_t coupled = 3 * bodies.m.n + 7 * bodies.m.start[bodies.m.n] if bodies.coupled else 0
    return kernels.workspace_size(&bodies.m) + lanes * coupled


cdef void write_hessian(ModelFunction f, const Mechanism *m, int lanes, const State *given, const double *w,
                        int symmetric, double *qq, double *qv, double *vv, double *qa,
                        double *work) noexcept nogil:
    """qq, qv, vv, qa <- second derivatives of w . (inverse dynamics), packed."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    cdef Py_ssize_t n = f.bodies.m.n, nnz = f.bodies.m.start[n], pair = lanes * (2 * nnz - n)
    cdef State x = given[0]
    cdef double *full
    cdef double *full_vv
    x.v, x.a = f.expanded(lanes, 1, x.v, &work), f.expanded(lanes, 1, x.a, &work)
    w = f.expanded(lanes, 1, w, &work)
    if not f.bodies.coupled:
        kernels.hessian(m, &x, w, symmetric, qq, qv, vv, qa, work)
        return
    full = work
    full_vv = full + 3 * pair
    kernels.hessian(m, &x, w, symmetric, full, full + pair, full_vv, full + 2 * pair, full_vv + lanes * nnz)
    if symmetric:
        reduce_inertia(&f.bodies.coupling, lanes, full, qq)
    else:
        reduce_coriolis(&f.bodies.coupling, lanes, full, qq)
    reduce_coriolis(&f.bodies.coupling, lanes, full + pair, qv)
    reduce_inertia(&f.bodies.coupling, lanes, full_vv, vv)
    reduce_coriolis(&f.bodies.coupling, lanes, full + 2 * pair, qa)


cdef tuple OPTIONAL = ("dq", "dv", "da", "dtau", "dw", "fext")


cdef class RneaHvp(Product):
    """Compute second derivatives of w . (inverse dynamics) along a direction.

    Parameters
    ----------
    model : Model
    symmetric : bool
    """

    cdef bint symmetric

    def __init__(self, model, bint symmetric=True):
        self.set_vectors(-1)
        self.add_arguments(("q", "v", "a", "w", "dq", "dv", "da", "dw", "fext"), OPTIONAL)
        self.symmetric, self.gather = symmetric, RneaVectors
        for _ in range(3):
            self.add_result((self.bodies.nv,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.kernels(lanes).hvp_size(&self.bodies.m) + lanes * self.expanded_size(10)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef double *end = work + self.kernels(lanes).hvp_size(&self.bodies.m)
        cdef State state
        cdef Directions d
        state.q, state.fext, state.moved = x[0], x[8], False
        state.v, state.a = self.expanded(lanes, 1, x[1], &end), self.expanded(lanes, 1, x[2], &end)
        d.q, d.v, d.a, d.fext = x[4], x[5], x[6], NULL
        write_hvp(self, m, lanes, &state, x[3], &d, x[7], self.symmetric, y, end, work)


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
        cdef State state
        state.q, state.v, state.a, state.fext = x[0], x[1], x[2], x[4]
        write_hessian(self, m, lanes, &state, x[3], self.symmetric, y[0], y[1], y[2], y[3], work)


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
        return (self.kernels(lanes).hvp_size(&self.bodies.m) + self.solver_size(lanes)
                + lanes * (5 * self.bodies.nv + self.expanded_size(10)))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """y <- minus the second derivatives of inverse dynamics along (dq, dv, da), weighted by H^-1 w.

        The weights change by dw, which y[2] receives: H dw is their given change less that of H along dq.
        """
        cdef const Mechanism *m = <const Mechanism *> model
        cdef double *end = work + self.kernels(lanes).hvp_size(&self.bodies.m)
        cdef Py_ssize_t k, n = self.bodies.nv * lanes
        cdef Solver solver
        cdef State state
        cdef Directions d
        cdef double *a = end
        cdef double *da = a + n
        cdef double *weights = da + n
        cdef double *by_w = weights + n                    # by q, and by v
        end = by_w + 2 * n
        state.q, state.fext, state.moved = NULL, x[8], False
        state.v = self.expanded(lanes, 1, x[1], &end)
        self.solve_motion(m, lanes, x[0], state.v, x[2], x[8], a, failed, &solver, &end, work)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        state.a = self.expanded(lanes, 1, a, &end)
        d.q, d.v, d.a, d.fext = x[4], x[5], NULL, NULL
        self.derive(m, lanes, &state, &d, da, end, work)
        state.moved = True
        for k in range(n):
            da[k] = (0.0 if x[6] == NULL else x[6][k]) - da[k]
            weights[k] = x[3][k]
        self.solve(lanes, &solver, da)
        self.solve(lanes, &solver, weights)
        d.a = da
        write_hvp(self, m, lanes, &state, weights, &d, NULL, self.symmetric, y, end, work)
        for k in range(n):
            y[2][k] = (0.0 if x[7] == NULL else x[7][k]) - y[2][k]
        self.solve(lanes, &solver, y[2])
        self.weigh(m, lanes, &state, y[2], by_w, end, work)
        for k in range(n):
            y[0][k] = -y[0][k] - by_w[k]
            y[1][k] = -y[1][k] - by_w[n + k]

    cdef void derive(self, const Mechanism *m, int lanes, const State *state, const Directions *d,
                     double *dtau, double *end, double *work) noexcept nogil:
        """dtau <- derivative of inverse dynamics along dq and dv; work holds the turns of the bodies."""
        cdef Directions along
        cdef double *rates = self.target(lanes, 1, dtau, &end)
        along.q, along.v = self.expanded(lanes, 1, d.q, &end), self.expanded(lanes, 1, d.v, &end)
        along.a = along.fext = NULL
        self.kernels(lanes).jvp(m, state, 1, &along, NULL, rates, work)
        self.reduce(lanes, 1, rates, dtau)

    cdef void weigh(self, const Mechanism *m, int lanes, const State *state, const double *w, double *y,
                    double *end, double *work) noexcept nogil:
        """y <- gradients of w . (inverse dynamics) by q and by v; work holds motions and forces."""
        cdef Gradients g
        cdef Py_ssize_t n = self.bodies.nv * lanes
        g.q, g.v = self.target(lanes, 1, y, &end), self.target(lanes, 1, y + n, &end)
        g.a = g.fext = g.inertia = NULL
        self.kernels(lanes).vjp(m, state, 1, self.expanded(lanes, 1, w, &end), NULL, &g, work)
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
        cdef State state
        cdef PackedHessian phi
        for k in range(4):
            derivatives[k] = work + k * square
        arguments[0], arguments[1], arguments[2], arguments[3] = x[0], x[1], x[2], x[4]
        self.first.compute(m, lanes, arguments, derivatives, failed, rest)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        multiply(n, lanes, derivatives[2], x[3], weights)
        state.q, state.v, state.a, state.fext = x[0], x[1], derivatives[3], x[4]
        write_hessian(self, m, lanes, &state, weights, self.symmetric, packed, packed + pair,
                      packed + 2 * pair, packed + 3 * pair, rest)
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
