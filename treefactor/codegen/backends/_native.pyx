"""Machine code of generated functions, on one configuration and on eight."""

cimport numpy as cnp
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from ._routine cimport WIDTHS, Routine, Width

cnp.import_array()

ctypedef void (*Function)(const double *q, const double *v, const double *u, double *out) noexcept nogil


cdef class Native(Routine):
    """A function by the addresses of its two forms; the room holds arguments, results, and a zero.

    Parameters
    ----------
    sizes, slots, units, pivots
        As of `Routine`.
    one, eight : int
        Addresses of functions of (q, v, u, out).
    owner : object
        What the machine code lives as long as.
    """

    cdef Function one_form, eight_form

    def __init__(self, sizes, slots, cnp.ndarray units not None, pivots, uintptr_t one, uintptr_t eight,
                 owner):
        super().__init__(sizes, slots, units, pivots)
        self.kept = units, owner
        self.widest = WIDTHS - 2     # the last two widths are 8 and 1
        self.one_form, self.eight_form = <Function> one, <Function> eight

    cdef void prepare(self, const Width *width, double *room) noexcept nogil:
        memset(room + (self.slots - 1) * width.lanes, 0, width.lanes * sizeof(double))

    cdef void evaluate(self, const Width *width, double *room) noexcept nogil:
        cdef Function form = self.one_form if width.lanes == 1 else self.eight_form
        cdef double *v = room + self.size[0] * width.lanes
        form(room, v, v + self.size[1] * width.lanes, room + self.inputs * width.lanes)
