"""Symbolic factorization of K: its fronts, from the tree of H and the supports of the constraints."""

cimport numpy as cnp
from libc.string cimport memcmp, memcpy

from ..tree._pattern cimport Front

import numpy as np

cnp.import_array()

cdef enum:
    PADDING = 4                  # rows of fronts are multiples of it
    RELAXED = 2                  # zeros that a front may store, relative to its size


def distinct_supports(const Py_ssize_t[::1] start, const Py_ssize_t[::1] column):
    """Drop constraints with the support of the one before, such as the other rows of one contact."""
    cdef Py_ssize_t m = start.shape[0] - 1, r, size, used = 0, rows = 0
    starts, columns = np.zeros(m + 1, dtype=np.intp), np.empty(column.shape[0], dtype=np.intp)
    cdef Py_ssize_t[::1] begin = starts, to = columns
    for r in range(m):
        size = start[r + 1] - start[r]
        if size and not repeats_support(start, column, r):
            memcpy(&to[used], &column[start[r]], size * sizeof(Py_ssize_t))
            used += size
            rows += 1
            begin[rows] = used
    return starts[: rows + 1], columns[:used]


cdef inline bint repeats_support(const Py_ssize_t[::1] start, const Py_ssize_t[::1] column,
                                 Py_ssize_t r) noexcept:
    """Return whether row r is not empty and has the support of the row before."""
    cdef Py_ssize_t size = start[r + 1] - start[r]
    if r == 0 or size == 0 or start[r] - start[r - 1] != size:
        return False
    return memcmp(&column[start[r - 1]], &column[start[r]], size * sizeof(Py_ssize_t)) == 0


def column_structure(const Py_ssize_t[::1] position, const Py_ssize_t[::1] tree_start,
                     const Py_ssize_t[::1] tree_column, const Py_ssize_t[::1] row_start,
                     const Py_ssize_t[::1] row_column):
    """Compute the structure of the columns of L in the order of elimination.

    Parameters
    ----------
    position : (n,)
        Position of every freedom in the order of elimination.
    tree_start, tree_column
        Packed rows of H; row_start, row_column: constraints.

    Returns
    -------
    first, length : ndarray, shape (n,)
        Column e of L has its entries below the diagonal in pool[first[e]:first[e] + length[e]].
    pool : ndarray
        Positions, ascending. Columns of one chain share theirs.

    Notes
    -----
    Column e has the entries coupled to e and those of the columns whose first entry is e (Liu 1990).
    """
    cdef Py_ssize_t n = position.shape[0]
    cdef Py_ssize_t e, k, r, p, c, j, best, used = 0, fresh, capacity = tree_column.shape[0] + 64
    cdef Py_ssize_t[::1] node = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t[::1] head = np.full(n + 1, -1, dtype=np.intp), after = np.full(n, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] row_head, row_after
    cdef Py_ssize_t[::1] mark = np.full(n, -1, dtype=np.intp), list = np.empty(n, dtype=np.intp)
    first_array, length_array = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    cdef Py_ssize_t[::1] first = first_array, length = length_array
    pool_array = np.empty(capacity, dtype=np.intp)
    cdef Py_ssize_t[::1] pool = pool_array
    for k in range(n):
        node[position[k]] = k
    row_head, row_after = rows_by_first_column(position, row_start, row_column)
    for e in range(n):
        fresh, best, c = 0, -1, head[e]
        mark[e] = e
        while c >= 0:
            if best < 0 or length[c] > length[best]:
                best = c
            for p in range(first[c], first[c] + length[c]):
                fresh = note(pool[p], e, mark, list, fresh)
            c = after[c]
        k = node[e]
        fresh = note_range(position, tree_column, tree_start[k], tree_start[k + 1] - 1, e, mark, list, fresh)
        r = row_head[e]
        while r >= 0:
            fresh = note_range(position, row_column, row_start[r], row_start[r + 1], e, mark, list, fresh)
            r = row_after[r]
        length[e] = fresh
        if best >= 0 and fresh == length[best] - 1:
            first[e] = first[best] + 1
        elif fresh:
            if used + fresh > capacity:
                capacity = 2 * capacity + fresh
                pool_array = np.concatenate((pool_array[:used], np.empty(capacity - used, dtype=np.intp)))
                pool = pool_array
            first[e] = used
            for j in range(fresh):
                pool[used + j] = list[j]
            ascend(&pool[used], fresh)
            used += fresh
        if fresh:
            j = pool[first[e]]
            after[e], head[j] = head[j], e
    return first_array, length_array, pool_array[:used]


