"""Describe the coordinates of a model to kernels of configurations, and draw random configurations."""

cimport cython
cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport sqrt
from libc.string cimport memcpy

from .._util._fast_arrays cimport all_finite, is_plain_vector
from .._util._result_arrays cimport new_result
from ..tree._pattern cimport active
from ._compiled_parts cimport CompiledParts

import numpy as np

from .._util.messages import not_a_model

cnp.import_array()

cdef extern from "numpy/random/distributions.h":
    double random_standard_normal(bitgen_t *bits) noexcept nogil

cdef extern from *:
    """
    #include "kernels/configurations/joints.h"
    #include "kernels/common/choose.h"
    CHOOSE(ConfigurationTable, configurations)
    """
    const ConfigurationTable *configurations_for(const char *name) nogil

configuration_kernels = configurations_for(active.name)
cdef type generator_type = None  # of NumPy, whose random numbers take 15 ms to import

cdef Coordinates empty_coordinates
COORDINATES = np.asarray(<Coordinates[:1]> &empty_coordinates).dtype
assert COORDINATES.itemsize == sizeof(Coordinates)

GROUPS = {"continuous": CIRCLE, "spherical": SPHERE, "planar": PLANE, "freeflyer": SPACE}


cdef class Configurations:
    """Compiled coordinates of the joints of one model.

    Parameters
    ----------
    joints : sequence of Joint
    idx_q, idx_v : sequence of int
        First entry of every joint in q and v.
    """

    def __cinit__(self, joints, idx_q, idx_v):
        cdef list rows = [
            (GROUPS.get(joint.kind, LINEAR), q, v, joint.nq, joint.nv)
            for joint, q, v in zip(joints, idx_q, idx_v) if not joint.mimic
        ]
        cdef list runs = []
        for group, q, v, nq, nv in rows:
            if runs and group == LINEAR:
                last = runs.pop()
                if last[0] == LINEAR:
                    q, v, nq, nv = last[1], last[2], last[3] + nq, last[4] + nv
                else:
                    runs.append(last)
            runs.append((group, q, v, nq, nv))
        cdef cnp.ndarray each = np.array(rows, COORDINATES), merged = np.array(runs, COORDINATES)
        self.runs, self.count = <const Coordinates *> merged.data, len(runs)
        self.joint, self.joints = <const Coordinates *> each.data, len(rows)
        self.nq, self.nv = sum(row[3] for row in rows), sum(row[4] for row in rows)
        self.linear = all(row[0] == LINEAR for row in rows)
        self.entries = sum(row[4] ** 2 for row in rows if row[0] != LINEAR)
        self.kept = each, merged
        self.units = tuple([(q + nq - length_entries(group), length_entries(group))
                            for group, q, _, nq, _ in rows if group != LINEAR])
        self.rest = np.zeros(self.nq)
        for group, q, _, nq, _ in rows:
            if group != LINEAR:
                self.rest[q + nq - (2 if length_entries(group) == 2 else 1)] = 1.0
        self.rest.flags.writeable = False

    cdef cnp.ndarray block_places(self):
        """Return for every entry of a matrix (nv, nv) the place of the computed one that equals it.

        Computed are the blocks of joints that turn in more than one way, then the entry that the freedoms of
        other joints have on the diagonal; entries outside have the number of these.
        """
        cdef cnp.ndarray places = np.full((self.nv, self.nv), self.entries + 1, dtype=np.intc)
        cdef Py_ssize_t j, first = 0
        cdef const Coordinates *run
        for j in range(self.count):
            run = self.runs + j
            freedoms = slice(run.v, run.v + run.nv)
            if run.group == LINEAR:
                np.einsum("ii->i", places)[freedoms] = self.entries
                continue
            places[freedoms, freedoms] = np.arange(first, first + run.nv * run.nv).reshape(run.nv, run.nv)
            first += run.nv * run.nv
        return places

    def keep_limits(self, low, span):
        """Keep finite lower limits of q and the distances to the upper ones, for random configurations."""
        self.limits = (low, span)

    cdef void draw(self, bitgen_t *bits, const double *low, const double *span, Py_ssize_t count,
                   double *q) noexcept:
        """q <- random configurations: uniform between low and low + span, then directions of rotations."""
        cdef Py_ssize_t i, j, e, last
        cdef int group, size
        cdef double square, length
        cdef const Coordinates *run
        for i in range(count):
            for e in range(self.nq):
                q[i * self.nq + e] = low[e] + span[e] * bits.next_double(bits.state)
        if self.linear:
            return
        for group in range(CIRCLE, SPACE + 1):
            size = length_entries(group)
            for i in range(count):
                for j in range(self.count):
                    run = self.runs + j
                    if run.group != group:
                        continue
                    last, square = i * self.nq + run.q + run.nq, 0.0
                    for e in range(last - size, last):
                        q[e] = random_standard_normal(bits)
                        square += q[e] * q[e]
                    length = sqrt(square)
                    for e in range(last - size, last):
                        q[e] /= length


