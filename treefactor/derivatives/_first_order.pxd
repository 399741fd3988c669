"""C interface of the equation of motion and of the first derivatives of inverse dynamics."""

from ..dynamics._recursions cimport Bodies, Mechanism
from ..tree._pattern cimport Shape, Workspace

cdef Py_ssize_t first_order_size(Bodies bodies, int lanes) noexcept nogil
cdef void write_equation_of_motion(Bodies bodies, const Mechanism *m, int lanes, const double *q,
                                   const double *v, const double *fext, double *bias, double *H,
                                   double *work) noexcept nogil
cdef void write_rnea(Bodies bodies, const Mechanism *m, int lanes, const double *q, const double *v,
                     const double *a, const double *fext, double *tau, double *H, double *dq, double *dv,
                     double *work) noexcept nogil
cdef Py_ssize_t factor_and_accelerate(const Shape *t, Workspace *w, double *H, double *a) noexcept nogil
cdef Py_ssize_t padded_columns(const Shape *t) noexcept nogil
cdef void solve_both(const Shape *t, const Workspace *w, const double *dq, const double *dv, double *X,
                     double *Y, double *work) noexcept nogil
