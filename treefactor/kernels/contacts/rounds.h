/* Points of spheres and capsules, which are segments with a radius, against each other and cylinders. */
#ifndef TREEFACTOR_CONTACT_ROUNDS_H
#define TREEFACTOR_CONTACT_ROUNDS_H

#include "shapes.h"

#define PARALLEL 1e-3               /* sine of the angle up to which a segment lies along another feature */
#define SAME 1e-12                  /* m: closer points have no direction between them */

/* A single point of a segment has the identity SINGLE, unless it is of one of the ends of the segment. */
enum { FIRST_END, SECOND_END, SINGLE, ALONG };

typedef struct {
    double p[3], d[3], length;      /* points p + s d, s from 0 to 1 */
} Segment;

static Segment axis_of(const ContactShape *shape, const Pose *pose)
{
    Segment axis;
    for (int r = 0; r < 3; r++) {
        double z = shape->half_length * pose->R[3 * r + 2];
        axis.p[r] = pose->p[r] - z;
        axis.d[r] = 2.0 * z;
    }
    axis.length = 2.0 * shape->half_length;
    return axis;
}

/* The axis of a shape, in the frame of another one. */
static Segment axis_in(const ContactShape *shape, const Pose *pose, const Pose *other)
{
    Segment axis, world = axis_of(shape, pose);
    place_back(other, world.p, axis.p);
    turn_back(other->R, world.d, axis.d);
    axis.length = world.length;
    return axis;
}

/* Where two segments are closest to each other (Ericson, Real-Time Collision Detection, 5.1.9). */
static void closest_of_segments(const Segment *a, const Segment *b, double *s, double *t)
{
    double r[3], aa = a->length * a->length, bb = b->length * b->length, ab, ar, br, square;
    subtract3(a->p, b->p, r);
    ar = dot3(a->d, r);
    br = dot3(b->d, r);
    if (aa == 0.0) {
        *s = 0.0;
        *t = bb == 0.0 ? 0.0 : clamp(br / bb, 0.0, 1.0);
        return;
    }
    if (bb == 0.0) {
        *t = 0.0;
        *s = clamp(-ar / aa, 0.0, 1.0);
        return;
    }
    ab = dot3(a->d, b->d);
    square = aa * bb - ab * ab;
    *s = square > 1e-14 * aa * bb ? clamp((ab * br - ar * bb) / square, 0.0, 1.0) : 0.0;
    *t = (ab * *s + br) / bb;
    if (*t < 0.0) {
        *t = 0.0;
        *s = clamp(-ar / aa, 0.0, 1.0);
    } else if (*t > 1.0) {
        *t = 1.0;
        *s = clamp((ab - ar) / aa, 0.0, 1.0);
    }
}

/* Whether segments are parallel; then the part of a beside b is from low to high. */
static int overlap_of_parallels(const Segment *a, const Segment *b, double *low, double *high)
{
    double normal[3], first, second, apart[3], product = a->length * b->length;
    cross3(a->d, b->d, normal);
    if (product == 0.0 || dot3(normal, normal) > PARALLEL * PARALLEL * product * product)
        return 0;
    subtract3(b->p, a->p, apart);
    first = dot3(apart, a->d) / (a->length * a->length);
    second = first + dot3(b->d, a->d) / (a->length * a->length);
    *low = fmax(0.0, fmin(first, second));
    *high = fmin(1.0, fmax(first, second));
    return *high - *low > PARALLEL;
}

/* Add the points of a, at s, and of b closest to it; both have a radius, and axes in the world. */
static void add_between(Touching *touching, const Segment *a, double s, double radius, const Segment *b, double t,
                        double other, int64_t identity)
{
    double x[3], y[3], n[3], distance;
    along3(a->p, s, a->d, x);
    along3(b->p, t, b->d, y);
    subtract3(y, x, n);
    distance = length3(n);
    if (distance > SAME) {
        for (int r = 0; r < 3; r++)
            n[r] /= distance;
    } else {                        /* the axes cross, or are on one line */
        cross3(a->d, b->d, n);
        distance = length3(n);
        if (distance > 1e-9 * a->length * b->length)
            for (int r = 0; r < 3; r++)
                n[r] /= distance;
        else
            any_orthogonal(a->length > 0.0 ? a->d : b->d, n);
        distance = 0.0;
    }
    along3(x, 0.5 * (distance + radius - other), n, y);
    add_point(touching, y, n, distance - radius - other, identity);
}

static void touch_rounds(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, Touching *touching)
{
    Segment first = axis_of(a, A), second = axis_of(b, B);
    double low, high, s, t;
    if (!overlap_of_parallels(&first, &second, &low, &high)) {
        closest_of_segments(&first, &second, &s, &t);
        add_between(touching, &first, s, a->radius, &second, t, b->radius, SINGLE);
        return;
    }
    for (int end = 0; end < 2; end++) {
        Segment point = {{0.0}, {0.0}, 0.0};
        s = end ? high : low;
        along3(first.p, s, first.d, point.p);
        closest_of_segments(&point, &second, &low, &t);
        low = s;
        add_between(touching, &first, s, a->radius, &second, t, b->radius, end ? SECOND_END : FIRST_END);
    }
}

