/* Directions along which a cylinder is most separated from a hull or from another cylinder.
 *
 * The separation along n from a corner or a cylinder, F(n) = n . apart - sum over cylinders of (R |n - (n . z) z| + l |n . z|),
 * is concave and homogeneous, so its gradient g bounds it from above: F(n) <= g . n. */
#ifndef TREEFACTOR_CONTACT_CYLINDERS_H
#define TREEFACTOR_CONTACT_CYLINDERS_H

#include "hulls.h"

#define WIDE 1.0                    /* rad: longer arcs are halved first */
#define NARROW 1e-7                 /* rad: shorter arcs hold no other peak */
#define EXACT 1e-10                 /* m: another peak of an arc may be better than that which is chosen by so much */
#define ROUGH 1e-8                  /* m: another peak of two rims */
#define ROUNDED 1e-13               /* length of a vector that is a rounding error */
#define LEVEL 1e-9                  /* product of an axis and a direction up to which they are orthogonal */

/* A cylinder in the frame of the second shape. */
typedef struct {
    double center[3], axis[3][3], radius, half_length;
} Rod;

typedef struct {
    double apart[3];                /* from a point of the second shape to one of the first */
    const Rod *rod[2];
    int rods;
} Difference;

enum { OF_FACE, OF_END, OF_EDGE, OF_CORNER, OF_ROUNDS };

/* The best direction so far, from the second shape to the first, and the feature that it belongs to. */
typedef struct {
    double separation, n[3];
    int feature, number;
} Direction;

static Rod rod_of(const ContactShape *shape, const Pose *pose)
{
    Rod rod;
    for (int r = 0; r < 3; r++) {
        rod.center[r] = pose->p[r];
        for (int k = 0; k < 3; k++)
            rod.axis[k][r] = pose->R[3 * r + k];
    }
    rod.radius = shape->radius;
    rod.half_length = shape->half_length;
    return rod;
}

/* Split a vector into its part along the axis, which is returned, and the unit vector across, 0 if there is none; s <- the
 * length across. */
static double across_rod(const Rod *rod, const double *n, double *across, double *s)
{
    double along = dot3(n, rod->axis[2]);
    along3(n, -along, rod->axis[2], across);
    *s = length3(across);
    for (int r = 0; r < 3; r++)
        across[r] = *s > ROUNDED ? across[r] / *s : 0.0;
    return along;
}

/* F(n), and its gradient. */
static double separation_along(const Difference *D, const double *n, double *gradient)
{
    double F = dot3(n, D->apart);
    for (int r = 0; r < 3; r++)
        gradient[r] = D->apart[r];
    for (int k = 0; k < D->rods; k++) {
        const Rod *rod = D->rod[k];
        double across[3], s, along = across_rod(rod, n, across, &s);
        F -= rod->radius * s + rod->half_length * fabs(along);
        along3(gradient, -rod->radius, across, gradient);
        if (along != 0.0)
            along3(gradient, -copysign(rod->half_length, along), rod->axis[2], gradient);
    }
    return F;
}

/* Add to H the second derivative of F along u, u and w, w: -R / s (k . u) (k . w), where k is across n and the axis. */
static void add_curvature(const Difference *D, const double *n, const double *u, const double *w, double *H)
{
    for (int i = 0; i < D->rods; i++) {
        double across[3], k[3], s, ku, kw;
        across_rod(D->rod[i], n, across, &s);
        cross3(D->rod[i]->axis[2], across, k);
        ku = dot3(k, u);
        kw = dot3(k, w);
        s = D->rod[i]->radius / fmax(s, 1e-300);
        H[0] -= s * ku * ku;
        H[1] -= s * ku * kw;
        H[2] -= s * kw * kw;
    }
}

static void keep_direction(Direction *best, double separation, const double *n, int feature, int number)
{
    if (separation <= best->separation)
        return;
    best->separation = separation;
    best->feature = feature;
    best->number = number;
    for (int r = 0; r < 3; r++)
        best->n[r] = n[r];
}

