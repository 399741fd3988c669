"""Simulate eight fingers, closed by one cam, that hold a ball by friction while the tray under it sinks.

The cam is a pyramid that rises between the rollers at the lower ends of the fingers; each finger turns
about a tangent of the palm, and a spring opens it.
"""

import numpy as np
from show import Camera, arguments, placements, save, timed

import treefactor as tf
from treefactor.constraints import Contact, Plane, Sphere, Stepper

FINGERS, PALM, TAIL, LENGTH = 8, 0.06, 0.05, 0.12  # m
ROLLER, TIP, BALL = 0.008, 0.01, 0.04
SLOPE = np.radians(70.0)  # of the faces of the cam
HEIGHT = 0.118  # of the ball's centre at first


def finger(k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation, x radial, and origin of the joint of a finger."""
    angle = 2 * np.pi * k / FINGERS
    x = np.array([np.cos(angle), np.sin(angle), 0.0])
    return np.stack([x, [-x[1], x[0], 0.0], [0, 0, 1.0]], axis=1), PALM * x


def scene(mu: float = 0.8) -> tuple[Stepper, np.ndarray]:
    """Return the stepper and the configuration with the fingers open and the ball on the tray."""
    up = [0, 0, 1.0]
    joints = [
        tf.Joint("cam", "prismatic", axis=up, inertia=tf.Inertia(0.3), lower=-0.05, upper=0.06),
        tf.Joint("tray", "prismatic", axis=up, inertia=tf.Inertia(0.2)),
        tf.Joint("ball", "freeflyer", inertia=tf.Inertia(0.2, tensor=0.4 * 0.2 * BALL**2 * np.eye(3))),
    ]
    link = tf.Inertia(0.05, [0, 0, 0.03], np.diag([1e-4, 1e-4, 1e-5]))
    ball = Sphere(2, radius=BALL)
    contacts = [Contact(ball, Plane(1, point=[0, 0, HEIGHT - BALL]), mu)]
    face = np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    for k in range(FINGERS):
        R, p = finger(k)
        i = len(joints)
        joints.append(
            tf.Joint(f"finger{k}", "revolute", R=R, p=p, axis=[0, -1.0, 0], inertia=link, lower=-0.4)
        )
        start = R @ [PALM - ROLLER / np.sin(SLOPE), 0, -TAIL]  # the cam touches all rollers at q = 0
        contacts.append(Contact(Sphere(i, [0, 0, -TAIL], ROLLER), Plane(0, R @ face, start), 0.1))
        contacts.append(Contact(Sphere(i, [0, 0, LENGTH], TIP), ball, mu))
    q = np.zeros(sum(joint.nq for joint in joints))
    q[4], q[8] = HEIGHT, 1.0
    return Stepper(tf.Model(joints), contacts, h=0.002), q


def drive(t, q, v):
    """Raise the cam for half a second with up to 20 N, then lower the tray; springs open the fingers."""
    tau = np.zeros_like(v)
    tau[0] = 0.3 * 9.81 + np.clip(2000.0 * (0.06 * min(t / 0.5, 1.0) - q[0]), -20, 20) - 20.0 * v[0]
    tau[1] = 0.2 * 9.81 + 500.0 * (-0.05 * np.clip((t - 0.6) / 0.4, 0, 1) - q[1]) - 20.0 * v[1]
    tau[1] += 0.2 * 9.81 if t < 0.6 else 0.0  # the ball's weight
    tau[8:] = -0.2 * q[9:] - 0.005 * v[8:]
    return tau


def paint(picture, q):
    (_, cam), (_, tray), (_, ball), *fingers = placements(MODEL, q)
    wide = PALM - ROLLER
    for k in range(FINGERS):
        R, _ = finger(k)
        S, _ = finger(k + 1)
        foot = [cam + X @ [wide + np.tan(np.pi / 2 - SLOPE) * 0.05, 0, -TAIL - 0.05] for X in (R, S)]
        top = [cam + X @ [wide - np.tan(np.pi / 2 - SLOPE) * 0.06, 0, -TAIL + 0.06] for X in (R, S)]
        corners = np.array([*foot, *top[::-1]]) @ picture.camera.axes.T
        picture.add(corners[:, :2], corners[:, 2].mean(), (0.7, 0.6, 0.4), 0.9)
    picture.box(
        np.eye(3), tray + np.array([0, 0, HEIGHT - BALL - 0.004]), [0.05, 0.05, 0.008], (0.6, 0.6, 0.65)
    )
    picture.sphere(ball, BALL, (0.85, 0.35, 0.3))
    for R, p in fingers:
        low, tip = p + R @ [0, 0, -TAIL], p + R @ [0, 0, LENGTH]
        picture.rod(low, p, 0.010, (0.4, 0.5, 0.65))
        picture.rod(p, tip, 0.010, (0.4, 0.5, 0.65))
        picture.sphere(low, ROLLER, (0.3, 0.3, 0.35))
        picture.sphere(tip, TIP, (0.3, 0.3, 0.35))


MODEL = scene()[0].model


def main():
    options = arguments(__doc__, steps=700)
    stepper, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, drive)
    print(f"the ball is at {run.q[-1, 4]:.4f} m, the tray {run.q[-1, 1]:.4f} m lower than at first")
    if options.out:
        save(options.out, Camera(-70, 15, (-0.16, -0.14), (0.16, 0.2)), run, paint)


if __name__ == "__main__":
    main()
