/* Differences of configurations: the logarithm of every group, as Pinocchio's, and what is computed from it. steps.h
 * stands before it.
 *
 *     for each group of coordinates:   difference: result = log(q0^-1 q1)
 */
#include "../common/finite.h"

/* v <- log(q^-1 x), of one group */
INLINE void NAME(step_between)(ptrdiff_t group, const real *q, const real *x, real *v)
{
    real second, turned[4], moved[3], back[3];
    switch (group) {
    case CIRCLE:
        v[0] = NAME(arctangent)(q[0] * x[1] - q[1] * x[0], q[0] * x[0] + q[1] * x[1]);
        return;
    case SPHERE:
        EACH(r, 3) back[r] = -q[r];
        NAME(quaternion_product)(back, q[3], x, turned);
        NAME(log_quaternion)(turned, v, &second);
        return;
    case PLANE: {
        real circle[2] = {q[2] * x[2] + q[3] * x[3], q[2] * x[3] - q[3] * x[2]}, zero = {0};
        NAME(correct_length)(circle, 2);
        v[2] = NAME(arctangent)(circle[1], circle[0]);
        real c = circle[0], s = NAME(absolute)(circle[1]), angle = NAME(at_least_tiny)(NAME(absolute)(v[2]));
        real above = SELECT(c > zero, 1.0 + c, s);          /* cot(x/2), from the half that does not cancel */
        real under = SELECT(c > zero, NAME(at_least_tiny)(s), 1.0 - c);
        second = v[2] * v[2] * NAME(cotangent)(angle, above / under);
        real dx = x[0] - q[0], dy = x[1] - q[1];
        moved[0] = q[2] * dx + q[3] * dy;
        moved[1] = q[2] * dy - q[3] * dx;
        v[0] = moved[0] + 0.5 * v[2] * moved[1] - second * moved[0];
        v[1] = moved[1] - 0.5 * v[2] * moved[0] - second * moved[1];
        return;
    }
    default:
        EACH(r, 3) back[r] = -q[3 + r];
        NAME(quaternion_product)(back, q[6], x + 3, turned);
        NAME(log_quaternion)(turned, v + 3, &second);
        EACH(r, 3) moved[r] = x[r] - q[r];
        NAME(turn)(back, q[6], moved, moved);
        NAME(add_turns)(v + 3, 0.0 * second - 0.5, second, moved, v);
    }
}

static void NAME(difference)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                             double *result)
{
    real x[7], y[7], d[6];
    for (const Coordinates *end = c + count; c < end; c++)
        switch (c->group) {
        case LINEAR:
            for (ptrdiff_t e = 0; e < c->nq; e++) AT(result, c->v + e) = READ(q1, c->q + e) - READ(q0, c->q + e);
            break;
#define ACTION(group, nq, nv) \
    FETCH(x, q0, c->q, nq); FETCH(y, q1, c->q, nq); \
    NAME(step_between)(group, x, y, d); PUT(d, result, c->v, nv);
        EACH_GROUP(ACTION)
#undef ACTION
        }
}

static void NAME(interpolate)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                              const double *u, double *result)
{
    real x[7], y[7], d[6], part = READ(u, 0);
    for (const Coordinates *end = c + count; c < end; c++)
        switch (c->group) {
        case LINEAR:
            for (ptrdiff_t e = 0; e < c->nq; e++)
                AT(result, c->q + e) = READ(q0, c->q + e) + part * (READ(q1, c->q + e) - READ(q0, c->q + e));
            break;
#define ACTION(group, nq, nv) \
    FETCH(x, q0, c->q, nq); FETCH(y, q1, c->q, nq); \
    NAME(step_between)(group, x, y, d); \
    EACH(e, nv) d[e] *= part; \
    NAME(step)(group, x, d, y); PUT(y, result, c->q, nq);
        EACH_GROUP(ACTION)
#undef ACTION
        }
}

