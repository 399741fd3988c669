"""What users of a factor call: plain arrays go straight to the kernels, all others to the gate."""

from ..tree._pattern cimport HALF_SOLVE, MULTIPLY, MULTIPLY_L, MULTIPLY_LT, SOLVE, SOLVE_L, SOLVE_LT


cdef class Kernel:
    """What a factor is made of and applied with. Each function does nothing where arrays are not plain."""

    cdef bint factorize_plain(self, object H, str layout, bint upper) except -1:
        """Factorize H; tell whether that was possible, and went well."""
        return False

    cdef bint factorize_bound(self) except -1:
        """Factorize what a bound array holds; tell whether there is one, and it went well."""
        return False

    cdef object apply_plain(self, int op, object b, object out):
        """out <- op b; None where that is not possible."""
        return None


cdef class Calls:
    """The operations of a factor; plain arrays take a short way to the kernel.

    What is not quite so simple goes to the `_apply(operation, b, out)` and the `_refactor(H, shift, layout)`
    of the subclass, which check it.
    """

    cdef Kernel short_way        # None where there is none
    cdef str layout              # of what `refactor` takes
    cdef bint upper

    def _shorten(self, Kernel kernel, str layout, bint upper):
        """Take the short way through this kernel."""
        self.short_way, self.layout, self.upper = kernel, layout, upper

    def refactor(self, H, shift=None, layout=None):
        """Factorize another H of the same tree and batch shape, in the memory of this factor.

        Parameters
        ----------
        H, shift
            As for `factor`; without shift nothing is added.
        layout : {"dense", "packed", "lanes"}, optional
            The layout of H; by default that of the construction.

        Returns
        -------
        Factor
            This factor.
        """
        if shift is None and layout is None and self.short_way is not None:
            if self.short_way.factorize_plain(H, self.layout, self.upper):
                return self
        return self._refactor(H, shift, layout)

    cdef object call(self, int op, object b, object out):
        cdef object result
        if self.short_way is not None:
            result = self.short_way.apply_plain(op, b, out)
            if result is not None:
                return result
        return self._apply(op, b, out)

    def solve(self, b, out=None):
        """H^-1 b, for b of shape (..., n) or (..., n, k)."""
        return self.call(SOLVE, b, out)

    def solve_l(self, b, out=None):
        """L^-1 b, for b of shape (..., n) or (..., n, k)."""
        return self.call(SOLVE_L, b, out)

    def solve_lt(self, b, out=None):
        """L^-T b, for b of shape (..., n) or (..., n, k)."""
        return self.call(SOLVE_LT, b, out)

    def multiply(self, b, out=None):
        """H b as L^T (D (L b)), for b of shape (..., n) or (..., n, k)."""
        return self.call(MULTIPLY, b, out)

    def multiply_l(self, b, out=None):
        """L b, for b of shape (..., n) or (..., n, k)."""
        return self.call(MULTIPLY_L, b, out)

    def multiply_lt(self, b, out=None):
        """L^T b, for b of shape (..., n) or (..., n, k)."""
        return self.call(MULTIPLY_LT, b, out)

    def half_solve(self, b, out=None):
        """D^-1/2 L^-T b (L^-T b for LTL), whose squared norm is b^T H^-1 b."""
        return self.call(HALF_SOLVE, b, out)


cdef class BoundCalls(Calls):
    """A factor of a bound matrix; its subclass has `_factor(shift)` for what is not quite so simple."""

    def factor(self, shift=None):
        """Factorize what the bound matrix holds now.

        Parameters
        ----------
        shift : float or array_like, shape (n,), optional
            Added to the diagonal.

        Raises
        ------
        NotPositiveDefiniteError
            Names the row and joint.
        """
        if shift is None and self.short_way is not None and self.short_way.factorize_bound():
            return self
        return self._factor(shift)
