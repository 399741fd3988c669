/* Points of spheres and capsules against surfaces of triangles: all points of the surface that are locally closest.
 *
 * A point on an edge or corner is so if it is in the Voronoi region of that: no triangle beside it leads towards the
 * sphere. So inner edges of flat parts make no points. */
#ifndef TREEFACTOR_CONTACT_SURFACES_H
#define TREEFACTOR_CONTACT_SURFACES_H

#include <stddef.h>

#include "rounds.h"

#define SLOPE 1e-9                  /* sine up to which a direction leads neither nearer nor farther */
#define MERGED 1e-6                 /* m: closer points are one */

enum { AT_TRIANGLE, AT_SIDE, AT_CORNER };
enum { MIDDLE = 2, PROBES = 3 };    /* both ends of the axis, and points between them */

typedef struct {
    double x[3], n[3];              /* on the surface, and out of it there */
    double distance;                /* signed, of the axis */
    int64_t identity;
} Foot;

/* The feet of one end of an axis, or of all points between the ends. */
typedef struct {
    Foot foot[MOST_POINTS];
    int count;
    double nearest;                 /* signed distance of what is nearest, for an end */
} Probe;

/* The closest point of a triangle (Ericson, Real-Time Collision Detection, 5.1.5); returns its feature, number <- which
 * side or corner of the triangle. */
static int closest_in_triangle(const double *a, const double *b, const double *c, const double *p, double *x, int *number)
{
    double ab[3], ac[3], ap[3], bp[3], cp[3], d1, d2, d3, d4, d5, d6, va, vb, vc;
    subtract3(b, a, ab);
    subtract3(c, a, ac);
    subtract3(p, a, ap);
    subtract3(p, b, bp);
    subtract3(p, c, cp);
    d1 = dot3(ab, ap);
    d2 = dot3(ac, ap);
    d3 = dot3(ab, bp);
    d4 = dot3(ac, bp);
    d5 = dot3(ab, cp);
    d6 = dot3(ac, cp);
    va = d3 * d6 - d5 * d4;
    vb = d5 * d2 - d1 * d6;
    vc = d1 * d4 - d3 * d2;
    if (d1 <= 0.0 && d2 <= 0.0) {
        along3(a, 0.0, ab, x);
        *number = 0;
        return AT_CORNER;
    }
    if (d3 >= 0.0 && d4 <= d3) {
        along3(b, 0.0, ab, x);
        *number = 1;
        return AT_CORNER;
    }
    if (d6 >= 0.0 && d5 <= d6) {
        along3(c, 0.0, ab, x);
        *number = 2;
        return AT_CORNER;
    }
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        along3(a, d1 / (d1 - d3), ab, x);
        *number = 0;
        return AT_SIDE;
    }
    if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        double bc[3];
        subtract3(c, b, bc);
        along3(b, (d4 - d3) / ((d4 - d3) + (d5 - d6)), bc, x);
        *number = 1;
        return AT_SIDE;
    }
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        along3(a, d2 / (d2 - d6), ac, x);
        *number = 2;
        return AT_SIDE;
    }
    along3(a, vb / (va + vb + vc), ab, x);
    along3(x, vc / (va + vb + vc), ac, x);
    *number = 0;
    return AT_TRIANGLE;
}

/* The sine of the steepest way from an edge or corner along the surface towards d: at most 0 in its Voronoi region. */
static double steepest(const Surface *s, int feature, int number, const int *ends, const double *d)
{
    double most = -1.0, size = length3(d);
    const double *at = s->corner + 3 * ends[0];
    const int *start = feature == AT_SIDE ? s->beside_start : s->around_start;
    const int *others = feature == AT_SIDE ? s->beside : s->around;
    for (int k = start[number]; k < start[number + 1]; k++) {
        double way[3], length;
        subtract3(s->corner + 3 * others[k], at, way);
        if (feature == AT_SIDE) {
            double edge[3];
            subtract3(s->corner + 3 * ends[1], at, edge);
            along3(way, -dot3(way, edge) / dot3(edge, edge), edge, way);
        }
        length = length3(way);
        if (length > 0.0 && size > 0.0)
            most = fmax(most, dot3(way, d) / (length * size));
    }
    return most;
}

/* Keep a foot: the nearest of those that are one, and the nearest ones of all. */
static void keep_foot(Probe *probe, const Foot *foot)
{
    int at = probe->count;
    for (int k = 0; k < probe->count; k++)
        if (fabs(probe->foot[k].x[0] - foot->x[0]) + fabs(probe->foot[k].x[1] - foot->x[1]) +
                fabs(probe->foot[k].x[2] - foot->x[2]) < MERGED) {
            at = k;
            break;
        }
    if (at == MOST_POINTS) {
        at = 0;
        for (int k = 1; k < MOST_POINTS; k++)
            if (fabs(probe->foot[k].distance) > fabs(probe->foot[at].distance))
                at = k;
    }
    if (at == probe->count)
        probe->count++;
    else if (fabs(foot->distance) >= fabs(probe->foot[at].distance))
        return;
    probe->foot[at] = *foot;
}

/* Offer the point x of a feature of triangle f, the point p of the axis being closest to it. inward: from an end into the
 * axis, NULL for a sphere and between the ends. */
