"""Execute what the Kane-sum paper concludes without equations: parallel sums, flexible links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Barrier, BrokenBarrierError, get_ident

import numpy as np

from ...dynamics import chain as production
from ...dynamics.flexible_chain import FlexibleChain, FlexibleLink
from .kane_sum_growth import PAPER
from .sample_chains import chain
from .table import Identity, PaperRow, Table

LONG, THREADS = 1500, (2, 3)  # bodies of a chain whose columns are shared by threads
WAIT = 5.0  # seconds after which a thread that computes alone goes on
POINTS, LOSS = 5, 0.1  # masses of a link of points, and its damping over its stiffness, s
STEP = 1e-4  # of differences, in rad, m and s
BY_DIFFERENCES = Identity(2e-6)
CLAMPED = (1.8751040687, 4.6940911330)  # roots of cos x cosh x = -1: a clamped beam
HINGED = 3.9266023120  # lowest root of tan x = tanh x: a hinged beam
SHAPES = 5  # of a beam in each plane, which give these frequencies to 0.1 %
FREQUENCY = Identity(1e-3)


def extensions() -> Table:
    """Compare sums on threads with those on one, and chains of flexible links with masses of points."""
    arrays = chain(LONG)
    alone = production.chain_inertia(*arrays)
    rows = [row for threads in THREADS for row in shared(arrays, alone, threads)]
    rows += [row for slides in (False, True) for row in of_points(slides)]
    rows += beams()
    note = (
        "The paper names both in its conclusion and gives neither equations nor figures. Threads: those that "
        "computed columns, each of which waits for the others before its first. Points: a chain of three "
        "links of five masses with two modes; A and b from positions of the masses by differences, forces by "
        "d'Alembert. Frequencies: from A and the stiffness of one beam, against Euler and Bernoulli's."
    )
    return Table(PAPER, "Conclusion: threads and flexible links", note, rows)


# ------------------------------------------------------------------------------------------------ threads


def shared(arrays: tuple[np.ndarray, ...], alone: np.ndarray, threads: int) -> list[PaperRow]:
    """Compare A on threads with A on one, and count the threads that computed columns."""
    with recorded(threads) as parts:
        together = production.chain_inertia(*arrays, num_threads=threads)
    case = f"N = {LONG}, {threads} threads"
    different = int(np.count_nonzero(alone != together))
    columns = sum(stop - first for _, first, stop in parts)
    return [
        PaperRow(case, "parallel sums: entries of A that are not the same bits", different, Identity(0.0)),
        PaperRow(
            *(case, "parallel sums: threads that computed columns"),
            *(len({thread for thread, *_ in parts}), threads),
        ),
        PaperRow(
            *(case, "parallel sums: parts that no thread or two computed"),
            *(columns - max((stop for *_, stop in parts), default=0), Identity(0.0)),
        ),
    ]


@contextmanager
def recorded(threads: int) -> Iterator[list[tuple[int, int, int]]]:
    """Record which thread computes which part; each waits for the others before its first."""
    parts: list[tuple[int, int, int]] = []
    together, spread = Barrier(threads), production.spread

    def recording(work: Callable[[int, int], object], *given) -> None:
        def noted(first: int, stop: int) -> None:
            started = any(thread == get_ident() for thread, *_ in parts)
            parts.append((get_ident(), first, stop))
            if not started:
                with suppress(BrokenBarrierError):
                    together.wait(WAIT)
            work(first, stop)

        spread(noted, *given)

    production.spread = recording
    try:
        yield parts
    finally:
        production.spread = spread


# ------------------------------------------------------------------------------------------------ points


class Points:
    """Chain of three links, each of masses on points that two modes displace.

    Attributes
    ----------
    chain : FlexibleChain
        The same chain by integrals over its links.
    """

    def __init__(self, slides: bool):
        rng, self.slides, n, S = np.random.default_rng(7), (False, slides, False), 3, 2
        self.axis = rng.normal(size=(n, 3))
        self.axis /= np.linalg.norm(self.axis, axis=1, keepdims=True)
        self.R = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
        self.R *= np.linalg.det(self.R)[:, None, None]
        self.end, self.gravity = rng.normal(size=(n, 3)), rng.normal(size=3)
        self.points, self.masses = rng.normal(size=(n, POINTS, 3)), rng.uniform(0.5, 1.5, (n, POINTS))
        self.shapes, self.tip = rng.normal(size=(n, S, POINTS, 3)), rng.normal(size=(n, S, 3))
        self.rotation = rng.normal(size=(n, S, 3))
        stiffness = [x @ x.T for x in rng.normal(size=(n, S, S))]
        links = [
            replace(
                FlexibleLink.of_points(
                    *(f"link {k}", self.axis[k], self.end[k], self.points[k], self.masses[k]),
                    *(self.shapes[k], self.tip[k], self.rotation[k], stiffness[k], self.R[k], self.slides[k]),
                ),
                damping=LOSS * stiffness[k],
            )
            for k in range(n)
        ]
        self.chain = FlexibleChain(links, self.gravity)

    def positions(self, q: np.ndarray) -> np.ndarray:
        """Return positions of all masses, link by link."""
        n, S = self.tip.shape[:2]
        eta, R, origin, placed = q[n:].reshape(n, S), np.eye(3), np.zeros(3), []
        for k in range(n):
            R = R @ self.R[k]
            if self.slides[k]:
                origin = origin + R @ self.axis[k] * q[k]
            else:
                R = R @ turned(self.axis[k] * q[k])
            placed.append(origin + (self.points[k] + np.tensordot(eta[k], self.shapes[k], 1)) @ R.T)
            origin = origin + R @ (self.end[k] + eta[k] @ self.tip[k])
            for s in range(S):
                R = R @ turned(self.rotation[k, s] * eta[k, s])
        return np.concatenate(placed)

    def equations(self, q: np.ndarray, v: np.ndarray, torque: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A and b by differences of the positions, without the forces of elasticity."""
        units = STEP * np.eye(len(q))
        J = np.array([self.positions(q + u) - self.positions(q - u) for u in units]) / (2 * STEP)
        before, here, after = (self.positions(q + h * v) for h in (-STEP, 0.0, STEP))
        a, m = (after - 2 * here + before) / STEP**2, self.masses.ravel()
        b = np.einsum("p,xpi,pi->x", m, J, self.gravity - a)
        b[: len(torque)] += torque
        return np.einsum("p,xpi,ypi->xy", m, J, J), b