/* Signed distance of a point from a cylinder, in the frame of the cylinder; n <- its direction, out of it. */
static double outside_cylinder(const ContactShape *c, const double *x, double *n)
{
    double r = sqrt(x[0] * x[0] + x[1] * x[1]), side = r - c->radius, end = fabs(x[2]) - c->half_length;
    double distance = fmax(side, end), radial = side > 0.0, axial = end > 0.0;
    if (side > 0.0 && end > 0.0) {
        distance = sqrt(side * side + end * end);
        radial = side / distance;
        axial = end / distance;
    } else if (side <= 0.0 && end <= 0.0) {
        radial = side >= end;
        axial = !radial;
    }
    n[0] = radial * (r > 0.0 ? x[0] / r : 1.0);
    n[1] = radial * (r > 0.0 ? x[1] / r : 0.0);
    n[2] = copysign(axial, x[2]);
    return distance;
}

/* Where a segment is closest to a cylinder; half the square of the distance is convex and smooth. */
static double closest_to_cylinder(const ContactShape *c, const Segment *a)
{
    double low = 0.0, high = 1.0;
    for (int round = 0; round < 60; round++) {
        double s = round == 0 ? 0.0 : round == 1 ? 1.0 : 0.5 * (low + high), x[3], n[3], slope;
        along3(a->p, s, a->d, x);
        slope = fmax(outside_cylinder(c, x, n), 0.0) * dot3(n, a->d);
        if (round == 0 && slope >= 0.0)
            return 0.0;
        if (round == 1 && slope <= 0.0)
            return 1.0;
        if (round > 1 && slope > 0.0)
            high = s;
        else if (round > 1)
            low = s;
    }
    return 0.5 * (low + high);
}

/* How far a segment must move along n to leave a cylinder, negative: the separation along that direction. */
static double separation_from_cylinder(const ContactShape *c, const Segment *a, const double *n)
{
    double first = dot3(n, a->p), second = first + dot3(n, a->d);
    return fmin(first, second) - c->radius * sqrt(n[0] * n[0] + n[1] * n[1]) - c->half_length * fabs(n[2]);
}

/* The separation along the direction at an angle, orthogonal to the segment. */
static double across_segment(const ContactShape *c, const Segment *a, const double *u, const double *w, double angle,
                             double *n)
{
    for (int r = 0; r < 3; r++)
        n[r] = cos(angle) * u[r] + sin(angle) * w[r];
    return separation_from_cylinder(c, a, n);
}

/* Keep the direction with the largest separation. */
static void keep_larger(const ContactShape *c, const Segment *a, const double *n, double *most, double *best)
{
    double separation = separation_from_cylinder(c, a, n);
    if (separation > *most) {
        *most = separation;
        for (int r = 0; r < 3; r++)
            best[r] = n[r];
    }
}

/* The shortest way of a segment out of a cylinder that it enters. The difference of both has flat ends, a side like that
 * of a cylinder around the projected segment, and ruled faces along the segment: of those, the best is searched. */
static double deepest_in_cylinder(const ContactShape *c, const Segment *a, double *n)
{
    double most = -INFINITY, trial[3] = {0.0, 0.0, 1.0}, u[3], w[3], s, square;
    enum { SAMPLES = 64 };
    keep_larger(c, a, trial, &most, n);
    trial[2] = -1.0;
    keep_larger(c, a, trial, &most, n);
    square = a->d[0] * a->d[0] + a->d[1] * a->d[1];
    s = square > 0.0 ? clamp(-(a->p[0] * a->d[0] + a->p[1] * a->d[1]) / square, 0.0, 1.0) : 0.0;
    u[0] = a->p[0] + s * a->d[0];
    u[1] = a->p[1] + s * a->d[1];
    s = hypot(u[0], u[1]);
    for (int side = 0; side < 2; side++) {
        trial[0] = s > SAME ? u[0] / s : square > 0.0 ? -a->d[1] / sqrt(square) : 1.0;
        trial[1] = s > SAME ? u[1] / s : square > 0.0 ? a->d[0] / sqrt(square) : 0.0;
        trial[2] = 0.0;
        for (int r = 0; r < 2 && side; r++)
            trial[r] = -trial[r];
        keep_larger(c, a, trial, &most, n);
    }
    if (a->length == 0.0)
        return most;
    any_orthogonal(a->d, u);
    cross3(a->d, u, w);
    for (int r = 0; r < 3; r++)
        w[r] /= a->length;
    for (int k = 0; k < SAMPLES; k++) {
        double step = 2.0 * acos(-1.0) / SAMPLES, low = (k - 1) * step, high = (k + 1) * step;
        double middle = across_segment(c, a, u, w, k * step, trial);
        if (middle < across_segment(c, a, u, w, low, trial) || middle < across_segment(c, a, u, w, high, trial))
            continue;
        for (int round = 0; round < 60; round++) {           /* golden section */
            double part = 0.3819660112501051 * (high - low);
            if (across_segment(c, a, u, w, low + part, trial) < across_segment(c, a, u, w, high - part, trial))
                low += part;
            else
                high -= part;
        }
        across_segment(c, a, u, w, 0.5 * (low + high), trial);
        keep_larger(c, a, trial, &most, n);
    }
    return most;
}

