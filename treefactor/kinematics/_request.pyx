"""Compiled functions of kinematics: results of a model, computed together in one pass over its bodies."""

cimport numpy as cnp
from libc.math cimport fabs, rint
from libc.string cimport memcpy, memset

from .._functions._compiled_function cimport SPARSE, CompiledFunction
from ..dynamics._recursions cimport Body
from ..tree._pattern cimport active

import numpy as np

cnp.import_array()

cdef extern from *:
    """
    #include "kernels/kinematics/request.h"
    #include "kernels/common/choose.h"
    CHOOSE(RequestTable, requests)
    typedef struct { const char *name; int order, sums, ways; } KindOfOutput;
    #define KIND_OF_OUTPUT(name, order, sums, ways) {#name, order, sums, ways},
    static const KindOfOutput output_kinds[] = {OUTPUT_KINDS(KIND_OF_OUTPUT)};
    """
    ctypedef struct KindOfOutput:
        const char *name
        int order, sums, ways
    const KindOfOutput output_kinds[]
    int OUTPUT_KIND_COUNT
    const RequestTable *requests_for(const char *name) nogil

request_kernels = requests_for(active.name)

cdef Turn empty_turn
cdef Freedom empty_freedom
cdef Column empty_column
cdef Output empty_output
TURN = np.asarray(<Turn[:1]> &empty_turn).dtype  # NumPy dtypes derived from the C structs
FREEDOM = np.asarray(<Freedom[:1]> &empty_freedom).dtype
COLUMN = np.asarray(<Column[:1]> &empty_column).dtype
OUTPUT = np.asarray(<Output[:1]> &empty_output).dtype
assert TURN.itemsize == sizeof(Turn) and FREEDOM.itemsize == sizeof(Freedom)
assert COLUMN.itemsize == sizeof(Column) and OUTPUT.itemsize == sizeof(Output)

KINDS = {}  # number of each kind of output
NEEDS = {}  # its needs: derivative of positions, sums over subtrees, ways from the centre of mass
for _number in range(OUTPUT_KIND_COUNT):
    _name = output_kinds[_number].name.decode().lower()
    KINDS[_name] = _number
    NEEDS[_name] = (output_kinds[_number].order, output_kinds[_number].sums, output_kinds[_number].ways)
cdef double one_ulp = 2.0**-52  # a rotation as close to a permutation is one
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")


cdef void find_turn(const double *R, Turn *turn) noexcept:
    """turn <- a rotation that is stored by columns."""
    cdef int r, c, source
    cdef double nearest
    turn.permuted = True
    for c in range(3):
        source = 0
        for r in range(3):
            nearest = rint(R[3 * c + r])
            turn.permuted = turn.permuted and fabs(R[3 * c + r] - nearest) <= one_ulp
            if fabs(nearest) > fabs(rint(R[3 * c + source])):
                source = r
        turn.source[c], turn.sign[c] = source, rint(R[3 * c + source])


def turn_of(cnp.ndarray columns not None):
    """Return a rotation, given by its nine entries column by column, as the struct `Turn`."""
    cdef Turn turn
    find_turn(<const double *> columns.data, &turn)
    return turn.permuted, tuple(turn.source), tuple(turn.sign)


def turns_of(cnp.ndarray bodies not None):
    """Return the rotations of bodies in their parents as structs `Turn`."""
    cdef cnp.ndarray turns = np.empty(len(bodies), TURN)
    cdef Py_ssize_t i
    for i in range(len(bodies)):
        find_turn((<const Body *> bodies.data)[i].R, <Turn *> turns.data + i)
    return turns


def freedoms_of(cnp.ndarray bodies not None, list axes not None, list columns not None):
    """Return the freedoms of all bodies as structs `Freedom`.

    Parameters
    ----------
    bodies : ndarray of BODY
    axes : list of tuple of (int, int)
        By kinds of bodies: axis, and whether it moves along it, of every freedom.
    columns : list of (int, float)
        Of every freedom the column of v, and the ratio of mimic joints.
    """
    cdef cnp.ndarray freedoms = np.empty(len(columns), FREEDOM)
    cdef Freedom *freedom = <Freedom *> freedoms.data
    cdef const Body *body = <const Body *> bodies.data
    cdef Py_ssize_t i, k = 0
    for i in range(bodies.shape[0]):
        for axis, linear in <tuple> axes[body[i].kind]:
            column, ratio = columns[k]
            freedom[k].body, freedom[k].axis, freedom[k].linear = i, axis, linear
            freedom[k].column, freedom[k].ratio, freedom[k].pitch = column, ratio, body[i].pitch
            k += 1
    return freedoms


