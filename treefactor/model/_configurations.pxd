"""C interface of the kernels of configurations: their structs, and the coordinates of a model."""

cimport numpy as cnp

cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:    # a generator of NumPy; numpy.random's own declarations would import it
        void *state
        double (*next_double)(void *state) noexcept nogil

cdef extern from "kernels/configurations/joints.h" nogil:
    ctypedef enum Group:
        LINEAR
        CIRCLE
        SPHERE
        PLANE
        SPACE

    ctypedef struct Coordinates:
        Py_ssize_t group, q, v, nq, nv

    ctypedef struct ConfigurationKernels:
        void (*integrate)(const Coordinates *, Py_ssize_t count, const void *q, const void *v, double h,
                          void *result) noexcept nogil
        void (*difference)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                           double *result) noexcept nogil
        void (*interpolate)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                            const double *u, double *result) noexcept nogil
        void (*squared_distance)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                                 double *result) noexcept nogil
        void (*distance)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                         double *result) noexcept nogil
        void (*is_same)(const Coordinates *, Py_ssize_t count, const double *q0, const double *q1,
                        const double *tolerance, double *result) noexcept nogil
        void (*integrate_derivative)(const Coordinates *, Py_ssize_t count, const double *q, const double *v,
                                     int argument, double *blocks) noexcept nogil
        void (*difference_derivative)(const Coordinates *, Py_ssize_t count, const double *q0,
                                      const double *q1,
                                      int argument, double *blocks) noexcept nogil
        void (*normalize)(const Coordinates *, Py_ssize_t count, const double *q,
                          double *result) noexcept nogil
        void (*add_doubt)(const Coordinates *, Py_ssize_t count, const double *x, Py_ssize_t entries,
                          double tolerance, double *doubt) noexcept nogil

    ctypedef struct ConfigurationTable:
        const char *name
        ConfigurationKernels one
        ConfigurationKernels lanes
        void (*integrate_single)(const Coordinates *, Py_ssize_t count, const void *q, const void *v,
                                 double h, void *result) noexcept nogil
        bint (*all_finite)(Py_ssize_t count, const double *x) noexcept nogil

cdef const ConfigurationTable *configuration_kernels


cdef inline int length_entries(Py_ssize_t group) noexcept nogil:
    """Return the number of entries of the (cos, sin) or quaternion, the last ones of a joint in q."""
    return 0 if group == LINEAR else 2 if group == CIRCLE or group == PLANE else 4


cdef class Configurations:
    cdef const Coordinates *runs           # successive linear joints are one
    cdef const Coordinates *joint          # one for every joint with entries of its own
    cdef readonly Py_ssize_t count, joints, nq, nv
    cdef Py_ssize_t entries                # of the blocks of derivatives
    cdef bint linear                       # no rotations: entries add up
    cdef readonly object rest              # the neutral configuration
    cdef tuple limits                      # finite limits of the model, once they are known
    cdef tuple source                      # last random generator, its C interface and its lock
    cdef object kept
    cdef readonly tuple units              # first entry and size of every (cos, sin) and quaternion

    cdef cnp.ndarray block_places(self)
    cdef void draw(self, bitgen_t *bits, const double *low, const double *span, Py_ssize_t count,
                   double *q) noexcept


cpdef Configurations configurations_of(model)
