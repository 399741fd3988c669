/* Tests that say soon that two shapes are farther apart than the margin. */
#ifndef TREEFACTOR_CONTACT_BOUNDS_H
#define TREEFACTOR_CONTACT_BOUNDS_H

#include "direction_map.h"

#define SEARCHES 4                  /* directions that are tried to part two shapes */
#define MOST_CUTS 12                /* that are kept */
#define MOST_LISTED 64              /* edges of a list */
#define EQUAL 1e-9                  /* of the size: separations that are equal but for rounding */

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

/* The largest product of a vector and points of a box. */
static inline double highest_in_box(const double *box, const double *w)
{
    double sum = 0.0;
    for (int r = 0; r < 3; r++)
        sum += w[r] > 0.0 ? w[r] * box[3 + r] : w[r] * box[r];
    return sum;
}

static inline int first_leaf(const BoxTree *tree)
{
    return 1 << (tree->levels - 1);
}

/* Where the items of a leaf begin. */
static inline int items_of(const BoxTree *tree, int leaf)
{
    return (int)((int64_t)tree->count * (leaf - first_leaf(tree)) >> (tree->levels - 1));
}

/* List the corners whose products with a direction are at least a bound, ascending; returns how many, or most + 1 if there
 * are more than most. */
static int corners_beyond(const Polytope *hull, const double *n, double bound, int most, int *corner)
{
    const BoxTree *tree = &hull->corner_tree;
    int waiting[MOST_WAITING] = {1}, nodes = 1, count = 0;
    while (nodes) {
        int node = waiting[--nodes];
        if (highest_in_box(tree->bounds + 6 * (node - 1), n) < bound)
            continue;
        if (node < first_leaf(tree)) {
            waiting[nodes++] = 2 * node + 1;
            waiting[nodes++] = 2 * node;
            continue;
        }
        for (int k = items_of(tree, node); k < items_of(tree, node + 1); k++) {
            int place = count, number = tree->item[k];
            if (dot3(n, hull->corner + 3 * number) < bound)
                continue;
            if (count == most)
                return most + 1;
            for (; place > 0 && corner[place - 1] > number; place--)
                corner[place] = corner[place - 1];
            corner[place] = number;
            count++;
        }
    }
    return count;
}

/* The point of a cylinder or hull that is farthest along a direction, in its own frame. */
static void farthest_point(const ContactShape *shape, const double *n, double *x)
{
    if (shape->kind == CYLINDER) {
        double s = sqrt(n[0] * n[0] + n[1] * n[1]), part = s > 0.0 ? shape->radius / s : 0.0;
        x[0] = part * n[0];
        x[1] = part * n[1];
        x[2] = copysign(shape->half_length, n[2]);
    } else {
        const double *corner = shape->hull.corner + 3 * corner_along(&shape->hull, n);
        for (int r = 0; r < 3; r++)
            x[r] = corner[r];
    }
}

/* What a separation cannot exceed on an arc that begins with this value F and slope: it is a minimum of functions that are
 * linear in the direction. */
static double bound_on_arc(double F, double slope, double width)
{
    if (slope > 0.0 && atan2(slope, F) < width)
        return hypot(F, slope);
    return fmax(F, F * cos(width) + slope * sin(width));
}

/* Vectors w from points of a shape to points of another one, those first that cut most often: no direction n out of the first
 * shape separates them by more than n . w. */
typedef struct {
    double way[MOST_CUTS][3];
    int count;
} Cuts;

/* Add one behind the others, of which the last one leaves where there are too many. */
static void add_cut(Cuts *cuts, const double *w)
{
    cuts->count += cuts->count < MOST_CUTS;
    for (int r = 0; r < 3; r++)
        cuts->way[cuts->count - 1][r] = w[r];
}

static inline void move_ahead(Cuts *cuts, int k)
{
    for (int r = 0; r < 3 && k > 0; r++) {
        double x = cuts->way[k][r];
        cuts->way[k][r] = cuts->way[k - 1][r];
        cuts->way[k - 1][r] = x;
    }
}

/* Whether a vector is shorter than what is known: it separates less along any direction. */
static inline int is_short(const double *w, double known)
{
    return known > 0.0 && dot3(w, w) < known * known;
}

/* Whether a cut shows that no direction between some corners, unit vectors, separates by as much as known; all are within an
 * angle with this cosine of one direction. n = sum a_i c_i / |sum a_i c_i| for a_i >= 0, and |sum a_i c_i| is from
 * cosine sum a_i to sum a_i, so that n . w is at most max c_i . w / cosine, or max c_i . w if that is negative. */
