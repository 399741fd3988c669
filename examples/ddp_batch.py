"""Solve 64 reaching problems of a panda at once by differential dynamic programming, and time Crocoddyl.

A motion has 100 steps of semi-implicit Euler. Its cost is the distance of the tool to a placement, of the
state to a posture at rest, and of the efforts to those that hold this posture. Every function takes all
problems: the derivatives of all steps come from one call, the Riccati recursion goes back through the steps
with matrices of all problems, and closed-loop motions go forward with one `step` of all problems and step
lengths. Problems that are done drop out. Step lengths, regularization and the end are those of Crocoddyl's
SolverDDP, which solves the same problems one by one where TREEFACTOR_CROCODDYL_PYTHON names a Python that has
it (see peers/crocoddyl_requirements.txt).
"""

import argparse
import os
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import robots, se3

FRAME, H, LENGTHS = "panda_hand_tcp", 0.01, 0.5 ** np.arange(10)  # s
GOAL, END, STATE, EFFORT = 1.0, 1000.0, 0.1, 1e-3  # weights; all but END are integrated over time
POSTURE = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.02, 0.02])  # rad, m
CHAIN = tf.Tree(list(range(-1, 8)))  # the tree of dense matrices
TOLERANCE, LEAST, LARGEST = 1e-9, 1e-9, 1e9  # of the expected fall of costs; regularization
SPENT: Counter = Counter()  # s, by part
PEER = Path(__file__).parent / "peers" / "crocoddyl_ddp.py"


@dataclass
class Motion:
    """Trajectories of B problems over T steps: times lead, problems (or step lengths and problems) follow.

    Parameters
    ----------
    model : Model
    goal : ndarray, shape (B, 3, 4)
        Placements for the tool.
    effort : ndarray, shape (9,)
        Efforts that cost nothing.
    q, v, u : ndarray, shapes (T + 1, B, 9), (T + 1, B, 9), (T, B, 9)
        States and efforts.
    """

    model: tf.Model
    goal: np.ndarray
    effort: np.ndarray
    q: np.ndarray
    v: np.ndarray
    u: np.ndarray

    def weights(self):
        """Return the weights (T + 1, 1) of the tool's placement and of the state at all times."""
        goal, state = (np.full((len(self.q), 1), H * weight) for weight in (GOAL, STATE))
        goal[-1], state[-1] = END, STATE
        return goal, state

    def cost(self):
        """Return the costs of all motions; NaN where one is not finite."""
        goal, state = self.weights()
        shape = self.q.shape[1:-1]
        placement = tf.frame_placement(self.model, self.q, FRAME)
        residual = se3.log(se3.between(np.broadcast_to(self.goal, placement.shape), placement))
        along_time = goal * square(residual).reshape(len(goal), -1)
        along_time += state * (square(self.q - POSTURE) + square(self.v)).reshape(len(goal), -1)
        effort = H * EFFORT * square(self.u - self.effort).sum(axis=0)
        return 0.5 * (along_time.sum(axis=0).reshape(shape) + effort)

    def select(self, chosen):
        """Return the motions of some problems."""
        return replace(
            self, goal=self.goal[chosen], q=self.q[:, chosen], v=self.v[:, chosen], u=self.u[:, chosen]
        )


def square(x):
    """Return the squared lengths of vectors."""
    return np.einsum("...i,...i", x, x)


def problems(count: int = 64, steps: int = 100) -> Motion:
    """Return panda arms that start from random postures and hold them, with random placements to reach."""
    model = tf.Model.from_urdf(robots.find("panda").path)
    rng = np.random.default_rng(0)
    moving = np.r_[np.ones(7), 0.0, 0.0]
    start, end = (POSTURE + amount * moving * rng.normal(size=(count, 9)) for amount in (0.3, 0.5))
    goal = tf.frame_placement(model, end, FRAME)
    u = np.repeat(tf.generalized_gravity(model, start)[None], steps, axis=0)
    q, v = tf.rollout(model, start, np.zeros((count, 9)), u.swapaxes(0, 1), H)
    q, v = (np.ascontiguousarray(x.swapaxes(0, 1)) for x in (q, v))
    return Motion(model, goal, tf.generalized_gravity(model, POSTURE), q, v, u)


