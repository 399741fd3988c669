"""Compute with parent arrays in linear time; callers validate the arguments."""

cimport numpy as cnp

import numpy as np

cnp.import_array()


def depths(const Py_ssize_t[::1] parent):
    """Return the depth of every node, and the first row k that violates -1 <= parent[k] < k (or -1)."""
    #   depth(k) = depth(parent(k)) + 1,  depth(-1) = 0
    cdef Py_ssize_t n = parent.shape[0], k, i, bad = -1
    result = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t[::1] depth = result
    with nogil:
        for k in range(n):
            i = parent[k]
            if i < -1 or i >= k:
                bad = k
                break
            depth[k] = 1 if i < 0 else depth[i] + 1
    return result, bad


def expand(cnp.ndarray parent not None, cnp.ndarray nv not None):
    """Return parents and depths of the freedoms of joints with nv[j] freedoms each, and the starts of rows.

    Featherstone (2008), table 6.4; children of a joint without freedoms follow its parent's last one.
    """
    #   lambda'(i) = i - 1;  first freedom of joint j:  lambda' = last freedom of joint lambda(j)
    cdef cnp.npy_intp joints = parent.shape[0], n = 0, more, j, k = 0, above, _d
    cdef const Py_ssize_t *of_joint = <const Py_ssize_t *> parent.data
    cdef const Py_ssize_t *count = <const Py_ssize_t *> nv.data
    for j in range(joints):
        n += count[j]
    more = n + 1
    cdef cnp.ndarray parents = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INTP)
    cdef cnp.ndarray depths = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INTP)
    cdef cnp.ndarray starts = cnp.PyArray_SimpleNew(1, &more, cnp.NPY_INTP)
    cdef cnp.ndarray lasts = cnp.PyArray_SimpleNew(1, &joints, cnp.NPY_INTP)
    cdef Py_ssize_t *out = <Py_ssize_t *> parents.data
    cdef Py_ssize_t *depth = <Py_ssize_t *> depths.data
    cdef Py_ssize_t *start = <Py_ssize_t *> starts.data
    cdef Py_ssize_t *last = <Py_ssize_t *> lasts.data
    start[0] = 0
    for j in range(joints):
        above = last[of_joint[j]] if of_joint[j] >= 0 else -1
        for _d in range(count[j]):
            out[k] = above
            depth[k] = depth[above] + 1 if above >= 0 else 1
            start[k + 1] = start[k] + depth[k]
            above, k = k, k + 1
        last[j] = above
    return parents, depths, starts


def depth_first(const Py_ssize_t[::1] parent):
    """Return the nodes in depth-first order, children in rising order; fewer than n if there is a cycle."""
    cdef Py_ssize_t n = parent.shape[0], k, i, visited = 0, top = 0
    result = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t[::1] order = result
    # child and sibling lists, the base in the last place
    cdef Py_ssize_t[::1] child = np.full(n + 1, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] sibling = np.empty(n, dtype=np.intp)
    cdef Py_ssize_t[::1] stack = np.empty(n + 1, dtype=np.intp)
    with nogil:
        for k in range(n - 1, -1, -1):
            i = parent[k] if parent[k] >= 0 else n
            sibling[k] = child[i]
            child[i] = k

        k = child[n]
        while k >= 0 or top > 0:
            if k < 0:  # this branch is done: next sibling of the last ancestor
                top -= 1
                k = sibling[stack[top]]
                continue
            order[visited] = k
            visited += 1
            stack[top] = k
            top += 1
            k = child[k]
    return result[:visited]


def cycle_node(const Py_ssize_t[::1] parent):
    """Return a node of a cycle of a parent array that has one."""
    #   n steps up from a node that does not reach the base end on the cycle
    cdef Py_ssize_t n = parent.shape[0], k, i
    cdef Py_ssize_t[::1] seen = np.full(n, -1, dtype=np.intp)
    for k in range(n):
        i = k
        while i >= 0 and seen[i] < 0:
            seen[i] = k
            i = parent[i]
        if i >= 0 and seen[i] == k:
            return i
    return -1


def elimination_tree(const Py_ssize_t[::1] start, const Py_ssize_t[::1] column, Py_ssize_t n):
    """Return the parent array whose ancestor paths hold the factor L (H = L^T L) of any H with this pattern.

    Row k of the symmetric pattern is column[start[k]:start[k+1]]. Liu (1990), rows in falling order.
    """
    #   for k = n-1 .. 0, for i > k in row k:
    #       climb from i to the root of its subtree, which becomes a child of k
    cdef Py_ssize_t k, i, p, above
    result = np.full(n, -1, dtype=np.intp)
    cdef Py_ssize_t[::1] parent = result
    cdef Py_ssize_t[::1] shortcut = np.full(n, -1, dtype=np.intp)  # compressed paths
    with nogil:
        for k in range(n - 1, -1, -1):
            for p in range(start[k], start[k + 1]):
                i = column[p]
                while i > k:
                    above = shortcut[i]
                    shortcut[i] = k
                    if above < 0:
                        parent[i] = k
                    i = above
    return result


def columns(const Py_ssize_t[::1] parent, const Py_ssize_t[::1] start):
    """Return the column of every packed entry: the row of the parent, then the node itself."""
    cdef Py_ssize_t n = parent.shape[0], k, p, above
    result = np.empty(start[n], dtype=np.intp)
    cdef Py_ssize_t[::1] column = result
    with nogil:
        for k in range(n):
            above = start[parent[k]] if parent[k] >= 0 else 0
            for p in range(start[k + 1] - start[k] - 1):
                column[start[k] + p] = column[above + p]
            column[start[k + 1] - 1] = k
    return result