def taken(cnp.ndarray bodies not None, cnp.ndarray turns not None, cnp.ndarray freedoms not None,
          list kept not None):
    """Return the structs of some bodies, in ascending order and with all ancestors, of turns and of freedoms.

    Returns
    -------
    bodies, turns, freedoms : ndarray
        Numbered anew, and their angles.
    first : list of int
        First freedom of every body, and the number of all.
    columns : list of int
        Column of v of every freedom.
    """
    cdef Py_ssize_t count = len(kept), i, k, source, total = 0, angles = 0
    cdef const Body *every = <const Body *> bodies.data
    cdef const Freedom *of_every = <const Freedom *> freedoms.data
    for source in kept:
        total += every[source].freedoms
    cdef cnp.ndarray own = np.empty(count, bodies.dtype), own_turns = np.empty(count, TURN)
    cdef cnp.ndarray own_freedoms = np.empty(total, FREEDOM), numbers = np.empty(bodies.shape[0], np.intp)
    cdef Body *body = <Body *> own.data
    cdef Freedom *freedom = <Freedom *> own_freedoms.data
    cdef Py_ssize_t *number = <Py_ssize_t *> numbers.data
    cdef list first = [0], columns = []
    total = 0
    for i in range(count):
        source = kept[i]
        number[source] = i
        body[i], (<Turn *> own_turns.data)[i] = every[source], (<const Turn *> turns.data)[source]
        for k in range(every[source].v, every[source].v + every[source].freedoms):
            freedom[total] = of_every[k]
            freedom[total].body = i
            columns.append(freedom[total].column)
            total += 1
        body[i].v = first[i]
        first.append(total)
        if body[i].parent >= 0:
            body[i].parent = number[body[i].parent]
        if body[i].angle >= 0:
            body[i].angle, angles = angles, angles + 1
    return own, own_turns, own_freedoms, first, columns


cdef class Request(CompiledFunction):
    """Compute results of one model in one pass over the bodies that they need, from q, v and a.

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
    results : sequence of tuple
        For every result its shape for one configuration; and, if it has entries that are zero for every q,
        the number of the others, and for every entry the place among these, or their number: C ints.
    gather : type, optional
        Named tuple that holds the results; by default several results are a tuple.
    """

    def __init__(self, cnp.ndarray bodies not None, cnp.ndarray turns not None, cnp.ndarray freedoms not None,
                 cnp.ndarray outputs not None, cnp.ndarray columns not None, Py_ssize_t order,
                 Py_ssize_t sums,
                 Py_ssize_t arms, Py_ssize_t nq, Py_ssize_t nv, cnp.ndarray units not None, results,
                 gather=None):
        cdef cnp.ndarray places
        cdef const Body *body = <const Body *> bodies.data
        cdef Py_ssize_t i
        self.kept = (bodies, turns, freedoms, outputs, columns, order, sums, arms, nq, nv, units, results,
                     gather)
        self.plan.m.bodies = len(bodies)
        self.plan.m.n = len(freedoms)
        for i in range(self.plan.m.bodies):
            self.plan.m.angles += body[i].angle >= 0
            if body[i].parent < 0:
                self.plan.mass += body[i].carried
        self.plan.m.body = body
        self.plan.turn = <const Turn *> turns.data
        self.plan.freedom = <const Freedom *> freedoms.data
        self.plan.order = order
        self.plan.sums, self.plan.arms = sums, arms
        self.plan.outputs = len(outputs)
        self.plan.output = <const Output *> outputs.data
        self.plan.column = <const Column *> columns.data
        self.names = ("q", "v", "a")[:order + 1]
        self.add_input((nq,), False, units)
        if order > 0:
            self.add_input((nv,))
        if order > 1:
            self.add_input((nv,), True)
        for shape, computed, at in results:
            if at is None:
                self.add_result(shape)
            else:
                places = at
                self.add_result(shape, SPARSE, computed, <const int *> places.data)
        self.gather = gather or (tuple if len(results) > 1 else None)
        self.close()

    def moved(self, cnp.ndarray R not None, cnp.ndarray p not None):
        """Return a request of the same results for a frame elsewhere on the same body.

        R: its nine entries column by column.
        """
        cdef cnp.ndarray outputs = self.kept[3].copy()
        cdef Output *output = <Output *> outputs.data
        cdef Py_ssize_t k
        for k in range(self.plan.outputs):
            memcpy(output[k].R, R.data, sizeof(output.R))
            memcpy(output[k].p, p.data, sizeof(output.p))
            find_turn(output[k].R, &output[k].turn)
        return Request(*self.kept[:3], outputs, *self.kept[4:])

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (request_kernels.one if lanes == 1 else request_kernels.lanes).workspace_size(&self.plan)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const double *v = x[1] if self.inputs > 1 else NULL
        cdef const double *a = x[2] if self.inputs > 2 else NULL
        cdef int k
        if lanes > 1:
            request_kernels.lanes.compute(&self.plan, x[0], v, a, y, work)
            return
        for k in range(self.results):
            if self.result[k].form == SPARSE:
                memset(y[k], 0, self.result[k].size * sizeof(double))
        request_kernels.one.compute(&self.plan, x[0], v, a, y, work)
