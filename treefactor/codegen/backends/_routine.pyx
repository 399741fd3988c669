"""Run a generated function on one configuration or a batch: base class of the compiled backends."""

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.math cimport NAN
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ...tree._pattern cimport active
from ..._util._bound_call cimport BoundCall
from ..._util._fast_arrays cimport all_finite, is_plain_vector, is_real, may_overlap
from ..._util._thread_count cimport is_thread_count
from ._results cimport GROUP, PARTS, Results, StridedOutput, Target, are_fast_outputs

from ...tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject *kind, Py_ssize_t size)
    PyObject *PyTuple_GET_ITEM(tuple items, Py_ssize_t k)

cdef extern from *:
    """
    #include "kernels/interpreter/interpreter.h"
    #include "kernels/common/choose.h"
    CHOOSE(ProgramKernels, program_kernels)
    """
    const ProgramKernels *program_kernels_for(const char *name) nogil

kernels = program_kernels_for(active.name)

cdef enum:
    WIDEST = 64                  # most lanes; also adjacent configurations read at once

cdef double unit_square = UNIT_SQUARE


def atan2_address():
    """Return the address of the C function of (n, y, x, angle), for generated machine code."""
    return <size_t> kernels.arctangents


cdef class Routine:
    """One generated function, evaluated on a workspace whose first slots hold its arguments in order.

    Does not check that the slots of results exist. Each backend implements `prepare`, which initializes a new
    workspace, and `evaluate`, which computes the results in it.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the arguments.
    slots : int
        Number of slots of the workspace.
    units : ndarray of int, shape (m, 2)
        First entry and number of entries of each rotation in the first argument: their squares must sum to 1.
    pivots : bool
        Whether a pivot that is not positive makes the result, or the diagonal of a matrix, non-finite.
    """

    def __init__(self, sizes, Py_ssize_t slots, cnp.ndarray units not None, bint pivots, *_):
        cdef Py_ssize_t k
        self.arguments = len(sizes)
        for k in range(self.arguments):
            self.size[k] = sizes[k]
        self.inputs, self.slots, self.pivots = sum(sizes), slots, pivots
        self.units, self.unit, self.kept = len(units), <const Py_ssize_t *> units.data, units
        self.widest, self.live, self.together = 0, 0, 1

    cdef void prepare(self, const Width *width, double *workspace) noexcept nogil:
        """Write constants into a new workspace; the base class has none."""

    cdef void evaluate(self, const Width *width, double *workspace) noexcept nogil:
        """Compute all results from the arguments in the workspace; backends override this."""

    cdef void evaluate_groups(self, const Width *width, double *workspace, int groups) noexcept nogil:
        """Compute all results in at most `together` workspaces; backends may override this."""
        cdef int r
        for r in range(groups):
            self.evaluate(width, workspace + r * (self.slots + self.live) * width.lanes)

    cdef void load_arguments(self, const Width *width, const StridedInput *source, Py_ssize_t first,
                             int count, double *workspace) noexcept nogil:
        """Copy the arguments of configurations first .. first + count - 1 into workspaces."""
        cdef Py_ssize_t k
        for k in range(self.arguments):
            width.load(self.size[k], count, source[k].data + first * source[k].to_lane, source[k].to_lane,
                       source[k].to_entry, workspace, (self.slots + self.live) * width.lanes)
            workspace += self.size[k] * width.lanes

    cdef bint evaluate_checked(self, const Width *width, Results results, double *workspace, int groups,
                               int64_t *invalid) noexcept nogil:
        """Compute all results in workspaces; return whether any lane is invalid, and store which."""
        cdef Py_ssize_t to_workspace = (self.slots + self.live) * width.lanes
        cdef bint any_invalid = False
        cdef int r
        for r in range(groups):
            any_invalid |= width.find_invalid(self.inputs, self.units, self.unit, unit_square,
                                              workspace + r * to_workspace, invalid + r * width.lanes)
        self.evaluate_groups(width, workspace, groups)
        for r in range(groups if self.pivots else 0):
            any_invalid |= width.find_failed(results.size, results.step, results.slot,
                                             workspace + r * to_workspace, invalid + r * width.lanes)
        return any_invalid

    cdef bint take(self, tuple operands, PyObject **items) noexcept:
        """Store the items of a tuple; return whether there are as many as the function takes."""
        cdef Py_ssize_t k
        if len(operands) != self.arguments:
            return False
        for k in range(self.arguments):
            items[k] = PyTuple_GET_ITEM(operands, k)
        return True

    cdef bint find_operands(self, PyObject **operands, const double **addresses) noexcept:
        """Store the addresses of operands; return whether all are contiguous float64 vectors."""
        cdef Py_ssize_t k
        for k in range(self.arguments):
            if not is_plain_vector(<object> operands[k], self.size[k]):
                return False
            addresses[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> operands[k])
        return True

    cdef bint run_single(self, const double **operands, const Target *targets, int count) noexcept nogil:
        """Evaluate one configuration; return False if the general path must handle the call."""
        cdef double local[LOCAL]
        cdef double *workspace = local
        cdef const Width *width = &kernels.width[WIDTHS - 1]
        cdef Py_ssize_t k, at = 0
        cdef int64_t invalid
        cdef bint good
        if self.slots > LOCAL:
            workspace = <double *> malloc(self.slots * sizeof(double))
            if workspace == NULL:
                return False
        for k in range(self.arguments):
            memcpy(workspace + at, operands[k], self.size[k] * sizeof(double))
            at += self.size[k]
        good = all_finite(self.inputs, workspace)
        if self.units:
            good = good and not width.find_invalid(0, self.units, self.unit, unit_square, workspace, &invalid)
        if good:
            self.prepare(width, workspace)
            self.evaluate(width, workspace)
            for k in range(count):
                width.store(targets[k].size, 1, targets[k].slot, targets[k].sign, workspace, 0,
                            <char *> targets[k].data, 0, sizeof(double))
        if workspace != local:
            free(workspace)
        for k in range(count if self.pivots else 0):
            good = good and all_finite(targets[k].size, targets[k].data)
        return good

    def fast_path(self, tuple operands not None, object out, Results results not None, threads):
        """Return the result, or None when the general path must handle the call."""
        cdef PyObject *items[ARGUMENTS]
        return self.run_fast(items, out, results, threads) if self.take(operands, items) else None

    cdef object run_fast(self, PyObject **operands, object out, Results results, object threads):
        """Return the result for as many operands as the function takes, or None."""
        if is_real(<object> operands[0]) and cnp.PyArray_NDIM(<cnp.ndarray> operands[0]) == 1:
            return self.run_one(operands, out, results) if is_thread_count(threads) else None
        return self.run_many(operands, out, results) if type(threads) is int and threads == 1 else None

    cdef object run_one(self, PyObject **operands, object out, Results results):
        """Return the result for contiguous vectors, or None."""
        cdef const double *x[ARGUMENTS]
        cdef Target target
        cdef double number
        if results.grouped or not self.find_operands(operands, x):
            return None
        if out is None and not results.axes:
            target = results.at(&number)
            return number if self.run_single(x, &target, 1) else None
        if out is None:
            out = results.allocate(-1)
        elif not results.is_fast_output(out):
            return None
        target = results.at(cnp.PyArray_DATA(<cnp.ndarray> out))
        return out if self.run_single(x, &target, 1) else None

    def fast_parts(self, tuple operands not None, out, tuple parts not None, threads):
        """Return the results of a function of several for contiguous vectors, or None.

        Parts are the type of the tuple to return, and the locations of the results.
        """
        cdef PyObject *items[ARGUMENTS]
        cdef const double *x[ARGUMENTS]
        cdef Target target[PARTS]
        cdef int k, count = <int> len(parts) - 1
        cdef bint all_arrays = True
        cdef tuple arrays
        cdef object array, kind = parts[0]
        if count > PARTS or not is_thread_count(threads) or not self.take(operands, items):
            return None
        if not self.find_operands(items, x):
            return None
        if out is None:
            arrays = <tuple> PyType_GenericAlloc(<PyTypeObject *> kind, count)
            for k in range(count):
                array = (<Results> parts[k + 1]).allocate(-1)
                Py_INCREF(array)
                PyTuple_SET_ITEM(arrays, k, array)
                all_arrays &= (<Results> parts[k + 1]).axes > 0
        elif isinstance(out, tuple) and are_fast_outputs(<tuple> out, parts[1:]):
            arrays = out
        else:
            return None
        for k in range(count):
            target[k] = (<Results> parts[k + 1]).at(cnp.PyArray_DATA(<cnp.ndarray> arrays[k]))
        if not self.run_single(x, target, count):
            return None
        if all_arrays:
            return arrays
        return tuple([array if (<cnp.ndarray> array).ndim else array.item() for array in arrays])

    cdef object run_many(self, PyObject **operands, object out, Results results):
        """Return results for (batch, size) arrays and shared vectors, or None."""
        cdef StridedInput source[ARGUMENTS]
        cdef StridedOutput target
        cdef cnp.ndarray x
        cdef Py_ssize_t k, count = -1
        cdef int axes
        cdef bint done
        for k in range(self.arguments):
            if not is_real(<object> operands[k]):
                return None
            x = <cnp.ndarray> operands[k]
            axes = x.ndim
            if not 1 <= axes <= 2 or x.shape[axes - 1] != self.size[k]:
                return None
            source[k].data, source[k].to_entry, source[k].to_lane = x.data, x.strides[axes - 1], 0
            if axes == 2:
                if count >= 0 and x.shape[0] != count:
                    return None
                count, source[k].to_lane = x.shape[0], x.strides[0]
        if count <= 0 or (results.grouped and count % GROUP):
            return None
        if out is None:
            out = results.allocate(count)
        if not results.describe(out, count, &target):
            return None
        for k in range(self.arguments):
            if may_overlap(<cnp.ndarray> operands[k], <cnp.ndarray> out):
                return None
        with nogil:
            done = self.run(source, &target, results, 0, count)
        return out if done else None

    def bind(self, tuple operands not None, out, results not None, general_path):
        """Return a call without arguments that reads and writes these arrays; of parts if both are tuples."""
        is_single = isinstance(results, Results)
        arrays, outputs = ((out,), (results,)) if is_single else (out, results)
        return BoundRoutine(self, operands, arrays, outputs, is_single, general_path)

    def batch(self, operands, cnp.ndarray out not None, Results results not None, Py_ssize_t first,
              Py_ssize_t stop):
        """Compute the results of configurations first .. stop-1.

        Operands have shape (batch, size), or (1, size) if all configurations share them. Out has shape
        (batch, size) or (blocks, size, 8). Any strides are allowed.
        """
        cdef StridedInput source[ARGUMENTS]
        cdef StridedOutput target
        cdef Py_ssize_t k
        cdef cnp.ndarray operand
        cdef bint done
        for k in range(self.arguments):
            operand = operands[k]
            source[k].data, source[k].to_entry = operand.data, operand.strides[1]
            source[k].to_lane = 0 if operand.shape[0] == 1 else operand.strides[0]
        target.data, target.to_entry, target.grouped = out.data, out.strides[1], out.ndim == 3
        target.to_lane = out.strides[2 if target.grouped else 0]
        target.to_group = out.strides[0] if target.grouped else GROUP * target.to_lane
        with nogil:
            done = self.run(source, &target, results, first, stop)
        if not done:
            raise MemoryError(f"no memory for a workspace of {self.slots} slots")

    cdef bint run(self, const StridedInput *source, const StridedOutput *target, Results results,
                  Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        """Compute the results of configurations first .. stop-1; return False if out of memory.

        Several workspaces are filled before the code runs if one call of it takes several, or if
        configurations are adjacent in memory, so that whole cache lines are read.
        """
        cdef const Width *width = &kernels.width[self.widest]
        cdef const Width *prepared = NULL
        cdef bint adjacent = target.to_lane == sizeof(double) and not target.grouped
        cdef Py_ssize_t k, r, workspaces, at = first, to_workspace, most
        cdef int count
        cdef char *raw
        cdef double *workspace
        for k in range(self.arguments):
            adjacent |= source[k].to_lane == sizeof(double)
        most = WIDEST if adjacent and self.together == 1 else self.together * width.lanes
        most = min(most, ((stop - first - 1) // width.lanes + 1) * width.lanes)
        raw = <char *> malloc(most * (self.slots + self.live) * sizeof(double) + 64)
        if raw == NULL:
            return False
        workspace = <double *> ((<uintptr_t> raw + 63) & ~<uintptr_t> 63)
        while at < stop:
            while width.lanes > GROUP and width.lanes > stop - at:
                width += 1
            workspaces, to_workspace = most // width.lanes, (self.slots + self.live) * width.lanes
            if width != prepared:
                for r in range(workspaces):
                    self.prepare(width, workspace + r * to_workspace)
                prepared = width
            count = <int> min(workspaces * width.lanes, stop - at)
            self.load_arguments(width, source, at, count, workspace)
            self.evaluate_loaded(width, results, workspace, count, target, at)
            at += count
        free(raw)
        return True

    cdef void evaluate_loaded(self, const Width *width, Results results, double *workspace, int count,
                              const StridedOutput *target, Py_ssize_t at) noexcept nogil:
        """Compute and store the results of configurations at .. at + count - 1 from loaded arguments."""
        cdef Py_ssize_t to_workspace = (self.slots + self.live) * width.lanes, r = 0, k
        cdef int64_t invalid[WIDEST]
        cdef bint any_invalid = False
        cdef int some
        while r * width.lanes < count:
            some = <int> min(self.together, (count - 1) // width.lanes + 1 - r)
            any_invalid |= self.evaluate_checked(width, results, workspace + r * to_workspace, some,
                                                 invalid + r * width.lanes)
            r += some
        put(width, count, results, workspace, to_workspace, target, at)
        if any_invalid:
            for k in range(count):
                if invalid[k]:
                    erase(results.size, target, at + k)


cdef inline char *place(const StridedOutput *to, Py_ssize_t configuration) noexcept nogil:
    """Return the address of the result of a configuration."""
    return to.data + configuration // GROUP * to.to_group + configuration % GROUP * to.to_lane


cdef void put(const Width *width, int count, Results results, const double *workspace,
              Py_ssize_t to_workspace, const StridedOutput *to, Py_ssize_t at) noexcept nogil:
    """Copy the results of configurations at .. at + count - 1 from their workspaces to the output."""
    cdef int step = GROUP if to.grouped else count, part = 0
    while part < count:
        width.store(results.size, min(step, count - part), results.slot, results.sign,
                    workspace + part // width.lanes * to_workspace + part % width.lanes, to_workspace,
                    place(to, at + part), to.to_lane, to.to_entry)
        part += step


cdef void erase(Py_ssize_t size, const StridedOutput *to, Py_ssize_t configuration) noexcept nogil:
    """Fill the result of one configuration with NaN."""
    cdef Py_ssize_t e
    for e in range(size):
        (<double *> (place(to, configuration) + e * to.to_entry))[0] = NAN


cdef class BoundRoutine(BoundCall):
    """Call without arguments: evaluates a routine on one configuration in fixed arrays.

    Operands are contiguous float64 vectors; others, and results of other shapes, raise ValueError. The
    general path computes the same with validation, and raises the error if there is one.
    """

    cdef Routine routine
    cdef int count
    cdef const double *operands[ARGUMENTS]
    cdef Target target[PARTS]

    def __cinit__(self, Routine routine not None, tuple operands not None, out not None,
                  tuple parts not None, bint is_single, general_path):
        cdef PyObject *items[ARGUMENTS]
        cdef Py_ssize_t k
        if len(parts) > PARTS:
            raise ValueError(f"out must be one array: {len(parts)} results are more than {PARTS}")
        if not (routine.take(operands, items) and routine.find_operands(items, self.operands)
                and are_fast_outputs(<tuple> out, parts)):
            raise ValueError("only contiguous, aligned float64 arrays of the right shapes can be bound")
        self.kept, self.out, self.general_path = (operands, parts), out[0] if is_single else out, general_path
        self.routine, self.count = routine, <int> len(parts)
        for k in range(self.count):
            self.target[k] = (<Results> parts[k]).at(cnp.PyArray_DATA(<cnp.ndarray> out[k]))

    cdef bint run(self) noexcept:
        return self.routine.run_single(self.operands, self.target, self.count)
