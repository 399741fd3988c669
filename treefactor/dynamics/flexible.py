"""Compute the inertia matrix of a chain of flexible links that deform in assumed modes (shape functions).

The Kane-sum paper announces this extension of its recursion, which needs partial velocities only. A mode of
link k gives the points of that link the partial velocities phi. For the bodies beyond, it acts like a joint
at O_k+1: it gives O_k+1 the velocity phi_tip and them the angular velocity psi. So a column of (9) is still
the momentum of a composite, plus that of the deforming link, and an entry a scalar product with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._util.validation import as_real
from ..exceptions import ShapeError
from ._chain import Chains
from .chain import TAILS, unusable, validate_chains

__all__ = [
    "Modes",
    "flexible_inertia",
    "of_points",
]


class Modes(NamedTuple):
    """Shape functions of each link, S of them: integrals over its mass, and values at its tip.

    In the base frame and with leading axes like the arrays of `treefactor.chain_inertia`; per unit of
    amplitude.

    Attributes
    ----------
    momentum : array_like, shape (..., N, S, 3)
        Integrals of phi dm.
    moment : array_like, shape (..., N, S, 3)
        Integrals of x cross phi dm, x from O_k to the point of the deformed link.
    mass : array_like, shape (..., N, S, S)
        Integrals of phi_s^T phi_t dm.
    tip : array_like, shape (..., N, S, 3)
        phi at O_{k+1}, where the next link is mounted; if that link has moved by x along a prismatic joint,
        phi of the tip plus psi cross x. Not used for the last link.
    rotation : array_like, shape (..., N, S, 3)
        Rotation psi of the link at its tip; not used for the last link.

    Notes
    -----
    Thread-compatible.
    """

    momentum: np.ndarray
    moment: np.ndarray
    mass: np.ndarray
    tip: np.ndarray
    rotation: np.ndarray


def of_points(points, masses, shapes, tip, rotation):
    """Return bodies and modes of links that are sampled as point masses.

    Parameters
    ----------
    points : array_like, shape (..., N, P, 3)
        From O_k to the points of link k as it is deformed, in m, base frame.
    masses : array_like, shape (..., N, P)
        In kg.
    shapes : array_like, shape (..., N, S, P, 3)
        Displacements phi of the points per unit of amplitude.
    tip, rotation : array_like, shape (..., N, S, 3)
        As in `Modes`.

    Returns
    -------
    mass, c, inertia : ndarray
        Arguments of `treefactor.chain_inertia`.
    modes : Modes
    """
    arguments = {"points": points, "masses": masses, "shapes": shapes}
    points, masses, shapes = (as_real(x, name) for name, x in arguments.items())
    weighed = masses[..., None, :, None] * shapes
    momentum = weighed.sum(axis=-2)
    moment = np.cross(points[..., None, :, :], weighed).sum(axis=-2)
    modal = np.einsum("...spx,...tpx->...st", weighed, shapes)
    second = np.einsum("...p,...px,...py->...xy", masses, points, points)
    inertia = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    c = np.einsum("...p,...px->...x", masses, points)
    return masses.sum(axis=-1), c, inertia, Modes(momentum, moment, modal, tip, rotation)


def flexible_inertia(axis, r, mass, c, inertia, modes: Modes, prismatic=None) -> np.ndarray:
    """Compute the inertia matrix of a chain of N links with one joint and S modes each.

    Parameters
    ----------
    axis, r, mass, c, inertia, prismatic
        As for `treefactor.chain_inertia`, for the deformed links: ``r[k + 1]`` is to the deformed
        tip of link k.
    modes : Modes

    Returns
    -------
    A : ndarray of float64, shape (..., N + N S, N + N S)
        Symmetric. Joints come first, then the modes of the first link, of the second ...: the first N rows
        and columns are `treefactor.chain_inertia`.

    Raises
    ------
    ShapeError, InvalidChainError, NonFiniteError
        As for `treefactor.chain_inertia`.

    Notes
    -----
    The Kane-sum paper, eq. 9 and its last paragraph. With W_x, V_x the angular velocity and velocity at O_1
    that coordinate x gives to all bodies beyond it, and P_y, L_y the momentum about O_1 due to y alone,

        A_xy = W_x^T L_y + V_x^T P_y        x before y along the chain

    and for two modes of one link the same with the momentum of the bodies beyond it, plus their modal mass.
    """
    arguments = {"axis": axis, "r": r, "mass": mass, "c": c, "inertia": inertia}
    flexible = {f"modes.{field}": values for field, values in modes._asdict().items()}
    tails = TAILS | _mode_tails(modes)
    arrays, batch, slides = validate_chains(arguments | flexible, tails, prismatic)
    chains = Chains(*arrays[:5], slides)
    lost = unusable(chains, dict(zip(flexible, arrays[5:], strict=True)), tails, batch)
    n, size = len(slides), math.prod(batch)
    whole = [
        np.broadcast_to(x, (size, n, *tails[k])) for k, x in zip(arguments | flexible, arrays, strict=True)
    ]
    A = _assemble(Modes(*whole[5:]), slides[:, None] == 1, *whole[:5])
    A[lost] = np.nan
    return A.reshape(*batch, *A.shape[1:])


def _mode_tails(modes: Modes) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the modes of one link."""
    shape = np.shape(modes.momentum)
    if len(shape) < 3:
        message = f"modes.momentum must have shape (..., N, S, 3), got {shape}"
        raise ShapeError(message, shape, ("...", "N", "S", 3))
    S = shape[-2]
    return {f"modes.{field}": (S, S if field == "mass" else 3) for field in Modes._fields}


