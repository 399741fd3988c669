"""Compute rows of loops and rigid contacts with their derivatives by q and v, and those of their forces."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from .._util._rotations cimport add_cross
from ..dynamics._recursions cimport RECORD, UNIT_MOTION, BodyMotion
from ._moving_frames cimport (
    ANGLE,
    HELD_3D,
    HELD_6D,
    ORIGINS,
    Drive,
    Frame,
    Moving,
    Pair,
    Part,
    UnitMotion,
    add,
    add_product,
    angular_derivatives,
    angular_rows,
    axis_derivative,
    axis_motion,
    differentiate_by_q,
    differentiate_by_v,
    dot,
    linear_derivatives,
    linear_rows,
    motion_cross,
    place,
    product_rule,
    rotate,
    subtract,
)
from ..kinematics._poses cimport PoseKernel, pose_kernel
from ._row_noise cimport drop_noise, find_errors

import numpy as np

from ..tolerances import CANCELLED

cnp.import_array()

cdef Part no_part
cdef Pair no_pair
cdef Drive no_drive
PART = np.asarray(<Part[:1]> &no_part).dtype
PAIR = np.asarray(<Pair[:1]> &no_pair).dtype
DRIVE = np.asarray(<Drive[:1]> &no_drive).dtype
assert PART.itemsize == sizeof(Part) and PAIR.itemsize == sizeof(Pair)

cdef double ROUNDING = CANCELLED
cdef PoseKernel so3_log = pose_kernel("so3_log")
cdef PoseKernel so3_jlog = pose_kernel("so3_jlog")
cdef BodyMotion BASE
for _ in range(3):
    BASE.axes[4 * _] = 1.0
PART_KINDS = {"origins": ORIGINS, "angle": ANGLE, "3D": HELD_3D, "6D": HELD_6D}


cdef inline const BodyMotion *body_motion(const double *frames, Py_ssize_t joint) noexcept nogil:
    """Return the kinematics record of the body of a joint; -1 is the base."""
    return &BASE if joint < 0 else <const BodyMotion *> (frames + RECORD * joint)


cdef inline bint moved(RowKernel kernel, const Frame *f, Py_ssize_t k) noexcept nogil:
    """Return whether a freedom moves a frame."""
    return f.body >= 0 and kernel.path[f.body * kernel.m + k]


cdef void find_turn(const Frame *f, double *turn) noexcept nogil:
    """turn <- rotation vector between two frames in base axes, then its derivative by rotations."""
    cdef double between[9]
    cdef double vector[3]
    cdef double J[9]
    cdef double x[3]
    cdef double y[3]
    cdef int r, c
    for r in range(3):
        for c in range(3):
            between[3 * r + c] = dot(f[1].axes + 3 * r, f.axes + 3 * c)
    so3_log(between, between, between, vector)
    so3_jlog(between, between, between, J)
    rotate(f.axes, vector, turn)
    for c in range(3):
        for r in range(3):
            x[r] = f.axes[3 * r + c]
        for r in range(3):
            y[r] = dot(J + 3 * r, x)
        rotate(f.axes, y, turn + 3 + 3 * c)


cdef class RowKernel:
    """Loops and rigid contacts of one model; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    below, joint, column : ndarray of int
        Of every freedom: the joint of the body below, its own joint, and its column in v.
    ratio : ndarray
        Ratio of every freedom to its column.
    path : ndarray of uint8, shape (njoints + 1, freedoms)
        Freedoms that move a body.
    moves : ndarray of uint8, shape (freedoms, freedoms)
        Whether unit motion j turns with freedom k.
    second : ndarray of uint8
        Second freedoms of universal joints.
    pairs, parts : ndarray of PAIR and PART
    sizes : tuple of int
        Joints, columns of v, rows.
    """

    def __cinit__(self, cnp.ndarray below, cnp.ndarray joint, cnp.ndarray column, cnp.ndarray ratio,
                  cnp.ndarray path, cnp.ndarray moves, cnp.ndarray second, cnp.ndarray pairs,
                  cnp.ndarray parts, tuple sizes):
        self.kept = below, joint, column, ratio, path, moves, second, pairs, parts, sizes
        self.m, self.pairs, self.parts = len(joint), len(pairs), len(parts)
        self.joints, self.n, self.rows = sizes
        self.below, self.joint = <const Py_ssize_t *> below.data, <const Py_ssize_t *> joint.data
        self.column, self.ratio = <const Py_ssize_t *> column.data, <const double *> ratio.data
        self.path, self.moves = <const unsigned char *> path.data, <const unsigned char *> moves.data
        self.second = <const unsigned char *> second.data
        self.pair, self.part = <const Pair *> pairs.data, <const Part *> parts.data
        cdef cnp.ndarray used = path[np.unique(pairs["body"])].any(0).astype(np.uint8)
        self.used, self.kept = <const unsigned char *> used.data, (self.kept, used)

    def __reduce__(self):
        return RowKernel, self.kept[0]

    cdef void unit_motions(self, const double *frames, const double *a, double *A,
                           UnitMotion *units) noexcept nogil:
        """Compute unit motions, and accelerations A of the bodies; NULL: a = 0."""
        cdef const BodyMotion *body
        cdef Py_ssize_t k, i, r
        for i in range(self.joints):
            body = body_motion(frames, i)
            for r in range(6):
                A[6 * i + r] = body.acceleration[r]
        for k in range(self.m):
            memset(units + k, 0, sizeof(UnitMotion))
            for r in range(6):
                units[k].S[r] = self.ratio[k] * frames[UNIT_MOTION(self.joints, k) + r]
            for i in range(0 if a == NULL else self.joints):
                if self.path[i * self.m + k]:
                    for r in range(6):
                        A[6 * i + r] += a[self.column[k]] * units[k].S[r]

    cdef void units(self, const double *frames, const double *v, const double *a, double *A,
                    UnitMotion *units) noexcept nogil:
        """Compute unit motions, what their changes are made of, and accelerations A as `unit_motions`."""
        cdef double V[6]
        cdef double own[6]
        cdef double down[6]
        cdef double step[6]
        cdef Py_ssize_t k, i, r
        cdef UnitMotion *x
        self.unit_motions(frames, a, A, units)
        for k in range(self.m):
            if not self.used[k]:
                continue
            x, i = units + k, self.below[k]
            for r in range(6):
                V[r] = body_motion(frames, i).velocity[r]
                own[r] = body_motion(frames, self.joint[k]).velocity[r]
                down[r] = A[6 * i + r] if i >= 0 else 0.0
            if self.second[k] or (k + 1 < self.m and self.second[k + 1]):
                i = k - 1 if self.second[k] else k        # first freedom of a universal joint
                for r in range(6):
                    step[r] = v[self.column[i]] * units[i].S[r]
                if self.second[k]:
                    motion_cross(V, step, down)
                    for r in range(6):
                        V[r] += step[r]
                        down[r] += (0.0 if a == NULL else a[self.column[i]]) * units[i].S[r]
                else:
                    for r in range(6):
                        own[r] = V[r] + step[r]
            motion_cross(V, x.S, x.first)
            motion_cross(down, x.S, x.second)
            motion_cross(V, x.first, x.second)
            motion_cross(own, x.S, x.mixed)
            for r in range(6):
                x.mixed[r] += x.first[r]

    cdef void differentiate_frames(self, int sides, const Frame *f, const UnitMotion *units,
                                   Moving *d) noexcept nogil:
        """Compute the derivatives of both frames of a pair: d[4 k] by q and d[4 k + 2] by v of freedom k."""
        cdef Py_ssize_t k
        cdef int side
        for k in range(self.m):
            if not (moved(self, f, k) or moved(self, f + 1, k)):
                continue
            if sides & BY_Q:
                memset(d + 4 * k, 0, 2 * sizeof(Moving))
            if sides & BY_V:
                memset(d + 4 * k + 2, 0, 2 * sizeof(Moving))
            for side in range(2):
                if moved(self, f + side, k) and sides & BY_Q:
                    differentiate_by_q(f + side, units + k, d + 4 * k + side)
                if moved(self, f + side, k) and sides & BY_V:
                    differentiate_by_v(f + side, units + k, d + 4 * k + 2 + side)

    cdef void part_rows(self, int sides, int order, const Part *part, const Frame *f, const Moving *d,
                        const double *log, double *values, double *derivatives) noexcept nogil:
        """Add values (3, rows) of a part, unless values is NULL, and its derivatives (3, rows, 2 nv).

        Derivatives of orders below ``order`` are left out, and those of residuals by v, which are zero.
        """
        cdef double y[36]            # values of two vectors, of two axes; then their changes
        cdef Py_ssize_t k, column
        cdef int side
        memset(y, 0, sizeof(y))
        if part.kind == ANGLE:
            axis_motion(f, part.i, y)
            axis_motion(f + 1, part.j, y + 9)
        else:
            linear_rows(part, f, y)
            if part.kind == HELD_6D:
                angular_rows(f, log, y + 9)
        if values != NULL:
            self.write(0, part, f, NULL, y, y, values + part.row, self.rows, 1)
        for k in range(self.m):
            if not (moved(self, f, k) or moved(self, f + 1, k)):
                continue
            for side in range(2):
                if not sides & (BY_V if side else BY_Q):
                    continue
                memset(y + 18, 0, 18 * sizeof(double))
                if part.kind == ANGLE:
                    axis_derivative(f, d + 4 * k + 2 * side, y, y + 18)
                    axis_derivative(f + 1, d + 4 * k + 2 * side + 1, y + 9, y + 27)
                else:
                    linear_derivatives(part, f, d + 4 * k + 2 * side, y, y + 18)
                    if part.kind == HELD_6D:
                        angular_derivatives(f, d + 4 * k + 2 * side, log, y + 27)
                column = part.row * 2 * self.n + side * self.n + self.column[k]
                self.write(max(order, side), part, f, d + 4 * k + 2 * side, y, y + 18, derivatives + column,
                           self.rows * 2 * self.n, 2 * self.n)

    cdef void write(self, int least, const Part *part, const Frame *f, const Moving *d, const double *y,
                    const double *dy, double *x, Py_ssize_t order_step, Py_ssize_t row_step) noexcept nogil:
        """Add rows of a part, or their change along d, to entries of x, from the order ``least`` on."""
        cdef double seen[3]
        cdef Py_ssize_t order, half, r
        for order in range(least, 3):
            if part.kind == ANGLE:
                if d == NULL:
                    x[order * order_step] += product_rule(y, y + 9, order)
                else:
                    x[order * order_step] += product_rule(dy, y + 9, order) + product_rule(y, dy + 9, order)
                continue
            for half in range(2 if part.kind == HELD_6D else 1):
                seen[0] = seen[1] = seen[2] = 0.0
                add(1.0, dy + 9 * half + 3 * order, seen)
                if part.local and d != NULL:
                    add_cross(1.0, y + 9 * half + 3 * order, d.turn, seen)
                for r in range(3):
                    x[order * order_step + (3 * half + r) * row_step] += (
                        dot(f.axes + 3 * r, seen) if part.local else seen[r]
                    )

    cdef void part_forces(self, const Part *part, const Frame *f, const Moving *d, const double *force,
                          double *E) noexcept nogil:
        """Add the derivatives by q (nv, nv) of the forces of a part."""
        cdef double x[12]            # force and moment on the first frame, then on the second
        cdef double dx[12]
        cdef double y[36]
        cdef Py_ssize_t k, j
        cdef int side
        memset(y, 0, sizeof(y))
        if part.kind == ANGLE:
            axis_motion(f, part.i, y)
            axis_motion(f + 1, part.j, y + 9)
        self.wrenches(part, f, NULL, force, y, x, x)
        for k in range(self.m):
            if not (moved(self, f, k) or moved(self, f + 1, k)):
                continue
            if part.kind == ANGLE:
                axis_derivative(f, d + 4 * k, y, y + 18)
                axis_derivative(f + 1, d + 4 * k + 1, y + 9, y + 27)
            self.wrenches(part, f, d + 4 * k, force, y, x, dx)
            for side in range(2):
                for j in range(self.m):
                    if moved(self, f + side, j):
                        E[self.column[j] * self.n + self.column[k]] += self.entry(
                            j, k, d + side, x + 6 * side, dx + 6 * side
                        )

    cdef double entry(self, Py_ssize_t j, Py_ssize_t k, const Moving *d, const double *x,
                      const double *dx) noexcept nogil:
        """Return the derivative along freedom k of the force of freedom j, of a wrench x on a frame."""
        cdef const Moving *by_j = d + 4 * j
        cdef const Moving *by_k = d + 4 * k
        cdef double turned[3]
        cdef double derivative = dot(by_j.p, dx) + dot(by_j.turn, dx + 3)
        turned[0] = turned[1] = turned[2] = 0.0
        if self.moves[j * self.m + k]:
            add_cross(1.0, x, by_k.turn, turned)
            derivative += dot(by_j.p, turned)
            turned[0] = turned[1] = turned[2] = 0.0
            add_cross(1.0, x + 3, by_k.turn, turned)
            derivative += dot(by_j.turn, turned)
        elif self.moves[k * self.m + j]:
            add_cross(1.0, x, by_j.turn, turned)
            derivative += dot(by_k.p, turned)
        return derivative

    cdef void wrenches(self, const Part *part, const Frame *f, const Moving *d, const double *force,
                       const double *y, double *x, double *dx) noexcept nogil:
        """Write forces and moments on both frames, x if d is NULL, or their derivatives dx."""
        cdef int side = part.kind == ORIGINS                # frame at whose origin the force acts
        cdef double apart[3]
        cdef double moved[3]
        cdef double f0[6]
        cdef double df[6]
        cdef const double *g = f0
        cdef Py_ssize_t r
        memset(f0, 0, sizeof(f0))
        memset(df, 0, sizeof(df))
        memset(dx, 0, 12 * sizeof(double))
        if part.kind == ANGLE:
            if d == NULL:
                add_cross(force[0], y + 9, y, dx + 9)
            else:
                add_product(force[0], y + 9, y + 27, y, y + 18, dx + 9)
            add(-1.0, dx + 9, dx + 3)
            return
        for r in range(3):
            f0[r] = force[r]
            f0[3 + r] = force[3 + r] if part.kind == HELD_6D else 0.0
        if part.local:
            rotate(f.axes, force, f0)
            if part.kind == HELD_6D:
                rotate(f.axes, force + 3, f0 + 3)
            if d != NULL:
                add_cross(1.0, d.turn, f0, df)
                add_cross(1.0, d.turn, f0 + 3, df + 3)
        if d != NULL:
            g = df
        subtract(f[side].at.p, f[1 - side].at.p, apart)
        add(1.0, g, dx + 6 * side)
        add(1.0, g + 3, dx + 6 * side + 3)
        add(-1.0, dx + 6 * side, dx + 6 * (1 - side))
        add(-1.0, dx + 6 * side + 3, dx + 6 * (1 - side) + 3)
        if part.kind == HELD_3D:
            return
        if d == NULL:
            add_cross(-1.0, apart, f0, dx + 6 * (1 - side) + 3)
        else:
            subtract(d[side].p, d[1 - side].p, moved)
            add_product(-1.0, apart, moved, f0, df, dx + 6 * (1 - side) + 3)

    def rows_of(self, const double[:, ::1] frames, const double[:, ::1] v, const double[:, ::1] a,
                bint turns, double[:, :, ::1] values, double[:, :, :, ::1] derivatives):
        """Add values (count, 3, rows) and derivatives (count, 3, rows, 2 nv) of all states to zeros."""
        cdef double *work = self.allocate()
        cdef Py_ssize_t b
        with nogil:
            for b in range(frames.shape[0] if self.parts else 0):
                self.state_rows(BY_Q | BY_V, 0, turns, &frames[b, 0], &v[b, 0], &a[b, 0], 0, NULL,
                                &values[b, 0, 0], &derivatives[b, 0, 0, 0], NULL, work)
        free(work)

    def forces_of(self, const double[:, ::1] frames, const double[:, ::1] v, const double[:, ::1] a,
                  const double[:, ::1] forces, double[:, :, ::1] E):
        """Add the derivatives by q (count, nv, nv) of the forces (count, rows) to zeros."""
        cdef double *work = self.allocate()
        cdef Py_ssize_t b
        with nogil:
            for b in range(frames.shape[0] if self.parts else 0):
                self.state_rows(BY_Q, 0, False, &frames[b, 0], &v[b, 0], &a[b, 0], 1, &forces[b, 0], NULL,
                                NULL, &E[b, 0, 0], work)
        free(work)

    cdef void state_rows(self, int sides, int order, bint turns, const double *frames, const double *v,
                         const double *a, int loads, const double *forces, double *values,
                         double *derivatives, double *E, double *work) noexcept nogil:
        """Add values, derivatives and those of forces of one state to zeros; NULL: those are not wanted.

        Loads is the number of forces (loads, rows), whose derivatives are E (loads, nv, nv). Derivatives are
        those of residuals (order 0), rates and accelerations, from ``order`` on; a = NULL is zero. Without
        ``turns`` residuals of rotations of contacts are zero.
        """
        cdef double log[12]
        cdef double *A = work
        cdef UnitMotion *units = <UnitMotion *> (work + 6 * self.joints)
        cdef Moving *d = <Moving *> (units + self.m)
        cdef double *errors = <double *> (d + 4 * self.m)
        cdef Frame f[2]
        cdef Py_ssize_t pair = -1, p
        cdef int load
        cdef const Part *part
        memset(log, 0, sizeof(log))
        self.units(frames, v, a, A, units)
        for p in range(self.parts):
            part = self.part + p
            if part.pair != pair:
                pair = part.pair
                self.prepare(sides, pair, frames, A, units, f, d)
            if derivatives != NULL:
                if turns and part.kind == HELD_6D:
                    find_turn(f, log)
                self.part_rows(sides, order, part, f, d, log, values, derivatives)
                if sides & BY_V:
                    find_errors(self.m, self.path, self.column, ROUNDING, f, units,
                                body_motion(frames, self.pair[pair].body[0]),
                                body_motion(frames, self.pair[pair].body[1]), self.n, errors)
                    drop_noise(part, self.n, errors,
                               derivatives + (self.rows + part.row) * 2 * self.n + self.n)
            for load in range(loads):
                self.part_forces(part, f, d, forces + load * self.rows + part.row, E + load * self.n * self.n)

    cdef void prepare(self, int sides, Py_ssize_t pair, const double *frames, const double *A,
                      const UnitMotion *units, Frame *f, Moving *d) noexcept nogil:
        """Compute both frames of a pair and their derivatives."""
        cdef const BodyMotion *first = body_motion(frames, self.pair[pair].body[0])
        cdef const BodyMotion *second = body_motion(frames, self.pair[pair].body[1])
        place(self.pair + pair, 0, first, first, A, f)
        place(self.pair + pair, 1, second, first, A, f + 1)
        self.differentiate_frames(sides, f, units, d)

    cdef Py_ssize_t workspace_size(self) noexcept nogil:
        """Return the doubles of accelerations, unit motions, changes and rounding errors."""
        cdef Py_ssize_t each = (sizeof(UnitMotion) + 4 * sizeof(Moving)) // sizeof(double)
        return 6 * self.joints + 2 * self.n + self.m * each

    cdef double *allocate(self) except NULL:
        """Allocate a workspace for one state."""
        cdef size_t size = (self.workspace_size() + 1) * sizeof(double)
        cdef double *work = <double *> malloc(size)
        if work == NULL:
            raise MemoryError(f"not enough memory for {size} bytes")
        return work
