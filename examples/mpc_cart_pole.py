"""Swing poles up and keep them up by model predictive control: `control.ilqr` again in every control step.

A cart carries a pole. Its motor pushes the cart, within the limit of its URDF; nothing turns the pole: the
robot has nv = 2 velocities and nu = 1 control. The plan of a horizon is made once from a guess of the states.
From then on each control step moves states and forces of the plan up by one step, their last ones repeated,
improves them by a few iterations from the measured state, and applies the first force. Many carts are
controlled at once, whose poles are not those of the model, and all of which are pushed.
"""

import argparse
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import control

URDF = """<robot name="cart_pole"><link name="rail"/>
<link name="cart"><inertial><mass value="1.0"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="pole"><inertial><origin xyz="0 0 0.5"/><mass value="0.3"/>
  <inertia ixx="0.025" iyy="0.025" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slider" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
  <limit lower="-2" upper="2" effort="12" velocity="10"/></joint>
<joint name="pivot" type="continuous"><parent link="cart"/><child link="pole"/><axis xyz="0 1 0"/></joint>
</robot>"""
H, HORIZON = 0.03, 60  # s; control steps
PUSHED, PUSH = 110, 1.5  # control step, rad/s
DOWN, UP = np.array([0.0, -1.0, 0.0]), np.array([0.0, 1.0, 0.0])  # position, and (cos, sin) of the angle
COST = [
    control.StateCost(UP, weight_q=[1.0, 5.0], weight_v=0.1, at=np.r_[np.ones(HORIZON), 30.0]),
    control.ControlCost(weight=1e-2),
    control.LimitCost(weight=100.0),  # the rail ends at 2 m
]


@dataclass(frozen=True)
class Run:
    """States (steps + 1, count, nq or nv), forces (steps, count) and the seconds of every control step."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    spent: np.ndarray

    @property
    def angle(self) -> np.ndarray:
        """Angles of the poles from upright, rad."""
        return np.arctan2(self.q[..., 2], self.q[..., 1])


def carts(model: tf.Model, count: int, rng) -> tf.Inertias:
    """Return the bodies of carts whose poles are up to 20 % heavier or lighter than that of the model."""
    scale = np.ones((count, 2, 1))
    scale[:, 1, 0] = rng.uniform(0.8, 1.2, count)
    return tf.Inertias(model, scale * model.parameters)


def of_plan(plan: control.ILQRResult) -> dict[str, np.ndarray]:
    """Return forces and states of a plan by the names of arguments."""
    return {"u": plan.u, "q": plan.q, "v": plan.v}


def moved_up(x: np.ndarray) -> np.ndarray:
    """Return plans (count, times, ...) without what was first, the last repeated."""
    return np.concatenate([x[:, 1:], x[:, -1:]], axis=1)


def run(count: int = 16, steps: int = 200, iterations: int = 3, seed: int = 0) -> Run:
    """Control carts from hanging poles; half a second after they stand, their poles are pushed."""
    model = tf.Model.from_urdf_string(URDF)
    motor = model.idx_v[model.numbers["slider"]]
    limits = -model.effort_limit[[motor]], model.effort_limit[[motor]]  # of the nu = 1 controls
    plants = carts(model, count, np.random.default_rng(seed))
    options = {"actuated": ["slider"], "control_limits": limits, "method": "multiple"}
    solve = partial(control.ilqr, model, cost=COST, dt=H, **options)
    guess = tf.interpolate(model, DOWN, UP, np.linspace(0.0, 1.0, HORIZON + 1))  # a pole that turns steadily
    q, v, tau = np.tile(DOWN, (count, 1)), np.zeros((count, model.nv)), np.zeros((count, model.nv))
    plan = solve(q, v, np.zeros((HORIZON, 1)), q=guess, v=np.zeros((HORIZON + 1, model.nv)))
    print(f"first plan: {plan}, {plan.iterations.max()} iterations, cost {plan.cost[0]:.1f}")
    warm, states, forces, spent = of_plan(plan), [(q, v)], [], []
    for k in range(steps):
        if k == PUSHED:
            v = v + np.array([0.0, PUSH])
        start = time.perf_counter()
        plan = solve(q, v, **warm, iterations=iterations)
        warm = {name: moved_up(x) for name, x in of_plan(plan).items()}
        spent.append(time.perf_counter() - start)
        tau[:, motor] = plan.u[:, 0, 0]
        q, v = tf.step(model, q, v, tau, H, inertias=plants)
        states.append((q, v))
        forces.append(plan.u[:, 0, 0])
    return Run(*(np.array(x) for x in zip(*states, strict=True)), np.array(forces), np.array(spent))


def draw(out: Path, result: Run) -> None:
    """Draw angles and forces against time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.4), dpi=110, layout="constrained")
    t = H * np.arange(len(result.q))
    for axis, values, label in zip(
        figure.subplots(1, 2),
        (np.degrees(np.unwrap(result.angle, axis=0)), result.u),
        ("angle of the pole, °; upright at 0 and 360", "force of the motor, N"),
        strict=True,
    ):
        axis.plot(t[: len(values)], values, color="C0", linewidth=0.6)
        axis.axvline(H * PUSHED, color="C3", linewidth=0.8)
        axis.set(xlabel="s", ylabel=label)
    figure.savefig(out)


def main() -> None:
    """Run the example from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=16, help="carts")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--iterations", type=int, default=3, help="of a control step")
    parser.add_argument("--out", type=Path, help="picture to write")
    options = parser.parse_args()
    result = run(options.count, options.steps, options.iterations)
    falling = (np.abs(result.angle) > 0.1).any(axis=1)
    stand, again = H * np.flatnonzero(falling[:PUSHED])[-1], H * (np.flatnonzero(falling)[-1] - PUSHED)
    print(f"{options.count} carts, {options.steps} control steps of {1e3 * H:g} ms, {HORIZON} steps ahead")
    print(f"poles   all stand after {stand:.2f} s, and {again:.2f} s after a push of {PUSH} rad/s")
    print(f"angles  {np.degrees(np.abs(result.angle[-1]).max()):.2f}° at most in the end")
    print(f"carts   {np.abs(result.q[..., 0]).max():.2f} m from the middle at most")
    print(f"forces  {np.abs(result.u).max():.1f} N at most")
    spent = 1e3 * result.spent
    print(f"time    {np.median(spent):.1f} ms per control step, {spent.max():.1f} ms the longest")
    if options.out:
        draw(options.out, result)


if __name__ == "__main__":
    main()