def quadratic(motion: Motion):
    """Return gradients (T + 1, B, 27) of the cost by (u, q, v) and its Hessians (T + 1, B, 9, 9) by q.

    The Hessians are those of Gauss and Newton, of the tool's placement: the other costs have constant ones.
    """
    goal, state = motion.weights()
    J, placement = tf.frame_jacobian(motion.model, motion.q, FRAME, placement=True)
    error = se3.between(np.broadcast_to(motion.goal, placement.shape), placement)
    J = np.matmul(se3.jlog(error), J)
    weighted = goal[..., None, None] * J
    gradient = np.zeros((*motion.q.shape[:2], 27))
    gradient[:-1, :, :9] = H * EFFORT * (motion.u - motion.effort)
    gradient[..., 9:18] = np.matmul(se3.log(error)[..., None, :], weighted)[..., 0, :]
    gradient[..., 9:18] += state[..., None] * (motion.q - POSTURE)
    gradient[..., 18:] = state[..., None] * motion.v
    return gradient, np.matmul(weighted.swapaxes(-1, -2), J)


def sweep(gradient, by_q, derivatives, regularization):
    """Return gains (T, B, 9, 19) and slopes (B,): how much the costs fall per step length, to first order.

    Efforts change by minus the gains times (dq, dv, step length). The recursion goes back with the Hessian
    and gradient [V | g] of the cost to go by (q, v), those [Q | g] by (u, q, v) one step earlier, and the
    derivatives F of a step. A kept Factor takes the Hessians by u as matrices of a chain of 9 joints: 10
    times faster than `numpy.linalg.solve` on 64 of them. All steps use the same arrays and the same views.
    """
    steps, count = len(gradient) - 1, len(regularization)
    gains, by_u = np.empty((steps, count, 9, 19)), np.empty((steps, count, 9))
    F, V = np.zeros((count, 18, 28)), np.zeros((count, 18, 20))  # a last column of zeros: BLAS is faster
    FV, Q, fall = np.empty((count, 28, 20)), np.empty((count, 28, 28)), np.empty((count, 18, 19))
    damping, factor = regularization[:, None], tf.factor(np.broadcast_to(np.eye(9), (count, 9, 9)), CHAIN)
    diagonal_V, diagonal_Q = V.reshape(count, -1)[:, ::21], Q.reshape(count, -1)[:, :783:29]
    F_q, F_v, at_q, at_v = F[:, :9], F[:, 9:], diagonal(F[:, :9, 9:18]), diagonal(F[:, 9:, 18:27])
    V[:, :9, :9], V[:, :, 18] = by_q[-1], gradient[-1, :, 9:]
    diagonal_V += STATE + damping
    weights = H * np.repeat([EFFORT, STATE], (9, 18)) + damping * (np.arange(27) < 9)
    Ft, FV_x, FV_g, V_x = F.swapaxes(1, 2), FV[..., :18], FV[:, :27, 18], V[..., :19]
    parts = zip(derivatives, (9, 18, 0), strict=True)  # by q, v, u
    parts = [(part, F_v[..., column : column + 9]) for part, column in parts]
    Q_g, Q_qq, g_u = Q[:, :27, 27], Q[:, 9:18, 9:18], Q[:, :9, 27]
    Q_uu, Q_ux, Q_xu, Q_xx = Q[:, :9, :9], Q[:, :9, 9:], Q[:, 9:27, :9], Q[:, 9:27, 9:]
    for t in reversed(range(steps)):
        for part, block in parts:
            np.multiply(part[t], H, out=block)
        np.add(at_v, 1.0, out=at_v)
        np.multiply(F_v, H, out=F_q)
        np.add(at_q, 1.0, out=at_q)
        np.matmul(Ft, V, out=FV)
        np.matmul(FV_x, F, out=Q)
        np.add(FV_g, gradient[t], out=Q_g)
        np.add(diagonal_Q, weights, out=diagonal_Q)
        np.add(Q_qq, by_q[t], out=Q_qq)
        factor.refactor(Q_uu)
        factor.solve(Q_ux, out=gains[t])
        by_u[t] = g_u
        np.matmul(Q_xu, gains[t], out=fall)
        np.subtract(Q_xx, fall, out=V_x)
        np.add(diagonal_V, damping, out=diagonal_V)
    return gains, np.einsum("tbi,tbi->b", by_u, gains[..., 18])


def diagonal(X):
    """Return the writable diagonals (B, 9) of matrices (B, 9, 9)."""
    return np.einsum("bii->bi", X)


