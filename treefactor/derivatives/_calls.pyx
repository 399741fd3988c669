"""Call functions of a state by the fast path."""

cimport cython
from ..model._compiled_parts cimport CompiledParts
from .._functions._compiled_function cimport CompiledFunction


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

    ``kind`` is a subclass of CompiledFunction. The general path takes the same arguments.
    """
    cdef object found = None
    cdef dict functions = functions_of(model)
    if functions is not None:
        found = functions.get((kind, options))
        if found is not None:
            found = (<CompiledFunction?> found).run_arrays(arrays, out, threads)
    if found is None:
        found = general_path(model, kind, options, arrays, out, threads)
    return found
