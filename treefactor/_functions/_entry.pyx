"""Public functions of compiled quantities: one C entry binds arguments, finds the function and runs it.

A public function is a built-in function of Python with the vector call of PEP 590, made from its declaration.
Built-in functions have no data of their own, so that each gets one of a fixed number of small C functions,
which pass on their number.
"""

cimport numpy as cnp
from cpython.object cimport PyObject

from .._util._fast_arrays cimport is_real
from ..model._compiled_parts cimport CompiledParts
from ._compiled_function cimport MOST_ARRAYS, CompiledFunction

import sys
from threading import RLock

from .._util.messages import misfit
from .._util.validation import shape_of
from ..model.frames import Frame
from . import general_path as general

cnp.import_array()

cdef extern from *:
    """
    typedef PyObject *(*EntryCall)(int, PyObject *const *, Py_ssize_t, PyObject *);
    static EntryCall entry_call;
    #define ENTRY(k) \\
        static PyObject *entry_##k(PyObject *self, PyObject *const *x, Py_ssize_t count, PyObject *names) \\
        { \\
            return entry_call(k, x, count, names); \\
        }
    #define TEN(f, k) f(k##0) f(k##1) f(k##2) f(k##3) f(k##4) f(k##5) f(k##6) f(k##7) f(k##8) f(k##9)
    #define ALL(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) TEN(f, 1) TEN(f, 2) TEN(f, 3) \\
        TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8) TEN(f, 9) TEN(f, 10) TEN(f, 11) TEN(f, 12)
    ALL(ENTRY)
    #define METHOD(k) {NULL, (PyCFunction)(void (*)(void))entry_##k, METH_FASTCALL | METH_KEYWORDS, NULL},
    static PyMethodDef entry_methods[] = {ALL(METHOD)};
    #define MOST_ENTRIES ((int)(sizeof(entry_methods) / sizeof(entry_methods[0])))
    """
    ctypedef PyObject *(*EntryCall)(int, PyObject *const *, Py_ssize_t, PyObject *)
    EntryCall entry_call
    ctypedef struct PyMethodDef:
        const char *ml_name
        const char *ml_doc
    PyMethodDef entry_methods[]
    int MOST_ENTRIES
    object PyCFunction_NewEx(PyMethodDef *, object owner, object module)
    Py_ssize_t PyTuple_GET_SIZE(PyObject *)
    PyObject *PyTuple_GET_ITEM(PyObject *, Py_ssize_t)
    int PyUnicode_Compare(PyObject *, PyObject *) except? -2

cdef list entries = []
cdef object package = sys.modules[__name__.partition(".")[0]]    # any module: `inspect` looks for one
cdef CompiledParts shared = CompiledParts()     # keeps the functions that have no model
cdef object changing = RLock()
cdef object WHOLE = object()    # key of functions of a whole model


