"""Find the points at which two shapes touch."""

cimport numpy as cnp
from libc.string cimport memcpy

import numpy as np

cdef extern from "kernels/contacts/touch.h" nogil:
    int touch(const ContactShape *, const Pose *, const ContactShape *, const Pose *, double margin,
              TouchPoint *) noexcept
    int map_directions(const double *point, int points, int side, int *range, int *item, int most, int *work,
                       double *height) noexcept
    int c_can_touch "can_touch"(int, int) noexcept

cnp.import_array()

cdef int MOST_SIDE = 16          # cells of tables of directions along an edge of the cube
cdef int PER_CELL = 8            # points for every cell of a face of the cube, before there are more cells

cdef TouchPoint empty_point
POINT = np.asarray(<TouchPoint[:1]> &empty_point).dtype
assert POINT.itemsize == sizeof(TouchPoint)


cdef class Collider:
    """Shape for the kernels, about its own origin; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    kind : int
        Place in the list of kinds in ``kernels/contacts/shapes.h``.
    radius, half_length : float
        Of spheres, capsules and cylinders.
    half : ndarray, shape (3,)
        Half sides of a box.
    center, extent : ndarray, shape (3,)
        Of a box around the shape, along its axes: half sides.
    size : float
        Radius of a ball around the shape, about this centre.
    hull : tuple of ndarray
        Of boxes and hulls: what `model._hulls.Hull` has.
    trees : tuple
        Of these, what `_hull_trees.hull_trees` returns.
    surface : tuple of ndarray
        Of surfaces: what `model._triangles.Triangles` has.
    """

    def __cinit__(self, int kind, double radius, double half_length, cnp.ndarray half not None,
                  cnp.ndarray center not None, cnp.ndarray extent not None, double size, tuple hull not None,
                  tuple trees not None, tuple surface not None):
        self.kept = kind, radius, half_length, half, center, extent, size, hull, trees, surface
        cdef Polytope *to = &self.shape.hull
        cdef cnp.ndarray corners, normals, offsets, areas, start, loop, side, edges, footing
        self.shape.kind, self.shape.radius, self.shape.half_length = kind, radius, half_length
        memcpy(self.shape.half, half.data, sizeof(self.shape.half))
        memcpy(self.shape.center, center.data, sizeof(self.shape.center))
        memcpy(self.shape.extent, extent.data, sizeof(self.shape.extent))
        self.shape.size = size
        if hull:
            corners, normals, offsets, areas, start, loop, side, edges, footing = hull
            to.corners, to.faces, to.edges = len(corners), len(normals), len(edges)
            to.corner, to.normal = <const double *> corners.data, <const double *> normals.data
            to.offset, to.area = <const double *> offsets.data, <const double *> areas.data
            to.start, to.loop = <const int *> start.data, <const int *> loop.data
            to.side, to.edge = <const int *> side.data, <const int *> edges.data
            to.footing = <const int *> footing.data
            self.fill_trees(*trees)
            self.maps = (fill_map(&to.corner_map, corners), fill_map(&to.face_map, normals))
        if surface:
            self.fill_surface(*surface)

    def fill_trees(self, cnp.ndarray beside_start not None, cnp.ndarray beside not None,
                   cnp.ndarray corners not None, cnp.ndarray corner_bounds not None,
                   cnp.ndarray edges not None, cnp.ndarray edge_bounds not None, double cosine):
        """Point to the arrays of the trees of a hull."""
        cdef Polytope *to = &self.shape.hull
        to.beside_start, to.beside = <const int *> beside_start.data, <const int *> beside.data
        fill_tree(&to.corner_tree, corners, corner_bounds)
        fill_tree(&to.edge_tree, edges, edge_bounds)
        to.cosine = cosine

    def fill_surface(self, cnp.ndarray corners, cnp.ndarray triangles, cnp.ndarray sides, cnp.ndarray normals,
                     cnp.ndarray edge_normals, cnp.ndarray corner_normals, cnp.ndarray edge_borders,
                     cnp.ndarray corner_borders, cnp.ndarray beside_start, cnp.ndarray beside,
                     cnp.ndarray around_start, cnp.ndarray around, cnp.ndarray bounds):
        """Point to the arrays of a surface."""
        cdef Surface *to = &self.shape.surface
        to.triangles, to.levels = len(triangles), (len(bounds) + 1).bit_length() - 2
        to.corner, to.triangle = <const double *> corners.data, <const int *> triangles.data
        to.side, to.normal = <const int *> sides.data, <const double *> normals.data
        to.edge_normal = <const double *> edge_normals.data
        to.corner_normal = <const double *> corner_normals.data
        to.edge_border, to.corner_border = <const int *> edge_borders.data, <const int *> corner_borders.data
        to.beside_start, to.beside = <const int *> beside_start.data, <const int *> beside.data
        to.around_start, to.around = <const int *> around_start.data, <const int *> around.data
        to.bounds = <const double *> bounds.data

    def __reduce__(self):
        return Collider, self.kept


cdef void fill_tree(BoxTree *tree, cnp.ndarray order, cnp.ndarray bounds):
    """Point to the arrays of a tree of boxes."""
    tree.count, tree.levels = len(order), len(bounds).bit_length()
    tree.item, tree.bounds = <const int *> order.data, <const double *> bounds.data


cdef tuple fill_map(DirectionMap *to, cnp.ndarray points):
    """Make the table of points that may be farthest along directions; return its arrays."""
    cdef int count = len(points), side = 2, needed = 16 * count
    while side < MOST_SIDE and PER_CELL * side * side < count:
        side *= 2
    cdef cnp.ndarray cells = np.empty(12 * side * side, np.intc), heights = np.empty(5 * count)
    cdef cnp.ndarray work = np.empty((1 + side.bit_length()) * count, np.intc), items = work[:0]
    while needed > len(items):
        items = np.empty(needed, np.intc)
        needed = map_directions(<const double *> points.data, count, side, <int *> cells.data,
                                <int *> items.data, needed, <int *> work.data, <double *> heights.data)
    to.side, to.range, to.item = side, <const int *> cells.data, <const int *> items.data
    return cells, items


cdef int find_points(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B,
                     double margin, TouchPoint *points) noexcept nogil:
    """Write the points with gaps up to the margin; return how many."""
    return touch(a, A, b, B, margin, points)


cdef object pose_array(const Pose *pose):
    """Return R by rows, then p, of a pose."""
    cdef cnp.ndarray made = np.empty(12)
    memcpy(made.data, pose, sizeof(Pose))
    return made


def can_touch(int first, int second):
    """Return whether there is a kernel for two kinds of shapes."""
    return c_can_touch(first, second) != 0


def touching_points(Collider first not None, const double[::1] first_pose not None, Collider second not None,
                    const double[::1] second_pose not None, double margin):
    """Return the points, of dtype POINT, with gaps up to the margin; poses are R by rows, then p."""
    cdef Pose a, b
    cdef int count
    points = np.empty(MOST_POINTS, POINT)
    cdef TouchPoint *to = <TouchPoint *> (<cnp.ndarray> points).data
    memcpy(&a, &first_pose[0], sizeof(Pose))
    memcpy(&b, &second_pose[0], sizeof(Pose))
    with nogil:
        count = touch(&first.shape, &a, &second.shape, &b, margin, to)
    return points[:count]
