"""Multiply vectors by derivatives of inverse and forward dynamics: compiled functions of one model."""

from ..dynamics._coupling cimport reduce_forces, reduce_inertia
from ..dynamics._kernel_calls cimport factor_and_solve
from ..dynamics._recursions cimport FACTOR, Mechanism
from ..tree._operands cimport LANES
from ..tree._pattern cimport (
    FACTORIZED, SOLVE, Shape, Workspace, active, carve_workspace, workspace_size as factor_workspace_size)
from ..dynamics._model_function cimport ModelFunction

from .product_results import (
    ForwardDynamicsGradients, ForwardDynamicsJvpWithValue, RneaGradients, RneaJvpWithValue, gradients_with)

cdef extern from *:
    """
    #include "kernels/derivatives/products_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(Products, products)
    """
    const Products *products_for(const char *name) nogil

cdef const Products *products = products_for(active.name)


cdef class Product(ModelFunction):
    """Product of vectors, one or several for a state, with derivatives of the dynamics.

    Parameters
    ----------
    model : Model
    *wanted
        Results beyond the others: see the subclass.
    vectors : int
        Number of vectors for every state, in an axis of their own; -1: one, without that axis.
    """

    cdef void set_vectors(self, Py_ssize_t vectors):
        """Set the number of vectors of every state."""
        self.vectors = 1 if vectors < 0 else vectors
        self.axis = () if vectors < 0 else (vectors,)

    cdef void add_state(self):
        """Declare q and two vectors of freedoms."""
        self.add_configuration()
        self.add_vector()
        self.add_vector()

    cdef void declare_gradients(self, type kind, tuple fields, bint fext, bint inertia, bint value):
        """Declare the arguments and results of a gradient of a kind."""
        cdef tuple fext_field = ("fext",) if fext else ()
        cdef tuple inertia_field = ("inertia",) if inertia else ()
        cdef tuple value_field = ("value",) if value else ()
        self.fext, self.inertia, self.value = fext, inertia, value
        self.names = (*fields, "w", "fext")
        self.add_state()
        self.add_input((*self.axis, self.bodies.nv))
        self.add_input((self.bodies.m.joints, 6), True)
        for _ in fields:
            self.add_result((*self.axis, self.bodies.nv))
        if fext:
            self.add_result((*self.axis, self.bodies.m.joints, 6))
        if inertia:
            self.add_result((*self.axis, self.bodies.m.joints, 10))
        if value:
            self.add_result((self.bodies.nv,))
        made = gradients_with(kind, (*fields, *fext_field, *inertia_field, *value_field))
        self.gather = made

    cdef void declare_derivative(self, type kind, tuple fields, bint value):
        """Declare the arguments and results of a derivative along directions."""
        self.value = value
        self.names = (*fields, *[f"d{field}" for field in fields], "fext", "dfext")
        self.add_state()
        for _ in fields:
            self.add_input((*self.axis, self.bodies.nv), True)
        self.add_input((self.bodies.m.joints, 6), True)
        self.add_input((*self.axis, self.bodies.m.joints, 6), True)
        self.add_result((*self.axis, self.bodies.nv))
        if value:
            self.add_result((self.bodies.nv,))
            self.gather = kind

    cdef const ProductKernels *kernels(self, int lanes) noexcept nogil:
        return &products.one if lanes == 1 else &products.lanes

    cdef Py_ssize_t expanded_size(self, int vectors) noexcept nogil:
        """Return the doubles for vectors of all freedoms where there are mimic joints."""
        return vectors * self.bodies.m.n if self.bodies.coupled else 0


