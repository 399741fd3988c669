/* Points of spheres and capsules, which are segments with a radius, against boxes and hulls. */
#ifndef TREEFACTOR_CONTACT_ROUND_HULLS_H
#define TREEFACTOR_CONTACT_ROUND_HULLS_H

#include "rounds.h"

/* What of a hull is closest to a segment, in the frame of the hull: a face, or the edge and the points of both. */
typedef struct {
    double distance, n[3];          /* signed; out of the hull */
    int face, edge;                 /* -1: the other one */
    double s, t;                    /* where the segment, and the edge, are closest */
} Closest;

static Segment edge_of(const Polytope *hull, int edge)
{
    Segment side;
    const double *first = hull->corner + 3 * hull->edge[4 * edge];
    subtract3(hull->corner + 3 * hull->edge[4 * edge + 1], first, side.d);
    for (int r = 0; r < 3; r++)
        side.p[r] = first[r];
    side.length = length3(side.d);
    return side;
}

/* The part of a segment above a face, between the planes through its edges; returns whether there is one. */
static int part_over_face(const Polytope *hull, int face, const Segment *a, double *low, double *high)
{
    int first = hull->start[face], count = hull->start[face + 1] - first;
    *low = 0.0;
    *high = 1.0;
    for (int k = 0; k < count; k++) {
        const double *corner = hull->corner + 3 * hull->loop[first + k];
        double edge[3], out[3], apart[3], at, rate;
        subtract3(hull->corner + 3 * hull->loop[first + (k + 1) % count], corner, edge);
        cross3(edge, hull->normal + 3 * face, out);
        subtract3(a->p, corner, apart);
        at = dot3(out, apart);
        rate = dot3(out, a->d);
        if (at > 0.0 && at + rate > 0.0)
            return 0;
        if (at > 0.0)
            *low = fmax(*low, -at / rate);
        else if (at + rate > 0.0)
            *high = fmin(*high, -at / rate);
    }
    return *low <= *high;
}

/* The face that separates most, by its plane: a bound of the distance. */
static void closest_face(const Polytope *hull, const Segment *a, Closest *best)
{
    best->distance = -INFINITY;
    best->face = 0;
    best->edge = -1;
    for (int f = 0; f < hull->faces; f++) {
        double x = dot3(hull->normal + 3 * f, a->p), rate = dot3(hull->normal + 3 * f, a->d);
        double separation = x + fmin(rate, 0.0) - hull->offset[f];
        if (separation > best->distance) {
            best->distance = separation;
            best->face = f;
            best->s = rate < 0.0 ? 1.0 : 0.0;
        }
    }
    for (int r = 0; r < 3; r++)
        best->n[r] = hull->normal[3 * best->face + r];
}

/* Edges against the segment: faces of the difference of both, if the segment crosses the directions between the
 * normals of the faces at the edge. */
static void keep_crossed_edges(const Polytope *hull, const Segment *a, Closest *best)
{
    for (int e = 0; e < hull->edges; e++) {
        const double *one = hull->normal + 3 * hull->edge[4 * e + 2], *other = hull->normal + 3 * hull->edge[4 * e + 3];
        double first = dot3(one, a->d), second = dot3(other, a->d), n[3], sum[3], apart[3], length;
        Segment edge;
        if (first * second >= 0.0)
            continue;
        edge = edge_of(hull, e);
        cross3(edge.d, a->d, n);
        length = length3(n);
        if (length <= 1e-9 * edge.length * a->length)
            continue;
        along3(one, 1.0, other, sum);
        length = copysign(length, dot3(n, sum));
        for (int r = 0; r < 3; r++)
            n[r] /= length;
        subtract3(a->p, edge.p, apart);
        if (dot3(n, apart) > best->distance) {
            best->distance = dot3(n, apart);
            best->edge = e;
            for (int r = 0; r < 3; r++)
                best->n[r] = n[r];
        }
    }
    if (best->edge >= 0) {
        Segment edge = edge_of(hull, best->edge);
        closest_of_segments(a, &edge, &best->s, &best->t);
    }
}

