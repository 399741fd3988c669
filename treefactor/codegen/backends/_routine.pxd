"""Declares Routine, the base class of the compiled backends."""

from cpython.object cimport PyObject
cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t

from ._results cimport Results, StridedOutput, Target

cdef extern from "kernels/interpreter/interpreter.h" nogil:
    ctypedef struct Width:
        int lanes
        void (*run)(const int32_t *code, double *workspace) noexcept nogil
        void (*load)(Py_ssize_t size, int count, const char *source, Py_ssize_t to_lane, Py_ssize_t to_entry,
                     double *workspace, Py_ssize_t to_workspace) noexcept nogil
        void (*store)(Py_ssize_t size, int count, const int32_t *slot, const double *sign,
                      const double *workspace, Py_ssize_t to_workspace, char *to, Py_ssize_t to_lane,
                      Py_ssize_t to_entry) noexcept nogil
        int (*find_invalid)(Py_ssize_t slots, Py_ssize_t units, const Py_ssize_t *unit, double tolerance,
                            const double *workspace, int64_t *invalid) noexcept nogil
        int (*find_failed)(Py_ssize_t size, Py_ssize_t step, const int32_t *slot, const double *workspace,
                           int64_t *invalid) noexcept nogil

    enum:
        WIDTHS

    ctypedef struct ProgramKernels:
        const char *name
        Width width[WIDTHS]
        void (*arctangents)(ptrdiff_t n, const double *y, const double *x, double *angle) nogil

    const ProgramKernels program_kernels_baseline

cdef const ProgramKernels *kernels

cdef enum:
    ARGUMENTS = 7                # most arguments of a function
    LOCAL = 4096                 # doubles of a workspace on the C stack; larger programs use malloc

cdef struct StridedInput:        # entry e of configuration c: data + c to_lane + e to_entry
    const char *data
    Py_ssize_t to_lane, to_entry

cdef class Routine:
    cdef Py_ssize_t arguments, inputs, slots
    cdef Py_ssize_t size[ARGUMENTS]
    cdef int widest              # index of the widest lane count that `evaluate` supports
    cdef bint keeps_arguments    # whether `evaluate` leaves the slots of the arguments unchanged
    cdef bint pivots             # whether non-finite results mean a pivot that is not positive
    cdef Py_ssize_t units
    cdef const Py_ssize_t *unit
    cdef Py_ssize_t live         # slots of a workspace after its first `slots`, which `evaluate_groups` uses
    cdef int together            # most workspaces that one call of `evaluate_groups` takes
    cdef object kept

    cdef void prepare(self, const Width *width, double *workspace) noexcept nogil
    cdef void evaluate(self, const Width *width, double *workspace) noexcept nogil
    cdef void evaluate_groups(self, const Width *width, double *workspace, int groups) noexcept nogil
    cdef void load_arguments(self, const Width *width, const StridedInput *source, Py_ssize_t first,
                             int count, double *workspace) noexcept nogil
    cdef bint evaluate_checked(self, const Width *width, Results results, double *workspace, int groups,
                               int64_t *invalid) noexcept nogil
    cdef void evaluate_loaded(self, const Width *width, Results results, double *workspace, int count,
                              const StridedOutput *target, Py_ssize_t at) noexcept nogil
    cdef bint take(self, tuple operands, PyObject **items) noexcept
    cdef object run_fast(self, PyObject **operands, object out, Results results, object threads)
    cdef object run_one(self, PyObject **operands, object out, Results results)
    cdef object run_many(self, PyObject **operands, object out, Results results)
    cdef bint find_operands(self, PyObject **operands, const double **addresses) noexcept
    cdef bint run_single(self, const double **operands, const Target *targets, int count) noexcept nogil
    cdef bint run(self, const StridedInput *source, const StridedOutput *target, Results results,
                  Py_ssize_t first, Py_ssize_t stop) noexcept nogil
