"""A simulated arm whose bodies differ from its description, and files of its motion."""

import numpy as np

import treefactor as tf

URDF = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.05 0 0.2"/><mass value="3"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.03 0.15"/><mass value="1.5"/>
  <inertia ixx="0.04" iyy="0.04" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="tool"><inertial><mass value="0.2"/>
  <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/>
  <origin xyz="0 0 0.4"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.3"/></joint>
</robot>
"""
VISCOUS, DRY, OFFSET, ROTOR = ([1.2, 0.4], [0.8, 0.3], [0.1, -0.2], [0.3, 0.05])
RATE = 500.0


def true_model(model):
    """Return the arm as it is: bodies 1.3 and 0.8 times as heavy, with a rotor in each joint."""
    return model.with_parameters(model.parameters * [[1.3], [0.8]], armature=ROTOR)


def motion(seconds=12.0, seed=0, nv=2):
    """Return times, configurations, velocities and accelerations of sums of sines."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * RATE)) / RATE
    w = 2 * np.pi * np.array([0.21, 0.43, 0.62, 0.83, 1.07])
    amplitude, phase = rng.uniform(0.2, 0.6, size=(nv, 5)) / w, rng.uniform(0, 2 * np.pi, size=(nv, 5))
    angles = w * t[:, None, None] + phase
    q, v = (amplitude * np.sin(angles)).sum(-1), (amplitude * w * np.cos(angles)).sum(-1)
    return t, q, v, -(amplitude * w**2 * np.sin(angles)).sum(-1)


def torques(model, q, v, a):
    """Return the torques of the arm as it is, with friction."""
    return tf.rnea(true_model(model), q, v, a) + v * VISCOUS + np.sign(v) * DRY + OFFSET


def write(folder, noise=0.0, seed=0, seconds=12.0):
    """Write the description and a file of positions and torques with noise; return the model."""
    (folder / "arm.urdf").write_text(URDF)
    model = tf.Model.from_urdf(folder / "arm.urdf")
    t, q, v, a = motion(seconds, seed)
    rng = np.random.default_rng(seed + 1)
    tau = torques(model, q, v, a)
    write_motion(
        folder / "motion.csv",
        model,
        t,
        q + 1e-4 * noise * rng.normal(size=q.shape),
        tau + noise * rng.normal(size=q.shape),
    )
    return model


def write_motion(path, model, t, q, tau):
    """Write a file of positions and torques of joints with one freedom each."""
    header = ",".join(["t", *(f"{kind}_{name}" for kind in ("q", "tau") for name in model.tree.names)])
    np.savetxt(path, np.column_stack([t, q, tau]), "%.9g", ",", header=header, comments="")
