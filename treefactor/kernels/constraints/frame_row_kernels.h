/* Compute rows of loops and rigid contacts, their derivatives by q and v, and those of their forces; `real` is a double
 * or a register, see spatial.h. `_frame_derivatives.py` has the formulas. Motions are linear before angular, at the
 * origin of the root body, in the axes of the base. */
#include "../common/spatial.h"
#include "sizes.h"

typedef struct {                     /* motion of a frame, or its derivative along one freedom */
    real p[3], turn[3], u[3], w[3], c[3], b[3];      /* b: angular acceleration */
} NAME(Moving);
typedef struct {
    real S[6];                       /* motion of a freedom at unit rate; then rates of S */
    real first[6];                   /* V_l x S */
    real second[6];                  /* A_l x S + V_l x (V_l x S) */
    real mixed[6];                   /* (V_l + V_i) x S */
} NAME(UnitMotion);
typedef struct {
    real axes[9], origin[3], root[3], velocity[6];
} NAME(Body);
typedef struct {
    ptrdiff_t body;
    real V[6], A[6];
    real axes[9];                    /* axes of the frame, as columns */
    real where[3];                   /* origin of the frame, from the origin of the root body */
    NAME(Moving) at;
} NAME(Frame);
#define Moving NAME(Moving)
#define UnitMotion NAME(UnitMotion)
#define Body NAME(Body)
#define Frame NAME(Frame)
#define ADD(a, x) EACH(r_, 3) (x)[r_] += (a)[r_]
#define SUBTRACT(a, b, x) EACH(r_, 3) (x)[r_] = (a)[r_] - (b)[r_]
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])
/* x += da x b + a x db; and x -= the same */
#define ADD_PRODUCT(a, da, b, db, x) do { ADD_CROSS(da, b, x); ADD_CROSS(a, db, x); } while (0)
#define TAKE_PRODUCT(a, da, b, db, x) do { ADD_CROSS(b, da, x); ADD_CROSS(db, a, x); } while (0)
/* z += x x y of motions */
#define ADD_MOTION_CROSS(x, y, z) do { \
        ADD_CROSS((x) + 3, y, z); ADD_CROSS(x, (y) + 3, z); ADD_CROSS((x) + 3, (y) + 3, (z) + 3); } while (0)

static ptrdiff_t NAME(frame_rows_size)(const FrameRows *c)
{
    return (6 * c->joints * (ptrdiff_t)sizeof(real) + c->m * (ptrdiff_t)(sizeof(UnitMotion) + 4 * sizeof(Moving))
            + 2 * c->n * (ptrdiff_t)sizeof(real)) / 8;
}

/* Return whether a freedom moves a frame. */
INLINE int NAME(moves_frame)(const FrameRows *c, const Frame *f, ptrdiff_t k)
{
    return f->body >= 0 && c->path[f->body * c->m + k];
}

INLINE int NAME(moves_any)(const FrameRows *c, const Frame *f, ptrdiff_t k)
{
    return NAME(moves_frame)(c, f, k) || NAME(moves_frame)(c, f + 1, k);
}

/* Read the placement and the motion of the body of a joint; -1 is the base. */
static void NAME(find_body)(const double *frames, ptrdiff_t joint, Body *body)
{
    const double *x = frames + RECORD * joint * LANES;
    memset(body, 0, sizeof *body);
    if (joint < 0) {
        EACH(r, 3) body->axes[4 * r] += 1.0;
        return;
    }
    EACH(e, 9) body->axes[e] = READ(x, FIELD(axes) + e);
    EACH(r, 3) body->origin[r] = READ(x, FIELD(origin) + r);
    EACH(r, 3) body->root[r] = READ(x, FIELD(root) + r);
    EACH(r, 6) body->velocity[r] = READ(x, FIELD(velocity) + r);
}

