"""Fuzz programs with altered statements: they are refused, or run within their own memory."""

from dataclasses import replace

import atheris
import harness
import numpy as np

import treefactor as tf

ROD = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
AXES = np.eye(3)
JOINTS = [tf.Joint(f"{k}", "revolute", k - 1, p=AXES[2], axis=AXES[k], inertia=ROD) for k in range(3)]
PROGRAM = tf.generate(tf.Model(JOINTS), ["bias"], variants=["plain"])
FUNCTION = PROGRAM.functions["bias"]
COLUMNS = ("op", "a", "b", "value", "output", "sign")


def run(data: bytes) -> None:
    """Alter some entries of a program; if it is still valid, call it."""
    given = atheris.FuzzedDataProvider(data)
    columns = {name: getattr(FUNCTION, name).copy() for name in COLUMNS}
    for _ in range(given.ConsumeIntInRange(1, 6)):
        column = columns[given.PickValueInList(list(COLUMNS))]
        entry = given.ConsumeIntInRange(0, column.size - 1)
        if column.dtype.kind == "f":
            column[entry] = given.ConsumeFloat()
        elif given.ConsumeBool():
            column[entry] = given.ConsumeIntInRange(0, min(FUNCTION.rows, np.iinfo(column.dtype).max))
        else:
            limits = np.iinfo(column.dtype)
            column[entry] = given.ConsumeIntInRange(int(limits.min), int(limits.max))
    program = replace(PROGRAM, functions={"bias": replace(FUNCTION, **columns)})
    kernels = tf.compile(program)
    q, v = np.ones((3, 3)), np.ones((3, 3))
    with np.errstate(all="ignore"):
        assert kernels.bias(q, v).shape == q.shape
        tf.compile(program, backend="numpy").bias(q, v)


if __name__ == "__main__":
    harness.run(run, [bytes([k]) * 40 for k in range(0, 256, 16)], harness.numbers)
