"""Find the near contacts of shapes in one state: their points, and the rows of these."""

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from .._util._rotations cimport absolute_sum, add_cross
from ..dynamics._recursions cimport RECORD, BodyMotion
from ._contacts cimport Contact, ContactKernel
from ._touching cimport MOST_POINTS, Collider, ContactShape, Pose, TouchPoint, find_points

import numpy as np

cnp.import_array()

SLOTS = MOST_POINTS              # contacts that a pair of shapes has, one for each of its points
cdef double SKIN = 1e-3          # m: closer points are kept, whatever the speed
cdef double HASTE = 2.0          # times as fast as now may shapes come closer in a step
cdef double DIRECTIONS = 10.0    # roundings of a normal: some are directions between points
cdef int64_t FREE = -1           # identity of a slot that holds no point

cdef BodyMotion BASE             # at rest, its axes those of coordinates
for _ in range(3):
    BASE.axes[4 * _] = 1.0


cdef inline const BodyMotion *body_motion(const double *frames, Py_ssize_t joint) noexcept nogil:
    """Return the kinematics record of the body of a joint; -1 is the base."""
    return &BASE if joint < 0 else <const BodyMotion *> (frames + RECORD * joint)


cdef void place_shape(const BodyMotion *body, const Pose *own, Pose *to) noexcept nogil:
    """Compute the pose of a shape, from the origin of its root body; axes of bodies are stored by columns."""
    cdef int r, c, k
    for r in range(3):
        to.p[r] = body.origin[r]
        for k in range(3):
            to.p[r] += body.axes[3 * k + r] * own.p[k]
        for c in range(3):
            to.R[3 * r + c] = 0.0
            for k in range(3):
                to.R[3 * r + c] += body.axes[3 * k + r] * own.R[3 * k + c]


cdef inline double length(const double *x) noexcept nogil:
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


cdef struct Pair:                # two shapes on their bodies; normals are out of the first one
    const ContactShape *shape[2]
    Pose own[2]


