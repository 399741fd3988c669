/* Quaternions x y z w, rotation vectors and rigid motions, on real: a double, or a register of them, or of floats.
 * sincos.h, arctan.h and spatial.h stand before it, or sincos_single.h and spatial.h. Nothing branches on numbers:
 * functions that cancel near zero are series below SERIES, and lengths are at least TINY, whose square is a number.
 * one_and_lanes.h lists the macros that must be defined. */

#ifndef TREEFACTOR_ROTATIONS_H
#define TREEFACTOR_ROTATIONS_H
#define IS_SINGLE (sizeof(ELEMENT) == sizeof(float))
#define TINY (ELEMENT)(IS_SINGLE ? 1e-18 : 1e-150)
#define SERIES (ELEMENT)0.1          /* rad; the series below are exact to 1e-17 there */
#define LENGTH2(x) ((x)[0] * (x)[0] + (x)[1] * (x)[1] + (x)[2] * (x)[2])
#define SIGN (INTEGER)(1ULL << (8 * sizeof(ELEMENT) - 1))
/* a constant that no float equals, or a negative one, as a number of the precision */
#define CONSTANT(x) (ELEMENT)(x)
#endif

#undef SELECT
#if LANES == 1
#define SELECT(m, a, b) ((m) ? (a) : (b))
#else
#define SELECT(m, a, b) (real)PRECISE(choose)((PRECISE(I))(m), (PRECISE(V))(a), (PRECISE(V))(b))
#endif

INLINE real NAME(root)(real x)
{
#if LANES == 1
    return sqrt(x);
#else
    UNROLL for (int i = 0; i < WIDTH; i++) x[i] = sqrt(x[i]);
    return x;
#endif
}

/* Returns x >= 0 with the sign of s. */
INLINE real NAME(with_sign)(real x, real s)
{
#if LANES == 1
    return copysign(x, s);
#else
    return (real)((PRECISE(I))x | ((PRECISE(I))s & SIGN));
#endif
}

INLINE real NAME(absolute)(real x)
{
#if LANES == 1
    return fabs(x);
#else
    return (real)((PRECISE(I))x & ~SIGN);
#endif
}

/* Computes atan2(y, x); one number as a register of it, so that the last bit is the same. */
INLINE real NAME(arctangent)(real y, real x)
{
#if LANES == 1
    return ISA(atan2_vector)((ISA(V)){y}, (ISA(V)){x})[0];
#else
    return (real)PRECISE(atan2_vector)((PRECISE(V))y, (PRECISE(V))x);
#endif
}

INLINE void NAME(sine_and_cosine)(real x, real *s, real *c)
{
#if LANES > 1
    const PRECISE(I) large = ~((x <= CONSTANT(1e5)) & (x >= CONSTANT(-1e5)));
    if (!ANY_LANE(large)) {
        PRECISE(sincos_vector)((PRECISE(V))x, (PRECISE(V) *)s, (PRECISE(V) *)c);
        return;
    }
#endif
    PRECISE(sincos)(sizeof x / sizeof(ELEMENT), (const ELEMENT *)&x, (ELEMENT *)s, (ELEMENT *)c);
}

INLINE real NAME(at_least_tiny)(real x) { return SELECT(x < TINY, x * 0.0 + TINY, x); }

/* y = a x b */
INLINE void NAME(cross)(const real *a, const real *b, real *y)
{
    y[0] = a[1] * b[2] - a[2] * b[1];
    y[1] = a[2] * b[0] - a[0] * b[2];
    y[2] = a[0] * b[1] - a[1] * b[0];
}

/* y = x turned by the unit quaternion (q[0..2], w) */
INLINE void NAME(turn)(const real *q, real w, const real *x, real *y)
{
    real t[3], u[3];
    NAME(cross)(q, x, t);
    NAME(cross)(q, t, u);
    EACH(r, 3) y[r] = x[r] + 2.0 * (w * t[r] + u[r]);
}

/* Return whether all numbers of x lie between two bounds. */
INLINE int NAME(all_between)(real x, ELEMENT low, ELEMENT high)
{
#if LANES == 1
    return x > low && x < high;
#else
    const PRECISE(I) out = ~((x > low) & (x < high));
    return !ANY_LANE(out);
#endif
}

/* x <- x scaled to unit length, `count` entries; where squares overflow or underflow, first by a power of two */
INLINE void NAME(make_unit)(real *x, int count)
{
    real square = x[0] * x[0];
    for (int r = 1; r < count; r++) square += x[r] * x[r];
    const ELEMENT low = IS_SINGLE ? 1e-30 : 1e-280, high = IS_SINGLE ? 1e30 : 1e280;
    if (!NAME(all_between)(square, low, high)) {
        const ELEMENT up = IS_SINGLE ? 0x1p100 : 0x1p600, down = IS_SINGLE ? 0x1p-100 : 0x1p-600;
        const real one = 1.0 + (real){0};
        real power = SELECT(square > high, one * down, SELECT(square < low, one * up, one));
        real again = {0};
        for (int r = 0; r < count; r++) {
            x[r] *= power;
            again += x[r] * x[r];
        }
        square = SELECT(power == one, square, again);   /* other lanes keep every bit */
    }
    real scale = 1.0 / NAME(root)(square);
    for (int r = 0; r < count; r++) x[r] *= scale;
}

