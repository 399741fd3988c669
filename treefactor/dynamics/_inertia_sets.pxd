"""Choose the inertias of a block of 8 configurations among the sets of a model."""

from ..tree._operands cimport LANES
from ._operations cimport InertiaSets, Mechanism


cdef inline void choose_inertias(const InertiaSets *sets, Py_ssize_t b, double *gathered,
                                 Mechanism *m) noexcept nogil:
    """Set the inertias of block b, if its configurations have their own; different sets go to `gathered`."""
    cdef const Py_ssize_t *which = sets.which + b * LANES
    cdef const double *rows[LANES]
    cdef Py_ssize_t lane, e
    if sets.elements < 0:
        return
    m.inertias, m.in_lanes, m.limb_lanes = sets.first + b * LANES * sets.size, True, 0
    if sets.which != NULL:
        m.in_lanes = False
        for lane in range(LANES):
            rows[lane] = sets.first + which[lane] * sets.size
            m.in_lanes = m.in_lanes or rows[lane] != rows[0]
        m.inertias = <const double *> gathered if m.in_lanes else rows[0]
        for e in range(sets.size if m.in_lanes else 0):
            for lane in range(LANES):
                gathered[e * LANES + lane] = rows[lane][e]
    m.armature = m.inertias + 10 * m.bodies * (LANES if m.in_lanes else 1)
