"""Factor K = [H J^T; J -E], with E = delta for a constraint whose row status is 1 (on), else infinity.

A constraint is eliminated right before the first freedom of its support, with the pivot -E. What is left
is S = H + J_on^T J_on / delta, and a constraint within one branch adds nothing to the pattern of H: leaf
to root, it has no fill. Freedoms that follow each other and are coupled to the same others are eliminated
together, in a dense front (Duff & Reid 1983). Fronts keep their Schur complement for the extend-add into the
front above, so that switching a constraint recomputes only the fronts on its path to the root. The result has
the bits of a new factorization: switching a row accumulates no rounding error.
"""

cimport numpy as cnp
from libc.string cimport memset

from ._fronts cimport Fronts
from ..tree._pattern cimport PANEL, Front, active

import numpy as np

from .._util.validation import aligned

cnp.import_array()

cdef class Kkt:
    """Factor of K; assumes validated input.

    Parameters
    ----------
    symbolic : Fronts
    indefinite : bool
        Pivots may be negative, but not 0.

    Attributes
    ----------
    touched : int
        Entries of fronts that the last factorization computed.
    """

    def __cinit__(self, Fronts symbolic not None, bint indefinite=False):
        self.symbolic = symbolic
        self.eliminate = active.fronts.eliminate_indefinite if indefinite else active.fronts.eliminate
        dirty = np.ones(symbolic.n, dtype=np.uint8)
        self.memory = {"inverse": aligned((symbolic.n,)), "z": aligned((symbolic.n,)), "dirty": dirty}
        self.inverse, self.z = doubles(self.memory["inverse"]), doubles(self.memory["z"])
        self.dirty = <unsigned char *> (<cnp.ndarray> dirty).data
        self.fit()

    cdef fit(self):
        """Make room for the fronts; what was loaded is of no use if these changed."""
        values = self.memory.get("values")
        if values is None or len(values) < self.symbolic.size:
            most = self.symbolic.size if values is None else max(self.symbolic.size, 3 * len(values) // 2)
            self.memory["values"] = values = aligned((most,))
        self.values = doubles(values)

    cdef void load(self, const double *H, const double *J) noexcept nogil:
        """Load packed rows of H and the entries of the constraints, by reference."""
        self.H, self.J = H, J
        self.mark_all_dirty()

    cdef void mark_all_dirty(self) noexcept nogil:
        """Mark all fronts to be recomputed."""
        memset(self.dirty, 1, self.symbolic.count)

    cdef void mark_path_dirty(self, Py_ssize_t row) noexcept nogil:
        """Mark the fronts from that of a switched constraint to the root to be recomputed."""
        cdef Py_ssize_t s = self.symbolic.home[row]
        while s >= 0 and not self.dirty[s]:
            self.dirty[s] = 1
            s = self.symbolic.front[s].above

    cdef Py_ssize_t refactor(self, const unsigned char *on, double weight) noexcept nogil:
        """Recompute dirty fronts, weight = 1 / delta; return -1, or the freedom whose pivot failed."""
        cdef const Front *f
        cdef Py_ssize_t s, failed
        self.touched = 0
        for s in range(self.symbolic.count):
            if not self.dirty[s]:
                continue
            f = self.symbolic.front + s
            self.touched = self.touched + f.size * (f.size + 1) // 2
            self.assemble(f, self.symbolic.child[s], on, weight)
            failed = self.eliminate(f, self.values + f.at, self.inverse + f.first)
            if failed >= 0:
                return self.symbolic.index[f.index + failed]
            self.dirty[s] = 0
        return -1

    cdef void assemble(self, const Front *f, Py_ssize_t below, const unsigned char *on,
                       double weight) noexcept nogil:
        """Sum entries of H, J^T J / delta of the front's constraints, and the fronts below by extend-add."""
        cdef const Front *front = self.symbolic.front
        cdef const Py_ssize_t *start = self.symbolic.start
        cdef double *F = self.values + f.at
        cdef Py_ssize_t p, r, e, size
        cdef const Py_ssize_t *entry
        cdef const double *J
        memset(F, 0, f.size * f.stride * sizeof(double))
        for p in range(f.entries, (f + 1).entries):
            F[self.symbolic.target[p]] = self.H[self.symbolic.source[p]]
        for p in range(f.rows, (f + 1).rows):
            r = self.symbolic.row[p]
            if on[r] == 1:
                J, size = self.J + start[r], start[r + 1] - start[r]
                entry = self.symbolic.entry + self.symbolic.listed[r]
                for e in range(size):
                    self.z[e] = J[entry[e]]
                active.fronts.rank_one_update(f, F, size, self.symbolic.local + self.symbolic.listed[r],
                                              self.z, weight)
        while below >= 0:
            active.fronts.extend_add(front + below, self.values + front[below].at,
                                     self.symbolic.relative + front[below].index, f, F)
            below = self.symbolic.sibling[below]

    cdef void solve(self, double *x) noexcept nogil:
        """Compute x = S^-1 x in place."""
        active.fronts.solve(self.symbolic.count, self.symbolic.front, self.symbolic.index, self.values,
                            self.inverse, x)

    # ---------------------------------------------------------------------------------- from Python

    def take(self, cnp.ndarray H not None, cnp.ndarray J not None):
        """Load packed rows of H and the entries of the constraints, both contiguous float64."""
        self.source = H, J
        self.load(<const double *> H.data, <const double *> J.data)

    def factor(self, cnp.ndarray on not None, double weight):
        """Factorize for row status `on`, an array of uint8; return -1, or the freedom that failed."""
        return self.refactor(<const unsigned char *> on.data, weight)

    def switch(self, Py_ssize_t row):
        """Mark the fronts that a switched constraint changes."""
        self.mark_path_dirty(row)

    def apply_inverse(self, cnp.ndarray x not None):
        """Compute x = S^-1 x in place."""
        self.solve(<double *> x.data)

    def inverse_pivots(self):
        """Return the reciprocal pivots by position in the order of elimination, a copy."""
        return self.memory["inverse"].copy()

    def dense(self):
        """Return dense L and D in the order of elimination, and the position of every freedom in it."""
        cdef Fronts t = self.symbolic
        cdef Py_ssize_t s, k, a
        cdef const Front *f
        values, inverse = self.memory["values"], self.memory["inverse"]
        L = np.eye(t.n)
        for s in range(t.count):
            f = t.front + s
            at = [t.position[t.index[f.index + a]] for a in range(f.size)]
            N = values[f.at : f.at + f.width * f.stride].reshape(f.width, f.stride)
            for k in range(f.width):
                row = -N[k, : f.size]            # of L^T: U = -N - (U11 - 1) N in a panel
                for a in range(k + 1, min(f.width, (k // PANEL + 1) * PANEL)):
                    row[a + 1 :] -= row[a] * N[a, a + 1 : f.size]
                L[at[k + 1 :], at[k]] = row[k + 1 :]
        return L, 1.0 / inverse, np.array([t.position[k] for k in range(t.n)], dtype=np.intp)


cdef inline double *doubles(cnp.ndarray a):
    return <double *> a.data
