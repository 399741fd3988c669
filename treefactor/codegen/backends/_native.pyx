"""Run machine code of a generated function on one configuration or on eight at once."""

cimport numpy as cnp
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from ._routine cimport WIDTHS, Routine, Width

cnp.import_array()

ctypedef void (*Function)(const double *q, const double *v, const double *u, double *out) noexcept nogil


cdef class Native(Routine):
    """Function as machine code; its workspace holds the arguments, the results, and a zero.

    Parameters
    ----------
    sizes, slots, units, pivots
        See `Routine`.
    one, eight : int
        Addresses of the functions (q, v, u, out) for one configuration and for eight.
    to_u : int
        Entries of the arguments before those that u holds, all of them after q and v.
    owner : object
        Object that keeps the machine code loaded.
    """

    cdef Function one_form, eight_form
    cdef Py_ssize_t to_u

    def __init__(self, sizes, slots, cnp.ndarray units not None, pivots, uintptr_t one, uintptr_t eight,
                 Py_ssize_t to_u, owner):
        super().__init__(sizes, slots, units, pivots)
        self.kept = units, owner
        self.keeps_arguments = True
        self.widest = WIDTHS - 2     # the last two widths are 8 lanes and 1
        self.one_form, self.eight_form, self.to_u = <Function> one, <Function> eight, to_u

    cdef void prepare(self, const Width *width, double *workspace) noexcept nogil:
        memset(workspace + (self.slots - 1) * width.lanes, 0, width.lanes * sizeof(double))

    cdef void evaluate(self, const Width *width, double *workspace) noexcept nogil:
        cdef Function form = self.one_form if width.lanes == 1 else self.eight_form
        form(workspace, workspace + self.size[0] * width.lanes, workspace + self.to_u * width.lanes,
             workspace + self.inputs * width.lanes)