/* F at an angle on the arc cos(angle) u + sin(angle) w, and its derivative. */
static double on_arc(const Difference *D, const double *u, const double *w, double angle, double *n, double *slope)
{
    double forward[3], gradient[3], F;
    for (int r = 0; r < 3; r++) {
        n[r] = cos(angle) * u[r] + sin(angle) * w[r];
        forward[r] = cos(angle) * w[r] - sin(angle) * u[r];
    }
    F = separation_along(D, n, gradient);
    *slope = dot3(gradient, forward);
    return F;
}

/* Where the slope changes its sign from + to -: Newton's method, within brackets that are halved. */
static double peak_of_arc(const Difference *D, const double *u, const double *w, double low, double high)
{
    double angle = 0.5 * (low + high);
    for (int round = 0; round < 60 && high - low > 1e-15; round++) {
        double n[3], forward[3], slope, H[3] = {0.0, 0.0, 0.0}, F = on_arc(D, u, w, angle, n, &slope), next;
        for (int r = 0; r < 3; r++)
            forward[r] = cos(angle) * w[r] - sin(angle) * u[r];
        if (slope > 0.0)
            low = angle;
        else
            high = angle;
        add_curvature(D, n, forward, forward, H);
        next = angle - slope / (H[0] - F);
        if (!(H[0] - F < 0.0 && next > low && next < high))
            next = 0.5 * (low + high);
        else if (fabs(next - angle) < 1e-15)
            return next;
        angle = next;
    }
    return angle;
}

typedef struct {
    double angle, F, slope;
} ArcPoint;

static ArcPoint arc_point(const Difference *D, const double *u, const double *w, double angle, double *n)
{
    ArcPoint point = {angle, 0.0, 0.0};
    point.F = on_arc(D, u, w, angle, n, &point.slope);
    return point;
}

/* Branch and bound: halve an arc until no part can hold a better direction. Of both ends, others take care. */
static void search_arc(const Difference *D, const double *u, const double *w, ArcPoint low, ArcPoint high, int had_peak,
                       Direction *best, int feature, int number)
{
    double width = high.angle - low.angle, n[3], ignored;
    int has_peak = width <= WIDE && low.slope > 0.0 && high.slope <= 0.0;
    ArcPoint middle;
    if (width <= WIDE && fmin(bound_on_arc(low.F, low.slope, width), bound_on_arc(high.F, -high.slope, width)) <=
                             best->separation + EXACT)
        return;
    if (has_peak && !had_peak) {
        double F = on_arc(D, u, w, peak_of_arc(D, u, w, low.angle, high.angle), n, &ignored);
        keep_direction(best, F, n, feature, number);
    }
    if (width < NARROW)
        return;
    middle = arc_point(D, u, w, 0.5 * (low.angle + high.angle), n);
    keep_direction(best, middle.F, n, feature, number);
    search_arc(D, u, w, low, middle, has_peak, best, feature, number);
    search_arc(D, u, w, middle, high, has_peak, best, feature, number);
}

/* Keep the best direction on the arc from u to this angle towards w. */
static void keep_best_of_arc(const Difference *D, const double *u, const double *w, double angle, int feature, int number,
                             Direction *best)
{
    double n[3];
    search_arc(D, u, w, arc_point(D, u, w, 0.0, n), arc_point(D, u, w, angle, n), 0, best, feature, number);
}

/* Edges: directions between the normals of the faces beside them. */
static void keep_edges(const Polytope *hull, const Rod *rod, Cuts *cuts, Direction *best)
{
    EdgeWalk walk = walk_over(hull, cuts, best->separation + EXACT);
    for (int e = next_edge(&walk); e >= 0; e = next_edge(&walk)) {
        const double *one = hull->normal + 3 * hull->edge[4 * e + 2], *other = hull->normal + 3 * hull->edge[4 * e + 3];
        Difference D = {{0.0}, {rod}, 1};
        double w[3], s, c = dot3(one, other), before = best->separation;
        subtract3(rod->center, hull->corner + 3 * hull->edge[4 * e], D.apart);
        along3(other, -c, one, w);
        s = length3(w);
        if (s <= 1e-9)
            continue;
        for (int r = 0; r < 3; r++)
            w[r] /= s;
        keep_best_of_arc(&D, one, w, atan2(s, c), OF_EDGE, e, best);
        if (best->separation > before) {
            separation_along(&D, best->n, w);
            add_cut(cuts, w);
            walk.known = best->separation + EXACT;
        }
    }
}

