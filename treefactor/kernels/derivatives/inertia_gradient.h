/* Gradient of w . tau by the ten parameters of a body, for the inverse dynamics tau: coefficients of the parameters in
 * W I A - (V x W) I V, where W is the motion of the body at joint velocities w. Products and regressors use it. */

/* y <- the vector x in the axes of the joint of a body */
INLINE void NAME(turn_to_joint)(const Body *b, const Pose *X, const real *x, real *y)
{
    real own[3];
    ROTATE_BACK(X->R, x, own);
    ROTATE_BACK(b->axes, own, y);
}

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

/* W <- the motion x of a body, at the origin and in the axes of its joint */
INLINE void NAME(turn_motion_to_joint)(const Body *b, const Pose *X, const real *x, real *W)
{
    real at[6];
    EACH(r, 6) at[r] = x[r];
    ADD_CROSS(at + 3, X->p, at);
    NAME(turn_to_joint)(b, X, at, W);
    NAME(turn_to_joint)(b, X, at + 3, W + 3);
}

/* g <- gradient by the inertia of a body with velocity V and acceleration A; W is in the axes of its joint. */
INLINE void NAME(write_inertia_gradient)(const Body *b, const Pose *X, const real *V, const real *A, const real *W,
                                         double *g)
{
    real v[3], a[3], here[9];            /* at the origin of the joint; in its axes */
    EACH(r, 3) { v[r] = V[r]; a[r] = A[r]; }
    ADD_CROSS(V + 3, X->p, v);
    ADD_CROSS(A + 3, X->p, a);
    ADD_CROSS(V + 3, v, a);
    NAME(turn_to_joint)(b, X, A + 3, here);
    NAME(turn_to_joint)(b, X, a, here + 3);
    NAME(turn_to_joint)(b, X, V + 3, here + 6);
    NAME(write_coefficients)(W, here, here + 3, here + 6, g);
}
