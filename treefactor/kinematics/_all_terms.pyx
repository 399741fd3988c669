"""Compute the terms of the equation of motion together: two passes over the bodies, the others from them."""

from libc.string cimport memcpy, memset

from .._functions._compiled_function cimport SPARSE, SYMMETRIC
from .._functions._arrays cimport Array, shape_of
from ..dynamics._dynamics_functions cimport EquationOfMotion
from ..dynamics._model_function cimport ModelFunction
from ..tree._operands cimport ALIGNED, align
from ._request cimport Request

cdef enum:
    OWN = 5                      # results before those of the request: H, bias, gravity, two energies
    CENTER = OWN + 1             # results of the request that energies and gravity are computed from
    CENTER_JACOBIAN = OWN + 3


cdef class Terms(ModelFunction):
    """Terms of one model (q, v).

    Parameters
    ----------
    model : Model
    request : Request
        Of joint placements, centre of mass, its velocity and Jacobian, and what else comes after them.
    gather : type
        Named tuple that holds all results.
    """

    cdef EquationOfMotion motion
    cdef Request request
    cdef double weight[3]        # minus the gravity on the whole mass

    def __init__(self, model, Request request not None, gather):
        cdef const Array *result
        cdef int k
        self.motion, self.request = EquationOfMotion(model), request
        self.gather = gather
        for k in range(3):
            self.weight[k] = -model.mass * model.gravity[k]
        self.add_arguments(("q", "v"))
        self.add_result((self.bodies.nv, self.bodies.nv), SYMMETRIC)
        self.add_result((self.bodies.nv,))
        self.add_result((self.bodies.nv,))
        self.add_result(())
        self.add_result(())
        for k in range(request.results):
            result = &request.result[k]
            self.add_result(shape_of(result), result.form, result.computed, result.at)

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        cdef Py_ssize_t parts = max(self.motion.workspace_size(lanes), self.request.workspace_size(lanes))
        return lanes * (2 * self.bodies.nv + self.bodies.nnz) + ALIGNED + parts

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Py_ssize_t nv = lanes * self.bodies.nv, i
        cdef const double *given[4]
        cdef double *negative_bias = work            # then the packed rows of H
        cdef double *zero = work + nv + lanes * self.bodies.nnz
        cdef double *end = align(zero + nv)
        memset(zero, 0, nv * sizeof(double))
        given[0], given[1], given[2], given[3] = x[0], x[1], zero, NULL
        self.motion.compute(model, lanes, given, &negative_bias, failed, end)
        self.request.compute(NULL, lanes, x, y + OWN, failed, end)
        memcpy(y[0], negative_bias + nv, lanes * self.bodies.nnz * sizeof(double))
        for i in range(nv):
            y[1][i] = 0.0 - negative_bias[i]
        for i in range(lanes):
            self.derive(i, lanes, x[1], y)

    cdef void derive(self, int lane, int lanes, const double *v, double **y) noexcept nogil:
        """Compute gravity and the energies of one configuration from H and the centre of mass."""
        cdef const Py_ssize_t *start = self.bodies.pattern.shape.start
        cdef const Py_ssize_t *column = self.bodies.pattern.shape.column
        cdef const Array *jacobian = &self.result[CENTER_JACOBIAN]
        cdef Py_ssize_t nv = self.bodies.nv, i, j, e
        cdef Py_ssize_t at[3]
        cdef const double *H = y[0] + lane
        cdef const double *c = y[CENTER] + lane
        cdef const double *J = y[CENTER_JACOBIAN] + lane
        cdef const double *w = self.weight
        cdef double twice = 0.0, row
        for i in range(nv):
            for j in range(3):
                at[j] = j * nv + i
                if lanes > 1 and jacobian.form == SPARSE:
                    at[j] = jacobian.at[at[j]]
            y[2][i * lanes + lane] = (w[0] * J[at[0] * lanes] + w[1] * J[at[1] * lanes]
                                      + w[2] * J[at[2] * lanes])
            row = 0.0
            for e in range(start[i], start[i + 1]):
                j = column[e]
                row += H[e * lanes] * v[j * lanes + lane] * (1.0 if i == j else 2.0)
            twice += row * v[i * lanes + lane]
        y[3][lane] = 0.5 * twice
        y[4][lane] = w[0] * c[0] + w[1] * c[lanes] + w[2] * c[2 * lanes]
