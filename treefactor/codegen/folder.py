"""Write folders of generated C that compile by themselves and compare results with reference values."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from pathlib import Path

import numpy as np

from ..exceptions import CodegenError
from .algorithms.partition import OPEN as OPEN
from .algorithms.partition import sample_configurations
from .backends import numpy_
from .program import emit_c
from .program.names import CLOSURES, LOOP_FUNCTIONS, ORDER, PI, identifier

SUMS = "SHA256SUMS"
HEADER = "dynamics.h"  # header file, whose first line names the robot
MADE = (".o", ".a")  # suffixes of compiled files; also run_check
STATES = 8  # number of reference states

LEAST = 1e-12  # deviation always allowed
ROUNDINGS = 100  # relative rounding errors of the arguments that set the tolerance of a result


def write(model, program, folder, force: bool = False) -> None:
    """Write a program as C, with a Makefile and a check against results of NumPy, atomically.

    Parameters
    ----------
    model : Model
        Model of the program.
    program : Program
    folder : path-like
        New, empty, or written by this function for the same robot and unchanged.
    force : bool
        Also replace a folder of another robot, and files changed since.

    Raises
    ------
    CodegenError
        If the folder holds other files, or cannot be written; names the first such file.
    """
    if not program.nv:
        raise CodegenError(f"{program.model} has no joints that move: nothing to generate")
    write_texts(_texts(model, program), folder, force)


def write_texts(texts: dict[str, str], folder, force: bool = False) -> None:
    """Write files and their digests into a folder, atomically; see `write`."""
    folder, texts = Path(folder).resolve(), texts | {SUMS: _sums(texts)}
    try:
        _require_ours(folder, force)
        if not force and HEADER in texts:
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
    """Return the texts of all files by name."""
    texts = emit_c.sources(program)
    for name in ("check.c", "Makefile", "README.md"):
        texts[name] = (emit_c.SUPPORT / name).read_text(encoding="utf-8")
    texts["reference.h"] = _reference(model, program)
    return texts


def _sums(texts: dict[str, str]) -> str:
    """Return the digests of files, one per line."""
    return "".join(f"{_digest(text.encode())}  {name}\n" for name, text in texts.items())


def _digest(content: bytes) -> str:
    """Return the SHA-256 digest."""
    return sha256(content).hexdigest()


def _require_ours(folder: Path, force: bool) -> None:
    """Raise if a file would be lost that neither this module nor the compiler has written."""
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
    """Raise if a folder holds the program of another robot, named in the first line of its header."""
    header = folder / HEADER
    if not header.is_file():
        return
    old = header.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    new = text.partition("\n")[0]
    if old != new:
        old, new = (line.removeprefix("/* ").rstrip(".") for line in (old, new))
        raise CodegenError(
            f"cannot write {folder}: it holds another robot ({old}, not {new}); choose another "
            "folder, or replace it with --force (force=True)"
        )


def _reference(model, program) -> str:
    """Return reference.h: states, results of all functions, and tolerances from perturbed arguments."""
    rng = np.random.default_rng(0)
    values = {"q": _configurations(model, program, rng)}
    others = ORDER[1:]
    values |= dict(zip(others, rng.normal(size=(len(others), STATES, program.nv)), strict=True))
    if program.parameter_map is not None:
        values[PI] = _parameters(program, rng)
    functions = program.functions.values()
    used = {name for function in functions for name in _arguments(function)[: function.after_v + 1]}
    largest = max(function.output.size for function in functions)
    wide = max(program.nv, *map(_size_of_u, functions))
    lines = [f"enum {{ NQ = {program.nq}, NV = {program.nv}, LARGEST = {largest}, LARGEST_U = {wide} }};", ""]
    lines += [_array(name, values[name]) for name in values if name in used]
    cases = []
    for function in functions:
        names = _arguments(function)
        expected = numpy_.evaluate(function, *(values[name] for name in names))
        moved = numpy_.evaluate(function, *(_moved(values[name], rng) for name in names))
        scale = np.abs(expected).max() or 1.0
        tolerance = max(LEAST, ROUNDINGS * np.abs(moved - expected).max() / scale)
        name = identifier(function.name)
        lines.append(_array(f"{name}_expected", expected.reshape(STATES, -1)))
        v, after = "v" if "v" in names else "NULL", names[function.after_v :]
        u = after[0] if after else "NULL"
        if len(after) > 1:
            u = f"{name}_u"
            lines.append(_array(u, np.concatenate([values[x] for x in after], axis=1)))
        cases.append(
            f'    {{"{emit_c.plain(function.name)}", tf_{name}, tf_{name}_x8, {v}, {u}, '
            f"{name}_expected, {function.output.size}, {_size_of_u(function)}, "
            f"{tolerance:.1e}}},"
        )
    return "\n".join([*lines, "static const Case cases[] = {", *cases, "};", ""])


def _arguments(function) -> list[str]:
    """Return the names of the arguments of a function."""
    return [name for name, _ in function.inputs]


def _size_of_u(function) -> int:
    """Return the number of entries of the arguments that follow q and v."""
    return sum(size for _, size in function.inputs[function.after_v :])


def _parameters(program, rng) -> np.ndarray:
    """Return the inertial inputs of robots that are all heavier or lighter than the model, by any factor."""
    own, joints = program.parameter_map.model, 10 * len(program.parameter_map.joints)
    robots = own * rng.uniform(0.5, 2.0, (STATES, 1))
    return program.parameters(robots[:, :joints].reshape(STATES, -1, 10), robots[:, joints:])


def _configurations(model, program, rng) -> np.ndarray:
    """Return random configurations; with loops, one half closed and the others near closed ones."""
    dependent = None
    if set(program.functions) & {*LOOP_FUNCTIONS, *CLOSURES}:
        dependent = [k for k, name in enumerate(model.tree.names) if name not in program.independent]
    q = sample_configurations(model, dependent, rng, STATES, STATES // 2)
    for name in set(program.functions) & set(CLOSURES):
        is_closed = np.isfinite(numpy_.evaluate(program.functions[name], q)).all(axis=1)
        if not is_closed.any():
            raise CodegenError(f"{name}: no configuration was found that closes the loops on this branch")
        q[~is_closed] = q[is_closed][0]
    return q


def _moved(values: np.ndarray, rng) -> np.ndarray:
    """Return numbers changed by one rounding error."""
    return values * (1 + rng.choice([-1, 1], values.shape) * np.finfo(float).eps)


def _array(name: str, values: np.ndarray) -> str:
    """Return a C array, one line per row."""
    rows = (", ".join(map(repr, row)) for row in values.tolist())
    return f"static const double {name}[] = {{\n" + "".join(f"    {row},\n" for row in rows) + "};\n"
