/* Steps between configurations: the exponential map of every group and its inverse, as Pinocchio's. Included with
 *     REAL   LANES   WIDTH   NAME(f)   ISA(f)
 *
 *     for each group of coordinates:   integrate: result = q exp(h v),   difference: result = log(q0^-1 q1)
 */
#include "../common/spatial.h"
#include "../common/finite.h"
#include "../common/rotations.h"

/* circle <- circle, scaled to unit length, turned by twice the angle with sine s and cosine c; in one sum, as
 * quaternion_step */
INLINE void NAME(turn_circle)(real *circle, real s, real c)
{
    real less = NAME(length_correction)(circle, 1, circle[1]), scale = 1.0 + less;
    real sine = 2.0 * s * c, change = -2.0 * s * s;
    real x = circle[0] + (less * circle[0] + scale * (change * circle[0] - sine * circle[1]));
    circle[1] += less * circle[1] + scale * (change * circle[1] + sine * circle[0]);
    circle[0] = x;
}

/* x <- q exp(v), of one group */
INLINE void NAME(step)(ptrdiff_t group, const real *q, const real *v, real *x)
{
    real s, c, first, second, turned[4], moved[3];
    switch (group) {
    case CIRCLE:
        NAME(sine_and_cosine)(0.5 * v[0], &s, &c);
        EACH(r, 2) x[r] = q[r];
        NAME(turn_circle)(x, s, c);
        return;
    case SPHERE:
        NAME(exp_less_one)(v, turned, &first, &second);
        NAME(quaternion_step)(q, q[3], turned, x);
        return;
    case PLANE: {
        real angle = NAME(at_least_tiny)(NAME(absolute)(v[2])), flat[2], zero = {0};
        NAME(sine_and_cosine)(0.5 * v[2], &s, &c);
        real inverse = 1.0 / angle, half = s * inverse;     /* (1 - cos x) / x^2 = 2 half^2 */
        first = 2.0 * half * half * v[2];
        second = v[2] * v[2] * NAME(third)(angle, 2.0 * c * SELECT(v[2] < zero, -s, s), inverse);
        flat[0] = v[0] - first * v[1] - second * v[0];
        flat[1] = v[1] + first * v[0] - second * v[1];
        x[0] = q[0] + (q[2] * flat[0] - q[3] * flat[1]);
        x[1] = q[1] + (q[3] * flat[0] + q[2] * flat[1]);
        EACH(r, 2) x[2 + r] = q[2 + r];
        NAME(turn_circle)(x + 2, s, c);
        return;
    }
    default:
        NAME(exp_less_one)(v + 3, turned, &first, &second);
        NAME(add_turns)(v + 3, first, second, v, moved);
        NAME(turn)(q + 3, q[6], moved, moved);
        EACH(r, 3) x[r] = q[r] + moved[r];
        NAME(quaternion_step)(q + 3, q[6], turned, x + 3);
        real along = q[3] * x[3] + q[4] * x[4] + q[5] * x[5] + q[6] * x[6], zero = {0};
        EACH(r, 4) x[3 + r] = SELECT(along < zero, -x[3 + r], x[3 + r]);   /* the nearer of both, as Pinocchio */
    }
}

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

/* local <- `count` entries of an array from entry `first` on */
#define FETCH(local, x, first, count) \
    for (ptrdiff_t e_ = 0; e_ < (count); e_++) (local)[e_] = READ(x, (first) + e_)
#define PUT(local, x, first, count) \
    for (ptrdiff_t e_ = 0; e_ < (count); e_++) AT(x, (first) + e_) = (local)[e_]

/* Defines a case per curved group, so that its numbers of entries are constants: ACTION(group, nq, nv). */
#define EACH_GROUP(ACTION) \
    case CIRCLE: ACTION(CIRCLE, 2, 1) break; \
    case SPHERE: ACTION(SPHERE, 4, 3) break; \
    case PLANE: ACTION(PLANE, 4, 3) break; \
    case SPACE: ACTION(SPACE, 7, 6) break;

static void NAME(integrate)(const Coordinates *c, ptrdiff_t count, const double *q, const double *v, double h,
                            double *result)
{
    real x[7], d[6], y[7];
    for (const Coordinates *end = c + count; c < end; c++)
        switch (c->group) {
        case LINEAR:
            for (ptrdiff_t e = 0; e < c->nq; e++) AT(result, c->q + e) = READ(q, c->q + e) + h * READ(v, c->v + e);
            break;
#define ACTION(group, nq, nv) \
    FETCH(x, q, c->q, nq); FETCH(d, v, c->v, nv); \
    EACH(e, nv) d[e] *= h; \
    NAME(step)(group, x, d, y); PUT(y, result, c->q, nq);
        EACH_GROUP(ACTION)
#undef ACTION
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
