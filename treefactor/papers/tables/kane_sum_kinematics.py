"""Execute equations (1) to (11) of the Kane-sum paper on an arm with general geometry, with NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._util.rotations import about
from ...dynamics import bias, crba, forward_dynamics
from ...dynamics.chain import chain_forces
from ...model.arms import GENERAL_6R, STANFORD, Arm
from ...model.model import Model
from .table import Identity, PaperRow, Table

PAPER = "Kane-sum: recursive inertia matrix of a chain of bodies"
ARMS = (GENERAL_6R, STANFORD)
EXACT = Identity(1e-11)


class State(NamedTuple):
    """Positions, velocities, and loads on the bodies in their own axes."""

    q: np.ndarray
    v: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    torque: np.ndarray


class Link(NamedTuple):
    """Quantities of one body in the base frame."""

    tau: np.ndarray  # turns from the base frame to the body
    axis: np.ndarray
    r: np.ndarray
    c: np.ndarray
    inertia: np.ndarray
    R: np.ndarray  # partial velocities, (3, n)
    T: np.ndarray
    omega: np.ndarray
    epsilon: np.ndarray
    w: np.ndarray


def tilde(x: np.ndarray) -> np.ndarray:
    """Return the matrix of the cross product."""
    return np.cross(np.eye(3), x)


def links(arm: Arm, state: State) -> list[Link]:
    """Compute (1) to (6) body by body."""
    n = len(arm.mass)
    tau, R, T = np.eye(3), np.zeros((3, n)), np.zeros((3, n))
    omega = epsilon = w = np.zeros(3)
    E, computed = np.zeros((3, 3)), []
    for j, (alpha, d, along) in enumerate(arm.rows):
        slides, base = bool(arm.prismatic[j]), tau
        gamma = about(0, alpha).T
        theta = gamma @ tau  # (1)
        tau = about(2, 0.0 if slides else state.q[j]).T @ theta
        length = np.array([d, 0.0, 0.0]) + gamma.T @ (0.0, 0.0, along)
        t = np.array([0.0, 0.0, state.q[j] if slides else 0.0])
        r = base.T @ (length + gamma.T @ t)  # (2)
        axis = tau[2]
        R_rel, T_rel = (np.outer(axis, np.arange(n) == j) * on for on in (not slides, slides))
        omega_rel, v_rel = R_rel @ state.v, T_rel @ state.v
        w = w + E @ r + 2 * np.cross(omega, v_rel)  # (5), of the body before
        epsilon = epsilon + np.cross(omega, omega_rel)  # (4)
        R, T = R + R_rel, T + tilde(r).T @ R + T_rel  # (3)
        omega = omega + omega_rel
        E = tilde(epsilon) + tilde(omega) @ tilde(omega)
        c, spread = arm.mass[j] * arm.centre[j], about_origin(arm, j)
        computed.append(Link(tau, axis, r, tau.T @ c, tau.T @ spread @ tau, R, T, omega, epsilon, w))  # (6)
    return computed


def about_origin(arm: Arm, j: int) -> np.ndarray:
    """Return the inertia tensor of a link about its joint, in its axes."""
    x = arm.centre[j]
    return arm.inertia[j] + arm.mass[j] * (x @ x * np.eye(3) - np.outer(x, x))


def kanes_equations(arm: Arm, state: State, motions: list[Link]) -> tuple[np.ndarray, np.ndarray]:
    """Compute A by (9) and b by (7), (10) and (11)."""
    n = len(arm.mass)
    A, b = np.zeros((n, n)), state.torque.copy()
    for m, link, force, moment in zip(arm.mass, motions, state.force, state.moment, strict=True):
        c, I = tilde(link.c), link.inertia
        A += link.T.T @ (m * link.T + c.T @ link.R) + link.R.T @ (c @ link.T + I @ link.R)  # (9)
        E = tilde(link.epsilon) + tilde(link.omega) @ tilde(link.omega)
        f = link.tau.T @ force - m * link.w - E @ link.c  # (7), (11)
        turning = np.cross(link.omega, I @ link.omega)
        moments = link.tau.T @ moment - c @ link.w - I @ link.epsilon - turning
        b += link.T.T @ f + link.R.T @ moments  # (10)
    return A, b


def kinematics() -> Table:
    """Compare equations (1) to (11) with our functions."""
    rows = [row for arm in ARMS for row in compared(arm)]
    note = (
        "Equations (1) to (11), as far as they are legible, with NumPy at random positions, velocities and "
        "loads; general 6R has revolute joints, the Stanford arm a prismatic one. (7) turns loads from the "
        "axes of the bodies. Gravity is off."
    )
    return Table(PAPER, "Equations (1) to (11): Kane's equations", note, rows)


def compared(arm: Arm) -> list[PaperRow]:
    """Execute the equations on one arm."""
    rng, n = np.random.default_rng(0), len(arm.mass)
    q, v, torque = rng.uniform(-2, 2, (3, n))
    state = State(q, v, *rng.normal(size=(2, n, 3)), torque)
    motions = links(arm, state)
    A, b = kanes_equations(arm, state, motions)
    model = Model(arm.model().joints, gravity=(0, 0, 0))
    chain = arm.chain(q)
    own = [np.array([getattr(link, name) for link in motions]) for name in ("axis", "r", "c", "inertia")]
    theirs = [chain[k] for k in (0, 1, 3, 4)]
    loads = [
        np.array([link.tau.T @ x for link, x in zip(motions, given, strict=True)]) for given in state[2:4]
    ]
    carried = chain_forces(*chain, v, *loads, torque, arm.prismatic)
    unloaded = state._replace(force=np.zeros((n, 3)), moment=np.zeros((n, 3)))
    rest = kanes_equations(arm, unloaded, motions)[1]
    return [
        PaperRow(arm.name, "(1), (2), (6): axes, vectors, inertias", apart(own, theirs), EXACT),
        PaperRow(arm.name, "(3), (9): A against crba", apart([A], [crba(model, q)]), EXACT),
        PaperRow(
            arm.name,
            "(4), (5), (10), (11): b against bias",
            apart([torque - rest], [bias(model, q, v)]),
            EXACT,
        ),
        PaperRow(arm.name, "(7): b with loads against chain_forces", apart([b], [carried]), EXACT),
        PaperRow(
            *(arm.name, "(8): A⁻¹ b against forward_dynamics"),
            *(apart([np.linalg.solve(A, rest)], [forward_dynamics(model, q, v, torque)]), EXACT),
        ),
    ]


def apart(actual: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Return the largest deviation over the largest expected entry of an array."""
    return max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in zip(actual, expected, strict=True))
