"""Write the second moments of bodies as linear functions of the inertial parameters of joints.

The ten parameters of a joint are those of Pinocchio's ``Inertia.toDynamicParameters``: m, h, and the entries
xx, xy, yy, xz, yz, zz of the tensor about the joint's origin, in the axes of the joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...model._model_parameters import rotors_of
from .frames import UNFELT, Body

UPPER = tuple((i, j) for i in range(4) for j in range(i, 4))  # different entries of the second moments
LENGTHS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])  # power of metres in every parameter
ROUNDING = 1e-14  # smaller coefficients, relative to powers of the longest distance, become 0


def _unit_moments() -> np.ndarray:
    """Return the second moments (4, 4) of the ten unit parameters, on the last axis."""
    moments = np.zeros((4, 4, 10))
    moments[3, 3, 0] = 1.0
    for k in range(3):
        moments[k, 3, 1 + k] = moments[3, k, 1 + k] = 1.0
    for number, (i, j) in enumerate([(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)], start=4):
        if i == j:
            moments[range(3), range(3), number] = 0.5
        moments[i, j, number] -= 1.0
        moments[j, i, number] = moments[i, j, number]
    return moments


UNIT = _unit_moments()


def own_values(model) -> np.ndarray:
    """Return the parameters of every joint, then the armature of the freedoms."""
    return np.append(model.parameters, model.armature)


def with_armature_of_leaders(model, bodies: list[Body]) -> list[Body]:
    """Return bodies with the armature of `Model.armature`, in which mimic joints count for their leaders."""
    rotors = rotors_of(model, model.armature)
    return [
        replace(body, armature=tuple(rotors[body.v : body.v + body.freedoms].tolist())) for body in bodies
    ]


def moment_maps(bodies: list[Body], joints: int, regroup: bool) -> np.ndarray:
    """Return the second moments of bodies as functions of all parameters, shape (bodies, 4, 4, 10 joints).

    With `regroup` the moments that do not affect the force of a joint move to the parent, as in
    `frames.regrouped`.
    """
    maps = np.zeros((len(bodies), 4, 4, 10 * joints))
    for own, body in zip(maps, bodies, strict=True):
        if body.joint >= 0:
            at = slice(10 * body.joint, 10 * body.joint + 10)
            own[..., at] = _transformed(UNIT, body.axes, body.origin)
    for i in reversed(range(len(bodies) if regroup else 0)):
        block = UNFELT.get(bodies[i].kind, slice(0))
        moved = np.zeros_like(maps[i])
        moved[block, block] = maps[i, block, block]
        maps[i] -= moved
        if bodies[i].parent >= 0:
            maps[bodies[i].parent] += _transformed(moved, bodies[i].R, bodies[i].p)
    return _without_rounding_errors(maps, bodies)


def _transformed(moments: np.ndarray, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return second moments, on the first two axes, in a frame in which their frame is at R and p."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return np.einsum("ac,cdk,bd->abk", T, moments, T)


def _without_rounding_errors(maps: np.ndarray, bodies: list[Body]) -> np.ndarray:
    """Set coefficients of the size of rounding errors to 0."""
    longest = max((np.abs([body.p, body.origin]).max() for body in bodies), default=0.0) or 1.0
    power = np.array([1, 1, 1, 0])
    power = (power[:, None] + power)[..., None] - np.tile(LENGTHS, maps.shape[-1] // 10)
    maps[np.abs(maps) <= ROUNDING * longest ** np.maximum(power, 0.0)] = 0.0
    return maps


@dataclass(frozen=True, eq=False)
class InertialInputs:
    """Inputs of functions of inertial parameters: moments of the bodies of a variant, then armature.

    Attributes
    ----------
    rows : ndarray, shape (size, 10 njoints + nv)
        Every input as a function of the parameters of all joints, then of the armature.
    folded : ndarray, shape (m, 10 njoints + nv)
        The same of the moments and armature that are 0 in the program.
    entries : ndarray of int, shape (bodies, 4, 4)
        Number of the input that holds a second moment; -1 for 0.
    armature : ndarray of int, shape (freedoms of all joints,)
        Number of the input that holds the armature of a freedom; -1 for 0.
    """

    rows: np.ndarray
    folded: np.ndarray
    entries: np.ndarray
    armature: np.ndarray

    @classmethod
    def of(cls, model, bodies: list[Body], regroup: bool, only_nonzero: bool) -> InertialInputs:
        """Return the inputs for the bodies of a variant, with `only_nonzero` of what is not 0 in the model.

        Armature is an input where it is not 0 in the model.
        """
        maps, rotors = moment_maps(bodies, model.njoints, regroup), model.armature
        entries, numbers = np.full((len(bodies), 4, 4), -1), np.zeros(rotors.size)
        rows: list[np.ndarray] = []
        folded: list[np.ndarray] = []
        for i, body in enumerate(bodies):
            for at in UPPER:
                row = np.append(maps[(i, *at)], np.zeros(rotors.size))
                if not row.any():
                    continue
                if only_nonzero and not body.moments[at]:
                    folded.append(row)
                    continue
                entries[(i, *at)] = entries[(i, *at[::-1])] = len(rows)
                rows.append(row)
        unit = np.eye(rotors.size, maps.shape[-1] + rotors.size, maps.shape[-1])
        for k, row in enumerate(unit):
            if rotors[k]:
                numbers[k] = 1 + len(rows)
            (rows if rotors[k] else folded).append(row)
        width = unit.shape[1]
        return cls(
            *(np.reshape(x, (len(x), width)) for x in (rows, folded)),
            entries,
            rotors_of(model, numbers).astype(int) - 1,
        )

    def values(self, model) -> np.ndarray:
        """Return the inputs for a model."""
        return self.rows @ own_values(model)

    def placed(self, bodies: list[Body], scalars: list) -> list[Body]:
        """Return the bodies with inputs, of these scalars, in place of moments and armature."""
        values = [*scalars, 0.0]  # -1 is the last one
        with_inputs = []
        for body, entries in zip(bodies, self.entries, strict=True):
            moments = np.empty((4, 4), object)
            moments[:] = [[values[k] for k in row] for row in entries.tolist()]
            numbers = self.armature[body.v : body.v + body.freedoms].tolist()
            with_inputs.append(replace(body, moments=moments, armature=tuple(values[k] for k in numbers)))
        return with_inputs
