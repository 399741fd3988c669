"""Dynamics of a robot by adam-robotics, for `trajectory_in_torch`."""

import torch
from adam.pytorch import KinDynComputationsBatch
from peers.cost_in_torch import compete, looped


def load(problem: dict):
    """Return forward_dynamics, rollout and tool of a URDF on a fixed base."""
    gravity = torch.tensor([0.0, 0.0, -9.81, 0.0, 0.0, 0.0], dtype=torch.float64)
    names = problem["joints"].tolist()
    robot = KinDynComputationsBatch(str(problem["urdf"]), names, dtype=torch.float64, gravity=gravity)
    frame, eye = str(problem["frame"]), torch.eye(4, dtype=torch.float64)

    def forward_dynamics(q, v, tau):
        base, rest = eye.expand(len(q), 4, 4), q.new_zeros(len(q), 6)
        H = robot.mass_matrix(base, q)[..., 6:, 6:]
        return torch.linalg.solve(H, tau - robot.bias_force(base, q, rest, v)[..., 6:])

    def tool(q):
        return robot.forward_kinematics(frame, eye.expand(len(q), 4, 4), q)[..., :3, 3]

    return forward_dynamics, looped(forward_dynamics), tool


if __name__ == "__main__":
    compete(load)
