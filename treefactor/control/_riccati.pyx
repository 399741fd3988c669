"""Run Riccati sweeps of linear-quadratic problems along motions, on arrays that have been validated."""

cimport numpy as cnp
from libc.stdint cimport int8_t
from libc.stdlib cimport free, malloc

from ..model._configurations cimport Configurations, Coordinates, LINEAR, CIRCLE
from ..tree._operands cimport align
from ..tree._pattern cimport active

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/control/riccati.h"
    #include "kernels/common/choose.h"
    CHOOSE(RiccatiTable, riccati)
    """
    ctypedef struct Series:
        const double *data
        Py_ssize_t to_problem, to_stage

    ctypedef struct Sweep:
        Py_ssize_t n, nu, steps
        double h
        const Coordinates *curved
        Py_ssize_t curved_count
        Series by_q, by_v, by_u, step_by_q, step_by_v, gradient, diagonal, hessian_q, hessian
        const double *regularization
        double *gains
        double *feedforward
        double *slope
        int8_t *failed

    ctypedef struct RiccatiTable:
        Py_ssize_t side
        void (*one)(const Sweep *, const Py_ssize_t *problem, double *scratch) noexcept nogil
        void (*lanes)(const Sweep *, const Py_ssize_t *problem, double *scratch) noexcept nogil
        Py_ssize_t (*one_scratch)(const Sweep *) noexcept nogil
        Py_ssize_t (*lanes_scratch)(const Sweep *) noexcept nogil

    const RiccatiTable *riccati_for(const char *name) nogil

cdef const RiccatiTable *kernels = riccati_for(active.name)
SIDE = kernels.side
cdef enum:
    MOST_SIDE = 8


cdef int describe(Series *series, cnp.ndarray x) except -1:
    """Describe an array (B or 1, T or 1, ...) whose stages are contiguous; None is absent."""
    series.data, series.to_problem, series.to_stage = NULL, 0, 0
    if x is not None:
        series.data = <const double *> x.data
        if x.shape[0] > 1:
            series.to_problem = x.strides[0] // <Py_ssize_t> sizeof(double)
        if x.shape[1] > 1:
            series.to_stage = x.strides[1] // <Py_ssize_t> sizeof(double)
    return 0


cdef class Sweeps:
    """Sweeps along motions of one model.

    Parameters
    ----------
    configurations : Configurations
        Of the model.
    controls : int
        Numbers of a control.

    Attributes
    ----------
    curved : bool
        Whether steps of configurations have derivatives other than unit matrices.
    """

    cdef Coordinates *blocks
    cdef Py_ssize_t count, n, nu

    def __cinit__(self, Configurations configurations not None, Py_ssize_t controls):
        cdef Py_ssize_t k
        self.n, self.nu = configurations.nv, controls
        self.blocks = <Coordinates *> malloc(max(<Py_ssize_t> 1, configurations.count) * sizeof(Coordinates))
        if self.blocks == NULL:
            raise MemoryError
        for k in range(configurations.count):
            if configurations.runs[k].group != LINEAR and configurations.runs[k].group != CIRCLE:
                self.blocks[self.count] = configurations.runs[k]
                self.count += 1

    def __dealloc__(self):
        free(self.blocks)

    @property
    def curved(self):
        return self.count > 0

    def run(self, double h, tuple dynamics not None, tuple transport not None, tuple costs not None,
            cnp.ndarray regularization not None, tuple results not None, bint lanes, Py_ssize_t first,
            Py_ssize_t stop):
        """Sweep blocks first .. stop-1 of problems: as many of them as stand side by side, or one.

        Parameters
        ----------
        h : float
        dynamics : tuple of ndarray
            Derivatives of accelerations by q, v and controls: (B, T, nv, nv) twice and (B, T, nv, nu).
        transport : tuple of ndarray
            Of a step of q by q and by v: (B, T, nv, nv) twice; read if ``curved``.
        costs : tuple of ndarray
            Gradients (B, T + 1, m), diagonals (B or 1, T + 1, m), Hessians by q (B, T + 1, nv, nv), and by
            (u, q, v) (B, T + 1, m, m) or None.
        regularization : ndarray, shape (B,)
        results : tuple of ndarray
            C-contiguous gains (B, T, nu, 2 nv), feedforward (B, T, nu), slopes (B, 2), and whether a pivot was
            not positive, int8 (B,).
        lanes : bool
        """
        cdef Sweep s
        cdef Py_ssize_t problem[MOST_SIDE]
        cdef Py_ssize_t b, k, size, side = kernels.side if lanes else 1
        cdef double *memory
        cdef double *scratch
        cdef cnp.ndarray gains, feedforward, slope, failed
        gains, feedforward, slope, failed = results
        s.n, s.nu, s.steps, s.h = self.n, self.nu, gains.shape[1], h
        s.curved, s.curved_count = self.blocks, self.count
        describe(&s.by_q, dynamics[0])
        describe(&s.by_v, dynamics[1])
        describe(&s.by_u, dynamics[2])
        describe(&s.step_by_q, transport[0] if self.count else None)
        describe(&s.step_by_v, transport[1] if self.count else None)
        describe(&s.gradient, costs[0])
        describe(&s.diagonal, costs[1])
        describe(&s.hessian_q, costs[2])
        describe(&s.hessian, costs[3])
        s.regularization = <const double *> regularization.data
        s.gains, s.feedforward = <double *> gains.data, <double *> feedforward.data
        s.slope, s.failed = <double *> slope.data, <int8_t *> failed.data
        size = kernels.lanes_scratch(&s) if lanes else kernels.one_scratch(&s)
        memory = <double *> malloc(64 + size * sizeof(double))
        if memory == NULL:
            raise MemoryError
        with nogil:
            scratch = align(memory)
            for b in range(first, stop):
                for k in range(side):
                    problem[k] = min(b * side + k, gains.shape[0] - 1)
                if lanes:
                    kernels.lanes(&s, problem, scratch)
                else:
                    kernels.one(&s, problem, scratch)
        free(memory)