/* The point of a segment that is deepest along n; of one across n, that beside the point of the rim or side. */
static double deepest_of_segment(const ContactShape *c, const Segment *a, const double *n)
{
    double r = hypot(n[0], n[1]), slope = dot3(n, a->d), s = 0.0, square = 0.0;
    double y[3] = {r > SAME ? c->radius * n[0] / r : 0.0, r > SAME ? c->radius * n[1] / r : 0.0,
                   copysign(c->half_length, n[2])};
    if (fabs(slope) > 1e-9 * a->length)
        return slope > 0.0 ? 0.0 : 1.0;
    for (int k = 0; k < (fabs(n[2]) > PARALLEL ? 3 : 2); k++) {
        s += (y[k] - a->p[k]) * a->d[k];
        square += a->d[k] * a->d[k];
    }
    return square > 0.0 ? clamp(s / square, 0.0, 1.0) : 0.5;
}

/* Add the point of the segment at s, against the surface of the second shape along its normal n. */
static void add_of_segment(Touching *t, const Pose *B, const Segment *a, double s, double radius, const double *n,
                           double separation, int64_t identity)
{
    double x[3], y[3];
    along3(a->p, s, a->d, x);
    along3(x, -separation, n, y);
    add_placed(t, B, y, n, -1.0, separation - radius, identity);
}

/* The part of a segment that is over the round ends of a cylinder, from low to high; returns whether there is one. */
static int part_over_end(const ContactShape *c, const Segment *a, double *low, double *high)
{
    double aa = a->d[0] * a->d[0] + a->d[1] * a->d[1], ap = a->p[0] * a->d[0] + a->p[1] * a->d[1];
    double pp = a->p[0] * a->p[0] + a->p[1] * a->p[1] - c->radius * c->radius, root = ap * ap - aa * pp;
    *low = 0.0;
    *high = 1.0;
    if (aa > 0.0 && root > 0.0) {
        *low = clamp((-ap - sqrt(root)) / aa, 0.0, 1.0);
        *high = clamp((-ap + sqrt(root)) / aa, 0.0, 1.0);
    }
    return aa > 0.0 ? root > 0.0 : pp <= 0.0;
}

/* Over an end: both ends of the part that is over it. Along the side: both ends of the part beside it. */
static void touch_round_cylinder(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B,
                                 Touching *t)
{
    Segment axis = axis_in(a, A, B);
    double s = axis.length > 0.0 ? closest_to_cylinder(b, &axis) : 0.0, x[3], n[3], distance;
    double low, high, slope = PARALLEL * axis.length;
    along3(axis.p, s, axis.d, x);
    distance = outside_cylinder(b, x, n);
    if (distance <= SAME && axis.length > 0.0) {
        distance = deepest_in_cylinder(b, &axis, n);
        s = deepest_of_segment(b, &axis, n);
    }
    if (distance - a->radius > t->margin)
        return;
    if (axis.length > 0.0 && fabs(n[2]) > 1.0 - 0.5 * PARALLEL * PARALLEL &&
        (s == 0.0 || s == 1.0 || fabs(axis.d[2]) <= slope) && part_over_end(b, &axis, &low, &high)) {
        double up[3] = {0.0, 0.0, copysign(1.0, n[2])};
        for (int end = 0; end < 2; end++) {
            double at = end ? high : low;
            if (end == 0 || high - low > PARALLEL)
                add_of_segment(t, B, &axis, at, a->radius, up,
                               up[2] * (axis.p[2] + at * axis.d[2]) - b->half_length, end);
        }
        return;
    }
    if (axis.length > 0.0 && fabs(n[2]) <= PARALLEL && hypot(axis.d[0], axis.d[1]) <= slope) {
        double first = (-b->half_length - axis.p[2]) / axis.d[2], second = (b->half_length - axis.p[2]) / axis.d[2];
        low = fmax(0.0, fmin(first, second));
        high = fmin(1.0, fmax(first, second));
        if (high - low > PARALLEL) {
            for (int end = 0; end < 2; end++) {
                double out[3], r;
                along3(axis.p, end ? high : low, axis.d, x);
                r = hypot(x[0], x[1]);
                out[0] = r > SAME ? x[0] / r : n[0];
                out[1] = r > SAME ? x[1] / r : n[1];
                out[2] = 0.0;
                add_of_segment(t, B, &axis, end ? high : low, a->radius, out, r - b->radius, end);
            }
            return;
        }
    }
    add_of_segment(t, B, &axis, s, a->radius, n, distance, SINGLE);
}

#endif
