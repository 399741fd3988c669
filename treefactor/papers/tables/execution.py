"""Runs of the textbook algorithms on counting scalars, and of our kernels against a clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
from threadpoolctl import threadpool_limits

from ... import families
from ..._util.counting import counting
from ...bench.scaling import dominant, refactorization
from ...bench.timing import Call, Result, outcome, times_in_turns
from ...linalg.factorization import Factor, factor
from ...tree.tree import OperationCount, Tree


@cache
def sample(tree: Tree) -> np.ndarray:
    """A positive definite matrix with the tree's pattern."""
    return tree.unpack(dominant(tree, np.random.default_rng(0)))


def vector(tree: Tree) -> np.ndarray:
    """A random vector."""
    return np.random.default_rng(1).normal(size=tree.n)


def execute(algorithm: Callable, tree: Tree, *arguments) -> tuple[OperationCount, np.ndarray]:
    """Run a textbook algorithm on the sample matrix; vectors among the arguments are counted, too.

    Returns
    -------
    count : OperationCount
    result : ndarray of float
    """
    tally: Counter[str] = Counter()
    arguments = [counting(a, tally) if isinstance(a, np.ndarray) else a for a in arguments]
    result = algorithm(counting(sample(tree), tally), (tree.parent + 1).tolist(), *arguments)
    return OperationCount(**tally), result.astype(float)


@cache
def factorization_count(algorithm: Callable, tree: Tree) -> OperationCount:
    """Operations of a factorization, as counted."""
    return execute(algorithm, tree)[0]


def last_node_count(algorithm: Callable, tree: Tree) -> OperationCount:
    """Operations of a factorization that eliminate the last node: what is saved without that node."""
    whole, rest = (factorization_count(algorithm, t) for t in (tree, Tree(tree.parent[:-1])))
    return OperationCount(**{kind: number - getattr(rest, kind) for kind, number in vars(whole).items()})


def duel(ours: Callable[[], object], peers: Mapping[str, Callable[[], object]]) -> tuple[Result, ...]:
    """Time ours in turns with every peer; LAPACK has one thread, as ours."""
    with threadpool_limits(1):
        ours_times, *others = times_in_turns([Call(ours), *map(Call, peers.values())]).T
    return tuple(
        outcome("", "", "", peer, ours_times, times, None) for peer, times in zip(peers, others, strict=True)
    )


def timed(kernel: Callable[[Factor], Callable[[], object]], tree: Tree, kind: str) -> tuple[Result, ...]:
    """Time what a kernel does with the tree's factor against the same on a dense matrix of that size."""
    ours, dense = (kernel(factor(sample(t), t, kind)) for t in (tree, families.chain(tree.n)))
    return duel(ours, {"dense": dense})


def timed_factorization(tree: Tree) -> tuple[Result, ...]:
    """Our LTDL of packed rows against our own of a dense matrix, and against LAPACK's Cholesky."""
    from scipy.linalg.lapack import dpotrf  # takes longer to import than all the rest

    dense = families.chain(tree.n)
    lapack = partial(dpotrf, np.asfortranarray(sample(dense)), lower=1, clean=0)
    return duel(refactorization(tree), {"dense": refactorization(dense), "LAPACK": lapack})


def refactor(f: Factor) -> Callable[[], object]:
    """Kernel that factorizes the sample once more."""
    return partial(f.refactor, sample(f.tree))


def apply(method: Callable, f: Factor) -> Callable[[], object]:
    """Kernel that applies a method of a factor to a vector, without allocating."""
    return partial(method, f, vector(f.tree), np.empty(f.tree.n))
