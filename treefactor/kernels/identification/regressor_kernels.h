/* Regressors for one kind of number: tau = Y pi with the parameters pi of all bodies. Atkeson, An and Hollerbach (1986),
 * Estimation of inertial parameters of manipulator loads and links. recursions.h lists the names that must be defined.
 *
 *     for every body i:   force and moment B_i (6 x 10) of each of its parameters at unit value
 *         for every freedom k between body i and the root:   Y_ki = W_k B_i
 *
 * B_i and the motions W_k of the body at unit velocity of each freedom are about its origin and in its own axes, as in
 * rnea.h; only the parameters are in the axes of the joint. W_k is carried from parent to child. Below a free-flying
 * root, whose freedoms are first on every path, placements in the root stand for its six motions. */
#include "../dynamics/workspace.h"
#include "../dynamics/inertias.h"
#include "../dynamics/turns.h"
#include "../dynamics/handovers.h"
#include "../dynamics/rnea.h"
#include "../derivatives/inertia_gradient.h"

/* Forces (u) and moments (o) of the parameters of a body, those that are not always zero. */
typedef struct { real mass[3], first[3][3], lever[3][3], tensor[6][3]; } NAME(Columns);
#define Columns NAME(Columns)

typedef struct { real R[9], p[3]; } NAME(InRoot);     /* rows of the rotation, and the origin */
#define InRoot NAME(InRoot)

