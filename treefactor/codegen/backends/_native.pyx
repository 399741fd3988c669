"""Run machine code of a generated function on one configuration, or on a register of them at once."""

cimport numpy as cnp
from libc.float cimport DBL_MAX
from libc.math cimport fabs
from libc.stdint cimport int64_t, uintptr_t
from libc.string cimport memset

from ..._util._fast_arrays cimport all_finite
from ...tolerances import UNIT_SQUARE
from ...tree._operands cimport Operand
from ._results cimport Results, StridedOutput, Target
from ._routine cimport TOGETHER, WIDTHS, Routine, Width

cnp.import_array()

cdef extern from *:
    """
    #ifdef __linux__
    #include <unistd.h>
    #endif
    static long find_second_cache(void)
    {
    #ifdef _SC_LEVEL2_CACHE_SIZE
        return sysconf(_SC_LEVEL2_CACHE_SIZE);
    #else
        return 0;
    #endif
    }
    """
    long find_second_cache()

cdef double unit_square = UNIT_SQUARE

ctypedef void (*Function)(const char *q, const char *v, const char *u, char *out) noexcept nogil

ctypedef void (*GroupsFunction)(const char *q, const char *v, const char *u, char *out, char *live,
                                int groups, Py_ssize_t step) noexcept nogil


def second_cache():
    """Return the size of the second-level cache in bytes; 0 or -1 if the system does not report it."""
    return find_second_cache()


cdef class Native(Routine):
    """Function as machine code; its workspace holds the arguments, the results, and a zero.

    Parameters
    ----------
    sizes, slots, units, pivots, dtype
        See `Routine`.
    one, lanes : int
        Addresses of the functions (q, v, u, out) for one configuration, 0 if none, and for as many as the
        layout "lanes" has in a block.
    to_u : int
        Entries of the arguments before those that u holds, all of them after q and v.
    owner : object
        Object that keeps the machine code loaded.
    groups : int
        Address of the function (q, v, u, out, live, groups, step) for several such blocks, 0 if none.
    live : int
        Slots of values between its blocks.
    together : int
        Most groups that it is called for.
    """

    cdef GroupsFunction groups_form
    cdef Function one_form, lanes_form
    cdef Py_ssize_t to_u
    cdef bint separate           # whether each parameter of the functions is one argument

    def __init__(self, sizes, slots, cnp.ndarray units not None, pivots, dtype, uintptr_t one,
                 uintptr_t lanes, Py_ssize_t to_u, owner, uintptr_t groups, Py_ssize_t live, int together):
        super().__init__(sizes, slots, units, pivots, dtype)
        self.kept = units, owner
        self.keeps_arguments = True
        self.widest = WIDTHS - 2     # the last two widths are that of the layout "lanes" and that of one
        self.one_form, self.lanes_form, self.to_u = <Function> one, <Function> lanes, to_u
        self.groups_form, self.live = <GroupsFunction> groups, live
        self.together = min(together, TOGETHER // self.width[self.widest].lanes)
        self.separate = len(sizes) <= 2 or (len(sizes) == 3 and to_u == sizes[0] + sizes[1])

    cdef void prepare(self, const Width *width, char *workspace) noexcept nogil:
        memset(workspace + (self.slots - 1) * width.lanes * self.bytes, 0, width.lanes * self.bytes)

    cdef void evaluate(self, const Width *width, char *workspace) noexcept nogil:
        cdef Function form = self.one_form if width.lanes == 1 else self.lanes_form
        cdef Py_ssize_t step = width.lanes * self.bytes
        form(workspace, workspace + self.input[0].size * step, workspace + self.to_u * step,
             workspace + self.inputs * step)

    cdef void evaluate_groups(self, const Width *width, char *workspace, int groups) noexcept nogil:
        cdef Py_ssize_t step = width.lanes * self.bytes
        if self.groups_form == NULL:
            Routine.evaluate_groups(self, width, workspace, groups)
            return
        self.groups_form(workspace, workspace + self.input[0].size * step, workspace + self.to_u * step,
                         workspace + self.inputs * step, workspace + self.slots * step, groups,
                         (self.slots + self.live) * width.lanes)

    cdef bint evaluate_lanes(self, const Operand *source, const StridedOutput *target, Results results,
                             Py_ssize_t first, Py_ssize_t blocks) noexcept nogil:
        cdef const Width *width = &self.width[self.widest]
        cdef Py_ssize_t entry = width.lanes * self.bytes, k, b
        cdef const char *x[3]
        cdef int64_t invalid[TOGETHER]
        cdef char *out = target.data + first * target.to_group
        cdef bint are_dense = target.to_entry == entry and target.to_lane == self.bytes
        x[0] = x[1] = x[2] = NULL
        if not self.separate or self.groups_form != NULL or results.first != self.inputs:
            return False
        if not are_dense or results.size * entry != target.to_group:
            return False
        if <uintptr_t> out % entry or results.size != self.slots - self.inputs - 1:
            return False
        for k in range(self.arguments):
            x[k] = source[k].data + first * source[k].to_next
            if <uintptr_t> x[k] % entry or width.find_invalid(
                    source[k].size * (blocks if source[k].to_next else 1), 0, NULL, 0.0, x[k], invalid):
                return False
        for k in range(self.arguments, 3):
            x[k] = x[self.arguments - 1]
        for b in range(blocks if self.units else 0):
            if width.find_invalid(0, self.units, self.unit, unit_square, x[0] + b * source[0].to_next,
                                  invalid):
                return False
        for b in range(blocks):
            self.lanes_form(x[0], x[1], x[2], out + b * target.to_group)
            for k in range(self.arguments):
                x[k] += source[k].to_next
        return not self.pivots or not width.find_invalid(results.size * blocks, 0, NULL, 0.0, out, invalid)

    cdef bint run_single(self, const char **operands, const Target *targets, int count) noexcept nogil:
        """Evaluate one configuration on the arrays themselves, unless they overlap or results move."""
        cdef const Width *width = &self.width[WIDTHS - 1]
        cdef char *out = targets[0].data
        cdef const char *v = operands[1 if self.arguments > 1 else 0]
        cdef const char *u = operands[2] if self.arguments > 2 else v
        cdef Py_ssize_t k
        cdef int64_t invalid
        cdef Py_ssize_t size = self.slots - self.inputs - 1
        if self.one_form == NULL or count != 1 or not self.separate:
            return Routine.run_single(self, operands, targets, count)
        if targets[0].first != self.inputs or targets[0].size != size:
            return Routine.run_single(self, operands, targets, count)
        for k in range(self.arguments):
            if operands[k] < out + size * self.bytes and out < operands[k] + self.input[k].size * self.bytes:
                return Routine.run_single(self, operands, targets, count)
        for k in range(self.arguments):
            if not all_finite(self.input[k].size, <const double *> operands[k]):
                return False
        if self.units and width.find_invalid(0, self.units, self.unit, unit_square, operands[0], &invalid):
            return False
        self.one_form(operands[0], v, u, out)
        return not self.pivots or are_finite_numbers(size, <const double *> out)


cdef inline bint are_finite_numbers(Py_ssize_t n, const double *x) noexcept nogil:
    """Return whether no entry is NaN or infinite; loads numbers one by one, as they were just stored."""
    cdef Py_ssize_t k
    for k in range(n):
        if not fabs(x[k]) <= DBL_MAX:
            return False
    return True
