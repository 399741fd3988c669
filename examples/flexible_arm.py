"""An arm like the space station's, with two flexible booms, swings a payload; its joints are controlled."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from show import arguments

import treefactor as tf
from treefactor.dynamics.flexible_chain import FlexibleChain, FlexibleLink

BENDING, TORSION, RADIUS = 3.8e6, 2.2e6, 0.18  # N m^2, N m^2, m; of the booms
PAYLOAD = tf.Inertia(4000.0, [0.0, 0.0, 1.5], np.diag([6e3, 6e3, 3e3]))
BOOMS = (2, 3)  # links
START = np.array([0.0, 0.3, 0.5, -1.0, 0.2, 0.0, 0.0])
STOP = np.array([0.0, 0.8, 0.1, -0.4, 0.0, 0.3, 0.0])
MOVE, STEP = 20.0, 0.02  # s
FREQUENCY, DAMPING = 2.0, 0.7  # of the controlled joints, rad/s


def arm(flexible: bool = True) -> FlexibleChain:
    """Return the arm without gravity; masses, lengths and inertias are those of `treefactor.arms.SSRMS`."""
    joints, links = tf.arms.SSRMS.model().joints, []
    for k, joint in enumerate(joints):
        end = joints[k + 1].p if k + 1 < len(joints) else [0.0, 0.0, 0.65]
        inertia = joint.inertia
        if k + 1 == len(joints):
            inertia = inertia + PAYLOAD.moved(np.eye(3), np.array([0.0, 0.0, 0.65]))
        if flexible and k in BOOMS:
            links.append(boom(joint, np.asarray(end)))
        else:
            links.append(FlexibleLink.rigid(joint.name, joint.axis, end, inertia, joint.R))
    return FlexibleChain(links, gravity=np.zeros(3))


def boom(joint: tf.Joint, end: np.ndarray) -> FlexibleLink:
    """Return a boom: a tube to the next joint, with two modes in each plane and one of torsion."""
    tube = FlexibleLink.beam(
        *(joint.name, joint.axis, end[0], joint.inertia.mass, BENDING, TORSION, RADIUS),
        loss=0.002,
        R=joint.R,
    )
    values = {name: getattr(tube, name) for name in FlexibleLink.__dataclass_fields__}
    return FlexibleLink(**(values | {"end": end}))


def course(t: float) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities that the joints should have."""
    s = min(t / MOVE, 1.0)
    way = s**3 * (10 - 15 * s + 6 * s**2)
    rate = 30 * s**2 * (1 - s) ** 2 / MOVE
    return START + way * (STOP - START), rate * (STOP - START)


