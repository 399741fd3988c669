"""Find the changes of inertial parameters that no motion shows, from the tree alone.

A change is unfelt if no product of velocities in the kinetic energy and no slope of the potential energy
depends on it. Every body has two spaces: V of the velocities that it can have, and W of the linear functions
of its parameters that the forces of the joints above it depend on. Both are closed under the motions of its
own joint, so nothing is sampled. A change is unfelt at a body if the forces of its own joint do not depend on
it in motions of V, and functions of W do not change when that joint moves; then it can move to the parent.

The recursive null space of Wensing, Niemeyer and Slotine (arXiv 1711.03896), with the span of the products
closed instead of assumptions about axes that are parallel or meet. Bases of spaces keep the sizes of their
vectors: what exists only because angles are rounded stays small, and the tolerance decides about it at last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dynamics._recursions import KINDS
from ..dynamics.bodies import table_of
from ..model._snapping import snapped_rotation
from ..model.joints import SIZES
from ..model.parameters import from_pseudo_inertia, moved_parameters, pseudo_inertia
from ._combinations import singular_values

ROUNDING = 1e-14  # relative size of vectors that rounding errors make
GROWTH = 100.0  # images may be this much larger than what a basis already has in their direction
STEPS = 100  # a direction grows by GROWTH in each, from ROUNDING to 1; there are ten directions at most
ORDER = (0, 3, 2, 1, 6, 9, 4, 5, 7, 8)  # parameters of a body as they are eliminated: m, h_z, h_y, h_x, ...
MOTIONS = {  # entries of the velocity of a body, linear before angular, that a joint about or along z moves
    "revolute": [5],
    "continuous": [5],
    "helical": [5],
    "prismatic": [2],
    "spherical": [3, 4, 5],
    "planar": [0, 1, 5],
    "translation": [0, 1, 2],
    "freeflyer": [0, 1, 2, 3, 4, 5],
}


class Directions(NamedTuple):
    """Changes of all parameters that are unfelt or almost so, in units in which lengths are about 1.

    Attributes
    ----------
    rows : ndarray, shape (k, p)
    sizes : ndarray, shape (k,)
        Effects of the changes on forces, relative to the largest.
    units : ndarray, shape (p,)
        Units of the parameters: powers of the robot's size.
    order : list of int
        Columns in the order of their elimination.
    snapped : float
        Largest change of a placement by rounding.
    """

    rows: np.ndarray
    sizes: np.ndarray
    units: np.ndarray
    order: list[int]
    snapped: float


class Links(NamedTuple):
    """Bodies in the axes of their joints; a universal joint has two, the first with joint number -1.

    Attributes
    ----------
    parents, joints : list of int
    placements : ndarray, shape (bodies, 4, 4)
    motions : list of ndarray, shape (freedoms, 6)
    """

    parents: list[int]
    joints: list[int]
    placements: np.ndarray
    motions: list[np.ndarray]


def directions_of_tree(model, armature: bool, snap: float, largest: float) -> Directions:
    """Return all changes whose size is at most `largest`; mimic joints move on their own."""
    size = size_of(model)
    links, change = _links(model, size, snap)
    columns = columns_of(model, armature)
    transfer = moved_parameters(np.eye(10), *_rotations_and_origins(links.placements)).swapaxes(-1, -2)
    rotors = [joint >= 0 and len(columns[joint]) == 11 for joint in links.joints]
    rows, sizes = [np.zeros((0, sum(map(len, columns))))], [np.zeros(0)]
    for i, (changes, strengths) in enumerate(_changes(links, transfer, model.gravity, rotors, largest)):
        if links.joints[i] < 0:
            continue
        whole = np.zeros((len(changes), rows[0].shape[1]))
        whole[:, columns[links.joints[i]]] = changes
        image, above = -changes[:, :10] @ transfer[i].T, links.parents[i]
        if above >= 0 and links.joints[above] < 0:
            image, above = image @ transfer[above].T, links.parents[above]
        if above >= 0:
            whole[:, columns[links.joints[above]][:10]] = image
        rows.append(whole)
        sizes.append(strengths)
    units = units_of(model, size, columns)
    return Directions(np.vstack(rows), np.concatenate(sizes), units, order_of(columns), change)


def size_of(model) -> float:
    """Return the longest distance of successive joints, or pitch per radian, m; 1 without any.

    No force depends on where the first joints stand on the base.
    """
    lengths = [np.linalg.norm(joint.p) for joint in model.joints if joint.parent >= 0]
    lengths += [abs(joint.pitch) for joint in model.joints]
    return float(max(lengths, default=0.0)) or 1.0


def columns_of(model, armature: bool) -> list[list[int]]:
    """Return the columns of every joint in the regressor: ten, and that of its armature."""
    columns = [list(range(10 * j, 10 * j + 10)) for j in range(model.njoints)]
    single = [own for own, joint in zip(columns, model.joints, strict=True) if SIZES[joint.kind][1] == 1]
    for k, own in enumerate(single if armature else []):
        own.append(10 * model.njoints + k)
    return columns


def order_of(columns: list[list[int]]) -> list[int]:
    """Return the columns in the order of their elimination: from the last joint on, armature first."""
    return [own[k] for own in reversed(columns) for k in (*range(10, len(own)), *ORDER)]


def units_of(model, size: float, columns: list[list[int]]) -> np.ndarray:
    """Return the units of all parameters, for lengths in units of the robot's size."""
    units = np.ones(sum(map(len, columns)))
    for joint, own in zip(model.joints, columns, strict=True):
        units[own[1:4]], units[own[4:10]] = size, size**2
        if joint.kind != "prismatic":
            units[own[10:]] = size**2
    return units


