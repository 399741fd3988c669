/* Find NaN and infinities on real: a double, or a register of them. Texts that use it are included with
 *     REAL   LANES   NAME(f)
 */
/* Return 0 if n numbers are finite, else NaN; in four sums that do not wait for each other. */
INLINE real NAME(doubt_finite)(const double *x, ptrdiff_t n)
{
    real a = {0}, b = {0}, c = {0}, d = {0};
    ptrdiff_t e = 0;
    for (; e + 4 <= n; e += 4) {
        a += 0.0 * READ(x, e);
        b += 0.0 * READ(x, e + 1);
        c += 0.0 * READ(x, e + 2);
        d += 0.0 * READ(x, e + 3);
    }
    for (; e < n; e++) a += 0.0 * READ(x, e);
    return (a + b) + (c + d);
}
