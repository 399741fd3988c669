/* Gradients and Hessians of sums of squares by Gauss and Newton, one at a time; loops run over columns of one row. */

/* g <- g + J^T W r, H <- H + J^T W J, its upper triangle, with rows of `ld` entries; J <- L J before, of `rows` rows and n
 * columns, where L is given. work: 2 rows n */
static void ISA(add_squares)(ptrdiff_t rows, ptrdiff_t n, const double *J, const double *L, const double *weight,
                             const double *r, double *work, double *g, double *H, ptrdiff_t ld)
{
    double *P = work, *S = work + rows * n;
    for (ptrdiff_t k = 0; k < rows; k++) {
        double *p = P + k * n;
        if (L) {
            for (ptrdiff_t c = 0; c < n; c++) p[c] = 0.0;
            for (ptrdiff_t l = 0; l < rows; l++)
                for (ptrdiff_t c = 0; c < n; c++) p[c] += L[k * rows + l] * J[l * n + c];
        } else
            memcpy(p, J + k * n, n * sizeof(double));
        for (ptrdiff_t c = 0; c < n; c++) {
            S[k * n + c] = weight[k] * p[c];
            g[c] += S[k * n + c] * r[k];
        }
    }
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < rows; k++)
            for (ptrdiff_t c = i; c < n; c++) H[i * ld + c] += P[k * n + i] * S[k * n + c];
}
