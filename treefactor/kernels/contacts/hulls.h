/* Points of boxes and hulls against each other: separating axes, and clipping of the faces that touch. */
#ifndef TREEFACTOR_CONTACT_HULLS_H
#define TREEFACTOR_CONTACT_HULLS_H

#include "bounds.h"
#include "round_hulls.h"

#define ALIGNED 3e-3                /* angle, rad, up to which two faces count as parallel */
#define TIE 5e-4                    /* of the size: axes of parallel faces that separate alike */
#define TRIED_CORNERS 8             /* of a face, at which other faces are tried */
#define RIDGES 64                   /* edges of the first hull that are tried at a time */

/* Axes that separate two hulls most: of the faces of each, and of a pair of edges. */
typedef struct {
    double of_face[2];              /* separation along the normal of the best face of each hull */
    int face[2];
    double of_edges, normal[3];     /* in the frame of the first, out of it */
    int edge[2];
} Axes;

static Pose relative(const Pose *A, const Pose *B)
{
    Pose pose;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            pose.R[3 * r + c] = A->R[r] * B->R[c] + A->R[3 + r] * B->R[3 + c] + A->R[6 + r] * B->R[6 + c];
    place_back(A, B->p, pose.p);
    return pose;
}

static Pose inverse(const Pose *A)
{
    Pose pose;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            pose.R[3 * r + c] = A->R[3 * c + r];
    turn(pose.R, A->p, pose.p);
    for (int r = 0; r < 3; r++)
        pose.p[r] = -pose.p[r];
    return pose;
}

/* Add a cut in the frame of a shape, from one in that of another one in whose frame it is placed, with the opposite sign:
 * for normals out of it. */
static void add_opposite(Cuts *cuts, const Pose *placed, const double *w)
{
    double back[3], other[3] = {-w[0], -w[1], -w[2]};
    turn_back(placed->R, other, back);
    add_cut(cuts, back);
}

/* The separation along a face of a hull from another one, which is placed in its frame; w <- from the face to the corner of
 * that which is lowest over it. */
static double separation_of_face(const Polytope *hull, int face, const Polytope *other, const Pose *placed, int *corner,
                                 double *w)
{
    const double *n = hull->normal + 3 * face;
    double down[3] = {-n[0], -n[1], -n[2]}, own[3], x[3];
    turn_back(placed->R, down, own);
    *corner = corner_along(other, own);
    place(placed, other->corner + 3 * *corner, x);
    subtract3(x, hull->corner + 3 * hull->loop[hull->start[face]], w);
    return dot3(n, x) - hull->offset[face];
}

/* Of the faces at some corners, that which may separate most by the cuts, if by more than most; -1 if there is none. Of many
 * corners some are tried. */
static int most_promising_face(const Polytope *hull, const int *corner, int corners, const Cuts *cuts, double *most)
{
    int best = -1;
    for (int c = 0; c < corners; c += 1 + corners / TRIED_CORNERS)
        for (int k = 2 * hull->beside_start[corner[c]]; k < 2 * hull->beside_start[corner[c] + 1]; k++) {
            int face = hull->edge[4 * hull->beside[k / 2] + 2 + k % 2];
            double high = INFINITY;
            for (int i = 0; i < cuts->count && high > *most; i++) {
                double h = dot3(hull->normal + 3 * face, cuts->way[i]);
                high = h < high ? h : high;
            }
            if (high > *most) {
                *most = high;
                best = face;
            }
        }
    return best;
}

/* Go from the corners that are farthest along a direction, out of the first hull, to a few faces beside these that may separate
 * more, and add their cuts; returns the largest separation. Each hull is placed in the frame of the other one. */
static double search_faces(const Polytope *const *hulls, const Pose *const *placed, const double *n, double margin, Cuts *cuts)
{
    double known = -INFINITY, back[3], w[3];
    int first[2], corners[2] = {1, 1};
    const int *corner[2] = {first, first + 1};
    for (int r = 0; r < 3; r++)
        w[r] = -n[r];
    turn_back(placed[0]->R, w, back);
    first[0] = corner_along(hulls[0], n);
    first[1] = corner_along(hulls[1], back);
    for (int search = 0; search < SEARCHES && known <= margin; search++) {
        double most = known;
        int face = most_promising_face(hulls[0], corner[0], corners[0], cuts, &most);
        int other = most_promising_face(hulls[1], corner[1], corners[1], cuts + 1, &most), side = other >= 0;
        if (side)
            face = other;
        if (face < 0)
            break;
        corner[side] = hulls[side]->loop + hulls[side]->start[face];
        corners[side] = hulls[side]->start[face + 1] - hulls[side]->start[face];
        corner[1 - side] = first + 1 - side;
        corners[1 - side] = 1;
        known = fmax(known, separation_of_face(hulls[side], face, hulls[1 - side], placed[side], first + 1 - side, w));
        add_cut(cuts + side, w);
        add_opposite(cuts + 1 - side, placed[side], w);
    }
    return known;
}

