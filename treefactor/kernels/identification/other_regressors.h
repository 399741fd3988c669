/* Regressors of gravity, of energies and of the centre of mass, and the product of a vector with the transposed
 * regressor of rnea, in O(n). */

/* Of a freedom with the motion W of a body whose acceleration at rest is a = -g: what its mass and its first moment
 * weigh at the freedom, a W_linear and a x W_angular. About an origin at p the first is larger by p (a x W_angular). */
typedef struct { real moment[3], mass; } NAME(Weight);
#define Weight NAME(Weight)

/* to <- the weights `from` of the freedoms of the parent of a body, for the body; the kind of turn is asked for once */
INLINE void NAME(carry_weights)(const Body *b, const Turn *T, ptrdiff_t count, const Weight *from, Weight *to)
{
    const real s = T->s, c = T->c;
    real p[3];
    EACH(r, 3) p[r] = T->p[r];
#define MOVED(e) \
    real x[3], mass = from[e].mass; \
    EACH(r, 3) x[r] = from[e].moment[r]; \
    EACH(r, 3) mass += p[r] * x[r]; \
    to[e].mass = mass;
    if (b->turn == ANY_TURN) {
        for (ptrdiff_t e = 0; e < count; e++) {
            MOVED(e)
            ROTATE_BACK(T->E, x, to[e].moment);
        }
        return;
    }
#define AXES(i, j, k, sign) \
    for (ptrdiff_t e = 0; e < count; e++) { \
        MOVED(e) \
        to[e].moment[0] = c * x[i] + s * x[j]; \
        to[e].moment[1] = c * x[j] - s * x[i]; \
        to[e].moment[2] = sign x[k]; \
    }
    EACH_TURN(b->turn, AXES)
#undef AXES
#undef MOVED
}

/* Write the pairs of `count` freedoms with the weights W. */
INLINE void NAME(put_weights)(const Body *b, const ColumnOrder *order, ptrdiff_t count, const Weight *W, Target *T)
{
    const ptrdiff_t *place = order->place + 10 * b->joint, x = place[1], y = place[2], z = place[3];
    const double *sign = order->sign + 10 * b->joint;
    const int turned = order->turned[b->joint] != 0;
    double factor[3];
    EACH(c, 3) factor[c] = sign[1 + c];
    for (; count; count--, W++) {
        double *to = NAME(next_pair)(T, 0);
        real moment[3];
        if (turned) NAME(turn_to_joint)(b, W->moment, moment);
        else EACH(c, 3) moment[c] = factor[c] * W->moment[c];
        AT(to, 0) = W->mass;
        AT(to, x) = moment[0];
        AT(to, y) = moment[1];
        AT(to, z) = moment[2];
    }
}

/* Write the pairs of body i at rest; w->w.motion has the acceleration of its parent, and the path its weights. */
INLINE void NAME(write_body_at_rest)(const Mechanism *m, ptrdiff_t i, const PathWorkspace *w, const double *q,
                                     const ColumnOrder *order, Target *T)
{
    const Body *b = m->body + i;
    const Turn *turn = w->w.turn + i;
    Weight *own = (Weight *)NAME(path_of)(m, w, i);
    real x[9], *a = w->w.motion[i].a;
    NAME(place)(m, b, q, &w->w.angles, 1, w->w.turn + i);
    if (b->parent < 0) NAME(rest)(m, b, turn, 1, x);
    else {
        NAME(turn_in)(b, turn, 1, w->w.motion[b->parent].a, x + 6);
        NAME(carry_weights)(b, turn, b->above, (const Weight *)NAME(path_of)(m, w, b->parent), own);
    }
    EACH(r, 3) a[r] = x[6 + r];
    for (ptrdiff_t k = 0; k < b->freedoms; k++) {
        Weight *W = own + b->above + k;
        real s[6];
        NAME(unit_motion)(b, k, s);
        W->mass = NAME(dot)(a, s);
        CROSS(a, s + 3, W->moment);
    }
    if (b->joint >= 0) NAME(put_weights)(b, order, b->above + b->freedoms, own, T);
}

/* Y <- 4 coefficients of the generalized force at rest for every pair */
static void NAME(gravity)(const Mechanism *m, const double *q, const ColumnOrder *order, const ptrdiff_t *to, double *Y,
                          double *workspace)
{
    const PathWorkspace w = NAME(carve_path_workspace)(m, workspace);
    Target target = {to, Y, 0};
    NAME(compute_angles)(m, q, &w.w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) NAME(write_body_at_rest)(m, i, &w, q, order, &target);
}

