"""Measure the floating-point peak of one core, with the best instruction set of this processor."""

from ..tree._pattern import INSTRUCTION_SETS

cdef extern from "kernels/common/peak.h":
    double peak(int set, Py_ssize_t rounds, double factor, double *operations) nogil

cdef int best = ("baseline", "avx2", "avx512").index(INSTRUCTION_SETS[len(INSTRUCTION_SETS) - 1])


def multiply_adds(Py_ssize_t rounds, double factor=0.5):
    """Multiply and add in all registers, rounds times; return the number of operations in float64."""
    cdef double operations = 0.0, last
    with nogil:
        last = peak(best, rounds, factor, &operations)
    if last != last:  # uses the result, so that no compiler leaves the work out
        raise ArithmeticError(f"the factor {factor} diverges")
    return operations
