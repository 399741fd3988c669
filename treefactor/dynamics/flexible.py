"""Compute inertia matrix and forces of a chain of flexible links that deform in assumed modes.

The Kane-sum paper announces this extension of its recursion, which needs partial velocities only. A mode of
link k gives the points of that link the partial velocities phi. For the bodies beyond, it acts like a joint
at O_k+1: it gives O_k+1 the velocity phi_tip and them the angular velocity psi. So a column of (9) is still
the momentum of a composite, plus that of the deforming link, and an entry a scalar product with it. The force
vector (17)-(21) sums the loads of the bodies outboard of a coordinate; a deforming link adds its Coriolis
forces and the loads on its own shape functions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._util.validation import as_real, as_vector, shape_of
from ..exceptions import ShapeError
from ._chain import Chains
from .chain import TAILS, unusable, validate_chains

__all__ = [
    "ModeMoments",
    "Modes",
    "flexible_forces",
    "flexible_inertia",
    "of_points",
]


NEXT, LAST = [1, 2, 0], [2, 0, 1]


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


class ModeMoments(NamedTuple):
    """Further integrals of the shape functions over the mass of a link, which its force vector needs.

    In the base frame and with leading axes, as in `Modes`.

    Attributes
    ----------
    second : array_like, shape (..., N, S, 3, 3)
        Integrals of phi x^T dm, x from O_k to the point of the deformed link.
    gyroscopic : array_like, shape (..., N, S, S, 3)
        Integrals of phi_s cross phi_t dm.

    Notes
    -----
    Thread-compatible.
    """

    second: np.ndarray
    gyroscopic: np.ndarray


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
    moment = _cross(points[..., None, :, :], weighed).sum(axis=-2)
    modal = np.einsum("...spx,...tpx->...st", weighed, shapes)
    second = np.einsum("...p,...px,...py->...xy", masses, points, points)
    inertia = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    c = np.einsum("...p,...px->...x", masses, points)
    return masses.sum(axis=-1), c, inertia, Modes(momentum, moment, modal, tip, rotation)


def flexible_inertia(axis, r, mass, c, inertia, modes: Modes, prismatic=None) -> np.ndarray:
    """Compute the inertia matrix of a chain of N links with one joint and S modes each.

    Parameters
    ----------
    axis, mass, c, inertia, prismatic
        As for `treefactor.chain_inertia`.
    r : array_like, shape (..., N, 3)
        As for `treefactor.chain_inertia`. ``r[k + 1]`` is to the deformed tip of link k.
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


def flexible_forces(
    axis,
    r,
    mass,
    c,
    inertia,
    modes: Modes,
    moments: ModeMoments,
    rate=None,
    mode_rate=None,
    force=None,
    moment=None,
    mode_force=None,
    torque=None,
    gravity=(0.0, 0.0, 0.0),
    slide=None,
    prismatic=None,
) -> np.ndarray:
    """Compute the generalized forces b of the dynamics A q̈ = b of a chain of flexible links.

    Parameters
    ----------
    axis, r, mass, c, inertia, modes, prismatic
        As for `flexible_inertia`.
    moments : ModeMoments
    rate : array_like, shape (..., N), optional
        Joint velocities, rad/s or m/s. Here and below, zero by default.
    mode_rate : array_like, shape (..., N, S), optional
        Rates of the amplitudes.
    force, moment : array_like, shape (..., N, 3), optional
        External force on link k in N, and external moment about O_k in N m.
    mode_force : array_like, shape (..., N, S), optional
        Forces on the amplitudes, such as -K eta of elastic links, and the powers of external forces.
    torque : array_like, shape (..., N), optional
        Forces of the joints' drives, in N m or N.
    gravity : array_like, shape (3,)
        m/s^2; acts on all mass, also on that of the modes.
    slide : array_like, shape (..., N), optional
        Displacements of the prismatic joints, m: parts of ``r`` along their axes.

    Returns
    -------
    b : ndarray of float64, shape (..., N + N S)
        Joints first, then modes, as in `flexible_inertia`.

    Raises
    ------
    ShapeError, InvalidChainError, NonFiniteError
        As for `treefactor.chain_inertia`.

    Notes
    -----
    The Kane-sum paper, eqs. 3-5, 11 and 17-21, with the terms of deformation. Rotations psi of the modes of
    one link follow each other: that of a later mode is turned by the earlier ones.
    """
    arguments = {"axis": axis, "r": r, "mass": mass, "c": c, "inertia": inertia}
    flexible = {f"modes.{field}": values for field, values in modes._asdict().items()}
    flexible |= {f"moments.{field}": values for field, values in moments._asdict().items()}
    tails = TAILS | _mode_tails(modes)
    S = np.shape(modes.momentum)[-2]
    tails |= {"moments.second": (S, 3, 3), "moments.gyroscopic": (S, S, 3)}
    tails |= {"mode_rate": (S,), "mode_force": (S,), "slide": ()}
    loads = {"rate": rate, "force": force, "moment": moment, "torque": torque}
    loads |= {"mode_rate": mode_rate, "mode_force": mode_force, "slide": slide}
    n = shape_of(axis)[-2] if len(shape_of(axis)) > 1 else 0
    loads = {name: np.zeros((n, *tails[name])) if x is None else x for name, x in loads.items()}
    every = arguments | flexible | loads
    arrays, batch, slides = validate_chains(every, tails, prismatic)
    named = dict(zip(every, arrays, strict=True))
    chains = Chains(*arrays[:5], slides)
    lost = unusable(chains, {name: named[name] for name in flexible | loads}, tails, batch)
    size, n = math.prod(batch), len(slides)
    whole = {name: np.broadcast_to(x, (size, n, *tails[name])) for name, x in named.items()}
    b = _sum_forces(whole, slides == 1, as_vector(gravity, 3, "gravity"))
    b[lost] = np.nan
    return b.reshape(*batch, b.shape[1])


