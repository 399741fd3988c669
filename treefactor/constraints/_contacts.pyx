"""Compute gaps, axes and rows of contacts in one state, and the rows of friction."""

cimport numpy as cnp
from libc.math cimport copysign, sqrt
from libc.string cimport memcpy

from ..dynamics._recursions cimport RECORD, UNIT_MOTION, BodyMotion, Entry

import numpy as np

cnp.import_array()

ctypedef struct Contact:
    Py_ssize_t body[2]           # joint of the other body, of the sphere
    Py_ssize_t flat
    Py_ssize_t entry, stop, columns   # range of the entries of a row; number of its columns
    double anchor[3]
    double normal[3]
    double center[3]
    double radius, reach         # reach: sum of both radii

cdef Contact empty_contact
CONTACT = np.asarray(<Contact[:1]> &empty_contact).dtype
assert CONTACT.itemsize == sizeof(Contact)

cdef BodyMotion BASE             # at rest, its axes those of coordinates
for _ in range(3):
    BASE.axes[4 * _] = 1.0


cdef inline const BodyMotion *body_motion(const double *frames, Py_ssize_t joint) noexcept nogil:
    """Return the kinematics record of the body of a joint; -1 is the base."""
    return &BASE if joint < 0 else <const BodyMotion *> (frames + RECORD * joint)


cdef inline double dot(const double *a, const double *b) noexcept nogil:
    """Return a . b in three dimensions."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline void rotate(const double *R, const double *x, double *y) noexcept nogil:
    """Compute y = R x, R stored by columns."""
    cdef int r
    for r in range(3):
        y[r] = R[r] * x[0] + R[3 + r] * x[1] + R[6 + r] * x[2]


cdef void add_tangents(double *axes) noexcept nogil:
    """Complete n to rows n, t1, t2 of a right-handed frame, z, x, y for n = z (Duff et al. 2017)."""
    cdef const double *n = axes
    cdef double sign = copysign(1.0, n[2])
    cdef double a = -1.0 / (sign + n[2])
    cdef double b = n[0] * n[1] * a
    axes[3], axes[4], axes[5] = 1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]
    axes[6], axes[7], axes[8] = b, sign + n[1] * n[1] * a, -n[1]


cdef class ContactKernel:
    """Contacts of one model; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    joints : int
    contacts : ndarray of CONTACT
    entries : ndarray of ENTRY
    columns : ndarray of int
        Columns of all rows, one contact after the other.
    """

    cdef Py_ssize_t joints, count
    cdef const Contact *contact
    cdef const Entry *entry
    cdef const Py_ssize_t *column
    cdef object kept

    def __cinit__(self, Py_ssize_t joints, cnp.ndarray contacts not None, cnp.ndarray entries not None,
                  cnp.ndarray columns not None):
        self.joints, self.count = joints, len(contacts)
        self.contact = <const Contact *> contacts.data
        self.entry = <const Entry *> entries.data
        self.column = <const Py_ssize_t *> columns.data
        self.kept = (contacts, entries, columns)

    def __reduce__(self):
        return ContactKernel, (self.joints, *self.kept)

    def near(self, const double[::1] frames not None, double margin):
        """Find contacts with gaps up to the margin: numbers, gaps, axes (k, 3, 3), and their rows.

        Rows are given by the start of every contact, (k + 1,), their columns, and entries (3, nnz).
        """
        cdef Py_ssize_t k, i, found = 0, size = 0, first = 0
        which, gap, axes = np.empty(self.count, np.intp), np.empty(self.count), np.empty((self.count, 3, 3))
        points = np.empty((self.count, 6))
        cdef Py_ssize_t[::1] number = which
        cdef double[::1] far = gap
        cdef double[:, :, ::1] axis = axes
        cdef double[:, ::1] point = points
        with nogil:
            for k in range(self.count):
                far[found] = self.measure(&self.contact[k], &frames[0], &axis[found, 0, 0], &point[found, 0])
                if far[found] <= margin:
                    number[found] = k
                    size += self.contact[k].columns
                    found += 1
        start, column, data = np.zeros(found + 1, np.intp), np.empty(size, np.intp), np.zeros((3, size))
        cdef Py_ssize_t[::1] begin = start, to = column
        cdef double[:, ::1] rows = data
        cdef const Contact *c
        with nogil:
            k = 0
            for i in range(found):
                first += self.skip_columns(&k, number[i])
                c = &self.contact[number[i]]
                begin[i + 1] = begin[i] + c.columns
                add_tangents(&axis[i, 0, 0])
                if not c.columns:
                    continue
                memcpy(&to[begin[i]], self.column + first, c.columns * sizeof(Py_ssize_t))
                self.fill(c, &frames[0], &axis[i, 0, 0], &point[i, 0], &rows[0, begin[i]], size)
        return which[:found], gap[:found], axes[:found], start, column, data

    cdef Py_ssize_t skip_columns(self, Py_ssize_t *k, Py_ssize_t stop) noexcept nogil:
        """Count the columns of the contacts k .. stop-1 and set k = stop."""
        cdef Py_ssize_t sum = 0
        while k[0] < stop:
            sum += self.contact[k[0]].columns
            k[0] += 1
        return sum

    cdef double measure(self, const Contact *c, const double *frames, double *n,
                        double *point) noexcept nogil:
        """The gap; n <- its direction, point <- where it ends on the sphere, from both roots' origins."""
        cdef const BodyMotion *a = body_motion(frames, c.body[0])
        cdef const BodyMotion *b = body_motion(frames, c.body[1])
        cdef double center[3]
        cdef double anchor[3]
        cdef double way[3]
        cdef double length
        cdef int r
        rotate(b.axes, c.center, center)
        rotate(a.axes, c.anchor, anchor)
        for r in range(3):
            center[r] += b.origin[r]
            way[r] = b.root[r] - a.root[r] + center[r] - (a.origin[r] + anchor[r])
        if c.flat:
            rotate(a.axes, c.normal, n)
            length = dot(n, way)
        else:
            length = sqrt(dot(way, way))
            for r in range(3):
                n[r] = way[r] / length if length > 0.0 else r == 2
        for r in range(3):
            point[3 + r] = center[r] - c.radius * n[r]
            point[r] = point[3 + r] + b.root[r] - a.root[r]
        return length - c.reach

    cdef void fill(self, const Contact *c, const double *frames, const double *axes, const double *point,
                   double *rows, Py_ssize_t size) noexcept nogil:
        """Add three rows, `size` apart: velocity of the point relative to the other body, along the axes."""
        cdef const Entry *e
        cdef const double *S
        cdef const double *r
        cdef double u[3]
        cdef double sign
        cdef Py_ssize_t i
        cdef int axis
        for i in range(c.entry, c.stop):
            e = &self.entry[i]
            S = frames + UNIT_MOTION(self.joints, e.freedom)
            r = point + 3 * e.side
            sign = e.ratio if e.side else -e.ratio
            u[0] = S[0] + S[4] * r[2] - S[5] * r[1]
            u[1] = S[1] + S[5] * r[0] - S[3] * r[2]
            u[2] = S[2] + S[3] * r[1] - S[4] * r[0]
            for axis in range(3):
                rows[axis * size + e.place] += sign * dot(axes + 3 * axis, u)


