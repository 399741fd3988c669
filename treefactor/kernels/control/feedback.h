/* The control law of feedback rollouts, in lanes. */

static void NAME(control)(ptrdiff_t nu, ptrdiff_t states, const double *K, const double *x, const double *k,
                          const double *length, double *u)
{
    for (int l = 0; l < LANES; l += WIDTH)
        for (ptrdiff_t r = 0; r < nu; r++) {
            real sum = READ(u + l, r) + READ(length + l, 0) * READ(k + l, r);
            for (ptrdiff_t c = 0; c < states; c++) sum += READ(K + l, r * states + c) * READ(x + l, c);
            AT(u + l, r) = sum;
        }
}
