"""Order the trees that constraints couple by minimum degree."""

cimport numpy as cnp
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc

import numpy as np

cnp.import_array()

cdef extern from * nogil:
    """
    static inline int count_ones(unsigned long long x) { return __builtin_popcountll(x); }
    static inline int lowest_one(unsigned long long x) { return __builtin_ctzll(x); }
    """
    int count_ones(uint64_t x)
    int lowest_one(uint64_t x)


def coupled_trees(const Py_ssize_t[::1] start, const Py_ssize_t[::1] tree, Py_ssize_t count):
    """Find the constraints that couple several trees.

    Parameters
    ----------
    start : (m + 1,)
    tree : (start[m],)
        The tree, out of `count`, of every entry of the constraints.

    Returns
    -------
    member : ndarray
        Trees of the constraints that couple several, each tree once per constraint.
    first : ndarray
        Index in `member` where each such constraint begins, then the size of `member`.
    """
    cdef Py_ssize_t m = start.shape[0] - 1, r, e, used = 0, rows = 0
    members, firsts = np.empty(tree.shape[0], dtype=np.intp), np.zeros(m + 1, dtype=np.intp)
    cdef Py_ssize_t[::1] member = members, first = firsts, seen = np.full(count, -1, dtype=np.intp)
    for r in range(m):
        for e in range(start[r], start[r + 1]):
            if seen[tree[e]] != r:
                seen[tree[e]] = r
                member[used] = tree[e]
                used += 1
        if used > first[rows] + 1:
            rows += 1
            first[rows] = used
        used = first[rows]
    return members[:used], firsts[: rows + 1]


def group_trees(const Py_ssize_t[::1] member, const Py_ssize_t[::1] first, Py_ssize_t count):
    """Number the trees; trees that the same constraints couple share a number.

    Parameters
    ----------
    member, first : ndarray
        From `coupled_trees`, for `count` trees.

    Returns
    -------
    number : (count,)
        From 0, which the last coupled tree has; -1 for trees that no constraint couples.
    places : int
        How many numbers there are.

    Notes
    -----
    Every constraint splits the sets of which it couples some trees only (Paige & Tarjan 1987).
    """
    numbers, most = np.full(count, -1, dtype=np.intp), member.shape[0] + 1
    cdef Py_ssize_t[::1] number = numbers, split = np.full(most, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] part = np.empty(most, dtype=np.intp)
    cdef Py_ssize_t r, e, k, old, sets = 0, places = 0
    for r in range(first.shape[0] - 1):
        for e in range(first[r], first[r + 1]):
            old = number[member[e]] + 1          # 0: in no set so far
            if split[old] != r:
                split[old], part[old] = r, sets
                sets += 1
            number[member[e]] = part[old]
    part[:] = -1
    for k in range(count - 1, -1, -1):
        if number[k] >= 0:
            if part[number[k]] < 0:
                part[number[k]] = places
                places += 1
            number[k] = part[number[k]]
    return numbers, places


def minimum_degree(Py_ssize_t count, const Py_ssize_t[::1] start, const Py_ssize_t[::1] member):
    """Compute a minimum-degree order of elimination of the vertices of a graph, shape (count,).

    Clique r of the graph is member[start[r]:start[r + 1]]. Every vertex keeps its neighbours as a set of
    bits, so that one elimination is a union of sets; memory is count^2 / 8 bytes.

    Notes
    -----
    Tinney & Walker (1967), scheme 2. Neighbours that have no others are eliminated at once: mass
    elimination, George & McIntyre (1978).
    """
    cdef Py_ssize_t words = (count + 63) // 64, r
    vertices = np.empty(count, dtype=np.intp)
    cdef Py_ssize_t[::1] order = vertices
    cdef uint64_t *near = <uint64_t *> calloc(count * words + words, sizeof(uint64_t))
    cdef Py_ssize_t *degree = <Py_ssize_t *> malloc((2 * count + 1) * sizeof(Py_ssize_t))
    if near == NULL or degree == NULL:
        free(near)
        free(degree)
        raise MemoryError(f"not enough memory for a graph of {count} trees")
    with nogil:
        for r in range(start.shape[0] - 1):
            connect_clique(near, words, start[r], start[r + 1], member, near + count * words)
        eliminate(near, degree, degree + count, count, words, order, near + count * words)
    free(near)
    free(degree)
    return vertices


cdef void connect_clique(uint64_t *near, Py_ssize_t words, Py_ssize_t first, Py_ssize_t stop,
                         const Py_ssize_t[::1] member, uint64_t *clique) noexcept nogil:
    """Make the members of a clique neighbours; `clique` is workspace for one set, zero before and after."""
    cdef Py_ssize_t e, f
    for e in range(first, stop):
        clique[member[e] // 64] |= <uint64_t> 1 << (member[e] % 64)
    for e in range(first, stop):
        for f in range(first, stop):
            near[member[e] * words + member[f] // 64] |= clique[member[f] // 64]
    for e in range(first, stop):
        clique[member[e] // 64] = 0


cdef void eliminate(uint64_t *near, Py_ssize_t *degree, Py_ssize_t *left, Py_ssize_t count, Py_ssize_t words,
                    Py_ssize_t[::1] order, uint64_t *front) noexcept nogil:
    """Eliminate a vertex of least degree until the graph is empty; a vertex is its own neighbour."""
    cdef Py_ssize_t i, j, k, w, best, kept, size = count, done = 0
    cdef uint64_t bits
    for i in range(count):
        near[i * words + i // 64] |= <uint64_t> 1 << (i % 64)
        degree[i] = cardinality(near + i * words, words)
        left[i] = i
    while size:
        best = least_degree(degree, left, size)
        for w in range(words):
            front[w] = near[best * words + w]
        # the front becomes a clique; its members without neighbours outside are eliminated too
        for w in range(words):
            bits = front[w]
            while bits:
                i = 64 * w + lowest_one(bits)
                bits &= bits - 1
                for k in range(words):
                    near[i * words + k] |= front[k]
                degree[i] = cardinality(near + i * words, words)
        kept = 0
        for j in range(size):
            i = left[j]
            if front[i // 64] >> (i % 64) & 1 and degree[i] == degree[best]:
                order[done] = i
                done += 1
            else:
                left[kept] = i
                kept += 1
        for j in range(done - (size - kept), done):
            i = order[j]
            for w in range(words):
                bits = front[w]
                while bits:
                    k = 64 * w + lowest_one(bits)
                    bits &= bits - 1
                    near[k * words + i // 64] &= ~(<uint64_t> 1 << (i % 64))
        for j in range(kept):
            i = left[j]
            if front[i // 64] >> (i % 64) & 1:
                degree[i] -= size - kept
        for w in range(words):
            front[w] = 0
        size = kept


cdef inline Py_ssize_t least_degree(const Py_ssize_t *degree, const Py_ssize_t *left,
                                    Py_ssize_t size) noexcept nogil:
    """Return the first vertex of least degree."""
    cdef Py_ssize_t j, best = left[0]
    for j in range(1, size):
        if degree[left[j]] < degree[best]:
            best = left[j]
    return best


cdef inline Py_ssize_t cardinality(const uint64_t *bits, Py_ssize_t words) noexcept nogil:
    """Count the elements of a set."""
    cdef Py_ssize_t w, total = 0
    for w in range(words):
        total += count_ones(bits[w])
    return total
