/* Points of cylinders against hulls and each other: ends and faces, generators, and single points of round parts. */
#ifndef TREEFACTOR_CONTACT_CYLINDER_POINTS_H
#define TREEFACTOR_CONTACT_CYLINDER_POINTS_H

#include "cylinders.h"
#include "planes.h"

enum { RIM_POINT, LOWEST, RIM_CORNER, RIM_CROSSING, GENERATOR, ALONG_EDGE, ROUND_POINT };

/* The features of both shapes that touch; first and second tell alike ones apart. */
static int64_t identity_of_rods(int feature, int first, int second)
{
    return ((int64_t)feature * MOST_NUMBERED + first) * MOST_NUMBERED + second;
}

/* A point of the second shape below one of the first. */
typedef struct {
    double x[3], gap;
    int64_t identity;
} Footing;

typedef struct {
    Footing point[4 * MOST_CORNERS];
    int count;
} Footings;

/* The flat end of a cylinder that is on the other shape's side of it, n leading to the cylinder. */
typedef struct {
    const Rod *rod;
    int number;                     /* 1: where the axis leads */
    double center[3], normal[3];    /* outward */
} End;

static End end_below(const Rod *rod, const double *n)
{
    End end = {rod, dot3(n, rod->axis[2]) < 0.0, {0.0}, {0.0}};
    double sign = end.number ? 1.0 : -1.0;
    along3(rod->center, sign * rod->half_length, rod->axis[2], end.center);
    for (int r = 0; r < 3; r++)
        end.normal[r] = sign * rod->axis[2][r];
    return end;
}

/* How far a plane is from x along n; INFINITY if n is along the plane. */
static double height_of_plane(const double *normal, const double *point, const double *x, const double *n)
{
    double apart[3], slope = dot3(normal, n);
    subtract3(point, x, apart);
    return fabs(slope) > 1e-6 ? dot3(normal, apart) / slope : INFINITY;
}

static double distance_from_axis(const Rod *rod, const double *x)
{
    double apart[3], across[3], s;
    subtract3(x, rod->center, apart);
    across_rod(rod, apart, across, &s);
    return s;
}

/* Points 0 to 3 of the rim are fixed to the body; 4 is its farthest point along a direction. */
static void point_of_rim(const End *end, int k, const double *direction, double *x)
{
    const Rod *rod = end->rod;
    double across[3], s;
    across_rod(rod, direction, across, &s);
    if (k == 4)
        along3(end->center, rod->radius, s > ROUNDED ? across : rod->axis[0], x);
    else
        along3(end->center, k % 2 ? -rod->radius : rod->radius, rod->axis[k / 2], x);
}

static int is_over_face(const Polytope *hull, int face, const double *x, double slack)
{
    int first = hull->start[face], count = hull->start[face + 1] - first;
    for (int k = 0; k < count; k++) {
        const double *corner = hull->corner + 3 * hull->loop[first + k];
        double edge[3], out[3], apart[3];
        subtract3(hull->corner + 3 * hull->loop[first + (k + 1) % count], corner, edge);
        cross3(edge, hull->normal + 3 * face, out);
        subtract3(x, corner, apart);
        if (dot3(out, apart) > slack * length3(edge))
            return 0;
    }
    return 1;
}

static void add_footing(Footings *footings, const double *x, double gap, double margin, int64_t identity)
{
    Footing *to = footings->point + footings->count;
    if (!(gap <= margin))
        return;
    for (int r = 0; r < 3; r++)
        to->x[r] = x[r];
    to->gap = gap;
    to->identity = identity;
    footings->count++;
}

/* Add up to eight points: the deepest, and the farthest in eight directions. */
static void add_footings(const Footings *footings, const double *n, const Pose *B, Touching *t)
{
    double u[3], w[3];
    int deepest = 0, taken[MOST_POINTS], count = 0;
    for (int i = 0; i < footings->count; i++)
        if (footings->point[i].gap < footings->point[deepest].gap)
            deepest = i;
    if (footings->count > MOST_POINTS)
        taken[count++] = deepest;
    else
        for (; count < footings->count; count++)
            taken[count] = count;
    any_orthogonal(n, u);
    cross3(n, u, w);
    for (int k = 0; footings->count > MOST_POINTS && k < MOST_POINTS && count < MOST_POINTS; k++) {
        double angle = 0.2 + k * 0.25 * acos(-1.0), most = -INFINITY;
        int best = 0, is_taken = 0;
        for (int i = 0; i < footings->count; i++) {
            double along = cos(angle) * dot3(u, footings->point[i].x) + sin(angle) * dot3(w, footings->point[i].x);
            if (along > most) {
                most = along;
                best = i;
            }
        }
        for (int i = 0; i < count; i++)
            is_taken |= taken[i] == best;
        if (!is_taken)
            taken[count++] = best;
    }
    for (int i = 0; i < count; i++) {
        const Footing *point = footings->point + taken[i];
        add_placed(t, B, point->x, n, -1.0, point->gap, point->identity);
    }
}