def _links(model, size: float, snap: float) -> tuple[Links, float]:
    """Return the bodies, lengths in units of the size, and the largest change by rounding."""
    table, change = table_of(model), 0.0
    for body in table:
        if body["parent"] < 0:
            body["p"] = np.zeros(3)
    longest = max((np.abs(body["p"]).max() for body in table), default=0.0) or 1.0
    placements, motions = np.zeros((len(table), 4, 4)), []
    for body, T in zip(table, placements, strict=True):
        R, p, A = body["R"], body["p"], body["axes"]
        if snap:
            R, p = snapped_rotation(R, snap), np.where(np.abs(p) <= snap * longest, 0.0, p)
            change = max(change, np.abs(R - body["R"]).max(), np.abs(p - body["p"]).max() / longest)
        above = table[body["parent"]]["axes"] if body["parent"] >= 0 else np.eye(3)
        T[:3, :3], T[:3, 3], T[3, 3] = above.T @ R @ A, above.T @ p / size, 1.0
        S = np.eye(6)[MOTIONS[KINDS[body["kind"]]]]
        S[:, 2] += S[:, 5] * (body["pitch"] / size)
        motions.append(np.hstack([S[:, :3] @ A, S[:, 3:] @ A]))
    parents, joints = ([body[name] for body in table] for name in ("parent", "joint"))
    return Links(parents, joints, placements, motions), float(change)


