/* Normal numbers from counters, a register of lanes at a time (Box and Muller, 1958). */

/* Return numbers in [0, 1) with 52 bits. */
INLINE real NAME(uniform)(bits key, uint64_t counter)
{
    bits x = key + GOLDEN * (counter + 1);
    MIX(x);
    return (real)((x >> 12) | 0x3ff0000000000000u) - 1.0;
}

/* Return log x of normal numbers: x = 2^k m with m from sqrt(1/2) to sqrt(2), and fdlibm's polynomial (Sun Microsystems,
 * 1993) for log m. */
INLINE real NAME(logarithm)(real x)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdu;
    const bits shifted = (bits)x + (0x3ff0000000000000u - root_half);
    const real k = (real)((shifted >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    const real f = (real)((shifted & 0xfffffffffffffu) + root_half) - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    const real odd = 0x1.5555555555593p-1 + w * (0x1.2492494229359p-2 + w * (0x1.7466496cb03dep-3 + w * 0x1.2f112df3e5244p-3));
    const real even = 0x1.999999997fa04p-2 + w * (0x1.c71c51d8e78afp-3 + w * 0x1.39a09d078c69fp-3);
    const real half = 0.5 * f * f;
    return k * 0x1.62e42feep-1 + (f - (half - (s * (half + (z * odd + w * even)) + k * 0x1.a39ef35793c76p-33)));
}

/* a, b <- the normal numbers of two successive counters */
INLINE void NAME(normal_pair)(bits key, uint64_t counter, real *a, real *b)
{
    real s, c;
    const real length = NAME(root)(-2.0 * NAME(logarithm)(1.0 - NAME(uniform)(key, counter)));
    NAME(sine_and_cosine)(0x1.921fb54442d18p+2 * NAME(uniform)(key, counter + 1), &s, &c);
    *a = length * c;
    *b = length * s;
}