/* The face of a hull that separates another one most, which is placed in its frame, if by as much as known; otherwise
 * -INFINITY. Lists the edges that cuts leave. A corner that was below the last face shows most often
 * that a face separates less. */
static double best_face(const Polytope *hull, const Polytope *other, const Pose *placed, double known, Cuts *cuts,
                        EdgeList *list, int *best)
{
    EdgeWalk walk = walk_over(hull, cuts, known);
    const double *below = other->corner;
    double most = known;
    list->count = 0;
    *best = hull->faces;
    for (int edge = next_edge(&walk); edge >= 0; edge = next_edge(&walk)) {
        list_edge(list, edge);
        for (int which = 0; which < 2; which++) {
            int face = face_with(hull, edge, which);
            const double *normal = hull->normal + 3 * face;
            double down[3], n[3], shift, separation;
            if (face < 0 || are_cut(cuts, &normal, 1, 1.0, known))
                continue;
            shift = dot3(normal, placed->p) - hull->offset[face];
            turn_back(placed->R, normal, n);
            if (dot3(n, below) + shift < most)
                continue;
            for (int r = 0; r < 3; r++)
                down[r] = -n[r];
            below = other->corner + 3 * corner_along(other, down);
            separation = dot3(n, below) + shift;
            if (separation > most || (separation == most && face < *best)) {
                most = separation;
                *best = face;
            }
        }
    }
    return *best < hull->faces ? most : -INFINITY;
}

/* The same of two boxes. */
static double best_face_of_box(const ContactShape *box, const ContactShape *other, const Pose *placed, int *face)
{
    double most = -INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        double separation = fabs(placed->p[axis]) - box->half[axis];
        for (int r = 0; r < 3; r++)
            separation -= fabs(placed->R[3 * axis + r]) * other->half[r];
        if (separation > most) {
            most = separation;
            *face = 2 * axis + (placed->p[axis] > 0.0);
        }
    }
    return most;
}

/* Edges of boxes come by their direction; of the four along one, bits say on which side of the next axes they are. */
static int edge_of_box(int axis, const double *direction)
{
    return 4 * axis + (direction[(axis + 1) % 3] > 0.0) + 2 * (direction[(axis + 2) % 3] > 0.0);
}

static void best_edges_of_boxes(const ContactShape *a, const ContactShape *b, const Pose *placed, Axes *axes)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double own[3] = {0.0, 0.0, 0.0}, side[3], n[3], in_b[3], length, separation;
            own[i] = 1.0;
            for (int r = 0; r < 3; r++)
                side[r] = placed->R[3 * r + j];
            cross3(own, side, n);
            length = length3(n);
            if (length < 1e-6)
                continue;
            if (dot3(n, placed->p) < 0.0)
                length = -length;
            for (int r = 0; r < 3; r++)
                n[r] /= length;
            turn_back(placed->R, n, in_b);
            separation = dot3(n, placed->p);
            for (int r = 0; r < 3; r++)
                separation -= a->half[r] * fabs(n[r]) + b->half[r] * fabs(in_b[r]);
            if (separation <= axes->of_edges)
                continue;
            axes->of_edges = separation;
            axes->edge[0] = edge_of_box(i, n);
            for (int r = 0; r < 3; r++) {
                axes->normal[r] = n[r];
                in_b[r] = -in_b[r];
            }
            axes->edge[1] = edge_of_box(j, in_b);
        }
}

/* An edge and the normals of its faces; across is their product. */
typedef struct {
    Segment side;
    double one[3], other[3], across[3];
    int number;
} Ridge;

static Ridge ridge_of(const Polytope *hull, int edge)
{
    Ridge ridge = {edge_of(hull, edge), {0.0}, {0.0}, {0.0}, edge};
    for (int r = 0; r < 3; r++) {
        ridge.one[r] = hull->normal[3 * hull->edge[4 * edge + 2] + r];
        ridge.other[r] = hull->normal[3 * hull->edge[4 * edge + 3] + r];
    }
    cross3(ridge.other, ridge.one, ridge.across);
    return ridge;
}

