"""Fuzz MJCFs: a file that MuJoCo reads becomes one of our models or raises an error of ours."""

import os
import tempfile
from pathlib import Path

import atheris
import harness
import numpy as np

import treefactor as tf

with atheris.instrument_imports(include=["treefactor"]):
    from treefactor.adapters import mujoco_
    from treefactor.adapters._mjcf import mjcf

FOLDER = Path(tempfile.mkdtemp())
FILE = FOLDER / "robot.xml"
os.chdir(FOLDER)  # where MuJoCo leaves its log


def read(data: bytes) -> None:
    """Read an MJCF and compare H."""
    FILE.write_bytes(data)
    body = mujoco_.load(FILE)
    model = mujoco_.model(body)
    q = tf.neutral(model)
    with np.errstate(all="ignore"):
        tf.crba(model, q)


def seeds() -> list[bytes]:
    """Return the MJCFs that we write for bundled URDFs."""
    found = []
    for text in harness.bundled(".urdf"):
        urdf = FOLDER / "robot.urdf"
        urdf.write_bytes(text)
        try:
            found.append(mjcf(urdf, floating=True)[0].encode())
        except tf.TreefactorError:
            continue
    return [seed for seed in found if len(seed) <= harness.SMALL]


if __name__ == "__main__":
    harness.run(read, seeds(), harness.mutate_xml)
