"""Compiled functions of the dynamics: each calls the kernels of one recursion, for 1 or 8 configurations."""

cimport cython

from ..tree._operands cimport ALIGNED
from ..tree._pattern cimport Shape, workspace_size as factor_workspace_size
from .._functions._compiled_function cimport PAIR, SYMMETRIC
from ._coupling cimport reduce_coriolis, reduce_inertia
from ._kernel_calls cimport factor_and_solve
from ._model_function cimport ModelFunction
from ._operations cimport FACTOR, INVERSE, UNIT_MOTION
from ._recursions cimport Mechanism, Recursions, dynamics
from ._results cimport find_failures


cdef class DynamicsFunction(ModelFunction):
    """Function of the dynamics: its workspace is that of the recursions, then `more_size` doubles."""

    @cython.final
    cdef const Recursions *recursions(self, int lanes) noexcept nogil:
        """Return the kernels for 1 or 8 configurations."""
        return &dynamics.one if lanes == 1 else &dynamics.lanes

    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil:
        return self.recursions(lanes).workspace_size(&self.bodies.m) + ALIGNED + lanes * self.more_size(lanes)

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        """Return the doubles per configuration behind the workspace of the recursions."""
        return 3 * self.bodies.m.n if self.bodies.coupled else 0

    @cython.final
    cdef double *more(self, int lanes, double *work) noexcept nogil:
        """Return the memory behind the workspace of the recursions."""
        return work + self.recursions(lanes).workspace_size(&self.bodies.m)


