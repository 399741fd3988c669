/* Value of inverse dynamics with all that its derivatives share: turns and motions of all bodies, and the forces on
 * their subtrees. */

/* Return the workspace, filled; tau <- inverse dynamics unless it is NULL. State q = NULL: the turns are there. Of a state
 * that has moved, all is there but tau. */
INLINE Workspace NAME(motion_and_forces)(const Mechanism *m, const State *x, double *tau, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    if (x->moved) return w;
    if (x->q) NAME(compute_angles)(m, x->q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        if (x->q) NAME(place)(m, m->body + i, x->q, &w.angles, 1, w.turn + i);
        NAME(move_body)(m, i, &w, x->v, x->a, 1, w.motion + i);
        NAME(write_own_force)(m, i, &w, w.motion + i, x->fext);
    }
    NAME(sum_own_forces)(m, &w, x->a, tau ? tau : (double *)w.S);    /* memory that nothing else uses here */
    return w;
}
