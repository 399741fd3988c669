"""Solve 1000 inverse-kinematics problems of the Panda arm at once, and time loops over Pinocchio and Pink.

Damped least squares: with the error e = log(M^-1 M*) of the hand's pose M and its Jacobian J in the hand's
axes, a step is dq = J^T (J J^T + d I)^-1 e with the damping d = 0.02 |e|^2 + 1e-7 of Sugihara (2011). Each is
clipped to the joints' limits. A step of the batch takes four compiled calls: the Jacobian with the pose, the
pose of the target seen from it, its logarithm, and `tf.damped_least_squares`.

The first round of 20 iterations starts in the middle of the limits. The targets that it leaves share the
1000 places of the next round, from random configurations: the fewer remain, the more starts each one has.

A loop over Pinocchio's functions takes the same steps; Pink solves a quadratic program with limits in each.
Pink is taken from this Python, or from the one named by ``--pink`` or the environment variable PINK_PYTHON.
"""

import argparse
import inspect
import os
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import robots, se3

FRAME = "panda_hand_tcp"
RELATIVE, LEAST = 0.02, 1e-7  # damping: of |e|^2, and in addition
REACHED = 1e-4  # m and rad


def problem(targets: int):
    """Return the path of the robot's file, the model and poses of its hand for random configurations."""
    path = robots.find("panda").path
    model = tf.Model.from_urdf(path)
    q = np.random.default_rng(0).uniform(model.lower, model.upper, (targets, model.nq))
    return path, model, tf.frame_placement(model, q, FRAME)


class DampedLeastSquares:
    """Damped least squares for a batch of poses of one frame; keeps its arrays between iterations.

    Parameters
    ----------
    model : tf.Model
        Every joint has one number in q.
    frame : str
    places : int
        Number of configurations in the batch.
    """

    def __init__(self, model: tf.Model, frame: str, places: int):
        columns = model.support(frame)
        self.model, self.frame, self.columns = model, frame, slice(columns[0], columns[-1] + 1)
        k = len(columns)
        self.J, self.M, self.apart = (
            np.empty((places, 6, k)),
            np.empty((places, 3, 4)),
            np.empty((places, 3, 4)),
        )
        self.e, self.step = np.empty((places, 6)), np.zeros((places, model.nv))
        self.lower, self.upper = (np.tile(limit, (places, 1)) for limit in (model.lower, model.upper))

    def errors(self, q, targets):
        """Return the distances (m) and angles (rad) of the frame from its targets."""
        e = se3.log(se3.between(tf.frame_placement(self.model, q, self.frame), targets))
        return np.linalg.norm(e[:, :3], axis=1), np.linalg.norm(e[:, 3:], axis=1)

    def iterate(self, q, targets, steps: int, watch=None):
        """Improve q (places, nq) in place; ``watch(q)`` is called before every step."""
        J, M, e, step = self.J, self.M, self.e, self.step
        of_arm = step[:, self.columns]  # the other joints stay where they are
        for _ in range(steps):
            if watch:
                watch(q)
            tf.frame_jacobian(self.model, q, self.frame, layout="packed", placement=True, out=(J, M))
            se3.log(se3.between(M, targets, out=self.apart), out=e)
            tf.damped_least_squares(J, e, RELATIVE * np.einsum("bi,bi->b", e, e) + LEAST, out=of_arm)
            q += step
            np.clip(q, self.lower, self.upper, out=q)


def solve(solver: DampedLeastSquares, targets, rounds: int, steps: int, seed: int = 1):
    """Return configurations (N, nq) that reach the targets, whether each does, and the share over time.

    The share of solved targets is that before every step, and in the end.
    """
    model, places, rng = solver.model, len(solver.e), np.random.default_rng(seed)
    found, solved, share = np.empty((len(targets), model.nq)), np.zeros(len(targets), dtype=bool), []
    q = np.tile(0.5 * (model.lower + model.upper), (places, 1))

    def watch(q):
        position, angle = solver.errors(q, wanted)
        hit = (position < REACHED) & (angle < REACHED)
        found[which[hit]], solved[which[hit]] = q[hit], True
        share.append(solved.mean())

    for _ in range(rounds):
        which = np.resize(np.flatnonzero(~solved), places)  # repeats them
        wanted = targets[which]
        solver.iterate(q, wanted, steps, watch)
        watch(q)
        share.pop()
        if solved.all():
            break
        q = rng.uniform(model.lower, model.upper, q.shape)
    return found, solved, np.array([*share, solved.mean()])


