"""Find the compiled results of frames that are placed on bodies by arrays, and run them."""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from libc.string cimport memcpy

from .._util._fast_arrays cimport is_plain_matrix, is_plain_vector
from ..model._compiled_parts cimport CompiledParts
from ._request cimport Request

cnp.import_array()

cdef object LOCAL = "LOCAL"


cdef dict requests_of(model):
    """Return the requests that a Model keeps; None for any other object."""
    cdef object requests
    if not isinstance(model, CompiledParts):
        return None
    requests = (<CompiledParts> model).requests
    if requests is None:
        requests = model._requests
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            if (<CompiledParts> model).requests is None:
                (<CompiledParts> model).requests = requests
    return <dict?> requests


def key_of_placed(int kind, reference, body, R, p):
    """Return the key in ``model._requests`` of a frame at R, p on a body; None if another one is needed.

    R and p, which may be None, are contiguous float64 arrays, body is a number or a name.
    """
    cdef double place[12]
    if not (type(body) is int or type(body) is str):
        return None
    if p is None and R is None:
        return kind * 2 + (reference == LOCAL), body
    if not is_plain_vector(p, 3):
        return None
    memcpy(place, cnp.PyArray_DATA(<cnp.ndarray> p), 3 * sizeof(double))
    if R is not None:
        if not is_plain_matrix(R, 3, 3):
            return None
        memcpy(place + 3, cnp.PyArray_DATA(<cnp.ndarray> R), 9 * sizeof(double))
    return kind * 2 + (reference == LOCAL), body, PyBytes_FromStringAndSize(
        <const char *> place, (3 if R is None else 12) * sizeof(double))


def call_placed(model, int kind, reference, body, R, p, q, v):
    """Compute the result of a frame at R, p on a body; None if it is not kept or arrays do not fit."""
    cdef dict requests = requests_of(model)
    cdef object key, request
    cdef PyObject *arrays[3]
    if requests is None:
        return None
    key = key_of_placed(kind, reference, body, R, p)
    request = requests.get(key) if key is not None else None
    if request is None:
        return None
    arrays[0], arrays[1], arrays[2] = <PyObject *> q, <PyObject *> v, <PyObject *> None
    return (<Request?> request).run(arrays, None, 1)
