"""Find the near contacts of shapes in one state: their points, and the rows of these."""

cimport numpy as cnp
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from .._util._rotations cimport absolute_sum, add_cross
from ..dynamics._recursions cimport RECORD, BodyMotion
from ._contacts cimport Contact, ContactKernel
from ._touching cimport (
    MOST_POINTS,
    PLANE,
    Collider,
    ContactShape,
    Pose,
    TouchPoint,
    find_points,
    pose_array,
)

import numpy as np

cnp.import_array()

SLOTS = MOST_POINTS              # contacts that a pair of shapes has, one for each of its points
cdef double SKIN = 1e-3          # m: closer points are kept, whatever the speed
cdef double HASTE = 2.0          # times as fast as now may shapes come closer in a step
cdef double DIRECTIONS = 10.0    # roundings of a normal: some are directions between points
cdef double SLACK = 1e-13        # relative to coordinates in the base, whose rounding errors are smaller
cdef int64_t FREE = -1           # identity of a slot that holds no point

cdef BodyMotion BASE             # at rest, its axes those of coordinates
for _ in range(3):
    BASE.axes[4 * _] = 1.0


cdef inline const BodyMotion *body_motion(const double *frames, Py_ssize_t joint) noexcept nogil:
    """Return the kinematics record of the body of a joint; -1 is the base."""
    return &BASE if joint < 0 else <const BodyMotion *> (frames + RECORD * joint)


cdef inline Py_ssize_t *integers(cnp.ndarray x):
    return <Py_ssize_t *> x.data


cdef inline double *doubles(cnp.ndarray x):
    return <double *> x.data


cdef inline double length(const double *x) noexcept nogil:
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


cdef void place_shape(const BodyMotion *body, const BodyShape *shape, PlacedShape *to) noexcept nogil:
    """Place a shape; axes of bodies are stored by columns."""
    cdef double center[3]
    cdef int r, c, k
    for r in range(3):
        to.pose.p[r] = body.origin[r]
        for k in range(3):
            to.pose.p[r] += body.axes[3 * k + r] * shape.own.p[k]
        for c in range(3):
            to.pose.R[3 * r + c] = 0.0
            for k in range(3):
                to.pose.R[3 * r + c] += body.axes[3 * k + r] * shape.own.R[3 * k + c]
    for r in range(3):
        center[r] = to.pose.p[r]
        for k in range(3):
            center[r] += to.pose.R[3 * r + k] * shape.shape.center[k]
        to.center[r] = center[r] + body.root[r]
        to.velocity[r], to.spin[r] = body.velocity[r], body.velocity[3 + r]
    add_cross(1.0, to.spin, center, to.velocity)
    to.turning = length(to.spin)
    to.slack = SLACK * (absolute_sum(center) + absolute_sum(body.root))


cdef double closing_speed(const PlacedShape *a, const PlacedShape *b, const double *apart,
                          double size) noexcept nogil:
    """Bound the speed of points of b, which has a ball of this size around it, against the body of a."""
    cdef double v[3]
    cdef int r
    for r in range(3):
        v[r] = b.velocity[r] - a.velocity[r]
    add_cross(-1.0, a.spin, apart, v)
    return length(v) + size * (a.turning + b.turning)


cdef bint balls_are_apart(const ContactShape *shape, const PlacedShape *a, const double *apart, double size,
                          double reach) noexcept nogil:
    """Return whether the balls around two shapes, or a plane and a ball, are farther apart than the reach."""
    cdef const double *R = a.pose.R
    if shape.kind == PLANE:
        return R[2] * apart[0] + R[5] * apart[1] + R[8] * apart[2] > size + reach
    reach += shape.size + size
    return reach < 0.0 or apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] > reach * reach