/* Computes what to add to 1 to scale (x, last), of squared length 1 + e, |e| < 1e-5, to unit length:
 * 1 - e/2 + 3 e^2/8 is 1 / sqrt(1 + e). */
INLINE real NAME(length_correction)(const real *x, int count, real last)
{
    real e = x[0] * x[0] - 1.0;
    for (int r = 1; r < count; r++) e += x[r] * x[r];
    e += last * last;
    return -e * (0.5 - 0.375 * e);
}

/* x <- x of nearly unit length, scaled to it */
INLINE void NAME(correct_length)(real *x, int count)
{
    real scale = 1.0 + NAME(length_correction)(x, count - 1, x[count - 1]);
    for (int r = 0; r < count; r++) x[r] *= scale;
}

/* result <- (a, w) times b, both of unit length */
INLINE void NAME(quaternion_product)(const real *a, real w, const real *b, real *result)
{
    real c[3];
    NAME(cross)(a, b, c);
    result[3] = w * b[3] - (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
    EACH(r, 3) result[r] = w * b[r] + b[3] * a[r] + c[r];
    NAME(correct_length)(result, 4);
}

/* y = x + first w x x + second w x (w x x), the translation of exponentials and logarithms */
INLINE void NAME(add_turns)(const real *w, real first, real second, const real *x, real *y)
{
    real t[3], u[3];
    NAME(cross)(w, x, t);
    NAME(cross)(w, t, u);
    EACH(r, 3) y[r] = x[r] + first * t[r] + second * u[r];
}

/* Computes (x - sin x) / x^3, from s = sin x and r = 1 / x. */
INLINE real NAME(third)(real x, real s, real r)
{
    real y = x * x, series = 1.0 - y * CONSTANT(1.0 / 42.0) * (1.0 - y * CONSTANT(1.0 / 72.0));
    series = (1.0 - y * CONSTANT(1.0 / 20.0) * series) * CONSTANT(1.0 / 6.0);
    return SELECT(x < SERIES, series, (1.0 - s * r) * (r * r));
}

/* Computes (1 - x/2 cot(x/2)) / x^2, from c = cot(x/2). */
INLINE real NAME(cotangent)(real x, real c)
{
    real y = x * x, series = 1.0 + y * CONSTANT(1.0 / 42.0) * (1.0 + y * CONSTANT(1.0 / 40.0));
    series = (1.0 + y * CONSTANT(1.0 / 60.0) * series) * CONSTANT(1.0 / 12.0);
    return SELECT(x < SERIES, series, (1.0 - 0.5 * x * c) / y);
}

/* q <- quaternion of the rotation vector w, less 1; the translation of exp [v; w] is
 * v + first w x v + second w x (w x v) */
INLINE void NAME(exp_less_one)(const real *w, real *q, real *first, real *second)
{
    real x = NAME(at_least_tiny)(NAME(root)(LENGTH2(w))), s, c;
    NAME(sine_and_cosine)(0.25 * x, &s, &c);
    q[3] = CONSTANT(-2.0) * s * s;
    s = 2.0 * s * c;
    c = 1.0 + q[3];
    real inverse = 1.0 / x, scale = s * inverse;
    EACH(r, 3) q[r] = scale * w[r];
    *first = 2.0 * scale * scale;
    *second = NAME(third)(x, 2.0 * s * c, inverse);
}

/* q <- quaternion of the rotation vector w; as above */
INLINE void NAME(exp_quaternion)(const real *w, real *q, real *first, real *second)
{
    NAME(exp_less_one)(w, q, first, second);
    q[3] += 1.0;
}

/* result <- (q, w) of nearly unit length, scaled to unit length, times 1 + change. The change and the correction of
 * the length are added in one sum: to round each of thousands of small steps twice would turn them all alike. */
INLINE void NAME(quaternion_step)(const real *q, real w, const real *change, real *result)
{
    real less = NAME(length_correction)(q, 3, w), scale = 1.0 + less, c[3];
    NAME(cross)(q, change, c);
    EACH(r, 3) result[r] = q[r] + (less * q[r] + scale * (change[3] * q[r] + (w * change[r] + c[r])));
    real along = q[0] * change[0] + q[1] * change[1] + q[2] * change[2];
    result[3] = w + (less * w + scale * (change[3] * w - along));
}

/* w <- rotation vector, of length at most pi, of the unit quaternion q; [v; w] with translation p has
 * v = p - w x p / 2 + second w x (w x p) */
INLINE void NAME(log_quaternion)(const real *q, real *w, real *second)
{
    real s = NAME(at_least_tiny)(NAME(root)(LENGTH2(q))), c = NAME(absolute)(q[3]);
    real x = 2.0 * NAME(arctangent)(s, c), inverse = 1.0 / s, scale = x * NAME(with_sign)(inverse, q[3]);
    EACH(r, 3) w[r] = scale * q[r];
    *second = NAME(cotangent)(x, c * inverse);
}
