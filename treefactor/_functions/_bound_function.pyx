"""Calls of compiled functions whose arrays are fixed: they take no arguments."""

from cpython.object cimport PyObject

from .._util._bound_call cimport BoundCall
from ._compiled_function cimport MOST_ARRAYS, MOST_RESULTS, CompiledFunction


cdef class BoundFunction(BoundCall):
    """Call of a compiled function on one configuration whose arrays are fixed.

    Parameters
    ----------
    function : CompiledFunction
    arrays : tuple of ndarray
        Contiguous float64 arrays, or numbers; None where an optional one is absent.
    out : ndarray, or tuple of them
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.
    returned : object, optional
        What calls return; by default out.

    Raises
    ------
    ValueError
        If an array is not contiguous float64, has the wrong shape, or overlaps another one of out.
    """

    cdef CompiledFunction function
    cdef const double *x[MOST_ARRAYS]
    cdef double *y[MOST_RESULTS]
    cdef double numbers[MOST_ARRAYS]

    def __cinit__(self, CompiledFunction function not None, tuple arrays not None, out, general_path,
                  returned=None):
        cdef tuple results = function.as_results(out)
        cdef PyObject *given[MOST_ARRAYS]
        cdef int k
        for k in range(function.inputs):
            given[k] = <PyObject *> arrays[k]
        if (results is None or function.in_lanes or function.elements >= 0
                or not function.find_arguments(given, self.numbers, self.x)
                or not function.find_results(self.x, results, self.y)):
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, out apart from the others"
            )
        self.function, self.kept = function, (arrays, out)
        self.out, self.general_path = out if returned is None else returned, general_path

    cdef bint run(self) noexcept:
        return self.function.run_single(self.x, self.y)
