"""Apply functions to trajectories larger than memory, block by block, and write the results to a file."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ._util.files import replacing
from ._util.validation import as_array, as_count, available_cores, require_unmasked
from .exceptions import DtypeError, ShapeError, TreefactorError

ROWS = 4096  # a few MB for most robots
WAITING = 2  # blocks per core that are under way, and in memory


def stream(
    path,
    function: Callable[..., Any],
    *arguments: np.ndarray,
    rows: int = ROWS,
    executor: Executor | None = None,
    progress: bool = False,
    inertias=None,
) -> Any:
    """Write ``function(*arguments)`` to a file, a block of configurations at a time.

    Parameters
    ----------
    path : path-like, or tuple of path-likes
        An .npy file. It appears, or takes the place of an older one, when it is complete and on the disk. A
        function that returns several arrays needs a tuple of as many files.
    function : callable
        Of arrays with one leading axis: ``kernels.rnea``, ``functools.partial(tf.crba, model)``, with two
        files ``functools.partial(tf.rollout, model, h=0.01)`` ...
    *arguments : ndarray
        With leading axes of the same length; ``numpy.load(..., mmap_mode="r")`` gives such as do not fit
        into memory.
    rows : int
        Configurations in a block. Their number changes no result of a function that computes each alone.
    executor : concurrent.futures.Executor, optional
        Computes the blocks; this thread writes them in their order. Function and arrays must pickle if it has
        processes.
    progress : bool
        Show a bar on standard error.
    inertias : Inertias or array_like, shape (njoints, 10) or (rows, ..., njoints, 10), optional
        The function takes this argument by name: one set whole, a set for every row a block at a time.

    Returns
    -------
    numpy.memmap, or tuple of them
        The files, read-only.

    Raises
    ------
    ShapeError
        If arguments have no leading axis or differ in its length, or the function does not return a row for
        each of theirs.
    DtypeError, TypeError, ValueError
        If an argument, or a result of the function, has the wrong type or shape.
    TreefactorError
        If the file cannot be written. An older file stays; so it does if the function raises.

    Examples
    --------
    >>> import tempfile, treefactor as tf
    >>> tree = tf.families.chain(2)
    >>> H = np.eye(2) * np.arange(1.0, 6.0)[:, None, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     x = tf.stream(f"{folder}/x.npy", lambda H: tf.solve(H, tree, [1.0, 1.0]), H, rows=2)
    ...     print(x[:, 0].round(2))
    [1.   0.5  0.33 0.25 0.2 ]
    """
    paths, rows = _paths(path), as_count(rows, "rows", 1)
    if not callable(function):
        raise TypeError(f"function must be callable, got {function!r}")
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    for k, argument in enumerate(arguments):
        require_unmasked(argument, f"argument {k}")
        if not np.ndim(argument):
            raise ShapeError(f"argument {k} has no leading axis", (), ("rows", "..."))
    named = Named(inertias)
    lengths = {len(argument) for argument in (*arguments, *named.rows)}
    if len(lengths) != 1:
        raise ShapeError(f"arguments differ in length: {sorted(lengths)}", sorted(lengths))
    total = lengths.pop()
    blocks = [slice(at, min(at + rows, total)) for at in range(0, max(total, 1), rows)]
    with ExitStack() as stack:
        drafts = [stack.enter_context(replacing(one)) for one in paths]
        writers = [Writer(stack.enter_context(open(draft, "wb")), total) for draft in drafts]
        results = _results(function, arguments, named, blocks, executor)
        for block, result in zip(blocks, _shown(results, len(blocks), progress), strict=True):
            for writer, array in zip(writers, _parts(result, path, len(paths)), strict=True):
                writer.write(array, block.stop - block.start)
    arrays = tuple(np.load(one, mmap_mode="r") for one in paths)
    return arrays if isinstance(path, tuple) else arrays[0]


def _paths(path) -> list[Path]:
    """Return the paths of files; raise TreefactorError if one cannot be read back."""
    paths = [Path(one) for one in path] if isinstance(path, tuple) else [Path(path)]
    for one in paths:
        if one.exists() and not (one.is_file() or one.is_dir()):
            raise TreefactorError(
                f"cannot write {one}: not a regular file, and the result is read back from it"
            )
    if len({one.resolve() for one in paths}) < max(len(paths), 1):
        raise ValueError(f"path must be a file or a tuple of different files, got {path!r}")
    return paths


def _parts(result, path, count: int) -> tuple:
    """Return the arrays of a result, one for each file."""
    if not isinstance(path, tuple):
        if isinstance(result, tuple):
            raise ValueError(
                f"the function returned {len(result)} arrays: path must be a tuple of as many files"
            )
        return (result,)
    if not isinstance(result, tuple) or len(result) != count:
        got = f"{len(result)} arrays" if isinstance(result, tuple) else f"a {type(result).__name__}"
        raise ValueError(f"the function must return a tuple of {count} arrays, one for each file; got {got}")
    return result


class Writer:
    """Write an .npy file of blocks in their order.

    Parameters
    ----------
    file : file object
    total : int
        Length of the leading axis.
    """

    def __init__(self, file, total: int):
        self.file, self.total = file, total
        self.tail: tuple[tuple[int, ...], np.dtype] | None = None

    def write(self, result, rows: int) -> None:
        """Append a block of so many rows; the first one determines the type and the other axes."""
        block = np.asarray(as_array(result, "the function's result"), order="C")
        if block.dtype.hasobject:
            raise DtypeError(f"the function returned {block.dtype}, which no file holds", block.dtype)
        if self.tail is None:
            self.tail = block.shape[1:], block.dtype
            header = {"shape": (self.total, *block.shape[1:]), "fortran_order": False}
            descr = np.lib.format.dtype_to_descr(block.dtype)
            np.lib.format.write_array_header_1_0(self.file, {"descr": descr, **header})
        tail, dtype = self.tail
        expected = (rows, *tail)
        if block.shape != expected or block.dtype != dtype:
            raise ShapeError(
                f"the function returned {block.dtype} {block.shape}, expected {dtype} {expected}",
                block.shape,
                expected,
            )
        self.file.write(block.data)


class Named:
    """Arguments by name of the function, of one block at a time.

    Parameters
    ----------
    inertias : Inertias, array_like or None

    Attributes
    ----------
    rows : tuple
        The inertias, if every row has its own.
    """

    def __init__(self, inertias):
        require_unmasked(inertias, "inertias")
        self.inertias = inertias
        has_own = bool(inertias.batch) if hasattr(inertias, "part") else np.ndim(inertias) > 2
        self.rows = (inertias,) if has_own else ()

    def of(self, block: slice) -> dict[str, Any]:
        """Return the arguments of a block."""
        if self.inertias is None:
            return {}
        if not self.rows:
            return {"inertias": self.inertias}
        part = self.inertias.part(block) if hasattr(self.inertias, "part") else self.inertias[block]
        return {"inertias": part}


def _results(
    function, arguments, named: Named, blocks: list[slice], executor: Executor | None
) -> Iterator[np.ndarray]:
    """Yield the results of the blocks in their order; a few blocks are computed ahead."""
    if executor is None:
        for block in blocks:
            yield function(*(argument[block] for argument in arguments), **named.of(block))
        return
    shipped = ship(function)
    waiting: deque[Future] = deque()
    try:
        for block in blocks:
            given = (argument[block] for argument in arguments)
            waiting.append(executor.submit(call, shipped, *given, **named.of(block)))
            if len(waiting) > WAITING * available_cores():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _shown(results: Iterator, total: int, progress: bool) -> Iterator:
    """Return the results, with a progress bar if wanted."""
    if not progress:
        return results
    from rich.console import Console
    from rich.progress import track

    return iter(track(results, "", total, console=Console(stderr=True)))


def ship(function: Callable) -> bytes:
    """Return a function pickled for other processes."""
    return pickle.dumps(function)


def call(shipped: bytes, *arguments, **named):
    """Call a pickled function; each process unpickles, and compiles, it once."""
    return _received(shipped)(*arguments, **named)


@lru_cache(maxsize=8)
def _received(shipped: bytes) -> Callable:
    return pickle.loads(shipped)
