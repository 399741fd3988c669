"""Find a payload within two seconds of motion while a simulated Panda runs, and update the model.

The arm carries a body that its model lacks. Torques and accelerations are measured at 1 kHz with noise. Every
50 samples are added to a `PayloadIdentification`, whose state is one triangle of 11 columns; its solution has
the ten parameters and their standard deviations. After two seconds the payload is added to the inertias of
the call that predicts torques: the bound call computes with it from the next sample on.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import treefactor as tf
from treefactor import robots
from treefactor.identification import Payload, PayloadIdentification
from treefactor.model.parameters import PARAMETERS

JOINT = "panda_joint7"
STEP, BLOCK = 1e-3, 50  # s, and samples that are added together
FOUND, END = 2.0, 4.0  # s
TORQUE_NOISE, ACCELERATION_NOISE = 0.1, 0.05  # standard deviations, N m (or N) and rad/s^2
CARRIED = tf.Inertia(1.5, [0.02, -0.03, 0.16], np.diag([0.005, 0.004, 0.003]))  # in the axes of the joint
MIDDLE = np.array([0.0, -0.6, 0.0, -2.0, 0.0, 1.6, 0.8])  # rad
SIZE = np.array([0.3, 0.25, 0.3, 0.25, 0.4, 0.4, 0.5])
TURNS = np.array([0.5, 0.75, 0.75, 0.5, 1.0, 0.75, 1.25])  # per s


class Run(NamedTuple):
    """What a run leaves: times, torque errors (N, nv) and the payloads found after every block."""

    t: np.ndarray
    errors: np.ndarray
    payloads: list[Payload]
    inertias: tf.Inertias
    seconds: float  # of processor time for a block, the median


def motion(model: tf.Model, t) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q, v and a of a motion that starts at rest; the fingers do not move."""
    w = 2 * np.pi * TURNS
    phase = np.multiply.outer(t, w)
    q, v, a = np.zeros((3, len(t), model.nv))
    q[:, :7] = MIDDLE + SIZE * (1.0 - np.cos(phase))
    v[:, :7], a[:, :7] = SIZE * w * np.sin(phase), SIZE * w**2 * np.cos(phase)
    return q, v, a


def run(seed: int = 0) -> Run:
    """Simulate the arm with its payload, and find the payload while it runs."""
    rng = np.random.default_rng(seed)
    model = tf.Model.from_urdf(robots.find("panda").path)
    t = STEP * np.arange(round(END / STEP))
    q, v, a = motion(model, t)
    loaded = tf.Inertias(model, model.parameters)
    loaded.add(None, JOINT, CARRIED)
    tau = tf.rnea(model, q, v, a, inertias=loaded) + TORQUE_NOISE * rng.normal(size=v.shape)
    a = a + ACCELERATION_NOISE * rng.normal(size=a.shape)
    return follow(model, t, q, v, a, tau)


def follow(model: tf.Model, t, q, v, a, tau) -> Run:
    """Compare torques with predicted ones sample by sample, and use the payload from FOUND on."""
    inertias = tf.Inertias(model, model.parameters)
    fit, payloads, spent = PayloadIdentification(model, JOINT), [], []
    state, errors = [np.zeros(model.nq), *np.zeros((2, model.nv))], np.empty_like(tau)
    predict = tf.bind(tf.rnea, model, *state, out=np.empty(model.nv), inertias=inertias)
    for k in range(len(t)):
        for own, measured in zip(state, (q, v, a), strict=True):
            own[:] = measured[k]
        errors[k] = tau[k] - predict()
        if t[k] < FOUND and (k + 1) % BLOCK == 0:
            start = time.process_time()
            block = slice(k + 1 - BLOCK, k + 1)
            fit.add(q[block], v[block], a[block], tau[block])
            payloads.append(fit.solve())
            spent.append(time.process_time() - start)
        if k + 1 == round(FOUND / STEP):
            inertias.add(None, JOINT, payloads[-1].parameters)
    return Run(t, errors, payloads, inertias, float(np.median(spent)))


def show(result: Run):
    """Print the payload beside the true one, and the errors of predicted torques."""
    payload, model = result.payloads[-1], result.inertias.model
    print(f"{len(result.payloads)} blocks of {BLOCK} samples, {1e3 * result.seconds:.2f} ms for each")
    print(
        f"after {FOUND} s the rank is {payload.rank}, the condition of the scaled columns {payload.cond:.0f}"
    )
    print(f"\n{'':6} {'true':>9} {'found':>9} {'deviation':>10}")
    rows = zip(PARAMETERS, CARRIED.parameters, payload.parameters, payload.standard_deviations, strict=True)
    for name, true, value, deviation in rows:
        print(f"{name:6} {true:9.5f} {value:9.5f} {deviation:10.5f}")
    print(f"can exist: {payload.inertia.fault() or 'yes'}")
    before, after = (result.errors[side] for side in (result.t < FOUND, result.t >= FOUND))
    print(f"\n{'torque error':24} {'without':>9} {'with it':>9}  (root mean square, N m or N)")
    for k, name in enumerate(model.tree.names):
        print(
            f"{name:24}" + "".join(f" {np.sqrt(np.mean(part[:, k] ** 2)):9.3f}" for part in (before, after))
        )


def draw(path: Path, result: Run):
    """Write a picture of the estimates with their deviations over time, and of the torque errors."""
    from matplotlib.figure import Figure

    t = BLOCK * STEP * np.arange(1, len(result.payloads) + 1)
    values = np.array([one.parameters for one in result.payloads])
    deviations = np.array([one.standard_deviations for one in result.payloads])
    figure = Figure(figsize=(10, 6), layout="constrained")
    groups = (("mass, kg", slice(0, 1)), ("m c, kg m", slice(1, 4)), ("tensor, kg m²", slice(4, 10)))
    upper, lower = figure.subfigures(2, 1)
    for axes, (title, group) in zip(upper.subplots(1, 3), groups, strict=True):
        for k in range(10)[group]:
            axes.errorbar(
                t, values[:, k], yerr=2 * deviations[:, k], fmt=".-", markersize=3, label=PARAMETERS[k]
            )
            axes.axhline(CARRIED.parameters[k], color="0.6", linewidth=0.8, zorder=0)
        true = CARRIED.parameters[group]
        margin = max(0.5 * np.ptp(true), 0.05 * np.abs(true).max())
        axes.set_ylim(true.min() - margin, true.max() + margin)
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("s")
        axes.legend(fontsize=7, ncols=2, loc="upper right")
    axes = lower.subplots()
    axes.plot(result.t, result.errors[:, :7], linewidth=0.5)
    axes.axvline(FOUND, color="0.3", linestyle="--")
    axes.set_title("measured less predicted torques, N m; dashed: the payload is added", fontsize=9)
    axes.set_xlabel("s")
    axes.legend([f"joint {k}" for k in range(1, 8)], fontsize=7, loc="lower right")
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument("--out", type=Path, help="write a picture (.png)")
    options = parser.parse_args()
    result = run(options.seed)
    show(result)
    if options.out:
        draw(options.out, result)


if __name__ == "__main__":
    main()