static void offer(const Surface *s, Probe *probe, int which, const double *p, const double *inward, int f, int feature,
                  int local, const double *x, double reach)
{
    const int *corner = s->triangle + 3 * f;
    int number = feature == AT_TRIANGLE ? f : feature == AT_SIDE ? s->side[3 * f + local] : corner[local];
    int ends[2] = {corner[local], corner[(local + 1) % 3]}, border = 0;
    const double *out = s->normal + 3 * f;
    double d[3], size, side;
    Foot foot;
    subtract3(p, x, d);
    size = length3(d);
    if (size > reach)
        return;
    if (feature == AT_SIDE) {
        out = s->edge_normal + 3 * number;
        border = s->edge_border[number];
    } else if (feature == AT_CORNER) {
        out = s->corner_normal + 3 * number;
        border = s->corner_border[number];
    }
    side = dot3(out, d) < 0.0 ? -1.0 : 1.0;
    if (side < 0.0 && (border || which == MIDDLE))
        return;                     /* beside the surface, or left to the ends */
    if (feature != AT_TRIANGLE && steepest(s, feature, number, ends, d) > (which == MIDDLE ? -PARALLEL : SLOPE))
        return;
    if (size < fabs(probe->nearest))
        probe->nearest = side * size;
    if (inward && side > 0.0 && dot3(d, inward) < -PARALLEL * length3(inward) * size)
        return;                     /* the axis comes nearer inside */
    for (int r = 0; r < 3; r++) {
        foot.x[r] = x[r];
        foot.n[r] = size > SAME ? side * d[r] / size : out[r] / length3(out);
    }
    foot.distance = side * size;
    foot.identity = ((int64_t)number * 3 + feature) * PROBES + which;
    keep_foot(probe, &foot);
}

/* Offer what of a triangle is closest to the ends of an axis, and of its sides to the points between them. */
static void offer_triangle(const Surface *s, const Segment *axis, int f, double reach, Probe *probes)
{
    const double *corner[3];
    double x[3], p[3], back[3] = {-axis->d[0], -axis->d[1], -axis->d[2]};
    int local;
    for (int k = 0; k < 3; k++)
        corner[k] = s->corner + 3 * s->triangle[3 * f + k];
    for (int end = 0; end < (axis->length > 0.0 ? 2 : 1); end++) {
        int feature;
        along3(axis->p, end, axis->d, p);
        feature = closest_in_triangle(corner[0], corner[1], corner[2], p, x, &local);
        offer(s, probes + end, end, p, axis->length == 0.0 ? NULL : end ? back : axis->d, f, feature, local, x, reach);
    }
    for (int k = 0; axis->length > 0.0 && k < 3; k++) {
        Segment edge = {{0.0}, {0.0}, 0.0};
        double at, t;
        subtract3(corner[(k + 1) % 3], corner[k], edge.d);
        along3(corner[k], 0.0, edge.d, edge.p);
        edge.length = length3(edge.d);
        closest_of_segments(axis, &edge, &at, &t);
        if (at <= 0.0 || at >= 1.0)
            continue;
        along3(axis->p, at, axis->d, p);
        along3(edge.p, t, edge.d, x);
        if (t > 0.0 && t < 1.0)
            offer(s, probes + MIDDLE, MIDDLE, p, NULL, f, AT_SIDE, k, x, reach);
        else
            offer(s, probes + MIDDLE, MIDDLE, p, NULL, f, AT_CORNER, t > 0.0 ? (k + 1) % 3 : k, x, reach);
    }
}

/* Offer all triangles whose boxes are within reach of the axis. */
static void offer_near(const Surface *s, const Segment *axis, double reach, Probe *probes)
{
    struct {
        int level, at;
    } waiting[64];
    int count = 1;
    double low[3], high[3];
    for (int r = 0; r < 3; r++) {
        low[r] = axis->p[r] + fmin(axis->d[r], 0.0) - reach;
        high[r] = axis->p[r] + fmax(axis->d[r], 0.0) + reach;
    }
    waiting[0].level = waiting[0].at = 0;
    while (count) {
        int level = waiting[--count].level, at = waiting[count].at, apart = 0;
        const double *bounds = s->bounds + 6 * ((1 << level) - 1 + at);
        for (int r = 0; r < 3; r++)
            apart |= bounds[r] > high[r] || bounds[3 + r] < low[r];
        if (apart)
            continue;
        if (level == s->levels) {
            int stop = (int)((int64_t)s->triangles * (at + 1) >> level);
            for (int f = (int)((int64_t)s->triangles * at >> level); f < stop; f++)
                offer_triangle(s, axis, f, reach, probes);
            continue;
        }
        for (int child = 1; child >= 0; child--) {
            waiting[count].level = level + 1;
            waiting[count++].at = 2 * at + child;
        }
    }
}

/* Add the deepest feet. An end that is behind the surface has one: the nearest. */
static void touch_round_surface(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    Segment axis = axis_in(a, A, B);
    Probe probes[PROBES];
    const Foot *feet[PROBES * MOST_POINTS];
    int count = 0;
    for (int k = 0; k < PROBES; k++) {
        probes[k].count = 0;
        probes[k].nearest = INFINITY;
    }
    offer_near(&b->surface, &axis, a->radius + t->margin, probes);
    for (int k = 0; k < PROBES; k++)
        for (int i = 0; i < probes[k].count; i++) {
            const Foot *foot = probes[k].foot + i;
            if (probes[k].nearest < 0.0 ? foot->distance == probes[k].nearest : foot->distance >= 0.0)
                feet[count++] = foot;
        }
    while (count && t->count < MOST_POINTS) {
        int deepest = 0;
        for (int i = 1; i < count; i++)
            if (feet[i]->distance < feet[deepest]->distance)
                deepest = i;
        add_placed(t, B, feet[deepest]->x, feet[deepest]->n, -1.0, feet[deepest]->distance - a->radius,
                   feet[deepest]->identity);
        feet[deepest] = feet[--count];
    }
}

#endif
