"""Methods of Factor in C: a fast path to the kernels, and the general path, which validates, for the rest."""

from ..tree._pattern cimport HALF_SOLVE, MULTIPLY, MULTIPLY_L, MULTIPLY_LT, SOLVE, SOLVE_L, SOLVE_LT


cdef class Kernel:
    """Base of the kernels of a factor: the fast path of each method, for the input that it supports."""

    cdef bint factorize_fast(self, object H, str layout, bint upper) except -1:
        """Factorize H; return False for the general path: unsupported input, or a failed factorization."""
        return False

    cdef bint factorize_bound(self) except -1:
        """Factorize the bound array; return False for the general path."""
        return False

    cdef object apply_fast(self, int op, object b, object out):
        """Return op b, in out if given; None for the general path."""
        return None

    cdef object invert_fast(self, object out):
        """Return H^-1, in out if given; None for the general path."""
        return None


cdef class Calls:
    """Methods of a factor: the fast path of its kernel where it applies, else the general path.

    The general path is `_apply(operation, b, out)`, `_refactor(H, shift, layout)` and `_inverse(out)` of the
    subclass: it validates, converts and raises.
    """

    def _prepare(self, tree, tuple batch, str kind, dtype, Kernel kernel, str layout, str triangle,
                 int threads):
        """Set the attributes of a factor."""
        self.prepare(tree, batch, kind, dtype, kernel, layout, triangle, threads)

    cdef void prepare(self, object tree, tuple batch, str kind, object dtype, Kernel kernel, str layout,
                      str triangle, int threads):
        self.tree, self.batch, self.kind, self.dtype = tree, batch, kind, dtype
        self._kernel, self._layout, self._triangle, self._threads = kernel, layout, triangle, threads
        self._upper = triangle == "upper"
        if len(batch) == 0 or (len(batch) == 1 and threads == 1):
            self.fast_path = kernel

    def refactor(self, H, shift=None, layout=None):
        """Factorize another H of the same tree and batch shape, in the memory of this factor.

        Parameters
        ----------
        H, shift
            As for `factor`. No shift is added by default.
        layout : {"dense", "packed", "lanes"}, optional
            The layout of H; by default that of the construction.

        Returns
        -------
        Factor
            This factor.
        """
        if shift is None and layout is None and self.fast_path is not None:
            if self.fast_path.factorize_fast(H, self._layout, self._upper):
                return self
        return self._refactor(H, shift, layout)

    cdef object call(self, int op, object b, object out):
        """Return op b by the fast path or the general path."""
        cdef object result
        if self.fast_path is not None:
            result = self.fast_path.apply_fast(op, b, out)
            if result is not None:
                return result
        return self._apply(op, b, out)

    def solve(self, b, out=None):
        """Return H^-1 b, for b of shape (..., n) or (..., n, k)."""
        return self.call(SOLVE, b, out)

    def solve_l(self, b, out=None):
        """Return L^-1 b, for b of shape (..., n) or (..., n, k)."""
        return self.call(SOLVE_L, b, out)

    def solve_lt(self, b, out=None):
        """Return L^-T b, for b of shape (..., n) or (..., n, k)."""
        return self.call(SOLVE_LT, b, out)

    def multiply(self, b, out=None):
        """Return H b as L^T (D (L b)), for b of shape (..., n) or (..., n, k)."""
        return self.call(MULTIPLY, b, out)

    def multiply_l(self, b, out=None):
        """Return L b, for b of shape (..., n) or (..., n, k)."""
        return self.call(MULTIPLY_L, b, out)

    def multiply_lt(self, b, out=None):
        """Return L^T b, for b of shape (..., n) or (..., n, k)."""
        return self.call(MULTIPLY_LT, b, out)

    def half_solve(self, b, out=None):
        """Return D^-1/2 L^-T b (L^-T b for LTL), whose squared norm is b^T H^-1 b."""
        return self.call(HALF_SOLVE, b, out)

    def inverse(self, out=None):
        """Return H^-1, shape (..., n, n), symmetric.

        Notes
        -----
        H^-1 = Z D^-1 Z^T with Z = L^-1, which has the pattern of L.
        """
        return self.invert(out)

    cdef object invert(self, object out):
        """Return H^-1 by the fast path or the general path."""
        cdef object result
        if self.fast_path is not None:
            result = self.fast_path.invert_fast(out)
            if result is not None:
                return result
        return self._inverse(out)


cdef class BoundCalls(Calls):
    """Methods of the factor of a bound matrix; `_factor(shift)` of the subclass is the general path."""

    def factor(self, shift=None):
        """Factorize the bound matrix as it is now.

        Parameters
        ----------
        shift : float or array_like, shape (n,), optional
            Added to the diagonal.

        Raises
        ------
        NotPositiveDefiniteError
            Names the row and joint.
        """
        if shift is None and self.fast_path is not None and self.fast_path.factorize_bound():
            return self
        return self._factor(shift)