cdef tuple rows_by_first_column(const Py_ssize_t[::1] position, const Py_ssize_t[::1] row_start,
                                const Py_ssize_t[::1] row_column):
    """List the constraints by the first of their columns that is eliminated: heads, and the next of each."""
    cdef Py_ssize_t n = position.shape[0], m = row_start.shape[0] - 1, e, r, p
    head_array, after_array = np.full(n + 1, -1, dtype=np.intp), np.full(m, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] head = head_array, after = after_array
    for r in range(m):
        e = n
        for p in range(row_start[r], row_start[r + 1]):
            e = min(e, position[row_column[p]])
        after[r], head[e] = head[e], r
    return head_array, after_array


cdef inline Py_ssize_t note_range(const Py_ssize_t[::1] position, const Py_ssize_t[::1] column,
                                  Py_ssize_t start, Py_ssize_t stop, Py_ssize_t e, Py_ssize_t[::1] mark,
                                  Py_ssize_t[::1] list, Py_ssize_t fresh) noexcept nogil:
    """Note the positions of the columns start .. stop-1; return the length of the list."""
    cdef Py_ssize_t p
    for p in range(start, stop):
        fresh = note(position[column[p]], e, mark, list, fresh)
    return fresh


cdef inline Py_ssize_t note(Py_ssize_t j, Py_ssize_t e, Py_ssize_t[::1] mark, Py_ssize_t[::1] list,
                            Py_ssize_t fresh) noexcept nogil:
    """Add j to the list of column e unless it is there; return the length of the list."""
    if j <= e or mark[j] == e:
        return fresh
    mark[j] = e
    list[fresh] = j
    return fresh + 1


cdef inline void ascend(Py_ssize_t *a, Py_ssize_t count) noexcept nogil:
    """Sort in place by insertion: lists are short and almost sorted."""
    cdef Py_ssize_t i, j, x
    for i in range(1, count):
        x = a[i]
        j = i
        while j > 0 and a[j - 1] > x:
            a[j] = a[j - 1]
            j -= 1
        a[j] = x