def friction_rows(const Py_ssize_t[::1] which not None, const Py_ssize_t[::1] start not None,
                  const Py_ssize_t[::1] column not None, const double[:, ::1] data not None,
                  const double[::1] mu not None, const double[:, ::1] forms not None, bint scaled,
                  const Py_ssize_t[::1] limited not None, const double[::1] sign not None):
    """Combine normals and tangents by the forms to rows; contacts without friction have the first form only.

    Tangents are multiplied by mu if `scaled`. Rows of limits follow, one entry each.

    Returns
    -------
    start, column, entries : ndarray
        All rows in compressed form.
    of, key : ndarray
        For rows of contacts: index of the near contact; number of the contact times number of forms, plus
        form.
    along : ndarray, shape (rows, 3)
        Forms of these rows.
    """
    cdef Py_ssize_t k, e, i, count, row = 0, at = 0, near = which.shape[0], rows = 0, size = 0
    cdef double x, y, z
    for k in range(near):
        count = forms.shape[0] if mu[which[k]] > 0.0 else 1
        rows += count
        size += count * (start[k + 1] - start[k])
    count, size = rows + limited.shape[0], size + limited.shape[0]
    found = np.zeros(count + 1, np.intp), np.empty(size, np.intp), np.empty(size)
    of_, key_, along_ = np.empty(rows, np.intp), np.empty(rows, np.intp), np.empty((rows, 3))
    cdef Py_ssize_t[::1] begin = found[0], to = found[1], of = of_, key = key_
    cdef double[::1] entry = found[2]
    cdef double[:, ::1] along = along_
    with nogil:
        for k in range(near):
            z = mu[which[k]] if scaled else 1.0
            for i in range(forms.shape[0] if mu[which[k]] > 0.0 else 1):
                x, y = z * forms[i, 1], z * forms[i, 2]
                of[row], key[row] = k, which[k] * forms.shape[0] + i
                along[row, 0], along[row, 1], along[row, 2] = forms[i, 0], x, y
                for e in range(start[k], start[k + 1]):
                    to[at], entry[at] = column[e], forms[i, 0] * data[0, e] + x * data[1, e] + y * data[2, e]
                    at += 1
                row += 1
                begin[row] = at
        for k in range(limited.shape[0]):
            to[at], entry[at] = limited[k], sign[k]
            at += 1
            begin[row + k + 1] = at
    return *found, of_, key_, along_
