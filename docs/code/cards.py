"""Draw the pictures of tutorials that have none of their own: `python docs/code/cards.py NAME --out FILE`."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from exhibits import STYLE, measured
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import treefactor as tf
from treefactor import robots

SIZE, DPI = (4.2, 2.1), 110


def load(name: str) -> tf.Model:
    """Return the model of a bundled robot on its usual base."""
    robot = robots.find(name)
    return tf.Model.from_urdf(robot.path, robot.floating)


def kinematics(axes: Axes) -> None:
    """Draw the places of a panda's hand around its first joint, coloured by how well it moves there."""
    model = load("panda")
    q = tf.random_configuration(model, 0, size=8000)
    J, T = tf.frame_jacobian(model, q, "panda_hand_tcp", placement=True)
    freedom = np.sqrt(np.maximum(np.linalg.det(J @ np.swapaxes(J, -1, -2)), 0.0))
    axes.scatter(np.hypot(T[:, 0, 3], T[:, 1, 3]), T[:, 2, 3], c=freedom, s=1.5, linewidths=0)
    axes.set(xlabel="distance from the first axis, m", ylabel="height, m", aspect="equal")


def trajectory(axes: Axes) -> None:
    """Draw torques of many motions of an arm."""
    model, t = load("ur5_robot"), np.linspace(0.0, 2.0, 200)
    phase = np.random.default_rng(0).uniform(0.0, 6.0, (24, 1, model.nv)) + np.pi * t[:, None]
    tau = tf.rnea(model, 0.6 * np.sin(phase), 0.6 * np.pi * np.cos(phase), -0.6 * np.pi**2 * np.sin(phase))
    axes.plot(t, tau[..., 2].T, color="C0", linewidth=0.6)
    axes.set(xlabel="s", ylabel="torque of the elbow, N m")


def humanoid(axes: Axes) -> None:
    """Draw the pattern of a humanoid's inertia matrix."""
    axes.imshow(load("talos_reduced").tree.mask(), cmap="Blues", vmax=1.6, interpolation="nearest")
    axes.set(xlabel="freedom", ylabel="freedom", xticks=[], yticks=[])


def engines(axes: Axes) -> None:
    """Draw how many quantities agree in the stored comparison, and how many once causes are removed."""
    content = measured("conformance")
    names = [engine["name"] for engine in content["engines"]]
    states = [
        "".join(row["states"] for row in content["results"] if row["engine"] == k) for k in range(len(names))
    ]
    states = {name: text for name, text in zip(names, states, strict=True) if text.count("A") > 50}
    agree, explained = ([text.count(letter) for text in states.values()] for letter in "AE")
    axes.barh(list(states), agree, color="C0", label="agree")
    axes.barh(list(states), explained, left=agree, color="C1", label="explained")
    axes.tick_params(axis="y", labelsize=5)
    axes.legend(fontsize=6, frameon=False)
    axes.set(xlabel="quantities of robots")


def parameters(axes: Axes) -> None:
    """Draw the masses of a panda's bodies."""
    model = load("panda")
    axes.bar(range(1, model.njoints + 1), model.parameters[:, 0], color="C0")
    axes.set(xlabel="joint", ylabel="mass of its body, kg", xticks=range(1, model.njoints + 1))


def kernel(axes: Axes) -> None:
    """Draw the operations of programs for a panda."""
    program = tf.generate(load("panda"), ["crba", "rnea", "forward_dynamics"])
    totals = {name: count.total for name, count in program.operations.items()}
    axes.barh(list(totals), list(totals.values()), color="C0")
    axes.set(xlabel="operations of a program for a panda")


def derivatives(axes: Axes) -> None:
    """Draw the sizes of the derivatives of a quadruped's forces by its configuration."""
    model = load("solo12")
    v, a = np.random.default_rng(0).normal(size=(2, model.nv))
    by_q = np.abs(tf.rnea_derivatives(model, tf.random_configuration(model, 0), v, a).dtau_dq)
    sizes = np.log10(by_q, out=np.full(by_q.shape, np.nan), where=by_q > 0.0)
    axes.imshow(sizes, cmap="viridis", interpolation="nearest")
    axes.set(xlabel="freedom", ylabel="force", xticks=[], yticks=[])


def jax(axes: Axes) -> None:
    """Draw the potential energy of two links, and arrows against its gradient, the generalized gravity."""
    rod = {"axis": [0, 1, 0], "inertia": tf.Inertia(1.0, [0, 0, 0.5], 0.1 * np.eye(3))}
    links = [tf.Joint("a", "revolute", **rod), tf.Joint("b", "revolute", 0, p=[0, 0, 1], **rod)]
    model, angles = tf.Model(links), np.linspace(-np.pi, np.pi, 60)
    grid = np.stack(np.meshgrid(angles, angles), axis=-1)
    axes.contourf(angles, angles, tf.potential_energy(model, grid), 20, cmap="Blues")
    arrows = grid[4::8, 4::8]
    axes.quiver(*np.moveaxis(arrows, -1, 0), *np.moveaxis(-tf.generalized_gravity(model, arrows), -1, 0))
    axes.set(xlabel="first angle, rad", ylabel="second, rad")


CARDS = {
    draw.__name__: draw
    for draw in (kinematics, trajectory, humanoid, engines, parameters, kernel, derivatives, jax)
}


def main() -> None:
    """Write the picture of one tutorial."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=CARDS)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with rc_context({**STYLE, "font.size": 7}):
        drawn = Figure(figsize=SIZE, dpi=DPI, layout="constrained")
        CARDS[options.name](drawn.subplots())
        drawn.savefig(options.out)


if __name__ == "__main__":
    main()
