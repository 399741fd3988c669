"""Nine seconds of a measured Staubli TX40, or of a simulated one where the measurement is absent."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.signal import butter, filtfilt

import treefactor as tf
from helpers.identification_cases import series

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "identification"
EXTRA = ("rotor coupling of the wrist", "viscous coupling of the wrist", "dry coupling of the wrist")
STEP, EVERY, BLOCK = 2e-4, 25, 0.45
MOTORS = np.diag([32.0, 32.0, 45.0, -48.0, 45.0, 32.0])
MOTORS[5, 4] = 32.0
ABSENT = "tx40.npz is not in ../shared/data/identification"


class Samples(NamedTuple):
    """Samples of the motion, and the further columns of the wrist."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    mask: np.ndarray
    extra: np.ndarray

    def part(self, rows) -> dict[str, np.ndarray]:
        """Return the arguments of `Identification.add` for some samples."""
        return {name: array[rows] for name, array in self._asdict().items()}


def measured():
    """Return the model, and q and tau of all samples on the side of the joints."""
    data = np.load(FOLDER / "tx40.npz")
    q = np.linalg.solve(MOTORS, data["position"].T).T + np.array([0, -1, 1, 0, 0, 0]) * np.pi / 2
    return tf.Model.from_urdf(FOLDER / "tx40_mdh_modified.urdf"), q, data["current"] @ MOTORS


def simulated(count=20000, noise=0.03):
    """Return the same of an arm with six joints, friction and noise."""
    rng = np.random.default_rng(0)
    joints = []
    for k in range(6):
        axis, p = ([0, 0, 1] if k in (0, 3, 5) else [0, 1, 0]), ([0, 0, 0.3] if k else [0, 0, 0])
        body = tf.Inertia(8.0 / (k + 1), rng.uniform(-0.1, 0.1, 3), np.diag([0.2, 0.25, 0.15]) / (k + 1))
        joints.append(tf.Joint(f"joint_{k + 1}", "revolute", k - 1, p=p, axis=axis, inertia=body))
    model = tf.Model(joints)
    q = series(6, STEP, count, seed=2, harmonics=3, speed=1.5)[0]
    q = q * np.sin(np.linspace(0, np.pi, count))[:, None] ** 4  # at rest at both ends
    v = np.gradient(q, STEP, axis=0)
    a = np.gradient(v, STEP, axis=0)
    tau = tf.rnea(model, q, v, a) + 2.0 * v + np.sign(v) + 0.3 * a
    return model, q, tau + noise * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)


def prepared(q, tau) -> Samples:
    """Return filtered samples: every 25th, without rows of slow joints."""
    low = [butter(4, cutoff * 2 * STEP) for cutoff in (50.0, 80.0)]
    q = filtfilt(*low[0], q, axis=0)
    v = np.gradient(q, STEP, axis=0)
    a = np.gradient(v, STEP, axis=0)
    q, v, a, tau = (x[::EVERY] for x in (q, v, a, filtfilt(*low[1], tau, axis=0)))
    extra = np.zeros((len(q), 6, 3))
    both = np.sign(v[:, 4] + v[:, 5])
    extra[:, 4] = np.stack([a[:, 5], v[:, 5], both], axis=-1)
    extra[:, 5] = np.stack([a[:, 4], v[:, 4], both], axis=-1)
    return Samples(q, v, a, tau, ~tf.identification.slow_rows(v), extra)


def identified(model, samples: Samples):
    """Return identifications from the even blocks of 0.45 s, and from the odd ones as a test."""
    even = np.arange(len(samples.q)) * EVERY * STEP // BLOCK % 2 == 0
    fit, test = tf.Identification(model, extra=EXTRA), tf.Identification(model, extra=EXTRA)
    fit.add(**samples.part(even))
    test.add(**samples.part(~even))
    return fit, test
