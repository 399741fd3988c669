"""Call steps and rollouts without the checks of the general path: the fast path, and bound calls."""

cimport numpy as cnp

from libc.string cimport memset

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport is_real, may_overlap
from .._util._result_arrays cimport new_result
from ..tree._operands cimport LANES
from ._rollouts cimport RK4, SEMI_IMPLICIT_EULER, Motion, Series, Simulation

cnp.import_array()


cdef bint read(object x, Py_ssize_t size, Py_ssize_t *steps, Py_ssize_t *batch, Series *series) noexcept:
    """Describe an array ([batch,] [steps,] size); false if it has another type or shape.

    ``steps`` is NULL without that axis, and -1, like ``batch``, until an array sets it.
    """
    cdef cnp.ndarray a
    cdef int axes, last
    if not is_real(x):
        return False
    a = x
    last = a.ndim - 1
    axes = last if steps == NULL else last - 1
    if not 0 <= axes <= 1 or a.shape[last] != size or a.strides[last] != sizeof(double):
        return False
    series.data, series.size, series.to_next, series.to_step = <char *> a.data, size, 0, 0
    if steps != NULL:
        if steps[0] >= 0 and steps[0] != a.shape[last - 1]:
            return False
        steps[0], series.to_step = a.shape[last - 1], a.strides[last - 1]
    if axes:
        if batch[0] >= 0 and batch[0] != a.shape[0]:
            return False
        batch[0], series.to_next = a.shape[0], a.strides[0]
    return True


cdef object allocate(Py_ssize_t batch, Py_ssize_t states, Py_ssize_t size):
    """Return a new array ([batch,] [states,] size); -1 leaves an axis out."""
    cdef cnp.npy_intp shape[3]
    cdef int axes = 0
    if batch >= 0:
        shape[0], axes = batch, 1
    if states >= 0:
        shape[axes], axes = states, axes + 1
    shape[axes] = size
    return new_result(axes + 1, shape)


cdef bint is_same(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Return whether two contiguous arrays of the same size begin at the same address."""
    return a.data == b.data and a.ndim == b.ndim


cdef bint read_motion(Simulation s, object method, tuple inputs, object h, object steps, object out,
                      bint whole, Py_ssize_t *batch, Motion *m):
    """Describe plain arrays q0, v0, tau and out; false if the general path must handle them.

    The results may be the initial states themselves, otherwise no memory is shared.
    """
    cdef Py_ssize_t count = -1, states = -1, results = -1
    cdef bint held = not whole or steps is not None
    if type(h) is not float or not (steps is None or type(steps) is int):
        return False
    if s.nv == 0 or not s.bodies.one_axis:
        return False
    if type(method) is not str or not (method == "semi_implicit_euler" or method == "rk4"):
        return False
    q0, v0, tau = inputs
    memset(m, 0, sizeof(Motion))
    batch[0] = s.bodies.sets.elements
    m.h, m.whole, m.method = h, whole, RK4 if method == "rk4" else SEMI_IMPLICIT_EULER
    if not (-1e300 < m.h < 1e300 and read(q0, s.nq, NULL, batch, &m.q0) and read(v0, s.nv, NULL, batch, &m.v0)
            and read(tau, s.nv, NULL if held else &count, batch, &m.tau)):
        return False
    m.steps = (1 if steps is None else <Py_ssize_t> steps) if held else count
    if m.steps < 1 or batch[0] == 0:
        return False
    if type(out) is not tuple or len(<tuple> out) != 2:
        return False
    q, v = <tuple> out
    if not (read(q, s.nq, &states if whole else NULL, &results, &m.q)
            and read(v, s.nv, &states if whole else NULL, &results, &m.v)):
        return False
    if results != batch[0] or (whole and states != m.steps + 1) or may_overlap(q, v):
        return False
    for result, start in ((q, q0), (v, v0)):
        if not cnp.PyArray_ISCARRAY(<cnp.ndarray> result) or may_overlap(result, tau):
            return False
        if (<cnp.ndarray> result).ndim - whole - 1 != (batch[0] >= 0):
            return False
        if may_overlap(result, start) and (
            whole or not is_same(result, start) or not cnp.PyArray_ISCARRAY(<cnp.ndarray> start)
        ):
            return False
    return not (may_overlap(q, v0) or may_overlap(v, q0))


def fast_path(Simulation s not None, method, q0, v0, tau, h, steps, out, threads, bint whole):
    """Return the results for float64 arrays that need no conversion; None leaves it to the general path."""
    cdef Motion m
    cdef Py_ssize_t batch = -1, count = -1
    cdef bint done
    if type(threads) is not int or threads != 1 or not is_real(q0) or not is_real(v0) or not is_real(tau):
        return None
    if out is None:
        batch = s.bodies.sets.elements
        if batch < 0:
            batch = outer_axis(q0, v0, tau, whole and steps is None)
        if whole:
            if steps is None and (<cnp.ndarray> tau).ndim >= 2:
                count = (<cnp.ndarray> tau).shape[(<cnp.ndarray> tau).ndim - 2] + 1
            elif type(steps) is int and 0 <= steps < 2**40:
                count = steps + 1
            else:
                return None
        out = allocate(batch, count, s.nq), allocate(batch, count, s.nv)
    if not read_motion(s, method, (q0, v0, tau), h, steps, out, whole, &batch, &m):
        return None
    if batch < 0 and not whole:
        done = s.run_one(&m, False) == 1
    elif batch < 0:
        with nogil:
            done = s.run_one(&m, False) == 1
    else:
        with nogil:
            done = s.run_blocks(&m, batch, 0, (batch + LANES - 1) // LANES)
    return out if done else None


cdef Py_ssize_t outer_axis(cnp.ndarray q0, cnp.ndarray v0, cnp.ndarray tau, bint steps) noexcept:
    """Return the length of the first array's leading axis that has one; -1 if none has."""
    if q0.ndim > 1:
        return q0.shape[0]
    if v0.ndim > 1:
        return v0.shape[0]
    return tau.shape[0] if tau.ndim > 1 + steps else -1


cdef class BoundMotion(BoundCall):
    """Step or rollout of one configuration whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    simulation : Simulation
    method : str
    inputs : tuple of ndarray
        q0, v0 and tau: contiguous arrays of float64.
    h : float
    out : tuple of ndarray
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.
    whole : bool

    Raises
    ------
    ValueError
        If an array is not contiguous float64 of the right shape, or results share memory with other arrays.
    """

    cdef Simulation simulation
    cdef Motion motion

    def __cinit__(self, Simulation simulation not None, method, tuple inputs, h, out, general_path,
                  bint whole):
        cdef Py_ssize_t batch = -1
        cdef bint good = read_motion(simulation, method, inputs, h, None, out, whole, &batch, &self.motion)
        if not good or batch >= 0:
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, and out a pair (q, v) that is the "
                "state itself or shares no memory with other arrays"
            )
        self.simulation, self.kept, self.out, self.general_path = simulation, inputs, out, general_path

    cdef bint run(self) noexcept:
        cdef bint done
        if not self.motion.whole:
            return self.simulation.run_one(&self.motion, False) == 1
        with nogil:
            done = self.simulation.run_one(&self.motion, False) == 1
        return done