cdef class Entry:
    """Public function of a declared quantity: how its arguments are bound, and where its functions are kept.

    Parameters
    ----------
    quantity : Quantity
        Its module and its name find the function again.
    docstring : str
    signature : str
        Its parameters, as in ``(model, q, v, out=None)``; defaults are literals.
    """

    def __init__(self, quantity, str docstring not None, tuple names not None, tuple defaults not None):
        cdef int k, j
        cdef PyMethodDef *method
        if len(entries) >= MOST_ENTRIES or len(names) > MOST_PARAMETERS:
            raise SystemError("more quantities or parameters than the table of entries has places for")
        self.quantity, self.number = quantity, len(entries)
        self.names = tuple([sys.intern(name) for name in names])
        self.defaults, self.count = defaults, len(names)
        self.required = self.count - <int> len(defaults)
        self.inputs, self.options = len(quantity.given), len(quantity.choosing)
        self.key_option = self.series = -1
        self.has_model = quantity.has_model
        for k, array in enumerate(quantity.given):
            self.input_at[k] = names.index(array.name)
            self.axes[k], self.is_direction[k] = len(array.shape), array.role == "direction"
            self.counted |= self.is_direction[k]
            if array.role == "series" and self.series < 0:
                self.series, self.counted = k, True
        self.kept = tuple([
            tuple([sys.intern(choice) if type(choice) is str else choice for choice in option.choices])
            for option in quantity.choosing
        ])
        for k, option in enumerate(quantity.choosing):
            self.is_axis[k] = option.kind == "axis"
            name = option.name
            if self.is_axis[k]:
                name = next(array.name for array in quantity.inputs if option.name in array.shape)
            self.option_at[k] = names.index(name)
            kinds = {"flag": FLAG, "frame": KEY, "key": KEY, "count": KEY, "presence": PRESENCE}
            self.choices[k] = kinds.get(option.kind, len(option.choices))
            self.has_name[k] = option.kind == "reference"
            if self.choices[k] == KEY:
                assert self.key_option < 0
                self.key_option, self.is_frame = k, option.kind == "frame"
            for j in range(len(self.kept[k])):
                self.choice[k][j] = <PyObject *> self.kept[k][j]
        self.out_at = names.index("out") if "out" in names else -1
        self.threads_at = names.index("num_threads")
        self.inertias_at = names.index("inertias") if "inertias" in names else -1
        method = &entry_methods[self.number]
        self.signature = quantity.name.encode(), docstring.encode()
        method.ml_name, method.ml_doc = <const char *> self.signature[0], <const char *> self.signature[1]
        self.function = PyCFunction_NewEx(method, package, quantity.module)
        entries.append(self)

    cdef int bind(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords, PyObject **slot) except -1:
        """Set slot to the argument of every parameter; raise TypeError if arguments do not fit."""
        cdef Py_ssize_t given = 0 if keywords == NULL else PyTuple_GET_SIZE(keywords), k, j
        cdef PyObject *name
        if count > self.count:
            self.refuse(x, count, keywords)
        for k in range(count):
            slot[k] = x[k]
        for k in range(count, self.required):
            slot[k] = NULL
        for k in range(max(count, <Py_ssize_t> self.required), self.count):
            slot[k] = <PyObject *> self.defaults[k - self.required]
        for k in range(given):
            name = PyTuple_GET_ITEM(keywords, k)
            for j in range(self.count):
                if PyTuple_GET_ITEM(<PyObject *> self.names, j) == name:
                    break
            else:
                for j in range(self.count):
                    if PyUnicode_Compare(PyTuple_GET_ITEM(<PyObject *> self.names, j), name) == 0:
                        break
                else:
                    self.refuse(x, count, keywords)
            if j < count:
                self.refuse(x, count, keywords)
            slot[j] = x[count + k]
        for k in range(count, self.required):
            if slot[k] == NULL:
                self.refuse(x, count, keywords)
        return 0

    cdef int refuse(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords) except -1:
        """Raise the TypeError that names the argument which is missing, unknown or too many."""
        names = () if keywords == NULL else <tuple> keywords
        places = [<object> x[k] for k in range(count)]
        named = {name: <object> x[count + k] for k, name in enumerate(names)}
        raise TypeError(misfit(self.function, places, named))

    cdef PyObject *length_of(self, int k, PyObject *array) except NULL:
        """Return the choice that is the length of the last axis of an array, else the first one."""
        cdef tuple shape
        cdef Py_ssize_t length = -1, axes
        cdef int j
        if is_real(<object> array):
            axes = cnp.PyArray_NDIM(<cnp.ndarray> array)
            if axes > 0:
                length = cnp.PyArray_DIM(<cnp.ndarray> array, axes - 1)
        else:
            shape = shape_of(<object> array)
            if shape:
                length = shape[len(shape) - 1]
        for j in range(self.choices[k]):
            if <Py_ssize_t> <object> self.choice[k][j] == length:
                return self.choice[k][j]
        return self.choice[k][0]

    cdef int code_of(self, PyObject **chosen) except -2:
        """Return the number of the choices of all options without a key; -1 if there is no such choice."""
        cdef int code = 0, k, j
        cdef PyObject *given
        cdef object name
        for k in range(self.options):
            given = chosen[k]
            if self.choices[k] == KEY:
                continue
            if self.choices[k] == FLAG:
                code = 2 * code + (given == <PyObject *> True
                                   or given != <PyObject *> False and bool(<object> given))
                continue
            if self.choices[k] == PRESENCE:
                code = 2 * code + (given != <PyObject *> None)
                continue
            name = <object> given
            if self.has_name[k] and type(name) is not str:
                name = getattr(name, "name", None)
            for j in range(self.choices[k]):
                if <PyObject *> name == self.choice[k][j]:
                    break
            else:
                if type(name) is not str:
                    return -1
                for j in range(self.choices[k]):
                    if name == <object> self.choice[k][j]:
                        break
                else:
                    return -1
            code = self.choices[k] * code + j
        return code

    cdef object key_of(self, PyObject **chosen, Py_ssize_t count):
        """Return the key under which functions are kept: a frame, columns, a number of vectors or steps."""
        cdef object key = None
        if self.key_option >= 0:
            key = <object> chosen[self.key_option]
            if self.is_frame and not is_frame(key):
                key = key_of_frames(key)
            return (key, count) if self.counted else key
        return count

    cdef CompiledFunction find(self, model, PyObject **chosen, Py_ssize_t count):
        """Return the compiled function of a model for the options and `count_of`; None if it is new."""
        cdef object kept, key
        cdef int code
        if not isinstance(model, CompiledParts):
            return None
        kept = (<CompiledParts> model).functions
        if kept is None:
            return None
        kept = (<list> kept)[self.number]
        if kept is None:
            return None
        if self.key_option >= 0 or self.counted:
            key = self.key_of(chosen, count)
            if key is None or not (self.series < 0 or is_count(<object> chosen[self.key_option])):
                return None
            try:
                kept = (<dict> kept).get(key)
            except TypeError:    # not hashable
                return None
            if kept is None:
                return None
        elif self.options == 0:
            return <CompiledFunction> kept
        code = self.code_of(chosen)
        return None if code < 0 else <CompiledFunction> (<list> kept)[code]

    cdef Py_ssize_t count_of(self, model, PyObject **arrays, PyObject **chosen) except -2:
        """Return the number of directions of every state, or of steps; -1 if there is no axis of them."""
        if self.series < 0:
            return self.vectors_of(arrays)
        return self.steps_of(model, <object> arrays[self.series], <object> chosen[self.key_option])

    def count_by_name(self, model, dict given not None):
        """Return `count_of` a single call whose arguments are given by name."""
        if self.series < 0:
            return -1
        names = self.names
        return self.steps_of(model, given[names[self.input_at[self.series]]],
                             given[names[self.option_at[self.key_option]]])

    cdef Py_ssize_t steps_of(self, model, object array, object steps) except -2:
        """Return the length of the axis of steps of the first series; -1 if the number is given."""
        cdef int axes
        if steps is not None:
            return -1
        if is_real(array):
            axes = cnp.PyArray_NDIM(<cnp.ndarray> array) - self.axes[self.series]
            if axes >= 0:
                return cnp.PyArray_DIM(<cnp.ndarray> array, axes)
        return general.steps_of(model, self.quantity.inputs[self.series], array)

    cdef Py_ssize_t vectors_of(self, PyObject **arrays) except -2:
        """Return how many directions every state has: the axis beyond those of the batch of states; -1: none.

        For one state there is no such axis: directions of shape (m, nv) are a batch.
        """
        cdef Py_ssize_t lead = 0, most = -MOST_ARRAYS, axes
        cdef PyObject *longest = NULL
        cdef PyObject *array
        cdef int k
        for k in range(self.inputs):
            array = arrays[k]
            if array == <PyObject *> None:
                continue
            if is_real(<object> array):
                axes = cnp.PyArray_NDIM(<cnp.ndarray> array) - self.axes[k]
            else:
                axes = len(shape_of(<object> array)) - self.axes[k]
            if not self.is_direction[k]:
                lead = max(lead, axes)
            elif axes > most:
                most, longest = axes, array
        return shape_of(<object> longest)[lead] if lead > 0 and most == lead + 1 else -1

    cdef Py_ssize_t read_values(self, tuple values, PyObject **chosen) except -2:
        """Set chosen to the values of all options; return the number after them, of `count_of`, or -1."""
        cdef int k
        for k in range(self.options):
            chosen[k] = <PyObject *> values[k]
        return values[self.options] if self.counted else -1

    def kept_function(self, model, tuple values not None):
        """Return the function of a model that is kept under values of its options; None if it is new.

        Where there are directions or steps, `count_of` them follows the options.
        """
        cdef PyObject *chosen[MOST_OPTIONS]
        cdef Py_ssize_t count = self.read_values(values, chosen)
        return self.find(model, chosen, count)

    def keep(self, model, tuple values not None, CompiledFunction function not None):
        """Keep a function of a model under values as those of `kept_function`; return the one that is kept.

        The functions of frames without a key are not kept.
        """
        cdef CompiledParts parts = model
        cdef PyObject *chosen[MOST_OPTIONS]
        cdef Py_ssize_t count = self.read_values(values, chosen)
        cdef int codes = 1, code, k
        cdef object key
        for k in range(self.options):
            if self.choices[k] != KEY:
                codes *= max(self.choices[k], 2) if self.choices[k] < 0 else self.choices[k]
        code = self.code_of(chosen)
        assert code >= 0
        with changing:                               # readers need no lock: what is kept never changes
            if parts.functions is None:
                parts.functions = [None] * MOST_ENTRIES
            functions = <list> parts.functions
            if self.key_option >= 0 or self.counted:
                key = self.key_of(chosen, count)
                if key is None:
                    return function
                if functions[self.number] is None:
                    functions[self.number] = {}
                of_keys = functions[self.number]
                if key not in of_keys:
                    general.forget_oldest(of_keys)
                    of_keys[key] = [None] * codes
                of_options = of_keys[key]
            elif self.options == 0:
                if functions[self.number] is None:
                    functions[self.number] = function
                return functions[self.number]
            else:
                if functions[self.number] is None:
                    functions[self.number] = [None] * codes
                of_options = functions[self.number]
            if of_options[code] is None:
                of_options[code] = function
            return of_options[code]