/* Return the squared length of the difference of one Coordinates. */
INLINE real NAME(squared_difference)(const Coordinates *c, const double *q0, const double *q1)
{
    real x[7], y[7], d[6], sum = {0};
    switch (c->group) {
    case LINEAR:
        for (ptrdiff_t e = c->q; e < c->q + c->nq; e++) {
            real change = READ(q1, e) - READ(q0, e);
            sum += change * change;
        }
        break;
#define ACTION(group, nq, nv) \
    FETCH(x, q0, c->q, nq); FETCH(y, q1, c->q, nq); \
    NAME(step_between)(group, x, y, d); \
    EACH(e, nv) sum += d[e] * d[e];
    EACH_GROUP(ACTION)
#undef ACTION
    }
    return sum;
}

static void NAME(squared_distance)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                                   double *result)
{
    for (ptrdiff_t j = 0; j < count; j++) AT(result, j) = NAME(squared_difference)(c + j, q0, q1);
}

/* Compute the length of the difference. */
static void NAME(distance)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1, double *result)
{
    real sum = {0};
    for (const Coordinates *end = c + count; c < end; c++)
        sum += NAME(squared_difference)(c, q0, q1);
    AT(result, 0) = NAME(root)(sum);
}

/* result <- 1 where no entry of q differs by more than the tolerance, times the entry if that exceeds 1; else 0.
 * Quaternions are compared up to their sign. */
static void NAME(is_same)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                          const double *tolerance, double *result)
{
    real most = READ(tolerance, 0), same = {0}, none = {0}, one = {0};
    same += 1.0;
    one += 1.0;
    for (const Coordinates *end = c + count; c < end; c++) {
        const ptrdiff_t last = c->q + c->nq, turned = c->group == SPHERE || c->group == SPACE ? last - 4 : last;
        real along = {0};
        for (ptrdiff_t e = turned; e < last; e++) along += READ(q0, e) * READ(q1, e);
        for (ptrdiff_t e = c->q; e < last; e++) {
            real x = READ(q0, e), y = READ(q1, e);
            if (e >= turned) y = SELECT(along < none, -y, y);
            real d = NAME(absolute)(x - y);
            x = NAME(absolute)(x);
            same = SELECT(d <= most * SELECT(x > one, x, one), same, none);
#if LANES == 1
            if (same == 0.0) {
                AT(result, 0) = same;
                return;
            }
#endif
        }
    }
    AT(result, 0) = same;
}

static void NAME(normalize)(const Coordinates *c, ptrdiff_t count, const double *q, double *result)
{
    real x[7];
    for (const Coordinates *end = c + count; c < end; c++)
        switch (c->group) {
        case LINEAR:
            for (ptrdiff_t e = c->q; e < c->q + c->nq; e++) AT(result, e) = READ(q, e);
            break;
#define ACTION(group, nq, nv) \
    FETCH(x, q, c->q, nq); \
    if (nv == 1 || group == PLANE) NAME(make_unit)(x + nq - 2, 2); \
    else NAME(make_unit)(x + nq - 4, 4); \
    PUT(x, result, c->q, nq);
        EACH_GROUP(ACTION)
#undef ACTION
        }
}

/* doubt <- doubt + 0 where all entries are finite and all rotations have unit length; + another number elsewhere */
static void NAME(add_doubt)(const Coordinates *c, ptrdiff_t count, const double *x, ptrdiff_t entries,
                            double tolerance, double *doubt)
{
    const real zero = {0}, one = 1.0 + zero;
    real sum = NAME(doubt_finite)(x, entries);
    for (const Coordinates *end = c + count; c < end; c++) {
        if (c->group == LINEAR) continue;
        const ptrdiff_t last = c->q + c->nq;
        real error = zero - 1.0;
        for (ptrdiff_t e = last - (c->group == CIRCLE || c->group == PLANE ? 2 : 4); e < last; e++)
            error += READ(x, e) * READ(x, e);
        sum += SELECT(NAME(absolute)(error) <= tolerance, zero, one);
    }
    AT(doubt, 0) += sum;
}
