/* Kernels of rotations and poses, for one type and instruction set; see table.h. Rotations are read into columns. */
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

#define KERNEL(name) static void NAME(name)(const double *a, const double *b, const double *u, double *result)
#define UNUSED (void)a, (void)b, (void)u

KERNEL(se3_exp)
{
    real x[6], R[9], p[3];
    UNUSED;
    NAME(read_entries)(a, 6, x);
    NAME(exp_pose)(x, x + 3, R, p);
    NAME(write_pose)(R, p, result);
}

KERNEL(se3_log)
{
    real R[9], p[3], x[6];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(log_pose)(R, p, x, x + 3);
    NAME(write_entries)(x, 6, result);
}

KERNEL(se3_jexp)
{
    real x[6], A[9], B[9], q[4], p[3];
    UNUSED;
    NAME(read_entries)(a, 6, x);
    NAME(exp_jacobian)(x, x + 3, A, B, q, p);
    NAME(write_blocks)(A, B, result);
}

KERNEL(se3_jlog)
{
    real R[9], p[3], w[3], A[9], B[9];
    UNUSED;
    NAME(read_pose)(a, R, p);
    real second = NAME(log_pose)(R, p, NULL, w);
    NAME(log_jacobian)(w, p, second, A, B);
    NAME(write_blocks)(A, B, result);
}

KERNEL(se3_compose)
{
    real R[9], p[3], S[9], r[3], Q[9], s[3];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(read_pose)(b, S, r);
    NAME(multiply)(R, S, Q);
    NAME(place)(R, p, r, s);
    NAME(write_pose)(Q, s, result);
}

/* Q, s <- the inverse of R, p times S, r */
INLINE void NAME(relative_pose)(const real *R, const real *p, const real *S, const real *r, real *Q, real *s)
{
    real d[3];
    NAME(multiply_back)(R, S, Q);
    EACH(k, 3) d[k] = r[k] - p[k];
    ROTATE_BACK(R, d, s);
}

KERNEL(se3_inverse)
{
    real R[9], p[3], S[9], r[3], d[3];
    UNUSED;
    NAME(read_pose)(a, R, p);
    EACH(i, 3) EACH(j, 3) S[3 * i + j] = R[3 * j + i];
    EACH(k, 3) d[k] = -p[k];
    ROTATE_BACK(R, d, r);
    NAME(write_pose)(S, r, result);
}

KERNEL(se3_between)
{
    real R[9], p[3], S[9], r[3], Q[9], s[3];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(read_pose)(b, S, r);
    NAME(relative_pose)(R, p, S, r, Q, s);
    NAME(write_pose)(Q, s, result);
}

KERNEL(se3_interpolate)
{
    real R[9], p[3], S[9], r[3], Q[9], s[3], x[6], part = READ(u, 0);
    NAME(read_pose)(a, R, p);
    NAME(read_pose)(b, S, r);
    NAME(relative_pose)(R, p, S, r, Q, s);
    NAME(log_pose)(Q, s, x, x + 3);
    EACH(k, 6) x[k] *= part;
    NAME(exp_pose)(x, x + 3, S, r);
    NAME(multiply)(R, S, Q);
    NAME(place)(R, p, r, s);
    NAME(write_pose)(Q, s, result);
}

KERNEL(se3_action)
{
    real R[9], p[3], B[9];
    UNUSED;
    NAME(read_pose)(a, R, p);
    EACH(c, 3) NAME(cross)(p, R + 3 * c, B + 3 * c);
    NAME(write_blocks)(R, B, result);
}

KERNEL(se3_act)
{
    real R[9], p[3], x[3], y[3];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(read_entries)(b, 3, x);
    NAME(place)(R, p, x, y);
    NAME(write_entries)(y, 3, result);
}

KERNEL(se3_act_on_motion)
{
    real R[9], p[3], x[6], y[6];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(read_entries)(b, 6, x);
    ROTATE(R, x, y);
    ROTATE(R, x + 3, y + 3);
    ADD_CROSS(p, y + 3, y);
    NAME(write_entries)(y, 6, result);
}

KERNEL(se3_act_inverse)
{
    real R[9], p[3], x[3], y[3];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(read_entries)(b, 3, x);
    EACH(k, 3) x[k] -= p[k];
    ROTATE_BACK(R, x, y);
    NAME(write_entries)(y, 3, result);
}

KERNEL(se3_act_inverse_on_motion)
{
    real R[9], p[3], x[6], y[6];
    UNUSED;
    NAME(read_pose)(a, R, p);
    NAME(read_entries)(b, 6, x);
    ADD_CROSS(x + 3, p, x);
    ROTATE_BACK(R, x, y);
    ROTATE_BACK(R, x + 3, y + 3);
    NAME(write_entries)(y, 6, result);
}

KERNEL(se3_from_xyzquat)
{
    real x[7], R[9];
    UNUSED;
    NAME(read_entries)(a, 7, x);
    NAME(make_unit)(x + 3, 4);
    NAME(matrix_of_quaternion)(x + 3, R);
    NAME(write_pose)(R, x, result);
}

KERNEL(se3_to_xyzquat)
{
    real R[9], x[7];
    UNUSED;
    NAME(read_pose)(a, R, x);
    NAME(quaternion_of_matrix)(R, x + 3);
    NAME(write_entries)(x, 7, result);
}

KERNEL(se3_from_rpy)
{
    real p[3], rpy[3], R[9];
    UNUSED;
    NAME(read_entries)(a, 3, p);
    NAME(read_entries)(b, 3, rpy);
    NAME(matrix_of_rpy)(rpy, R);
    NAME(write_pose)(R, p, result);
}

#include "rotation_kernels.h"
