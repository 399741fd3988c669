/* Which of some points are farthest along a direction: a table of few candidates for every direction.
 *
 * Directions are cells of a cube around 0, of side * side on each of its faces. Those of a cell are sums, with coefficients that
 * are not negative, of the directions to its four vertices. A point that is lower than another one along all four is not the
 * farthest along any of them. */
#ifndef TREEFACTOR_CONTACT_DIRECTION_MAP_H
#define TREEFACTOR_CONTACT_DIRECTION_MAP_H

#include "shapes.h"

#define LOWER 1e-12                 /* of the largest coordinate: more than rounding errors */

enum { TRIED = 5 };                 /* directions to the vertices of a cell, and to its middle */

/* The cell of a direction: of face 2 axis, or 2 axis + 1 for negative ones. */
static inline int cell_of(int side, const double *n)
{
    double x = fabs(n[0]), y = fabs(n[1]), z = fabs(n[2]), scale;
    int axis = x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2), i, k;
    double along = fabs(n[axis]), u = n[axis == 2 ? 0 : axis + 1], w = n[axis == 0 ? 2 : axis - 1];
    if (!(along > 0.0))
        return 0;
    scale = 0.5 * side / along;
    i = (int)((u + along) * scale);
    k = (int)((w + along) * scale);
    return ((2 * axis + (n[axis] < 0.0)) * side + (i < side ? i : side - 1)) * side + (k < side ? k : side - 1);
}

/* The point that is farthest along a direction, of equals the first one. */
static inline int farthest_of(const DirectionMap *map, const double *point, const double *n)
{
    const int *range = map->range + 2 * cell_of(map->side, n);
    int farthest = -1;
    double most = -INFINITY;
    for (int k = range[0]; k < range[1]; k++) {
        double along = dot3(n, point + 3 * map->item[k]);
        if (along > most) {
            most = along;
            farthest = map->item[k];
        }
    }
    return farthest;
}

static inline int corner_along(const Polytope *hull, const double *n)
{
    return farthest_of(&hull->corner_map, hull->corner, n);
}

/* The face whose normal is most along a direction. */
static inline int face_along(const Polytope *hull, const double *n)
{
    return farthest_of(&hull->face_map, hull->normal, n);
}

typedef struct {
    const double *point;
    double low;                     /* lower by more than this is lower */
    int side, most, count;          /* of cells along an edge of the cube; room for items, and items */
    int *range, *item;
    double *height;                 /* (points, TRIED) */
} MapBuilder;

/* Directions to the vertices of a cell, then to its middle; i and k number cells of a coarser or the finest table. */
static void try_directions(int face, int side, int i, int k, double (*n)[3])
{
    int axis = face / 2;
    for (int c = 0; c < TRIED; c++) {
        n[c][axis] = face % 2 ? -1.0 : 1.0;
        n[c][(axis + 1) % 3] = 2.0 * (i + (c == 4 ? 0.5 : c / 2)) / side - 1.0;
        n[c][(axis + 2) % 3] = 2.0 * (k + (c == 4 ? 0.5 : c % 2)) / side - 1.0;
    }
}

/* Keep, of the points from candidate to stop, those that may be farthest in a cell, behind stop; then do so in its quarters. */
static void map_cell(MapBuilder *to, int face, int side, int i, int k, const int *candidate, int *stop)
{
    double n[TRIED][3];
    int count = (int)(stop - candidate), winner[TRIED] = {0}, *kept = stop;
    try_directions(face, side, i, k, n);
    for (int m = 0; m < count; m++)
        for (int c = 0; c < TRIED; c++) {
            to->height[TRIED * m + c] = dot3(n[c], to->point + 3 * candidate[m]);
            if (to->height[TRIED * m + c] > to->height[TRIED * winner[c] + c])
                winner[c] = m;
        }
    for (int m = 0; m < count; m++) {
        int lower = 0;
        for (int w = 0; w < TRIED && !lower; w++) {
            lower = 1;
            for (int c = 0; c < TRIED - 1; c++)
                lower &= to->height[TRIED * m + c] < to->height[TRIED * winner[w] + c] - to->low;
        }
        if (!lower)
            *kept++ = candidate[m];
    }
    if (side < to->side) {
        for (int quarter = 0; quarter < 4; quarter++)
            map_cell(to, face, 2 * side, 2 * i + quarter / 2, 2 * k + quarter % 2, stop, kept);
        return;
    }
    to->range[2 * ((face * side + i) * side + k)] = to->count;
    for (; stop < kept; stop++, to->count++)
        if (to->count < to->most)
            to->item[to->count] = *stop;
    to->range[2 * ((face * side + i) * side + k) + 1] = to->count;
}

#endif
