"""Explain why derivatives of Pinocchio differ from treefactor's: correct each error, and compare again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from .errors import Key, Matrices, State

TURNING = "it treats the motions of universal, spherical ZYX and composite joints as constant"
INNER = "in WORLD, its columns of spherical, planar and free-flyer joints that are not at the root are wrong"
ALIGNED = (
    "in LOCAL_WORLD_ALIGNED it moves the derivative in WORLD and leaves out that the frame's origin moves"
)

SHOWN = 3  # joints named in a line of text


@dataclass(frozen=True)
class DerivativeCause:
    """One reason for a difference of derivatives.

    Attributes
    ----------
    name : str
    effect : float or None
        Largest relative error of the matrices that it makes.
    where : tuple of str
        Joints concerned.
    quantity : str
        Matrices concerned.
    """

    name: str
    effect: float | None = None
    where: tuple[str, ...] = ()
    quantity: str = ""

    def as_dict(self) -> dict:
        """Return plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        text = self.name
        if self.effect is not None:
            size = f"{self.effect:.0%}" if 0.1 <= self.effect < 100 else f"{self.effect:.0e}"
            text += f", Δ{self.quantity} {size}"
        if self.where:
            more = len(self.where) - SHOWN
            text += f" ({', '.join(self.where[:SHOWN])}{f' and {more} more' if more > 0 else ''})"
        return text


class Corrections:
    """Pinocchio's derivatives in one state, and the same with some of its errors corrected."""

    def __init__(self, adapter, model, state: State, frame: str, matrices: Matrices):
        self.adapter, self.state, self.frame = adapter, state, frame
        self.models, self.matrices = {False: model}, {False: matrices}

    def possible(self, key: Key, close: Callable[[np.ndarray, np.ndarray], bool]) -> list[str]:
        """Return the errors that may show in a matrix."""
        (name, by), model, matrices = key, self.models[False], self.matrices[False]
        kind, _, reference = name.partition(" ")
        causes = [TURNING] if self.adapter.turning_joints(model) else []
        if by != "q" or reference not in ("WORLD", "LOCAL_WORLD_ALIGNED"):
            return causes
        if kind == "A" and self.adapter.inner_joints(model):
            causes.append(INNER)
        in_world = matrices[f"{kind} WORLD", by]
        if reference != "WORLD" and close(
            self.adapter.moved(model, self.state.q, self.frame, in_world), matrices[key]
        ):
            causes.append(ALIGNED)
        return causes

    def corrected(self, key: Key, causes: Iterable[str]) -> np.ndarray:
        """Return a matrix without the errors named."""
        (name, by), split, state = key, TURNING in causes, self.state
        kind, _, reference = name.partition(" ")
        if split and split not in self.models:
            self.models[split] = self.adapter.split_joints(self.models[False])
            self.matrices[split] = self.adapter.derivatives(self.models[split], *state, self.frame)[0]
        model, matrices = self.models[split], self.matrices[split]
        if not {INNER, ALIGNED} & {*causes}:
            return matrices[key]
        in_world = matrices[f"{kind} WORLD", by]
        if INNER in causes:
            in_world = self.adapter.from_local(model, state.q, state.v, state.a, self.frame)
        if reference == "WORLD":
            return in_world
        if ALIGNED in causes:
            return self.adapter.aligned(model, state.q, state.v, state.a, self.frame, kind, in_world)
        return self.adapter.moved(model, state.q, self.frame, in_world)

    def causes(self, key: Key, close: Callable[[np.ndarray, np.ndarray], bool], expected) -> tuple[str, ...]:
        """Return the fewest errors whose correction gives the matrix expected; () if none do."""
        possible = self.possible(key, close)
        for count in range(1, len(possible) + 1):
            for names in combinations(possible, count):
                if close(self.corrected(key, names), expected):
                    return names
        return ()

    def where(self, cause: str) -> tuple[str, ...]:
        """Return the joints that show an error."""
        model = self.models[False]
        if cause == TURNING:
            return tuple(self.adapter.turning_joints(model))
        return tuple(self.adapter.inner_joints(model)) if cause == INNER else ()
