/* Derivatives by q, v and a: motions of frames and of centres of mass, and the momentum about the centre of mass.
 * Singh, Russell, Wensing (2022), Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra.
 *
 * The unit motion S of freedom k displaces its body i and all that i carries. With the velocity V_l and the spatial
 * acceleration A_l of the parent l of i, and the velocity V_i:
 *
 *     first = V_l x S,   second = A_l x S + V_l x first,   mixed = (V_l + V_i) x S
 *
 * are the derivatives of velocities by q, of accelerations by q and of accelerations by v, for observers at rest. Those
 * of a quantity y seen from a frame on a body that moves at W leave out W x: derivatives of y in the axes of the base
 * then get the angle of S times y. Each output writes four matrices: the Jacobian and these three. */

#define MATRICES 4

typedef struct { real S[6], first[6], second[6], mixed[6]; } NAME(Rates);
#define Rates NAME(Rates)

/* V <- velocity of a body at a point, measured as places are */
INLINE void NAME(velocity_at)(const Work *w, ptrdiff_t body, const real *at, real *V)
{
    const Motion *own = w->V + body;
    real arm[3];
    EACH(r, 3) {
        arm[r] = at[r] - w->X[body].p[r];
        V[r] = own->v[r];
        V[3 + r] = own->w[r];
    }
    ADD_CROSS(own->w, arm, V);
}

/* A <- spatial acceleration of a body at a point */
INLINE void NAME(acceleration_at)(const Work *w, ptrdiff_t body, const real *at, real *A)
{
    const Motion *own = w->A + body;
    real arm[3];
    EACH(r, 3) {
        arm[r] = at[r] - w->X[body].p[r];
        A[r] = own->v[r];
        A[3 + r] = own->w[r];
    }
    ADD_CROSS(own->w, arm, A);
    ADD_CROSS(w->V[body].v, w->V[body].w, A);
}

/* Velocity and acceleration of the parent of a body at a point, and sums with those of the body: all freedoms of the
 * body share them */
typedef struct { real V[6], A[6], apart[6], sum[6]; } NAME(Carrier);
#define Carrier NAME(Carrier)

/* c <- those of a body, for observers that move at W; NULL: at rest */
INLINE void NAME(carry)(const Plan *plan, const Work *w, ptrdiff_t body, const real *at, const real *W, Carrier *c)
{
    const ptrdiff_t parent = plan->m.body[body].parent;
    real V[6];
    NAME(velocity_at)(w, parent, at, c->V);
    NAME(acceleration_at)(w, parent, at, c->A);
    NAME(velocity_at)(w, body, at, V);
    EACH(r, 6) {
        c->apart[r] = W ? c->V[r] - W[r] : c->V[r];
        c->sum[r] = c->apart[r] + V[r];
    }
}

/* x <- the rates of a freedom of the body of a carrier, at the same point */
INLINE void NAME(rates_of)(const Work *w, const Freedom *f, const real *at, const Carrier *c, Rates *x)
{
    const real zero = {0}, *axis = w->X[f->body].R + 3 * f->axis;
    EACH(r, 6) x->S[r] = x->first[r] = x->second[r] = x->mixed[r] = zero;
    if (f->linear) EACH(r, 3) x->S[r] = axis[r];
    else {
        real arm[3];
        EACH(r, 3) {
            arm[r] = at[r] - w->X[f->body].p[r];
            x->S[r] = axis[r] * f->pitch;
            x->S[3 + r] = axis[r];
        }
        ADD_CROSS(axis, arm, x->S);
    }
    NAME(add_motion_cross)(c->V, x->S, x->first);
    NAME(add_motion_cross)(c->A, x->S, x->second);
    NAME(add_motion_cross)(c->apart, x->first, x->second);
    NAME(add_motion_cross)(c->sum, x->S, x->mixed);
}

/* x <- derivatives of the linear part of the classical acceleration a + w x v, given those of the spatial one */
INLINE void NAME(make_classical)(const real *V, Rates *x)
{
    ADD_CROSS(x->first + 3, V, x->second);
    ADD_CROSS(V + 3, x->first, x->second);
    ADD_CROSS(x->S + 3, V, x->mixed);
    ADD_CROSS(V + 3, x->S, x->mixed);
}

/* x <- derivatives by q for observers at rest, given those for observers on the frame; A is the acceleration. At a
 * fixed point, another point of the body, displaced by minus the linear part of S, comes to lie. */
