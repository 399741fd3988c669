/* Instantiates all recursions for one instruction set; dynamics.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/dynamics/recursions.h"
#define CONSTANTS_TOO
#include "../common/one_and_lanes.h"

#define FROM(x) ((x) ? (x) + l : NULL)

static void ISA(crba_all)(const Mechanism *m, const double *q, double *H, double *workspace)
{
    PASSES CALL(crba, q + l, H + l, workspace);
}

static void ISA(rnea_all)(const Mechanism *m, const double *q, const double *v, const double *a, const double *fext,
                          int gravity, double *tau, double *workspace)
{
    PASSES CALL(rnea, q + l, FROM(v), FROM(a), FROM(fext), gravity, tau + l, workspace);
}

static void ISA(reactions_all)(const Mechanism *m, const double *q, const double *v, const double *a,
                               const double *fext, double *joints, double *base, double *workspace)
{
    PASSES CALL(reactions, q + l, FROM(v), FROM(a), FROM(fext), FROM(joints), FROM(base), workspace);
}

static void ISA(equation_of_motion_all)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                        double *H, double *bias, double *workspace)
{
    PASSES CALL(equation_of_motion, q + l, FROM(v), FROM(fext), H + l, bias + l, workspace);
}

static void ISA(aba_all)(const Mechanism *m, const double *q, const double *v, const double *tau,
                         const double *fext, double *qdd, double *D, double *workspace)
{
    PASSES CALL(aba, q + l, FROM(v), tau + l, FROM(fext), qdd + l, D + l, workspace);
}

static void ISA(frames_all)(const Mechanism *m, const double *q, const double *v, double *frames, double *workspace)
{
    PASSES CALL(frames, q + l, FROM(v), frames + l, workspace);
}

static void ISA(static_forces_all)(const Mechanism *m, const double *q, const double *fext, double *tau,
                                   double *workspace)
{
    PASSES CALL(static_forces, q + l, FROM(fext), tau + l, workspace);
}

static void ISA(energy_all)(const Mechanism *m, const double *q, const double *v, int potential, double *energy,
                            double *workspace)
{
    PASSES CALL(energy, q + l, FROM(v), potential, energy + l, workspace);
}

static void ISA(coriolis_all)(const Mechanism *m, const double *q, const double *v, double *C, double *workspace)
{
    PASSES CALL(coriolis, q + l, v + l, C + l, workspace);
}

static int ISA(are_pivots)(ptrdiff_t entries, const double *D)
{
    ISA(I) wrong = {0};
    for (ptrdiff_t i = 0; i < entries * LANES; i += WIDTH) {
        ISA(Register) d = READ_AS(ISA(Register), D + i);
        wrong |= ~((d > 0.0) & (d <= DBL_MAX));
    }
    return !ANY_LANE(wrong);
}

#undef LANES
#undef NAME
#define LANES 2
#define NAME(f) ISA(f##_pairs)
#include "limbs.h"

#if WIDTH >= 4
#define LANES 4
#define NAME(f) ISA(f##_fours)
#include "limbs.h"
#define MOST_LIMBS 4
#define IN_LIMBS(f, ...) (m->limb_lanes == 2 ? ISA(f##_pairs) : ISA(f##_fours))(__VA_ARGS__)
#else
#define MOST_LIMBS 2
#define IN_LIMBS(f, ...) ISA(f##_pairs)(__VA_ARGS__)
#endif

static int ISA(best_limb_lanes)(const Mechanism *m) { return best_lanes(m->body, m->bodies, MOST_LIMBS); }

static ptrdiff_t ISA(fold)(const Mechanism *m, double *memory) { return IN_LIMBS(fold, m, memory); }

/* Recursions for one configuration, with equal limbs side by side or not. */

static ptrdiff_t ISA(workspace_size_any)(const Mechanism *m)
{
    const ptrdiff_t one = ISA(workspace_size_one)(m), limbs = m->limb_lanes ? IN_LIMBS(side_by_side_size, m) : 0;
    return one > limbs ? one : limbs;
}

static void ISA(crba_any)(const Mechanism *m, const double *q, double *H, double *workspace)
{
    if (m->limb_lanes) IN_LIMBS(crba_side_by_side, m, q, H, workspace);
    else ISA(crba_one)(m, q, H, workspace);
}

static void ISA(rnea_any)(const Mechanism *m, const double *q, const double *v, const double *a, const double *fext,
                          int gravity, double *tau, double *workspace)
{
    if (m->limb_lanes) IN_LIMBS(rnea_side_by_side, m, q, v, a, fext, gravity, tau, workspace);
    else ISA(rnea_one)(m, q, v, a, fext, gravity, tau, workspace);
}

static void ISA(equation_of_motion_any)(const Mechanism *m, const double *q, const double *v, const double *fext,
                                        double *H, double *bias, double *workspace)
{
    if (m->limb_lanes) IN_LIMBS(equation_of_motion_side_by_side, m, q, v, fext, H, bias, workspace);
    else ISA(equation_of_motion_one)(m, q, v, fext, H, bias, workspace);
}

static void ISA(aba_any)(const Mechanism *m, const double *q, const double *v, const double *tau, const double *fext,
                         double *qdd, double *D, double *workspace)
{
    if (m->limb_lanes) IN_LIMBS(aba_side_by_side, m, q, v, tau, fext, qdd, D, workspace);
    else ISA(aba_one)(m, q, v, tau, fext, qdd, D, workspace);
}

const Dynamics ISA(dynamics) = {
    ISA_NAME,
    {ISA(workspace_size_any), ISA(crba_any), ISA(rnea_any), ISA(reactions_one), ISA(equation_of_motion_any), ISA(aba_any),
     ISA(frames_one), ISA(static_forces_one), ISA(energy_one), ISA(coriolis_one)},
    {ISA(workspace_size_lanes), ISA(crba_all), ISA(rnea_all), ISA(reactions_all), ISA(equation_of_motion_all),
     ISA(aba_all), ISA(frames_all), ISA(static_forces_all), ISA(energy_all), ISA(coriolis_all)},
    ISA(sincos), ISA(are_pivots), ISA(best_limb_lanes), ISA(fold),
};

#undef IN_LIMBS
#undef MOST_LIMBS