cdef class ShapeContactKernel:
    """Pairs of shapes of one model; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    rows : ContactKernel
        Bodies and columns of every pair.
    colliders : list of pairs of Collider
    poses : ndarray, shape (pairs, 2, 12)
        R by rows, then p, of both shapes in the frames of their joints.
    h, gravity : float
        Step and size of the gravity: points are near if they may touch within a step.
    """

    cdef ContactKernel rows
    cdef Py_ssize_t count
    cdef Pair *pair
    cdef double h, gravity
    cdef object kept

    def __cinit__(self, ContactKernel rows not None, list colliders not None, cnp.ndarray poses not None,
                  double h, double gravity):
        cdef Py_ssize_t k
        cdef int side
        cdef cnp.ndarray memory = np.empty(max(len(colliders), 1) * sizeof(Pair), np.uint8)
        cdef const Pose *pose = <const Pose *> poses.data
        self.rows, self.count, self.h, self.gravity = rows, len(colliders), h, gravity
        self.pair = <Pair *> memory.data
        for k in range(self.count):
            for side in range(2):
                self.pair[k].shape[side] = &(<Collider?> colliders[k][side]).shape
                self.pair[k].own[side] = pose[2 * k + side]
        self.kept = (rows, colliders, poses, h, gravity), memory

    def __reduce__(self):
        return ShapeContactKernel, self.kept[0]

    def near(self, const double[::1] frames not None, double margin, const int64_t[:, ::1] before not None):
        """Find points that may touch within a step, with gaps up to the margin.

        Parameters
        ----------
        frames : ndarray
            Kinematics records.
        margin : float
        before : ndarray of int, shape (pairs, SLOTS)
            Identities of the points in the slots of all pairs, in the last step.

        Returns
        -------
        slot : ndarray of int
            SLOTS times the pair, plus the slot: a point keeps its slot while it stays. Ascending.
        gap, axes, start, column, entries, errors
            As of `ContactKernel.near`.
        place : ndarray, shape (points, 3)
            Where the points are, in the base.
        identities : ndarray of int, shape (pairs, SLOTS)
            For the next step.
        is_new : ndarray of bool
            Whether points were not there in the last step.
        """
        cdef Py_ssize_t k, i, count = 0, size = 0, most = self.count * MOST_POINTS
        slots, gaps, axes = np.empty(most, np.intp), np.empty(most), np.empty((most, 3, 3))
        points, places, fresh = np.empty((most, 10)), np.empty((most, 3)), np.empty(most, bool)
        identities = np.empty((self.count, MOST_POINTS), np.int64)
        cdef Py_ssize_t[::1] slot = slots
        cdef double[::1] gap = gaps
        cdef double[:, :, ::1] axis = axes
        cdef double[:, ::1] point = points, place = places
        cdef int64_t[:, ::1] identity = identities
        cdef unsigned char[::1] is_new = fresh.view(np.uint8)
        cdef TouchPoint found[MOST_POINTS]
        cdef int holds[MOST_POINTS]
        cdef int number, s
        with nogil:
            for k in range(self.count):
                number = self.points_of_pair(k, &frames[0], margin, found)
                assign_slots(found, number, &before[k, 0], &identity[k, 0], holds)
                for s in range(MOST_POINTS):
                    if holds[s] < 0:
                        continue
                    slot[count], gap[count] = MOST_POINTS * k + s, found[holds[s]].gap
                    is_new[count] = before[k, s] != identity[k, s]
                    memcpy(&axis[count, 0, 0], found[holds[s]].normal, 3 * sizeof(double))
                    self.describe(k, &frames[0], found[holds[s]].point, &point[count, 0], &place[count, 0])
                    size += self.rows.contact[k].columns
                    count += 1
        starts, columns, entries = np.zeros(count + 1, np.intp), np.empty(size, np.intp), np.empty((4, size))
        cdef Py_ssize_t[::1] start = starts, column = columns
        cdef double[:, ::1] entry = entries
        cdef const Contact *c
        cdef Py_ssize_t[::1] pairs = slots // MOST_POINTS
        with nogil:
            for i in range(count):
                c = self.rows.contact + pairs[i]
                start[i + 1] = start[i] + c.columns
                if c.columns:
                    memcpy(&column[start[i]], self.rows.column + c.first, c.columns * sizeof(Py_ssize_t))
            if count:
                self.rows.fill_all(&frames[0], count, &pairs[0], &start[0], &axis[0, 0, 0], &point[0, 0],
                                   &gap[0], &entry[0, 0] if size else NULL, size)
        return (slots[:count], gaps[:count], axes[:count], starts, columns, entries[:3], entries[3],
                places[:count], identities, fresh[:count])

    cdef int points_of_pair(self, Py_ssize_t k, const double *frames, double margin,
                            TouchPoint *found) noexcept nogil:
        """Find the points of a pair that may touch within a step, from the origin of the first root body."""
        cdef const Pair *pair = self.pair + k
        cdef const BodyMotion *a = body_motion(frames, self.rows.contact[k].body[0])
        cdef const BodyMotion *b = body_motion(frames, self.rows.contact[k].body[1])
        cdef Pose first, second
        cdef double reach
        cdef int r
        place_shape(a, &pair.own[0], &first)
        place_shape(b, &pair.own[1], &second)
        reach = self.closing_speed(a, b, &second, pair.shape[1])
        reach = min(margin, SKIN + self.h * (HASTE * reach + self.h * self.gravity))
        for r in range(3):
            second.p[r] += b.root[r] - a.root[r]
        return find_points(pair.shape[0], &first, pair.shape[1], &second, reach, found)

    cdef double closing_speed(self, const BodyMotion *a, const BodyMotion *b, const Pose *second,
                              const ContactShape *shape) noexcept nogil:
        """Bound the speed of points of the second shape against the first body."""
        cdef double v[3]
        cdef double at[3]
        cdef double center[3]
        cdef int r, k
        for r in range(3):
            center[r] = second.p[r]
            for k in range(3):
                center[r] += second.R[3 * r + k] * shape.center[k]
            v[r] = b.velocity[r] - a.velocity[r]
            at[r] = center[r] + (b.root[r] - a.root[r])
        add_cross(1.0, b.velocity + 3, center, v)
        add_cross(-1.0, a.velocity + 3, at, v)
        return length(v) + shape.size * (length(a.velocity + 3) + length(b.velocity + 3))

    cdef void describe(self, Py_ssize_t k, const double *frames, const double *x, double *point,
                       double *place) noexcept nogil:
        """Write a point from both root bodies, and the sizes of its terms, as `ContactKernel` does."""
        cdef const Contact *c = self.rows.contact + k
        cdef const BodyMotion *a = body_motion(frames, c.body[0])
        cdef const BodyMotion *b = body_motion(frames, c.body[1])
        cdef int r
        point[6] = 0.0
        for r in range(3):
            point[r], place[r] = x[r], x[r] + a.root[r]
            point[3 + r] = x[r] - (b.root[r] - a.root[r])
            if b.root[r] != a.root[r]:
                point[6] += abs(b.root[r]) + abs(a.root[r])
        point[9] = absolute_sum(a.origin) + absolute_sum(b.origin)
        point[7] = absolute_sum(point + 3) + absolute_sum(b.origin) + self.pair[k].shape[1].size
        point[6] += point[7] + absolute_sum(point) + absolute_sum(a.origin)
        point[8] = DIRECTIONS


cdef void assign_slots(const TouchPoint *found, int number, const int64_t *before, int64_t *identity,
                       int *holds) noexcept nogil:
    """Give points the slots that they had, and new ones free slots; holds <- the point of a slot, or -1."""
    cdef int i, s
    cdef bint waits[MOST_POINTS]
    for s in range(MOST_POINTS):
        identity[s], holds[s] = FREE, -1
    for i in range(number):
        waits[i] = True
        for s in range(MOST_POINTS):
            if before[s] == found[i].identity:
                identity[s], holds[s], waits[i] = before[s], i, False
                break
    s = 0
    for i in range(number):
        if waits[i]:
            while holds[s] >= 0:
                s += 1
            identity[s], holds[s] = found[i].identity, i
