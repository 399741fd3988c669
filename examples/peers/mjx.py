"""Dynamics of a robot by MuJoCo MJX, for `trajectory_in_jax`."""

import mujoco
from mujoco import mjx
from peers.cost_in_jax import compete, scanned

OFF = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT


def load(problem: dict):
    """Return forward_dynamics, rollout and tool of an MJCF, without contacts and constraints."""
    model = mujoco.MjModel.from_xml_string(str(problem["mjcf"]))
    model.opt.disableflags |= OFF
    body, p = int(model.jnt_bodyid[int(problem["joint"])]), problem["p"]
    names = [model.joint(i).name for i in range(model.njnt)]
    if names != problem["joints"].tolist():
        raise ValueError(f"MJX orders the joints {names}")
    model = mjx.put_model(model, impl="jax")
    data = mjx.make_data(model, impl="jax")

    def forward_dynamics(q, v, tau):
        return mjx.forward(model, data.replace(qpos=q, qvel=v, qfrc_applied=tau)).qacc

    def tool(q):
        frames = mjx.kinematics(model, data.replace(qpos=q))
        return frames.xmat[body] @ p + frames.xpos[body]

    return forward_dynamics, scanned(forward_dynamics), tool


if __name__ == "__main__":
    compete(load)