cdef class SolvingProduct(Product):
    """Product with derivatives of forward dynamics: one factorization of H serves all its solves."""

    cdef Py_ssize_t solver_size(self, int lanes) noexcept nogil:
        """Return the doubles of a Solver and of the equation of motion."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Py_ssize_t size = lanes * (self.bodies.nnz + 2 * self.bodies.nv)
        if self.bodies.coupled:
            size += lanes * (self.bodies.m.start[self.bodies.m.n] + self.bodies.m.n)
        return size + (factor_workspace_size(t) if lanes == 1 else lanes * t.scratch)

    cdef void solve_motion(self, const Mechanism *m, int lanes, const double *q, const double *v,
                           const double *tau, const double *fext, double *a, Py_ssize_t *failed,
                           Solver *solver, double **end, double *workspace) noexcept nogil:
        """a <- forward dynamics at velocities v of all freedoms; solver: the factor of H, written at end."""
        cdef Py_ssize_t k, n = self.bodies.nv * lanes
        cdef double *H
        cdef double *bias = a
        solver.H = H = end[0]
        solver.D = solver.H + self.bodies.nnz * lanes
        solver.inverse = solver.D + n
        solver.scratch = solver.inverse + n
        if self.bodies.coupled:
            H = solver.scratch
            bias = H + self.bodies.m.start[self.bodies.m.n] * lanes
            solver.scratch = bias + self.bodies.m.n * lanes
        end[0] += self.solver_size(lanes)
        self.kernels(lanes).equation_of_motion(m, q, v, fext, H, bias, workspace)
        if self.bodies.coupled:
            reduce_inertia(&self.bodies.coupling, lanes, H, solver.H)
            reduce_forces(&self.bodies.coupling, lanes, bias, a)
        for k in range(n):
            a[k] = tau[k] - a[k]
        factor_and_solve(&self.bodies.pattern.shape, FACTOR, lanes, solver.H, solver.D, solver.inverse,
                         solver.scratch, a, failed)

    cdef void solve(self, int lanes, const Solver *s, double *x) noexcept nogil:
        """x <- H^-1 x for every vector."""
        cdef const Shape *t = &self.bodies.pattern.shape
        cdef Workspace w
        cdef Py_ssize_t _vector
        if lanes == 1:
            w = carve_workspace(t, s.scratch)
        for _vector in range(self.vectors):
            if lanes == LANES:
                active.lanes.apply(t, s.H, s.inverse, 1, SOLVE, x, 1)
            else:
                active.single.apply(t, w.X, s.D, s.inverse, 1, SOLVE, x, w.path)
            x += self.bodies.nv * lanes

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        """Leave trees that are eliminated in parts to the lanes."""
        return not self.bodies.pattern.shape.tasks and ModelFunction.run_one(self, x, out)


cdef class RneaVjp(Product):
    """Gradients of w . rnea: see `treefactor.rnea_vjp`."""

    def __init__(self, model, fext_gradient, inertia_gradient, with_value, vectors):
        self.set_vectors(vectors)
        self.declare_gradients(RneaGradients, ("q", "v", "a"), fext_gradient, inertia_gradient, with_value)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (self.kernels(lanes).workspace_size(&self.bodies.m)
                + lanes * self.expanded_size(3 + 4 * self.vectors))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef const ProductKernels *kernels = self.kernels(lanes)
        cdef double *end = work + kernels.workspace_size(&self.bodies.m)
        cdef State state
        cdef Gradients g
        cdef double *value = y[self.results - 1] if self.value else NULL
        cdef double *tau = self.target(lanes, 1, value, &end)
        cdef const double *w = self.expanded(lanes, self.vectors, x[3], &end)
        state.q, state.fext, state.moved = x[0], x[4], False
        state.v, state.a = self.expanded(lanes, 1, x[1], &end), self.expanded(lanes, 1, x[2], &end)
        g.q = self.target(lanes, self.vectors, y[0], &end)
        g.v = self.target(lanes, self.vectors, y[1], &end)
        g.a = self.target(lanes, self.vectors, y[2], &end)
        g.fext = y[3] if self.fext else NULL
        g.inertia = y[3 + self.fext] if self.inertia else NULL
        kernels.vjp(m, &state, self.vectors, w, tau, &g, work)
        self.reduce(lanes, self.vectors, g.q, y[0])
        self.reduce(lanes, self.vectors, g.v, y[1])
        self.reduce(lanes, self.vectors, g.a, y[2])
        self.reduce(lanes, 1, tau, value)


cdef class ForwardDynamicsVjp(SolvingProduct):
    """Gradients of w . forward_dynamics: see `treefactor.forward_dynamics_vjp`."""

    def __init__(self, model, fext_gradient, inertia_gradient, with_value, vectors):
        self.set_vectors(vectors)
        self.may_fail = True
        self.declare_gradients(ForwardDynamicsGradients, ("q", "v", "tau"), fext_gradient, inertia_gradient,
                               with_value)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (self.kernels(lanes).workspace_size(&self.bodies.m) + self.solver_size(lanes)
                + lanes * ((1 + self.vectors) * self.bodies.nv + self.expanded_size(2 + 3 * self.vectors)))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef const ProductKernels *kernels = self.kernels(lanes)
        cdef double *end = work + kernels.workspace_size(&self.bodies.m)
        cdef Py_ssize_t k, n = self.vectors * self.bodies.nv * lanes
        cdef State state
        cdef Gradients g
        cdef Solver solver
        cdef double *a = end
        cdef double *minus = a + self.bodies.nv * lanes    # -H^-1 w
        end = minus + n
        state.q, state.fext, state.moved = NULL, x[4], False
        state.v = self.expanded(lanes, 1, x[1], &end)
        self.solve_motion(m, lanes, x[0], state.v, x[2], x[4], a, failed, &solver, &end, work)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        for k in range(n):
            y[2][k] = x[3][k]
        self.solve(lanes, &solver, y[2])
        for k in range(n):
            minus[k] = -y[2][k]
        if self.value:
            for k in range(self.bodies.nv * lanes):
                y[self.results - 1][k] = a[k]
        state.a = self.expanded(lanes, 1, a, &end)
        g.q = self.target(lanes, self.vectors, y[0], &end)
        g.v = self.target(lanes, self.vectors, y[1], &end)
        g.a = NULL
        g.fext = y[3] if self.fext else NULL
        g.inertia = y[3 + self.fext] if self.inertia else NULL
        kernels.vjp(m, &state, self.vectors, self.expanded(lanes, self.vectors, minus, &end),
                    NULL, &g, work)
        self.reduce(lanes, self.vectors, g.q, y[0])
        self.reduce(lanes, self.vectors, g.v, y[1])


cdef class RneaJvp(Product):
    """Derivative of rnea along directions: see `treefactor.rnea_jvp`."""

    def __init__(self, model, with_value, vectors):
        self.set_vectors(vectors)
        self.declare_derivative(RneaJvpWithValue, ("q", "v", "a"), with_value)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (self.kernels(lanes).workspace_size(&self.bodies.m)
                + lanes * self.expanded_size(3 + 4 * self.vectors))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef const ProductKernels *kernels = self.kernels(lanes)
        cdef double *end = work + kernels.workspace_size(&self.bodies.m)
        cdef State state
        cdef Directions d
        cdef double *value = y[1] if self.value else NULL
        cdef double *tau = self.target(lanes, 1, value, &end)
        cdef double *dtau = self.target(lanes, self.vectors, y[0], &end)
        state.q, state.fext, state.moved, d.fext = x[0], x[6], False, x[7]
        state.v, state.a = self.expanded(lanes, 1, x[1], &end), self.expanded(lanes, 1, x[2], &end)
        d.q = self.expanded(lanes, self.vectors, x[3], &end)
        d.v = self.expanded(lanes, self.vectors, x[4], &end)
        d.a = self.expanded(lanes, self.vectors, x[5], &end)
        kernels.jvp(m, &state, self.vectors, &d, tau, dtau, work)
        self.reduce(lanes, self.vectors, dtau, y[0])
        self.reduce(lanes, 1, tau, value)


cdef class ForwardDynamicsJvp(SolvingProduct):
    """Derivative of forward_dynamics along directions: see `treefactor.forward_dynamics_jvp`."""

    def __init__(self, model, with_value, vectors):
        self.set_vectors(vectors)
        self.may_fail = True
        self.declare_derivative(ForwardDynamicsJvpWithValue, ("q", "v", "tau"), with_value)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (self.kernels(lanes).workspace_size(&self.bodies.m) + self.solver_size(lanes)
                + lanes * (self.bodies.nv + self.expanded_size(2 + 3 * self.vectors)))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const Mechanism *m = <const Mechanism *> model
        cdef const ProductKernels *kernels = self.kernels(lanes)
        cdef double *end = work + kernels.workspace_size(&self.bodies.m)
        cdef Py_ssize_t k
        cdef State state
        cdef Directions d
        cdef Solver solver
        cdef double *a = end
        cdef double *dtau
        end += self.bodies.nv * lanes
        state.q, state.fext, state.moved = NULL, x[6], False
        state.v = self.expanded(lanes, 1, x[1], &end)
        self.solve_motion(m, lanes, x[0], state.v, x[2], x[6], a, failed, &solver, &end, work)
        if lanes == 1 and failed[0] != FACTORIZED:
            return
        if self.value:
            for k in range(self.bodies.nv * lanes):
                y[1][k] = a[k]
        state.a = self.expanded(lanes, 1, a, &end)
        d.q = self.expanded(lanes, self.vectors, x[3], &end)
        d.v = self.expanded(lanes, self.vectors, x[4], &end)
        d.a, d.fext = NULL, x[7]
        dtau = self.target(lanes, self.vectors, y[0], &end)
        kernels.jvp(m, &state, self.vectors, &d, NULL, dtau, work)
        self.reduce(lanes, self.vectors, dtau, y[0])
        for k in range(self.vectors * self.bodies.nv * lanes):
            y[0][k] = (0.0 if x[5] == NULL else x[5][k]) - y[0][k]
        self.solve(lanes, &solver, y[0])
