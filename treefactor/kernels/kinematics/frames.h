/* Results of frames: placements, motions, Jacobians and their time variation. */

typedef struct {
    Place X;
    real at[3];                      /* point at which linear parts are taken, from the origin of the root body */
} NAME(View);
#define View NAME(View)

/* view <- the frame of an output, and the point of its reference */
INLINE void NAME(view_frame)(const Work *w, const Output *o, View *view)
{
    const Place *B = w->X + o->body;
    NAME(turn)(&o->turn, o->R, B->R, view->X.R);
    ROTATE(B->R, o->p, view->X.p);
    EACH(r, 3) view->X.p[r] += B->p[r];
    EACH(r, 3) view->at[r] = o->reference == WORLD ? -w->root[o->root].e[r] : view->X.p[r];
}

/* x <- the vectors s and s + 3, from the axes of the base to those of the reference */
INLINE void NAME(write_motion)(const Output *o, const View *view, const real *s, double *x)
{
    real turned[6];
    EACH(r, 6) turned[r] = s[r];
    if (o->reference == LOCAL) {
        ROTATE_BACK(view->X.R, s, turned);
        ROTATE_BACK(view->X.R, s + 3, turned + 3);
    }
    EACH(r, 6) AT(x, r) = turned[r];
}

/* x <- rotation and origin, as the rows of a 3 x 4 matrix */
INLINE void NAME(write_placement)(const Work *w, const Output *o, const View *view, double *x)
{
    EACH(r, 3) {
        EACH(c, 3) AT(x, 4 * r + c) = view->X.R[3 * c + r];
        AT(x, 4 * r + 3) = view->X.p[r] + w->root[o->root].e[r];
    }
}

/* x <- velocity at the point of the reference */
INLINE void NAME(write_velocity)(const Work *w, const Output *o, const View *view, double *x)
{
    const Motion *V = w->V + o->body;
    real arm[3], s[6];
    EACH(r, 3) {
        arm[r] = view->at[r] - w->X[o->body].p[r];
        s[r] = V->v[r];
        s[3 + r] = V->w[r];
    }
    ADD_CROSS(V->w, arm, s);
    NAME(write_motion)(o, view, s, x);
}

/* x <- acceleration: classical, that of the point of the body at the point of the reference; or spatial */
INLINE void NAME(write_acceleration)(const Work *w, const Output *o, const View *view, double *x)
{
    const Motion *V = w->V + o->body, *A = w->A + o->body;
    const real zero = {0};
    real arm[3], turning[3] = {zero, zero, zero}, s[6];
    EACH(r, 3) {
        arm[r] = view->at[r] - w->X[o->body].p[r];
        s[r] = A->v[r];
        s[3 + r] = A->w[r];
    }
    ADD_CROSS(A->w, arm, s);
    if (o->classical) {
        ADD_CROSS(V->w, arm, turning);
        ADD_CROSS(V->w, turning, s);
    } else
        ADD_CROSS(V->v, V->w, s);
    NAME(write_motion)(o, view, s, x);
}

/* Column of an output: x <- or +=, by c->add, ratio times the vectors s and s + 3 */
INLINE void NAME(write_column)(const Plan *plan, const Output *o, const View *view, const Column *c, const real *s,
                               double *x)
{
    const double ratio = plan->freedom[c->freedom].ratio;   /* 1, but for mimic joints */
    const ptrdiff_t row = o->row[LANES > 1];
    real turned[6];
    EACH(r, 6) turned[r] = s[r];
    if (o->reference == LOCAL) {
        ROTATE_BACK(view->X.R, s, turned);
        ROTATE_BACK(view->X.R, s + 3, turned + 3);
    }
    x += c->place[LANES > 1] * LANES;
    if (ratio != 1.0) EACH(r, 6) turned[r] *= ratio;
    if (c->add) EACH(r, 6) turned[r] += AT(x, r * row);
    EACH(r, 6) AT(x, r * row) = turned[r];
}

/* s <- unit motion of a freedom at the point of the reference */
INLINE void NAME(unit_motion)(const Work *w, const View *view, const Freedom *f, real *s)
{
    const real zero = {0};
    const Place *X = w->X + f->body;
    const real *axis = X->R + 3 * f->axis;
    real arm[3];
    if (f->linear) {
        EACH(r, 3) s[r] = axis[r];
        EACH(r, 3) s[3 + r] = zero;
        return;
    }
    EACH(r, 3) {
        arm[r] = view->at[r] - X->p[r];
        s[3 + r] = axis[r];
    }
    s[0] = axis[1] * arm[2] - axis[2] * arm[1];
    s[1] = axis[2] * arm[0] - axis[0] * arm[2];
    s[2] = axis[0] * arm[1] - axis[1] * arm[0];
    if (f->pitch != 0.0) EACH(r, 3) s[r] += f->pitch * axis[r];
}

