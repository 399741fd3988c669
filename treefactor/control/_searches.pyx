"""Run searches of inverse kinematics side by side, on arrays that have been validated."""

cimport numpy as cnp
from libc.math cimport fabs
from libc.stdint cimport int8_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc

from ..kinematics._request cimport Plan, Request, RequestKernels, request_kernels
from ..model._configurations cimport (
    ConfigurationKernels, Configurations, Coordinates, configuration_kernels,
)
from ..tree._operands cimport ALIGNED, LANES, align
from ..tree._pattern cimport active

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/control/inverse_kinematics.h"
    #include "kernels/common/choose.h"
    CHOOSE(InverseKinematicsTable, inverse_kinematics)
    """
    ctypedef struct SearchTask:
        Py_ssize_t kind, place, root_place, jacobian, root_jacobian, columns, root_columns
        const Py_ssize_t *column
        const Py_ssize_t *root_column
        Py_ssize_t target, position, angle, coupled
        double weight[6]
        double origin[3]
        double reach

    ctypedef struct Movable:
        Py_ssize_t v, q, turns
        double lower, upper, pull

    ctypedef struct Problem:
        const Plan *plan
        Py_ssize_t items
        const Py_ssize_t *item_size
        Py_ssize_t nq, nv
        const Coordinates *runs
        Py_ssize_t run_count
        const Coordinates *curved
        Py_ssize_t curved_count
        Py_ssize_t tasks, rows
        const SearchTask *task
        Py_ssize_t target_size, columns
        const Movable *movable
        Py_ssize_t posture
        double tolerance[2]
        Py_ssize_t starts, stall, iterations, attempts
        uint64_t seed

    ctypedef struct Batch:
        const double *target
        const double *start
        const double *posture
        Py_ssize_t target_step, start_step, posture_step
        double *q
        double *position
        double *angle
        double *error
        int8_t *status
        int64_t *iterations
        int64_t *attempts
        double *progress

    ctypedef struct State:
        pass

    ctypedef struct InverseKinematicsTable:
        pass

    ctypedef struct SearchKernels:
        const InverseKinematicsTable *own
        const RequestKernels *request
        const ConfigurationKernels *one
        const ConfigurationKernels *lanes

    const InverseKinematicsTable *inverse_kinematics_for(const char *name) nogil
    Py_ssize_t search_size(const Problem *, const SearchKernels *) nogil
    State *carve_search(const Problem *, const SearchKernels *, char *memory) nogil
    void begin_search(const Problem *, const SearchKernels *, const Batch *, State *, Py_ssize_t first,
                      Py_ssize_t stop) nogil
    bint continue_search(const Problem *, const SearchKernels *, const Batch *, State *, Py_ssize_t rounds) nogil
    void stop_search(const Problem *, const SearchKernels *, const Batch *, State *) nogil
    void examine_results(const Problem *, const SearchKernels *, const Batch *, State *, Py_ssize_t first,
                         Py_ssize_t stop) nogil

    enum:
        FRAME_TASK
        RELATIVE_FRAME_TASK
        COM_TASK
        SOLVED
        STALLED
        ITERATIONS
        OUT_OF_REACH
        NON_FINITE
        STOPPED
        RUNNING

TASKS = {"frame": FRAME_TASK, "relative_frame": RELATIVE_FRAME_TASK, "com": COM_TASK}
STATUS = {"SOLVED": SOLVED, "STALLED": STALLED, "ITERATIONS": ITERATIONS, "OUT_OF_REACH": OUT_OF_REACH,
          "NON_FINITE": NON_FINITE, "STOPPED": STOPPED}
STILL_RUNNING = RUNNING
cdef SearchKernels kernels
kernels.own = inverse_kinematics_for(active.name)
kernels.request = &request_kernels.lanes
kernels.one, kernels.lanes = &configuration_kernels.one, &configuration_kernels.lanes

cdef Movable empty_movable
cdef Coordinates empty_coordinates
MOVABLE = np.asarray(<Movable[:1]> &empty_movable).dtype
COORDINATES = np.asarray(<Coordinates[:1]> &empty_coordinates).dtype
assert MOVABLE.itemsize == sizeof(Movable) and COORDINATES.itemsize == sizeof(Coordinates)
cdef Py_ssize_t forever = <Py_ssize_t> 1 << 62


cdef class Searches:
    """Tasks of one model, what may move, and the options of searches.

    Parameters
    ----------
    request : Request
        Computes all placements, centres of mass and Jacobians that the tasks read.
    configurations : Configurations
        Of the model.
    tasks : list of dict
        Entries of the struct SearchTask by name; ``column`` and ``root_column`` are arrays of intp.
    movable : ndarray of MOVABLE
    curved : ndarray of COORDINATES
        Of the movable joints whose entries of q do not add up.
    target_size : int
        Numbers of the targets of one problem.
    tolerance : tuple of float
        Of positions, m, and angles, rad.
    posture : bool
    starts, stall, iterations, attempts : int
    seed : int
        Of 64 bits.
    """

    cdef Problem problem
    cdef object kept
    cdef SearchTask *task
    cdef readonly Py_ssize_t nq, target_size, tasks

    def __init__(self, Request request not None, Configurations configurations not None, list tasks not None,
                 cnp.ndarray movable not None, cnp.ndarray curved not None, Py_ssize_t target_size,
                 tuple tolerance not None, bint posture, Py_ssize_t starts, Py_ssize_t stall,
                 Py_ssize_t iterations, Py_ssize_t attempts, uint64_t seed):
        cdef Problem *p = &self.problem
        cdef cnp.ndarray sizes = np.empty(request.results, np.intp), column
        cdef SearchTask *t
        cdef int k
        if self.task != NULL:
            raise RuntimeError("Searches are made once")
        self.task = <SearchTask *> malloc(max(1, len(tasks)) * sizeof(SearchTask))
        if self.task == NULL:
            raise MemoryError
        self.kept = [request, configurations, movable, curved, sizes]
        for k in range(request.results):
            (<Py_ssize_t *> sizes.data)[k] = request.result[k].computed
        for k in range(len(tasks)):
            one, t = tasks[k], self.task + k
            t.kind, t.place, t.root_place = one["kind"], one["place"], one["root_place"]
            t.jacobian, t.root_jacobian = one["jacobian"], one["root_jacobian"]
            column = one["column"]
            t.columns, t.column = len(column), <const Py_ssize_t *> column.data
            self.kept.append(column)
            column = one["root_column"]
            t.root_columns, t.root_column = len(column), <const Py_ssize_t *> column.data
            self.kept.append(column)
            t.target, t.position, t.angle = one["target"], one["position"], one["angle"]
            t.coupled, t.reach = one["coupled"], one["reach"]
            t.weight, t.origin = one["weight"], one["origin"]
            p.rows += 3 * (t.position + t.angle)
        p.plan = &request.plan
        p.items, p.item_size = request.results, <const Py_ssize_t *> sizes.data
        p.nq, p.nv = configurations.nq, configurations.nv
        p.runs, p.run_count = configurations.runs, configurations.count
        p.curved, p.curved_count = <const Coordinates *> curved.data, len(curved)
        p.tasks, p.task = len(tasks), self.task
        p.target_size = target_size
        p.columns, p.movable = len(movable), <const Movable *> movable.data
        p.posture = posture
        p.tolerance = tolerance
        p.starts, p.stall, p.iterations, p.attempts = starts, stall, iterations, attempts
        p.seed = seed
        self.nq, self.target_size, self.tasks = p.nq, target_size, p.tasks

    def __dealloc__(self):
        free(self.task)

    cdef int describe(self, Batch *b, cnp.ndarray target, cnp.ndarray start, cnp.ndarray posture, tuple results,
                      cnp.ndarray progress) except -1:
        """Set the pointers of a batch: contiguous rows of arguments, one or as many as there are results."""
        cdef cnp.ndarray q, position, angle, error, status, iterations, attempts
        q, position, angle, error, status, iterations, attempts = results
        b.target, b.target_step = <const double *> target.data, 0
        b.start, b.start_step = <const double *> start.data, 0
        b.posture, b.posture_step = NULL, 0
        if target.shape[0] > 1:
            b.target_step = target.shape[1]
        if start.shape[0] > 1:
            b.start_step = start.shape[1]
        if posture is not None:
            b.posture = <const double *> posture.data
            if posture.shape[0] > 1:
                b.posture_step = posture.shape[1]
        b.q, b.position, b.angle = <double *> q.data, <double *> position.data, <double *> angle.data
        b.error, b.status = <double *> error.data, <int8_t *> status.data
        b.iterations, b.attempts = <int64_t *> iterations.data, <int64_t *> attempts.data
        b.progress = NULL if progress is None else <double *> progress.data
        return 0

    def run(self, cnp.ndarray target not None, cnp.ndarray start not None, cnp.ndarray posture,
            tuple results not None, Py_ssize_t first, Py_ssize_t stop):
        """Search for targets first .. stop-1.

        Parameters
        ----------
        target, start, posture : ndarray
            C-contiguous float64 rows, one for each target or one for all; posture may be None.
        results : tuple of ndarray
            q, position, angle, error (float64), status (int8), iterations and attempts (int64), C-contiguous.
        """
        cdef Batch b
        cdef char *memory = <char *> malloc(search_size(&self.problem, &kernels) + 64)
        cdef State *state
        if memory == NULL:
            raise MemoryError
        try:
            self.describe(&b, target, start, posture, results, None)
            with nogil:
                state = carve_search(&self.problem, &kernels, <char *> align(<double *> memory))
                begin_search(&self.problem, &kernels, &b, state, first, stop)
                continue_search(&self.problem, &kernels, &b, state, forever)
                examine_results(&self.problem, &kernels, &b, state, first, stop)
        finally:
            free(memory)

    def run_rounds(self, cnp.ndarray target not None, cnp.ndarray start not None, cnp.ndarray posture,
                   tuple results not None, cnp.ndarray progress not None, object stops not None):
        """Search for all targets, one iteration of every target at a time; ``stops()`` ends that if it is true."""
        cdef Batch b
        cdef Py_ssize_t count = len(progress), side = LANES // self.problem.starts
        cdef Py_ssize_t blocks = (count + side - 1) // side, k
        cdef Py_ssize_t size = (search_size(&self.problem, &kernels) + 63) // 64 * 64
        cdef char *memory = <char *> malloc(blocks * size + 64)
        cdef char *from_here = <char *> align(<double *> memory)
        cdef State **state = <State **> malloc(max(1, blocks) * sizeof(State *))
        cdef bint active = True
        try:
            if memory == NULL or state == NULL:
                raise MemoryError
            self.describe(&b, target, start, posture, results, progress)
            for k in range(blocks):
                state[k] = carve_search(&self.problem, &kernels, from_here + k * size)
                begin_search(&self.problem, &kernels, &b, state[k], k * side, min(count, (k + 1) * side))
            while active:
                active = False
                with nogil:
                    for k in range(blocks):
                        active |= continue_search(&self.problem, &kernels, &b, state[k], 1)
                if stops():
                    break
            for k in range(blocks):
                stop_search(&self.problem, &kernels, &b, state[k])
            if blocks:
                examine_results(&self.problem, &kernels, &b, state[0], 0, count)
        finally:
            free(state)
            free(memory)


def first_improper(cnp.ndarray rows not None, Py_ssize_t first):
    """Return the first row whose pose from entry `first` on has no rotation, or -1; rows that are not finite pass.

    rows: C-contiguous float64 (batch, size)
    """
    cdef const double *x
    cdef Py_ssize_t b, i, j
    cdef double worst, product, volume
    for b in range(rows.shape[0]):
        x = <const double *> rows.data + b * rows.shape[1] + first
        worst = 0.0
        for i in range(3):
            for j in range(i + 1):
                product = x[4 * i] * x[4 * j] + x[4 * i + 1] * x[4 * j + 1] + x[4 * i + 2] * x[4 * j + 2]
                worst = max(worst, fabs(product - (i == j)))
        volume = (x[0] * (x[5] * x[10] - x[6] * x[9]) - x[1] * (x[4] * x[10] - x[6] * x[8])
                  + x[2] * (x[4] * x[9] - x[5] * x[8]))
        if worst > 1e-6 or volume < 0.0:
            return b
    return -1
