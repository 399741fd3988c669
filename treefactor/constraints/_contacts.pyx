"""Find the near contacts of one state: their gaps, axes and rows."""

cimport numpy as cnp
from libc.math cimport copysign, fabs, fmax, sqrt
from libc.string cimport memcpy

from .._util._rotations cimport absolute_sum
from ..dynamics._recursions cimport RECORD, UNIT_MOTION, BodyMotion

import numpy as np

from ..tolerances import CANCELLED

cnp.import_array()

cdef Contact empty_contact
CONTACT = np.asarray(<Contact[:1]> &empty_contact).dtype
assert CONTACT.itemsize == sizeof(Contact)

cdef Point empty_point
POINT = np.asarray(<Point[:1]> &empty_point).dtype
assert POINT.itemsize == sizeof(Point)

cdef Pair empty_pair
PAIR = np.asarray(<Pair[:1]> &empty_pair).dtype
assert PAIR.itemsize == sizeof(Pair)

cdef double SLACK = 1e-13        # relative to coordinates in the base, whose rounding errors are smaller
cdef double ROUNDING = CANCELLED

cdef BodyMotion BASE             # at rest, its axes those of coordinates
for _ in range(3):
    BASE.axes[4 * _] = 1.0


cdef inline const BodyMotion *body_motion(const double *frames, Py_ssize_t joint) noexcept nogil:
    """Return the kinematics record of the body of a joint; -1 is the base."""
    return <const BodyMotion *> &BASE if joint < 0 else <const BodyMotion *> (frames + RECORD * joint)


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


def pairs_of_points(contacts):
    """Return pairs of points for all contacts, and these points, each once: centres or points of planes."""
    sides = np.zeros((2, len(contacts), 7))
    sides[0, :, 0], sides[1, :, 0] = contacts["body"].T
    sides[0, :, 1:4], sides[0, :, 4:] = contacts["anchor"], contacts["normal"]
    sides[1, :, 1:4] = contacts["center"]
    once, number = np.unique(sides.reshape(-1, 7), axis=0, return_inverse=True)
    points, pairs = np.zeros(len(once), dtype=POINT), np.zeros(len(contacts), dtype=PAIR)
    points["body"], points["position"], points["normal"] = once[:, 0], once[:, 1:4], once[:, 4:]
    pairs["other"], pairs["point"] = number.reshape(2, -1)
    pairs["reach"], pairs["flat"] = contacts["reach"], contacts["flat"]
    return pairs, points