/* Compute unit motions, what their changes are made of, and accelerations A (joints, 6) of the bodies. */
static void NAME(find_units)(const FrameRows *c, const double *frames, const double *v, const double *a, real *A,
                             UnitMotion *units)
{
    const real zero = {0};
    for (ptrdiff_t i = 0; i < c->joints; i++)
        EACH(r, 6) A[6 * i + r] = READ(frames, RECORD * i + FIELD(acceleration) + r);
    for (ptrdiff_t k = 0; k < c->m; k++) {
        EACH(r, 6) units[k].S[r] = c->ratio[k] * READ(frames, UNIT_MOTION(c->joints, k) + r);
        for (ptrdiff_t i = 0; i < (a ? c->joints : 0); i++)
            if (c->path[i * c->m + k])
                EACH(r, 6) A[6 * i + r] += READ(a, c->column[k]) * units[k].S[r];
    }
    for (ptrdiff_t k = 0; k < c->m; k++) {
        UnitMotion *x = units + k;
        const ptrdiff_t below = c->below[k], own_joint = c->joint[k];
        real V[6], own[6], down[6], step[6];
        if (!c->used[k]) continue;
        EACH(r, 6) {
            V[r] = below >= 0 ? READ(frames, RECORD * below + FIELD(velocity) + r) : zero;
            own[r] = READ(frames, RECORD * own_joint + FIELD(velocity) + r);
            down[r] = below >= 0 ? A[6 * below + r] : zero;
            x->first[r] = x->second[r] = x->mixed[r] = zero;
        }
        if (c->second[k] || (k + 1 < c->m && c->second[k + 1])) {
            const ptrdiff_t i = c->second[k] ? k - 1 : k;    /* first freedom of a universal joint */
            EACH(r, 6) step[r] = READ(v, c->column[i]) * units[i].S[r];
            if (c->second[k]) {
                ADD_MOTION_CROSS(V, step, down);
                EACH(r, 6) {
                    V[r] += step[r];
                    if (a) down[r] += READ(a, c->column[i]) * units[i].S[r];
                }
            } else
                EACH(r, 6) own[r] = V[r] + step[r];
        }
        ADD_MOTION_CROSS(V, x->S, x->first);
        ADD_MOTION_CROSS(down, x->S, x->second);
        ADD_MOTION_CROSS(V, x->first, x->second);
        ADD_MOTION_CROSS(own, x->S, x->mixed);
        EACH(r, 6) x->mixed[r] += x->first[r];
    }
}

/* Compute the motion of a frame from that of its body; positions are from the first body's root body. */
static void NAME(place)(const Pair *pair, int side, const Body *body, const Body *first, const real *A, Frame *f)
{
    memset(f, 0, sizeof *f);
    f->body = pair->body[side];
    ROTATE(body->axes, pair->p + 3 * side, f->where);
    EACH(c, 3) ROTATE(body->axes, pair->R + 9 * side + 3 * c, f->axes + 3 * c);
    EACH(r, 3) {
        f->where[r] += body->origin[r];
        f->at.p[r] = f->where[r] + (body->root[r] - first->root[r]);
    }
    EACH(r, 6) f->V[r] = body->velocity[r];
    if (f->body >= 0) EACH(r, 6) f->A[r] = A[6 * f->body + r];
    ADD(f->V + 3, f->at.w);
    ADD(f->A + 3, f->at.b);
    ADD(f->V, f->at.u);
    ADD_CROSS(f->at.w, f->where, f->at.u);
    ADD(f->A, f->at.c);
    ADD_CROSS(f->at.b, f->where, f->at.c);
    ADD_CROSS(f->at.w, f->at.u, f->at.c);
}

/* Compute the derivatives of velocities and classical accelerations from those of spatial ones. */
INLINE void NAME(finish)(const Frame *f, const real *dV, const real *dA, Moving *x)
{
    ADD(dV + 3, x->w);
    ADD(dA + 3, x->b);
    ADD(dV, x->u);
    ADD_PRODUCT(f->at.w, x->w, f->where, x->p, x->u);
    ADD(dA, x->c);
    ADD_PRODUCT(f->at.b, x->b, f->where, x->p, x->c);
    ADD_PRODUCT(f->at.w, x->w, f->at.u, x->u, x->c);
}

/* Compute the derivative of a frame along a displacement of a freedom. */
static void NAME(differentiate_by_q)(const Frame *f, const UnitMotion *k, Moving *x)
{
    real dV[6], dA[6];
    EACH(r, 6) dV[r] = k->first[r];
    EACH(r, 6) dA[r] = k->second[r];
    ADD_MOTION_CROSS(k->S, f->V, dV);
    ADD_MOTION_CROSS(k->S, f->A, dA);
    ADD_MOTION_CROSS(k->first, f->V, dA);
    ADD(k->S + 3, x->turn);
    ADD(k->S, x->p);
    ADD_CROSS(k->S + 3, f->where, x->p);
    NAME(finish)(f, dV, dA, x);
}

