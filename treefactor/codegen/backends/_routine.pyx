"""Straight-line code run on one configuration or many: what all backends share."""

cimport numpy as cnp
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ...tree._pattern cimport active
from ..._util._fast_arrays cimport all_finite, is_plain_matrix, is_plain_vector, is_real, may_overlap

import numpy as np

from ...tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/interpreter/machine.h"
    #include "kernels/common/choose.h"
    CHOOSE(Machine, machine)
    """
    const Machine *machine_for(const char *name) nogil

cdef const Machine *machine = machine_for(active.name)

cdef enum:
    LOCAL = 4096                 # doubles of room on the C stack; larger programs allocate theirs
    GROUP = 8                    # configurations of a block of the layout "lanes"
    WIDEST = 64                  # lanes; also configurations that are read at once where they are adjacent

cdef double unit_square = UNIT_SQUARE


cdef class Results:
    """Where the entries of a result stand.

    Parameters
    ----------
    slot : ndarray of int32
    sign : ndarray
        1, or -1 where the entry is the slot's negative.
    shape : tuple of int
        Of the result of one configuration: a vector or a matrix.
    grouped : bool
        Whether results of a batch are vectors in the layout "lanes".
    """

    def __cinit__(self, cnp.ndarray slot not None, cnp.ndarray sign not None, tuple shape not None,
                  bint grouped=False):
        self.slots = slot = np.array(slot, np.int32)
        self.signs = sign = np.array(sign, np.float64)
        slot.flags.writeable = sign.flags.writeable = False
        self.slot, self.sign, self.size = <const int32_t *> slot.data, <const double *> sign.data, slot.size
        self.shape, self.rows, self.columns = shape, shape[0], shape[1] if len(shape) == 2 else -1
        self.step = 1 if self.columns < 0 else self.columns + 1
        self.grouped = grouped

    cdef object room(self, Py_ssize_t count):
        """Memory for the results of a batch, or of one configuration (-1)."""
        cdef cnp.npy_intp shape[3]
        cdef int axes = 0
        if self.grouped:
            shape[0], shape[1], shape[2], axes = count // GROUP, self.rows, GROUP, 3
        else:
            if count >= 0:
                shape[0], axes = count, 1
            shape[axes], shape[axes + 1] = self.rows, self.columns
            axes += 1 if self.columns < 0 else 2
        return cnp.PyArray_SimpleNew(axes, shape, cnp.NPY_DOUBLE)

    cdef bint target(self, object out, Py_ssize_t count, Target *to) noexcept:
        """Where results of a batch go; false if not all can be written there as if they were vectors."""
        cdef Py_ssize_t size = self.rows if self.columns < 0 else self.columns
        cdef cnp.npy_intp *step
        cdef cnp.npy_intp *shape
        cdef int k, axes = 3 if self.grouped or self.columns >= 0 else 2
        if not is_real(out) or cnp.PyArray_NDIM(<cnp.ndarray> out) != axes:
            return False
        if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out):
            return False
        step, shape = cnp.PyArray_STRIDES(<cnp.ndarray> out), cnp.PyArray_DIMS(<cnp.ndarray> out)
        for k in range(axes):
            if step[k] == 0 and shape[k] > 1:
                return False
        to.data, to.grouped = <char *> cnp.PyArray_DATA(<cnp.ndarray> out), self.grouped
        if self.grouped:
            to.to_group, to.to_entry, to.to_lane = step[0], step[1], step[2]
            return shape[0] * GROUP == count and shape[1] == size and shape[2] == GROUP
        to.to_lane, to.to_entry = step[0], step[axes - 1]
        to.to_group = GROUP * to.to_lane
        if axes == 3 and (shape[1] != self.rows or step[1] != self.columns * step[2]):
            return False
        return shape[0] == count and shape[axes - 1] == size


cdef class Routine:
    """One function on the slots of a room, which hold its arguments first, one after the other.

    Trusts its callers: results stand in slots that there are. A backend says what `prepare` writes into a new
    room, and how `evaluate` finds the results.

    Parameters
    ----------
    sizes : sequence of int
        Of the arguments.
    slots : int
    units : ndarray of int, shape (m, 2)
        First entry and number of the entries of the first argument whose squares must sum to 1.
    pivots : bool
        Whether pivots that are not positive make the result, or the diagonal of a matrix, not finite.
    """

    def __init__(self, sizes, Py_ssize_t slots, cnp.ndarray units not None, bint pivots, *_):
        cdef Py_ssize_t k
        self.arguments = len(sizes)
        for k in range(self.arguments):
            self.size[k] = sizes[k]
        self.inputs, self.slots, self.pivots = sum(sizes), slots, pivots
        self.units, self.unit, self.kept = len(units), <const Py_ssize_t *> units.data, units
        self.widest = 0

    cdef void prepare(self, const Width *width, double *room) noexcept nogil:
        pass

    cdef void evaluate(self, const Width *width, double *room) noexcept nogil:
        pass

    cdef bint plain(self, tuple given, object out, Results results) noexcept:
        """Whether these are plain arrays of the right sizes for one configuration."""
        cdef Py_ssize_t k
        for k in range(self.arguments):
            if not is_plain_vector(given[k], self.size[k]):
                return False
        if results.columns < 0:
            if not is_plain_vector(out, results.rows):
                return False
        elif not is_plain_matrix(out, results.rows, results.columns):
            return False
        return cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out)

    cdef bint single(self, const double **given, double *out, Results results) noexcept nogil:
        """One configuration; false leaves the case to the gate."""
        cdef double local[LOCAL]
        cdef double *room = local
        cdef const Width *width = &machine.width[WIDTHS - 1]
        cdef Py_ssize_t k, at = 0
        cdef int64_t odd
        cdef bint good
        if self.slots > LOCAL:
            room = <double *> malloc(self.slots * sizeof(double))
            if room == NULL:
                return False
        for k in range(self.arguments):
            memcpy(room + at, given[k], self.size[k] * sizeof(double))
            at += self.size[k]
        good = all_finite(self.inputs, room)
        if self.units:
            good = good and not width.find_odd(0, self.units, self.unit, unit_square, room, &odd)
        if good:
            self.prepare(width, room)
            self.evaluate(width, room)
            width.store(results.size, 1, results.slot, results.sign, room, 0, <char *> out, 0,
                        sizeof(double))
        if room != local:
            free(room)
        return good and (not self.pivots or all_finite(results.size, out))

    def quick(self, tuple given not None, object out, Results results not None, threads):
        """Result of arrays that need no gate; None leaves the case to it."""
        if is_real(given[0]) and cnp.PyArray_NDIM(<cnp.ndarray> given[0]) == 1:
            return self.one(given, out, results)
        return self.many(given, out, results) if type(threads) is int and threads == 1 else None

    cdef object one(self, tuple given, object out, Results results):
        """Result of plain vectors."""
        cdef const double *x[ARGUMENTS]
        cdef Py_ssize_t k
        if results.grouped:
            return None
        if out is None:
            out = results.room(-1)
        if not self.plain(given, out, results):
            return None
        for k in range(self.arguments):
            x[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> given[k])
        return out if self.single(x, <double *> cnp.PyArray_DATA(<cnp.ndarray> out), results) else None

    cdef object many(self, tuple given, object out, Results results):
        """Results of a batch of (batch, size) arrays, or of vectors that all configurations share."""
        cdef Source source[ARGUMENTS]
        cdef Target target
        cdef cnp.ndarray x
        cdef Py_ssize_t k, count = -1
        cdef int axes
        cdef bint done
        for k in range(self.arguments):
            if not is_real(given[k]):
                return None
            x = given[k]
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
            out = results.room(count)
        if not results.target(out, count, &target):
            return None
        for k in range(self.arguments):
            if may_overlap(<cnp.ndarray> given[k], <cnp.ndarray> out):
                return None
        with nogil:
            done = self.run(source, &target, results, 0, count)
        return out if done else None

    def bind(self, tuple given not None, out, Results results not None, slowly):
        """`Bound` of plain vectors."""
        return Bound(self, given, out, results, slowly)

    def batch(self, operands, cnp.ndarray out not None, Results results not None, Py_ssize_t first,
              Py_ssize_t stop):
        """Results of configurations first .. stop-1.

        Operands have shape (batch, size), or (1, size) for all alike. Out has shape (batch, size), or
        (blocks, size, 8). None of them needs to be contiguous.
        """
        cdef Source source[ARGUMENTS]
        cdef Target target
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
            raise MemoryError(f"no room for {self.slots} slots")

    cdef bint run(self, const Source *source, const Target *target, Results results, Py_ssize_t first,
                  Py_ssize_t stop) noexcept nogil:
        """Results of configurations first .. stop-1; false if there is no room.

        Where configurations follow each other in memory, several rooms are filled before the code runs, so
        that whole lines of the cache are read.
        """
        cdef const Width *width = &machine.width[self.widest]
        cdef const Width *prepared = NULL
        cdef bint adjacent = target.to_lane == sizeof(double) and not target.grouped
        cdef Py_ssize_t k, r, rooms, at = first, to_room
        cdef int count
        cdef int64_t odd[WIDEST]
        cdef bint any_odd
        cdef char *raw
        cdef double *room
        cdef double *here
        for k in range(self.arguments):
            adjacent |= source[k].to_lane == sizeof(double)
        raw = <char *> malloc(self.slots * (WIDEST if adjacent else width.lanes) * sizeof(double) + 64)
        if raw == NULL:
            return False
        room = <double *> ((<uintptr_t> raw + 63) & ~<uintptr_t> 63)
        while at < stop:
            while width.lanes > GROUP and width.lanes > stop - at:
                width += 1
            rooms, to_room = WIDEST // width.lanes if adjacent else 1, self.slots * width.lanes
            if width != prepared:
                for r in range(rooms):
                    self.prepare(width, room + r * to_room)
                prepared = width
            count = <int> min(rooms * width.lanes, stop - at)
            here = room
            for k in range(self.arguments):
                width.load(self.size[k], count, source[k].data + at * source[k].to_lane, source[k].to_lane,
                           source[k].to_entry, here, to_room)
                here += self.size[k] * width.lanes
            any_odd = False
            for r in range((count - 1) // width.lanes + 1):
                here = room + r * to_room
                any_odd |= width.find_odd(self.inputs, self.units, self.unit, unit_square, here,
                                          odd + r * width.lanes)
                self.evaluate(width, here)
                if self.pivots:
                    any_odd |= width.find_failed(results.size, results.step, results.slot, here,
                                                 odd + r * width.lanes)
            put(width, count, results, room, to_room, target, at)
            if any_odd:
                for k in range(count):
                    if odd[k]:
                        erase(results.size, target, at + k)
            at += count
        free(raw)
        return True


cdef inline char *place(const Target *to, Py_ssize_t configuration) noexcept nogil:
    return to.data + configuration // GROUP * to.to_group + configuration % GROUP * to.to_lane


cdef void put(const Width *width, int count, Results results, const double *room, Py_ssize_t to_room,
              const Target *to, Py_ssize_t at) noexcept nogil:
    """Results of the configurations at, at + 1 .. from their rooms to where they belong."""
    cdef int step = GROUP if to.grouped else count, part = 0
    while part < count:
        width.store(results.size, min(step, count - part), results.slot, results.sign,
                    room + part // width.lanes * to_room + part % width.lanes, to_room, place(to, at + part),
                    to.to_lane, to.to_entry)
        part += step


cdef void erase(Py_ssize_t size, const Target *to, Py_ssize_t configuration) noexcept nogil:
    """Make a result NaN."""
    cdef Py_ssize_t e
    for e in range(size):
        (<double *> (place(to, configuration) + e * to.to_entry))[0] = NAN


cdef class Bound:
    """A routine on one configuration in arrays that stay in place: a call without arguments.

    Parameters
    ----------
    routine : Routine
    given : tuple of ndarray
        Plain vectors.
    out : ndarray
    results : Results
    slowly : callable
        Does the same by the gate, which says what is wrong.

    Raises
    ------
    ValueError
        Where an array is not plain.
    """

    cdef Routine routine
    cdef Results results
    cdef const double *given[ARGUMENTS]
    cdef double *data
    cdef object kept, slowly
    cdef readonly object out

    def __cinit__(self, Routine routine not None, tuple given not None, out, Results results not None,
                  slowly):
        cdef Py_ssize_t k
        if not routine.plain(given, out, results):
            raise ValueError("only contiguous, aligned float64 arrays of the right shapes can be bound")
        self.routine, self.results, self.kept, self.out, self.slowly = routine, results, given, out, slowly
        for k in range(routine.arguments):
            self.given[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> given[k])
        self.data = <double *> cnp.PyArray_DATA(<cnp.ndarray> out)

    def __call__(self):
        """Compute what the arrays hold now; return out."""
        if not self.routine.single(self.given, self.data, self.results):
            return self.slowly()
        return self.out

    def __reduce__(self):
        raise TypeError("a bound call refers to memory of other owners and cannot be copied or pickled")