/* A flat end over a face: points of the rim over the face, corners below the end, and where the rim crosses edges. */
static void touch_end_and_face(const End *end, const Polytope *hull, int face, const double *n, double slack,
                               const Pose *B, Touching *t)
{
    Footings footings;
    const double *normal = hull->normal + 3 * face;
    int first = hull->start[face], count = hull->start[face + 1] - first;
    double down[3] = {-normal[0], -normal[1], -normal[2]}, R = end->rod->radius;
    footings.count = 0;
    for (int k = 4; k >= 0; k--) {
        double x[3], below[3], gap;
        point_of_rim(end, k, down, x);
        gap = -height_of_plane(normal, hull->corner + 3 * hull->loop[first], x, n);
        along3(x, -gap, n, below);
        if (fabs(gap) < INFINITY && is_over_face(hull, face, below, slack))
            add_footing(&footings, below, gap, t->margin, identity_of_rods(k == 4 ? LOWEST : RIM_POINT, face, 8 * end->number + k));
    }
    for (int k = 0; k < count; k++) {
        int corner = hull->loop[first + k], edge = hull->side[first + k];
        const double *x = hull->corner + 3 * corner, *next = hull->corner + 3 * hull->loop[first + (k + 1) % count];
        double gap = height_of_plane(end->normal, end->center, x, n), rise, here[3], there[3], way[3], length, middle, half;
        rise = height_of_plane(end->normal, end->center, next, n);
        along3(x, gap, n, here);
        along3(next, rise, n, there);
        if (distance_from_axis(end->rod, here) <= R + slack)
            add_footing(&footings, x, gap, t->margin, identity_of_rods(RIM_CORNER, corner, end->number));
        subtract3(there, here, way);
        length = length3(way);
        for (int r = 0; r < 3; r++)
            way[r] /= length;
        subtract3(end->center, here, there);
        middle = dot3(there, way);
        half = dot3(there, there) - middle * middle;
        if (half >= (R - slack) * (R - slack))
            continue;
        half = sqrt(R * R - half);
        for (int side = 0; side < 2; side++) {
            double at = side ? middle + half : middle - half, s = at / length, y[3];
            if (at <= slack || at >= length - slack)
                continue;
            for (int r = 0; r < 3; r++)
                y[r] = x[r] + s * (next[r] - x[r]);
            add_footing(&footings, y, gap + s * (rise - gap), t->margin,
                        identity_of_rods(RIM_CROSSING, edge, 2 * end->number + side));
        }
    }
    add_footings(&footings, n, B, t);
}

/* Add a point of the rim of one of two ends if it is over the other one; returns whether it is. */
static int add_rim_point(const End *const *ends, int own, int k, const double *n, double slack, double margin,
                         Footings *footings)
{
    const End *other = ends[1 - own];
    double point[3], opposite[3], down[3] = {-other->normal[0], -other->normal[1], -other->normal[2]}, gap;
    point_of_rim(ends[own], k, down, point);
    gap = height_of_plane(other->normal, other->center, point, n);
    along3(point, gap, n, opposite);
    if (distance_from_axis(other->rod, opposite) > other->rod->radius + slack)
        return 0;
    add_footing(footings, own ? point : opposite, own ? gap : -gap, margin,
                identity_of_rods(k == 4 ? LOWEST : RIM_POINT, own, 8 * ends[own]->number + k));
    return 1;
}

