"""Handle the calls of XLA: find the map of a number, check the buffers, and run the map on them."""

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, strdup

from ._interface cimport (
    XLA_EXECUTE, XLA_F32, XLA_F64, XLA_FAILED_PRECONDITION, XLA_INTERNAL, XLA_INVALID_ARGUMENT, XLA_MAJOR,
    XLA_METADATA, XLA_MINOR, XLA_MOST_ARRAYS, XLA_MOST_AXES, XLA_RESOURCE_EXHAUSTED, XLA_S64, XLA_SCALAR,
    ArrayShape, KnownMap, XlaBuffer, XlaCall, XlaError, XlaErrorRequest, XlaExtension, XlaMetadata,
    XlaMetadataExtension, XlaScalar, add_map, close_python, enter_python, find_map, leave_python)
from ._plans cimport Plan

import atexit
from operator import index
from threading import Lock
from time import sleep

import numpy as np

from .plans import plan_of

cnp.import_array()

cdef enum:
    MESSAGE = 640                # characters of an error message
    SHOWN = 96                   # of a list of dimensions in it
    BLOCK = 256                  # configurations that are converted from float32 at a time

cdef object adding = Lock()


ctypedef bint (*RunPlan)(void *plan, const Buffers *) noexcept nogil

ctypedef struct Buffers:         # of a call, after the checks
    Py_ssize_t batch
    bint single                  # without a batch axis
    int dtype
    void *data[XLA_MOST_ARRAYS]  # of the operands, then of the results


cdef XlaError *failure(const XlaCall *call, int code, const char *message) noexcept nogil:
    """Return an error that XLA raises; it copies the message."""
    cdef XlaErrorRequest request
    request.struct_size, request.extensions = sizeof(request), NULL
    request.message, request.code = message, code
    return call.api.create_error(&request)


cdef bint describes_itself(const XlaCall *call) noexcept nogil:
    """Write the version of our interface if XLA wants to know it, and return whether it does."""
    cdef XlaExtension *extension = call.extensions
    cdef XlaMetadata *metadata
    while extension != NULL:
        if extension.kind == XLA_METADATA:
            metadata = (<XlaMetadataExtension *> extension).metadata
            metadata.version.major_version, metadata.version.minor_version = XLA_MAJOR, XLA_MINOR
            metadata.traits = 0
            return True
        extension = extension.next
    return False


cdef bint read_number(const XlaCall *call, int64_t *number) noexcept nogil:
    """Set number to the attribute "function"; return false without one of 64 bits."""
    cdef int64_t k
    cdef XlaScalar *scalar
    for k in range(call.attributes.count):
        if (call.attributes.names[k].length == 8 and call.attributes.kinds[k] == XLA_SCALAR
                and memcmp(call.attributes.names[k].text, b"function", 8) == 0):
            scalar = <XlaScalar *> call.attributes.values[k]
            number[0] = (<int64_t *> scalar.value)[0] if scalar.dtype == XLA_S64 else 0
            return scalar.dtype == XLA_S64
    return False


cdef void show(int64_t axes, const int64_t *dims, const char *before, char *text) noexcept nogil:
    """Write dimensions as Python writes a shape, after some text."""
    cdef Py_ssize_t at = snprintf(text, SHOWN, b"(%s", before)
    cdef int64_t k
    for k in range(axes):
        if at < SHOWN:
            at += snprintf(text + at, SHOWN - at, b"%s%lld", b"" if k == 0 else b", ", <long long> dims[k])
    if at < SHOWN:
        snprintf(text + at, SHOWN - at, b"%s", b",)" if axes == 1 and before[0] == 0 else b")")


cdef bint fits(const XlaBuffer *buffer, const ArrayShape *shape, const XlaBuffer *first,
               int64_t lead) noexcept nogil:
    """Return whether a buffer has the leading axes of the first one, then those of the shape."""
    cdef int64_t k
    if buffer.rank != lead + shape.axes:
        return False
    for k in range(lead):
        if buffer.dims[k] != first.dims[k]:
            return False
    for k in range(shape.axes):
        if buffer.dims[lead + k] != shape.dims[k]:
            return False
    return True


