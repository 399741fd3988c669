"""Declares Routine, the base class of the compiled backends."""

from cpython.object cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from ..._functions._arrays cimport Array
from ...tree._operands cimport Operand
from ._results cimport Results, StridedOutput, Target

cdef extern from "kernels/interpreter/interpreter.h" nogil:
    ctypedef struct Width:
        int lanes
        void (*run)(const int32_t *code, void *workspace) noexcept nogil
        void (*load)(Py_ssize_t size, int count, const char *source, Py_ssize_t to_lane, Py_ssize_t to_entry,
                     void *workspace, Py_ssize_t to_workspace) noexcept nogil
        void (*store)(Py_ssize_t size, int count, const int32_t *slot, const double *sign,
                      const void *workspace, Py_ssize_t to_workspace, char *to, Py_ssize_t to_lane,
                      Py_ssize_t to_entry) noexcept nogil
        int (*find_invalid)(Py_ssize_t slots, Py_ssize_t units, const Py_ssize_t *unit, double tolerance,
                            const void *workspace, int64_t *invalid) noexcept nogil
        int (*find_failed)(Py_ssize_t size, Py_ssize_t step, const int32_t *slot, const void *workspace,
                           int64_t *invalid) noexcept nogil

    enum:
        WIDTHS
        DOUBLE
        SINGLE
        PRECISIONS

    ctypedef struct ProgramKernels:
        const char *name
        Width width[PRECISIONS][WIDTHS]
        void (*sincos[PRECISIONS])(ptrdiff_t n, const void *x, void *sine, void *cosine) nogil
        void (*arctangents[PRECISIONS])(ptrdiff_t n, const void *y, const void *x, void *angle) nogil

    const ProgramKernels program_kernels_baseline

cdef const ProgramKernels *kernels

cdef enum:
    ARGUMENTS = 7                # most arguments of a function
    TOGETHER = 128               # most configurations in workspaces that are evaluated together
    LOCAL = 4096                 # doubles of a workspace on the C stack; larger programs use malloc

cdef class Routine:
    cdef Py_ssize_t arguments, inputs, slots
    cdef Array input[ARGUMENTS]
    cdef int kind                # type number of NumPy of all numbers
    cdef Py_ssize_t bytes        # of a number
    cdef const Width *width      # kernels of their precision
    cdef int widest              # index of the widest lane count that `evaluate` supports
    cdef bint keeps_arguments    # whether `evaluate` leaves the slots of the arguments unchanged
    cdef bint pivots             # whether non-finite results mean a pivot that is not positive
    cdef Py_ssize_t units
    cdef const Py_ssize_t *unit
    cdef Py_ssize_t live         # slots of a workspace after its first `slots`, which `evaluate_groups` uses
    cdef int together            # most workspaces that one call of `evaluate_groups` takes
    cdef object kept

    cdef void prepare(self, const Width *width, char *workspace) noexcept nogil
    cdef void evaluate(self, const Width *width, char *workspace) noexcept nogil
    cdef void evaluate_groups(self, const Width *width, char *workspace, int groups) noexcept nogil
    cdef void load_arguments(self, const Width *width, const Operand *source, Py_ssize_t first,
                             int count, char *workspace) noexcept nogil
    cdef void load_lanes(self, const Width *width, const Operand *source, Py_ssize_t first,
                         int count, char *workspace) noexcept nogil
    cdef bint evaluate_lanes(self, const Operand *source, const StridedOutput *target, Results results,
                             Py_ssize_t first, Py_ssize_t blocks) noexcept nogil
    cdef bint evaluate_checked(self, const Width *width, Results results, char *workspace, int groups,
                               int64_t *invalid) noexcept nogil
    cdef void evaluate_loaded(self, const Width *width, Results results, char *workspace, int count,
                              const StridedOutput *target, Py_ssize_t at) noexcept nogil
    cdef bint take(self, tuple operands, PyObject **items) noexcept
    cdef object run_fast(self, PyObject **operands, object out, Results results, object threads)
    cdef object run_one(self, PyObject **operands, object out, Results results)
    cdef object run_many(self, PyObject **operands, object out, Results results)
    cdef object run_lanes(self, PyObject **operands, object out, Results results)
    cdef bint find_operands(self, PyObject **operands, const char **addresses) noexcept
    cdef bint run_single(self, const char **operands, const Target *targets, int count) noexcept nogil
    cdef void erase(self, Py_ssize_t size, const StridedOutput *to, Py_ssize_t configuration) noexcept nogil
    cdef bint run(self, const Operand *source, const StridedOutput *target, Results results,
                  Py_ssize_t first, Py_ssize_t stop) noexcept nogil
