"""Public functions of compiled quantities: one C entry binds arguments, finds the function and runs it.

A public function is a built-in function of Python with the vector call of PEP 590, made from its declaration.
Built-in functions have no data of their own, so that each gets one of a fixed number of small C functions, which
pass on their number.
"""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject

from ..model._compiled_parts cimport CompiledParts
from ._compiled_function cimport MOST_ARRAYS, CompiledFunction

import sys

from .._util.messages import misfit
from . import general_path as general

cnp.import_array()

cdef extern from *:
    """
    typedef PyObject *(*EntryCall)(int, PyObject *const *, Py_ssize_t, PyObject *);
    static EntryCall entry_call;
    #define ENTRY(k)                                                                                              \\
        static PyObject *entry_##k(PyObject *self, PyObject *const *x, Py_ssize_t count, PyObject *names)         \\
        {                                                                                                         \\
            return entry_call(k, x, count, names);                                                                \\
        }
    #define TEN(f, k) f(k##0) f(k##1) f(k##2) f(k##3) f(k##4) f(k##5) f(k##6) f(k##7) f(k##8) f(k##9)
    #define ALL(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4)      \\
        TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8) TEN(f, 9) TEN(f, 10) TEN(f, 11) TEN(f, 12)
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

cdef enum:
    MOST_PARAMETERS = 24         # of a function
    MOST_OPTIONS = 6
    MOST_CHOICES = 8
    FLAG = -1                    # number of choices of an option that is true or false
    KEY = -2                     # of one that is any hashable object

cdef list entries = []


cdef class Entry:
    """Public function of a declared quantity: how its arguments are bound, and where its functions are kept.

    Parameters
    ----------
    quantity : Quantity
    owner : module
        Module that the function belongs to: its name and that of the function find it again.
    docstring : str
    signature : str
        Its parameters, as in ``(model, q, v, out=None)``; defaults are literals.
    """

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
    cdef int choices[MOST_OPTIONS]       # number of them, FLAG or KEY
    cdef PyObject *choice[MOST_OPTIONS][MOST_CHOICES]
    cdef tuple kept                      # their owners
    cdef int out_at, threads_at, inertias_at     # -1: there is none
    cdef bint keyed                      # whether an option is a KEY

    def __init__(self, quantity, owner, str docstring not None, tuple names not None, tuple defaults not None):
        cdef int k, j
        cdef PyMethodDef *method
        if len(entries) >= MOST_ENTRIES or len(names) > MOST_PARAMETERS:
            raise SystemError("more quantities or parameters than the table of entries has places for")
        self.quantity, self.number = quantity, len(entries)
        self.names = tuple([sys.intern(name) for name in names])
        self.defaults, self.count = defaults, len(names)
        self.required = self.count - <int> len(defaults)
        self.inputs, self.options = len(quantity.inputs), len(quantity.options)
        for k, array in enumerate(quantity.inputs):
            self.input_at[k] = names.index(array.name)
        self.kept = tuple([tuple([sys.intern(choice) if type(choice) is str else choice for choice in one.choices]) for one in quantity.options])
        for k, option in enumerate(quantity.options):
            self.option_at[k] = names.index(option.name)
            self.choices[k] = {"choice": len(option.choices), "flag": FLAG, "key": KEY}[option.kind]
            self.keyed |= option.kind == "key"
            for j in range(len(self.kept[k])):
                self.choice[k][j] = <PyObject *> self.kept[k][j]
        self.out_at = names.index("out") if "out" in names else -1
        self.threads_at = names.index("num_threads")
        self.inertias_at = names.index("inertias") if "inertias" in names else -1
        method = &entry_methods[self.number]
        self.signature = quantity.name.encode(), docstring.encode()
        method.ml_name, method.ml_doc = <const char *> self.signature[0], <const char *> self.signature[1]
        self.function = PyCFunction_NewEx(method, owner, owner.__name__)
        entries.append(self)

    cdef int bind(self, PyObject *const *x, Py_ssize_t count, PyObject *keywords, PyObject **slot) except -1:
        """Set slot to the argument of every parameter; raise TypeError if arguments do not fit."""
        cdef Py_ssize_t given = 0 if keywords == NULL else PyTuple_GET_SIZE(keywords), k, j
        cdef PyObject *name
        cdef PyObject *parameter
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

    cdef CompiledFunction find(self, model, PyObject **slot):
        """Return the compiled function of a model for the options given; None if it is new."""
        cdef object kept
        cdef int code = 0, k, j
        cdef PyObject *given
        if not isinstance(model, CompiledParts):
            return None
        kept = (<CompiledParts> model).functions
        if kept is None or len(<list> kept) <= self.number:
            return None
        kept = (<list> kept)[self.number]
        if kept is None:
            return None
        if self.options == 0:
            return <CompiledFunction> kept
        for k in range(self.options):
            given = slot[self.option_at[k]]
            if self.choices[k] == FLAG:
                code = 2 * code + (given == <PyObject *> True or given != <PyObject *> False and bool(<object> given))
                continue
            if self.choices[k] == KEY:
                continue
            for j in range(self.choices[k]):
                if given == self.choice[k][j]:
                    break
            else:
                if type(<object> given) is not str:
                    return None
                for j in range(self.choices[k]):
                    if <object> given == <object> self.choice[k][j]:
                        break
                else:
                    return None
            code = self.choices[k] * code + j
        if self.keyed:
            try:
                return (<dict> kept).get((code, *[<object> slot[self.option_at[k]] for k in range(self.options)
                                                  if self.choices[k] == KEY]))
            except TypeError:    # not hashable
                return None
        return <CompiledFunction> (<list> kept)[code]

    def keep(self, model, tuple options not None, CompiledFunction function not None):
        """Keep a function of a model under its options, values of the declaration; return the one that is kept."""
        cdef CompiledParts parts = model
        cdef int code = 0, codes = 1, k
        cdef list key = []
        for k, (option, value) in enumerate(zip(self.quantity.options, options, strict=True)):
            if self.choices[k] == KEY:
                key.append(value)
                continue
            number = 2 if self.choices[k] == FLAG else self.choices[k]
            code = number * code + (bool(value) if self.choices[k] == FLAG else self.kept[k].index(value))
            codes *= number
        with cython.critical_section(model):         # readers need no lock: what is kept never changes
            if parts.functions is None:
                parts.functions = [None] * MOST_ENTRIES
            functions = <list> parts.functions
            if self.options == 0:
                if functions[self.number] is None:
                    functions[self.number] = function
                return functions[self.number]
            if self.keyed:
                if functions[self.number] is None:
                    functions[self.number] = {}
                general.forget_oldest(functions[self.number])
                return functions[self.number].setdefault((code, *key), function)
            if functions[self.number] is None:
                functions[self.number] = [None] * codes
            if functions[self.number][code] is None:
                functions[self.number][code] = function
            return functions[self.number][code]


cdef object call(int number, PyObject *const *x, Py_ssize_t count, PyObject *keywords):
    """Call the public function of that number: the vector call of all of them."""
    cdef Entry entry = <Entry> (<list> entries)[number]
    cdef PyObject *slot[MOST_PARAMETERS]
    cdef PyObject *arrays[MOST_ARRAYS]
    cdef object model, returned = None, out, threads
    cdef CompiledFunction function
    cdef int k
    entry.bind(x, count, keywords, slot)
    model = <object> slot[0]
    if entry.inertias_at >= 0 and slot[entry.inertias_at] != <PyObject *> None:
        model = general.with_inertias(model, <object> slot[entry.inertias_at])
    for k in range(entry.inputs):
        arrays[k] = slot[entry.input_at[k]]
    out = None if entry.out_at < 0 else <object> slot[entry.out_at]
    threads = <object> slot[entry.threads_at]
    function = entry.find(model, slot)
    if function is not None:
        returned = function.run(arrays, out, threads)
    if returned is None:
        returned = general.general_path(
            entry, model, tuple([<object> slot[entry.option_at[k]] for k in range(entry.options)]),
            tuple([<object> arrays[k] for k in range(entry.inputs)]), out, threads)
    return returned


entry_call = <EntryCall> <void *> call
