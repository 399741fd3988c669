"""Types of the entries of the table: a public quantity, its arguments, results and options."""

from __future__ import annotations

from typing import NamedTuple

NEEDED = ...  # in the place of a default


class Array(NamedTuple):
    """An argument or a result, for one configuration; leading axes are a batch.

    Attributes
    ----------
    name : str
    shape : tuple of str or int
        Axes: numbers, or names of numbers such as nq, nv, njoints, nnz.
    unit : str
        Of results also their meaning.
    axes : str
        Axes, order and sign, as a sentence; in the docstring after the shape.
    role : {"vector", "configuration", "direction", "number"}
        A direction may have an axis more than the state, for several vectors of every state.
    type : str
        In the docstring and for type checkers, if it is not that of any array.
    default : object
        Value of an argument that is not given.
    optional : bool
        Whether an argument may be None.
    packed : str
        Entries of a result in the layouts "packed" and "lanes", if it has them.
    when : str
        Flag that asks for this result; always there if empty.
    """

    name: str
    shape: tuple[str | int, ...] = ()
    unit: str = ""
    axes: str = ""
    role: str = "vector"
    optional: bool = False
    packed: str = ""
    when: str = ""
    type: str = ""
    default: object = NEEDED


class Option(NamedTuple):
    """An argument that chooses what is computed.

    Attributes
    ----------
    name : str
    choices : tuple of str, int or None
        The first is the default. Empty for other kinds.
    kind : {"choice", "flag", "key"}
        A key is any object that `read` of the quantity's kernel makes hashable.
    text : str
        For the docstring.
    default : object
        Of a key.
    type : str
        Of a key or of choices that are not all strings, in the docstring and for type checkers.
    """

    name: str
    choices: tuple[str | int | None, ...] = ()
    kind: str = "choice"
    text: str = ""
    default: object = None
    type: str = ""

    @property
    def default_value(self) -> object:
        """Value that the option has if it is not given."""
        if self.kind == "choice":
            return self.choices[0]
        return False if self.kind == "flag" else self.default


class Counterpart(NamedTuple):
    """What to call in Pinocchio for the same quantity.

    Attributes
    ----------
    name : str
        Function of Pinocchio.
    result : str
        Where the result is, if it is not what the function returns: "data.nle".
    note : str
        How it differs.
    """

    name: str
    result: str = ""
    note: str = ""


class Derivative(NamedTuple):
    """Names of a quantity's products with its derivatives, or of the quantity that it is a case of."""

    jvp: str = ""
    vjp: str = ""
    hvp: str = ""
    case_of: str = ""


class Quantity(NamedTuple):
    """Declaration of a public quantity.

    Attributes
    ----------
    name : str
    summary : str
        First line of the docstring.
    inputs, results : tuple of Array
    kernel : str
        "module:class" of its compiled function, imported at the first call; relative to the package.
    options : tuple of Option
    parameters : tuple of str
        Order of arguments, where it is not inputs, options, ``out``; ``num_threads`` and ``inertias`` follow.
    inertias : bool
        Whether it depends on inertial parameters, and so takes the argument ``inertias``.
    fails : str
        When single calls raise NotPositiveDefiniteError.
    mimic : bool
        Whether models with mimic joints are supported.
    bound : bool
        Whether `bind` accepts it.
    has_out : bool
        Whether it takes the argument ``out``.
    gathered : str
        Type of the tuple that holds several results, in the docstring and for type checkers.
    invalid : str
        Sentence on configurations of a batch that are not valid, in the place of the usual one.
    derivative : Derivative, optional
    program : str
        Routine of `treefactor.generate`; empty: cannot be generated.
    counterparts : tuple of Counterpart
    oracle : str
        "module:function" below tests that computes the same in another way.
    source : str
        Author, year and place in the source.
    notes : str
        Further notes of the docstring.
    examples : str
        Doctest.
    details : str
        Paragraph of the docstring after the summary.
    module : str
        Public module of the function.
    """

    name: str
    summary: str
    inputs: tuple[Array, ...]
    results: tuple[Array, ...]
    kernel: str
    options: tuple[Option, ...] = ()
    parameters: tuple[str, ...] = ()
    inertias: bool = False
    fails: str = ""
    mimic: bool = True
    bound: bool = True
    has_out: bool = True
    gathered: str = ""
    invalid: str = ""
    derivative: Derivative | None = None
    program: str = ""
    counterparts: tuple[Counterpart, ...] = ()
    oracle: str = ""
    source: str = ""
    notes: str = ""
    examples: str = ""
    details: str = ""
    module: str = "treefactor"

    @property
    def arguments(self) -> dict[str, object]:
        """Names of all arguments in their order, with their defaults; those without have `NEEDED`."""
        defaults: dict[str, object] = {one.name: None if one.optional else one.default for one in self.inputs}
        defaults |= {one.name: one.default_value for one in self.options}
        defaults |= {"out": None} if self.has_out else {}
        order = self.parameters or tuple(defaults)
        arguments = {"model": NEEDED} | {name: defaults[name] for name in order} | {"num_threads": 1}
        return arguments | {"inertias": None} if self.inertias else arguments
