#include "touch.h"

#include "bounds.h"
#include "cylinder_points.h"
#include "hulls.h"
#include "planes.h"
#include "round_hulls.h"
#include "rounds.h"
#include "surfaces.h"

int can_touch(int first, int second)
{
    int low = first < second ? first : second, high = first < second ? second : first;
    if (high == SURFACE)
        return low == SPHERE || low == CAPSULE;
    return low == PLANE ? high != PLANE : high <= HULL;
}

int map_directions(const double *point, int points, int side, int *range, int *item, int most, int *work, double *height)
{
    double largest = 0.0;
    MapBuilder to;
    for (int r = 0; r < 3 * points; r++)
        largest = fmax(largest, fabs(point[r]));
    to = (MapBuilder){point, LOWER * largest, side, most, 0, range, item, height};
    for (int k = 0; k < points; k++)
        work[k] = k;
    for (int face = 0; face < 6; face++)
        map_cell(&to, face, 1, 0, 0, work, work + points);
    return to.count;
}

int touch(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, double margin, TouchPoint *points)
{
    Touching t = {points, 0, margin, 1.0};
    if (a->kind > b->kind) {
        const ContactShape *shape = a;
        const Pose *pose = A;
        a = b;
        A = B;
        b = shape;
        B = pose;
        t.sign = -1.0;
    }
    if (bounds_are_apart(a, A, b, B, margin))
        return 0;
    if (a->kind == PLANE) {
        if (b->kind <= CAPSULE)
            touch_plane_round(A, b, B, &t);
        else if (b->kind == CYLINDER)
            touch_plane_cylinder(A, b, B, &t);
        else if (b->kind <= HULL)
            touch_plane_hull(A, b, B, &t);
        else if (b->kind == CONE)
            touch_plane_cone(A, b, B, &t);
        else
            touch_plane_ellipsoid(A, b, B, &t);
    } else if (a->kind <= CAPSULE) {
        if (b->kind <= CAPSULE)
            touch_rounds(a, A, b, B, &t);
        else if (b->kind == CYLINDER)
            touch_round_cylinder(a, A, b, B, &t);
        else if (b->kind == SURFACE)
            touch_round_surface(a, A, b, B, &t);
        else
            touch_round_hull(a, A, b, B, &t);
    } else if (a->kind == CYLINDER) {
        if (b->kind == CYLINDER)
            touch_cylinders(a, A, b, B, &t);
        else
            touch_cylinder_hull(a, A, b, B, &t);
    } else {
        touch_hulls(a, A, b, B, &t);
    }
    return t.count;
}
