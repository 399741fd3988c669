"""Solve motions of an arm with Crocoddyl, in a Python of its own: for `treefactor bench control`.

It is run as a script, with the file of the problems (.npz) as argument. It solves all of them for every line
that it reads, and answers with the mean of their costs, the sum of their iterations and the processor time.
"""

import sys
import time


def shooting_problem(crocoddyl, pin, model, given, number: int):
    """Return a problem as a ShootingProblem that computes with one thread, and its first controls."""
    import numpy as np

    state = crocoddyl.StateMultibody(model)
    actuation, still = crocoddyl.ActuationModelFull(state), np.zeros(model.nv)
    goal = given["goal"][number]
    residuals = {
        "goal": crocoddyl.ResidualModelFramePlacement(
            state, model.getFrameId(str(given["frame"])), pin.SE3(goal[:, :3], goal[:, 3])
        ),
        "state": crocoddyl.ResidualModelState(state, np.concatenate([given["rest"], still])),
        "effort": crocoddyl.ResidualModelControl(state, given["hold"]),
    }

    def action(weights, h: float):
        costs = crocoddyl.CostModelSum(state)
        for name, weight in zip(residuals, weights, strict=False):
            costs.addCost(name, crocoddyl.CostModelResidual(state, residuals[name]), float(weight))
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, h)

    start, steps = np.concatenate([given["q0"][number], still]), int(given["steps"])
    actions = [action(given["running"], float(given["h"]))] * steps
    problem = crocoddyl.ShootingProblem(start, actions, action(given["final"], 0.0))
    problem.nthreads = 1
    return problem, [given["u"][number]] * steps


def main():
    """Build the problems, then solve them once for every line."""
    import crocoddyl
    import numpy as np
    import pinocchio as pin

    given = dict(np.load(sys.argv[1]))
    model = pin.buildModelFromUrdf(str(given["urdf"]))
    problems = [shooting_problem(crocoddyl, pin, model, given, k) for k in range(len(given["q0"]))]
    for _ in sys.stdin:
        cost, iterations, start = 0.0, 0, time.process_time()
        for problem, u in problems:
            solver = crocoddyl.SolverDDP(problem)
            solver.th_stop = float(given["tolerance"])
            solver.solve(problem.rollout(u), u, int(given["iterations"]), True)
            cost, iterations = cost + solver.cost, iterations + solver.iter + 1
        print(cost / len(problems), iterations, time.process_time() - start, flush=True)


if __name__ == "__main__":
    main()
