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

PARTS = 16                       # a large tree is cut into subtrees with at most this share of its nodes
CACHED = 2**19                   # bytes of rows that stay in a second-level cache
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


def subtree_sizes(tree):
    """Nodes of every subtree."""
    cdef const Py_ssize_t[::1] parent = tree.parent
    cdef Py_ssize_t[::1] size = np.ones(tree.n, dtype=np.intp)
    cdef Py_ssize_t k
    for k in range(tree.n - 1, -1, -1):
        if parent[k] >= 0:
            size[parent[k]] += size[k]
    return np.asarray(size)


def split(tree, size):
    """Cut a large tree into subtrees that may be eliminated at the same time, the same for any thread count.

    Returns
    -------
    root : ndarray
        Their roots; none where it does not pay: many small ones, or much to add up.
    task : ndarray, shape (n,)
        Index of the subtree a node belongs to, -1 above them.
    """
    parent, depth = tree.parent, tree.depth
    small = size <= tree.n // PARTS
    root = np.flatnonzero(small & ((parent < 0) | ~small[parent]))
    task = np.full(tree.n, -1)
    if not 2 <= len(root) <= 16 * PARTS or np.square(depth[root]).sum() > tree.nnz:
        return np.empty(0, np.intp), task
    task[root] = np.arange(len(root))
    for k in tree.order[small[tree.order]]:   # parents first
        if task[k] < 0:
            task[k] = task[parent[k]]
    return root, task


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
        cdef cnp.ndarray at = np.empty(tree.n, dtype=np.intp)
        cdef cnp.ndarray units, runs, tasks
        self.shape.n = tree.n
        self.shape.deepest = depth.max(initial=0)
        self.shape.parent = <const Py_ssize_t *> parent.data
        self.shape.order = <const Py_ssize_t *> order.data
        self.shape.start = <const Py_ssize_t *> start.data
        self.shape.depth = <const Py_ssize_t *> depth.data
        self.shape.column = <const Py_ssize_t *> column.data
        self.shape.block = <const Block *> blocks.data
        size = subtree_sizes(tree)
        self.shape.blocks = self.cut(<Block *> blocks.data, size)
        self.shape.room = self.place(<Py_ssize_t *> at.data)
        self.shape.at = <const Py_ssize_t *> at.data
        large = 8 * self.shape.room > CACHED
        root, task = split(tree, size) if large else (np.empty(0, np.intp), np.full(tree.n, -1))
        units = np.empty(self.shape.blocks * sizeof(Unit), dtype=np.uint8)
        self.shape.units = self.group(<Unit *> units.data, task)
        table = units.view(np.intp).reshape(-1, sizeof(Unit) // sizeof(Py_ssize_t))[: self.shape.units]
        # what is equally deep is independent, and the branches of its code are foreseen; but a large tree
        # must be walked from one neighbour to the next
        task_of_unit = task[table[:, 2]]
        chosen = np.lexsort((table[:, 2 if large else 1], task_of_unit))
        units = np.ascontiguousarray(table[chosen])
        self.shape.unit = <const Unit *> units.data
        bounds = np.searchsorted(task_of_unit[chosen], np.arange(len(root) + 1))
        above = depth[root] - 1
        room = above * ((above + 3) // 4 * 4)
        tasks = np.stack([bounds[:-1], bounds[1:], above, root, np.cumsum(room) - room], axis=1)
        tasks = tasks.astype(np.intp)
        self.shape.task = <const Task *> tasks.data
        self.shape.tasks = len(root)
        self.room_above = room.sum()
        runs = np.empty(self.find_runs(NULL) * sizeof(Run), dtype=np.uint8)
        self.shape.run = <const Run *> runs.data
        self.shape.runs = self.find_runs(<Run *> runs.data)
        self.kept = (parent, order, start, depth, column, at, blocks, units, tasks, runs)

    cdef Py_ssize_t place(self, Py_ssize_t *at):
        """Place the rows, padded to full registers for the last row of their block; return their size."""
        cdef Shape *t = &self.shape
        cdef const Block *b
        cdef Py_ssize_t k, j, r, size = 0, width
        for j in range(t.blocks):
            b = t.block + j
            for r in range(b.rows):
                at[b.node[r]] = (b.depth + b.rows + 3) // 4 * 4
        for k in range(t.n):
            width = at[k]
            at[k] = size
            size += width
        return size

    cdef Py_ssize_t group(self, Unit *unit, Py_ssize_t[::1] task):
        """Make units of the blocks, single nodes with the same parent together; return their number.

        No unit has nodes of two tasks.
        """
        cdef Shape *t = &self.shape
        cdef const Block *b
        cdef Unit *u
        cdef Py_ssize_t j, r, k, parent, count = 0
        # the unit that takes further single children of a parent
        cdef Py_ssize_t[::1] open_unit = np.full(t.n, -1, dtype=np.intp)
        for j in range(t.blocks):
            b = t.block + j
            k = b.node[0]
            parent = t.parent[k]
            if (b.rows == 1 and parent >= 0 and open_unit[parent] >= 0
                    and task[k] == task[unit[open_unit[parent]].node[0]]):
                u = unit + open_unit[parent]
                for r in range(u.rows, 0, -1):   # keep the nodes ascending
                    if u.node[r - 1] < k:
                        break
                    u.node[r] = u.node[r - 1]
                else:
                    r = 0
                u.node[r] = k
                u.rows += 1
                u.siblings = 1
                if u.rows == active.tile:
                    open_unit[parent] = -1
                continue
            u = unit + count
            u.rows, u.depth, u.siblings = b.rows, b.depth, 0
            for r in range(b.rows):
                u.node[r] = b.node[r]
            if b.rows == 1 and parent >= 0:
                open_unit[parent] = count
            count += 1
        return count

    cdef Py_ssize_t find_runs(self, Run *run) noexcept:
        """Find the runs of columns that follow each other; return their number."""
        cdef Shape *t = &self.shape
        cdef Py_ssize_t k, e, first, count = 0
        for k in range(t.n):
            first = t.start[k]
            for e in range(t.start[k] + 1, t.start[k + 1] + 1):
                if e < t.start[k + 1] and t.column[e] == t.column[e - 1] + 1:
                    continue
                if run != NULL:
                    run[count].row = k
                    run[count].column = t.column[first]
                    run[count].length = e - first
                    run[count].at = t.at[k] + first - t.start[k]
                count += 1
                first = e
        return count

    cdef Py_ssize_t cut(self, Block *block, Py_ssize_t[::1] size):
        """Cut the tree into blocks of up to `tile` nodes of a chain, depth first; return their number."""
        cdef Shape *t = &self.shape
        cdef Py_ssize_t s = 0, k, last, count = 0
        t.scratch = 0
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
            count += 1
            block += 1
        return count