/* Compute the derivative of a frame along a velocity of a freedom. */
static void NAME(differentiate_by_v)(const Frame *f, const UnitMotion *k, Moving *x)
{
    real dA[6];
    EACH(r, 6) dA[r] = k->mixed[r];
    ADD_MOTION_CROSS(k->S, f->V, dA);
    NAME(finish)(f, k->S, dA, x);
}

/* Compute the derivatives of both frames of a pair: d[4 k] by q and d[4 k + 2] by v of freedom k. */
static void NAME(differentiate_frames)(const FrameRows *c, int sides, const Frame *f, const UnitMotion *units,
                                       Moving *d)
{
    for (ptrdiff_t k = 0; k < c->m; k++) {
        if (!NAME(moves_any)(c, f, k)) continue;
        memset(d + 4 * k, 0, 4 * sizeof(Moving));
        for (int side = 0; side < 2; side++) {
            if (!NAME(moves_frame)(c, f + side, k)) continue;
            if (sides & BY_Q) NAME(differentiate_by_q)(f + side, units + k, d + 4 * k + side);
            if (sides & BY_V) NAME(differentiate_by_v)(f + side, units + k, d + 4 * k + 2 + side);
        }
    }
}

/* turn <- rotation vector between two frames in base axes, then its derivative by rotations. */
static void NAME(find_turn)(const FrameRows *c, const Frame *f, real *turn)
{
    enum { SIDE_BY_SIDE = sizeof(real) / 8 };
    double between[9][SIDE_BY_SIDE], vectors[3][SIDE_BY_SIDE], slopes[9][SIDE_BY_SIDE];
    real vector[3], J[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const real cosine = DOT(f[1].axes + 3 * i, f->axes + 3 * j);
            memcpy(between[3 * i + j], &cosine, sizeof cosine);
        }
    for (int lane = 0; lane < SIDE_BY_SIDE; lane++) {
        double R[9], x[3], slope[9];
        for (int e = 0; e < 9; e++) R[e] = between[e][lane];
        c->log(R, R, R, x);
        c->jlog(R, R, R, slope);
        for (int e = 0; e < 3; e++) vectors[e][lane] = x[e];
        for (int e = 0; e < 9; e++) slopes[e][lane] = slope[e];
    }
    memcpy(vector, vectors, sizeof vector);
    memcpy(J, slopes, sizeof J);
    ROTATE(f->axes, vector, turn);
    for (int column = 0; column < 3; column++) {
        real x[3], y[3];
        EACH(r, 3) x[r] = f->axes[3 * r + column];
        EACH(r, 3) y[r] = DOT(J + 3 * r, x);
        ROTATE(f->axes, y, turn + 3 + 3 * column);
    }
}

/* y <- distance, rate and acceleration of the origins in the axes of the base. */
static void NAME(linear_rows)(const Part *part, const Frame *f, real *y)
{
    const Frame *a = part->kind != ORIGINS ? f : f + 1, *b = part->kind != ORIGINS ? f + 1 : f;
    SUBTRACT(a->at.p, b->at.p, y);
    SUBTRACT(a->at.u, b->at.u, y + 3);
    SUBTRACT(a->at.c, b->at.c, y + 6);
    if (part->kind == HELD_3D) return;
    ADD_CROSS(y, b->at.b, y + 6);
    ADD_CROSS(y + 3, b->at.w, y + 6);
    ADD_CROSS(y, b->at.w, y + 3);
    ADD_CROSS(y + 3, f->at.w, y + 6);
}

/* dy <- derivatives of y, which `linear_rows` computes. */
static void NAME(linear_derivatives)(const Part *part, const Frame *f, const Moving *d, const real *y, real *dy)
{
    const int side = part->kind == ORIGINS;
    const Frame *b = f + 1 - side;
    const Moving *db = d + 1 - side;
    real e[3], de[3];
    SUBTRACT(d[side].p, db->p, dy);
    SUBTRACT(d[side].u, db->u, dy + 3);
    SUBTRACT(d[side].c, db->c, dy + 6);
    if (part->kind == HELD_3D) return;
    SUBTRACT(f[side].at.u, b->at.u, e);
    SUBTRACT(d[side].u, db->u, de);
    TAKE_PRODUCT(b->at.b, db->b, y, dy, dy + 6);
    TAKE_PRODUCT(b->at.w, db->w, e, de, dy + 6);
    TAKE_PRODUCT(b->at.w, db->w, y, dy, dy + 3);
    TAKE_PRODUCT(f->at.w, d->w, y + 3, dy + 3, dy + 6);
}

