"""Run compiled functions of a state on NumPy arrays: one configuration, or batches of 8 lanes."""

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._util._fast_arrays cimport all_finite, is_real, may_overlap
from .._util._result_arrays cimport new_array, new_block, size_in_block
from .._util._thread_count cimport is_thread_count
from ..dynamics._recursions cimport Mechanism, bodies_of
from ..dynamics._results cimport add_doubt, pad, unpack
from ..tree._operands cimport (
    ALIGNED, LANES, Operand, align, describe, load, read_matrix_operand, read_operand)
from ..tree._pattern cimport FACTORIZED, active
from ._array_shapes cimport MOST_AXES, describe_shape, fits, shape_of

cnp.import_array()

cdef enum:
    STACK_DOUBLES = 6144         # workspace on the C stack; larger robots allocate theirs on the heap


cdef class StateFunction:
    """Compute results of one model from arrays of a state.

    Subclasses declare arguments and results in ``__init__``, by `add_input` and `add_result`, set `names`
    and `gather`, and implement `workspace_size` and `compute`. The first argument is q. Entry e of
    configuration l stands at x[e * lanes + l]; arrays with lanes are aligned to 64 bytes, the workspace too.

    Parameters
    ----------
    model : Model
    *options
        What else determines the function: see the subclass.
    """

    def __cinit__(self, model, *_):
        self.bodies = bodies_of(model)

    cdef void add_input(self, tuple shape, bint optional=False):
        """Declare the next argument, with its shape for one configuration."""
        cdef Array *array = &self.input[self.inputs]
        assert self.inputs < MOST_ARRAYS and len(shape) <= 3
        describe_shape(array, shape)
        array.optional = optional
        self.inputs += 1

    cdef void add_result(self, tuple shape, Form form=PLAIN, Py_ssize_t computed=0, const int *at=NULL):
        """Declare the next result; for SPARSE, at has for every entry the computed one, or their number."""
        cdef Array *array = &self.result[self.results]
        assert self.results < MOST_ARRAYS
        describe_shape(array, shape)
        array.form = form
        if form == SPARSE:
            array.computed, array.at = computed, at
        elif form != PLAIN:
            array.computed = self.bodies.nnz + (self.bodies.nnz - self.bodies.nv if form == PAIR else 0)
            array.at = self.bodies.pattern.packed_entries(form == PAIR)
        self.results += 1

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        """Return the doubles that `compute` needs for 1 or 8 configurations, alignment excluded."""
        return 0

    cdef void compute(self, const Mechanism *m, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """y <- all results of 1 or 8 configurations x; x[k] = NULL is an optional argument that is absent.

        failed[lane], which is -1 at the call, <- the freedom with a bad pivot; single results may then be
        anything, those of lanes become NaN.
        """

    @property
    def shapes(self):
        """Return the shapes of the results for one configuration; in lanes their numbers of entries."""
        return tuple([(self.result[k].computed,) if self.in_lanes else shape_of(&self.result[k])
                      for k in range(self.results)])

    @property
    def input_shapes(self):
        """Return by name the shapes of the arguments for one configuration."""
        return {name: shape_of(&self.input[k]) for k, name in enumerate(self.names)}

    @property
    def optional(self):
        """Return the names of the arguments that may be None."""
        return tuple([name for k, name in enumerate(self.names) if self.input[k].optional])

    cpdef object make(self, tuple results):
        """Return the results as the function returns them."""
        return results[0] if self.gather is None else self.gather(results)

    cdef bint is_apart(self, int k) noexcept nogil:
        """Return whether a single result is computed in the workspace: a packed one, or one that may fail."""
        return self.result[k].form in (PAIR, SYMMETRIC) or self.may_fail

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        """Compute one configuration; return false, and leave out unchanged, if the general path must."""
        cdef double local[STACK_DOUBLES]
        cdef double *work = local
        cdef double *end
        cdef double *y[MOST_ARRAYS]
        cdef Py_ssize_t need = 2 * ALIGNED + self.workspace_size(1), failed = FACTORIZED
        cdef int k
        for k in range(self.inputs):
            if x[k] != NULL and not all_finite(self.input[k].size, x[k]):
                return False
        if not self.bodies.is_configuration(x[0], 1):
            return False
        for k in range(self.results):
            need += self.result[k].computed if self.is_apart(k) else 0
        if need > STACK_DOUBLES:
            work = <double *> malloc(need * sizeof(double))
            if work == NULL:
                return False
        end = work
        for k in range(self.results):
            y[k] = out[k]
            if self.is_apart(k):
                y[k] = end
                end += self.result[k].computed
        self.compute(&self.bodies.m, 1, x, y, &failed, align(end))
        if failed == FACTORIZED:
            for k in range(self.results):
                if self.result[k].form in (PAIR, SYMMETRIC):
                    unpack(&self.bodies.pattern.shape, self.result[k].form == PAIR, y[k], 1, out[k])
                elif self.may_fail:
                    memcpy(out[k], y[k], self.result[k].size * sizeof(double))
        if need > STACK_DOUBLES:
            free(work)
        return failed == FACTORIZED

    cdef bint find_arguments(self, tuple arrays, const double **x) noexcept:
        """Set x to the data of contiguous arrays of one configuration, or NULL; false if one does not fit."""
        cdef int k
        cdef object array
        for k in range(self.inputs):
            array = arrays[k]
            x[k] = NULL
            if array is None and self.input[k].optional:
                continue
            if not fits(&self.input[k], array):
                return False
            x[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> array)
        return True

    cdef bint find_results(self, tuple arrays, tuple out, double **y) noexcept:
        """Set y to the data of out, for one configuration; false if an array does not fit, or overlaps."""
        cdef int k, j
        for k in range(self.results):
            if not (fits(&self.result[k], out[k]) and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out[k])):
                return False
            for j in range(self.inputs):
                if arrays[j] is not None and may_overlap(arrays[j], out[k]):
                    return False
            for j in range(k):
                if may_overlap(out[j], out[k]):
                    return False
            y[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> out[k])
        return True

    cdef tuple given_results(self, object out):
        """Return the arrays of out as a tuple; None if there are not as many as results."""
        if self.gather is None:
            return (out,)
        return tuple(out) if isinstance(out, (tuple, list)) and len(out) == self.results else None

    cpdef tuple allocate(self, Py_ssize_t batch):
        """Return new arrays of all results for a batch, or for one configuration if batch is -1."""
        cdef Py_ssize_t size = 0, at = 0
        cdef cnp.npy_intp shape[1 + MOST_AXES]
        cdef int k, lead = batch >= 0
        cdef cnp.ndarray block = None
        cdef list found = []
        shape[0] = batch
        if lead:
            for k in range(self.results):
                size += size_in_block(batch * self.result[k].size)
            block = new_block(self.results, size)
        for k in range(self.results):
            memcpy(&shape[lead], self.result[k].shape, sizeof(self.result[k].shape))
            found.append(new_array(lead + self.result[k].axes, shape, block, &at))
        return tuple(found)

    cdef object run_vectors(self, tuple arrays, object out):
        """Compute one configuration given as contiguous arrays; None if the general path must handle it."""
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[MOST_ARRAYS]
        cdef tuple results
        cdef int k
        if self.in_lanes or self.bodies.sets.elements >= 0 or not self.find_arguments(arrays, x):
            return None
        if out is None:
            results = self.allocate(-1)
            for k in range(self.results):
                y[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> results[k])
            return self.make(results) if self.run_one(x, y) else None
        results = self.given_results(out)
        if results is None or not self.find_results(arrays, results, y):
            return None
        return out if self.run_one(x, y) else None

    cdef object run_rows(self, tuple arrays, object out):
        """Compute a batch given as float64 arrays, or as one row for all of it; None if they do not fit."""
        cdef Operand operands[MOST_ARRAYS]
        cdef Py_ssize_t batch = self.bodies.sets.elements
        cdef tuple results
        cdef Array *array
        cdef int k, j
        memset(&operands[0], 0, sizeof(operands))
        for k in range(self.inputs):
            array = &self.input[k]
            if arrays[k] is None and array.optional:
                continue
            if array.axes > 2 or not (
                    read_operand(arrays[k], array.size, &batch, &operands[k]) if array.axes == 1 else
                    read_matrix_operand(arrays[k], array.shape[0], array.shape[1], &batch, &operands[k])):
                return None
        if batch <= 0 or not self.bodies.one_axis or (self.in_lanes and out is None):
            return None
        if out is None:
            results = self.allocate(batch)
        else:
            results = self.given_results(out)
            if results is None:
                return None
            for k in range(self.results):
                if not self.fits_batch(k, results[k], batch):
                    return None
                for j in range(self.inputs):
                    if operands[j].data != NULL and may_overlap(arrays[j], results[k]):
                        return None
                for j in range(k):
                    if may_overlap(results[j], results[k]):
                        return None
        self.run_blocks(batch, operands, results, NULL, 0, (batch + LANES - 1) // LANES)
        return self.make(results) if out is None else out

    cdef bint fits_batch(self, int k, object out, Py_ssize_t batch) noexcept:
        """Return whether out can hold result k of a batch."""
        cdef Array expected
        cdef int axis
        if self.in_lanes:
            expected.axes = 3
            expected.shape[0], expected.shape[1] = (batch + LANES - 1) // LANES, self.result[k].computed
            expected.shape[2] = LANES
        else:
            expected.axes, expected.shape[0] = 1 + self.result[k].axes, batch
            for axis in range(self.result[k].axes):
                expected.shape[1 + axis] = self.result[k].shape[axis]
        return fits(&expected, out) and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)

    cpdef object run(self, tuple arrays, object out, object threads):
        """Return the results for float64 arrays that need no conversion, or None."""
        cdef object found = None
        if is_real(arrays[0]) and cnp.PyArray_NDIM(<cnp.ndarray> arrays[0]) == 1 and is_thread_count(threads):
            found = self.run_vectors(arrays, out)
        if found is None and type(threads) is int and threads == 1:
            found = self.run_rows(arrays, out)
        return found

    def batch(self, Py_ssize_t batch, operands, tuple out not None, cnp.ndarray failed not None,
              Py_ssize_t first, Py_ssize_t stop):
        """Compute the blocks first .. stop-1 of 8 configurations into C-contiguous arrays.

        Operands have contiguous rows: (batch, size), or (1, size) that all share; None is absent. failed, of
        shape (blocks * 8,), receives the freedom with a bad pivot, or -1.
        """
        cdef Operand found[MOST_ARRAYS]
        cdef int k
        for k in range(self.inputs):
            describe(operands[k], &found[k])
        self.run_blocks(batch, found, out, <Py_ssize_t *> failed.data, first, stop)

    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t *failed,
                         Py_ssize_t first, Py_ssize_t stop) except False:
        """Run blocks as `batch` does; failed may be NULL."""
        cdef char *to[MOST_ARRAYS]
        cdef bint done
        cdef int k
        for k in range(self.results):
            to[k] = <char *> cnp.PyArray_DATA(<cnp.ndarray> out[k])
        with nogil:
            done = self.compute_rows(batch, operands, to, failed, first, stop)
        if not done:
            raise MemoryError(f"cannot allocate a workspace of {self.rows_workspace_size(operands)} doubles")
        return True

    cdef Py_ssize_t rows_workspace_size(self, const Operand *operands) noexcept nogil:
        """Return the doubles that `compute_rows` allocates."""
        cdef Py_ssize_t need = self.workspace_size(LANES) + self.bodies.gathered_size() + 2 * ALIGNED
        cdef int k
        for k in range(self.inputs):
            need += LANES * operands[k].size
        for k in range(self.results):
            need += LANES * (self.result[k].computed + 1)
        return need

    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t *failed,
                           Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        """Run blocks as `batch` does, results to[k] <- (batch, ...); false without memory."""
        cdef Py_ssize_t b
        cdef Py_ssize_t ignored[LANES]
        cdef Py_ssize_t *status
        cdef double *x[MOST_ARRAYS]
        cdef double *y[MOST_ARRAYS]
        cdef double *packed[MOST_ARRAYS]
        cdef double *work = <double *> malloc(self.rows_workspace_size(operands) * sizeof(double))
        cdef double *end
        cdef double *gathered
        cdef Mechanism m
        cdef int k, count
        if work == NULL:
            return False
        gathered = align(work)
        end = gathered + self.bodies.gathered_size()
        for k in range(self.inputs):
            x[k] = NULL if operands[k].data == NULL else end
            end += LANES * operands[k].size
        for k in range(self.results):
            packed[k] = end
            end += LANES * self.result[k].computed
            memset(end, 0, LANES * sizeof(double))               # outside the pattern
            end += LANES
        for b in range(first, stop):
            status = &ignored[0] if failed == NULL else failed + b * LANES
            count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
            for k in range(self.results):
                y[k] = self.place_of(k, to[k], b, packed[k])
            m = self.bodies.mechanism(b, gathered)
            self.run_block(&m, b, count, operands, x, y, to, status, end)
        free(work)
        return True

    cdef Py_ssize_t to_next_block(self, int k) noexcept nogil:
        """Return the bytes of result k for a block of 8 configurations."""
        return LANES * sizeof(double) * (self.result[k].computed if self.in_lanes else self.result[k].size)

    cdef double *place_of(self, int k, char *to, Py_ssize_t b, double *packed) noexcept nogil:
        """Return where result k of block b is computed: in the user's array if that has aligned lanes."""
        cdef double *there = <double *> (to + b * self.to_next_block(k))
        return there if self.in_lanes and there == align(there) else packed

    cdef void run_block(self, const Mechanism *m, Py_ssize_t b, int count, const Operand *operands,
                        double **x, double **y, char **to, Py_ssize_t *failed,
                        double *work) noexcept nogil:
        """to, and y in lanes <- results of block b, whose mechanism is m, or NaN; x <- its arguments."""
        cdef int k, lane
        for k in range(self.inputs):
            load(&operands[k], b, count, x[k])
        for lane in range(LANES):
            failed[lane] = FACTORIZED
        self.compute(m, LANES, <const double **> x, y, failed, work)
        self.invalidate(x, y, failed)
        for lane in range(count, LANES):
            failed[lane] = FACTORIZED
        for k in range(self.results):
            self.store(&self.result[k], count, y[k], to[k] + b * self.to_next_block(k))

    cdef void invalidate(self, double **x, double **y, const Py_ssize_t *failed) noexcept nogil:
        """y <- NaN in lanes with a bad pivot, arguments that are not finite or q without unit rotations."""
        cdef double doubt[LANES]
        cdef int k, lane
        memset(doubt, 0, sizeof(doubt))
        for k in range(self.inputs):
            if x[k] != NULL:
                add_doubt(self.input[k].size, x[k], doubt)
        for lane in range(LANES):
            if (doubt[lane] != 0 or failed[lane] != FACTORIZED
                    or not self.bodies.is_configuration(x[0] + lane, LANES)):
                self.spoil(lane, y)

    cdef void spoil(self, int lane, double **y) noexcept nogil:
        """y <- NaN in one lane."""
        cdef Py_ssize_t e
        cdef int k
        for k in range(self.results):
            for e in range(self.result[k].computed):
                y[k][e * LANES + lane] = NAN

    cdef void store(self, const Array *result, int count, double *y, char *to) noexcept nogil:
        """Write a result of a block of configurations into the user's rows; zeros follow packed entries."""
        cdef Py_ssize_t to_next = result.size * sizeof(double), e
        cdef int lane
        if self.in_lanes:
            if result.form == SYMMETRIC:
                pad(&self.bodies.pattern.shape, count, y)
            else:
                for e in range(result.computed):
                    for lane in range(count, LANES):
                        y[e * LANES + lane] = 0.0
            if <char *> y != to:
                memcpy(to, y, LANES * result.computed * sizeof(double))
        elif result.form == PLAIN:
            active.lanes.store(result.size, count, y, to, to_next)
        else:
            active.lanes.unpack(result.size, result.at, count, y, to, to_next)
