"""Fuzz URDFs: `Model.from_urdf`, and what is computed of a model that could be read."""

import tempfile
from pathlib import Path

import harness
import numpy as np

import treefactor as tf

FILE = Path(tempfile.mkdtemp(), "robot.urdf")


def read(data: bytes) -> None:
    """Read a URDF, with a base and mimic joints that its length decides on, and use the model."""
    FILE.write_bytes(data)
    model = tf.Model.from_urdf(FILE, floating=len(data) % 2 == 0, mimic=len(data) % 3 == 0)
    q, v = tf.neutral(model), np.ones(model.nv)
    with np.errstate(all="ignore"):
        H = tf.crba(model, q)
        assert H.shape == (model.nv, model.nv)
        assert np.array_equal(H, H.T, equal_nan=True)
        tf.integrate(model, q, v)
        tf.forward_dynamics(model, q, v, v)


if __name__ == "__main__":
    harness.run(read, harness.bundled(".urdf"), harness.mutate_xml)