/* Two flat ends: points of either rim over the other end, and where the rims cross. */
static void touch_ends(const End *a, const End *b, int reference, const double *n, double slack, const Pose *B, Touching *t)
{
    Footings footings;
    const End *ends[2] = {a, b};
    int smaller = b->rod->radius < a->rod->radius, inside = 0;
    double apart[3], way[3], distance, x, square, side[3];
    footings.count = 0;
    add_rim_point(ends, 1 - reference, 4, n, slack, t->margin, &footings);
    for (int turn = 0; turn < 2 && inside < 4; turn++)
        for (int k = 0; k < 4; k++)
            inside += add_rim_point(ends, smaller ^ turn, k, n, slack, t->margin, &footings);
    subtract3(a->center, b->center, apart);
    along3(apart, -dot3(apart, n), n, way);
    distance = length3(way);
    if (inside < 4 && distance > 0.0) {
        double R = b->rod->radius, r = a->rod->radius;
        x = (distance * distance + R * R - r * r) / (2.0 * distance);
        square = R * R - x * x;
        for (int k = 0; k < 3; k++)
            way[k] /= distance;
        cross3(n, way, side);
        for (int k = 0; square > 0.0 && k < 2; k++) {
            double point[3], gap;
            along3(b->center, x, way, point);
            along3(point, k ? sqrt(square) : -sqrt(square), side, point);
            gap = height_of_plane(b->normal, b->center, point, n);
            along3(point, gap, n, point);
            add_footing(&footings, point, height_of_plane(a->normal, a->center, point, n), t->margin,
                        identity_of_rods(RIM_CROSSING, k, 8 * a->number + b->number));
        }
    }
    add_footings(&footings, n, B, t);
}

/* The points of a cylinder farthest against n: of a rim, or, of a cylinder that lies across n, a generator. */
static Segment farthest_of_rod(const Rod *rod, const double *n, double level, int *part)
{
    Segment points = {{0.0}, {0.0}, 0.0};
    double across[3], s, along = across_rod(rod, n, across, &s), at = -rod->half_length;
    *part = fabs(along) <= level ? 2 : along < 0.0;
    if (*part == 1)
        at = rod->half_length;
    along3(rod->center, at, rod->axis[2], points.p);
    along3(points.p, -rod->radius, across, points.p);
    for (int r = 0; r < 3 && *part == 2; r++)
        points.d[r] = 2.0 * rod->half_length * rod->axis[2][r];
    points.length = *part == 2 ? 2.0 * rod->half_length : 0.0;
    return points;
}

/* The part of a segment beside a flat end, within its circle. */
static int part_in_circle(const Rod *rod, const Segment *a, double *low, double *high)
{
    double apart[3], d[3], p[3], s, dd, dp, root;
    subtract3(a->p, rod->center, apart);
    across_rod(rod, apart, p, &s);
    for (int r = 0; r < 3; r++)
        p[r] *= s;
    across_rod(rod, a->d, d, &s);
    for (int r = 0; r < 3; r++)
        d[r] *= s;
    dd = dot3(d, d);
    dp = dot3(d, p);
    root = dp * dp - dd * (dot3(p, p) - rod->radius * rod->radius);
    if (!(dd > 0.0 && root > 0.0))
        return 0;
    *low = clamp((-dp - sqrt(root)) / dd, 0.0, 1.0);
    *high = clamp((-dp + sqrt(root)) / dd, 0.0, 1.0);
    return *high > *low;
}

/* Add both ends of a part of the lowest generator; is_first: it is of the first shape, and the plane of the second. */
static void add_generator(const Segment *generator, double low, double high, const double *normal, const double *point,
                          const double *n, int is_first, int number, const Pose *B, Touching *t)
{
    for (int end = 0; end < 2; end++) {
        double x[3], gap;
        along3(generator->p, end ? high : low, generator->d, x);
        gap = height_of_plane(normal, point, x, n);
        if (is_first) {
            along3(x, gap, n, x);
            gap = -gap;
        }
        if (end == 0 || high > low)
            add_placed(t, B, x, n, -1.0, gap, identity_of_rods(GENERATOR, number, 2 * is_first + end));
    }
}

/* Two points where an edge, or the axis of the second cylinder, lies along a cylinder; radius: around it. */
static int touch_along(const Rod *rod, const Segment *line, double radius, const Direction *best, double slack, int number,
                       const Pose *B, Touching *t)
{
    Segment axis = {{0.0}, {0.0}, 2.0 * rod->half_length};
    double low, high, gap[2], x[2][3], n[2][3];
    along3(rod->center, -rod->half_length, rod->axis[2], axis.p);
    for (int r = 0; r < 3; r++)
        axis.d[r] = axis.length * rod->axis[2][r];
    if (fabs(dot3(best->n, rod->axis[2])) > PARALLEL || !overlap_of_parallels(line, &axis, &low, &high))
        return 0;
    for (int end = 0; end < 2; end++) {
        double apart[3], distance;
        along3(line->p, end ? high : low, line->d, x[end]);
        subtract3(rod->center, x[end], apart);
        across_rod(rod, apart, n[end], &distance);
        gap[end] = distance - rod->radius - radius;
        if (dot3(n[end], best->n) < 0.9)
            return 0;
        along3(x[end], radius, n[end], x[end]);
    }
    if (fabs(fmin(gap[0], gap[1]) - best->separation) > slack)
        return 0;
    for (int end = 0; end < 2; end++)
        add_placed(t, B, x[end], n[end], -1.0, gap[end], identity_of_rods(ALONG_EDGE, number, end));
    return 1;
}

