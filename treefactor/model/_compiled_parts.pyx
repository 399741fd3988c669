"""Base of the class Model, which compiled functions read without a look-up by name."""

cimport cython


@cython.auto_pickle(False)
cdef class CompiledParts:
    """Compiled forms of a model, as far as they are known; its attributes of these names compute them.

    Functions that are called often keep them here when they first look them up: a look-up takes 40 ns.
    """

    def __cinit__(self, *_, **__):
        self._state_functions = {}
