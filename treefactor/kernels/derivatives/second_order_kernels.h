/* Second derivatives of phi = w . (inverse dynamics) as matrices, and those of forward dynamics, for one kind of number.
 * products_hvp.h computes their products with vectors. */
#include "../dynamics/workspace.h"
#include "../common/motion_cross.h"
#include "../dynamics/placements.h"
#include "../dynamics/inertias.h"
#include "../dynamics/forces.h"
#include "../dynamics/momenta.h"

/* Fill w->V, w->A and w->F of all bodies. */
static void NAME(body_forces)(const Mechanism *m, const Workspace *w, const double *v, const double *a,
                              const double *fext, int gravity)
{
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(write_force)(m, i, w, v, a, fext, gravity);
}

#include "hessian.h"
#include "forward_hessian.h"

static ptrdiff_t NAME(second_order_size)(const Mechanism *m)
{
    return NAME(workspace_size)(m) + (ptrdiff_t)(m->bodies * sizeof(Adjoint) + m->n * sizeof(Rates)) / 8;
}

#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Momentum
#undef Adjoint
#undef Rates
#undef Wrenches
#undef Targets
#undef LOWER
