/* Points of shapes against a plane: ends of a capsule, corners, and the lowest points of rims, tips and ellipsoids. */
#ifndef TREEFACTOR_CONTACT_PLANES_H
#define TREEFACTOR_CONTACT_PLANES_H

#include "bounds.h"

#define UPRIGHT 0.052               /* sine of the tilt up to which a cylinder stands on its end */

/* The plane in the frame of another shape: solid where normal . x <= offset. */
typedef struct {
    double normal[3], offset;
} LocalPlane;

static LocalPlane plane_in(const Pose *A, const Pose *B)
{
    LocalPlane plane;
    double n[3] = {A->R[2], A->R[5], A->R[8]}, apart[3];
    turn_back(B->R, n, plane.normal);
    subtract3(A->p, B->p, apart);
    plane.offset = dot3(n, apart);
    return plane;
}

/* Add the point x of the second shape, of which the plane is the first one. */
static void add_above(Touching *t, const Pose *B, const LocalPlane *plane, const double *x, int64_t identity)
{
    double down[3] = {-plane->normal[0], -plane->normal[1], -plane->normal[2]};
    add_placed(t, B, x, down, -1.0, dot3(plane->normal, x) - plane->offset, identity);
}

static void touch_plane_round(const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    LocalPlane plane = plane_in(A, B);
    for (int end = 0; end < (b->half_length > 0.0 ? 2 : 1); end++) {
        double x[3];
        for (int r = 0; r < 3; r++)
            x[r] = -b->radius * plane.normal[r];
        x[2] += end ? b->half_length : -b->half_length;
        add_above(t, B, &plane, x, end);
    }
}

/* Add the lowest point of the rim at z, and, of a shape that stands on this rim, four points that are fixed to the body. */
static void add_rim(Touching *t, const Pose *B, const LocalPlane *plane, double R, double z, int stands, int64_t first)
{
    const double *n = plane->normal;
    double s = sqrt(n[0] * n[0] + n[1] * n[1]);
    double lowest[3] = {s > 0.0 ? -R * n[0] / s : R, s > 0.0 ? -R * n[1] / s : 0.0, z};
    for (int k = 0; stands && k < 4; k++) {
        double x[3] = {k == 0 ? R : k == 1 ? -R : 0.0, k == 2 ? R : k == 3 ? -R : 0.0, z};
        add_above(t, B, plane, x, first + k);
    }
    add_above(t, B, plane, lowest, first + 4);
}

static int is_upright(const LocalPlane *plane)
{
    const double *n = plane->normal;
    return sqrt(n[0] * n[0] + n[1] * n[1]) <= UPRIGHT;
}

/* Upright: the rim below. Otherwise the lowest points of both rims, which a rolling cylinder has on one generator. */
static void touch_plane_cylinder(const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    LocalPlane plane = plane_in(A, B);
    int stands = is_upright(&plane);
    for (int rim = 0; rim < 2; rim++)
        if (!stands || (rim == 0) == !(plane.normal[2] < 0.0))
            add_rim(t, B, &plane, b->radius, rim ? b->half_length : -b->half_length, stands, 8 * rim);
}

/* The rim, and the tip unless the cone stands on its base. */
static void touch_plane_cone(const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    LocalPlane plane = plane_in(A, B);
    double tip[3] = {0.0, 0.0, b->half_length};
    int upright = is_upright(&plane), stands = upright && plane.normal[2] > 0.0;
    if (stands || !upright)
        add_rim(t, B, &plane, b->radius, -b->half_length, stands, 0);
    if (!stands)
        add_above(t, B, &plane, tip, 8);
}

/* The point with the normal of the plane. */
static void touch_plane_ellipsoid(const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    LocalPlane plane = plane_in(A, B);
    double x[3], length = 0.0;
    for (int r = 0; r < 3; r++) {
        x[r] = b->half[r] * plane.normal[r];
        length += x[r] * x[r];
    }
    length = sqrt(length);
    for (int r = 0; r < 3; r++)
        x[r] *= -b->half[r] / length;
    add_above(t, B, &plane, x, 0);
}

/* Corners. Of more than eight: those that span the face most opposed to the plane, and the lowest one. */
static void touch_plane_hull(const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    LocalPlane plane = plane_in(A, B);
    const Polytope *hull = &b->hull;
    double down[3] = {-plane.normal[0], -plane.normal[1], -plane.normal[2]};
    int corner[MOST_POINTS], lowest, below, near = corners_beyond(hull, down, -plane.offset - t->margin, MOST_POINTS, corner);
    if (near <= MOST_POINTS) {
        for (int k = 0; k < near; k++)
            add_above(t, B, &plane, hull->corner + 3 * corner[k], corner[k]);
        return;
    }
    lowest = corner_along(hull, down);
    below = face_along(hull, down);
    for (int k = 0; k < 4; k++) {
        int footing = hull->footing[4 * below + k];
        if (footing == lowest)
            lowest = -1;
        if (k == 0 || footing != hull->footing[4 * below + k - 1])
            add_above(t, B, &plane, hull->corner + 3 * footing, footing);
    }
    if (lowest >= 0)
        add_above(t, B, &plane, hull->corner + 3 * lowest, lowest);
}

#endif
