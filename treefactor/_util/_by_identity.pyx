"""Keep values by the identity of two objects, for objects that cannot be hashed."""

from cpython.long cimport PyLong_FromVoidPtr
from cpython.object cimport PyObject

import weakref


cdef class ByIdentity:
    """Values that belong to an object and were made with a second one.

    A value is dropped with its first object, before another object can have that identity; the second one is
    kept alive as long.
    """

    cdef dict entries            # by the address of the first: (second, value, weak reference to the first)

    def __cinit__(self):
        self.entries = {}

    def find(self, first, second):
        """Return the value of the first object, or None unless it was made with this second one."""
        cdef tuple entry = self.entries.get(PyLong_FromVoidPtr(<PyObject *> first))
        if entry is None or entry[0] is not second:
            return None
        return entry[1]

    def keep(self, first, second, value):
        """Keep a value, and return it."""
        key = PyLong_FromVoidPtr(<PyObject *> first)
        entries = self.entries
        self.entries[key] = (second, value, weakref.ref(first, lambda _: entries.pop(key, None)))
        return value
