"""Stack five cubes that hang over by 0.999 of what balance allows, and the same cubes in MuJoCo.

With offsets of share times 1/4, 1/3, 1/2 and 1 half sides, from the lowest joint up, the stack stands for a
share below 1.
"""

import numpy as np
from show import Camera, arguments, painter, save, timed

import treefactor as tf
from treefactor.constraints import Box, Geometry, Stepper, Trajectory, contacts_of

SIDE, COUNT, H, MU = 0.2, 5, 0.002, 0.8
BESIDE = 1.0  # m between both stacks


def scene(share: float = 0.999) -> tuple[Stepper, Geometry, np.ndarray]:
    """Return the stepper, the shapes and the configuration."""
    inertia = tf.Inertia(1.0, tensor=np.eye(3) * SIDE**2 / 6)
    model = tf.Model([tf.Joint(f"cube{k}", "freeflyer", inertia=inertia) for k in range(COUNT)])
    shapes = Geometry([Box(k, [SIDE] * 3) for k in range(COUNT)])
    offsets = np.cumsum([0, *(share * SIDE / 2 / k for k in (4, 3, 2, 1))])
    q = np.concatenate([[x, 0, (k + 0.5) * SIDE, 0, 0, 0, 1] for k, x in enumerate(offsets)])
    return Stepper(model, contacts_of(model, shapes, mu=MU), h=H), shapes, q


def in_mujoco(q: np.ndarray, steps: int) -> np.ndarray:
    """Return the configurations of the cubes in MuJoCo, with stiff contacts."""
    import mujoco

    from treefactor.adapters import mujoco_

    geom = f'solref="0.004 1" solimp="0.99 0.999 0.001" friction="{MU} 0 0"'
    body = (
        f'<body><freejoint/><geom type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="1" {geom}/></body>'
    )
    option = f'<option timestep="{H}" cone="elliptic" impratio="100" integrator="implicitfast"/>'
    ground = f'<geom type="plane" size="5 5 1" {geom}/>'
    m = mujoco.MjModel.from_xml_string(
        f"<mujoco>{option}<worldbody>{ground}{body * COUNT}</worldbody></mujoco>"
    )
    data = mujoco.MjData(m)
    data.qpos[:] = mujoco_.qpos(m, q)
    states = [data.qpos.copy()]
    for _ in range(steps):
        mujoco.mj_step(m, data)
        states.append(data.qpos.copy())
    return mujoco_.configuration(m, np.array(states))


def main():
    options = arguments(__doc__, steps=2000)
    stepper, shapes, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps)
    theirs = in_mujoco(q, options.steps)
    top = 7 * (COUNT - 1) + 2
    print(
        f"top             {run.q[-1, top]:.9f} m here, {theirs[-1, top]:.3f} m in MuJoCo, {q[top]} m before"
    )
    if options.out:
        paint = painter(stepper.model, shapes, ([-0.3, -0.4], [1.9, 0.4]))
        moved = theirs.copy()
        moved[:, ::7] += BESIDE

        def both(picture, states):
            for q in np.split(states, 2):
                paint(picture, q)

        beside = Trajectory(run.t, np.hstack([run.q, moved]), run.v, [])
        save(options.out, Camera(-80, 12, (-0.4, -0.2), (1.95, 1.2)), beside, both)


if __name__ == "__main__":
    main()