def forward(motion: Motion, gains, lengths) -> Motion:
    """Return the closed-loop motions with all step lengths: arrays (T + 1, A, B, 9)."""
    steps, count = motion.u.shape[:2]
    q, v = (np.empty((steps + 1, len(lengths), count, 9)) for _ in "qv")
    u = np.empty((steps, len(lengths), count, 9))
    q[0], v[0] = motion.q[0], motion.v[0]
    change = np.empty((len(lengths), count, 19))
    change[..., 18] = lengths[:, None]
    rows_q, rows_v, rows_u = (x.reshape(len(x), -1, 9) for x in (q, v, u))
    for t in range(steps):
        np.subtract(q[t], motion.q[t], out=change[..., :9])
        np.subtract(v[t], motion.v[t], out=change[..., 9:18])
        np.subtract(motion.u[t], np.matmul(gains[t], change[..., None])[..., 0], out=u[t])
        tf.step(motion.model, rows_q[t], rows_v[t], rows_u[t], H, out=(rows_q[t + 1], rows_v[t + 1]))
    return replace(motion, q=q, v=v, u=u)


def search(motion: Motion, cost, gains, slope):
    """Return the step lengths, 0 where none lowers the cost enough; store the motions and their costs.

    Most problems accept the full step: the other lengths are one batch of the problems that do not.
    """
    accepted = np.zeros(len(cost))
    for lengths in (LENGTHS[:1], LENGTHS[1:]):
        left = np.flatnonzero(accepted == 0.0)
        if not left.size:
            break
        chosen = left if len(left) < len(cost) else slice(None)  # of all, views do
        tried = forward(motion.select(chosen), gains[:, chosen], lengths)
        costs = tried.cost()
        expected = (lengths - 0.5 * lengths**2)[:, None] * slope[left]
        enough = (cost[left] - costs > 0.1 * expected) | (np.isfinite(costs) & (slope[left] < 1e-12))
        best, column = enough.argmax(axis=0), np.arange(len(left))
        best, column, left = (x[enough.any(axis=0)] for x in (best, column, left))
        for kept, new in zip((motion.q, motion.v, motion.u), (tried.q, tried.v, tried.u), strict=True):
            kept[:, left] = new[:, best, column]
        accepted[left], cost[left] = lengths[best], costs[best, column]
    return accepted


def solve(motion: Motion, iterations: int = 100):
    """Return the best motions, all costs after each iteration (K + 1, B) and the iterations (B,)."""
    motion = motion.select(np.arange(motion.q.shape[1]))  # copies
    cost, used = motion.cost(), np.zeros(motion.q.shape[1], int)
    regularization, active, costs = np.full(len(cost), LEAST), np.arange(len(cost)), [cost]
    for _ in range(iterations):
        now, damping = motion.select(active), regularization[active]
        with timed("cost derivatives"):
            gradient, by_q = quadratic(now)
        with timed("dynamics derivatives"):
            derivatives = tf.forward_dynamics_derivatives(now.model, now.q[:-1], now.v[:-1], now.u)
        with timed("Riccati sweep"):
            gains, slope = sweep(gradient, by_q, derivatives, damping)
        with timed("line search"):
            current = cost[active]
            length = search(now, current, gains, slope)
        motion.q[:, active], motion.v[:, active], motion.u[:, active] = now.q, now.v, now.u
        cost = cost.copy()
        cost[active] = current
        costs.append(cost)
        used[active] += 1
        damping *= np.where(length > 0.5, 0.1, np.where(length <= 0.01, 10.0, 1.0))
        regularization[active] = np.maximum(damping, LEAST)
        active = active[~(0.5 * slope < TOLERANCE) & (damping < LARGEST)]
        if not active.size:
            break
    return motion, np.array(costs), used


def measure(given: Motion, iterations: int, repeats: int):
    """Return what `solve` returns, and figures of the shortest of some runs.

    These are the average and largest number of iterations, the average cost before and after, the processor
    time per problem, s, and the shares of its parts in all runs.
    """
    SPENT.clear()
    spent, count = [], given.q.shape[1]
    for _ in range(repeats):
        start = time.process_time()
        motion, costs, used = solve(given, iterations)
        spent.append(time.process_time() - start)
    figures = {"problems": count, "steps": len(given.u), "iterations": float(used.mean())}
    figures |= {"most": int(used.max()), "cost": [float(costs[k].mean()) for k in (0, -1)]}
    shares = {name: seconds / sum(spent) for name, seconds in SPENT.items()}
    return motion, costs, used, figures | {"seconds": min(spent) / count, "shares": shares}


