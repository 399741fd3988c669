"""Find the near contacts of shapes in one state: their points, and the rows of these."""

cimport cython
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
cdef double DEEP = 2.5e-4        # m: points that would overlap by more have rows, too
cdef double DIRECTIONS = 10.0    # roundings of a normal: some are directions between points
cdef double SLACK = 1e-13        # relative to coordinates in the base, whose rounding errors are smaller
cdef int64_t FREE = -1           # identity of a slot that holds no point
cdef int64_t CURVED = 1 << 60    # added to identities of points of curved shapes that have a row elsewhere

cdef CarriedPoint carried_point
CARRIED = np.asarray(<CarriedPoint[:1]> &carried_point).dtype
NOTHING_CARRIED = np.empty(0, CARRIED)

cdef BodyMotion BASE             # at rest, its axes those of coordinates
for _ in range(3):
    BASE.axes[4 * _] = 1.0


cdef inline const BodyMotion *body_motion(const double *frames, Py_ssize_t joint) noexcept nogil:
    """Return the kinematics record of the body of a joint; -1 is the base."""
    return <const BodyMotion *> &BASE if joint < 0 else <const BodyMotion *> (frames + RECORD * joint)


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
    cdef const double *R = &a.pose.R[0]
    if shape.kind == PLANE:
        return R[2] * apart[0] + R[5] * apart[1] + R[8] * apart[2] > size + reach
    reach += shape.size + size
    return reach < 0.0 or apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] > reach * reach


cdef void turn_to(const Pose *to, const Pose *of, double *x) noexcept nogil:
    """Turn a vector with a shape, from one pose to another."""
    cdef double own[3]
    cdef int r, c
    for c in range(3):
        own[c] = of.R[c] * x[0] + of.R[3 + c] * x[1] + of.R[6 + c] * x[2]
    for r in range(3):
        x[r] = to.R[3 * r] * own[0] + to.R[3 * r + 1] * own[1] + to.R[3 * r + 2] * own[2]