def turned(vector: np.ndarray) -> np.ndarray:
    """Return the rotation by a vector: the exponential of its cross product, by its power series."""
    K = np.cross(np.eye(3), vector)
    R = term = np.eye(3)
    for k in range(1, 30):
        term = term @ K / k
        R = R + term
    return R


def of_points(slides: bool) -> list[PaperRow]:
    """Compare inertia matrix, forces, energies and accelerations with those of moving masses."""
    masses, rng = Points(slides), np.random.default_rng(11)
    arm = masses.chain
    q, v = 0.3 * rng.normal(size=(2, arm.nv))
    torque = rng.normal(size=arm.n)
    A, b = masses.equations(q, v, torque)
    b -= arm.stiffness @ (q + LOSS * v)
    potential = 0.5 * q @ arm.stiffness @ q - masses.masses.ravel() @ masses.positions(q) @ masses.gravity
    energies = np.array([0.5 * v @ A @ v, potential])
    case = f"three links of points, {'the second one slides' if slides else 'all joints revolute'}"
    return [
        PaperRow(case, f"flexible links: {what}", apart(ours, expected), BY_DIFFERENCES)
        for what, ours, expected in (
            ("A", arm.inertia(q), A),
            ("b", arm.forces(q, v, torque), b),
            ("kinetic and potential energy", np.array(arm.energy(q, v)), energies),
            ("accelerations", arm.forward_dynamics(q, v, torque), np.linalg.solve(A, b)),
        )
    ]


def apart(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest deviation over the largest expected entry."""
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


# ------------------------------------------------------------------------------------------------ beams


def beams() -> list[PaperRow]:
    """Compare frequencies of a clamped, a hinged and a twisting beam with the exact ones."""
    length, mass, bending, torsion, radius = 2.0, 3.0, 100.0, 0.4, 0.1
    beam, half = (
        FlexibleLink.beam("beam", (0, 0, 1), length / parts, mass / parts, bending, modes=SHAPES)
        for parts in (1, 2)
    )
    tube = FlexibleLink.beam("tube", (0, 0, 1), length, mass, bending, torsion, radius, SHAPES)
    in_y, in_z = 1 + np.arange(SHAPES), 1 + SHAPES + np.arange(SHAPES)
    scale = np.sqrt(bending / (mass * length**3))
    clamped, hinged = np.square(CLAMPED) * scale, np.square(HINGED) * scale
    twisting = np.sqrt(3 * torsion / length / (mass * radius**2))
    cases = {
        "clamped beam, bending in y": frequencies([beam], in_y)[:2] / clamped,
        "clamped beam, bending in z": frequencies([beam], in_z)[:2] / clamped,
        "two halves of it, in y": frequencies([half, half], 1 + np.r_[in_y, 2 * SHAPES + in_y])[:2] / clamped,
        "two halves of it, in z": frequencies([half, half], 1 + np.r_[in_z, 2 * SHAPES + in_z])[:2] / clamped,
        "hinged beam, bending in y": frequencies([beam], np.r_[0, in_y])[1:2] / hinged,
        "twisting tube": frequencies([tube], np.array([-1])) / twisting,
    }
    return [
        PaperRow(case, "flexible links: lowest frequencies", float(np.abs(ratios - 1.0).max()), FREQUENCY)
        for case, ratios in cases.items()
    ]


def frequencies(links: list[FlexibleLink], kept: np.ndarray) -> np.ndarray:
    """Return the frequencies of free vibrations of some coordinates, the others held; the lowest first."""
    arm = FlexibleChain(links, np.zeros(3))
    A, K = (X[np.ix_(kept, kept)] for X in (arm.inertia(np.zeros(arm.nv)), arm.stiffness))
    return np.sqrt(np.abs(np.sort(np.linalg.eigvals(np.linalg.solve(A, K)).real)))
