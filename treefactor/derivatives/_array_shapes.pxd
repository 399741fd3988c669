"""Describe arguments and results of functions of a state, and compare NumPy arrays with them."""

cimport numpy as cnp

cdef enum:
    MOST_AXES = 4                # of an argument or result, that of a batch included

cdef enum Form:                  # what `compute` writes for a result
    PLAIN                        # the entries of the user's array
    PAIR                         # the 2 nnz - n packed entries of a matrix with both triangles
    SYMMETRIC                    # the nnz packed rows of a symmetric matrix
    SPARSE                       # in lanes the entries that can differ from zero, else the user's array


ctypedef struct Array:           # an argument or result, for one configuration
    int axes
    cnp.npy_intp shape[MOST_AXES]
    Py_ssize_t size              # entries of the user's array
    Py_ssize_t computed          # entries that `compute` reads or writes
    Form form                    # of a result
    const int *at                # of one with a form: for each entry of the user's array the computed one
    bint optional                # an argument that may be None


cdef inline void describe_shape(Array *array, tuple shape):
    """Set the shape and the number of entries."""
    cdef int axis
    array.axes, array.size = len(shape), 1
    for axis in range(array.axes):
        array.shape[axis] = shape[axis]
        array.size *= array.shape[axis]
    array.computed = array.size


cdef inline tuple shape_of(const Array *array):
    """Return the shape for one configuration."""
    return tuple([array.shape[axis] for axis in range(array.axes)])


cdef inline bint fits(const Array *array, object x) noexcept:
    """Return whether x is a contiguous float64 array of the shape for one configuration."""
    cdef int axis
    if not (cnp.PyArray_CheckExact(x) and cnp.PyArray_NDIM(<cnp.ndarray> x) == array.axes
            and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_DOUBLE
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x)):
        return False
    for axis in range(array.axes):
        if cnp.PyArray_DIM(<cnp.ndarray> x, axis) != array.shape[axis]:
            return False
    return True
