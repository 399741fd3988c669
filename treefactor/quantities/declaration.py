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
        Axes: numbers, or names of numbers such as nq, nv, njoints, nnz. "frames" is there for lists of them only.
    unit : str
        Of results also their meaning.
    axes : str
        Axes, order and sign, as a sentence; in the docstring after the shape.
    role : {"vector", "configuration", "direction", "number", "series"}
        A direction may have an axis more than the state, for several vectors of every state. The first axis of
        a series is that of steps; where their number is given instead, it has no such axis.
    type : str
        In the docstring and for type checkers, if it is not that of any array.
    default : object
        Value of an argument that is not given.
    optional : bool
        Whether an argument may be None, which is its default.
    needed : bool
        Whether an optional argument has no default, so that None must be passed.
    packed : str
        Entries of a result in the layout "packed", if it has that.
    lanes : str
        Entries in the layout "lanes", where they are not those of "packed".
    when : str
        Option that asks for this result; always there if empty.
    """

    name: str
    shape: tuple[str | int, ...] = ()
    unit: str = ""
    axes: str = ""
    role: str = "vector"
    optional: bool = False
    needed: bool = False
    packed: str = ""
    lanes: str = ""
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
    kind : {"choice", "reference", "flag", "frame", "key", "number", "count", "presence", "axis"}
        A reference may also be given by Pinocchio's enum. Frames and keys have no choices: models keep the
        compiled functions of a bounded number of them; a key is any object that `read` makes hashable. A
        number is an argument of the compiled function, the same for all of a batch. A count is the number of
        steps of series. A presence says whether the optional argument of this name is given. An axis is no
        argument: it is the length of the last axis of the array that has this name for it.
    text : str
        For the docstring.
    default : object
        Of a flag, a frame or a key.
    type : str
        Of a frame, a key or choices that are not all strings, in the docstring and for type checkers.
    read : str
        "module:function" that returns the valid value of a key, or raises; imported when first needed.
    """

    name: str
    choices: tuple[str | int | None, ...] = ()
    kind: str = "choice"
    text: str = ""
    default: object = None
    type: str = ""
    read: str = ""

    @property
    def default_value(self) -> object:
        """Value that the option has if it is not given."""
        if self.choices:
            return self.choices[0]
        return bool(self.default) if self.kind == "flag" else self.default


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


def of_wrapper(*methods: str) -> tuple[Counterpart, ...]:
    """Return methods of Pinocchio's RobotWrapper; they have our arguments, without the model."""
    return tuple(Counterpart(f"RobotWrapper.{name}") for name in methods)


class Timed(NamedTuple):
    """A line of the page *From Pinocchio to treefactor*: what Pinocchio has, and its call that is timed.

    Attributes
    ----------
    call : str
        Simple statements of Pinocchio's Python, separated by semicolons; empty: not timed. Variables are those
        of docs/code/pinocchio_declared.py.
    names : str
        Pinocchio's names, separated by commas, if they are not that of the first counterpart alone.
    what : str
        Name of the measurement, if it is not the first of the names.
    ours : str
        Our call, if it is not that with the arguments that are needed.
    note, convention : str
        Text of the page, with code between backticks: what differs; axes, order and sign.
    shape : str
        Of our result, if it is not that of the results that are always there.
    """

    call: str = ""
    names: str = ""
    what: str = ""
    ours: str = ""
    note: str = ""
    convention: str = ""
    shape: str = ""


class Generated(NamedTuple):
    """How `treefactor.generate` writes a quantity, or one of its results.

    Attributes
    ----------
    group : {"dynamics", "reactions", "geometry", "kinematics", "derivatives", "frames"}
        Functions of the dynamics can take inertial parameters as inputs; reactions need the mass of every body;
        masses do not change functions of geometry and of frames, and those of frames have a frame in their name.
    text : str
        Meaning of the result, in the generated C.
    name : str
        Name in programs, if it is not that of the quantity.
    result : str
        Name of the result, if it is not all that are always there.
    methods : tuple of str
        Ways to compute it, if there are several; the cheapest is kept.
    """

    group: str
    text: str
    name: str = ""
    result: str = ""
    methods: tuple[str, ...] = ()


