# cython: embedsignature=False
"""Explain calls of compiled functions whose arguments do not fit: which are missing, and which are unknown.

Cython counts the arguments only. `explain` replaces the C function that the interpreter calls for a function
(PEP 590) by one that calls it, and looks at its error; a call without an error is as fast as before. All
modules have one such C function, because they share the utility code of Cython.
"""

from cpython.object cimport PyObject

from .messages import misfit

cdef extern from "Python.h":
    ctypedef PyObject *(*vectorcallfunc)(PyObject *, PyObject **, size_t, PyObject *)
    vectorcallfunc PyVectorcall_Function(PyObject *function)
    Py_ssize_t PyVectorcall_NARGS(size_t count)
    PyObject *PyErr_Occurred()
    void PyErr_Fetch(PyObject **kind, PyObject **value, PyObject **trace)
    void PyErr_Restore(PyObject *kind, PyObject *value, PyObject *trace)
    void Py_XDECREF(PyObject *one)
    void PyErr_SetObject(object kind, object value)
    ctypedef struct PyTypeObject:
        Py_ssize_t tp_vectorcall_offset
    PyTypeObject *Py_TYPE(PyObject *one)

cdef vectorcallfunc original = NULL  # C function of all functions of Cython with named arguments


def example(first, second):
    """Show the C function that the interpreter calls for functions with named arguments."""


original = PyVectorcall_Function(<PyObject *> example)


cdef PyObject *explained(PyObject *function, PyObject **arguments, size_t count, PyObject *names) noexcept:
    """Call a function; say which arguments do not fit if it raises TypeError itself for that reason."""
    cdef PyObject *result = original(function, arguments, count, names)
    if result == NULL and PyErr_Occurred() == <PyObject *> TypeError:
        explain_error(function, arguments, PyVectorcall_NARGS(count), names)
    return result


cdef int explain_error(PyObject *function, PyObject **arguments, Py_ssize_t count, PyObject *names) noexcept:
    """Replace the present error if the arguments do not fit; keep it otherwise."""
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *trace
    cdef object reason = None
    PyErr_Fetch(&kind, &value, &trace)
    try:
        given = () if names == NULL else <tuple> names
        places = [<object> arguments[k] for k in range(count)]
        named = {name: <object> arguments[count + k] for k, name in enumerate(given)}
        reason = misfit(<object> function, places, named)
    except Exception:  # the first error counts
        pass
    if reason is None:
        PyErr_Restore(kind, value, trace)
        return 0
    Py_XDECREF(kind)
    Py_XDECREF(value)
    Py_XDECREF(trace)
    PyErr_SetObject(TypeError, reason)
    return 1


def explain(objects):
    """Make compiled functions, and those of classes, say which of their arguments are missing or unknown."""
    for one in objects:
        if isinstance(one, type):
            for base in one.__mro__:
                explain([function for function in vars(base).values() if not isinstance(function, type)])
        elif original != NULL and PyVectorcall_Function(<PyObject *> one) == original:
            place = <char *> <PyObject *> one + Py_TYPE(<PyObject *> one).tp_vectorcall_offset
            (<vectorcallfunc *> place)[0] = <vectorcallfunc> explained
