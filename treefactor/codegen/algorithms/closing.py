"""Close the loops of a model on one branch: the signs of the square roots, and what they give on numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..._util.messages import similar
from ..._util.validation import as_vector
from ...exceptions import CodegenError
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

    def signs(self, q) -> dict[str, int]:
        """Return the signs of the square roots for a closed configuration, by names of freedoms."""
        found: dict[str, int] = {}

        def choose(i: int, value) -> int:
            body = self.bodies[i]
            sign = 1 if value(*_position(body, q)) >= 0.0 else -1
            found[self.names[i]] = sign
            return sign

        self._numeric(q, choose)
        return found

    def positions(self, recursions: Recursions, q) -> list:
        """Return q with closed loops, as scalars, on the chosen branch."""
        signs = {i: self.branch.get(name, 0) for i, name in self.names.items()}
        found = Positions(recursions, self.model.loops, self.tasks, q, lambda i, _: signs[i]).q
        if any(isinstance(x, float) and math.isnan(x) for x in found):
            names = ", ".join(repr(loop.name) for loop in self.model.loops)
            raise CodegenError(f"position_closure: the loops {names} cannot be closed for any q")
        return found

    def require_exact(self, configurations) -> None:
        """Raise CodegenError if some closed configuration is not that of its own branch."""
        for q in configurations:
            signs = self.signs(q)
            found = self._numeric(q, lambda i, _, signs=signs: signs[self.names[i]])
            recursions = self._at(found)
            for loop in self.model.loops:
                gap = np.abs(Closure(recursions, loop).residual()).max()
                if not gap <= AGREES:
                    raise CodegenError(
                        f"loop {loop.name!r} has no analytic closure: its other rows stay {gap:.2g} open; "
                        "close it by Newton's method, with treefactor.constraints.close or the function "
                        "loop_step"
                    )

    def choose(self, given, reference) -> None:
        """Choose a branch: that of a closed configuration, or of the reference where no sign is given.

        Parameters
        ----------
        given : mapping of str to {1, -1}, array_like of shape (nq,), or None
        reference : ndarray, shape (nq,)
        """
        if given is not None and not isinstance(given, Mapping):
            self.branch = self.signs(self._closed(given))
            return
        self.branch = signs = self.signs(reference)
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
        recursions = self._at(q.tolist())
        for loop in self.model.loops:
            gap = np.abs(Closure(recursions, loop).residual()).max()
            if gap > AGREES:
                raise CodegenError(
                    "branch: expected a configuration with closed loops, "
                    f"but loop {loop.name!r} is {gap:.2g} open"
                )
        return q

    def _numeric(self, q, choose) -> list[float]:
        """Return q with closed loops, as numbers."""
        q = [float(x) for x in q]
        return Positions(self._at(q), self.model.loops, self.tasks, q, choose).q

    def _at(self, q: list[float]) -> Recursions:
        """Return the bodies at a configuration."""
        return Recursions(self.bodies, self.model.gravity, self.model.extended, q)


def _position(body: Body, q) -> tuple[float, ...]:
    """Return cosine and sine of the total angle of a joint, or its total displacement."""
    if body.kind == "continuous":
        angle = constant_angle(body) + math.atan2(q[body.q + 1], q[body.q])
    elif body.kind == "prismatic":
        return (float(body.ratio * q[body.q] + body.offset),)
    else:
        angle = constant_angle(body) + body.ratio * q[body.q]
    return math.cos(angle), math.sin(angle)
