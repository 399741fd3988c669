/* Three-vectors and arrays of lanes, on real: a double, or a register of them. Texts that use it are included with
 *     REAL   LANES (numbers side by side in memory)   NAME(f)   f for this type and instruction set
 */
#ifndef TREEFACTOR_SPATIAL_H
#define TREEFACTOR_SPATIAL_H

#define real REAL
#define EACH(r, count) UNROLL for (int r = 0; r < (count); r++)
/* every entry of the lower triangle of a 6 x 6 matrix */
#define EACH_ENTRY(e) UNROLL_LONG for (int e = 0; e < 21; e++)
/* y = R x, R in columns */
#define ROTATE(R, x, y) EACH(r_, 3) (y)[r_] = (R)[r_] * (x)[0] + (R)[3 + r_] * (x)[1] + (R)[6 + r_] * (x)[2]
/* y = R^T x, R in columns */
#define ROTATE_BACK(R, x, y) EACH(r_, 3) \
    (y)[r_] = (R)[3 * r_] * (x)[0] + (R)[3 * r_ + 1] * (x)[1] + (R)[3 * r_ + 2] * (x)[2]
/* y += a x b */
#define ADD_CROSS(a, b, y) do { \
        (y)[0] += (a)[1] * (b)[2] - (a)[2] * (b)[1]; \
        (y)[1] += (a)[2] * (b)[0] - (a)[0] * (b)[2]; \
        (y)[2] += (a)[0] * (b)[1] - (a)[1] * (b)[0]; } while (0)
/* y = a x b */
#define CROSS(a, b, y) do { \
        (y)[0] = (a)[1] * (b)[2] - (a)[2] * (b)[1]; \
        (y)[1] = (a)[2] * (b)[0] - (a)[0] * (b)[2]; \
        (y)[2] = (a)[0] * (b)[1] - (a)[1] * (b)[0]; } while (0)

#endif
