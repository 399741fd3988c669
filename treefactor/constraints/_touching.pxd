"""Declarations of the points at which shapes touch; see _touching.pyx."""

from libc.stdint cimport int64_t

cdef extern from "kernels/contacts/touch.h" nogil:
    enum:
        PLANE
        MOST_POINTS

    ctypedef struct BoxTree:
        int count, levels
        const int *item
        const double *bounds

    ctypedef struct DirectionMap:
        int side
        const int *range
        const int *item

    ctypedef struct Polytope:
        int corners, faces, edges
        const double *corner
        const double *normal
        const double *offset
        const double *area
        const int *start
        const int *loop
        const int *side
        const int *edge
        const int *footing
        const int *beside_start
        const int *beside
        BoxTree corner_tree, edge_tree
        double cosine
        DirectionMap corner_map, face_map

    ctypedef struct Surface:
        int triangles, levels
        const double *corner
        const int *triangle
        const int *side
        const double *normal
        const double *edge_normal
        const double *corner_normal
        const int *edge_border
        const int *corner_border
        const int *beside_start
        const int *beside
        const int *around_start
        const int *around
        const double *bounds

    ctypedef struct ContactShape:
        int kind
        double radius, half_length
        double half[3]
        double center[3]
        double extent[3]
        double size
        Polytope hull
        Surface surface

    ctypedef struct Pose:
        double R[9]
        double p[3]

    ctypedef struct TouchPoint:
        double point[3]
        double normal[3]
        double gap
        int64_t identity

cdef int find_points(const ContactShape *a, const Pose *A, const ContactShape *b, const Pose *B,
                     double margin, TouchPoint *points) noexcept nogil

cdef object pose_array(const Pose *pose)

cdef class Collider:
    cdef ContactShape shape
    cdef tuple kept, maps
