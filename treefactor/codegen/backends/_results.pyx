"""Find the entries of results in the workspace of a generated function, and arrays that take them."""

cimport numpy as cnp
from libc.stdint cimport int32_t, uintptr_t

from ..._util._fast_arrays cimport is_array
from ..._util._result_arrays cimport new_result

import numpy as np

cnp.import_array()

cdef enum:
    GROUP = 8                    # configurations of float64 per block of the layout "lanes"
    ALIGNMENT = 64               # of such blocks, in bytes; an entry of all their configurations has as many


cdef class Results:
    """Locations of the result entries in the slots of a workspace.

    Parameters
    ----------
    slot : ndarray of int32
        Slot of each entry.
    sign : ndarray
        1, or -1 if the entry is the negative of the slot.
    shape : tuple of int
        Shape of the result of one configuration: at most three axes.
    grouped : bool
        Whether results of a batch are stored in the layout "lanes".
    dtype : numpy.dtype
        float64 or float32.
    takes_lanes : bool
        Whether the arguments have that layout, too.
    """

    def __cinit__(self, cnp.ndarray slot not None, cnp.ndarray sign not None, tuple shape not None,
                  bint grouped=False, cnp.dtype dtype=np.dtype(float), bint takes_lanes=False):
        cdef int k
        self.dtype, self.kind, self.group = dtype, dtype.num, GROUP * sizeof(double) // dtype.itemsize
        self.slots = slot = np.array(slot, np.int32)
        self.signs = sign = np.array(sign, np.float64)
        slot.flags.writeable = sign.flags.writeable = False
        self.slot, self.sign, self.size = <const int32_t *> slot.data, <const double *> sign.data, slot.size
        self.first = -1
        if slot.size and np.all(sign == 1) and np.all(slot == slot[0] + np.arange(slot.size)):
            self.first = slot[0]
        self.shape, self.axes = shape, len(shape)
        for k in range(self.axes):
            self.length[k] = shape[k]
        self.step = self.length[1] + 1 if self.axes == 2 else 1
        self.grouped, self.takes_lanes = grouped, takes_lanes

    cdef object allocate(self, Py_ssize_t count):
        """Return a new array for a batch of results, or for one result (count -1)."""
        cdef cnp.npy_intp shape[AXES + 1]
        cdef int k, axes = 0
        if self.grouped:
            shape[0], shape[1], shape[2] = count // self.group, self.size, self.group
            return self.allocate_aligned(shape)
        if count >= 0:
            shape[0], axes = count, 1
        for k in range(self.axes):
            shape[axes + k] = self.length[k]
        axes += self.axes
        if self.kind == cnp.NPY_DOUBLE:
            return new_result(axes, shape)
        return cnp.PyArray_SimpleNew(axes, shape, self.kind)

    cdef object allocate_aligned(self, cnp.npy_intp *shape):
        """Return a new array of three axes whose memory begins at a multiple of 64 bytes."""
        cdef cnp.npy_intp size = shape[0] * shape[1] * ALIGNMENT + ALIGNMENT
        cdef cnp.ndarray memory = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_INT8)
        cdef uintptr_t first = (<uintptr_t> memory.data + ALIGNMENT - 1) & ~<uintptr_t> (ALIGNMENT - 1)
        cdef cnp.ndarray made = cnp.PyArray_SimpleNewFromData(3, shape, self.kind, <void *> first)
        cnp.set_array_base(made, memory)
        return made

    cdef bint describe(self, object out, Py_ssize_t count, StridedOutput *to) noexcept:
        """Fill in `to` for the output array of a batch; return False if `out` needs the general path."""
        cdef cnp.npy_intp *step
        cdef cnp.npy_intp *shape
        cdef int k, axes = 3 if self.grouped else self.axes + 1
        if not is_array(out, axes, self.kind):
            return False
        if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out):
            return False
        step, shape = cnp.PyArray_STRIDES(<cnp.ndarray> out), cnp.PyArray_DIMS(<cnp.ndarray> out)
        for k in range(axes):
            if step[k] == 0 and shape[k] > 1:
                return False
        to.data, to.group, to.grouped = <char *> cnp.PyArray_DATA(<cnp.ndarray> out), self.group, self.grouped
        if self.grouped:
            to.to_group, to.to_entry, to.to_lane = step[0], step[1], step[2]
            return shape[0] * self.group == count and shape[1] == self.size and shape[2] == self.group
        to.to_lane, to.to_entry = step[0], step[axes - 1]
        to.to_group = self.group * to.to_lane
        for k in range(self.axes):
            if shape[k + 1] != self.length[k] or (k and step[k] != self.length[k] * step[k + 1]):
                return False
        return shape[0] == count

    cdef Target at(self, void *data) noexcept nogil:
        """Return where the entries of one result are stored."""
        cdef Target target
        target.size, target.slot, target.sign, target.data = self.size, self.slot, self.sign, <char *> data
        target.first = self.first
        return target

    cdef bint is_fast_output(self, object out) noexcept:
        """Return whether out is a writeable contiguous array of its dtype for one result."""
        cdef int k
        if not is_array(out, self.axes, self.kind) or not cnp.PyArray_ISCARRAY(<cnp.ndarray> out):
            return False
        for k in range(self.axes):
            if cnp.PyArray_DIM(<cnp.ndarray> out, k) != self.length[k]:
                return False
        return True


cdef bint are_fast_outputs(tuple out, tuple parts) noexcept:
    """Return whether out holds a writeable contiguous array of the dtype for every part of a result."""
    cdef Py_ssize_t k
    if len(out) != len(parts):
        return False
    for k in range(len(parts)):
        if not (<Results> parts[k]).is_fast_output(out[k]):
            return False
    return True