cpdef CompiledFunction kept_function(CompiledParts model, type kind, tuple options):
    """Return the compiled function of a class that belongs to no quantity, and keep it under its options."""
    cdef dict kept = model._state_functions
    cdef tuple key = (kind, options)
    cdef CompiledFunction function = kept.get(key)
    if function is None:
        function = kind(model, *options)
        function.close()
        with changing:
            general.forget_oldest(kept)
            kept[key] = function
    return function


def run_kept(CompiledParts model not None, type kind not None, tuple options not None,
             tuple arrays not None, out, num_threads):
    """Run a function of `kept_function` on arrays of any form."""
    cdef CompiledFunction function = kept_function(model, kind, options)
    returned = function.run_arrays(arrays, out, num_threads)
    if returned is None:
        returned = general.run_validated(model, function, arrays[:function.inputs], out, num_threads)
    return returned


cdef bint is_count(object steps) noexcept:
    """Return whether a number of steps is absent, or a plain int: other objects may equal one."""
    return steps is None or type(steps) is int


cdef bint is_frame(object frame) noexcept:
    """Return whether a frame is given by a name, by a number, or as a Frame."""
    cdef object kind = type(frame)
    return kind is str or kind is Frame or kind is int


cdef object key_of_frames(frames):
    """Return the key of a list of frames, which is a tuple, or of the whole model; None if there is none."""
    if frames is None:
        return WHOLE
    if type(frames) is list:
        frames = tuple(<list> frames)
    if type(frames) is not tuple:
        return None
    for one in <tuple> frames:
        if not is_frame(one):
            return None
    return frames