/* g <- the regressor, transposed, times lam: rnea.h, with the motions W of the bodies at joint velocities lam */
static void NAME(transpose_times)(const Mechanism *m, const double *q, const double *v, const double *a,
                                  const double *lam, double *g, double *workspace)
{
    const Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real *own = w.V[i].e, W[6];
        NAME(place)(m, b, q, &w.angles, 1, w.turn + i);
        NAME(move_body)(m, i, &w, v, a, 1, w.motion + i);
        NAME(carry_velocity)(b, w.turn + i, b->parent < 0 ? NULL : w.V[b->parent].e, lam, own);
        if (b->joint < 0) continue;
        NAME(turn_to_joint)(b, own, W);
        NAME(turn_to_joint)(b, own + 3, W + 3);
        NAME(write_inertia_gradient)(b, w.motion + i, W, g + 10 * b->joint * LANES);
    }
}

/* row <- coefficients of the kinetic energy: with the velocity v, w of the frame of a joint, v.v / 2, v x w, w w^T / 2 */
static void NAME(kinetic_energy_row)(const Mechanism *m, const double *q, const double *v, double *row,
                                     double *workspace)
{
    const Workspace w = NAME(carve_workspace)(m, workspace);
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real *own = w.V[i].e, V[6], h[3];
        NAME(place)(m, b, q, &w.angles, 0, w.turn + i);
        NAME(carry_velocity)(b, w.turn + i, b->parent < 0 ? NULL : w.V[b->parent].e, v, own);
        if (b->joint < 0) continue;
        double *y = row + 10 * b->joint * LANES;
        NAME(turn_to_joint)(b, own, V);
        NAME(turn_to_joint)(b, own + 3, V + 3);
        CROSS(V, V + 3, h);
        AT(y, 0) = 0.5 * NAME(dot)(V, V);
        EACH(r, 3) AT(y, 1 + r) = h[r];
        EACH(r, 3) EACH(c, r + 1) AT(y, 4 + LOWER(r, c)) = (r == c ? 0.5 : 1.0) * V[3 + r] * V[3 + c];
    }
}

/* base[i] <- placement of body i, whose parent is placed, in the base */
INLINE void NAME(place_in_base)(const Mechanism *m, ptrdiff_t i, const double *q, const Angles *angles, Pose *base)
{
    const real zero = {0};
    const Body *b = m->body + i;
    real *R = base[i].R, *p = base[i].p;
    if (b->parent < 0) {
        EACH(e, 9) R[e] = zero + b->R[e];
        EACH(r, 3) p[r] = zero + b->p[r];
    } else {
        const Pose *P = base + b->parent;
        EACH(c, 3) ROTATE(P->R, b->R + 3 * c, R + 3 * c);
        ROTATE(P->R, b->p, p);
        EACH(r, 3) p[r] += P->p[r];
    }
    NAME(apply_joint)(b, q, angles, R, p);
}

/* row <- coefficients of the potential energy: with the origin p and the axes R of a joint, -g . p, -R^T g, 0 */
static void NAME(potential_energy_row)(const Mechanism *m, const double *q, double *row, double *workspace)
{
    const real zero = {0};
    const Workspace w = NAME(carve_workspace)(m, workspace);
    real g[3], h[3];
    EACH(r, 3) g[r] = zero - m->gravity[r];
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real own[3];
        double *y;
        NAME(place_in_base)(m, i, q, &w.angles, w.X);
        if (b->joint < 0) continue;
        y = row + 10 * b->joint * LANES;
        ROTATE_BACK(w.X[i].R, g, own);
        NAME(turn_to_joint)(b, own, h);
        AT(y, 0) = NAME(dot)(g, w.X[i].p);
        EACH(r, 3) AT(y, 1 + r) = h[r];
        EACH(r, 6) AT(y, 4 + r) = zero;
    }
}

/* E <- axes of the joint of a body in the axes of the base */
INLINE void NAME(write_joint_axes)(const Body *b, const Pose *X, real *E)
{
    EACH(c, 3) ROTATE(X->R, b->axes + 3 * c, E + 3 * c);
}

/* Y <- 3 rows of coefficients of the centre of mass: origin and axes of every joint, over the mass of all bodies */
static void NAME(center_of_mass)(const Mechanism *m, const double *q, double *Y, double *workspace)
{
    const real zero = {0};
    const Workspace w = NAME(carve_workspace)(m, workspace);
    double mass = 0.0, scale;
    for (ptrdiff_t i = 0; i < m->bodies; i++) mass += m->inertias[10 * i];
    scale = 1.0 / mass;
    NAME(compute_angles)(m, q, &w.angles);
    for (ptrdiff_t i = 0; i < m->bodies; i++) {
        const Body *b = m->body + i;
        real E[9];
        NAME(place_in_base)(m, i, q, &w.angles, w.X);
        if (b->joint < 0) continue;
        NAME(write_joint_axes)(b, w.X + i, E);
        EACH(r, 3) {
            double *y = Y + (r * m->joints + b->joint) * 10 * LANES;
            AT(y, 0) = w.X[i].p[r] * scale;
            EACH(c, 3) AT(y, 1 + c) = E[3 * c + r] * scale;
            EACH(c, 6) AT(y, 4 + c) = zero;
        }
    }
}
