/* Kernels of rotations; kernels.h includes it after those of poses. */

KERNEL(so3_exp)
{
    real w[3], R[9];
    UNUSED;
    NAME(read_entries)(a, 3, w);
    NAME(exp_pose)(NULL, w, R, NULL);
    NAME(write_pose)(R, NULL, result);
}

KERNEL(so3_log)
{
    real R[9], w[3];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    NAME(log_pose)(R, NULL, NULL, w);
    NAME(write_entries)(w, 3, result);
}

KERNEL(so3_jexp)
{
    real w[3], q[4], A[9], first, second;
    UNUSED;
    NAME(read_entries)(a, 3, w);
    NAME(exp_quaternion)(w, q, &first, &second);
    NAME(matrix_of_turns)(w, 0.0 * first + 1.0, -first, second, A);
    NAME(write_pose)(A, NULL, result);
}

KERNEL(so3_jlog)
{
    real R[9], w[3], A[9];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    real second = NAME(log_pose)(R, NULL, NULL, w), half = 0.0 * second + 0.5;
    NAME(matrix_of_turns)(w, 2.0 * half, half, second, A);
    NAME(write_pose)(A, NULL, result);
}

KERNEL(so3_compose)
{
    real R[9], S[9], Q[9];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    NAME(read_pose)(b, S, NULL);
    NAME(multiply)(R, S, Q);
    NAME(write_pose)(Q, NULL, result);
}

KERNEL(so3_inverse)
{
    UNUSED;
    EACH(r, 3) EACH(c, 3) AT(result, 3 * r + c) = READ(a, 3 * c + r);
}

KERNEL(so3_between)
{
    real R[9], S[9], Q[9];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    NAME(read_pose)(b, S, NULL);
    NAME(multiply_back)(R, S, Q);
    NAME(write_pose)(Q, NULL, result);
}

KERNEL(so3_interpolate)
{
    real R[9], S[9], Q[9], w[3], part = READ(u, 0);
    NAME(read_pose)(a, R, NULL);
    NAME(read_pose)(b, S, NULL);
    NAME(multiply_back)(R, S, Q);
    NAME(log_pose)(Q, NULL, NULL, w);
    EACH(k, 3) w[k] *= part;
    NAME(exp_pose)(NULL, w, S, NULL);
    NAME(multiply)(R, S, Q);
    NAME(write_pose)(Q, NULL, result);
}

KERNEL(so3_act)
{
    real R[9], x[3], y[3];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    NAME(read_entries)(b, 3, x);
    ROTATE(R, x, y);
    NAME(write_entries)(y, 3, result);
}

KERNEL(so3_act_inverse)
{
    real R[9], x[3], y[3];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    NAME(read_entries)(b, 3, x);
    ROTATE_BACK(R, x, y);
    NAME(write_entries)(y, 3, result);
}

KERNEL(so3_from_quaternion)
{
    real q[4], R[9];
    UNUSED;
    NAME(read_entries)(a, 4, q);
    NAME(make_unit)(q, 4);
    NAME(matrix_of_quaternion)(q, R);
    NAME(write_pose)(R, NULL, result);
}

KERNEL(so3_to_quaternion)
{
    real R[9], q[4];
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    NAME(quaternion_of_matrix)(R, q);
    NAME(write_entries)(q, 4, result);
}

KERNEL(so3_from_rpy)
{
    real rpy[3], R[9];
    UNUSED;
    NAME(read_entries)(a, 3, rpy);
    NAME(matrix_of_rpy)(rpy, R);
    NAME(write_pose)(R, NULL, result);
}

/* Yaw comes from R turned back by roll, so that the three angles give R also where roll and yaw have one axis. */
KERNEL(so3_to_rpy)
{
    real R[9], rpy[3], s, c;
    UNUSED;
    NAME(read_pose)(a, R, NULL);
    rpy[0] = NAME(arctangent)(R[5], R[8]);
    rpy[1] = NAME(arctangent)(-R[2], NAME(root)(R[5] * R[5] + R[8] * R[8]));
    NAME(sine_and_cosine)(rpy[0], &s, &c);
    rpy[2] = NAME(arctangent)(s * R[6] - c * R[3], c * R[4] - s * R[7]);
    NAME(write_entries)(rpy, 3, result);
}

#undef KERNEL
#undef UNUSED
