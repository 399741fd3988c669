"""Straight-line code run on one configuration or many: the register machine, and what all backends share."""

cimport numpy as cnp
from libc.math cimport NAN, fabs
from libc.stdint cimport int32_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._pattern cimport active
from .._plain cimport all_finite, is_plain_matrix, is_plain_vector

import numpy as np

from ..tolerances import UNIT_SQUARE

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/machine.h"
    /* The machine compiled for the same instruction set as the other kernels. */
    static const Machine *machine_for(const char *name) {
    #if defined(__x86_64__) && defined(__GNUC__)
        if (!strcmp(name, machine_avx512.name)) return &machine_avx512;
        if (!strcmp(name, machine_avx2.name)) return &machine_avx2;
    #endif
        return &machine_baseline;
    }
    """
    const Machine *machine_for(const char *name) nogil

cdef const Machine *machine = machine_for(active.name)

cdef enum:
    LOCAL = 4096                 # doubles of room on the C stack; larger programs allocate theirs
    GROUP = 8                    # configurations of a block of the layout "lanes"
    WIDEST = 64                  # lanes

cdef double unit_square = UNIT_SQUARE

ctypedef struct Target:          # configuration c: group c // 8, lane c % 8
    char *data
    Py_ssize_t to_group, to_lane, to_entry
    bint grouped


cdef class Results:
    """Where the entries of a result stand.

    Parameters
    ----------
    slot : ndarray of int32
    sign : ndarray
        1, or -1 where the entry is the slot's negative.
    shape : tuple of int
        Of the result of one configuration: a vector or a matrix.
    """

    def __cinit__(self, cnp.ndarray slot not None, cnp.ndarray sign not None, tuple shape not None):
        self.slots = slot = np.ascontiguousarray(slot, np.int32)
        self.signs = sign = np.ascontiguousarray(sign, np.float64)
        self.slot, self.sign, self.size = <const int32_t *> slot.data, <const double *> sign.data, slot.size
        self.shape, self.rows, self.columns = shape, shape[0], shape[1] if len(shape) == 2 else -1
        self.dimensions[0], self.dimensions[1] = self.rows, self.columns


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
        Whether a result that is not finite has no reason but a vanishing pivot.
    """

    def __init__(self, sizes, Py_ssize_t slots, cnp.ndarray units not None, bint pivots, *_):
        cdef Py_ssize_t k
        self.arguments = len(sizes)
        for k in range(self.arguments):
            self.size[k] = sizes[k]
        self.inputs, self.slots, self.pivots = sum(sizes), slots, pivots
        self.units, self.unit, self.kept = len(units), <const Py_ssize_t *> units.data, units

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
        cdef bint good
        if self.slots > LOCAL:
            room = <double *> malloc(self.slots * sizeof(double))
            if room == NULL:
                return False
        for k in range(self.arguments):
            memcpy(room + at, given[k], self.size[k] * sizeof(double))
            at += self.size[k]
        good = all_finite(self.inputs, room) and self.turns(1, room)
        if good:
            self.prepare(width, room)
            self.evaluate(width, room)
            width.store(results.size, 1, results.slot, results.sign, room, <char *> out, 0, sizeof(double))
        if room != local:
            free(room)
        return good and (not self.pivots or all_finite(results.size, out))

    cdef bint turns(self, Py_ssize_t lanes, const double *q) noexcept nogil:
        """Whether the rotations of a lane are of unit length."""
        cdef Py_ssize_t k, e
        cdef double square
        for k in range(self.units):
            square = 0.0
            for e in range(self.unit[2 * k], self.unit[2 * k] + self.unit[2 * k + 1]):
                square += q[e * lanes] * q[e * lanes]
            if not fabs(square - 1.0) <= unit_square:
                return False
        return True

    cdef void find_unusable(self, Py_ssize_t lanes, const double *room, unsigned char *odd) noexcept nogil:
        """Name the lanes whose arguments are not finite, or whose rotations are none."""
        cdef double finite[WIDEST]
        cdef Py_ssize_t e, lane
        memset(finite, 0, sizeof(finite))
        for e in range(self.inputs):
            for lane in range(lanes):
                finite[lane] += 0.0 * room[e * lanes + lane]
        for lane in range(lanes):
            odd[lane] = finite[lane] != 0.0 or not self.turns(lanes, room + lane)

    def one(self, tuple given not None, object out, Results results not None):
        """Result of plain vectors, quickly; None leaves the case to the gate."""
        cdef const double *x[ARGUMENTS]
        cdef Py_ssize_t k
        if out is None:
            out = cnp.PyArray_SimpleNew(1 if results.columns < 0 else 2, results.dimensions, cnp.NPY_DOUBLE)
        if not self.plain(given, out, results):
            return None
        for k in range(self.arguments):
            x[k] = <const double *> cnp.PyArray_DATA(<cnp.ndarray> given[k])
        return out if self.single(x, <double *> cnp.PyArray_DATA(<cnp.ndarray> out), results) else None

    def bind(self, tuple given not None, out, Results results not None, slowly):
        """`Bound` of plain vectors."""
        return Bound(self, given, out, results, slowly)

    def batch(self, operands, cnp.ndarray out not None, Results results not None, Py_ssize_t first,
              Py_ssize_t stop):
        """Results of configurations first .. stop-1.

        Operands have shape (batch, size), or (1, size) for all alike. Out has shape (batch, size), or
        (blocks, size, 8). None of them needs to be contiguous.
        """
        cdef const char *source[ARGUMENTS]
        cdef Py_ssize_t to_lane[ARGUMENTS]
        cdef Py_ssize_t to_entry[ARGUMENTS]
        cdef Py_ssize_t k, at = first
        cdef int count
        cdef cnp.ndarray operand
        cdef const Width *width = &machine.width[self.widest]
        cdef const Width *prepared = NULL
        cdef Target target = target_of(out)
        cdef unsigned char odd[WIDEST]
        cdef char *raw
        cdef double *room
        cdef double *entry
        for k in range(self.arguments):
            operand = operands[k]
            source[k], to_entry[k] = operand.data, operand.strides[1]
            to_lane[k] = 0 if operand.shape[0] == 1 else operand.strides[0]
        raw = <char *> malloc(self.slots * width.lanes * sizeof(double) + 64)
        if raw == NULL:
            raise MemoryError(f"no room for {self.slots} slots")
        room = <double *> ((<uintptr_t> raw + 63) & ~<uintptr_t> 63)
        with nogil:
            while at < stop:
                while width.lanes > GROUP and width.lanes > stop - at:
                    width += 1
                if width != prepared:
                    self.prepare(width, room)
                    prepared = width
                count = <int> min(<Py_ssize_t> width.lanes, stop - at)
                entry = room
                for k in range(self.arguments):
                    width.load(self.size[k], count, source[k] + at * to_lane[k], to_lane[k], to_entry[k],
                               entry)
                    entry += self.size[k] * width.lanes
                self.find_unusable(width.lanes, room, odd)
                self.evaluate(width, room)
                put(width, count, results, room, &target, at)
                for k in range(count):
                    if odd[k]:
                        erase(results.size, &target, at + k)
                at += count
        free(raw)


