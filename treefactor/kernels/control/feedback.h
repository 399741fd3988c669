/* The control law of feedback rollouts, in lanes: of 8 problems, or of one that all lanes share. */

INLINE void NAME(apply_law)(const int shared, ptrdiff_t nu, ptrdiff_t states, const double *K, const double *x,
                            const double *k, const double *length, double *u)
{
    for (int l = 0; l < LANES; l += WIDTH)
        for (ptrdiff_t r = 0; r < nu; r++) {
            real sum = READ(u + l, r);
            if (shared) sum += k[r] * READ(length + l, 0);
            else sum += READ(k + l, r) * READ(length + l, 0);
            for (ptrdiff_t c = 0; c < states; c++)
                if (shared) sum += K[r * states + c] * READ(x + l, c);
                else sum += READ(K + l, r * states + c) * READ(x + l, c);
            AT(u + l, r) = sum;
        }
}

static void NAME(control)(ptrdiff_t nu, ptrdiff_t states, const double *K, const double *x, const double *k,
                          const double *length, double *u)
{
    NAME(apply_law)(0, nu, states, K, x, k, length, u);
}

static void NAME(control_of_one)(ptrdiff_t nu, ptrdiff_t states, const double *K, const double *x, const double *k,
                                 const double *length, double *u)
{
    NAME(apply_law)(1, nu, states, K, x, k, length, u);
}
