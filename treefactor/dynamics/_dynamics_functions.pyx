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

    cdef int declare(self, tuple names) except -1:
        """Declare arguments: among others v, fext, and the acceleration a or x."""
        cdef int k
        self.add_arguments(names)
        self.v = self.a = self.fext = ABSENT
        for k in range(self.inputs):
            if names[k] == "v":
                self.v = k
            elif names[k] in ("a", "x"):
                self.a = k
            elif names[k] == "fext":
                self.fext = k
        return 0

    @cython.final
    cdef Motion motion(self, int lanes, const double **x, double *tau, double *end) noexcept nogil:
        """Return what a recursion reads and where it writes forces tau; with mimic joints from `end` on."""
        cdef Motion m
        m.v = <const double *> NULL if self.v == ABSENT else self.expanded(lanes, 1, x[self.v], &end)
        m.a = <const double *> NULL if self.a == ABSENT else self.expanded(lanes, 1, x[self.a], &end)
        m.fext = <const double *> NULL if self.fext == ABSENT else x[self.fext]
        m.tau = self.target(lanes, 1, tau, &end)
        m.end = end
        return m

    @cython.final
    cdef void write_equation(self, const void *model, int lanes, const double **x, double *H, double *rest,
                             double *end, double *work) noexcept nogil:
        """H, rest <- packed rows of the inertia matrix, and tau - bias, of arguments (q, v, tau, fext)."""
        cdef double *full_H = H
        cdef Motion m
        cdef Py_ssize_t k
        if self.bodies.coupled:
            full_H = end
            end += lanes * self.bodies.m.start[self.bodies.m.n]
        m = self.motion(lanes, x, rest, end)
        self.recursions(lanes).equation_of_motion(
            <const Mechanism *> model, x[0], m.v, m.fext, full_H, m.tau, work)
        if self.bodies.coupled:
            reduce_inertia(&self.bodies.coupling, lanes, full_H, H)
        self.reduce(lanes, 1, m.tau, rest)
        for k in range(self.bodies.nv * lanes):
            rest[k] = x[2][k] - rest[k]

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


