/* Sizes of numbers per lane, for decisions on rounding errors; `real` is a double or a register, see spatial.h. */

/* Return the real whose lanes are `value`, an expression in p and q, the doubles of x and y in that lane. */
#undef RETURN_PER_LANE
#define RETURN_PER_LANE(p, x, q, y, value) do { \
    double p##_[sizeof(real) / 8], q##_[sizeof(real) / 8]; \
    memcpy(p##_, &(x), sizeof(real)); \
    memcpy(q##_, &(y), sizeof(real)); \
    for (size_t l_ = 0; l_ < sizeof(real) / 8; l_++) { \
        const double p = p##_[l_], q = q##_[l_]; \
        p##_[l_] = (value); \
    } \
    memcpy(&(x), p##_, sizeof(real)); \
    return x; \
} while (0)

/* Return the larger of x and y per lane. */
INLINE real NAME(larger)(real x, real y) { RETURN_PER_LANE(a, x, b, y, a > b ? a : b); }

/* Return |x| + |y| per lane. */
INLINE real NAME(sum_of_sizes)(real x, real y) { RETURN_PER_LANE(a, x, b, y, fabs(a) + fabs(b)); }

/* Return |x| + |y| + |z| of a vector per lane. */
INLINE real NAME(size)(const real *x) { return NAME(sum_of_sizes)(NAME(sum_of_sizes)(x[0], x[1]), x[2]); }

/* Return |x| + |y| per lane, 0 where they are equal, because their difference is exact. */
INLINE real NAME(size_of_difference)(real x, real y)
{
    RETURN_PER_LANE(a, x, b, y, a == b ? 0.0 : fabs(a) + fabs(b));
}

/* Return x, or 0 per lane where |x| is at most `least`. */
INLINE real NAME(zero_below)(real x, real least) { RETURN_PER_LANE(a, x, b, least, fabs(a) <= b ? 0.0 : a); }

/* Return y per lane where x is 0, else 0. */
INLINE real NAME(where_zero)(real x, real y) { RETURN_PER_LANE(a, x, b, y, a == 0.0 ? b : 0.0); }