INLINE void NAME(observe_at_rest)(const Output *o, const real *V, const real *A, Rates *x)
{
    ADD_CROSS(x->S + 3, V, x->first);
    ADD_CROSS(x->S + 3, V + 3, x->first + 3);
    ADD_CROSS(x->S + 3, A, x->second);
    ADD_CROSS(x->S + 3, A + 3, x->second + 3);
    if (o->reference == WORLD) {
        const real zero = {0};
        real turned[3] = {zero, zero, zero};
        ADD_CROSS(x->S, V + 3, turned);
        EACH(r, 3) x->first[r] += turned[r];
        ADD_CROSS(x->S, A + 3, x->second);
        if (o->classical) ADD_CROSS(V + 3, turned, x->second);
    }
}

/* to[0 .. 3] <- derivatives of the motion of a frame */
INLINE void NAME(write_frame_derivatives)(const Plan *plan, const Work *w, const Output *o, double *const *to)
{
    View view;
    Carrier carrier;
    Rates x;
    real V[6], A[6];
    const Column *start = plan->column + o->column;
    ptrdiff_t body;
    if (o->columns == 0) return;
    NAME(view_frame)(w, o, &view);
    NAME(velocity_at)(w, o->body, view.at, V);
    NAME(acceleration_at)(w, o->body, view.at, A);
    if (o->classical) ADD_CROSS(V + 3, V, A);
    body = plan->freedom[start->freedom].body;
    NAME(carry)(plan, w, body, view.at, V, &carrier);
    for (const Column *c = start; c < start + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        if (f->body != body) NAME(carry)(plan, w, body = f->body, view.at, V, &carrier);
        NAME(rates_of)(w, f, view.at, &carrier, &x);
        if (o->classical) NAME(make_classical)(V, &x);
        if (o->reference != LOCAL) NAME(observe_at_rest)(o, V, A, &x);
        NAME(write_column)(plan, o, &view, c, x.S, to[0]);
        NAME(write_column)(plan, o, &view, c, x.first, to[1]);
        NAME(write_column)(plan, o, &view, c, x.second, to[2]);
        NAME(write_column)(plan, o, &view, c, x.mixed, to[3]);
    }
}

/* f += m s + s x h: linear momentum at the motion s of mass m with first moment h */
INLINE void NAME(add_linear)(double mass, const real *h, const real *s, real *f)
{
    EACH(r, 3) f[r] += mass * s[r];
    ADD_CROSS(s + 3, h, f);
}

/* x <- derivatives of the linear momentum of the subtree of a body and of its rate, in the first three entries */
INLINE void NAME(linear_derivatives)(const Plan *plan, const Work *w, ptrdiff_t body, const Rates *s, Rates *x)
{
    const double mass = plan->m.body[body].carried;
    const real zero = {0}, *h = w->h[body].e, *P = w->P[body].e;
    real twice[3];
    EACH(r, 3) {
        x->S[r] = x->first[r] = x->second[r] = x->mixed[r] = zero;
        twice[r] = 2.0 * P[r];
    }
    NAME(add_linear)(mass, h, s->S, x->S);
    NAME(add_linear)(mass, h, s->first, x->first);
    ADD_CROSS(s->S + 3, P, x->first);
    NAME(add_linear)(mass, h, s->second, x->second);
    ADD_CROSS(s->S + 3, w->F[body].e, x->second);
    ADD_CROSS(s->first + 3, twice, x->second);
    NAME(add_linear)(mass, h, s->mixed, x->mixed);
    ADD_CROSS(s->S + 3, twice, x->mixed);
}

/* to[0 .. 3] <- derivatives of the motion of the centre of mass of a subtree */
INLINE void NAME(write_center_derivatives)(const Plan *plan, const Work *w, const Output *o, double *const *to)
{
    const double per_mass = 1.0 / (o->body < 0 ? plan->mass : plan->m.body[o->body].carried);
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        const ptrdiff_t moved = f->body < o->body ? o->body : f->body;   /* carries all that the freedom moves */
        const real *at = w->X[moved].p;
        Carrier carrier;
        Rates s, x;
        NAME(carry)(plan, w, f->body, at, NULL, &carrier);
        NAME(rates_of)(w, f, at, &carrier, &s);
        NAME(linear_derivatives)(plan, w, moved, &s, &x);
        EACH(r, 3) {
            x.S[r] *= per_mass;
            x.first[r] *= per_mass;
            x.second[r] *= per_mass;
            x.mixed[r] *= per_mass;
        }
        NAME(write_rows)(plan, o, c, 3, x.S, to[0]);
        NAME(write_rows)(plan, o, c, 3, x.first, to[1]);
        NAME(write_rows)(plan, o, c, 3, x.second, to[2]);
        NAME(write_rows)(plan, o, c, 3, x.mixed, to[3]);
    }
}

/* n += J s + h x s: angular momentum at the motion s */
INLINE void NAME(add_angular)(const real *J, const real *h, const real *s, real *n)
{
    real turning[3];
    NAME(times)(J, s + 3, turning);
    EACH(r, 3) n[r] += turning[r];
    ADD_CROSS(h, s, n);
}

