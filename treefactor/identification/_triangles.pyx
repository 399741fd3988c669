"""Put rows of least-squares problems below their triangles: one problem and one triangle per freedom."""

cimport numpy as cnp
from libc.stdlib cimport free

from .._functions._compiled_function cimport CompiledFunction
from ..linalg._batch_input cimport allocate
from ..tree._operands cimport LANES, Operand, describe, load
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

    enum:
        PANEL_BLOCKS
        PANEL_ROWS
    const TriangleTable *triangles_for(const char *name) nogil

cdef const TriangleTable *kernels = triangles_for(active.name)


cdef enum:
    MOST_PARTS = 8               # arrays of the second table


cdef void fill(int count, const Operand *parts, Py_ssize_t block, Py_ssize_t samples,
               const Py_ssize_t[::1] uses, double *to) noexcept nogil:
    """Write the second table of a block of 8 samples; rows after the last sample are not used."""
    cdef int own = <int> min(<Py_ssize_t> LANES, samples - block * LANES), lane, k
    cdef double *end = to
    for k in range(count):
        load(&parts[k], block, own, end)
        end += LANES * parts[k].size
    for k in range(uses.shape[0]):
        for lane in range(own, LANES):
            to[uses[k] * LANES + lane] = 0.0


cdef void eliminate(Py_ssize_t blocks, const LaneColumns *table, const Py_ssize_t[::1] counts,
                    const Py_ssize_t[::1] entries, const Py_ssize_t[::1] uses, double[::1] triangles,
                    double *work) noexcept nogil:
    """Put rows below the triangles of all problems."""
    cdef Py_ssize_t k, column = 0, at = 0
    for k in range(counts.shape[0]):
        kernels.update(counts[k], &entries[column], uses[k], table, blocks, &triangles[at], work)
        column += counts[k]
        at += counts[k] * counts[k]


def update(CompiledFunction function, tuple state not None, tuple parts not None, Py_ssize_t samples,
           const Py_ssize_t[::1] counts not None, const Py_ssize_t[::1] entries not None,
           const Py_ssize_t[::1] uses not None, double[::1] triangles not None):
    """Update the triangles R of all problems with rows from samples, in place.

    Parameters
    ----------
    function : CompiledFunction or None
        Computes the first table of columns, in lanes, from the state.
    state : tuple of ndarray
        Arguments of the function, shape (samples, size), rows contiguous.
    parts : tuple of ndarray
        The columns of the second table side by side, shapes (samples, width) or (1, width), rows contiguous.
    samples : int
    counts : ndarray of intp, shape (n,)
        Columns of every problem.
    entries : ndarray of intp, shape (sum of counts,)
        Where they are: column c of the first table, or column ~c of the second for a negative c.
    uses : ndarray of intp, shape (n,)
        Column of the second table that is 1 for the rows to use and 0 for the others.
    triangles : ndarray, shape (sum of squares of counts,)
        Row by row, one after the other.

    Returns
    -------
    int
        The first sample without unit quaternions or (cos, sin), and then nothing was changed; or -1.
    """
    cdef Operand given[MOST_PARTS]
    cdef Operand arguments[MOST_PARTS]
    cdef LaneColumns table[2]
    cdef Py_ssize_t widths[2]
    cdef Py_ssize_t blocks = (samples + LANES - 1) // LANES, most = 0, panel, first, stop, k
    cdef int count = len(parts)
    cdef bint done = True
    cdef double *work
    cdef double *second
    cdef char *to
    assert count <= MOST_PARTS and len(state) <= MOST_PARTS
    widths[0], widths[1] = 0, 0
    for k in range(count):
        describe(parts[k], &given[k])
        widths[1] += given[k].size
    for k in range(len(state)):
        describe(state[k], &arguments[k])
    for k in range(counts.shape[0]):
        most = max(most, counts[k])
    if function is not None:
        widths[0] = function.result[0].computed
        for k in range(samples):
            if not function.is_valid(
                    <const double *> (arguments[0].data + k * arguments[0].to_next), 1):
                return k
    work = <double *> allocate((most + widths[0] + widths[1]) * PANEL_ROWS * sizeof(double))
    table[0].data, table[0].width = work + most * PANEL_ROWS, widths[0]
    second = work + (most + widths[0]) * PANEL_ROWS
    table[1].data, table[1].width = second, widths[1]
    with nogil:
        for panel in range((blocks + PANEL_BLOCKS - 1) // PANEL_BLOCKS):
            first = panel * PANEL_BLOCKS
            stop = min(first + <Py_ssize_t> PANEL_BLOCKS, blocks)
            for k in range(first, stop):
                fill(count, given, k, samples, uses, second + (k - first) * LANES * widths[1])
            if function is not None:
                to = <char *> table[0].data - first * function.to_next_block(0)
                done = function.compute_rows(samples, arguments, &to, NULL, first, stop)
                if not done:
                    break
            eliminate(stop - first, table, counts, entries, uses, triangles, work)
    free(work)
    if not done:
        raise MemoryError("cannot allocate the workspace of the regressor")
    return -1
