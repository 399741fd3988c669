"""K = [H J^T; J -E] with E = delta for a constraint that is on and infinity for one that is off.

A constraint is eliminated right before the first freedom of its support, with the pivot -E. What is left is
S = H + J_on^T J_on / delta, and a constraint within one branch adds nothing to the pattern of H: leaf to root, it
has no fill. Freedoms that follow each other and are coupled to the same others are eliminated together, in
a dense front (Duff & Reid 1983). Fronts keep what they hand to the front above, so that switching a
constraint redoes the fronts on its path to the root and no other, and leaves the bits of a factor made
anew: nothing drifts.
"""

cimport numpy as cnp
from libc.string cimport memset

from ._pattern cimport Front, active

import numpy as np

from ._arrays import aligned

cnp.import_array()

cdef enum:
    PADDING = 4                  # rows of fronts are multiples of it


def patterns(const Py_ssize_t[::1] position, const Py_ssize_t[::1] tree_start,
             const Py_ssize_t[::1] tree_column, const Py_ssize_t[::1] row_start,
             const Py_ssize_t[::1] row_column):
    """Columns of L by position of their freedom, in elimination order.

    Parameters
    ----------
    position : (n,)
        When every freedom is eliminated.
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
    Column e holds what is coupled to e, and what the columns hold whose first entry is e (Liu 1990).
    """
    cdef Py_ssize_t n = position.shape[0], m = row_start.shape[0] - 1
    cdef Py_ssize_t e, k, r, p, c, j, best, used = 0, fresh, room = tree_column.shape[0] + 64
    cdef Py_ssize_t[::1] node = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t[::1] head = np.full(n + 1, -1, dtype=np.intp), after = np.full(n, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] row_head = np.full(n + 1, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] row_after = np.full(m, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] mark = np.full(n, -1, dtype=np.intp), list = np.empty(n, dtype=np.intp)
    first_array, length_array = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    cdef Py_ssize_t[::1] first = first_array, length = length_array
    pool_array = np.empty(room, dtype=np.intp)
    cdef Py_ssize_t[::1] pool = pool_array
    for k in range(n):
        node[position[k]] = k
    for r in range(m):
        e = n
        for p in range(row_start[r], row_start[r + 1]):
            e = min(e, position[row_column[p]])
        row_after[r], row_head[e] = row_head[e], r
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
        for p in range(tree_start[k], tree_start[k + 1] - 1):
            fresh = note(position[tree_column[p]], e, mark, list, fresh)
        r = row_head[e]
        while r >= 0:
            for p in range(row_start[r], row_start[r + 1]):
                fresh = note(position[row_column[p]], e, mark, list, fresh)
            r = row_after[r]
        length[e] = fresh
        if best >= 0 and fresh == length[best] - 1:
            first[e] = first[best] + 1
        elif fresh:
            if used + fresh > room:
                room = 2 * room + fresh
                pool_array = np.concatenate((pool_array[:used], np.empty(room - used, dtype=np.intp)))
                pool = pool_array
            first[e] = used
            for j in range(fresh):
                pool[used + j] = list[j]
            pool_array[used : used + fresh].sort()
            used += fresh
        if fresh:
            j = pool[first[e]]
            after[e], head[j] = head[j], e
    return first_array, length_array, pool_array[:used]


cdef inline Py_ssize_t note(Py_ssize_t j, Py_ssize_t e, Py_ssize_t[::1] mark, Py_ssize_t[::1] list,
                            Py_ssize_t fresh) noexcept nogil:
    """Add j to the list of column e, once; return the length of the list."""
    if j <= e or mark[j] == e:
        return fresh
    mark[j] = e
    list[fresh] = j
    return fresh + 1


