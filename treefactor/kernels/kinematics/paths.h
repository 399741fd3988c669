/* Places, velocities and accelerations of the bodies of a request: Featherstone (2008), sections 4.4 and 5.3. */

#define PART ((int)(sizeof(real) / 8))    /* lanes of a register */
#define PARTS (LANES / PART)

typedef struct { real R[9], p[3]; } NAME(Place);          /* axes, and origin measured from that of the root body */
typedef struct { real e[3]; } NAME(Point);
typedef struct { real v[3], w[3]; } NAME(Motion);         /* of the body's own origin, and angular */
typedef struct { real e[6]; } NAME(Tensor);               /* lower triangle */
#define Place NAME(Place)
#define Point NAME(Point)
#define Motion NAME(Motion)
#define Tensor NAME(Tensor)

typedef struct {                     /* entry -1 belongs to the base */
    Place *X;
    Point *root;                     /* origin of every root body, measured from the base */
    Motion *V, *A;                   /* velocities, and classical accelerations */
    Point *arm;                      /* way from the centre of mass of the whole model */
    Point *h, *P, *F;                /* sums over subtrees: first moment about the body's origin, m v, m a */
    Tensor *J, *dJ;                  /* sums over subtrees: inertia tensor about the body's origin, and its rate */
    Point *L, *N;                    /* sums over subtrees: moments of m v and m a about the body's origin */
    Angles angles;
} NAME(Work);
#define Work NAME(Work)

/* R <- P times a constant rotation */
INLINE void NAME(turn)(const Turn *turn, const double *by, const real *P, real *R)
{
    if (turn->permuted)
        EACH(c, 3) EACH(r, 3) R[3 * c + r] = turn->sign[c] * P[3 * turn->source[c] + r];
    else
        EACH(c, 3) ROTATE(P, by + 3 * c, R + 3 * c);
}

/* p <- P->p + P->R d; constant entries of d that are zero cost nothing */
INLINE void NAME(displace)(const Place *P, const double *d, real *p)
{
    real from[3];
    EACH(r, 3) from[r] = P->p[r];
    EACH(c, 3) if (d[c] != 0.0) EACH(r, 3) from[r] += P->R[3 * c + r] * d[c];
    EACH(r, 3) p[r] = from[r];
}

/* X[i] of all parts of the lanes <- place of body i, which turns about its z axis below another body. Rows are computed
 * one after the other, which needs few registers. */
INLINE void NAME(place_hinge)(const Turn *turn, const Body *b, ptrdiff_t i, const Work *w)
{
    if (turn->permuted) {
        const ptrdiff_t x = 3 * turn->source[0], y = 3 * turn->source[1], z = 3 * turn->source[2];
        for (int k = 0; k < PARTS; k++) {
            const real *P = w[k].X[b->parent].R, s = w[k].angles.sine[b->angle], c = w[k].angles.cosine[b->angle];
            const real sx = s * turn->sign[0], cx = c * turn->sign[0], sy = s * turn->sign[1], cy = c * turn->sign[1];
            real *R = w[k].X[i].R;
            EACH(r, 3) {
                R[r] = cx * P[x + r] + sy * P[y + r];
                R[3 + r] = cy * P[y + r] - sx * P[x + r];
                R[6 + r] = turn->sign[2] * P[z + r];
            }
        }
    } else
        for (int k = 0; k < PARTS; k++) {
            const real *P = w[k].X[b->parent].R, s = w[k].angles.sine[b->angle], c = w[k].angles.cosine[b->angle];
            real *R = w[k].X[i].R;
            EACH(r, 3) {
                real x = P[r] * b->R[0] + P[3 + r] * b->R[1] + P[6 + r] * b->R[2];
                real y = P[r] * b->R[3] + P[3 + r] * b->R[4] + P[6 + r] * b->R[5];
                R[6 + r] = P[r] * b->R[6] + P[3 + r] * b->R[7] + P[6 + r] * b->R[8];
                R[r] = c * x + s * y;
                R[3 + r] = c * y - s * x;
            }
        }
    for (int k = 0; k < PARTS; k++) NAME(displace)(w[k].X + b->parent, b->p, w[k].X[i].p);
}

