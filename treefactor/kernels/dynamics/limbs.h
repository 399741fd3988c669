/* One configuration whose equal limbs are computed side by side, in LANES lanes of a register. Included for one
 * instruction set, with LANES and NAME(f); on return LANES and NAME are undefined.
 *
 * The recursions are the same text as for one configuration, of a smaller mechanism: each of its bodies is a group of
 * bodies (limb_groups.h), with constants in lanes. Before, the arguments of the bodies are gathered into lanes; after,
 * results are written where they belong. Every number has the bits of the recursion without lanes, because a body adds
 * up what its children hand to it in the same order. */
#include "limb_groups.h"

#undef REAL
#undef OWN_CONSTANTS
#undef CONSTANT
#undef HANDOVERS
#define REAL NAME(Limbs)
#define OWN_CONSTANTS 1
#define CONSTANT REAL
#define HANDOVERS 1

typedef double NAME(Limbs) __attribute__((vector_size(8 * LANES)));
typedef long long NAME(LimbInteger) __attribute__((vector_size(8 * LANES)));

/* The fields of Body that the recursions read, of a group. */
typedef struct {
    ptrdiff_t kind, parent, q, v, freedoms, angle, joint, circle, above, turn, leaf;
    ptrdiff_t only;                  /* group of its only children, each in the lane of its parent; or -1 */
    ptrdiff_t handovers;             /* first of its handovers; the one after the last has from = -1 */
    real ratio, offset, pitch, R[9], p[3], axes[9];
} NAME(LimbBody);

/* Of one child of the body in every lane of a group. */
typedef struct {
    ptrdiff_t from;                  /* group of the children */
    ptrdiff_t straight;              /* 1: every child is in the lane of its parent */
    NAME(LimbInteger) lane;           /* of the child */
    NAME(LimbInteger) valid, nothing; /* all bits and +0; in lanes without a child no bits and -0 */
} NAME(Handover);

typedef struct {
    ptrdiff_t bodies, joints, n, angles, nq, rows;   /* groups, those with forces, freedoms, angles, entries of q, of H */
    ptrdiff_t all;                   /* freedoms of the mechanism without lanes */
    const NAME(LimbBody) *body;
    const NAME(Handover) *handover;
    const ptrdiff_t *start;          /* of packed rows, as in Mechanism */
    const double *inertias, *armature;
    double gravity[3];
    /* from where entries in lanes are gathered: of q, of vectors of freedoms, of external forces the joint */
    const ptrdiff_t *from_q, *from_v, *from_joint;
    /* of every freedom without lanes its place among those in lanes, and that of the first entry of its row of H; and,
     * in n + 1 entries, where this row is to be written */
    const ptrdiff_t *place, *row;
    const ptrdiff_t *to_row;
} NAME(LimbMechanism);

#define Body NAME(LimbBody)
#define Mechanism NAME(LimbMechanism)
#define Handover NAME(Handover)
#define LimbInteger NAME(LimbInteger)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include "own_axes.h"
#include "forget_types.h"
#pragma GCC diagnostic pop
#undef Body
#undef Mechanism

/* to <- x in lanes */
INLINE const double *NAME(gather)(ptrdiff_t entries, const ptrdiff_t *from, const double *x, double **end)
{
    double *to = *end;
    if (!x) return NULL;
    for (ptrdiff_t e = 0; e < entries; e++) {
        real lanes;
        EACH(l, LANES) lanes[l] = x[from[e * LANES + l]];
        AT(to, e) = lanes;
    }
    *end += entries * LANES;
    return to;
}

/* Return six external forces of every group in lanes. */
INLINE const double *NAME(gather_forces)(const NAME(LimbMechanism) *m, const double *fext, double **end)
{
    double *to = *end;
    if (!fext) return NULL;
    for (ptrdiff_t g = 0; g < m->joints; g++)
        EACH(r, 6) {
            real lanes;
            EACH(l, LANES) lanes[l] = fext[6 * m->from_joint[g * LANES + l] + r];
            AT(to, 6 * g + r) = lanes;
        }
    *end += 6 * m->joints * LANES;
    return to;
}

