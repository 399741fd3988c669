"""Read columns of measurements from text and NumPy files, and match them with the joints of a model."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np

from .._util.messages import similar
from ..exceptions import TreefactorError
from ..model.model import Model
from ._coordinates import coordinate_names, entry_names

WORDS = {  # first words of columns, in lower case
    "t": ("t", "ts", "time", "timestamp", "stamp", "seconds"),
    "q": ("q", "pos", "position"),
    "v": ("v", "qd", "dq", "vel", "velocity"),
    "a": ("a", "qdd", "ddq", "acc", "acceleration"),
    "tau": ("tau", "torque", "effort"),
}
KIND = {word: kind for kind, words in WORDS.items() for word in words}
UNITS = {"", "s", "rad", "rad/s", "rad/s^2", "rad/s2", "rad/s²", "m", "m/s", "m/s^2", "m/s2", "m/s²"} | {
    *("n", "nm", "n m", "n*m", "n·m", "n.m")
}
COLUMN = re.compile(r"([a-z]+)(?:[_ .:/]+(.+)|\[?(\d+)\]?)", re.IGNORECASE | re.DOTALL)
WITH_UNIT = re.compile(r"(.*?)\s*(?:\[([^\]\d][^\]]*)\]|\(([^)\d][^)]*)\))", re.DOTALL)
EXPECTED = "expected a header such as `t, q_elbow, v_elbow, tau_elbow` or `t, q0, q1, tau0, tau1`"
DAMAGED = (ValueError, TypeError, EOFError, KeyError, SyntaxError, TokenError)  # errors of `numpy.load`
SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tabulator", None: "spaces"}


@dataclass
class Recording:
    """Arrays of a file by kind ("t", "q", "v", "a", "tau"); columns of missing freedoms hold NaN.

    ``place`` returns the words for a sample in errors, ``notes`` says what was left out.
    """

    arrays: dict[str, np.ndarray]
    place: str = "row"
    lines: Sequence[int] | None = None
    notes: tuple[str, ...] = ()

    def where(self, sample: int) -> str:
        """Return the words for a sample: "line 7" of a text, "row 5" of arrays."""
        return f"{self.place} {sample if self.lines is None else self.lines[sample]}"


def read_recording(path, model: Model) -> Recording:
    """Read a file of measurements: NumPy's if its name ends in .npz, else text."""
    path = Path(path)
    try:
        return _read_arrays(path, model) if path.suffix.lower() == ".npz" else _read_text(path, model)
    except OSError as error:
        raise TreefactorError(f"cannot read {path}: {error.strerror or error}") from None


def _read_arrays(path: Path, model: Model) -> Recording:
    """Return the arrays of an .npz file."""
    from zipfile import BadZipFile

    from numpy.lib.npyio import NpzFile

    try:
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if not isinstance(file, NpzFile):
                raise ValueError("it holds one array, not several with names")
            names = [name for name in file.files if name in KIND]
            arrays = {KIND[name]: np.asarray(file[name]) for name in names}
            contents = ", ".join(file.files)
    except (*DAMAGED, BadZipFile, zlib.error) as error:
        raise TreefactorError(f"cannot read {path}: {error}") from None
    if len(arrays) < len(names):
        raise TreefactorError(f"{path}: two of the arrays {', '.join(names)} hold the same")
    for kind in ("q", "tau"):
        if kind not in arrays:
            raise TreefactorError(f"{path}: expected the arrays t, q, v (optional) and tau, found {contents}")
    for kind, array in arrays.items():
        if array.dtype.kind not in "fiu":
            raise TreefactorError(f"{path}: {kind} has the dtype {array.dtype}, expected real numbers")
        arrays[kind] = array.astype(float)
    return Recording(arrays)


def _read_text(path: Path, model: Model) -> Recording:
    """Return the columns of a text with a header."""
    lines = _lines(path)
    if not lines:
        raise TreefactorError(f"{path}: it is empty; {EXPECTED}")
    first, header = lines[0]
    separator = max((",", ";", "\t"), key=header.count)
    separator = separator if separator in header else None
    titles = [title.strip() for title in _cells(header.lstrip("#").strip(), separator)]
    place = f"{path}, line {first}"
    meanings = [_meaning(place, title) for title in titles]
    used = [k for k, (kind, _) in enumerate(meanings) if kind]
    values = _values(path, lines[1:], separator, titles, used)
    arrays, left_out = _assigned(place, titles, meanings, values, model)
    notes = (f"columns left out: {', '.join(left_out)}",) if left_out else ()
    return Recording(arrays, "line", [number for number, _ in lines[1:]], notes)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the numbers and texts of the header, which may begin with #, and of the lines below it.

    Blank lines and other lines that begin with # are left out.
    """
    from .._util.xml import numbers

    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise TreefactorError(f"cannot read {path}: it is not a text in UTF-8 ({error.reason})") from None
    filled = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    rest = [(number, line) for number, line in filled if not line.startswith("#")]
    above = filled[: filled.index(rest[0])] if rest else filled
    starts_with_number = rest and numbers(re.split(r"[,;\s]", rest[0][1].strip(), maxsplit=1)[0].strip('"'))
    return above[-1:] + rest if starts_with_number or not rest else rest


def _cells(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line."""
    if separator is None:
        return line.split()
    import csv

    return next(csv.reader([line], delimiter=separator, skipinitialspace=True))