static int comes_before(int first, int second, const int *edge)
{
    return second < edge[1] || (second == edge[1] && first < edge[0]);
}

/* Keep the direction of two edges whose arcs on the sphere of normals cross, those of b backwards: it is that of a face of
 * the difference of both hulls. */
static void keep_crossing(const Ridge *a, const Ridge *b, Axes *axes)
{
    double n[3], apart[3], length, separation, cba = -dot3(b->one, a->across), dba = -dot3(b->other, a->across), adc, bdc;
    if (cba * dba >= 0.0)
        return;
    adc = dot3(a->one, b->across);
    bdc = dot3(a->other, b->across);
    if (adc * bdc >= 0.0 || cba * bdc <= 0.0)
        return;
    cross3(a->side.d, b->side.d, n);
    length = length3(n);
    if (length <= 1e-9 * a->side.length * b->side.length)
        return;
    subtract3(b->side.p, a->side.p, apart);
    if (dot3(n, a->one) + dot3(n, a->other) < 0.0)
        length = -length;
    for (int r = 0; r < 3; r++)
        n[r] /= length;
    separation = dot3(n, apart);
    if (separation < axes->of_edges || (separation == axes->of_edges && !comes_before(a->number, b->number, axes->edge)))
        return;
    axes->of_edges = separation;
    axes->edge[0] = a->number;
    axes->edge[1] = b->number;
    for (int r = 0; r < 3; r++)
        axes->normal[r] = n[r];
}

/* Pairs of edges of these lists that cuts leave. */
static void best_edges_of_hulls(const Polytope *a, const Polytope *b, const Pose *placed, double known, Cuts *cuts,
                                const EdgeList *lists, Axes *axes)
{
    EdgeWalk walk = walk_over_list(a, lists, cuts, known);
    Ridge ridges[RIDGES];
    for (int count = RIDGES; count == RIDGES;) {
        EdgeWalk others = walk_over_list(b, lists + 1, cuts + 1, known);
        for (count = 0; count < RIDGES; count++) {
            int edge = next_edge(&walk);
            if (edge < 0)
                break;
            ridges[count] = ridge_of(a, edge);
        }
        for (int edge = count ? next_edge(&others) : -1; edge >= 0; edge = next_edge(&others)) {
            Ridge own = ridge_of(b, edge), other = own;
            place(placed, own.side.p, other.side.p);
            turn(placed->R, own.side.d, other.side.d);
            turn(placed->R, own.one, other.one);
            turn(placed->R, own.other, other.other);
            cross3(other.other, other.one, other.across);
            for (int k = 0; k < count; k++)
                keep_crossing(ridges + k, &other, axes);
        }
    }
}

enum { CORNER, CROSSING, REFERENCE_CORNER, EDGES };          /* features in identities */

static int64_t identity_of(int side, int face, int feature, int first, int second)
{
    int64_t low = first < second ? first : second, high = first < second ? second : first;
    if (feature == CROSSING || feature == EDGES) {
        low = first;
        high = second;
    }
    return ((((int64_t)feature * 2 + side) * MOST_NUMBERED + face) * MOST_NUMBERED + high) * MOST_NUMBERED + low;
}

/* Corner of a clipped face: the edge that leaves it is one of the face, or, -1 - k, is on side k of the reference. */
typedef struct {
    double x[3];
    int edge;
    int feature, first, second;
} Clipped;

/* Clip a polygon by side k of the reference face, the plane out . x <= offset; returns the number of corners. */
static int clip_by_side(const Clipped *polygon, int count, const double *out, double offset, int k, Clipped *clipped)
{
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const Clipped *here = polygon + i, *next = polygon + (i + 1) % count;
        double at = dot3(out, here->x) - offset, then = dot3(out, next->x) - offset;
        if (at <= 0.0)
            clipped[kept++] = *here;
        if ((at <= 0.0) != (then <= 0.0)) {
            Clipped *made = clipped + kept++;
            double s = at / (at - then);
            for (int r = 0; r < 3; r++)
                made->x[r] = here->x[r] + s * (next->x[r] - here->x[r]);
            made->edge = at <= 0.0 ? -1 - k : here->edge;
            made->feature = here->edge >= 0 ? CROSSING : REFERENCE_CORNER;
            made->first = here->edge >= 0 ? here->edge : -1 - here->edge;
            made->second = k;
        }
    }
    return kept;
}

