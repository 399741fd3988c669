/* Steps of configurations: the exponential map of every group, as Pinocchio's. Included with
 *     REAL   LANES   WIDTH   NAME(f)   ISA(f)   ELEMENT   INTEGER   PRECISE(f)
 *
 *     for each group of coordinates:   integrate: result = q exp(h v)
 */
#include "../common/spatial.h"
#include "../common/rotations.h"

/* circle <- circle, scaled to unit length, turned by twice the angle with sine s and cosine c; in one sum, as
 * quaternion_step */
INLINE void NAME(turn_circle)(real *circle, real s, real c)
{
    real less = NAME(length_correction)(circle, 1, circle[1]), scale = 1.0 + less;
    real sine = 2.0 * s * c, change = CONSTANT(-2.0) * s * s;
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

INLINE void NAME(integrate)(const Coordinates *c, ptrdiff_t count, const ELEMENT *q, const ELEMENT *v, ELEMENT h,
                            ELEMENT *result)
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

/* the same for all registers */
static void NAME(integrate_all)(const Coordinates *c, ptrdiff_t count, const void *q, const void *v, double h,
                                void *result)
{
    for (int l = 0; l < LANES; l += (int)(sizeof(real) / sizeof(ELEMENT)))
        NAME(integrate)(c, count, (const ELEMENT *)q + l, (const ELEMENT *)v + l, h, (ELEMENT *)result + l);
}