/* Whether a cylinder stands or lies on a plane with this normal. */
static int is_aligned(const Rod *rod, const double *n)
{
    double across[3], s, along = across_rod(rod, n, across, &s);
    return s <= ALIGNED || fabs(along) <= ALIGNED;
}

static int are_alike(const double *n, const double *m)
{
    return dot3(n, m) > 1.0 - 0.5 * ALIGNED * ALIGNED;
}

/* One point of the closest ones of two features, which are orthogonal to n. */
static void touch_features(const Segment *below, const Segment *above, const Direction *best, int part, const Pose *B,
                           Touching *t)
{
    double s, at, x[3];
    closest_of_segments(below, above, &s, &at);
    along3(below->p, s, below->d, x);
    add_placed(t, B, x, best->n, -1.0, best->separation,
               identity_of_rods(ROUND_POINT, best->number, 4 * best->feature + part));
}

static void touch_face_and_rod(const Polytope *hull, int face, const Rod *rod, double slack, const Pose *B, Touching *t)
{
    const double *n = hull->normal + 3 * face, *corner = hull->corner + 3 * hull->loop[hull->start[face]];
    double across[3], s, low, high;
    int part, count = t->count;
    Segment generator = farthest_of_rod(rod, n, 2.0, &part), point;
    across_rod(rod, n, across, &s);
    if (s <= UPRIGHT) {
        End end = end_below(rod, n);
        touch_end_and_face(&end, hull, face, n, slack, B, t);
    } else if (part_over_face(hull, face, &generator, &low, &high)) {
        add_generator(&generator, low, high, n, corner, n, 1, face, B, t);
    }
    if (t->count > count)
        return;
    point = farthest_of_rod(rod, n, 0.0, &part);             /* beside the face by a rounding error */
    add_generator(&point, 0.0, 0.0, n, corner, n, 1, face, B, t);
}

static void touch_end_and_hull(const Rod *rod, const double *n, const Polytope *hull, double slack, const Pose *B,
                               Touching *t)
{
    End end = end_below(rod, n);
    double down[3] = {-n[0], -n[1], -n[2]};
    int deepest = 0, count = t->count, face = deepest_face(hull, down, &deepest);
    touch_end_and_face(&end, hull, face, n, slack, B, t);
    if (t->count == count) {
        const double *x = hull->corner + 3 * deepest;
        add_placed(t, B, x, n, -1.0, height_of_plane(end.normal, end.center, x, n),
                   identity_of_rods(RIM_CORNER, deepest, end.number));
    }
}

static void touch_cylinder_hull(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    const Polytope *hull = &b->hull;
    Pose placed = relative(B, A);
    Rod rod = rod_of(a, &placed);
    Direction face = {-INFINITY, {0.0}, OF_FACE, 0}, end = {-INFINITY, {0.0}, OF_END, 0}, flat, best;
    Cuts cuts;
    double towards[3];
    double tie = TIE * fmin(a->size, b->size), slack = 0.5 * tie;
    Segment below = {{0.0}, {0.0}, 0.0}, above;
    int part;
    cuts.count = 0;
    if (are_apart(b, a, &placed, t->margin, &cuts, towards))
        return;
    for (int f = 0; f < hull->faces; f++) {
        const double *n = hull->normal + 3 * f;
        Difference D = {{0.0}, {&rod}, 1};
        double gradient[3], before = face.separation;
        if (are_cut(&cuts, &n, 1, 1.0, before))
            continue;
        subtract3(rod.center, hull->corner + 3 * hull->loop[hull->start[f]], D.apart);
        keep_direction(&face, separation_along(&D, n, gradient), n, OF_FACE, f);
        if (face.separation > t->margin)
            return;
        if (face.separation > before)
            add_cut(&cuts, gradient);
    }
    for (int side = 0; side < 2; side++) {
        double n[3];
        for (int r = 0; r < 3; r++)
            n[r] = side ? -rod.axis[2][r] : rod.axis[2][r];
        keep_direction(&end, separation_from_hull(hull, &rod, n), n, OF_END, side);
    }
    flat = end.separation > face.separation + (are_alike(end.n, face.n) ? tie : 0.0) ? end : face;
    if (flat.separation > t->margin)
        return;
    best = flat;
    best.separation += is_aligned(&rod, flat.n) && flat.feature == OF_FACE ? tie : EQUAL / TIE * tie;
    keep_corners(hull, &rod, &best);
    keep_edges(hull, &rod, &cuts, &best);
    if (best.feature == OF_FACE) {
        touch_face_and_rod(hull, best.number, &rod, slack, B, t);
        return;
    }
    if (best.feature == OF_END) {
        touch_end_and_hull(&rod, best.n, hull, slack, B, t);
        return;
    }
    if (best.separation > t->margin)
        return;
    for (int e = 0; e < hull->edges; e++) {
        below = edge_of(hull, e);
        if (touch_along(&rod, &below, 0.0, &best, tie, e, B, t))
            return;
    }
    if (best.feature == OF_EDGE) {
        below = edge_of(hull, best.number);
    } else {
        for (int r = 0; r < 3; r++)
            below.p[r] = hull->corner[3 * best.number + r];
        for (int r = 0; r < 3; r++)
            below.d[r] = 0.0;
        below.length = 0.0;
    }
    above = farthest_of_rod(&rod, best.n, LEVEL, &part);
    touch_features(&below, &above, &best, part, B, t);
}

