/* Tests that say soon that two shapes are farther apart than the margin. */
#ifndef TREEFACTOR_CONTACT_BOUNDS_H
#define TREEFACTOR_CONTACT_BOUNDS_H

#include "shapes.h"

#define SEARCHES 12                 /* directions that are tried to part two hulls */

/* Whether balls or boxes around the shapes are apart along the line of their centres or an axis of a box. */
static int bounds_are_apart(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, double margin)
{
    const ContactShape *shapes[2] = {a, b};
    const Pose *poses[2] = {A, B};
    double first[3], second[3], apart[3], reach = a->size + b->size + margin;
    place(A, a->center, first);
    place(B, b->center, second);
    subtract3(second, first, apart);
    if (a->kind == PLANE)
        return A->R[2] * apart[0] + A->R[5] * apart[1] + A->R[8] * apart[2] - b->size > margin;
    if (dot3(apart, apart) > reach * reach)
        return 1;
    for (int side = 0; side < 2; side++)
        for (int axis = 0; axis < 3; axis++) {
            double n[3], other[3];
            for (int r = 0; r < 3; r++)
                n[r] = poses[side]->R[3 * r + axis];
            turn_back(poses[1 - side]->R, n, other);
            reach = margin + shapes[side]->extent[axis];
            for (int r = 0; r < 3; r++)
                reach += fabs(other[r]) * shapes[1 - side]->extent[r];
            if (fabs(dot3(n, apart)) > reach)
                return 1;
        }
    return 0;
}

/* The corner of a hull that is farthest along a direction. */
static const double *farthest_corner(const Polytope *hull, const double *n)
{
    const double *farthest = hull->corner;
    double most = -INFINITY;
    for (int k = 0; k < hull->corners; k++) {
        double along = dot3(n, hull->corner + 3 * k);
        if (along > most) {
            most = along;
            farthest = hull->corner + 3 * k;
        }
    }
    return farthest;
}

/* What a separation cannot exceed on an arc that begins with this value F and slope: it is a minimum of functions that are
 * linear in the direction. */
static double bound_on_arc(double F, double slope, double width)
{
    if (slope > 0.0 && atan2(slope, F) < width)
        return hypot(F, slope);
    return fmax(F, F * cos(width) + slope * sin(width));
}

/* Whether a direction that parts two hulls is soon found (Chung and Wang, 1996); b is placed in the frame of a. */
static int hulls_are_apart(const ContactShape *a, const ContactShape *b, const Pose *placed, double margin)
{
    double n[3], center[3], length;
    place(placed, b->center, center);
    subtract3(center, a->center, n);
    for (int search = 0; search < SEARCHES; search++) {
        double back[3], own[3], way[3], along, square;
        length = length3(n);
        if (!(length > 0.0))
            return 0;
        for (int r = 0; r < 3; r++) {
            n[r] /= length;
            back[r] = -n[r];
        }
        turn_back(placed->R, back, own);
        place(placed, farthest_corner(&b->hull, own), way);
        subtract3(way, farthest_corner(&a->hull, n), way);
        along = dot3(n, way);
        if (along > margin)
            return 1;
        square = dot3(way, way);
        if (!(square > 0.0))
            return 0;
        along3(n, -2.0 * along / square, way, n);
    }
    return 0;
}

#endif
