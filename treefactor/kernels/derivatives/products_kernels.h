/* Products of vectors with the derivatives of inverse dynamics in O(n), for one kind of number: Carpentier and Mansard
 * (2018), Analytical derivatives of rigid body dynamics algorithms, contracted. recursions.h lists the names that must
 * be defined. They are the recursion of rnea.h, whose symbols these texts share, differentiated along directions (JVP)
 * and backwards (VJP): every body in its own axes and about its own origin, so that no inertia is rotated, and no
 * linear velocity appears. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/inertias.h"
#include "../dynamics/turns.h"
#include "../dynamics/handovers.h"
#include "../dynamics/rnea.h"
#include "../dynamics/crba.h"
#include "motion_and_forces.h"

/* x <- w, w' and a of body i whose joint is at rest, of a hinge without the parts along its axis */
INLINE void NAME(motion_before_joint)(const Mechanism *m, ptrdiff_t i, const Workspace *w, const double *v, real *x)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Motion *X = w->motion + i;
    if (!NAME(is_hinge)(b)) {
        NAME(motion_at_rest)(m, i, w, 1, x);
        return;
    }
    EACH(r, 3) {
        x[r] = X->w[r];
        x[6 + r] = X->a[r];
    }
    x[3] = X->rate[0] - X->w[1] * READ(v, b->v);
    x[4] = X->rate[1] + X->w[0] * READ(v, b->v);
    x[2] = x[5] = zero;
}

#include "inertia_gradient.h"
#include "products_vjp.h"
#include "products_jvp.h"

/* doubles of workspace: of the recursions, then of what the products keep of every body */
static ptrdiff_t NAME(products_size)(const Mechanism *m)
{
    ptrdiff_t body = sizeof(NAME(Adjoint)) > sizeof(NAME(BodyDerivative)) ? sizeof(NAME(Adjoint))
                                                                           : sizeof(NAME(BodyDerivative));
    return NAME(workspace_size)(m) + m->bodies * body / 8;
}

#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Turn
#undef Motion
#undef Pivot
#undef LOWER
#undef SYMMETRIC
