"""Make the arrays of small results: most calls get the memory of a result that its caller has dropped."""

cimport numpy as cnp
from cpython.object cimport PyObject

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include <numpy/arrayobject.h>

    #ifdef Py_GIL_DISABLED
    #define RECYCLES 0  /* a reference count is no proof there: another thread may be about to raise it */
    #else
    #define RECYCLES 1
    #endif

    typedef struct {
        PyArrayObject *array;  /* or NULL */
        int flags;             /* of the array when it was new */
    } Kept;

    /* Return whether nothing refers to an array but its keeper (views, buffers, capsules and iterators do),
     * and whether it is as it was when it was new. */
    static inline int is_free(const Kept *kept, int axes, const npy_intp *shape, const PyArray_Descr *kind) {
        const PyArrayObject_fields *a = (const PyArrayObject_fields *)kept->array;
        if (a == NULL || Py_REFCNT((PyObject *)a) != 1 || a->nd != axes || a->flags != kept->flags
            || a->descr != kind || a->base != NULL || a->weakreflist != NULL)
            return 0;
        npy_intp step = sizeof(double);
        for (int k = axes - 1; k >= 0; step *= shape[k--])
            if (a->dimensions[k] != shape[k] || a->strides[k] != step) return 0;
        return 1;
    }
    """
    bint RECYCLES
    ctypedef struct PyArrayObject:
        pass
    ctypedef struct Kept:
        PyArrayObject *array
        int flags
    bint is_free(const Kept *kept, int axes, const cnp.npy_intp *shape,
                 const cnp.PyArray_Descr *kind) noexcept
    void Py_INCREF(PyArrayObject *array)
    void Py_XDECREF(PyArrayObject *array)

cdef enum:
    MOST = 256                   # entries of an array that is kept
    SETS = 64                    # of arrays whose shapes have the same hash
    WAYS = 4                     # arrays of a set: three of one shape may be in use while a fourth is made

cdef Kept kept[SETS][WAYS]
cdef int oldest[SETS]
cdef object float64 = np.dtype(np.float64)


cdef object new_result(int axes, cnp.npy_intp *shape):
    """Return an array of float64 with arbitrary entries, for a result.

    A small one may be an earlier result that nothing refers to any more: to make and to free an array takes
    as long as to solve with the factor of an arm. It is kept by a reference, which NumPy's ``resize`` counts:
    ``x.resize(n, refcheck=False)`` resizes it, and it is not returned again.
    """
    cdef Py_ssize_t size = 1, hash = axes
    cdef int k, s
    cdef Kept *place
    cdef PyArrayObject *former
    cdef object made
    for k in range(axes):
        size *= shape[k]
        hash = 31 * hash + shape[k]
    if not RECYCLES or size > MOST:
        return cnp.PyArray_SimpleNew(axes, shape, cnp.NPY_DOUBLE)
    s = hash & (SETS - 1)
    place = &kept[s][oldest[s]]
    oldest[s] = (oldest[s] + 1) & (WAYS - 1)
    if is_free(place, axes, shape, <cnp.PyArray_Descr *> <PyObject *> float64):
        return <object> <PyObject *> place.array
    made = cnp.PyArray_SimpleNew(axes, shape, cnp.NPY_DOUBLE)
    former, place.array = place.array, <PyArrayObject *> <PyObject *> made
    place.flags = cnp.PyArray_FLAGS(<cnp.ndarray> made)
    Py_INCREF(place.array)
    Py_XDECREF(former)           # may run code of others, who find the place filled
    return made