def _assemble(modes: Modes, slides, axis, r, mass, c, inertia) -> np.ndarray:
    """Return A (size, n + n S, n + n S); every array has the batch axis, slides is (n, 1)."""
    n, S = modes.mass.shape[1:3]
    o = np.cumsum(r, axis=1) - r[:, :1]  # from O_1 to O_k
    tip = np.concatenate([o[:, 1:], o[:, -1:]], axis=1)[:, :, None]
    own = o[:, :, None]

    here = _composites(o, mass, c, inertia)
    beyond = [np.concatenate([x[:, 1:], np.zeros_like(x[:, :1])], axis=1)[:, :, None] for x in here]
    turn = np.where(slides, 0.0, axis)
    joints = turn, np.where(slides, axis, 0.0) + np.cross(o, turn)
    bent = modes.rotation, modes.tip + np.cross(tip, modes.rotation)
    W, V = map(_joined, joints, bent)
    P, L = map(_joined, _momentum(here, *joints), _momentum(beyond, *bent))
    own_P = _joined(np.zeros_like(o), modes.momentum)
    own_L = _joined(np.zeros_like(o), modes.moment + np.cross(own, modes.momentum))

    rank = np.concatenate([2 * np.arange(n), np.repeat(2 * np.arange(n) + 1, S)])
    rigid = W @ _transposed(L) + V @ _transposed(P)
    inboard = np.where(rank[:, None] < rank, rigid + W @ _transposed(own_L) + V @ _transposed(own_P), 0.0)
    level = np.where(rank[:, None] == rank, rigid, 0.0)
    for k in range(n):
        block = slice(n + k * S, n + (k + 1) * S)
        level[:, block, block] += modes.mass[:, k]
    return inboard + _transposed(inboard) + (level + _transposed(level)) / 2


def _composites(o, mass, c, inertia):
    """Return mass, first moment and inertia tensor of the bodies from k on, about O_1."""
    h = c + mass[..., None] * o
    #   I' = I + (2 o^T c + m o^T o) E - o c^T - (c + m o) o^T
    spread = np.einsum("...x,...x->...", o, c + h)[..., None, None] * np.eye(3)
    moved = inertia + spread - o[..., :, None] * c[..., None, :] - h[..., :, None] * o[..., None, :]
    return [np.flip(np.cumsum(np.flip(x, 1), axis=1), 1) for x in (mass, h, moved)]


def _momentum(bodies, W, V):
    """Return momentum and angular momentum of bodies with angular velocity W and velocity V about a point."""
    m, h, I = bodies
    return m[..., None] * V + np.cross(W, h), np.cross(h, V) + (I @ W[..., None])[..., 0]


def _joined(joints, modes):
    """Concatenate vectors (size, n, 3) of joints and (size, n, S, 3) of modes."""
    return np.concatenate([joints, modes.reshape(len(modes), -1, 3)], axis=1)


def _transposed(A):
    """Return the transposed matrices."""
    return np.swapaxes(A, 1, 2)