class Derivative(NamedTuple):
    """Where products with the derivatives of a quantity come from; JAX and PyTorch have all quantities with one.

    Attributes
    ----------
    jvp, vjp, hvp : str
        Functions of treefactor that compute the products.
    case_of : str
        Quantity of which it is a case: it has the arguments of the same names, and zeros for the others.
    acceleration : str
        Argument in the place of the acceleration of that quantity, which then is without gravity.
    rule : str
        "module:class" that computes the products for JAX and PyTorch; imported when first needed.
    options : tuple of str
        Options that JAX and PyTorch have; the others keep their defaults.
    notes : str
        Of the functions of JAX and PyTorch.
    """

    jvp: str = ""
    vjp: str = ""
    hvp: str = ""
    case_of: str = ""
    acceleration: str = ""
    rule: str = "adapters._rules:Products"
    options: tuple[str, ...] = ()
    notes: str = ""


class Quantity(NamedTuple):
    """Declaration of a public quantity.

    Attributes
    ----------
    name : str
    summary : str
        First line of the docstring.
    inputs, results : tuple of Array
    kernel : str
        "module:class" of its compiled function, imported at the first call; relative to the package. In place
        of a class, which takes a model and the options, there may be a function of the model, the name of the
        quantity and the options by name.
    options : tuple of Option
    parameters : tuple of str
        Order of arguments, where it is not inputs, options, ``out``; ``num_threads`` and ``inertias`` follow.
    inertias : bool
        Whether it depends on inertial parameters, and so takes the argument ``inertias``.
    fails : str
        When single calls raise NotPositiveDefiniteError.
    errors : tuple of pairs of str
        Further exceptions, and when they are raised.
    mimic : bool
        Whether models with mimic joints are supported.
    bound : bool
        Whether `bind` accepts it.
    has_model, has_out, has_threads : bool
        Whether it takes a model before all other arguments, and the arguments ``out`` and ``num_threads``.
    gathered : str
        Type of the tuple that holds several results, in the docstring and for type checkers; empty where
        results but the first are there on request only.
    invalid : tuple of str
        When ValueError is raised, besides choices that there are not.
    batch_rounds : bool
        Whether a batch may change the last bits of a result; declared for the dynamics only.
    spoiled : str
        Sentence on configurations of a batch that are not valid, in the place of the usual one.
    derivative : Derivative, optional
    generated : tuple of Generated
        Functions of `treefactor.generate`.
    counterparts : tuple of Counterpart
    timed : tuple of Timed
        In turns with Pinocchio.
    other_names : str
        By which people look for it, besides counterparts, separated by commas: in errors about unknown names,
        where capitals, underscores and spaces do not matter, and in the search of the pages.
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
    section : str
        Of the documentation, if it is not that of the module with the declaration.
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
    errors: tuple[tuple[str, str], ...] = ()
    mimic: bool = True
    bound: bool = True
    has_model: bool = True
    has_out: bool = True
    has_threads: bool = True
    gathered: str = ""
    invalid: tuple[str, ...] = ()
    batch_rounds: bool = False
    spoiled: str = ""
    derivative: Derivative | None = None
    generated: tuple[Generated, ...] = ()
    counterparts: tuple[Counterpart, ...] = ()
    timed: tuple[Timed, ...] = ()
    other_names: str = ""
    oracle: str = ""
    source: str = ""
    notes: str = ""
    examples: str = ""
    details: str = ""
    module: str = "treefactor"
    section: str = ""

    @property
    def key(self) -> str:
        """Name in the table: operations on arrays have that of their group before it, as in "se3.exp"."""
        return self.name if self.has_model else f"{self.module.rpartition('.')[2]}.{self.name}"

    @property
    def given(self) -> tuple[Array, ...]:
        """Arguments of the compiled function: all inputs, then numbers."""
        numbers = (Array(one.name, role="number") for one in self.options if one.kind == "number")
        return (*self.inputs, *numbers)

    @property
    def choosing(self) -> tuple[Option, ...]:
        """Options that choose the compiled function."""
        return tuple(one for one in self.options if one.kind != "number")

    @property
    def arguments(self) -> dict[str, object]:
        """Names of all arguments in their order, with their defaults; those without have `NEEDED`."""
        defaults: dict[str, object] = {
            one.name: None if one.optional and not one.needed else one.default for one in self.inputs
        }
        defaults |= {one.name: one.default_value for one in self.options if one.kind != "axis"}
        defaults |= {"out": None} if self.has_out else {}
        order = self.parameters or tuple(defaults)
        arguments: dict[str, object] = {"model": NEEDED} if self.has_model else {}
        arguments |= {name: defaults[name] for name in order}
        arguments |= {"num_threads": 1} if self.has_threads else {}
        return arguments | {"inertias": None} if self.inertias else arguments
