"""Declarations of the contacts of a model; see _contacts.pyx."""

from ..dynamics._recursions cimport Entry

ctypedef struct Contact:
    Py_ssize_t body[2]           # joints of the other body and of the sphere
    Py_ssize_t flat
    Py_ssize_t entry, stop       # first entry of a row, and the entry after its last one
    Py_ssize_t first, columns    # first column of a row, and the number of its columns
    double anchor[3]
    double normal[3]
    double center[3]
    double radius, reach         # reach: sum of both radii

ctypedef struct Point:
    Py_ssize_t body
    double position[3]
    double normal[3]             # normal of a plane; zeros for a sphere

ctypedef struct Pair:            # points of a contact; small, because the search reads all of these
    int point, other             # indices of the sphere's centre, and of the point of the other side
    double reach
    Py_ssize_t flat

cdef class ContactKernel:
    cdef Py_ssize_t joints, count, points
    cdef const Contact *contact
    cdef const Pair *pair
    cdef const Point *point
    cdef const Entry *entry
    cdef const Py_ssize_t *column
    cdef object kept

    cdef Py_ssize_t find_candidates(self, const double *frames, double margin, double *places,
                                    Py_ssize_t *number) noexcept nogil
    cdef Py_ssize_t measure_candidates(self, const double *frames, double margin, Py_ssize_t candidates,
                                       Py_ssize_t *number, double *gap, double *axes,
                                       double *points) noexcept nogil
    cdef Py_ssize_t list_columns(self, Py_ssize_t near, const Py_ssize_t *number, Py_ssize_t *start,
                                 Py_ssize_t *column) noexcept nogil
    cdef void fill_all(self, const double *frames, Py_ssize_t near, const Py_ssize_t *number,
                       const Py_ssize_t *start, double *axes, const double *points, double *gap,
                       double *rows, Py_ssize_t size) noexcept nogil
    cdef double locate(self, const double *frames, double *places) noexcept nogil
    cdef double measure(self, const Contact *c, const double *frames, double *n, double *point) noexcept nogil
    cdef double farthest_axis(self, const Contact *c, const double *frames,
                              const double *point) noexcept nogil
    cdef void fill(self, const Contact *c, const double *frames, const double *axes, const double *point,
                   double far, double *gap, double *rows, Py_ssize_t size) noexcept nogil
