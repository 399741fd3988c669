"""Identify a Staubli TX40 from nine seconds of measured motion, and bodies that can exist.

The data are those of ``../shared/data/identification``: positions and torques of six motors at 5 kHz, and the
URDF of the arm. ``--data`` or the environment variable TREEFACTOR_IDENTIFICATION_DATA names another folder.
Without it the example makes data of a simulated arm with noise, whose inertias are not those of its model,
and takes the same path.

Positions are filtered without delay and differentiated twice. Motors 5 and 6 are coupled, so that rotor
inertia and friction of each act on both joints: three further columns. Rows of joints that hardly move are
left out, because the sign of their velocity is noise. Blocks of 0.45 s are for the fit and for the test in
turns. Base parameters are all that torques can show; the bodies nearest to the URDF with these base
parameters often cannot exist, so a second fit is restricted to bodies that can.
"""

import argparse
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.signal import butter, filtfilt

import treefactor as tf
from treefactor import identification
from treefactor.identification import slow_rows

VARIABLE = "TREEFACTOR_IDENTIFICATION_DATA"
FOLDER = Path(
    os.environ.get(VARIABLE) or Path(__file__).resolve().parents[2] / "shared" / "data" / "identification"
)
MOTORS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])  # motor angles of joint angles
MOTORS[5, 4] = 32.0
ZERO = np.array([0.0, -1.0, 1.0, 0.0, 0.0, 0.0]) * np.pi / 2  # joint angles where the motors' are zero
COUPLING = ("rotor coupling of the wrist", "viscous coupling of the wrist", "dry coupling of the wrist")
CUTOFFS = (50.0, 80.0)  # Hz, of positions and torques
EVERY = 25  # samples
BLOCK = 0.45  # s
STRENGTH = 1.0  # of the pull to the model's bodies


class Recording(NamedTuple):
    """Measured motor angles (N, 6) in rad and torques (N, 6) in N m, and the arm as it was known before."""

    model: tf.Model
    position: np.ndarray
    torque: np.ndarray
    step: float  # s
    source: str


def measured(folder: Path) -> Recording:
    """Return the measured motion of the TX40, and the model of its URDF."""
    with np.load(folder / "tx40.npz") as data:
        position, torque, step = data["position"], data["current"], float(data["ts"])
    model = tf.Model.from_urdf(folder / "tx40_mdh_modified.urdf")
    return Recording(model, position, torque, step, "a measured Staubli TX40")


def simulated(seconds: float = 9.0, noise: float = 0.03) -> Recording:
    """Return the same of a simulated arm; noise is a share of the largest torque of a joint."""
    rng = np.random.default_rng(0)
    joints = []
    for k, axis in enumerate(("z", "y", "y", "z", "y", "z")):
        body = tf.Inertia(8.0 / (k + 1), rng.uniform(-0.1, 0.1, 3), np.diag([0.2, 0.25, 0.15]) / (k + 1))
        place = [0.0, 0.0, 0.3 if k else 0.0]
        unit = [float(axis == one) for one in "xyz"]
        joints.append(tf.Joint(f"joint_{k + 1}", "revolute", k - 1, p=place, axis=unit, inertia=body))
    arm = tf.Model(joints, name="simulated arm")
    step = 2e-4
    t = step * np.arange(round(seconds / step))
    phase = 2 * np.pi * (t[:, None] * (0.2 + 0.15 * np.arange(4)) + rng.uniform(size=(6, 1, 4)))
    q = (np.sin(phase) * rng.uniform(0.2, 0.5, (6, 1, 4))).sum(axis=2).T
    q *= np.sin(np.pi * t / seconds)[:, None] ** 2  # at rest at both ends
    v = np.gradient(q, step, axis=0)
    a = np.gradient(v, step, axis=0)
    tau = tf.rnea(arm, q, v, a) + 2.0 * v + np.sign(v) + 0.3 * a
    tau += (couplings(v, a) * [0.05, 0.5, 0.3]).sum(axis=2)
    tau += noise * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    known = arm.with_parameters(arm.parameters * rng.uniform(0.7, 1.3, (6, 1)))
    return Recording(
        known, (q - ZERO) @ MOTORS.T, np.linalg.solve(MOTORS.T, tau.T).T, step, "a simulated arm"
    )


