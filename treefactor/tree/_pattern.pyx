"""Analyse a tree symbolically for the kernels, and choose the kernels for this processor."""

cimport numpy as cnp

import os

import numpy as np

from ..exceptions import TreefactorError

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/common/choose.h"
    #include "kernels/linalg/kernels.h"
    CHOOSE(Kernels, kernels)
    """
    int supported_isas(const char **name) nogil
    const Kernels *kernels_for(const char *name) nogil

cdef const char *supported[3]
cdef int count = supported_isas(supported)

PARTS = 16                       # a large tree is cut into subtrees of at most 1/16 of its nodes
ROWS = 4                         # most rows of a supernode
SLACK = 16                       # entries after a path that may be read and cleared with it
CACHED = 2**19                   # bytes of rows that stay in a second-level cache
VARIABLE = "TREEFACTOR_ISA"      # environment variable that forces one instruction set

INSTRUCTION_SETS = tuple(supported[i].decode() for i in range(count))
if not INSTRUCTION_SETS:
    raise TreefactorError("the kernels were compiled for another processor: build treefactor on this one")
FORCED = os.environ.get(VARIABLE) or None
if FORCED is not None and FORCED not in INSTRUCTION_SETS:
    raise TreefactorError(
        f"{VARIABLE} must name an instruction set of this processor and build, one of "
        f"{', '.join(INSTRUCTION_SETS)}; "
        f"got {FORCED!r}"
    )
USED = FORCED or INSTRUCTION_SETS[count - 1]
active = kernels_for(USED.encode())
TILE = active.tile               # most rows of a block


def subtree_sizes(tree):
    """Return the number of nodes of every subtree."""
    cdef const Py_ssize_t[::1] parent = tree.parent
    cdef Py_ssize_t[::1] size = np.ones(parent.shape[0], dtype=np.intp)
    cdef Py_ssize_t k
    for k in range(tree.n - 1, -1, -1):
        if parent[k] >= 0:
            size[parent[k]] += size[k]
    return np.asarray(size)


def split(tree, size):
    """Cut a large tree into subtrees that may be eliminated at the same time, alike for any thread count.

    Returns
    -------
    root : ndarray
        Their roots, depth first; empty where cutting costs more than it saves.
    task : ndarray, shape (n,)
        Index of the subtree that each node belongs to, -1 above them.
    """
    task = np.full(tree.n, -1)
    if 8 * tree.nnz <= CACHED:
        return np.empty(0, np.intp), task
    parent, depth, order = tree.parent, tree.depth, tree.order
    small = size <= tree.n // PARTS
    root = order[(small & ((parent < 0) | ~small[parent]))[order]]
    if not 2 <= len(root) <= 16 * PARTS or np.square(depth[root]).sum() > tree.nnz:
        return np.empty(0, np.intp), task
    task[root] = np.arange(len(root))
    for k in order[small[order]]:             # parents first
        if task[k] < 0:
            task[k] = task[parent[k]]
    return root, task


def triangle(depth):
    """Return the entries of the padded rows of a path of that depth."""
    return 4 * (depth // 4 + 1) * (depth // 4 * 2 + depth % 4)


def tabulate(tree, size, root, first):
    """Return the tasks of the subtrees with these roots; supernodes begin with the nodes order[first]."""
    position = np.empty(tree.n, dtype=np.intp)
    position[tree.order] = np.arange(tree.n)
    begin = position[root]
    bounds = np.searchsorted(first, [begin, begin + size[root]])
    entries = triangle(tree.depth[root] - 1)
    return np.stack([*bounds, np.cumsum(entries) - entries, entries], axis=1).astype(np.intp)


cdef chains(const Shape *t, Py_ssize_t[::1] size, Py_ssize_t[::1] task):
    """Return for every node the length of the chain that ends there: of only children within one task."""
    cdef Py_ssize_t[::1] length = np.ones(t.n, dtype=np.intp)
    cdef Py_ssize_t k, parent
    for k in range(t.n):
        parent = t.parent[k]
        if parent >= 0 and size[parent] == size[k] + 1 and task[parent] == task[k]:
            length[k] += length[parent]
    return np.asarray(length)


cdef class Pattern:
    """Keep the arrays of a tree in the form that kernels take; immutable, one for each tree.

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
        cdef cnp.ndarray panels = np.empty(tree.n * sizeof(Panel), dtype=np.uint8)
        cdef cnp.ndarray rows = np.empty((tree.n, 2), np.intp)
        cdef cnp.ndarray supernodes = np.empty(tree.n * sizeof(Supernode), dtype=np.uint8)
        cdef cnp.ndarray at = np.empty(tree.n, dtype=np.intp)
        cdef cnp.ndarray runs, tasks
        cdef Shape *t = &self.shape
        cdef Py_ssize_t j
        t.n = tree.n
        t.deepest = 0
        t.parent = <const Py_ssize_t *> parent.data
        t.order = <const Py_ssize_t *> order.data
        t.start = <const Py_ssize_t *> start.data
        t.depth = <const Py_ssize_t *> depth.data
        t.column = <const Py_ssize_t *> column.data
        for j in range(t.n):
            (<Py_ssize_t *> rows.data)[2 * j] = t.start[t.order[j]]
            (<Py_ssize_t *> rows.data)[2 * j + 1] = t.start[t.order[j] + 1] - 1
            t.deepest = max(t.deepest, t.depth[j])
        size = subtree_sizes(tree)
        t.block = <const Block *> blocks.data
        t.blocks = self.cut(<Block *> blocks.data, size)
        t.row = <const Row *> rows.data
        t.panel = <const Panel *> panels.data
        t.panels = self.cut_evenly(<Panel *> panels.data, size)
        root, task = split(tree, size)
        t.supernodes = self.group(<Supernode *> supernodes.data, size, task)
        supernodes = supernodes[(t.n - t.supernodes) * sizeof(Supernode) :].copy()
        t.supernode = <const Supernode *> supernodes.data
        t.at = <const Py_ssize_t *> at.data
        t.padded = self.place(<Supernode *> supernodes.data, <Py_ssize_t *> at.data)
        t.path = triangle(t.deepest) + SLACK
        if len(root):
            first = np.array([t.supernode[j].first for j in range(t.supernodes)], dtype=np.intp)
            tasks = tabulate(tree, size, root, first)
        else:
            tasks = np.empty((0, 4), np.intp)
        t.task = <const Task *> tasks.data
        t.tasks = len(root)
        runs = np.empty(self.find_runs(NULL) * sizeof(Run), dtype=np.uint8)
        t.run = <const Run *> runs.data
        t.runs = self.find_runs(<Run *> runs.data)
        self.packed = {}
        self.kept = (parent, order, start, depth, column, at, blocks, rows, panels, supernodes, tasks, runs)

    cdef const int *packed_entries(self, bint pair) except NULL:
        """Return for every entry of the dense matrix the packed one, outside the pattern their number.

        pair: the matrix is not symmetric; its entries above the diagonal follow the packed rows, transposed.
        """
        cdef const Shape *t = &self.shape
        cdef Py_ssize_t n = t.n, nnz = t.start[t.n], k, e
        cdef int *place
        entries = self.packed.get(pair)
        if entries is None:
            entries = np.full((n, n), 2 * nnz - n if pair else nnz, np.intc)
            place = <int *> cnp.PyArray_DATA(<cnp.ndarray> entries)
            for k in range(n):
                for e in range(t.start[k], t.start[k + 1]):
                    place[t.column[e] * n + k] = <int> (e + nnz - k if pair else e)
                    place[k * n + t.column[e]] = <int> e
            entries = self.packed.setdefault(pair, entries)
        return <const int *> cnp.PyArray_DATA(<cnp.ndarray> entries)

    cdef Py_ssize_t group(self, Supernode *supernode, Py_ssize_t[::1] size, Py_ssize_t[::1] task):
        """Group the nodes into supernodes, from the last node on; return the number of supernodes.

        The nodes of a supernode belong to one task.
        """
        cdef Shape *t = &self.shape
        cdef const Py_ssize_t *order = t.order
        cdef const Py_ssize_t[::1] length = chains(t, size, task)
        cdef Py_ssize_t first, stop = t.n, last, more, count = 0
        cdef Supernode *u = supernode + t.n
        while stop > 0:
            last = order[stop - 1]
            first = stop - 1
            while (first > 0 and stop - first < ROWS and size[last] == 1 and size[order[first - 1]] == 1
                   and t.parent[order[first - 1]] == t.parent[last] and task[order[first - 1]] == task[last]):
                first -= 1
            if stop - first == 1:
                first = stop
            u -= 1
            u.leaves = stop - first
            while first > 0 and stop - first < ROWS and (
                first == stop or t.parent[order[first]] == order[first - 1]
                and task[order[first - 1]] == task[last]
            ):
                # past a branching only where that saves a supernode of the chain above it
                more = (length[order[first - 1]] - 1) % ROWS + 1
                if first < stop and length[order[first]] == 1 and stop - first + more > ROWS:
                    break
                first -= 1
            u.chain = stop - first - u.leaves
            u.first = first
            u.depth = t.depth[order[first]] - 1
            stop = first
            count += 1
        return count

    cdef Py_ssize_t place(self, Supernode *supernode, Py_ssize_t *at):
        """Place the rows, all of a supernode padded to the same full registers; return their entries."""
        cdef Shape *t = &self.shape
        cdef Py_ssize_t j, r, k, size = 0
        cdef Supernode *u
        t.whole = t.n
        for j in range(t.supernodes):
            u = supernode + j
            u.at = size
            u.width = (u.depth + u.chain + (u.leaves > 0) + 3) // 4 * 4
            for r in range(u.chain + u.leaves):
                k = t.order[u.first + r]
                at[k] = size
                size += u.width
                if k < t.whole and t.start[k] + u.width > t.start[t.n]:
                    t.whole = k
        return size

    cdef Py_ssize_t find_runs(self, Run *run) noexcept:
        """Find the runs of columns that follow one another; return their number."""
        cdef Shape *t = &self.shape
        cdef Py_ssize_t s, k, e, first, count = 0
        for s in range(t.n):
            k = t.order[s]
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
            count += 1
            block += 1
        return count

    cdef Py_ssize_t cut_evenly(self, Panel *panel, Py_ssize_t[::1] size):
        """Cut every chain into few panels of similar numbers of rows; return the number of all panels."""
        cdef Shape *t = &self.shape
        cdef Py_ssize_t s = 0, length, pieces, i, count = 0
        t.scratch = 0
        while s < t.n:
            length = 1
            # an only child stands next, and its subtree is all that is left
            while s + length < t.n and size[t.order[s + length]] + 1 == size[t.order[s + length - 1]]:
                length += 1
            pieces = (length + active.rows - 1) // active.rows
            for i in range(pieces):
                panel.first = s + i * length // pieces
                panel.rows = s + (i + 1) * length // pieces - panel.first
                panel.depth = t.depth[t.order[panel.first]] - 1
                panel.stop = panel.first + size[t.order[panel.first]]
                t.scratch = max(t.scratch, panel.rows * (panel.stop - panel.first - panel.rows))
                panel += 1
            count += pieces
            s += length
        return count