def swing(chain: FlexibleChain, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrate the motion; return times, positions and velocities.

    The drives pull the joints towards their course, with the inertias of the rigid arm as gains, like springs
    and dampers. The midpoint rule is implicit in these and in the elastic forces, and explicit in the others:
    with a the acceleration, (A + h/2 D + h^2/4 K) a = b at the middle of the step.
    """
    n, h, gains = chain.n, STEP, arm(flexible=False).inertia(START)
    K, D = chain.stiffness.copy(), chain.damping.copy()
    K[:n, :n] += FREQUENCY**2 * gains
    D[:n, :n] += 2 * DAMPING * FREQUENCY * gains
    q, v, a = np.zeros((3, chain.nv))
    q[:n] = START
    states = [(0.0, q, v)]
    for step in range(steps):
        middle, fast = q + h / 2 * v, v + h / 2 * a
        wanted, rate = course((step + 0.5) * h)
        torque = K[:n, :n] @ (wanted - middle[:n]) + D[:n, :n] @ (rate - fast[:n])
        A, b = chain.equations(middle, fast, torque)
        a = np.linalg.solve(A + h / 2 * D + h**2 / 4 * K, b + h / 2 * D @ a)
        q, v = q + h * v + h**2 / 2 * a, v + h * a
        states.append(((step + 1) * h, q, v))
    times, positions, velocities = (np.array(x) for x in zip(*states, strict=True))
    return times, positions, velocities


def deflection(chain: FlexibleChain, q: np.ndarray) -> np.ndarray:
    """Return how far the payload is from where rigid booms would hold it, m, for states (times, nv)."""
    straight = q.copy()
    straight[:, chain.n :] = 0.0
    return np.linalg.norm(chain.frames(q)[1][:, -1] - chain.frames(straight)[1][:, -1], axis=1)


def shape(chain: FlexibleChain, q: np.ndarray, points: int = 20) -> np.ndarray:
    """Return points along the deformed arm, shape (points, 3)."""
    (R, origin), line = chain.frames(q), []
    for k, link in enumerate(chain.links):
        along = np.linspace(0.0, 1.0, points)[:, None]
        local = along * link.end
        if link.modes:
            eta, count = q[chain.modes[k]], 2
            bends = [along[:, 0] ** (p + 2) for p in range(count)]
            local = local + sum(
                amplitude * bend[:, None] * tip
                for amplitude, bend, tip in zip(eta, 2 * bends, np.asarray(link.tip), strict=False)
            )
        line.append(origin[k] + local @ R[k].T)
    return np.concatenate(line)


def draw(path: Path, chain: FlexibleChain, times: np.ndarray, q: np.ndarray, frames: int = 40) -> None:
    """Draw the arm at several times and the deflection of the payload, or animate both (.gif)."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure = plt.figure(figsize=(7.2, 3.2), dpi=100)
    space, plane = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
    bent, moving = 1e3 * deflection(chain, q), path.suffix == ".gif"
    plane.plot(times, bent, color="0.8" if moving else "tab:blue")
    plane.axvline(MOVE, color="0.7", linewidth=0.8)
    plane.set(xlabel="time, s", ylabel="deflection of the payload, mm")
    space.set(xlim=(0, 13), ylim=(-4, 2), zlim=(0, 10), xlabel="x, m", ylabel="y, m", zlabel="z, m")
    space.set_aspect("equal")
    space.locator_params(nbins=3)
    (now,) = plane.plot([], [], color="tab:blue")

    def show(k, colour):
        line = shape(chain, q[k])
        return [
            *space.plot(*line.T, color=colour, linewidth=2.0),
            space.scatter(*line[-1:].T, color=[colour], s=40),
        ]

    def step(k, drawn=[]):  # noqa: B006 -- what the last frame has drawn
        for artist in drawn:
            artist.remove()
        drawn[:] = show(k, "tab:blue")
        now.set_data(times[: k + 1], bent[: k + 1])

    figure.tight_layout()
    chosen = np.linspace(0, len(q) - 1, frames if moving else 5).astype(int)
    if moving:
        FuncAnimation(figure, step, chosen).save(path, PillowWriter(fps=8))
    else:
        for number, k in enumerate(chosen):
            show(k, plt.get_cmap("viridis")(number / len(chosen)))
        figure.savefig(path)
    plt.close(figure)


def frequencies(chain: FlexibleChain, q: np.ndarray) -> np.ndarray:
    """Return the frequencies of the booms with locked joints, Hz."""
    n = chain.n
    A, K = chain.inertia(q)[n:, n:], chain.stiffness[n:, n:]
    return np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(A, K)).real)) / (2 * np.pi)


def main():
    options = arguments(__doc__, steps=1500)
    chain = arm()
    start = time.perf_counter()
    times, q, v = swing(chain, options.steps)
    spent = time.perf_counter() - start
    kinetic, potential = chain.energy(q, v)
    bent = deflection(chain, q)
    print(f"{options.steps} steps of {STEP:g} s: {chain.n} joints and {chain.nv - chain.n} modes")
    print(f"lowest frequencies   {', '.join(f'{f:.2f}' for f in frequencies(chain, q[0])[:4])} Hz")
    print(f"deflection           {1e3 * bent.max():8.1f} mm at most, {1e3 * bent[-1]:.1f} mm at the end")
    print(
        f"energy               {(kinetic + potential).max():8.2f} J at most, {potential.max():.2f} J elastic"
    )
    print(f"time                 {1e3 * spent / options.steps:8.2f} ms per step")
    if options.out:
        draw(options.out, chain, times, q)


if __name__ == "__main__":
    main()
