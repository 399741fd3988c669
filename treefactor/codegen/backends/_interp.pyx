"""Run the instructions that `lowering` writes."""

cimport numpy as cnp
from libc.stdint cimport int32_t

from ._routine cimport Routine, Width

cnp.import_array()


cdef class Interpreter(Routine):
    """Function as instructions of the interpreter.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype
        See `Routine`.
    constants : ndarray of this dtype
        Values of the slots after the arguments.
    code : ndarray of int32
        Instructions, see ``kernels/interpreter/interpreter.h``.
    """

    cdef Py_ssize_t count
    cdef const char *constant
    cdef const int32_t *code

    def __init__(self, sizes, slots, units, pivots, dtype, cnp.ndarray constants not None,
                 cnp.ndarray code not None):
        super().__init__(sizes, slots, units, pivots, dtype)
        self.kept = units, constants, code
        self.count, self.constant = constants.size, constants.data
        self.code = <const int32_t *> code.data

    cdef void prepare(self, const Width *width, char *workspace) noexcept nogil:
        cdef char *first = workspace + self.inputs * width.lanes * self.bytes
        width.load(self.count, 1, self.constant, 0, self.bytes, first, 0)

    cdef void evaluate(self, const Width *width, char *workspace) noexcept nogil:
        width.run(self.code, workspace)
