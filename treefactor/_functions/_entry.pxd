"""C interface of public functions: where a model keeps their compiled functions."""

from cpython.object cimport PyObject

from ._compiled_function cimport MOST_ARRAYS, CompiledFunction

cdef enum:
    MOST_PARAMETERS = 24         # of a function
    MOST_OPTIONS = 6
    MOST_CHOICES = 8
    FLAG = -1                    # number of choices of an option that is true or false
    FRAME = -2                   # of a frame, or a list of frames
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
    cdef int choices[MOST_OPTIONS]       # number of them, FLAG, FRAME or PRESENCE
    cdef bint has_name[MOST_OPTIONS]     # choices may be given by an enumeration, whose `name` they are
    cdef PyObject *choice[MOST_OPTIONS][MOST_CHOICES]
    cdef tuple kept                      # their owners
    cdef int out_at, threads_at, inertias_at
    cdef int frame_option                # number of the option that is a FRAME, or -1

    cdef int bind(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords, PyObject **slot) except -1
    cdef int refuse(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords) except -1
    cdef int code_of(self, PyObject **chosen) except -2
    cdef CompiledFunction find(self, model, PyObject **chosen)
