"""Call functions of a state by the fast path; calls bound to arrays."""

cimport cython
cimport numpy as cnp

from .._util._bound_call cimport BoundCall
from ..model._compiled_parts cimport CompiledParts
from ._state_function cimport MOST_ARRAYS, StateFunction

cnp.import_array()


cdef dict functions_of(model):
    """Return the compiled functions of a Model; None for any other object."""
    cdef object found
    if not isinstance(model, CompiledParts):
        return None
    found = (<CompiledParts> model).state_functions
    if found is None:
        found = model._state_functions
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            if (<CompiledParts> model).state_functions is None:
                (<CompiledParts> model).state_functions = found
    return <dict?> found


def call(model, kind, tuple options not None, tuple arrays not None, out, threads, general_path):
    """Compute a function of a state: float64 arrays at once if the function is compiled for the model.

    ``kind`` is a subclass of StateFunction. The general path takes the same arguments.
    """
    cdef object found = None
    cdef dict functions = functions_of(model)
    if functions is not None:
        found = functions.get((kind, options))
        if found is not None:
            found = (<StateFunction?> found).run(arrays, out, threads)
    if found is None:
        found = general_path(model, kind, options, arrays, out, threads)
    return found


cdef class BoundStateFunction(BoundCall):
    """Call of a function of one state whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    function : StateFunction
    arrays : tuple of ndarray
        Contiguous float64 arrays; None where an optional one is absent.
    out : ndarray, or tuple of them
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.

    Raises
    ------
    ValueError
        If an array is not contiguous float64, has the wrong shape, or overlaps another one of out.
    """

    cdef StateFunction function
    cdef const double *x[MOST_ARRAYS]
    cdef double *y[MOST_ARRAYS]

    def __cinit__(self, StateFunction function not None, tuple arrays not None, out, general_path):
        cdef tuple results = function.given_results(out)
        if (results is None or not function.find_arguments(arrays, self.x)
                or not function.find_results(arrays, results, self.y)):
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, out apart from the others"
            )
        self.function, self.kept = function, (arrays, out)
        self.out, self.general_path = out, general_path

    cdef bint run(self) noexcept:
        return self.function.run_one(self.x, self.y)
