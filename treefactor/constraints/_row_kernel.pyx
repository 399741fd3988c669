"""Compute rows of loops and rigid contacts with their derivatives by q and v, and those of their forces."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc

from ..kinematics._poses cimport pose_kernel
from ..tree._pattern cimport active

import numpy as np

from ..tolerances import CANCELLED

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/constraints/frame_rows.h"
    #include "kernels/common/choose.h"
    CHOOSE(FrameRowTable, frame_rows)
    """
    const FrameRowTable *frame_rows_for(const char *name) nogil

cdef const FrameRowTable *kernels = frame_rows_for(active.name)
cdef Part no_part
cdef Pair no_pair
cdef Drive no_drive
PART = np.asarray(<Part[:1]> &no_part).dtype
PAIR = np.asarray(<Pair[:1]> &no_pair).dtype
DRIVE = np.asarray(<Drive[:1]> &no_drive).dtype
assert PART.itemsize == sizeof(Part) and PAIR.itemsize == sizeof(Pair)
PART_KINDS = {"origins": ORIGINS, "angle": ANGLE, "3D": HELD_3D, "6D": HELD_6D}


cdef class RowKernel:
    """Loops and rigid contacts of one model; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    below, joint, column : ndarray of int
        Of every freedom: the joint of the body below, its own joint, and its column in v.
    ratio : ndarray
        Ratio of every freedom to its column.
    path : ndarray of uint8, shape (njoints + 1, freedoms)
        Freedoms that move a body.
    moves : ndarray of uint8, shape (freedoms, freedoms)
        Whether unit motion j turns with freedom k.
    second : ndarray of uint8
        Second freedoms of universal joints.
    pairs, parts : ndarray of PAIR and PART
    sizes : tuple of int
        Joints, columns of v, rows.
    """

    def __cinit__(self, cnp.ndarray below, cnp.ndarray joint, cnp.ndarray column, cnp.ndarray ratio,
                  cnp.ndarray path, cnp.ndarray moves, cnp.ndarray second, cnp.ndarray pairs,
                  cnp.ndarray parts, tuple sizes):
        cdef cnp.ndarray used = path[np.unique(pairs["body"])].any(0).astype(np.uint8)
        self.kept = below, joint, column, ratio, path, moves, second, pairs, parts, sizes
        self.memory = self.kept, used
        self.c.m, self.c.parts = len(joint), len(parts)
        self.c.joints, self.c.n, self.c.rows = sizes
        self.c.below, self.c.joint = <const Py_ssize_t *> below.data, <const Py_ssize_t *> joint.data
        self.c.column, self.c.ratio = <const Py_ssize_t *> column.data, <const double *> ratio.data
        self.c.path, self.c.moves = <const unsigned char *> path.data, <const unsigned char *> moves.data
        self.c.second, self.c.used = <const unsigned char *> second.data, <const unsigned char *> used.data
        self.c.pair, self.c.part = <const Pair *> pairs.data, <const Part *> parts.data
        self.c.rounding, self.c.log, self.c.jlog = CANCELLED, pose_kernel("so3_log"), pose_kernel("so3_jlog")

    def __reduce__(self):
        return RowKernel, self.kept

    cdef const FrameRowKernels *of(self, int lanes) noexcept nogil:
        """Return the kernels for one state, or for 8 side by side."""
        return &kernels.one if lanes == 1 else &kernels.lanes

    def rows_of(self, const double[:, ::1] frames, const double[:, ::1] v, const double[:, ::1] a,
                bint turns, double[:, :, ::1] values, double[:, :, :, ::1] derivatives):
        """Add values (count, 3, rows) and derivatives (count, 3, rows, 2 nv) of all states to zeros."""
        cdef double *work = self.allocate()
        cdef Py_ssize_t b
        with nogil:
            for b in range(frames.shape[0] if self.c.parts else 0):
                self.of(1).rows(&self.c, BY_Q | BY_V, 0, turns, &frames[b, 0], &v[b, 0], &a[b, 0], 0, NULL,
                                &values[b, 0, 0], &derivatives[b, 0, 0, 0], NULL, work)
        free(work)

    def forces_of(self, const double[:, ::1] frames, const double[:, ::1] v, const double[:, ::1] a,
                  const double[:, ::1] forces, double[:, :, ::1] E):
        """Add the derivatives by q (count, nv, nv) of the forces (count, rows) to zeros."""
        cdef double *work = self.allocate()
        cdef Py_ssize_t b
        with nogil:
            for b in range(frames.shape[0] if self.c.parts else 0):
                self.of(1).rows(&self.c, BY_Q, 0, False, &frames[b, 0], &v[b, 0], &a[b, 0], 1, &forces[b, 0],
                                NULL, NULL, &E[b, 0, 0], work)
        free(work)

    cdef double *allocate(self) except NULL:
        """Allocate a workspace for one state."""
        cdef size_t size = (self.of(1).workspace_size(&self.c) + 1) * sizeof(double)
        cdef double *work = <double *> malloc(size)
        if work == NULL:
            raise MemoryError(f"not enough memory for {size} bytes")
        return work