def _sum_forces(x: dict[str, np.ndarray], slides: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """Return b (size, n + n S) from the loads of all links; arrays have the batch axis."""
    size, n, S = x["mode_rate"].shape
    joints, modes = x["torque"].copy(), x["mode_force"].copy()
    loads = _inertial_loads(x, slides, gravity)
    F, M = np.zeros((size, 3)), np.zeros((size, 3))  # on the links beyond, about their first origin
    for k in reversed(range(n)):
        force, moment, own = loads[k]
        modes[:, k] += own
        if k + 1 < n:
            modes[:, k] += _dot(x["modes.tip"][:, k], F[:, None]) + _dot(
                x["modes.rotation"][:, k], M[:, None]
            )
            M = M + _cross(x["r"][:, k + 1], F)
        F, M = F + force + x["force"][:, k], M + moment + x["moment"][:, k]
        joints[:, k] += _dot(x["axis"][:, k], F if slides[k] else M)
    return np.concatenate([joints, modes.reshape(size, n * S)], axis=1)


def _inertial_loads(x: dict[str, np.ndarray], slides: np.ndarray, gravity: np.ndarray) -> list[tuple]:
    """Return force, moment about O_k and forces on the modes of every link, at zero accelerations of q."""
    size, n, S = x["mode_rate"].shape
    spin, turn = np.zeros((size, 3)), np.zeros((size, 3))  # angular velocity and acceleration
    a = np.tile(-gravity, (size, 1))  # of O_k; gravity accelerates the base upwards instead
    loads = []
    for k in range(n):
        along = x["axis"][:, k] * x["rate"][:, k, None]
        if slides[k]:
            moved = x["axis"][:, k] * x["slide"][:, k, None]
            a = a + _turned(spin, turn, moved) + 2.0 * _cross(spin, along)
        else:
            spin, turn = spin + along, turn + _cross(spin, along)
        loads.append(_loads_of_link({name: values[:, k] for name, values in x.items()}, spin, turn, a))
        if k + 1 < n:
            arm, tip = x["r"][:, k + 1], x["modes.tip"][:, k]
            if slides[k + 1]:
                moved = x["axis"][:, k + 1] * x["slide"][:, k + 1, None]
                arm, tip = arm - moved, tip - _cross(x["modes.rotation"][:, k], moved[:, None])
            speed = np.einsum("es,esx->ex", x["mode_rate"][:, k], tip)
            a = a + _turned(spin, turn, arm) + 2.0 * _cross(spin, speed)
            for s in range(S):
                bent = x["modes.rotation"][:, k, s] * x["mode_rate"][:, k, s, None]
                spin, turn = spin + bent, turn + _cross(spin, bent)
    return loads


def _loads_of_link(x: dict[str, np.ndarray], spin, turn, a) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inertial force, moment about O_k and forces on the modes of one link."""
    c, I, rates = x["c"], x["inertia"], x["mode_rate"]
    momentum, second = x["modes.momentum"], x["moments.second"]
    trace = np.trace(second, axis1=-2, axis2=-1)
    speed = np.einsum("es,esx->ex", rates, momentum)
    force = x["mass"][:, None] * a + _turned(spin, turn, c) + 2.0 * _cross(spin, speed)
    # integral of x cross (spin cross phi): (tr X - X) spin, X the integral of phi x^T
    spread = np.einsum("es,es->e", rates, trace)[:, None] * spin - np.einsum(
        "es,esxy,ey->ex", rates, second, spin
    )
    moment = _cross(c, a) + _times(I, turn) + _cross(spin, _times(I, spin)) + 2.0 * spread
    own = _dot(momentum, a[:, None]) + _dot(x["modes.moment"], turn[:, None])
    own += np.einsum("ex,esxy,ey->es", spin, second, spin) - trace * _dot(spin, spin)[:, None]
    own += 2.0 * np.einsum("et,etsx,ex->es", rates, x["moments.gyroscopic"], spin)
    return -force, -moment, -own


def _turned(spin, turn, arm):
    """Return the acceleration of the end of an arm that turns with a body."""
    return _cross(turn, arm) + _cross(spin, _cross(spin, arm))


def _cross(a, b):
    """Return a × b along the last axis, in a third of the time of `numpy.cross`."""
    return a[..., NEXT] * b[..., LAST] - a[..., LAST] * b[..., NEXT]


def _dot(a, b):
    """Return scalar products along the last axis."""
    return np.sum(a * b, axis=-1)


def _times(A, x):
    """Return products of stacked matrices and vectors."""
    return (A @ x[..., None])[..., 0]


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
    joints = turn, np.where(slides, axis, 0.0) + _cross(o, turn)
    bent = modes.rotation, modes.tip + _cross(tip, modes.rotation)
    W, V = map(_joined, joints, bent)
    P, L = map(_joined, _momentum(here, *joints), _momentum(beyond, *bent))
    own_P = _joined(np.zeros_like(o), modes.momentum)
    own_L = _joined(np.zeros_like(o), modes.moment + _cross(own, modes.momentum))

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
    return m[..., None] * V + _cross(W, h), _cross(h, V) + _times(I, W)


def _joined(joints, modes):
    """Concatenate vectors (size, n, 3) of joints and (size, n, S, 3) of modes."""
    return np.concatenate([joints, modes.reshape(len(modes), -1, 3)], axis=1)


def _transposed(A):
    """Return the transposed matrices."""
    return np.swapaxes(A, 1, 2)
