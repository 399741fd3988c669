"""Results of time stepping: single steps with their impulses, and the trajectory of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import mlcp


class StepPoints(NamedTuple):
    """Points of the contacts of shapes at the beginning of a step.

    Attributes
    ----------
    contacts : ndarray of int, shape (points,)
        Numbers of the contacts.
    points, normals : ndarray, shape (points, 3)
        m, and unit vectors out of the other side, in the base.
    gaps : ndarray, shape (points,)
        m.
    impulses : ndarray, shape (points, 3)
        As those of the step. Only their sums over a contact are unique: a box on four corners has many.
    """

    contacts: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    impulses: np.ndarray


NO_POINTS = StepPoints(
    np.empty(0, np.intp), np.empty((0, 3)), np.empty((0, 3)), np.empty(0), np.empty((0, 3))
)
for _empty in NO_POINTS:
    _empty.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Step:
    """State after a step, and the impulses that acted in it.

    Attributes
    ----------
    q, v : ndarray, shape (nq,) and (nv,)
    gap : ndarray, shape (contacts,)
        Gaps at the beginning of the step, m; inf for contacts beyond the margin. Of shapes, the least one.
    impulse : ndarray, shape (contacts, 3)
        Impulses on the bodies of the spheres or shapes, in the axes of the base, N s.
    loop_impulse : ndarray, shape (rows,)
        Impulses of the loops, N s and N m s, in the order of `loop_rows`.
    solution : mlcp.Solution
    drive_impulse : ndarray, shape (drives,)
        Impulses of the motors along what they move, N s or N m s; of a driven loop it is one of its own.
    points : StepPoints
        Of contacts of shapes.

    Notes
    -----
    Thread-compatible.
    """

    q: np.ndarray
    v: np.ndarray
    gap: np.ndarray
    impulse: np.ndarray
    loop_impulse: np.ndarray
    solution: mlcp.Solution
    drive_impulse: np.ndarray
    points: StepPoints


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States and steps of a run.

    Attributes
    ----------
    t : ndarray, shape (steps + 1,)
        s.
    q, v : ndarray, shape (..., steps + 1, nq) and (..., steps + 1, nv)
    steps : list of Step
        Of a batch, a list for every world, the last axis of the batch fastest. Empty if the run keeps no
        steps.

    Notes
    -----
    Thread-compatible.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    steps: list[Step] | list[list[Step]]

    def __repr__(self) -> str:
        worlds = f" of {' x '.join(map(str, self.q.shape[:-2]))} worlds" if self.q.ndim > 2 else ""
        return f"<Trajectory: {self.t[-1] - self.t[0]:.4g} s in {len(self.t) - 1} steps{worlds}>"