static int near(const double *x, const double *y, double slack)
{
    double d[3];
    subtract3(x, y, d);
    return dot3(d, d) <= slack * slack;
}

/* Name clipped corners by corners of either face that are within the slack: small moves change no name. */
static void name_corners(Clipped *clipped, int count, const Clipped *face, int corners, const Polytope *hull,
                         int reference, double slack)
{
    int first = hull->start[reference], sides = hull->start[reference + 1] - first;
    const double *n = hull->normal + 3 * reference;
    for (int i = 0; i < count; i++) {
        Clipped *here = clipped + i;
        for (int k = 0; k < sides && here->feature == CROSSING; k++) {
            double flat[3];
            along3(here->x, hull->offset[reference] - dot3(n, here->x), n, flat);
            if (near(flat, hull->corner + 3 * hull->loop[first + k], slack)) {
                here->feature = REFERENCE_CORNER;
                here->first = (k + sides - 1) % sides;
                here->second = k;
            }
        }
        for (int k = 0; k < corners && here->feature != CORNER; k++)
            if (near(here->x, face[k].x, slack)) {
                here->feature = CORNER;
                here->first = here->second = face[k].first;
            }
    }
}

static int same_name(const Clipped *a, const Clipped *b)
{
    return a->feature == b->feature && a->first == b->first && a->second == b->second;
}

/* Keep one corner of every name, and no crossing within the slack of the line between its neighbours: there, sides of
 * both faces are almost on one line. */
static int distinct_corners(Clipped *clipped, int count, double slack)
{
    int kept = 0, distinct = 0;
    for (int i = 0; i < count; i++) {
        int known = 0;
        for (int j = 0; j < distinct; j++)
            known |= same_name(clipped + j, clipped + i);
        if (!known)
            clipped[distinct++] = clipped[i];
    }
    for (int i = 0; i < distinct; i++) {
        const double *last = clipped[kept ? kept - 1 : distinct - 1].x, *x = clipped[i].x;
        double side[3], apart[3], across[3];
        subtract3(clipped[(i + 1) % distinct].x, last, side);
        subtract3(x, last, apart);
        cross3(apart, side, across);
        if (clipped[i].feature == CROSSING && dot3(across, across) < slack * slack * dot3(side, side))
            continue;
        clipped[kept++] = clipped[i];
    }
    return kept;
}

/* Keep at most eight corners: the farthest in eight directions along the reference face. */
static int farthest_corners(Clipped *clipped, int count, const Polytope *hull, int reference)
{
    Clipped chosen[MOST_POINTS];
    const int *loop = hull->loop + hull->start[reference];
    double u[3], w[3], length;
    int kept = 0;
    subtract3(hull->corner + 3 * loop[1], hull->corner + 3 * loop[0], u);
    length = length3(u);
    for (int r = 0; r < 3; r++)
        u[r] /= length;
    cross3(hull->normal + 3 * reference, u, w);
    for (int k = 0; k < MOST_POINTS; k++) {
        double angle = 0.2 + k * 0.25 * acos(-1.0), most = -INFINITY;
        int best = 0, known = 0;
        for (int i = 0; i < count; i++) {
            double x = cos(angle) * dot3(u, clipped[i].x) + sin(angle) * dot3(w, clipped[i].x);
            if (x > most) {
                most = x;
                best = i;
            }
        }
        for (int i = 0; i < kept; i++)
            known |= same_name(chosen + i, clipped + best);
        if (!known)
            chosen[kept++] = clipped[best];
    }
    for (int i = 0; i < kept; i++)
        clipped[i] = chosen[i];
    return kept;
}

/* The corner of a hull that is deepest below a plane, and of the faces around it the one most opposed to that. */
static int deepest_face(const Polytope *hull, const double *n, int *deepest)
{
    double down[3] = {-n[0], -n[1], -n[2]}, opposed = INFINITY;
    int face = 0;
    *deepest = corner_along(hull, down);
    for (int k = hull->beside_start[*deepest]; k < hull->beside_start[*deepest + 1]; k++)
        for (int which = 2; which < 4; which++) {
            int own = hull->edge[4 * hull->beside[k] + which];
            double x = dot3(n, hull->normal + 3 * own);
            if (x < opposed) {
                opposed = x;
                face = own;
            }
        }
    return face;
}

