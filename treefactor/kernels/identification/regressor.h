/* Instantiate the kernels of regressors for one instruction set; regressor.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define ELEMENT double
#define INDEX long long
#define SIDE (REGISTER == 16 ? 2 : 4)
#define TILED(f) ISA(f##_tile)
#include "../common/transpose.h"

typedef double ISA(Lanes) __attribute__((vector_size(REGISTER), may_alias));

/* Transpose `count` entries, an even number up to SIDE, of SIDE lanes from lane l on into rows from y on. */
INLINE void ISA(put_tile)(int count, const ISA(Lanes) *x, int l, double *y, ptrdiff_t to_next)
{
    TILED(row) T[SIDE];
    UNROLL for (int i = 0; i < SIDE; i++) {
        const ISA(Lanes) zero = {0}, entry = i < count ? x[i] : zero;
        memcpy(&T[i], (const double *)&entry + l, sizeof T[i]);
    }
    TILED(transpose)(T);
    UNROLL for (int i = 0; i < SIDE; i++) memcpy(y + i * to_next, &T[i], count * sizeof(double));
}

/* Write `count` entries, 2 or 4, into rows from y on, one for every lane of a register. */
INLINE void ISA(put_in_rows)(int count, const ISA(Lanes) *x, double *y, ptrdiff_t to_next)
{
    UNROLL for (int l = 0; l < WIDTH; l += SIDE) UNROLL for (int e = 0; e < count; e += SIDE)
        ISA(put_tile)(count - e < SIDE ? count - e : SIDE, x + e, l, y + l * to_next + e, to_next);
}

#define KERNELS "kernels/identification/regressor_kernels.h"
#include "../common/one_and_lanes.h"

/* Return the doubles of workspace for all passes. */
static ptrdiff_t ISA(regressor_size)(const Mechanism *m)
{
    return LANES / WIDTH * NAME(path_workspace_size)(m);
}

static void ISA(one_regressor)(const Mechanism *m, const double *q, const double *v, const double *a, int gravity,
                               const ColumnOrder *order, const ptrdiff_t *to, double *Y, ptrdiff_t to_next,
                               double *workspace)
{
    const ISA(PathWorkspace_one) w = ISA(carve_path_workspace_one)(m, workspace);
    ISA(Target_one) target = {to, Y, to_next};
    ISA(compute_angles_one)(m, q, &w.w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++)
        ISA(write_body_in_lanes_one)(m, i, &w, q, v, a, gravity, order, &target);
}

/* Into rows one pass after the other, so that as few rows as possible are written at a time; into lanes all passes of a
 * body in turn: they write parts of the same cache lines. */
static void ISA(regressor_all)(const Mechanism *m, const double *q, const double *v, const double *a, int gravity,
                               const ColumnOrder *order, const ptrdiff_t *to, double *Y, ptrdiff_t to_next,
                               double *workspace)
{
    NAME(PathWorkspace) w[LANES / WIDTH];
    NAME(Target) target[LANES / WIDTH];
    PASSES {
        w[l / WIDTH] = NAME(carve_path_workspace)(m, workspace + l / WIDTH * NAME(path_workspace_size)(m));
        target[l / WIDTH] = (NAME(Target)){to, to_next ? Y + l * to_next : Y + l, to_next};
        NAME(compute_angles)(m, q + l, &w[l / WIDTH].w.angles);
    }
#define BODY(where) NAME(write_body_in_##where)(m, i, w + l / WIDTH, q + l, v ? v + l : NULL, a + l, gravity, order, \
                                                target + l / WIDTH)
    if (to_next) PASSES for (ptrdiff_t i = 0; i < m->bodies; i++) BODY(rows);
    else for (ptrdiff_t i = 0; i < m->bodies; i++) PASSES BODY(lanes);
#undef BODY
}

static void ISA(gravity_all)(const Mechanism *m, const double *q, const ColumnOrder *order, const ptrdiff_t *to,
                             double *Y, double *workspace)
{
    PASSES NAME(gravity)(m, q + l, order, to, Y + l, workspace);
}

static void ISA(transpose_times_all)(const Mechanism *m, const double *q, const double *v, const double *a,
                                     const double *lam, double *g, double *workspace)
{
    PASSES NAME(transpose_times)(m, q + l, v + l, a + l, lam + l, g + l, workspace);
}

static void ISA(kinetic_energy_row_all)(const Mechanism *m, const double *q, const double *v, double *row,
                                        double *workspace)
{
    PASSES NAME(kinetic_energy_row)(m, q + l, v + l, row + l, workspace);
}

static void ISA(potential_energy_row_all)(const Mechanism *m, const double *q, double *row, double *workspace)
{
    PASSES NAME(potential_energy_row)(m, q + l, row + l, workspace);
}

static void ISA(center_of_mass_all)(const Mechanism *m, const double *q, double *Y, double *workspace)
{
    PASSES NAME(center_of_mass)(m, q + l, Y + l, workspace);
}

const Regressors ISA(regressors) = {
    ISA_NAME,
    {ISA(path_workspace_size_one), ISA(one_regressor), ISA(gravity_one), ISA(transpose_times_one),
     ISA(kinetic_energy_row_one), ISA(potential_energy_row_one), ISA(center_of_mass_one)},
    {ISA(regressor_size), ISA(regressor_all), ISA(gravity_all), ISA(transpose_times_all),
     ISA(kinetic_energy_row_all), ISA(potential_energy_row_all), ISA(center_of_mass_all)},
};
#undef WIDTH
#undef KERNELS
#undef ELEMENT
#undef INDEX
#undef SIDE
#undef TILED
