"""Folders of generated C that compile by themselves, with reference values to compare with."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np

from ..exceptions import CodegenError
from ..model.configuration import integrate, random_configuration
from .algorithms.partition import regular
from .backends import numpy_
from .program import emit_c
from .program.program import LOOP_FUNCTIONS

SUMS = "SHA256SUMS"
HEADER = "dynamics.h"  # whose first line names the robot
MADE = (".o", ".a")  # what compiling leaves behind, besides run_check
STATES = 8
OPEN = 0.1  # steps away from closed loops, in m and radian
LEAST = 1e-12  # deviation that is always allowed
ROUNDINGS = 100  # ones of the arguments that a result may be off by


def write(model, program, folder, force: bool = False) -> None:
    """Write a program as C, with a Makefile and a check against what NumPy computes, all at once.

    Parameters
    ----------
    model : Model
        Of the program.
    program : Program
    folder : path-like
        New, empty, or written by this function for the same robot and not changed since.
    force : bool
        Also replace what was written for another robot, and files that were changed since.

    Raises
    ------
    CodegenError
        Where the folder holds anything else, or cannot be written; names the first such file.
    """
    if not program.nv:
        raise CodegenError(f"{program.model} has no joints that move: there is nothing to generate")
    folder = Path(folder).resolve()
    texts = _texts(model, program)
    try:
        _require_ours(folder, force)
        if not force:
            _require_same_robot(folder, texts[HEADER])
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as draft:
            new, old = Path(draft, "new"), Path(draft, "old")
            new.mkdir()
            for name, text in texts.items():
                (new / name).write_text(text, encoding="utf-8")
            if folder.exists():
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if old.exists():
                    old.rename(folder)
                raise
    except OSError as error:
        raise CodegenError(f"cannot write {folder}: {error.strerror}") from error


def _texts(model, program) -> dict[str, str]:
    """Texts of all files by name."""
    texts = emit_c.sources(program)
    for name in ("check.c", "Makefile", "README.md"):
        texts[name] = (emit_c.SUPPORT / name).read_text(encoding="utf-8")
    texts["reference.h"] = _reference(model, program)
    return texts | {SUMS: "".join(f"{_digest(text.encode())}  {name}\n" for name, text in texts.items())}


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _require_ours(folder: Path, force: bool) -> None:
    """Raise where anything would be lost that this module, or compiling, has not written."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise CodegenError(f"cannot write {folder}: it is not a folder")
    sums = folder / SUMS
    lines = sums.read_text(encoding="utf-8", errors="replace").splitlines() if sums.is_file() else []
    known = {line[66:]: line[:64] for line in lines} | {SUMS: None}
    for path in folder.iterdir():
        made = path.name == "run_check" or path.suffix in MADE
        if path.is_symlink() or not path.is_file():
            raise CodegenError(f"cannot write {folder}: {path.name} in it was not generated")
        if lines and made:
            continue
        if path.name not in known:
            raise CodegenError(f"cannot write {folder}: {path.name} in it was not generated")
        if not force and known[path.name] not in (None, _digest(path.read_bytes())):
            raise CodegenError(
                f"cannot write {folder}: {path.name} in it was changed; --force (force=True) replaces it"
            )


def _require_same_robot(folder: Path, text: str) -> None:
    """Raise where a folder holds the program of another robot, which the first line of its header names."""
    header = folder / HEADER
    if not header.is_file():
        return
    old = header.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    new = text.partition("\n")[0]
    if old != new:
        old, new = (line.removeprefix("/* ").rstrip(".") for line in (old, new))
        raise CodegenError(
            f"cannot write {folder}: it holds another robot ({old}, not {new}); name another folder, "
            "or replace it with --force (force=True)"
        )


def _reference(model, program) -> str:
    """States, what the functions make of them, and how much another order of rounding may change that."""
    rng = np.random.default_rng(0)
    given = {"q": _configurations(model, program, rng)}
    given |= dict(zip(("v", "a", "tau"), rng.normal(size=(3, STATES, program.nv)), strict=True))
    functions = program.functions.values()
    used = [name for name in given if any(name in dict(function.inputs) for function in functions)]
    largest = max(function.output.size for function in functions)
    lines = [f"enum {{ NQ = {program.nq}, NV = {program.nv}, LARGEST = {largest} }};", ""]
    lines += [_array(name, given[name]) for name in used]
    cases = []
    for function in functions:
        names = [name for name, _ in function.inputs]
        expected = numpy_.evaluate(function, *(given[name] for name in names))
        moved = numpy_.evaluate(function, *(_moved(given[name], rng) for name in names))
        scale = np.abs(expected).max() or 1.0
        tolerance = max(LEAST, ROUNDINGS * np.abs(moved - expected).max() / scale)
        lines.append(_array(f"{function.name}_expected", expected.reshape(STATES, -1)))
        v, u = [*names, "NULL", "NULL"][1:3]
        cases.append(
            f'    {{"{function.name}", tf_{function.name}, tf_{function.name}_x8, {v}, {u}, '
            f"{function.name}_expected, {function.output.size}, {tolerance:.1e}}},"
        )
    return "\n".join([*lines, "static const Case cases[] = {", *cases, "};", ""])


def _configurations(model, program, rng) -> np.ndarray:
    """Random configurations; of a program that closes loops one half closed, the others near closed ones."""
    if not set(program.functions) & set(LOOP_FUNCTIONS):
        return random_configuration(model, rng, size=STATES)
    follow = tuple(k for k, name in enumerate(model.tree.names) if name not in program.independent)
    step = rng.normal(scale=OPEN, size=(STATES, program.nv))
    step[: STATES // 2] = 0.0
    return integrate(model, regular(model, follow, STATES), step)


def _moved(values: np.ndarray, rng) -> np.ndarray:
    """Numbers a rounding away."""
    return values * (1 + rng.choice([-1, 1], values.shape) * np.finfo(float).eps)


def _array(name: str, values: np.ndarray) -> str:
    """Rows of numbers."""
    rows = (", ".join(map(repr, row)) for row in values.tolist())
    return f"static const double {name}[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n"
