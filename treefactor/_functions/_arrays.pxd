"""Describe arguments and results of compiled functions, and compare NumPy arrays with them."""

cimport numpy as cnp

from .._util._fast_arrays cimport is_array
from ..tree._operands cimport Operand, describe_vector

cdef enum:
    MOST_AXES = 4                # of an argument or result, one of a batch included
    MOST_LEADING = 8             # of a batch

cdef enum Form:                  # what `compute` writes for a result
    PLAIN                        # the entries of the user's array
    PAIR                         # the 2 nnz - n packed entries of a matrix with both triangles
    SYMMETRIC                    # the nnz packed rows of a symmetric matrix
    SPARSE                       # in lanes the entries that can differ from zero, else the user's array


ctypedef struct Array:           # an argument or result, for one configuration
    int kind                     # type number of NumPy
    int axes
    cnp.npy_intp shape[MOST_AXES]
    Py_ssize_t size              # entries of the user's array
    Py_ssize_t number_bytes      # of one entry
    Py_ssize_t computed          # entries that `compute` reads or writes
    Form form                    # of a result
    const int *at                # of one with a form: for each entry of the user's array the computed one
    bint optional                # an argument that may be None
    bint series                  # an argument whose first axis is that of steps, with any stride
    bint number                  # an argument without axes for which Python's float or int may stand
    bint shared                  # a number that all configurations of a batch share
    bint in_place                # a result that may be written over the argument of the same number


ctypedef struct Leading:         # axes of a batch
    int axes                     # 0: no argument has any
    cnp.npy_intp shape[MOST_LEADING]
    Py_ssize_t size              # elements of the batch


cdef inline int describe_shape(Array *array, tuple shape, int kind=cnp.NPY_DOUBLE) except -1:
    """Set the type, the shape and the number of entries."""
    cdef int axis
    array.kind, array.axes, array.size = kind, len(shape), 1
    for axis in range(array.axes):
        array.shape[axis] = shape[axis]
        array.size *= array.shape[axis]
    array.computed = array.size
    array.number_bytes = sizeof(float) if kind == cnp.NPY_FLOAT else sizeof(double)
    return 0


cdef inline tuple shape_of(const Array *array):
    """Return the shape for one configuration."""
    return tuple([array.shape[axis] for axis in range(array.axes)])


cdef inline bint has_shape(object x, int axes, const cnp.npy_intp *shape,
                           int kind=cnp.NPY_DOUBLE) noexcept:
    """Return whether x is a contiguous array of this shape and type."""
    cdef int axis
    if not (cnp.PyArray_CheckExact(x) and cnp.PyArray_NDIM(<cnp.ndarray> x) == axes
            and cnp.PyArray_TYPE(<cnp.ndarray> x) == kind
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x)):
        return False
    for axis in range(axes):
        if cnp.PyArray_DIM(<cnp.ndarray> x, axis) != shape[axis]:
            return False
    return True


cdef inline bint fits(const Array *array, object x) noexcept:
    """Return whether x is a contiguous array of the type and the shape for one configuration."""
    return has_shape(x, array.axes, array.shape, array.kind)


cdef inline void describe_series(const Array *array, Py_ssize_t to_step, Operand *operand) noexcept nogil:
    """Set the size of a step of a series, and the bytes from step to step."""
    operand.size, operand.to_step = array.size // max(array.shape[0], 1), to_step


cdef inline void describe_contiguous(const Array *array, const void *x, Operand *operand) noexcept nogil:
    """Describe the contiguous entries of one configuration, or of an argument that all share."""
    describe_vector(x, array.size, operand)
    operand.to_entry = array.number_bytes
    if array.series and x != NULL:
        describe_series(array, array.size // max(array.shape[0], 1) * array.number_bytes, operand)


cdef inline bint set_leading(Leading *leading, int axes, const cnp.npy_intp *shape) noexcept:
    """Set the axes of a batch, unless an argument has set others; false if they differ."""
    cdef int axis
    if leading.axes == 0:
        leading.axes, leading.size = axes, 1
        for axis in range(axes):
            leading.shape[axis] = shape[axis]
            leading.size *= shape[axis]
        return True
    if leading.axes != axes:
        return False
    for axis in range(axes):
        if leading.shape[axis] != shape[axis]:
            return False
    return True


cdef inline bint read_rows(const Array *array, object x, Leading *leading, Operand *operand) noexcept:
    """Describe rows (..., *shape) of the type, or one row that all share; false for another type or shape.

    The entries of a row, or of every step of a series, are equally far apart, and so are rows; steps may lie
    anywhere.
    """
    cdef cnp.ndarray a
    cdef Py_ssize_t step
    cdef int axis, lead
    if not (cnp.PyArray_CheckExact(x) and is_array(x, cnp.PyArray_NDIM(<cnp.ndarray> x), array.kind)):
        return False
    a = <cnp.ndarray> x
    lead = cnp.PyArray_NDIM(a) - array.axes
    if not 0 <= lead <= MOST_LEADING:
        return False
    describe_vector(a.data, array.size, operand)
    if array.axes:
        operand.to_entry = step = a.strides[lead + array.axes - 1]
    for axis in range(array.axes - 1, -1, -1):
        if a.shape[lead + axis] != array.shape[axis]:
            return False
        if array.series and axis == 0:
            describe_series(array, a.strides[lead], operand)
        elif a.strides[lead + axis] != step:
            return False
        step *= array.shape[axis]
    if lead == 0:
        return True
    operand.to_next = a.strides[lead - 1]
    for axis in range(lead - 1):
        if a.strides[axis] != a.shape[axis + 1] * a.strides[axis + 1]:
            return False
    return set_leading(leading, lead, a.shape)