cdef class ShapeContactKernel:
    """Pairs of shapes of one model; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    rows : ContactKernel
        Bodies and columns of every pair.
    colliders : list of pairs of Collider
        Each belongs to one shape on one body; normals are out of the first one of a pair.
    finders : list of callable or None
        Of pairs without a kernel: ``finder(first_pose, second_pose, margin)`` returns points, as
        `touching_points` does. It is called with the GIL.
    poses : ndarray, shape (pairs, 2, 12)
        R by rows, then p, of both shapes in the frames of their joints.
    h, gravity : float
        Step and size of the gravity: points are near if they may touch within a step.
    """

    def __cinit__(self, ContactKernel rows not None, list colliders not None, list finders not None,
                  cnp.ndarray poses not None, double h, double gravity):
        cdef Py_ssize_t k, number
        cdef int end
        cdef cnp.ndarray shapes = np.empty(2 * max(len(colliders), 1) * sizeof(BodyShape), np.uint8)
        cdef cnp.ndarray sides = np.empty((len(colliders), 2), np.intp)
        cdef BodyShape *shape = <BodyShape *> shapes.data
        cdef Py_ssize_t *side = <Py_ssize_t *> sides.data
        cdef const Pose *pose = <const Pose *> poses.data
        cdef dict known = {}
        cdef cnp.ndarray slow = np.array([finder is not None for finder in finders], np.uint8)
        self.finders, self.slow = finders, <const unsigned char *> slow.data
        self.rows, self.count, self.h, self.gravity = rows, len(colliders), h, gravity
        for k in range(self.count):
            for end in range(2):
                number = known.setdefault(id(colliders[k][end]), len(known))
                side[2 * k + end] = number
                shape[number].shape = &(<Collider?> colliders[k][end]).shape
                shape[number].body, shape[number].own = rows.contact[k].body[end], pose[2 * k + end]
        self.shape, self.side, self.shapes = shape, side, len(known)
        self.kept = (rows, colliders, finders, poses, h, gravity), shapes, sides, slow

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
        cdef Py_ssize_t count, size = 0, most = self.count * MOST_POINTS
        slots, pairs, gaps = np.empty(most, np.intp), np.empty(most, np.intp), np.empty(most)
        axes, points, places = np.empty((most, 3, 3)), np.empty((most, 10)), np.empty((most, 3))
        fresh, identities = np.empty(most, bool), np.empty((self.count, MOST_POINTS), np.int64)
        placed = np.empty(self.shapes * sizeof(PlacedShape), np.uint8)
        cdef ShapePoints to
        to.slot, to.pair = integers(slots), integers(pairs)
        to.gap, to.axes, to.point, to.place = doubles(gaps), doubles(axes), doubles(points), doubles(places)
        to.is_new = <unsigned char *> (<cnp.ndarray> fresh).data
        cdef int64_t *identity = <int64_t *> (<cnp.ndarray> identities).data
        cdef PlacedShape *shapes = <PlacedShape *> (<cnp.ndarray> placed).data
        with nogil:
            count = self.find(&frames[0], margin, &before[0, 0], identity, shapes, &to)
            size = self.rows.list_columns(count, to.pair, NULL, NULL)
        starts, columns, entries = np.zeros(count + 1, np.intp), np.empty(size, np.intp), np.empty((4, size))
        cdef Py_ssize_t *start = integers(starts)
        cdef Py_ssize_t *column = integers(columns)
        cdef double *entry = doubles(entries)
        with nogil:
            self.rows.list_columns(count, to.pair, start, column)
            self.rows.fill_all(&frames[0], count, to.pair, start, to.axes, to.point, to.gap, entry, size)
        return (slots[:count], gaps[:count], axes[:count], starts, columns, entries[:3], entries[3],
                places[:count], identities, fresh[:count])

    cdef Py_ssize_t find(self, const double *frames, double margin, const int64_t *before, int64_t *identity,
                         PlacedShape *placed, ShapePoints *to) except -1 nogil:
        """Write near points without the tangents of their axes, and identities; return how many there are."""
        cdef Py_ssize_t k, at, count = 0
        cdef TouchPoint found[MOST_POINTS]
        cdef int holds[MOST_POINTS]
        cdef int s
        for k in range(self.shapes):
            place_shape(body_motion(frames, self.shape[k].body), self.shape + k, placed + k)
        for k in range(self.count):
            at = MOST_POINTS * k
            s = self.points_of_pair(k, frames, margin, placed, found)
            assign_slots(found, s, before + at, identity + at, holds)
            for s in range(MOST_POINTS):
                if holds[s] < 0:
                    continue
                to.slot[count], to.pair[count], to.gap[count] = at + s, k, found[holds[s]].gap
                to.is_new[count] = before[at + s] != identity[at + s]
                memcpy(to.axes + 9 * count, found[holds[s]].normal, 3 * sizeof(double))
                self.describe(k, frames, found[holds[s]].point, to.point + 10 * count, to.place + 3 * count)
                count += 1
        return count

    cdef int points_of_pair(self, Py_ssize_t k, const double *frames, double margin,
                            const PlacedShape *placed, TouchPoint *found) except -1 nogil:
        """Find the points of a pair that may touch within a step, from the origin of the first root body."""
        cdef const BodyShape *first = self.shape + self.side[2 * k]
        cdef const BodyShape *second = self.shape + self.side[2 * k + 1]
        cdef const PlacedShape *a = placed + self.side[2 * k]
        cdef const PlacedShape *b = placed + self.side[2 * k + 1]
        cdef double apart[3]
        cdef double reach, size = second.shape.size
        cdef Pose pose
        cdef int r
        for r in range(3):
            apart[r] = b.center[r] - a.center[r]
        reach = SKIN + self.h * (HASTE * closing_speed(a, b, apart, size) + self.h * self.gravity)
        reach = min(margin, reach)
        if balls_are_apart(first.shape, a, apart, size, reach + a.slack + b.slack):
            return 0
        pose = b.pose
        for r in range(3):
            pose.p[r] += body_motion(frames, second.body).root[r] - body_motion(frames, first.body).root[r]
        if self.slow[k]:
            with gil:
                return self.find_slowly(k, &a.pose, &pose, reach, found)
        return find_points(first.shape, &a.pose, second.shape, &pose, reach, found)

    cdef int find_slowly(self, Py_ssize_t k, const Pose *a, const Pose *b, double margin,
                         TouchPoint *found) except -1:
        """Find the points of a pair that has no kernel."""
        cdef cnp.ndarray points = self.finders[k](pose_array(a), pose_array(b), margin)
        memcpy(found, points.data, len(points) * sizeof(TouchPoint))
        return len(points)

    cdef void describe(self, Py_ssize_t k, const double *frames, const double *x, double *point,
                       double *place) noexcept nogil:
        """Write a point from both root bodies, and the sizes of its terms, as `ContactKernel` does."""
        cdef const Contact *c = self.rows.contact + k
        cdef const BodyMotion *a = body_motion(frames, c.body[0])
        cdef const BodyMotion *b = body_motion(frames, c.body[1])
        cdef const ContactShape *second = self.shape[self.side[2 * k + 1]].shape
        cdef int r
        point[6] = 0.0
        for r in range(3):
            point[r], place[r] = x[r], x[r] + a.root[r]
            point[3 + r] = x[r] - (b.root[r] - a.root[r])
            if b.root[r] != a.root[r]:
                point[6] += abs(b.root[r]) + abs(a.root[r])
        point[9] = absolute_sum(a.origin) + absolute_sum(b.origin)
        point[7] = absolute_sum(point + 3) + absolute_sum(b.origin) + second.size
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
