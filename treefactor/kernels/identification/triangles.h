/* Eliminate panels of rows below a triangle by Householder reflections: included by triangles.c with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 *
 *     R  r r r r       column by column:   v = (R_jj -+ norm, panel_j)   norm of (R_jj, panel_j)
 *          r r r                           every later column c:  (R_jc, panel_c) -= t v,  t = 2 v.(R_jc, panel_c) / v.v
 *            r r
 *              r     A reflection sees the one row j of R: R keeps its zeros, and costs as much as one more row.
 *     -----------
 *     A  a a a a     The panel is kept by columns, PANEL_ROWS contiguous numbers each, in L1 for up to 60 columns:
 *        a a a a     10 Gflop/s at 37 columns on AVX2, as LAPACK's geqrf on 512 rows; rows of triangles need
 *        a a a a     fewer columns, and no (rows, columns) matrix is written.
 */
#undef WIDTH
#undef PARTS
#define WIDTH (REGISTER / 8)
#define PARTS (PANEL_ROWS / WIDTH)      /* registers of a column of the panel */

typedef double ISA(Register) __attribute__((vector_size(REGISTER)));

INLINE double ISA(dot)(const ISA(Register) *x, const ISA(Register) *y)
{
    ISA(Register) even = {0}, odd = {0};
    double sum = 0.0;
    UNROLL for (int i = 0; i < PARTS; i += 2) {
        even += x[i] * y[i];
        odd += x[i + 1] * y[i + 1];
    }
    even += odd;
    UNROLL for (int i = 0; i < WIDTH; i++) sum += even[i];
    return sum;
}

/* R, panel <- R', 0 by reflections: the plain loop of the picture above; the panel is overwritten */
static void ISA(eliminate)(ptrdiff_t count, double *R, double *panel)
{
    for (ptrdiff_t j = 0; j < count; j++) {
        const ISA(Register) *v = (const ISA(Register) *)(panel + j * PANEL_ROWS);
        double *r = R + j * count;
        const double square = ISA(dot)(v, v);
        if (square < DBL_MIN) continue;             /* its inverse would be infinite */
        const double norm = sqrt(r[j] * r[j] + square);
        const double diagonal = r[j] > 0.0 ? -norm : norm, first = r[j] - diagonal, scale = -1.0 / (diagonal * first);
        r[j] = diagonal;
        for (ptrdiff_t c = j + 1; c < count; c++) {
            ISA(Register) *x = (ISA(Register) *)(panel + c * PANEL_ROWS);
            const double t = scale * (first * r[c] + ISA(dot)(v, x));
            r[c] -= t * first;
            UNROLL for (int i = 0; i < PARTS; i++) x[i] -= t * v[i];
        }
    }
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
