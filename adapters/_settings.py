"""Find what engines add to accelerations by default, and distinguish it from rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .._util.protocol import UNEXPLAINED
from ..exceptions import AdapterError
from ..tolerances import NOTICED, QDD_PER_CONDITION


def solved(
    body, state: tuple, initial: np.ndarray, mass_matrix: Callable, accelerate: Callable
) -> list[tuple]:
    """Return (q, v, tau, q̈) of a state and of the initial configuration, q̈ from H and the bias alone.

    Configurations in which H, scaled to a unit diagonal, is too close to singular for `NOTICED` are left out;
    some files describe their robot in such a configuration. A body without freedoms has none.
    """
    regular = []
    for q, v, tau in (state, (initial, *state[1:])) if body.nv else ():
        H = mass_matrix(body, q)
        scale = np.sqrt(np.abs(H.diagonal()))
        if scale.all() and QDD_PER_CONDITION * np.linalg.cond(H / np.outer(scale, scale)) <= NOTICED:
            regular.append((q, v, tau, accelerate(body, q, v, tau)))
    return regular


def noticed(
    names: Iterable[str], switched: Callable, effect: Callable, states: list[tuple]
) -> list[tuple[str, float, tuple[str, ...]]]:
    """Return the settings that change q̈ in at least one of the states.

    Parameters
    ----------
    names : iterable of str
        Settings of an engine.
    switched : callable
        Returns an object that simulates with only the setting of that name, for `UNEXPLAINED` with none.
    effect : callable
        Returns the relative error of q̈, and the names of its sources, for that object and a state.
    states : list of (q, v, tau, q̈)
        As `solved` returns them.

    Returns
    -------
    list of (str, float, tuple of str)
        Name, the largest error, and the names of its sources. `UNEXPLAINED` stands for an error without any
        setting.
    """
    changing = []
    for name in (UNEXPLAINED, *names) if states else ():
        try:
            simulated = switched(name)
        except AdapterError:  # the engine refuses the setting, and a file that has it
            continue
        effects = [effect(simulated, *state) for state in states]
        error, where = max(effects, key=lambda pair: np.nan_to_num(pair[0], nan=np.inf))
        if not error <= NOTICED:
            changing.append((name, error, where))
    return changing


def deviation(qdd: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest deviation of q̈ over its largest entry."""
    return float(np.abs(qdd - expected).max() / np.abs(expected).max())
