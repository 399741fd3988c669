/* Second derivatives of w . (forward dynamics) as matrices. With Phi the inverse dynamics at the acceleration found,
 * weighted by H^-1 w, and the derivatives a_q, a_v, a_tau of forward dynamics (derived by differentiating
 * inverse dynamics (q, v, forward dynamics (q, v, tau)) = tau twice):
 *
 *     qq = -(Phi_qq + Phi_qa a_q + (Phi_qa a_q)^T),   qv = -(Phi_qv + Phi_qa a_v),   vv = -Phi_vv,
 *     qtau = -Phi_qa a_tau */

/* Return where the entries above the diagonal of row k begin, transposed. */
INLINE const double *NAME(above_diagonal)(const PackedHessian *x, const double *packed, ptrdiff_t k)
{
    return packed + (x->start[x->n] - k) * LANES;
}

/* Y <- Y - packed matrix, of which both triangles, or the lower one of a symmetric one, are given */
static void NAME(subtract_packed)(const PackedHessian *x, const double *packed, int pair, double *Y)
{
    for (ptrdiff_t k = 0; k < x->n; k++) {
        const double *above = pair ? NAME(above_diagonal)(x, packed, k) : packed;
        for (ptrdiff_t e = x->start[k]; e < x->start[k + 1]; e++) {
            const ptrdiff_t j = x->column[e];
            AT(Y, k * x->n + j) -= READ(packed, e);
            if (j != k) AT(Y, j * x->n + k) -= READ(above, e);
        }
    }
}

/* Y <- -A X in `count` columns from c on, of the packed matrix A with both triangles:
 *     for k = 1 .. n:   Y_k = -A_kk X_k - sum of A_kj X_j over all j < k,   Y_j -= A_jk X_k for all j < k
 * Blocks of 4 columns, or 16 of one matrix, keep X_k and Y_k in registers: 8 multiplications for 14 loads and stores,
 * else 25. */
INLINE void NAME(multiply_columns)(const PackedHessian *x, const double *restrict A, const double *restrict X,
                                   ptrdiff_t c, int count, double *restrict Y)
{
    const ptrdiff_t n = x->n;
    for (ptrdiff_t k = 0; k < n; k++) {
        const double *above = NAME(above_diagonal)(x, A, k);
        const ptrdiff_t diagonal = x->start[k + 1] - 1;
        const real first = READ(A, diagonal);
        real own[16], sum[16];
        EACH(b, count) {
            own[b] = READ(X, k * n + c + b);
            sum[b] = -first * own[b];
        }
        for (ptrdiff_t e = x->start[k]; e < diagonal; e++) {
            const ptrdiff_t at = x->column[e] * n + c;
            const real left = READ(A, e), up = READ(above, e);
            EACH(b, count) {
                sum[b] -= left * READ(X, at + b);
                AT(Y, at + b) -= up * own[b];
            }
        }
        EACH(b, count) AT(Y, k * n + c + b) = sum[b];
    }
}

/* Y <- -A X, of the packed matrix A with both triangles */
static void NAME(write_product)(const PackedHessian *x, const double *restrict A, const double *restrict X,
                                double *restrict Y)
{
    ptrdiff_t c = 0;
    for (; LANES == 1 && c + 16 <= x->n; c += 16) NAME(multiply_columns)(x, A, X, c, 16, Y);
    for (; c + 4 <= x->n; c += 4) NAME(multiply_columns)(x, A, X, c, 4, Y);
    for (; c < x->n; c++) NAME(multiply_columns)(x, A, X, c, 1, Y);
}

/* qq, qv, vv, qtau <- second derivatives of w . (forward dynamics); see second_order_table.h */
static void NAME(forward_hessian)(const PackedHessian *x, int symmetric, const double *a_q, const double *a_v,
                                  const double *a_tau, double *qq, double *qv, double *vv, double *qtau)
{
    const real zero = {0};
    const ptrdiff_t n = x->n;
    NAME(write_product)(x, x->qa, a_q, qq);
    for (ptrdiff_t r = 0; r < n; r++) {
        for (ptrdiff_t c = 0; c <= r; c++)
            AT(qq, r * n + c) = AT(qq, c * n + r) = READ(qq, r * n + c) + READ(qq, c * n + r);
    }
    for (ptrdiff_t e = 0; e < n * n; e++) AT(vv, e) = zero;
    NAME(write_product)(x, x->qa, a_v, qv);
    NAME(write_product)(x, x->qa, a_tau, qtau);
    NAME(subtract_packed)(x, x->qq, !symmetric, qq);
    NAME(subtract_packed)(x, x->qv, 1, qv);
    NAME(subtract_packed)(x, x->vv, 0, vv);
}
