/* Jacobians of exponentials and logarithms of rotations and rigid motions; rotations.h stands before it. Matrices
 * are 3 x 3 in columns. Derivatives are right ones: exp(x + d) = exp(x) exp(J d), log(M exp(d)) = log(M) + J d. */

#ifndef TREEFACTOR_RIGID_MOTIONS_H
#define TREEFACTOR_RIGID_MOTIONS_H
#define SERIES_OF_DERIVATIVES 0.3    /* rad; the derivatives of coefficients cancel more than the coefficients */
#endif

/* A <- one 1 + first [w]x + second [w]x [w]x */
INLINE void NAME(matrix_of_turns)(const real *w, real one, real first, real second, real *A)
{
    real square = LENGTH2(w);
    EACH(c, 3) EACH(r, 3) A[3 * c + r] = second * w[r] * w[c];
    EACH(r, 3) A[4 * r] += one - second * square;
    A[1] += first * w[2]; A[3] -= first * w[2];
    A[6] += first * w[1]; A[2] -= first * w[1];
    A[5] += first * w[0]; A[7] -= first * w[0];
}

/* R <- matrix of the unit quaternion q */
INLINE void NAME(matrix_of_quaternion)(const real *q, real *R)
{
    real x = 2.0 * q[0], y = 2.0 * q[1], z = 2.0 * q[2], w = q[3];
    R[0] = 1.0 - (y * q[1] + z * q[2]); R[1] = x * q[1] + z * w; R[2] = x * q[2] - y * w;
    R[3] = x * q[1] - z * w; R[4] = 1.0 - (x * q[0] + z * q[2]); R[5] = y * q[2] + x * w;
    R[6] = x * q[2] + y * w; R[7] = y * q[2] - x * w; R[8] = 1.0 - (x * q[0] + y * q[1]);
}

/* C <- derivative of a w x y + b w x (w x y) by w, for the derivatives da and db of a and b by |w|, over |w| */
INLINE void NAME(turns_by_w)(const real *w, const real *y, real a, real b, real da, real db, real *C)
{
    real along = w[0] * y[0] + w[1] * y[1] + w[2] * y[2], square = LENGTH2(w), t[3], u[3];
    NAME(cross)(w, y, t);
    EACH(r, 3) u[r] = da * t[r] + db * along * w[r] - (db * square + 2.0 * b) * y[r];
    EACH(c, 3) EACH(r, 3) C[3 * c + r] = u[r] * w[c] + b * w[r] * y[c];
    EACH(r, 3) C[4 * r] += b * along;
    C[1] -= a * y[2]; C[3] += a * y[2];
    C[6] -= a * y[1]; C[2] += a * y[1];
    C[5] -= a * y[0]; C[7] += a * y[0];
}

/* A, B <- blocks of the Jacobian [A B; 0 A] of exp [v; w], and q, p <- exp [v; w] */
INLINE void NAME(exp_jacobian)(const real *v, const real *w, real *A, real *B, real *q, real *p)
{
    real a, b, C[9], back[3];
    NAME(exp_quaternion)(w, q, &a, &b);
    NAME(add_turns)(w, a, b, v, p);
    NAME(matrix_of_turns)(w, 1.0 + 0.0 * a, -a, b, A);
    real y = LENGTH2(w), inverse = 1.0 / SELECT(y < TINY, y + 1.0, y);
    real da = -1.0 / 12.0 + y * (1.0 / 180.0 + y * (-1.0 / 6720.0 + y * (1.0 / 453600.0 + y * (-1.0 / 47900160.0))));
    real db = -1.0 / 60.0 + y * (1.0 / 1260.0 + y * (-1.0 / 60480.0 + y * (1.0 / 4989600.0 + y * (-1.0 / 622702080.0))));
    da = SELECT(y < SERIES_OF_DERIVATIVES * SERIES_OF_DERIVATIVES, da, (1.0 - y * b - 2.0 * a) * inverse);
    db = SELECT(y < SERIES_OF_DERIVATIVES * SERIES_OF_DERIVATIVES, db, (a - 3.0 * b) * inverse);
    NAME(turns_by_w)(w, v, a, b, da, db, C);
    EACH(r, 3) back[r] = -q[r];
    EACH(c, 3) NAME(turn)(back, q[3], C + 3 * c, B + 3 * c);
}

/* A, B <- blocks of the Jacobian [A B; 0 A] of log, at a motion with rotation vector w and translation p; `second`
 * is that of log_quaternion */
INLINE void NAME(log_jacobian)(const real *w, const real *p, real second, real *A, real *B)
{
    real C[9], y = LENGTH2(w), guard = SELECT(y < TINY, y + 1.0, y), inverse = 1.0 / guard;
    real half = 0.0 * y + 0.5;
    NAME(matrix_of_turns)(w, 2.0 * half, half, second, A);
    /* second = (1 - h cot h) / y with h = |w| / 2, so that its derivative over |w| is
     * (h^2 / sin^2 h + h cot h - 2) / y^2 and h cot h = 1 - y second, 1 / sin^2 h = 1 + cot^2 h */
    real d = 1.0 / 360.0 + y * (1.0 / 7560.0 + y * (1.0 / 201600.0 + y * (1.0 / 5987520.0 +
             y * (691.0 / 130767436800.0 + y * (1.0 / 6227020800.0)))));
    real cot = 1.0 - y * second;
    d = SELECT(y < SERIES_OF_DERIVATIVES * SERIES_OF_DERIVATIVES, d,
               ((0.25 * y + cot * cot) + cot - 2.0) * (inverse * inverse));
    NAME(turns_by_w)(w, p, -half, second, 0.0 * y, d, C);
    EACH(c, 3) ROTATE(C, A + 3 * c, B + 3 * c);
}
