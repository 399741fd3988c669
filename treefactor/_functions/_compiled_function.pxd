"""C interface of compiled functions: the class that runs them on NumPy arrays, and its hooks."""

cimport cython
from cpython.object cimport PyObject

from ..tree._operands cimport Operand
from ..tree._pattern cimport Pattern
from ._arrays cimport PAIR, PLAIN, SPARSE, SYMMETRIC, Array, Form, Leading

cdef enum:
    MOST_ARRAYS = 16             # arguments of a function
    MOST_RESULTS = 64
    STACK_DOUBLES = 6144         # workspace on the C stack; larger functions allocate theirs on the heap


cdef class CompiledFunction:
    # Set by subclasses, in __init__
    cdef readonly tuple names    # of the arguments
    cdef object gather           # tuple, named tuple or function of a tuple of results; None: the only one
    cdef readonly bint may_fail  # there are pivots
    cdef bint writes_last        # single results are written when all pivots are known to be good
    cdef readonly bint in_lanes  # the user's results have the layout "lanes"
    cdef readonly bint scalar    # the only result is a number
    cdef int kind                # type number of NumPy of arguments and results, numbers excepted
    cdef readonly bint any_length        # its unit vectors may have any length but zero
    cdef readonly int effort     # for an entry of the results, see `spread`
    cdef Pattern pattern         # of results of the forms SYMMETRIC and PAIR
    cdef const void *model       # what `compute` gets, unless elements of a batch have models of their own
    cdef Py_ssize_t elements     # of a batch that has; -1: all configurations share one
    cdef bint writes_rows        # of whole blocks of a batch: `write_rows` computes them
    cdef bint takes_long         # single calls release the GIL
    cdef bint one_axis           # whether these lie along one axis: the fast path knows no other

    # Set by add_input, add_result and close
    cdef readonly int inputs, results
    cdef Array input[MOST_ARRAYS]
    cdef Array *result           # the table is allocated: few functions have many results
    cdef Py_ssize_t units        # unit vectors in the arguments of a configuration, which stand side by side
    cdef const Py_ssize_t *unit  # first entry and size of each
    cdef const Py_ssize_t *own_unit      # the same, first entries counted in each argument
    cdef Py_ssize_t units_of[MOST_ARRAYS]        # their number in every argument
    cdef object unit_entries     # the arrays of these
    cdef readonly tuple configurations   # names of these arguments
    cdef readonly dict input_shapes      # of the arguments by name, for one configuration
    cdef readonly tuple shapes   # of the results for one configuration; in lanes their numbers of entries
    cdef Py_ssize_t need_one, need_lanes, need_apart     # doubles, and those of single results computed apart

    cdef int add_input(self, tuple shape, bint optional=*, units=*) except -1
    cdef int add_number(self, bint shared=*) except -1
    cdef int add_result(self, tuple shape, Form form=*, Py_ssize_t computed=*, const int *at=*) except -1
    cpdef int close(self) except -1

    # Hooks: the first two are needed, the others have defaults
    cdef Py_ssize_t workspace_size(self, int lanes) noexcept nogil
    cdef void compute(self, const void *model, int lanes, const double **x, double **y, Py_ssize_t *failed,
                      double *work) noexcept nogil
    cdef Py_ssize_t block_size(self) noexcept nogil
    cdef const void *begin_block(self, Py_ssize_t b, double *memory) noexcept nogil
    cdef bint run_one(self, const double **x, double **out) noexcept nogil
    cdef bint compute_rows(self, Py_ssize_t batch, const Operand *operands, char **to, Py_ssize_t *failed,
                           Py_ssize_t first, Py_ssize_t stop) noexcept nogil
    cpdef tuple run_alone(self, model, tuple arrays)
    cdef bint run_blocks(self, Py_ssize_t batch, const Operand *operands, tuple out, Py_ssize_t *failed,
                         Py_ssize_t first, Py_ssize_t stop) except False
    cdef bint run_whole(self, Py_ssize_t batch, const Operand *operands, tuple out) noexcept
    cdef bint are_valid(self, Py_ssize_t entries, double **x, double **y) noexcept nogil
    cdef void spoil(self, int lane, double **y) noexcept nogil
    cdef object as_number(self, double value)
    cdef void write_rows(self, Py_ssize_t b, const double **x, char **to, double *work) noexcept nogil

    # The same for all
    @cython.final
    cdef bint is_apart(self, int k) noexcept nogil
    @cython.final
    cdef bint is_valid(self, const double *x, int step) noexcept nogil
    @cython.final
    cdef bint has_units(self, const double **x) noexcept nogil
    @cython.final
    cdef bint find_arguments(self, PyObject **arrays, double *numbers, const double **x) noexcept
    @cython.final
    cdef bint find_result(self, int k, const double **x, object out, double **y) noexcept
    @cython.final
    cdef bint find_results(self, const double **x, tuple out, double **y) noexcept
    @cython.final
    cdef tuple as_results(self, object out)
    cpdef object make(self, tuple results)
    @cython.final
    cdef tuple new_results(self, const Leading *leading)
    @cython.final
    cdef object run(self, PyObject **arrays, object out, object threads)
    @cython.final
    cdef list copy_strided(self, PyObject **arrays, PyObject **plain)
    @cython.final
    cdef object run_vectors(self, PyObject **arrays, object out)
    @cython.final
    cdef object run_rows(self, PyObject **arrays, object out)
    @cython.final
    cdef bint run_single(self, const double **x, double **out) noexcept
    @cython.final
    cdef bint fits_batch(self, int k, object out, const Leading *leading) noexcept
    @cython.final
    cdef Py_ssize_t to_next_block(self, int k) noexcept nogil
    @cython.final
    cdef double *place_of(self, int k, char *to, Py_ssize_t b, double *packed) noexcept nogil
    @cython.final
    cdef bint are_good(self, Py_ssize_t entries, double **x, double **y,
                       const Py_ssize_t *failed) noexcept nogil
    @cython.final
    cdef void invalidate(self, Py_ssize_t entries, double **x, double **y,
                         const Py_ssize_t *failed) noexcept nogil
    @cython.final
    cdef void store(self, const Array *result, int count, double *y, char *to) noexcept nogil
