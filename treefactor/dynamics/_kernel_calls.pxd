"""Call the kernels of operations on 1 or 8 configurations."""

from ..tree._operands cimport LANES, align
from ..tree._pattern cimport FACTORIZED, SOLVE, Shape, Workspace, active, carve_workspace, clear_workspace
from ._operations cimport (
    ABA, BASE_FORCE, CRBA, CRBA_PACKED, FACTOR, FRAMES, GRAVITY, H_TIMES, INVERSE, JOINT_FORCES,
    KINETIC_ENERGY, MOTION, STATIC_TORQUE, Arguments, Mechanism, Recursions, gives_coriolis, is_energy)


cdef inline void run_recursion(const Mechanism *m, int op, const Recursions *r, const Arguments *args,
                               double *H, double *D, double *workspace) noexcept nogil:
    """Call the kernel of an operation on all freedoms: H <- packed rows, D <- pivots of the ABA."""
    if op in (CRBA, CRBA_PACKED, INVERSE):
        r.crba(m, args.q, H, workspace)
    elif op == ABA:
        r.aba(m, args.q, args.v, args.x, args.fext, args.out, D, workspace)
    elif op == FRAMES:
        r.frames(m, args.q, args.v, args.out, workspace)
    elif op == JOINT_FORCES:
        r.reactions(m, args.q, args.v, args.x, args.fext, args.out, NULL, workspace)
    elif op == BASE_FORCE:
        r.reactions(m, args.q, args.v, args.x, args.fext, NULL, args.out, workspace)
    elif op == FACTOR or op == MOTION:
        r.equation_of_motion(m, args.q, args.v, args.fext, H, args.out, workspace)
    elif op == GRAVITY or op == STATIC_TORQUE:
        r.static_forces(m, args.q, args.fext, args.out, workspace)
    elif is_energy(op):
        r.energy(m, args.q, args.v, op != KINETIC_ENERGY, args.out, workspace)
    elif gives_coriolis(op):
        r.coriolis(m, args.q, args.v, args.out, workspace)
    else:
        r.rnea(m, args.q, args.v, args.x, args.fext, op != H_TIMES, args.out, workspace)


cdef inline void factor_and_solve(const Shape *t, int op, int lanes, double *H, double *D, double *inverse,
                                  double *scratch, double *x, Py_ssize_t *failed) noexcept nogil:
    """x <- H^-1 x, or the dense H^-1."""
    cdef double *X
    cdef Workspace w
    if lanes == LANES:
        X = align(scratch)
        active.lanes.factor(t, H, H, inverse, X, failed)
        if op == INVERSE:
            X += lanes * t.scratch
            active.lanes.invert(t, H, inverse, 1, X, X + lanes * t.start[t.n], x)
        else:
            active.lanes.apply(t, H, inverse, 1, SOLVE, x, 1)
        return
    w = carve_workspace(t, scratch)
    clear_workspace(t, &w)
    active.single.load_packed(t, <const char *> H, sizeof(double), t.whole, w.X)
    failed[0] = active.single.factor(t, 0, t.supernodes, H, t.whole, w.path, w.X, D, inverse)
    if op == INVERSE and failed[0] == FACTORIZED:
        active.single.invert(t, w.X, inverse, 1, x)
    elif op != INVERSE:
        active.single.apply(t, w.X, D, inverse, 1, SOLVE, x, w.path)