cdef XlaError *wrong_shape(const XlaCall *call, const KnownMap *known, int k, const XlaBuffer *buffer,
                           const XlaBuffer *first, int64_t lead) noexcept nogil:
    """Return the error that names the array whose shape does not fit."""
    cdef char message[MESSAGE]
    cdef char expected[SHOWN]
    cdef char received[SHOWN]
    cdef char leading[SHOWN]
    cdef bint result = k >= known.inputs
    cdef ArrayShape shape = known.shape[k]
    show(shape.axes, shape.dims, b"..., ", expected)
    show(buffer.rank, buffer.dims, b"", received)
    show(lead if lead > 0 else 0, first.dims, b"", leading)
    snprintf(message, MESSAGE,
             b"treefactor: expected %s %d of %s to have shape %s with the leading axes %s of argument 0, got "
             b"%s: all arguments and results of a call need the same leading axes, the batch",
             b"result" if result else b"argument", k - known.inputs if result else k, known.name, expected,
             leading, received)
    return failure(call, XLA_INVALID_ARGUMENT, message)


cdef XlaError *wrong_dtype(const XlaCall *call, const KnownMap *known, int k) noexcept nogil:
    """Return the error that names the array whose type does not fit."""
    cdef char message[MESSAGE]
    cdef bint result = k >= known.inputs
    snprintf(message, MESSAGE,
             b"treefactor: expected all arguments and results of %s to be %s; "
             b"%s %d has another type: convert it with astype",
             known.name, b"float32" if known.dtype == XLA_F32 else b"float64, or all to be float32",
             b"result" if result else b"argument", k - known.inputs if result else k)
    return failure(call, XLA_INVALID_ARGUMENT, message)


cdef XlaError *read_buffers(const XlaCall *call, const KnownMap *known, Buffers *buffers) noexcept nogil:
    """Check all buffers of a call against the shapes of a map; NULL where they fit."""
    cdef char message[MESSAGE]
    cdef XlaBuffer *buffer
    cdef XlaBuffer *first
    cdef int64_t lead, k
    if call.operands.count != known.inputs or call.results.count != known.outputs:
        snprintf(message, MESSAGE,
                 b"treefactor: expected %d arguments and %d results of %s, got %lld and %lld", known.inputs,
                 known.outputs, known.name, <long long> call.operands.count, <long long> call.results.count)
        return failure(call, XLA_INVALID_ARGUMENT, message)
    first = (call.operands if known.inputs else call.results).buffers[0]
    lead = first.rank - known.shape[0].axes
    buffers.batch, buffers.single, buffers.dtype = 1, lead == 0, first.dtype
    for k in range(known.inputs + known.outputs):
        buffer = (call.operands.buffers[k] if k < known.inputs else call.results.buffers[k - known.inputs])
        if buffer.dtype != buffers.dtype or (buffers.dtype != XLA_F32 and buffers.dtype != known.dtype):
            return wrong_dtype(call, known, <int> k)
        if lead < 0 or not fits(buffer, &known.shape[k], first, lead):
            return wrong_shape(call, known, <int> k, buffer, first, lead)
        buffers.data[k] = buffer.data
    for k in range(lead):
        buffers.batch *= first.dims[k]
    return NULL


