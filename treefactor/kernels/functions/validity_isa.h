/* Checks of arguments in lanes for one instruction set; validity.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#undef WIDTH
#define WIDTH (REGISTER / 8)
#define LANES 8

typedef double ISA(Register) __attribute__((vector_size(REGISTER)));
typedef long long ISA(I) __attribute__((vector_size(REGISTER)));

static int ISA(are_valid)(ptrdiff_t entries, const double *x, ptrdiff_t units, const ptrdiff_t *unit,
                          double tolerance)
{
    ISA(Register) sum[4] = {{0}};    /* 0, or NaN where an entry is not finite; four sums wait less for each other */
    ISA(I) wrong = {0};
    ptrdiff_t i = 0;
    for (; i + 4 * WIDTH <= entries * LANES; i += 4 * WIDTH)
        UNROLL for (int k = 0; k < 4; k++) sum[k] += 0.0 * READ_AS(ISA(Register), x + i + k * WIDTH);
    for (; i < entries * LANES; i += WIDTH) sum[0] += 0.0 * READ_AS(ISA(Register), x + i);
    for (ptrdiff_t j = 0; j < units; j++)
        for (int l = 0; l < LANES; l += WIDTH) {
            ISA(Register) error = {0};
            error -= 1.0;
            for (ptrdiff_t e = unit[2 * j]; e < unit[2 * j] + unit[2 * j + 1]; e++) {
                ISA(Register) y = READ_AS(ISA(Register), x + e * LANES + l);
                error += y * y;
            }
            wrong |= ~((error <= tolerance) & (error >= -tolerance));
        }
    wrong |= sum[0] + sum[1] + sum[2] + sum[3] != 0.0;
    return !ANY_LANE(wrong);
}

const Validity ISA(validity) = {ISA_NAME, ISA(are_valid)};
#undef LANES
