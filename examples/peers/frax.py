"""Dynamics of a robot by frax, for `trajectory_in_jax`."""

from frax.core.robot import Robot
from peers.cost_in_jax import compete, scanned


def load(problem: dict):
    """Return forward_dynamics, rollout and tool of a URDF."""
    robot = Robot(str(problem["urdf"]))
    if robot.joint_names != problem["joints"].tolist():
        raise ValueError(f"frax orders the joints {robot.joint_names}")
    joint, p = int(problem["joint"]), problem["p"]

    def forward_dynamics(q, v, tau):
        return robot.forward_dynamics(q, v, tau, None)

    def tool(q):
        placement = robot.joint_to_world_transforms(q)[joint]
        return placement[:3, :3] @ p + placement[:3, 3]

    return forward_dynamics, scanned(forward_dynamics), tool


if __name__ == "__main__":
    compete(load)
