"""Run a generated function on one configuration or a batch: base class of the compiled backends."""

cimport numpy as cnp
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ..._functions._arrays cimport Leading, describe_shape, fits, read_rows
from ...tree._operands cimport Operand, describe, describe_vector
from ...tree._pattern cimport active
from ..._util._bound_call cimport BoundCall
from ..._util._fast_arrays cimport all_finite, is_array, may_overlap
from ..._util._thread_count cimport is_thread_count
from ._results cimport PARTS, Results, StridedOutput, Target, are_fast_outputs

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

cdef extern from "kernels/common/subnormals.h" nogil:
    uint64_t flush_subnormals()
    void restore_subnormals(uint64_t state)

kernels = program_kernels_for(active.name)

cdef enum:
    WIDEST = 64                  # most lanes; also adjacent configurations read at once
    ALIGNMENT = 64               # of workspaces, in bytes
    DIRECT = 8                   # blocks of the layout "lanes" that are checked together

cdef double unit_square = UNIT_SQUARE


def atan2_address(bint is_single):
    """Return the address of the C function of (n, y, x, angle), for generated machine code."""
    return <size_t> kernels.arctangents[SINGLE if is_single else DOUBLE]


def sincos_address(bint is_single):
    """Return the address of the C function of (n, x, sine, cosine), for generated machine code."""
    return <size_t> kernels.sincos[SINGLE if is_single else DOUBLE]


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
    dtype : numpy.dtype
        float64 or float32.
    """

    def __init__(self, sizes, Py_ssize_t slots, cnp.ndarray units not None, bint pivots,
                 cnp.dtype dtype not None, *_):
        cdef Py_ssize_t k
        self.kind, self.bytes = dtype.num, dtype.itemsize
        self.width = kernels.width[DOUBLE if self.kind == cnp.NPY_DOUBLE else SINGLE]
        self.arguments = len(sizes)
        for k in range(self.arguments):
            describe_shape(&self.input[k], (sizes[k],), self.kind)
        self.inputs, self.slots, self.pivots = sum(sizes), slots, pivots
        self.units, self.unit, self.kept = len(units), <const Py_ssize_t *> units.data, units
        self.widest, self.live, self.together = 0, 0, 1

    cdef void prepare(self, const Width *width, char *workspace) noexcept nogil:
        """Write constants into a new workspace; the base class has none."""

    cdef void evaluate(self, const Width *width, char *workspace) noexcept nogil:
        """Compute all results from the arguments in the workspace; backends override this."""

    cdef void evaluate_groups(self, const Width *width, char *workspace, int groups) noexcept nogil:
        """Compute all results in at most `together` workspaces; backends may override this."""
        cdef int r
        for r in range(groups):
            self.evaluate(width, workspace + r * (self.slots + self.live) * width.lanes * self.bytes)

    cdef void load_arguments(self, const Width *width, const Operand *source, Py_ssize_t first,
                             int count, char *workspace) noexcept nogil:
        """Copy the arguments of configurations first .. first + count - 1 into workspaces."""
        cdef Py_ssize_t k
        for k in range(self.arguments):
            width.load(source[k].size, count, source[k].data + first * source[k].to_next, source[k].to_next,
                       source[k].to_entry, workspace, (self.slots + self.live) * width.lanes)
            workspace += source[k].size * width.lanes * self.bytes

    cdef void load_lanes(self, const Width *width, const Operand *source, Py_ssize_t first,
                         int count, char *workspace) noexcept nogil:
        """Copy arguments in the layout "lanes" into workspaces; see `load_arguments`."""
        cdef Py_ssize_t entry = ALIGNMENT, to_slot = width.lanes * self.bytes, k, e, b, lane
        cdef Py_ssize_t to_workspace = (self.slots + self.live) * to_slot
        cdef int group = ALIGNMENT // <int> self.bytes
        cdef const char *block
        cdef char *to
        for k in range(self.arguments):
            for b in range(count // group):
                lane = b * group
                block = source[k].data + (first // group + b) * source[k].to_next
                to = workspace + lane // width.lanes * to_workspace + lane % width.lanes * self.bytes
                if to_slot == entry:
                    memcpy(to, block, source[k].size * entry)
                else:
                    for e in range(source[k].size):
                        memcpy(to + e * to_slot, block + e * entry, entry)
            workspace += source[k].size * to_slot

    cdef bint evaluate_lanes(self, const Operand *source, const StridedOutput *target, Results results,
                             Py_ssize_t first, Py_ssize_t blocks) noexcept nogil:
        """Compute blocks of the layout "lanes" in the arrays themselves.

        Returns False, whatever the results then are, if workspaces must take them: the base class has no
        other way, and other backends need aligned arrays and valid numbers.
        """
        return False

    cdef bint evaluate_checked(self, const Width *width, Results results, char *workspace, int groups,
                               int64_t *invalid) noexcept nogil:
        """Compute all results in workspaces; return whether any lane is invalid, and store which."""
        cdef Py_ssize_t to_workspace = (self.slots + self.live) * width.lanes * self.bytes
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

    cdef bint find_operands(self, PyObject **operands, const char **addresses) noexcept:
        """Store the addresses of operands; return whether all are contiguous vectors of the dtype."""
        cdef Py_ssize_t k
        for k in range(self.arguments):
            if not fits(&self.input[k], <object> operands[k]):
                return False
            addresses[k] = cnp.PyArray_BYTES(<cnp.ndarray> operands[k])
        return True

    cdef bint run_single(self, const char **operands, const Target *targets, int count) noexcept nogil:
        """Evaluate one configuration; return False if the general path must handle the call."""
        cdef double local[LOCAL + ALIGNMENT]
        cdef char *raw = <char *> local
        cdef char *workspace
        cdef const Width *width = &self.width[WIDTHS - 1]
        cdef Py_ssize_t k, at = 0, size = self.slots * width.lanes * self.bytes
        cdef int64_t invalid[WIDEST]
        cdef Operand source[ARGUMENTS]
        cdef uint64_t state
        cdef bint good
        if size > LOCAL * <Py_ssize_t> sizeof(double):
            raw = <char *> malloc(size + ALIGNMENT)
            if raw == NULL:
                return False
        workspace = align(raw)
        state = flush_subnormals() if self.kind == cnp.NPY_FLOAT else 0
        if width.lanes == 1:         # small programs take as long as the calls of the other branch
            for k in range(self.arguments):
                memcpy(workspace + at, operands[k], self.input[k].size * sizeof(double))
                at += self.input[k].size * sizeof(double)
            good, invalid[0] = all_finite(self.inputs, <const double *> workspace), 0
            if good and self.units:
                good = not width.find_invalid(0, self.units, self.unit, unit_square, workspace, invalid)
        else:
            for k in range(self.arguments):
                describe_vector(operands[k], self.input[k].size, &source[k])
                source[k].to_entry = self.bytes
            self.load_arguments(width, source, 0, 1, workspace)
            good = not width.find_invalid(self.inputs, self.units, self.unit, unit_square, workspace, invalid)
        if good:
            self.prepare(width, workspace)
            self.evaluate(width, workspace)
            for k in range(count):
                if self.pivots:
                    good &= not width.find_failed(targets[k].size, 1, targets[k].slot, workspace, invalid)
                width.store(targets[k].size, 1, targets[k].slot, targets[k].sign, workspace, 0,
                            targets[k].data, 0, self.bytes)
        if self.kind == cnp.NPY_FLOAT:
            restore_subnormals(state)
        if raw != <char *> local:
            free(raw)
        return good

    def fast_path(self, tuple operands not None, object out, Results results not None, threads):
        """Return the result, or None when the general path must handle the call."""
        cdef PyObject *items[ARGUMENTS]
        return self.run_fast(items, out, results, threads) if self.take(operands, items) else None

    cdef object run_fast(self, PyObject **operands, object out, Results results, object threads):
        """Return the result for as many operands as the function takes, or None."""
        if is_array(<object> operands[0], 1, self.kind):
            return self.run_one(operands, out, results) if is_thread_count(threads) else None
        return self.run_many(operands, out, results) if type(threads) is int and threads == 1 else None

    cdef object run_one(self, PyObject **operands, object out, Results results):
        """Return the result for contiguous vectors, or None."""
        cdef const char *x[ARGUMENTS]
        cdef Target target
        cdef double number = 0
        cdef float single = 0
        if results.grouped or not self.find_operands(operands, x):
            return None
        if out is None and not results.axes:
            target = results.at(<void *> &number if self.kind == cnp.NPY_DOUBLE else <void *> &single)
            if not self.run_single(x, &target, 1):
                return None
            return number if self.kind == cnp.NPY_DOUBLE else single
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
        cdef const char *x[ARGUMENTS]
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
            arrays = <tuple> out         # a named tuple, too
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
        cdef Operand source[ARGUMENTS]
        cdef StridedOutput target
        cdef Leading leading
        cdef Py_ssize_t k
        cdef bint done
        if results.takes_lanes:
            return self.run_lanes(operands, out, results)
        leading.axes = leading.size = 0
        for k in range(self.arguments):
            if not read_rows(&self.input[k], <object> operands[k], &leading, &source[k]):
                return None
        if leading.axes != 1 or leading.size == 0 or (results.grouped and leading.size % results.group):
            return None
        if out is None:
            out = results.allocate(leading.size)
        if not results.describe(out, leading.size, &target):
            return None
        for k in range(self.arguments):
            if may_overlap(<cnp.ndarray> operands[k], <cnp.ndarray> out):
                return None
        with nogil:
            done = self.run(source, &target, results, 0, leading.size)
        return out if done else None

    cdef object run_lanes(self, PyObject **operands, object out, Results results):
        """Return results for contiguous arrays in the layout "lanes", or None."""
        cdef Operand source[ARGUMENTS]
        cdef StridedOutput target
        cdef Py_ssize_t blocks = 1, k
        cdef bint done
        for k in range(self.arguments):
            if not is_array(<object> operands[k], 3, self.kind):
                return None
            if not describe_lanes(<cnp.ndarray> operands[k], self.input[k].size, results.group, &source[k]):
                return None
            if (<cnp.ndarray> operands[k]).shape[0] != 1:
                if blocks != 1 and blocks != (<cnp.ndarray> operands[k]).shape[0]:
                    return None
                blocks = (<cnp.ndarray> operands[k]).shape[0]
        if blocks == 0:
            return None
        if out is None:
            out = results.allocate(blocks * results.group)
        if not results.describe(out, blocks * results.group, &target):
            return None
        for k in range(self.arguments):
            if may_overlap(<cnp.ndarray> operands[k], <cnp.ndarray> out):
                return None
        with nogil:
            done = self.run(source, &target, results, 0, blocks * results.group)
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
        (batch, size) or (blocks, size, 8), 16 for float32. Any strides are allowed. Operands of results that
        take lanes are contiguous lanes, or one block that all blocks share.
        """
        cdef Operand source[ARGUMENTS]
        cdef StridedOutput target
        cdef Py_ssize_t k
        cdef bint done
        for k in range(self.arguments):
            if results.takes_lanes:
                describe_lanes(operands[k], self.input[k].size, results.group, &source[k])
            else:
                describe(operands[k], &source[k])
        target.data, target.to_entry, target.grouped = out.data, out.strides[1], out.ndim == 3
        target.group, target.to_lane = results.group, out.strides[2 if target.grouped else 0]
        target.to_group = out.strides[0] if target.grouped else target.group * target.to_lane
        with nogil:
            done = self.run(source, &target, results, first, stop)
        if not done:
            raise MemoryError(f"no memory for a workspace of {self.slots} slots")

    cdef bint run(self, const Operand *source, const StridedOutput *target, Results results,
                  Py_ssize_t first, Py_ssize_t stop) noexcept nogil:
        """Compute the results of configurations first .. stop-1; return False if out of memory.

        Several workspaces are filled before the code runs if one call of it takes several, or if
        configurations are adjacent in memory, so that whole cache lines are read.
        """
        cdef const Width *width = &self.width[self.widest]
        cdef int narrowest = self.width[WIDTHS - 2].lanes
        cdef const Width *prepared = NULL
        cdef bint adjacent = target.to_lane == self.bytes and not target.grouped
        cdef Py_ssize_t k, r, workspaces = 0, at = first, to_workspace, most, blocks, refused = first
        cdef int count
        cdef char *raw
        cdef char *workspace
        cdef uint64_t state
        for k in range(0 if results.takes_lanes else self.arguments):
            adjacent |= source[k].to_next == self.bytes
        most = WIDEST if adjacent and self.together == 1 else self.together * width.lanes
        most = min(most, ((stop - first - 1) // width.lanes + 1) * width.lanes)
        raw = <char *> malloc(most * (self.slots + self.live) * self.bytes + ALIGNMENT)
        if raw == NULL:
            return False
        workspace = align(raw)
        state = flush_subnormals() if self.kind == cnp.NPY_FLOAT else 0
        while at < stop:
            if results.takes_lanes and at >= refused:
                blocks = min(<Py_ssize_t> DIRECT, (stop - at) // results.group)
                refused = at + blocks * results.group
                if self.evaluate_lanes(source, target, results, at // results.group, blocks):
                    at = refused
                    continue
            while width.lanes > narrowest and width.lanes > stop - at:
                width += 1
            if width != prepared:
                workspaces = most // width.lanes
                to_workspace = (self.slots + self.live) * width.lanes * self.bytes
                for r in range(workspaces):
                    self.prepare(width, workspace + r * to_workspace)
                prepared = width
            count = <int> min(workspaces * width.lanes, stop - at)
            if results.takes_lanes:
                self.load_lanes(width, source, at, count, workspace)
            else:
                self.load_arguments(width, source, at, count, workspace)
            self.evaluate_loaded(width, results, workspace, count, target, at)
            at += count
        if self.kind == cnp.NPY_FLOAT:
            restore_subnormals(state)
        free(raw)
        return True

    cdef void evaluate_loaded(self, const Width *width, Results results, char *workspace, int count,
                              const StridedOutput *target, Py_ssize_t at) noexcept nogil:
        """Compute and store the results of configurations at .. at + count - 1 from loaded arguments."""
        cdef Py_ssize_t numbers = (self.slots + self.live) * width.lanes, r = 0, k
        cdef int64_t invalid[TOGETHER]
        cdef bint any_invalid = False
        cdef int some
        while r * width.lanes < count:
            some = 1 if self.together == 1 else <int> min(self.together, (count - 1) // width.lanes + 1 - r)
            any_invalid |= self.evaluate_checked(width, results, workspace + r * numbers * self.bytes, some,
                                                 invalid + r * width.lanes)
            r += some
        put(width, count, results, workspace, numbers, self.bytes, target, at)
        if any_invalid:
            for k in range(count):
                if invalid[k]:
                    self.erase(results.size, target, at + k)

    cdef void erase(self, Py_ssize_t size, const StridedOutput *to, Py_ssize_t configuration) noexcept nogil:
        """Fill the result of one configuration with NaN."""
        cdef Py_ssize_t e
        cdef char *entry = place(to, configuration)
        for e in range(size):
            if self.kind == cnp.NPY_DOUBLE:
                (<double *> (entry + e * to.to_entry))[0] = NAN
            else:
                (<float *> (entry + e * to.to_entry))[0] = NAN


cdef inline bint describe_lanes(cnp.ndarray x, Py_ssize_t size, int group, Operand *operand) noexcept:
    """Describe a contiguous array (blocks, size, group) whose `to_next` leads to the next block; else false.

    One block is for all.
    """
    if x.shape[1] != size or x.shape[2] != group or not cnp.PyArray_ISCARRAY_RO(x):
        return False
    describe_vector(x.data, size, operand)
    operand.to_next = 0 if x.shape[0] == 1 else size * ALIGNMENT
    return True


cdef inline char *align(char *raw) noexcept nogil:
    """Return the first multiple of the alignment from an address on."""
    return <char *> ((<uintptr_t> raw + ALIGNMENT - 1) & ~<uintptr_t> (ALIGNMENT - 1))


cdef inline char *place(const StridedOutput *to, Py_ssize_t configuration) noexcept nogil:
    """Return the address of the result of a configuration."""
    if not to.grouped:               # divisions take as long as a tile
        return to.data + configuration * to.to_lane
    return to.data + configuration // to.group * to.to_group + configuration % to.group * to.to_lane


cdef void put(const Width *width, int count, Results results, const char *workspace, Py_ssize_t numbers,
              Py_ssize_t bytes, const StridedOutput *to, Py_ssize_t at) noexcept nogil:
    """Copy the results of configurations at .. at + count - 1 from workspaces of so many numbers."""
    cdef const double *sign = <const double *> NULL if results.first >= 0 else results.sign
    cdef const char *first
    cdef int part = 0
    if not to.grouped:
        width.store(results.size, count, results.slot, sign, workspace, numbers, place(to, at), to.to_lane,
                    to.to_entry)
        return
    while part < count:
        first = workspace + (part // width.lanes * numbers + part % width.lanes) * bytes
        width.store(results.size, min(to.group, count - part), results.slot, sign, first, numbers,
                    place(to, at + part), to.to_lane, to.to_entry)
        part += to.group


cdef class BoundRoutine(BoundCall):
    """Call without arguments: evaluates a routine on one configuration in fixed arrays.

    Operands are contiguous vectors of the dtype; others, and results of other shapes, raise ValueError. The
    general path computes the same with validation, and raises the error if there is one.
    """

    cdef Routine routine
    cdef int count
    cdef const char *operands[ARGUMENTS]
    cdef Target target[PARTS]

    def __cinit__(self, Routine routine not None, tuple operands not None, out not None,
                  tuple parts not None, bint is_single, general_path):
        cdef PyObject *items[ARGUMENTS]
        cdef Py_ssize_t k
        if len(parts) > PARTS:
            raise ValueError(f"out must be one array: {len(parts)} results are more than {PARTS}")
        if not (routine.take(operands, items) and routine.find_operands(items, self.operands)
                and are_fast_outputs(<tuple> out, parts)):
            raise ValueError("only contiguous, aligned arrays of the dtype and the right shapes can be bound")
        self.kept, self.out, self.general_path = (operands, parts), out[0] if is_single else out, general_path
        self.routine, self.count = routine, <int> len(parts)
        for k in range(self.count):
            self.target[k] = (<Results> parts[k]).at(cnp.PyArray_DATA(<cnp.ndarray> out[k]))

    cdef bint run(self) noexcept:
        return self.routine.run_single(self.operands, self.target, self.count)
