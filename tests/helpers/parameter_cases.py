"""Models whose axes are often parallel or meet, for base parameters."""

import numpy as np
from hypothesis import strategies as st

import treefactor as tf
from treefactor.model.joints import AXES, SIZES

GRAVITIES = ((0.0, 0.0, 0.0), (0.0, 0.0, -9.81), (9.81, 0.0, 0.0), (3.0, -5.0, 7.0))


@st.composite
def special_models(draw, max_joints=5, kinds=tuple(SIZES)):
    """Draw models with right angles and zero lengths rather than others."""
    count = draw(st.integers(1, max_joints))
    kinds = [draw(st.sampled_from(kinds)) for _ in range(count)]
    return special_model(kinds, draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from(GRAVITIES)))


def special_model(kinds, seed, gravity):
    """Return a model of these kinds of joints: mostly a chain, with right angles and zero lengths."""
    rng = np.random.default_rng(seed)
    joints = []
    for i, kind in enumerate(kinds):
        parent = int(rng.integers(-1, i)) if rng.random() < 0.3 else i - 1
        p = np.where(rng.random(3) < 0.5, 0.0, rng.choice([0.3, 0.5, 1.0, rng.normal()], 3))
        pitch = float(rng.choice([0.0, 0.1, 1.0])) if kind == "helical" else 0.0
        joints.append(tf.Joint(f"j{i}", kind, parent, _rotation(rng), p, _axis(kind, rng), pitch))
    return tf.Model(joints, gravity)


def _rotation(rng):
    """Return the identity, a rotation that permutes the axes, or any."""
    choice = rng.integers(4)
    if choice == 0:
        return np.eye(3)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0] if choice == 1 else np.eye(3)[rng.permutation(3)]
    R = R * rng.choice([-1.0, 1.0], 3)
    return R * np.linalg.det(R)


def _axis(kind, rng):
    """Return axes of coordinates, or any."""
    if kind not in AXES:
        return None
    axes = np.eye(3)[rng.permutation(3)[: AXES[kind]]]
    if rng.random() < 0.3:
        axes = rng.normal(size=axes.shape)
    axes = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    return axes if kind == "universal" else axes[0]
