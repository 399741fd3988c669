/* Instantiate the kernels of regressors for one instruction set; regressor.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"

#define KERNELS "kernels/identification/regressor_kernels.h"
#include "../common/one_and_lanes.h"

/* Return the doubles of workspace for all passes. */
static ptrdiff_t ISA(regressor_size)(const Mechanism *m)
{
    return LANES / WIDTH * NAME(workspace_size)(m);
}

static void ISA(one_regressor)(const Mechanism *m, const double *q, const double *v, const double *a, int gravity,
                               const ptrdiff_t *to, double *Y, const PairRows *rows, double *workspace)
{
    const ISA(Workspace_one) w = ISA(bodies_in_motion_one)(m, q, v, a, gravity, workspace);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        if (m->body[i].joint < 0) continue;
        ISA(write_body_one)(m, i, &w, v != NULL, to, Y);
        to += m->body[i].above + m->body[i].freedoms;
    }
}

#define ELEMENT double
#define INDEX long long
#define SIDE (REGISTER == 16 ? 2 : 4)
#define TILED(f) ISA(f##_tile)
#include "../common/transpose.h"

INLINE void ISA(store_tile)(const double *Y, double *y, ptrdiff_t to_next)
{
    TILED(row) T[SIDE];
    UNROLL for (int i = 0; i < SIDE; i++) T[i] = *(const TILED(row) *)(Y + i * LANES);
    TILED(transpose)(T);
    UNROLL for (int i = 0; i < SIDE; i++) memcpy(y + i * to_next, &T[i], sizeof(TILED(row)));
}

/* Write `size` entries of rows, which begin at y. SIDE rows at a time: eight can fall into the same lines of the cache. */
INLINE void ISA(store_entries)(const PairRows *rows, ptrdiff_t size, const double *Y, double *y)
{
    const ptrdiff_t to_next = rows->to_next;
    if (rows->count < LANES) {
        for (int l = 0; l < rows->count; l++)
            for (ptrdiff_t e = 0; e < size; e++) y[l * to_next + e] = Y[e * LANES + l];
        return;
    }
    for (int l = 0; l < LANES; l += SIDE, y += SIDE * to_next) {
        for (ptrdiff_t e = 0; e + SIDE <= size; e += SIDE) ISA(store_tile)(Y + e * LANES + l, y + e, to_next);
        if (size % SIDE) ISA(store_tile)(Y + (size - SIDE) * LANES + l, y + size - SIDE, to_next);
    }
}

/* Store `count` pairs, together those that follow each other in a row. */
static void ISA(store_pairs)(const PairRows *rows, const ptrdiff_t *place, ptrdiff_t count, const double *Y)
{
    for (ptrdiff_t e = 0, stop; e < count; e = stop) {
        for (stop = e + 1; stop < count && place[stop] == place[stop - 1] + 10;) stop++;
        ISA(store_entries)(rows, 10 * (stop - e), Y + 10 * e * LANES, rows->to + place[e]);
    }
}

/* All passes of a body in turn: they write parts of the same cache lines. */
static void ISA(regressor_all)(const Mechanism *m, const double *q, const double *v, const double *a, int gravity,
                               const ptrdiff_t *to, double *Y, const PairRows *rows, double *workspace)
{
    const ptrdiff_t *place = rows ? rows->place : NULL;
    NAME(Workspace) w[LANES / WIDTH];
    PASSES w[l / WIDTH] = NAME(bodies_in_motion)(m, q + l, v ? v + l : NULL, a + l, gravity,
                                                 workspace + l / WIDTH * NAME(workspace_size)(m));
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const ptrdiff_t pairs = m->body[i].above + m->body[i].freedoms;
        if (m->body[i].joint < 0) continue;
        PASSES NAME(write_body)(m, i, w + l / WIDTH, v != NULL, to, Y + l);
        if (!rows) to += pairs;
        else {
            ISA(store_pairs)(rows, place, pairs, Y);
            place += pairs;
        }
    }
}

static void ISA(gravity_all)(const Mechanism *m, const double *q, const ptrdiff_t *to, double *Y, double *workspace)
{
    PASSES NAME(gravity)(m, q + l, to, Y + l, workspace);
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
    {ISA(workspace_size_one), ISA(one_regressor), ISA(gravity_one), ISA(transpose_times_one),
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
