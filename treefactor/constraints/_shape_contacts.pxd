"""Declarations of the contacts of shapes; see _shape_contacts.pyx."""

cimport cython
from libc.stdint cimport int64_t

from ..dynamics._recursions cimport BodyMotion
from ._contacts cimport ContactKernel
from ._touching cimport ContactShape, Pose, TouchPoint

ctypedef struct BodyShape:       # a shape on a body
    const ContactShape *shape
    Py_ssize_t body
    Pose own                     # in the frame of the joint

ctypedef struct PlacedShape:     # a shape in one state
    Pose pose                    # from the origin of its root body
    double center[3]             # of the ball around it, in the base
    double velocity[3]           # of its body there
    double spin[3]               # angular velocity of its body
    double turning               # size of that
    double radius                # of the ball that shapes near it reach, unless it turns
    double share                 # of the squared distance from it that its turning leaves
    double slack                 # rounding error of the centre
    bint is_lively               # whether it turns much in a step, or moves otherwise than before

ctypedef struct ShapePoints:     # near points, in the order of slots
    Py_ssize_t *slot             # MOST_POINTS times the pair, plus the slot
    Py_ssize_t *pair
    double *gap
    double *axes                 # (points, 3, 3)
    double *point                # (points, 10), as of ContactKernel
    double *place                # (points, 3), in the base
    unsigned char *is_new

ctypedef struct CarriedPoint:    # a point that bodies reach within the step, carried back with them
    Py_ssize_t pair
    TouchPoint at

ctypedef struct NearPoints:      # of all pairs, ascending; those of a state are found once
    CarriedPoint *point          # at most MOST_POINTS of every pair
    Py_ssize_t count             # -1 before they are found


@cython.final
cdef class ShapeContactKernel:
    cdef ContactKernel rows
    cdef Py_ssize_t count        # of pairs
    cdef Py_ssize_t shapes       # of shapes on bodies, each once
    cdef double largest          # of their sizes
    cdef const BodyShape *shape
    cdef const Py_ssize_t *side  # (pairs, 2): shapes of every pair
    cdef double h, gravity
    cdef list finders            # of pairs without a kernel, called with the GIL
    cdef const unsigned char *slow   # whether a pair has one
    cdef object kept

    cdef Py_ssize_t find(self, const double *frames, double margin, const int64_t *before, int64_t *identity,
                         Py_ssize_t carried, const CarriedPoint *more, PlacedShape *placed,
                         NearPoints *known, ShapePoints *to) except -1 nogil
    cdef Py_ssize_t find_doubts(self, const double *moving, double margin, const PlacedShape *placed,
                                PlacedShape *moved, Py_ssize_t *doubt) noexcept nogil
    cdef bint is_lively(self, const ContactShape *shape, const PlacedShape *placed,
                        const PlacedShape *moved) noexcept nogil
    cdef Py_ssize_t find_overlooked(self, const double *frames, const double *ahead, Py_ssize_t doubts,
                                    const Py_ssize_t *doubt, const int64_t *identity,
                                    const PlacedShape *placed, PlacedShape *then,
                                    CarriedPoint *to) except -1 nogil
    cdef void widen(self, PlacedShape *placed) noexcept nogil
    cdef void place_all(self, const double *frames, PlacedShape *placed) noexcept nogil
    cdef double reach(self, const PlacedShape *a, const PlacedShape *b, const double *apart, double size,
                      double margin) noexcept nogil
    cdef int touch_pair(self, Py_ssize_t k, const double *frames, double reach, const PlacedShape *placed,
                        TouchPoint *touching) except -1 nogil
    cdef int points_of_pair(self, Py_ssize_t k, const double *frames, double margin,
                            const PlacedShape *placed, TouchPoint *touching) except -1 nogil
    cdef int find_slowly(self, Py_ssize_t k, const Pose *a, const Pose *b, double margin,
                         TouchPoint *touching) except -1
    cdef void carry_back(self, Py_ssize_t k, const double *frames, const double *ahead,
                         const PlacedShape *placed, const PlacedShape *then, TouchPoint *x) noexcept nogil
    cdef void describe(self, Py_ssize_t k, const double *frames, const double *x, double *point,
                       double *place) noexcept nogil
