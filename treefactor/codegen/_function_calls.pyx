# cython: embedsignature=False
"""Call generated functions: the base class of `Kernels`, with its methods for dynamics."""

cimport cython

from .backends._routine cimport Routine

from ..tree.tree import LAYOUTS

cdef object dense = LAYOUTS[0]


@cython.auto_pickle(False)
cdef class FunctionCalls:
    """Base of `Kernels`: its methods for dynamics, inertia matrices and Jacobians of tips.

    The subclass implements `_general_path` and `_find`, which raise.
    """

    def _prepare(self, dict found not None):
        """Set the routine and the locations of the result of every function and layout."""
        self._found = found
        self.dense = {name: pair for (name, layout), pair in found.items() if layout == dense}

    def _call(self, str name not None, tuple arguments not None, out, num_threads, layout="dense"):
        """Compute a function of one result."""
        return self.compute(name, arguments, out, num_threads, layout)

    cdef object compute(self, str name, tuple arguments, object out, object threads, object layout):
        """Compute a function of one result: by the fast path of its routine, or by the general path."""
        cdef object found = None, pair = self.dense.get(name) if layout is dense else None
        cdef object routine, results
        if pair is None:
            pair = self._find(name, layout)
        routine, results = <tuple> pair
        if isinstance(routine, Routine):
            found = (<Routine> routine).run_fast(arguments, out, results, threads)
        return self._general_path(name, arguments, out, threads, layout) if found is None else found

    def crba(self, q, out=None, layout="dense", num_threads=1):
        """Compute the inertia matrix, see `treefactor.crba`."""
        return self.compute("crba", (q,), out, num_threads, layout)

    def rnea(self, q, v, a, out=None, num_threads=1):
        """Compute inverse dynamics, see `treefactor.rnea`."""
        return self.compute("rnea", (q, v, a), out, num_threads, dense)

    def joint_forces(self, q, v, a, *, out=None, num_threads=1):
        """Compute forces and moments in the joints without external forces, see `treefactor.joint_forces`."""
        return self.compute("joint_forces", (q, v, a), out, num_threads, dense)

    def base_force(self, q, v, a, *, out=None, num_threads=1):
        """Compute the force and moment on the base without external forces, see `treefactor.base_force`."""
        return self.compute("base_force", (q, v, a), out, num_threads, dense)

    def bias(self, q, v, out=None, num_threads=1):
        """Compute forces at zero acceleration, see `treefactor.bias`."""
        return self.compute("bias", (q, v), out, num_threads, dense)

    def aba(self, q, v, tau, out=None, num_threads=1):
        """Compute forward dynamics by articulated bodies, see `treefactor.aba`."""
        return self.compute("aba", (q, v, tau), out, num_threads, dense)

    def forward_dynamics(self, q, v, tau, out=None, num_threads=1):
        """Compute forward dynamics by the cheaper method, see `treefactor.forward_dynamics`."""
        return self.compute("forward_dynamics", (q, v, tau), out, num_threads, dense)

    def minv(self, q, out=None, num_threads=1):
        """Compute the inverse of the inertia matrix, shape (..., nv, nv)."""
        return self.compute("minv", (q,), out, num_threads, dense)

    def jacobian(self, q, out=None, num_threads=1):
        """Compute the Jacobian of the tips given to `treefactor.generate`, shape (..., 6 tips, nv)."""
        return self.compute("jacobian", (q,), out, num_threads, dense)

    def delassus(self, q, out=None, num_threads=1):
        """Compute J H^-1 J^T of the tips, shape (..., 6 tips, 6 tips)."""
        return self.compute("delassus", (q,), out, num_threads, dense)