cdef inline bint is_far(const Pair *c, const double *places, double margin) noexcept nogil:
    """Return whether the gap of a contact is above the margin, from places in the base."""
    cdef const double *b = places + 8 * c.point
    cdef const double *a = places + 8 * c.other
    cdef double x = b[0] - a[0]
    cdef double y = b[1] - a[1]
    cdef double z = b[2] - a[2]
    cdef double reach = margin + c.reach
    if c.flat:
        return b[0] * a[3] + b[1] * a[4] + b[2] * a[5] - a[6] > reach
    return reach < 0.0 or x * x + y * y + z * z > reach * reach


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

    def __cinit__(self, Py_ssize_t joints, cnp.ndarray contacts not None, cnp.ndarray entries not None,
                  cnp.ndarray columns not None):
        cdef cnp.ndarray pairs, points
        pairs, points = pairs_of_points(contacts)
        self.joints, self.count, self.points = joints, len(contacts), len(points)
        self.contact = <const Contact *> contacts.data
        self.pair = <const Pair *> pairs.data
        self.point = <const Point *> points.data
        self.entry = <const Entry *> entries.data
        self.column = <const Py_ssize_t *> columns.data
        self.kept = (contacts, entries, columns, pairs, points)

    def __reduce__(self):
        return ContactKernel, (self.joints, *self.kept[:3])

    def near(self, const double[::1] frames not None, double margin):
        """Find contacts with gaps up to the margin: numbers, gaps, axes (k, 3, 3), and their rows.

        Rows are given by the start of every contact, (k + 1,), their columns, entries (3, nnz), and the
        rounding errors (nnz,) of these; an entry within its rounding errors is zero.
        """
        cdef Py_ssize_t candidates = 0, near = 0, size = 0
        which = np.empty(self.count, np.intp)
        cdef Py_ssize_t[::1] number = which
        places = np.empty((self.points, 8))
        cdef double[:, ::1] place = places
        with nogil:
            if self.count:
                candidates = self.find_candidates(&frames[0], margin, &place[0, 0], &number[0])
        gap, axes, points = np.empty(candidates), np.empty((candidates, 3, 3)), np.empty((candidates, 10))
        cdef double[::1] far = gap
        cdef double[:, :, ::1] axis = axes
        cdef double[:, ::1] point = points
        with nogil:
            if candidates:
                near = self.measure_candidates(&frames[0], margin, candidates, &number[0], &far[0],
                                               &axis[0, 0, 0], &point[0, 0])
                size = self.list_columns(near, &number[0], NULL, NULL)
        start, column, data = np.zeros(near + 1, np.intp), np.empty(size, np.intp), np.empty((4, size))
        cdef Py_ssize_t[::1] begin = start, to = column
        cdef double[:, ::1] rows = data
        with nogil:
            if near:
                self.list_columns(near, &number[0], &begin[0], &to[0] if size else NULL)
                self.fill_all(&frames[0], near, &number[0], &begin[0], &axis[0, 0, 0], &point[0, 0],
                              &far[0], &rows[0, 0] if size else NULL, size)
        return which[:near], gap[:near], axes[:near], start, column, data[:3], data[3]

    cdef Py_ssize_t find_candidates(self, const double *frames, double margin, double *places,
                                    Py_ssize_t *number) noexcept nogil:
        """List the contacts that are near, and some within rounding errors of the margin; return how many."""
        cdef Py_ssize_t k, candidates = 0
        cdef double slack = SLACK * self.locate(frames, places)
        for k in range(self.count):
            number[candidates] = k
            candidates += not is_far(self.pair + k, places, margin + slack)
        return candidates

    cdef Py_ssize_t measure_candidates(self, const double *frames, double margin, Py_ssize_t candidates,
                                       Py_ssize_t *number, double *gap, double *axes,
                                       double *points) noexcept nogil:
        """Keep the candidates that are near, with gaps, normals and points; return how many these are."""
        cdef Py_ssize_t i, k, near = 0
        for i in range(candidates):
            k = number[i]
            gap[near] = self.measure(self.contact + k, frames, axes + 9 * near, points + 10 * near)
            if gap[near] <= margin:
                number[near] = k
                near += 1
        return near

    cdef Py_ssize_t list_columns(self, Py_ssize_t near, const Py_ssize_t *number, Py_ssize_t *start,
                                 Py_ssize_t *column) noexcept nogil:
        """Write where the rows of near contacts begin and their columns, unless NULL; return their size.

        The rows begin at start[0]; columns are written from there.
        """
        cdef Py_ssize_t i, size = 0 if start == NULL else start[0]
        cdef const Contact *c
        for i in range(near):
            c = self.contact + number[i]
            if column != NULL and c.columns:
                memcpy(column + size, self.column + c.first, c.columns * sizeof(Py_ssize_t))
            size += c.columns
            if start != NULL:
                start[i + 1] = size
        return size

    cdef void fill_all(self, const double *frames, Py_ssize_t near, const Py_ssize_t *number,
                       const Py_ssize_t *start, double *axes, const double *points, double *gap,
                       double *rows, Py_ssize_t size) noexcept nogil:
        """Complete the axes of near contacts; write their rows and rounding errors, `size` apart."""
        cdef Py_ssize_t i
        cdef double far = 0.0
        for i in range(near):
            add_tangents(axes + 9 * i)
            if i == 0 or number[i] != number[i - 1]:
                far = self.farthest_axis(self.contact + number[i], frames, points + 10 * i)
            self.fill(self.contact + number[i], frames, axes + 9 * i, points + 10 * i, far, gap + i,
                      rows + start[i], size)

    cdef double locate(self, const double *frames, double *places) noexcept nogil:
        """Compute all points and normals in the base, and their product; return the largest coordinate."""
        cdef const BodyMotion *body
        cdef const Point *p
        cdef double *x
        cdef double largest = 0.0
        cdef Py_ssize_t i
        cdef int r
        for i in range(self.points):
            p, x = self.point + i, places + 8 * i
            body = body_motion(frames, p.body)
            rotate(body.axes, p.position, x)
            rotate(body.axes, p.normal, x + 3)
            for r in range(3):
                x[r] += body.root[r] + body.origin[r]
                largest = fmax(largest, fabs(x[r]) + fabs(body.origin[r]) + fabs(p.position[r]))
            x[6] = dot(x, x + 3)
        return largest

    cdef double measure(self, const Contact *c, const double *frames, double *n,
                        double *point) noexcept nogil:
        """The gap; n <- its direction, point <- where it ends on the sphere, from both roots' origins.

        Behind these 6 coordinates stand the sizes of their terms, two, and how many roundings the direction
        has: that of a distance between two centres has so many more as its terms are larger. Last comes the
        distance of both bodies from their root bodies.
        """
        cdef const BodyMotion *a = body_motion(frames, c.body[0])
        cdef const BodyMotion *b = body_motion(frames, c.body[1])
        cdef double center[3]
        cdef double anchor[3]
        cdef double way[3]
        cdef double length, terms
        cdef int r
        rotate(b.axes, c.center, center)
        rotate(a.axes, c.anchor, anchor)
        point[9] = absolute_sum(a.origin) + absolute_sum(b.origin)
        point[7] = absolute_sum(center) + absolute_sum(b.origin) + c.radius
        terms = point[7] + absolute_sum(anchor) + absolute_sum(a.origin)
        for r in range(3):
            if b.root[r] != a.root[r]:           # equal ones, as of bodies of one tree, leave no error
                terms += fabs(b.root[r]) + fabs(a.root[r])
            center[r] += b.origin[r]
            way[r] = b.root[r] - a.root[r] + center[r] - (a.origin[r] + anchor[r])
        point[6], point[8] = terms, 1.0
        if c.flat:
            rotate(a.axes, c.normal, n)
            length = dot(n, way)
        else:
            length = sqrt(dot(way, way))
            if length <= ROUNDING * terms:
                length = 0.0
            else:
                point[8] = 1.0 + terms / length
            for r in range(3):
                n[r] = way[r] / length if length > 0.0 else r == 2
        for r in range(3):
            point[3 + r] = center[r] - c.radius * n[r]
            point[r] = point[3 + r] + (b.root[r] - a.root[r])
        return length - c.reach

    cdef double farthest_axis(self, const Contact *c, const double *frames,
                              const double *point) noexcept nogil:
        """Return the largest distance from the root body of an axis about which a contact's bodies turn."""
        cdef const double *S
        cdef double x, far = 0.0
        cdef Py_ssize_t i
        if point[9] > 0.0:                       # some body is not at the origin of its root body
            for i in range(c.entry, c.stop):
                S = frames + UNIT_MOTION(self.joints, self.entry[i].freedom)
                x = absolute_sum(S)
                if x > far and absolute_sum(S + 3) > 0.0:
                    far = x
        return far

    cdef void fill(self, const Contact *c, const double *frames, const double *axes, const double *point,
                   double far, double *gap, double *rows, Py_ssize_t size) noexcept nogil:
        """Write three rows, `size` apart: velocity of the point relative to the other body, along the axes.

        Their rounding errors follow, and entries within these become zero: where a motion does not change
        the gap, nothing but rounding errors is left, which have no leverage. Neither has a gap that no motion
        changes, which becomes zero if it is within its own.
        """
        cdef const Entry *e
        cdef const Entry *entry = self.entry
        cdef const double *S
        cdef const double *r
        cdef double u[3]
        cdef double moving[3]
        cdef double reach[2]
        cdef double sign, x, error = 0.0
        cdef bint opens = False
        cdef Py_ssize_t i, joints = self.joints
        cdef int axis
        reach[0], reach[1] = far + point[6], far + point[7]
        moving[0] = moving[1] = moving[2] = 0.0
        for i in range(c.entry, c.stop):
            e = &entry[i]
            S = frames + UNIT_MOTION(joints, e.freedom)
            r = point + 3 * e.side
            sign = e.ratio if e.side else -e.ratio
            u[0] = S[0] + S[4] * r[2] - S[5] * r[1]
            u[1] = S[1] + S[5] * r[0] - S[3] * r[2]
            u[2] = S[2] + S[3] * r[1] - S[4] * r[0]
            for axis in range(3):
                moving[axis] += sign * u[axis]
            error += fabs(sign) * (point[8] * absolute_sum(u) + reach[e.side] * absolute_sum(S + 3))
            if i + 1 < c.stop and entry[i + 1].place == e.place:
                continue                         # of joints that share a leader
            error *= ROUNDING
            for axis in range(3):
                x = dot(axes + 3 * axis, moving)
                x = x if fabs(x) > error else 0.0
                rows[axis * size + e.place] = x
                opens |= axis == 0 and x != 0.0
            rows[3 * size + e.place] = error
            error = moving[0] = moving[1] = moving[2] = 0.0
        if not opens and fabs(gap[0]) <= ROUNDING * (point[6] + c.reach):
            gap[0] = 0.0