/* x <- unit motion of a freedom that turns about an axis and sets its column alone, in all parts of the lanes */
INLINE void NAME(write_hinge)(const Work *w, const Output *o, const View *view, const Freedom *f, double *x)
{
    const ptrdiff_t row = o->row[LANES > 1];
    for (int k = 0; k < PARTS; k++) {
        const Place *X = w[k].X + f->body;
        const real *axis = X->R + 3 * f->axis;
        real arm[3], s[3], turned[6];
        EACH(r, 3) arm[r] = view[k].at[r] - X->p[r];
        s[0] = axis[1] * arm[2] - axis[2] * arm[1];
        s[1] = axis[2] * arm[0] - axis[0] * arm[2];
        s[2] = axis[0] * arm[1] - axis[1] * arm[0];
        if (o->reference == LOCAL) {
            ROTATE_BACK(view[k].X.R, s, turned);
            ROTATE_BACK(view[k].X.R, axis, turned + 3);
            EACH(r, 6) AT(x + k * PART, r * row) = turned[r];
        } else {
            EACH(r, 3) AT(x + k * PART, r * row) = s[r];
            EACH(r, 3) AT(x + k * PART, (3 + r) * row) = axis[r];
        }
    }
}

/* x <- unit motions of the freedoms that move the frame, in all parts of the lanes */
INLINE void NAME(write_jacobian)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    View view[PARTS];
    for (int k = 0; k < PARTS; k++) NAME(view_frame)(w + k, o, view + k);
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        if (!f->linear && f->pitch == 0.0 && f->ratio == 1.0 && !c->add)
            NAME(write_hinge)(w, o, view, f, x + c->place[LANES > 1] * LANES);
        else
            for (int k = 0; k < PARTS; k++) {
                real s[6];
                NAME(unit_motion)(w + k, view + k, f, s);
                NAME(write_column)(plan, o, view + k, c, s, x + k * PART);
            }
    }
}

/* x <- the rates of these unit motions: an axis z through p turns with its body, z' = w x z, and the point of the
 * reference moves with the frame or rests, so that (z x (at - p))' = z' x (at - p) + z x (at' - p'); in the axes of a
 * frame that turns by w, s' becomes s' - w x s */
INLINE void NAME(write_jacobian_dot)(const Plan *plan, const Work *w, const Output *o, const View *view, double *x)
{
    const Motion *own = w->V + o->body;
    const real zero = {0};
    real velocity[3] = {zero, zero, zero}, arm[3];
    if (o->reference != WORLD) {
        EACH(r, 3) {
            arm[r] = view->at[r] - w->X[o->body].p[r];
            velocity[r] = own->v[r];
        }
        ADD_CROSS(own->w, arm, velocity);
    }
    for (const Column *c = plan->column + o->column; c < plan->column + o->column + o->columns; c++) {
        const Freedom *f = plan->freedom + c->freedom;
        const Place *X = w->X + f->body;
        const Motion *V = w->V + f->body;
        const real *axis = X->R + 3 * f->axis;
        real rate[3] = {zero, zero, zero}, s[6], apart[3], unit[6];
        ADD_CROSS(V->w, axis, rate);
        EACH(r, 3) {
            s[r] = rate[r] * (f->linear ? 1.0 : f->pitch);
            s[3 + r] = f->linear ? zero : rate[r];
        }
        if (!f->linear) {
            EACH(r, 3) arm[r] = view->at[r] - X->p[r];
            EACH(r, 3) apart[r] = velocity[r] - V->v[r];
            ADD_CROSS(rate, arm, s);
            ADD_CROSS(axis, apart, s);
        }
        if (o->reference == LOCAL) {
            NAME(unit_motion)(w, view, f, unit);
            ADD_CROSS(unit, own->w, s);
            ADD_CROSS(unit + 3, own->w, s + 3);
        }
        NAME(write_column)(plan, o, view, c, s, x);
    }
}

/* x <- the result of an output other than a Jacobian */
INLINE void NAME(write_output)(const Plan *plan, const Work *w, const Output *o, double *x)
{
    View view;
    NAME(view_frame)(w, o, &view);
    switch (o->kind) {
    case FRAME_PLACEMENT: NAME(write_placement)(w, o, &view, x); return;
    case FRAME_VELOCITY: NAME(write_velocity)(w, o, &view, x); return;
    case FRAME_ACCELERATION: NAME(write_acceleration)(w, o, &view, x); return;
    case FRAME_JACOBIAN_DOT: NAME(write_jacobian_dot)(plan, w, o, &view, x); return;
    }
}