def _changes(
    links: Links, transfer: np.ndarray, gravity: np.ndarray, rotors: list[bool], largest: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for every body changes (k, 10), with a rotor (k, 11), and their sizes (k,)."""
    inside = _seen_from_inside(links.placements)
    V: list[np.ndarray] = []
    W: list[np.ndarray] = []
    conditions, changes, falling = [], [], np.zeros((1, 10))
    falling[0, 1:4] = gravity / (np.linalg.norm(gravity) or 1.0)
    for i, (parent, S) in enumerate(zip(links.parents, links.motions, strict=True)):
        above, known = (V[parent], W[parent]) if parent >= 0 else (np.zeros((0, 6)), falling)
        rates = _rates(S)
        above, known = closed(above @ inside[i], _brackets(S)), closed(known @ transfer[i], rates)
        felt = np.vstack([products(S, S), products(S, above), (known @ rates).reshape(-1, 10)])
        V.append(compressed(np.vstack([above, S])))
        W.append(compressed(np.vstack([known, products(S, V[i])])))
        conditions.append(felt)
        if parent >= 0 and links.joints[parent] < 0:  # the first body of a universal joint has no parameters
            felt = np.vstack([felt, conditions[parent] @ transfer[i]])
        if rotors[i]:
            felt = np.hstack([felt, np.eye(len(felt), 1)])  # S has one row
        changes.append(weak_directions(felt, largest))
    return changes


def compressed(rows: np.ndarray, largest: float = np.inf) -> np.ndarray:
    """Return few orthogonal rows that span the same space, their sizes limited."""
    sizes, axes = singular_values(rows)
    rank = int((sizes > ROUNDING * sizes[:1].sum()).sum())
    return np.minimum(sizes[:rank, None], largest) * axes[:rank]


def closed(rows: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Return orthogonal rows that span the smallest space with all rows and all their images.

    Rows that are small at first grow to the size that images have in their direction, at most to that of the
    largest row. A space that is complete in exact arithmetic can have a direction of rounding errors; the
    next image may be large along it.
    """
    rows = compressed(rows)
    largest = float(np.linalg.norm(rows[:1]))
    for _ in range(STEPS if len(rows) else 0):
        images = (rows @ actions).reshape(-1, rows.shape[1])
        sizes = np.linalg.norm(rows, axis=1)
        within = images @ (rows / sizes[:, None]).T
        outside = images - within @ (rows / sizes[:, None])
        if np.abs(outside).max() <= 10 * ROUNDING * largest and (np.abs(within) <= GROWTH * sizes).all():
            break
        rows = compressed(np.vstack([rows, images]), largest)
    return rows


def weak_directions(felt: np.ndarray, largest: float, unit: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal directions along which linear functions are small, and their relative sizes.

    Sizes are relative to that of the strongest direction, but at least to the unit: functions that are all
    rounding beside it are small along every direction.
    """
    n = felt.shape[1]
    sizes, axes = singular_values(np.vstack([felt, np.zeros((max(n - len(felt), 0), n))]))
    sizes = sizes / (max(sizes[0], unit) or 1.0)
    at = int((sizes > largest).sum())
    return axes[at:], sizes[at:]


def products(S: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Return the functions s I u of the parameters, for all s in S and u in U: shape (len(S) len(U), 10)."""
    return (S @ INERTIAS @ U.T).reshape(10, -1).T


def _rotations_and_origins(placements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (..., 1, 3, 3) and origins (..., 1, 3)."""
    return placements[..., None, :3, :3], placements[..., None, :3, 3]


def _rates(motions: np.ndarray) -> np.ndarray:
    """Return matrices (..., 10, 10): the changes of parameters by infinitesimal motions (..., 6)."""
    hat = np.zeros((*motions.shape[:-1], 1, 4, 4))
    hat[..., 0, :3, :3], hat[..., 0, :3, 3] = _crossing(motions[..., 3:]), motions[..., :3]
    half = hat @ pseudo_inertia(np.eye(10))
    return from_pseudo_inertia(half + half.swapaxes(-1, -2)).swapaxes(-1, -2)


def _seen_from_inside(placements: np.ndarray) -> np.ndarray:
    """Return matrices (..., 6, 6) that transform velocities, as rows, into the placed frames."""
    R = placements[..., :3, :3]
    matrices = np.zeros((*R.shape[:-2], 6, 6))
    matrices[..., :3, :3] = matrices[..., 3:, 3:] = R
    matrices[..., 3:, :3] = _crossing(placements[..., :3, 3]) @ R
    return matrices


def _brackets(motions: np.ndarray) -> np.ndarray:
    """Return matrices (..., 6, 6) that map velocities, as rows, to their changes by motions (..., 6)."""
    matrices = np.zeros((*motions.shape, 6))
    matrices[..., :3, :3] = matrices[..., 3:, 3:] = _crossing(motions[..., 3:])
    matrices[..., 3:, :3] = _crossing(motions[..., :3])
    return matrices


def _crossing(x: np.ndarray) -> np.ndarray:
    """Return the matrices of cross products with vectors (..., 3)."""
    matrices = np.zeros((*x.shape, 3))
    matrices[..., 2, 1], matrices[..., 0, 2], matrices[..., 1, 0] = np.moveaxis(x, -1, 0)
    return matrices - matrices.swapaxes(-1, -2)


def _inertias() -> np.ndarray:
    """Return the spatial inertia of every unit parameter about the origin, shape (10, 6, 6)."""
    inertias = np.zeros((10, 6, 6))
    inertias[0, :3, :3] = np.eye(3)
    inertias[1:4, 3:, :3] = _crossing(np.eye(3))
    inertias[1:4, :3, 3:] = -inertias[1:4, 3:, :3]
    S = pseudo_inertia(np.eye(10)[4:])[:, :3, :3]
    inertias[4:, 3:, 3:] = np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S
    return inertias


INERTIAS = _inertias()
