/* All recursions for one instruction set: included by dynamics.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define REAL double
#define LANES 1
#define NAME(f) ISA(f##_one)
#include "recursions.h"
#undef REAL
#undef LANES
#undef NAME

typedef double ISA(Register) __attribute__((vector_size(REGISTER)));
#define REAL ISA(Register)
#define LANES 8
#define NAME(f) ISA(f##_lanes)
#include "recursions.h"

/* All lanes, a register's width after the other. */
#define PASSES for (int l = 0; l < LANES; l += WIDTH)
#define FROM(x) ((x) ? (x) + l : NULL)

static void ISA(crba_all)(const Mechanism *m, const double *q, double *H, double *room)
{
    PASSES NAME(crba)(m, q + l, H + l, room);
}

static void ISA(rnea_all)(const Mechanism *m, const double *q, const double *v, const double *a, const double *fext,
                          int gravity, double *tau, double *room)
{
    PASSES NAME(rnea)(m, q + l, FROM(v), FROM(a), FROM(fext), gravity, tau + l, room);
}

static void ISA(motion_all)(const Mechanism *m, const double *q, const double *v, const double *fext, double *H,
                            double *bias, double *room)
{
    PASSES NAME(motion)(m, q + l, FROM(v), FROM(fext), H + l, bias + l, room);
}

static void ISA(aba_all)(const Mechanism *m, const double *q, const double *v, const double *tau,
                         const double *fext, double *qdd, double *D, double *room)
{
    PASSES NAME(aba)(m, q + l, FROM(v), tau + l, FROM(fext), qdd + l, D + l, room);
}

static void ISA(frames_all)(const Mechanism *m, const double *q, const double *v, double *frames, double *room)
{
    PASSES NAME(frames)(m, q + l, FROM(v), frames + l, room);
}

const Dynamics ISA(dynamics) = {
    ISA_NAME,
    {ISA(room_one), ISA(crba_one), ISA(rnea_one), ISA(motion_one), ISA(aba_one), ISA(frames_one)},
    {NAME(room), ISA(crba_all), ISA(rnea_all), ISA(motion_all), ISA(aba_all), ISA(frames_all)},
    ISA(sincos),
};

#undef REAL
#undef LANES
#undef NAME
#undef WIDTH
#undef PASSES
#undef FROM