/* F(n) of a hull and a cylinder. */
static double separation_from_hull(const Polytope *hull, const Rod *rod, const double *n)
{
    Difference D = {{0.0}, {rod}, 1};
    double gradient[3];
    subtract3(rod->center, hull->corner + 3 * corner_along(hull, n), D.apart);
    return separation_along(&D, n, gradient);
}

/* The corner that is closest to a cylinder, and that closest to its axis: towards these, from outside. */
static void keep_corners(const Polytope *hull, const Rod *rod, Direction *best)
{
    double least[2] = {INFINITY, INFINITY}, towards[2][3] = {{0.0}};
    int closest[2] = {0, 0};
    for (int k = 0; k < hull->corners; k++) {
        double d[3], across[3], s, along;
        subtract3(rod->center, hull->corner + 3 * k, d);
        along = across_rod(rod, d, across, &s);
        for (int way = 0; way < 2; way++) {
            double rise = way ? 0.0 : copysign(fmax(fabs(along) - rod->half_length, 0.0), along);
            double out = way ? s : fmax(s - rod->radius, 0.0), distance = hypot(rise, out);
            if (distance >= least[way] || distance <= SAME)
                continue;
            least[way] = distance;
            closest[way] = k;
            for (int r = 0; r < 3; r++)
                towards[way][r] = (rise * rod->axis[2][r] + out * across[r]) / distance;
        }
    }
    for (int way = 0; way < 2; way++)
        if (least[way] < INFINITY)
            keep_direction(best, separation_from_hull(hull, rod, towards[way]), towards[way], OF_CORNER, closest[way]);
}

/* From a direction to a peak of F, by Newton's method, for two rims. */
static void climb(const Difference *D, const double *start, Direction *best)
{
    double n[3] = {start[0], start[1], start[2]}, gradient[3], F = separation_along(D, n, gradient);
    for (int round = 0; round < 40; round++) {
        double u[3], w[3], H[3], gu, gw, mean, most, det, du, dw, size, next[3], value = -INFINITY;
        any_orthogonal(n, u);
        cross3(n, u, w);
        H[0] = H[2] = -F;
        H[1] = 0.0;
        add_curvature(D, n, u, w, H);
        gu = dot3(gradient, u);
        gw = dot3(gradient, w);
        mean = 0.5 * (H[0] + H[2]);
        most = mean + hypot(0.5 * (H[0] - H[2]), H[1]);      /* the larger eigenvalue is made negative */
        if (most > -1e-3 * (fabs(F) + fabs(mean))) {
            most += 1e-3 * (fabs(F) + fabs(mean));
            H[0] -= most;
            H[2] -= most;
        }
        det = H[0] * H[2] - H[1] * H[1];
        du = -(H[2] * gu - H[1] * gw) / det;
        dw = -(H[0] * gw - H[1] * gu) / det;
        size = hypot(du, dw);
        if (!(size > 1e-16))
            break;
        for (double part = fmin(1.0, 0.5 / size); part > 1e-9; part *= 0.5) {
            for (int r = 0; r < 3; r++)
                next[r] = n[r] + part * (du * u[r] + dw * w[r]);
            mean = length3(next);
            for (int r = 0; r < 3; r++)
                next[r] /= mean;
            value = separation_along(D, next, gradient);
            if (value > F || size < 1e-7)
                break;
        }
        if (!(value > F) && size >= 1e-7)
            break;
        F = value;
        for (int r = 0; r < 3; r++)
            n[r] = next[r];
        if (size < 1e-15)
            break;
    }
    keep_direction(best, F, n, OF_ROUNDS, 0);
}

/* What F cannot exceed within an angle of n: any g with F(n) <= g . n bounds it. Where the direction may change sides of the
 * axis or of what is across it, the g is taken that is closest to n. */