static int are_cut(Cuts *cuts, const double *const *corner, int corners, double cosine, double known)
{
    double limit = known > 0.0 ? known * cosine : known;
    for (int k = 0; k < cuts->count; k++) {
        const double *w = cuts->way[k];
        int below = 1;
        for (int i = 0; i < corners && below; i++)
            below = dot3(corner[i], w) < limit;
        if (below || is_short(w, known)) {
            move_ahead(cuts, k);
            return 1;
        }
    }
    return 0;
}

/* The same for all directions between unit vectors in a box. */
static int is_box_cut(Cuts *cuts, const double *box, double cosine, double known)
{
    double limit = known > 0.0 ? known * cosine : known;
    for (int k = 0; k < cuts->count; k++)
        if (highest_in_box(box, cuts->way[k]) < limit || is_short(cuts->way[k], known)) {
            move_ahead(cuts, k);
            return 1;
        }
    return 0;
}

/* Edges of a hull that cuts have left; if there were more than the list holds, count is larger. */
typedef struct {
    int edge[MOST_LISTED], count;
} EdgeList;

static void list_edge(EdgeList *list, int edge)
{
    if (list->count < MOST_LISTED)
        list->edge[list->count] = edge;
    list->count++;
}

/* The edges of a hull, or of a list of these, that cuts leave: directions between the normals of their faces may separate by
 * as much as known. */
typedef struct {
    const Polytope *hull;
    Cuts *cuts;
    double known;
    int waiting[MOST_WAITING], count;       /* nodes */
    const int *edge;
    int item, stop;                 /* of the present leaf, or of the list */
} EdgeWalk;

static EdgeWalk walk_over(const Polytope *hull, Cuts *cuts, double known)
{
    EdgeWalk walk = {hull, cuts, known, {1}, 1, hull->edge_tree.item, 0, 0};
    return walk;
}

static EdgeWalk walk_over_list(const Polytope *hull, const EdgeList *list, Cuts *cuts, double known)
{
    EdgeWalk walk = {hull, cuts, known, {0}, 0, list->edge, 0, list->count};
    return list->count <= MOST_LISTED ? walk : walk_over(hull, cuts, known);
}

/* The next edge, or -1. */
static int next_edge(EdgeWalk *walk)
{
    const Polytope *hull = walk->hull;
    const BoxTree *tree = &hull->edge_tree;
    for (;;) {
        int node;
        while (walk->item < walk->stop) {
            int edge = walk->edge[walk->item++];
            const double *one = hull->normal + 3 * hull->edge[4 * edge + 2], *other = hull->normal + 3 * hull->edge[4 * edge + 3];
            const double *normal[2] = {one, other};
            double cosine = walk->known > 0.0 ? sqrt(fmax(0.5 + 0.5 * dot3(one, other), 0.0)) : 1.0;
            if (!are_cut(walk->cuts, normal, 2, cosine, walk->known))
                return edge;
        }
        if (walk->count == 0)
            return -1;
        node = walk->waiting[--walk->count];
        if (is_box_cut(walk->cuts, tree->bounds + 6 * (node - 1), hull->cosine, walk->known))
            continue;
        if (node < first_leaf(tree)) {
            walk->waiting[walk->count++] = 2 * node + 1;
            walk->waiting[walk->count++] = 2 * node;
        } else {
            walk->item = items_of(tree, node);
            walk->stop = items_of(tree, node + 1);
        }
    }
}

/* The face beside an edge, one of two, that is to be taken with it, as its first side; -1 if it is not. */
static int face_with(const Polytope *hull, int edge, int which)
{
    int face = hull->edge[4 * edge + 2 + which];
    return hull->side[hull->start[face]] == edge ? face : -1;
}

/* Whether a direction that parts two cylinders or hulls is soon found (Chung and Wang, 1996); b is placed in the frame of a.
 * Adds cuts in that frame; best <- the direction that separates most. */
static int are_apart(const ContactShape *a, const ContactShape *b, const Pose *placed, double margin, Cuts *cuts, double *best)
{
    double n[3], center[3], length, most = -INFINITY;
    place(placed, b->center, center);
    subtract3(center, a->center, n);
    best[0] = best[1] = 0.0;
    best[2] = 1.0;
    for (int search = 0; search < SEARCHES; search++) {
        double back[3], own[3], point[3], way[3], along, square;
        length = length3(n);
        if (!(length > 0.0))
            return 0;
        for (int r = 0; r < 3; r++) {
            n[r] /= length;
            back[r] = -n[r];
        }
        turn_back(placed->R, back, own);
        farthest_point(b, own, point);
        place(placed, point, way);
        farthest_point(a, n, point);
        subtract3(way, point, way);
        along = dot3(n, way);
        if (along > margin)
            return 1;
        add_cut(cuts, way);
        for (int r = 0; r < 3 && along > most; r++)
            best[r] = n[r];
        most = fmax(most, along);
        square = dot3(way, way);
        if (!(square > 0.0))
            return 0;
        along3(n, -2.0 * along / square, way, n);
    }
    return 0;
}

#endif
