"""Solve the problems of `ddp_batch.py` one by one with Crocoddyl's SolverDDP.

It runs in an environment of its own, with two arguments: the files of the problems and of the results (.npz).
"""

import sys
import time

import crocoddyl
import numpy as np
import pinocchio as pin


def shooting_problem(model, given, number: int):
    """Return problem `number` as a ShootingProblem that computes with one thread."""
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    rotation, origin = given["goal"][number, :, :3], given["goal"][number, :, 3]
    placement = crocoddyl.ResidualModelFramePlacement(
        state, model.getFrameId(str(given["frame"])), pin.SE3(rotation, origin)
    )
    posture = np.concatenate([given["posture"], np.zeros(model.nv)])

    def action(goal_weight, h):
        costs = crocoddyl.CostModelSum(state)
        add = lambda name, residual, weight: costs.addCost(  # noqa: E731
            name, crocoddyl.CostModelResidual(state, residual), float(weight)
        )
        add("goal", placement, goal_weight)
        add("state", crocoddyl.ResidualModelState(state, posture, model.nv), given["state_weight"])
        if h > 0.0:
            add("effort", crocoddyl.ResidualModelControl(state, given["effort"]), given["effort_weight"])
        dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
        return crocoddyl.IntegratedActionModelEuler(dynamics, float(h))

    start = np.concatenate([given["q0"][number], np.zeros(model.nv)])
    running = action(given["goal_weight"], given["h"])
    problem = crocoddyl.ShootingProblem(
        start, [running] * int(given["steps"]), action(given["end_weight"], 0)
    )
    problem.nthreads = 1  # more threads wait for one another and cost processor time
    return problem


def solve(problem, controls, tolerance: float, iterations: int):
    """Return the solver after it has solved the problem, its iterations and the processor time in s."""
    solver = crocoddyl.SolverDDP(problem)
    solver.th_stop = tolerance
    start = time.process_time()
    solver.solve(problem.rollout(controls), controls, iterations, True)
    return solver, solver.iter + 1, time.process_time() - start


def main():
    given = np.load(sys.argv[1])
    model = pin.buildModelFromUrdf(str(given["urdf"]))
    rows = []
    for number in range(len(given["q0"])):
        problem = shooting_problem(model, given, number)
        controls = list(np.repeat(given["u"][number : number + 1], int(given["steps"]), axis=0))
        runs = [
            solve(problem, controls, float(given["tolerance"]), int(given["iterations"]))
            for _ in range(int(given["repeats"]))
        ]
        rows.append((runs[0][0].cost, runs[0][1], min(run[2] for run in runs)))
    cost, iterations, seconds = np.transpose(rows)
    np.savez(sys.argv[2], cost=cost, iterations=iterations, seconds=seconds, version=crocoddyl.__version__)


if __name__ == "__main__":
    main()
