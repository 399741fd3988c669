/* Kernels of requests, for one kind of number; see one_and_lanes.h for the names that must be defined.
 *
 * Vectors are expressed in the axes of the base. Positions are measured from the origin of the root body of each
 * tree, whose own position is added last: no digit is lost far from the base. Body -1 is the base. */
#include "../common/spatial.h"
#include "../common/finite.h"
#include "../common/motion_cross.h"
#include "../dynamics/joints.h"
#include "paths.h"
#include "frames.h"
#include "subtrees.h"
#include "centroidal.h"
#include "derivatives.h"

/* Return the doubles of all structs of one part of the lanes, apart from its angles. */
INLINE ptrdiff_t NAME(part_size)(const Plan *plan)
{
    ptrdiff_t body = sizeof(Place) + sizeof(Point) + plan->order * sizeof(Motion);
    if (plan->sums) body += (2 + plan->order) * sizeof(Point) + (plan->sums - FIRST_MOMENTS) * sizeof(Tensor);
    /* L and N, of MOMENTS, are two points: as much as a tensor */
    return (plan->m.bodies + 1) * body / 8;
}

static ptrdiff_t NAME(workspace_size)(const Plan *plan)
{
    return PARTS * NAME(part_size)(plan) + 3 * LANES * plan->m.angles;
}

/* Return the structs of part k of the lanes; the angles of all parts follow one another. */
static Work NAME(carve_work)(const Plan *plan, int k, double *workspace)
{
    const Mechanism *m = &plan->m;
    const ptrdiff_t bodies = m->bodies + 1, size = NAME(part_size)(plan);
    Work w;
    w.angles.angle = (real *)(workspace + PARTS * size) + k * m->angles;
    w.angles.sine = w.angles.angle + PARTS * m->angles;
    w.angles.cosine = w.angles.sine + PARTS * m->angles;
    w.X = (Place *)(workspace + k * size) + 1;
    w.root = (Point *)(w.X - 1 + bodies) + 1;
    w.V = (Motion *)(w.root - 1 + bodies) + 1;
    w.A = w.V + bodies;
    w.arm = (Point *)(w.V - 1 + plan->order * bodies) + 1;
    w.h = w.arm + bodies;
    w.P = w.h + bodies;
    w.F = w.P + bodies;
    w.J = (Tensor *)(w.arm - 1 + (plan->sums ? 2 + plan->order : 0) * bodies) + 1;
    w.dJ = w.J + bodies;
    w.L = (Point *)(w.dJ - 1 + bodies) + 1;
    w.N = w.L + bodies;
    return w;
}

/* x[item] <- the results of every item; v = NULL or a = NULL means zero */
SCALAR static void NAME(compute)(const Plan *plan, const double *q, const double *v, const double *a, double *const *x,
                                 double *workspace)
{
    Work w[PARTS];
    for (int k = 0; k < PARTS; k++) w[k] = NAME(carve_work)(plan, k, workspace);
    NAME(place)(plan, q, w);
    for (int k = 0; k < PARTS; k++) {
        if (plan->order > 0) NAME(move)(plan, v ? v + k * PART : NULL, a ? a + k * PART : NULL, w + k);
        if (plan->sums) NAME(weigh)(plan, w + k);
        if (plan->arms) NAME(find_arms)(plan, w + k);
    }
    for (const Output *o = plan->output; o < plan->output + plan->outputs; o++) {
        double *to = x[o->item] + o->first[LANES > 1] * LANES;
        if (o->kind >= COM_DERIVATIVES)
            for (int k = 0; k < PARTS; k++) NAME(write_derivatives)(plan, w + k, o, k, x);
        else if (o->kind == FRAME_JACOBIAN) NAME(write_jacobian)(plan, w, o, to);
        else if (o->kind < CENTER_OF_MASS) for (int k = 0; k < PARTS; k++) NAME(write_output)(plan, w + k, o, to + k * PART);
        else for (int k = 0; k < PARTS; k++) NAME(write_masses)(plan, w + k, o, to + k * PART);
    }
}

#undef Angles
#undef Place
#undef Point
#undef Motion
#undef Tensor
#undef Work
#undef PART
#undef PARTS
