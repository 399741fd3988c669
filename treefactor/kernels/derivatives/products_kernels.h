/* Products of vectors with the derivatives of inverse dynamics in O(n), for one kind of number: Carpentier and Mansard
 * (2018), Analytical derivatives of rigid body dynamics algorithms, contracted. recursions.h lists the names that must
 * be defined. V, A, F are those of rnea.h, l is the parent of body i, and
 *
 *     2 B y = V x* I y - I (V x y) + y x* I V          (the linear part of y has no effect)
 *
 * All sums over subtrees are about the local origin of the body that carries the subtree. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/placements.h"
#include "../dynamics/inertias.h"
#include "../dynamics/composites.h"
#include "../dynamics/forces.h"

/* y <- the motion x of the parent of body i, at the local origin of the body; the base does not move */
INLINE void NAME(motion_of_parent)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *x, real *y)
{
    EACH(r, 6) y[r] = x[r];
    if (NAME(is_shifted)(m, i)) ADD_CROSS(x + 3, w->X[i].d, y);
}

/* y += the force f on body i, at the local origin of its parent */
INLINE void NAME(add_force_at_parent)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const real *f, real *y)
{
    EACH(r, 6) y[r] += f[r];
    if (NAME(is_shifted)(m, i)) ADD_CROSS(w->X[i].d, f, y + 3);
}

/* Sum w->F over subtrees, each about the local origin of its body; tau <- inverse dynamics unless NULL. */
static void NAME(sum_forces)(const Mechanism *m, const Workspace *w, const double *a, double *tau)
{
    for (ptrdiff_t i = m->bodies - 1; i >= 0; i--) {
        const Body *b = m->body + i;
        if (tau)
            for (ptrdiff_t k = b->v; k < b->v + b->freedoms; k++)
                AT(tau, k) = NAME(power)(w->F[i].e, w->S[k].e) + NAME(armature)(m, k) * READ(a, k);
        if (b->parent >= 0) NAME(add_force_at_parent)(m, i, w, w->F[i].e, w->F[b->parent].e);
    }
}

/* H, bias <- the terms of H a + bias = tau; placements and inertias of the bodies stay in the workspace. */
static void NAME(write_equation)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                 double *H, double *bias, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace), composite = w;
    composite.C = (Inertia *)w.IA;   /* memory that the products use later */
    NAME(place_bodies)(m, q, &w);
    NAME(move_inertias)(m, &w);
    NAME(body_forces)(m, &w, v, NULL, fext, 1);
    NAME(generalized_forces)(m, &w, NULL, bias);
    memcpy(composite.C, w.C, m->bodies * sizeof(Inertia));
    NAME(composite_bodies)(m, &composite, H);
}

/* Return the workspace with placements, inertias and motions of all bodies and the forces on their subtrees. */
INLINE Workspace NAME(motion_and_forces)(const Mechanism *m, const State *x, double *tau, double *workspace)
{
    Workspace w = NAME(carve_workspace)(m, workspace);
    if (x->q) {
        NAME(place_bodies)(m, x->q, &w);
        NAME(move_inertias)(m, &w);
    }
    NAME(body_forces)(m, &w, x->v, x->a, x->fext, 1);
    NAME(sum_forces)(m, &w, x->a, tau);
    return w;
}

#include "inertia_gradient.h"
#include "products_vjp.h"
#include "products_jvp.h"

#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef LOWER