/* Points of the face of the other hull that is deepest below a reference face, clipped by the sides of that. */
static void touch_face(const Polytope *hull, const Pose *pose, int reference, const Polytope *other,
                       const Pose *placed, double slack, int overlap, int second, Touching *t)
{
    Clipped buffer[3][2 * MOST_CORNERS], *face = buffer[0], *polygon = buffer[0];
    const double *n = hull->normal + 3 * reference;
    double against[3];
    int deepest = 0, incident, count, kept, first = hull->start[reference], sides = hull->start[reference + 1] - first;
    turn_back(placed->R, n, against);
    incident = deepest_face(other, against, &deepest);
    count = other->start[incident + 1] - other->start[incident];
    for (int k = 0; k < count; k++) {
        Clipped *here = face + k;
        const int *loop = other->loop + other->start[incident];
        place(placed, other->corner + 3 * loop[k], here->x);
        here->feature = CORNER;
        here->first = here->second = loop[k];
        here->edge = other->side[other->start[incident] + k];
    }
    kept = count;
    for (int k = 0; k < sides && kept; k++) {
        const double *corner = hull->corner + 3 * hull->loop[first + k];
        double edge[3], out[3];
        subtract3(hull->corner + 3 * hull->loop[first + (k + 1) % sides], corner, edge);
        cross3(edge, n, out);
        kept = clip_by_side(polygon, kept, out, dot3(out, corner), k, buffer[1 + k % 2]);
        polygon = buffer[1 + k % 2];
    }
    name_corners(polygon, kept, face, count, hull, reference, slack);
    count = distinct_corners(polygon, kept, slack);
    kept = 0;
    for (int i = 0; i < count; i++)
        if (dot3(n, polygon[i].x) - hull->offset[reference] <= t->margin)
            polygon[kept++] = polygon[i];
    if (kept > MOST_POINTS)
        kept = farthest_corners(polygon, kept, hull, reference);
    if (!kept && overlap) {         /* the corner is beside the face by less than the axis is off */
        kept = 1;
        place(placed, other->corner + 3 * deepest, polygon->x);
        polygon->feature = CORNER;
        polygon->first = polygon->second = deepest;
    }
    for (int i = 0; i < kept; i++) {
        double gap = dot3(n, polygon[i].x) - hull->offset[reference], x[3];
        along3(polygon[i].x, -gap, n, x);
        add_placed(t, pose, x, n, second ? -1.0 : 1.0, gap,
                   identity_of(second, reference, polygon[i].feature, polygon[i].first, polygon[i].second));
    }
}

/* The point where two edges are closest. */
static void touch_edges(const Polytope *a, const Pose *A, const Polytope *b, const Pose *placed, const Axes *axes,
                        Touching *t)
{
    Segment first = edge_of(a, axes->edge[0]), local = edge_of(b, axes->edge[1]), second = local;
    double s, at, x[3];
    place(placed, local.p, second.p);
    turn(placed->R, local.d, second.d);
    closest_of_segments(&first, &second, &s, &at);
    along3(first.p, s, first.d, x);
    add_placed(t, A, x, axes->normal, 1.0, axes->of_edges, identity_of(0, 0, EDGES, axes->edge[0], axes->edge[1]));
}

/* How two hulls, placed in each other's frames, touch along the faces that separate them most. */
typedef struct {
    int reference;                  /* which hull's face is the reference */
    int parallel;                   /* whether the other one's is parallel to it */
    double most;                    /* separation along the reference face */
    double rise;                    /* edges must separate by so much more */
} Facing;

static Facing facing_of(const ContactShape *const *shapes, const Pose *placed, const Axes *axes)
{
    const Polytope *hulls[2] = {&shapes[0]->hull, &shapes[1]->hull};
    double size = fmin(shapes[0]->size, shapes[1]->size), normal[3], apart = axes->of_face[1] - axes->of_face[0];
    Facing facing = {apart > 0.0, fmin(axes->of_face[0], axes->of_face[1]) > -INFINITY, 0.0, EQUAL * size};
    if (facing.parallel) {
        turn(placed->R, hulls[1]->normal + 3 * axes->face[1], normal);
        facing.parallel = dot3(hulls[0]->normal + 3 * axes->face[0], normal) < -1.0 + 0.5 * ALIGNED * ALIGNED;
    }
    if (facing.parallel) {
        facing.rise = TIE * size;
        if (fabs(apart) <= facing.rise)
            facing.reference = hulls[1]->area[axes->face[1]] > (1.0 + 1e-6) * hulls[0]->area[axes->face[0]];
    }
    facing.most = axes->of_face[facing.reference];
    return facing;
}

