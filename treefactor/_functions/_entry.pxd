"""C interface of public functions: where a model keeps their compiled functions."""

from cpython.object cimport PyObject

from ._compiled_function cimport MOST_ARRAYS, CompiledFunction

cdef enum:
    MOST_PARAMETERS = 24         # of a function
    MOST_OPTIONS = 6
    MOST_CHOICES = 8
    FLAG = -1                    # number of choices of an option that is true or false
    KEY = -2                     # of one that any hashable object chooses: a frame, or columns
    PRESENCE = -3                # of an optional argument: whether it is present


cdef class Entry:
    cdef readonly object quantity
    cdef readonly object function
    cdef readonly int number
    cdef readonly tuple names            # of all parameters
    cdef object signature                # bytes, which the function refers to
    cdef tuple defaults                  # of the last parameters
    cdef int count, required             # parameters, and those without default
    cdef int inputs, options
    cdef int input_at[MOST_ARRAYS]       # parameter of every input
    cdef int option_at[MOST_OPTIONS]
    cdef int choices[MOST_OPTIONS]       # number of them, FLAG, KEY or PRESENCE
    cdef bint has_name[MOST_OPTIONS]     # choices may be given by an enumeration, whose `name` they are
    cdef bint is_axis[MOST_OPTIONS]      # choices are lengths of the last axis of an argument
    cdef PyObject *choice[MOST_OPTIONS][MOST_CHOICES]
    cdef tuple kept                      # their owners
    cdef int out_at, threads_at, inertias_at
    cdef readonly bint has_model         # the first parameter is a model, which keeps the functions
    cdef int key_option                  # number of the option that is a KEY, or -1
    cdef bint is_frame                   # whether that is a frame, or a list of frames
    cdef readonly bint counted           # whether shapes choose a function, too: see `count_of`
    cdef int series                      # first argument with an axis of steps, or -1
    cdef int axes[MOST_ARRAYS]           # of every input, for one configuration
    cdef bint is_direction[MOST_ARRAYS]

    cdef int bind(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords, PyObject **slot) except -1
    cdef int refuse(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords) except -1
    cdef PyObject *length_of(self, int k, PyObject *array) except NULL
    cdef int code_of(self, PyObject **chosen) except -2
    cdef object key_of(self, PyObject **chosen, Py_ssize_t count)
    cdef CompiledFunction find(self, model, PyObject **chosen, Py_ssize_t count)
    cdef Py_ssize_t count_of(self, model, PyObject **arrays, PyObject **chosen) except -2
    cdef Py_ssize_t steps_of(self, model, object array, object steps) except -2
    cdef Py_ssize_t vectors_of(self, PyObject **arrays) except -2
    cdef Py_ssize_t read_values(self, tuple values, PyObject **chosen) except -2
