"""Solve 1000 inverse-kinematics problems of the Panda arm at once, and time loops over Pinocchio and Pink.

`tf.control.inverse_kinematics` iterates damped least squares with an active set of limits, and begins again
at a random configuration where an attempt ends in a local minimum. Eight targets run side by side; one that
is reached makes room for the next.

Two loops over Pinocchio stand beside it: one takes the same steps, to compare them; the other is what
scripts have, which clips steps at the limits and begins again after 20 of them. Pink solves a quadratic
program with limits in each step. It is taken from this Python, or from the one named by ``--pink`` or the
environment variable PINK_PYTHON.
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
from treefactor import control, robots

FRAME = "panda_hand_tcp"
REACHED = 1e-4  # m and rad
ROUND = 20  # iterations before the loop over Pinocchio begins again
MOST = 50  # rounds
ONE = np.eye(6)


def problem(targets: int):
    """Return the path of the robot's file, the model and poses of its hand for random configurations."""
    path = robots.find("panda").path
    model = tf.Model.from_urdf(path)
    q = np.random.default_rng(0).uniform(model.lower, model.upper, (targets, model.nq))
    return path, model, tf.frame_placement(model, q, FRAME)


def solve_timed(model, targets, repeats: int = 5):
    """Return the result, and figures: processor time, mean iterations and shares of solved targets."""
    solver, seconds = control.InverseKinematics(model, FRAME, tolerance=REACHED), []
    for _ in range(repeats):
        start = time.process_time()
        result = solver(targets)
        seconds.append(time.process_time() - start)
    first = control.inverse_kinematics(model, targets, FRAME, tolerance=REACHED, restarts=0)
    shares = {"first attempt": float(first.solved.mean()), "all": float(result.solved.mean())}
    iterations = float(result.iterations.mean())
    return result, {
        "targets": len(targets),
        "iterations": iterations,
        "seconds": min(seconds),
        "solved": shares,
    }


def share_over_iterations(model, targets) -> list[float]:
    """Return the share of solved targets after every iteration of all of them."""
    share: list[float] = []
    control.inverse_kinematics(
        model,
        targets,
        FRAME,
        tolerance=REACHED,
        iterations=150,
        callback=lambda progress: share.append(float((progress.error <= 1.0).mean())),
    )
    return share


def pinocchio_step(pin, model, data, frame: int, q, target, hold: bool = True):
    """Return the error of a frame, and q after a step; `hold`: with the active set, else clipped only."""
    pin.computeJointJacobians(model, data, q)
    e = pin.log6(pin.updateFramePlacement(model, data, frame).actInv(target)).vector
    J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
    damping = (0.02 * (e @ e) + 1e-7) * ONE
    lower, upper = model.lowerPositionLimit, model.upperPositionLimit
    s = J.T @ np.linalg.solve(J @ J.T + damping, e)
    if hold:
        J[:, ((q <= lower) & (s < 0.0)) | ((q >= upper) & (s > 0.0))] = 0.0
        s = J.T @ np.linalg.solve(J @ J.T + damping, e)
    return e, np.clip(q + s, lower, upper)


def is_reached(e) -> bool:
    """Return whether an error is within the tolerances."""
    return bool(max(e[:3] @ e[:3], e[3:] @ e[3:]) < REACHED**2)


def pinocchio_solve(pin, model, data, frame: int, q, target, rng):
    """Return how many steps a loop takes that clips them and begins again, and whether it arrives."""
    for count in range(MOST * ROUND):
        e, q = pinocchio_step(pin, model, data, frame, q, target, hold=False)
        if is_reached(e):
            return count, True
        if count % ROUND == ROUND - 1:
            q = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit)
    return MOST * ROUND, False


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