cdef Target target_of(cnp.ndarray out) noexcept:
    cdef Target found
    found.data, found.to_entry, found.grouped = out.data, out.strides[1], out.ndim == 3
    found.to_lane = out.strides[2 if found.grouped else 0]
    found.to_group = out.strides[0] if found.grouped else GROUP * found.to_lane
    return found


cdef inline char *place(const Target *to, Py_ssize_t configuration) noexcept nogil:
    return to.data + configuration // GROUP * to.to_group + configuration % GROUP * to.to_lane


cdef void put(const Width *width, int count, Results results, const double *room, const Target *to,
              Py_ssize_t at) noexcept nogil:
    """Results of the configurations at, at + 1 .. from the room to where they belong."""
    cdef int step = GROUP if to.grouped else count, part = 0
    while part < count:
        width.store(results.size, min(step, count - part), results.slot, results.sign, room + part,
                    place(to, at + part), to.to_lane, to.to_entry)
        part += step


cdef void erase(Py_ssize_t size, const Target *to, Py_ssize_t configuration) noexcept nogil:
    """Make a result NaN."""
    cdef Py_ssize_t e
    for e in range(size):
        (<double *> (place(to, configuration) + e * to.to_entry))[0] = NAN


cdef class Interpreter(Routine):
    """Code of the register machine: see `lowering`.

    Parameters
    ----------
    sizes, slots, units, pivots
        As of `Routine`.
    constants : ndarray
        Of the slots after the arguments.
    code : ndarray of int32
    """

    cdef Py_ssize_t count
    cdef const double *constant
    cdef const int32_t *code

    def __init__(self, sizes, slots, units, pivots, cnp.ndarray constants not None,
                 cnp.ndarray code not None):
        super().__init__(sizes, slots, units, pivots)
        self.kept = units, constants, code
        self.widest = 0
        self.count, self.constant = constants.size, <const double *> constants.data
        self.code = <const int32_t *> code.data

    cdef void prepare(self, const Width *width, double *room) noexcept nogil:
        cdef Py_ssize_t k, lane
        cdef double *to = room + self.inputs * width.lanes
        for k in range(self.count):
            for lane in range(width.lanes):
                to[k * width.lanes + lane] = self.constant[k]

    cdef void evaluate(self, const Width *width, double *room) noexcept nogil:
        width.run(self.code, room)


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