@cython.final
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
                self.largest = max(self.largest, shape[number].shape.size)
        self.shape, self.side, self.shapes = shape, side, len(known)
        self.kept = (rows, colliders, finders, poses, h, gravity), shapes, sides, slow

    def __reduce__(self):
        return ShapeContactKernel, self.kept[0]

    def near(self, const double[::1] frames not None, double margin, const int64_t[:, ::1] before not None,
             cnp.ndarray carried not None):
        """Find points that may touch within a step, with gaps up to the margin.

        Parameters
        ----------
        frames : ndarray
            Kinematics records.
        margin : float
        before : ndarray of int, shape (pairs, SLOTS)
            Identities of the points in the slots of all pairs, in the last step.
        carried : ndarray of CARRIED
            Points that are near, too, from `overlooked`.

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
        cdef Py_ssize_t added = len(carried)
        cdef const CarriedPoint *more = <const CarriedPoint *> carried.data
        with nogil:
            count = self.find(&frames[0], margin, &before[0, 0], identity, added, more, shapes, NULL, &to)
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

    def overlooked(self, const double[::1] frames not None, const double[::1] moving not None, ahead,
                   double margin, const int64_t[:, ::1] identities not None):
        """Find points without rows that overlap by more than DEEP when the bodies have moved.

        Parameters
        ----------
        frames, moving : ndarray
            Kinematics records of the state before the step, and there at the velocities after it.
        ahead : callable
            Returns those of the state after it; called only if a pair moves far or turns much.
        margin : float
        identities : ndarray of int, shape (pairs, SLOTS)
            Of the points that have rows.

        Returns
        -------
        ndarray of CARRIED
        """
        cdef Py_ssize_t doubts, count
        cdef cnp.ndarray rooms = np.empty((2, self.shapes * sizeof(PlacedShape)), np.uint8)
        cdef PlacedShape *before = <PlacedShape *> rooms.data
        cdef PlacedShape *after = before + self.shapes
        doubtful = np.empty(self.count, np.intp)
        cdef Py_ssize_t *doubt = integers(doubtful)
        with nogil:
            self.place_all(&frames[0], before)
            doubts = self.find_doubts(&moving[0], margin, before, after, doubt)
        if not doubts:
            return NOTHING_CARRIED
        carried = np.empty(doubts * MOST_POINTS, CARRIED)
        cdef CarriedPoint *to = <CarriedPoint *> (<cnp.ndarray> carried).data
        cdef const double[::1] then = ahead()
        with nogil:
            count = self.find_overlooked(&frames[0], &then[0], doubts, doubt, &identities[0, 0], before,
                                         after, to)
        return carried[:count]

    cdef void place_all(self, const double *frames, PlacedShape *placed) noexcept nogil:
        """Place all shapes."""
        cdef Py_ssize_t k
        for k in range(self.shapes):
            place_shape(body_motion(frames, self.shape[k].body), self.shape + k, placed + k)

    cdef void widen(self, PlacedShape *placed) noexcept nogil:
        """Compute the balls that shapes near others reach into: without the motion of both, pair by pair."""
        cdef PlacedShape *one
        cdef double haste = HASTE * self.h
        cdef Py_ssize_t k
        for k in range(self.shapes):
            one = placed + k
            one.radius = self.shape[k].shape.size + one.slack + 0.5 * (SKIN + self.h * self.h * self.gravity)
            one.radius += haste * (length(one.velocity) + self.largest * one.turning)
            one.share = max(0.0, 1.0 - haste * one.turning - SLACK) ** 2

    cdef Py_ssize_t find_doubts(self, const double *moving, double margin, const PlacedShape *placed,
                                PlacedShape *moved, Py_ssize_t *doubt) noexcept nogil:
        """List pairs of which points without rows may overlap by more than DEEP after the step.

        They come closer than `points_of_pair` expects, or turn: the lowest point has a row, and others come
        down farther than it by no more than that. Where shapes touch, both turn by their own sizes.
        """
        cdef const PlacedShape *a
        cdef const PlacedShape *b
        cdef double apart[3]
        cdef double turn[3]
        cdef double size, travel
        cdef Py_ssize_t k, i, j, count = 0
        cdef int r
        cdef bint some = False
        self.place_all(moving, moved)
        for k in range(self.shapes):
            moved[k].is_lively = self.is_lively(self.shape[k].shape, placed + k, moved + k)
            some = some or moved[k].is_lively
        if not some:
            return 0
        for k in range(self.count):
            i, j = self.side[2 * k], self.side[2 * k + 1]
            a, b, size = moved + i, moved + j, self.shape[j].shape.size
            if not (a.is_lively or b.is_lively):
                continue
            for r in range(3):
                apart[r], turn[r] = b.center[r] - a.center[r], b.spin[r] - a.spin[r]
            travel = self.h * closing_speed(a, b, apart, size)
            if balls_are_apart(self.shape[i].shape, a, apart, size, travel + a.slack + b.slack):
                continue
            if (travel > self.reach(placed + i, placed + j, apart, size, margin)
                    or 2.0 * self.h * size * length(turn) > DEEP):
                doubt[count] = k
                count += 1
        return count

    cdef bint is_lively(self, const ContactShape *shape, const PlacedShape *placed,
                        const PlacedShape *moved) noexcept nogil:
        """Return whether a pair with this shape may be doubtful, whatever the other one is."""
        cdef double faster[3]
        cdef double turn[3]
        cdef int r
        if shape.kind == PLANE:
            return moved.turning > 0.0 or placed.turning > 0.0
        for r in range(3):
            faster[r], turn[r] = moved.velocity[r] - placed.velocity[r], moved.spin[r] - placed.spin[r]
        return (self.h * (length(faster) + shape.size * length(turn)) > 0.5 * SKIN
                or 2.0 * self.h * shape.size * moved.turning > 0.5 * DEEP)

    cdef Py_ssize_t find_overlooked(self, const double *frames, const double *ahead, Py_ssize_t doubts,
                                    const Py_ssize_t *doubt, const int64_t *identity,
                                    const PlacedShape *placed, PlacedShape *then,
                                    CarriedPoint *to) except -1 nogil:
        """Write points of these pairs without rows that overlap by more than DEEP; return how many.

        On curved shapes the row of a point is of what touches now; what touches then may need its own.
        """
        cdef TouchPoint points[MOST_POINTS]
        cdef Py_ssize_t d, k, count = 0
        cdef int i, number
        cdef bint curved
        self.place_all(ahead, then)
        for d in range(doubts):
            k = doubt[d]
            number = self.touch_pair(k, ahead, 0.0 if self.slow[k] else -DEEP, then, points)
            curved = (self.shape[self.side[2 * k]].shape.radius > 0.0
                      or self.shape[self.side[2 * k + 1]].shape.radius > 0.0)
            for i in range(number):
                if curved and is_in(identity + MOST_POINTS * k, points[i].identity):
                    points[i].identity += CURVED
                if points[i].gap < -DEEP and not is_in(identity + MOST_POINTS * k, points[i].identity):
                    to[count].pair, to[count].at = k, points[i]
                    self.carry_back(k, frames, ahead, placed, then, &to[count].at)
                    if points[i].gap < to[count].at.gap - DEEP:
                        count += 1
        return count

    cdef void carry_back(self, Py_ssize_t k, const double *frames, const double *ahead,
                         const PlacedShape *placed, const PlacedShape *then, TouchPoint *x) noexcept nogil:
        """Carry a point back to where it was on either shape before the step, with its normal on the first.

        The rate of the gap n . (x_b - x_a) is then that of n . v at the point x_b.
        """
        cdef Py_ssize_t i = self.side[2 * k], j = self.side[2 * k + 1]
        cdef Py_ssize_t first = self.shape[i].body, second = self.shape[j].body
        cdef double on_a[3]
        cdef double on_b[3]
        cdef double normal[3]
        cdef double root, root_ahead
        cdef int r
        for r in range(3):
            root_ahead = body_motion(ahead, second).root[r] - body_motion(ahead, first).root[r]
            on_a[r] = x.point[r] - 0.5 * x.gap * x.normal[r] - then[i].pose.p[r]
            on_b[r] = x.point[r] + 0.5 * x.gap * x.normal[r] - then[j].pose.p[r] - root_ahead
            normal[r] = x.normal[r]
        turn_to(&placed[i].pose, &then[i].pose, on_a)
        turn_to(&placed[j].pose, &then[j].pose, on_b)
        turn_to(&placed[i].pose, &then[i].pose, normal)
        x.gap = 0.0
        for r in range(3):
            root = body_motion(frames, second).root[r] - body_motion(frames, first).root[r]
            x.normal[r], x.point[r] = normal[r], on_b[r] + placed[j].pose.p[r] + root
            x.gap += normal[r] * (x.point[r] - on_a[r] - placed[i].pose.p[r])

    cdef Py_ssize_t find(self, const double *frames, double margin, const int64_t *before, int64_t *identity,
                         Py_ssize_t carried, const CarriedPoint *more, PlacedShape *placed,
                         NearPoints *known, ShapePoints *to) except -1 nogil:
        """Write near points without the tangents of their axes, and identities; return how many there are.

        Carried points follow the others of their pairs, as far as these leave slots. Where the other points
        are known from another call in this state, they are not found again; otherwise they are kept.
        """
        cdef Py_ssize_t k, i, at, count = 0, next_known = 0
        cdef bint again = known != NULL and known.count >= 0
        cdef TouchPoint touching[MOST_POINTS]
        cdef int holds[MOST_POINTS]
        cdef int s
        if not again:
            self.place_all(frames, placed)
            self.widen(placed)
        if known != NULL and not again:
            known.count = 0
        for k in range(self.count):
            at = MOST_POINTS * k
            if again:
                s = 0
                while next_known < known.count and known.point[next_known].pair == k:
                    touching[s] = known.point[next_known].at
                    s, next_known = s + 1, next_known + 1
            else:
                s = self.points_of_pair(k, frames, margin, placed, touching)
                if known != NULL:
                    for i in range(s):
                        known.point[known.count].pair, known.point[known.count].at = k, touching[i]
                        known.count += 1
            for i in range(carried):
                if more[i].pair == k and s < MOST_POINTS:
                    touching[s] = more[i].at
                    s += 1
            if s == 0:
                for i in range(MOST_POINTS):
                    identity[at + i] = FREE
                continue
            assign_slots(touching, s, before + at, identity + at, holds)
            for s in range(MOST_POINTS):
                if holds[s] < 0:
                    continue
                to.slot[count], to.pair[count], to.gap[count] = at + s, k, touching[holds[s]].gap
                to.is_new[count] = before[at + s] != identity[at + s]
                memcpy(to.axes + 9 * count, touching[holds[s]].normal, 3 * sizeof(double))
                self.describe(
                    k, frames, touching[holds[s]].point, to.point + 10 * count, to.place + 3 * count
                )
                count += 1
        return count

    cdef int points_of_pair(self, Py_ssize_t k, const double *frames, double margin,
                            const PlacedShape *placed, TouchPoint *touching) except -1 nogil:
        """Find the points of a pair that may touch within a step, from the origin of the first root body."""
        cdef const BodyShape *first = self.shape + self.side[2 * k]
        cdef const BodyShape *second = self.shape + self.side[2 * k + 1]
        cdef const PlacedShape *a = placed + self.side[2 * k]
        cdef const PlacedShape *b = placed + self.side[2 * k + 1]
        cdef double apart[3]
        cdef double reach, square, size = second.shape.size
        cdef int r
        for r in range(3):
            apart[r] = b.center[r] - a.center[r]
        square = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]
        if first.shape.kind != PLANE and a.share * square > (a.radius + b.radius) ** 2:
            return 0
        reach = self.reach(a, b, apart, size, margin)
        if balls_are_apart(first.shape, a, apart, size, reach + a.slack + b.slack):
            return 0
        return self.touch_pair(k, frames, reach, placed, touching)

    cdef double reach(self, const PlacedShape *a, const PlacedShape *b, const double *apart, double size,
                      double margin) noexcept nogil:
        """Return the gap up to which points are near: what may close within a step, at most the margin."""
        cdef double speed = closing_speed(a, b, apart, size)
        return min(margin, SKIN + self.h * (HASTE * speed + self.h * self.gravity))

    cdef int touch_pair(self, Py_ssize_t k, const double *frames, double reach, const PlacedShape *placed,
                        TouchPoint *touching) except -1 nogil:
        """Find the points of a pair with gaps up to the reach, from the origin of the first root body."""
        cdef const BodyShape *first = self.shape + self.side[2 * k]
        cdef const BodyShape *second = self.shape + self.side[2 * k + 1]
        cdef const PlacedShape *a = placed + self.side[2 * k]
        cdef Pose pose = placed[self.side[2 * k + 1]].pose
        cdef int r
        for r in range(3):
            pose.p[r] += body_motion(frames, second.body).root[r] - body_motion(frames, first.body).root[r]
        if self.slow[k]:
            with gil:
                return self.find_slowly(k, &a.pose, &pose, reach, touching)
        return find_points(first.shape, &a.pose, second.shape, &pose, reach, touching)

    cdef int find_slowly(self, Py_ssize_t k, const Pose *a, const Pose *b, double margin,
                         TouchPoint *touching) except -1:
        """Find the points of a pair that has no kernel."""
        cdef cnp.ndarray points = self.finders[k](pose_array(a), pose_array(b), margin)
        memcpy(touching, points.data, len(points) * sizeof(TouchPoint))
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


cdef bint is_in(const int64_t *identity, int64_t wanted) noexcept nogil:
    """Return whether a pair has a point with this identity."""
    cdef int s
    for s in range(MOST_POINTS):
        if identity[s] == wanted:
            return True
    return False


cdef void assign_slots(const TouchPoint *touching, int number, const int64_t *before, int64_t *identity,
                       int *holds) noexcept nogil:
    """Give points the slots that they had, and new ones free slots; holds <- the point of a slot, or -1."""
    cdef int i, s
    cdef bint waits[MOST_POINTS]
    for s in range(MOST_POINTS):
        identity[s], holds[s] = FREE, -1
    for i in range(number):
        waits[i] = True
        for s in range(MOST_POINTS):
            if before[s] == touching[i].identity:
                identity[s], holds[s], waits[i] = before[s], i, False
                break
    s = 0
    for i in range(number):
        if waits[i]:
            while holds[s] >= 0:
                s += 1
            identity[s], holds[s] = touching[i].identity, i
