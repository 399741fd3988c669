# cython: embedsignature=False
"""Call generated functions: the base class of `Kernels`, with its methods for dynamics."""

cimport cython
from cpython.object cimport PyObject

from .backends._routine cimport Routine

from ..tree.tree import LAYOUTS

cdef object dense = LAYOUTS[0]


@cython.auto_pickle(False)
cdef class FunctionCalls:
    """Base of `Kernels`: its methods for dynamics, inertia matrices and Jacobians of tips.

    The subclass implements `_general_path` and `_find`, which raise.
    """

    def _prepare(self, dict routines not None):
        """Set the routine and the locations of the result of every function and layout."""
        self._routines = routines
        self.dense = {name: pair for (name, layout), pair in routines.items() if layout == dense}

    def _call(self, str name not None, tuple arguments not None, out, num_threads, layout="dense"):
        """Compute a function of one result."""
        cdef object value = None, routine, results
        routine, results = self._find(name, layout)
        value = routine.fast_path(arguments, out, results, num_threads)
        return self._general_path(name, arguments, out, num_threads, layout) if value is None else value

    cdef object compute(self, str name, Py_ssize_t count, PyObject **operands, object out, object threads,
                        object layout):
        """Compute a function of one result by the fast path of its routine, or as `_call`."""
        cdef object value = None, pair = self.dense.get(name) if layout is dense else None
        cdef object routine, results
        if pair is not None:
            routine, results = <tuple> pair
            if isinstance(routine, Routine) and (<Routine> routine).arguments == count:
                value = (<Routine> routine).run_fast(operands, out, results, threads)
        if value is None:
            arguments = tuple([<object> operands[k] for k in range(count)])
            value = self._call(name, arguments, out, threads, layout)
        return value

    def crba(self, q, out=None, layout="dense", num_threads=1):
        """Compute the inertia matrix, see `treefactor.crba`."""
        cdef PyObject *x[1]
        x[0] = <PyObject *> q
        return self.compute("crba", 1, x, out, num_threads, layout)

    def rnea(self, q, v, a, out=None, num_threads=1, layout="dense"):
        """Compute inverse dynamics, see `treefactor.rnea`."""
        cdef PyObject *x[3]
        x[0], x[1], x[2] = <PyObject *> q, <PyObject *> v, <PyObject *> a
        return self.compute("rnea", 3, x, out, num_threads, layout)

    def joint_forces(self, q, v, a, *, out=None, num_threads=1, layout="dense"):
        """Compute forces and moments in the joints without external forces, see `treefactor.joint_forces`."""
        cdef PyObject *x[3]
        x[0], x[1], x[2] = <PyObject *> q, <PyObject *> v, <PyObject *> a
        return self.compute("joint_forces", 3, x, out, num_threads, layout)

    def base_force(self, q, v, a, *, out=None, num_threads=1, layout="dense"):
        """Compute the force and moment on the base without external forces, see `treefactor.base_force`."""
        cdef PyObject *x[3]
        x[0], x[1], x[2] = <PyObject *> q, <PyObject *> v, <PyObject *> a
        return self.compute("base_force", 3, x, out, num_threads, layout)

    def bias(self, q, v, out=None, num_threads=1, layout="dense"):
        """Compute forces at zero acceleration, see `treefactor.bias`."""
        cdef PyObject *x[2]
        x[0], x[1] = <PyObject *> q, <PyObject *> v
        return self.compute("bias", 2, x, out, num_threads, layout)

    def aba(self, q, v, tau, out=None, num_threads=1, layout="dense"):
        """Compute forward dynamics by articulated bodies, see `treefactor.aba`."""
        cdef PyObject *x[3]
        x[0], x[1], x[2] = <PyObject *> q, <PyObject *> v, <PyObject *> tau
        return self.compute("aba", 3, x, out, num_threads, layout)

    def forward_dynamics(self, q, v, tau, out=None, num_threads=1, layout="dense"):
        """Compute forward dynamics by the cheaper method, see `treefactor.forward_dynamics`."""
        cdef PyObject *x[3]
        x[0], x[1], x[2] = <PyObject *> q, <PyObject *> v, <PyObject *> tau
        return self.compute("forward_dynamics", 3, x, out, num_threads, layout)

    def minv(self, q, out=None, num_threads=1, layout="dense"):
        """Compute the inverse of the inertia matrix, shape (..., nv, nv)."""
        cdef PyObject *x[1]
        x[0] = <PyObject *> q
        return self.compute("minv", 1, x, out, num_threads, layout)

    def jacobian(self, q, out=None, num_threads=1, layout="dense"):
        """Compute the Jacobian of the tips given to `treefactor.generate`, shape (..., 6 tips, nv)."""
        cdef PyObject *x[1]
        x[0] = <PyObject *> q
        return self.compute("jacobian", 1, x, out, num_threads, layout)

    def delassus(self, q, out=None, num_threads=1, layout="dense"):
        """Compute J H^-1 J^T of the tips, shape (..., 6 tips, 6 tips)."""
        cdef PyObject *x[1]
        x[0] = <PyObject *> q
        return self.compute("delassus", 1, x, out, num_threads, layout)
