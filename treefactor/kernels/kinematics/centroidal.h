/* Results of masses: centres of mass with their motion and Jacobian, and the momentum of the whole model about its
 * centre of mass with its map and rates. Orin, Goswami, Lee (2013), Centroidal dynamics of a humanoid robot. */

/* x[r * row] <- or +=, by c->add, ratio times s[r] */
INLINE void NAME(write_rows)(const Plan *plan, const Output *o, const Column *c, int rows, const real *s, double *x)
{
    const double ratio = plan->freedom[c->freedom].ratio;   /* 1, but for mimic joints */
    const ptrdiff_t row = o->row[LANES > 1];
    x += c->place[LANES > 1] * LANES;
    EACH(r, rows) {
        real scaled = s[r] * ratio;
        if (c->add) scaled += AT(x, r * row);
        AT(x, r * row) = scaled;
    }
}

/* x <- centre of mass of a subtree; its first moment is taken about the origin of its body, or of the first body */
INLINE void NAME(write_center)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    const double mass = o->body < 0 ? plan->mass : plan->m.body[o->body].carried;
    EACH(r, 3) AT(x, r) = (w->X[o->body].p[r] + w->h[o->body].e[r] / mass) + w->root[o->root].e[r];
}

/* x <- velocity or acceleration of the centre of mass of a subtree, from the sum of m v or m a */
INLINE void NAME(write_center_motion)(const Plan *plan, const Output *o, const Point *sum, double *x)
{
    const double mass = o->body < 0 ? plan->mass : plan->m.body[o->body].carried;
    EACH(r, 3) AT(x, r) = sum[o->body].e[r] / mass;
}

/* x <- velocities of the centre of mass of a subtree for unit velocities. Freedoms above it (their bodies have lower
 * numbers) move all of it, others the subtrees of their own bodies. */
INLINE void NAME(write_center_jacobian)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    const double per_mass = 1.0 / (o->body < 0 ? plan->mass : plan->m.body[o->body].carried);
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        const real zero = {0}, *axis = w->X[f->body].R + 3 * f->axis;
        const int above = f->body < o->body;
        const double part = above ? 1.0 : plan->m.body[f->body].carried * per_mass;
        real s[3] = {zero, zero, zero}, way[3];
        if (!f->linear) {
            if (above) EACH(r, 3)
                way[r] = w->X[o->body].p[r] - w->X[f->body].p[r] + w->h[o->body].e[r] * per_mass;
            else EACH(r, 3) way[r] = w->h[f->body].e[r] * per_mass;
            ADD_CROSS(axis, way, s);
        }
        if (f->linear || f->pitch != 0.0) EACH(r, 3) s[r] += axis[r] * (part * (f->linear ? 1.0 : f->pitch));
        NAME(write_rows)(plan, o, c, 3, s, x);
    }
}

/* s <- momentum at unit velocity of a freedom, of mass, first moment h and tensor J, about the origin of its body */
INLINE void NAME(unit_momentum)(const Freedom *f, double mass, const real *h, const real *J, const real *axis, real *s)
{
    const real zero = {0};
    EACH(r, 6) s[r] = zero;
    if (!f->linear) {
        ADD_CROSS(axis, h, s);
        NAME(times)(J, axis, s + 3);
    }
    if (f->linear || f->pitch != 0.0) {
        const double along = f->linear ? 1.0 : f->pitch;
        real step[3];
        EACH(r, 3) step[r] = axis[r] * along;
        EACH(r, 3) s[r] += mass * step[r];
        ADD_CROSS(h, step, s + 3);
    }
}

/* x <- momentum about the centre of mass for unit velocities */
INLINE void NAME(write_map)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        real s[6];
        NAME(unit_momentum)(f, plan->m.body[f->body].carried, w->h[f->body].e, w->J[f->body].e,
                            w->X[f->body].R + 3 * f->axis, s);
        ADD_CROSS(w->arm[f->body].e, s, s + 3);
        NAME(write_rows)(plan, o, c, 6, s, x);
    }
}

/* x <- rates of these columns: an axis z turns with its body, z' = w x z; the first moment h about the origin of that
 * body changes by P - m v, and its way from the centre of mass by their velocities */
INLINE void NAME(write_map_dot)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    real center[3];
    EACH(r, 3) center[r] = w->P[-1].e[r] / plan->mass;
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        const Motion *V = w->V + f->body;
        const double mass = plan->m.body[f->body].carried;
        const real zero = {0}, *axis = w->X[f->body].R + 3 * f->axis, *h = w->h[f->body].e;
        real rate[3] = {zero, zero, zero}, h_rate[3], apart[3], s[6], t[6], own[6];
        ADD_CROSS(V->w, axis, rate);
        EACH(r, 3) {
            h_rate[r] = w->P[f->body].e[r] - mass * V->v[r];
            apart[r] = V->v[r] - center[r];
        }
        NAME(unit_momentum)(f, mass, h, w->J[f->body].e, axis, own);
        NAME(unit_momentum)(f, mass, h, w->J[f->body].e, rate, s);
        NAME(unit_momentum)(f, 0.0, h_rate, w->dJ[f->body].e, axis, t);
        EACH(r, 6) s[r] += t[r];
        ADD_CROSS(apart, own, s + 3);
        ADD_CROSS(w->arm[f->body].e, s, s + 3);
        NAME(write_rows)(plan, o, c, 6, s, x);
    }
}

