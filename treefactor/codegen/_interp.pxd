"""Straight-line code on the slots of a register machine, for backends to fill in."""

cimport numpy as cnp
from libc.stdint cimport int32_t

cdef extern from "kernels/machine.h" nogil:
    ctypedef struct Width:
        int lanes
        void (*run)(const int32_t *code, double *room) noexcept nogil
        void (*load)(Py_ssize_t size, int count, const char *source, Py_ssize_t to_lane, Py_ssize_t to_entry,
                     double *room) noexcept nogil
        void (*store)(Py_ssize_t size, int count, const int32_t *slot, const double *sign, const double *room,
                      char *to, Py_ssize_t to_lane, Py_ssize_t to_entry) noexcept nogil

    enum:
        WIDTHS

    ctypedef struct Machine:
        const char *name
        Width width[WIDTHS]

    const Machine machine_baseline

cdef enum:
    ARGUMENTS = 3                # at most

cdef class Results:
    cdef readonly object slots, signs, shape
    cdef Py_ssize_t size, rows, columns      # -1 of vectors
    cdef cnp.npy_intp dimensions[2]
    cdef const int32_t *slot
    cdef const double *sign

cdef class Routine:
    cdef Py_ssize_t arguments, inputs, slots
    cdef Py_ssize_t size[ARGUMENTS]
    cdef int widest              # of the machine's widths that `evaluate` knows, this one and narrower ones
    cdef bint pivots             # whether a result that is not finite has no reason but a vanishing pivot
    cdef Py_ssize_t units
    cdef const Py_ssize_t *unit
    cdef object kept

    cdef void prepare(self, const Width *width, double *room) noexcept nogil
    cdef void evaluate(self, const Width *width, double *room) noexcept nogil
    cdef bint plain(self, tuple given, object out, Results results) noexcept
    cdef bint single(self, const double **given, double *out, Results results) noexcept nogil
    cdef bint turns(self, Py_ssize_t lanes, const double *q) noexcept nogil
    cdef void find_unusable(self, Py_ssize_t lanes, const double *room, unsigned char *odd) noexcept nogil
