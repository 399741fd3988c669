"""Compute the terms of the equation of motion together: two passes over the bodies, the others from them."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport is_plain_matrix, is_plain_scalar, is_plain_vector, may_overlap
from .._util._result_arrays cimport new_result
from .._util._thread_count cimport is_thread_count
from ..dynamics._recursions cimport MOTION, Arguments, Bodies, bodies_of
from ._request cimport Request

import numpy as np

cnp.import_array()

cdef enum:
    OWN = 5                      # results before those of the request: H, bias, gravity, two energies
    MOST = 32                    # results
    CENTER = OWN + 1             # results of the request that energies and gravity are computed from
    CENTER_JACOBIAN = OWN + 3


cdef class Terms:
    """Terms of one model.

    Parameters
    ----------
    model : Model
    request : Request
        Of joint placements, centre of mass, its velocity and Jacobian, and what else comes after them.
    """

    cdef Bodies bodies
    cdef readonly Request request
    cdef object rest             # forces of MOTION: it computes them minus the bias
    cdef double weight[3]        # minus the gravity on the whole mass

    def __cinit__(self, model, Request request not None):
        cdef int r
        self.bodies, self.request = bodies_of(model), request
        self.rest = np.zeros(self.bodies.nv)
        for r in range(3):
            self.weight[r] = -model.mass * model.gravity[r]
        assert OWN + request.items <= MOST

    cdef void derive(self, const double *moved, const double *v, double **out) noexcept nogil:
        """Fill the first results from those of MOTION and of the request."""
        cdef const Py_ssize_t *start = self.bodies.pattern.shape.start
        cdef const Py_ssize_t *column = self.bodies.pattern.shape.column
        cdef Py_ssize_t nv = self.bodies.nv, i, j, e
        cdef const double *packed = moved + nv
        cdef const double *c = out[CENTER]
        cdef const double *J = out[CENTER_JACOBIAN]
        cdef const double *w = self.weight
        cdef double twice = 0.0, row
        memset(out[0], 0, nv * nv * sizeof(double))
        for i in range(nv):
            out[1][i] = 0.0 - moved[i]
            out[2][i] = w[0] * J[i] + w[1] * J[nv + i] + w[2] * J[2 * nv + i]
            row = 0.0
            for e in range(start[i], start[i + 1]):
                j = column[e]
                out[0][i * nv + j] = out[0][j * nv + i] = packed[e]
                row += packed[e] * v[j] * (1.0 if i == j else 2.0)
            twice += row * v[i]
        out[3][0] = 0.5 * twice
        out[4][0] = w[0] * c[0] + w[1] * c[1] + w[2] * c[2]

    cdef bint run_one(self, const double *q, const double *v, double **out) noexcept:
        """Compute one configuration; false leaves it to the general path."""
        cdef double *moved = <double *> malloc((self.bodies.nv + self.bodies.nnz) * sizeof(double))
        cdef Arguments args
        cdef bint done
        args.q, args.v, args.fext, args.out = q, v, NULL, moved
        args.x = <const double *> cnp.PyArray_DATA(<cnp.ndarray> self.rest)
        done = (moved != NULL and self.request.run_one(q, v, NULL, out + OWN)
                and self.bodies.run_one(MOTION, &args))
        if done:
            self.derive(moved, v, out)
        free(moved)
        return done

    cdef list allocate(self, double **to):
        """Return new arrays of the results of one configuration, and set `to` to their data."""
        cdef cnp.npy_intp shape[2]
        cdef Py_ssize_t k
        cdef int axes
        cdef list found = []
        shape[0] = shape[1] = self.bodies.nv
        for k in range(OWN + self.request.items):
            if k >= OWN:
                one = new_result(self.request.item[k - OWN].axes, self.request.item[k - OWN].shape)
            else:
                axes = 2 if k == 0 else k < 3
                one = new_result(axes, shape)
            to[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> one)
            found.append(one)
        return found

    cdef bint find_pointers(self, object q, object v, tuple out, const double **x, double **to) noexcept:
        """Set x to the data of q and v, and `to` to those of out; false if an array does not fit."""
        cdef Py_ssize_t nv = self.bodies.nv, k
        if not (len(out) == OWN + self.request.items and is_plain_vector(q, self.bodies.nq)
                and is_plain_vector(v, nv) and is_plain_matrix(out[0], nv, nv) and is_plain_vector(out[1], nv)
                and is_plain_vector(out[2], nv) and is_plain_scalar(out[3]) and is_plain_scalar(out[4])):
            return False
        for k in range(OWN):
            one = out[k]
            if may_overlap(q, one) or may_overlap(v, one) or not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> one):
                return False
            to[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> one)
        return self.request.find_pointers(q, v, None, out[OWN:], x, to + OWN)

    def run(self, q, v, out, threads=1):
        """Return the results of one configuration, or out, for contiguous float64 arrays; otherwise None."""
        cdef const double *x[3]
        cdef double *to[MOST]
        if not is_thread_count(threads):
            return None
        if out is not None:
            done = self.find_pointers(q, v, tuple(out), x, to) and self.run_one(x[0], x[1], to)
            return out if done else None
        if not (is_plain_vector(q, self.bodies.nq) and is_plain_vector(v, self.bodies.nv)):
            return None
        x[0] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> q)
        x[1] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> v)
        found = self.allocate(to)
        return found if self.run_one(x[0], x[1], to) else None

    def derive_batch(self, cnp.ndarray moved not None, cnp.ndarray v not None, tuple results not None):
        """Fill the first results of a batch from those of MOTION, (count, nv + nnz), and of the request.

        v has shape (count, nv); all arrays are C-contiguous, with one leading axis.
        """
        cdef Py_ssize_t count = len(v), _b, k
        cdef Py_ssize_t size[MOST]
        cdef double *to[MOST]
        cdef const double *packed = <const double *> moved.data
        cdef const double *rates = <const double *> v.data
        for k in range(len(results)):
            to[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> results[k])
            size[k] = (<cnp.ndarray> results[k]).size // max(count, 1)
        with nogil:
            for _b in range(count):
                self.derive(packed, rates, to)
                packed += self.bodies.nv + self.bodies.nnz
                rates += self.bodies.nv
                for k in range(CENTER_JACOBIAN + 1):
                    to[k] += size[k]


cdef class BoundTerms(BoundCall):
    """Call of `Terms` on one configuration whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    terms : Terms
    q, v : ndarray
        Contiguous float64 vectors.
    out : tuple of ndarray
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.

    Raises
    ------
    ValueError
        If an array is not contiguous float64, has the wrong shape, or overlaps out.
    """

    cdef Terms terms
    cdef const double *x[3]
    cdef double *to[MOST]

    def __cinit__(self, Terms terms not None, q, v, out, general_path):
        self.terms = terms
        if not terms.find_pointers(q, v, tuple(out), self.x, self.to):
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, out apart from the others"
            )
        self.kept, self.out, self.general_path = (q, v), out, general_path

    cdef bint run(self) noexcept:
        return self.terms.run_one(self.x[0], self.x[1], self.to)