/* y <- rotation vector, relative angular velocity and its derivative seen from the first frame. */
static void NAME(angular_rows)(const Frame *f, const real *log, real *y)
{
    EACH(r, 3) y[r] = log[r];
    SUBTRACT(f->at.w, f[1].at.w, y + 3);
    SUBTRACT(f->at.b, f[1].at.b, y + 6);
    ADD_CROSS(f->at.w, f[1].at.w, y + 6);
}

/* dy <- derivatives of y, which `angular_rows` computes; behind the vector, log has its derivative. */
static void NAME(angular_derivatives)(const Frame *f, const Moving *d, const real *log, real *dy)
{
    real turn[3];
    SUBTRACT(d->turn, d[1].turn, turn);
    ROTATE(log + 3, turn, dy);
    ADD_CROSS(d->turn, log, dy);
    SUBTRACT(d->w, d[1].w, dy + 3);
    SUBTRACT(d->b, d[1].b, dy + 6);
    ADD_PRODUCT(f->at.w, d->w, f[1].at.w, d[1].w, dy + 6);
}

/* x <- axis i of a frame, and two derivatives by time. */
static void NAME(axis_motion)(const Frame *f, ptrdiff_t i, real *x)
{
    memset(x, 0, 9 * sizeof(real));
    ADD(f->axes + 3 * i, x);
    ADD_CROSS(f->at.w, x, x + 3);
    ADD_CROSS(f->at.b, x, x + 6);
    ADD_CROSS(f->at.w, x + 3, x + 6);
}

/* dx <- derivative of x, which `axis_motion` computes. */
static void NAME(axis_derivative)(const Frame *f, const Moving *d, const real *x, real *dx)
{
    memset(dx, 0, 9 * sizeof(real));
    ADD_CROSS(d->turn, x, dx);
    ADD_PRODUCT(f->at.w, d->w, x, dx, dx + 3);
    ADD_PRODUCT(f->at.b, d->b, x, dx, dx + 6);
    ADD_PRODUCT(f->at.w, d->w, x + 3, dx + 3, dx + 6);
}

/* Return a derivative by time of a . b. */
INLINE real NAME(product_rule)(const real *a, const real *b, int order)
{
    if (order == 0) return DOT(a, b);
    if (order == 1) return DOT(a + 3, b) + DOT(a, b + 3);
    return DOT(a + 6, b) + 2.0 * DOT(a + 3, b + 3) + DOT(a, b + 6);
}

/* Add rows of a part, or their change dy along d, to entries of x, from the order `least` on. */
static void NAME(write_rows)(int least, const Part *part, const Frame *f, const Moving *d, const real *y,
                             const real *dy, double *x, ptrdiff_t order_step, ptrdiff_t row_step)
{
    for (int order = least; order < 3; order++) {
        double *to = x + order * order_step * LANES;
        if (part->kind == ANGLE) {
            if (d) AT(to, 0) += NAME(product_rule)(dy, y + 9, order) + NAME(product_rule)(y, dy + 9, order);
            else AT(to, 0) += NAME(product_rule)(y, y + 9, order);
            continue;
        }
        for (int half = 0; half < (part->kind == HELD_6D ? 2 : 1); half++) {
            real seen[3];
            EACH(r, 3) seen[r] = dy[9 * half + 3 * order + r];
            if (part->local && d) ADD_CROSS(y + 9 * half + 3 * order, d->turn, seen);
            for (int r = 0; r < 3; r++)
                AT(to, (3 * half + r) * row_step) += part->local ? DOT(f->axes + 3 * r, seen) : seen[r];
        }
    }
}

/* Add values of a part, and its derivatives, see frame_rows.h. */
static void NAME(part_rows)(const FrameRows *c, int sides, int order, const Part *part, const Frame *f, const Moving *d,
                            const real *log, double *values, double *derivatives)
{
    real y[36];                      /* values of two vectors, of two axes; then their changes */
    memset(y, 0, sizeof y);
    if (part->kind == ANGLE) {
        NAME(axis_motion)(f, part->i, y);
        NAME(axis_motion)(f + 1, part->j, y + 9);
    } else {
        NAME(linear_rows)(part, f, y);
        if (part->kind == HELD_6D) NAME(angular_rows)(f, log, y + 9);
    }
    if (values) NAME(write_rows)(0, part, f, NULL, y, y, values + part->row * LANES, c->rows, 1);
    for (ptrdiff_t k = 0; k < c->m; k++)
        for (int side = 0; side < 2; side++) {
            const Moving *own = d + 4 * k + 2 * side;
            if (!(sides & (side ? BY_V : BY_Q)) || !NAME(moves_any)(c, f, k)) continue;
            if (part->kind == ANGLE) {
                NAME(axis_derivative)(f, own, y, y + 18);
                NAME(axis_derivative)(f + 1, own + 1, y + 9, y + 27);
            } else {
                NAME(linear_derivatives)(part, f, own, y, y + 18);
                if (part->kind == HELD_6D) NAME(angular_derivatives)(f, own, log, y + 27);
            }
            NAME(write_rows)(order > side ? order : side, part, f, own, y, y + 18,
                             derivatives + (part->row * 2 * c->n + side * c->n + c->column[k]) * LANES,
                             c->rows * 2 * c->n, 2 * c->n);
        }
}

