/* Derivatives of steps between configurations by their arguments, along `integrate`, as one dense block for every
 * curved Coordinates. steps.h stands before it.
 *
 *     q exp v:          by q  Ad(exp -v),     by v  J(v), the right Jacobian of exp
 *     d = log(q^-1 x):  by x  J(d)^-1,        by q  -J(-d)^-1
 *
 * A PLANE is a motion of SPACE with rows and columns x, y and rotation about z only. */
#include "../common/rigid_motions.h"

/* block <- rows and columns of [A B; 0 A] that belong to a group, times sign */
INLINE void NAME(write_block)(ptrdiff_t group, const real *A, const real *B, double sign, double *block)
{
    static const int picked[3][6] = {{3, 4, 5}, {0, 1, 5}, {0, 1, 2, 3, 4, 5}};   /* of SPHERE, PLANE, SPACE */
    const int size = group == SPACE ? 6 : 3, *entry = picked[group - SPHERE];
    const real zero = {0};
    real M[6][6];
    EACH(r, 3) EACH(c, 3) {
        M[r][c] = M[3 + r][3 + c] = A[3 * c + r];
        M[r][3 + c] = B[3 * c + r];
        M[3 + r][c] = zero;
    }
    for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++) AT(block, r * size + c) = sign * M[entry[r]][entry[c]];
}

/* motion (6) <- velocity of one group as a motion of space */
INLINE void NAME(as_motion)(ptrdiff_t group, const real *v, real *motion)
{
    const real zero = {0};
    EACH(r, 6) motion[r] = zero;
    EACH(r, 3) motion[group == SPHERE ? r + 3 : group == PLANE && r == 2 ? 5 : r] = v[r];
    if (group == SPACE) EACH(r, 3) motion[3 + r] = v[3 + r];
}

static void NAME(integrate_derivative)(const Coordinates *c, ptrdiff_t count, const double *q, const double *v,
                                       int argument, double *blocks)
{
    real x[6], m[6], A[9], B[9], turned[4], p[3], R[9];
    (void)q;
    for (const Coordinates *end = c + count; c < end; c++) {
        if (c->group == LINEAR) continue;
        if (c->group == CIRCLE) {
            const real zero = {0};
            AT(blocks, 0) = zero + 1.0;
        } else {
            FETCH(x, v, c->v, c->nv);
            NAME(as_motion)(c->group, x, m);
            NAME(exp_jacobian)(m, m + 3, A, B, turned, p);
            if (argument == 0) {        /* Ad(M^-1) = [R^T, -R^T [p]x; 0, R^T] */
                NAME(matrix_of_quaternion)(turned, R);
                EACH(i, 3) EACH(j, 3) A[3 * i + j] = R[3 * j + i];
                EACH(i, 3) {            /* columns -R^T (p x e_i) */
                    const real zero = {0};
                    real e[3] = {zero, zero, zero}, t[3];
                    e[i] = zero - 1.0;
                    NAME(cross)(p, e, t);
                    ROTATE(A, t, B + 3 * i);
                }
            }
            NAME(write_block)(c->group, A, B, 1.0, blocks);
        }
        blocks += c->nv * c->nv * LANES;
    }
}

static void NAME(difference_derivative)(const Coordinates *c, ptrdiff_t count, const double *q0, const double *q1,
                                        int argument, double *blocks)
{
    real x[7], y[7], d[6], m[6], A[9], B[9], turned[4], p[3];
    const double sign = argument == 0 ? -1.0 : 1.0;
    for (const Coordinates *end = c + count; c < end; c++) {
        if (c->group == LINEAR) continue;
        if (c->group == CIRCLE) {
            const real zero = {0};
            AT(blocks, 0) = zero + sign;
        } else {
            real first, third, second;
            FETCH(x, q0, c->q, c->nq); FETCH(y, q1, c->q, c->nq);
            NAME(step_between)(c->group, x, y, d);
            for (ptrdiff_t e = 0; e < c->nv; e++) d[e] *= sign;     /* J(-d) for the first argument */
            NAME(as_motion)(c->group, d, m);
            NAME(exp_quaternion)(m + 3, turned, &first, &third);
            NAME(add_turns)(m + 3, first, third, m, p);
            NAME(log_quaternion)(turned, m + 3, &second);
            NAME(log_jacobian)(m + 3, p, second, A, B);
            NAME(write_block)(c->group, A, B, sign, blocks);
        }
        blocks += c->nv * c->nv * LANES;
    }
}