def pinocchio_loop(model, data, frame: int, q, target, steps: int):
    """Return the configuration after steps towards one target, with the functions of Pinocchio."""
    import pinocchio as pin

    q, one, goal = q.copy(), np.eye(6), pin.SE3(target[:, :3], target[:, 3])
    for _ in range(steps):
        pin.computeJointJacobians(model, data, q)
        e = pin.log6(pin.updateFramePlacement(model, data, frame).actInv(goal)).vector
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
        q += J.T @ np.linalg.solve(J @ J.T + (RELATIVE * (e @ e) + LEAST) * one, e)
        np.clip(q, model.lowerPositionLimit, model.upperPositionLimit, out=q)
    return q


def pink_loop(path, frame, q, targets, steps):
    """Return seconds per step of Pink and the share of targets that it reaches."""
    import time

    import numpy as np
    import pink
    import pinocchio as pin

    model = pin.buildModelFromUrdf(path)
    task, posture = pink.FrameTask(frame, 1.0, 1.0, lm_damping=0.02), pink.PostureTask(1e-4)
    posture.set_target(np.array(q))
    spent, reached = [], 0
    for target in np.array(targets):
        goal = pin.SE3(target[:, :3], target[:, 3])
        task.set_target(goal)
        configuration = pink.Configuration(model, model.createData(), np.array(q))
        start = time.process_time()
        for _ in range(steps):
            v = pink.solve_ik(configuration, (task, posture), 0.2, solver="daqp", safety_break=False)
            configuration.integrate_inplace(v, 0.2)
        spent.append((time.process_time() - start) / steps)
        e = pin.log6(configuration.get_transform_frame_to_world(frame).actInv(goal)).vector
        reached += bool(max(np.linalg.norm(e[:3]), np.linalg.norm(e[3:])) < 1e-4)
    return float(np.median(spent)), reached / len(targets)


def call_elsewhere(python: str, function, *arguments):
    """Return the result of a function that imports what it needs, from a run by another Python."""
    text = f"{inspect.getsource(function)}\nprint({function.__name__}(*{arguments!r}))"
    done = subprocess.run([python, "-c", text], capture_output=True, text=True, check=True)
    return tuple(map(float, done.stdout.strip("()\n ").split(",")))


def solve_timed(solver, targets, rounds: int, steps: int):
    """Return what `solve` returns, and figures: the number of targets, processor time and shares solved."""
    start = time.process_time()
    found, solved, share = solve(solver, targets, rounds, steps)
    seconds = time.process_time() - start
    shares = {"first round": float(share[min(steps, len(share) - 1)]), "all": float(solved.mean())}
    figures = {"targets": len(targets), "steps": steps, "iterations": len(share) - 1}
    return found, solved, share, figures | {"seconds": seconds, "solved": shares}


def compare_with_pinocchio(solver, path, targets, compared: int, steps: int) -> dict:
    """Return seconds per target and iteration beside those of a loop over Pinocchio, taken in turns.

    The deviation is the median one of q after the steps, in rad or m.
    """
    from treefactor.adapters import pinocchio_

    theirs = pinocchio_.load(path, False)
    data, frame, model = theirs.createData(), theirs.getFrameId(FRAME), solver.model
    middle = 0.5 * (model.lower + model.upper)
    wanted, spent, expected = np.resize(targets, (len(solver.e), 3, 4)), [], []
    for target in targets[:compared]:
        q, start = np.tile(middle, (len(wanted), 1)), time.process_time()
        solver.iterate(q, wanted, steps)
        between = time.process_time()
        expected.append(pinocchio_loop(theirs, data, frame, middle, target, steps))
        spent.append(((between - start) / len(wanted), time.process_time() - between))
    own, loop = np.median(spent, axis=0) / steps
    deviation = np.median(np.abs(q[: len(expected)] - expected).max(axis=1))
    return {"treefactor": float(own), "Pinocchio": float(loop), "deviation": float(deviation)}