/* w->X, w->root of body i <- its place, for any joint */
INLINE void NAME(place_body)(const Turn *turn, const Body *b, ptrdiff_t i, const double *q, const Work *w)
{
    const Place *P = w->X + b->parent;
    const real zero = {0};
    Place X;
    if (b->parent < 0) {
        EACH(e, 9) X.R[e] = zero + b->R[e];
        EACH(r, 3) X.p[r] = zero + b->p[r];
    } else {
        NAME(turn)(turn, b->R, P->R, X.R);
        NAME(displace)(P, b->p, X.p);
    }
    NAME(apply_joint)(b, q, &w->angles, X.R, X.p);
    if (b->parent < 0) EACH(r, 3) {
        w->root[i].e[r] = X.p[r];
        X.p[r] = zero;
    }
    w->X[i] = X;
}

/* Fill X and root of all parts of the lanes, side by side: a body waits for its parent, but not for other parts. */
INLINE void NAME(place)(const Plan *plan, const double *q, const Work *w)
{
    const real zero = {0};
    const Body *body = plan->m.body;
    for (int k = 0; k < PARTS; k++) {
        EACH(e, 9) w[k].X[-1].R[e] = zero + (double)(e % 4 == 0);
        EACH(r, 3) w[k].X[-1].p[r] = w[k].root[-1].e[r] = zero;
    }
    for (const Body *b = body; b < body + plan->m.bodies; b++)
        if (b->angle >= 0)
            for (int k = 0; k < PARTS; k++) w[k].angles.angle[b->angle] = NAME(joint_position)(b, q + k * PART);
    ISA(sincos)(plan->m.angles * LANES, (double *)w->angles.angle, (double *)w->angles.sine,
                (double *)w->angles.cosine);
    for (ptrdiff_t i = 0; i < plan->m.bodies; i++)
        if (body[i].parent >= 0 && body[i].kind == REVOLUTE) NAME(place_hinge)(plan->turn + i, body + i, i, w);
        else for (int k = 0; k < PARTS; k++) NAME(place_body)(plan->turn + i, body + i, i, q + k * PART, w + k);
}

/* M <- motion of body i relative to its parent, in present axes, for the rates x of the freedoms; NULL: zero */
INLINE void NAME(joint_motion)(const Plan *plan, ptrdiff_t i, const Work *w, const double *x, Motion *M)
{
    const real zero = {0};
    const Body *b = plan->m.body + i;
    EACH(r, 3) M->v[r] = M->w[r] = zero;
    if (!x) return;
    for (const Freedom *f = plan->freedom + b->v; f < plan->freedom + b->v + b->freedoms; f++) {
        const real *axis = w->X[i].R + 3 * f->axis;
        real rate = f->ratio * READ(x, f->column);
        if (f->linear) EACH(r, 3) M->v[r] += axis[r] * rate;
        else EACH(r, 3) M->w[r] += axis[r] * rate;
        if (f->pitch != 0.0) EACH(r, 3) M->v[r] += axis[r] * (f->pitch * rate);
    }
}

/* Fill w->V, and w->A if an output needs it. With d the way from the parent's origin to that of body i and u, o the
 * linear and angular velocity relative to the parent, whose axes move with body i:
 *     w_i = w + o,   v_i = v + w x d + u,   w_i' = w' + o' + w x o,   v_i' = v' + w' x d + w x (w x d + u) + w_i x u + u' */
INLINE void NAME(move)(const Plan *plan, const double *v, const double *a, const Work *w)
{
    const real zero = {0};
    EACH(r, 3) w->V[-1].v[r] = w->V[-1].w[r] = zero;
    if (plan->order > 1) EACH(r, 3) w->A[-1].v[r] = w->A[-1].w[r] = zero;
    for (ptrdiff_t i = 0; i < plan->m.bodies; i++) {
        const ptrdiff_t parent = plan->m.body[i].parent;
        const Motion P = w->V[parent];
        Motion V, joint;
        real d[3], carried[3] = {zero, zero, zero};
        NAME(joint_motion)(plan, i, w, v, &joint);
        EACH(r, 3) d[r] = w->X[i].p[r] - w->X[parent].p[r];
        ADD_CROSS(P.w, d, carried);
        EACH(r, 3) {
            carried[r] += joint.v[r];
            V.w[r] = P.w[r] + joint.w[r];
            V.v[r] = P.v[r] + carried[r];
        }
        w->V[i] = V;
        if (plan->order > 1) {
            const Motion *Q = w->A + parent;
            Motion A;
            NAME(joint_motion)(plan, i, w, a, &A);
            EACH(r, 3) {
                A.v[r] += Q->v[r];
                A.w[r] += Q->w[r];
            }
            ADD_CROSS(P.w, joint.w, A.w);
            ADD_CROSS(Q->w, d, A.v);
            ADD_CROSS(P.w, carried, A.v);
            ADD_CROSS(V.w, joint.v, A.v);
            w->A[i] = A;
        }
    }
}