/* The closest points of a segment outside: of its ends to faces, or of the segment to edges. */
static void closest_outside(const Polytope *hull, const Segment *a, Closest *best)
{
    double least = INFINITY, low, high;
    Closest separating = *best;
    for (int e = 0; e < hull->edges; e++) {
        Segment edge = edge_of(hull, e);
        double s, t, x[3], y[3], n[3], distance;
        closest_of_segments(a, &edge, &s, &t);
        along3(a->p, s, a->d, x);
        along3(edge.p, t, edge.d, y);
        subtract3(x, y, n);
        distance = length3(n);
        if (distance >= least)
            continue;
        least = distance;
        if (distance <= SAME) {     /* touching */
            *best = separating;
            return;
        }
        best->edge = e;
        best->s = s;
        best->t = t;
        for (int r = 0; r < 3; r++)
            best->n[r] = n[r] / distance;
    }
    for (int f = 0; f < hull->faces; f++)
        for (int end = 0; end < (a->length > 0.0 ? 2 : 1); end++) {
            Segment point = {{0.0}, {0.0}, 0.0};
            double distance;
            along3(a->p, end, a->d, point.p);
            distance = dot3(hull->normal + 3 * f, point.p) - hull->offset[f];
            if (distance < 0.0 || distance > least || !part_over_face(hull, f, &point, &low, &high))
                continue;
            least = distance;
            best->edge = -1;
            best->face = f;
            best->s = end;
            for (int r = 0; r < 3; r++)
                best->n[r] = hull->normal[3 * f + r];
        }
    best->distance = least;
}

/* Over a face: both ends of the part that is over it; one has the distance that was found across an edge. Along an edge:
 * both ends of the part beside it. */
static void touch_round_hull(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    const Polytope *hull = &b->hull;
    Segment axis = axis_in(a, A, B), edge;
    Closest best;
    double low, high;
    int crossed;
    closest_face(hull, &axis, &best);
    if (best.distance - a->radius > t->margin)
        return;
    if (axis.length > 0.0)
        keep_crossed_edges(hull, &axis, &best);
    if (best.distance > 0.0)
        closest_outside(hull, &axis, &best);
    if (best.distance - a->radius > t->margin)
        return;
    crossed = best.edge >= 0;
    for (int k = 2; k < 4 && best.edge >= 0; k++) {          /* across an edge, but flat on a face */
        int face = hull->edge[4 * best.edge + k];
        const double *n = hull->normal + 3 * face;
        if (dot3(best.n, n) > 1.0 - 0.5 * PARALLEL * PARALLEL && fabs(dot3(n, axis.d)) <= PARALLEL * axis.length &&
            part_over_face(hull, face, &axis, &low, &high) && high - low > PARALLEL) {
            best.face = face;
            best.edge = -1;
        }
    }
    if (best.edge < 0) {
        const double *n = hull->normal + 3 * best.face;
        if (!part_over_face(hull, best.face, &axis, &low, &high))
            low = high = best.s;
        for (int end = 0; end < 2; end++) {
            double s = end ? high : low, separation;
            separation = dot3(n, axis.p) + s * dot3(n, axis.d) - hull->offset[best.face];
            if (crossed)
                separation = (2.0 * best.s > low + high) == end ? best.distance : fmax(separation, best.distance);
            if (end == 0 || (axis.length > 0.0 && high - low > PARALLEL))
                add_of_segment(t, B, &axis, s, a->radius, n, separation, axis.length > 0.0 ? end : SINGLE);
        }
        return;
    }
    edge = edge_of(hull, best.edge);
    if (overlap_of_parallels(&axis, &edge, &low, &high)) {
        for (int end = 0; end < 2; end++) {
            Segment point = {{0.0}, {0.0}, 0.0};
            double y[3], n[3], distance;
            along3(axis.p, end ? high : low, axis.d, point.p);
            closest_of_segments(&point, &edge, &best.s, &best.t);
            along3(edge.p, best.t, edge.d, y);
            subtract3(point.p, y, n);
            distance = dot3(n, best.n) > 0.0 ? length3(n) : 0.0;
            for (int r = 0; r < 3; r++)
                n[r] = distance > SAME ? n[r] / distance : best.n[r];
            add_placed(t, B, y, n, -1.0, (distance > SAME ? distance : best.distance) - a->radius, ALONG + end);
        }
    } else {
        double y[3];
        along3(edge.p, best.t, edge.d, y);
        add_placed(t, B, y, best.n, -1.0, best.distance - a->radius, SINGLE);
    }
}

#endif
