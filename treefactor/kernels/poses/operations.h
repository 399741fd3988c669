/* Operations on rotations and poses in registers, for one type and instruction set. Rotations are read into columns. */
#include "../common/spatial.h"
#include "../common/rotations.h"
#include "../common/rigid_motions.h"

/* R, p <- a pose of 3 rows and 4 columns; a rotation of 3 rows and 3 columns if p is NULL */
INLINE void NAME(read_pose)(const double *x, real *R, real *p)
{
    const int columns = p ? 4 : 3;
    EACH(r, 3) {
        EACH(c, 3) R[3 * c + r] = READ(x, columns * r + c);
        if (p) p[r] = READ(x, columns * r + 3);
    }
}

INLINE void NAME(write_pose)(const real *R, const real *p, double *x)
{
    const int columns = p ? 4 : 3;
    EACH(r, 3) {
        EACH(c, 3) AT(x, columns * r + c) = R[3 * c + r];
        if (p) AT(x, columns * r + 3) = p[r];
    }
}

INLINE void NAME(read_entries)(const double *x, int count, real *local)
{
    for (int e = 0; e < count; e++) local[e] = READ(x, e);
}

INLINE void NAME(write_entries)(const real *local, int count, double *x)
{
    for (int e = 0; e < count; e++) AT(x, e) = local[e];
}

/* x <- the matrix [A B; 0 A] in rows */
INLINE void NAME(write_blocks)(const real *A, const real *B, double *x)
{
    const real zero = {0};
    EACH(r, 3) EACH(c, 3) {
        AT(x, 6 * r + c) = A[3 * c + r];
        AT(x, 6 * r + 3 + c) = B[3 * c + r];
        AT(x, 6 * r + 18 + c) = zero;
        AT(x, 6 * r + 21 + c) = A[3 * c + r];
    }
}

/* y <- R x + p */
INLINE void NAME(place)(const real *R, const real *p, const real *x, real *y)
{
    ROTATE(R, x, y);
    EACH(r, 3) y[r] += p[r];
}

/* C <- A B, or A^T B */
INLINE void NAME(multiply)(const real *A, const real *B, real *C) { EACH(c, 3) ROTATE(A, B + 3 * c, C + 3 * c); }
INLINE void NAME(multiply_back)(const real *A, const real *B, real *C)
{
    EACH(c, 3) ROTATE_BACK(A, B + 3 * c, C + 3 * c);
}

/* q <- the quaternion of R with w >= 0, from the column of 4 q q^T with the largest diagonal entry */
INLINE void NAME(quaternion_of_matrix)(const real *R, real *q)
{
    const real x = R[5] - R[7], y = R[6] - R[2], z = R[1] - R[3];
    const real xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
    const real t[4] = {1.0 + R[0] - R[4] - R[8], 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8],
                       1.0 + R[0] + R[4] + R[8]};
    const real column[4][4] = {{t[0], xy, xz, x}, {xy, t[1], yz, y}, {xz, yz, t[2], z}, {x, y, z, t[3]}};
    real largest = t[3], zero = {0};
    EACH(r, 4) q[r] = column[3][r];
    EACH(k, 3) {
        EACH(r, 4) q[r] = SELECT(t[k] > largest, column[k][r], q[r]);
        largest = SELECT(t[k] > largest, t[k], largest);
    }
    NAME(make_unit)(q, 4);
    real w = q[3];
    EACH(r, 4) q[r] = SELECT(w < zero, -q[r], q[r]);
}

/* R, p <- exp [v; w] */
INLINE void NAME(exp_pose)(const real *v, const real *w, real *R, real *p)
{
    real q[4], first, second;
    NAME(exp_quaternion)(w, q, &first, &second);
    NAME(matrix_of_quaternion)(q, R);
    if (v) NAME(add_turns)(w, first, second, v, p);
}

/* w, v <- log of R, p; returns the coefficient of w x (w x p) */
INLINE real NAME(log_pose)(const real *R, const real *p, real *v, real *w)
{
    real q[4], second;
    NAME(quaternion_of_matrix)(R, q);
    NAME(log_quaternion)(q, w, &second);
    if (v) NAME(add_turns)(w, 0.0 * second - 0.5, second, p, v);
    return second;
}

/* R <- rotations by roll, pitch and yaw about the fixed axes x, y, z */
INLINE void NAME(matrix_of_rpy)(const real *rpy, real *R)
{
    real s[3], c[3];
    EACH(r, 3) NAME(sine_and_cosine)(rpy[r], s + r, c + r);
    R[0] = c[2] * c[1]; R[1] = s[2] * c[1]; R[2] = -s[1];
    R[3] = c[2] * s[1] * s[0] - s[2] * c[0]; R[4] = s[2] * s[1] * s[0] + c[2] * c[0]; R[5] = c[1] * s[0];
    R[6] = c[2] * s[1] * c[0] + s[2] * s[0]; R[7] = s[2] * s[1] * c[0] - c[2] * s[0]; R[8] = c[1] * c[0];
}
