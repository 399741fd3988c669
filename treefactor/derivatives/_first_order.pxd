"""C interface of the equation of motion and of the first derivatives of inverse dynamics."""

from ..dynamics._recursions cimport Bodies, Mechanism

cdef Py_ssize_t first_order_size(Bodies bodies, int lanes) noexcept nogil
cdef void write_equation_of_motion(Bodies bodies, const Mechanism *m, int lanes, const double *q,
                                   const double *v, const double *fext, double *bias, double *H,
                                   double *work) noexcept nogil
cdef void write_rnea(Bodies bodies, const Mechanism *m, int lanes, const double *q, const double *v,
                     const double *a, const double *fext, double *tau, double *H, double *dq, double *dv,
                     double *work) noexcept nogil
