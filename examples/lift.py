"""Lift a cube with panda: its fingers press with 3 N each, and friction holds the cube.

The hand follows a vertical line, found by inverse kinematics; springs, dampers and the torques that carry the
arm's weight hold the joints. Every joint has 0.1 kg m² of motor, every finger 0.1 kg.
"""

from dataclasses import replace

import numpy as np
from show import Camera, arguments, painter, save, timed

import treefactor as tf
from treefactor import robots
from treefactor.constraints import Box, Geometry, Stepper, contacts_of
from treefactor.control import inverse_kinematics

SIDE, MASS, MU, GRIP = 0.04, 0.1, 0.5, 3.0  # m, kg, -, N
PLACE, LOW, HIGH = (0.5, 0.0), 0.02, 0.22  # m: of the cube, and heights of the hand
CLOSED, LIFTED = 0.3, 1.3  # s: the fingers have closed, and the hand is up
START = np.array([0.0, 0.3, 0.0, -2.3, 0.0, 2.6, 0.785, 0.03, 0.03])
ARM, FINGERS = slice(0, 7), slice(7, 9)


def waypoints(arm: tf.Model, count: int = 9) -> np.ndarray:
    """Return configurations of the arm on a vertical line, with the hand turned down."""
    targets = np.zeros((count, 3, 4))
    targets[:, :, :3] = np.diag([1.0, -1.0, -1.0])
    targets[:, :2, 3], targets[:, 2, 3] = PLACE, np.linspace(LOW, HIGH, count)
    q = [START]
    for target in targets:
        q.append(inverse_kinematics(arm, target, "panda_hand_tcp", q[-1], tolerance=1e-6).q)
    return np.array(q[1:])


def scene():
    """Return the stepper, the shapes, the configuration, and the function of the motors' torques."""
    arm, shapes = tf.Model.from_urdf(robots.find("panda").path, geometry="collision")
    inertia = tf.Inertia(MASS, tensor=np.eye(3) * MASS * SIDE**2 / 6)
    joints = [replace(joint, armature=0.1) for joint in arm.joints]
    cube_joint = tf.Joint("cube", "freeflyer", inertia=inertia)
    model = tf.Model([*joints, cube_joint], strict=False, frames=arm.frames)
    cube = Box("cube", [SIDE] * 3)
    shapes = Geometry([*shapes, cube], [*shapes.names, "cube"])
    line = waypoints(arm)
    q = np.concatenate([line[0, ARM], START[FINGERS], PLACE, [SIDE / 2, 0, 0, 0, 1]])
    exclude = [("panda_*", "panda_*"), ("panda_link*", "*")]
    contacts = contacts_of(model, shapes, mu=MU, exclude=exclude)
    times = np.linspace(CLOSED, LIFTED, len(line))

    def torques(t, q, v):
        wanted = np.array([np.interp(t, times, angles) for angles in line[:, ARM].T])
        tau = tf.generalized_gravity(model, q)
        tau[9:] = 0.0  # nothing carries the cube but the fingers
        tau[ARM] += 600.0 * (wanted - q[ARM]) - 40.0 * v[ARM]
        tau[FINGERS] -= GRIP + 20.0 * v[FINGERS]
        return tau

    return Stepper(model, contacts, h=0.002, friction="box", correction="split"), shapes, q, torques


def motion_in_hand(model: tf.Model, run) -> float:
    """Return how far the cube moved in the axes of the hand after the fingers had closed, m."""
    hand = tf.frame_placement(model, run.q[run.t >= min(CLOSED, run.t[-1])], "panda_hand")
    apart = run.q[run.t >= min(CLOSED, run.t[-1]), 9:12] - hand[:, :, 3]
    return float(np.ptp(np.einsum("kji,kj->ki", hand[:, :, :3], apart), axis=0).max())


def main():
    options = arguments(__doc__, steps=750)
    stepper, shapes, q, torques = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, torques)
    moved = motion_in_hand(stepper.model, run)
    print(f"the cube is at  {run.q[-1, 11]:8.4f} m in the end, and moved {1e3 * moved:.3f} mm in the hand")
    if options.out:
        paint = painter(stepper.model, shapes, ([-0.2, -0.4], [0.8, 0.4]))
        save(options.out, Camera(-60, 15, (-0.45, -0.2), (0.85, 1.1)), run, paint)


if __name__ == "__main__":
    main()