cdef class Fronts:
    """Fronts of K, immutable; assumes validated input.

    Parameters
    ----------
    position : ndarray, shape (n,)
        Position of every freedom in the order of elimination.
    tree : Tree
        Or another symmetric pattern with `row_start` and `columns`: rows of the later columns in the order of
        elimination, diagonal last.
    start, column : ndarray
        Supports of the constraints: row r has column[start[r]:start[r + 1]].
    once : tuple of ndarray
        The same from `distinct_supports`.

    Attributes
    ----------
    n, m, count : int
        Freedoms, constraints, fronts.
    size : int
        Entries of all fronts.
    """

    def __cinit__(self, const Py_ssize_t[::1] position, tree, const Py_ssize_t[::1] start,
                  const Py_ssize_t[::1] column, tuple once not None):
        first, length, pool = column_structure(position, tree.row_start, tree.columns, *once)
        cdef Py_ssize_t n = position.shape[0], m = start.shape[0] - 1
        self.n, self.m, self.tree = n, m, tree
        self.kept = []
        self.position = self.keep(np.array(position))
        which = np.empty(n, dtype=np.intp)           # front of a position
        self.split(first, length, pool, which)
        self.list_freedoms(first, pool, which)
        place = np.empty(n, dtype=np.intp)
        self.place_entries(tree.row_start, tree.columns, place)
        self.place_rows(start, column, which, place)
        self.nnz = n + length.sum() + len(column) + m

    cdef Py_ssize_t *keep(self, cnp.ndarray a):
        """Keep an array as long as this object; return its data."""
        self.kept.append(a)
        return <Py_ssize_t *> a.data

    cdef split(self, const Py_ssize_t[::1] first, const Py_ssize_t[::1] length, const Py_ssize_t[::1] pool,
               Py_ssize_t[::1] which):
        """Split the columns into fronts; one ends unless the next column is this one without its first.

        A few zeros may be stored to make fronts larger: relaxed supernodes, Ashcraft & Grimes (1989).
        """
        cdef Py_ssize_t e, more, zeros = 0, count = 0, n = self.n
        cdef Front *f = NULL
        front = np.zeros((n + 1) * sizeof(Front), dtype=np.uint8)
        self.front = <Front *> self.keep(front)
        for e in range(n):
            more = f.width * (length[e] + 1 - length[e - 1]) if e and length[e - 1] else 0
            if e == 0 or not length[e - 1] or pool[first[e - 1]] != e or zeros + more > RELAXED * f.size:
                f = self.front + count
                count += 1
                f.first, f.width, zeros, more = e, 0, 0, 0
            zeros += more
            f.width += 1
            f.size = f.width + length[e]
            f.stride = (f.size + PADDING - 1) // PADDING * PADDING
            which[e] = count - 1
        self.count = count

    cdef list_freedoms(self, const Py_ssize_t[::1] first, const Py_ssize_t[::1] pool,
                       const Py_ssize_t[::1] which):
        """List the freedoms of every front, and find the front above it."""
        cdef Py_ssize_t s, a, e, entries = 0
        cdef Front *f
        cdef Py_ssize_t[::1] node = np.empty(self.n, dtype=np.intp)
        for a in range(self.n):
            node[self.position[a]] = a
        for s in range(self.count):
            f = self.front + s
            f.index, f.at = entries, self.size
            entries += f.size
            self.size += f.size * f.stride
        self.index = self.keep(np.empty(entries, dtype=np.intp))
        self.child = self.keep(np.full(self.count, -1, dtype=np.intp))
        self.sibling = self.keep(np.full(self.count, -1, dtype=np.intp))
        for s in range(self.count - 1, -1, -1):      # so that the fronts below one ascend
            f = self.front + s
            e = f.first + f.width - 1
            f.above = -1
            for a in range(f.width):
                self.index[f.index + a] = node[f.first + a]
            for a in range(f.size - f.width):
                self.index[f.index + f.width + a] = node[pool[first[e] + a]]
            if f.size > f.width:
                f.above = which[pool[first[e]]]
                self.sibling[s], self.child[f.above] = self.child[f.above], s

    cdef place_entries(self, const Py_ssize_t[::1] tree_start, const Py_ssize_t[::1] tree_column,
                       Py_ssize_t[::1] place):
        """Find the places of the entries of H in the fronts, and of the rows that extend-add moves up."""
        cdef Py_ssize_t s, a, p, c, k, e = 0
        cdef Front *f
        self.source = self.keep(np.empty(tree_column.shape[0], dtype=np.intp))
        self.target = self.keep(np.empty(tree_column.shape[0], dtype=np.intp))
        self.relative = self.keep(np.zeros(self.index_size(), dtype=np.intp))
        for s in range(self.count):
            f = self.front + s
            for a in range(f.size):
                place[self.index[f.index + a]] = a
            f.entries = e
            for a in range(f.width):
                k = self.index[f.index + a]
                for p in range(tree_start[k], tree_start[k + 1]):
                    self.source[e], self.target[e] = p, a * f.stride + place[tree_column[p]]
                    e += 1
            c = self.child[s]
            while c >= 0:
                for a in range(self.front[c].index + self.front[c].width,
                               self.front[c].index + self.front[c].size):
                    self.relative[a] = place[self.index[a]]
                c = self.sibling[c]
        self.front[self.count].entries = e

    cdef Py_ssize_t index_size(self):
        """Return the total number of rows of all fronts."""
        return 0 if self.count == 0 else self.front[self.count - 1].index + self.front[self.count - 1].size

    cdef place_rows(self, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column,
                    const Py_ssize_t[::1] which, Py_ssize_t[::1] place):
        """Assign constraints to the front of their first freedom, with their entries in its order."""
        cdef Py_ssize_t r, s, p, a, e, m = self.m
        cdef Front *f
        cdef Py_ssize_t[::1] head = np.full(self.count, -1, dtype=np.intp)
        cdef Py_ssize_t[::1] after = np.empty(m, dtype=np.intp)
        self.start, self.column = self.keep(np.array(start)), self.keep(np.array(column))
        self.home = self.keep(np.full(m, -1, dtype=np.intp))
        self.row = self.keep(np.empty(m, dtype=np.intp))
        self.entry = self.keep(np.empty(column.shape[0], dtype=np.intp))
        self.local = self.keep(np.empty(column.shape[0], dtype=np.intp))
        for r in range(m):
            if repeats_support(start, column, r):
                self.home[r] = self.home[r - 1]
                continue
            e = self.n
            for p in range(start[r], start[r + 1]):
                e = min(e, self.position[column[p]])
            if e < self.n:
                self.home[r] = which[e]
        for r in range(m - 1, -1, -1):               # so that those of a front ascend
            if self.home[r] >= 0:
                after[r], head[self.home[r]] = head[self.home[r]], r
        e = 0
        for s in range(self.count):
            f = self.front + s
            f.rows = e
            if head[s] >= 0:
                for a in range(f.size):
                    place[self.index[f.index + a]] = a
            r = head[s]
            while r >= 0:
                self.row[e] = r
                e += 1
                self.place_row(start, column, r, place)
                r = after[r]
        self.front[self.count].rows = e

    cdef place_row(self, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column, Py_ssize_t r,
                   Py_ssize_t[::1] place):
        """Sort the entries of a row by their places in its front."""
        cdef Py_ssize_t p, q, a, first = start[r], size = start[r + 1] - first
        cdef Py_ssize_t *local = self.local + first
        cdef Py_ssize_t *entry = self.entry + first
        if repeats_support(start, column, r):
            memcpy(local, local - size, size * sizeof(Py_ssize_t))
            for p in range(size):
                entry[p] = entry[p - size] + size
            return
        for p in range(size):
            a, q = place[column[first + p]], p
            while q > 0 and local[q - 1] > a:
                local[q], entry[q] = local[q - 1], entry[q - 1]
                q -= 1
            local[q], entry[q] = a, first + p

    cdef bint matches(self, tree, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column):
        """Return whether the fronts were made for this tree and these supports."""
        cdef Py_ssize_t m = self.m
        if start.shape[0] != m + 1 or column.shape[0] != self.start[m]:
            return False
        if memcmp(&start[0], self.start, (m + 1) * sizeof(Py_ssize_t)):
            return False
        if column.shape[0] and memcmp(&column[0], self.column, column.shape[0] * sizeof(Py_ssize_t)):
            return False
        return tree is self.tree or tree == self.tree

    def path(self, Py_ssize_t row):
        """List the fronts from that of a constraint to the root."""
        cdef Py_ssize_t s = self.home[row]
        path = []
        while s >= 0:
            path.append(s)
            s = self.front[s].above
        return path

    def sizes(self):
        """Return the pivots and rows of every front, shape (count, 2)."""
        sizes = [(self.front[s].width, self.front[s].size) for s in range(self.count)]
        return np.array(sizes, dtype=np.intp).reshape(-1, 2)


def find_fronts(list known, tree, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column):
    """Return the index of the known Fronts of this tree and these supports, or -1."""
    cdef Py_ssize_t k
    for k in range(len(known)):
        if (<Fronts> known[k]).matches(tree, start, column):
            return k
    return -1
