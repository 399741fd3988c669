"""Compiled functions of kinematics: results of a model, computed together in one pass over its bodies."""

cimport numpy as cnp
from libc.math cimport fabs, rint
from libc.string cimport memset

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

cdef const RequestTable *kernels = requests_for(active.name)

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
        self.kept = (bodies, turns, freedoms, outputs, columns, order, sums, arms, nq, nv, units, results,
                     gather)
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

    def with_outputs(self, cnp.ndarray outputs not None):
        """Return a request of the same results, whose outputs differ in the places of their frames."""
        return Request(*self.kept[:3], outputs, *self.kept[4:])

    @property
    def outputs(self):
        """Return the structs of the outputs."""
        return self.kept[3]

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return (kernels.one if lanes == 1 else kernels.lanes).workspace_size(&self.plan)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef const double *v = x[1] if self.inputs > 1 else NULL
        cdef const double *a = x[2] if self.inputs > 2 else NULL
        cdef int k
        if lanes > 1:
            kernels.lanes.compute(&self.plan, x[0], v, a, y, work)
            return
        for k in range(self.results):
            if self.result[k].form == SPARSE:
                memset(y[k], 0, self.result[k].size * sizeof(double))
        kernels.one.compute(&self.plan, x[0], v, a, y, work)