cdef object call(int number, PyObject *const *x, Py_ssize_t count, PyObject *keywords):
    """Call the public function of that number: the vector call of all of them."""
    cdef Entry entry = <Entry> (<list> entries)[number]
    cdef PyObject *slot[MOST_PARAMETERS]
    cdef PyObject *arrays[MOST_ARRAYS]
    cdef PyObject *chosen[MOST_OPTIONS]
    cdef object model, returned, out, threads
    cdef CompiledFunction function
    cdef Py_ssize_t counted = -1
    cdef int k
    entry.bind(x, count, keywords, slot)
    model = <object> slot[0] if entry.has_model else shared
    if entry.inertias_at >= 0 and slot[entry.inertias_at] != <PyObject *> None:
        model = general.with_inertias(model, <object> slot[entry.inertias_at])
    for k in range(entry.inputs):
        arrays[k] = slot[entry.input_at[k]]
    out = None if entry.out_at < 0 else <object> slot[entry.out_at]
    threads = <object> slot[entry.threads_at]
    for k in range(entry.options):
        chosen[k] = slot[entry.option_at[k]]
        if entry.is_axis[k]:
            chosen[k] = entry.length_of(k, chosen[k])
    if entry.counted:
        counted = entry.count_of(model, arrays, chosen)
    function = entry.find(model, chosen, counted)
    if function is None:
        options = [<object> chosen[k] for k in range(entry.options)]
        if entry.counted:
            options.append(counted)
        function = general.compiled_function(entry, model, tuple(options))
    returned = function.run(arrays, out, threads)
    if returned is None:
        given = tuple([<object> arrays[k] for k in range(function.inputs)])
        returned = general.run_validated(model, function, given, out, threads)
    return returned


entry_call = <EntryCall> <void *> call
