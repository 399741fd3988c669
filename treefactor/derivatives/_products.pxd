"""C interface of products: structs of the kernels, and classes that factorize H once for several solves."""

from ..dynamics._recursions cimport Mechanism
from ..dynamics._model_function cimport ModelFunction

cdef extern from "kernels/derivatives/products_table.h" nogil:
    ctypedef struct State:
        const double *q
        const double *v
        const double *a
        const double *fext
        int moved

    ctypedef struct Directions:
        const double *q
        const double *v
        const double *a
        const double *fext

    ctypedef struct Gradients:
        double *q
        double *v
        double *a
        double *fext
        double *inertia

    ctypedef struct ProductKernels:
        Py_ssize_t (*workspace_size)(const Mechanism *) noexcept nogil
        void (*equation_of_motion)(const Mechanism *, const double *q, const double *v, const double *fext,
                                   double *H, double *bias, double *workspace) noexcept nogil
        void (*vjp)(const Mechanism *, const State *, Py_ssize_t vectors, const double *w, double *tau,
                    const Gradients *, double *workspace) noexcept nogil
        void (*jvp)(const Mechanism *, const State *, Py_ssize_t vectors, const Directions *, double *tau,
                    double *dtau, double *workspace) noexcept nogil
        Py_ssize_t (*hvp_size)(const Mechanism *) noexcept nogil
        void (*hvp)(const Mechanism *, const State *, const double *w, const Directions *, const double *dw,
                    int symmetric, double *y_q, double *y_v, double *y_a, double *workspace) noexcept nogil

    ctypedef struct Products:
        const char *name
        ProductKernels one
        ProductKernels lanes


ctypedef struct Solver:          # a factorized H
    double *H
    double *D
    double *inverse
    double *scratch


cdef class Product(ModelFunction):
    cdef Py_ssize_t vectors      # for every state
    cdef tuple axis              # (vectors,), or empty
    cdef bint fext, inertia, value   # results beyond the others

    cdef void set_vectors(self, Py_ssize_t vectors)
    cdef void add_state(self)
    cdef void declare_gradients(self, type kind, tuple fields, bint fext, bint inertia, bint value)
    cdef void declare_derivative(self, type kind, tuple fields, bint value)
    cdef const ProductKernels *kernels(self, int lanes) noexcept nogil
    cdef Py_ssize_t expanded_size(self, int vectors) noexcept nogil


cdef class SolvingProduct(Product):
    cdef Py_ssize_t solver_size(self, int lanes) noexcept nogil
    cdef void solve_motion(self, const Mechanism *m, int lanes, const double *q, const double *v,
                           const double *tau, const double *fext, double *a, Py_ssize_t *failed,
                           Solver *solver, double **end, double *workspace) noexcept nogil
    cdef void solve(self, int lanes, const Solver *s, double *x) noexcept nogil
