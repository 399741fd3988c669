"""Straight-line code on the slots of rooms, for backends to fill in."""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

cdef extern from "kernels/interpreter/machine.h" nogil:
    ctypedef struct Width:
        int lanes
        void (*run)(const int32_t *code, double *room) noexcept nogil
        void (*load)(Py_ssize_t size, int count, const char *source, Py_ssize_t to_lane, Py_ssize_t to_entry,
                     double *room, Py_ssize_t to_room) noexcept nogil
        void (*store)(Py_ssize_t size, int count, const int32_t *slot, const double *sign, const double *room,
                      Py_ssize_t to_room, char *to, Py_ssize_t to_lane, Py_ssize_t to_entry) noexcept nogil
        int (*find_odd)(Py_ssize_t slots, Py_ssize_t units, const Py_ssize_t *unit, double tolerance,
                        const double *room, int64_t *odd) noexcept nogil
        int (*find_failed)(Py_ssize_t size, Py_ssize_t step, const int32_t *slot, const double *room,
                           int64_t *odd) noexcept nogil

    enum:
        WIDTHS

    ctypedef struct Machine:
        const char *name
        Width width[WIDTHS]

    const Machine machine_baseline

cdef enum:
    ARGUMENTS = 3                # at most

cdef struct Source:              # of an argument: configuration c, entry e at data + c to_lane + e to_entry
    const char *data
    Py_ssize_t to_lane, to_entry

cdef struct Target:              # of results; configuration c: group c // 8, lane c % 8
    char *data
    Py_ssize_t to_group, to_lane, to_entry
    bint grouped

cdef class Results:
    cdef readonly object slots, signs, shape
    cdef bint grouped
    cdef Py_ssize_t size, rows, columns      # -1 of vectors
    cdef Py_ssize_t step                     # from one entry of the diagonal to the next, or of the vector
    cdef const int32_t *slot
    cdef const double *sign

    cdef object room(self, Py_ssize_t count)
    cdef bint target(self, object out, Py_ssize_t count, Target *to) noexcept

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
    cdef object one(self, tuple given, object out, Results results)
    cdef object many(self, tuple given, object out, Results results)
    cdef bint plain(self, tuple given, object out, Results results) noexcept
    cdef bint single(self, const double **given, double *out, Results results) noexcept nogil
    cdef bint run(self, const Source *source, const Target *target, Results results, Py_ssize_t first,
                  Py_ssize_t stop) noexcept nogil
