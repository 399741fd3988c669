"""Models and programs for comparisons of the backends."""

from functools import cache

import numpy as np
import pytest

import treefactor as tf
from treefactor import robots
from treefactor.codegen import Function, Program, generate
from treefactor.codegen.program.expressions import OPERATIONS
from treefactor.model.joints import AXES, SIZES


@cache
def robot(name):
    """Return a bundled robot and its program."""
    try:
        entry = robots.find(name)
    except tf.AdapterError as error:
        pytest.skip(str(error))
    model = tf.Model.from_urdf(entry.path, entry.floating)
    return model, generate(model)


@cache
def every_joint():
    """Return a tree with a joint of every kind, armatures, and its program."""
    rng = np.random.default_rng(3)
    joints = []
    for k, kind in enumerate(SIZES):
        axes = {1: [[0.0, 0.6, 0.8]], 2: np.eye(3)[:2]}.get(AXES.get(kind, 0))
        S = rng.normal(size=(3, 3))
        inertia = tf.Inertia(1.0 + k, 0.1 * rng.normal(size=3), np.trace(S @ S.T) * np.eye(3) - S @ S.T)
        axis = axes[0] if axes is not None and len(axes) == 1 else axes
        joints.append(
            tf.Joint(
                kind, kind, (k - 1) // 2, p=rng.normal(size=3), axis=axis, pitch=0.1 * (kind == "helical"),
                inertia=inertia, armature=0.1 * k,
            )
        )  # fmt: skip
    model = tf.Model(joints, name="one of each")
    return model, generate(model)


def handmade(*rows, output, sign=None, nv=2, loops=()):
    """Return a program of one function "bias" of (q, v) from rows (operation, a, b, value)."""
    op, a, b, value = zip(*rows, strict=True)
    function = Function(
        "bias",
        (("q", nv), ("v", nv)),
        np.array([OPERATIONS.index(name) for name in op], np.uint8),
        np.array(a, np.int32),
        np.array(b, np.int32),
        np.array(value, float),
        np.array(output, np.int32),
        np.array(sign or [1] * nv, np.int8),
        (nv,),
        "by hand",
    )
    program = Program(
        model="handmade", parent=np.arange(-1, nv - 1), nq=nv, nv=nv, tips=(), snapped=0.0,
        functions={"bias": function}, loops=loops,
    )  # fmt: skip
    program.validate()
    return program


def large(n):
    """Return a program of forward dynamics of n bodies with placements and inertias at random."""
    rng = np.random.default_rng(0)
    joints = []
    for k, parent in enumerate(tf.families.random_tree(n, rng).parent.tolist()):
        R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        S = rng.normal(size=(3, 3))
        inertia = tf.Inertia(1.0, 0.1 * rng.normal(size=3), np.trace(S @ S.T) * np.eye(3) - S @ S.T)
        joints.append(
            tf.Joint(f"{k}", "revolute", parent, R=R * np.linalg.det(R), p=rng.normal(size=3),
                     axis=[0, 0, 1], inertia=inertia)
        )  # fmt: skip
    return generate(tf.Model(joints, name="large"), "aba")