/* Write forces and moments on both frames, or their derivatives along d unless d is NULL; y, dy: axes of a row that
 * keeps an angle, and their changes. */
static void NAME(wrenches)(const Part *part, const Frame *f, const Moving *d, const double *force, const real *y,
                           const real *dy, real *x)
{
    const int side = part->kind == ORIGINS;      /* frame at whose origin the force acts */
    real own[6], change[6], apart[3];
    real *near_by = x + 6 * side, *other = x + 6 * (1 - side);
    const real *acting = d ? change : own;
    memset(x, 0, 12 * sizeof(real));
    if (part->kind == ANGLE) {
        if (d) ADD_PRODUCT(y + 9, dy + 9, y, dy, x + 9);
        else ADD_CROSS(y + 9, y, x + 9);
        EACH(r, 3) x[9 + r] *= READ(force, 0);
        EACH(r, 3) x[3 + r] = -x[9 + r];
        return;
    }
    memset(own, 0, sizeof own);
    memset(change, 0, sizeof change);
    for (int half = 0; half < (part->kind == HELD_6D ? 2 : 1); half++) {
        real given[3];
        EACH(r, 3) given[r] = READ(force, 3 * half + r);
        if (part->local) {
            ROTATE(f->axes, given, own + 3 * half);
            if (d) ADD_CROSS(d->turn, own + 3 * half, change + 3 * half);
        } else
            EACH(r, 3) own[3 * half + r] = given[r];
    }
    EACH(r, 6) near_by[r] = acting[r];
    EACH(r, 6) other[r] = -acting[r];
    if (part->kind == HELD_3D) return;
    SUBTRACT(f[side].at.p, f[1 - side].at.p, apart);
    if (d) {
        real moved[3];
        SUBTRACT(d[side].p, d[1 - side].p, moved);
        TAKE_PRODUCT(apart, moved, own, change, other + 3);
    } else
        ADD_CROSS(own, apart, other + 3);
}

/* Return the derivative along freedom k of the force of freedom j, of a wrench x on a frame. */
INLINE real NAME(force_entry)(const FrameRows *c, ptrdiff_t j, ptrdiff_t k, const Moving *d, const real *x,
                              const real *dx)
{
    const Moving *by_j = d + 4 * j, *by_k = d + 4 * k;
    real derivative = DOT(by_j->p, dx) + DOT(by_j->turn, dx + 3), turned[3];
    memset(turned, 0, sizeof turned);
    if (c->moves[j * c->m + k]) {
        real moment[3];
        memset(moment, 0, sizeof moment);
        ADD_CROSS(x, by_k->turn, turned);
        ADD_CROSS(x + 3, by_k->turn, moment);
        derivative += DOT(by_j->p, turned) + DOT(by_j->turn, moment);
    } else if (c->moves[k * c->m + j]) {
        ADD_CROSS(x, by_j->turn, turned);
        derivative += DOT(by_k->p, turned);
    }
    return derivative;
}

/* Add the derivatives by q (n, n) of the forces of a part. */
static void NAME(part_forces)(const FrameRows *c, const Part *part, const Frame *f, const Moving *d,
                              const double *force, double *E)
{
    real x[12], dx[12], y[36];       /* force and moment on the first frame, then on the second; y as in part_rows */
    memset(y, 0, sizeof y);
    if (part->kind == ANGLE) {
        NAME(axis_motion)(f, part->i, y);
        NAME(axis_motion)(f + 1, part->j, y + 9);
    }
    NAME(wrenches)(part, f, NULL, force, y, y + 18, x);
    for (ptrdiff_t k = 0; k < c->m; k++) {
        if (!NAME(moves_any)(c, f, k)) continue;
        if (part->kind == ANGLE) {
            NAME(axis_derivative)(f, d + 4 * k, y, y + 18);
            NAME(axis_derivative)(f + 1, d + 4 * k + 1, y + 9, y + 27);
        }
        NAME(wrenches)(part, f, d + 4 * k, force, y, y + 18, dx);
        for (int side = 0; side < 2; side++)
            for (ptrdiff_t j = 0; j < c->m; j++)
                if (NAME(moves_frame)(c, f + side, j))
                    AT(E, c->column[j] * c->n + c->column[k]) +=
                        NAME(force_entry)(c, j, k, d + side, x + 6 * side, dx + 6 * side);
    }
}

