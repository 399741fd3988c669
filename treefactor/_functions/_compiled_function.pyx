"""Run compiled functions on NumPy arrays: one configuration, or batches of 8 lanes."""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.float cimport PyFloat_AsDouble, PyFloat_Check
from cpython.long cimport PyLong_CheckExact
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.math cimport NAN
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from .._util._fast_arrays cimport all_finite, is_array, may_overlap
from .._util._result_arrays cimport doubles_of, new_array, new_block, new_result, size_in_block
from .._util._thread_count cimport is_thread_count
from ..tree._operands cimport (
    ALIGNED, LANES, Operand, align, describe, describe_vector, is_dense, load, overlap)
from ..tree._pattern cimport FACTORIZED, active
from ._arrays cimport (
    MOST_AXES,
    MOST_LEADING,
    Leading,
    describe_shape,
    fits,
    has_shape,
    read_rows,
    set_leading,
    shape_of,
)
from ._packed cimport add_doubt, are_unit_vectors, pad, unpack

import numpy as np

from ..tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/functions/validity.h"
    #include "kernels/common/choose.h"
    CHOOSE(Validity, validity)
    """
    ctypedef struct Validity:
        const char *name
        int (*are_valid)(Py_ssize_t entries, const double *x, Py_ssize_t units, const Py_ssize_t *unit,
                         double tolerance) noexcept nogil
    const Validity *validity_for(const char *name) nogil

cdef extern from *:
    """
    /* Return a named tuple of these entries. Its constructor in Python takes ten times as long. */
    static inline PyObject *named_tuple(PyObject *kind, PyObject *entries)
    {
        const Py_ssize_t count = PyTuple_GET_SIZE(entries);
        PyObject *made = ((PyTypeObject *)kind)->tp_alloc((PyTypeObject *)kind, count);
        for (Py_ssize_t k = 0; made != NULL && k < count; k++)
            PyTuple_SET_ITEM(made, k, Py_NewRef(PyTuple_GET_ITEM(entries, k)));
        return made;
    }
    """
    object named_tuple(object kind, tuple entries)

cdef const Validity *validity = validity_for(active.name)
cdef double unit_square = UNIT_SQUARE
cdef cnp.npy_intp no_axes[1]
cdef cnp.ndarray A_NUMBER = cnp.PyArray_SimpleNew(0, no_axes, cnp.NPY_DOUBLE)  # NumPy's type of scalars


cdef inline Py_ssize_t single_size(const Array *result) noexcept nogil:
    """Return the entries that `compute` writes for one configuration."""
    return result.size if result.form == SPARSE else result.computed


cdef inline bint read_number(const Array *array, object x, double *number) noexcept:
    """Set number to a float or int of Python if the argument may be one; false for anything else."""
    if not array.number:
        return False
    if PyFloat_Check(x):
        number[0] = PyFloat_AsDouble(x)
        return True
    if not PyLong_CheckExact(x):
        return False
    return has_double(x, number)


cdef bint has_double(object x, double *number) noexcept:
    """Set number to an int; false for one that no float can hold."""
    try:
        number[0] = x
    except OverflowError:
        return False
    return True


cdef class CompiledFunction:
    """Compute results of one model from arrays.

    Subclasses declare arguments and results in ``__init__``, by `add_input` and `add_result`, set `names` and
    `gather`, and implement `workspace_size` and `compute`; whoever makes an object calls `close` before
    arrays are passed to it. Entry e of configuration l stands at x[e * lanes + l]; arrays with lanes are
    aligned to 64 bytes, the workspace too.
    """

    def __cinit__(self, *_):
        self.elements, self.one_axis, self.effort, self.configurations = -1, True, 16, ()
        self.kind = cnp.NPY_DOUBLE

    def __dealloc__(self):
        free(self.result)

    cdef int add_input(self, tuple shape, bint optional=False, units=None) except -1:
        """Declare the next argument, with its shape for one configuration.

        Of a configuration, `units` has the first entry and the number of entries of every unit vector.
        """
        cdef Array *array = &self.input[self.inputs]
        cdef Py_ssize_t first = 0
        cdef int k
        assert self.inputs < MOST_ARRAYS and len(shape) < MOST_AXES
        describe_shape(array, shape, self.kind)
        array.optional = optional
        if units is not None:
            for k in range(self.inputs):
                assert not self.input[k].optional    # unit vectors would move where it is absent
                first += self.input[k].size
            if self.unit_entries is None:
                self.unit_entries = []
            self.units_of[self.inputs] = len(units)
            self.unit_entries.append((self.inputs, first, units))
        self.inputs += 1
        return 0

    cdef int add_number(self, bint shared=False) except -1:
        """Declare the next argument: a number, for which Python's float or int may stand."""
        self.add_input(())
        describe_shape(&self.input[self.inputs - 1], ())
        self.input[self.inputs - 1].number, self.input[self.inputs - 1].shared = True, shared
        return 0

    cdef int add_result(self, tuple shape, Form form=PLAIN, Py_ssize_t computed=0,
                        const int *at=NULL) except -1:
        """Declare the next result; for SPARSE, at has for every entry the computed one, or their number."""
        cdef Array *table = self.result
        cdef Array *array
        cdef Py_ssize_t nnz
        assert len(shape) < MOST_AXES
        if self.results == MOST_RESULTS:
            raise ValueError(f"a function has at most {MOST_RESULTS} results")
        table = <Array *> realloc(table, (self.results + 1) * sizeof(Array))
        if table == NULL:
            raise MemoryError("cannot allocate the table of the results of a function")
        self.result, array = table, &table[self.results]
        memset(array, 0, sizeof(Array))
        describe_shape(array, shape, self.kind)
        array.form = form
        if form == SPARSE:
            array.computed, array.at = computed, at
        elif form != PLAIN:
            nnz = self.pattern.shape.start[self.pattern.shape.n]
            array.computed = nnz + (nnz - self.pattern.shape.n if form == PAIR else 0)
            array.at = self.pattern.packed_entries(form == PAIR)
        self.results += 1
        return 0

    cpdef int close(self) except -1:
        """Fix the sizes of workspaces: all arguments, results and options are declared."""
        cdef Py_ssize_t one = 2 * ALIGNED + self.workspace_size(1)
        cdef Py_ssize_t lanes = 2 * ALIGNED + self.workspace_size(LANES) + self.block_size()
        cdef cnp.ndarray entries
        cdef int k
        self.need_apart = 0
        for k in range(self.results):
            lanes += LANES * (self.result[k].computed + 1)
            if self.is_apart(k):
                self.need_apart += single_size(&self.result[k])
        for k in range(self.inputs):
            lanes += LANES * self.input[k].size
        if type(self.unit_entries) is list:
            entries = np.array([
                [(first + int(e), int(size)) for _, first, pairs in self.unit_entries for e, size in pairs],
                [(int(e), int(size)) for _, _, pairs in self.unit_entries for e, size in pairs],
            ], np.intp)
            self.configurations = tuple([self.names[k] for k, _, _ in self.unit_entries])
            self.units, self.unit = entries.shape[1], <const Py_ssize_t *> entries.data
            self.own_unit = self.unit + 2 * self.units
            self.unit_entries = entries
        self.need_one, self.need_lanes = one + self.need_apart, lanes
        self.input_shapes = {name: shape_of(&self.input[k]) for k, name in enumerate(self.names)}
        self.shapes = tuple([(self.result[k].computed,) if self.in_lanes else shape_of(&self.result[k])
                             for k in range(self.results)])
        return 0

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        """Return the doubles that `compute` needs for 1 or 8 configurations, alignment excluded."""
        return 0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        """y <- all results of 1 or 8 configurations x; x[k] = NULL is an optional argument that is absent.

        failed[lane], which is -1 at the call, <- the freedom with a bad pivot; single results may then be
        anything, those of lanes become NaN.
        """

    cdef Py_ssize_t block_size(self) noexcept nogil:
        """Return the doubles that `begin_block` needs, a multiple of 8."""
        return 0

    cdef const void *begin_block(self, Py_ssize_t b, double *memory) noexcept nogil:
        """Return the model of block b of a batch whose elements have models of their own."""
        return self.model

    cdef bint run_whole(self, Py_ssize_t batch, const Operand *operands, tuple out) noexcept:
        """Compute a batch into out, which shares no memory with it, by fewer calls of kernels.

        False, whatever out then holds, if blocks of 8 configurations must.
        """
        return False

    cdef void write_rows(self, Py_ssize_t b, const double **x, char **to, double *work) noexcept nogil:
        """to <- the rows of block b, whose 8 configurations are valid: for `writes_rows`."""

    cdef bint are_valid(self, Py_ssize_t entries, double **x, double **y) noexcept nogil:
        """Return whether the arguments of all lanes are valid; false leaves the question to every lane.

        Arguments stand side by side from x[0] on and have so many entries together; y has the results.
        """
        return validity.are_valid(entries, x[0], self.units, self.unit, 0.5 * unit_square)

    cdef void spoil(self, int lane, double **y) noexcept nogil:
        """y <- NaN in a lane whose arguments are not valid, or that has a bad pivot."""
        cdef Py_ssize_t e
        cdef int k
        for k in range(self.results):
            for e in range(self.result[k].computed):
                y[k][e * LANES + lane] = NAN

    cdef object as_number(self, double value):
        """Return the only result, a number, as the function returns it for a single configuration."""
        return cnp.PyArray_ToScalar(&value, A_NUMBER)

    def require_valid(self, dict arrays):
        """Raise the error about arguments of one configuration, finite arrays by name, that are not valid."""

    def require_regular(self, Py_ssize_t failed):
        """Raise the error about one configuration that failed, unless it is a freedom with a bad pivot."""

    def number(self, double value):
        """Return the only result, a number, as the function returns it."""
        return self.as_number(value)

    @property
    def dtype(self):
        """Return the type of arguments and results; numbers are float64."""
        return cnp.PyArray_DescrFromType(self.kind)

    @property
    def has_elements(self):
        """Return whether elements of a batch have models of their own."""
        return self.elements >= 0

    @property
    def series(self):
        """Return the names of the arguments whose first axis is that of steps."""
        return tuple([name for k, name in enumerate(self.names) if self.input[k].series])

    @property
    def shared_numbers(self):
        """Return the names of the numbers that all configurations of a batch share."""
        return tuple([name for k, name in enumerate(self.names) if self.input[k].shared])

    @property
    def in_place(self):
        """Return the names of the arguments over which results may be written, in the order of results."""
        return tuple([self.names[k] if self.result[k].in_place else None for k in range(self.results)])

    @property
    def optional(self):
        """Return the names of the arguments that may be None."""
        return tuple([name for k, name in enumerate(self.names) if self.input[k].optional])

    cpdef tuple run_alone(self, model, tuple arrays):
        """Return the results of one configuration that `run_one` refused; None if lanes must compute them.

        Arrays are valid and contiguous. May raise the error of a bad pivot.
        """
        return None

    cpdef object make(self, tuple results):
        """Return the results as the function returns them."""
        if self.gather is None:
            return results[0]
        if self.gather is tuple:
            return results
        return named_tuple(self.gather, results) if isinstance(self.gather, type) else self.gather(results)

    cdef bint is_apart(self, int k) noexcept nogil:
        """Return whether a single result is computed in the workspace: a packed one, or one that may fail."""
        return self.result[k].form in (PAIR, SYMMETRIC) or (self.may_fail and not self.writes_last)

    cdef bint is_valid(self, const double *x, int step) noexcept nogil:
        """Return whether all unit vectors in arguments that stand side by side have unit length."""
        return are_unit_vectors(self.units, self.unit, x, step, unit_square)

    cdef bint has_units(self, const double **x) noexcept nogil:
        """Return whether all unit vectors in arguments of one configuration have unit length."""
        cdef const Py_ssize_t *unit = self.own_unit
        cdef int k
        for k in range(self.inputs):
            if self.units_of[k]:
                if not are_unit_vectors(self.units_of[k], unit, x[k], 1, unit_square):
                    return False
                unit += 2 * self.units_of[k]
        return True

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        """Compute one configuration; return false, and leave out unchanged, if the general path must."""
        cdef double local[STACK_DOUBLES]
        cdef double *work = local
        cdef double *end
        cdef double *y[MOST_RESULTS]
        cdef Py_ssize_t failed = FACTORIZED
        cdef int k
        for k in range(self.inputs):
            if x[k] != NULL and not all_finite(self.input[k].size, x[k]):
                return False
        if self.units and not self.has_units(x):
            return False
        if self.need_one > STACK_DOUBLES:
            work = <double *> malloc(self.need_one * sizeof(double))
            if work == NULL:
                return False
        if self.need_apart == 0:                     # no result is computed apart
            self.compute(self.model, 1, x, out, &failed, align(work))
        else:
            end = work
            for k in range(self.results):
                y[k] = out[k]
                if self.is_apart(k):
                    y[k] = end
                    end += single_size(&self.result[k])
            self.compute(self.model, 1, x, y, &failed, align(end))
            if failed == FACTORIZED:
                for k in range(self.results):
                    if self.result[k].form in (PAIR, SYMMETRIC):
                        unpack(&self.pattern.shape, self.result[k].form == PAIR, y[k], 1, out[k])
                    elif self.may_fail:
                        memcpy(out[k], y[k], self.result[k].size * sizeof(double))
        if self.need_one > STACK_DOUBLES:
            free(work)
        return failed == FACTORIZED

    cdef bint find_arguments(self, PyObject **arrays, double *numbers, const double **x) noexcept:
        """Set x to the data of contiguous arrays of one configuration, or NULL; false if one does not fit.

        Python's numbers are kept in `numbers`, which has a place for every argument.
        """
        cdef int k
        cdef PyObject *array
        for k in range(self.inputs):
            array = arrays[k]
            x[k] = NULL
            if self.input[k].optional and array == <PyObject *> None:
                continue
            if not fits(&self.input[k], <object> array):
                if not read_number(&self.input[k], <object> array, numbers + k):
                    return False
                x[k] = numbers + k
                continue
            x[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> array)
        return True

    cdef bint find_result(self, int k, const double **x, object out, double **y) noexcept:
        """Set y[k] to the data of out, for one configuration; false if it does not fit, or overlaps."""
        cdef Py_ssize_t size = self.result[k].size * self.result[k].number_bytes
        cdef int j
        if not (fits(&self.result[k], out) and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)):
            return False
        y[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)
        for j in range(self.inputs):
            if overlap(y[k], size, x[j], self.input[j].size * self.input[j].number_bytes):
                if not (self.result[k].in_place and j == k and y[k] == x[k]):
                    return False
        for j in range(k):
            if overlap(y[k], size, y[j], self.result[j].size * self.result[j].number_bytes):
                return False
        return True

    cdef bint find_results(self, const double **x, tuple out, double **y) noexcept:
        """Set y to the data of out, for one configuration; false if an array does not fit, or overlaps."""
        cdef int k
        for k in range(self.results):
            if not self.find_result(k, x, out[k], y):
                return False
        return True

    cdef tuple as_results(self, object out):
        """Return the arrays of out as a tuple; None if there are not as many as results."""
        if self.gather is None:
            return (out,)
        return tuple(out) if isinstance(out, (tuple, list)) and len(out) == self.results else None

    def allocate(self, Py_ssize_t count):
        """Return new arrays of all results for a batch along one axis."""
        cdef Leading leading
        leading.axes = 0
        set_leading(&leading, 1, <cnp.npy_intp *> &count)
        return self.new_results(&leading)

    cdef tuple new_results(self, const Leading *leading):
        """Return new arrays of all results for a batch, or for one configuration if it has no axes."""
        cdef Py_ssize_t size = 0, at = 0
        cdef cnp.npy_intp shape[MOST_LEADING + MOST_AXES]
        cdef int k
        cdef cnp.ndarray block = None
        cdef tuple arrays = PyTuple_New(self.results)
        cdef object array
        memcpy(shape, leading.shape, leading.axes * sizeof(cnp.npy_intp))
        if leading.axes:
            for k in range(self.results):
                size += size_in_block(doubles_of(
                    leading.size * self.result[k].size * self.result[k].number_bytes))
            block = new_block(self.results, size)
        for k in range(self.results):
            memcpy(shape + leading.axes, self.result[k].shape, sizeof(self.result[k].shape))
            array = new_array(leading.axes + self.result[k].axes, shape, self.kind, block, &at)
            Py_INCREF(array)
            PyTuple_SET_ITEM(arrays, k, array)
        return arrays

    cdef object run_vectors(self, PyObject **arrays, object out):
        """Compute one configuration given as contiguous arrays; None if the general path must handle it."""
        cdef const double *x[MOST_ARRAYS]
        cdef double *y[MOST_RESULTS]
        cdef double numbers[MOST_ARRAYS]
        cdef double number = 0.0
        cdef Leading none
        cdef tuple results
        cdef object only
        cdef int k
        if self.in_lanes or self.elements >= 0 or not self.find_arguments(arrays, numbers, x):
            return None
        if out is not None:
            if self.gather is None:
                if not self.find_result(0, x, out, y):
                    return None
            else:
                results = self.as_results(out)
                if results is None or not self.find_results(x, results, y):
                    return None
            return out if self.run_single(x, y) else None
        if self.scalar:
            y[0] = &number
            return self.as_number(number) if self.run_single(x, y) else None
        if self.gather is None:
            only = new_result(self.result[0].axes, self.result[0].shape)
            y[0] = <double *> cnp.PyArray_DATA(<cnp.ndarray> only)
            return only if self.run_single(x, y) else None
        none.axes = 0
        results = self.new_results(&none)
        for k in range(self.results):
            y[k] = <double *> cnp.PyArray_DATA(<cnp.ndarray> results[k])
        return self.make(results) if self.run_single(x, y) else None

    cdef inline bint run_single(self, const double **x, double **out) noexcept:
        """Compute one configuration as `run_one`."""
        cdef bint done
        if not self.takes_long:
            return self.run_one(x, out)
        with nogil:
            done = self.run_one(x, out)
        return done

    cdef object run_rows(self, PyObject **arrays, object out):
        """Compute a batch given as float64 arrays, or as one row for all of it; None if they do not fit."""
        cdef Operand operands[MOST_ARRAYS]
        cdef double numbers[MOST_ARRAYS]
        cdef Leading leading
        cdef tuple results
        cdef bint apart = True
        cdef int k, j
        leading.axes = leading.size = 0
        if self.elements >= 0:
            set_leading(&leading, 1, <cnp.npy_intp *> &self.elements)
        for k in range(self.inputs):
            if self.input[k].optional and arrays[k] == <PyObject *> None:
                describe_vector(NULL, 0, &operands[k])
            elif read_number(&self.input[k], <object> arrays[k], numbers + k):
                describe_vector(numbers + k, 1, &operands[k])
            elif not read_rows(&self.input[k], <object> arrays[k], &leading, &operands[k]):
                return None
            if self.input[k].shared and (operands[k].to_next
                                         or not all_finite(1, <const double *> operands[k].data)):
                return None
        if leading.size == 0 or not self.one_axis or (self.in_lanes and out is None):
            return None
        if out is None:
            results = self.new_results(&leading)
        else:
            results = self.as_results(out)
            if results is None:
                return None
            for k in range(self.results):
                if not self.fits_batch(k, results[k], &leading):
                    return None
                for j in range(self.inputs):
                    if operands[j].data == NULL or operands[j].data == <const char *> (numbers + j):
                        continue
                    if may_overlap(<cnp.ndarray> arrays[j], results[k]):
                        if not (self.result[k].in_place and j == k
                                and is_dense(&operands[j], self.input[j].number_bytes)
                                and operands[j].data == <const char *> cnp.PyArray_DATA(results[k])):
                            return None
                        apart = False
                for j in range(k):
                    if may_overlap(results[j], results[k]):
                        return None
        if not (apart and self.run_whole(leading.size, operands, results)):
            self.run_blocks(leading.size, operands, results, NULL, 0, (leading.size + LANES - 1) // LANES)
        return self.make(results) if out is None else out

    cdef bint fits_batch(self, int k, object out, const Leading *leading) noexcept:
        """Return whether out can hold result k of a batch."""
        cdef cnp.npy_intp shape[MOST_LEADING + MOST_AXES]
        cdef int axes = leading.axes + self.result[k].axes
        memcpy(shape, leading.shape, leading.axes * sizeof(cnp.npy_intp))
        memcpy(shape + leading.axes, self.result[k].shape, sizeof(self.result[k].shape))
        if self.in_lanes:
            axes, shape[0], shape[1] = 3, (leading.size + LANES - 1) // LANES, self.result[k].computed
            shape[2] = LANES
        return has_shape(out, axes, shape, self.kind) and cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)

    cdef object run(self, PyObject **arrays, object out, object threads):
        """Return the results for arrays that need no conversion, or None."""
        cdef object returned = None
        cdef PyObject *plain[MOST_ARRAYS]
        cdef list copies
        if is_array(<object> arrays[0], self.input[0].axes, self.input[0].kind) and is_thread_count(threads):
            returned = self.run_vectors(arrays, out)
            if returned is None:
                copies = self.copy_strided(arrays, plain)
                if copies:
                    returned = self.run_vectors(plain, out)
        if returned is None and type(threads) is int and threads == 1:
            returned = self.run_rows(arrays, out)
        return returned

    cdef list copy_strided(self, PyObject **arrays, PyObject **plain):
        """Set plain to contiguous arrays of one configuration; return those of them that are new."""
        cdef list copies = []
        cdef int k
        for k in range(self.inputs):
            plain[k] = arrays[k]
            if (is_array(<object> arrays[k], self.input[k].axes, self.input[k].kind)
                    and not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> arrays[k])):
                copies.append(cnp.PyArray_GETCONTIGUOUS(<cnp.ndarray> arrays[k]))
                plain[k] = <PyObject *> copies[len(copies) - 1]
        return copies

    def run_arrays(self, tuple arrays not None, out, threads):
        """Return what `run` returns for a tuple of arrays, None where an optional one is absent."""
        cdef PyObject *x[MOST_ARRAYS]
        cdef int k
        for k in range(self.inputs):
            x[k] = <PyObject *> arrays[k]
        return self.run(x, out, threads)

    def batch(self, Py_ssize_t batch, operands, tuple out not None, cnp.ndarray failed not None,
              Py_ssize_t first, Py_ssize_t stop):
        """Compute the blocks first .. stop-1 of 8 configurations into C-contiguous arrays.

        Operands are (batch, size), or (1, size) that all share; None is absent. failed, of shape
        (blocks * 8,), receives the freedom with a bad pivot, or -1; beyond the batch it may be anything.
        """
        cdef Operand rows[MOST_ARRAYS]
        cdef Py_ssize_t *status = <Py_ssize_t *> failed.data
        cdef Py_ssize_t k
        for k in range(self.inputs):
            describe(operands[k], &rows[k])
        if first == 0 and stop * LANES >= batch and self.run_whole(batch, rows, out):
            for k in range(stop * LANES):
                status[k] = FACTORIZED
        else:
            self.run_blocks(batch, rows, out, status, first, stop)

    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t *failed,
                         Py_ssize_t first, Py_ssize_t stop) except False:
        """Run blocks as `batch` does; failed may be NULL."""
        cdef char *to[MOST_RESULTS]
        cdef bint done
        cdef int k
        for k in range(self.results):
            to[k] = <char *> cnp.PyArray_DATA(<cnp.ndarray> out[k])
        with nogil:
            done = self.compute_rows(batch, operands, to, failed, first, stop)
        if not done:
            raise MemoryError(f"cannot allocate a workspace of {self.need_lanes} doubles")
        return True

    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t *failed,
                           Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        """Run blocks as `batch` does, results to[k] <- (batch, ...); false without memory."""
        cdef Py_ssize_t b
        cdef Py_ssize_t ignored[LANES]
        cdef Py_ssize_t *status
        cdef double *x[MOST_ARRAYS]
        cdef double *y[MOST_RESULTS]
        cdef double *packed[MOST_RESULTS]
        cdef double *work = <double *> malloc(self.need_lanes * sizeof(double))
        cdef double *of_block
        cdef double *end
        cdef const void *model = self.model
        cdef Py_ssize_t entries = 0
        cdef int k, count, lane
        if work == NULL:
            return False
        of_block = align(work)
        end = of_block + self.block_size() if self.elements >= 0 else of_block
        for k in range(self.inputs):
            x[k] = NULL if operands[k].data == NULL else end
            end += LANES * operands[k].size
            entries += operands[k].size
        for k in range(self.results):
            packed[k] = y[k] = end
            end += LANES * self.result[k].computed
            memset(end, 0, LANES * sizeof(double))               # outside the pattern
            end += LANES
        for b in range(first, stop):
            status = &ignored[0] if failed == NULL else failed + b * LANES
            count = <int> min(<Py_ssize_t> LANES, batch - b * LANES)
            if self.in_lanes:
                for k in range(self.results):
                    y[k] = self.place_of(k, to[k], b, packed[k])
            if self.elements >= 0:
                model = self.begin_block(b, of_block)
            for k in range(self.inputs):
                load(&operands[k], b, count, x[k])
            for lane in range(LANES):
                status[lane] = FACTORIZED
            if self.writes_rows and count == LANES and self.are_valid(entries, x, y):
                self.write_rows(b, <const double **> x, to, end)
                continue
            self.compute(model, LANES, <const double **> x, y, status, end)
            if not self.are_good(entries, x, y, status):
                self.invalidate(entries, x, y, status)
            for k in range(self.results):
                self.store(&self.result[k], count, y[k], to[k] + b * self.to_next_block(k))
        free(work)
        return True

    cdef Py_ssize_t to_next_block(self, int k) noexcept nogil:
        """Return the bytes of result k for a block of 8 configurations."""
        return LANES * sizeof(double) * (self.result[k].computed if self.in_lanes else self.result[k].size)

    cdef double *place_of(self, int k, char *to, Py_ssize_t b, double *packed) noexcept nogil:
        """Return where result k of block b is computed in lanes: in the user's array if that is aligned."""
        cdef double *there = <double *> (to + b * self.to_next_block(k))
        return there if there == align(there) else packed

    cdef inline bint are_good(self, Py_ssize_t entries, double **x, double **y,
                              const Py_ssize_t *failed) noexcept nogil:
        """Return whether all lanes have good pivots and valid arguments."""
        cdef int lane
        if self.may_fail:
            for lane in range(LANES):
                if failed[lane] != FACTORIZED:
                    return False
        return self.are_valid(entries, x, y)

    cdef void invalidate(self, Py_ssize_t entries, double **x, double **y,
                         const Py_ssize_t *failed) noexcept nogil:
        """y <- NaN in lanes with a bad pivot, arguments that are not finite, or no unit vector as needed.

        The entries of the arguments stand side by side from x[0] on.
        """
        cdef double doubt[LANES]
        cdef int lane
        memset(doubt, 0, sizeof(doubt))
        add_doubt(entries, x[0], doubt)
        for lane in range(LANES):
            if doubt[lane] != 0 or failed[lane] != FACTORIZED or not self.is_valid(x[0] + lane, LANES):
                self.spoil(lane, y)

    cdef void store(self, const Array *result, int count, double *y, char *to) noexcept nogil:
        """Write a result of a block of configurations into the user's rows; zeros follow packed entries."""
        cdef Py_ssize_t to_next = result.size * sizeof(double), e
        cdef int lane
        if self.in_lanes:
            if result.form == SYMMETRIC:
                pad(&self.pattern.shape, count, y)
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
