"""Apply functions to trajectories larger than memory, block by block, and write the results to a file."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from functools import lru_cache
from pathlib import Path

import numpy as np

from ._util.files import replacing
from ._util.validation import as_array, as_count, available_cores, require_unmasked
from .exceptions import DtypeError, ShapeError, TreefactorError

ROWS = 4096  # a few MB for most robots
WAITING = 2  # blocks per core that are under way, and in memory


def stream(
    path,
    function: Callable[..., np.ndarray],
    *arguments: np.ndarray,
    rows: int = ROWS,
    executor: Executor | None = None,
    progress: bool = False,
) -> np.memmap:
    """Write ``function(*arguments)`` to a file, a block of configurations at a time.

    Parameters
    ----------
    path : path-like
        An .npy file. It appears, or takes the place of an older one, when it is complete and on the disk.
    function : callable
        Of arrays with one leading axis: ``kernels.rnea``, ``functools.partial(tf.crba, model)`` ...
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

    Returns
    -------
    numpy.memmap
        The file, read-only.

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
    ...     found = tf.stream(f"{folder}/x.npy", lambda H: tf.solve(H, tree, [1.0, 1.0]), H, rows=2)
    ...     print(found[:, 0].round(2))
    [1.   0.5  0.33 0.25 0.2 ]
    """
    path, rows = Path(path), as_count(rows, "rows", 1)
    if not callable(function):
        raise TypeError(f"function must be callable, got {function!r}")
    if executor is not None and not isinstance(executor, Executor):
        raise TypeError(f"executor must be a concurrent.futures.Executor, got {executor!r}")
    for k, argument in enumerate(arguments):
        require_unmasked(argument, f"argument {k}")
        if not np.ndim(argument):
            raise ShapeError(f"argument {k} has no leading axis", (), ("rows", "..."))
    lengths = {len(argument) for argument in arguments}
    if len(lengths) != 1:
        raise ShapeError(f"arguments differ in length: {sorted(lengths)}", sorted(lengths))
    total = lengths.pop()
    blocks = [slice(at, min(at + rows, total)) for at in range(0, max(total, 1), rows)]
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise TreefactorError(f"cannot write {path}: not a regular file, and the result is read back from it")
    with replacing(path) as draft, open(draft, "wb") as file:
        results = _results(function, arguments, blocks, executor)
        _write(file, _shown(results, len(blocks), progress), blocks, total)
    return np.load(path, mmap_mode="r")


def _write(file, results: Iterator[np.ndarray], blocks: list[slice], total: int) -> None:
    """Write an .npy file of blocks in their order."""
    tail = None
    for block, result in zip(blocks, results, strict=True):
        found = np.asarray(as_array(result, "the function's result"), order="C")
        if found.dtype.hasobject:
            raise DtypeError(f"the function returned {found.dtype}, which no file holds", found.dtype)
        if tail is None:
            tail = found.shape[1:], found.dtype
            header = {"shape": (total, *tail[0]), "fortran_order": False}
            np.lib.format.write_array_header_1_0(
                file, {"descr": np.lib.format.dtype_to_descr(found.dtype), **header}
            )
        expected = (block.stop - block.start, *tail[0])
        if found.shape != expected or found.dtype != tail[1]:
            raise ShapeError(
                f"the function returned {found.dtype} {found.shape}, expected {tail[1]} {expected}",
                found.shape,
                expected,
            )
        file.write(found.data)


def _results(function, arguments, blocks: list[slice], executor: Executor | None) -> Iterator[np.ndarray]:
    """Yield the results of the blocks in their order; a few blocks are computed ahead."""
    if executor is None:
        yield from (function(*(argument[block] for argument in arguments)) for block in blocks)
        return
    shipped = ship(function)
    waiting: deque[Future] = deque()
    try:
        for block in blocks:
            waiting.append(executor.submit(call, shipped, *(argument[block] for argument in arguments)))
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


def call(shipped: bytes, *arguments):
    """Call a pickled function; each process unpickles, and compiles, it once."""
    return _received(shipped)(*arguments)


@lru_cache(maxsize=8)
def _received(shipped: bytes) -> Callable:
    return pickle.loads(shipped)
