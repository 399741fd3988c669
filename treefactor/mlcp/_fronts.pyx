"""Symbolic factorization of K: its fronts, from the tree of H and the supports of the constraints."""

cimport numpy as cnp
from libc.string cimport memcmp, memcpy, memset

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
        if size and not repeats_support(&start[0], &column[0], r):
            memcpy(&to[used], &column[start[r]], size * sizeof(Py_ssize_t))
            used += size
            rows += 1
            begin[rows] = used
    return starts[: rows + 1], columns[:used]


cdef inline bint repeats_support(const Py_ssize_t *start, const Py_ssize_t *column,
                                 Py_ssize_t r) noexcept nogil:
    """Return whether row r is not empty and has the support of the row before."""
    cdef Py_ssize_t size = start[r + 1] - start[r]
    if r == 0 or size == 0 or start[r] - start[r - 1] != size:
        return False
    return memcmp(column + start[r - 1], column + start[r], size * sizeof(Py_ssize_t)) == 0


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
    """Fronts of K; assumes validated input.

    `fit` changes them in place, for the only owner of an object; objects that several share are left alone.

    Parameters
    ----------
    position : ndarray, shape (n,)
        Position of every freedom in the order of elimination.
    tree : Tree
        Or another symmetric pattern with `row_start` and `columns`: rows of the later columns in the order of
        elimination, diagonal last.
    start, column : ndarray
        Supports of the constraints: row r has column[start[r]:start[r + 1]].

    Attributes
    ----------
    n, m, count : int
        Freedoms, constraints, fronts.
    size : int
        Entries of all fronts.
    nnz : int
        Entries of L: those of S, and those of the constraints with their pivots.
    """

    def __cinit__(self, position, tree, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column):
        cdef Py_ssize_t k, n = len(position)
        self.n, self.tree, self.memory = n, tree, {}
        self.position = self.copy("position", position)
        self.tree_start = self.copy("tree start", tree.row_start)
        self.tree_column = self.copy("tree column", tree.columns)
        self.capacity = len(tree.columns) + 64
        self.pool = self.integers("pool", self.capacity)
        self.node, self.which = self.integers("node", n), self.integers("which", n)
        self.first, self.length = self.integers("first", n), self.integers("length", n)
        self.head, self.after = self.integers("head", n + 1), self.integers("after", n)
        self.row_head = self.integers("row head", n + 1)
        self.mark, self.fresh = self.integers("mark", n), self.integers("fresh", n)
        self.place = self.integers("place", n)
        self.child, self.sibling = self.integers("child", n), self.integers("sibling", n)
        self.source = self.integers("source", len(tree.columns))
        self.target = self.integers("target", len(tree.columns))
        self.front = <Front *> self.integers("front", (n + 1) * (sizeof(Front) // sizeof(Py_ssize_t)))
        for k in range(n):
            self.node[self.position[k]] = k
        self.fit(start.shape[0] - 1, &start[0], &column[0] if column.shape[0] else NULL)

    cdef Py_ssize_t *integers(self, str name, Py_ssize_t size) except NULL:
        """Return memory for integers, kept under a name, and replaced where it is too small."""
        made = self.memory.get(name)
        if made is None or len(made) < size:
            most = size if made is None else max(size, 3 * len(made) // 2)
            self.memory[name] = made = np.empty(most, dtype=np.intp)
        return <Py_ssize_t *> (<cnp.ndarray> made).data

    cdef Py_ssize_t *copy(self, str name, a) except NULL:
        """Return a copy of an array of integers, which this object keeps under a name."""
        self.memory[name] = np.array(a, dtype=np.intp)
        return <Py_ssize_t *> (<cnp.ndarray> self.memory[name]).data

    cdef fit(self, Py_ssize_t m, const Py_ssize_t *start, const Py_ssize_t *column):
        """Analyse K with these constraints."""
        cdef Py_ssize_t e, supports
        self.take_rows(m, start, column)
        self.list_rows()
        if not self.supports_stay():
            supports, self.supports = self.supports, -1      # until the fronts are those of the supports
            self.find_columns()
            self.split()
            self.list_freedoms()
            self.place_entries()
            self.supports = supports
        self.place_rows()
        self.nnz = self.n + self.start[m] + m
        for e in range(self.n):
            self.nnz += self.length[e]

    cdef take_rows(self, Py_ssize_t m, const Py_ssize_t *start, const Py_ssize_t *column):
        """Copy the supports of the constraints."""
        cdef Py_ssize_t entries = start[m], most
        self.m = m
        if m > self.most_rows or self.start == NULL:
            most = max(m, 3 * self.most_rows // 2)
            self.start = self.integers("start", most + 1)
            self.home, self.row = self.integers("home", most), self.integers("row", most)
            self.row_after, self.listed = self.integers("row after", most), self.integers("listed", most)
            self.support_end, self.supports = self.integers("support end", most), -1
            self.most_rows = most
        if entries > self.most_entries or self.column == NULL:
            most = max(entries, 3 * self.most_entries // 2)
            self.column = self.integers("column", most)
            self.entry, self.local = self.integers("entry", most), self.integers("local", most)
            self.support, self.supports = self.integers("support", most), -1
            self.most_entries = most
        memcpy(self.start, start, (m + 1) * sizeof(Py_ssize_t))
        memcpy(self.column, column, entries * sizeof(Py_ssize_t))

    cdef void list_rows(self) noexcept nogil:
        """List distinct supports by the place of their first column, kept as `home`; n without any."""
        cdef Py_ssize_t e, r, p
        memset(self.row_head, -1, (self.n + 1) * sizeof(Py_ssize_t))
        for r in range(self.m):
            self.listed[r] = self.start[r]
            if repeats_support(self.start, self.column, r):
                self.home[r], self.listed[r] = self.home[r - 1], self.listed[r - 1]
                continue
            e = self.n
            for p in range(self.start[r], self.start[r + 1]):
                e = min(e, self.position[self.column[p]])
            self.home[r] = e
            self.row_after[r], self.row_head[e] = self.row_head[e], r

    cdef bint supports_stay(self) noexcept nogil:
        """Return whether the distinct supports, which are kept, are those of the last constraints."""
        cdef Py_ssize_t r, size, count = 0, used = 0
        cdef bint stay = True
        cdef const Py_ssize_t *column
        for r in range(self.m):
            if self.listed[r] != self.start[r]:
                continue
            column, size = self.column + self.start[r], self.start[r + 1] - self.start[r]
            stay = (stay and count < self.supports and self.support_end[count] == used + size
                    and memcmp(self.support + used, column, size * sizeof(Py_ssize_t)) == 0)
            if not stay:
                memcpy(self.support + used, column, size * sizeof(Py_ssize_t))
            used += size
            self.support_end[count] = used
            count += 1
        stay = stay and count == self.supports
        self.supports = count
        return stay

    cdef find_columns(self):
        """Find the places, ascending, of the entries below the diagonal in the columns of L.

        Column e has the entries coupled to e and those of the columns whose first entry is e (Liu 1990).
        Columns of one chain share their places.
        """
        cdef Py_ssize_t e, k, r, p, c, j, best, used = 0, count
        cdef Py_ssize_t *first = self.first
        cdef Py_ssize_t *length = self.length
        memset(self.head, -1, (self.n + 1) * sizeof(Py_ssize_t))
        memset(self.mark, -1, self.n * sizeof(Py_ssize_t))
        for e in range(self.n):
            count, best, c = 0, -1, self.head[e]
            self.mark[e] = e
            while c >= 0:
                if best < 0 or length[c] > length[best]:
                    best = c
                for p in range(first[c], first[c] + length[c]):
                    count = note(self, self.pool[p], e, count)
                c = self.after[c]
            k = self.node[e]
            count = note_range(self, self.tree_column, self.tree_start[k], self.tree_start[k + 1] - 1, e,
                               count)
            r = self.row_head[e]
            while r >= 0:
                count = note_range(self, self.column, self.start[r], self.start[r + 1], e, count)
                r = self.row_after[r]
            first[e], length[e] = 0, count
            if best >= 0 and count == length[best] - 1:
                first[e] = first[best] + 1
            elif count:
                if used + count > self.capacity:
                    self.enlarge_pool(used, used + count)
                first[e] = used
                memcpy(self.pool + used, self.fresh, count * sizeof(Py_ssize_t))
                ascend(self.pool + used, count)
                used += count
            if count:
                j = self.pool[first[e]]
                self.after[e], self.head[j] = self.head[j], e

    cdef enlarge_pool(self, Py_ssize_t used, Py_ssize_t size):
        """Enlarge the memory of the entries, of which some are used."""
        before = self.memory["pool"]
        self.pool = self.integers("pool", 2 * self.capacity + size)
        self.capacity = 2 * self.capacity + size
        self.memory["pool"][:used] = before[:used]

    cdef void split(self) noexcept nogil:
        """Split the columns into fronts; one ends unless the next column is this one without its first.

        A few zeros may be stored to make fronts larger: relaxed supernodes, Ashcraft & Grimes (1989).
        """
        cdef Py_ssize_t e, more, zeros = 0, count = 0
        cdef Py_ssize_t *length = self.length
        cdef Front *f = NULL
        for e in range(self.n):
            more = f.width * (length[e] + 1 - length[e - 1]) if e and length[e - 1] else 0
            if (e == 0 or not length[e - 1] or self.pool[self.first[e - 1]] != e
                    or zeros + more > RELAXED * f.size):
                f = self.front + count
                count += 1
                f.first, f.width, zeros, more = e, 0, 0, 0
            zeros += more
            f.width += 1
            f.size = f.width + length[e]
            f.stride = (f.size + PADDING - 1) // PADDING * PADDING
            self.which[e] = count - 1
        self.count = count

    cdef list_freedoms(self):
        """List the freedoms of every front, and find the front above it."""
        cdef Py_ssize_t s, a, e, entries = 0
        cdef Front *f
        self.size = 0
        for s in range(self.count):
            f = self.front + s
            f.index, f.at = entries, self.size
            entries += f.size
            self.size += f.size * f.stride
        self.index, self.relative = self.integers("index", entries), self.integers("relative", entries)
        memset(self.child, -1, self.count * sizeof(Py_ssize_t))
        memset(self.sibling, -1, self.count * sizeof(Py_ssize_t))
        for s in range(self.count - 1, -1, -1):      # so that the fronts below one ascend
            f = self.front + s
            e = f.first + f.width - 1
            f.above = -1
            for a in range(f.width):
                self.index[f.index + a] = self.node[f.first + a]
            for a in range(f.size - f.width):
                self.index[f.index + f.width + a] = self.node[self.pool[self.first[e] + a]]
            if f.size > f.width:
                f.above = self.which[self.pool[self.first[e]]]
                self.sibling[s], self.child[f.above] = self.child[f.above], s

    cdef void locate(self, const Front *f) noexcept nogil:
        """Find the place of every freedom of a front in it."""
        cdef Py_ssize_t a
        for a in range(f.size):
            self.place[self.index[f.index + a]] = a

    cdef void place_entries(self) noexcept nogil:
        """Find the places of the entries of H in the fronts, and of the rows that extend-add moves up."""
        cdef Py_ssize_t s, a, p, c, k, e = 0
        cdef Front *f
        for s in range(self.count):
            f = self.front + s
            self.locate(f)
            f.entries = e
            for a in range(f.width):
                k = self.index[f.index + a]
                for p in range(self.tree_start[k], self.tree_start[k + 1]):
                    self.source[e], self.target[e] = p, a * f.stride + self.place[self.tree_column[p]]
                    e += 1
            c = self.child[s]
            while c >= 0:
                for a in range(self.front[c].index + self.front[c].width,
                               self.front[c].index + self.front[c].size):
                    self.relative[a] = self.place[self.index[a]]
                c = self.sibling[c]
        self.front[self.count].entries = e

    cdef void place_rows(self) noexcept nogil:
        """Assign constraints to the front of their first freedom, with their entries in its order."""
        cdef Py_ssize_t r, s, e = 0
        cdef Front *f
        memset(self.head, -1, self.count * sizeof(Py_ssize_t))
        for r in range(self.m - 1, -1, -1):          # so that those of a front ascend
            self.home[r] = self.which[self.home[r]] if self.home[r] < self.n else -1
            if self.home[r] >= 0:
                self.row_after[r], self.head[self.home[r]] = self.head[self.home[r]], r
        for s in range(self.count):
            f = self.front + s
            f.rows, r = e, self.head[s]
            if r >= 0:
                self.locate(f)
            while r >= 0:
                self.row[e] = r
                e += 1
                if self.listed[r] == self.start[r]:
                    self.sort_support(r)
                r = self.row_after[r]
        self.front[self.count].rows = e

    cdef void sort_support(self, Py_ssize_t r) noexcept nogil:
        """Sort the entries of a constraint by their places in its front."""
        cdef Py_ssize_t p, q, a, start = self.start[r]
        cdef Py_ssize_t *local = self.local + start
        cdef Py_ssize_t *entry = self.entry + start
        for p in range(self.start[r + 1] - start):
            a, q = self.place[self.column[start + p]], p
            while q > 0 and local[q - 1] > a:
                local[q], entry[q] = local[q - 1], entry[q - 1]
                q -= 1
            local[q], entry[q] = a, p

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


cdef inline Py_ssize_t note_range(Fronts self, const Py_ssize_t *column, Py_ssize_t start, Py_ssize_t stop,
                                  Py_ssize_t e, Py_ssize_t count) noexcept nogil:
    """Note the places of the columns start .. stop - 1; return the number of those noted."""
    cdef Py_ssize_t p
    for p in range(start, stop):
        count = note(self, self.position[column[p]], e, count)
    return count


cdef inline Py_ssize_t note(Fronts self, Py_ssize_t j, Py_ssize_t e, Py_ssize_t count) noexcept nogil:
    """Note place j for column e unless that is done; return the number of those noted."""
    if j <= e or self.mark[j] == e:
        return count
    self.mark[j] = e
    self.fresh[count] = j
    return count + 1


def find_fronts(list known, tree, const Py_ssize_t[::1] start, const Py_ssize_t[::1] column):
    """Return the index of the known Fronts of this tree and these supports, or -1."""
    cdef Py_ssize_t k
    for k in range(len(known)):
        if (<Fronts> known[k]).matches(tree, start, column):
            return k
    return -1
