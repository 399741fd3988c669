"""Drop a body onto a floor by penalty forces, (2.1) to (2.3) of Tasora et al., and by impulses, (2.5).

The body is a point of 1 kg in a vertical plane, on a guide x = `GUIDE` z: one bilateral constraint C, and
one unilateral D = z.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mlcp import Problem, solve
from ...tree.tree import Tree

GUIDE, HEIGHT, GRAVITY, SECOND = 0.5, 0.1, 9.81, 1.0
MASS = np.eye(2)
C_Q, D_Q = np.array([[1.0, -GUIDE]]), np.array([[0.0, 1.0]])
FORCE = np.array([0.0, -GRAVITY])
INVERSE = np.linalg.inv(np.block([[MASS, -C_Q.T], [C_Q, np.zeros((1, 1))]]))[
    :2
]  # of (2.3), C_q^T in its first line


def printed_fits() -> str:
    """Return whether the matrix of (2.3) can be built with C_q where it is printed, without its transpose."""
    try:
        np.block([[MASS, -C_Q], [C_Q, np.zeros((1, 1))]])
    except ValueError:
        return "does not fit"
    return "fits"


def acceleration(q: np.ndarray, stiffness: float) -> np.ndarray:
    """Solve (2.3) for the accelerations, with the penalty force F_D of the floor."""
    penalty = np.array([0.0, stiffness * max(0.0, -q[1])])
    return INVERSE @ np.append(FORCE + penalty, 0.0)


def path(stiffness: float, steps: int, height: float = HEIGHT):
    """Yield positions and velocities of one second, by steps of Runge and Kutta's order 4."""
    q, v, h = height * np.array([GUIDE, 1.0]), np.zeros(2), SECOND / steps
    for _ in range(steps):
        k1 = acceleration(q, stiffness)
        k2 = acceleration(q + h / 2 * v, stiffness)
        k3 = acceleration(q + h / 2 * (v + h / 2 * k1), stiffness)
        k4 = acceleration(q + h * (v + h / 2 * k2), stiffness)
        q, v = q + h * (v + h / 6 * (k1 + k2 + k3)), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        yield q, v


def deepest(stiffness: float, steps: int) -> float:
    """Return the largest depth below the floor."""
    return max(-q[1] for q, _ in path(stiffness, steps))


def least_steps(stiffness: float) -> int:
    """Return how many steps of one second keep a body in contact in its place, within a tenth."""
    rest, steps = -GRAVITY / stiffness, 2
    while any(not 10 * rest < q[1] < -10 * rest for q, _ in path(stiffness, steps, 1.5 * rest)):
        steps += 1 + steps // 10
    return steps


@dataclass(frozen=True)
class Fall:
    """Result of steps (2.5).

    Attributes
    ----------
    gaps : list of float
        D before every step and after the last.
    products : float
        Largest product of impulse and residual.
    violation : float
        Largest absolute value of C.
    """

    gaps: list[float]
    products: float
    violation: float


def impulse_step(K: float, steps: int, height: float = HEIGHT, h: float = 0.01) -> Fall:
    """Step the body by (2.5) with stabilization K."""
    q, v, tree = height * np.array([GUIDE, 1.0]), np.zeros(2), Tree([-1, 0])
    gaps, products, violation = [float(q[1])], 0.0, 0.0
    for _ in range(steps):
        c, d = -K / h * (C_Q @ q), -K / h * (D_Q @ q)
        solution = solve(Problem(MASS, tree, MASS @ v + h * FORCE, C_Q, c, D_Q, d))
        v = solution.v
        products = max(products, float(abs(solution.gamma[0] * (D_Q @ v - d)[0])))
        q = q + h * v
        gaps.append(float(q[1]))
        violation = max(violation, float(abs(C_Q @ q)[0]))
    return Fall(gaps, products, violation)
