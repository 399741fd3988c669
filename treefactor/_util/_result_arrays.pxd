"""Make arrays for the results of a function: small ones at little cost, of large batches in one block."""

cimport numpy as cnp

cdef enum:
    LARGE = 1 << 13              # doubles from which results share a block
    ALIGNMENT = 8                # doubles of 64 bytes


cdef object new_result(int axes, cnp.npy_intp *shape)


cdef inline Py_ssize_t size_in_block(Py_ssize_t size) noexcept:
    """Return the doubles that an array of that many takes in a block."""
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


cdef inline Py_ssize_t doubles_of(Py_ssize_t count) noexcept:
    """Return how many doubles hold that many bytes."""
    return (count + <Py_ssize_t> sizeof(double) - 1) // <Py_ssize_t> sizeof(double)


cdef inline cnp.ndarray new_block(int arrays, Py_ssize_t size):
    """Return memory of `size` doubles for several arrays; None if each should have its own.

    malloc returns the memory of several large arrays to the system when they are freed, and every call pays
    for the faults of new pages; it keeps that of one.
    """
    cdef cnp.npy_intp shape = size
    return cnp.PyArray_SimpleNew(1, &shape, cnp.NPY_DOUBLE) if arrays > 1 and size >= LARGE else None


cdef inline cnp.ndarray new_array(int axes, cnp.npy_intp *shape, int kind, cnp.ndarray block,
                                  Py_ssize_t *at):
    """Return a new array of a type of numbers: in the block, where there is one, from double `at` on.

    `at` moves on.
    """
    cdef cnp.ndarray made
    if block is None:
        return new_result(axes, shape) if kind == cnp.NPY_DOUBLE else cnp.PyArray_SimpleNew(axes, shape, kind)
    made = cnp.PyArray_SimpleNewFromData(axes, shape, kind, <double *> block.data + at[0])
    cnp.set_array_base(made, block)
    at[0] += size_in_block(doubles_of(cnp.PyArray_NBYTES(made)))
    return made
