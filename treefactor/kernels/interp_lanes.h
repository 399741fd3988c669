/* The register machine on LANES configurations, REAL holding WIDTH of them; see machine.h. */

#define SLOT(k) ((REAL *)room + (ptrdiff_t)p[k] * (LANES / WIDTH))
#define EACH_TIME(words) for (const int32_t *stop = p + (words) * times; p < stop; p += (words))
#define EACH_PART for (int i = 0; i < LANES / WIDTH; i++)
/* an opcode of n operands with one result */
#define CASE(opcode, n, result) \
    case opcode: \
        EACH_TIME((n) + 1) { \
            REAL *to = SLOT(0); \
            const REAL *A = SLOT(1), *B = SLOT((n) > 1 ? 2 : 1), *C = SLOT((n) > 2 ? 3 : 1); \
            const REAL *D = SLOT((n) > 3 ? 4 : 1), *E = SLOT((n) > 4 ? 5 : 1), *F = SLOT((n) > 5 ? 6 : 1); \
            EACH_PART { \
                const REAL a = A[i], b = B[i], c = C[i], d = D[i], e = E[i], f = F[i]; \
                (void)b, (void)c, (void)d, (void)e, (void)f; \
                to[i] = (result); \
            } \
        } \
        break;

/* x, or NaN where it is not positive */
INLINE REAL NAME(positive)(REAL x)
{
#if WIDTH == 1
    return x > 0 ? x : NAN;
#else
    return (REAL)((ISA(I))x | ~(ISA(I))(x > 0));
#endif
}

#if LANES == 1
/* sines and cosines of many slots, as many at a time as registers hold */
static const int32_t *NAME(turn)(const int32_t *p, int32_t times, double *room)
{
    enum { AT_ONCE = 64 };
    double x[AT_ONCE], s[AT_ONCE], c[AT_ONCE];
    for (int32_t done = 0, n; done < times; done += n) {
        n = times - done < AT_ONCE ? times - done : AT_ONCE;
        for (int32_t i = 0; i < n; i++) x[i] = room[p[3 * i + 2]];
        ISA(sincos)(n, x, s, c);
        for (int32_t i = 0; i < n; i++, p += 3) { room[p[0]] = s[i]; room[p[1]] = c[i]; }
    }
    return p;
}
#else
static const int32_t *NAME(turn)(const int32_t *p, int32_t times, double *room)
{
    EACH_TIME(3) ISA(sincos)(LANES, (double *)SLOT(2), (double *)SLOT(0), (double *)SLOT(1));
    return p;
}
#endif

static void NAME(run)(const int32_t *p, double *room)
{
    for (;;) {
        const int32_t opcode = p[0], times = p[1];
        p += 2;
        switch (opcode) {
            CASE(SUM(1, 0, 0, 0), 2, a * b)
            CASE(SUM(0, 0, 2, 0), 2, a + b)
            CASE(SUM(0, 0, 1, 1), 2, a - b)
            CASE(SUM(1, 0, 1, 0), 3, a * b + c)
            CASE(SUM(1, 0, 0, 1), 3, a * b - c)
            CASE(SUM(0, 1, 1, 0), 3, c - a * b)
            CASE(SUM(2, 0, 0, 0), 4, a * b + c * d)
            CASE(SUM(1, 1, 0, 0), 4, a * b - c * d)
            CASE(SUM(0, 0, 3, 0), 3, a + b + c)
            CASE(SUM(0, 0, 2, 1), 3, a + b - c)
            CASE(SUM(0, 0, 1, 2), 3, a - b - c)
            CASE(SUM(1, 0, 2, 0), 4, c + d + a * b)
            CASE(SUM(1, 0, 1, 1), 4, c - d + a * b)
            CASE(SUM(1, 0, 0, 2), 4, a * b - c - d)
            CASE(SUM(0, 1, 2, 0), 4, c + d - a * b)
            CASE(SUM(0, 1, 1, 1), 4, c - d - a * b)
            CASE(SUM(2, 0, 1, 0), 5, e + a * b + c * d)
            CASE(SUM(2, 0, 0, 1), 5, a * b - e + c * d)
            CASE(SUM(1, 1, 1, 0), 5, e + a * b - c * d)
            CASE(SUM(1, 1, 0, 1), 5, a * b - e - c * d)
            CASE(SUM(0, 2, 1, 0), 5, e - a * b - c * d)
            CASE(SUM(3, 0, 0, 0), 6, a * b + c * d + e * f)
            CASE(SUM(2, 1, 0, 0), 6, a * b + c * d - e * f)
            CASE(SUM(1, 2, 0, 0), 6, a * b - c * d - e * f)
            CASE(OP_RECIP, 1, 1.0 / a)
            CASE(OP_POSITIVE, 1, NAME(positive)(1.0 / a))
            CASE(OP_NEGATIVE, 1, -NAME(positive)(-1.0 / a))
            case OP_SINCOS: p = NAME(turn)(p, times, room); break;
            default: return;
        }
    }
}

