/* Compute rows of loops, see constraints/loops.py; `real` is a double or a register, see spatial.h.
 *
 * An entry of J is the difference of terms that may be far larger, such as the distance of a point from a hinge's axis
 * that passes through it. Where it is within their rounding errors it becomes zero: what is left has no leverage. */
#include "../common/spatial.h"
#include "sizes.h"

typedef struct {
    real R[9], r[3];                 /* in the base: axes of the frame, its origin relative to that of the root body */
    real root[3], V[6], A[6];        /* origin of the root body; the body's velocity and acceleration */
} NAME(End);
#define End NAME(End)

/* Compute the frame of one side of a loop and the motion of its body. */
static void NAME(find_end)(const Loop *loop, int side, const double *frames, End *end)
{
    const real zero = {0};
    const double *R = loop->R + 9 * side, *p = loop->p + 3 * side;
    const double *x = frames + RECORD * loop->body[side] * LANES;
    real axes[9];
    if (loop->body[side] < 0) {      /* the base does not move */
        EACH(e, 9) end->R[e] = zero + R[e];
        EACH(r, 3) end->r[r] = zero + p[r];
        EACH(r, 3) end->root[r] = zero;
        EACH(r, 6) end->V[r] = end->A[r] = zero;
        return;
    }
    EACH(e, 9) axes[e] = READ(x, FIELD(axes) + e);
    EACH(c, 3) ROTATE(axes, R + 3 * c, end->R + 3 * c);
    ROTATE(axes, p, end->r);
    EACH(r, 3) end->r[r] += READ(x, FIELD(origin) + r);
    EACH(r, 3) end->root[r] = READ(x, FIELD(root) + r);
    EACH(r, 6) end->V[r] = READ(x, FIELD(velocity) + r);
    EACH(r, 6) end->A[r] = READ(x, FIELD(acceleration) + r);
}

INLINE real NAME(dot)(int count, const real *a, const real *b)
{
    real sum = a[0] * b[0];
    UNROLL for (int r = 1; r < count; r++) sum += a[r] * b[r];
    return sum;
}

/* Return the size of the terms of positions that the rows of the origins subtract: of both origins, and of the distance
 * of a hinge from the root body. */
static real NAME(reach)(const Closures *c, const Loop *loop, const End *end, const double *frames)
{
    const real zero = {0};
    real sum = zero;
    for (const Entry *e = c->entry + loop->entry; e < c->entry + loop->stop; e++) {
        real motion[6];
        EACH(r, 6) motion[r] = READ(frames, UNIT_MOTION(c->joints, e->freedom) + r);
        sum = NAME(larger)(NAME(size)(motion) * NAME(size)(motion + 3), sum);
    }
    EACH(r, 3) sum += NAME(size_of_difference)(end[0].root[r], end[1].root[r]);
    return sum + NAME(size)(end[0].r) + NAME(size)(end[1].r);
}

/* Compute one row of J, and its J-dot v, from the wrenches W on the first and on the second body, and their rates. The
 * terms of an entry have the size of a unit motion's translation times `linear` plus its rotation times `angular`. A
 * residual that no motion changes becomes zero, too, where it is within its rounding errors. */
static void NAME(write_row)(const Closures *c, const Loop *loop, ptrdiff_t row, const End *end, double linear,
                            real angular, real W[2][6], real rate[2][6], const double *frames, double *residual,
                            double *bias, double *data)
{
    const real zero = {0};
    double *to = data + c->start[row] * LANES;
    real sum = zero, terms = zero, largest = zero;
    for (const Entry *e = c->entry + loop->entry; e < c->entry + loop->stop; e++) {
        real motion[6];
        EACH(r, 6) motion[r] = READ(frames, UNIT_MOTION(c->joints, e->freedom) + r);
        sum += e->ratio * NAME(dot)(6, motion, W[e->side]);
        terms += fabs(e->ratio) * (linear * NAME(size)(motion) + angular * NAME(size)(motion + 3));
        if (e + 1 < c->entry + loop->stop && e[1].place == e->place) continue;
        sum = NAME(zero_below)(sum, c->rounding * terms);
        AT(to, e->place) = sum;
        largest = NAME(larger)(sum * sum, largest);
        sum = terms = zero;
    }
    AT(residual, row) = NAME(zero_below)(READ(residual, row), NAME(where_zero)(largest, c->rounding * angular));
    AT(bias, row) = NAME(dot)(6, end[0].A, W[0]) + NAME(dot)(6, end[1].A, W[1])
                  + NAME(dot)(6, end[0].V, rate[0]) + NAME(dot)(6, end[1].V, rate[1]);
}