def compare_with_pink(path, model, targets, python: str | None, steps: int = 50) -> dict | None:
    """Return seconds per step of Pink and the share of targets it reaches; None where it is not installed."""
    arguments = (str(path), FRAME, (0.5 * (model.lower + model.upper)).tolist(), targets.tolist(), steps)
    if python is None and (find_spec("pink") is None or find_spec("daqp") is None):
        return None
    call = [pink_loop] if python is None else [call_elsewhere, python, pink_loop]
    spent, reached = call[0](*call[1:], *arguments)
    return {"seconds": spent, "steps": steps, "targets": len(targets), "reached": reached}


def show_pinocchio(found: dict, places: int):
    """Print times beside those of Pinocchio."""
    own, loop, deviation = found["treefactor"], found["Pinocchio"], found["deviation"]
    print(f"treefactor    {1e9 * own:8.0f} ns per target and iteration, a batch of {places}")
    print(f"Pinocchio     {1e9 * loop:8.0f} ns, one after the other; deviation of q {deviation:.1e} (median)")
    print(f"ratio         {loop / own:8.1f}")


def show_pink(found: dict | None):
    """Print the time of a step of Pink, or why it is left out."""
    if found is None:
        print("Pink is left out: pin-pink and daqp are not installed, and --pink names no other Python")
        return
    print(
        f"Pink          {1e9 * found['seconds']:8.0f} ns per step; "
        f"{found['steps']} steps reach {100 * found['reached']:.0f} % of targets"
    )


def draw(path: Path, share, steps: int, errors):
    """Write a picture of the share of solved targets over iterations, and of the errors in the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(100 * share, color="C0")
    for k in range(steps, len(share) - 1, steps):
        left.axvline(k, color="0.7", linestyle=":")
    left.set(xlabel="iteration (dotted: restarts)", ylabel="solved targets, %", ylim=(0, 102))
    bins = np.geomspace(1e-16, 10, 60)
    for values, name in zip(errors, ("position, m", "rotation, rad"), strict=True):
        right.hist(np.maximum(values, 1e-16), bins, alpha=0.6, label=name)
    right.axvline(REACHED, color="0.4", linestyle="--")
    right.set(xscale="log", xlabel="error", ylabel="targets")
    right.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=6, help="the first start and restarts")
    parser.add_argument("--steps", type=int, default=20, help="iterations in a round")
    parser.add_argument("--compared", type=int, default=20, help="targets that Pinocchio and Pink solve")
    parser.add_argument("--pink", default=os.environ.get("PINK_PYTHON"), help="a Python that imports pink")
    parser.add_argument("--out", type=Path, help="write a picture (.png)")
    options = parser.parse_args()
    path, model, targets = problem(options.targets)
    solver = DampedLeastSquares(model, FRAME, options.targets)
    found, solved, share, figures = solve_timed(solver, targets, options.rounds, options.steps)
    errors = solver.errors(found[solved], targets[solved])
    print(f"{options.targets} targets to {REACHED} m and rad, {1e3 * figures['seconds']:.0f} ms in all")
    print(f"solved        {100 * figures['solved']['first round']:8.1f} % by {options.steps} iterations")
    print(f"              {100 * solved.mean():8.1f} % by {len(share) - 1}, with restarts")
    try:
        beside = compare_with_pinocchio(solver, path, targets, options.compared, options.steps)
        show_pinocchio(beside, options.targets)
    except tf.AdapterError:
        print("Pinocchio is left out: it is not installed")
    show_pink(compare_with_pink(path, model, targets[: options.compared], options.pink))
    if options.out:
        draw(options.out, share, options.steps, errors)


if __name__ == "__main__":
    main()