def _values(path: Path, lines: Sequence[tuple[int, str]], separator, titles: list[str], used: list[int]):
    """Return the numbers of all lines; raise TreefactorError that names line and column of a fault.

    Columns that are not used may hold anything.
    """
    from .._util.xml import numbers

    if not lines:
        raise TreefactorError(f"{path}: no line follows the header")
    try:
        values = np.loadtxt(
            [line for _, line in lines], delimiter=separator, comments=None, ndmin=2, quotechar='"'
        )
        if values.shape[1] == len(titles) and np.isfinite(values[:, used]).all():
            return values
    except ValueError:
        pass
    table = np.full((len(lines), len(titles)), np.nan)
    for row, (number, line) in zip(table, lines, strict=True):
        cells = _cells(line, separator)
        if len(cells) != len(titles):
            raise TreefactorError(
                f"{path}, line {number}: expected {len(titles)} cells as in the header, separated by "
                f"{SEPARATORS[separator]}, found {len(cells)}"
            )
        for k in used:
            title, cell = titles[k], cells[k]
            value = numbers(cell)
            if value is None or len(value) != 1 or not np.isfinite(value[0]):
                hint = "; decimal commas are not read" if re.fullmatch(r"\s*-?\d+,\d+\s*", cell) else ""
                raise TreefactorError(
                    f"{path}, line {number}, column {title!r}: expected a finite number, got {cell!r}{hint}"
                )
            row[k] = value[0]
    return table


def _assigned(place: str, titles: list[str], meanings, values: np.ndarray, model: Model):
    """Return arrays by kind, and the titles that belong to nothing in the model."""
    columns: dict[str, dict[str, int]] = {}
    left_out = []
    for k, (title, (kind, name)) in enumerate(zip(titles, meanings, strict=True)):
        if kind is None:
            left_out.append(title)
        elif columns.setdefault(kind, {}).setdefault(name, k) != k:
            raise TreefactorError(f"{place}: two columns hold {kind} of {name or 'the samples'!r}: {title!r}")
    arrays = {}
    if "t" in columns:
        arrays["t"] = values[:, columns.pop("t")[""]]
    for kind, by_name in columns.items():
        names = [coordinate_names(model), entry_names(model)] if kind == "q" else [list(model.tree.names)]
        arrays[kind], unknown = _matched(place, kind, by_name, names, values)
        left_out += [titles[k] for k in unknown]
    for kind in ("q", "tau"):
        if kind not in arrays:
            raise TreefactorError(f"{place}: no column of {kind}; {EXPECTED}")
    return arrays, left_out


def _meaning(place: str, title: str) -> tuple[str | None, str]:
    """Return the kind of a column and the name or number in its title; (None, "") for other columns."""
    if unit := WITH_UNIT.fullmatch(title):
        title, written = unit[1], (unit[2] or unit[3] or "").strip()
        if KIND.get(re.split(r"[_ .:/\d\[]", title.lower())[0]) and written.lower() not in UNITS:
            raise TreefactorError(
                f"{place}, column {title!r}: the unit is {written!r}, expected s, rad, rad/s, N m, or m and N"
            )
    if title.lower().removesuffix("_s") in WORDS["t"]:
        return "t", ""
    parts = COLUMN.fullmatch(title)
    kind = KIND.get(parts[1].lower()) if parts else None
    return (None, "") if kind in (None, "t") else (kind, parts[2] or parts[3])


def _matched(place: str, kind: str, columns: dict[str, int], layouts: list[list[str]], values: np.ndarray):
    """Return the columns of one kind in the order of the model, and the numbers of those left out.

    ``columns`` maps names or numbers to columns; the first layout that they fill is taken.
    """
    for names in layouts:
        wanted = dict(columns) if set(names) & set(columns) else _by_number(columns, names)
        if wanted is not None and all(name in wanted for name in names):
            unknown = [k for name, k in wanted.items() if name not in names]
            return values[:, [wanted[name] for name in names]], unknown
    names = layouts[0]
    if kind == "tau" and set(names) & set(columns):  # the base of a robot has no motor
        taken = [values[:, columns[n]] if n in columns else np.full(len(values), np.nan) for n in names]
        if all(n in columns or n.endswith("]") for n in names):
            return np.column_stack(taken), [k for name, k in columns.items() if name not in names]
    numbered = all(name.strip("[]").isdigit() for name in columns)
    if numbered:
        raise TreefactorError(
            f"{place}: expected {len(names)} columns {kind}0 to {kind}{len(names) - 1}, found {len(columns)}"
        )
    missing = next(name for name in names if name not in columns)
    raise TreefactorError(f"{place}: no column of {kind} of joint {missing!r}{similar(missing, columns)}")


def _by_number(numbered: dict[str, int], names: list[str]) -> dict[str, int] | None:
    """Return columns numbered from 0 or from 1 by name; None unless they are these."""
    if not all(name.strip("[]").isdigit() for name in numbered):
        return None
    columns = {int(name.strip("[]")): k for name, k in numbered.items()}
    first = min(columns)
    if first > 1 or sorted(columns) != list(range(first, first + len(names))):
        return None
    return {name: columns[first + i] for i, name in enumerate(names)}
