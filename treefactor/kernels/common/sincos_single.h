/* Sines, cosines and arc tangents of numbers in single precision, WIDTH at a time: what sincos.h and arctan.h have
 * for double precision. */

#define PAIR 2                       /* registers of numbers that are computed together */

typedef float ISA(V_single) __attribute__((vector_size(4 * WIDTH)));
typedef int ISA(I_single) __attribute__((vector_size(4 * WIDTH)));
#define V ISA(V_single)
#define I ISA(I_single)

/* m ? a : b, bit by bit */
INLINE V ISA(choose_single)(I m, V a, V b) { return (V)(((I)a & m) | ((I)b & ~m)); }

/* Cody & Waite (1980): x = k pi/2 + r, |r| <= pi/4, pi/2 in four parts, the first three of so few bits that their
 * products with m are exact, with and without fused multiply-adds; then the polynomials of Cephes (Moshier, 1989)
 * on r. */
INLINE void ISA(sincos_registers_single)(int registers, const V *x, V *s, V *c)
{
    const float shift = 0x1.8p23f;   /* x + shift has the nearest integer to x in its last bits */
    I quarter[PAIR];
    V r[PAIR], z[PAIR], sine[PAIR], cosine[PAIR];
#define TOGETHER UNROLL for (int k = 0; k < registers; k++)
    TOGETHER {
        V t = x[k] * 0x1.45f306p-1f + shift;
        V m = t - shift;
        quarter[k] = (I)t;
        r[k] = ((x[k] - m * 0x1.92p+0f) - m * 0x1.fap-12f) - m * 0x1.54p-20f;
        r[k] = r[k] - m * 0x1.10b462p-30f;
        z[k] = r[k] * r[k];
    }
    TOGETHER sine[k] = 0x1.11073cp-7f - z[k] * 0x1.9943f2p-13f;
    TOGETHER cosine[k] = -0x1.6c0c34p-10f + z[k] * 0x1.99eb9cp-16f;
    TOGETHER sine[k] = -0x1.555546p-3f + z[k] * sine[k];
    TOGETHER cosine[k] = 0x1.55554ap-5f + z[k] * cosine[k];
    TOGETHER {
        V half = 0.5f * z[k], w = 1.0f - half;
        sine[k] = r[k] + r[k] * z[k] * sine[k];
        cosine[k] = w + (((1.0f - w) - half) + z[k] * z[k] * cosine[k]);
    }
    TOGETHER {
        I odd = -(quarter[k] & 1);
        I sign = (quarter[k] & 2) << 30, sign_c = ((quarter[k] + 1) & 2) << 30;
        s[k] = (V)((I)ISA(choose_single)(odd, cosine[k], sine[k]) ^ sign);
        c[k] = (V)((I)ISA(choose_single)(odd, sine[k], cosine[k]) ^ sign_c);
    }
#undef TOGETHER
}

INLINE void ISA(sincos_vector_single)(V x, V *s, V *c) { ISA(sincos_registers_single)(1, &x, s, c); }

/* n is a multiple of WIDTH */
static void ISA(sincos_single)(ptrdiff_t n, const float *x, float *s, float *c)
{
    const float largest = 100000;
    I large = {0};
    ptrdiff_t i = 0;
    for (; i + PAIR * WIDTH <= n; i += PAIR * WIDTH) {
        V from[PAIR], sine[PAIR], cosine[PAIR];
        UNROLL for (int k = 0; k < PAIR; k++) {
            memcpy(from + k, x + i + k * WIDTH, sizeof(V));
            large |= ~((from[k] <= largest) & (from[k] >= -largest));
        }
        ISA(sincos_registers_single)(PAIR, from, sine, cosine);
        UNROLL for (int k = 0; k < PAIR; k++) {
            memcpy(s + i + k * WIDTH, sine + k, sizeof(V));
            memcpy(c + i + k * WIDTH, cosine + k, sizeof(V));
        }
    }
    if (i < n) {
        V from, sine, cosine;
        memcpy(&from, x + i, sizeof from);
        large |= ~((from <= largest) & (from >= -largest));
        ISA(sincos_registers_single)(1, &from, &sine, &cosine);
        memcpy(s + i, &sine, sizeof sine);
        memcpy(c + i, &cosine, sizeof cosine);
    }
    int any = 0;
    for (int l = 0; l < WIDTH; l++) any |= large[l];
    for (i = 0; any && i < n; i++)
        if (!(fabsf(x[i]) <= largest)) { s[i] = sinf(x[i]); c[i] = cosf(x[i]); }
}

/* Computes atan2(y, x): the ratio of the smaller to the larger coordinate, reduced by pi/4 above tan(pi/8), then
 * the polynomial of Cephes (Moshier, 1989); quadrants as in C. Infinite coordinates give NaN. */
INLINE V ISA(atan2_vector_single)(V y, V x)
{
    const I sign = (I){0} | (int)(1U << 31);
    V ax = (V)((I)x & ~sign), ay = (V)((I)y & ~sign);
    I steep = (I)(ay > ax);
    V large = ISA(choose_single)(steep, ay, ax), small = ISA(choose_single)(steep, ax, ay);
    I upper = (I)(small > 0x1.a8279ap-2f * large);
    V over = ISA(choose_single)(upper, small - large, small);
    V under = ISA(choose_single)(upper, small + large, large);
    V u = over / ISA(choose_single)((I)(under == 0.0f), under + 1.0f, under), z = u * u;
    V P = -3.33329491539e-1f + z * (1.99777106478e-1f + z * (-1.38776856032e-1f + z * 8.05374449538e-2f));
    V angle = u + u * (z * P);
    angle = ISA(choose_single)(upper, 0x1.921fb6p-1f + (angle - 0x1.777a5cp-26f), angle);
    angle = ISA(choose_single)(steep, (0x1.921fb6p+0f - angle) - 0x1.777a5cp-25f, angle);
    angle = ISA(choose_single)((I)((I)x < 0), (0x1.921fb6p+1f - angle) - 0x1.777a5cp-24f, angle);
    return (V)((I)angle | ((I)y & sign));
}

#undef V
#undef I
#undef PAIR
