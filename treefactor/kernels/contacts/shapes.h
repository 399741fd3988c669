/* Shapes, where they are, and the points at which two of them touch. */
#ifndef TREEFACTOR_CONTACT_SHAPES_H
#define TREEFACTOR_CONTACT_SHAPES_H

#include <math.h>
#include <stdint.h>

enum { PLANE, SPHERE, CAPSULE, CYLINDER, BOX, HULL, CONE, ELLIPSOID, SURFACE };   /* in the order in which kernels take pairs */

enum {
    MOST_POINTS = 8,                /* of a pair */
    MOST_CORNERS = 200,             /* of a face */
    MOST_NUMBERED = 1 << 14,        /* corners, faces or edges of a hull: what an identity can hold */
    MOST_WAITING = 32,              /* nodes of a tree with so many leaves at most that are still to be visited */
};

/* A binary tree of boxes around items, of which every leaf has some; nodes are numbered from the root, 1, by levels. */
typedef struct {
    int count, levels;              /* of items; the leaves are on the last level */
    const int *item;                /* in the order of the leaves */
    const double *bounds;           /* (nodes, 6): least and largest coordinates */
} BoxTree;

/* Points that may be farthest along directions; see direction_map.h. */
typedef struct {
    int side;
    const int *range, *item;        /* those of a cell, ascending, are items range[2 * cell] to range[2 * cell + 1] */
} DirectionMap;

/* A convex polytope. Corners of faces are counterclockwise, seen from outside. */
typedef struct {
    int corners, faces, edges;
    const double *corner;           /* (corners, 3) */
    const double *normal;           /* (faces, 3), outward */
    const double *offset;           /* (faces,): normal . x of the points of the face */
    const double *area;             /* (faces,) */
    const int *start;               /* (faces + 1,): where the corners of a face begin in loop */
    const int *loop;
    const int *side;                /* edges from the corners in loop to the next ones */
    const int *edge;                /* (edges, 4): two corners and two faces */
    const int *footing;             /* (faces, 4): corners of a face that span a large area */
    const int *beside_start, *beside;       /* edges at every corner */
    BoxTree corner_tree, edge_tree; /* of an edge, the normals of both faces */
    double cosine;                  /* of half the largest angle between these */
    DirectionMap corner_map, face_map;      /* of the corners and of the normals */
} Polytope;

/* Triangles, solid behind; what these are says model/_triangles.py. */
typedef struct {
    int triangles, levels;          /* of triangles; the leaves of the tree are on the last level */
    const double *corner;
    const int *triangle, *side;
    const double *normal, *edge_normal, *corner_normal;
    const int *edge_border, *corner_border;
    const int *beside_start, *beside;
    const int *around_start, *around;
    const double *bounds;
} Surface;

/* Axes of capsules, cylinders and cones, whose tip is up, are z; a plane is solid where z <= 0; spheres have half_length 0. */
typedef struct {
    int kind;
    double radius, half_length;
    double half[3];                 /* half sides of a box, radii of an ellipsoid */
    double center[3], extent[3];    /* of a box around the shape, along its axes: half sides */
    double size;                    /* radius of a ball around the shape, about this centre */
    Polytope hull;                  /* of boxes, too */
    Surface surface;
} ContactShape;

typedef struct {
    double R[9], p[3];              /* R stored by rows */
} Pose;

/* The point is halfway between both surfaces; the normal leads from the first shape to the second. */
typedef struct {
    double point[3], normal[3], gap;
    int64_t identity;               /* the features that touch; stays while they do */
} TouchPoint;

typedef struct {
    TouchPoint *point;
    int count;
    double margin;                  /* points with larger gaps are left out */
    double sign;                    /* of normals: -1 if the caller has exchanged both shapes */
} Touching;

static inline double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross3(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void subtract3(const double *a, const double *b, double *c)
{
    for (int r = 0; r < 3; r++)
        c[r] = a[r] - b[r];
}

/* y <- x + s d */
static inline void along3(const double *x, double s, const double *d, double *y)
{
    for (int r = 0; r < 3; r++)
        y[r] = x[r] + s * d[r];
}

static inline double length3(const double *a)
{
    return sqrt(dot3(a, a));
}

static inline double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* y <- R x */
static inline void turn(const double *R, const double *x, double *y)
{
    for (int r = 0; r < 3; r++)
        y[r] = dot3(R + 3 * r, x);
}

/* y <- R^T x */
static inline void turn_back(const double *R, const double *x, double *y)
{
    for (int r = 0; r < 3; r++)
        y[r] = R[r] * x[0] + R[3 + r] * x[1] + R[6 + r] * x[2];
}

/* y <- x of a shape's own frame in that of its pose */
static inline void place(const Pose *pose, const double *x, double *y)
{
    turn(pose->R, x, y);
    for (int r = 0; r < 3; r++)
        y[r] += pose->p[r];
}

/* y <- x in the shape's own frame */
static inline void place_back(const Pose *pose, const double *x, double *y)
{
    double d[3];
    subtract3(x, pose->p, d);
    turn_back(pose->R, d, y);
}

/* n <- a unit vector orthogonal to d; z for d = 0 */
static inline void any_orthogonal(const double *d, double *n)
{
    int k = fabs(d[0]) <= fabs(d[1]) ? 0 : 1;
    double axis[3] = {0.0, 0.0, 0.0}, length;
    if (fabs(d[2]) < fabs(d[k]))
        k = 2;
    axis[k] = 1.0;
    cross3(d, axis, n);
    length = length3(n);
    for (int r = 0; r < 3; r++)
        n[r] = length > 0.0 ? n[r] / length : r == 2;
}

/* Add a point halfway between both surfaces, unless its gap is above the margin. */
static inline void add_point(Touching *t, const double *point, const double *normal, double gap,
                             int64_t identity)
{
    TouchPoint *to = t->point + t->count;
    if (!(gap <= t->margin) || t->count == MOST_POINTS)
        return;
    for (int r = 0; r < 3; r++) {
        to->point[r] = point[r];
        to->normal[r] = t->sign * normal[r];
    }
    to->gap = gap;
    to->identity = identity;
    t->count++;
}

/* Add a point: x is on the surface of a shape of this pose, n its normal there, out of it, and the gap begins there.
 * side: 1 if this shape is the first one, -1 if it is the second one. */
static inline void add_placed(Touching *t, const Pose *pose, const double *x, const double *n, double side,
                              double gap, int64_t identity)
{
    double middle[3], point[3], normal[3];
    along3(x, 0.5 * gap, n, middle);
    place(pose, middle, point);
    turn(pose->R, n, normal);
    for (int r = 0; r < 3; r++)
        normal[r] *= side;
    add_point(t, point, normal, gap, identity);
}

#endif