@contextmanager
def timed(name: str):
    """Add the processor time of a block to SPENT."""
    start = time.process_time()
    yield
    SPENT[name] += time.process_time() - start


def crocoddyl(python: str, given: Motion, iterations: int, repeats: int):
    """Return the costs, iterations and processor times of SolverDDP, run by another Python."""
    with tempfile.TemporaryDirectory() as folder:
        problem, found = Path(folder) / "problems.npz", Path(folder) / "found.npz"
        np.savez(
            problem,
            **{"urdf": str(robots.find("panda").path), "frame": FRAME, "goal": given.goal},
            **{"q0": given.q[0], "u": given.u[0], "steps": len(given.u), "h": H, "posture": POSTURE},
            **{"effort": given.effort, "goal_weight": GOAL, "end_weight": END, "state_weight": STATE},
            **{"effort_weight": EFFORT, "tolerance": TOLERANCE, "iterations": iterations, "repeats": repeats},
        )
        subprocess.run([python, str(PEER), str(problem), str(found)], check=True)
        return dict(np.load(found))


def compare(theirs: dict, costs, used) -> dict:
    """Return the figures of SolverDDP beside our costs (K + 1, B) and iterations (B,)."""
    return {
        "seconds": float(theirs["seconds"].mean()),
        "iterations": float(theirs["iterations"].mean()),
        "difference": int(abs(used - theirs["iterations"]).max()),
        "deviation": float(abs(costs[-1] / theirs["cost"] - 1.0).max()),
        "version": str(theirs["version"]),
    }


def draw(path: Path, motion: Motion, costs):
    """Draw the costs over the iterations and the ways of the tool."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(10.0, 4.5))
    left = figure.add_subplot(1, 2, 1, yscale="log", xlabel="iteration", ylabel="cost above the least")
    left.plot(np.where(costs > costs[-1], costs - costs[-1], np.nan), linewidth=0.8)
    left.locator_params(axis="x", integer=True)
    right = figure.add_subplot(1, 2, 2, projection="3d", xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    tool = tf.frame_placement(motion.model, motion.q, FRAME)[..., 3]
    for way, goal in zip(tool.swapaxes(0, 1), motion.goal[..., 3], strict=True):
        (line,) = right.plot(*way.T, linewidth=0.8)
        right.plot(*goal[:, None], marker="x", markersize=4, color=line.get_color())
    right.locator_params(nbins=4)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3, help="the shortest of so many runs counts")
    parser.add_argument("--out", type=Path, help="write a picture of costs and motions (.png)")
    options = parser.parse_args()
    given = problems(options.problems, options.steps)
    motion, costs, used, figures = measure(given, options.iterations, options.repeats)
    own = 1e3 * figures["seconds"]
    print(
        f"{options.problems} problems of {options.steps} steps: {used.mean():.1f} iterations, "
        f"at most {used.max()}"
    )
    print(f"cost        {costs[0].mean():8.3f} on average, {costs[-1].mean():.3f} in the end")
    print(f"treefactor  {own:8.2f} ms of processor time per problem, {own / used.mean():.2f} per iteration")
    for name, share in figures["shares"].items():
        print(f"  {name:<22}{100.0 * share:4.0f} %")
    if options.out:
        draw(options.out, motion, costs)
    python = os.environ.get("TREEFACTOR_CROCODDYL_PYTHON")
    if not python:
        print("Crocoddyl is left out: TREEFACTOR_CROCODDYL_PYTHON does not name a Python that has it")
        return
    theirs = compare(crocoddyl(python, given, options.iterations, options.repeats), costs, used)
    peer, rounds = 1e3 * theirs["seconds"], theirs["iterations"]
    print(f"Crocoddyl   {peer:8.2f} ms of processor time per problem, {peer / rounds:.2f} per iteration")
    print(f"iterations  {rounds:8.1f} on average, largest difference {theirs['difference']}")
    print(f"deviation   {theirs['deviation']:8.1e} of costs at most, relative")
    print(f"ratio       {peer / own:8.1f}")


if __name__ == "__main__":
    main()
