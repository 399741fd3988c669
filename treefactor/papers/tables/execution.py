"""Run the textbook algorithms on counting scalars, and time our kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial
from time import process_time

import numpy as np

from ... import families
from ..._util.counting import Tallying, counting
from ..._util.threads import one_blas_thread
from ...bench.scaling import dominant, refactorization
from ...bench.timing import Call, Result, outcome, times_in_turns
from ...linalg.factorization import Factor, factor
from ...tree.tree import OperationCount, Tree

PATIENCE = 0.4  # seconds of a comparison; what takes longer gets fewer turns


@cache
def sample(tree: Tree) -> np.ndarray:
    """Return a positive definite matrix with the tree's pattern."""
    return tree.unpack(dominant(tree, np.random.default_rng(0)))


def vector(tree: Tree) -> np.ndarray:
    """Return a random vector."""
    return np.random.default_rng(1).normal(size=tree.n)


def execute(
    algorithm: Callable, tree: Tree, *arguments, upper: bool = False
) -> tuple[OperationCount, np.ndarray]:
    """Run a textbook algorithm on one triangle of the sample matrix; vector arguments are counted, too.

    The other triangle holds NaN: an algorithm that reads it computes no number.

    Returns
    -------
    count : OperationCount
    result : ndarray of float
    """
    tally: Counter[str] = Counter()
    arguments = [counting(a, tally) if isinstance(a, np.ndarray) else a for a in arguments]
    read = np.tri(tree.n, dtype=bool)
    matrix = np.where(read.T if upper else read, sample(tree), np.nan)
    result = algorithm(counting(matrix, tally), (tree.parent + 1).tolist(), *arguments)
    return OperationCount(**tally), result.astype(float)


@cache
def factorization_count(algorithm: Callable, tree: Tree, upper: bool = False) -> OperationCount:
    """Count the operations of a factorization of one triangle, without its numbers.

    None of them depends on a number. Entries of the other triangle are None, which no operation takes.
    """
    scalar, read = Tallying(), np.tri(tree.n, dtype=bool)
    algorithm(np.where(read.T if upper else read, scalar, None), (tree.parent + 1).tolist())
    return OperationCount(scalar.mul, scalar.add, scalar.div, scalar.sqrts)


def last_node_count(algorithm: Callable, tree: Tree, upper: bool = False) -> OperationCount:
    """Count the operations that eliminate the last node: the count with it less the count without it."""
    whole, rest = (factorization_count(algorithm, t, upper) for t in (tree, Tree(tree.parent[:-1])))
    return OperationCount(**{kind: number - getattr(rest, kind) for kind, number in vars(whole).items()})


def compare(ours: Callable[[], object], peers: Mapping[str, Callable[[], object]]) -> tuple[Result, ...]:
    """Time our call in turns with every peer, in processor time; LAPACK uses one thread, as ours."""
    with one_blas_thread():
        calls = [Call(ours), *map(Call, peers.values())]
        ours_times, *others = times_in_turns(calls, process_time, PATIENCE).T
    return tuple(
        outcome("", "", "", peer, ours_times, times, None) for peer, times in zip(peers, others, strict=True)
    )


def timed(kernel: Callable[[Factor], Callable[[], object]], tree: Tree, kind: str) -> tuple[Result, ...]:
    """Time a call on the tree's factor in turns with the same call on a dense matrix of that size."""
    ours, dense = (kernel(factor(sample(t), t, kind)) for t in (tree, families.chain(tree.n)))
    return compare(ours, {"dense": dense})


def timed_factorization(tree: Tree) -> tuple[Result, ...]:
    """Time LTDL of packed rows against LTDL of a dense matrix, and against LAPACK's Cholesky."""
    from scipy.linalg.lapack import dpotrf  # SciPy takes longer to import than all else

    dense = families.chain(tree.n)
    lapack = partial(dpotrf, np.asfortranarray(sample(dense)), lower=1, clean=0)
    return compare(refactorization(tree), {"dense": refactorization(dense), "LAPACK": lapack})


def refactor(f: Factor) -> Callable[[], object]:
    """Return a call that factorizes the sample again."""
    return partial(f.refactor, sample(f.tree))


def apply(method: Callable, f: Factor) -> Callable[[], object]:
    """Return a call that applies a method of a factor to a vector without allocating."""
    return partial(method, f, vector(f.tree), np.empty(f.tree.n))
