"""Run requests, the results of the kinematics of a model that are computed together, on NumPy arrays."""

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from .._util._fast_arrays cimport all_finite, is_plain_vector, is_result, may_overlap
from .._util._result_arrays cimport new_result
from .._util._thread_count cimport is_thread_count
from ..tree._operands cimport ALIGNED, LANES, Operand, align, describe, load, read_operand
from ..dynamics._recursions cimport Body
from ..tree._pattern cimport active

import numpy as np

from ..tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/kinematics/request.h"
    #include "kernels/common/choose.h"
    CHOOSE(RequestTable, requests)
    """
    const RequestTable *requests_for(const char *name) nogil

cdef const RequestTable *kernels = requests_for(active.name)

cdef enum:
    STACK_DOUBLES = 6144         # workspace on the C stack; larger requests allocate theirs on the heap
    MOST_ITEMS = 64              # results of a request

cdef Turn empty_turn
cdef Freedom empty_freedom
cdef Column empty_column
cdef Output empty_output
cdef Run empty_run
TURN = np.asarray(<Turn[:1]> &empty_turn).dtype  # NumPy dtypes derived from the C structs
FREEDOM = np.asarray(<Freedom[:1]> &empty_freedom).dtype
COLUMN = np.asarray(<Column[:1]> &empty_column).dtype
OUTPUT = np.asarray(<Output[:1]> &empty_output).dtype
RUN = np.asarray(<Run[:1]> &empty_run).dtype
assert TURN.itemsize == sizeof(Turn) and FREEDOM.itemsize == sizeof(Freedom)
assert COLUMN.itemsize == sizeof(Column) and OUTPUT.itemsize == sizeof(Output) and RUN.itemsize == sizeof(Run)

OUTPUTS = (  # order of request.h
    *("placement", "velocity", "acceleration", "jacobian", "jacobian_dot"),
    *("center", "center_velocity", "center_acceleration", "center_jacobian"),
    *("map", "map_dot", "momentum", "momentum_rate", "inertia"),
    *("center_derivatives", "momentum_derivatives", "frame_derivatives"),
)
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")


cdef class Request:
    """Compute results of one model in one pass over the bodies that they need.

    Parameters
    ----------
    bodies, turns, freedoms, outputs, columns : ndarray
        Structs of request.h.
    order, sums, arms : int
        What outputs need: highest derivative of positions, number of `Sums` of request.h, and whether they
        need ways from the centre of mass of the whole model.
    nq, nv : int
    units : ndarray of int, shape (m, 2)
        First entry and number of entries of the unit vectors in q.
    items : sequence of tuple
        For every result its shape for one configuration, its size in lanes, and the runs from there to the
        shape, or None.
    """

    def __cinit__(self, cnp.ndarray bodies not None, cnp.ndarray turns not None,
                  cnp.ndarray freedoms not None, cnp.ndarray outputs not None, cnp.ndarray columns not None,
                  Py_ssize_t order, Py_ssize_t sums, Py_ssize_t arms, Py_ssize_t nq, Py_ssize_t nv,
                  cnp.ndarray units not None, items):
        cdef cnp.ndarray runs
        cdef Item *item
        cdef Py_ssize_t k
        self.plan.m.bodies = len(bodies)
        self.plan.m.n = len(freedoms)
        self.plan.m.angles = np.count_nonzero(bodies["angle"] >= 0)
        self.plan.m.body = <const Body *> bodies.data
        self.plan.turn = <const Turn *> turns.data
        self.plan.freedom = <const Freedom *> freedoms.data
        self.plan.order = order
        self.plan.sums, self.plan.arms = sums, arms
        self.plan.mass = bodies["carried"][bodies["parent"] < 0].sum()
        self.plan.outputs = len(outputs)
        self.plan.output = <const Output *> outputs.data
        self.plan.column = <const Column *> columns.data
        self.plan.nq, self.plan.nv = nq, nv
        self.plan.units = len(units)
        self.plan.unit = <const Py_ssize_t *> units.data
        self.plan.unit_square = UNIT_SQUARE
        self.items = len(items)
        if not 0 < self.items <= MOST_ITEMS:
            raise ValueError(f"a request has 1 to {MOST_ITEMS} results, got {self.items}")
        self.item = <Item *> calloc(self.items, sizeof(Item))
        if self.item == NULL:
            raise MemoryError("cannot allocate a request")
        for k, (shape, packed, run) in enumerate(items):
            item = self.item + k
            item.axes, item.size, item.packed, item.runs = len(shape), 1, packed, -1
            for axis in range(item.axes):
                item.shape[axis] = shape[axis]
                item.size *= shape[axis]
            if run is not None:
                runs = run
                item.run, item.runs = <const Run *> runs.data, len(runs)
        self.shapes = tuple([shape for shape, _, _ in items])
        self.kept = (bodies, turns, freedoms, outputs, columns, units, items)

    def __dealloc__(self):
        free(self.item)

    def with_outputs(self, cnp.ndarray outputs not None):
        """Return a request of the same results, whose outputs differ in the places of their frames."""
        bodies, turns, freedoms, _, columns, units, items = self.kept
        return Request(bodies, turns, freedoms, outputs, columns, self.plan.order, self.plan.sums,
                       self.plan.arms, self.plan.nq, self.plan.nv, units, items)

    @property
    def outputs(self):
        """Return the structs of the outputs."""
        return self.kept[3]

    @property
    def order(self):
        """Return the highest derivative of positions that a result needs: 0, 1 or 2."""
        return self.plan.order

    cdef bint run_one(self, const double *q, const double *v, const double *a, double **out) noexcept nogil:
        """Compute one configuration; false leaves it to the general path."""
        cdef double local[STACK_DOUBLES]
        cdef double *work = local
        cdef Py_ssize_t need = kernels.one.workspace_size(&self.plan), k
        cdef double doubt = 0.0
        if not (all_finite(self.plan.nq, q) and (v == NULL or all_finite(self.plan.nv, v))
                and (a == NULL or all_finite(self.plan.nv, a))):
            return False
        if self.plan.units:
            kernels.one.check(&self.plan, q, NULL, NULL, &doubt)
            if doubt != 0.0:
                return False
        if need > STACK_DOUBLES:
            work = <double *> malloc(need * sizeof(double))
            if work == NULL:
                return False
        for k in range(self.items):
            if self.item[k].runs >= 0:
                memset(out[k], 0, self.item[k].size * sizeof(double))
        kernels.one.compute(&self.plan, q, v, a, out, work)
        if need > STACK_DOUBLES:
            free(work)
        return True

    cdef bint find_pointers(self, object q, object v, object a, object out, const double **x,
                            double **results) noexcept:
        """Set x to the data of q, v, a, or NULL; results to those of out; false if an array does not fit."""
        cdef Py_ssize_t k, j
        cdef tuple arrays = (q, v, a)
        cdef object one
        if not self.find_states(q, v, a, x):
            return False
        for k in range(self.items):
            one = out if self.items == 1 else (<tuple> out)[k]
            if not self.fits(one, k):
                return False
            for j in range(3):
                if x[j] != NULL and may_overlap(arrays[j], one):
                    return False
            results[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> one)
        return True

    cdef bint find_states(self, object q, object v, object a, const double **x) noexcept:
        """Set x to the data of q, v, a, or NULL; false if one is not a contiguous vector that fits."""
        x[0] = x[1] = x[2] = NULL
        if not is_plain_vector(q, self.plan.nq):
            return False
        x[0] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> q)
        if self.plan.order > 0:
            if not is_plain_vector(v, self.plan.nv):
                return False
            x[1] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> v)
        if self.plan.order > 1 and a is not None:
            if not is_plain_vector(a, self.plan.nv):
                return False
            x[2] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> a)
        return True

    cdef bint are_apart(self, tuple arrays, Py_ssize_t batch) noexcept:
        """Return whether contiguous results of a batch share no memory with each other."""
        cdef const double *first[MOST_ITEMS]
        cdef Py_ssize_t k, j
        for k in range(self.items):
            first[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> arrays[k])
            for j in range(k):
                if (first[j] < first[k] + batch * self.item[k].size
                        and first[k] < first[j] + batch * self.item[j].size):
                    return False
        return True

    cdef bint fits(self, object out, Py_ssize_t k) noexcept:
        """Return whether out is a writeable contiguous array of the shape of a result."""
        cdef int axis
        if not (cnp.PyArray_CheckExact(out) and cnp.PyArray_NDIM(<cnp.ndarray> out) == self.item[k].axes
                and cnp.PyArray_TYPE(<cnp.ndarray> out) == cnp.NPY_DOUBLE
                and cnp.PyArray_ISCARRAY(<cnp.ndarray> out)):
            return False
        for axis in range(self.item[k].axes):
            if cnp.PyArray_DIM(<cnp.ndarray> out, axis) != self.item[k].shape[axis]:
                return False
        return True

    cdef object allocate(self, Py_ssize_t batch):
        """Return new arrays of all results for a batch, or for one configuration if batch is -1."""
        cdef cnp.npy_intp shape[4]
        cdef Py_ssize_t k
        cdef int axis, lead = batch >= 0
        cdef list found
        if batch < 0 and self.items == 1:
            return new_result(self.item.axes, self.item.shape)
        found = []
        shape[0] = batch
        for k in range(self.items):
            for axis in range(self.item[k].axes):
                shape[lead + axis] = self.item[k].shape[axis]
            array = new_result(lead + self.item[k].axes, shape)
            if self.items == 1:
                return array
            found.append(array)
        return tuple(found)

    cdef object run_vectors(self, object q, object v, object a, object out):
        """Compute one configuration given as contiguous vectors; None if the general path must handle it."""
        cdef const double *x[3]
        cdef double *results[MOST_ITEMS]
        cdef Py_ssize_t k
        if out is None:                              # new arrays fit and overlap nothing
            if not self.find_states(q, v, a, x):
                return None
            out = self.allocate(-1)
            for k in range(self.items):
                one = out if self.items == 1 else (<tuple> out)[k]
                results[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> one)
            return out if self.run_one(x[0], x[1], x[2], results) else None
        if self.items > 1 and (type(out) is not tuple or len(out) != self.items):
            return None
        if not self.find_pointers(q, v, a, out, x, results):
            return None
        if self.items > 1 and not self.are_apart(out, 1):
            return None
        return out if self.run_one(x[0], x[1], x[2], results) else None

    cdef object run_rows(self, object q, object v, object a, object out):
        """Compute a batch of float64 arrays, or that all of it share; None if they do not fit."""
        cdef Operand operands[3]
        cdef Py_ssize_t batch = -1, j, k
        cdef tuple arrays = (q, v, a), made, given
        memset(&operands[0], 0, sizeof(operands))
        for j in range(self.plan.order + 1):
            if j == 2 and a is None:
                break
            if not read_operand(arrays[j], self.plan.nv if j else self.plan.nq, &batch, &operands[j]):
                return None
        if batch <= 0:
            return None
        found = self.allocate(batch)
        made = (found,) if self.items == 1 else found
        if out is not None:
            if self.items > 1 and (type(out) is not tuple or len(out) != self.items):
                return None
            given = (out,) if self.items == 1 else out
            for k in range(self.items):
                if not is_result(given[k], made[k]):
                    return None
            if not self.are_apart(given, batch):
                return None
            made, found = given, out
        for k in range(self.items):
            for j in range(3):
                if operands[j].data != NULL and may_overlap(arrays[j], made[k]):
                    return None
        self.run_blocks(batch, operands, made, 0, (batch + LANES - 1) // LANES)
        return found

    def run(self, q, v, a, out, threads):
        """Return the results for float64 arrays that need no conversion, or None."""
        return self.run_fast(q, v, a, out, threads)

    cdef object run_fast(self, object q, object v, object a, object out, object threads):
        """Return what `run` returns."""
        cdef object found = None
        if cnp.PyArray_Check(q) and cnp.PyArray_NDIM(<cnp.ndarray> q) == 1 and is_thread_count(threads):
            found = self.run_vectors(q, v, a, out)
        if found is None and type(threads) is int and threads == 1:
            found = self.run_rows(q, v, a, out)
        return found

    def batch(self, Py_ssize_t batch, operands, tuple out not None, Py_ssize_t first, Py_ssize_t stop):
        """Compute the blocks first .. stop-1 of 8 configurations into C-contiguous arrays.

        Operands are q, v and a with contiguous rows: (batch, size), or (1, size) that all share; v and a may
        be None.
        """
        cdef Operand found[3]
        cdef Py_ssize_t j
        for j in range(3):
            describe(operands[j], &found[j])
        self.run_blocks(batch, found, out, first, stop)

    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t first,
                         Py_ssize_t stop) except False:
        """Run blocks as `batch` does."""
        cdef char *to[MOST_ITEMS]
        cdef Py_ssize_t k
        cdef bint done
        for k in range(self.items):
            to[k] = <char *> cnp.PyArray_DATA(<cnp.ndarray> out[k])
        with nogil:
            done = self.compute_rows(batch, operands, to, first, stop)
        if not done:
            raise MemoryError(f"cannot allocate a workspace of {self.rows_workspace_size(operands)} doubles")
        return True

    cdef Py_ssize_t rows_workspace_size(self, const Operand *operands) noexcept nogil:
        """Return the doubles that `compute_rows` allocates."""
        cdef Py_ssize_t need = kernels.lanes.workspace_size(&self.plan) + LANES + 2 * ALIGNED, k
        for k in range(3):
            need += LANES * operands[k].size
        for k in range(self.items):
            need += LANES * self.item[k].packed
        return need

    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t first,
                           Py_ssize_t stop) noexcept nogil:
        """Run blocks as `batch` does, results to[k] <- (batch, ...); false without memory."""
        cdef Py_ssize_t b, j, k, e, lane
        cdef double *x[3]
        cdef double *results[MOST_ITEMS]
        cdef double *work = <double *> malloc(self.rows_workspace_size(operands) * sizeof(double))
        cdef double *doubt
        cdef double *end
        cdef int count
        if work == NULL:
            return False
        doubt = align(work)
        end = doubt + LANES
        for j in range(3):
            x[j] = NULL if operands[j].data == NULL else end
            end += LANES * operands[j].size
        for k in range(self.items):
            results[k] = end
            end += LANES * self.item[k].packed
        for b in range(first, stop):
            count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
            for j in range(3):
                if x[j] != NULL:
                    load(&operands[j], b, count, x[j])
            kernels.lanes.compute(&self.plan, x[0], x[1], x[2], results, end)
            kernels.lanes.check(&self.plan, x[0], x[1], x[2], doubt)
            for lane in range(LANES):
                if doubt[lane] != 0.0:
                    for k in range(self.items):
                        for e in range(self.item[k].packed):
                            results[k][e * LANES + lane] = NAN
            for k in range(self.items):
                self.store(&self.item[k], count, results[k],
                           to[k] + b * LANES * self.item[k].size * <Py_ssize_t> sizeof(double))
        free(work)
        return True

    cdef Py_ssize_t block_size(self) noexcept nogil:
        """Return the doubles of workspace that `compute_block` needs."""
        return kernels.lanes.workspace_size(&self.plan)

    cdef void compute_block(self, const double *q, double **results, double *doubt,
                            double *work) noexcept nogil:
        """results[k] <- result k of 8 configurations; doubt[l] <- 0 where q[l] is a configuration."""
        kernels.lanes.compute(&self.plan, q, NULL, NULL, results, work)
        kernels.lanes.check(&self.plan, q, NULL, NULL, doubt)

    cdef void store(self, const Item *item, int count, const double *x, char *to) noexcept nogil:
        """Write a result of a block of configurations into the user's rows."""
        cdef Py_ssize_t to_next = item.size * sizeof(double), r
        cdef const Run *run
        if item.runs < 0:
            active.lanes.store(item.size, count, x, to, to_next)
            return
        memset(to, 0, count * to_next)
        for r in range(item.runs):
            run = item.run + r
            active.lanes.store(run.length, count, x + LANES * run.at,
                               to + run.to * <Py_ssize_t> sizeof(double), to_next)
