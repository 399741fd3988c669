/* Quadratic problems within limits, one at a time: projected Newton steps (Bertsekas, 1982), as in Tassa, Mansard and
 * Todorov (2014), "Control-limited differential dynamic programming". Plain loops in double: lanes and single problems
 * have the same bits. */

#define BOX_ROUNDS 100
#define BOX_HALVINGS 40
#define BOX_DECREASE 0.1             /* least fall, as a part of that along the gradient */
#define BOX_EXACT 1e-13              /* of the gradient by free controls, relative to its terms */

static double ISA(box_clip)(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

/* gradient <- g + H x; returns g x + x H x / 2 */
static double ISA(box_value)(ptrdiff_t n, const double *H, const double *g, const double *x, double *gradient)
{
    double value = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (ptrdiff_t j = 0; j < n; j++) sum += H[i * n + j] * x[j];
        gradient[i] = g[i] + sum;
        value += x[i] * (g[i] + 0.5 * sum);
    }
    return value;
}

/* x <- the minimum of g x + x H x / 2 within limits, from x on; free[i] <- whether x[i] is between its limits. H: n x n,
 * positive definite. work: n n + 4 n */
static __attribute__((noinline)) void ISA(box_minimum)(ptrdiff_t n, const double *H, const double *g,
                                                       const double *lower, const double *upper, double *x, int *free,
                                                       double *work)
{
    double *L = work, *step = L + n * n, *gradient = step + n, *next = gradient + n, *next_gradient = next + n;
    int same = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        x[i] = ISA(box_clip)(x[i], lower[i], upper[i]);
        free[i] = -1;
    }
    double value = ISA(box_value)(n, H, g, x, gradient);
    for (int round = 0; round < BOX_ROUNDS; round++) {
        int changed = 0, exact = 1;
        for (ptrdiff_t i = 0; i < n; i++) {
            const int now = !((x[i] <= lower[i] && gradient[i] > 0.0) || (x[i] >= upper[i] && gradient[i] < 0.0));
            double scale = fabs(g[i]);
            for (ptrdiff_t j = 0; j < n; j++) scale += fabs(H[i * n + j] * x[j]);
            if (now && fabs(gradient[i]) > BOX_EXACT * scale) exact = 0;
            changed |= now != free[i];
            free[i] = now;
        }
        if (exact || (same && !changed)) return;
        for (ptrdiff_t i = 0; i < n; i++) {          /* L L^T = H of the free ones, unit rows of the others */
            for (ptrdiff_t j = 0; j <= i; j++) {
                double sum = free[i] && free[j] ? H[i * n + j] : i == j;
                for (ptrdiff_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
                L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
            }
            step[i] = free[i] ? -gradient[i] : 0.0;
            for (ptrdiff_t k = 0; k < i; k++) step[i] -= L[i * n + k] * step[k];
            step[i] /= L[i * n + i];
        }
        for (ptrdiff_t i = n - 1; i >= 0; i--) {
            for (ptrdiff_t k = i + 1; k < n; k++) step[i] -= L[k * n + i] * step[k];
            step[i] /= L[i * n + i];
        }
        double length = 1.0;
        for (int halving = 0; halving < BOX_HALVINGS; halving++, length *= 0.5) {
            double slope = 0.0;
            same = length == 1.0;
            for (ptrdiff_t i = 0; i < n; i++) {
                const double to = x[i] + length * step[i];
                next[i] = ISA(box_clip)(to, lower[i], upper[i]);
                same &= next[i] == to;
                slope += gradient[i] * (next[i] - x[i]);
            }
            const double next_value = ISA(box_value)(n, H, g, next, next_gradient);
            if (next_value <= value + BOX_DECREASE * slope || halving == BOX_HALVINGS - 1) {
                value = next_value;
                break;
            }
        }
        memcpy(x, next, n * sizeof(double));
        memcpy(gradient, next_gradient, n * sizeof(double));
    }
}

/* slope <- -g x and x H x. Not inlined, as box_minimum: compilers would fuse other products in lanes than alone. */
static __attribute__((noinline)) void ISA(box_slope)(ptrdiff_t n, const double *H, const double *g, const double *x,
                                                     double *slope)
{
    slope[0] = slope[1] = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (ptrdiff_t j = 0; j < n; j++) sum += H[i * n + j] * x[j];
        slope[0] -= g[i] * x[i];
        slope[1] += x[i] * sum;
    }
}