/* y <- tensor of a body about its origin times x */
INLINE void NAME(tensor_times)(const Body *b, const real *R, const real *x, real *y)
{
    real own[3], turned[3];
    ROTATE_BACK(R, x, own);
    ROTATE(b->tensor, own, turned);
    ROTATE(R, turned, y);
}

/* x <- momentum: that of every body about its origin, shifted to the centre of mass, at velocities relative to it */
INLINE void NAME(write_momentum)(const Plan *plan, const Work *w, double *x)
{
    const real zero = {0};
    real center[3], sum[3] = {zero, zero, zero};
    EACH(r, 3) center[r] = w->P[-1].e[r] / plan->mass;
    for (ptrdiff_t i = 0; i < plan->m.bodies; i++) {
        const Body *b = plan->m.body + i;
        const Motion *V = w->V + i;
        real h[3], v[3], p[3], turning[3];
        ROTATE(w->X[i].R, b->first, h);
        EACH(r, 3) v[r] = V->v[r] - center[r];
        EACH(r, 3) p[r] = b->mass * v[r];
        ADD_CROSS(V->w, h, p);
        NAME(tensor_times)(b, w->X[i].R, V->w, turning);
        EACH(r, 3) sum[r] += turning[r];
        ADD_CROSS(h, v, sum);
        ADD_CROSS(w->arm[i].e, p, sum);
    }
    EACH(r, 3) AT(x, r) = w->P[-1].e[r];
    EACH(r, 3) AT(x, 3 + r) = sum[r];
}

/* x <- rate of momentum, likewise at accelerations relative to the centre of mass */
INLINE void NAME(write_momentum_rate)(const Plan *plan, const Work *w, double *x)
{
    const real zero = {0};
    real center[3], sum[3] = {zero, zero, zero};
    EACH(r, 3) center[r] = w->F[-1].e[r] / plan->mass;
    for (ptrdiff_t i = 0; i < plan->m.bodies; i++) {
        const Body *b = plan->m.body + i;
        const Motion *V = w->V + i, *A = w->A + i;
        real h[3], a[3], f[3], turning[3], turned[3] = {zero, zero, zero};
        ROTATE(w->X[i].R, b->first, h);
        EACH(r, 3) a[r] = A->v[r] - center[r];
        EACH(r, 3) f[r] = b->mass * a[r];
        ADD_CROSS(A->w, h, f);
        ADD_CROSS(V->w, h, turned);
        ADD_CROSS(V->w, turned, f);
        NAME(tensor_times)(b, w->X[i].R, A->w, turning);
        EACH(r, 3) sum[r] += turning[r];
        NAME(tensor_times)(b, w->X[i].R, V->w, turning);
        ADD_CROSS(V->w, turning, sum);
        ADD_CROSS(h, a, sum);
        ADD_CROSS(w->arm[i].e, f, sum);
    }
    EACH(r, 3) AT(x, r) = w->F[-1].e[r];
    EACH(r, 3) AT(x, 3 + r) = sum[r];
}

/* x <- inertia tensor of the whole model about its centre of mass */
INLINE void NAME(write_inertia)(const Plan *plan, const Work *w, double *x)
{
    const real zero = {0};
    real sum[6] = {zero, zero, zero, zero, zero, zero};
    for (ptrdiff_t i = 0; i < plan->m.bodies; i++) {
        const Body *b = plan->m.body + i;
        real h[3], twice[3], J[6];
        ROTATE(w->X[i].R, b->first, h);
        EACH(r, 3) twice[r] = 2.0 * h[r] + b->mass * w->arm[i].e[r];
        NAME(turn_tensor)(b, w->X[i].R, J);
        EACH(e, 6) sum[e] += J[e];
        NAME(add_product)(w->arm[i].e, twice, sum);
    }
    EACH(r, 3) EACH(c, 3) AT(x, 3 * r + c) = sum[r > c ? LOWER(r, c) : LOWER(c, r)];
}

/* x <- the result of an output of masses */
INLINE void NAME(write_masses)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    switch (o->kind) {
    case CENTER_OF_MASS: NAME(write_center)(plan, w, o, x); return;
    case CENTER_OF_MASS_VELOCITY: NAME(write_center_motion)(plan, o, w->P, x); return;
    case CENTER_OF_MASS_ACCELERATION: NAME(write_center_motion)(plan, o, w->F, x); return;
    case CENTER_OF_MASS_JACOBIAN: NAME(write_center_jacobian)(plan, w, o, x); return;
    case CENTROIDAL_MAP: NAME(write_map)(plan, w, o, x); return;
    case CENTROIDAL_MAP_DOT: NAME(write_map_dot)(plan, w, o, x); return;
    case CENTROIDAL_MOMENTUM: NAME(write_momentum)(plan, w, x); return;
    case CENTROIDAL_MOMENTUM_RATE: NAME(write_momentum_rate)(plan, w, x); return;
    case CENTROIDAL_INERTIA: NAME(write_inertia)(plan, w, x); return;
    }
}
