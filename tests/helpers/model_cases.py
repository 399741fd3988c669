"""Random models of all kinds of joints, for Hypothesis and by seed, and the same models in Pinocchio."""

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import treefactor as tf
from helpers.strategies import parents
from treefactor.model.joints import AXES, FOLLOWERS, LEADERS, SIZES


@st.composite
def models(draw, max_joints=8, kinds=tuple(SIZES), depth_first=False):
    """Draw models of any shape, some with mimic joints."""
    parent = draw(parents(1, max_joints))
    if depth_first:
        parent = tf.Tree.renumber(parent)[0].parent
    return random_model(
        parent, [draw(st.sampled_from(kinds)) for _ in parent], draw(st.integers(0, 2**32 - 1))
    )


def random_model(parent, kinds, seed):
    """Return a model of these parents and kinds of joints; every third mimic-capable joint is a mimic."""
    rng = np.random.default_rng(seed)
    follows = {}
    for i, kind in enumerate(kinds):
        leaders = [k for k, other in enumerate(kinds) if other in LEADERS and k != i and k not in follows]
        if kind in FOLLOWERS and leaders and rng.random() < 0.3 and i not in follows.values():
            follows[i] = int(rng.choice(leaders))
    joints = [
        tf.Joint(
            f"j{i}",
            kind,
            int(above),
            Rotation.random(random_state=int(rng.integers(2**32))).as_matrix(),
            rng.normal(size=3),
            random_axis(kind, rng),
            rng.normal() if kind == "helical" else 0.0,
            random_inertia(rng),
            0.0 if i in follows else rng.random(SIZES[kind][1]),
            mimic=tf.Mimic(follows[i], rng.normal(), rng.normal()) if i in follows else None,
        )
        for i, (above, kind) in enumerate(zip(parent, kinds, strict=True))
    ]
    return tf.Model(joints, gravity=rng.normal(size=3), name="random")


def random_inertia(rng):
    """Return the inertia of a body without symmetry."""
    spread = rng.normal(size=(3, 3))
    second = spread @ spread.T
    return tf.Inertia(rng.uniform(0.5, 2.0), rng.normal(size=3), np.trace(second) * np.eye(3) - second)


def random_axis(kind, rng):
    """Return a unit axis; for continuous joints a frame axis, because Pinocchio's Python has no others."""
    if kind not in AXES:
        return None
    if kind == "continuous":
        return np.eye(3)[rng.integers(3)]
    axis = rng.normal(size=(2, 3) if kind == "universal" else 3)
    return axis / np.linalg.norm(axis, axis=-1, keepdims=True)


def state(model, seed=0, size=()):
    """Return random q, v, a."""
    rng = np.random.default_rng(seed)
    q = tf.random_configuration(model, rng, size=size)
    return q, *rng.normal(size=(2, *q.shape[:-1], model.nv))


def in_pinocchio(model):
    """Return Pinocchio's model of one of ours, whose joints must come depth first."""
    import pinocchio as pin

    made = {
        "revolute": lambda joint: pin.JointModelRevoluteUnaligned(joint.axis),
        "continuous": lambda joint: [pin.JointModelRUBX, pin.JointModelRUBY, pin.JointModelRUBZ][
            int(joint.axis.argmax())
        ](),
        "prismatic": lambda joint: pin.JointModelPrismaticUnaligned(joint.axis),
        "helical": lambda joint: pin.JointModelHelicalUnaligned(joint.axis, joint.pitch),
        "universal": lambda joint: pin.JointModelUniversal(*joint.axis),
        "spherical": lambda joint: pin.JointModelSpherical(),
        "planar": lambda joint: pin.JointModelPlanar(),
        "translation": lambda joint: pin.JointModelTranslation(),
        "freeflyer": lambda joint: pin.JointModelFreeFlyer(),
    }
    twin = pin.Model()
    twin.name = model.name
    for joint in model.joints:
        j = twin.addJoint(joint.parent + 1, made[joint.kind](joint), pin.SE3(joint.R, joint.p), joint.name)
        inertia = joint.inertia
        twin.appendBodyToJoint(j, pin.Inertia(inertia.mass, inertia.com, inertia.tensor), pin.SE3.Identity())
    for i, joint in enumerate(model.joints):
        if joint.mimic:
            follow = joint.mimic
            twin = pin.transformJointIntoMimic(twin, follow.leader + 1, i + 1, follow.ratio, follow.offset)
    twin.armature = model.armature.copy()
    twin.gravity.linear = model.gravity.copy()
    return twin
