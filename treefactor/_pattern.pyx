"""The shape of a tree as kernels take it, and the choice of kernels for this processor."""

cimport numpy as cnp

import os

import numpy as np

from .exceptions import TreefactorError

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/kernels.h"
    /* Kernels this processor can run, the best one last. */
    static int available(const Kernels **found) {
        int count = 0;
        found[count++] = &kernels_baseline;
    #if defined(__x86_64__) && defined(__GNUC__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            found[count++] = &kernels_avx2;
            if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
                found[count++] = &kernels_avx512;
        }
    #endif
        return count;
    }
    """
    int available(const Kernels **found) nogil

cdef const Kernels *known[3]
cdef int count = available(known)

VARIABLE = "TREEFACTOR_ISA"      # environment variable that forces one instruction set

INSTRUCTION_SETS = tuple(known[i].name.decode() for i in range(count))
FORCED = os.environ.get(VARIABLE) or None
if FORCED is not None and FORCED not in INSTRUCTION_SETS:
    raise TreefactorError(
        f"{VARIABLE}={FORCED}: this processor and build have {', '.join(INSTRUCTION_SETS)}"
    )
USED = FORCED or INSTRUCTION_SETS[count - 1]
active = known[INSTRUCTION_SETS.index(USED)]
TILE = active.tile               # rows of a block, at most


cdef class Pattern:
    """The arrays of a tree as the kernels take them; immutable, made once for every tree.

    Parameters
    ----------
    tree : Tree
    """

    def __cinit__(self, tree):
        cdef cnp.ndarray parent = tree.parent
        cdef cnp.ndarray order = tree.order
        cdef cnp.ndarray start = tree.row_start
        cdef cnp.ndarray depth = tree.depth
        cdef cnp.ndarray column = tree.columns
        cdef cnp.ndarray blocks = np.empty(tree.n * sizeof(Block), dtype=np.uint8)
        self.shape.n = tree.n
        self.shape.deepest = depth.max(initial=0)
        self.shape.parent = <const Py_ssize_t *> parent.data
        self.shape.order = <const Py_ssize_t *> order.data
        self.shape.start = <const Py_ssize_t *> start.data
        self.shape.depth = <const Py_ssize_t *> depth.data
        self.shape.column = <const Py_ssize_t *> column.data
        self.shape.block = <const Block *> blocks.data
        self.cut(<Block *> blocks.data)
        self.kept = (parent, order, start, depth, column, blocks)

    cdef void cut(self, Block *block):
        """Cut the tree into blocks of up to `tile` nodes of a chain each, depth first."""
        cdef Shape *t = &self.shape
        cdef Py_ssize_t s = 0, k, last
        cdef Py_ssize_t[::1] size = np.ones(t.n, dtype=np.intp)   # nodes of the subtree
        for s in range(t.n - 1, -1, -1):
            k = t.order[s]
            if t.parent[k] >= 0:
                size[t.parent[k]] += size[k]
        t.blocks = t.scratch = 0
        s = 0
        while s < t.n:
            k = t.order[s]
            block.rows = 0
            block.depth = t.depth[k] - 1
            while True:
                last = t.order[s]
                block.node[block.rows] = last
                block.rows += 1
                s += 1
                # an only child stands next, and its subtree is all that is left
                if block.rows == active.tile or s == t.n or size[t.order[s]] + 1 != size[last]:
                    break
            block.below = s
            block.stop = s - 1 + size[last]
            t.scratch = max(t.scratch, block.rows * (block.stop - block.below))
            t.blocks += 1
            block += 1
