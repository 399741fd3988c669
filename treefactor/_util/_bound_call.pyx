"""Base of the calls that `bind` returns: their arrays are fixed, so that a call takes no arguments."""


cdef class BoundCall:
    """Call without arguments on fixed arrays; the subclass implements `run` and sets the attributes.

    Attributes
    ----------
    kept : object
        Owners of the memory that `run` uses.
    out : ndarray
        Receives the result.
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.
    """

    cdef bint run(self) noexcept:
        """Compute out; return False if the general path must handle the call."""
        return False

    def __call__(self):
        """Compute from the present contents of the arrays; return out."""
        if not self.run():
            self.general_path()
        return self.out

    def __reduce__(self):
        raise TypeError("a bound call refers to memory of other owners and cannot be copied or pickled")
