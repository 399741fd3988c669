"""Read the matrices of a batch, of any layout and strides, into lanes."""

cimport numpy as cnp
from libc.string cimport memcpy, memset

from ..tree._pattern cimport LaneKernels, Piece, Shape
from .._util._fast_arrays cimport is_array

cdef extern from "stdlib.h" nogil:
    int posix_memalign(void **memory, size_t alignment, size_t size)


cdef inline char *allocate(size_t size) except NULL:
    """Return memory of that many bytes, aligned to 64, uninitialized; the caller frees it."""
    cdef void *memory = NULL
    if posix_memalign(&memory, 64, size if size else 64):
        raise MemoryError(f"cannot allocate a workspace of {size} bytes")
    return <char *> memory


cdef inline bint is_batch(object H, int kind, const Shape *t, str layout, Py_ssize_t batch,
                          int lanes) noexcept:
    """Return whether an array holds the matrices of a batch in that layout, with any strides."""
    cdef bint dense = layout == "dense", side_by_side = layout == "lanes"
    cdef cnp.npy_intp *shape
    if not is_array(H, 3 if dense or side_by_side else 2, kind):
        return False
    shape = cnp.PyArray_DIMS(<cnp.ndarray> H)
    if side_by_side:
        return shape[0] == (batch + lanes - 1) // lanes and shape[1] == t.start[t.n] and shape[2] == lanes
    if dense:
        return shape[0] == batch and shape[1] == t.n and shape[2] == t.n
    return shape[0] == batch and shape[1] == t.start[t.n]


ctypedef struct InputBatch:      # matrices of the caller; strides in bytes
    const char *data
    Py_ssize_t to_block
    Py_ssize_t to_lane
    Py_ssize_t pieces
    Piece *piece                 # of a matrix whose packed entries are not contiguous, else NULL; free it
    bint lanes                   # already side by side, contiguous


cdef inline InputBatch input_of(const LaneKernels *kernels, const Shape *t, cnp.ndarray H, str layout,
                                bint upper) except *:
    """Describe an array H of shape (batch, n, n), (batch, nnz) or (blocks, nnz, lanes), of any strides."""
    cdef InputBatch s            # the caller frees s.piece
    cdef int lanes = kernels.lanes
    s.data = <const char *> H.data
    s.to_lane = H.strides[2] if layout == "lanes" else H.strides[0]
    s.to_block = H.strides[0] if layout == "lanes" else lanes * H.strides[0]
    s.pieces = 0
    s.piece = NULL
    s.lanes = layout == "lanes" and H.strides[2] == H.itemsize and H.strides[1] == lanes * H.itemsize
    if s.lanes or (layout == "packed" and H.strides[1] == H.itemsize):
        return s
    s.piece = <Piece *> allocate(t.start[t.n] * sizeof(Piece))
    if layout == "dense":
        s.pieces = cut_rows(kernels.side, t, H.strides[2 if upper else 1], H.strides[1 if upper else 2],
                            H.itemsize, s.piece)
    else:
        for s.pieces in range(t.start[t.n]):
            s.piece[s.pieces] = Piece(entry=s.pieces, length=1, at=s.pieces * H.strides[1], whole=False)
        s.pieces = t.start[t.n]
    return s


cdef enum:
    WORTHWHILE = 3               # least entries of a piece that is read as a tile

cdef inline Py_ssize_t cut_rows(int side, const Shape *t, Py_ssize_t to_row, Py_ssize_t to_column,
                                Py_ssize_t item, Piece *piece) noexcept nogil:
    """Cut the pattern's entries into pieces that are contiguous in a matrix too; return their number."""
    cdef Py_ssize_t pieces = 0, k, e, length, left
    for k in range(t.n):
        e = t.start[k]
        while e < t.start[k + 1]:
            length = 1
            while (to_column == item and length < side and e + length < t.start[k + 1]
                   and t.column[e + length] == t.column[e] + length):
                length += 1
            left = (t.n - k if to_row == t.n * item else 1) * t.n - t.column[e]  # entries to the end
            piece[pieces] = Piece(entry=e, length=length, at=k * to_row + t.column[e] * to_column,
                                  whole=length >= WORTHWHILE and min(left, t.start[t.n] - e) >= side)
            pieces += 1
            e += length
    return pieces


cdef inline void load(const LaneKernels *kernels, const Shape *t, const InputBatch *s, Py_ssize_t b,
                      int count, char *X) noexcept nogil:
    """X <- packed rows of `count` matrices of block b."""
    cdef const char *H = s.data + b * s.to_block
    if s.lanes:
        memcpy(X, H, 64 * t.start[t.n])
    elif s.piece != NULL:
        kernels.gather(s.pieces, s.piece, count, H, s.to_lane, X)
    else:
        kernels.load(t.start[t.n], count, H, s.to_lane, X)


cdef inline void add_diagonal(const LaneKernels *kernels, const Shape *t, Py_ssize_t item, int count,
                              const char *shift, Py_ssize_t to_lane, char *X, char *workspace) noexcept nogil:
    """X <- X + diag(shift), one shift for every matrix; the workspace has n entries."""
    cdef Py_ssize_t k, lane, e, lanes = kernels.lanes
    memset(workspace, 0, t.n * lanes * item)
    kernels.load(t.n, count, shift, to_lane, workspace)
    for k in range(t.n):
        e = (t.start[k + 1] - 1) * lanes
        for lane in range(lanes):
            if item == 8:
                (<double *> X)[e + lane] += (<const double *> workspace)[k * lanes + lane]
            else:
                (<float *> X)[e + lane] += (<const float *> workspace)[k * lanes + lane]
