/* Registers of doubles for kernels on one matrix and on fronts. Included once for every instruction set. */

#undef WIDTH
#if REGISTER > 16                    /* 32 bytes even where registers have 64: rows of one matrix are short */
#define WIDTH 4                      /* doubles of a register */
static const long long KEEP[8] = {-1, -1, -1, -1};  /* KEEP + WIDTH - m keeps m entries */
#else
#define WIDTH 2
static const long long KEEP[4] = {-1, -1};
#endif
typedef double vec __attribute__((vector_size(8 * WIDTH), may_alias));
typedef double loose __attribute__((vector_size(8 * WIDTH), may_alias, aligned(8)));  /* of any alignment */

/* the sum of the entries of a register */
INLINE double sum_of(vec v) {
#if WIDTH == 4
    return (v[0] + v[2]) + (v[1] + v[3]);
#else
    return v[0] + v[1];
#endif
}

/* the first m entries of a register, zeros behind them */
INLINE vec keep(vec v, ptrdiff_t m) {
    typedef long long mask __attribute__((vector_size(8 * WIDTH), may_alias, aligned(8)));
    return (vec)((mask)v & *(const mask *)(KEEP + WIDTH - m));
}