/* Compute the rows of the origins: f along the axes of the first frame, the wrenches (f, r x f) and their opposites. */
static void NAME(meet)(const Closures *c, const Loop *loop, const End *end, const double *frames,
                       double *residual, double *bias, double *data)
{
    const real zero = {0}, reach = NAME(reach)(c, loop, end, frames);
    const real *omega = end[0].V + 3;
    real r[2][3], apart[3], velocity[3];  /* of the second origin, as seen from both root bodies */
    EACH(e, 3) r[1][e] = end[1].r[e];
    EACH(e, 3) r[0][e] = end[1].root[e] - end[0].root[e] + end[1].r[e];
    EACH(e, 3) apart[e] = r[0][e] - end[0].r[e];
    EACH(e, 3) velocity[e] = end[1].V[e];
    ADD_CROSS(end[1].V + 3, r[1], velocity);
    for (int axis = 0; axis < 3; axis++) {
        const real *f = end[0].R + 3 * axis;
        real W[2][6], rate[2][6], turned[3] = {zero, zero, zero};
        ADD_CROSS(omega, f, turned);
        for (int side = 0; side < 2; side++) {
            EACH(e, 3) W[side][e] = f[e];
            EACH(e, 3) rate[side][e] = turned[e];
            EACH(e, 3) W[side][3 + e] = rate[side][3 + e] = zero;
            ADD_CROSS(r[side], f, W[side] + 3);
            ADD_CROSS(velocity, f, rate[side] + 3);
            ADD_CROSS(r[side], turned, rate[side] + 3);
        }
        EACH(e, 6) W[0][e] = -W[0][e];
        EACH(e, 6) rate[0][e] = -rate[0][e];
        AT(residual, loop->row + axis) = NAME(dot)(3, f, apart);
        NAME(write_row)(c, loop, loop->row + axis, end, 1.0, reach, W, rate, frames, residual, bias, data);
    }
}

/* Compute the rows of pairs of axes a and b: the moments b x a and their opposites. */
static void NAME(turn)(const Closures *c, const Loop *loop, const End *end, const double *frames,
                       double *residual, double *bias, double *data)
{
    const real zero = {0};
    for (int k = 0; k < loop->pairs; k++) {
        const real *a = end[0].R + 3 * loop->pair[2 * k], *b = end[1].R + 3 * loop->pair[2 * k + 1];
        real W[2][6], rate[2][6], a_rate[3] = {zero, zero, zero}, b_rate[3] = {zero, zero, zero};
        ADD_CROSS(end[0].V + 3, a, a_rate);
        ADD_CROSS(end[1].V + 3, b, b_rate);
        EACH(e, 6) W[1][e] = rate[1][e] = zero;
        ADD_CROSS(b, a, W[1] + 3);
        ADD_CROSS(b_rate, a, rate[1] + 3);
        ADD_CROSS(b, a_rate, rate[1] + 3);
        EACH(e, 6) W[0][e] = -W[1][e];
        EACH(e, 6) rate[0][e] = -rate[1][e];
        AT(residual, loop->row + 3 + k) = NAME(dot)(3, a, b);
        NAME(write_row)(c, loop, loop->row + 3 + k, end, 0.0, zero + 1.0, W, rate, frames, residual, bias, data);
    }
}

static void NAME(rows)(const Closures *c, const double *frames, double *residual, double *bias, double *data)
{
    for (const Loop *loop = c->loop; loop < c->loop + c->loops; loop++) {
        End end[2];
        NAME(find_end)(loop, 0, frames, end);
        NAME(find_end)(loop, 1, frames, end + 1);
        NAME(meet)(c, loop, end, frames, residual, bias, data);
        NAME(turn)(c, loop, end, frames, residual, bias, data);
    }
}

#undef End