cdef class Rnea(DynamicsFunction):
    """Inverse dynamics tau(q, v, a, fext)."""

    def __init__(self, model):
        self.names = ("q", "v", "a", "fext")
        self.add_configuration()
        self.add_vector()
        self.add_vector()
        self.add_forces()
        self.add_result((self.bodies.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        cdef const double *a = self.expanded(lanes, 1, x[2], &end)
        cdef double *tau = self.target(lanes, 1, y[0], &end)
        self.recursions(lanes).rnea(<const Mechanism *> model, x[0], v, a, x[3], True, tau, work)
        self.reduce(lanes, 1, tau, y[0])


cdef class Bias(DynamicsFunction):
    """Forces at zero acceleration, bias(q, v, fext)."""

    def __init__(self, model):
        self.names = ("q", "v", "fext")
        self.add_configuration()
        self.add_vector()
        self.add_forces()
        self.add_result((self.bodies.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        cdef double *tau = self.target(lanes, 1, y[0], &end)
        self.recursions(lanes).rnea(<const Mechanism *> model, x[0], v, NULL, x[2], True, tau, work)
        self.reduce(lanes, 1, tau, y[0])


cdef class HTimes(DynamicsFunction):
    """Product H(q) x."""

    def __init__(self, model):
        self.names = ("q", "x")
        self.add_configuration()
        self.add_vector()
        self.add_result((self.bodies.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *a = self.expanded(lanes, 1, x[1], &end)
        cdef double *tau = self.target(lanes, 1, y[0], &end)
        self.recursions(lanes).rnea(<const Mechanism *> model, x[0], NULL, a, NULL, False, tau, work)
        self.reduce(lanes, 1, tau, y[0])


cdef class StaticForces(DynamicsFunction):
    """Forces that hold the model at rest: generalized gravity(q), or the static torque(q, fext)."""

    def __init__(self, model, bint with_fext):
        self.names = ("q", "fext") if with_fext else ("q",)
        self.add_configuration()
        if with_fext:
            self.add_forces(False)
        self.add_result((self.bodies.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef double *tau = self.target(lanes, 1, y[0], &end)
        self.recursions(lanes).static_forces(
            <const Mechanism *> model, x[0], x[1] if self.inputs > 1 else NULL, tau, work)
        self.reduce(lanes, 1, tau, y[0])


cdef class GeneralizedGravity(StaticForces):
    """Generalized gravity(q)."""

    def __init__(self, model):
        super().__init__(model, False)


cdef class StaticTorque(StaticForces):
    """Static torque(q, fext)."""

    def __init__(self, model):
        super().__init__(model, True)


cdef class Reactions(DynamicsFunction):
    """Forces and moments of a motion (q, v, a, fext): in the joints, or on the base."""

    cdef bint in_joints

    def __init__(self, model, bint in_joints):
        self.names, self.in_joints = ("q", "v", "a", "fext"), in_joints
        self.add_configuration()
        self.add_vector()
        self.add_vector()
        self.add_forces()
        if in_joints:
            self.add_result((self.bodies.m.joints, 6))
        else:
            self.add_result((6,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        cdef const double *a = self.expanded(lanes, 1, x[2], &end)
        self.recursions(lanes).reactions(
            <const Mechanism *> model, x[0], v, a, x[3], y[0] if self.in_joints else NULL,
            NULL if self.in_joints else y[0], work)


cdef class JointForces(Reactions):
    """Forces and moments in the joints (q, v, a, fext)."""

    def __init__(self, model):
        super().__init__(model, True)


cdef class BaseForce(Reactions):
    """Force and moment on the base (q, v, a, fext)."""

    def __init__(self, model):
        super().__init__(model, False)


cdef class Energy(DynamicsFunction):
    """Kinetic energy(q, v), potential energy(q), or their sum(q, v)."""

    cdef bint with_potential

    def __init__(self, model, bint with_v, bint with_potential):
        self.names = ("q", "v") if with_v else ("q",)
        self.scalar, self.with_potential = True, with_potential
        self.add_configuration()
        if with_v:
            self.add_vector()
        self.add_result(())

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end) if self.inputs > 1 else NULL
        self.recursions(lanes).energy(
            <const Mechanism *> model, x[0], v, self.with_potential, y[0], work)


cdef class KineticEnergy(Energy):
    """Kinetic energy(q, v)."""

    def __init__(self, model):
        super().__init__(model, True, False)


cdef class PotentialEnergy(Energy):
    """Potential energy(q)."""

    def __init__(self, model):
        super().__init__(model, False, True)


cdef class MechanicalEnergy(Energy):
    """Kinetic and potential energy(q, v)."""

    def __init__(self, model):
        super().__init__(model, True, True)


cdef class CoriolisMatrix(DynamicsFunction):
    """Coriolis matrix C(q, v): dense, or its packed entries."""

    def __init__(self, model, str layout="dense"):
        self.names = ("q", "v")
        self.add_configuration()
        self.add_vector()
        if layout == "dense":
            self.add_result((self.bodies.nv, self.bodies.nv), PAIR)
        else:
            self.add_result((2 * self.bodies.nnz - self.bodies.nv,))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        return self.bodies.m.n + 2 * self.bodies.m.start[self.bodies.m.n] if self.bodies.coupled else 0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        cdef double *C = end if self.bodies.coupled else y[0]
        self.recursions(lanes).coriolis(<const Mechanism *> model, x[0], v, C, work)
        if self.bodies.coupled:
            reduce_coriolis(&self.bodies.coupling, lanes, C, y[0])


cdef class Crba(DynamicsFunction):
    """Inertia matrix H(q): dense, its packed rows, or these in lanes."""

    def __init__(self, model, str layout="dense"):
        self.names, self.in_lanes = ("q",), layout == "lanes"
        self.add_configuration()
        if layout == "packed":
            self.add_result((self.bodies.nnz,))
        else:
            self.add_result((self.bodies.nv, self.bodies.nv), SYMMETRIC)

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        return self.bodies.m.start[self.bodies.m.n] if self.bodies.coupled else 0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *H = self.more(lanes, work) if self.bodies.coupled else y[0]
        self.recursions(lanes).crba(<const Mechanism *> model, x[0], H, work)
        if self.bodies.coupled:
            reduce_inertia(&self.bodies.coupling, lanes, H, y[0])


cdef class InverseInertia(DynamicsFunction):
    """Inverse of H(q), from its LTDL factor."""

    def __init__(self, model):
        self.names, self.may_fail, self.writes_last = ("q",), True, True
        self.add_configuration()
        self.add_result((self.bodies.nv, self.bodies.nv))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t size = self.bodies.nnz + 2 * self.bodies.nv + self.bodies.m.start[self.bodies.m.n]
        return size + (factor_workspace_size(t) if lanes == 1 else t.scratch + 2 * self.bodies.nnz + 1)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *H = self.more(lanes, work)
        cdef double *D = H + lanes * self.bodies.nnz
        cdef double *inverse = D + lanes * self.bodies.nv
        cdef double *full_H = inverse + lanes * self.bodies.nv
        cdef double *end = full_H
        if self.bodies.coupled:
            end += lanes * self.bodies.m.start[self.bodies.m.n]
        else:
            full_H = H
        self.recursions(lanes).crba(<const Mechanism *> model, x[0], full_H, work)
        if self.bodies.coupled:
            reduce_inertia(&self.bodies.coupling, lanes, full_H, H)
        factor_and_solve(&self.pattern.shape, INVERSE, lanes, H, D, inverse, end, y[0], failed)


cdef class ForwardDynamics(DynamicsFunction):
    """Acceleration a(q, v, tau, fext) from H, its LTDL factor and the bias."""

    def __init__(self, model):
        self.names, self.may_fail = ("q", "v", "tau", "fext"), True
        self.add_configuration()
        self.add_vector()
        self.add_vector()
        self.add_forces()
        self.add_result((self.bodies.nv,))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        cdef const Shape *t = &self.pattern.shape
        cdef Py_ssize_t size = self.bodies.nnz + 2 * self.bodies.nv
        if self.bodies.coupled:
            size += 2 * self.bodies.m.n + self.bodies.m.start[self.bodies.m.n]
        return size + (factor_workspace_size(t) if lanes == 1 else t.scratch + 1)

    cdef bint run_one(self, const double **x, double **out) noexcept nogil:
        """Leave trees that are eliminated in parts to the lanes."""
        return not self.pattern.shape.tasks and ModelFunction.run_one(self, x, out)

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *H = self.more(lanes, work)
        cdef double *D = H + lanes * self.bodies.nnz
        cdef double *inverse = D + lanes * self.bodies.nv
        cdef double *end = inverse + lanes * self.bodies.nv
        cdef double *full_H = H
        cdef double *bias
        cdef const double *v
        cdef Py_ssize_t k
        if self.bodies.coupled:
            full_H = end
            end += lanes * self.bodies.m.start[self.bodies.m.n]
        v = self.expanded(lanes, 1, x[1], &end)
        bias = self.target(lanes, 1, y[0], &end)
        self.recursions(lanes).equation_of_motion(
            <const Mechanism *> model, x[0], v, x[3], full_H, bias, work)
        if self.bodies.coupled:
            reduce_inertia(&self.bodies.coupling, lanes, full_H, H)
        self.reduce(lanes, 1, bias, y[0])
        for k in range(self.bodies.nv * lanes):
            y[0][k] = x[2][k] - y[0][k]
        factor_and_solve(&self.pattern.shape, FACTOR, lanes, H, D, inverse, end, y[0], failed)


cdef class Aba(DynamicsFunction):
    """Acceleration a(q, v, tau, fext) by articulated bodies."""

    def __init__(self, model):
        if self.bodies.coupled:
            raise ValueError(
                f"{model.name or 'the model'} has mimic joints, which the articulated-body algorithm does "
                "not support: use forward_dynamics(..., method='factor')"
            )
        self.names, self.may_fail = ("q", "v", "tau", "fext"), True
        self.add_configuration()
        self.add_vector()
        self.add_vector()
        self.add_forces()
        self.add_result((self.bodies.nv,))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        return self.bodies.m.n

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *D = self.more(lanes, work)
        self.recursions(lanes).aba(<const Mechanism *> model, x[0], x[1], x[2], x[3], y[0], D, work)
        if lanes == 1 or not dynamics.are_pivots(self.bodies.nv, D):
            find_failures(self.bodies.nv, lanes, D, failed)


cdef class Frames(DynamicsFunction):
    """Records of all bodies and unit motions of all freedoms (q, v): see `recursions.frames`."""

    def __init__(self, model):
        self.names = ("q", "v")
        self.add_configuration()
        self.add_vector()
        self.add_result((UNIT_MOTION(self.bodies.m.joints, self.bodies.m.n),))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef const double *v = self.expanded(lanes, 1, x[1], &end)
        self.recursions(lanes).frames(<const Mechanism *> model, x[0], v, y[0], work)


cdef class EquationOfMotion(DynamicsFunction):
    """tau - bias, then the packed rows of H (q, v, tau, fext)."""

    def __init__(self, model):
        self.names = ("q", "v", "tau", "fext")
        self.add_configuration()
        self.add_vector()
        self.add_vector()
        self.add_forces()
        self.add_result((self.bodies.nv + self.bodies.nnz,))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        return 2 * self.bodies.m.n + self.bodies.m.start[self.bodies.m.n] if self.bodies.coupled else 0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef double *end = self.more(lanes, work)
        cdef double *H = y[0] + lanes * self.bodies.nv
        cdef double *full_H = H
        cdef double *bias
        cdef const double *v
        cdef Py_ssize_t k
        if self.bodies.coupled:
            full_H = end
            end += lanes * self.bodies.m.start[self.bodies.m.n]
        v = self.expanded(lanes, 1, x[1], &end)
        bias = self.target(lanes, 1, y[0], &end)
        self.recursions(lanes).equation_of_motion(
            <const Mechanism *> model, x[0], v, x[3], full_H, bias, work)
        if self.bodies.coupled:
            reduce_inertia(&self.bodies.coupling, lanes, full_H, H)
        self.reduce(lanes, 1, bias, y[0])
        for k in range(self.bodies.nv * lanes):
            y[0][k] = x[2][k] - y[0][k]


def forward_dynamics(model, str method):
    """Return the compiled function of forward dynamics by a method, "factor" or "aba"."""
    return Aba(model) if method == "aba" else ForwardDynamics(model)
