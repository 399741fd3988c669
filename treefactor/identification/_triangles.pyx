"""Put rows of least-squares problems below their triangles: one problem and one triangle per freedom."""

cimport numpy as cnp
from libc.stdlib cimport free

from ..linalg._batch_input cimport allocate
from ..tree._pattern cimport active

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/identification/triangles_table.h"
    #include "kernels/common/choose.h"
    CHOOSE(TriangleTable, triangles)
    """
    ctypedef struct LaneColumns:
        const double *data
        Py_ssize_t width

    ctypedef void (*TriangleKernel)(Py_ssize_t count, const Py_ssize_t *column, Py_ssize_t use,
                                    const LaneColumns *table, Py_ssize_t blocks, double *R,
                                    double *work) noexcept nogil

    ctypedef struct TriangleTable:
        TriangleKernel update

    const Py_ssize_t PANEL_ROWS
    const TriangleTable *triangles_for(const char *name) nogil

cdef const TriangleTable *kernels = triangles_for(active.name)


def update(double[:, :, ::1] first not None, double[:, :, ::1] second not None,
           const Py_ssize_t[::1] counts not None, const Py_ssize_t[::1] columns not None,
           const Py_ssize_t[::1] uses not None, double[::1] triangles not None):
    """Update the triangles R of all freedoms with the rows of some samples, in place.

    Parameters
    ----------
    first, second : ndarray, shape (blocks, width, 8)
        Columns in lanes.
    counts : ndarray of intp, shape (n,)
        Columns of every triangle.
    columns : ndarray of intp, shape (sum of counts,)
        Where they are: column c of `first`, or column ~c of `second` for a negative c.
    uses : ndarray of intp, shape (n,)
        Column of `second` that is 1 for the rows to use and 0 for the others.
    triangles : ndarray, shape (sum of squares of counts,)
        Row by row, one after the other.
    """
    cdef LaneColumns table[2]
    cdef Py_ssize_t blocks = first.shape[0], most = 0, k, column = 0, entry = 0
    if blocks == 0:
        return
    table[0].data, table[0].width = (&first[0, 0, 0] if first.shape[1] else NULL), first.shape[1]
    table[1].data, table[1].width = &second[0, 0, 0], second.shape[1]
    for k in range(counts.shape[0]):
        most = max(most, counts[k])
    cdef double *work = <double *> allocate(most * PANEL_ROWS * sizeof(double))
    with nogil:
        for k in range(counts.shape[0]):
            kernels.update(counts[k], &columns[column], uses[k], table, blocks, &triangles[entry], work)
            column += counts[k]
            entry += counts[k] * counts[k]
    free(work)