cdef class InverseDynamics(DynamicsFunction):
    """Inverse dynamics of some of (q, v, a, fext), with or without gravity."""

    def __init__(self, model, tuple names, bint gravity=True):
        self.declare(names)
        self.gravity = gravity
        self.add_result((self.bodies.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Motion m = self.motion(lanes, x, y[0], self.more(lanes, work))
        self.recursions(lanes).rnea(
            <const Mechanism *> model, x[0], m.v, m.a, m.fext, self.gravity, m.tau, work)
        self.reduce(lanes, 1, m.tau, y[0])


cdef class Rnea(InverseDynamics):
    """Inverse dynamics tau(q, v, a, fext)."""

    def __init__(self, model):
        super().__init__(model, ("q", "v", "a", "fext"))


cdef class Bias(InverseDynamics):
    """Forces at zero acceleration, bias(q, v, fext)."""

    def __init__(self, model):
        super().__init__(model, ("q", "v", "fext"))


cdef class HTimes(InverseDynamics):
    """Product H(q) x."""

    def __init__(self, model):
        super().__init__(model, ("q", "x"), False)


cdef class StaticForces(DynamicsFunction):
    """Forces that hold the model at rest: generalized gravity(q), or the static torque(q, fext)."""

    def __init__(self, model, tuple names):
        self.declare(names)
        self.add_result((self.bodies.nv,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Motion m = self.motion(lanes, x, y[0], self.more(lanes, work))
        self.recursions(lanes).static_forces(<const Mechanism *> model, x[0], m.fext, m.tau, work)
        self.reduce(lanes, 1, m.tau, y[0])


cdef class GeneralizedGravity(StaticForces):
    """Generalized gravity(q)."""

    def __init__(self, model):
        super().__init__(model, ("q",))


cdef class StaticTorque(StaticForces):
    """Static torque(q, fext)."""

    def __init__(self, model):
        super().__init__(model, ("q", "fext"))
        self.input[1].optional = False


cdef class Reactions(DynamicsFunction):
    """Forces and moments of a motion (q, v, a, fext): in the joints, or on the base."""

    cdef bint in_joints

    def __init__(self, model, bint in_joints):
        self.declare(("q", "v", "a", "fext"))
        self.in_joints = in_joints
        if in_joints:
            self.add_result((self.bodies.m.joints, 6))
        else:
            self.add_result((6,))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Motion m = self.motion(lanes, x, NULL, self.more(lanes, work))
        self.recursions(lanes).reactions(
            <const Mechanism *> model, x[0], m.v, m.a, m.fext, y[0] if self.in_joints else NULL,
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

    def __init__(self, model, tuple names, bint with_potential):
        self.declare(names)
        self.scalar, self.with_potential = True, with_potential
        self.add_result(())

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Motion m = self.motion(lanes, x, NULL, self.more(lanes, work))
        self.recursions(lanes).energy(
            <const Mechanism *> model, x[0], m.v, self.with_potential, y[0], work)


cdef class KineticEnergy(Energy):
    """Kinetic energy(q, v)."""

    def __init__(self, model):
        super().__init__(model, ("q", "v"), False)


cdef class PotentialEnergy(Energy):
    """Potential energy(q)."""

    def __init__(self, model):
        super().__init__(model, ("q",), True)


cdef class MechanicalEnergy(Energy):
    """Kinetic and potential energy(q, v)."""

    def __init__(self, model):
        super().__init__(model, ("q", "v"), True)


cdef class CoriolisMatrix(DynamicsFunction):
    """Coriolis matrix C(q, v): dense, or its packed entries."""

    def __init__(self, model, str layout="dense"):
        self.declare(("q", "v"))
        if layout == "dense":
            self.add_result((self.bodies.nv, self.bodies.nv), PAIR)
        else:
            self.add_result((2 * self.bodies.nnz - self.bodies.nv,))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        return self.bodies.m.n + 2 * self.bodies.m.start[self.bodies.m.n] if self.bodies.coupled else 0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Motion m = self.motion(lanes, x, NULL, self.more(lanes, work))
        cdef double *C = m.end if self.bodies.coupled else y[0]
        self.recursions(lanes).coriolis(<const Mechanism *> model, x[0], m.v, C, work)
        if self.bodies.coupled:
            reduce_coriolis(&self.bodies.coupling, lanes, C, y[0])


cdef class Crba(DynamicsFunction):
    """Inertia matrix H(q): dense, its packed rows, or these in lanes."""

    def __init__(self, model, str layout="dense"):
        self.declare(("q",))
        self.in_lanes = layout == "lanes"
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
        self.declare(("q",))
        self.may_fail = self.writes_last = True
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
        self.declare(("q", "v", "tau", "fext"))
        self.may_fail = True
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
        self.write_equation(model, lanes, x, H, y[0], end, work)
        factor_and_solve(&self.pattern.shape, FACTOR, lanes, H, D, inverse, end, y[0], failed)


cdef class Aba(DynamicsFunction):
    """Acceleration a(q, v, tau, fext) by articulated bodies."""

    def __init__(self, model):
        if self.bodies.coupled:
            raise ValueError(
                f"{model.name or 'the model'} has mimic joints, which the articulated-body algorithm does "
                "not support: use forward_dynamics(..., method='factor')"
            )
        self.declare(("q", "v", "tau", "fext"))
        self.may_fail = True
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
        self.declare(("q", "v"))
        self.add_result((UNIT_MOTION(self.bodies.m.joints, self.bodies.m.n),))

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        cdef Motion m = self.motion(lanes, x, NULL, self.more(lanes, work))
        self.recursions(lanes).frames(<const Mechanism *> model, x[0], m.v, y[0], work)


cdef class EquationOfMotion(DynamicsFunction):
    """tau - bias, then the packed rows of H (q, v, tau, fext)."""

    def __init__(self, model):
        self.declare(("q", "v", "tau", "fext"))
        self.add_result((self.bodies.nv + self.bodies.nnz,))

    cdef Py_ssize_t more_size(self, int lanes) noexcept nogil:
        return 2 * self.bodies.m.n + self.bodies.m.start[self.bodies.m.n] if self.bodies.coupled else 0

    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil:
        self.write_equation(
            model, lanes, x, y[0] + lanes * self.bodies.nv, y[0], self.more(lanes, work), work)


def forward_dynamics(model, str name, str method):
    """Return the compiled function of forward dynamics by a method, "factor" or "aba"."""
    return Aba(model) if method == "aba" else ForwardDynamics(model)
