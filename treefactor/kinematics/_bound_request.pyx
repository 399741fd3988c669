"""Run requests without the checks of the general path: the fast path, and calls bound to arrays."""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from .._util._bound_call cimport BoundCall
from .._util._fast_arrays cimport is_plain_matrix, is_plain_vector
from ..model._compiled_parts cimport CompiledParts
from ._request cimport Request

from ..model.frames import Frame
from ._request import REFERENCES

cnp.import_array()

cdef enum:
    OPTIONS = 4                  # values of an option

cdef tuple references = REFERENCES


cdef dict requests_of(model):
    """Return the requests that a Model keeps; None for any other object."""
    cdef object found
    if not isinstance(model, CompiledParts):
        return None
    found = (<CompiledParts> model).requests
    if found is None:
        found = model._requests
        with cython.critical_section(model):         # threads read it without: what is kept must never change
            if (<CompiledParts> model).requests is None:
                (<CompiledParts> model).requests = found
    return <dict?> found


cdef bint is_name(object frame) noexcept:
    """Return whether a frame is given by a name, by a number, or as a Frame."""
    cdef object kind = type(frame)
    return kind is str or kind is Frame or kind is int


def key_of(frame):
    """Return the key in ``model._requests`` of a frame or of a list of frames; None if it has none."""
    if type(frame) is list:
        frame = tuple(frame)
    if type(frame) is not tuple:
        return frame if is_name(frame) else None
    for one in <tuple> frame:
        if not is_name(one):
            return None
    return frame


cdef Py_ssize_t number_of(object reference) except -2:
    """Return the number of a reference given by name or as Pinocchio's enum; -1 if it is not one."""
    cdef Py_ssize_t k
    if type(reference) is not str:
        reference = getattr(reference, "name", None)
    for k in range(3):
        if reference is <object> PyTuple_GET_ITEM(references, k):
            return k
    for k in range(3):
        if reference == <object> PyTuple_GET_ITEM(references, k):
            return k
    return -1


def code_of(int kind, reference, int option):
    """Return the number of a kind of request of frames, by which ``model._requests`` keeps it."""
    return (kind * 3 + number_of(reference)) * OPTIONS + option


cdef Request find_request(model, int kind, frame, reference, int option):
    """Return the request of frames that a model keeps; None if it is not compiled."""
    cdef dict requests = requests_of(model)
    cdef object found, key = frame
    cdef Py_ssize_t reference_number
    if requests is None:
        return None
    if not is_name(key):
        key = key_of(key)
    found = requests.get(key) if key is not None else None
    if found is None:
        return None
    reference_number = number_of(reference)
    if reference_number < 0:
        return None
    return (<dict?> found).get((kind * 3 + reference_number) * OPTIONS + option)


def call(model, int kind, frame, reference, int option, q, v, a, out, threads, general_path):
    """Compute results of frames: `compute` for Python."""
    return compute(model, kind, frame, reference, option, q, v, a, out, threads, general_path)


cdef object compute(model, int kind, frame, reference, int option, q, v, a, out, threads, general_path):
    """Compute results of frames: float64 arrays at once if the request is compiled.

    ``frame`` is a frame or a list of them, ``option`` what else determines the request: see `plans.items_of`.
    The general path takes the same arguments.
    """
    cdef Request request = find_request(model, kind, frame, reference, option)
    cdef object found = None
    if request is not None:
        found = request.run_fast(q, v, a, out, threads)
    if found is None:
        found = general_path(model, kind, frame, reference, option, q, v, a, out, threads)
    return found


def key_of_placed(int kind, reference, body, R, p):
    """Return the key in ``model._requests`` of a frame at R, p on a body; None if another one is needed.

    R, which may be None, and p are contiguous float64 arrays, body is a number or a name.
    """
    cdef double place[12]
    if not ((type(body) is int or type(body) is str) and is_plain_vector(p, 3)):
        return None
    memcpy(place, cnp.PyArray_DATA(<cnp.ndarray> p), 3 * sizeof(double))
    if R is not None:
        if not is_plain_matrix(R, 3, 3):
            return None
        memcpy(place + 3, cnp.PyArray_DATA(<cnp.ndarray> R), 9 * sizeof(double))
    return kind * 3 + number_of(reference), body, PyBytes_FromStringAndSize(
        <const char *> place, (3 if R is None else 12) * sizeof(double))


def call_placed(model, int kind, reference, body, R, p, q, v):
    """Compute the result of a frame at R, p on a body; None if it is not kept or arrays do not fit."""
    cdef dict requests = requests_of(model)
    cdef object key
    if requests is None:
        return None
    key = key_of_placed(kind, reference, body, R, p)
    found = requests.get(key) if key is not None else None
    return None if found is None else (<Request?> found).run_fast(q, v, None, None, 1)


cdef class BoundRequest(BoundCall):
    """Call of a request on one configuration whose arrays are fixed: it takes no arguments.

    Parameters
    ----------
    request : Request
    q, v, a : ndarray
        Contiguous float64 vectors, or None.
    out : ndarray or tuple of ndarray
        One contiguous array for every result.
    general_path : callable
        Does the same with validation, and raises the error that names the bad argument.
    result : object, optional
        What calls return instead of out.

    Raises
    ------
    ValueError
        If an array is not contiguous float64, has the wrong shape, or overlaps out.
    """

    def __cinit__(self, Request request not None, q, v, a, out, general_path, result=None):
        self.request = request
        self.results = <double **> calloc(request.items, sizeof(double *))
        if self.results == NULL:
            raise MemoryError("cannot allocate a bound call")
        if not request.find_pointers(q, v, a, out, self.x, self.results):
            raise ValueError(
                "expected contiguous float64 arrays of the right shapes, out apart from the others"
            )
        self.kept, self.general_path = (q, v, a, out), general_path
        self.out = out if result is None else result

    def __dealloc__(self):
        free(self.results)

    cdef bint run(self) noexcept:
        return self.request.run_one(self.x[0], self.x[1], self.x[2], self.results)