def compare_with_pinocchio(model, path, targets, compared: int, own: float, steps: int = 8) -> dict:
    """Return seconds per target of a loop over Pinocchio beside `own`, and how far the same steps differ.

    The deviation is the median one of q after the steps, in rad or m.
    """
    import pinocchio as pin

    from treefactor.adapters import pinocchio_

    theirs = pinocchio_.load(path, False)
    data, frame = theirs.createData(), theirs.getFrameId(FRAME)
    middle = 0.5 * (model.lower + model.upper)
    ours = control.inverse_kinematics(
        model, targets[:compared], FRAME, restarts=0, stall=steps + 1, iterations=steps, tolerance=1e-15
    )
    goals = [pin.SE3(target[:, :3], target[:, 3]) for target in targets[:compared]]
    deviations, counts, arrived, step = [], [], 0, np.inf
    for goal, q in zip(goals, ours.q, strict=True):
        trail = [middle]
        for _ in range(steps):
            trail.append(pinocchio_step(pin, theirs, data, frame, trail[-1], goal)[1])
        deviations.append(min(np.abs(one - q).max() for one in trail))  # ours is the best of the trail
        for _ in range(3):  # the same steps, of which the fastest count
            rng, start = np.random.default_rng(1), time.process_time()
            count, solved = pinocchio_solve(pin, theirs, data, frame, middle, goal, rng)
            step = min(step, (time.process_time() - start) / (count + 1))
        counts.append(count + 1)
        arrived += solved
    mean = float(np.mean(counts))
    return {
        "treefactor": own,
        "Pinocchio": mean * step,
        "steps": mean,
        "reached": arrived / len(goals),
        "deviation": float(np.median(deviations)),
    }


def compare_with_pink(path, model, targets, python: str | None, steps: int = 50) -> dict | None:
    """Return seconds per step of Pink and the share of targets it reaches; None where it is not installed."""
    arguments = (str(path), FRAME, (0.5 * (model.lower + model.upper)).tolist(), targets.tolist(), steps)
    if python is None and (find_spec("pink") is None or find_spec("daqp") is None):
        return None
    call = [pink_loop] if python is None else [call_elsewhere, python, pink_loop]
    spent, reached = call[0](*call[1:], *arguments)
    return {"seconds": spent, "steps": steps, "targets": len(targets), "reached": reached}


def show(figures: dict, beside: dict | None, pink: dict | None):
    """Print what was solved, and times of both and of their peers."""
    seconds, targets = figures["seconds"], figures["targets"]
    print(f"{targets} targets to {REACHED} m and rad, {1e3 * seconds:.2f} ms in all")
    print(f"solved        {100 * figures['solved']['first attempt']:8.1f} % in the first attempt")
    print(f"              {100 * figures['solved']['all']:8.1f} % with restarts")
    own = seconds / targets
    print(f"treefactor    {1e6 * own:8.2f} µs per target, {figures['iterations']:.1f} iterations")
    if beside is None:
        print("Pinocchio is left out: it is not installed")
    else:
        print(f"Pinocchio     {1e6 * beside['Pinocchio']:8.2f} µs, {beside['steps']:.1f} clipped steps")
        print(f"ratio         {beside['Pinocchio'] / own:8.1f}")
        print(f"deviation     {beside['deviation']:8.1e} of q after the same steps (median)")
    if pink is None:
        print("Pink is left out: pin-pink and daqp are not installed, and --pink names no other Python")
        return
    print(
        f"Pink          {1e6 * pink['seconds']:8.2f} µs per step; "
        f"{pink['steps']} steps reach {100 * pink['reached']:.0f} % of targets"
    )


def draw(path: Path, share: list[float], result):
    """Write a picture of the share of solved targets over iterations, and of the errors in the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(100 * np.array(share), color="C0")
    left.set(xlabel="iteration of each target", ylabel="solved targets, %", ylim=(0, 102))
    bins = np.geomspace(1e-16, 10, 60)
    errors = {"position, m": result.position_error, "rotation, rad": result.angle_error}
    for name, values in errors.items():
        right.hist(np.maximum(values[result.solved], 1e-16), bins, alpha=0.6, label=name)
    right.axvline(REACHED, color="0.4", linestyle="--")
    right.set(xscale="log", xlabel="error", ylabel="targets")
    right.legend()
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--compared", type=int, default=20, help="targets that Pinocchio and Pink solve")
    parser.add_argument("--pink", default=os.environ.get("PINK_PYTHON"), help="a Python that imports pink")
    parser.add_argument("--out", type=Path, help="write a picture (.png)")
    options = parser.parse_args()
    path, model, targets = problem(options.targets)
    result, figures = solve_timed(model, targets)
    try:
        own = figures["seconds"] / len(targets)
        beside = compare_with_pinocchio(model, path, targets, options.compared, own)
    except (ImportError, tf.AdapterError):
        beside = None
    pink = compare_with_pink(path, model, targets[: options.compared], options.pink)
    show(figures, beside, pink)
    if options.out:
        draw(options.out, share_over_iterations(model, targets), result)


if __name__ == "__main__":
    main()