cdef cnp.ndarray wrap(const ArrayShape *shape, int dtype, void *data, Py_ssize_t first, Py_ssize_t count,
                      bint writable):
    """Return configurations of a buffer as an array of shape (count, ...) without a copy."""
    cdef cnp.npy_intp dims[1 + XLA_MOST_AXES]
    cdef int kind = cnp.NPY_FLOAT if dtype == XLA_F32 else cnp.NPY_DOUBLE
    cdef Py_ssize_t bytes_each = sizeof(float) if dtype == XLA_F32 else sizeof(double)
    cdef cnp.ndarray array
    cdef int64_t k
    dims[0] = count
    for k in range(shape.axes):
        dims[1 + k] = shape.dims[k]
    array = cnp.PyArray_SimpleNewFromData(1 + <int> shape.axes, dims, kind,
                                          <char *> data + first * shape.size * bytes_each)
    if not writable:
        cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef object run_block(const KnownMap *known, const Buffers *buffers, Py_ssize_t first, Py_ssize_t count):
    """Run a map on some configurations of the buffers, which are converted to its type."""
    cdef list inputs = [], outputs = [], computed
    cdef int k
    for k in range(known.inputs):
        inputs.append(wrap(&known.shape[k], buffers.dtype, buffers.data[k], first, count, False))
    for k in range(known.inputs, known.inputs + known.outputs):
        outputs.append(wrap(&known.shape[k], buffers.dtype, buffers.data[k], first, count, True))
    if buffers.dtype == known.dtype:
        (<object> known.map).run(tuple(inputs), tuple(outputs))
        return
    computed = [np.empty(output.shape) for output in outputs]
    (<object> known.map).run(tuple([x.astype(np.float64) for x in inputs]), tuple(computed))
    with np.errstate(over="ignore"):
        for output, result in zip(outputs, computed):
            output[...] = result


cdef XlaError *run_in_python(const XlaCall *call, const KnownMap *known,
                             const Buffers *buffers) noexcept with gil:
    """Run a map on all configurations; return the error of its exception, or NULL."""
    cdef Py_ssize_t first, step = buffers.batch if buffers.dtype == known.dtype else BLOCK
    try:
        for first in range(0, buffers.batch, step):
            run_block(known, buffers, first, min(step, buffers.batch - first))
    except MemoryError as error:
        return failure(call, XLA_RESOURCE_EXHAUSTED, report(known, error))
    except BaseException as error:
        return failure(call, XLA_INTERNAL, report(known, error))
    return NULL


cdef bytes report(const KnownMap *known, object error):
    """Return the message of an exception."""
    name = (<bytes> known.name).decode("utf-8", "replace")
    return f"treefactor: {name} raised {type(error).__name__}: {error}".encode("utf-8", "replace")


cdef bint run_plan(Plan plan, const Buffers *buffers) noexcept nogil:
    """Run a plan on the buffers of a call; false without memory."""
    return plan.run(buffers.batch, buffers.single, buffers.dtype == XLA_F32, buffers.data)


cdef RunPlan run_borrowed = <RunPlan> run_plan           # of a plan whose references nobody counts


cdef XlaError *handle(XlaCall *call) noexcept nogil:
    """Handle one call of XLA, from any thread, and many at a time; return NULL or the error."""
    cdef Buffers buffers
    cdef const KnownMap *known
    cdef XlaError *error
    cdef int64_t number
    if describes_itself(call) or call.stage != XLA_EXECUTE:
        return NULL
    if not read_number(call, &number):
        return failure(call, XLA_INVALID_ARGUMENT,
                       b"treefactor: expected an attribute function=np.int64(number)")
    known = find_map(number)
    if known == NULL:
        return failure(
            call, XLA_FAILED_PRECONDITION,
            b"treefactor: this model is not known in this process: an exported or cached program needs its "
            b"model again; call the function of treefactor.adapters.jax_ with an equal model once, then run "
            b"the program")
    error = read_buffers(call, known, &buffers)
    if error != NULL or buffers.batch == 0:
        return error
    if known.plan == NULL:
        if not enter_python():
            return failure(call, XLA_FAILED_PRECONDITION, b"treefactor: the interpreter exits")
        error = run_in_python(call, known, &buffers)
        leave_python()
        return error
    if run_borrowed(known.plan, &buffers):
        return NULL
    return failure(call, XLA_RESOURCE_EXHAUSTED, b"treefactor: cannot allocate a workspace")


def wait_for_calls():
    """Refuse further calls that run Python and wait for those in progress: the interpreter exits."""
    while close_python():
        sleep(0.001)


