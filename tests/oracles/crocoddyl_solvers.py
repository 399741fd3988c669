"""Solve the problems of optimal_motions.py with Crocoddyl, in a Python that has it.

Two arguments: the files of the problems and of the results (.json).

Crocoddyl 3.2.1 computes the centre of mass at the end only, where it does not call aba, and squares the
weights of limits in costs but not in their derivatives: problems have no costs of the former at running
times, and one factor for all limits.
"""

import importlib.metadata
import json
import sys
from pathlib import Path

import crocoddyl
import numpy as np
import pinocchio as pin

SOLVERS = {
    ("single", False): crocoddyl.SolverDDP,
    ("multiple", False): crocoddyl.SolverFDDP,
    ("single", True): crocoddyl.SolverBoxDDP,
    ("multiple", True): crocoddyl.SolverBoxFDDP,
}


class Forces(crocoddyl.ActuationModelAbstract):
    """Forces of some entries of v."""

    def __init__(self, state, actuated):
        super().__init__(state, len(actuated))
        self.matrix = np.eye(state.nv)[:, actuated]

    def calc(self, data, x, u):
        data.tau = self.matrix @ u

    def calcDiff(self, data, x, u):  # a name of Crocoddyl
        data.dtau_du = self.matrix


def residual_of(state, kind, arguments, nu):
    """Return a residual and the weights of its squares, None where they are 1."""
    model, n = state.pinocchio, state.nv
    frame = model.getFrameId(arguments["frame"]) if "frame" in arguments else None
    weight = np.array(arguments.get("weight", ()))
    if kind == "state":
        x = np.concatenate([arguments["q"], np.zeros(n)])
        weight = np.concatenate([arguments["weight_q"], arguments["weight_v"]])
        return crocoddyl.ResidualModelState(state, x, nu), weight
    if kind == "limit":
        return crocoddyl.ResidualModelState(state, np.zeros(2 * n), nu), None
    if kind == "control":
        return crocoddyl.ResidualModelControl(state, np.array(arguments["u"])), weight
    if kind == "com":
        return crocoddyl.ResidualModelCoMPosition(state, np.array(arguments["target"]), nu), weight
    if kind == "velocity":
        target = pin.Motion(np.array(arguments["target"]))
        return crocoddyl.ResidualModelFrameVelocity(state, frame, target, pin.LOCAL, nu), weight
    target = np.array(arguments["target"])
    target = pin.SE3(target[:, :3], target[:, 3])
    return crocoddyl.ResidualModelFramePlacement(state, frame, target, nu), weight


def action(state, actuation, motion, final):
    """Return the model of a running step, or of the end."""
    nu = len(motion["actuated"])
    costs = crocoddyl.CostModelSum(state, nu)
    for number, (kind, arguments, *factors) in enumerate(motion["terms"]):
        if final and kind == "control":
            continue
        residual, weight = residual_of(state, kind, arguments, nu)
        if kind == "limit":
            free = np.full(state.nv, 1e9)
            bounds = crocoddyl.ActivationBounds(
                np.r_[arguments["lower"], -free], np.r_[arguments["upper"], free], 1.0
            )
            activation = crocoddyl.ActivationModelQuadraticBarrier(bounds)
        else:
            activation = crocoddyl.ActivationModelWeightedQuad(weight)
        costs.addCost(
            f"{kind}{number}", crocoddyl.CostModelResidual(state, activation, residual), factors[final]
        )
    dynamics = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
    return crocoddyl.IntegratedActionModelEuler(dynamics, 0.0 if final else motion["dt"])


def model_of(motion):
    """Return the robot."""
    build = pin.buildModelFromXML if motion["urdf"].startswith("<") else pin.buildModelFromUrdf
    return build(motion["urdf"], *([pin.JointModelFreeFlyer()] if motion["floating"] else []))


def solve(motion, method, limited, tolerance, iterations):
    """Return cost, iterations, and whether it converged."""
    state = crocoddyl.StateMultibody(model_of(motion))
    actuation = Forces(state, motion["actuated"])
    running, final = (action(state, actuation, motion, end) for end in (False, True))
    if limited:
        running.u_lb, running.u_ub = (np.array(x) for x in motion["limits"])
    start = np.concatenate([motion["q0"], motion["v0"]])
    problem = crocoddyl.ShootingProblem(start, [running] * motion["steps"], final)
    problem.nthreads = 1
    solver = SOLVERS[method, limited](problem)
    solver.th_stop = tolerance
    us = [np.array(motion["u"])] * motion["steps"]
    if limited:
        us = [np.clip(u, running.u_lb, running.u_ub) for u in us]
    if method == "single":
        done = solver.solve(problem.rollout(us), us, iterations, True)
    else:
        states = [start, *map(np.array, motion["states"][1:])]
        done = solver.solve(states, us, iterations, False)
    return {"cost": solver.cost, "iterations": solver.iter + 1, "solved": bool(done)}


def main():
    given = json.loads(Path(sys.argv[1]).read_text())
    options = given["tolerance"], given["iterations"]
    answers = {
        "versions": {name: importlib.metadata.version(name) for name in ("crocoddyl", "pin")},
        "motions": {
            name: {
                f"{method}{', limited' * limited}": solve(motion, method, limited, *options)
                for method, limited in SOLVERS
                if motion["limits"] or not limited
            }
            for name, motion in given["motions"].items()
        },
    }
    Path(sys.argv[2]).write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
