/* Kernels of rotations and poses, for one type and instruction set; see table.h. */
#include "operations.h"

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
