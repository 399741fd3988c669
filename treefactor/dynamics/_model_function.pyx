"""Base of the compiled functions of a model: its bodies, their inertias, and mimic joints."""


from .._functions._compiled_function cimport CompiledFunction
from ._coupling cimport expand, reduce_forces
from ._inertia_sets cimport choose_inertias
from ._recursions cimport Bodies, Mechanism, bodies_of

cdef enum:
    MECHANISM = (sizeof(Mechanism) + 63) // 64 * 8       # doubles of a Mechanism, a multiple of 8


cdef class ModelFunction(CompiledFunction):
    """Compiled function whose `compute` receives the Mechanism of a model.

    Parameters
    ----------
    model : Model, or its Bodies
    *options
        What else determines the function: see the subclass.
    """

    def __cinit__(self, model, *_):
        self.bodies = <Bodies> model if isinstance(model, Bodies) else bodies_of(model)
        self.pattern = self.bodies.pattern
        self.model = &self.bodies.m
        self.elements, self.one_axis = self.bodies.sets.elements, self.bodies.one_axis

    cdef int add_configuration(self) except -1:
        """Declare the argument q."""
        cdef Py_ssize_t k
        units = [(self.bodies.unit[2 * k], self.bodies.unit[2 * k + 1]) for k in range(self.bodies.units)]
        return self.add_input((self.bodies.nq,), False, units)

    cdef int add_vector(self, bint optional=False) except -1:
        """Declare an argument with an entry for every freedom."""
        return self.add_input((self.bodies.nv,), optional)

    cdef int add_forces(self, bint optional=True) except -1:
        """Declare the external forces on the bodies of all joints."""
        return self.add_input((self.bodies.m.joints, 6), optional)

    cdef int add_arguments(self, tuple names, tuple optional=("fext",)) except -1:
        """Declare q, external forces, and under other names vectors of freedoms."""
        self.names = names
        for name in names:
            if name == "q":
                self.add_configuration()
            elif name == "fext":
                self.add_forces(name in optional)
            else:
                self.add_vector(name in optional)
        return 0

    cdef Py_ssize_t block_size(self) noexcept nogil:
        return MECHANISM + self.bodies.gathered_size()

    cdef const void *begin_block(self, Py_ssize_t b, double *memory) noexcept nogil:
        cdef Mechanism *m = <Mechanism *> memory
        m[0] = self.bodies.m
        choose_inertias(&self.bodies.sets, b, memory + MECHANISM, m)
        return m

    cdef const double *expanded(self, int lanes, Py_ssize_t vectors, const double *x,
                                double **end) noexcept nogil:
        """Return vectors of the freedoms of all joints, written at end if there are mimic joints."""
        cdef double *full = end[0]
        cdef Py_ssize_t s
        if x == NULL or not self.bodies.coupled:
            return x
        for s in range(vectors):
            expand(&self.bodies.coupling, lanes, x + s * self.bodies.nv * lanes, end[0])
            end[0] += self.bodies.m.n * lanes
        return full

    cdef double *target(self, int lanes, Py_ssize_t vectors, double *y, double **end) noexcept nogil:
        """Return where a kernel writes vectors of the freedoms of all joints whose reduced form is y."""
        cdef double *full = end[0]
        if y == NULL or not self.bodies.coupled:
            return y
        end[0] += vectors * self.bodies.m.n * lanes
        return full

    cdef void reduce(self, int lanes, Py_ssize_t vectors, const double *x, double *y) noexcept nogil:
        """y <- the sums over mimic joints of what a kernel wrote at x, the target of y."""
        cdef Py_ssize_t s
        if x == y:
            return
        for s in range(vectors):
            reduce_forces(&self.bodies.coupling, lanes, x + s * self.bodies.m.n * lanes,
                          y + s * self.bodies.nv * lanes)
