"""Choose the dependent coordinates of a model with loops, numerically at closed configurations."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from ..._util.messages import similar
from ...exceptions import CodegenError
from ...model.configuration import neutral, random_configuration
from ...quantities.functions import integrate
from .closures import Closure
from .frames import bodies_of
from .recursions import Recursions

CLOSED = 1e-11  # tolerance of gaps, in m and radian
SINGULAR = 1e-7  # tolerance of singular values, relative to the largest
SAMPLES, STARTS, STEPS = 2, 15, 60  # configurations, starts for each, Newton steps from each start
TRIED = 4  # closed configurations computed for each one that is kept
OPEN = 0.1  # random distance from closed loops, in m and radian


def dependents(model, bodies, configurations, independent=None, full: bool = True) -> list[int]:
    """Return the entries of v that the closed loops determine from the others.

    Parameters
    ----------
    model : Model
    bodies : list of Body
    configurations : sequence of ndarray
        With closed loops, see `closed`.
    independent : sequence of str, optional
        Joints or bodies, or freedoms as in `Tree.names`, that are independent, among those that move any
        loop. By default those far from the base that move few loops are dependent.
    full : bool
        Whether redundant rows of a loop are an error.

    Raises
    ------
    CodegenError
        If loops are redundant, or do not determine the others; names the loop.
    """
    samples = [jacobian(model, bodies, q) for q in configurations]
    sizes = [loop.rows for loop in model.loops]
    stops = np.cumsum([0, *sizes])
    J = max(samples, key=lambda J: _least(J, _rank(J)))
    if full:
        _require_full(model, J, stops)
    if independent is not None:
        chosen = _named(model, independent)
        dependent = [j for j in np.flatnonzero(np.abs(J).max(axis=0) > 0).tolist() if j not in chosen]
        if len(dependent) != _rank(J):
            raise CodegenError(
                f"{model.tree.n - _rank(J)} coordinates are independent, "
                f"{model.tree.n - len(dependent)} were given: {', '.join(independent)}"
            )
        _require_determined(model, J, stops, dependent)
        return dependent
    moved = np.array([np.abs(J[a:b]).max(axis=0) > 0 for a, b in pairwise(stops)])
    preferred = np.lexsort((-np.arange(model.nv), -model.tree.depth, moved.sum(axis=0)))
    dependent = []
    for j in preferred.tolist():
        if moved[:, j].any() and _rank(J[:, [*dependent, j]]) > len(dependent):
            dependent.append(j)
    return sorted(dependent)


def _named(model, names) -> set[int]:
    """Return the entries of v of joints, bodies or freedoms."""
    entries = {name: [k] for k, name in enumerate(model.tree.names)}
    for name, joint in model.numbers.items():
        first = model.idx_v[joint]
        entries[name] = [*range(first, first + model.joints[joint].nv)]
    for name in names:
        if name not in entries:
            where = model.name or "the model"
            raise CodegenError(
                f"independent {name!r} is not a joint, body or freedom of {where}{similar(name, entries)}"
            )
    return {k for name in names for k in entries[name]}


def _require_full(model, J: np.ndarray, stops) -> None:
    """Raise CodegenError if non-zero rows of a loop depend on other rows."""
    rank = 0
    for k, loop in enumerate(model.loops):
        rows = J[: stops[k + 1]]
        nonzero, after = np.count_nonzero(np.abs(rows[stops[k] :]).max(axis=1) > SINGULAR), _rank(rows)
        if after < rank + nonzero:
            raise CodegenError(
                f"loop {loop.name!r}: {rank + nonzero - after} of its {nonzero} equations are redundant"
            )
        rank = after


def _require_determined(model, J: np.ndarray, stops, dependent) -> None:
    """Raise CodegenError if the columns of the dependent coordinates are singular."""
    for k, loop in enumerate(model.loops):
        rows = J[: stops[k + 1]]
        if _rank(rows[:, dependent]) < _rank(rows):
            raise CodegenError(
                f"loop {loop.name!r} does not determine the dependent coordinates; "
                "choose other joints as independent="
            )


def _rank(J: np.ndarray) -> int:
    """Return the numerical rank."""
    values = np.linalg.svd(J, compute_uv=False)
    return int(np.count_nonzero(values > SINGULAR * values[:1].max(initial=0.0)))


def _least(J: np.ndarray, rank: int) -> tuple[int, float]:
    """Return rank and smallest non-zero singular value: how far the rows are from singular."""
    return rank, float(np.linalg.svd(J, compute_uv=False)[rank - 1]) if rank else 0.0


def _closures(model, bodies, q) -> list[Closure]:
    """Return the loop equations at a configuration."""
    recursions = Recursions(bodies, model.gravity, model.extended, q.tolist())
    return [Closure(recursions, loop) for loop in model.loops]


def jacobian(model, bodies, q) -> np.ndarray:
    """Return the Jacobian of all loops for v, in axes of the common ancestors of their ends."""
    return _jacobian(model, _closures(model, bodies, q))


def _jacobian(model, closures: list[Closure]) -> np.ndarray:
    """Return the Jacobian from the loop equations at a configuration."""
    rows = [row for c in closures for row in (*c.linear(c.top), *c.angular())]
    J = np.array(rows, dtype=float)
    J[np.abs(J) < CLOSED] = 0.0
    return J if model.coupling is None else J @ model.coupling.G


def closed(model, bodies, samples: int = SAMPLES) -> list[np.ndarray]:
    """Find configurations with all loops closed, by Newton's method from random configurations."""
    rng, configurations = np.random.default_rng(0), []
    for start in range(samples * STARTS):
        q = nearest(model, bodies, random_configuration(model, rng) if start else neutral(model))
        configurations += [] if q is None else [q]
        if len(configurations) == samples:
            return configurations
    names = ", ".join(repr(loop.name) for loop in model.loops)
    raise CodegenError(f"no configuration was found that closes the loops {names}")


def nearest(model, bodies, q) -> np.ndarray | None:
    """Return the configuration with closed loops that Newton's method finds from q, or None."""
    for _ in range(STEPS):
        closures = _closures(model, bodies, q)
        gap = np.concatenate([c.gap(c.top) for c in closures])
        step = -np.linalg.lstsq(_jacobian(model, closures), gap, rcond=SINGULAR)[0]
        q = integrate(model, q, step / max(1.0, np.abs(step).max()))
        if np.abs(gap).max() <= CLOSED:
            return q
    return None


@lru_cache(maxsize=16)
def regular(model, dependent: tuple[int, ...], samples: int) -> np.ndarray:
    """Return closed configurations: of `TRIED` times as many, those with the best conditioned coordinates."""
    bodies = bodies_of(model)
    configurations = closed(model, bodies, TRIED * samples)
    configurations.sort(key=lambda q: np.linalg.cond(jacobian(model, bodies, q)[:, dependent]))
    return np.array(configurations[:samples])


def sample_configurations(model, dependent, rng: np.random.Generator, count: int, closed: int) -> np.ndarray:
    """Return random configurations; with loops, `closed` ones that close them, then ones near such.

    Parameters
    ----------
    dependent : sequence of int or None
        Entries of v that the loops determine; None for functions that do not close loops.
    """
    if dependent is None:
        return random_configuration(model, rng, size=count)
    q = regular(model, tuple(dependent), count)
    if closed == count:
        return q
    step = rng.normal(scale=OPEN, size=(count, model.nv))
    step[:closed] = 0.0
    return integrate(model, q, step)
