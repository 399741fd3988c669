/* Instantiate the kernels of products for one instruction set; products.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/derivatives/products_kernels.h"
#define CONSTANTS_TOO
#include "../common/one_and_lanes.h"

#define FROM(x) ((x) ? (x) + l : NULL)

/* Return the doubles of workspace for all passes: equation_of_motion leaves the turns of each in its own. */
static ptrdiff_t ISA(products_size)(const Mechanism *m)
{
    return LANES / WIDTH * NAME(products_size)(m);
}

static void ISA(equation_of_motion_all)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                        double *H, double *bias, double *workspace)
{
    PASSES CALL(equation_of_motion, q + l, v + l, FROM(fext), H + l, bias + l,
                                    workspace + l / WIDTH * NAME(products_size)(m));
}

static void ISA(vjp_all)(const Mechanism *m, const State *x, ptrdiff_t vectors, const double *w, double *tau,
                         const Gradients *g, double *workspace)
{
    PASSES {
        State state = {FROM(x->q), x->v + l, x->a + l, FROM(x->fext), x->moved};
        Gradients gradients = {g->q + l, g->v + l, FROM(g->a), FROM(g->fext), FROM(g->inertia)};
        CALL(vjp, &state, vectors, w + l, FROM(tau), &gradients,
                  x->q ? workspace : workspace + l / WIDTH * NAME(products_size)(m));
    }
}

static void ISA(jvp_all)(const Mechanism *m, const State *x, ptrdiff_t vectors, const Directions *d, double *tau,
                         double *dtau, double *workspace)
{
    PASSES {
        State state = {FROM(x->q), x->v + l, x->a + l, FROM(x->fext), x->moved};
        Directions along = {FROM(d->q), FROM(d->v), FROM(d->a), FROM(d->fext)};
        CALL(jvp, &state, vectors, &along, FROM(tau), dtau + l,
                  x->q ? workspace : workspace + l / WIDTH * NAME(products_size)(m));
    }
}

/* Return the doubles of workspace of hvp: of the other products for all passes, then what every pass of it keeps. */
static ptrdiff_t ISA(hvp_size)(const Mechanism *m)
{
    return ISA(products_size)(m) + NAME(curvatures_size)(m);
}

static ptrdiff_t ISA(hvp_size_single)(const Mechanism *m)
{
    return ISA(products_size_one)(m) + ISA(curvatures_size_one)(m);
}

static void ISA(hvp_single)(const Mechanism *m, const State *x, const double *w, const Directions *d, const double *dw,
                            int symmetric, double *y_q, double *y_v, double *y_a, double *workspace)
{
    ISA(hvp_one)(m, x, w, d, dw, symmetric, y_q, y_v, y_a, workspace, workspace + ISA(products_size_one)(m));
}

static void ISA(hvp_all)(const Mechanism *m, const State *x, const double *w, const Directions *d, const double *dw,
                         int symmetric, double *y_q, double *y_v, double *y_a, double *workspace)
{
    PASSES {
        State state = {FROM(x->q), x->v + l, x->a + l, FROM(x->fext), x->moved};
        Directions along = {FROM(d->q), FROM(d->v), FROM(d->a), FROM(d->fext)};
        CALL(hvp, &state, w + l, &along, FROM(dw), symmetric, y_q + l, y_v + l, y_a + l,
                  x->q ? workspace : workspace + l / WIDTH * NAME(products_size)(m),
                  workspace + ISA(products_size)(m));
    }
}

const Products ISA(products) = {
    ISA_NAME,
    {ISA(products_size_one), ISA(equation_of_motion_one), ISA(vjp_one), ISA(jvp_one), ISA(hvp_size_single),
     ISA(hvp_single)},
    {ISA(products_size), ISA(equation_of_motion_all), ISA(vjp_all), ISA(jvp_all), ISA(hvp_size),
     ISA(hvp_all)},
};
#undef FROM
#undef WIDTH
#undef KERNELS
#undef CONSTANTS_TOO
