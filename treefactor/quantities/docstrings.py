"""Write the docstring and the text signature of a public function from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill, indent

from .declaration import NEEDED, Array, Option, Quantity

WIDTH = 100
ROUNDED = "A single state and the same state in a batch may differ in their last bits."
INERTIAS = "inertias : Inertias or array_like, shape (..., njoints, 10), optional"
COMMON = {
    "num_threads": ("num_threads : int", "For batches; -1 uses all cores."),
    "inertias": (INERTIAS, "In the place of the model's: see `Inertias`."),
}
BATCHES = (
    "In a batch, configurations that are not finite or whose quaternions do not have unit length give NaN."
)


REFUSED = (
    ("ShapeError", "DtypeError", "NonFiniteError", "ConfigurationError"),
    "If an argument does not fit the model; ConfigurationError names the joint.",
)
REFUSED_WITHOUT_JOINTS = (REFUSED[0][:-1], "If an argument does not fit the model.")
REFUSED_ARRAYS = (
    ("ShapeError", "DtypeError", "NonFiniteError"),
    "If an argument or out has another shape or type, or the arguments of a single call are not finite.",
)


def docstring(quantity: Quantity) -> str:
    """Return the docstring of a public function, after the line that `inspect.signature` reads."""
    first = f"{quantity.name}($module, {', '.join(_parameters(quantity))})\n--\n\n"
    turns = any(array.role == "configuration" for array in quantity.inputs)
    refused = REFUSED if turns else REFUSED_WITHOUT_JOINTS if quantity.has_model else REFUSED_ARRAYS
    return f"{first}{text_of(quantity, COMMON, *refused)}\n"


def _parameters(quantity: Quantity) -> Iterator[str]:
    for name, default in quantity.arguments.items():
        if type(default) is tuple:  # `inspect.signature` drops the comma of a tuple of one
            default = list(default)
        yield name if default is NEEDED else f"{name}={default!r}"


def text_of(
    quantity: Quantity, common: dict[str, tuple[str, str]], kinds: tuple[str, ...], condition: str
) -> str:
    """Return a docstring; ``common`` has heads and texts of arguments, ``kinds`` are exceptions of all functions."""
    return "\n".join(_lines(quantity, common, kinds, condition)).rstrip()


def _lines(quantity: Quantity, common, kinds: tuple[str, ...], condition: str) -> Iterator[str]:
    yield quantity.summary
    if quantity.details:
        yield ""
        yield fill(quantity.details, WIDTH)
    yield from _section("Parameters")
    for name in quantity.arguments:
        head, text = common[name] if name in common else _parameter(quantity, name)
        yield head
        if text:
            yield _text(text)
    yield from _section("Returns")
    yield from _returned(quantity)
    yield from _section("Raises")
    if quantity.fails:
        yield "NotPositiveDefiniteError"
        yield _text(quantity.fails)
    for name, reason in quantity.errors:
        yield name
        yield _text(reason)
    own = [name for name, _ in quantity.errors]
    yield ", ".join(name for name in kinds if name not in own)
    yield _text(condition)
    chosen = [one for one in quantity.options if one.choices and one.kind != "axis"]
    conditions = [f"if the {one.name} is unknown" for one in chosen]
    if not quantity.mimic:
        conditions.append('if the model has mimic joints: use ``forward_dynamics(..., method="factor")``')
    conditions += quantity.invalid
    if conditions:
        yield "ValueError"
        yield _text(_sentence("; ".join(conditions)))
    yield from _notes(quantity)
    if quantity.examples:
        yield from _section("Examples")
        yield quantity.examples.strip("\n")


def _section(title: str) -> Iterator[str]:
    yield ""
    yield title
    yield "-" * len(title)


def _text(text: str) -> str:
    return indent(fill(text, WIDTH - 4), "    ")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}" + "." * (text[-1] != ".")


def _parameter(quantity: Quantity, name: str) -> tuple[str, str]:
    """Return the head and the text of the entry of an argument."""
    if name == "model":
        return "model : Model", "" if quantity.mimic else "Must not have mimic joints."
    if name == "out":
        if not quantity.gathered and len(quantity.results) > 1:
            text = f"Receives the result; {_on_request(quantity)} tuple of all."
            return "out : ndarray or tuple of ndarray, optional", text
        return f"out : {'tuple of ndarray' if quantity.gathered else 'ndarray'}, optional", (
            "Receives the result" + "s" * bool(quantity.gathered) + "."
        )
    for array in quantity.inputs:
        if array.name == name:
            optional = (", or None" if array.needed else ", optional") if array.optional else ""
            shapes = shape_text(array)
            if array.role == "direction":
                shapes += f" or {shape_text(array._replace(shape=('m', *array.shape)))}"
            return f"{name} : {array.type or 'array_like'}, shape {shapes}{optional}", _with_unit(array)
    option = next(one for one in quantity.options if one.name == name)
    return f"{name} : {option_type(option)}", option.text


def option_type(option: Option) -> str:
    """Return the type of an option as docstrings write it."""
    if option.type:
        return option.type
    if option.choices:
        names = "{" + ", ".join(f'"{one}"' for one in option.choices) + "}"
        return f"{names} or Pinocchio's enum" if option.kind == "reference" else names
    return "bool"


def shape_text(array: Array) -> str:
    """Return the shape of an array with its leading axes."""
    if array.shape[:1] == ("frames",):
        one = array._replace(shape=array.shape[1:])
        return f"{shape_text(one)} or {shape_text(one._replace(shape=('k', *one.shape)))}"
    return "(" + ", ".join(["...", *map(str, array.shape)]) + ")"


def _with_unit(array: Array) -> str:
    """Return the text about an array, with its unit."""
    if not (array.unit and array.axes):
        return array.axes or (f"{array.unit}." if array.unit else "")
    return f"{array.unit}. {array.axes}"


def _returned(quantity: Quantity) -> Iterator[str]:
    last = _counterparts(quantity), quantity.spoiled or BATCHES
    if not quantity.gathered:
        array, *others = quantity.results
        layouts = next((one.choices for one in quantity.options if one.name == "layout"), ())
        shapes = [shape_text(array)] + [f"(..., {array.packed})"] * ("packed" in layouts)
        shapes += [f"(blocks, {array.lanes or array.packed}, 8)"] * ("lanes" in layouts)
        shapes += [shape_text(array._replace(shape=("m", *array.shape)))] * (array.role == "direction")
        kind = array.type or ("ndarray" if array.shape else "float64 or ndarray")
        yield f"{kind}, shape {' or '.join([', '.join(shapes[:-1]), shapes[-1]] if shapes[1:] else shapes)}"
        asked = ""
        if others:
            together = ", ".join(one.name for one in quantity.results)
            asked = f"{_sentence(_on_request(quantity))[:-1]} tuple ({together})."
        yield _text(" ".join(filter(None, [_with_unit(array), asked, *last])))
        for other in others:
            yield f"ndarray, shape {shape_text(other)}"
            yield _text(f"{_with_unit(other)} If ``{other.when}``.")
        return
    yield quantity.gathered
    yield _text("Named tuple of" if quantity.gathered.isidentifier() else "With")
    for array in quantity.results:
        asked = f" If ``{array.when}``." if array.when else ""
        packed = f", packed (..., {array.packed}) or (blocks, {array.packed}, 8)" if array.packed else ""
        vectors = f" or {shape_text(array._replace(shape=('m', *array.shape)))}" * (array.role == "direction")
        yield _text(f"- {array.name}, shape {shape_text(array)}{vectors}{packed}: {_with_unit(array)}{asked}")
    yield _text(" ".join(filter(None, last)))


def _on_request(quantity: Quantity) -> str:
    """Return "with" and the flag that asks for a second result, and the article of what is returned then."""
    return f"with ``{quantity.results[1].when}`` a"


def _counterparts(quantity: Quantity) -> str:
    """Return the sentence that names what Pinocchio has."""
    names = []
    for one in (one for one in quantity.counterparts if "." not in one.name):
        name = f"``{one.result}`` after ``{one.name}``" if one.result else f"``{one.name}``"
        names.append(f"{name}{', ' + one.note if one.note else ''}")
    return f"Pinocchio's {' or '.join(names)}." if names else ""


def _notes(quantity: Quantity) -> Iterator[str]:
    rounded = ROUNDED * quantity.batch_rounds
    text = " ".join(filter(None, [quantity.source and f"{quantity.source}.", rounded, quantity.notes]))
    if text:
        yield from _section("Notes")
        yield fill(text, WIDTH)