cdef class Kkt:
    """The factor of K for one pattern; trusts its callers.

    Parameters
    ----------
    position : ndarray, shape (n,)
        When every freedom is eliminated.
    tree : Tree
    start, column : ndarray
        The constraints' pattern, all of them.

    Attributes
    ----------
    n, m, fronts : int
    touched : int
        Entries of fronts that the last factorization computed.
    """

    def __cinit__(self, position, tree, start, column):
        first, length, pool = patterns(position, tree.row_start, tree.columns, start, column)
        cdef Py_ssize_t n = tree.n, m = len(start) - 1
        self.n, self.m = n, m
        node = np.empty(n, dtype=np.intp)
        node[position] = np.arange(n)
        # a front begins where the column before is not this one with one entry more
        joined = np.zeros(n, dtype=bool)
        joined[1:] = (length[1:] == length[:-1] - 1)
        if n > 1:
            has = length[:-1] > 0
            joined[1:] &= has
            joined[1:][has] &= pool[first[:-1][has]] == np.arange(1, n)[has]
        begin = np.flatnonzero(~joined)
        self.fronts = len(begin)
        width = np.diff(np.append(begin, n))
        size = length[begin] + 1 if n else length
        which = np.cumsum(~joined) - 1               # front of a position
        self.tabulate(tree, position, node, begin, width, size, which, first, pool, start, column)

    def tabulate(self, tree, position, node, begin, width, size, which, first, pool, start, column):
        """Fill the tables of the fronts."""
        cdef Py_ssize_t s, e, p, r, c, a, q, fronts = self.fronts, n = self.n, m = self.m
        cdef Py_ssize_t[::1] pos = position, nodes = node, wide = width, full = size, begins = begin
        cdef Py_ssize_t[::1] firsts = first, pools = pool, home_of = which
        cdef const Py_ssize_t[::1] tree_start = tree.row_start, tree_column = tree.columns
        cdef const Py_ssize_t[::1] starts = start, columns = column
        cdef Py_ssize_t[::1] place = np.empty(n, dtype=np.intp)
        front = np.zeros((fronts + 1) * sizeof(Front), dtype=np.uint8)
        offset = np.concatenate(([0], np.cumsum(size)))
        stride = -(-size // PADDING) * PADDING
        at = np.concatenate(([0], np.cumsum(size * stride)))
        index, relative = np.empty(offset[fronts], dtype=np.intp), np.zeros(offset[fronts], dtype=np.intp)
        child, sibling = np.full(fronts, -1, dtype=np.intp), np.full(fronts, -1, dtype=np.intp)
        source, target = np.empty(tree.nnz, dtype=np.intp), np.empty(tree.nnz, dtype=np.intp)
        home = np.full(m, -1, dtype=np.intp)
        row = np.empty(m, dtype=np.intp)
        entry, local = np.empty(len(column), dtype=np.intp), np.empty(len(column), dtype=np.intp)
        cdef Py_ssize_t[::1] offsets = offset, ats = at, idx = index, rel = relative, ch = child, sib = sibling
        cdef Py_ssize_t[::1] strides = stride, src = source, dst = target, homes = home
        cdef Front *f
        cdef cnp.ndarray front_array = front
        self.front = <Front *> front_array.data
        for s in range(fronts):
            f = &self.front[s]
            f.first, f.width, f.size, f.stride = begins[s], wide[s], full[s], strides[s]
            f.index, f.at, f.above = offsets[s], ats[s], -1
            for a in range(f.width):
                idx[f.index + a] = nodes[f.first + a]
            e = f.first + f.width - 1
            for a in range(f.size - f.width):
                idx[f.index + f.width + a] = nodes[pools[firsts[e] + a]]
            if f.size > f.width:
                f.above = home_of[pools[firsts[e]]]
        for s in range(fronts - 1, -1, -1):          # lists ascend
            if self.front[s].above >= 0:
                sib[s] = ch[self.front[s].above]
                ch[self.front[s].above] = s
        # entries of H, and where each front's freedoms stand in the front above
        e = 0
        for s in range(fronts):
            f = &self.front[s]
            for a in range(f.size):
                place[idx[f.index + a]] = a
            f.entries = e
            for a in range(f.width):
                for p in range(tree_start[idx[f.index + a]], tree_start[idx[f.index + a] + 1]):
                    src[e], dst[e] = p, a * f.stride + place[tree_column[p]]
                    e += 1
            c = ch[s]
            while c >= 0:
                for a in range(self.front[c].width, self.front[c].size):
                    rel[self.front[c].index + a] = place[idx[self.front[c].index + a]]
                c = sib[c]
        self.front[fronts].entries = e
        # constraints go to the front of their first freedom
        when = position[column]
        owner = np.repeat(np.arange(m), np.diff(start))
        entry = np.lexsort((when, owner))
        some = np.flatnonzero(np.diff(start))
        home[some] = which[when[entry][start[some]]]
        row = np.argsort(home, kind="stable")
        bounds = np.searchsorted(home[row], np.arange(fronts + 1))
        cdef Py_ssize_t[::1] bound = bounds
        for s in range(fronts + 1):
            self.front[s].rows = bound[s]
        cdef Py_ssize_t[::1] locals = local, entries = entry
        for r in range(m):
            if homes[r] < 0:
                continue
            f = &self.front[homes[r]]
            a = 0
            for q in range(starts[r], starts[r + 1]):
                while idx[f.index + a] != columns[entries[q]]:
                    a += 1
                locals[q] = a
        values, inverse = aligned((at[fronts],)), aligned((n,))
        self.widest = stride.max(initial=0)
        J, vector = aligned((len(column),)), aligned((2 * self.widest,))
        dirty = np.ones(fronts, dtype=np.uint8)
        start = np.array(start, dtype=np.intp)
        self.room = at[fronts]
        self.index, self.relative = words(index), words(relative)
        self.child, self.sibling = words(child), words(sibling)
        self.source, self.target = words(source), words(target)
        self.row, self.start, self.entry = words(row), words(start), words(entry)
        self.local, self.home = words(local), words(home)
        self.values, self.inverse = doubles(values), doubles(inverse)
        self.J, self.vector = doubles(J), doubles(vector)
        self.dirty = <unsigned char *> (<cnp.ndarray> dirty).data
        self.kept = (front, index, relative, child, sibling, source, target, row, start, entry, local, home,
                     values, inverse, J, vector, dirty, position)

    # ------------------------------------------------------------------------------------- numbers

    cdef void load(self, const double *H, const double *J) noexcept nogil:
        """Take packed rows of H, which must stay where they are, and the constraints' entries."""
        cdef Py_ssize_t p
        self.H = H
        for p in range(self.start[self.m]):
            self.J[p] = J[self.entry[p]]
        self.touch_all()

    cdef void touch_all(self) noexcept nogil:
        memset(self.dirty, 1, self.fronts)

    cdef void touch(self, Py_ssize_t row) noexcept nogil:
        """A constraint is switched: the fronts from its own to the root are to be made anew."""
        cdef Py_ssize_t s = self.home[row]
        while s >= 0 and not self.dirty[s]:
            self.dirty[s] = 1
            s = self.front[s].above

    cdef Py_ssize_t refactor(self, const unsigned char *on, double weight) noexcept nogil:
        """Make anew what was touched, for 1 / delta = weight; -1, or the freedom whose pivot failed."""
        cdef Py_ssize_t s, failed
        self.touched = 0
        for s in range(self.fronts):
            if not self.dirty[s]:
                continue
            self.touched += self.front[s].size * (self.front[s].size + 1) // 2
            self.assemble(&self.front[s], s, on, weight)
            failed = active.fronts.eliminate(&self.front[s], self.values + self.front[s].at,
                                             self.inverse + self.front[s].first)
            if failed >= 0:
                return self.index[self.front[s].index + failed]
            self.dirty[s] = 0
        return -1

    cdef void assemble(self, const Front *f, Py_ssize_t s, const unsigned char *on,
                       double weight) noexcept nogil:
        """F <- entries of H, J^T J / delta of the front's constraints, and what the fronts below hand up."""
        cdef double *F = self.values + f.at
        cdef Py_ssize_t p, r, c
        memset(F, 0, f.size * f.stride * sizeof(double))
        for p in range(f.entries, (f + 1).entries):
            F[self.target[p]] = self.H[self.source[p]]
        for p in range(f.rows, (f + 1).rows):
            r = self.row[p]
            if on[r]:
                active.fronts.outer(f, F, self.start[r + 1] - self.start[r], self.local + self.start[r],
                                    self.J + self.start[r], weight)
        c = self.child[s]
        while c >= 0:
            active.fronts.hand_up(&self.front[c], self.values + self.front[c].at,
                                  self.relative + self.front[c].index, f, F)
            c = self.sibling[c]

    cdef void solve(self, double *x) noexcept nogil:
        """x <- S^-1 x."""
        active.fronts.solve(self.fronts, self.front, self.index, self.values, self.inverse, x, self.vector,
                            self.vector + self.widest)

    # ---------------------------------------------------------------------------------- for tests

    def sizes(self):
        """Pivots and rows of every front, shape (fronts, 2)."""
        return np.array([(self.front[s].width, self.front[s].size) for s in range(self.fronts)]).reshape(-1, 2)

    def path(self, Py_ssize_t row):
        """Fronts from that of a constraint to the root."""
        s = self.home[row]
        found = []
        while s >= 0:
            found.append(s)
            s = self.front[s].above
        return found

    def take(self, cnp.ndarray H not None, cnp.ndarray J not None):
        """Load packed rows of H and the entries of the constraints, both contiguous float64."""
        self.kept = (*self.kept[:18], H)
        self.load(<const double *> H.data, <const double *> J.data)

    def factor(self, cnp.ndarray on not None, double weight):
        """Factorize for the constraints that are on, an array of uint8."""
        return self.refactor(<const unsigned char *> on.data, weight)

    def switch(self, Py_ssize_t row):
        self.touch(row)

    def apply_inverse(self, cnp.ndarray x not None):
        """x <- S^-1 x in place."""
        self.solve(<double *> x.data)

    def dense(self):
        """L and D as dense arrays in the order of elimination, and the freedom of every row."""
        cdef Py_ssize_t s, k, a
        cdef Front *f
        position, values, inverse = self.kept[17], self.kept[12], self.kept[13]
        L, node = np.eye(self.n), np.empty(self.n, dtype=np.intp)
        node[position] = np.arange(self.n)
        for s in range(self.fronts):
            f = &self.front[s]
            at = [position[self.index[f.index + a]] for a in range(f.size)]
            for k in range(f.width):
                row = values[f.at + k * f.stride :]
                L[at[k + 1 :], at[k]] = row[k + 1 : f.size]
        return L, 1.0 / inverse, node


cdef inline const Py_ssize_t *words(cnp.ndarray a):
    return <const Py_ssize_t *> a.data


cdef inline double *doubles(cnp.ndarray a):
    return <double *> a.data