cpdef Configurations configurations_of(model):
    """Return the compiled coordinates of a Model; raise TypeError for any other object."""
    if isinstance(model, CompiledParts) and (<CompiledParts> model).configurations is not None:
        return <Configurations> (<CompiledParts> model).configurations
    compiled = getattr(model, "configurations", None)
    if type(compiled) is not Configurations:
        raise TypeError(not_a_model(model))
    if isinstance(model, CompiledParts):
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            (<CompiledParts> model).configurations = (<CompiledParts> model).configurations or compiled
    return compiled


def neutral_configuration(model):
    """Return a copy of the neutral configuration."""
    cdef Configurations c = configurations_of(model)
    cdef cnp.npy_intp size = c.nq
    cdef object q = new_result(1, &size)
    memcpy(cnp.PyArray_DATA(<cnp.ndarray> q), cnp.PyArray_DATA(<cnp.ndarray> c.rest), size * sizeof(double))
    return q


def draw_one(model, generator, lower, upper):
    """Return a random configuration between finite limits, by default those of the model.

    Returns None if the limits of the model are not known yet, if given ones are not contiguous float64
    vectors of finite numbers in order, or if the generator is not a numpy.random.Generator.
    """
    cdef Configurations c = configurations_of(model)
    cdef cnp.npy_intp size = c.nq
    cdef cnp.ndarray out
    cdef const double *low
    cdef const double *high
    cdef double *q
    cdef Py_ssize_t e
    global generator_type
    if generator_type is None:
        generator_type = np.random.Generator
    if type(generator) is not generator_type:
        return None
    if lower is None and upper is None:
        return None if c.limits is None else draw(model, generator, c.limits, 1, None)
    if not (is_plain_vector(lower, size) and is_plain_vector(upper, size)):
        return None
    low = <const double *> cnp.PyArray_DATA(<cnp.ndarray> lower)
    high = <const double *> cnp.PyArray_DATA(<cnp.ndarray> upper)
    if not (all_finite(size, low) and all_finite(size, high)):
        return None
    out = new_result(1, &size)
    q = <double *> out.data
    for e in range(size):
        if low[e] > high[e]:
            return None
        q[e] = high[e] - low[e]                  # each entry of q is read before it is written
    fill(c, generator, low, q, 1, q)
    return out


cpdef cnp.ndarray draw(model, generator, tuple limits, Py_ssize_t count, cnp.ndarray out):
    """Fill out, a C-contiguous array of `count` configurations, with random ones.

    Limits are the lowest entries and the distances to the highest ones. Rotations are uniform over all:
    normalized normal numbers.
    """
    cdef Configurations c = configurations_of(model)
    cdef cnp.npy_intp size = c.nq
    if out is None:
        out = new_result(1, &size)
    fill(c, generator, <const double *> cnp.PyArray_DATA(<cnp.ndarray> limits[0]),
         <const double *> cnp.PyArray_DATA(<cnp.ndarray> limits[1]), count, <double *> out.data)
    return out


cdef bint fill(Configurations c, generator, const double *low, const double *span, Py_ssize_t count,
               double *q) except False:
    """Fill q with random configurations while the generator is locked."""
    cdef tuple source = c.source
    if source is None or source[0] is not generator:
        numbers = generator.bit_generator
        c.source = source = (generator, numbers.capsule, numbers.lock.acquire, numbers.lock.release)
    source[2]()
    c.draw(<bitgen_t *> PyCapsule_GetPointer(source[1], "BitGenerator"), low, span, count, q)
    source[3]()
    return True