static double bound_around(const Difference *D, const double *n, double angle)
{
    double g[3] = {D->apart[0], D->apart[1], D->apart[2]}, F, slope;
    for (int k = 0; k < D->rods; k++) {
        const Rod *rod = D->rod[k];
        double across[3], s, along = across_rod(rod, n, across, &s);
        if (s > angle)
            along3(g, -rod->radius, across, g);
        if (fabs(along) > angle)
            along3(g, -copysign(rod->half_length, along), rod->axis[2], g);
    }
    for (int k = 0; k < D->rods; k++) {
        const Rod *rod = D->rod[k];
        double across[3], other[3], side[3], s, length, along = across_rod(rod, n, across, &s);
        along3(g, -dot3(g, n), n, side);
        if (s <= angle) {
            across_rod(rod, side, other, &length);
            along3(g, -fmin(length, rod->radius), other, g);
        }
        if (fabs(along) <= angle)
            along3(g, -clamp(dot3(side, rod->axis[2]), -rod->half_length, rod->half_length), rod->axis[2], g);
    }
    F = dot3(g, n);
    along3(g, -F, n, g);
    slope = length3(g);
    return atan2(slope, F) < angle ? hypot(F, slope) : F * cos(angle) + slope * sin(angle);
}

/* Branch and bound: split a triangle of directions into four until none can hold a better one, or
 * the shapes are known to be apart. */
static void search_triangle(const Difference *D, const double *a, const double *b, const double *c, double margin,
                            Cuts *cuts, Direction *best)
{
    const double *corner[3] = {a, b, c};
    double n[3], middle[3][3], gradient[3], angle = 0.0, length;
    for (int r = 0; r < 3; r++)
        n[r] = a[r] + b[r] + c[r];
    length = length3(n);
    for (int r = 0; r < 3; r++)
        n[r] /= length;
    for (int k = 0; k < 3; k++) {
        double across[3];
        subtract3(corner[k], n, across);
        angle = fmax(angle, dot3(across, across));
    }
    if (are_cut(cuts, corner, 3, 1.0 - 0.5 * angle, best->separation + ROUGH))
        return;
    angle = 2.0 * asin(0.5 * sqrt(angle));
    if (separation_along(D, n, gradient) > best->separation) {
        climb(D, n, best);
        separation_along(D, best->n, gradient);
    }
    add_cut(cuts, gradient);
    if (best->separation > margin || angle < NARROW || (angle < WIDE && bound_around(D, n, angle) <= best->separation + ROUGH))
        return;
    for (int k = 0; k < 3; k++) {
        along3(corner[k], 1.0, corner[(k + 1) % 3], middle[k]);
        length = length3(middle[k]);
        for (int r = 0; r < 3; r++)
            middle[k][r] /= length;
    }
    search_triangle(D, middle[0], middle[1], middle[2], margin, cuts, best);
    for (int k = 0; k < 3; k++)
        search_triangle(D, corner[k], middle[k], middle[(k + 2) % 3], margin, cuts, best);
}

/* Two rims: all directions. */
static void keep_rims(const Difference *D, double margin, Cuts *cuts, Direction *best)
{
    const Rod *rod = D->rod[0];
    for (int octant = 0; octant < 8; octant++) {
        double corner[3][3];
        for (int k = 0; k < 3; k++)
            for (int r = 0; r < 3; r++)
                corner[k][r] = octant >> k & 1 ? -rod->axis[k][r] : rod->axis[k][r];
        search_triangle(D, corner[0], corner[1], corner[2], margin, cuts, best);
    }
}

/* Two cylinders: directions orthogonal to either axis, and those of two rims. */
static void keep_rounds(const Difference *D, double margin, Cuts *cuts, Direction *best)
{
    for (int k = 0; k < 2; k++)
        keep_best_of_arc(D, D->rod[k]->axis[0], D->rod[k]->axis[1], 2.0 * acos(-1.0), OF_ROUNDS, 0, best);
    keep_rims(D, margin, cuts, best);
}

#endif