static void touch_cylinders(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    static const Pose here = {{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}};
    Pose placed = relative(B, A);
    Rod rods[2] = {rod_of(a, &placed), rod_of(b, &here)};
    Difference D = {{placed.p[0], placed.p[1], placed.p[2]}, {rods, rods + 1}, 2};
    Direction of[2], flat, best;
    double tie = TIE * fmin(a->size, b->size), slack = 0.5 * tie, up[3], across[3], s, low, high;
    Cuts cuts;
    double towards[3];
    Segment below, above;
    int reference, part, other;
    cuts.count = 0;
    if (are_apart(b, a, &placed, t->margin, &cuts, towards))
        return;
    for (int k = 0; k < 2; k++) {
        of[k].separation = -INFINITY;
        for (int side = 0; side < 2; side++) {
            double n[3], gradient[3];
            for (int r = 0; r < 3; r++)
                n[r] = side ? -rods[k].axis[2][r] : rods[k].axis[2][r];
            keep_direction(of + k, separation_along(&D, n, gradient), n, OF_END, k);
        }
    }
    reference = of[1].separation > of[0].separation;
    if (are_alike(of[0].n, of[1].n) && fabs(of[1].separation - of[0].separation) <= tie)
        reference = b->radius > (1.0 + 1e-6) * a->radius;
    flat = of[reference];
    if (flat.separation > t->margin)
        return;
    best = flat;
    best.separation += is_aligned(rods + 1 - reference, flat.n) ? tie : EQUAL / TIE * tie;
    keep_rounds(&D, t->margin, &cuts, &best);
    for (int r = 0; r < 3; r++)
        up[r] = -best.n[r];          /* from the first cylinder to the second */
    if (best.feature == OF_END) {
        const Rod *rod = rods + 1 - reference;
        End ends[2] = {end_below(rods, best.n), end_below(rods + 1, up)};
        int count = t->count;
        Segment generator = farthest_of_rod(rod, reference ? best.n : up, 2.0, &part);
        across_rod(rod, best.n, across, &s);
        if (s <= UPRIGHT)
            touch_ends(ends, ends + 1, reference, best.n, slack, B, t);
        else if (part_in_circle(rods + reference, &generator, &low, &high))
            add_generator(&generator, low, high, ends[reference].normal, ends[reference].center, best.n, reference, 0, B, t);
        if (t->count > count)
            return;
        generator = farthest_of_rod(rod, reference ? best.n : up, 0.0, &part);
        add_generator(&generator, 0.0, 0.0, ends[reference].normal, ends[reference].center, best.n, reference, 0, B, t);
        return;
    }
    if (best.separation > t->margin)
        return;
    below = farthest_of_rod(rods + 1, up, 2.0, &part);
    for (int r = 0; r < 3; r++)
        below.p[r] = r == 2 ? -b->half_length : 0.0;
    if (touch_along(rods, &below, b->radius, &best, tie, 0, B, t))
        return;
    below = farthest_of_rod(rods + 1, up, LEVEL, &part);
    above = farthest_of_rod(rods, best.n, LEVEL, &other);
    touch_features(&below, &above, &best, 3 * part + other, B, t);
}

#endif