/* Return the inner product of two vectors. */
INLINE real NAME(dot)(const real *a, const real *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* B <- forces of the mass and moments of the first moment h at the acceleration a: a and h x a */
INLINE void NAME(write_levers)(const Body *b, const ColumnOrder *order, const real *a, Columns *B)
{
    const real zero = {0};
    const ptrdiff_t *place = order->place + 10 * b->joint;
    const double *sign = order->sign + 10 * b->joint;
    EACH(r, 3) B->mass[r] = a[r];
    EACH(c, 3) {
        real *n = B->lever[place[1 + c] - 1], factor = zero + sign[1 + c];
        const int x = (c + 1) % 3, y = (c + 2) % 3;
        n[c] = zero;
        n[x] = -factor * a[y];
        n[y] = factor * a[x];
    }
}

/* B <- forces and moments of a body with the motion X: also of h  K h, and of the tensor J  J w' + w x J w */
INLINE void NAME(write_columns)(const Body *b, const ColumnOrder *order, const Motion *X, Columns *B)
{
    const ptrdiff_t *place = order->place + 10 * b->joint;
    const double *sign = order->sign + 10 * b->joint;
    const real zero = {0}, *w = X->w, *rate = X->rate, *K = X->K, xy = w[0] * w[1], xz = w[0] * w[2], yz = w[1] * w[2];
    const real J[6][3] = {
        {rate[0], xz, -xy}, {-K[2], K[5], K[0] - K[4]}, {-yz, rate[1], xy},
        {K[1], K[8] - K[0], -K[7]}, {K[4] - K[8], -K[3], K[6]}, {yz, -xz, rate[2]},
    };
    NAME(write_levers)(b, order, X->a, B);
    EACH(c, 3) {
        real *f = B->first[place[1 + c] - 1], factor = zero + sign[1 + c];
        EACH(r, 3) f[r] = factor * K[3 * c + r];
    }
    EACH(e, 6) {
        real *n = B->tensor[place[4 + e] - 4], factor = zero + sign[4 + e];
        EACH(r, 3) n[r] = factor * J[e][r];
    }
}

/* B <- B in the axes of the joint, where they are no permutation of the body's own */
static void NAME(mix_columns)(const Body *b, Columns *B)
{
    const double *A = b->axes;
    real lever[3][3], first[3][3];
    EACH(c, 3) EACH(r, 3) lever[c][r] = B->lever[c][r];
    EACH(r, 3) EACH(c, 3) B->lever[c][r] = lever[0][r] * A[3 * c] + lever[1][r] * A[3 * c + 1] + lever[2][r] * A[3 * c + 2];
    EACH(c, 3) EACH(r, 3) first[c][r] = B->first[c][r];
    EACH(r, 3) {
        real S[9], SA[9];
        EACH(c, 3) B->first[c][r] = first[0][r] * A[3 * c] + first[1][r] * A[3 * c + 1] + first[2][r] * A[3 * c + 2];
        EACH(i, 3) EACH(j, i + 1) S[3 * i + j] = S[3 * j + i] = (i == j ? 1.0 : 0.5) * B->tensor[LOWER(i, j)][r];
        EACH(c, 3) ROTATE(S, A + 3 * c, SA + 3 * c);
        EACH(i, 3) EACH(j, i + 1)
            B->tensor[LOWER(i, j)][r] = (i == j ? 1.0 : 2.0) * (A[3 * i] * SA[3 * j] + A[3 * i + 1] * SA[3 * j + 1]
                                                              + A[3 * i + 2] * SA[3 * j + 2]);
    }
}

/* Where the pairs of all bodies are written: into lanes, or by transposition into rows. */
typedef struct { const ptrdiff_t *to; double *Y; ptrdiff_t to_next; } NAME(Target);
#define Target NAME(Target)

/* Return where the next pair is written. */
INLINE double *NAME(next_pair)(Target *T, int in_rows) { return T->Y + *T->to++ * (in_rows ? 1 : LANES); }

/* Write `count` coefficients, four at most, of a pair that begins at y, from coefficient c on. */
INLINE void NAME(put)(const Target *T, int in_rows, double *y, int c, int count, const real *x)
{
#if LANES > 1
    if (in_rows) {
        ISA(put_in_rows)(count, x, y + c, T->to_next);
        return;
    }
#endif
    EACH(k, count) AT(y, c + k) = x[k];
}

/* Write the coefficients of the motion W. Registers hold few of them at a time. */
INLINE void NAME(put_products)(const Columns *B, const Vector *W, int in_rows, Target *T)
{
    double *y = NAME(next_pair)(T, in_rows);
    real w[6], x[4];
    EACH(r, 6) w[r] = W->e[r];
    x[0] = NAME(dot)(B->mass, w);
    EACH(c, 3) {
        x[1 + c] = NAME(dot)(B->lever[c], w + 3);
        x[1 + c] = x[1 + c] + B->first[c][0] * w[0] + B->first[c][1] * w[1] + B->first[c][2] * w[2];
    }
    NAME(put)(T, in_rows, y, 0, 4, x);
    EACH(e, 4) x[e] = NAME(dot)(B->tensor[e], w + 3);
    NAME(put)(T, in_rows, y, 4, 4, x);
    EACH(e, 2) x[e] = NAME(dot)(B->tensor[4 + e], w + 3);
    NAME(put)(T, in_rows, y, 8, 2, x);
}

/* Write the coefficients of freedom k of the body itself. */
INLINE void NAME(put_own)(const Body *b, ptrdiff_t k, const Columns *B, int in_rows, Target *T)
{
    const real zero = {0};
    const ptrdiff_t along = NAME(axis_of)(b, k), about = along - 3;
    double *y = NAME(next_pair)(T, in_rows);
    real x[10];
    EACH(c, 10) x[c] = zero;
    if (about < 0) {
        x[0] = B->mass[along];
        EACH(c, 3) x[1 + c] = B->first[c][along];
    } else {
        EACH(c, 3) x[1 + c] = B->lever[c][about];
        EACH(e, 6) x[4 + e] = B->tensor[e][about];
    }
    if (b->kind == HELICAL) {
        x[0] += b->pitch * B->mass[2];
        EACH(c, 3) x[1 + c] += b->pitch * B->first[c][2];
    }
    NAME(put)(T, in_rows, y, 0, 4, x);
    NAME(put)(T, in_rows, y, 4, 4, x + 4);
    NAME(put)(T, in_rows, y, 8, 2, x + 8);
}

/* Write the pairs of the six freedoms of a free-flying root: X is the placement of the body there. */
INLINE void NAME(put_root_pairs)(const Columns *B, const InRoot *X, int in_rows, Target *T)
{
    const real zero = {0};
    real f[4][3], x[4];
    EACH(k, 3) {
        const real *R = X->R + 3 * k;
        double *y = NAME(next_pair)(T, in_rows);
        f[0][k] = NAME(dot)(R, B->mass);
        EACH(c, 3) f[1 + c][k] = NAME(dot)(R, B->first[c]);
        EACH(c, 4) x[c] = f[c][k];
        NAME(put)(T, in_rows, y, 0, 4, x);
        EACH(c, 4) x[c] = zero;
        NAME(put)(T, in_rows, y, 4, 4, x);
        NAME(put)(T, in_rows, y, 8, 2, x);
    }
    EACH(k, 3) {
        const real *R = X->R + 3 * k, *p = X->p;
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        double *y = NAME(next_pair)(T, in_rows);
        x[0] = zero + p[i] * f[0][j];   /* a product that is fused alike in a number and in lanes */
        x[0] = x[0] - p[j] * f[0][i];
        EACH(c, 3) {
            x[1 + c] = NAME(dot)(R, B->lever[c]);
            x[1 + c] = x[1 + c] + p[i] * f[1 + c][j] - p[j] * f[1 + c][i];
        }
        NAME(put)(T, in_rows, y, 0, 4, x);
        EACH(e, 4) x[e] = NAME(dot)(R, B->tensor[e]);
        NAME(put)(T, in_rows, y, 4, 4, x);
        EACH(e, 2) x[e] = NAME(dot)(R, B->tensor[4 + e]);
        NAME(put)(T, in_rows, y, 8, 2, x);
    }
}

typedef struct {
    Workspace w;
    Columns *columns;                /* of one body: as a local variable GCC copies it to the stack */
    Vector *path;                    /* for every body the motions W of its path, or InRoot first, then W */
} NAME(PathWorkspace);
#define PathWorkspace NAME(PathWorkspace)

static ptrdiff_t NAME(path_workspace_size)(const Mechanism *m)
{
    return NAME(workspace_size)(m) + (ptrdiff_t)((sizeof(Columns) + m->start[m->n] * sizeof(Vector)) / 8);
}

INLINE PathWorkspace NAME(carve_path_workspace)(const Mechanism *m, double *workspace)
{
    Columns *columns = (Columns *)(workspace + NAME(workspace_size)(m));
    return (PathWorkspace){NAME(carve_workspace)(m, workspace), columns, (Vector *)(columns + 1)};
}

/* Return the motions of the path of body i. */
INLINE Vector *NAME(path_of)(const Mechanism *m, const PathWorkspace *w, ptrdiff_t i)
{
    return w->path + m->start[m->body[i].v];
}

/* Carry the motions of the path of body i, and write its pairs; massless bodies have none, and B is NULL. */
INLINE void NAME(put_pairs)(const Mechanism *m, ptrdiff_t i, const PathWorkspace *w, const Columns *B, int in_rows,
                            Target *T)
{
    const real zero = {0};
    const Body *b = m->body + i;
    const Turn *turn = w->w.turn + i;
    Vector *own = NAME(path_of)(m, w, i), *above = b->parent < 0 ? NULL : NAME(path_of)(m, w, b->parent);
    InRoot *X = (InRoot *)own;
    const ptrdiff_t from = above ? b->copied : 0;
    if (from) {
        const InRoot *P = (const InRoot *)above;
        EACH(k, 3) X->p[k] = P->p[k] + NAME(dot)(P->R + 3 * k, turn->p);
        NAME(turn_in)(b, turn, 3, P->R, X->R);
        if (B) NAME(put_root_pairs)(B, X, in_rows, T);
    } else if (b->copied) {
        EACH(k, 9) X->R[k] = zero + (double)(k % 4 == 0);
        EACH(r, 3) X->p[r] = zero;
    }
    if (from < b->above) NAME(carry_motions)(b, turn, b->above - from, above + from, own + from);
    if (!b->leaf && (above || !b->copied))
        for (ptrdiff_t k = 0; k < b->freedoms; k++) NAME(unit_motion)(b, k, own[b->above + k].e);
    if (!B) return;
    for (ptrdiff_t e = from; e < b->above; e++) NAME(put_products)(B, own + e, in_rows, T);
    for (ptrdiff_t k = 0; k < b->freedoms; k++) NAME(put_own)(b, k, B, in_rows, T);
}

/* Write the pairs of body i, whose parent's motion and path are known; v = NULL means zero. */
INLINE void NAME(write_body)(const Mechanism *m, ptrdiff_t i, const PathWorkspace *w, const double *q,
                             const double *v, const double *a, int gravity, const ColumnOrder *order, int in_rows,
                             Target *T)
{
    const Body *b = m->body + i;
    Motion *X = w->w.motion + i;
    Columns *B = w->columns;
    NAME(place)(m, b, q, &w->w.angles, gravity, w->w.turn + i);
    NAME(move_body)(m, i, &w->w, v, a, gravity, X);
    if (b->joint < 0) {
        NAME(put_pairs)(m, i, w, NULL, in_rows, T);
        return;
    }
    NAME(write_columns)(b, order, X, B);
    if (order->turned[b->joint]) NAME(mix_columns)(b, B);
    NAME(put_pairs)(m, i, w, B, in_rows, T);
}

static void NAME(write_body_in_lanes)(const Mechanism *m, ptrdiff_t i, const PathWorkspace *w, const double *q,
                                      const double *v, const double *a, int gravity, const ColumnOrder *order,
                                      Target *T)
{
    NAME(write_body)(m, i, w, q, v, a, gravity, order, 0, T);
}

#if LANES > 1
static void NAME(write_body_in_rows)(const Mechanism *m, ptrdiff_t i, const PathWorkspace *w, const double *q,
                                     const double *v, const double *a, int gravity, const ColumnOrder *order,
                                     Target *T)
{
    NAME(write_body)(m, i, w, q, v, a, gravity, order, 1, T);
}
#endif

#include "other_regressors.h"

#undef Columns
#undef Weight
#undef InRoot
#undef Target
#undef PathWorkspace
#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Turn
#undef Motion
#undef Pivot
#undef LOWER
#undef SYMMETRIC
