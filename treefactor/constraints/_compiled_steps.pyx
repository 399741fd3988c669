"""Take time steps of one world in compiled code, without the GIL."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcmp, memcpy, memset

from .._util._fast_arrays cimport all_finite
from ..dynamics._dynamics_functions cimport Bias, EquationOfMotion, Frames
from ..dynamics._recursions cimport Bodies
from ..linalg._multi_rhs cimport h_mul
from ..linalg._single cimport InputMatrix, SingleKernel
from ..mlcp._active_set cimport ActiveSetSolver
from ..mlcp._iterate cimport FULL, ON, SOLVED_
from ..tree._pattern cimport MULTIPLY, SOLVE, Pattern, Workspace, active, carve_workspace, workspace_size
from ._contacts cimport ContactKernel
from ._joint_integration cimport CONVERGED, IMPROVES, ROUNDS, JointIntegrator, midpoint_status
from ._shape_contacts cimport CarriedPoint, NearPoints, PlacedShape, ShapeContactKernel, ShapePoints
from ._touching cimport MOST_POINTS
from ._unilateral_rows cimport Near, RowResults, UnilateralRows, keep_open, match_rows, sum_normals

import numpy as np

from .._util.validation import aligned
from ..mlcp._fronts import Fronts
from ..mlcp._kkt import Kkt
from ..mlcp._stacked_rows import vector
from ..mlcp.symbolic_kkt import analyse, positions
from ._step_records import SOLUTIONS, LastStep

cnp.import_array()

cdef int MOST_SOLUTIONS = SOLUTIONS
NO_SUPPORTS = np.zeros(1, np.intp), np.zeros(0, np.intp)  # start and column of no rows


cdef class RowSolver:
    """Solver for the supports of the present rows; where these change, it is fitted or replaced.

    The order of elimination of a forest depends on the rows: there solvers of past ones are kept and taken
    again. That of one tree is fixed, and one solver is fitted to all rows.

    Parameters
    ----------
    tree : Tree
    """

    cdef object tree, symbolic, workspace
    cdef ActiveSetSolver solver
    cdef Py_ssize_t m            # rows of the solver, -1 before the first one
    cdef bint is_forest

    def __cinit__(self, tree not None):
        self.tree, self.m = tree, -1
        self.is_forest = np.count_nonzero(tree.parent < 0) > 1
        if not self.is_forest:
            fronts = Fronts(positions(tree, *NO_SUPPORTS), tree, *NO_SUPPORTS)
            self.solver = ActiveSetSolver(Kkt(fronts), tree.pattern)

    cdef begin(self, symbolic):
        """Begin with an analysis, or None, that probably fits."""
        self.symbolic = symbolic

    cdef end(self):
        """Leave the workspace to others."""
        if self.workspace is not None:
            self.symbolic.idle.append(self.workspace)
        self.workspace, self.m = None, -1

    cdef int fit(self, const RowResults *r) except -1 nogil:
        """Fit the solver to the supports of these rows, unless they are the present ones."""
        cdef size_t width = sizeof(Py_ssize_t)
        if (r.row == self.m and memcmp(r.start, self.solver.rows.start, (r.row + 1) * width) == 0
                and memcmp(r.column, self.solver.rows.column, r.entry * width) == 0):
            return 0
        self.m = -1
        with gil:
            if self.is_forest:
                self.replace(r)
            else:
                self.solver.fit(r.row, r.start, r.column)
            self.m = r.row
        return 0

    cdef replace(self, const RowResults *r):
        """Take a solver for the supports of these rows."""
        cdef cnp.ndarray start = np.empty(r.row + 1, np.intp), column = np.empty(r.entry, np.intp)
        memcpy(start.data, r.start, (r.row + 1) * sizeof(Py_ssize_t))
        memcpy(column.data, r.column, r.entry * sizeof(Py_ssize_t))
        self.end()
        self.symbolic = analyse(self.tree, start, column, self.symbolic)
        self.workspace = self.symbolic.workspace(self.tree)
        self.solver = self.workspace[1]

    cdef bint solve(self, const double *H, const double *g, const double *free, const RowResults *r,
                    const double *gamma, const unsigned char *on, double target,
                    Py_ssize_t limit) noexcept nogil:
        """Solve from impulses and rows that are on, or NULL; return whether that succeeds."""
        self.solver.load_values(H, g, free, r.entries, r.d, r.upper, 0)
        return self.solver.solve(gamma, on, False, target, limit) == SOLVED_


cdef class CompiledSteps:
    """Steps of a model without loops and drives.

    Each has the bits of `Stepper.step`. A step that fails is left to `Stepper.step`.

    Parameters
    ----------
    bodies : Bodies
    tree : Tree
    contacts : ContactKernel
    shapes : ShapeContactKernel or None
    rows : UnilateralRows
    removal : UnilateralRows or None
        Of the motion that removes overlaps.
    integrator : JointIntegrator
    h, margin, touching, target : float
        Step; margin of contacts; overlap that is not removed; residual at which the solver stops.
    limit : int
        Linear systems that the solver may solve in a step.
    implicit : bool
        Forces that depend on the velocity act by the midpoint rule, as in `FreeMotion`.
    """

    cdef Bodies bodies
    cdef Frames find_frames
    cdef EquationOfMotion find_motion
    cdef Bias find_bias
    cdef Pattern pattern
    cdef ContactKernel contacts
    cdef ShapeContactKernel shapes
    cdef UnilateralRows rows, removal
    cdef JointIntegrator integrator
    cdef RowSolver solver, remover
    cdef SingleKernel factor
    cdef InputMatrix packed_H
    cdef Workspace padded
    cdef double h, margin, touching, target
    cdef Py_ssize_t limit, n, slots, pairs
    cdef bint implicit
    cdef Near near
    cdef ShapePoints points      # of shapes, behind the contacts of spheres
    cdef NearPoints nearby       # of shapes, in this step
    cdef RowResults results, removing
    cdef Py_ssize_t entries      # of all rows that there is memory for
    cdef Py_ssize_t near_entries     # of normals that there is memory for
    cdef Py_ssize_t *number      # of near contacts of this step
    cdef Py_ssize_t *start       # of their rows
    cdef Py_ssize_t *column
    cdef double *gap
    cdef double *axes
    cdef double *point
    cdef double *data
    cdef double *places
    cdef double *frames
    cdef PlacedShape *placed
    cdef PlacedShape *moved      # at the velocities after the step
    cdef PlacedShape *then       # after the step
    cdef double *moving          # kinematics records of these
    cdef double *ahead
    cdef Py_ssize_t *doubt       # pairs that may have points without rows that they need
    cdef CarriedPoint *carried
    cdef Py_ssize_t added        # number of carried points
    cdef double *motion          # forces, then packed rows of H
    cdef double *momentum
    cdef double *free
    cdef double *turned          # velocity without impulses
    cdef double *middle          # mean velocity of the step
    cdef double *a
    cdef double *still           # zeros
    cdef double *impulse         # first guess, and which rows are on
    cdef unsigned char *on
    cdef double *pressed         # normal impulses, of this step's near contacts in the last step
    cdef int64_t *identity
    cdef Py_ssize_t known        # rows of the last step, -1 before the first one
    cdef Py_ssize_t *last_key
    cdef double *last_gamma
    cdef unsigned char *last_active
    cdef double *last_pressed    # by slots
    cdef Py_ssize_t pressing     # slots of which it may not be zero
    cdef Py_ssize_t *presses
    cdef int64_t *last_identity
    cdef dict kept

    def __cinit__(self, Bodies bodies not None, tree not None, ContactKernel contacts not None,
                  ShapeContactKernel shapes, UnilateralRows rows not None, UnilateralRows removal,
                  JointIntegrator integrator not None, double h, double margin, double touching,
                  double target, Py_ssize_t limit, bint implicit):
        self.bodies, self.pattern, self.contacts, self.shapes = bodies, tree.pattern, contacts, shapes
        self.rows, self.removal, self.integrator, self.n = rows, removal, integrator, bodies.nv
        self.solver, self.remover = RowSolver(tree), RowSolver(tree)
        self.find_frames, self.find_motion = Frames(bodies), EquationOfMotion(bodies)
        self.find_bias = Bias(bodies)
        for function in (self.find_frames, self.find_motion, self.find_bias):
            function.close()
        self.h, self.margin, self.touching, self.target = h, margin, touching, target
        self.limit, self.implicit = limit, implicit
        self.factor, self.kept = SingleKernel(self.pattern, True), {}
        self.allocate_motion()
        self.allocate_contacts()
        self.allocate_rows()

    cdef allocate_motion(self):
        """Allocate kinematics, momenta and H."""
        self.frames = self.doubles("frames", self.find_frames.result[0].computed)
        self.motion = self.doubles("motion", self.find_motion.result[0].computed)
        self.momentum, self.free = self.doubles("momentum", self.n), self.doubles("free", self.n)
        self.turned, self.still = self.doubles("turned", self.n), self.doubles("still", self.n)
        self.middle, self.a = self.doubles("middle", self.n), self.doubles("a", self.n)
        self.padded = carve_workspace(&self.pattern.shape,
                                      self.doubles("padded", workspace_size(&self.pattern.shape)))
        self.packed_H.data, self.packed_H.dense = <const char *> (self.motion + self.n), False
        self.packed_H.to_entry = sizeof(double)

    cdef allocate_contacts(self):
        """Allocate near contacts, in slots of which all may be near."""
        cdef Py_ssize_t slots = self.rows.mu.shape[0]
        cdef Py_ssize_t alone = self.contacts.count
        self.slots, self.pairs = slots, slots - alone
        self.number, self.start = self.integers("number", slots), self.integers("start", slots + 1)
        self.gap, self.axes = self.doubles("gap", slots), self.doubles("axes", 9 * slots)
        self.point = self.doubles("point", 10 * slots)
        self.places = self.doubles("places", 8 * self.contacts.points)
        self.pressed = self.doubles("pressed", slots)
        self.last_pressed = self.doubles("last pressed", slots)
        self.presses = self.integers("presses", slots)
        self.near.number, self.near.gap, self.near.start = self.number, self.gap, self.start
        if self.shapes is None:
            return
        self.placed = <PlacedShape *> self.bytes("placed", self.shapes.shapes * sizeof(PlacedShape))
        self.moved = <PlacedShape *> self.bytes("moved", self.shapes.shapes * sizeof(PlacedShape))
        self.then = <PlacedShape *> self.bytes("then", self.shapes.shapes * sizeof(PlacedShape))
        self.moving = self.doubles("moving", self.find_frames.result[0].computed)
        self.ahead = self.doubles("ahead", self.find_frames.result[0].computed)
        self.doubt = self.integers("doubt", self.shapes.count)
        self.carried = <CarriedPoint *> self.bytes("carried",
                                                   MOST_SOLUTIONS * self.pairs * sizeof(CarriedPoint))
        self.nearby.point = <CarriedPoint *> self.bytes("nearby", self.pairs * sizeof(CarriedPoint))
        self.points.pair = self.integers("pair", self.pairs)
        self.points.place = self.doubles("place", 3 * self.pairs)
        self.points.is_new = self.bytes("is new", self.pairs)
        self.identity = <int64_t *> self.bytes("identity", self.pairs * sizeof(int64_t))
        self.last_identity = <int64_t *> self.bytes("last identity", self.pairs * sizeof(int64_t))

    cdef allocate_rows(self):
        """Allocate what there is once for every row."""
        cdef Py_ssize_t rows = self.slots * self.rows.forms.shape[0] + self.rows.limited.shape[0]
        self.allocate_results("rows", &self.results, rows, self.rows.boxed)
        if self.removal is not None:
            self.allocate_results("removal", &self.removing, rows, False)
        self.impulse, self.on = self.doubles("impulse", rows), self.bytes("on", rows)
        self.last_key, self.last_gamma = self.integers("last key", rows), self.doubles("last gamma", rows)
        self.last_active = self.bytes("last active", rows)

    cdef allocate_results(self, str name, RowResults *r, Py_ssize_t rows, bint boxed):
        """Allocate rows without their entries."""
        r.start, r.key = self.integers(f"start of {name}", rows + 1), self.integers(f"key of {name}", rows)
        r.of, r.along = self.integers(f"of of {name}", rows), self.doubles(f"along of {name}", 3 * rows)
        r.d, r.gap = self.doubles(f"d of {name}", rows), self.doubles(f"gap of {name}", rows)
        r.upper = self.doubles(f"upper of {name}", rows) if boxed else NULL

    cdef allocate_entries(self, Py_ssize_t near, Py_ssize_t size):
        """Allocate the entries of near contacts and of rows, with some to spare."""
        near, size = near + near // 2, size + size // 2
        self.data, self.column = self.doubles("data", 4 * near), self.integers("column", near)
        self.near.data, self.near.column = self.data, self.column
        self.results.column = self.integers("columns of rows", size)
        self.results.entries = self.doubles("entries of rows", size)
        if self.removal is not None:
            self.removing.column = self.integers("columns of removal", size)
            self.removing.entries = self.doubles("entries of removal", size)
        self.near_entries, self.entries = near, size

    cdef double *doubles(self, str name, Py_ssize_t size):
        """Return memory for numbers, zeros, which this object keeps under a name."""
        return <double *> self.keep(name, aligned((size,)))

    cdef Py_ssize_t *integers(self, str name, Py_ssize_t size):
        """Return memory for integers, which this object keeps under a name."""
        return <Py_ssize_t *> self.keep(name, np.empty(size, np.intp))

    cdef unsigned char *bytes(self, str name, Py_ssize_t size):
        """Return memory, which this object keeps under a name."""
        return <unsigned char *> self.keep(name, np.empty(size, np.uint8))

    cdef char *keep(self, str name, cnp.ndarray made):
        """Keep an array under a name; return its memory."""
        self.kept[name] = made
        return made.data

    def advance(self, cnp.ndarray q not None, cnp.ndarray v not None, t, control, Py_ssize_t first,
                Py_ssize_t stop):
        """Compute the states after row `first` of q and v, at most to row `stop`; return the last row.

        Parameters
        ----------
        q, v : ndarray
            Contiguous.
        t : ndarray
        control : Control
            Rows of its forces are contiguous; a function is called with the GIL.
        first, stop : int
        """
        cdef cnp.ndarray tau = control.forces
        cdef Py_ssize_t k = first, nq = self.bodies.nq, n = self.n, apart = tau.strides[0]
        cdef double *x = <double *> q.data
        cdef double *y = <double *> v.data
        cdef const double *forces
        cdef bint computed = control.function is not None
        try:
            with nogil:
                while k < stop:
                    forces = <const double *> (<const char *> tau.data + apart * k)
                    if computed:
                        with gil:
                            tau = vector(control(k, t[k], q[k], v[k]), n, "tau")
                        forces = <const double *> tau.data
                    if not self.step(x + nq * k, y + n * k, forces, x + nq * (k + 1), y + n * (k + 1)):
                        break
                    k += 1
        finally:
            self.solver.end()
            self.remover.end()
        return k

    def begin(self, last, cnp.ndarray pressed not None, cnp.ndarray identities not None):
        """Load what the first step starts from.

        Parameters
        ----------
        last : LastStep or None
        pressed : ndarray
            Normal impulses of the last step, by slots.
        identities : ndarray
            Of points of shapes, where there is no last step.
        """
        cdef Py_ssize_t m = -1 if last is None else len(last.key)
        self.known = m
        self.solver.begin(None if last is None else last.symbolic)
        if last is not None:
            self.kept["last key"][:m], self.kept["last gamma"][:m] = last.key, last.gamma
            self.kept["last active"][:m] = last.active
            identities = last.identities
        self.kept["last pressed"][:] = pressed
        nonzero = np.flatnonzero(pressed)
        self.pressing = len(nonzero)
        self.kept["presses"][: self.pressing] = nonzero
        if self.shapes is not None:
            memcpy(self.last_identity, identities.data, self.pairs * sizeof(int64_t))

    def last_step(self):
        """Return what the next step starts from, a LastStep or None, and normal impulses by slots."""
        cdef Py_ssize_t m = self.known
        cdef cnp.ndarray identities = None
        pressed = self.kept["last pressed"].copy()
        if m < 0:
            return None, pressed
        if self.shapes is not None:
            identities = np.empty((self.shapes.count, MOST_POINTS), np.int64)
            memcpy(identities.data, self.last_identity, self.pairs * sizeof(int64_t))
        key, gamma = self.kept["last key"][:m].copy(), self.kept["last gamma"][:m].copy()
        on = self.kept["last active"][:m].astype(bool)
        return LastStep(identities, key, np.zeros(0), gamma, on, self.solver.symbolic), pressed

    cdef int step(self, const double *q, const double *v, const double *tau, double *q_new,
                  double *v_new) except -1 nogil:
        """Take one step; return 0, with only q_new and v_new changed, where it is left to Python."""
        cdef const double *x[4]
        cdef double *H = self.motion + self.n
        cdef Py_ssize_t k, more
        x[0], x[1], x[2], x[3] = q, v, tau, NULL
        if not self.find_frames.run_one(x, &self.frames):
            return 0
        if not (self.find_motion.run_one(x, &self.motion)
                and all_finite(self.pattern.shape.start[self.n], H)):
            return 0
        if self.factor.eliminate(&self.packed_H, NULL) >= 0 or not self.compute_momentum(q, v, tau):
            return 0
        self.solve_h(self.momentum, self.free)
        self.added, self.nearby.count = 0, -1
        for k in range(MOST_SOLUTIONS):
            self.find_rows(q, v)
            if not self.solve_rows(H):
                return 0
            memcpy(q_new, q, self.bodies.nq * sizeof(double))
            memcpy(v_new, self.solver.solver.v, self.n * sizeof(double))
            memcpy(self.middle, v_new, self.n * sizeof(double))
            self.integrator.advance_state(q_new, v_new, self.h)
            if k + 1 == MOST_SOLUTIONS or self.shapes is None:
                break
            more = self.find_overlooked(q, q_new, v_new)
            if more < 0:
                return 0
            if more == 0:
                break
            self.added = self.added + more   # += of an attribute needs the GIL in builds with checks
        if self.removal is not None and self.overlaps():
            if not self.remove_overlaps(q, v, H):
                return 0
            memcpy(q_new, q, self.bodies.nq * sizeof(double))
            for k in range(self.n):
                self.middle[k] = self.middle[k] + self.remover.solver.v[k]
            self.integrator.advance_state(q_new, self.middle, self.h)
        if not (all_finite(self.bodies.nq, q_new) and all_finite(self.n, v_new)):
            return 0
        self.keep_impulses()
        return 1

    cdef int solve_rows(self, const double *H) except -1 nogil:
        """Solve the problem of the rows from the impulses of the last step; return whether that succeeds."""
        cdef const double *gamma = NULL
        if self.known >= 0:
            match_rows(self.results.row, self.results.key, self.known, self.last_key, self.last_gamma,
                       self.last_active, self.impulse, self.on)
            if not all_finite(self.results.row, self.impulse):
                return 0
            gamma = self.impulse
        self.solver.fit(&self.results)
        return self.solver.solve(H, self.momentum, self.free, &self.results, gamma,
                                 NULL if gamma == NULL else self.on, self.target, self.limit)

    cdef Py_ssize_t find_overlooked(self, const double *q, const double *q_new,
                                    const double *v_new) except -1 nogil:
        """Append points without rows that overlap after the step; return how many, -2 if numbers overflow."""
        cdef const double *x[3]
        cdef Py_ssize_t doubts
        x[0], x[1], x[2] = q, self.middle, NULL
        if not self.find_frames.run_one(x, &self.moving):
            return -2
        doubts = self.shapes.find_doubts(self.moving, self.margin, self.placed, self.moved, self.doubt)
        if not doubts:
            return 0
        x[0], x[1] = q_new, v_new
        if not (all_finite(self.bodies.nq, q_new) and self.find_frames.run_one(x, &self.ahead)):
            return -2
        return self.shapes.find_overlooked(self.frames, self.ahead, doubts, self.doubt, self.identity,
                                           self.placed, self.then, self.carried + self.added)

    cdef int find_rows(self, const double *q, const double *v) except -1 nogil:
        """Find near contacts, and compute the rows of these and of limits."""
        cdef Py_ssize_t size, alone = self.find_near()
        self.rows.measure(&self.near, self.pressed, &size)
        if size > self.entries or self.near.size > self.near_entries or self.data == NULL:
            with gil:
                self.allocate_entries(self.near.size, size)
        self.near.errors = self.data + 3 * self.near.size
        self.contacts.list_columns(alone, self.number, self.start, self.column)
        self.contacts.fill_all(self.frames, alone, self.number, self.start, self.axes, self.point, self.gap,
                               self.data, self.near.size)
        if self.shapes is not None:
            self.shapes.rows.list_columns(self.near.count - alone, self.points.pair, self.start + alone,
                                          self.column)
            self.shapes.rows.fill_all(self.frames, self.near.count - alone, self.points.pair,
                                      self.start + alone, self.points.axes, self.points.point,
                                      self.points.gap, self.data, self.near.size)
        self.rows.combine(&self.near, q, v, self.pressed, &self.results)
        return 0

    cdef Py_ssize_t find_near(self) except -1 nogil:
        """Find near contacts and where their rows begin; return how many are not of shapes."""
        cdef Py_ssize_t near = 0, k, count
        cdef ShapePoints *to = &self.points
        if self.contacts.count:
            near = self.contacts.find_candidates(self.frames, self.margin, self.places, self.number)
            near = self.contacts.measure_candidates(self.frames, self.margin, near, self.number, self.gap,
                                                    self.axes, self.point)
        self.near.count, self.start[0] = near, 0
        self.near.size = self.contacts.list_columns(near, self.number, self.start, NULL)
        for k in range(near):
            self.pressed[k] = self.last_pressed[self.number[k]]
        if self.shapes is None:
            return near
        to.slot, to.gap, to.axes = self.number + near, self.gap + near, self.axes + 9 * near
        to.point = self.point + 10 * near
        count = self.shapes.find(self.frames, self.margin, self.last_identity, self.identity,
                                 self.added, self.carried, self.placed, &self.nearby, to)
        for k in range(count):
            to.slot[k] += self.contacts.count
            # new points have no friction if it is a box
            self.pressed[near + k] = 0.0 if to.is_new[k] else self.last_pressed[to.slot[k]]
        self.near.count = self.near.count + count
        self.near.size = self.shapes.rows.list_columns(count, to.pair, self.start + near, NULL)
        return near

    cdef bint overlaps(self) noexcept nogil:
        """Return whether there is an overlap to remove."""
        cdef Py_ssize_t k
        cdef double least = 0.0
        for k in range(self.results.row):
            least = min(least, self.results.gap[k])
        return least < -self.touching

    cdef int remove_overlaps(self, const double *q, const double *v, const double *H) except -1 nogil:
        """Solve for the velocity that, added to that after the step, removes overlaps."""
        cdef Py_ssize_t k
        self.removal.combine(&self.near, q, v, self.pressed, &self.removing)
        keep_open(&self.removing, self.solver.solver.v, self.removing.d)
        for k in range(self.removing.row):
            self.impulse[k], self.on[k] = 0.0, self.removing.d[k] >= 0.0
        self.remover.fit(&self.removing)
        return self.remover.solve(H, self.still, self.still, &self.removing, self.impulse, self.on,
                                  self.target, self.limit)

    cdef bint compute_momentum(self, const double *q, const double *v, const double *tau) noexcept nogil:
        """Compute the momentum after the step without impulses; return whether it is finite."""
        cdef Py_ssize_t k
        if self.implicit:
            if not self.take_midpoint(q, v, tau):
                return False
            memcpy(self.momentum, self.turned, self.n * sizeof(double))
            self.factor.apply_one(MULTIPLY, self.momentum, self.padded.path)
            for k in range(self.n):
                self.momentum[k] = self.momentum[k] + self.h * tau[k]
        else:
            memset(self.turned, 0, self.n * sizeof(double))
            self.integrator.add_velocity_rates(v, self.turned)
            for k in range(self.n):
                self.turned[k] = v[k] + self.h * self.turned[k]
            active.single.load_packed(&self.pattern.shape, self.packed_H.data, sizeof(double), 0,
                                      self.padded.X)
            h_mul(&self.pattern.shape, self.padded.X, self.turned, self.momentum, 1, self.padded.path)
            for k in range(self.n):
                self.momentum[k] = self.momentum[k] + self.h * self.motion[k]
        return all_finite(self.n, self.momentum)

    cdef bint take_midpoint(self, const double *q, const double *v, const double *tau) noexcept nogil:
        """Compute the velocity after the step without tau and impulses; return whether that converges."""
        cdef double error = 0.0, before, scale = 0.0
        cdef Py_ssize_t k
        cdef int count, status = CONVERGED
        cdef const double *x[3]
        x[0], x[1], x[2] = q, self.middle, NULL
        memcpy(self.turned, v, self.n * sizeof(double))
        memcpy(self.middle, v, self.n * sizeof(double))
        for k in range(self.n):
            self.a[k] = tau[k] - self.motion[k]
        for count in range(ROUNDS if self.n else 0):
            if count and not self.find_bias.run_one(x, &self.a):
                return False
            self.solve_h(self.a, self.a)
            before = error if count > 1 else INFINITY
            error = self.integrator.improve(self.n, v, self.a, self.h, self.middle, self.turned, &scale)
            status = midpoint_status(count, error, before, scale)
            if status != IMPROVES:
                break
        return status == CONVERGED

    cdef void solve_h(self, const double *b, double *x) noexcept nogil:
        """Compute x = H^-1 b; x may be b."""
        if x != b:
            memcpy(x, b, self.n * sizeof(double))
        self.factor.apply_one(SOLVE, x, self.padded.path)

    cdef void keep_impulses(self) noexcept nogil:
        """Keep impulses and row status, and sum normal impulses if friction is a box, for the next step."""
        cdef const RowResults *r = &self.results
        cdef Py_ssize_t i
        self.known = r.row
        memcpy(self.last_key, r.key, r.row * sizeof(Py_ssize_t))
        self.identity, self.last_identity = self.last_identity, self.identity
        for i in range(r.row):
            self.last_gamma[i] = self.solver.solver.impulse[i] * self.solver.solver.scale[i]
            if r.upper != NULL and (self.solver.solver.status[i] == FULL or self.last_gamma[i] > r.upper[i]):
                self.last_gamma[i] = r.upper[i]
            self.last_active[i] = self.solver.solver.status[i] == ON
        if r.upper == NULL:
            return
        for i in range(self.pressing):
            self.last_pressed[self.presses[i]] = 0.0
        sum_normals(r.row - self.rows.limited.shape[0], r.of, r.along, self.last_gamma, self.near.count,
                    self.near.start, self.near.column, self.momentum, self.rows.noise, self.pressed)
        self.pressing = self.near.count
        for i in range(self.pressing):
            self.presses[i] = self.number[i]
            self.last_pressed[self.number[i]] = self.pressed[i]
