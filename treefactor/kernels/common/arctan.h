/* Arc tangents of WIDTH pairs at a time; sincos.h stands before it. */

#define V ISA(V)
#define I ISA(I)

/* Computes atan2(y, x): the ratio of the smaller to the larger coordinate, reduced by pi/4 above tan(pi/8), then
 * the rational function of Cephes (Moshier, 1989); quadrants as in C. Infinite coordinates give NaN. */
INLINE V ISA(atan2_vector)(V y, V x)
{
    const I sign = (I){0} | (long long)(1ULL << 63);
    V ax = (V)((I)x & ~sign), ay = (V)((I)y & ~sign);
    I steep = (I)(ay > ax);
    V large = ISA(choose)(steep, ay, ax), small = ISA(choose)(steep, ax, ay);
    I upper = (I)(small > 0x1.a827999fcef32p-2 * large);
    V over = ISA(choose)(upper, small - large, small), under = ISA(choose)(upper, small + large, large);
    V u = over / ISA(choose)((I)(under == 0.0), under + 1.0, under), z = u * u;
    V P = -6.485021904942025371773e1 + z * (-1.228866684490136173410e2 + z * (-7.500855792314704667340e1 +
          z * (-1.615753718733365076637e1 + z * -8.750608600031904122785e-1)));
    V Q = 1.945506571482613964425e2 + z * (4.853903996359136964868e2 + z * (4.328810604912902668951e2 +
          z * (1.650270098316988542046e2 + z * (2.485846490142306297962e1 + z))));
    V angle = u + u * (z * P / Q);
    angle = ISA(choose)(upper, 0x1.921fb54442d18p-1 + (angle + 0x1.1a62633145c07p-55), angle);
    angle = ISA(choose)(steep, (0x1.921fb54442d18p+0 - angle) + 0x1.1a62633145c07p-54, angle);
    angle = ISA(choose)((I)((I)x < 0), (0x1.921fb54442d18p+1 - angle) + 0x1.1a62633145c07p-53, angle);
    return (V)((I)angle | ((I)y & sign));
}

#undef V
#undef I