def recording(folder: Path) -> Recording:
    """Return the measured motion, or say that it is absent and return a simulated one."""
    if (folder / "tx40.npz").is_file():
        return measured(folder)
    print(
        f"{folder.name}/tx40.npz is absent (--data or {VARIABLE}): the data are of a simulated arm with noise"
    )
    return simulated()


class Samples(NamedTuple):
    """Samples as `Identification.add` takes them."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    mask: np.ndarray
    extra: np.ndarray

    def part(self, rows) -> dict[str, np.ndarray]:
        """Return the arguments of `Identification.add` for some samples."""
        return {name: array[rows] for name, array in self._asdict().items()}


def couplings(v, a) -> np.ndarray:
    """Return the columns (N, 6, 3) of the coupled motors 5 and 6: rotor inertia, viscous and dry friction."""
    columns = np.zeros((*v.shape, 3))
    both = np.sign(v[:, 4] + v[:, 5])
    columns[:, 4] = np.stack([a[:, 5], v[:, 5], both], axis=-1)
    columns[:, 5] = np.stack([a[:, 4], v[:, 4], both], axis=-1)
    return columns


def prepared(given: Recording) -> Samples:
    """Return filtered samples on the side of the joints, in which rows of slow joints are left out."""
    q = np.linalg.solve(MOTORS, given.position.T).T + ZERO
    tau = given.torque @ MOTORS
    q, tau = (
        filtfilt(*butter(4, 2 * cutoff * given.step), x, axis=0)
        for x, cutoff in zip((q, tau), CUTOFFS, strict=True)
    )
    v = np.gradient(q, given.step, axis=0)
    a = np.gradient(v, given.step, axis=0)
    q, v, a, tau = (x[::EVERY] for x in (q, v, a, tau))
    return Samples(q, v, a, tau, ~slow_rows(v), couplings(v, a))


def held_out(count: int, step: float) -> np.ndarray:
    """Return which samples are for the test: every second block."""
    return np.arange(count) * EVERY * step // BLOCK % 2 == 1


def identifications(model: tf.Model, samples: Samples, test) -> tuple[tf.Identification, tf.Identification]:
    """Return identifications from the samples of the fit, and from those of the test."""
    both = tf.Identification(model, extra=COUPLING), tf.Identification(model, extra=COUPLING)
    for one, rows in zip(both, (~test, test), strict=True):
        one.add(**samples.part(rows))
    return both


def known_parameters(model: tf.Model) -> np.ndarray:
    """Return the ten parameters of every body, then the armatures: the columns of base parameters."""
    return np.concatenate([model.parameters.ravel(), model.armature])


def nearest(model: tf.Model, base: identification.BaseParameters, values: np.ndarray) -> tf.Model:
    """Return the model with these base parameters whose other parameters are nearest to the known ones."""
    x = known_parameters(model)
    x = x + np.linalg.pinv(base.K) @ (values - base.values(x))
    return model.with_parameters(x[: 10 * model.njoints].reshape(-1, 10), x[10 * model.njoints :])


def shares(residuals) -> np.ndarray:
    """Return residual over torque of every joint, then of all of them."""
    return np.append(residuals.residuals / residuals.torques, residuals.relative)


def shares_of_model(model: tf.Model, samples: Samples) -> np.ndarray:
    """Return the same of the inertias of a model alone, without friction."""
    rest = (samples.tau - tf.rnea(model, samples.q, samples.v, samples.a)) * samples.mask
    norms = [np.linalg.norm(x, axis=0) for x in (rest, samples.tau * samples.mask)]
    return np.append(norms[0] / norms[1], np.linalg.norm(norms[0]) / np.linalg.norm(norms[1]))


def show_residuals(model: tf.Model, columns: dict[str, np.ndarray]):
    """Print residual over torque, joint by joint."""
    print("\nresidual over torque, %")
    print(" " * 8 + "".join(f"{title:>18}" for title in columns))
    for k, name in enumerate((*model.tree.names, "all")):
        print(f"{name:8}" + "".join(f"{100 * values[k]:18.1f}" for values in columns.values()))


def show_parameters(names, before, estimate, bodies):
    """Print every parameter beside that of the model before, with its standard deviation."""
    print(f"\n{'model':>9} {'estimate':>9} {'deviation':>9} {'bodies':>9}")
    for k, name in enumerate(names):
        known = f"{before[k]:9.4f}" if k < len(before) else " " * 9
        value, deviation = estimate.values[k], estimate.standard_deviations[k]
        print(f"{known} {value:9.4f} {deviation:9.4f} {bodies.values[k]:9.4f}  {name}")


def draw(path: Path, t, samples: Samples, test, predicted, before, estimate, bodies):
    """Write a picture of measured and predicted torques, and of the base parameters."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7.5), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1.7, 1])
    for k, axes in enumerate(left.subplots(3, 2, sharex=True).ravel()):
        axes.fill_between(t, 0, 1, test, transform=axes.get_xaxis_transform(), color="0.9", step="post")
        axes.plot(t, samples.tau[:, k], color="0.4", linewidth=1.2, label="measured")
        axes.plot(
            t,
            np.where(samples.mask[:, k], predicted[:, k], np.nan),
            color="C1",
            linewidth=0.8,
            label="predicted",
        )
        axes.set_title(f"joint {k + 1}, N m", fontsize=9, loc="left")
    axes.set_xlabel("s (grey: held out)")
    axes.legend(loc="lower right", fontsize=8)
    axes = right.subplots()
    count, y = len(before), np.arange(len(before))
    axes.plot(before, y, "|", color="0.3", markersize=9, label="model before")
    axes.errorbar(
        estimate.values[:count],
        y,
        xerr=2 * estimate.standard_deviations[:count],
        fmt="o",
        markersize=3,
        label="estimate, 2 deviations",
    )
    axes.plot(bodies.values[:count], y, "x", markersize=4, label="bodies that can exist")
    axes.set_xscale("symlog", linthresh=0.1)
    first = [name.replace(" - ", " + ").split(" + ") for name in estimate.names[:count]]
    axes.set_yticks(y, [terms[0] + " ..." * (len(terms) > 1) for terms in first], fontsize=6)
    axes.invert_yaxis()
    axes.grid(axis="y", alpha=0.3)
    axes.set_xlabel("base parameters, kg, kg m, kg m²")
    axes.legend(fontsize=8, loc="lower left")
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=FOLDER, help="a folder")
    parser.add_argument("--out", type=Path, help="write a picture (.png)")
    options = parser.parse_args()
    given = recording(options.data)
    model, samples = given.model, prepared(given)
    test = held_out(len(samples.q), given.step)
    fit, unseen = identifications(model, samples, test)
    estimate, bodies = fit.solve(), fit.physical(strength=STRENGTH)
    print(f"{given.source}: {len(given.position)} samples, every {EVERY}th is used")
    print(f"rows of slow joints left out: {1 - samples.mask.mean():.1%}")
    print(f"rank {estimate.rank} of {len(fit.names)} columns, condition {estimate.cond:.0f}")
    print(f"not excited: {', '.join(estimate.not_excited) or 'nothing'}")
    columns = {
        "model alone": shares_of_model(model, samples),
        "least squares": shares(estimate.residuals),
        "held out": shares(unseen.residuals(estimate)),
        "bodies": shares(bodies.residuals),
        "bodies, held out": shares(unseen.residuals(bodies)),
    }
    show_residuals(model, columns)
    before = fit.base.values(known_parameters(model))
    show_parameters(fit.names, before, estimate, bodies)
    impossible = nearest(model, fit.base, estimate.values[: fit.base.count]).faults()
    print(
        f"\n{len(impossible)} of {model.njoints} bodies nearest to the model's cannot exist, by least squares"
    )
    for name, reason in impossible.items():
        print(f"  {name}: {reason}")
    masses = ", ".join(f"{mass:.2f}" for mass in bodies.model.parameters[:, 0])
    print(f"fit of bodies: {len(bodies.model.faults())} cannot exist; masses {masses} kg")
    if options.out:
        t = EVERY * given.step * np.arange(len(samples.q))
        predicted = estimate.predict(samples.q, samples.v, samples.a, samples.extra)
        draw(options.out, t, samples, test, predicted, before, estimate, bodies)


if __name__ == "__main__":
    main()
