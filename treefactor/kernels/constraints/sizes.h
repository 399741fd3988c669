/* Sizes of numbers per lane, for decisions on rounding errors; `real` is a double or a register, see spatial.h. */

/* Return the larger of x and y per lane. */
INLINE real NAME(larger)(real x, real y)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &y, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = a[l] > b[l] ? a[l] : b[l];
    memcpy(&x, a, sizeof x);
    return x;
}

/* Return |x| + |y| + |z| of a vector per lane. */
INLINE real NAME(size)(const real *x)
{
    double a[3][sizeof(real) / 8];
    real sum;
    memcpy(a, x, sizeof a);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[0][l] = fabs(a[0][l]) + fabs(a[1][l]) + fabs(a[2][l]);
    memcpy(&sum, a, sizeof sum);
    return sum;
}

/* Return |a| + |b| per lane, 0 where they are equal, because their difference is exact. */
INLINE real NAME(size_of_difference)(real x, real y)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &y, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = a[l] == b[l] ? 0.0 : fabs(a[l]) + fabs(b[l]);
    memcpy(&x, a, sizeof x);
    return x;
}

/* Return x, or 0 per lane where |x| is at most `least`. */
INLINE real NAME(zero_below)(real x, real least)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &least, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = fabs(a[l]) <= b[l] ? 0.0 : a[l];
    memcpy(&x, a, sizeof x);
    return x;
}

/* Return y per lane where x is 0, else 0. */
INLINE real NAME(where_zero)(real x, real y)
{
    double a[sizeof(real) / 8], b[sizeof(real) / 8];
    memcpy(a, &x, sizeof x);
    memcpy(b, &y, sizeof x);
    for (size_t l = 0; l < sizeof(real) / 8; l++) a[l] = a[l] == 0.0 ? b[l] : 0.0;
    memcpy(&x, a, sizeof x);
    return x;
}
