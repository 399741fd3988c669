/* Products of vectors with the derivatives of inverse dynamics in O(n), for one kind of number: Carpentier and Mansard
 * (2018), Analytical derivatives of rigid body dynamics algorithms, contracted. recursions.h lists the names that must
 * be defined. They differentiate the recursion of rnea.h, whose symbols these texts share, along directions (JVP),
 * backwards (VJP), and backwards and then along a direction (HVP): every body in its own axes and about its own origin,
 * so that no inertia is rotated, and velocities are relative to that origin. Derivatives by q are along `integrate`. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/inertias.h"
#include "../dynamics/turns.h"
#include "../dynamics/handovers.h"
#include "../dynamics/rnea.h"
#include "../dynamics/crba.h"
#include "../dynamics/flows.h"
#include "motion_and_forces.h"

/* V, A <- velocity and acceleration of the parent of a body with the motion X, at the body's origin and in its axes */
INLINE void NAME(write_parent_motions)(const Body *b, const Motion *X, const double *v, const double *a, real *V,
                                       real *A)
{
    real s[6], rate[6], turned[3];
    NAME(joint_motion)(b, v + b->v * LANES, s);
    NAME(joint_motion)(b, a + b->v * LANES, rate);
    CROSS(X->w, s, turned);
    EACH(r, 3) {
        V[r] = -s[r];
        V[3 + r] = X->w[r] - s[3 + r];
        A[r] = X->a[r] - rate[r] - turned[r];
    }
    CROSS(X->w, s + 3, turned);
    EACH(r, 3) A[3 + r] = X->rate[r] - rate[3 + r] - turned[r];
}

#include "inertia_gradient.h"
#include "products_vjp.h"
#include "products_jvp.h"
#include "products_hvp.h"

/* doubles of workspace: of the recursions, then of what vjp or jvp keep of every body */
static ptrdiff_t NAME(products_size)(const Mechanism *m)
{
    ptrdiff_t body = sizeof(Adjoint) > sizeof(BodyDerivative) ? sizeof(Adjoint) : sizeof(BodyDerivative);
    return NAME(workspace_size)(m) + m->bodies * body / 8;
}

/* doubles of what hvp keeps of every body */
static ptrdiff_t NAME(curvatures_size)(const Mechanism *m)
{
    return m->bodies * (ptrdiff_t)sizeof(Curvature) / 8;
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
#undef Flow
#undef Adjoint
#undef BodyDerivative
#undef Curvature
#undef LOWER
#undef SYMMETRIC
