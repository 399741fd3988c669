"""Run the instructions that `lowering` writes."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from ._routine cimport Routine, Width

cnp.import_array()


cdef class Interpreter(Routine):
    """Function as instructions of the interpreter.

    Parameters
    ----------
    sizes, slots, units, pivots
        See `Routine`.
    constants : ndarray
        Values of the slots after the arguments.
    code : ndarray of int32
        Instructions, see ``kernels/interpreter/interpreter.h``.
    """

    cdef Py_ssize_t count
    cdef const double *constant
    cdef const int32_t *code

    def __init__(self, sizes, slots, units, pivots, cnp.ndarray constants not None,
                 cnp.ndarray code not None):
        super().__init__(sizes, slots, units, pivots)
        self.kept = units, constants, code
        self.count, self.constant = constants.size, <const double *> constants.data
        self.code = <const int32_t *> code.data

    cdef void prepare(self, const Width *width, double *workspace) noexcept nogil:
        cdef Py_ssize_t k, lane
        cdef double *to = workspace + self.inputs * width.lanes
        for k in range(self.count):
            for lane in range(width.lanes):
                to[k * width.lanes + lane] = self.constant[k]

    cdef void evaluate(self, const Width *width, double *workspace) noexcept nogil:
        width.run(self.code, workspace)
