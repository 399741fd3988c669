"""C interface of the first derivatives of inverse dynamics, in two parts: by v, then by q."""

from ..dynamics._recursions cimport Bodies, Mechanism

cdef Py_ssize_t parts_size(Bodies bodies, int lanes) noexcept nogil
cdef void write_velocity_part(Bodies bodies, const Mechanism *m, int lanes, const double *q,
                              const double *v, const double *fext, double *bias, double *H, double *dv,
                              double *work) noexcept nogil
cdef void write_position_part(Bodies bodies, const Mechanism *m, int lanes, const double *a, double *dq,
                              double *work) noexcept nogil