/* Compute the rounding errors (n, 2) of entries of linear and of angular rows of two frames on two bodies. Entries are
 * differences: of a freedom that does not move a row nothing but rounding is left, without leverage. */
static void NAME(find_errors)(const FrameRows *c, const Frame *f, const UnitMotion *units, const Body *body,
                              real *errors)
{
    real reach = NAME(size)(f->where) + NAME(size)(f[1].where), far = {0};
    EACH(r, 3) reach += NAME(size_of_difference)(body->root[r], body[1].root[r]);
    for (ptrdiff_t k = 0; k < c->m; k++)
        if (NAME(moves_any)(c, f, k)) {          /* distance of an axis from the root body */
            const real size = NAME(size)(units[k].S);
            far = NAME(larger)(size - NAME(where_zero)(NAME(size)(units[k].S + 3), size), far);
        }
    memset(errors, 0, 2 * c->n * sizeof(real));
    for (ptrdiff_t k = 0; k < c->m; k++)
        if (NAME(moves_any)(c, f, k)) {
            const real turn = NAME(size)(units[k].S + 3);
            errors[2 * c->column[k]] += c->rounding * (NAME(size)(units[k].S) + (reach + far) * turn);
            errors[2 * c->column[k] + 1] += c->rounding * turn;
        }
}

/* Set entries of J (rows of a part, 2 n apart) that are within their errors to zero. */
static void NAME(drop_noise)(const FrameRows *c, const Part *part, const real *errors, double *J)
{
    for (ptrdiff_t r = 0; r < (part->kind == ANGLE ? 1 : part->kind == HELD_6D ? 6 : 3); r++) {
        const int angular = part->kind == ANGLE || r >= 3;
        for (ptrdiff_t k = 0; k < c->n; k++)
            AT(J, 2 * c->n * r + k) = NAME(zero_below)(READ(J, 2 * c->n * r + k), errors[2 * k + angular]);
    }
}

static void NAME(rows)(const FrameRows *c, int sides, int order, int turns, const double *frames, const double *v,
                       const double *a, int loads, const double *forces, double *values, double *derivatives, double *E,
                       double *workspace)
{
    real *A = (real *)workspace, log[12];
    UnitMotion *units = (UnitMotion *)(A + 6 * c->joints);
    Moving *d = (Moving *)(units + c->m);
    real *errors = (real *)(d + 4 * c->m);
    ptrdiff_t pair = -1;
    Body body[2];
    Frame f[2];
    memset(log, 0, sizeof log);
    NAME(find_units)(c, frames, v, a, A, units);
    for (const Part *part = c->part; part < c->part + c->parts; part++) {
        if (part->pair != pair) {
            const Pair *own = c->pair + (pair = part->pair);
            for (int side = 0; side < 2; side++) {
                NAME(find_body)(frames, own->body[side], body + side);
                NAME(place)(own, side, body + side, body, A, f + side);
            }
            NAME(differentiate_frames)(c, sides, f, units, d);
            if (sides & BY_V) NAME(find_errors)(c, f, units, body, errors);
        }
        if (derivatives) {
            if (turns && part->kind == HELD_6D) NAME(find_turn)(c, f, log);
            NAME(part_rows)(c, sides, order, part, f, d, log, values, derivatives);
            if (sides & BY_V)
                NAME(drop_noise)(c, part, errors, derivatives + ((c->rows + part->row) * 2 * c->n + c->n) * LANES);
        }
        for (int load = 0; load < loads; load++)
            NAME(part_forces)(c, part, f, d, forces + (load * c->rows + part->row) * LANES,
                              E + load * c->n * c->n * LANES);
    }
}

#undef Moving
#undef UnitMotion
#undef Body
#undef Frame
#undef ADD
#undef SUBTRACT
#undef DOT
#undef ADD_PRODUCT
#undef TAKE_PRODUCT
#undef ADD_MOTION_CROSS