atexit.register(wait_for_calls)


def capsule():
    """Return the handler as a capsule, for ``jax.ffi.register_ffi_target("treefactor", capsule(), "cpu")``.

    Returns
    -------
    PyCapsule
        A C function for version 0.1 of XLA's interface of foreign functions. It reads the attribute
        ``function``, an int64, and runs the map that `remember` keeps for that number.

    Notes
    -----
    Arguments and results are all float64 or all float32 and have equal leading axes, the batch; maps of
    float32 take float32 only. A call fails
    with FAILED_PRECONDITION for an unknown number, INVALID_ARGUMENT for wrong shapes or types,
    RESOURCE_EXHAUSTED without memory, and INTERNAL if the map raises an exception. States that are not valid
    give NaN.
    """
    return PyCapsule_New(<void *> handle, NULL, NULL)


cdef object key_of(const KnownMap *known):
    """Return the key of a map that is kept: the map itself if it has none."""
    return getattr(<object> known.map, "key", <object> known.map)


cdef str name_of(map):
    """Return the name of a map in error messages: its own, or that of its function, with the kind."""
    name = getattr(map, "name", None)
    if name is None and hasattr(map, "function"):
        name = map.function.name if map.kind == "value" else f"the {map.kind} of {map.function.name}"
    return name or "the function"


cdef void set_shapes(KnownMap *known, map) except *:
    """Store the shapes of the inputs and outputs of a map."""
    cdef int k, axis
    cdef ArrayShape *shape
    known.inputs, known.outputs = len(map.inputs), len(map.outputs)
    for k, dims in enumerate((*map.inputs, *map.outputs)):
        shape = &known.shape[k]
        shape.axes, shape.size = len(dims), 1
        for axis in range(len(dims)):
            shape.dims[axis] = dims[axis]
            shape.size *= shape.dims[axis]


def remember(number, map):
    """Keep a map for the life of the process: calls with this number run it.

    Parameters
    ----------
    number : int
        64 bits, signed; `number_of` makes one of any content.
    map
        Object with ``inputs`` and ``outputs``, tuples of the shapes of one configuration, ``key``, and
        ``run(inputs, outputs)``, which reads and writes tuples of arrays (batch, ...) and keeps none of them.
        The arrays are of its ``dtype``, float32, or float64 if it has none. Its ``name``, if any, is used in
        error messages.

    Raises
    ------
    ValueError
        If another map is kept for this number, or the map has too many arrays or axes.
    OverflowError, TypeError
        If number is not an integer of 64 bits.
    """
    cdef const KnownMap *known
    cdef KnownMap *made
    cdef int64_t key = index(number)
    cdef bytes name = name_of(map).encode()[:SHOWN]
    plan = plan_of(map)
    shapes = (*map.inputs, *map.outputs)
    if not 1 <= len(shapes) <= XLA_MOST_ARRAYS or max(len(shape) for shape in shapes) > XLA_MOST_AXES:
        raise ValueError(
            f"expected a map of 1 to {XLA_MOST_ARRAYS} arrays of at most {XLA_MOST_AXES} axes, "
            f"got shapes {shapes}")
    with adding:
        known = find_map(key)
        if known != NULL:
            if key_of(known) != getattr(map, "key", map):
                raise ValueError(
                    f"expected a new number for {map!r}: {number} belongs to {<object> known.map!r}")
            return
        made = <KnownMap *> calloc(1, sizeof(KnownMap))
        if made == NULL:
            raise MemoryError("cannot allocate the entry of a map")
        try:
            set_shapes(made, map)
            made.name = strdup(name)
            if made.name == NULL:
                raise MemoryError("cannot allocate the name of a map")
        except BaseException:
            free(made)
            raise
        made.number, made.map = key, <void *> map
        made.dtype = XLA_F32 if getattr(map, "dtype", None) == np.float32 else XLA_F64
        Py_INCREF(map)
        if plan is not None:
            made.plan = <void *> plan
            Py_INCREF(plan)
        add_map(made)