/* The best face of the hull that has none that separates as much as the other one's, if it has one parallel to that. */
static void find_parallel_face(const Polytope *const *hulls, const Pose *const *placed, double slack, Cuts *cuts, Axes *axes)
{
    int side = axes->of_face[1] > axes->of_face[0], face, corner;
    const Polytope *hull = hulls[1 - side];
    const double *n = hulls[side]->normal + 3 * axes->face[side];
    double down[3] = {-n[0], -n[1], -n[2]}, against[3], w[3], level;
    EdgeList list;
    turn_back(placed[side]->R, down, against);
    face = face_along(hull, against);
    if (dot3(against, hull->normal + 3 * face) < 1.0 - ALIGNED * ALIGNED)
        return;
    level = separation_of_face(hull, face, hulls[side], placed[1 - side], &corner, w);
    axes->of_face[1 - side] = best_face(hull, hulls[side], placed[1 - side], level - slack, cuts + 1 - side, &list, axes->face + 1 - side);
}

/* Find the axes that separate two hulls most, of edges only if these decide; returns 0 if the hulls are known to be apart.
 * The slack is more than rounding errors, so that these decide about no axis. */
static int find_axes(const ContactShape *const *shapes, const Pose *const *placed, double margin, Axes *axes)
{
    const Polytope *hulls[2] = {&shapes[0]->hull, &shapes[1]->hull};
    double slack = EQUAL * (shapes[0]->size + shapes[1]->size + length3(placed[0]->p)), known, n[3];
    Cuts cuts[2];
    EdgeList lists[2];
    Facing facing;
    cuts[0].count = cuts[1].count = 0;
    if (are_apart(shapes[0], shapes[1], placed[0], margin, cuts, n))
        return 0;
    for (int k = 0; k < cuts[0].count; k++)
        add_opposite(cuts + 1, placed[0], cuts[0].way[k]);
    known = search_faces(hulls, placed, n, margin, cuts);
    if (known > margin)
        return 0;
    for (int side = 0; side < 2; side++) {
        axes->of_face[side] = best_face(hulls[side], hulls[1 - side], placed[side], known - slack, cuts + side, lists + side, axes->face + side);
        if (axes->of_face[side] > margin)
            return 0;
    }
    if (fmin(axes->of_face[0], axes->of_face[1]) == -INFINITY)
        find_parallel_face(hulls, placed, slack, cuts, axes);
    facing = facing_of(shapes, placed[0], axes);
    known = fmin(facing.most + 0.5 * facing.rise, facing.most > 0.0 ? margin : 0.0);
    best_edges_of_hulls(hulls[0], hulls[1], placed[0], known - slack, cuts, lists, axes);
    return 1;
}

static void touch_hulls(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B, Touching *t)
{
    Axes axes = {{-INFINITY, -INFINITY}, {0}, -INFINITY, {0.0}, {0}};
    Pose there = relative(A, B), back = inverse(&there);
    const ContactShape *shapes[2] = {a, b};
    const Pose *placed[2] = {&there, &back};
    Facing facing;
    double slack = 0.5 * TIE * fmin(a->size, b->size);
    int overlap;
    if (a->kind == BOX && b->kind == BOX) {
        for (int side = 0; side < 2; side++)
            axes.of_face[side] = best_face_of_box(shapes[side], shapes[1 - side], placed[side], axes.face + side);
        if (fmax(axes.of_face[0], axes.of_face[1]) > t->margin)
            return;
        best_edges_of_boxes(a, b, &there, &axes);
    } else if (!find_axes(shapes, placed, t->margin, &axes)) {
        return;
    }
    if (axes.of_edges > t->margin)
        return;
    facing = facing_of(shapes, &there, &axes);
    if (axes.of_edges > facing.most + facing.rise) {
        touch_edges(&a->hull, A, &b->hull, &there, &axes, t);
        return;
    }
    overlap = fmax(facing.most, axes.of_edges) <= 0.0;
    if (facing.reference == 0)
        touch_face(&a->hull, A, axes.face[0], &b->hull, &there, slack, overlap, 0, t);
    else
        touch_face(&b->hull, B, axes.face[1], &a->hull, &back, slack, overlap, 1, t);
    if (t->count == 0 && axes.of_edges > 0.0 && facing.most <= 0.0)
        touch_edges(&a->hull, A, &b->hull, &there, &axes, t);
}

#endif
