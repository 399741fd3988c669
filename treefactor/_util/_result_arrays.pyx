"""Make the arrays of small results: most calls get the memory of a result that its caller has dropped."""

cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

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

    /* Return whether nothing refers to an array but its keeper: views, buffers, capsules and iterators do. */
    static inline int is_dropped(const Kept *kept) {
        return kept->array != NULL && Py_REFCNT((PyObject *)kept->array) == 1;
    }

    /* Return whether a dropped array is as it was when it was new, but for its shape. */
    static inline int is_unchanged(const Kept *kept, const PyArray_Descr *kind) {
        const PyArrayObject_fields *a = (const PyArrayObject_fields *)kept->array;
        return a->flags == kept->flags && a->descr == kind && a->base == NULL && a->weakreflist == NULL;
    }

    static inline int has_shape(const Kept *kept, int axes, const npy_intp *shape) {
        const PyArrayObject_fields *a = (const PyArrayObject_fields *)kept->array;
        if (a->nd != axes) return 0;
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
    bint is_dropped(const Kept *kept) noexcept
    bint is_unchanged(const Kept *kept, const cnp.PyArray_Descr *kind) noexcept
    bint has_shape(const Kept *kept, int axes, const cnp.npy_intp *shape) noexcept
    void Py_INCREF(PyArrayObject *array)
    void Py_XDECREF(PyArrayObject *array)

cdef enum:
    MOST = 256                   # entries of an array that is kept
    SET_BITS = 6
    SETS = 1 << SET_BITS         # of arrays whose shapes have the same hash
    WAYS = 4                     # arrays of a set: three of one shape may be in use while a fourth is made

cdef uint64_t GOLDEN = 0x9E3779B97F4A7C15    # 2^64 over the golden ratio: Fibonacci hashing
cdef Kept kept[SETS][WAYS]
cdef int oldest[SETS]
cdef object float64 = np.dtype(np.float64)


cdef object new_result(int axes, cnp.npy_intp *shape):
    """Return an array of float64 with arbitrary entries, for a result.

    A small one may be an earlier result that nothing refers to any more: to make and to free an array takes
    as long as to solve with the factor of an arm. It is kept by a reference, which NumPy's ``resize`` counts:
    ``x.resize(n, refcheck=False)`` resizes it, and it is not returned again.
    """
    cdef Py_ssize_t size = 1
    cdef uint64_t hash = axes
    cdef int k, s, way
    cdef Kept *place
    cdef PyArrayObject *former
    cdef object made
    for k in range(axes):
        size *= shape[k]
        hash = 31 * hash + shape[k]
    if not RECYCLES or size > MOST:
        return cnp.PyArray_SimpleNew(axes, shape, cnp.NPY_DOUBLE)
    s = <int> (hash * GOLDEN >> (64 - SET_BITS))
    way = oldest[s]
    for k in range(WAYS):
        place = &kept[s][(oldest[s] + k) & (WAYS - 1)]
        if not is_dropped(place):
            continue
        if not is_unchanged(place, <cnp.PyArray_Descr *> <PyObject *> float64):
            way = oldest[s] + k
            break
        if has_shape(place, axes, shape):
            oldest[s] = (oldest[s] + k + 1) & (WAYS - 1)
            return <object> <PyObject *> place.array
    place = &kept[s][way & (WAYS - 1)]
    oldest[s] = (way + 1) & (WAYS - 1)
    made = cnp.PyArray_SimpleNew(axes, shape, cnp.NPY_DOUBLE)
    former, place.array = place.array, <PyArrayObject *> <PyObject *> made
    place.flags = cnp.PyArray_FLAGS(<cnp.ndarray> made)
    Py_INCREF(place.array)
    Py_XDECREF(former)           # may run code of others, who find the place filled
    return made
