"""Execute what the Kane-sum paper concludes without equations: parallel sums, flexible links."""

from __future__ import annotations

import numpy as np

from ...dynamics.chain import chain_inertia
from ...dynamics.flexible_chain import FlexibleChain, FlexibleLink
from .kane_sum_growth import PAPER
from .sample_chains import chain
from .table import Identity, PaperRow, Table

LONG, THREADS = 1100, (2, 3)  # bodies of a chain whose sums are shared by threads
STEP = 1e-6  # seconds of the central differences
BALANCED = Identity(1e-7)  # allowed rate of the energy over the rate of the kinetic energy


def extensions() -> Table:
    """Compare sums on threads with those on one, and the energy of a chain of beams with its motion."""
    arrays = chain(LONG)
    alone = chain_inertia(*arrays)
    rows = [
        PaperRow(
            f"N = {LONG}, {threads} threads",
            "parallel sums: entries of A that are not the same bits",
            int(np.count_nonzero(alone != chain_inertia(*arrays, num_threads=threads))),
            Identity(0.0),
        )
        for threads in THREADS
    ]
    rows += [balance(beams(n)) for n in (1, 3)]
    note = "The paper names both in its conclusion and gives neither equations nor figures."
    return Table(PAPER, "Conclusion: threads and flexible links", note, rows)


def beams(n: int) -> FlexibleChain:
    """Return free beams with two modes in each of two planes."""
    axes = np.eye(3)[[2, 1, 2]]
    links = [
        FlexibleLink.beam(f"beam {k}", axes[k], length=1.0, mass=2.0, bending=50.0, modes=2) for k in range(n)
    ]
    return FlexibleChain(links)


def balance(arm: FlexibleChain) -> PaperRow:
    """Compare the rate of the energy with that of the kinetic energy, of free beams in motion."""
    rng = np.random.default_rng(arm.n)
    q, v = 0.1 * rng.normal(size=(2, arm.nv))
    a = arm.forward_dynamics(q, v)
    (kinetic, stored), (kinetic_0, stored_0) = (arm.energy(q + h * v, v + h * a) for h in (STEP, -STEP))
    rate = float(abs(kinetic + stored - kinetic_0 - stored_0) / abs(kinetic - kinetic_0))
    case = f"{arm.n} beam{'s' * (arm.n > 1)}, {arm.nv - arm.n} modes"
    return PaperRow(
        case, "flexible links: rate of the energy over that of the kinetic energy", rate, BALANCED
    )