#if LANES > 1
/* T <- its transpose */
#ifndef SHUFFLE
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ISA(I)){__VA_ARGS__})
#endif
#endif
INLINE void NAME(transpose)(REAL *T)
{
    for (int stage = 1; stage < WIDTH; stage *= 2) {
        REAL U[WIDTH];
        UNROLL for (int i = 0; i < WIDTH / 2; i++) {
            const REAL a = T[i], b = T[i + WIDTH / 2];
#if REGISTER == 64
            U[2 * i] = SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
            U[2 * i + 1] = SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif REGISTER == 32
            U[2 * i] = SHUFFLE(a, b, 0, 4, 1, 5);
            U[2 * i + 1] = SHUFFLE(a, b, 2, 6, 3, 7);
#else
            U[2 * i] = SHUFFLE(a, b, 0, 2);
            U[2 * i + 1] = SHUFFLE(a, b, 1, 3);
#endif
        }
        UNROLL for (int i = 0; i < WIDTH; i++) T[i] = U[i];
    }
}
#endif

#define AT(base, lane, entry) (*(double *)((base) + (lane) * to_lane + (entry) * to_entry))

static void NAME(load)(ptrdiff_t size, int count, const char *from, ptrdiff_t to_lane, ptrdiff_t to_entry,
                       double *room)
{
    (void)count;
#if LANES > 1
    if (count == LANES && to_entry == sizeof(double) && size >= WIDTH) {
        for (ptrdiff_t next = 0; next < size; next += WIDTH) {
            const ptrdiff_t e = next < size - WIDTH ? next : size - WIDTH;   /* the last tile may overlap */
            for (int lane = 0; lane < LANES; lane += WIDTH) {
                REAL T[WIDTH];
                UNROLL for (int i = 0; i < WIDTH; i++)
                    memcpy(&T[i], from + (lane + i) * to_lane + e * (ptrdiff_t)sizeof(double), sizeof(REAL));
                NAME(transpose)(T);
                UNROLL for (int i = 0; i < WIDTH; i++) *(REAL *)(room + (e + i) * LANES + lane) = T[i];
            }
        }
        return;
    }
#endif
    for (ptrdiff_t e = 0; e < size; e++)
        if (count == LANES && to_lane == sizeof(double))
            memcpy(room + e * LANES, from + e * to_entry, LANES * sizeof(double));
        else
            for (int l = 0; l < LANES; l++) room[e * LANES + l] = AT(from, l < count ? l : 0, e);
}

static void NAME(store)(ptrdiff_t size, int count, const int32_t *slot, const double *sign,
                        const double *room, char *to, ptrdiff_t to_lane, ptrdiff_t to_entry)
{
#if LANES > 1
    if (count == LANES && to_entry == sizeof(double) && size >= WIDTH) {
        for (ptrdiff_t next = 0; next < size; next += WIDTH) {
            const ptrdiff_t e = next < size - WIDTH ? next : size - WIDTH;
            for (int lane = 0; lane < LANES; lane += WIDTH) {
                REAL T[WIDTH];
                UNROLL for (int i = 0; i < WIDTH; i++)
                    T[i] = sign[e + i] * *(const REAL *)(room + (ptrdiff_t)slot[e + i] * LANES + lane);
                NAME(transpose)(T);
                UNROLL for (int i = 0; i < WIDTH; i++)
                    memcpy(to + (lane + i) * to_lane + e * (ptrdiff_t)sizeof(double), &T[i], sizeof(REAL));
            }
        }
        return;
    }
#endif
    for (ptrdiff_t e = 0; e < size; e++) {
        const double *x = room + (ptrdiff_t)slot[e] * LANES;
        if (LANES > 1 && to_lane == sizeof(double))
            for (int l = 0; l < count; l++) ((double *)(to + e * to_entry))[l] = sign[e] * x[l];
        else
            for (int l = 0; l < (LANES == 1 ? 1 : count); l++) AT(to, l, e) = sign[e] * x[l];
    }
}

static const Width NAME(width) = {LANES, NAME(run), NAME(load), NAME(store)};

#undef SLOT
#undef EACH_TIME
#undef EACH_PART
#undef CASE
#undef AT
