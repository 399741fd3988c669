/* Eliminate panels of rows below a triangle by Householder reflections: included by triangles.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 *
 *     R  r r r r       column by column:   v = (R_jj -+ norm, panel_j)   norm of (R_jj, panel_j)
 *          r r r                           every later column c:  (R_jc, panel_c) -= t v,  t = 2 v.(R_jc, panel_c) / v.v
 *            r r
 *              r     A reflection sees the one row j of R: R keeps its zeros, and costs as much as one more row.
 *     -----------
 *     A  a a a a     The panel is kept by columns, PANEL_ROWS contiguous numbers each, in L1 for up to 60 columns: no
 *        a a a a     matrix (rows, columns) is written. 15 to 18 Gflop/s for the six triangles of ur5 (8 to 37 columns)
 *        a a a a     on AVX2, where LAPACK's geqrf on 512 rows reaches 5 to 10.
 */
#undef WIDTH
#undef PARTS
#define WIDTH (REGISTER / 8)
#define PARTS (PANEL_ROWS / WIDTH)      /* registers of a column of the panel */

typedef double ISA(Register) __attribute__((vector_size(REGISTER)));

/* A reflection 1 - scale v v^T with v = (first, panel column): of the row of R and of the panel. */
typedef struct {
    double first, scale;
} ISA(Reflection);

INLINE double ISA(sum)(ISA(Register) x)
{
    double sum = 0.0;
    UNROLL for (int i = 0; i < WIDTH; i++) sum += x[i];
    return sum;
}

INLINE double ISA(dot)(const ISA(Register) *x, const ISA(Register) *y)
{
    ISA(Register) sums[4] = {{0}};
    for (int i = 0; i < PARTS; i += 4) UNROLL for (int k = 0; k < 4; k++) sums[k] += x[i + k] * y[i + k];
    return ISA(sum)((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* the reflection that makes the panel column x zero; *diagonal <- the norm of (*diagonal, x), sign reversed */
INLINE ISA(Reflection) ISA(reflection)(double *diagonal, const ISA(Register) *x)
{
    const double square = ISA(dot)(x, x), old = *diagonal;
    if (square < DBL_MIN) return (ISA(Reflection)){0.0, 0.0};   /* its inverse would be infinite */
    const double norm = sqrt(old * old + square);
    *diagonal = old > 0.0 ? -norm : norm;
    const double first = old - *diagonal;
    return (ISA(Reflection)){first, -1.0 / (*diagonal * first)};
}

/* Apply the reflections f of v, then g of w, to `columns` columns of the panel from x on, and to their entries r and s
 * of two rows of R. `cross` is v.w: both products are formed before anything changes. */
INLINE void ISA(apply)(int columns, ISA(Reflection) f, const ISA(Register) *v, ISA(Reflection) g,
                       const ISA(Register) *w, double cross, double *r, double *s, ISA(Register) *x)
{
    ISA(Register) with_v[4] = {{0}}, with_w[4] = {{0}};
    double t[4], u[4];
    for (int i = 0; i < PARTS; i++) UNROLL for (int c = 0; c < columns; c++) {
        with_v[c] += v[i] * x[c * PARTS + i];
        with_w[c] += w[i] * x[c * PARTS + i];
    }
    UNROLL for (int c = 0; c < columns; c++) {
        t[c] = f.scale * (f.first * r[c] + ISA(sum)(with_v[c]));
        u[c] = g.scale * (g.first * s[c] + ISA(sum)(with_w[c]) - t[c] * cross);
        r[c] -= t[c] * f.first;
        s[c] -= u[c] * g.first;
    }
    for (int i = 0; i < PARTS; i++) UNROLL for (int c = 0; c < columns; c++)
        x[c * PARTS + i] = x[c * PARTS + i] - t[c] * v[i] - u[c] * w[i];
}

/* R, panel <- R', 0: the loop of the picture above, two reflections and four columns at a time, so that a register of
 * the panel is loaded once for four products; the panel is overwritten */
static void ISA(eliminate)(ptrdiff_t count, double *R, double *panel)
{
    ISA(Register) *a = (ISA(Register) *)panel;
    ptrdiff_t j = 0;
    for (; j + 1 < count; j += 2) {
        ISA(Register) *v = a + j * PARTS, *w = v + PARTS;
        double *r = R + j * count, *s = r + count;
        const ISA(Reflection) f = ISA(reflection)(r + j, v);
        const double t = f.scale * (f.first * r[j + 1] + ISA(dot)(v, w));
        r[j + 1] -= t * f.first;
        UNROLL for (int i = 0; i < PARTS; i++) w[i] -= t * v[i];
        const ISA(Reflection) g = ISA(reflection)(s + j + 1, w);
        const double cross = ISA(dot)(v, w);
        ptrdiff_t c = j + 2;
        for (; c + 4 <= count; c += 4) ISA(apply)(4, f, v, g, w, cross, r + c, s + c, a + c * PARTS);
        for (; c < count; c++) ISA(apply)(1, f, v, g, w, cross, r + c, s + c, a + c * PARTS);
    }
    if (j < count) ISA(reflection)(R + j * count + j, a + j * PARTS);
}

static void ISA(update)(ptrdiff_t count, const ptrdiff_t *column, ptrdiff_t use, const LaneColumns *table,
                        ptrdiff_t blocks, double *R, double *work)
{
    for (ptrdiff_t first = 0; first < blocks; first += PANEL_BLOCKS) {
        for (ptrdiff_t c = 0; c < count; c++) {
            const LaneColumns *from = &table[column[c] < 0];
            const ptrdiff_t at = column[c] < 0 ? ~column[c] : column[c];
            for (ptrdiff_t b = 0; b < PANEL_BLOCKS; b++) {
                double *to = work + c * PANEL_ROWS + 8 * b;
                if (first + b >= blocks) {
                    memset(to, 0, 8 * sizeof(double));
                    continue;
                }
                const double *x = from->data + ((first + b) * from->width + at) * 8;
                const double *used = table[1].data + ((first + b) * table[1].width + use) * 8;
                for (int l = 0; l < 8; l++) to[l] = x[l] * used[l];
            }
        }
        ISA(eliminate)(count, R, work);
    }
}

const TriangleTable ISA(triangles) = {ISA_NAME, ISA(update)};
