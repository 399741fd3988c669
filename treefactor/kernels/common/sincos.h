/* Sines and cosines of many numbers, WIDTH at a time. */

#define PAIR 2                       /* registers of numbers that are computed together */

typedef double ISA(V) __attribute__((vector_size(8 * WIDTH)));
typedef long long ISA(I) __attribute__((vector_size(8 * WIDTH)));
#define V ISA(V)
#define I ISA(I)

/* m ? a : b, bit by bit */
INLINE V ISA(choose)(I m, V a, V b) { return (V)(((I)a & m) | ((I)b & ~m)); }

/* Cody & Waite (1980): x = k pi/2 + r, |r| <= pi/4, pi/2 in three parts, the first two of 33 bits; then the
 * polynomials of fdlibm (Sun Microsystems, 1993) on r. Registers take every step together: one of them waits for
 * most of its own steps. */
INLINE void ISA(sincos_registers)(int registers, const V *x, V *s, V *c)
{
    const double shift = 0x1.8p52;   /* x + shift has the nearest integer to x in its last bits */
    I quarter[PAIR];
    V r[PAIR], z[PAIR], sine[PAIR], cosine[PAIR];
#define TOGETHER UNROLL for (int k = 0; k < registers; k++)
#define HORNER(y, coefficient) TOGETHER y[k] = coefficient + z[k] * y[k];
    TOGETHER {
        V t = x[k] * 0x1.45f306dc9c883p-1 + shift;
        V m = t - shift;
        quarter[k] = (I)t;
        V a = x[k] - m * 0x1.921fb54400000p+0, b = m * 0x1.0b4611a600000p-34, d = a - b;
        r[k] = d - (m * 0x1.3198a2e037073p-69 - ((a - d) - b));   /* adds back what rounding removed from d */
        z[k] = r[k] * r[k];
    }
    TOGETHER sine[k] = -0x1.ae5e68a2b9cebp-26 + z[k] * 0x1.5d93a5acfd57cp-33;
    TOGETHER cosine[k] = 0x1.1ee9ebdb4b1c4p-29 + z[k] * -0x1.8fae9be8838d4p-37;
    HORNER(sine, 0x1.71de357b1fe7dp-19)
    HORNER(cosine, -0x1.27e4f809c52adp-22)
    HORNER(sine, -0x1.a01a019c161d5p-13)
    HORNER(cosine, 0x1.a01a019cb1590p-16)
    HORNER(sine, 0x1.111111110f8a6p-7)
    HORNER(cosine, -0x1.6c16c16c15177p-10)
    HORNER(sine, -0x1.5555555555549p-3)
    HORNER(cosine, 0x1.555555555554cp-5)
    TOGETHER {
        V half = 0.5 * z[k], w = 1.0 - half;
        sine[k] = r[k] + r[k] * z[k] * sine[k];
        cosine[k] = w + (((1.0 - w) - half) + z[k] * z[k] * cosine[k]);
    }
    TOGETHER {
        I odd = -(quarter[k] & 1);
        I sign = (quarter[k] & 2) << 62, sign_c = ((quarter[k] + 1) & 2) << 62;
        s[k] = (V)((I)ISA(choose)(odd, cosine[k], sine[k]) ^ sign);
        c[k] = (V)((I)ISA(choose)(odd, sine[k], cosine[k]) ^ sign_c);
    }
#undef TOGETHER
#undef HORNER
}

INLINE void ISA(sincos_vector)(V x, V *s, V *c) { ISA(sincos_registers)(1, &x, s, c); }

static void ISA(sincos)(ptrdiff_t n, const double *x, double *s, double *c)
{
    const double largest = 100000;
    I large = {0};
    ptrdiff_t i = 0;
    for (; i + PAIR * WIDTH <= n; i += PAIR * WIDTH) {
        V from[PAIR], sine[PAIR], cosine[PAIR];
        UNROLL for (int k = 0; k < PAIR; k++) {
            memcpy(from + k, x + i + k * WIDTH, sizeof(V));
            large |= ~((from[k] <= largest) & (from[k] >= -largest));
        }
        ISA(sincos_registers)(PAIR, from, sine, cosine);
        UNROLL for (int k = 0; k < PAIR; k++) {
            memcpy(s + i + k * WIDTH, sine + k, sizeof(V));
            memcpy(c + i + k * WIDTH, cosine + k, sizeof(V));
        }
    }
    for (; i < n; i += WIDTH) {
        ptrdiff_t count = n - i < WIDTH ? n - i : WIDTH;
        V from = {0}, sine, cosine;
        if (count == WIDTH) {
            memcpy(&from, x + i, sizeof from);
            ISA(sincos_vector)(from, &sine, &cosine);
            memcpy(s + i, &sine, sizeof sine);
            memcpy(c + i, &cosine, sizeof cosine);
        } else {
            for (ptrdiff_t l = 0; l < count; l++) from[l] = x[i + l];
            ISA(sincos_vector)(from, &sine, &cosine);
            for (ptrdiff_t l = 0; l < count; l++) { s[i + l] = sine[l]; c[i + l] = cosine[l]; }
        }
        large |= ~((from <= largest) & (from >= -largest));
    }
    long long any = 0;
    for (int l = 0; l < WIDTH; l++) any |= large[l];
    for (i = 0; any && i < n; i++)
        if (!(fabs(x[i]) <= largest)) { s[i] = sin(x[i]); c[i] = cos(x[i]); }
}
#undef V
#undef I
#undef PAIR
