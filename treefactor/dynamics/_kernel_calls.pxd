"""Factorize H of 1 or 8 configurations, and solve with it or invert it."""

from ..tree._operands cimport LANES, align
from ..tree._pattern cimport FACTORIZED, SOLVE, Shape, Workspace, active, carve_workspace, clear_workspace
from ._operations cimport INVERSE


cdef inline void factor_and_solve(const Shape *t, int op, int lanes, double *H, double *D, double *inverse,
                                  double *scratch, double *x, Py_ssize_t *failed) noexcept nogil:
    """x <- H^-1 x, or the dense H^-1."""
    cdef double *X
    cdef Workspace w
    if lanes == LANES:
        X = align(scratch)
        active.lanes.factor(t, H, H, inverse, X, failed)
        if op == INVERSE:
            X += lanes * t.scratch
            active.lanes.invert(t, H, inverse, 1, X, X + lanes * t.start[t.n], x)
        else:
            active.lanes.apply(t, H, inverse, 1, SOLVE, x, 1)
        return
    w = carve_workspace(t, scratch)
    clear_workspace(t, &w)
    active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
    failed[0] = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, D, inverse)
    if op == INVERSE and failed[0] == FACTORIZED:
        active.single.invert(t, w.X, inverse, 1, x)
    elif op != INVERSE:
        active.single.apply(t, w.X, D, inverse, 1, SOLVE, x, w.path)