/* n += moment of the forces that a subtree needs when its velocities change while it turns by t per unit of time:
 * E t + t x L, with the rate E = dJ + 2 (h . v) 1 - h v^T - v h^T of the tensor about a fixed point */
INLINE void NAME(add_coupling)(const Work *w, ptrdiff_t body, const real *t, real *n)
{
    const real *h = w->h[body].e, *v = w->V[body].v;
    const real along_h = h[0] * t[0] + h[1] * t[1] + h[2] * t[2], along_v = v[0] * t[0] + v[1] * t[1] + v[2] * t[2];
    const real twice = 2.0 * (h[0] * v[0] + h[1] * v[1] + h[2] * v[2]);
    real turning[3];
    NAME(times)(w->dJ[body].e, t, turning);
    EACH(r, 3) n[r] += turning[r] + twice * t[r] - h[r] * along_v - v[r] * along_h;
    ADD_CROSS(t, w->L[body].e, n);
}

/* x <- derivatives of the angular momentum of the subtree of a body and of its rate, about the origin of the body */
INLINE void NAME(angular_derivatives)(const Work *w, ptrdiff_t body, const Rates *s, Rates *x)
{
    const real zero = {0}, *h = w->h[body].e, *J = w->J[body].e;
    EACH(r, 3) x->S[3 + r] = x->first[3 + r] = x->second[3 + r] = x->mixed[3 + r] = zero;
    NAME(add_angular)(J, h, s->S, x->S + 3);
    NAME(add_angular)(J, h, s->first, x->first + 3);
    ADD_CROSS(s->S + 3, w->L[body].e, x->first + 3);
    ADD_CROSS(s->S, w->P[body].e, x->first + 3);
    NAME(add_angular)(J, h, s->second, x->second + 3);
    ADD_CROSS(s->S + 3, w->N[body].e, x->second + 3);
    ADD_CROSS(s->S, w->F[body].e, x->second + 3);
    NAME(add_coupling)(w, body, s->first + 3, x->second + 3);
    NAME(add_angular)(J, h, s->mixed, x->mixed + 3);
    NAME(add_coupling)(w, body, s->S + 3, x->mixed + 3);
}

/* to[0 .. 3] <- derivatives of the momentum about the centre of mass by v, and by q; of its rate by q, and by v. The
 * centre moves by the first columns over the mass. */
INLINE void NAME(write_momentum_derivatives)(const Plan *plan, const Work *w, const Output *o, double *const *to)
{
    real center[3], pull[3];         /* velocity and acceleration of the centre of mass */
    EACH(r, 3) {
        center[r] = w->P[-1].e[r] / plan->mass;
        pull[r] = w->F[-1].e[r] / plan->mass;
    }
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        const real *at = w->X[f->body].p, *arm = w->arm[f->body].e;
        Carrier carrier;
        Rates s, x;
        NAME(carry)(plan, w, f->body, at, NULL, &carrier);
        NAME(rates_of)(w, f, at, &carrier, &s);
        NAME(linear_derivatives)(plan, w, f->body, &s, &x);
        NAME(angular_derivatives)(w, f->body, &s, &x);
        ADD_CROSS(arm, x.S, x.S + 3);
        ADD_CROSS(arm, x.first, x.first + 3);
        ADD_CROSS(center, x.S, x.first + 3);
        ADD_CROSS(arm, x.second, x.second + 3);
        ADD_CROSS(pull, x.S, x.second + 3);
        ADD_CROSS(arm, x.mixed, x.mixed + 3);
        NAME(write_rows)(plan, o, c, 6, x.S, to[0]);
        NAME(write_rows)(plan, o, c, 6, x.first, to[1]);
        NAME(write_rows)(plan, o, c, 6, x.second, to[2]);
        NAME(write_rows)(plan, o, c, 6, x.mixed, to[3]);
    }
}

/* x[item ..] <- the four matrices of an output of derivatives, in part k of the lanes */
INLINE void NAME(write_derivatives)(const Plan *plan, const Work *w, const Output *o, int k, double *const *x)
{
    double *to[MATRICES];
    EACH(j, MATRICES) to[j] = x[o->item + j] + o->first[LANES > 1] * LANES + k * PART;
    switch (o->kind) {
    case COM_DERIVATIVES: NAME(write_center_derivatives)(plan, w, o, to); return;
    case CENTROIDAL_DERIVATIVES: NAME(write_momentum_derivatives)(plan, w, o, to); return;
    case FRAME_DERIVATIVES: NAME(write_frame_derivatives)(plan, w, o, to); return;
    }
}

#undef View
#undef Rates
#undef Carrier
#undef MATRICES
