"""Declarations of the contacts of a model; see _contacts.pyx."""

from ..dynamics._recursions cimport Entry

ctypedef struct Contact:
    Py_ssize_t body[2]           # joint of the other body, of the sphere
    Py_ssize_t flat
    Py_ssize_t entry, stop       # range of the entries of a row
    Py_ssize_t first, columns    # range of its columns: the first one, and their number
    double anchor[3]
    double normal[3]
    double center[3]
    double radius, reach         # reach: sum of both radii

ctypedef struct Point:
    Py_ssize_t body
    double position[3]
    double normal[3]             # of a plane; 0 of a sphere

ctypedef struct Pair:            # of a contact; small, because the search reads those of all contacts
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
    cdef void fill_all(self, const double *frames, Py_ssize_t near, const Py_ssize_t *number,
                       const Py_ssize_t *start, double *axes, const double *points, double *gap,
                       double *rows, Py_ssize_t size) noexcept nogil
    cdef double locate(self, const double *frames, double *places) noexcept nogil
    cdef double measure(self, const Contact *c, const double *frames, double *n, double *point) noexcept nogil
    cdef void fill(self, const Contact *c, const double *frames, const double *axes, const double *point,
                   double *gap, double *rows, Py_ssize_t size) noexcept nogil
