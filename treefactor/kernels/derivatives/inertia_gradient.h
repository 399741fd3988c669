/* Gradient of w . tau by the ten parameters of a body, for the inverse dynamics tau: coefficients of the parameters in
 * W I A - (V x W) I V, where W is the motion of the body at joint velocities w. Products and regressors use it. */

/* g <- coefficients of mass, first moment and tensor in W I A - (V x W) I V, with a = A + omega x V, the classical
 * acceleration:  W a,   W x A' + (W x omega) x omega + a x W',   W' A'^T - (omega x W') omega^T;  ' is angular */
INLINE void NAME(write_coefficients)(const real *W, const real *A, const real *a, const real *omega, double *g)
{
    const real zero = {0}, *turn = W + 3;
    real h[3] = {zero, zero, zero}, u[3] = {zero, zero, zero}, t[3] = {zero, zero, zero};
    ADD_CROSS(W, omega, t);
    ADD_CROSS(W, A, h);
    ADD_CROSS(t, omega, h);
    ADD_CROSS(a, turn, h);
    ADD_CROSS(turn, omega, u);
    AT(g, 0) = W[0] * a[0] + W[1] * a[1] + W[2] * a[2];
    EACH(r, 3) AT(g, 1 + r) = h[r];
    EACH(r, 3) EACH(c, r + 1) {
        real sum = turn[r] * A[c] + u[r] * omega[c];
        if (c < r) sum += turn[c] * A[r] + u[c] * omega[r];
        AT(g, 4 + LOWER(r, c)) = sum;
    }
}

/* y <- the vector x of a body's own axes in those of its joint */
INLINE void NAME(turn_to_joint)(const Body *b, const real *x, real *y) { ROTATE_BACK(b->axes, x, y); }

/* g <- gradient by the inertia of a body with the motion X; W is in the axes of its joint. */
INLINE void NAME(write_inertia_gradient)(const Body *b, const Motion *X, const real *W, double *g)
{
    real rate[3], a[3], w[3];
    NAME(turn_to_joint)(b, X->rate, rate);
    NAME(turn_to_joint)(b, X->a, a);
    NAME(turn_to_joint)(b, X->w, w);
    NAME(write_coefficients)(W, rate, a, w, g);
}