/* y <- the vector x of freedoms in lanes */
INLINE void NAME(scatter)(const NAME(LimbMechanism) *m, const double *x, double *y)
{
    for (ptrdiff_t k = 0; k < m->all; k++) y[k] = x[m->place[k]];
}

/* H <- its packed rows in lanes */
INLINE void NAME(scatter_rows)(const NAME(LimbMechanism) *m, const double *rows, double *H)
{
    for (ptrdiff_t k = 0; k < m->all; k++) {
        const double *row = rows + m->row[k];
        for (ptrdiff_t e = m->to_row[k]; e < m->to_row[k + 1]; e++, row += LANES) H[e] = *row;
    }
}

/* Return the doubles of workspace: arguments and results in lanes, then what the recursions need. */
static ptrdiff_t NAME(side_by_side_size)(const Mechanism *whole)
{
    const NAME(LimbMechanism) *m = whole->limbs;
    return LANES * (m->nq + 4 * m->n + 6 * m->joints + m->rows) + NAME(workspace_size)(m);
}

static void NAME(crba_side_by_side)(const Mechanism *whole, const double *q, double *H, double *workspace)
{
    const NAME(LimbMechanism) *m = whole->limbs;
    double *end = workspace;
    const double *own_q = NAME(gather)(m->nq, m->from_q, q, &end);
    NAME(crba)(m, own_q, end, end + LANES * m->rows);
    NAME(scatter_rows)(m, end, H);
}

static void NAME(rnea_side_by_side)(const Mechanism *whole, const double *q, const double *v, const double *a,
                                    const double *fext, int gravity, double *tau, double *workspace)
{
    const NAME(LimbMechanism) *m = whole->limbs;
    double *end = workspace;
    const double *own_q = NAME(gather)(m->nq, m->from_q, q, &end), *own_v = NAME(gather)(m->n, m->from_v, v, &end);
    const double *own_a = NAME(gather)(m->n, m->from_v, a, &end), *own_fext = NAME(gather_forces)(m, fext, &end);
    NAME(rnea)(m, own_q, own_v, own_a, own_fext, gravity, end, end + LANES * m->n);
    NAME(scatter)(m, end, tau);
}

static void NAME(equation_of_motion_side_by_side)(const Mechanism *whole, const double *q, const double *v,
                                                  const double *fext, double *H, double *bias, double *workspace)
{
    const NAME(LimbMechanism) *m = whole->limbs;
    double *end = workspace;
    const double *own_q = NAME(gather)(m->nq, m->from_q, q, &end), *own_v = NAME(gather)(m->n, m->from_v, v, &end);
    const double *own_fext = NAME(gather_forces)(m, fext, &end);
    double *rows = end + LANES * m->n;
    NAME(equation_of_motion)(m, own_q, own_v, own_fext, rows, end, rows + LANES * m->rows);
    NAME(scatter)(m, end, bias);
    NAME(scatter_rows)(m, rows, H);
}

static void NAME(aba_side_by_side)(const Mechanism *whole, const double *q, const double *v, const double *tau,
                                   const double *fext, double *qdd, double *D, double *workspace)
{
    const NAME(LimbMechanism) *m = whole->limbs;
    double *end = workspace;
    const double *own_q = NAME(gather)(m->nq, m->from_q, q, &end), *own_v = NAME(gather)(m->n, m->from_v, v, &end);
    const double *own_tau = NAME(gather)(m->n, m->from_v, tau, &end), *own_fext = NAME(gather_forces)(m, fext, &end);
    double *own_D = end + LANES * m->n;
    NAME(aba)(m, own_q, own_v, own_tau, own_fext, end, own_D, own_D + LANES * m->n);
    NAME(scatter)(m, end, qdd);
    NAME(scatter)(m, own_D, D);
}

#include "fold.h"

#undef Handover
#undef LimbInteger
#undef HANDOVERS
#undef CONSTANT
#undef OWN_CONSTANTS
#undef REAL
#undef LANES
#undef NAME
