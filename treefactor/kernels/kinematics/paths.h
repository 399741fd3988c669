/* Places, velocities and accelerations of the bodies of a request: Featherstone (2008), sections 4.4 and 5.3. */

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

/* Fill w->X and w->root. */
INLINE void NAME(place)(const Plan *plan, const double *q, const Work *w)
{
    const Mechanism *m = &plan->m;
    const real zero = {0};
    EACH(e, 9) w->X[-1].R[e] = zero + (double)(e % 4 == 0);
    EACH(r, 3) w->X[-1].p[r] = w->root[-1].e[r] = zero;
    NAME(compute_angles)(m, q, &w->angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        const Place *P = w->X + b->parent;
        Place X;
        if (b->parent < 0) {
            EACH(e, 9) X.R[e] = zero + b->R[e];
            EACH(r, 3) X.p[r] = zero + b->p[r];
        } else {
            NAME(turn)(plan->turn + i, b->R, P->R, X.R);
            ROTATE(P->R, b->p, X.p);
            EACH(r, 3) X.p[r] += P->p[r];
        }
        NAME(apply_joint)(b, q, &w->angles, X.R, X.p);
        if (b->parent < 0) EACH(r, 3) {
            w->root[i].e[r] = X.p[r];
            X.p[r] = zero;
        }
        w->X[i] = X;
    }
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
