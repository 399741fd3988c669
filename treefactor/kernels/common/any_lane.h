/* Tell whether a bit of a register is set, such as of a comparison in any lane. Compilers would read the lanes one after
 * the other, which takes as long as a sine. */
#define ANY_LANE(mask) ISA(any_lane)(&(mask), sizeof(mask))

INLINE int ISA(any_lane)(const void *mask, size_t size)
{
    int part[16], any = 0;
#if REGISTER == 64
    if (size == 64) {
        const __m512i lanes = _mm512_loadu_si512(mask);
        return _mm512_test_epi32_mask(lanes, lanes) != 0;
    }
#endif
#if REGISTER >= 32
    if (size == 32) {
        const __m256i lanes = _mm256_loadu_si256((const __m256i *)mask);
        return !_mm256_testz_si256(lanes, lanes);
    }
#endif
    memcpy(part, mask, size);
    for (size_t k = 0; k < size / sizeof(int); k++) any |= part[k];
    return any != 0;
}
