"""Compute second derivatives of inverse and forward dynamics: along a direction, and as matrices."""

from ..dynamics._coupling cimport expand, reduce_coriolis, reduce_forces, reduce_inertia
from ..dynamics._recursions cimport Bodies, Mechanism
from ..tree._pattern cimport active
from ._state_function cimport PAIR, PLAIN, SYMMETRIC, StateFunction

from .second_order_results import (
    ForwardDynamicsHessian as ForwardDynamicsBlocks, ForwardDynamicsHvp as ForwardDynamicsVectors,
    RneaHessian as RneaBlocks, RneaHvp as RneaVectors)

cdef extern from "kernels/derivatives/second_order_table.h" nogil:
    ctypedef struct Second:
        const double *q
        const double *v
        const double *a
        const double *fext
        const double *w
        const double *dq
        const double *dv
        const double *da
        const double *dw

    ctypedef struct SecondOrderKernels:
        Py_ssize_t (*workspace_size)(const Mechanism *) noexcept nogil
        void (*hvp)(const Mechanism *, const Second *, int symmetric, double *y_q, double *y_v, double *y_a,
                    double *workspace) noexcept nogil
        void (*hessian)(const Mechanism *, const Second *, int symmetric, double *qq, double *qv, double *vv,
                        double *qa, double *workspace) noexcept nogil

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


cdef double *expand_state(Bodies bodies, int lanes, Second *x, double *work) noexcept nogil:
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


cdef void write_hvp(Bodies bodies, int lanes, const Second *given, int symmetric, double *y_q, double *y_v,
                    double *y_a, double *work) noexcept nogil:
    """y_q, y_v, y_a <- second derivatives of w . (inverse dynamics) along a direction."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    cdef Py_ssize_t n = lanes * bodies.m.n
    cdef Second x = given[0]
    cdef double *full
    if not bodies.coupled:
        kernels.hvp(&bodies.m, &x, symmetric, y_q, y_v, y_a, work)
        return
    full = expand_state(bodies, lanes, &x, work)
    kernels.hvp(&bodies.m, &x, symmetric, full, full + n, full + 2 * n, full + 3 * n)
    reduce_forces(&bodies.coupling, lanes, full, y_q)
    reduce_forces(&bodies.coupling, lanes, full + n, y_v)
    reduce_forces(&bodies.coupling, lanes, full + 2 * n, y_a)


cdef Py_ssize_t hessian_size(Bodies bodies, int lanes) noexcept nogil:
    """Return the doubles that `write_hessian` needs."""
    return second_order_size(bodies, lanes, 7 * bodies.m.start[bodies.m.n])


cdef void write_hessian(Bodies bodies, int lanes, const Second *given, int symmetric, double *qq, double *qv,
                        double *vv, double *qa, double *work) noexcept nogil:
    """qq, qv, vv, qa <- second derivatives of w . (inverse dynamics), packed."""
    cdef const SecondOrderKernels *kernels = &second_order.one if lanes == 1 else &second_order.lanes
    cdef Py_ssize_t n = bodies.m.n, nnz = bodies.m.start[n], pair = lanes * (2 * nnz - n)
    cdef Second x = given[0]
    cdef double *full
    cdef double *full_vv
    if not bodies.coupled:
        kernels.hessian(&bodies.m, &x, symmetric, qq, qv, vv, qa, work)
        return
    full = expand_state(bodies, lanes, &x, work)
    full_vv = full + 3 * pair
    kernels.hessian(&bodies.m, &x, symmetric, full, full + pair, full_vv, full + 2 * pair, full_vv + lanes * nnz)
    if symmetric:
        reduce_inertia(&bodies.coupling, lanes, full, qq)
    else:
        reduce_coriolis(&bodies.coupling, lanes, full, qq)
    reduce_coriolis(&bodies.coupling, lanes, full + pair, qv)
    reduce_inertia(&bodies.coupling, lanes, full_vv, vv)
    reduce_coriolis(&bodies.coupling, lanes, full + 2 * pair, qa)


cdef void find_state(Second *state, const double **x, bint direction) noexcept nogil:
    """state <- the arguments q, v, a or tau, w, then those of a direction if there is one, then fext."""
    state.q, state.v, state.a, state.w = x[0], x[1], x[2], x[3]
    state.dq = state.dv = state.da = state.dw = NULL
    state.fext = x[8 if direction else 4]
    if direction:
        state.dq, state.dv, state.da, state.dw = x[4], x[5], x[6], x[7]


cdef int declare_state(StateFunction f, bint direction) except -1:
    """Declare the arguments that `find_state` finds."""
    f.add_input((f.bodies.nq,))
    for k in range(6 if direction else 3):
        f.add_input((f.bodies.nv,))
    if direction:
        f.add_input((f.bodies.nv,), True)
    f.add_input((f.bodies.m.joints, 6), True)
    return 0


cdef class RneaHvp(StateFunction):
    """Compute second derivatives of w . (inverse dynamics) along a direction.

    Parameters
    ----------
    model : Model
    symmetric : bool
    """

    cdef bint symmetric

    def __init__(self, model, bint symmetric=True):
        declare_state(self, True)
        self.names = ("q", "v", "a", "w", "dq", "dv", "da", "dw", "fext")
        self.symmetric, self.gather = symmetric, RneaVectors._make
        for _ in range(3):
            self.add_result((self.bodies.nv,))

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return hvp_size(self.bodies, lanes)

    cdef void compute(self, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Second state
        find_state(&state, x, True)
        write_hvp(self.bodies, lanes, &state, self.symmetric, y[0], y[1], y[2], work)


cdef class RneaHessian(StateFunction):
    """Compute second derivatives of w . (inverse dynamics) as matrices.

    Parameters
    ----------
    model : Model
    layout : {"dense", "packed", "lanes"}
    symmetric : bool
    """

    cdef bint symmetric

    def __init__(self, model, str layout="dense", bint symmetric=True):
        cdef Py_ssize_t n = self.bodies.nv, nnz = self.bodies.nnz
        declare_state(self, False)
        self.names = ("q", "v", "a", "w", "fext")
        self.symmetric, self.gather, self.in_lanes = symmetric, RneaBlocks._make, layout == "lanes"
        for one in (SYMMETRIC if symmetric else PAIR, PAIR, SYMMETRIC, PAIR):
            if layout == "packed":
                self.add_result((nnz if one == SYMMETRIC else 2 * nnz - n,))
            else:
                self.add_result((n, n), one)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return hessian_size(self.bodies, lanes)

    cdef void compute(self, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Second state
        find_state(&state, x, False)
        write_hessian(self.bodies, lanes, &state, self.symmetric, y[0], y[1], y[2], y[3], work)
