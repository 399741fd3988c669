/* Values, gradients and Hessians of weighted squares of residuals, in lanes; see costs.h. */

static void NAME(add_value)(ptrdiff_t n, const double *weight, const double *scale, const double *r, double *cost)
{
    PASSES {
        real sum = {0};
        for (ptrdiff_t k = 0; k < n; k++) sum += weight[k] * (READ(r + l, k) * READ(r + l, k));
        const real factor = READ_AS(real, scale + l), zero = {0};
        AS(real, cost + l) += 0.5 * factor * SELECT(factor == zero, zero, sum);     /* which may overflow */
    }
}

static void NAME(pose_residual)(const double *pose, const double *target, double *r, double *L)
{
    PASSES {
        real R[9], p[3], S[9], s[3], way[3], E[9], d[3], x[6], A[9], B[9];
        NAME(read_pose)(pose + l, R, p);
        NAME(read_pose)(target + l, S, s);
        EACH(k, 3) way[k] = p[k] - s[k];
        NAME(multiply_back)(S, R, E);
        ROTATE_BACK(S, way, d);
        const real second = NAME(log_pose)(E, d, x, x + 3);
        NAME(write_entries)(x, 6, r + l);
        if (!L) continue;
        NAME(log_jacobian)(x + 3, d, second, A, B);
        NAME(write_blocks)(A, B, L + l);
    }
}

static void NAME(excess)(ptrdiff_t n, const ptrdiff_t *entry, const double *lower, const double *upper, const double *q,
                         double *r)
{
    PASSES
        for (ptrdiff_t k = 0; k < n; k++) {
            const real x = READ(q + l, entry[k]), zero = 0.0 * x;     /* NaN stays */
            const real above = x - upper[k], below = x - lower[k];
            AT(r + l, k) = SELECT(above > zero, above, SELECT(below < zero, below, zero));
        }
}

static void NAME(add_entries)(ptrdiff_t n, const double *weight, const double *scale, const double *r, ptrdiff_t first,
                              const CostDerivatives *to)
{
    PASSES
        for (ptrdiff_t k = 0; k < n; k++) {
            const real w = weight[k] * READ_AS(real, scale + l);
            AT(to->g + l, first + k) += w * READ(r + l, k);
            AT(to->diagonal + l, first + k) += w;
        }
}

static void NAME(add_excess)(ptrdiff_t n, const double *weight, const double *scale, const double *r, const ptrdiff_t *entry,
                             const CostDerivatives *to)
{
    const real zero = {0};
    PASSES
        for (ptrdiff_t k = 0; k < n; k++) {
            const real w = weight[k] * READ_AS(real, scale + l), x = READ(r + l, k);
            AT(to->g + l, entry[k]) += w * x;
            AT(to->diagonal + l, entry[k]) += SELECT(x == zero, zero, w);
        }
}

/* P <- the columns L J of one part of a Jacobian, one after the other, in the lanes from l on */
INLINE void NAME(write_columns)(const int n, int l, const double *L, const double *J, ptrdiff_t columns, real *P)
{
    for (ptrdiff_t c = 0; c < columns; c++, P += n) {
        if (!L) {
            EACH(k, n) P[k] = READ(J + l, k * columns + c);
            continue;
        }
        real x[6];
        EACH(k, 6) x[k] = READ(J + l, k * columns + c);
        EACH(k, n) {
            real sum = {0};
            EACH(i, 6) if (i > 2 || k < 3) sum += READ(L + l, 6 * k + i) * x[i];
            P[k] = sum;
        }
    }
}

INLINE void NAME(add_squares_of)(const int n, int l, const ResidualDerivatives *D, const double *weight, const double *scale,
                                 const double *r, double *work, const CostDerivatives *to)
{
    const ptrdiff_t columns = D->columns[0] + D->columns[1], *at = D->column;
    real *P = (real *)work, w[6], x[6];
    NAME(write_columns)(n, l, D->L, D->J[0], D->columns[0], P);
    NAME(write_columns)(n, l, D->L, D->J[1], D->columns[1], P + D->columns[0] * n);
    EACH(k, n) {
        w[k] = weight[k] * READ_AS(real, scale + l);
        x[k] = w[k] * READ(r + l, k);
    }
    for (ptrdiff_t i = 0; i < columns; i++) {
        real sum = {0}, S[6];
        double *row = to->H + ((at[i] - to->first) * to->size - to->first) * LANES + l;
        EACH(k, n) {
            sum += P[i * n + k] * x[k];
            S[k] = w[k] * P[i * n + k];
        }
        AT(to->g + l, at[i]) += sum;
        for (ptrdiff_t j = i; j < columns; j++) {
            sum = READ(row, at[j]);
            EACH(k, n) sum += S[k] * P[j * n + k];
            AT(row, at[j]) = sum;
        }
    }
}

static void NAME(add_squares)(ptrdiff_t n, const ResidualDerivatives *D, const double *weight, const double *scale,
                              const double *r, double *work, const CostDerivatives *to)
{
    PASSES
        if (n == 6) NAME(add_squares_of)(6, l, D, weight, scale, r, work, to);
        else NAME(add_squares_of)(3, l, D, weight, scale, r, work, to);
}
