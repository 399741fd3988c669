"""Close the loops of a model on one branch: the signs of the square roots, and what they give on numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..._util.messages import similar
from ..._util.validation import as_vector
from ...exceptions import CodegenError
from ...model.configuration import neutral
from .analytic import tasks_of
from .closures import Closure
from .frames import Body
from .placements import constant_angle
from .positions import Positions
from .recursions import Recursions

AGREES = (
    1e-6  # tolerance of positions and gaps: near a double root rounding errors grow to their square roots
)


class Closing:
    """Analytic closure of all loops of a model.

    Parameters
    ----------
    model : Model
    bodies : list of Body
    dependent : sequence of int
        Freedoms whose positions are computed.

    Attributes
    ----------
    tasks : list of Task
    names : dict of int to str
        Names of the dependent freedoms, by body.
    branch : dict of str to {1, -1}
        Signs of the square roots, by names of freedoms, see `choose`.
    start : ndarray, shape (nq,), or None
        Closed configuration whose signs are taken where none is given.

    Raises
    ------
    CodegenError
        If a loop has no analytic closure; names the loop.
    """

    def __init__(self, model, bodies: list[Body], dependent: Sequence[int]):
        self.model, self.bodies = model, bodies
        G = np.eye(model.nv) if model.coupling is None else model.coupling.G
        moved = {k: i for i, body in enumerate(bodies) for k in range(body.v, body.v + body.freedoms)}
        rows = [(k, int(j)) for j in dependent for k in np.flatnonzero(G[:, j])]
        self.names = {moved[k]: model.tree.names[j] for k, j in rows}
        self.tasks = tasks_of(model, bodies, list(self.names), self.names)
        self.branch: dict[str, int] = {}
        self.start: np.ndarray | None = None

    def signs(self, q) -> dict[str, int]:
        """Return the signs of the square roots for a closed configuration, by names of freedoms."""
        signs: dict[str, int] = {}

        def choose(i: int, value) -> int:
            body = self.bodies[i]
            sign = 1 if value(*_position(body, q)) >= 0.0 else -1
            signs[self.names[i]] = sign
            return sign

        self._numeric(q, choose)
        return signs

    def usual(self, q) -> np.ndarray:
        """Return the closed configuration with the longest rods and smallest angles.

        The signs are chosen one after the other at the independent positions of q, a closed configuration. If
        q is the neutral configuration it is returned.
        """
        if np.abs(q - neutral(self.model)).max() <= AGREES:
            return q
        numbers, signs = {name: i for i, name in self.names.items()}, self.signs(q)
        for name, sign in signs.items():
            body, tried = self.bodies[numbers[name]], signs | {name: -sign}
            flipped = self._numeric(q, lambda i, _, tried=tried: tried[self.names[i]])
            if self._open(flipped)[0] <= AGREES and _preference(body, flipped) > _preference(body, q):
                q, signs[name] = np.array(flipped), -sign
        return q

    def positions(self, recursions: Recursions, q) -> list:
        """Return q with closed loops, as scalars, on the chosen branch."""
        signs = {i: self.branch.get(name, 0) for i, name in self.names.items()}
        positions = Positions(recursions, self.model.loops, self.tasks, q, lambda i, _: signs[i]).q
        if any(isinstance(x, float) and math.isnan(x) for x in positions):
            names = ", ".join(repr(loop.name) for loop in self.model.loops)
            raise CodegenError(f"position_closure: the loops {names} cannot be closed for any q")
        return positions

    def require_exact(self, configurations) -> None:
        """Raise CodegenError if some closed configuration is not that of its own branch."""
        for q in configurations:
            signs = self.signs(q)
            gap, name = self._open(self._numeric(q, lambda i, _, signs=signs: signs[self.names[i]]))
            if not gap <= AGREES:
                raise CodegenError(
                    f"loop {name!r} has no analytic closure: its other rows stay {gap:.2g} open; close it by "
                    "Newton's method, with treefactor.constraints.close or the function loop_step"
                )

    def choose(self, given, reference) -> None:
        """Choose a branch: that of a closed configuration, or the usual one where no sign is given.

        Parameters
        ----------
        given : mapping of str to {1, -1}, array_like of shape (nq,), or None
        reference : ndarray, shape (nq,)
            Closed configuration, see `usual`.
        """
        if given is not None and not isinstance(given, Mapping):
            given, reference = None, self._closed(given)
        else:
            reference = self.usual(reference)
        self.start, self.branch = reference, self.signs(reference)
        signs = self.branch
        for name, sign in (given or {}).items():
            if name not in signs:
                known = ", ".join(signs) or "no freedoms"
                raise CodegenError(f"branch: {name!r} is not among {known}{similar(str(name), signs)}")
            if sign not in (1, -1):
                raise CodegenError(f"branch: expected 1 or -1 for {name!r}, got {sign!r}")
            signs[name] = int(sign)

    def _closed(self, q) -> np.ndarray:
        """Validate a closed configuration."""
        q = as_vector(q, self.model.nq, "branch")
        gap, name = self._open(q.tolist())
        if gap > AGREES:
            raise CodegenError(
                f"branch: expected a configuration with closed loops, but loop {name!r} is {gap:.2g} open"
            )
        return q

    def _open(self, q: list[float]) -> tuple[float, str]:
        """Return the residual and name of the first loop that is open; 0 if all are closed."""
        recursions = self._at(q)
        for loop in self.model.loops:
            gap = float(np.abs(Closure(recursions, loop).residual()).max())
            if not gap <= AGREES:
                return gap, loop.name
        return 0.0, ""

    def _numeric(self, q, choose) -> list[float]:
        """Return q with closed loops, as numbers."""
        q = [float(x) for x in q]
        return Positions(self._at(q), self.model.loops, self.tasks, q, choose).q

    def _at(self, q: list[float]) -> Recursions:
        """Return the bodies at a configuration."""
        return Recursions(self.bodies, self.model.gravity, self.model.extended, q)


def _preference(body: Body, q) -> float:
    """Return a number that is larger for longer rods and smaller angles; equal if they agree."""
    if body.kind == "prismatic":
        return round(q[body.q], 6)
    angle = math.atan2(q[body.q + 1], q[body.q]) if body.kind == "continuous" else q[body.q]
    return -round(abs(math.remainder(angle, math.tau)), 6)


def _position(body: Body, q) -> tuple[float, ...]:
    """Return cosine and sine of the total angle of a joint, or its total displacement."""
    if body.kind == "continuous":
        angle = constant_angle(body) + math.atan2(q[body.q + 1], q[body.q])
    elif body.kind == "prismatic":
        return (float(body.ratio * q[body.q] + body.offset),)
    else:
        angle = constant_angle(body) + body.ratio * q[body.q]
    return math.cos(angle), math.sin(angle)
